import type { Backend, Kernel, TensorRef } from './backend.ts';
import type { DType, NumericDType } from './dtype.ts';
import { CancelledError, EagreError, errorFromCode, InternalError, UnimplementedError } from './errors.ts';
import { flattenPlan } from './flatten-plan.ts';
import { type AttrValue, kernelAttrs } from './kernels.ts';
import {
  type Executable,
  isKernelName,
  LateNumber,
  type LateNumbers,
  type Plan,
  type PlanCall,
  type PlanTensor,
} from './plan.ts';
import { checkPlan, lateNumbersOf } from './plan-check.ts';
import { planMemory } from './plan-memory.ts';
import { PlanRun } from './plan-run.ts';
import type { ScalarProgram } from './scalar.ts';
import { partOf, type Storage } from './storage.ts';

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
  readonly name: string;
  readonly kernel: Kernel;
  readonly inputs: readonly Slot[];
  readonly outputs: readonly Slot[];
  readonly attrs: Record<string, AttrValue>;
  readonly late: readonly (readonly [attr: string, number: LateNumber])[];
}

/**
 * Makes a plan ready for any backend with host memory: its calls run one by one through the backend's kernels.
 * @throws InternalError for a plan that breaks its promises; UnimplementedError where the backend lacks a kernel; both name the call.
 */
export function interpretPlan(backend: Backend, plan: Plan): Executable {
  checkPlan(plan);
  return new Interpreter(backend, plan);
}

class Interpreter implements Executable {
  readonly arenaBytes: number;
  readonly #run: PlanRun;
  readonly #arena: Storage;
  readonly #steps: readonly Step[];
  readonly #late: readonly LateNumbers[];
  /** By value: the tensors that look at it. */
  readonly #slots: readonly Slot[][];
  /** Inputs, outputs and states. */
  readonly #given: readonly number[];

  constructor(backend: Backend, plan: Plan) {
    const { offsets, bytes } = planMemory(flattenPlan(plan));
    const arena = backend.allocator.allocateAlone(bytes);
    const memory = plan.bytes.map((size, value) =>
      offsets[value] < 0 ? arena : partOf(arena, offsets[value], size),
    );
    const slots: Slot[][] = plan.bytes.map(() => []);
    const look = (tensor: PlanTensor): Slot => {
      const slot = new Slot(tensor, memory[tensor.value]);
      slots[tensor.value].push(slot);
      return slot;
    };
    const programs = new Map<ScalarProgram, Kernel>();
    this.#steps = plan.calls.map((call) => ({
      name: call.name,
      kernel: kernelOf(backend, call, programs),
      inputs: call.inputs.map(look),
      outputs: call.outputs.map(look),
      ...attrsOf(call),
    }));
    this.#late = lateNumbersOf(plan);
    this.#slots = slots;
    this.#given = [...plan.inputs, ...plan.outputs, ...plan.states.map(({ value }) => value)];
    this.#arena = arena;
    this.#run = new PlanRun(plan);
    this.arenaBytes = bytes;
  }

  run(inputs: readonly Storage[], outputs: readonly Storage[], times?: Float64Array): void {
    this.#run.start(inputs, outputs, times);
    try {
      const numbers = new Map(this.#late.map((late) => [late, late.next()]));
      for (const step of this.#steps) fillIn(step, numbers);
      this.#run.bind((value, memory) => this.#bind(value, memory));
      this.#steps.forEach((step, i) => {
        const before = performance.now();
        runStep(step);
        if (times !== undefined) times[i] = (performance.now() - before) / 1000;
      });
    } finally {
      // So that nothing given stays alive through the plan.
      for (const value of this.#given) this.#bind(value, this.#arena);
      this.#run.end();
    }
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
    if (this.#run.dispose()) this.#arena.release();
  }

  #bind(value: number, memory: Storage): void {
    for (const slot of this.#slots[value]) slot.storage = memory;
  }
}

function fillIn({ name, attrs, late }: Step, numbers: ReadonlyMap<LateNumbers, readonly number[]>): void {
  for (const [attr, { numbers: source, index }] of late) {
    const value = numbers.get(source)?.[index];
    if (value === undefined) throw new InternalError(`late number ${index} of ${attr} was not given`, name);
    attrs[attr] = value;
  }
}

function runStep({ name, kernel, inputs, outputs, attrs }: Step): void {
  try {
    kernel(inputs, outputs, attrs);
  } catch (error) {
    if (!(error instanceof EagreError)) throw error;
    // A kernel may have named itself; the call's name says more.
    const message = error.op === undefined ? error.message : error.message.slice(error.op.length + 2);
    throw errorFromCode(error.code, message, name);
  }
}

function kernelOf(backend: Backend, call: PlanCall, programs: Map<ScalarProgram, Kernel>): Kernel {
  const { kernel, inputs, name, host } = call;
  if (kernel === 'Host') return host as Kernel;
  if (isKernelName(kernel)) {
    // checkPlan has seen that none is a string.
    const dtypes = inputs.map(({ dtype }) => dtype as NumericDType);
    const found = backend.kernel(kernel, dtypes);
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

function attrsOf({ kernel, attrs: given }: PlanCall): Pick<Step, 'attrs' | 'late'> {
  const attrs: Record<string, AttrValue> = {};
  const late: [string, LateNumber][] = [];
  for (const attr of isKernelName(kernel) ? kernelAttrs[kernel] : []) {
    const value = given[attr];
    if (value instanceof LateNumber) late.push([attr, value]);
    else attrs[attr] = value;
  }
  return { attrs, late };
}
