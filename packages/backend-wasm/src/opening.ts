import {
  type Backend,
  InvalidArgumentError,
  registerBackend,
  UnavailableError,
  type Watcher,
} from '@eagre/backend';
import { CompiledBackend, checkSettings, MAX_THREADS, openWatcher } from '@eagre/backend-native';
import { Finalizers } from './collected.ts';
import { instantiate, type Modules, workerStart } from './instance.ts';
import {
  checkSource,
  compiled,
  naming,
  type Opening,
  saysWhere,
  served,
  takes,
  type WasmSource,
  ZEROS,
} from './sources.ts';
import { WasmAllocator } from './wasm-allocator.ts';
import { WasmKernels } from './wasm-kernels.ts';
import { startWorker } from './workers.ts';

export type { WasmSource };

export const ofKernels: Opening = { op: 'openWasm', of: 'kernels' };

/** How kernels of WebAssembly are opened. */
export interface WasmOptions {
  /** `eagre.wasm` or `eagre-threads.wasm`; the one of this package that fits unless given. */
  readonly module?: WasmSource;
  /**
   * `eagre-relaxed.wasm` or `eagre-threads-relaxed.wasm`, as `module` is: matrix products by fused multiply-add. It is used where the host has relaxed
   * SIMD. The one of this package unless `module` is given; then products are computed without it.
   */
  readonly relaxed?: WasmSource;
  /** How many threads compute, from 1 to 256; `EAGRE_NUM_THREADS`, or as many as there are processors, unless given. */
  readonly threads?: number;
}

/**
 * Opens the kernels, and registers their backend instead of the one before.
 * @throws InvalidArgumentError for what is no module of these kernels, or no number of threads; UnavailableError where a module cannot be had, or
 *   cannot run.
 */
export async function openWasm(options: WasmOptions = {}): Promise<Backend> {
  if (typeof options !== 'object' || options === null)
    throw new InvalidArgumentError('options must be an object', 'openWasm');
  const { module, relaxed, threads, ...others } = options;
  const [other] = Object.keys(others);
  if (other !== undefined)
    throw new InvalidArgumentError(
      `there is no option '${other}'; known are module, relaxed, threads`,
      'openWasm',
    );
  if (module !== undefined) checkSource('module', module, 'openWasm');
  if (relaxed !== undefined) checkSource('relaxed', relaxed, 'openWasm');
  const count = threadsOf(threads);
  const own = module === undefined ? ownModules() : undefined;
  const source = relaxed ?? own?.relaxed;
  const products = source !== undefined && usesRelaxedSimd() ? compiled(source, ofKernels) : undefined;
  // Where there are no kernels, nobody asks for their products.
  products?.catch(() => undefined);
  const kernels = await compiled(own?.kernels ?? (module as WasmSource), ofKernels);
  const fused = await (relaxed === undefined ? products?.catch(withoutRelaxed) : products);
  return openModules({ kernels, relaxed: fused }, count);
}

/** Opens the kernels of modules that are compiled. @throws InvalidArgumentError, UnavailableError as `openWasm` does */
export function openModules(modules: Modules, threads: number = threadsOf(undefined)): Backend {
  const { memory, shared } = naming(() => instantiate(modules), ofKernels);
  const watcher = (): Watcher => openWatcher() ?? new Finalizers();
  const backend = new CompiledBackend(
    'wasm',
    new WasmKernels(memory, modules.relaxed !== undefined),
    () => new WasmAllocator(memory, watcher()),
  );
  if (shared !== undefined)
    for (let i = 1; i < threads; i++) startWorker(workerStart(memory, modules, shared));
  backend.threads(threads);
  registerBackend(backend, 5);
  return backend;
}

/** What opening a backend gave, for the exports of both entries. */
export interface Opened {
  readonly backend: Backend | undefined;
  readonly unavailable: string | undefined;
}

/** Of an error: the host has no kernels of WebAssembly, and goes on. */
export function notOpened(error: unknown): Opened {
  if (error instanceof Error) return { backend: undefined, unavailable: error.message };
  throw error;
}

/** Where this package's modules are. @throws UnavailableError where nobody knows. Threads need memory that they share, which pages have where they are isolated from others. */
export function ownModules(): { readonly kernels: URL; readonly relaxed: URL } {
  if (!saysWhere())
    throw new UnavailableError(
      'this host does not say where modules are: give it to openWasm({ module })',
      'openWasm',
    );
  return typeof SharedArrayBuffer === 'function'
    ? {
        kernels: served(new URL('../eagre-threads.wasm', import.meta.url)),
        relaxed: served(new URL('../eagre-threads-relaxed.wasm', import.meta.url)),
      }
    : {
        kernels: served(new URL('../eagre.wasm', import.meta.url)),
        relaxed: served(new URL('../eagre-relaxed.wasm', import.meta.url)),
      };
}

/** Of an error about this package's module for products: the kernels compute them themselves. */
export function withoutRelaxed(error: unknown): undefined {
  if (!(error instanceof Error)) throw error;
  console.warn(
    `Matrix products are computed without fused multiply-add, which takes longer: ${error.message}`,
  );
}

function threadsOf(given: unknown): number {
  const { process } = globalThis;
  const env = process?.env ?? {};
  checkSettings(env);
  const builtin = process?.getBuiltinModule;
  if (given === undefined) {
    if (env.EAGRE_NUM_THREADS) return Number(env.EAGRE_NUM_THREADS);
    // Workers that compute already share the processors among them.
    if (builtin?.('node:worker_threads').isMainThread === false) return 1;
    return builtin?.('node:os').availableParallelism() ?? globalThis.navigator?.hardwareConcurrency ?? 1;
  }
  if (typeof given !== 'number' || !Number.isInteger(given) || given < 1 || given > MAX_THREADS)
    throw new InvalidArgumentError(
      `threads must be an integer from 1 to ${MAX_THREADS}, got ${typeof given === 'number' ? given : typeof given}`,
      'openWasm',
    );
  return given;
}

/** Whether products are computed by fused multiply-add: where the host has it, unless `EAGRE_ISA` says `baseline`. */
export const usesRelaxedSimd = (): boolean =>
  globalThis.process?.env?.EAGRE_ISA !== 'baseline' && takes(...ZEROS, ...ZEROS, ...ZEROS, 253, 133, 2);
