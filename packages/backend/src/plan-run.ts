import { InternalError } from './errors.ts';
import type { Plan } from './plan.ts';
import type { Storage } from './storage.ts';

const none: readonly (readonly Storage[])[] = [];

/** What the executables of all backends share: one run at a time, none after disposal, memory that is large enough. */
export class PlanRun {
  /** What the run under way was given. Kept here: memory that nothing holds is lent to others. */
  memory: readonly (readonly Storage[])[] = none;
  readonly #plan: Plan;
  #running = false;
  #disposed = false;
  #held: readonly Storage[] = [];

  /** @param plan with the numbering and states of its flat plan; of its calls only the count matters. */
  constructor(plan: Plan) {
    this.#plan = plan;
  }

  /**
   * Starts a run; `end` must follow.
   * @throws InternalError, and there is no run, when one is under way, after disposal, and for memory that does not fit.
   */
  start(inputs: readonly Storage[], outputs: readonly Storage[], times: Float64Array | undefined): void {
    const { calls, inputs: given, outputs: wanted } = this.#plan;
    if (this.#running) throw new InternalError('a plan was run while it runs');
    if (this.#disposed) throw new InternalError('a plan was run after it had been disposed');
    this.#checkAll('input', given, inputs);
    this.#checkAll('output', wanted, outputs);
    if (times !== undefined && times.length < calls.length)
      throw new InternalError(`room for the times of ${times.length} calls of ${calls.length}`);
    this.memory = [inputs, outputs];
    this.#running = true;
  }

  /** Tells the memory of every input, output and state; call it after whatever could change a state. */
  bind(place: (value: number, memory: Storage) => void): void {
    const { inputs, outputs, states } = this.#plan;
    const [givenInputs, givenOutputs] = this.memory;
    if (states.length > 0) {
      const now = new Array<Storage>(states.length);
      for (let i = 0; i < states.length; i++) {
        const { value, memory } = states[i];
        if (memory === null) throw new InternalError(`the stack ${value} has no memory`);
        now[i] = memory();
        this.#check('state', value, now[i]);
      }
      this.memory = [givenInputs, givenOutputs, now];
      for (let i = 0; i < states.length; i++) place(states[i].value, now[i]);
    }
    for (let i = 0; i < inputs.length; i++) place(inputs[i], givenInputs[i]);
    for (let i = 0; i < outputs.length; i++) place(outputs[i], givenOutputs[i]);
  }

  /** Holds the memory until `end`, for a run that lets other code have its turn, which might give it back. Call it after `bind`. */
  hold(): void {
    this.#held = this.memory.flat();
    for (const storage of this.#held) storage.refs++;
  }

  end(): void {
    const held = this.#held;
    this.memory = none;
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
