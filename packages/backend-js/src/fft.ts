// Fourier transforms in float64, of any length: by the factors of the length (Cooley and Tukey), by convolution where one is a large prime (Bluestein).
import type { Kernel, KernelName } from '@eagre/backend';
import { type NumberArray, numbers } from './view.ts';

interface Parts {
  readonly re: Float64Array;
  readonly im: Float64Array;
}
const zeros = (n: number): Parts => ({ re: new Float64Array(n), im: new Float64Array(n) });

// Larger primes go by convolution.
const LARGEST_PRIME = 31;

/** What transforms of one length share. */
interface Plan {
  readonly n: number;
  readonly factors: readonly number[];
  /** e to the power of −2πi · k / n. */
  readonly roots: Parts;
  readonly bluestein: Bluestein | null;
}
interface Bluestein {
  readonly inner: Plan;
  readonly chirp: Parts;
  readonly filter: Parts;
}

/** cos and −sin of a part of a turn, exact where they are simple. */
function root(k: number, n: number): readonly [number, number] {
  // The nearest quarter first: angles of at most an eighth of a turn round least.
  const quarter = Math.floor((8 * k + n) / (2 * n));
  const angle = (2 * Math.PI * (4 * k - quarter * n)) / (4 * n);
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  return (
    [
      [c, -s],
      [-s, -c],
      [-c, s],
      [s, c],
    ] as const
  )[quarter & 3];
}
function rootsOf(count: number, at: (i: number) => number, n: number): Parts {
  const made = zeros(count);
  for (let i = 0; i < count; i++) [made.re[i], made.im[i]] = root(at(i), n);
  return made;
}

const plans = new Map<number, Plan>();
const MOST_PLANS = 24;
function planOf(n: number): Plan {
  let plan = plans.get(n);
  if (plan === undefined) plan = makePlan(n);
  plans.delete(n);
  plans.set(n, plan);
  if (plans.size > MOST_PLANS) plans.delete(plans.keys().next().value as number);
  return plan;
}
function makePlan(n: number): Plan {
  const factors: number[] = [];
  let rest = n;
  for (const r of [4, 2, ...Array.from({ length: LARGEST_PRIME / 2 }, (_, i) => 2 * i + 3)])
    for (; rest > 1 && rest % r === 0; rest /= r) factors.push(r);
  if (rest > 1) return { n, factors: [], roots: zeros(0), bluestein: bluesteinOf(n) };
  return { n, factors, roots: rootsOf(n, (k) => k, n), bluestein: null };
}
function bluesteinOf(n: number): Bluestein {
  let m = 1;
  while (m < 2 * n - 1) m *= 2;
  // i² modulo 2n by steps, which stay exact.
  const squares = new Float64Array(n);
  for (let i = 1; i < n; i++) squares[i] = (squares[i - 1] + 2 * i - 1) % (2 * n);
  const chirp = rootsOf(n, (i) => squares[i], 2 * n);
  const filter = zeros(m);
  for (let i = 0; i < n; i++) {
    for (const place of i === 0 ? [0] : [i, m - i]) {
      filter.re[place] = chirp.re[i] / m;
      filter.im[place] = -chirp.im[i] / m;
    }
  }
  const inner = planOf(m);
  transform(inner, filter);
  return { inner, chirp, filter };
}

/** x · y for each element of the first `n`; the rest of x is left. */
function multiply(x: Parts, y: Parts, n: number): void {
  for (let i = 0; i < n; i++) {
    const [a, b] = [x.re[i], x.im[i]];
    x.re[i] = a * y.re[i] - b * y.im[i];
    x.im[i] = a * y.im[i] + b * y.re[i];
  }
}
const conjugate = ({ im }: Parts): void => {
  for (let i = 0; i < im.length; i++) im[i] = -im[i];
};

/** x becomes its transform. */
function transform(plan: Plan, x: Parts): void {
  const { n, bluestein } = plan;
  if (bluestein === null) {
    passes(plan, x);
    return;
  }
  const { inner, chirp, filter } = bluestein;
  multiply(x, chirp, n);
  const wide = zeros(inner.n);
  wide.re.set(x.re);
  wide.im.set(x.im);
  transform(inner, wide);
  multiply(wide, filter, inner.n);
  // The inverse transform is the conjugate of that of the conjugates.
  conjugate(wide);
  transform(inner, wide);
  conjugate(wide);
  x.re.set(wide.re.subarray(0, n));
  x.im.set(wide.im.subarray(0, n));
  multiply(x, chirp, n);
}

/** Stockham's passes, one for each factor, which leave the results in order. */
function passes({ n, factors, roots }: Plan, x: Parts): void {
  let [from, to] = [x, zeros(n)];
  let length = n;
  let stride = 1;
  const parts = zeros(LARGEST_PRIME + 1);
  for (const r of factors) {
    const m = length / r;
    for (let p = 0; p < m; p++) {
      for (let q = 0; q < stride; q++) {
        for (let j = 0; j < r; j++) {
          parts.re[j] = from.re[q + stride * (p + m * j)];
          parts.im[j] = from.im[q + stride * (p + m * j)];
        }
        for (let k = 0; k < r; k++) {
          let [re, im] = [0, 0];
          for (let j = 0; j < r; j++) {
            const place = ((j * k) % r) * (n / r);
            re += parts.re[j] * roots.re[place] - parts.im[j] * roots.im[place];
            im += parts.re[j] * roots.im[place] + parts.im[j] * roots.re[place];
          }
          const [c, s] = [roots.re[p * k * stride], roots.im[p * k * stride]];
          to.re[q + stride * (r * p + k)] = re * c - im * s;
          to.im[q + stride * (r * p + k)] = re * s + im * c;
        }
      }
    }
    [from, to] = [to, from];
    length = m;
    stride *= r;
  }
  if (from !== x) {
    x.re.set(from.re);
    x.im.set(from.im);
  }
}

const fft: Kernel = ([x], [y], { inverse, axes }) => {
  if (x.size === 0) return;
  const [from, to] = [numbers(x), numbers(y)];
  (axes as readonly number[]).forEach((axis, i) => {
    alongAxis(i === 0 ? from : to, to, x.shape.slice(0, -1), axis, inverse === true);
  });
};

/** The transforms of pairs along an axis, counted from the end. */
function alongAxis(
  from: NumberArray,
  to: NumberArray,
  shape: readonly number[],
  axis: number,
  inverse: boolean,
): void {
  const n = shape.at(axis) as number;
  const step = shape.slice(shape.length + axis + 1).reduce((a, b) => a * b, 1);
  const count = shape.reduce((a, b) => a * b, 1) / n;
  const plan = planOf(n);
  const [sign, by] = inverse ? [-1, 1 / n] : [1, 1];
  for (let r = 0; r < count; r++) {
    const start = Math.floor(r / step) * step * n + (r % step);
    const row = zeros(n);
    for (let i = 0; i < n; i++) {
      row.re[i] = from[2 * (start + i * step)];
      row.im[i] = sign * from[2 * (start + i * step) + 1];
    }
    transform(plan, row);
    for (let i = 0; i < n; i++) {
      to[2 * (start + i * step)] = row.re[i] * by;
      to[2 * (start + i * step) + 1] = sign * row.im[i] * by;
    }
  }
}

const rfft: Kernel = ([x], [y]) => {
  const n = x.shape.at(-1) as number;
  const count = Math.floor(n / 2) + 1;
  const [from, to] = [numbers(x), numbers(y)];
  if (n === 0) to.fill(0);
  for (let i = 0; i * n < x.size; i++) {
    const row = zeros(n);
    row.re.set(from.subarray(i * n, (i + 1) * n));
    transform(planOf(n), row);
    for (let k = 0; k < count; k++) {
      to[2 * (i * count + k)] = row.re[k];
      // What stands for itself is real.
      to[2 * (i * count + k) + 1] = k === 0 || 2 * k === n ? 0 : row.im[k];
    }
  }
};

const irfft: Kernel = ([x], [y]) => {
  const n = y.shape.at(-1) as number;
  const count = Math.floor(n / 2) + 1;
  const [from, to] = [numbers(x), numbers(y)];
  for (let i = 0; i * n < y.size; i++) {
    const row = zeros(n);
    for (let k = 0; k < count; k++) {
      const place = 2 * (i * count + k);
      const alone = k === 0 || 2 * k === n;
      // The inverse transform is the conjugate of that of the conjugates.
      row.re[k] = from[place];
      row.im[k] = alone ? 0 : -from[place + 1];
      if (alone) continue;
      row.re[n - k] = from[place];
      row.im[n - k] = from[place + 1];
    }
    transform(planOf(n), row);
    for (let k = 0; k < n; k++) to[i * n + k] = row.re[k] / n;
  }
};

/** The kernels of Fourier transforms. */
export const kernels: Partial<Record<KernelName, Kernel>> = { FFT: fft, RFFT: rfft, IRFFT: irfft };
