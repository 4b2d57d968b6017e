import type { Plan, PlanCall, PlanState, PlanTensor } from '@eagre/backend';
import type { Constant } from './constants.ts';

/** A call that runs plans of its own. */
export interface BodiesCall extends PlanCall {
  readonly kernel: 'Case' | 'While';
  readonly bodies: readonly Plan[];
}

/** What such a call is made of, without the states that its bodies touch. */
export interface BodiesParts {
  readonly kernel: 'Case' | 'While';
  readonly name: string;
  readonly bodies: readonly Plan[];
  /** What tells a Case which body to run; undefined for a While. */
  readonly selector: PlanTensor | undefined;
  /** Given as the inputs of each body. */
  readonly given: readonly PlanTensor[];
  /** The outputs of the body that ran, or the carried values at the end of a While. */
  readonly results: readonly PlanTensor[];
}

export function hasBodies(call: PlanCall): call is BodiesCall {
  return call.kernel === 'Case' || call.kernel === 'While';
}

export function partsOf({ kernel, name, bodies, inputs, outputs }: BodiesCall): BodiesParts {
  const first = kernel === 'Case' ? 1 : 0;
  return {
    kernel,
    name,
    bodies,
    selector: kernel === 'Case' ? inputs[0] : undefined,
    given: inputs.slice(first, first + bodies[0].inputs.length),
    results: outputs.slice(0, bodies[bodies.length - 1].outputs.length),
  };
}

/** How a plan uses one of its states. */
interface Touch {
  readonly state: PlanState;
  readonly tensor: PlanTensor;
  written: boolean;
}

function touchedStates(plan: Plan): readonly Touch[] {
  const touches = new Map<number, Touch>();
  const states = new Map(plan.states.map((state) => [state.value, state]));
  const touch = (tensor: PlanTensor, written: boolean): void => {
    const state = states.get(tensor.value);
    if (state === undefined) return;
    const known = touches.get(tensor.value);
    if (known === undefined) touches.set(tensor.value, { state, tensor, written });
    else known.written ||= written;
  };
  for (const { inputs, outputs } of plan.calls) {
    for (const tensor of inputs) touch(tensor, false);
    for (const tensor of outputs) touch(tensor, true);
  }
  return [...touches.values()];
}

/** A plan that is written anew: its calls are to be added, values and states may be. */
export class Draft {
  readonly plan: Plan;
  readonly calls: PlanCall[] = [];
  readonly #bytes: number[];
  readonly #states: PlanState[];
  readonly #places: Map<object, number>;

  constructor(plan: Plan) {
    this.plan = plan;
    this.#bytes = [...plan.bytes];
    this.#states = [...plan.states];
    this.#places = new Map(plan.states.map(({ source, value }) => [source, value]));
  }

  /** A new value of that many bytes. */
  value(bytes: number): number {
    return this.#bytes.push(bytes) - 1;
  }

  bytesOf(value: number): number {
    return this.#bytes[value];
  }

  /** The value of the state with that source, or undefined. */
  stateOf(source: object): number | undefined {
    return this.#places.get(source);
  }

  /** The value of the state with that source, which becomes one if it is none. */
  state({ source, memory }: PlanState, bytes: number): number {
    const known = this.#places.get(source);
    if (known !== undefined) return known;
    const value = this.value(bytes);
    this.#states.push({ value, source, memory });
    this.#places.set(source, value);
    return value;
  }

  /**
   * Adds a call with bodies, and lists the states that they touch. Those with memory become states here too; a stack that is none here
   * serves within a body only.
   */
  nested({ kernel, name, bodies, selector, given, results }: BodiesParts): void {
    const read = new Map<number, PlanTensor>();
    const written = new Map<number, PlanTensor>();
    for (const body of bodies) {
      for (const { state, tensor, written: writes } of touchedStates(body)) {
        if (state.memory === null && this.stateOf(state.source) === undefined) continue;
        const value = this.state(state, body.bytes[state.value]);
        const listed = read.get(value) ?? { ...tensor, value };
        read.set(value, listed);
        if (writes) written.set(value, listed);
      }
    }
    this.calls.push({
      kernel,
      bodies,
      inputs: [...(selector === undefined ? [] : [selector]), ...given, ...read.values()],
      outputs: [...results, ...written.values()],
      attrs: {},
      name,
    });
  }

  finish(): Plan {
    return { ...this.plan, bytes: this.#bytes, states: this.#states, calls: this.calls };
  }
}

/** What is known of the plan around a call with bodies. */
export interface Surroundings {
  readonly draft: Draft;
  /** What temporaries are filled with. */
  readonly constants: ReadonlyMap<number, Constant>;
  /** Whether anybody reads a result of the call. */
  needed(result: PlanTensor): boolean;
  /** Simplifies a body. */
  simplify(body: Plan): Plan;
}

/** The plan with something done to each body of its calls; what calls list of their bodies' states is listed anew. */
export function mapBodies(plan: Plan, change: (body: Plan) => Plan): Plan {
  if (!plan.calls.some(hasBodies)) return plan;
  const draft = new Draft(plan);
  for (const call of plan.calls) {
    if (!hasBodies(call)) draft.calls.push(call);
    else draft.nested({ ...partsOf(call), bodies: call.bodies.map(change) });
  }
  return draft.finish();
}

/** Makes every state with memory, of a body at any depth, one of the plans around it, so that calls list all that they touch. */
export function liftStates(plan: Plan): Plan {
  return mapBodies(plan, liftStates);
}
