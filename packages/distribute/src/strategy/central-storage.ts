import { argumentsOf, takesArguments } from '@eagre/core/internal';
import { allDevices, deviceNamed, devicesNamed } from './devices.ts';
import { Strategy } from './strategy.ts';

/** Options of `CentralStorageStrategy`. */
export interface CentralStorageOptions {
  /** The devices of the replicas; all GPUs by default, or all CPUs where there is no GPU. */
  readonly computeDevices?: readonly string[] | null;
  /** Where the variables are; `'/cpu:0'` by default, or the one compute device. */
  readonly parameterDevice?: string | null;
}

/**
 * Trains on several devices of one process as `MirroredStrategy` does, but with one copy of the variables, which all replicas read. Updates
 * are made once, by the sum of the gradients.
 */
export class CentralStorageStrategy extends Strategy {
  /** @throws NotFoundError for a device that does not exist, InvalidArgumentError for one that is named twice */
  constructor(
    ...args: [
      computeDevices?: readonly string[] | null | CentralStorageOptions,
      options?: CentralStorageOptions,
    ]
  ) {
    const name = 'CentralStorageStrategy';
    const options = argumentsOf<CentralStorageOptions>(CentralStorageStrategy, new.target, args);
    const devices = devicesNamed(options.computeDevices ?? allDevices(), name, 'computeDevices');
    const parameters = options.parameterDevice ?? (devices.length === 1 ? devices[0] : '/cpu:0');
    super({ devices, sharedOn: deviceNamed(parameters, name, 'parameterDevice') });
  }
}
takesArguments<CentralStorageOptions>(
  { positional: ['computeDevices'], required: 0, names: { computeDevices: true, parameterDevice: true } },
  CentralStorageStrategy,
);
