// What `tf.config` and `tf.config.experimental` say and set of devices: which may be used, their memory, how ops treat tensors of others.
import {
  allBackends,
  hideBackends,
  InvalidArgumentError,
  logicalDevice,
  placement,
  UnimplementedError,
} from '@eagre/backend';
import { asIs, defineFunction, type NamedFunction, optional } from '../arguments/arguments.ts';
import { checkOneOf, checkText } from '../arguments/checks.ts';
import { determinism } from '../random/seeds.ts';
import { checkFlag } from '../shapes/shape.ts';
import { backendOf, type DeviceType, findDevice, hardware, PhysicalDevice } from './device.ts';

type Tell<T> = NamedFunction<[], [], unknown, T>;

/** The physical devices that may be used, of one type or all; see `setVisibleDevices`. */
export const getVisibleDevices: NamedFunction<
  [deviceType?: DeviceType],
  ['deviceType'],
  unknown,
  PhysicalDevice[]
> = defineFunction(
  'tf.config.getVisibleDevices',
  { deviceType: optional(asIs) },
  {},
  (deviceType = undefined) =>
    hardware(deviceType, 'tf.config.getVisibleDevices').map((b) => new PhysicalDevice(b)),
);

/**
 * Says which devices may be used, of one type or of all: the others are in no list of logical devices, and no op runs there. What they
 * hold already stays as it is. `tf.config.setVisibleDevices([], 'GPU')` leaves the CPU alone.
 * @throws InvalidArgumentError for what is no physical device, or none of this type, and where no CPU would be left: everything begins there.
 */
export const setVisibleDevices: NamedFunction<
  [devices: PhysicalDevice | readonly PhysicalDevice[], deviceType?: DeviceType | null],
  ['devices', 'deviceType'],
  unknown,
  void
> = defineFunction(
  'tf.config.setVisibleDevices',
  { devices: asIs, deviceType: asIs },
  {},
  (devices, deviceType = null) => {
    const op = 'tf.config.setVisibleDevices';
    if (deviceType !== null) checkText(deviceType, 'deviceType', op);
    const list: readonly unknown[] = Array.isArray(devices) ? devices : [devices];
    const wanted = new Set(
      list.map((device) => {
        const backend = backendOf(device, op);
        if (deviceType !== null && backend.deviceType !== deviceType)
          throw new InvalidArgumentError(`${new PhysicalDevice(backend).name} is no ${deviceType}`, op);
        return `${backend.deviceType}:${backend.deviceIndex}`;
      }),
    );
    const visible = new Set(hardware(undefined, op).map((b) => `${b.deviceType}:${b.deviceIndex}`));
    const hidden = allBackends().filter((b) => {
      const key = `${b.deviceType}:${b.deviceIndex}`;
      return !(deviceType === null || b.deviceType === deviceType ? wanted : visible).has(key);
    });
    if (hidden.some((b) => b.allocator.isHost))
      throw new InvalidArgumentError('the CPU cannot be hidden: values come from it and are read there', op);
    hideBackends(hidden, (b) => (b.deviceIndex === 0 ? b : logicalDevice(b, 0, 0)));
  },
);

/** What is known of a physical device: its name, and for a processor its instruction set and threads. */
export const getDeviceDetails: NamedFunction<
  [device: PhysicalDevice],
  ['device'],
  unknown,
  { readonly deviceName: string }
> = defineFunction('tf.config.experimental.getDeviceDetails', { device: asIs }, {}, (device) => ({
  deviceName: backendOf(device, 'tf.config.experimental.getDeviceDetails').description,
}));

/** Memory of a device, in bytes. */
export interface DeviceMemory {
  /** What is in use: live tensors, and garbage that was not found yet. */
  readonly current: number;
  /** The most that was in use at once, since the start or the last `resetMemoryStats`. */
  readonly peak: number;
}

/** What a device holds of memory: `tf.config.experimental.getMemoryInfo('CPU:0').peak`. Logical devices of one piece of hardware share it, unless one has a limit. */
export const getMemoryInfo: NamedFunction<[device: string], ['device'], unknown, DeviceMemory> =
  defineFunction('tf.config.experimental.getMemoryInfo', { device: asIs }, {}, (device) =>
    memoryOf(device, 'tf.config.experimental.getMemoryInfo'),
  );

/** `getMemoryInfo(device).current`. */
export const getMemoryUsage: NamedFunction<[device: string], ['device'], unknown, number> = defineFunction(
  'tf.config.experimental.getMemoryUsage',
  { device: asIs },
  {},
  (device) => memoryOf(device, 'tf.config.experimental.getMemoryUsage').current,
);

/** Lets the peak that `getMemoryInfo` tells begin anew. */
export const resetMemoryStats: NamedFunction<[device: string], ['device'], unknown, void> = defineFunction(
  'tf.config.experimental.resetMemoryStats',
  { device: asIs },
  {},
  (device) => {
    checkText(device, 'device', 'tf.config.experimental.resetMemoryStats');
    findDevice(device).allocator.resetPeak();
  },
);

function memoryOf(device: string, op: string): DeviceMemory {
  checkText(device, 'device', op);
  const { bytesInUse, bytesPeak } = findDevice(device).allocator.info();
  return { current: bytesInUse, peak: bytesPeak };
}

/** Whether memory is taken when it is needed. That is how it is here: true for every device. */
export const getMemoryGrowth: NamedFunction<[device: PhysicalDevice], ['device'], unknown, boolean> =
  defineFunction('tf.config.experimental.getMemoryGrowth', { device: asIs }, {}, (device) => {
    backendOf(device, 'tf.config.experimental.getMemoryGrowth');
    return true;
  });

/**
 * Says that memory is taken when it is needed, as it is here.
 * @throws UnimplementedError for false: no device takes all of its memory at the start.
 */
export const setMemoryGrowth: NamedFunction<
  [device: PhysicalDevice, enable: boolean],
  ['device', 'enable'],
  unknown,
  void
> = defineFunction(
  'tf.config.experimental.setMemoryGrowth',
  { device: asIs, enable: asIs },
  {},
  (device, enable) => {
    const op = 'tf.config.experimental.setMemoryGrowth';
    backendOf(device, op);
    if (!checkFlag(enable, 'enable', op))
      throw new UnimplementedError(
        'memory is always taken when it is needed, and never all at the start',
        op,
      );
  },
);

/** How an op of eager code treats a tensor of another device. */
export type DevicePolicy = 'default' | 'silent' | 'warn' | 'explicit';

/** What `setDevicePolicy` set: `'silent'`, unless it was called. */
export const getDevicePolicy: Tell<Exclude<DevicePolicy, 'default'>> = defineFunction(
  'tf.config.experimental.getDevicePolicy',
  {},
  {},
  () => placement.policy,
);

/**
 * Says what happens to an op of eager code that gets a tensor of another device: `'silent'` (or `'default'`) copies it, `'warn'` says so on the
 * console, and with `'explicit'` it is an InvalidArgumentError, so that every copy is written: `tf.device('/gpu:0', () => tf.identity(x))`.
 */
export const setDevicePolicy: NamedFunction<
  [devicePolicy: DevicePolicy | null],
  ['devicePolicy'],
  unknown,
  void
> = defineFunction('tf.config.experimental.setDevicePolicy', { devicePolicy: asIs }, {}, (devicePolicy) => {
  const policies: readonly DevicePolicy[] = ['default', 'silent', 'warn', 'explicit'];
  const policy = devicePolicy ?? 'default';
  checkOneOf(policy, policies, 'devicePolicy', 'tf.config.experimental.setDevicePolicy');
  placement.policy = policy === 'default' ? 'silent' : policy;
});

/**
 * Has every run of the program give the same numbers. Ops do so anyway, on any number of threads; from now on random numbers without a seed
 * are a FailedPreconditionError until `tf.random.setSeed` is called, and pipelines keep the order of their elements whatever their options say.
 */
export const enableOpDeterminism: Tell<void> = defineFunction(
  'tf.config.experimental.enableOpDeterminism',
  {},
  {},
  () => {
    determinism.enabled = true;
  },
);

/** Whether products of float32 may be computed with fewer bits (TensorFloat-32), as those of GPUs of NVIDIA are. True unless set. */
export const tensorFloat32ExecutionEnabled: Tell<boolean> = defineFunction(
  'tf.config.experimental.tensorFloat32ExecutionEnabled',
  {},
  {},
  () => placement.tensorFloat32,
);

/**
 * Says whether products of float32 may be computed with fewer bits: 11 instead of 24, with sums in float32. Those that may are matrix products, convolutions and attention on GPUs
 * of NVIDIA, of compute capability 8.0 and above. All others keep their bits.
 */
export const enableTensorFloat32Execution: NamedFunction<[enabled: boolean], ['enabled'], unknown, void> =
  defineFunction('tf.config.experimental.enableTensorFloat32Execution', { enabled: asIs }, {}, (enabled) => {
    placement.tensorFloat32 = checkFlag(
      enabled,
      'enabled',
      'tf.config.experimental.enableTensorFloat32Execution',
    );
  });
