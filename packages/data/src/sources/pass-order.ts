// The order in which the items of a list come, another one in each pass.
import type { State } from '../iterator.ts';
import { count, fields } from '../node.ts';
import { Rng, type SeedWords } from '../random.ts';

/** Numbers from 0 to `size` - 1 in an order that the seed and the number of the pass tell. */
export class PassOrder {
  readonly #size: number;
  readonly #seed: SeedWords | null;
  #pass: number;
  #order: Int32Array | null = null;
  /** How many have come. */
  position = 0;

  /** @param seed null for the order of the list. */
  constructor(size: number, seed: SeedWords | null, pass: number) {
    this.#size = size;
    this.#seed = seed;
    this.#pass = pass;
  }

  /** The number that is next, or -1 behind the last; `position` is moved by the caller. */
  get next(): number {
    this.#order ??= this.#made();
    return this.#order[this.position] ?? -1;
  }

  #made(): Int32Array {
    const order = Int32Array.from({ length: this.#size }, (_, i) => i);
    if (this.#seed === null) return order;
    const rng = new Rng([...this.#seed, this.#pass]);
    for (let i = order.length - 1; i > 0; i--) {
      const j = rng.below(i + 1);
      const moved = order[i] as number;
      order[i] = order[j] as number;
      order[j] = moved;
    }
    return order;
  }

  save(): State {
    return { pass: this.#pass, next: this.position };
  }
  restore(state: State): void {
    const { pass, next } = fields(state);
    this.#pass = count(pass);
    this.position = count(next);
  }
}
