/**
 * The scalars of a tag by rising step. Columns, since there may be millions. A step that was written again, as a run does that was begun
 * anew from a checkpoint, takes the place of the one before and of all behind it, as in TensorBoard.
 */
export class Series {
  // Small at first: there may be a hundred thousand tags with a few points each.
  #steps = new Float64Array(4);
  #wallTimes = new Float64Array(4);
  #values = new Float32Array(4);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(step: number, wallTime: number, value: number): void {
    if (this.#length > 0 && step <= this.#steps[this.#length - 1])
      this.#length = lowerBound(this.#steps.subarray(0, this.#length), step);
    const n = this.#length;
    if (n === this.#steps.length) this.#grow();
    this.#steps[n] = step;
    this.#wallTimes[n] = wallTime;
    this.#values[n] = value;
    this.#length = n + 1;
  }

  /** The columns. They share memory with the series. */
  columns(): Columns {
    const n = this.#length;
    return {
      steps: this.#steps.subarray(0, n),
      wallTimes: this.#wallTimes.subarray(0, n),
      values: this.#values.subarray(0, n),
    };
  }

  #grow(): void {
    const grown = <A extends Float64Array | Float32Array>(old: A, empty: A): A => {
      empty.set(old);
      return empty;
    };
    const room = this.#steps.length * 2;
    this.#steps = grown(this.#steps, new Float64Array(room));
    this.#wallTimes = grown(this.#wallTimes, new Float64Array(room));
    this.#values = grown(this.#values, new Float32Array(room));
  }
}

export interface Columns {
  readonly steps: Float64Array;
  /** Seconds since 1970. */
  readonly wallTimes: Float64Array;
  readonly values: Float32Array;
}

/** What of a series a plot shows. */
export interface View {
  /** Of all of the series. */
  readonly total: number;
  /** When the series begins. */
  readonly start: number;
  readonly steps: number[];
  readonly wallTimes: number[];
  /** null is NaN or infinite. */
  readonly values: (number | null)[];
  readonly smoothed: (number | null)[];
  readonly odd: Odd;
}

/** What is not finite between the ends of a view. */
export interface Odd {
  readonly nan: number;
  readonly infinite: number;
  /** Some of them, and where they are. */
  readonly steps: number[];
  readonly wallTimes: number[];
}

/** What a plot is over: steps, seconds since the first point, seconds since 1970. */
export type Along = 'step' | 'relative' | 'time';

export interface ViewOptions {
  /** About how many points come back. */
  readonly points: number;
  /** What is outside of these is left out, but for one point on each side. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** What `from` and `to` are; steps unless given. */
  readonly along?: Along | undefined;
  /** The weight of what came before in the moving average, from 0 to below 1. */
  readonly smoothing: number;
}

const MOST_ODD = 200;

/**
 * Points for a plot: of each piece of the series the least and the greatest, so that no peak is lost; the moving average is that of
 * all points (TensorBoard's: debiased, so that it does not begin at 0), which NaN and infinite ones do not touch.
 */
export function viewOf({ steps, wallTimes, values }: Columns, options: ViewOptions): View {
  const total = steps.length;
  const start = wallTimes[0] ?? 0;
  const { along = 'step' } = options;
  const place = along === 'step' ? steps : wallTimes;
  const shift = along === 'relative' ? start : 0;
  const { from, to } = options;
  const first = from === undefined ? 0 : Math.max(0, lowerBound(place, from + shift) - 1);
  const last = to === undefined ? total : Math.min(total, lowerBound(place, to + shift) + 1);
  const average = smooth(values, options.smoothing);
  const chosen = thin(values, first, last, options.points);
  return {
    total,
    start,
    steps: chosen.map((i) => steps[i]),
    wallTimes: chosen.map((i) => wallTimes[i]),
    values: chosen.map((i) => finite(values[i])),
    smoothed: chosen.map((i) => finite(average[i])),
    odd: oddOf({ steps, wallTimes, values }, first, last),
  };
}

function oddOf({ steps, wallTimes, values }: Columns, first: number, last: number): Odd {
  let nan = 0;
  const found: number[] = [];
  for (let i = first; i < last; i++) {
    if (Number.isFinite(values[i])) continue;
    found.push(i);
    if (Number.isNaN(values[i])) nan++;
  }
  const every = Math.max(1, Math.ceil(found.length / MOST_ODD));
  const some = found.filter((_, i) => i % every === 0);
  return {
    nan,
    infinite: found.length - nan,
    steps: some.map((i) => steps[i]),
    wallTimes: some.map((i) => wallTimes[i]),
  };
}

const finite = (value: number): number | null => (Number.isFinite(value) ? value : null);

function smooth(values: Float32Array, weight: number): Float32Array {
  if (weight <= 0) return values;
  const out = new Float32Array(values.length);
  let sum = 0;
  let mass = 0;
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (!Number.isFinite(value)) {
      out[i] = value;
      continue;
    }
    sum = sum * weight + (1 - weight) * value;
    mass = mass * weight + (1 - weight);
    out[i] = sum / mass;
  }
  return out;
}

function thin(values: Float32Array, first: number, last: number, points: number): number[] {
  const count = last - first;
  if (count <= points) return Array.from({ length: Math.max(0, count) }, (_, i) => first + i);
  const pieces = Math.max(1, Math.floor((points - 2) / 2));
  const chosen = [first];
  for (let piece = 0; piece < pieces; piece++) {
    const begin = first + 1 + Math.floor(((count - 2) * piece) / pieces);
    const end = first + 1 + Math.floor(((count - 2) * (piece + 1)) / pieces);
    if (begin >= end) continue;
    // What is not finite is no peak; a piece without anything else is one point.
    let low = -1;
    let high = -1;
    for (let i = begin; i < end; i++) {
      const value = values[i];
      if (!Number.isFinite(value)) continue;
      if (low < 0 || value < values[low]) low = i;
      if (high < 0 || value > values[high]) high = i;
    }
    if (low < 0) low = high = begin;
    chosen.push(Math.min(low, high));
    if (low !== high) chosen.push(Math.max(low, high));
  }
  chosen.push(last - 1);
  return chosen;
}

/** The first place whose number is at least `least`; numbers rise. */
function lowerBound(numbers: Float64Array, least: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (numbers[middle] < least) low = middle + 1;
    else high = middle;
  }
  return low;
}
