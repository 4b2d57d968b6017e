// What the tests of plans share.
import {
  type Backend,
  buildScalarProgram,
  dtypeTraits,
  type Executable,
  type HostCode,
  hostView,
  interpretPlan,
  isBigArray,
  type KernelName,
  type NumericDType,
  type Plan,
  type PlanCall,
  type PlanState,
  type PlanTensor,
  type ScalarProgram,
  type Storage,
} from '@eagre/backend';
import { nativeBackend } from '../index.ts';

/** A backend, and one of its ways to run plans. */
export type PlanBackend = [name: string, backend: Backend, prepare: (plan: Plan) => Executable];

/** The ways to run plans: a reference, native plans, and native kernels called one by one. */
export function planBackends(reference: Backend): PlanBackend[] {
  const native = nativeBackend;
  const ways: PlanBackend[] = [['js', reference, (plan) => interpretPlan(reference, plan)]];
  if (native !== undefined) {
    ways.push(['native', native, (plan) => native.prepare(plan)]);
    ways.push(['native kernels one by one', native, (plan) => interpretPlan(native, plan)]);
  }
  return ways;
}

export const sizeOf = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);

/** Which states the bodies of a call touch, and which of them they write: tensors of the plan around. */
export interface Touched {
  readonly read?: readonly PlanTensor[];
  readonly written?: readonly PlanTensor[];
}

/** Writes plans down. */
export class Builder {
  readonly bytes: number[] = [];
  readonly inputs: number[] = [];
  readonly states: PlanState[] = [];
  readonly calls: PlanCall[] = [];

  value(shape: readonly number[], dtype: NumericDType = 'float32'): PlanTensor {
    const size = sizeOf(shape);
    this.bytes.push(size * dtypeTraits[dtype].bytes);
    return { value: this.bytes.length - 1, dtype, shape, size };
  }
  input(shape: readonly number[], dtype: NumericDType = 'float32'): PlanTensor {
    const tensor = this.value(shape, dtype);
    this.inputs.push(tensor.value);
    return tensor;
  }
  state(memory: () => Storage, shape: readonly number[], dtype: NumericDType = 'float32'): PlanTensor {
    const tensor = this.value(shape, dtype);
    this.states.push({ value: tensor.value, source: memory, memory });
    return tensor;
  }
  stack(source: object): PlanTensor {
    const tensor = this.value([0]);
    this.states.push({ value: tensor.value, source, memory: null });
    return tensor;
  }
  call(
    kernel: KernelName | ScalarProgram,
    inputs: readonly PlanTensor[],
    outputs: readonly PlanTensor[],
    attrs: PlanCall['attrs'] = {},
    name = `call ${this.calls.length}`,
  ): void {
    this.calls.push({ kernel, inputs, outputs, attrs, name });
  }
  scalar(
    program: ScalarProgram,
    inputs: readonly PlanTensor[],
    shape: readonly number[],
    dtype: NumericDType = inputs[0]?.dtype as NumericDType,
  ): PlanTensor {
    const y = this.value(shape, dtype);
    this.call(program, inputs, [y]);
    return y;
  }
  fill(value: number, shape: readonly number[], dtype: NumericDType = 'float32'): PlanTensor {
    const y = this.value(shape, dtype);
    this.call('Fill', [], [y], { value });
    return y;
  }
  host(
    host: HostCode,
    inputs: readonly PlanTensor[],
    outputs: readonly PlanTensor[] = [],
    name = 'host',
  ): void {
    this.calls.push({ kernel: 'Host', host, inputs, outputs, attrs: {}, name });
  }
  push(tensor: PlanTensor, stack: PlanTensor): void {
    this.calls.push({ kernel: 'Push', inputs: [tensor, stack], outputs: [stack], attrs: {}, name: 'push' });
  }
  pop(stack: PlanTensor, shape: readonly number[], dtype: NumericDType = 'float32'): PlanTensor {
    const y = this.value(shape, dtype);
    this.calls.push({ kernel: 'Pop', inputs: [stack], outputs: [y, stack], attrs: {}, name: 'pop' });
    return y;
  }
  /** One of the bodies; returns its outputs. */
  branch(
    selector: PlanTensor,
    inputs: readonly PlanTensor[],
    bodies: readonly Plan[],
    results: readonly PlanTensor[],
    { read = [], written = [] }: Touched = {},
  ): PlanTensor[] {
    const outputs = results.map(({ shape, dtype }) => this.value(shape, dtype as NumericDType));
    const control = { inputs: [selector, ...inputs, ...read], outputs: [...outputs, ...written] };
    this.calls.push({ kernel: 'Case', bodies, ...control, attrs: {}, name: `case ${this.calls.length}` });
    return outputs;
  }
  /** Carries values through a loop; returns them. */
  loop(
    carried: readonly PlanTensor[],
    constant: readonly PlanTensor[],
    bodies: readonly [condition: Plan, body: Plan],
    { read = [], written = [] }: Touched = {},
  ): PlanTensor[] {
    const outputs = carried.map(({ shape, dtype }) => this.value(shape, dtype as NumericDType));
    const control = { inputs: [...carried, ...constant, ...read], outputs: [...outputs, ...written] };
    this.calls.push({ kernel: 'While', bodies, ...control, attrs: {}, name: `while ${this.calls.length}` });
    return outputs;
  }
  plan(outputs: readonly PlanTensor[] = []): Plan {
    return { ...this, outputs: outputs.map(({ value }) => value) };
  }
}

/** A body with inputs like these. */
export function body(
  like: readonly PlanTensor[],
  write: (b: Builder, ...inputs: PlanTensor[]) => readonly PlanTensor[],
): Plan {
  const b = new Builder();
  const inputs = like.map(({ shape, dtype }) => b.input(shape, dtype as NumericDType));
  return b.plan(write(b, ...inputs));
}

/** Programs on int32 scalars: x + n, and x < n. */
export const plus = (n: number): ScalarProgram => buildScalarProgram(['int32'], (s, x) => s.add(x, n));
export const below = (n: number): ScalarProgram => buildScalarProgram(['int32'], (s, x) => s.lt(x, n));

export const look = (tensor: PlanTensor, shape: readonly number[]): PlanTensor => ({ ...tensor, shape });

export function store(backend: Backend, dtype: NumericDType, values: readonly number[]): Storage {
  const storage = backend.allocator.allocate(values.length * 8);
  const view = hostView(storage, dtype, values.length);
  values.forEach((v, i) => {
    view[i] = isBigArray(view) ? BigInt(v) : v;
  });
  return storage;
}

export function read(storage: Storage, size: number, dtype: NumericDType = 'float32'): (number | bigint)[] {
  return Array.from<number | bigint>(hostView(storage, dtype, size));
}
