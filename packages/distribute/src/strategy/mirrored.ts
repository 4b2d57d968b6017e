import { InvalidArgumentError } from '@eagre/backend';
import { argumentsOf, shown, takesArguments } from '@eagre/core/internal';
import { CrossDeviceOps } from './cross-device-ops.ts';
import { allDevices, type DeviceLike, devicesNamed } from './devices.ts';
import { Strategy } from './strategy.ts';

/** Options of `MirroredStrategy`. */
export interface MirroredOptions {
  /** The devices of the replicas; all GPUs by default, or all CPUs where there is no GPU. */
  readonly devices?: readonly DeviceLike[] | null;
  /** How the values of the devices are combined. */
  readonly crossDeviceOps?: CrossDeviceOps | null;
}

/**
 * Trains on several devices of one process. Each has a copy of all variables and computes on its part of each batch; gradients are added up
 * before the update, so the copies stay equal. On a machine with one CPU, `tf.config.setLogicalDeviceConfiguration` makes several devices.
 *
 *     const strategy = new tf.distribute.MirroredStrategy(['/cpu:0', '/cpu:1']);
 *     const model = strategy.scope(() => makeModel());
 */
export class MirroredStrategy extends Strategy {
  /** @throws NotFoundError for a device that does not exist, InvalidArgumentError for one that is named twice */
  constructor(
    ...args: [devices?: readonly DeviceLike[] | null | MirroredOptions, options?: MirroredOptions]
  ) {
    const name = 'MirroredStrategy';
    const { devices, crossDeviceOps = null } = argumentsOf<MirroredOptions>(
      MirroredStrategy,
      new.target,
      args,
    );
    if (crossDeviceOps !== null && !(crossDeviceOps instanceof CrossDeviceOps))
      throw new InvalidArgumentError(
        `crossDeviceOps must be a CrossDeviceOps, got ${shown(crossDeviceOps)}`,
        name,
      );
    super({ devices: devicesNamed(devices ?? allDevices(), name), crossDeviceOps });
  }
}
takesArguments<MirroredOptions>(
  { positional: ['devices'], required: 0, names: { devices: true, crossDeviceOps: true } },
  MirroredStrategy,
);
