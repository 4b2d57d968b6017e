import {
  type Backend,
  CancelledError,
  dtypeTraits,
  type Executable,
  errorFromCode,
  flattenPlan,
  type HostCode,
  InternalError,
  isKernelName,
  kernelAttrs,
  LateNumber,
  type LateNumbers,
  lateNumbersOf,
  type Plan,
  type PlanCall,
  PlanRun,
  type PlanTensor,
  partOf,
  planMemory,
  type ScalarProgram,
  type Storage,
  type TensorRef,
  UnimplementedError,
} from '@eagre/backend';
import { type Addon, errorCodes } from './load.ts';

/** What a plan needs of the backend. */
export interface PlanHost {
  readonly addon: Addon;
  readonly allocator: Backend['allocator'];
  /** The number of a kernel of the addon, if there is one of that name. */
  idOf(kernel: string): number | undefined;
  /**
   * The number of a scalar program.
   * @throws InternalError, of `op`, where the addon refuses it.
   */
  compile(program: ScalarProgram, op: string): number;
}

/** A late number's place in the block. */
interface LatePlace {
  readonly at: number;
  readonly number: LateNumber;
  readonly attr: string;
  readonly call: PlanCall;
}

/**
 * All calls of a plan in one block of numbers, which the addon runs at once: for each call the kernel, how many numbers follow, and
 * those as for a call by itself. A run changes the addresses and late numbers in it that differ from the last run's.
 */
export class NativeExecutable implements Executable {
  readonly arenaBytes: number;
  readonly #addon: Addon;
  readonly #plan: Plan;
  readonly #run: PlanRun;
  readonly #arena: Storage;
  readonly #late: readonly (readonly [LateNumbers, readonly LatePlace[]])[];
  /** By value: where its address stands in the block. */
  readonly #places: readonly (readonly number[])[];
  /** By value: the address that stands there. */
  readonly #addresses: Float64Array;
  /** The calls that are code of the host. */
  readonly #hosts: readonly number[];
  /** By value, for that code. */
  readonly #memory: Storage[] = [];
  #block: Float64Array;
  readonly #handle: object;

  /** @param plan one that `checkPlan` accepts. */
  constructor(host: PlanHost, plan: Plan) {
    const packer = new Packer(host, plan);
    for (const call of plan.calls) packer.add(call);
    const { offsets, bytes } = planMemory(flattenPlan(plan));
    // A buffer of its own: V8 moves small ones that live in its heap.
    this.#block = new Float64Array(new ArrayBuffer(packer.numbers.length * 8));
    this.#block.set(packer.numbers);
    this.#places = packer.places;
    this.#addresses = new Float64Array(plan.bytes.length);
    this.#late = lateNumbersOf(plan).map((numbers) => [
      numbers,
      packer.late.filter(({ number }) => number.numbers === numbers),
    ]);
    this.#addon = host.addon;
    this.#plan = plan;
    this.#run = new PlanRun(plan);
    this.#arena = host.allocator.allocateAlone(bytes);
    this.#hosts = plan.calls.flatMap(({ kernel }, i) => (kernel === 'Host' ? [i] : []));
    offsets.forEach((offset, value) => {
      if (offset < 0) return;
      this.#place(value, this.#arena.address + offset);
      if (this.#hosts.length > 0) this.#memory[value] = partOf(this.#arena, offset, plan.bytes[value]);
    });
    this.#handle = host.addon.preparePlan(this.#block);
    this.arenaBytes = bytes;
  }

  run(inputs: readonly Storage[], outputs: readonly Storage[], times?: Float64Array): void {
    this.#run.start(inputs, outputs, times);
    try {
      this.#ask();
      this.#run.bind((value, memory) => {
        this.#place(value, memory.address);
        if (this.#hosts.length > 0) this.#memory[value] = memory;
      });
      let next = 0;
      for (const host of this.#hosts) {
        this.#runRange(next, host, times);
        this.#runHost(host, times);
        next = host + 1;
      }
      this.#runRange(next, this.#plan.calls.length, times);
    } finally {
      this.#run.end();
    }
  }

  #runRange(first: number, end: number, times: Float64Array | undefined): void {
    const code = this.#addon.runPlan(this.#handle, times, first, end);
    if (code === undefined) return;
    const call = this.#plan.calls[this.#addon.lastCall()];
    throw errorFromCode(errorCodes[code] ?? 'INTERNAL', this.#addon.lastError(), call?.name);
  }

  #runHost(at: number, times: Float64Array | undefined): void {
    const before = performance.now();
    const { host, inputs, outputs } = this.#plan.calls[at];
    const ref = (t: PlanTensor): TensorRef => ({ ...t, storage: this.#memory[t.value] });
    (host as HostCode)(inputs.map(ref), outputs.map(ref));
    if (times !== undefined) times[at] = (performance.now() - before) / 1000;
  }

  async runAsync(
    inputs: readonly Storage[],
    outputs: readonly Storage[],
    signal?: AbortSignal,
  ): Promise<void> {
    if (signal?.aborted === true) throw new CancelledError('the run was cancelled');
    this.run(inputs, outputs);
  }

  dispose(): void {
    if (!this.#run.dispose()) return;
    this.#addon.dropPlan(this.#handle);
    this.#block = new Float64Array(0);
    this.#arena.release();
  }

  #ask(): void {
    const given = this.#late.map(([numbers]) => numbers.next());
    for (let i = 0; i < given.length; i++) {
      for (const { at, number, attr, call } of this.#late[i][1]) {
        const value = given[i][number.index];
        if (value === undefined)
          throw new InternalError(`late number ${number.index} of ${attr} was not given`, call.name);
        this.#block[at] = value;
      }
    }
  }

  #place(value: number, address: number): void {
    if (this.#addresses[value] === address) return;
    this.#addresses[value] = address;
    const places = this.#places[value];
    for (let i = 0; i < places.length; i++) this.#block[places[i]] = address;
  }
}

/** Writes calls as numbers; addresses are left open. */
class Packer {
  readonly numbers: number[] = [];
  readonly places: number[][];
  readonly late: LatePlace[] = [];
  readonly #host: PlanHost;
  readonly #programs = new Map<ScalarProgram, number>();

  constructor(host: PlanHost, plan: Plan) {
    this.#host = host;
    this.places = plan.bytes.map(() => []);
  }

  add(call: PlanCall): void {
    const { kernel } = call;
    const start = this.numbers.length;
    if (kernel === 'Host') {
      // Keeps the numbers of calls; it is never run.
      this.numbers.push(0, 0);
      return;
    }
    this.numbers.push(this.#kernelId(call), 0, call.inputs.length, call.outputs.length);
    if (isKernelName(kernel)) {
      this.#tensors(call);
      for (const name of kernelAttrs[kernel]) this.#attr(call, name);
    } else if (typeof kernel === 'string') {
      throw new InternalError(`no kernel is called ${kernel}`, call.name);
    } else if (isFlat(call)) {
      this.numbers.push(this.#program(kernel, call), call.outputs[0].size);
      for (const tensor of call.inputs) this.#address(tensor);
      for (const tensor of call.outputs) this.#address(tensor);
    } else {
      this.#tensors(call);
      this.numbers.push(this.#program(kernel, call));
    }
    this.numbers[start + 1] = this.numbers.length - start - 2;
  }

  #kernelId(call: PlanCall): number {
    const { kernel, inputs, name } = call;
    const wanted = typeof kernel === 'string' ? kernel : isFlat(call) ? 'ElementwiseFlat' : 'Elementwise';
    const id = this.#host.idOf(wanted);
    if (id === undefined) {
      const dtypes = inputs.map(({ dtype }) => dtype).join(', ');
      throw new UnimplementedError(`the native backend has no ${wanted} of ${dtypes}`, name);
    }
    return id;
  }

  #program(program: ScalarProgram, { name }: PlanCall): number {
    let id = this.#programs.get(program);
    if (id === undefined) this.#programs.set(program, (id = this.#host.compile(program, name)));
    return id;
  }

  #tensors({ inputs, outputs }: PlanCall): void {
    for (const tensors of [inputs, outputs]) {
      for (const tensor of tensors) {
        this.#address(tensor);
        this.numbers.push(dtypeTraits[tensor.dtype].code, tensor.shape.length, ...tensor.shape);
      }
    }
  }

  #address({ value }: PlanTensor): void {
    this.places[value].push(this.numbers.length);
    this.numbers.push(0);
  }

  #attr(call: PlanCall, name: string): void {
    const value = call.attrs[name];
    if (value instanceof LateNumber) {
      this.late.push({ at: this.numbers.length, number: value, attr: name, call });
      this.numbers.push(0);
    } else if (typeof value === 'object') {
      this.numbers.push(value.length, ...value);
    } else {
      this.numbers.push(Number(value));
    }
  }
}

/** Whether nothing broadcasts, so that sizes say all. */
function isFlat({ inputs, outputs }: PlanCall): boolean {
  return inputs.every(({ size }) => size === outputs[0].size);
}
