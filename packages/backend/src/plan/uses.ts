import type { Plan, PlanCall } from './plan.ts';

// Most values have one writer and few readers, and each pass asks anew: lists are made where there is something to list.
const NONE: readonly number[] = [];

function note(lists: (readonly number[])[], value: number, call: number): void {
  const list = lists[value];
  if (list.length === 0) lists[value] = [call];
  else if (list[list.length - 1] !== call) (list as number[]).push(call);
}

/** Whether a call is of the host's code, or has such a call in a body: it is called whatever becomes of its results, and no two are the same. */
export function callsHost({ kernel, bodies }: PlanCall): boolean {
  return kernel === 'Host' || (bodies?.some(({ calls }) => calls.some(callsHost)) ?? false);
}

/** Who reads and writes the values of a plan; calls are meant by their places in `plan.calls`. */
export class Uses {
  /** By value: the calls that read it, ascending, each once. */
  readonly readers: readonly (readonly number[])[];
  /** By value: the calls that write it, ascending. More than one only for a state. */
  readonly writers: readonly (readonly number[])[];
  readonly states: ReadonlySet<number>;
  /** Given at each run. */
  readonly inputs: ReadonlySet<number>;
  /** Written into memory that is given at each run; each is the output of a call, and listed once. */
  readonly outputs: ReadonlySet<number>;

  readonly #readers: (readonly number[])[];
  readonly #writers: (readonly number[])[];

  constructor(plan: Plan) {
    const readers = new Array<readonly number[]>(plan.bytes.length).fill(NONE);
    const writers = new Array<readonly number[]>(plan.bytes.length).fill(NONE);
    plan.calls.forEach((call, i) => {
      for (const { value } of call.inputs) note(readers, value, i);
      for (const { value } of call.outputs) note(writers, value, i);
    });
    this.readers = this.#readers = readers;
    this.writers = this.#writers = writers;
    this.states = new Set(plan.states.map((state) => state.value));
    this.inputs = new Set(plan.inputs);
    this.outputs = new Set(plan.outputs);
  }

  /** Whether only calls of the plan ever see the value: it is no input, output or state. */
  isTemporary(value: number): boolean {
    return !this.states.has(value) && !this.outputs.has(value) && !this.inputs.has(value);
  }

  /** The last call that reads the value, or -1. */
  lastReader(value: number): number {
    return this.readers[value].at(-1) ?? -1;
  }

  /** Whether a call after `after`, and up to and with `last`, writes the value. */
  writtenWithin(value: number, after: number, last: number): boolean {
    return this.writers[value].some((call) => call > after && call <= last);
  }

  /** The call at `writer` writes `to` instead of `from`, as its readers read it then; the call at `copy`, which copied it, is gone. */
  renamed(from: number, to: number, writer: number, copy: number): void {
    const readers = new Set([...this.readers[to], ...this.readers[from]]);
    readers.delete(copy);
    this.#readers[to] = [...readers].sort((a, b) => a - b);
    this.#readers[from] = [];
    this.#writers[to] = this.writers[to].map((call) => (call === copy ? writer : call));
    this.#writers[from] = [];
  }
}
