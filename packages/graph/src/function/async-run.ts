// Runs of a graph on another thread.
import type { Backend, Executable, Plan, Storage } from '@eagre/backend';
import { type Tensor, Variable } from '@eagre/core';
import { copyBytes, emptyTensor, isDrawSource, outsideScopes } from '@eagre/core/internal';
import type { Feed } from '../lowering/lower-ops.ts';
import { prepareFed } from './fed.ts';

// The last run that changes a variable, or draws random numbers from a source as it goes; the next one waits for it.
const pending = new WeakMap<object, Promise<unknown>>();

/**
 * A plan for runs on another thread. The variables that it changes are copied at the start and changed all at once at the end, so that
 * others see the old values meanwhile, and a run that fails or is cancelled changes nothing. Runs that change the same variable
 * follow one another, and so do runs that draw random numbers behind one that does so in branches or loops; others may run at the same time, each with memory of its own.
 */
export class AsyncRuns {
  readonly #backend: Backend;
  readonly #plan: Plan;
  readonly #feeds: readonly Feed[];
  readonly #written: readonly Variable[];
  /** What a run changes as it goes, for others too: where random draws come from. */
  readonly #sources: readonly object[];
  readonly #idle: Slot[] = [];

  /** @param feeds what the plan's last inputs are. */
  constructor(backend: Backend, plan: Plan, feeds: readonly Feed[], written: readonly Variable[]) {
    this.#backend = backend;
    this.#plan = plan;
    this.#feeds = feeds;
    this.#written = written;
    this.#sources = plan.states.map(({ source }) => source).filter(isDrawSource);
  }

  /** @throws as `Executable.runAsync`. */
  async run(
    inputs: readonly Storage[],
    outputs: readonly Storage[],
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const changed = [...this.#written, ...this.#sources];
    const before = [...changed, ...this.#feeds.map(({ source }) => source)].map((of) => pending.get(of));
    const result = this.#after(before, () => this.#now(inputs, outputs, signal));
    const settled = result.catch(() => undefined);
    for (const of of changed) pending.set(of, settled);
    return result;
  }

  dispose(): void {
    for (const { executable } of this.#idle.splice(0)) executable.dispose();
  }

  async #after(before: readonly (Promise<unknown> | undefined)[], run: () => Promise<void>): Promise<void> {
    if (before.some((b) => b !== undefined)) await Promise.all(before);
    return run();
  }

  async #now(
    inputs: readonly Storage[],
    outputs: readonly Storage[],
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const slot = this.#idle.pop() ?? this.#prepare();
    for (const variable of this.#written) slot.copies.set(variable, copied(variable, this.#backend));
    try {
      await slot.executable.runAsync(inputs, outputs, signal);
      for (const [variable, copy] of slot.copies) variable.assign(copy);
    } finally {
      for (const copy of slot.copies.values()) copy.dispose();
      slot.copies.clear();
      this.#idle.push(slot);
    }
  }

  #prepare(): Slot {
    const copies = new Map<Variable, Tensor>();
    const states = this.#plan.states.map((state) => {
      const { source } = state;
      if (!(source instanceof Variable) || !this.#written.includes(source)) return state;
      return { ...state, memory: () => (copies.get(source) as Tensor).storage };
    });
    return { executable: prepareFed(this.#backend, { ...this.#plan, states }, this.#feeds), copies };
  }
}

interface Slot {
  readonly executable: Executable;
  readonly copies: Map<Variable, Tensor>;
}

function copied(variable: Variable, backend: Backend): Tensor {
  return outsideScopes(() => {
    const copy = emptyTensor(variable.dtype, variable.shape, undefined, backend);
    copyBytes(variable.storage, copy.storage);
    return copy;
  });
}
