/** The scalars of a tag in the order in which they were written. Columns, since there may be millions. */
export class Series {
  #steps = new Float64Array(256);
  #wallTimes = new Float64Array(256);
  #values = new Float32Array(256);
  #length = 0;
  /** Whether steps never fall; a run that was begun anew may write earlier steps again. */
  #sorted = true;

  get length(): number {
    return this.#length;
  }

  push(step: number, wallTime: number, value: number): void {
    const n = this.#length;
    if (n === this.#steps.length) this.#grow();
    if (n > 0 && step < this.#steps[n - 1]!) this.#sorted = false;
    this.#steps[n] = step;
    this.#wallTimes[n] = wallTime;
    this.#values[n] = value;
    this.#length = n + 1;
  }

  /** The columns by rising step. They share memory with the series. */
  columns(): Columns {
    if (!this.#sorted) this.#sort();
    const n = this.#length;
    return {
      steps: this.#steps.subarray(0, n),
      wallTimes: this.#wallTimes.subarray(0, n),
      values: this.#values.subarray(0, n),
    };
  }

  /** Values of one step keep their order. */
  #sort(): void {
    const order = Uint32Array.from({ length: this.#length }, (_, i) => i);
    order.sort((a, b) => this.#steps[a]! - this.#steps[b]! || a - b);
    const room = this.#steps.length;
    const steps = new Float64Array(room);
    const wallTimes = new Float64Array(room);
    const values = new Float32Array(room);
    for (let i = 0; i < order.length; i++) {
      const from = order[i]!;
      steps[i] = this.#steps[from]!;
      wallTimes[i] = this.#wallTimes[from]!;
      values[i] = this.#values[from]!;
    }
    this.#steps = steps;
    this.#wallTimes = wallTimes;
    this.#values = values;
    this.#sorted = true;
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
  readonly steps: number[];
  readonly wallTimes: number[];
  /** null is NaN or infinite. */
  readonly values: (number | null)[];
  readonly smoothed: (number | null)[];
}

export interface ViewOptions {
  /** About how many points come back. */
  readonly points: number;
  /** Steps outside of these are left out, but for one on each side. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** The weight of what came before in the moving average, from 0 to below 1. */
  readonly smoothing: number;
}

/**
 * Points for a plot: of each piece of the series the least and the greatest, so that no peak is lost; the moving average is that of
 * all points (TensorBoard's: debiased, so that it does not begin at 0), which NaN and infinite ones do not touch.
 */
export function viewOf({ steps, wallTimes, values }: Columns, options: ViewOptions): View {
  const total = steps.length;
  const first = options.from === undefined ? 0 : Math.max(0, lowerBound(steps, options.from) - 1);
  const last = options.to === undefined ? total : Math.min(total, lowerBound(steps, options.to) + 1);
  const average = smooth(values, options.smoothing);
  const chosen = thin(values, first, last, options.points);
  return {
    total,
    steps: chosen.map((i) => steps[i]!),
    wallTimes: chosen.map((i) => wallTimes[i]!),
    values: chosen.map((i) => finite(values[i]!)),
    smoothed: chosen.map((i) => finite(average[i]!)),
  };
}

const finite = (value: number): number | null => (Number.isFinite(value) ? value : null);

function smooth(values: Float32Array, weight: number): Float32Array {
  if (weight <= 0) return values;
  const out = new Float32Array(values.length);
  let sum = 0;
  let mass = 0;
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
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
    let low = begin;
    let high = begin;
    for (let i = begin; i < end; i++) {
      if (values[i]! < values[low]! || Number.isNaN(values[low]!)) low = i;
      if (values[i]! > values[high]! || Number.isNaN(values[high]!)) high = i;
    }
    if (begin >= end) continue;
    chosen.push(Math.min(low, high));
    if (low !== high) chosen.push(Math.max(low, high));
  }
  chosen.push(last - 1);
  return chosen;
}

/** The first place whose step is at least `step`. */
function lowerBound(steps: Float64Array, step: number): number {
  let low = 0;
  let high = steps.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (steps[middle]! < step) low = middle + 1;
    else high = middle;
  }
  return low;
}
