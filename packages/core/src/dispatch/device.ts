import {
  type Allocator,
  allBackends,
  type Backend,
  getBackend,
  hardwareOf,
  hostFallbacks,
  InvalidArgumentError,
  limitMemory,
  listBackends,
  logicalDevice,
  type MemoryInfo,
  NotFoundError,
  placement,
  processorOf,
} from '@eagre/backend';
import {
  type Arguments,
  asIs,
  defineFunction,
  type NamedFunction,
  optional,
} from '../arguments/arguments.ts';
import { checkCount, checkText, shown } from '../arguments/checks.ts';
import { argumentsOf, takesArguments } from '../arguments/class-arguments.ts';
import type { NamedScope, ScopeFunction } from '../scopes/scope.ts';
import { checkFlag } from '../shapes/shape.ts';
import { type Context, context, deviceName, eagerBackend, inContext, override, scoped } from './context.ts';

/** TensorFlow's types, and those of devices that programs register. */
export type DeviceType = 'CPU' | 'GPU' | (string & {});

/** A piece of hardware; `tf.config.listPhysicalDevices` makes them. */
export class PhysicalDevice {
  /** `/physical_device:CPU:0` */
  readonly name: string;
  /** TensorFlow's device type: `CPU`, `GPU`; others are free to have names of their own, in capitals. */
  readonly deviceType: DeviceType;

  /** @internal */
  constructor({ deviceType, deviceIndex }: Backend) {
    this.name = `/physical_device:${deviceType}:${deviceIndex}`;
    this.deviceType = deviceType;
  }
}

/** What ops are placed on: a piece of hardware, or one of several that share it; `tf.config.listLogicalDevices` makes them. */
export class LogicalDevice {
  /** `/device:CPU:0` */
  readonly name: string;
  readonly deviceType: DeviceType;

  /** @internal */
  constructor(deviceType: DeviceType, index: number) {
    this.name = `/device:${deviceType}:${index}`;
    this.deviceType = deviceType;
  }
}

/** Options of `LogicalDeviceConfiguration`. */
export interface LogicalDeviceOptions {
  /** How many megabytes (of 2^20 bytes) its tensors, variables and plans take at most; no limit unless given. */
  readonly memoryLimit?: number | null;
}

/** What one of the logical devices of a piece of hardware is like. */
export class LogicalDeviceConfiguration {
  /** In megabytes (of 2^20 bytes); null for no limit. */
  readonly memoryLimit: number | null;

  /** @throws InvalidArgumentError for a limit that is no integer of at least 1. */
  constructor(...args: Arguments<[memoryLimit?: number | null], ['memoryLimit'], LogicalDeviceOptions>) {
    const { memoryLimit = null } = argumentsOf<LogicalDeviceOptions>(
      LogicalDeviceConfiguration,
      new.target,
      args,
    );
    if (memoryLimit !== null) checkCount(memoryLimit, 'memoryLimit', 'LogicalDeviceConfiguration', 1);
    this.memoryLimit = memoryLimit;
  }
}
takesArguments<LogicalDeviceOptions>(
  { positional: ['memoryLimit'], required: 0, names: { memoryLimit: true } },
  LogicalDeviceConfiguration,
);
const MEGABYTE = 2 ** 20;

/** The logical devices of a piece of hardware, by `keyOf`. */
const configured = new Map<string, readonly LogicalDeviceConfiguration[]>();

/** The same for all backends that are a way to use the same hardware. */
const keyOf = ({ deviceType, deviceIndex }: Backend): string => `${deviceType}:${deviceIndex}`;

/** The backends, without those that are another way to use the same device. @param from all, or those that may be used */
export function hardware(
  deviceType: unknown,
  op: string,
  from: readonly Backend[] = listBackends(),
): Backend[] {
  if (deviceType !== undefined) checkText(deviceType, 'deviceType', op);
  const seen = new Set<string>();
  return from.filter((b) => {
    const key = keyOf(b);
    if (seen.has(key) || (deviceType !== undefined && b.deviceType !== deviceType)) return false;
    seen.add(key);
    return true;
  });
}

type ListDevices<Device> = NamedFunction<[deviceType?: DeviceType], ['deviceType'], unknown, Device[]>;

/** The devices found at start, of one type or all. */
export const listPhysicalDevices: ListDevices<PhysicalDevice> = defineFunction(
  'tf.config.listPhysicalDevices',
  { deviceType: optional(asIs) },
  {},
  (deviceType = undefined) =>
    hardware(deviceType, 'tf.config.listPhysicalDevices', allBackends()).map((b) => new PhysicalDevice(b)),
);

/** The devices that `tf.device` takes, of one type or all: the physical ones, or those that `setLogicalDeviceConfiguration` made of them. */
export const listLogicalDevices: ListDevices<LogicalDevice> = defineFunction(
  'tf.config.listLogicalDevices',
  { deviceType: optional(asIs) },
  {},
  (deviceType = undefined) =>
    placesOf(deviceType, 'tf.config.listLogicalDevices').map(
      ({ backend, index }) => new LogicalDevice(backend.deviceType, index),
    ),
);

/** A logical device: the hardware, its number among all logical devices of its type, and its place among those of the hardware. */
interface Place {
  readonly backend: Backend;
  readonly index: number;
  readonly place: number;
}

/** The logical devices of one type, or all. Those of a type are numbered through, without what is hidden, as in TensorFlow. */
function placesOf(deviceType: unknown, op: string): Place[] {
  const next = new Map<string, number>();
  const all = hardware(deviceType, op);
  const ordered = all.toSorted((a, b) => (a.deviceType === b.deviceType ? a.deviceIndex - b.deviceIndex : 0));
  return ordered.flatMap((backend) => {
    const first = next.get(backend.deviceType) ?? 0;
    const count = configured.get(keyOf(backend))?.length ?? 1;
    next.set(backend.deviceType, first + count);
    return Array.from({ length: count }, (_, place) => ({ backend, index: first + place, place }));
  });
}

/** The backend of a physical device. @throws InvalidArgumentError for what is none */
export function backendOf(device: unknown, op: string): Backend {
  const found =
    device instanceof PhysicalDevice
      ? hardware(undefined, op, allBackends()).find((b) => new PhysicalDevice(b).name === device.name)
      : undefined;
  if (found === undefined)
    throw new InvalidArgumentError(
      `device: expected one of tf.config.listPhysicalDevices(), got ${shown(device)}`,
      op,
    );
  return found;
}

/**
 * Makes several devices of one, so that programs for several run where there is one: `/cpu:0`, `/cpu:1`, … or `/gpu:0`, `/gpu:1`, … They share
 * its threads and its memory, unless one of them has a `memoryLimit`: then each has its own, and what would take more than the limit is a
 * ResourceExhaustedError. Tensors and variables of a device that is taken away stay as they are. The devices of a type are numbered through: where
 * the first GPU is two, the second one is `/gpu:2`.
 * @throws UnimplementedError for limits of a device that has none: without the native kernels, and of several devices of WebGPU.
 */
export const setLogicalDeviceConfiguration: NamedFunction<
  [device: PhysicalDevice, logicalDevices: readonly LogicalDeviceConfiguration[]],
  ['device', 'logicalDevices'],
  unknown,
  void
> = defineFunction(
  'tf.config.setLogicalDeviceConfiguration',
  { device: asIs, logicalDevices: asIs },
  {},
  (device, logicalDevices) => {
    const op = 'tf.config.setLogicalDeviceConfiguration';
    const backend = backendOf(device, op);
    if (
      !Array.isArray(logicalDevices) ||
      logicalDevices.length === 0 ||
      !logicalDevices.every((c) => c instanceof LogicalDeviceConfiguration)
    )
      throw new InvalidArgumentError(
        `logicalDevices: expected an array of tf.config.LogicalDeviceConfiguration, got ${shown(logicalDevices)}`,
        op,
      );
    limitMemory(
      backend,
      logicalDevices.map(({ memoryLimit }) => (memoryLimit === null ? undefined : memoryLimit * MEGABYTE)),
    );
    configured.set(keyOf(backend), [...logicalDevices]);
  },
);

/** What `setLogicalDeviceConfiguration` set; null where nothing was. */
export const getLogicalDeviceConfiguration: NamedFunction<
  [device: PhysicalDevice],
  ['device'],
  unknown,
  LogicalDeviceConfiguration[] | null
> = defineFunction('tf.config.getLogicalDeviceConfiguration', { device: asIs }, {}, (device) => {
  const backend = backendOf(device, 'tf.config.getLogicalDeviceConfiguration');
  const set = configured.get(keyOf(backend));
  return set === undefined ? null : [...set];
});

/**
 * Whether an op runs on the CPU, with a warning, where the device that the program chose has no kernel for it; else that is an UnimplementedError. It
 * does, unless this is set to false. Ops that nobody placed always do.
 */
export const setSoftDevicePlacement: NamedFunction<[enabled: boolean], ['enabled'], unknown, void> =
  defineFunction('tf.config.setSoftDevicePlacement', { enabled: asIs }, {}, (enabled) => {
    placement.soft = checkFlag(enabled, 'enabled', 'tf.config.setSoftDevicePlacement');
  });

/** What `setSoftDevicePlacement` set. */
export const getSoftDevicePlacement: NamedFunction<[], [], unknown, boolean> = defineFunction(
  'tf.config.getSoftDevicePlacement',
  {},
  {},
  () => placement.soft,
);

/**
 * Whether each op waits for its device. Devices compute while the program goes on, so that an error of an op is thrown by the next read
 * or the next call of a function; with this it is thrown by the op itself. For finding errors: it is slow.
 */
export const setSynchronousExecution: NamedFunction<[enable: boolean], ['enable'], unknown, void> =
  defineFunction('tf.config.experimental.setSynchronousExecution', { enable: asIs }, {}, (enable) => {
    placement.synchronous = checkFlag(enable, 'enable', 'tf.config.experimental.setSynchronousExecution');
  });

/** What `setSynchronousExecution` set. */
export const getSynchronousExecution: NamedFunction<[], [], unknown, boolean> = defineFunction(
  'tf.config.experimental.getSynchronousExecution',
  {},
  {},
  () => placement.synchronous,
);

/** Waits until all devices have done what they were told. @throws the error of an op that failed meanwhile. */
export const syncDevices: NamedFunction<[], [], unknown, void> = defineFunction(
  'tf.test.experimental.syncDevices',
  {},
  {},
  () => {
    for (const { allocator } of listBackends()) allocator.synchronize();
  },
);

/**
 * Places ops: `tf.device('/cpu:0', fn)` runs `fn` there and returns its value; `using _ = tf.device('/cpu:0')` holds until
 * the block ends. Ops that nobody places run on the first GPU, where a package that adds one is imported and finds it, else on the CPU. Names as in TensorFlow: `/cpu:0`, `CPU:0`, `/device:GPU:0`. Ops of a traced function run there at each call; those that
 * nobody placed run where the function is called.
 * @throws NotFoundError when there is no such device.
 */
export const device: ScopeFunction & {
  <T>(options: {
    /** The name of a device: `'/gpu:0'`. */
    readonly deviceName: string;
    /** What runs there. */
    readonly fn: () => T;
  }): T;
  (options: {
    /** The name of a device: `'/gpu:0'`. */
    readonly deviceName: string;
  }): Disposable;
} = defineFunction<NamedScope<'name|deviceName'>>(
  'tf.device',
  { 'name|deviceName': asIs, fn: optional(asIs) },
  {},
  (name, fn = undefined) => {
    checkText(name, 'name', 'tf.device');
    const backend = findDevice(name);
    return scoped(() => enterBackend(backend, { placement: deviceName(backend) }), 'tf.device', fn);
  },
) as never;

/** The backend of a device by name. @throws InvalidArgumentError, NotFoundError */
export function findDevice(name: string): Backend {
  const match = /^\/?(?:job:\w+\/replica:\d+\/task:\d+\/)?(?:device:)?([a-z]\w*):(\d+)$/i.exec(name);
  if (match === null)
    throw new InvalidArgumentError(
      `'${name}' is not a device name; expected a form like '/cpu:0' or '/gpu:0'`,
      'device',
    );
  const type = (match[1] as string).toUpperCase();
  const index = Number(match[2]);
  // The backend in use goes before others for the same device.
  const own = hardwareOf(eagerBackend());
  const found = placesOf(type, 'device').find((place) => place.index === index);
  if (found === undefined) {
    const known = listLogicalDevices().map((d) => d.name.toLowerCase().replace('/device:', '/'));
    const hint =
      type === 'GPU' && hardware(type, 'device', allBackends()).length === 0
        ? "; import '@eagre/backend-cuda' or '@eagre/backend-webgpu' adds a GPU where there is one"
        : '';
    throw new NotFoundError(`there is no device '${name}'; found: ${known.join(', ')}${hint}`, 'device');
  }
  const { backend, place } = found;
  return logicalDevice(keyOf(own) === keyOf(backend) ? own : backend, index, place);
}

/** What says where ops that have values run. While a function is traced, its ops get their place when it runs. */
const backendField = (): 'backend' | 'eagerBackend' =>
  context.eagerBackend === null ? 'backend' : 'eagerBackend';

/** @internal Runs `fn` where ops that have values run on this backend. */
export function onBackend<T>(backend: Backend, fn: () => T): T {
  return inContext({ [backendField()]: backend }, fn);
}

function enterBackend(backend: Backend, changes: Partial<Context> = {}): () => boolean {
  return override(context, { ...changes, [backendField()]: backend });
}

/** Runs `fn` on the backend of that name (`native`, `js`), or holds with `using`. @throws NotFoundError */
export const withBackend: ScopeFunction = defineFunction<NamedScope>(
  'tf.experimental.withBackend',
  { name: asIs, fn: optional(asIs) },
  {},
  (name, fn = undefined) => {
    checkText(name, 'name', 'tf.experimental.withBackend');
    const backend = getBackend(name);
    return scoped(() => enterBackend(backend), 'tf.experimental.withBackend', fn);
  },
) as never;

/** What each backend holds of memory, in bytes. */
export const memory: NamedFunction<[], [], unknown, Record<string, MemoryInfo>> = defineFunction(
  'tf.experimental.memory',
  {},
  {},
  () => Object.fromEntries(listBackends().map(({ name, allocator }) => [name, memoryOf(allocator)])),
);

function memoryOf(allocator: Allocator): MemoryInfo {
  const info = allocator.info();
  return allocator.isHost ? info : { ...info, hostFallbacks: hostFallbacks(allocator) };
}

/** Threads that CPU kernels use: asks, or sets; 0 stands for the processors that this process may use. */
export function threads(count?: number): number {
  if (count !== undefined) checkCount(count, 'the number of threads', 'threads');
  return processorOf(eagerBackend()).threads(count);
}

/** Whether ops compute at once: true, but false while `tf.function` traces a function. */
export const executingEagerly: NamedFunction<[], [], unknown, boolean> = defineFunction(
  'tf.executingEagerly',
  {},
  {},
  () => context.tracer === null,
);
