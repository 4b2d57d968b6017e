// `tf.DeviceSpec`: the parts of a device's name.
import { InvalidArgumentError } from '@eagre/backend';
import { type Arguments, defineMethods } from '../arguments/arguments.ts';
import { checkCount, checkText } from '../arguments/checks.ts';
import { argumentsOf, takesArguments } from '../arguments/class-arguments.ts';
import { showInConsole } from '../tensor/format.ts';

/** The parts of a device's name; those that are null say nothing. */
export interface DeviceParts {
  readonly job?: string | null;
  readonly replica?: number | null;
  readonly task?: number | null;
  /** `CPU`, `GPU`; kept in capitals. */
  readonly deviceType?: string | null;
  readonly deviceIndex?: number | null;
}

const OP = 'DeviceSpec';
const PART = /^(?:job:([\w.-]+)|replica:(\d+)|task:(\d+)|(?:device:)?([a-z]\w*):(\d+|\*))$/i;

/**
 * The parts of a device's name: `new tf.DeviceSpec({ deviceType: 'GPU', deviceIndex: 1 })`, whose text, `/device:GPU:1`, `tf.device` takes.
 */
export class DeviceSpec {
  readonly job: string | null;
  readonly replica: number | null;
  readonly task: number | null;
  /** `CPU`, `GPU`; kept in capitals. */
  readonly deviceType: string | null;
  readonly deviceIndex: number | null;

  constructor(...args: Arguments<[], [], DeviceParts>) {
    const given = argumentsOf<DeviceParts>(DeviceSpec, new.target, args);
    const { job = null, replica = null, task = null, deviceType = null, deviceIndex = null } = given;
    if (job !== null) checkText(job, 'job', OP);
    if (deviceType !== null) checkText(deviceType, 'deviceType', OP);
    for (const [name, value] of Object.entries({ replica, task, deviceIndex }))
      if (value !== null) checkCount(value, name, OP, 0);
    this.job = job;
    this.replica = replica;
    this.task = task;
    this.deviceType = deviceType === null ? null : deviceType.toUpperCase();
    this.deviceIndex = deviceIndex;
  }

  /** The parts of a name, `/job:worker/task:1/device:GPU:0`. @throws InvalidArgumentError for what is no name of a device */
  static fromString(...args: Arguments<[spec: string], ['spec']>): DeviceSpec;
  static fromString(spec: string): DeviceSpec {
    const op = 'DeviceSpec.fromString';
    checkText(spec, 'spec', op);
    const parts: { -readonly [K in keyof DeviceParts]: DeviceParts[K] } = {};
    for (const part of spec.split('/').filter((text) => text !== '')) {
      const match = PART.exec(part);
      if (match === null)
        throw new InvalidArgumentError(`'${part}' in '${spec}' is no part of a device's name`, op);
      const [, job, replica, task, type, index] = match;
      if (type !== undefined && parts.deviceType !== undefined)
        throw new InvalidArgumentError(`'${spec}' names more than one device`, op);
      if (job !== undefined) parts.job = job;
      else if (replica !== undefined) parts.replica = Number(replica);
      else if (task !== undefined) parts.task = Number(task);
      else {
        parts.deviceType = type as string;
        if (index !== '*') parts.deviceIndex = Number(index);
      }
    }
    return new DeviceSpec(parts);
  }

  /** Another spec with the parts of `dev`, where that has them, in the place of these. */
  makeMergedSpec(...args: Arguments<[dev: DeviceSpec], ['dev']>): DeviceSpec;
  makeMergedSpec(dev: DeviceSpec): DeviceSpec {
    if (!(dev instanceof DeviceSpec))
      throw new InvalidArgumentError('expected a DeviceSpec', 'DeviceSpec.makeMergedSpec');
    return this.replace(Object.fromEntries(Object.entries(dev).filter(([, value]) => value !== null)));
  }

  /** Another spec, in which some parts are others. */
  replace(...args: Arguments<[], [], DeviceParts>): DeviceSpec;
  replace(parts: DeviceParts = {}): DeviceSpec {
    return new DeviceSpec({ ...this, ...parts });
  }

  /** The name: `/job:worker/replica:0/task:1/device:GPU:0`, without the parts that are null; `*` stands for any index. */
  toString(): string {
    const { job, replica, task, deviceType, deviceIndex } = this;
    const named = Object.entries({ job, replica, task }).filter(([, value]) => value !== null);
    const parts = named.map(([name, value]) => `/${name}:${value}`);
    if (deviceType !== null) parts.push(`/device:${deviceType}:${deviceIndex ?? '*'}`);
    return parts.join('');
  }
}

const names = { job: true, replica: true, task: true, deviceType: true, deviceIndex: true } as const;
takesArguments<DeviceParts>({ names }, DeviceSpec);
defineMethods(DeviceSpec, OP, { fromString: { positional: ['spec'] } });
defineMethods(DeviceSpec.prototype, OP, {
  makeMergedSpec: { positional: ['dev'] },
  replace: { options: names },
});
showInConsole(DeviceSpec.prototype, String);
