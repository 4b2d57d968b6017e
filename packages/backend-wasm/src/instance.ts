import { type Exports, WasmMemory } from './memory.ts';

// What the module itself needs, with some tensors, and what 32 bits can address.
const FIRST_PAGES = 512;
const MOST_PAGES = 65535;
const STACK = 1 << 20;

/** What kernels run from. */
export interface Modules {
  /** Of all kernels. */
  readonly kernels: WebAssembly.Module;
  /** Of products by fused multiply-add. */
  readonly relaxed?: WebAssembly.Module | undefined;
}

/** How a worker starts: the same modules over the same memory, with a stack of its own. */
export interface WorkerStart {
  readonly modules: Modules;
  readonly memory: WebAssembly.Memory;
  /** The end of its stack, which grows down. */
  readonly stack: number;
  /** Where the variables of its thread are. */
  readonly locals: number;
}

/**
 * Instances of the modules, over this memory unless the kernels bring their own. Workers evaluate the text of this function: it uses nothing that is
 * declared elsewhere, and has no functions, to which bundlers may give names by one of theirs.
 */
export function connect({ kernels, relaxed }: Modules, memory: WebAssembly.Memory | undefined): Exports {
  const env = { memory, now: performance.now.bind(performance) };
  const exports = new WebAssembly.Instance(kernels, { env } as unknown as WebAssembly.Imports)
    .exports as unknown as Exports;
  if (relaxed === undefined) return exports;
  const table = exports.__indirect_function_table;
  // It has neither data nor a table of its own.
  const nowhere = new WebAssembly.Global({ value: 'i32' }, 0);
  const { product } = new WebAssembly.Instance(relaxed, {
    env: {
      memory: memory ?? (exports.memory as WebAssembly.Memory),
      __indirect_function_table: table,
      __stack_pointer: exports.__stack_pointer,
      __memory_base: nowhere,
      __table_base: nowhere,
    },
  }).exports;
  // The place is the same in each worker.
  const at = table.grow(1);
  table.set(at, product);
  exports.relax(at);
  return exports;
}

/** Whether a module is the one for threads: it is given its memory. */
function isForThreads(module: WebAssembly.Module): boolean {
  return WebAssembly.Module.imports(module).some(({ kind }) => kind === 'memory');
}

/** Kernels that run, with their memory. */
export function instantiate(modules: Modules): { memory: WasmMemory; shared?: WebAssembly.Memory } {
  const shared = isForThreads(modules.kernels)
    ? new WebAssembly.Memory({ initial: FIRST_PAGES, maximum: MOST_PAGES, shared: true })
    : undefined;
  const exports = connect(modules, shared);
  exports._initialize();
  return shared === undefined
    ? { memory: new WasmMemory(exports, exports.memory as WebAssembly.Memory) }
    : { memory: new WasmMemory(exports, shared), shared };
}

/** What one more worker needs. */
export function workerStart(
  { exports }: WasmMemory,
  modules: Modules,
  memory: WebAssembly.Memory,
): WorkerStart {
  const align = Math.max(64, Number(exports.__tls_align?.value ?? 64));
  const stack = exports.allocate(STACK) >>> 0;
  const locals = exports.allocate(Number(exports.__tls_size?.value ?? 0) + align) >>> 0;
  return { modules, memory, stack: stack + STACK, locals: Math.ceil(locals / align) * align };
}
