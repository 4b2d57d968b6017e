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
import { instantiate, type Modules, workerStart } from './instance.ts';
import { WasmAllocator } from './wasm-allocator.ts';
import { WasmKernels } from './wasm-kernels.ts';
import { startWorker } from './workers.ts';

/** A module: compiled, its bytes, or where it is. */
export type WasmSource = WebAssembly.Module | BufferSource | URL | string;

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
  if (module !== undefined) checkSource('module', module);
  if (relaxed !== undefined) checkSource('relaxed', relaxed);
  const count = threadsOf(threads);
  const own = module === undefined ? ownModules() : undefined;
  const source = relaxed ?? own?.relaxed;
  const products = source !== undefined && usesRelaxedSimd() ? compiled(source) : undefined;
  // Where there are no kernels, nobody asks for their products.
  products?.catch(() => undefined);
  const kernels = await compiled(own?.kernels ?? (module as WasmSource));
  const fused = await (relaxed === undefined ? products?.catch(withoutRelaxed) : products);
  return openModules({ kernels, relaxed: fused }, count);
}

/** Opens the kernels of modules that are compiled. @throws InvalidArgumentError, UnavailableError as `openWasm` does */
export function openModules(modules: Modules, threads: number = threadsOf(undefined)): Backend {
  const { memory, shared } = naming(() => instantiate(modules));
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

/** Whether modules know their own URL: at the edge they do not, and neither do those that a bundler has made one script of. */
export const saysWhere = (): boolean => URL.canParse('..', import.meta.url);

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

/** Vite's development server moves the scripts of dependencies into a folder of its own, and serves their other files from where they are. */
const served = ({ href }: URL): URL =>
  new URL(href.replace(/(\/node_modules\/)\.vite\/(?=[^/]+$)/, '$1@eagre/backend-wasm/'));

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

// Also those of another realm.
const isModule = (value: unknown): boolean =>
  typeof value === 'object' && Object.prototype.toString.call(value) === '[object WebAssembly.Module]';

/** What URLs are relative to: this module, else the page. A text of its own: bundlers look for files in what stands beside `import.meta.url`. */
const base = (): string | undefined => (saysWhere() ? `${import.meta.url}` : globalThis.location?.href);

function checkSource(name: string, given: unknown): void {
  if (isModule(given) || given instanceof ArrayBuffer || ArrayBuffer.isView(given)) return;
  if (typeof given !== 'string' && !(given instanceof URL))
    throw new InvalidArgumentError(
      `${name} must be a WebAssembly.Module, its bytes or its URL, got ${given === null ? 'null' : typeof given}`,
      'openWasm',
    );
  if (!URL.canParse(given, base()))
    throw new InvalidArgumentError(`${name} '${given}' is no URL`, 'openWasm');
}

async function compiled(source: WasmSource): Promise<WebAssembly.Module> {
  if (isModule(source)) return source as WebAssembly.Module;
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source))
    return naming(() => WebAssembly.compile(source as BufferSource));
  const url = new URL(source as URL | string, base());
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
  // Servers of pages answer with one where there is no file.
  const isPage = response.headers.get('content-type')?.startsWith('text/html') === true;
  if (!response.ok || isPage)
    throw new UnavailableError(
      `${url}: ${isPage ? 'a page, and no module' : `${response.status} ${response.statusText}`}: put the module there, which comes with @eagre/backend-wasm, or give its URL to openWasm({ module })`,
      'openWasm',
    );
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

/** Whether the host takes a module of one function, whose result is a vector. */
function takes(...code: readonly number[]): boolean {
  const body = [10, code.length + 4, 1, code.length + 2, 0, ...code, 11];
  return WebAssembly.validate(
    Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, ...body),
  );
}
const ZEROS = [65, 0, 253, 15];
const hasSimd = (): boolean => takes(...ZEROS, 253, 98);

/** Whether products are computed by fused multiply-add: where the host has it, unless `EAGRE_ISA` says `baseline`. */
export const usesRelaxedSimd = (): boolean =>
  globalThis.process?.env?.EAGRE_ISA !== 'baseline' && takes(...ZEROS, ...ZEROS, ...ZEROS, 253, 133, 2);
