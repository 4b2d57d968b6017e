import { type Allocator, partOf, readStorage, type Storage } from '../buffer/storage.ts';
import type { Backend, Kernel, TensorRef } from '../device/backend.ts';
import { placedKernel } from '../device/soft-placement.ts';
import { type DType, dtypeTraits, type NumericDType } from '../dtype.ts';
import { EagreError, errorFromCode, InternalError, throwIfAborted, UnimplementedError } from '../errors.ts';
import { type KernelAttrs, kernelAttrs } from '../kernels.ts';
import { nextTurn } from '../next-turn.ts';
import type { ScalarProgram } from '../program/scalar.ts';
import { checkPlan } from './check.ts';
import { type FlatStep, writtenAroundHost } from './flat-plan.ts';
import { flattenPlan } from './flatten-plan.ts';
import { setInterpreter } from './interpret-later.ts';
import { planMemory } from './memory.ts';
import { type Executable, isKernelName, type Plan, type PlanCall, type PlanTensor } from './plan.ts';
import { PlanRun } from './run.ts';
import { PlanStack } from './stack.ts';

/** For how long, in milliseconds, an asynchronous run keeps other work waiting, unless one call takes longer. */
const SLICE = 10;

/** A tensor whose memory a run gives. */
class Slot implements TensorRef {
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly size: number;
  storage: Storage;

  constructor({ dtype, shape, size }: PlanTensor, storage: Storage) {
    this.dtype = dtype;
    this.shape = shape;
    this.size = size;
    this.storage = storage;
  }
}

interface Step {
  readonly owner: number;
  /** What errors are called by. */
  readonly name: string;
  /** @returns the place of the step to go on with; `next` is the one behind. */
  readonly run: (next: number) => number;
}

/**
 * Makes a plan ready for any backend: its calls run one by one through the backend's kernels.
 * @throws InternalError for a plan that breaks its promises; UnimplementedError where the backend lacks a kernel; both name the call.
 */
export function interpretPlan(
  backend: Backend,
  plan: Plan,
  allocator: Allocator = backend.allocator,
): Executable {
  checkPlan(plan);
  return new Interpreter(backend, plan, allocator);
}

/** Has all backends prepare plans that only interpret them. */
export function useInterpreter(): void {
  setInterpreter(interpretPlan);
}

class Interpreter implements Executable {
  readonly arenaBytes: number;
  readonly #run: PlanRun;
  readonly #allocator: Allocator;
  readonly #arena: Storage;
  readonly #steps: readonly Step[];
  readonly #stacks: readonly PlanStack[];
  /** By value: the tensors that look at it. */
  readonly #slots: readonly Slot[][];
  /** What is another memory at each run. */
  readonly #given: readonly number[];
  /** What the steps write; undefined where there is no code of the host. */
  readonly #written: ReadonlySet<number> | undefined;

  constructor(backend: Backend, plan: Plan, allocator: Allocator) {
    const flat = flattenPlan(plan);
    this.#allocator = allocator;
    this.#written = writtenAroundHost(flat);
    const { offsets, bytes } = planMemory(flat, allocator.alignment);
    const arena = allocator.allocateAlone(bytes);
    const memory = flat.bytes.map((size, value) =>
      offsets[value] < 0 ? arena : partOf(arena, offsets[value], size),
    );
    const slots: Slot[][] = flat.bytes.map(() => []);
    const look = (tensor: PlanTensor): Slot => {
      const slot = new Slot(tensor, memory[tensor.value]);
      slots[tensor.value].push(slot);
      return slot;
    };
    const programs = new Map<ScalarProgram, Kernel>();
    this.#stacks = Array.from({ length: flat.stacks }, () => new PlanStack(allocator));
    this.#steps = flat.steps.map((step): Step => {
      const { owner } = step;
      if (step.kind === 'call') {
        const { call } = step;
        const kernel = kernelOf(backend, call, programs);
        return { owner, name: call.name, run: this.#call(call, kernel, look) };
      }
      return { owner, name: plan.calls[owner].name, run: this.#control(step, look) };
    });
    this.#slots = slots;
    this.#arena = arena;
    this.#run = new PlanRun({ ...plan, bytes: flat.bytes, states: flat.states });
    this.#given = this.#run.given;
    this.#run.bindConstants((value, storage) => this.#bind(value, storage));
    this.arenaBytes = bytes;
  }

  run(inputs: readonly Storage[], outputs: readonly Storage[], times?: Float64Array): void {
    this.#run.start(inputs, outputs, times);
    try {
      this.#run.bind((value, memory) => this.#bind(value, memory));
      if (this.#written !== undefined) this.#run.hold(this.#written);
      if (times === undefined) this.#advance(0, undefined, Number.POSITIVE_INFINITY);
      else this.#advanceTimed(times);
    } finally {
      this.#end();
    }
  }

  async runAsync(
    inputs: readonly Storage[],
    outputs: readonly Storage[],
    signal?: AbortSignal,
  ): Promise<void> {
    this.#run.start(inputs, outputs, undefined);
    try {
      throwIfAborted(signal);
      this.#run.bind((value, memory) => this.#bind(value, memory));
      this.#run.hold();
      for (let at = 0; at < this.#steps.length; ) {
        await nextTurn();
        at = this.#advance(at, signal, performance.now() + SLICE);
      }
      await this.#allocator.synchronizeAsync();
    } finally {
      this.#end();
    }
  }

  dispose(): void {
    if (this.#run.dispose()) this.#arena.release();
  }

  #end(): void {
    // So that nothing given stays alive through the plan.
    for (const value of this.#given) this.#bind(value, this.#arena);
    for (const stack of this.#stacks) stack.clear();
    this.#run.end();
  }

  /** Runs steps until the end or that time, at least one; returns the place of the next. */
  #advance(from: number, signal: AbortSignal | undefined, until: number): number {
    const steps = this.#steps;
    let at = from;
    while (at < steps.length) {
      throwIfAborted(signal);
      at = runStep(steps[at], at + 1);
      if (until !== Number.POSITIVE_INFINITY && performance.now() >= until) break;
    }
    return at;
  }

  #advanceTimed(times: Float64Array): void {
    const steps = this.#steps;
    for (const { owner } of steps) times[owner] = 0;
    for (let at = 0; at < steps.length; ) {
      const { owner } = steps[at];
      const before = performance.now();
      at = runStep(steps[at], at + 1);
      times[owner] += (performance.now() - before) / 1000;
    }
  }

  #call(call: PlanCall, kernel: Kernel, look: (tensor: PlanTensor) => Slot): Step['run'] {
    const inputs = call.inputs.map(look);
    const outputs = call.outputs.map(look);
    const attrs = attrsOf(call);
    return (next) => {
      kernel(inputs, outputs, attrs);
      return next;
    };
  }

  #control(step: Exclude<FlatStep, { kind: 'call' }>, look: (tensor: PlanTensor) => Slot): Step['run'] {
    switch (step.kind) {
      case 'jump':
        return () => step.to;
      case 'switch': {
        const selector = look(step.selector);
        return () => step.to[choice(selector, step.to.length)];
      }
      default: {
        const tensor = look(step.tensor);
        const bytes = tensor.size * dtypeTraits[tensor.dtype].bytes;
        const stack = this.#stacks[step.stack];
        return (next) => {
          stack[step.kind](tensor.storage, bytes);
          return next;
        };
      }
    }
  }

  #bind(value: number, memory: Storage): void {
    for (const slot of this.#slots[value]) slot.storage = memory;
  }
}

/** The attributes that the kernel reads, and no others. */
function attrsOf({ kernel, attrs }: PlanCall): KernelAttrs {
  return Object.fromEntries(
    isKernelName(kernel) ? kernelAttrs[kernel].map((name) => [name, attrs[name]]) : [],
  );
}

/** Which of several steps a bool or int32 scalar means. */
function choice({ dtype, storage }: Slot, count: number): number {
  const [value] = readStorage(storage, dtype, 1);
  if (dtype === 'bool') return value === 0 ? 1 : 0;
  const index = Number(value);
  return index >= 0 && index < count ? index : count - 1;
}

function runStep({ name, run }: Step, next: number): number {
  try {
    return run(next);
  } catch (error) {
    if (!(error instanceof EagreError)) throw error;
    // A kernel may have named itself; the call's name says more.
    const message = error.op === undefined ? error.message : error.message.slice(error.op.length + 2);
    throw errorFromCode(error.code, message, name);
  }
}

function kernelOf(backend: Backend, call: PlanCall, programs: Map<ScalarProgram, Kernel>): Kernel {
  const { kernel, inputs, name, host, own } = call;
  if (kernel === 'Own') return own?.run as Kernel;
  if (kernel === 'Host') return host as Kernel;
  if (isKernelName(kernel)) {
    // checkPlan has seen that none is a string.
    const dtypes = inputs.map(({ dtype }) => dtype as NumericDType);
    const found = placedKernel(backend, kernel, dtypes);
    if (found === undefined)
      throw new UnimplementedError(
        `the ${backend.name} backend has no ${kernel} of ${dtypes.join(', ')}`,
        name,
      );
    return found;
  }
  if (typeof kernel === 'string') throw new InternalError(`no kernel is called ${kernel}`, name);
  let compiled = programs.get(kernel);
  if (compiled === undefined) programs.set(kernel, (compiled = backend.elementwise(kernel)));
  return compiled;
}
