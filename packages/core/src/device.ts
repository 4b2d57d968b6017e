import {
  type Backend,
  getBackend,
  InvalidArgumentError,
  listBackends,
  type MemoryInfo,
  NotFoundError,
} from '@eagre/backend';
import { asIs, defineFunction, type NamedFunction } from './arguments.ts';
import { checkCount, checkOneOf, checkText } from './checks.ts';
import { type Context, context, hostBackend, override, scoped } from './context.ts';
import type { NamedScope, ScopeFunction } from './scope.ts';

export interface PhysicalDevice {
  /** `/physical_device:CPU:0` */
  readonly name: string;
  readonly deviceType: 'CPU' | 'GPU';
}

/** The devices found at start, of one type or all. */
export const listPhysicalDevices: NamedFunction<
  [deviceType?: 'CPU' | 'GPU'],
  ['deviceType'],
  unknown,
  PhysicalDevice[]
> = defineFunction('tf.config.listPhysicalDevices', { deviceType: asIs }, {}, (deviceType = undefined) => {
  if (deviceType !== undefined)
    checkOneOf(deviceType, ['CPU', 'GPU'], 'deviceType', 'tf.config.listPhysicalDevices');
  const types = [...new Set(listBackends().map((b) => b.deviceType))];
  return types
    .filter((type) => deviceType === undefined || type === deviceType)
    .map((type) => ({ name: `/physical_device:${type}:0`, deviceType: type }));
});

/**
 * Places ops: `tf.device('/cpu:0', fn)` runs `fn` there and returns its value; `using _ = tf.device('/cpu:0')` holds until
 * the block ends. Names as in TensorFlow: `/cpu:0`, `CPU:0`, `/device:GPU:0`. Nodes of graphs keep the name.
 * @throws NotFoundError when there is no such device.
 */
export const device: ScopeFunction = defineFunction<NamedScope>(
  'tf.device',
  { name: asIs, fn: asIs },
  {},
  (name, fn = undefined) => {
    checkText(name, 'name', 'tf.device');
    const backend = findDevice(name);
    const placement = `/device:${backend.deviceType}:0`;
    return scoped(() => enterBackend(backend, { placement }), 'tf.device', fn);
  },
) as never;

function findDevice(name: string): Backend {
  const match = /^\/?(?:job:\w+\/replica:\d+\/task:\d+\/)?(?:device:)?(cpu|gpu):(\d+)$/i.exec(name);
  if (match === null)
    throw new InvalidArgumentError(
      `'${name}' is no device name; expected a form like '/cpu:0' or '/gpu:0'`,
      'device',
    );
  const type = (match[1] as string).toUpperCase();
  const current = hostBackend();
  const found =
    match[2] === '0' ? [current, ...listBackends()].find((b) => b.deviceType === type) : undefined;
  if (found === undefined) {
    const known = listPhysicalDevices().map((d) => `/${d.deviceType.toLowerCase()}:0`);
    throw new NotFoundError(`there is no device '${name}'; found: ${known.join(', ')}`, 'device');
  }
  return found;
}

function enterBackend(backend: Backend, changes: Partial<Context> = {}): () => boolean {
  // While a function is traced, its ops get their place when it runs.
  const field = context.host === null ? 'backend' : 'host';
  return override(context, { ...changes, [field]: backend });
}

/** Runs `fn` on the backend of that name (`native`, `js`), or holds with `using`. @throws NotFoundError */
export const withBackend: ScopeFunction = defineFunction<NamedScope>(
  'tf.withBackend',
  { name: asIs, fn: asIs },
  {},
  (name, fn = undefined) => {
    checkText(name, 'name', 'tf.withBackend');
    const backend = getBackend(name);
    return scoped(() => enterBackend(backend), 'tf.withBackend', fn);
  },
) as never;

/** What each backend holds of memory, in bytes. */
export const memory: NamedFunction<[], [], unknown, Record<string, MemoryInfo>> = defineFunction(
  'tf.memory',
  {},
  {},
  () => Object.fromEntries(listBackends().map((b) => [b.name, b.allocator.info()])),
);

/** Threads that CPU kernels use: asks, or sets; 0 stands for the processors that this process may use. */
export function threads(count?: number): number {
  if (count !== undefined) checkCount(count, 'the number of threads', 'threads');
  return hostBackend().threads(count);
}

/** Whether ops compute at once: true, but false while `tf.function` traces a function. */
export const executingEagerly: NamedFunction<[], [], unknown, boolean> = defineFunction(
  'tf.executingEagerly',
  {},
  {},
  () => context.tracer === null,
);
