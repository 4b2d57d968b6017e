/** The functions that native/wasm/module.cc exports. Addresses are numbers of 32 bits. */
export interface Exports {
  readonly memory?: WebAssembly.Memory;
  readonly __stack_pointer: WebAssembly.Global;
  readonly __indirect_function_table: WebAssembly.Table;
  readonly __tls_size?: WebAssembly.Global;
  readonly __tls_align?: WebAssembly.Global;
  __wasm_init_tls?(at: number): void;
  _initialize(): void;
  kernels(): number;
  kernel(index: number): number;
  lastError(): number;
  lastStep(): number;
  allocate(bytes: number): number;
  release(address: number): void;
  setBlock(address: number, length: number): void;
  run(kernel: number): number;
  preparePlan(address: number, length: number): number;
  planOwners(plan: number): number;
  runPlan(plan: number, first: number, times: number): number;
  dropPlan(plan: number): void;
  compileProgram(address: number, length: number): number;
  releaseProgram(program: number): number;
  threads(count: number): number;
  jobs(): number;
  /** Has products computed by a function of the table. */
  relax(at: number): void;
  /** Does chunks of others' jobs; never returns. */
  serve?(): void;
}

/** The memory of a module, whose buffer is another whenever it has grown, unless threads share it. */
export class WasmMemory {
  readonly exports: Exports;
  readonly #memory: WebAssembly.Memory;

  constructor(exports: Exports, memory: WebAssembly.Memory) {
    this.exports = exports;
    this.#memory = memory;
  }

  /** Bytes taken from the system. */
  get size(): number {
    return this.#memory.buffer.byteLength;
  }

  /** The bytes at an address, until the memory grows. */
  bytes(address: number, length: number): Uint8Array {
    return new Uint8Array(this.#memory.buffer, address, length);
  }

  numbers(address: number, length: number): Float64Array {
    return new Float64Array(this.#memory.buffer, address, length);
  }

  /** The text of one byte a character that ends with 0. */
  text(address: number): string {
    const bytes = new Uint8Array(this.#memory.buffer);
    let end = address;
    while (bytes[end] !== 0) end++;
    return String.fromCharCode(...bytes.subarray(address, end));
  }
}
