/** A value of a tag that is shown by itself: a histogram, pictures, a text. */
export interface Sample<T> {
  readonly step: number;
  /** Seconds since 1970. */
  readonly wallTime: number;
  readonly value: T;
}

/**
 * Values of a tag by rising step, evenly chosen among all that came once there are more than `most`. The last one is always there. A step
 * that comes again drops itself and what is behind it, as in a series of scalars.
 */
export class Samples<T> {
  readonly #most: number;
  #kept: Sample<T>[] = [];
  #last: Sample<T> | undefined;
  #every = 1;
  #count = 0;

  constructor(most: number) {
    this.#most = most;
  }

  push(sample: Sample<T>): void {
    if (this.#last !== undefined && sample.step <= this.#last.step) this.#drop(sample.step);
    this.#last = sample;
    if (this.#count++ % this.#every !== 0) return;
    this.#kept.push(sample);
    if (this.#kept.length <= this.#most) return;
    this.#kept = this.#kept.filter((_, i) => i % 2 === 0);
    this.#every *= 2;
  }

  list(): readonly Sample<T>[] {
    const all = [...this.#kept];
    if (this.#last !== undefined && all.at(-1) !== this.#last) all.push(this.#last);
    return all;
  }

  #drop(from: number): void {
    this.#kept = this.#kept.filter(({ step }) => step < from);
    if (this.#kept.length > 0) return;
    this.#every = 1;
    this.#count = 0;
  }
}
