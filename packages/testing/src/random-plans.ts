import {
  type Backend,
  buildScalarProgram,
  copyStorage,
  dtypeTraits,
  type HostCode,
  isKernelName,
  type Kernel,
  type KernelName,
  type NumericDType,
  type Plan,
  type PlanCall,
  type PlanState,
  type PlanTensor,
  readStorage,
  type ScalarProgram,
  type Storage,
} from '@eagre/backend';

/** A plan with branches, loops and stacks in one another, and what it is run on. */
export interface RandomPlan {
  readonly plan: Plan;
  /** The memory of inputs and states; runs change the latter. */
  readonly inputs: readonly Storage[];
  readonly states: readonly Storage[];
  readonly stateBytes: readonly number[];
  /** Puts states, also that of random draws, back to how they were at first. */
  reset(): void;
}

const f32 = 'float32';
const mix = buildScalarProgram([f32, f32], (s, x, y) => s.add(s.mul(x, 0.5), y));
const both = buildScalarProgram([f32, f32], (s, x, y) => [s.sub(y, x), s.add(x, s.mul(y, 0.25))]);
const swap = buildScalarProgram([f32, f32], (_, x, y) => [y, x]);
const less = buildScalarProgram([f32, f32], (s, x, y) => s.lt(x, y));
const next = buildScalarProgram([f32], (s, x) => s.add(x, 1));
const toInt = buildScalarProgram([f32], (s, x) => s.cast(x, 'int32'));

const shapes: readonly (readonly number[])[] = [[], [4], [3, 4], [2, 6]];
const sizeOf = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);

/** Not element by element, so that memory that is given away too early shows. */
const turned: HostCode = ([x], [y]) => {
  const from = readStorage(x.storage, 'float32', x.size) as Float32Array;
  fill(y.storage, Array.from(from, (v) => v + 1).reverse());
};

/** Sets the elements of some memory. */
function fill(storage: Storage, values: readonly number[]): void {
  storage.allocator.write(storage, new Uint8Array(Float32Array.from(values).buffer));
}

/** Chooses as a list of numbers says; with its end come only zeros. */
class Choices {
  readonly #list: readonly number[];
  #at = 0;

  constructor(list: readonly number[]) {
    this.#list = list;
  }

  get left(): number {
    return this.#list.length - this.#at;
  }

  below(n: number): number {
    return (this.#list[this.#at++] ?? 0) % n;
  }

  of<T>(list: readonly T[]): T {
    return list[this.below(list.length)];
  }
}

/** A plan that follows from a list of whole numbers; the shorter the list, the simpler the plan. */
export function randomPlan(backend: Backend, list: readonly number[]): RandomPlan {
  const ramp = (shape: readonly number[], from: number): Storage => {
    const storage = backend.allocator.allocate(sizeOf(shape) * 4);
    fill(storage, shape.length === 0 ? [from] : ramped(sizeOf(shape), from));
    return storage;
  };
  const world = new World(new Choices(list));
  const inputs = shapes.map((shape, i) => ramp(shape, i));
  const states = world.sources.map(({ shape }, i) => ramp(shape, i + 0.5));
  world.sources.forEach((source, i) => {
    source.memory = states[i];
  });
  const stream = backend.allocator.allocate(16);
  stream.allocator.write(stream, new Uint8Array(BigUint64Array.of(1n, 5n).buffer));
  world.stream.memory = stream;
  const writer = new Writer(world, 0);
  for (const shape of shapes) writer.input(shape);
  writer.steps(12);
  return {
    plan: writer.plan(writer.results(3)),
    inputs,
    states: [...states, stream],
    stateBytes: [...world.sources.map(({ shape }) => sizeOf(shape) * 4), 16],
    reset: () => {
      stream.allocator.write(stream, new Uint8Array(BigUint64Array.of(1n, 5n).buffer));
      states.forEach((storage, i) => {
        const { shape } = world.sources[i];
        fill(storage, ramped(sizeOf(shape), i + 0.5));
      });
    },
  };
}

const ramped = (size: number, from: number): number[] =>
  Array.from({ length: size }, (_, i) => from + (i % 7));

interface Source {
  readonly shape: readonly number[];
  memory: Storage | undefined;
}

/** What all bodies of a plan share. */
class World {
  readonly choices: Choices;
  readonly sources: readonly Source[] = shapes.slice(1, 3).map((shape) => ({ shape, memory: undefined }));
  readonly stacks: readonly object[] = [{}, {}];
  /** Where random draws come from. */
  readonly stream: { memory: Storage | undefined } = { memory: undefined };

  constructor(choices: Choices) {
    this.choices = choices;
  }
}

/** Writes one plan or body. */
class Writer {
  readonly #world: World;
  readonly #depth: number;
  readonly #bytes: number[] = [];
  readonly #inputs: number[] = [];
  readonly #states: (PlanState & { readonly tensor: PlanTensor })[] = [];
  readonly #calls: PlanCall[] = [];
  /** What may be read, under each of its looks. */
  readonly #seen: PlanTensor[] = [];
  /** What this plan's own calls wrote. */
  readonly #made: PlanTensor[] = [];

  constructor(world: World, depth: number) {
    this.#world = world;
    this.#depth = depth;
  }

  input(shape: readonly number[]): PlanTensor {
    const tensor = this.#value(shape);
    this.#inputs.push(tensor.value);
    this.#seen.push(tensor);
    return tensor;
  }

  /** Up to so many calls, fewer when the choices run out. */
  steps(most: number): void {
    const { choices } = this.#world;
    for (let i = choices.below(most); i >= 0 && choices.left > 0; i--) this.#step();
  }

  plan(outputs: readonly PlanTensor[]): Plan {
    return {
      bytes: this.#bytes,
      inputs: this.#inputs,
      states: this.#states.map(({ value, source, memory }) => ({ value, source, memory })),
      calls: this.#calls.map((call) => this.#listing(call)),
      outputs: outputs.map(({ value }) => value),
    };
  }

  /** Different values that calls of this plan made, as its outputs. */
  results(most: number): PlanTensor[] {
    const found = new Map<number, PlanTensor>();
    for (let i = 0; i < most && this.#made.length > 0; i++) {
      const tensor = this.#world.choices.of(this.#made);
      found.set(tensor.value, tensor);
    }
    return [...found.values()];
  }

  /** An output of that shape, which is none of those. */
  result(shape: readonly number[], others: readonly PlanTensor[]): PlanTensor {
    const fit = this.#made.filter(
      (t) => sizeOf(t.shape) === sizeOf(shape) && !others.some((o) => o.value === t.value),
    );
    return fit.length > 0 && this.#world.choices.below(4) > 0
      ? this.#world.choices.of(fit.slice(-3))
      : this.#make('Copy', [this.#read(shape)]);
  }

  fill(value: number, shape: readonly number[] = []): PlanTensor {
    const tensor = this.#value(shape);
    this.#made.push(tensor);
    this.#seen.push(tensor);
    this.#calls.push({ kernel: 'Fill', inputs: [], outputs: [tensor], attrs: { value }, name: this.#name() });
    return tensor;
  }

  /** That a counter is below a limit. */
  compare(counter: PlanTensor, limit: PlanTensor): PlanTensor {
    const tensor = this.#value([], 'bool');
    this.#call(less, [counter, limit], [tensor]);
    return tensor;
  }

  increment(counter: PlanTensor): PlanTensor {
    return this.#make(next, [counter]);
  }

  #step(): void {
    const { choices } = this.#world;
    switch (choices.below(this.#depth < 3 ? 17 : 11)) {
      case 0:
      case 1: {
        const x = this.#read();
        this.#make(mix, choices.below(2) === 0 ? [x, this.#read(x.shape)] : [this.#read([]), x]);
        break;
      }
      case 2: {
        const x = this.#read();
        const outputs = [this.#value(x.shape), this.#value(x.shape)];
        this.#call(choices.of([both, swap]), [x, this.#read(x.shape)], outputs);
        this.#made.push(...outputs);
        this.#seen.push(...outputs);
        break;
      }
      case 3: {
        const x = this.#read(choices.of(shapes.slice(1)));
        this.#make('Reverse', [x], { axes: [0] });
        break;
      }
      case 4:
        this.#make('Copy', [this.#read()]);
        break;
      case 5: {
        const [x, index, row] = [this.#read([3, 4]), this.fill(choices.below(3)), this.#read([4])];
        this.#make('SetRow', [x, this.#int(index), row], { mode: choices.below(2) });
        break;
      }
      case 6: {
        const x = this.#read([3, 4]);
        this.#seen.push({ ...x, shape: [2, 6] });
        break;
      }
      case 7:
        this.#draw(choices.of(shapes));
        break;
      case 8: {
        const x = this.#read();
        const y = this.#value(x.shape);
        this.#calls.push({
          kernel: 'Host',
          host: turned,
          inputs: [x],
          outputs: [y],
          attrs: {},
          name: this.#name(),
        });
        this.#made.push(y);
        this.#seen.push(y);
        break;
      }
      case 9:
        this.#write();
        break;
      case 10: {
        const stack = this.#stack();
        const x = this.#read();
        this.#calls.push({
          kernel: 'Push',
          inputs: [x, stack],
          outputs: [stack],
          attrs: {},
          name: this.#name(),
        });
        if (this.#depth < 3) this.steps(4);
        this.#pop(stack, x.shape);
        break;
      }
      case 11:
      case 12:
        this.#branch();
        break;
      case 13:
        this.#twins();
        break;
      case 14:
        this.#write();
        break;
      default:
        this.#loop();
    }
  }

  /** Writes a state in place, or copies something there. */
  #write(): void {
    const { choices, sources } = this.#world;
    const source = choices.of(sources);
    const state = this.#state(source, () => source.memory as Storage, source.shape);
    const kind = choices.below(source.shape.length === 2 ? 3 : 2);
    if (kind === 0) this.#call(mix, [state, this.#read(source.shape)], [state]);
    else if (kind === 1) {
      const x = this.#read(source.shape);
      if (x.value !== state.value) this.#call('Copy', [x], [state]);
    } else
      this.#call('SetRow', [state, this.#int(this.fill(choices.below(3))), this.#read([4])], [state], {
        mode: 0,
      });
    this.#seen.push(state);
  }

  #draw(shape: readonly number[]): void {
    const { stream } = this.#world;
    const state = this.#state(stream, () => stream.memory as Storage, [2], 'uint64');
    const draw = this.#value([2], 'uint64');
    this.#call('NextDraw', [state], [draw, state]);
    const y = this.#value(shape);
    this.#call('RandomUniform', [draw], [y], { k0: 0, k1: 0, counter0: 0, counter1: 0, low: -1, high: 1 });
    this.#made.push(y);
    this.#seen.push(y);
  }

  #branch(): void {
    const { choices } = this.#world;
    const selector =
      choices.below(2) === 0 ? this.compare(this.#read([]), this.#read([])) : this.#int(this.#read([]));
    const inputs = Array.from({ length: choices.below(5) }, () => this.#read());
    const wanted = Array.from(
      { length: choices.below(3) },
      () => choices.of([...inputs, { shape: [] }]).shape,
    );
    const bodies = Array.from({ length: selector.dtype === 'bool' ? 2 : 1 + choices.below(3) }, () =>
      this.#body(inputs, (body) => body.#finish(wanted)),
    );
    this.#control('Case', [selector, ...inputs], bodies, wanted);
  }

  /** A loop of a few turns that carries a counter, among other values. */
  #loop(): void {
    const { choices } = this.#world;
    const carried = Array.from({ length: choices.below(4) }, () => this.#read());
    // What is carried may also stay the same.
    const constant = Array.from({ length: choices.below(3) }, () =>
      carried.length > 0 && choices.below(2) === 0 ? choices.of(carried) : this.#read(),
    );
    const counter = this.fill(choices.below(2));
    const inputs = [counter, ...carried, ...constant];
    const wanted = [[], ...carried.map(({ shape }) => shape)];
    const condition = this.#body(inputs, (body, [i]) => {
      if (choices.below(3) === 0) body.steps(3);
      return [body.compare(i, body.fill(choices.below(4)))];
    });
    const turn = this.#body(inputs, (body, [i]) => {
      const early = choices.below(2) === 0 ? body.increment(i) : undefined;
      body.steps(5);
      const last = early ?? body.increment(i);
      const results = [last];
      for (const shape of wanted.slice(1)) results.push(body.result(shape, results));
      return results;
    });
    this.#control('While', inputs, [condition, turn], wanted);
  }

  /** One loop puts on a stack what another takes off. */
  #twins(): void {
    const { choices } = this.#world;
    const source = choices.of(this.#world.stacks);
    const limit = choices.below(4);
    const x = this.#read();
    const below = (inputs: readonly PlanTensor[]): Plan =>
      this.#body(inputs, (body, [i]) => [body.compare(i, body.fill(limit))]);
    const pushing = this.#body([this.fill(0), x], (body, [i, y]) => {
      const stack = body.#stackOf(source);
      const z = body.#make(mix, [y, y]);
      body.#calls.push({
        kernel: 'Push',
        inputs: [z, stack],
        outputs: [stack],
        attrs: {},
        name: body.#name(),
      });
      return [body.increment(i), z];
    });
    const first = [this.fill(0), x];
    this.#control('While', first, [below(first), pushing], [[], x.shape]);
    this.steps(2);
    const popping = this.#body([this.fill(0), x], (body, [i, y]) => {
      const z = body.#pop(body.#stackOf(source), x.shape);
      return [body.increment(i), body.#make(mix, [y, z])];
    });
    const second = [this.fill(0), this.#read(x.shape)];
    this.#control('While', second, [below(second), popping], [[], x.shape]);
  }

  /** Ends a body with outputs of these shapes. */
  #finish(wanted: readonly (readonly number[])[]): PlanTensor[] {
    this.steps(5);
    const results: PlanTensor[] = [];
    for (const shape of wanted) results.push(this.result(shape, results));
    return results;
  }

  #body(
    inputs: readonly PlanTensor[],
    write: (body: Writer, inputs: readonly PlanTensor[]) => readonly PlanTensor[],
  ): Plan {
    const body = new Writer(this.#world, this.#depth + 1);
    const given = inputs.map(({ shape }) => body.input(shape));
    if (given.length === 0) body.fill(1);
    return body.plan(write(body, given));
  }

  #control(
    kernel: 'Case' | 'While',
    inputs: readonly PlanTensor[],
    bodies: readonly Plan[],
    wanted: readonly (readonly number[])[],
  ): void {
    const outputs = wanted.map((shape) => this.#value(shape));
    this.#calls.push({ kernel, bodies, inputs, outputs, attrs: {}, name: this.#name() });
    this.#made.push(...outputs);
    this.#seen.push(...outputs);
  }

  /** A call with the states that its bodies touch; the plan may have got some of them behind it. */
  #listing(call: PlanCall): PlanCall {
    const { bodies, inputs, outputs } = call;
    if (bodies === undefined) return call;
    const listed = (sources: ReadonlySet<object>): PlanTensor[] =>
      this.#states.filter(({ source }) => sources.has(source)).map(({ tensor }) => tensor);
    return {
      ...call,
      inputs: [...inputs, ...listed(touchedBy(bodies, false))],
      outputs: [...outputs, ...listed(touchedBy(bodies, true))],
    };
  }

  #value(shape: readonly number[], dtype: NumericDType = f32): PlanTensor {
    const size = sizeOf(shape);
    return { value: this.#bytes.push(size * dtypeTraits[dtype].bytes) - 1, dtype, shape, size };
  }

  /** Something that was made before, mostly late; of that shape, if one is given. */
  #read(shape?: readonly number[]): PlanTensor {
    const { choices } = this.#world;
    const all = shape === undefined ? this.#seen : this.#seen.filter((t) => t.shape.join() === shape.join());
    if (all.length === 0) return this.fill(choices.below(5), shape);
    return choices.below(3) === 0 ? choices.of(all) : choices.of(all.slice(-4));
  }

  #make(
    kernel: KernelName | ScalarProgram,
    inputs: readonly PlanTensor[],
    attrs: PlanCall['attrs'] = {},
  ): PlanTensor {
    const output = this.#value(kernel === 'SetRow' ? inputs[0].shape : inputs[inputs.length - 1].shape);
    this.#call(kernel, inputs, [output], attrs);
    this.#made.push(output);
    this.#seen.push(output);
    return output;
  }

  #int(x: PlanTensor): PlanTensor {
    const y = this.#value([], 'int32');
    this.#call(toInt, [x], [y]);
    return y;
  }

  #call(
    kernel: KernelName | ScalarProgram,
    inputs: readonly PlanTensor[],
    outputs: readonly PlanTensor[],
    attrs: PlanCall['attrs'] = {},
  ): void {
    this.#calls.push({ kernel, inputs, outputs, attrs, name: this.#name() });
  }

  #pop(stack: PlanTensor, shape: readonly number[]): PlanTensor {
    const y = this.#value(shape);
    this.#calls.push({ kernel: 'Pop', inputs: [stack], outputs: [y, stack], attrs: {}, name: this.#name() });
    this.#made.push(y);
    this.#seen.push(y);
    return y;
  }

  #stack(): PlanTensor {
    return this.#stackOf(this.#world.choices.of(this.#world.stacks));
  }

  #stackOf(source: object): PlanTensor {
    return this.#state(source, null, [0]);
  }

  #state(
    source: object,
    memory: PlanState['memory'],
    shape: readonly number[],
    dtype: NumericDType = f32,
  ): PlanTensor {
    const known = this.#states.find((state) => state.source === source);
    if (known !== undefined) return known.tensor;
    const tensor = this.#value(shape, dtype);
    this.#states.push({ value: tensor.value, source, memory, tensor });
    return tensor;
  }

  #name(): string {
    return `call ${this.#calls.length} at depth ${this.#depth}`;
  }
}

function touchedBy(plans: readonly Plan[], writtenOnly: boolean): Set<object> {
  const found = new Set<object>();
  for (const { states, calls } of plans) {
    for (const { inputs, outputs, bodies = [] } of calls) {
      const values = new Set((writtenOnly ? outputs : [...inputs, ...outputs]).map(({ value }) => value));
      for (const state of states) if (values.has(state.value)) found.add(state.source);
      for (const source of touchedBy(bodies, writtenOnly)) found.add(source);
    }
  }
  return found;
}

/**
 * Runs a plan as `Plan` describes it, bodies and all: every value has memory of its own in every turn, and nothing is written over.
 * @returns the memory of its outputs.
 */
export function runPlainly(backend: Backend, plan: Plan, inputs: readonly Storage[]): Storage[] {
  const states = new Map<object, Storage>();
  const stacks = new Map<object, Storage[]>();
  const copy = (from: Storage, bytes: number): Storage => {
    const to = backend.allocator.allocate(bytes);
    copyStorage(from, to, bytes);
    return to;
  };
  const runBody = (body: Plan, given: readonly Storage[]): Storage[] => {
    const memory = body.bytes.map((bytes) => backend.allocator.allocate(bytes));
    body.inputs.forEach((value, i) => {
      memory[value] = copy(given[i], body.bytes[value]);
    });
    const sourceOf = new Map(body.states.map(({ value, source }) => [value, source]));
    for (const { value, source, memory: now } of body.states) {
      if (now === null) continue;
      const storage = states.get(source) ?? (typeof now === 'function' ? now() : now);
      states.set(source, storage);
      memory[value] = storage;
    }
    const stackAt = ({ value }: PlanTensor): Storage[] => {
      const source = sourceOf.get(value) as object;
      const stack = stacks.get(source) ?? [];
      stacks.set(source, stack);
      return stack;
    };
    for (const call of body.calls) {
      const { kernel, bodies = [], inputs: reads, outputs: writes } = call;
      const refs = (tensors: readonly PlanTensor[]) =>
        tensors.map((t) => ({ ...t, storage: memory[t.value] }));
      const storages = (tensors: readonly PlanTensor[]) => tensors.map((t) => memory[t.value]);
      const put = (results: readonly Storage[]): void => {
        results.forEach((storage, i) => {
          memory[writes[i].value] = storage;
        });
      };
      if (kernel === 'Case') put(runBody(chosen(reads[0], memory, bodies), storages(reads.slice(1))));
      else if (kernel === 'While') {
        const [condition, turn] = bodies;
        const all = storages(reads);
        let carried = all.slice(0, turn.outputs.length).map((s, i) => copy(s, turn.bytes[turn.inputs[i]]));
        const constant = all.slice(carried.length).map((s, i) => copy(s, reads[carried.length + i].size * 4));
        const holds = (): boolean => {
          const [flag] = runBody(condition, [...carried, ...constant]);
          return readStorage(flag, 'bool', 1)[0] !== 0;
        };
        while (holds()) carried = runBody(turn, [...carried, ...constant]);
        put(carried);
      } else if (kernel === 'Push') stackAt(reads[1]).push(copy(memory[reads[0].value], reads[0].size * 4));
      else if (kernel === 'Pop') put([stackAt(reads[0]).pop() as Storage]);
      else if (kernel === 'Host') (call.host as HostCode)(refs(reads), refs(writes));
      else kernelOf(backend, call)(refs(reads), refs(writes), call.attrs);
    }
    return body.outputs.map((value) => memory[value]);
  };
  return runBody(plan, inputs);
}

function chosen(selector: PlanTensor, memory: readonly Storage[], bodies: readonly Plan[]): Plan {
  const [value] = readStorage(memory[selector.value], selector.dtype, 1);
  if (selector.dtype === 'bool') return value === 0 ? bodies[1] : bodies[0];
  return bodies[Number(value)] ?? bodies[bodies.length - 1];
}

function kernelOf(backend: Backend, { kernel, inputs }: PlanCall): Kernel {
  if (typeof kernel !== 'string') return backend.elementwise(kernel);
  const found = isKernelName(kernel)
    ? backend.kernel(
        kernel,
        inputs.map(({ dtype }) => dtype as NumericDType),
      )
    : undefined;
  if (found === undefined) throw new Error(`no ${kernel}`);
  return found;
}
