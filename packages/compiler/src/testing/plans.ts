// What the tests of this folder share; not part of the package's exports.
import {
  type Allocator,
  type Backend,
  buildScalarProgram,
  copyStorage,
  dtypeOfValue,
  dtypeTraits,
  type HostCode,
  hostView,
  isBigArray,
  type KernelAttrs,
  type KernelName,
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
  useInterpreter,
} from '@eagre/backend';
import { planToString } from '../text.ts';

type Body = (s: ScalarBuilder, ...values: ScalarValue[]) => ScalarValue | readonly ScalarValue[];
type Elements = readonly (number | bigint)[];

interface Given {
  readonly tensor: PlanTensor;
  readonly elements: Elements;
}

/** What a run leaves: the plan's outputs, its builder's states, and what was seen on the way. */
export interface RunResult {
  readonly outputs: readonly TypedArray[];
  readonly states: readonly TypedArray[];
  /** What the host's code has read, in order. */
  readonly log: readonly TypedArray[];
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

type StateRecord = Given & { storage: Storage | undefined };

/** What a body is written by: it gets the body's builder and its inputs, and returns its outputs. */
export type BodyCode = (b: PlanBuilder, ...inputs: readonly PlanTensor[]) => readonly PlanTensor[];

/** Writes a plan down and runs it. */
export class PlanBuilder {
  /** What `logged` has seen in this run. */
  readonly log: TypedArray[];
  readonly #around: PlanBuilder | undefined;
  #stream: PlanTensor | undefined;
  readonly #bytes: number[] = [];
  readonly #calls: PlanCall[] = [];
  readonly #inputs: Given[] = [];
  readonly #states: StateRecord[] = [];
  readonly #planStates: PlanState[] = [];
  readonly #outputs: PlanTensor[] = [];

  /** @param around the builder of the plan that this one's is a body of. */
  constructor(around?: PlanBuilder) {
    this.log = around?.log ?? [];
    this.#around = around;
  }

  /** The state that all draws of a plan and its bodies advance. */
  get stream(): PlanTensor {
    const around = this.#around;
    this.#stream ??=
      around === undefined ? this.state('uint64', [2], [1, 5]) : this.shared(around, around.stream);
    return this.#stream;
  }

  /** Random numbers. */
  drawn(shape: readonly number[]): PlanTensor {
    const draw = this.tensor('uint64', [2]);
    this.call('NextDraw', [this.stream], [draw, this.stream]);
    const attrs = { k0: 0, k1: 0, counter0: 0, counter1: 0, low: -1, high: 1 };
    return this.kernel('RandomUniform', [draw], 'float32', shape, attrs);
  }

  input(dtype: NumericDType, shape: readonly number[], elements: Elements): PlanTensor {
    const tensor = this.tensor(dtype, shape);
    this.#inputs.push({ tensor, elements });
    return tensor;
  }

  state(dtype: NumericDType, shape: readonly number[], elements: Elements): PlanTensor {
    const tensor = this.tensor(dtype, shape);
    const state: StateRecord = { tensor, elements, storage: undefined };
    this.#states.push(state);
    this.#planStates.push({
      value: tensor.value,
      source: state,
      memory: () => state.storage as Storage,
    });
    return tensor;
  }

  /** A stack, which calls of Push and Pop name. */
  stack(): PlanTensor {
    const tensor = this.tensor('uint8', [0]);
    this.#planStates.push({ value: tensor.value, source: {}, memory: null });
    return tensor;
  }

  /** In the builder of a body: a state or stack of the plan around it, which has that number there. */
  shared(around: PlanBuilder, { value, dtype, shape }: PlanTensor): PlanTensor {
    const state = around.#planStates.find((other) => other.value === value) as PlanState;
    const known = this.#planStates.find(({ source }) => source === state.source);
    const tensor = this.tensor(dtype as NumericDType, shape);
    if (known !== undefined) return { ...tensor, value: known.value };
    this.#planStates.push({ ...state, value: tensor.value });
    return tensor;
  }

  push(x: PlanTensor, stack: PlanTensor): void {
    this.#calls.push({ kernel: 'Push', inputs: [x, stack], outputs: [stack], attrs: {}, name: 'Push' });
  }

  pop(stack: PlanTensor, dtype: NumericDType, shape: readonly number[]): PlanTensor {
    const x = this.tensor(dtype, shape);
    this.#calls.push({ kernel: 'Pop', inputs: [stack], outputs: [x, stack], attrs: {}, name: 'Pop' });
    return x;
  }

  /** A call of the host's code. */
  host(inputs: readonly PlanTensor[], outputs: readonly PlanTensor[], host: HostCode): void {
    this.#calls.push({ kernel: 'Host', host, inputs, outputs, attrs: {}, name: 'Host' });
  }

  /** Code of the host that notes what it reads, and returns it. */
  logged(x: PlanTensor): PlanTensor {
    const y = this.tensor(x.dtype as NumericDType, x.shape);
    this.host([x], [y], ([from], [to]) => {
      const seen = elementsOf(x, from.storage);
      this.log.push(seen.slice());
      copyStorage(from.storage, to.storage, seen.byteLength);
    });
    return y;
  }

  /** A Case; its results look as the outputs of the first body do. */
  branch(
    selector: PlanTensor,
    given: readonly PlanTensor[],
    bodies: readonly BodyCode[],
    name = 'Case',
  ): PlanTensor[] {
    const written = bodies.map((body) => this.#body(given, body));
    return this.#nested('Case', [selector], given, written, written[0].results, name);
  }

  /** A While over carried values and others that stay the same. */
  loop(
    carried: readonly PlanTensor[],
    same: readonly PlanTensor[],
    condition: (b: PlanBuilder, ...inputs: readonly PlanTensor[]) => PlanTensor,
    body: BodyCode,
    name = 'While',
  ): PlanTensor[] {
    const given = [...carried, ...same];
    const first = this.#body(given, (b, ...inputs) => [condition(b, ...inputs)]);
    return this.#nested('While', [], given, [first, this.#body(given, body)], carried, name);
  }

  #body(given: readonly PlanTensor[], code: BodyCode): { plan: Plan; results: readonly PlanTensor[] } {
    const b = new PlanBuilder(this);
    const results = code(b, ...given.map(({ dtype, shape }) => b.input(dtype as NumericDType, shape, [])));
    b.output(...results);
    return { plan: b.plan(), results };
  }

  #nested(
    kernel: 'Case' | 'While',
    first: readonly PlanTensor[],
    given: readonly PlanTensor[],
    written: readonly { readonly plan: Plan }[],
    like: readonly PlanTensor[],
    name: string,
  ): PlanTensor[] {
    const bodies = written.map(({ plan }) => plan);
    const results = like.map(({ dtype, shape }) => this.tensor(dtype as NumericDType, shape));
    const look = (calls: (call: PlanCall) => readonly PlanTensor[]): PlanTensor[] =>
      this.#planStates.flatMap(({ value, source }) => {
        for (const plan of bodies) {
          const inside = plan.states.find((state) => state.source === source)?.value;
          const found = plan.calls.flatMap(calls).find((tensor) => tensor.value === inside);
          if (found !== undefined) return [{ ...found, value }];
        }
        return [];
      });
    this.#calls.push({
      kernel,
      bodies,
      inputs: [...first, ...given, ...look((call) => [...call.inputs, ...call.outputs])],
      outputs: [...results, ...look((call) => call.outputs)],
      attrs: {},
      name,
    });
    return results;
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
    attrs: KernelAttrs = {},
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
    attrs: KernelAttrs = {},
  ): PlanTensor {
    const output = this.tensor(dtype, shape);
    this.call(kernel, inputs, [output], attrs);
    return output;
  }

  /** A float64 scalar. */
  number(value: number): PlanTensor {
    return this.kernel('Fill', [], 'float64', [], { value });
  }

  /** A scalar program over inputs that broadcast; it writes into a new tensor by default. */
  map(body: Body, inputs: readonly PlanTensor[], into?: PlanTensor, name = 'map'): PlanTensor {
    const program = buildScalarProgram(
      inputs.map((input) => input.dtype as NumericDType),
      body,
    );
    const shape = inputs.reduce<number[]>((a, { shape: b }) => broadcast(a, b) as number[], []);
    const output = into ?? this.tensor(dtypeOfValue(program, program.outputs[0]), shape);
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
      states: [...this.#planStates],
      calls: [...this.#calls],
      outputs: this.#outputs.map(({ value }) => value),
    };
  }

  /** Runs a plan made from this one, from the first values of its inputs and states on. */
  run(backend: Backend, plan: Plan): RunResult {
    this.log.length = 0;
    const { allocator } = backend;
    for (const state of this.#states) state.storage = filled(allocator, state.tensor, state.elements);
    const outputs = this.#outputs.map((tensor) => filled(allocator, tensor, []));
    useInterpreter();
    const executable = backend.prepare(plan);
    executable.run(
      this.#inputs.map(({ tensor, elements }) => filled(allocator, tensor, elements)),
      outputs,
    );
    executable.dispose();
    return {
      outputs: this.#outputs.map((tensor, i) => elementsOf(tensor, outputs[i])),
      states: this.#states.map(({ tensor, storage }) => elementsOf(tensor, storage as Storage)),
      log: [...this.log],
    };
  }
}

function elementsOf({ dtype, size }: PlanTensor, storage: Storage): TypedArray {
  return hostView(storage, dtype, size);
}

function filled(allocator: Allocator, tensor: PlanTensor, elements: Elements): Storage {
  const storage = allocator.allocate(tensor.size * dtypeTraits[tensor.dtype].bytes);
  const out = elementsOf(tensor, storage);
  for (let i = 0; i < out.length; i++) {
    if (isBigArray(out)) out[i] = BigInt(elements[i] ?? 77);
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
