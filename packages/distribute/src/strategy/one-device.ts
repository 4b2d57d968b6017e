import { argumentsOf, checkText, takesArguments } from '@eagre/core/internal';
import { devicesNamed } from './devices.ts';
import { Strategy } from './strategy.ts';

interface OneDeviceArguments {
  /** The name of a device: `'/cpu:0'`. */
  readonly device: string;
}

/** A strategy with one replica, on a device of one's choice: to try programs that are written for several. */
export class OneDeviceStrategy extends Strategy {
  /** @param device the name of a device: `'/cpu:0'` @throws NotFoundError when there is none of that name */
  constructor(...args: [device: string | OneDeviceArguments]) {
    const { device } = argumentsOf<OneDeviceArguments>(OneDeviceStrategy, new.target, args);
    checkText(device, 'device', 'OneDeviceStrategy');
    super({ devices: devicesNamed([device], 'OneDeviceStrategy') });
  }
}
takesArguments<OneDeviceArguments>({ positional: ['device'], names: { device: true } }, OneDeviceStrategy);
