// Which of several processes keeps the state that an optimizer has for a variable, and updates the variable.
import { dtypeTraits } from '@eagre/backend';
import type { Variable } from '@eagre/core';

/** Gives each variable to the process that has the least so far: all processes come to the same, as they ask in the same order. */
export class Ownership {
  readonly #loads: number[];
  #ranks = new WeakMap<Variable, number>();

  constructor(processes: number) {
    this.#loads = Array<number>(processes).fill(0);
  }

  /** The rank of the process to which a variable belongs. */
  rankOf({ whole }: Variable): number {
    const known = this.#ranks.get(whole);
    if (known !== undefined) return known;
    const rank = this.#loads.indexOf(Math.min(...this.#loads));
    const size = (whole.shape as readonly number[]).reduce((a, b) => a * b, 1);
    this.#loads[rank] = (this.#loads[rank] as number) + size * dtypeTraits[whole.dtype].bytes;
    this.#ranks.set(whole, rank);
    return rank;
  }

  /** Begins anew: for processes that meet again, some of which have just been started. */
  reset(): void {
    this.#loads.fill(0);
    this.#ranks = new WeakMap();
  }
}
