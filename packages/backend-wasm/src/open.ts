import {
  type Backend,
  EagreError,
  InvalidArgumentError,
  registerBackend,
  UnavailableError,
  type Watcher,
} from '@eagre/backend';
import { CompiledBackend, checkSettings, MAX_THREADS, openWatcher } from '@eagre/backend-native';
import { Finalizers } from './collected.ts';
import { instantiate, workerStart } from './instance.ts';
import { WasmAllocator } from './wasm-allocator.ts';
import { WasmKernels } from './wasm-kernels.ts';
import { startWorker } from './workers.ts';

/** How kernels of WebAssembly are opened. */
export interface WasmOptions {
  /** `eagre.wasm` or `eagre-threads.wasm`: compiled, its bytes, or where it is. The one of this package that fits unless given. */
  readonly module?: WebAssembly.Module | BufferSource | URL | string;
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
  const { module, threads, ...others } = options;
  const [other] = Object.keys(others);
  if (other !== undefined)
    throw new InvalidArgumentError(`there is no option '${other}'; known are module, threads`, 'openWasm');
  const count = threadsOf(threads);
  return openModule(await compiled(module === undefined ? ownModule() : module), count);
}

/** Opens the kernels of a module that is compiled. @throws InvalidArgumentError, UnavailableError as `openWasm` does */
export function openModule(module: WebAssembly.Module, threads: number = threadsOf(undefined)): Backend {
  const { memory, shared } = naming(() => instantiate(module));
  const watcher = (): Watcher => openWatcher() ?? new Finalizers();
  const backend = new CompiledBackend(
    'wasm',
    new WasmKernels(memory),
    () => new WasmAllocator(memory, watcher()),
  );
  if (shared !== undefined)
    for (let i = 1; i < threads; i++) startWorker(workerStart(memory, module, shared));
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

/** Where this package's module is. @throws UnavailableError at the edge. Threads need memory that they share, which pages have where they are isolated from others. */
export function ownModule(): URL {
  if (!URL.canParse('..', import.meta.url))
    throw new UnavailableError(
      'this host does not say where modules are: give it to openWasm({ module })',
      'openWasm',
    );
  return typeof SharedArrayBuffer === 'function'
    ? new URL('../eagre-threads.wasm', import.meta.url)
    : new URL('../eagre.wasm', import.meta.url);
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

// Also those of another realm.
const isModule = (value: unknown): boolean =>
  typeof value === 'object' && Object.prototype.toString.call(value) === '[object WebAssembly.Module]';

async function compiled(module: unknown): Promise<WebAssembly.Module> {
  if (isModule(module)) return module as WebAssembly.Module;
  if (module instanceof ArrayBuffer || ArrayBuffer.isView(module))
    return naming(() => WebAssembly.compile(module as BufferSource));
  if (typeof module !== 'string' && !(module instanceof URL))
    throw new InvalidArgumentError(
      `module must be a WebAssembly.Module, its bytes or its URL, got ${module === null ? 'null' : typeof module}`,
      'openWasm',
    );
  // A text of its own: bundlers look for files in what stands beside `import.meta.url`.
  const base = `${import.meta.url}`;
  if (!URL.canParse(module, base)) throw new InvalidArgumentError(`module '${module}' is no URL`, 'openWasm');
  const url = new URL(module, base);
  if (url.protocol === 'file:') {
    const builtin = globalThis.process?.getBuiltinModule;
    if (builtin === undefined) throw new UnavailableError(`${url}: this host reads no files`, 'openWasm');
    const bytes = await builtin('node:fs/promises')
      .readFile(url)
      .catch((cause: Error) => {
        throw new UnavailableError(cause.message, 'openWasm', { cause });
      });
    return naming(() => WebAssembly.compile(bytes));
  }
  const response = await fetch(url).catch((cause: Error) => {
    throw new UnavailableError(`${url}: ${cause.message}`, 'openWasm', { cause });
  });
  if (!response.ok)
    throw new UnavailableError(`${url}: ${response.status} ${response.statusText}`, 'openWasm');
  // Not all servers know the media type that streaming asks for.
  const bytes = await response.arrayBuffer();
  return naming(() => WebAssembly.compile(bytes));
}

/** Has errors of WebAssembly say what to do. */
export function naming<T>(compute: () => T): T {
  const named = (cause: unknown): Error => {
    if (cause instanceof EagreError || !(cause instanceof Error)) return cause as Error;
    const { name, message } = cause;
    if (/content security policy|unsafe-eval/i.test(message))
      return new UnavailableError(
        `this page's content security policy forbids WebAssembly: its script-src needs 'wasm-unsafe-eval' (${message})`,
        'openWasm',
        { cause },
      );
    if (!hasSimd())
      return new UnavailableError(
        'this host has no SIMD in WebAssembly, which the kernels need',
        'openWasm',
        { cause },
      );
    if (name === 'CompileError' || name === 'LinkError' || name === 'TypeError')
      return new InvalidArgumentError(`that is no module of these kernels: ${message}`, 'openWasm', {
        cause,
      });
    return new UnavailableError(`the kernels cannot run here: ${message}`, 'openWasm', { cause });
  };
  try {
    const made = compute();
    return made instanceof Promise
      ? (made.catch((cause: unknown) => {
          throw named(cause);
        }) as T)
      : made;
  } catch (cause) {
    throw named(cause);
  }
}

/** A module of one function, whose result is a vector of zeros. */
const SIMD = [
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98,
  11,
];
const hasSimd = (): boolean => WebAssembly.validate(Uint8Array.from(SIMD));
