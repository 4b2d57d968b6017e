import {
  type Backend,
  CancelledError,
  dtypesFit,
  dtypeTraits,
  type EagreError,
  type Executable,
  errorFromCode,
  type FlatPlan,
  type FlatStep,
  flattenPlan,
  type HostCode,
  InternalError,
  isKernelName,
  type KernelName,
  kernelAttrs,
  type NumericDType,
  type Plan,
  type PlanCall,
  PlanRun,
  type PlanTensor,
  partOf,
  planMemory,
  type ScalarProgram,
  type Storage,
  type TensorRef,
  throwIfAborted,
  UnimplementedError,
  writtenAroundHost,
} from '@eagre/backend';
import { type Block, CANCELLED, control, errorCodes, type Kernels, STOPPED } from './load.ts';

const NOTHING: Block = { numbers: new Float64Array(0) };

/** What a plan needs of the backend. */
export interface PlanHost {
  readonly addon: Kernels;
  readonly allocator: Backend['allocator'];
  /** The number of a kernel of the addon, if there is one of that name. */
  idOf(kernel: string): number | undefined;
  /** The dtypes that a kernel takes, as a set. */
  dtypesOf(kernel: KernelName): number;
  /**
   * The number of a scalar program, and a reference to it.
   * @throws InternalError, of `op`, where the addon refuses it.
   */
  compile(program: ScalarProgram, op: string): number;
}

/**
 * All steps of a plan in one block of numbers, which the addon runs at once. It comes back for code of the host and goes on behind it.
 * A run changes the addresses in the block that differ from the last run's.
 */
export class NativeExecutable implements Executable {
  readonly arenaBytes: number;
  readonly #addon: Kernels;
  readonly #plan: Plan;
  readonly #steps: readonly FlatStep[];
  readonly #run: PlanRun;
  readonly #arena: Storage;
  /** By value: where its address stands in the block. */
  readonly #places: readonly (readonly number[])[];
  /** By value: the address that stands there. */
  readonly #addresses: Float64Array;
  /** By value, for code of the host; undefined where there is none. What a run is given lies here as long as it runs. */
  readonly #memory: Storage[] | undefined;
  /** What is another memory at each run. */
  readonly #given: readonly number[];
  /** What the steps write; undefined where there is no code of the host. */
  readonly #written: ReadonlySet<number> | undefined;
  readonly #stacks: boolean;
  /** Whether a run is one call of the addon: there is neither code of the host nor a stack. */
  readonly #atOnce: boolean;
  #block: Block;
  /** The addon's. */
  readonly #number: number;

  /** @param plan one that `checkPlan` accepts. */
  constructor(host: PlanHost, plan: Plan) {
    const flat = flattenPlan(plan);
    this.#written = writtenAroundHost(flat);
    const packer = new Packer(host, flat);
    for (const step of flat.steps) packer.add(step);
    const { offsets, bytes } = planMemory(flat);
    this.#block = host.addon.newBlock(packer.numbers.length);
    this.#block.numbers.set(packer.numbers);
    this.#places = packer.places;
    this.#addresses = new Float64Array(flat.bytes.length);
    this.#addon = host.addon;
    this.#plan = plan;
    this.#steps = flat.steps;
    this.#stacks = flat.stacks > 0;
    this.#run = new PlanRun({ ...plan, bytes: flat.bytes, states: flat.states });
    this.#given = this.#run.given;
    this.#arena = host.allocator.allocateAlone(bytes);
    this.#memory = flat.steps.some((step) => isHost(step)) ? [] : undefined;
    this.#atOnce = this.#memory === undefined && !this.#stacks;
    offsets.forEach((offset, value) => {
      if (offset < 0) return;
      this.#place(value, this.#arena.address + offset);
      if (this.#memory !== undefined) this.#memory[value] = partOf(this.#arena, offset, flat.bytes[value]);
    });
    this.#run.bindConstants(this.#bound);
    this.#number = host.addon.preparePlan(this, this.#block, packer.programs);
    this.arenaBytes = bytes;
  }

  run(inputs: readonly Storage[], outputs: readonly Storage[], times?: Float64Array): void {
    if (this.#atOnce && times === undefined) {
      this.#runAtOnce(inputs, outputs);
      return;
    }
    const end = this.#steps.length;
    this.#run.start(inputs, outputs, times);
    let at = 0;
    try {
      times?.fill(0, 0, this.#plan.calls.length);
      this.#run.bind(this.#bound);
      if (this.#written !== undefined) this.#run.hold(this.#written);
      for (;;) {
        at = this.#runNative(at, times);
        if (at >= end) break;
        at = this.#runHere(at, times);
      }
    } finally {
      this.#end(at);
    }
  }

  async runAsync(
    inputs: readonly Storage[],
    outputs: readonly Storage[],
    signal?: AbortSignal,
  ): Promise<void> {
    throwIfAborted(signal);
    const end = this.#steps.length;
    this.#run.start(inputs, outputs, undefined);
    const cancel = (): void => this.#addon.cancelPlan(this.#number);
    let at = 0;
    try {
      this.#run.bind(this.#bound);
      this.#run.hold();
      signal?.addEventListener('abort', cancel);
      for (;;) {
        at = await this.#startNative(at);
        if (at >= end) break;
        throwIfAborted(signal);
        at = this.#runHere(at, undefined, signal);
        throwIfAborted(signal);
      }
    } finally {
      signal?.removeEventListener('abort', cancel);
      this.#end(at);
    }
  }

  dispose(): void {
    if (!this.#run.dispose()) return;
    this.#addon.dropPlan(this.#number);
    this.#block = NOTHING;
    this.#arena.release();
  }

  /** Nothing of JavaScript has its turn before the end, so nothing has to be kept and nothing is left behind. */
  #runAtOnce(inputs: readonly Storage[], outputs: readonly Storage[]): void {
    const run = this.#run;
    run.check(inputs, outputs);
    const { inputs: given, outputs: wanted } = this.#plan;
    const { asked } = run;
    for (let i = 0; i < asked.length; i++) this.#place(asked[i].value, run.ask(asked[i]).address);
    for (let i = 0; i < given.length; i++) this.#place(given[i], inputs[i].address);
    for (let i = 0; i < wanted.length; i++) this.#place(wanted[i], outputs[i].address);
    const code = this.#addon.runPlan(this.#number, undefined, 0);
    if (code !== undefined) throw this.#error(code, this.#addon.lastStep(), this.#addon.lastError());
  }

  // Made once: a run of a small plan takes about as long as making a function.
  readonly #bound = (value: number, memory: Storage): void => {
    this.#place(value, memory.address);
    if (this.#memory !== undefined) this.#memory[value] = memory;
  };

  /** @param at where the run has come to. */
  #end(at: number): void {
    // A run from behind the last step does nothing but empty the stacks.
    if (this.#stacks && at < this.#steps.length)
      this.#addon.runPlan(this.#number, undefined, this.#steps.length);
    if (this.#memory !== undefined) for (const value of this.#given) this.#memory[value] = this.#arena;
    this.#run.end();
  }

  /** Runs the addon's steps from `at` on; returns the next that is JavaScript's, or how many steps there are. */
  #runNative(at: number, times: Float64Array | undefined): number {
    const code = this.#addon.runPlan(this.#number, times, at);
    if (code === undefined) return this.#steps.length;
    const step = this.#addon.lastStep();
    if (code !== STOPPED) throw this.#error(code, step, this.#addon.lastError());
    return step;
  }

  /** The same on another thread. */
  #startNative(at: number): Promise<number> {
    return new Promise((resolve, reject) => {
      const code = this.#addon.startPlan(this, this.#number, at, (result, step, text) => {
        if (result === undefined) resolve(this.#steps.length);
        else if (result === STOPPED) resolve(step);
        else
          reject(
            result === CANCELLED
              ? new CancelledError('the run was cancelled')
              : this.#error(result, step, text),
          );
      });
      if (code !== undefined) reject(errorFromCode(errorCodes[code] ?? 'INTERNAL', this.#addon.lastError()));
    });
  }

  /** Runs the steps from `at` on that are JavaScript's, until `signal` is aborted; returns the next step. */
  #runHere(at: number, times: Float64Array | undefined, signal?: AbortSignal): number {
    let next = at;
    do {
      const step = this.#steps[next];
      const before = times === undefined ? 0 : performance.now();
      if (step.kind === 'call') this.#callHost(step.call);
      if (times !== undefined) times[step.owner] += (performance.now() - before) / 1000;
      next++;
    } while (next < this.#steps.length && isHost(this.#steps[next]) && signal?.aborted !== true);
    return next;
  }

  #callHost({ host, inputs, outputs }: PlanCall): void {
    const memory = this.#memory as readonly Storage[];
    const ref = (t: PlanTensor): TensorRef => ({ ...t, storage: memory[t.value] });
    (host as HostCode)(inputs.map(ref), outputs.map(ref));
  }

  #error(code: number, at: number, text: string): EagreError {
    const step = this.#steps[at];
    const call = step?.kind === 'call' ? step.call : this.#plan.calls[step?.owner];
    return errorFromCode(errorCodes[code] ?? 'INTERNAL', text, call?.name);
  }

  #place(value: number, address: number): void {
    if (this.#addresses[value] === address) return;
    this.#addresses[value] = address;
    const places = this.#places[value];
    const { numbers } = this.#block;
    for (let i = 0; i < places.length; i++) numbers[places[i]] = address;
  }
}

function isHost(step: FlatStep): boolean {
  return step.kind === 'call' && step.call.kernel === 'Host';
}

// checkPlan has seen that none is a string.
const dtypesIn = ({ inputs }: PlanCall): NumericDType[] => inputs.map(({ dtype }) => dtype as NumericDType);

/** Writes steps as numbers; addresses are left open. */
class Packer {
  readonly numbers: number[] = [];
  readonly places: number[][];
  readonly #host: PlanHost;
  readonly #programs = new Map<ScalarProgram, number>();

  constructor(host: PlanHost, flat: FlatPlan) {
    this.#host = host;
    this.places = flat.bytes.map(() => []);
  }

  add(step: FlatStep): void {
    const start = this.numbers.length;
    this.numbers.push(this.#code(step), step.owner, 0);
    switch (step.kind) {
      case 'call':
        if (!isHost(step)) this.#call(step.call);
        break;
      case 'jump':
        this.numbers.push(step.to);
        break;
      case 'switch':
        this.#address(step.selector);
        this.numbers.push(dtypeTraits[step.selector.dtype].code, ...step.to);
        break;
      default: {
        const { tensor, stack } = step;
        this.#address(tensor);
        this.numbers.push(tensor.size * dtypeTraits[tensor.dtype].bytes, stack);
      }
    }
    this.numbers[start + 2] = this.numbers.length - start - 3;
  }

  #code(step: FlatStep): number {
    if (isHost(step)) return control.stop;
    return step.kind === 'call' ? this.#kernelId(step.call) : control[step.kind];
  }

  #call(call: PlanCall): void {
    const { kernel } = call;
    this.numbers.push(call.inputs.length, call.outputs.length);
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
  }

  #kernelId(call: PlanCall): number {
    const { kernel, name } = call;
    const wanted = typeof kernel === 'string' ? kernel : isFlat(call) ? 'ElementwiseFlat' : 'Elementwise';
    const id = this.#host.idOf(wanted);
    const fits = (of: KernelName): boolean =>
      dtypesFit(of, this.#host.dtypesOf(of))(call.inputs, call.outputs);
    if (id === undefined || (isKernelName(kernel) && !fits(kernel))) {
      const dtypes = dtypesIn(call).join(', ');
      throw new UnimplementedError(`the native backend has no ${wanted} of ${dtypes}`, name);
    }
    return id;
  }

  /** The numbers of its scalar programs: the references that it holds. */
  get programs(): readonly number[] {
    return [...this.#programs.values()];
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
    if (typeof value === 'object') {
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
