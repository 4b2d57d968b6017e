import { nextTurn } from '@eagre/backend';
import { type Block, CANCELLED, type Kernels, STOPPED } from '@eagre/backend-native';
import type { Exports, WasmMemory } from './memory.ts';

const INTERNAL = 5;

/** Numbers in the module's memory. */
class WasmBlock implements Block {
  readonly address: number;
  readonly length: number;
  readonly #memory: WasmMemory;
  #view: Float64Array;

  constructor(memory: WasmMemory, length: number) {
    // A block of no numbers has a place, too.
    const bytes = Math.max(1, length) * 8;
    this.address = memory.exports.allocate(bytes) >>> 0;
    if (this.address === 0) throw new RangeError('the memory of WebAssembly is full');
    this.length = length;
    this.#memory = memory;
    this.#view = memory.numbers(this.address, length).fill(0);
  }

  get numbers(): Float64Array {
    // A view of memory that has grown has no length.
    if (this.#view.length !== this.length) this.#view = this.#memory.numbers(this.address, this.length);
    return this.#view;
  }

  release(): void {
    this.#memory.exports.release(this.address);
  }
}

/** A plan that the module holds. */
interface Prepared {
  readonly address: number;
  readonly block: WasmBlock;
  readonly programs: readonly number[];
  running: boolean;
  cancelled: boolean;
}

/** The module's functions, as a backend of compiled kernels calls them. */
export class WasmKernels implements Kernels {
  readonly kernels: readonly string[];
  readonly isa: string;
  readonly #memory: WasmMemory;
  readonly #exports: Exports;
  readonly #plans = new Map<number, Prepared>();
  /** Drops the plans whose owners were collected. */
  readonly #owners = new FinalizationRegistry<number>((plan) => this.#drop(plan));
  /** Of a trap, which has no text in the module. */
  #trap: string | undefined;

  /** @param relaxed whether products are computed by relaxed SIMD */
  constructor(memory: WasmMemory, relaxed: boolean) {
    this.isa = `${relaxed ? 'relaxed ' : ''}SIMD of 128 bits`;
    this.#memory = memory;
    this.#exports = memory.exports;
    this.kernels = Array.from({ length: memory.exports.kernels() }, (_, i) =>
      memory.text(memory.exports.kernel(i)),
    );
  }

  newBlock(length: number): Block {
    return new WasmBlock(this.#memory, length);
  }

  setBlock(block: Block): void {
    const { address, length } = block as WasmBlock;
    this.#exports.setBlock(address, length);
  }

  run(kernel: number): number | undefined {
    let code: number;
    try {
      code = this.#exports.run(kernel);
    } catch (error) {
      code = this.#trapped(error);
    }
    return code === 0 ? undefined : code;
  }

  lastError(): string {
    const trap = this.#trap;
    this.#trap = undefined;
    return trap ?? this.#memory.text(this.#exports.lastError());
  }

  lastStep(): number {
    return this.#exports.lastStep();
  }

  preparePlan(owner: object, block: Block, programs: readonly number[] = []): number {
    const { address, length } = block as WasmBlock;
    const plan = this.#exports.preparePlan(address, length);
    if (plan === 0) throw new Error(this.lastError());
    this.#plans.set(plan, {
      address: plan,
      block: block as WasmBlock,
      programs,
      running: false,
      cancelled: false,
    });
    this.#owners.register(owner, plan, block);
    return plan;
  }

  runPlan(plan: number, times: Float64Array | undefined, first: number): number | undefined {
    const prepared = this.#plans.get(plan);
    if (prepared === undefined) return this.#failed('no plan');
    if (prepared.running) return this.#failed('a plan was run while it runs');
    return this.#run(prepared, times, first);
  }

  startPlan(
    _owner: object,
    plan: number,
    first: number,
    done: (result: number | undefined, step: number, text: string) => void,
  ): number | undefined {
    const prepared = this.#plans.get(plan);
    if (prepared === undefined) return this.#failed('no plan');
    if (prepared.running) return this.#failed('a plan was run while it runs');
    prepared.running = true;
    prepared.cancelled = false;
    // Of one thread: it has its turn once others had theirs.
    nextTurn().then(() => {
      prepared.running = false;
      if (prepared.cancelled) return done(CANCELLED, first, '');
      const result = this.#run(prepared, undefined, first);
      const failed = result !== undefined && result !== STOPPED;
      done(result, this.lastStep(), failed ? this.lastError() : '');
    });
    return undefined;
  }

  cancelPlan(plan: number): void {
    const prepared = this.#plans.get(plan);
    if (prepared !== undefined) prepared.cancelled = true;
  }

  dropPlan(plan: number): void {
    const prepared = this.#plans.get(plan);
    if (prepared?.running) throw new Error('a plan was dropped while it runs');
    if (prepared !== undefined) this.#owners.unregister(prepared.block);
    this.#drop(plan);
  }

  compileProgram(code: Float64Array): number {
    const block = new WasmBlock(this.#memory, code.length);
    block.numbers.set(code);
    const program = this.#exports.compileProgram(block.address, code.length);
    block.release();
    if (program < 0) throw new Error(this.lastError());
    return program;
  }

  releaseProgram(program: number): void {
    if (this.#exports.releaseProgram(program) !== 0) throw new Error(this.lastError());
  }

  threads(count = 0): number {
    return this.#exports.threads(count);
  }

  jobs(): number {
    return this.#exports.jobs() >>> 0;
  }

  #run({ address }: Prepared, times: Float64Array | undefined, first: number): number | undefined {
    let code: number;
    let seconds: WasmBlock | undefined;
    try {
      if (times !== undefined) {
        const owners = this.#exports.planOwners(address);
        if (times.length < owners) return this.#failed(`no room for the times of ${owners} calls`);
        seconds = new WasmBlock(this.#memory, times.length);
        seconds.numbers.set(times);
      }
      code = this.#exports.runPlan(address, first, seconds?.address ?? 0);
      if (seconds !== undefined) times?.set(seconds.numbers);
    } catch (error) {
      code = this.#trapped(error);
    } finally {
      seconds?.release();
    }
    return code === 0 ? undefined : code;
  }

  #drop(plan: number): void {
    const prepared = this.#plans.get(plan);
    if (prepared === undefined) return;
    this.#plans.delete(plan);
    this.#exports.dropPlan(plan);
    prepared.block.release();
    for (const program of prepared.programs) this.#exports.releaseProgram(program);
  }

  #failed(text: string): number {
    this.#trap = text;
    return INTERNAL;
  }

  #trapped(error: unknown): number {
    return this.#failed(`WebAssembly stopped: ${error instanceof Error ? error.message : String(error)}`);
  }
}
