/**
 * The CPU backend of kernels that are compiled to WebAssembly, from the sources of the native ones. Importing it registers the backend, behind
 * native kernels and before those in JavaScript.
 */
import { type Backend, registerBackend, UnavailableError, type Watcher } from '@eagre/backend';
import { CompiledBackend, openWatcher } from '@eagre/backend-native';
import { Finalizers } from './collected.ts';
import { instantiate, isForThreads, workerStart } from './instance.ts';
import { WasmAllocator } from './wasm-allocator.ts';
import { WasmKernels } from './wasm-kernels.ts';
import { startWorker } from './workers.ts';

/** How kernels of WebAssembly are opened. */
export interface WasmOptions {
  /** `eagre.wasm` or `eagre-threads.wasm`: compiled, its bytes, or where it is. The one of this package that fits unless given. */
  readonly module?: WebAssembly.Module | BufferSource | URL | string;
  /** How many threads compute; as many as there are processors unless given. */
  readonly threads?: number;
}

/** Opens the kernels, and registers their backend instead of the one before. */
export async function openWasm({ module, threads }: WasmOptions = {}): Promise<Backend> {
  return register(await compiled(module ?? fileName()), threads);
}

function register(module: WebAssembly.Module, threads = processors()): Backend {
  const { memory, shared } = instantiate(module);
  const watcher = (): Watcher => openWatcher() ?? new Finalizers();
  const backend = new CompiledBackend(
    'wasm',
    new WasmKernels(memory),
    () => new WasmAllocator(memory, watcher()),
  );
  if (shared !== undefined && isForThreads(module))
    for (let i = 1; i < threads; i++) startWorker(workerStart(memory, module, shared));
  backend.threads(threads);
  registerBackend(backend, 5);
  return backend;
}

function processors(): number {
  const os = globalThis.process?.getBuiltinModule?.('node:os');
  return os?.availableParallelism() ?? globalThis.navigator?.hardwareConcurrency ?? 1;
}

/** Threads need memory that they share, which pages have where they are isolated from others. */
function fileName(): URL {
  return typeof SharedArrayBuffer === 'function'
    ? new URL('../eagre-threads.wasm', import.meta.url)
    : new URL('../eagre.wasm', import.meta.url);
}

async function compiled(
  module: WebAssembly.Module | BufferSource | URL | string,
): Promise<WebAssembly.Module> {
  if (module instanceof WebAssembly.Module) return module;
  if (typeof module !== 'string' && !(module instanceof URL)) return WebAssembly.compile(module);
  const url = new URL(module, import.meta.url);
  if (url.protocol === 'file:') {
    const { readFile } = globalThis.process.getBuiltinModule('node:fs/promises');
    return WebAssembly.compile(await readFile(url));
  }
  const response = await fetch(url);
  if (!response.ok) throw new UnavailableError(`${url}: ${response.status} ${response.statusText}`);
  return WebAssembly.compileStreaming(response);
}

async function tryToOpen(): Promise<Backend | Error> {
  try {
    return await openWasm();
  } catch (error) {
    if (error instanceof Error) return error;
    throw error;
  }
}
const opened = await tryToOpen();

/** The backend, or undefined where the module could not be opened (`wasmUnavailable` says why). */
export const wasmBackend: Backend | undefined = opened instanceof Error ? undefined : opened;

/** Why there is no backend; undefined where there is one. */
export const wasmUnavailable: string | undefined = opened instanceof Error ? opened.message : undefined;
