import type { FlatPlan, FlatStep } from './flat-plan.ts';
import { mayOverwrite } from './overwrite.ts';
import type { Plan, PlanCall, PlanState, PlanTensor } from './plan.ts';

/**
 * Takes the bodies of `Case` and `While` apart into steps with jumps. The plan's own values keep their numbers, those of bodies
 * follow; of a plan without bodies each call is one step.
 *
 * A loop's carried values lie in its call's outputs: the first ones are copied there unless their writer can write there at once,
 * and so are those of each turn. A condition that is a Copy of one input takes no step but the switch by it, in front of the body and
 * behind it.
 *
 * @param plan one that `checkPlan` accepts.
 */
export function flattenPlan(plan: Plan): FlatPlan {
  return new Flattening(plan).run();
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type Jump = Mutable<Extract<FlatStep, { kind: 'jump' }>>;

/** A plan that is being written down, or a body, once for each call that it is a body of. */
interface Frame {
  readonly plan: Plan;
  /** By value: its number in the flat plan; for a stack the stack's. */
  readonly places: readonly number[];
}

class Flattening {
  readonly #plan: Plan;
  readonly #bytes: number[];
  readonly #states: PlanState[] = [];
  readonly #steps: FlatStep[] = [];
  /** By source. */
  readonly #memory = new Map<object, number>();
  readonly #stacks = new Map<object, number>();
  readonly #uses = new Map<Plan, Uses>();
  #owner = 0;

  constructor(plan: Plan) {
    this.#plan = plan;
    this.#bytes = [...plan.bytes];
  }

  run(): FlatPlan {
    const { inputs, outputs, calls, bytes } = this.#plan;
    const frame = this.#frame(
      this.#plan,
      bytes.map((_, value) => value),
    );
    calls.forEach((call, i) => {
      this.#owner = i;
      this.#call(frame, call);
    });
    return {
      bytes: this.#bytes,
      inputs,
      states: this.#states,
      stacks: this.#stacks.size,
      outputs,
      steps: this.#steps,
    };
  }

  /** @param places the numbers of the plan's values; -1 where a new one is wanted. */
  #frame(plan: Plan, places: number[]): Frame {
    for (const state of plan.states) places[state.value] = this.#state(plan, state, places[state.value]);
    const { seeds } = this.#usesOf(plan);
    const elsewhere = new Set(seeds.values());
    places.forEach((place, value) => {
      if (place < 0 && !elsewhere.has(value)) places[value] = this.#fresh(plan.bytes[value]);
    });
    // The last loop first: what it begins with may be the result of another.
    for (const [result, seed] of [...seeds].reverse()) places[seed] = places[result];
    return { plan, places };
  }

  #state(plan: Plan, { value, source, memory }: PlanState, place: number): number {
    const known = memory === null ? this.#stacks : this.#memory;
    const found = known.get(source);
    if (found !== undefined) return found;
    let number = known.size;
    if (memory !== null) {
      number = place < 0 ? this.#fresh(plan.bytes[value]) : place;
      this.#states.push({ value: number, source, memory });
    }
    known.set(source, number);
    return number;
  }

  #fresh(bytes: number): number {
    return this.#bytes.push(bytes) - 1;
  }

  #call(frame: Frame, call: PlanCall): void {
    const { places } = frame;
    const owner = this.#owner;
    const [tensor, stack] = call.inputs;
    const look = (t: PlanTensor): PlanTensor => ({ ...t, value: places[t.value] });
    switch (call.kernel) {
      case 'Copy':
        this.#copy(call, call.outputs[0], places[tensor.value], places[call.outputs[0].value]);
        return;
      case 'Case':
        this.#case(frame, call);
        return;
      case 'While':
        this.#while(frame, call);
        return;
      case 'Push':
        this.#steps.push({ kind: 'push', tensor: look(tensor), stack: places[stack.value], owner });
        return;
      case 'Pop':
        this.#steps.push({
          kind: 'pop',
          tensor: look(call.outputs[0]),
          stack: places[call.inputs[0].value],
          owner,
        });
        return;
      default:
    }
    this.#steps.push({
      kind: 'call',
      call: { ...call, inputs: call.inputs.map(look), outputs: call.outputs.map(look) },
      owner,
    });
  }

  #case(frame: Frame, call: PlanCall): void {
    const bodies = bodiesOfCall(call);
    const { places } = frame;
    const selector = { ...call.inputs[0], value: places[call.inputs[0].value] };
    const [{ inputs, outputs: results }] = bodies;
    const given = this.#given(frame, call, 1, 1 + inputs.length, results.length);
    const to: number[] = [];
    this.#steps.push({ kind: 'switch', selector, to, owner: this.#owner });
    const ends = bodies.map((body) => {
      to.push(this.#steps.length);
      const outputs = body.outputs.map((_, k) => places[call.outputs[k].value]);
      this.#body(body, given, outputs);
      return this.#jump();
    });
    // The last one needs none: it stands at the end.
    this.#steps.pop();
    for (const jump of ends) jump.to = this.#steps.length;
  }

  #while(frame: Frame, call: PlanCall): void {
    const [condition, body] = bodiesOfCall(call);
    const { places } = frame;
    const carried = call.outputs.slice(0, body.outputs.length);
    const constant = this.#given(frame, call, carried.length, body.inputs.length, carried.length);
    const given = [...carried.map(({ value }) => places[value]), ...constant];
    carried.forEach((tensor, k) => {
      this.#copy(call, tensor, places[call.inputs[k].value], given[k]);
    });
    const start = this.#steps.length;
    const flag = passedOn(condition);
    const holds = flag < 0 ? this.#body(condition, given, [-1])[0] : given[flag];
    const to: number[] = [this.#steps.length + 1];
    const test: FlatStep = {
      kind: 'switch',
      selector: { value: holds, dtype: 'bool', shape: [], size: 1 },
      to,
      owner: this.#owner,
    };
    this.#steps.push(test);
    const wanted = body.outputs.map((output, k) =>
      this.#fits(body, output, new Set([body.inputs[k]])) ? given[k] : -1,
    );
    const next = this.#body(body, given, wanted);
    carried.forEach((tensor, k) => {
      this.#copy(call, tensor, next[k], given[k]);
    });
    // What only looks at a flag does so again at once, without a jump back to it.
    if (flag < 0) this.#jump().to = start;
    else this.#steps.push(test);
    to.push(this.#steps.length);
  }

  /** The numbers of some inputs of a call's bodies. A state that a body writes is given as a copy. */
  #given({ places }: Frame, call: PlanCall, first: number, end: number, results: number): number[] {
    const written = new Set(call.outputs.slice(results).map(({ value }) => places[value]));
    return call.inputs.slice(first, end).map((tensor) => {
      const place = places[tensor.value];
      if (!written.has(place)) return place;
      const copy = this.#fresh(this.#bytes[place]);
      this.#copy(call, tensor, place, copy);
      return copy;
    });
  }

  /** Writes a body's steps; returns the numbers of its outputs, new ones where -1 is wanted. */
  #body(body: Plan, inputs: readonly number[], outputs: readonly number[]): number[] {
    const places = new Array<number>(body.bytes.length).fill(-1);
    body.inputs.forEach((value, i) => {
      places[value] = inputs[i];
    });
    body.outputs.forEach((value, i) => {
      places[value] = outputs[i];
    });
    this.#placeSteps(body, places);
    const frame = this.#frame(body, places);
    for (const call of body.calls) this.#call(frame, call);
    return body.outputs.map((value) => frame.places[value]);
  }

  /** Where an output lies in the memory of an input and is made from it in several steps, each over the one before, has all lie there. */
  #placeSteps(body: Plan, places: number[]): void {
    const { writer, lastRead, seeds } = this.#usesOf(body);
    const states = new Set(body.states.map(({ value }) => value));
    const inputs = new Set(body.inputs);
    for (const output of body.outputs) {
      const place = places[output];
      const there = body.inputs.filter((input) => place >= 0 && places[input] === place);
      if (there.length === 0) continue;
      const seen = new Set<number>();
      /** The steps from an input to the value; undefined for none. */
      const stepsTo = (value: number): number[] | undefined => {
        const at = writer[value];
        if (at < 0 || seeds.has(value) || seen.has(value)) return undefined;
        seen.add(value);
        const call = body.calls[at];
        const made = call.outputs.findIndex((tensor) => tensor.value === value);
        for (const { value: from } of call.inputs) {
          if (states.has(from) || lastRead[from] !== at || body.bytes[from] !== body.bytes[output]) continue;
          if (!this.#overwrites(call, made, new Set([from]))) continue;
          if (inputs.has(from)) {
            // Nobody may read what lay there once the first step is done.
            if (there.includes(from) && there.every((input) => input === from || lastRead[input] < at))
              return [];
            continue;
          }
          const steps = places[from] >= 0 ? undefined : stepsTo(from);
          if (steps !== undefined) return [...steps, from];
        }
        return undefined;
      };
      for (const step of stepsTo(output) ?? []) places[step] = place;
    }
  }

  #copy({ name }: PlanCall, tensor: PlanTensor, from: number, to: number): void {
    if (from === to) return;
    const call: PlanCall = {
      kernel: 'Copy',
      inputs: [{ ...tensor, value: from }],
      outputs: [{ ...tensor, value: to }],
      attrs: {},
      name,
    };
    this.#steps.push({ kind: 'call', call, owner: this.#owner });
  }

  #jump(): Jump {
    const jump: Jump = { kind: 'jump', to: -1, owner: this.#owner };
    this.#steps.push(jump);
    return jump;
  }

  /** Whether a plan may have an output in the memory of some inputs: none is read once the output is there. */
  #fits(plan: Plan, output: number, inputs: ReadonlySet<number>): boolean {
    const { seeds, writer, lastRead } = this.#usesOf(plan);
    let first = output;
    for (let seed = seeds.get(first); seed !== undefined; seed = seeds.get(first)) first = seed;
    const at = writer[first];
    for (const input of inputs) if (lastRead[input] > at) return false;
    const call = plan.calls[at];
    return this.#overwrites(
      call,
      call.outputs.findIndex(({ value }) => value === first),
      inputs,
    );
  }

  /** Whether a call may write an output over these values, which nothing reads behind it. */
  #overwrites(call: PlanCall, output: number, values: ReadonlySet<number>): boolean {
    const reads = call.inputs.flatMap(({ value }, i) => (values.has(value) ? [i] : []));
    if (reads.length === 0) return true;
    if (call.kernel === 'Copy') return true;
    if (call.kernel === 'While') return reads.length === 1 && reads[0] === output;
    if (call.kernel !== 'Case') return mayOverwrite(call, reads, call.outputs[output]);
    return bodiesOfCall(call).every((body) => {
      const inner = new Set(reads.filter((i) => i > 0).map((i) => body.inputs[i - 1]));
      return this.#fits(body, body.outputs[output], inner);
    });
  }

  #usesOf(plan: Plan): Uses {
    let uses = this.#uses.get(plan);
    if (uses === undefined) this.#uses.set(plan, (uses = findUses(plan)));
    return uses;
  }
}

/** The place of the input that a condition only passes on, which so can be read where it lies; -1 if it does more. */
function passedOn({ inputs, calls: [call, ...rest] }: Plan): number {
  if (call?.kernel !== 'Copy' || rest.length > 0 || call.inputs[0].dtype !== 'bool') return -1;
  return inputs.indexOf(call.inputs[0].value);
}

/** Where a plan's calls use its values. */
interface Uses {
  /** By value: the call that writes it, the last one for a state; -1 for none. */
  readonly writer: Int32Array;
  /** By value: the last call that reads it; the number of calls for an output, -1 for none. */
  readonly lastRead: Int32Array;
  /** By a loop's result: the temporary that the loop begins with and that nothing else reads, which so can lie in its place. */
  readonly seeds: ReadonlyMap<number, number>;
}

function findUses({ bytes, inputs, states, calls, outputs }: Plan): Uses {
  const writer = new Int32Array(bytes.length).fill(-1);
  const lastRead = new Int32Array(bytes.length).fill(-1);
  calls.forEach((call, i) => {
    for (const { value } of call.inputs) lastRead[value] = i;
    for (const { value } of call.outputs) writer[value] = i;
  });
  for (const value of outputs) lastRead[value] = calls.length;
  const given = new Set([...inputs, ...states.map(({ value }) => value)]);
  const seeds = new Map<number, number>();
  calls.forEach((call, i) => {
    if (call.kernel !== 'While') return;
    const [, body] = bodiesOfCall(call);
    body.outputs.forEach((_, k) => {
      const seed = call.inputs[k].value;
      const result = call.outputs[k].value;
      if (given.has(seed) || given.has(result)) return;
      if (lastRead[seed] !== i || bytes[seed] !== bytes[result]) return;
      if (call.inputs.filter(({ value }) => value === seed).length === 1) seeds.set(result, seed);
    });
  });
  return { writer, lastRead, seeds };
}

function bodiesOfCall({ bodies }: PlanCall): readonly Plan[] {
  return bodies ?? [];
}
