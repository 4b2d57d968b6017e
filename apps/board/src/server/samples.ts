/** A value of a tag that is shown by itself: a histogram, pictures, a text. */
export interface Sample<T> {
  readonly step: number;
  /** Seconds since 1970. */
  readonly wallTime: number;
  readonly value: T;
}

/** Values of a tag, evenly chosen among all that came once there are more than `most`. The last one is always there. */
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
    this.#last = sample;
    if (this.#count++ % this.#every !== 0) return;
    this.#kept.push(sample);
    if (this.#kept.length <= this.#most) return;
    this.#kept = this.#kept.filter((_, i) => i % 2 === 0);
    this.#every *= 2;
  }

  /** By rising step. */
  list(): readonly Sample<T>[] {
    const all = [...this.#kept];
    if (this.#last !== undefined && all.at(-1) !== this.#last) all.push(this.#last);
    return all.sort((a, b) => a.step - b.step);
  }
}
