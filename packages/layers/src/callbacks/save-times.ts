import { InvalidArgumentError } from '@eagre/core';
import { type Option, shown } from '@eagre/core/internal';

/** When something is saved: after each epoch, or after so many batches. */
export type SaveFreq = 'epoch' | number;

export const saveFreq: Option<SaveFreq> = {
  read: (given, name, of) => {
    const freq = given ?? 'epoch';
    if (freq === 'epoch' || (Number.isInteger(freq) && (freq as number) > 0)) return freq as SaveFreq;
    throw new InvalidArgumentError(
      `${name} must be 'epoch' or a number of batches, got ${shown(freq)}`,
      of.constructor.name,
    );
  },
};

/** Counts batches, over the ends of epochs too. */
export class SaveTimes {
  readonly #freq: SaveFreq;
  #batches = 0;
  #last = 0;

  constructor(freq: SaveFreq) {
    this.#freq = freq;
  }

  /** Whether to save now. */
  afterBatch(batch: number): boolean {
    if (this.#freq === 'epoch') return false;
    this.#batches += batch <= this.#last ? batch + 1 : batch - this.#last;
    this.#last = batch;
    if (this.#batches < this.#freq) return false;
    this.#batches = 0;
    return true;
  }
  /** Whether to save now. */
  afterEpoch(): boolean {
    this.#last = 0;
    return this.#freq === 'epoch';
  }
}
