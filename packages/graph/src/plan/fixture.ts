// What the tests of this folder share; not part of the package's exports.
import {
  type AttrValue,
  type Backend,
  buildScalarProgram,
  dtypeTraits,
  type HostAllocator,
  type KernelName,
  type LateNumber,
  type LateNumbers,
  type NumericDType,
  type Plan,
  type PlanCall,
  type PlanState,
  type PlanTensor,
  type ScalarBuilder,
  type ScalarProgram,
  type ScalarValue,
  type Storage,
  type TypedArray,
  typedView,
} from '@eagre/backend';
import { planToString } from './text.ts';

type Body = (s: ScalarBuilder, ...values: ScalarValue[]) => ScalarValue | readonly ScalarValue[];
type Elements = readonly (number | bigint)[];

interface Given {
  readonly tensor: PlanTensor;
  readonly elements: Elements;
}

/** What a run leaves: the plan's outputs and its builder's states. */
export interface RunResult {
  readonly outputs: readonly TypedArray[];
  readonly states: readonly TypedArray[];
}

export function sizeOf(shape: readonly number[]): number {
  return shape.reduce((a, b) => a * b, 1);
}

/** The shape that two broadcast to, or undefined. */
export function broadcast(a: readonly number[], b: readonly number[]): number[] | undefined {
  const rank = Math.max(a.length, b.length);
  const shape: number[] = [];
  for (let axis = 0; axis < rank; axis++) {
    const m = a[a.length - rank + axis] ?? 1;
    const n = b[b.length - rank + axis] ?? 1;
    if (m !== n && m !== 1 && n !== 1) return undefined;
    shape.push(m === 1 ? n : m);
  }
  return shape;
}

/** The tensor under another shape. */
export function view(tensor: PlanTensor, shape: readonly number[]): PlanTensor {
  return { ...tensor, shape };
}

/** A draw that gives key and counter; each is another. */
class Draws implements LateNumbers {
  asked = 0;

  next(): readonly number[] {
    this.asked++;
    return [1, 2, this.asked, 0];
  }
}

/** Writes a plan down and runs it. */
export class PlanBuilder {
  readonly draws: LateNumbers & { asked: number } = new Draws();
  readonly #bytes: number[] = [];
  readonly #calls: PlanCall[] = [];
  readonly #inputs: Given[] = [];
  readonly #states: (Given & { storage: Storage | undefined })[] = [];
  readonly #outputs: PlanTensor[] = [];

  input(dtype: NumericDType, shape: readonly number[], elements: Elements): PlanTensor {
    const tensor = this.tensor(dtype, shape);
    this.#inputs.push({ tensor, elements });
    return tensor;
  }

  state(dtype: NumericDType, shape: readonly number[], elements: Elements): PlanTensor {
    const tensor = this.tensor(dtype, shape);
    this.#states.push({ tensor, elements, storage: undefined });
    return tensor;
  }

  /** A temporary that something has to be written to. */
  tensor(dtype: NumericDType, shape: readonly number[]): PlanTensor {
    const size = sizeOf(shape);
    const value = this.#bytes.push(size * dtypeTraits[dtype].bytes) - 1;
    return { value, dtype, shape: [...shape], size };
  }

  call(
    kernel: KernelName | ScalarProgram,
    inputs: readonly PlanTensor[],
    outputs: readonly PlanTensor[],
    attrs: Readonly<Record<string, AttrValue | LateNumber>> = {},
    name: string = typeof kernel === 'string' ? kernel : 'map',
  ): void {
    this.#calls.push({ kernel, inputs, outputs, attrs, name });
  }

  /** A call with one new output. */
  kernel(
    kernel: KernelName,
    inputs: readonly PlanTensor[],
    dtype: NumericDType,
    shape: readonly number[],
    attrs: Readonly<Record<string, AttrValue | LateNumber>> = {},
  ): PlanTensor {
    const output = this.tensor(dtype, shape);
    this.call(kernel, inputs, [output], attrs);
    return output;
  }

  /** A scalar program over inputs that broadcast; it writes into a new tensor unless said. */
  map(body: Body, inputs: readonly PlanTensor[], into?: PlanTensor, name = 'map'): PlanTensor {
    const program = buildScalarProgram(
      inputs.map((input) => input.dtype as NumericDType),
      body,
    );
    const shape = inputs.reduce<number[]>((a, { shape: b }) => broadcast(a, b) as number[], []);
    const id = program.outputs[0];
    const dtype = program.instrs[id - inputs.length]?.dtype ?? program.inputs[id];
    const output = into ?? this.tensor(dtype, shape);
    this.call(program, inputs, [output], {}, name);
    return output;
  }

  /** Makes a temporary an output of the plan. */
  output(...tensors: readonly PlanTensor[]): void {
    this.#outputs.push(...tensors);
  }

  plan(): Plan {
    return {
      bytes: [...this.#bytes],
      inputs: this.#inputs.map(({ tensor }) => tensor.value),
      states: this.#states.map(
        (state): PlanState => ({
          value: state.tensor.value,
          source: state,
          memory: () => state.storage as Storage,
        }),
      ),
      calls: [...this.#calls],
      outputs: this.#outputs.map(({ value }) => value),
    };
  }

  /** Runs a plan made from this one, from the first values of its inputs and states on. */
  run(backend: Backend, plan: Plan): RunResult {
    this.draws.asked = 0;
    const { allocator } = backend;
    for (const state of this.#states) state.storage = filled(allocator, state.tensor, state.elements);
    const outputs = this.#outputs.map((tensor) => filled(allocator, tensor, []));
    const executable = backend.prepare(plan);
    executable.run(
      this.#inputs.map(({ tensor, elements }) => filled(allocator, tensor, elements)),
      outputs,
    );
    executable.dispose();
    return {
      outputs: this.#outputs.map((tensor, i) => elementsOf(tensor, outputs[i])),
      states: this.#states.map(({ tensor, storage }) => elementsOf(tensor, storage as Storage)),
    };
  }
}

function elementsOf({ dtype, size }: PlanTensor, { buffer, byteOffset }: Storage): TypedArray {
  return typedView(dtype, buffer, byteOffset, size);
}

function filled(allocator: HostAllocator, tensor: PlanTensor, elements: Elements): Storage {
  const storage = allocator.allocate(tensor.size * dtypeTraits[tensor.dtype].bytes);
  const out = elementsOf(tensor, storage);
  for (let i = 0; i < out.length; i++) {
    if (out instanceof BigInt64Array) out[i] = BigInt(elements[i] ?? 77);
    else out[i] = Number(elements[i] ?? 77);
  }
  return storage;
}

/** Elements 1, 2, 3, … for a shape. */
export function counting(shape: readonly number[]): number[] {
  return Array.from({ length: sizeOf(shape) }, (_, i) => i + 1);
}

/** The lines of a plan's calls, as `planToString` shows them, without names and types of scalar programs' inputs. */
export function lines(plan: Plan): string[] {
  return planToString(plan)
    .split('\n')
    .slice(1, -1)
    .map((line) => line.replace(/ {2}# .*$/, '').replace(/ {2}\(.*\)$/, ''));
}
