import { type Exports, WasmMemory } from './memory.ts';

// What the module itself needs, with some tensors, and what 32 bits can address.
const FIRST_PAGES = 512;
const MOST_PAGES = 65535;
const STACK = 1 << 20;

/** How a worker starts: the same module over the same memory, with a stack of its own. */
export interface WorkerStart {
  readonly module: WebAssembly.Module;
  readonly memory: WebAssembly.Memory;
  /** The end of its stack, which grows down. */
  readonly stack: number;
  /** Where the variables of its thread are. */
  readonly locals: number;
}

/** What the module asks of a system: a clock, and an environment without variables. */
export function imports(memoryOf: () => WebAssembly.Memory): WebAssembly.ModuleImports {
  const NOT_THERE = 52;
  const view = (): DataView => new DataView(memoryOf().buffer);
  return {
    clock_time_get(_clock: number, _precision: bigint, at: number): number {
      view().setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true);
      return 0;
    },
    environ_sizes_get(count: number, bytes: number): number {
      view().setUint32(count, 0, true);
      view().setUint32(bytes, 0, true);
      return 0;
    },
    environ_get: () => 0,
    fd_close: () => NOT_THERE,
    fd_seek: () => NOT_THERE,
    fd_write: () => NOT_THERE,
    proc_exit(code: number): never {
      throw new Error(`the module ended with ${code}`);
    },
  };
}

/** Whether a module is the one for threads: it is given its memory. */
function isForThreads(module: WebAssembly.Module): boolean {
  return WebAssembly.Module.imports(module).some(({ kind }) => kind === 'memory');
}

/** A module that runs, with its memory. */
export function instantiate(module: WebAssembly.Module): { memory: WasmMemory; shared?: WebAssembly.Memory } {
  const shared = isForThreads(module)
    ? new WebAssembly.Memory({ initial: FIRST_PAGES, maximum: MOST_PAGES, shared: true })
    : undefined;
  let memory = shared as WebAssembly.Memory;
  const given: WebAssembly.Imports = { wasi_snapshot_preview1: imports(() => memory) };
  if (shared !== undefined) given.env = { memory: shared };
  const exports = new WebAssembly.Instance(module, given).exports as unknown as Exports;
  if (shared === undefined) memory = exports.memory as WebAssembly.Memory;
  exports._initialize();
  return shared === undefined
    ? { memory: new WasmMemory(exports, memory) }
    : { memory: new WasmMemory(exports, memory), shared };
}

/** What one more worker needs. */
export function workerStart(
  { exports }: WasmMemory,
  module: WebAssembly.Module,
  memory: WebAssembly.Memory,
): WorkerStart {
  const align = Math.max(64, Number(exports.__tls_align?.value ?? 64));
  const stack = exports.allocate(STACK) >>> 0;
  const locals = exports.allocate(Number(exports.__tls_size?.value ?? 0) + align) >>> 0;
  return { module, memory, stack: stack + STACK, locals: Math.ceil(locals / align) * align };
}
