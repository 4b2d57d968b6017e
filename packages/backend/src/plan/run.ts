import type { Storage } from '../buffer/storage.ts';
import { InternalError } from '../errors.ts';
import type { Plan, PlanState } from './plan.ts';

/** A state whose memory is asked for before each run, as a variable's is. */
export type AskedState = PlanState & { readonly memory: () => Storage };

const isAsked = (state: PlanState): state is AskedState => typeof state.memory === 'function';

const none: readonly Storage[] = [];

/** What the executables of all backends share: one run at a time, none after disposal, memory that is large enough. */
export class PlanRun {
  /** What the run under way was given. Kept here: memory that nothing holds is lent to others. */
  #inputs: readonly Storage[] = none;
  #outputs: readonly Storage[] = none;
  /** The memory of the states that were asked; null between runs. */
  readonly #states: (Storage | null)[];
  readonly #plan: Plan;
  readonly asked: readonly AskedState[];
  #running = false;
  #disposed = false;
  #held: readonly Storage[] = [];

  /** @param plan with the numbering and states of its flat plan; of its calls only the count matters. */
  constructor(plan: Plan) {
    this.#plan = plan;
    this.asked = plan.states.filter(isAsked);
    this.#states = this.asked.map(() => null);
  }

  /** The values whose memory is another one at each run: inputs, outputs, and states that are asked. */
  get given(): readonly number[] {
    const { inputs, outputs } = this.#plan;
    return [...inputs, ...outputs, ...this.asked.map(({ value }) => value)];
  }

  /** Tells the memory of the states that are constants, which is the same at each run. */
  bindConstants(place: (value: number, memory: Storage) => void): void {
    for (const { value, memory } of this.#plan.states) {
      if (memory === null) throw new InternalError(`the stack ${value} has no memory`);
      if (typeof memory === 'function') continue;
      this.#check('state', value, memory);
      place(value, memory);
    }
  }

  /**
   * Starts a run; `end` must follow.
   * @throws InternalError, and there is no run, when one is under way, after disposal, and for memory that does not fit.
   */
  start(inputs: readonly Storage[], outputs: readonly Storage[], times: Float64Array | undefined): void {
    this.check(inputs, outputs);
    const { calls } = this.#plan;
    if (times !== undefined && times.length < calls.length)
      throw new InternalError(`room for the times of ${times.length} calls of ${calls.length}`);
    this.#inputs = inputs;
    this.#outputs = outputs;
    this.#running = true;
  }

  /**
   * Checks what a run is given, for one in whose middle nothing else has its turn, so that it needs neither `start` nor `end`.
   * @throws InternalError as `start`.
   */
  check(inputs: readonly Storage[], outputs: readonly Storage[]): void {
    if (this.#running) throw new InternalError('a plan was run while it runs');
    if (this.#disposed) throw new InternalError('a plan was run after it had been disposed');
    this.#checkAll('input', this.#plan.inputs, inputs);
    this.#checkAll('output', this.#plan.outputs, outputs);
  }

  /** The memory of a state that is asked for. @throws InternalError where it is too small. */
  ask({ value, memory }: AskedState): Storage {
    const storage = memory();
    this.#check('state', value, storage);
    return storage;
  }

  /** Tells the memory of every input, output and variable; call it after whatever could change a variable. */
  bind(place: (value: number, memory: Storage) => void): void {
    const { inputs, outputs } = this.#plan;
    const asked = this.asked;
    for (let i = 0; i < asked.length; i++) {
      const storage = this.ask(asked[i]);
      this.#states[i] = storage;
      place(asked[i].value, storage);
    }
    for (let i = 0; i < inputs.length; i++) place(inputs[i], this.#inputs[i]);
    for (let i = 0; i < outputs.length; i++) place(outputs[i], this.#outputs[i]);
  }

  /**
   * Holds the memory until `end`, for a run that lets other code have its turn, which might give it back, or assign to a variable, which
   * then does so elsewhere. Call it after `bind`.
   * @param written values that the run changes in place: what others assign to these meanwhile stays in the same memory.
   */
  hold(written?: ReadonlySet<number>): void {
    const states = this.#states.filter(
      (storage, i) => storage !== null && written?.has(this.asked[i].value) !== true,
    );
    this.#held = [...this.#inputs, ...this.#outputs, ...(states as Storage[])];
    for (const storage of this.#held) storage.refs++;
  }

  end(): void {
    const held = this.#held;
    this.#inputs = none;
    this.#outputs = none;
    for (let i = 0; i < this.#states.length; i++) this.#states[i] = null;
    this.#running = false;
    if (held.length === 0) return;
    this.#held = [];
    for (const storage of held) storage.release();
  }

  /** @returns whether this was the first time, so that there is something to give back. */
  dispose(): boolean {
    if (this.#running) throw new InternalError('a plan was disposed while it runs');
    if (this.#disposed) return false;
    this.#disposed = true;
    return true;
  }

  #checkAll(what: string, values: readonly number[], memory: readonly Storage[]): void {
    if (memory.length !== values.length)
      throw new InternalError(`${memory.length} ${what}s for a plan of ${values.length}`);
    for (let i = 0; i < values.length; i++) this.#check(what, values[i], memory[i]);
  }

  #check(what: string, value: number, { capacity }: Storage): void {
    const bytes = this.#plan.bytes[value];
    if (capacity < bytes) throw new InternalError(`${capacity} bytes for ${what} ${value} of ${bytes} bytes`);
  }
}
