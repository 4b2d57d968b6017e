// Vectors and matrices of real or complex numbers in float64, for the kernels of factors and solutions.
import { product, type TensorRef } from '@eagre/backend';
import { numbers } from './view.ts';

/** Numbers one after the other; real ones have no imaginary parts. */
export interface Vector {
  readonly re: Float64Array;
  readonly im: Float64Array | null;
}
/** A matrix, row by row. */
export type Matrix = readonly Vector[];
/** A complex number. */
export type Pair = readonly [re: number, im: number];

export const zeroVector = (n: number, complex: boolean): Vector => ({
  re: new Float64Array(n),
  im: complex ? new Float64Array(n) : null,
});
export const zeroMatrix = (rows: number, columns: number, complex: boolean): Vector[] =>
  Array.from({ length: rows }, () => zeroVector(columns, complex));

export const at = ({ re, im }: Vector, i: number): Pair => [re[i], im === null ? 0 : im[i]];
export function set({ re, im }: Vector, i: number, [a, b]: Pair): void {
  re[i] = a;
  if (im !== null) im[i] = b;
}
export const times = ([a, b]: Pair, [c, d]: Pair): Pair =>
  b === 0 && d === 0 ? [a * c, 0] : [a * c - b * d, a * d + b * c];
export const minus = ([a, b]: Pair, [c, d]: Pair): Pair => [a - c, b - d];
export const conj = ([a, b]: Pair): Pair => [a, -b];
export function over([a, b]: Pair, [c, d]: Pair): Pair {
  if (d === 0) return [a / c, b === 0 ? 0 : b / c];
  // By the larger part, so that squares do not overflow (Smith, 1962).
  if (Math.abs(c) >= Math.abs(d)) {
    const r = d / c;
    const q = c + d * r;
    return [(a + b * r) / q, (b - a * r) / q];
  }
  const r = c / d;
  const q = c * r + d;
  return [(a * r + b) / q, (b * r - a) / q];
}
export const size = ([a, b]: Pair): number => (b === 0 ? Math.abs(a) : Math.hypot(a, b));

/** xᴴ · y of the elements in [from, to). */
export function dot(x: Vector, y: Vector, from = 0, to: number = x.re.length): Pair {
  let re = 0;
  let im = 0;
  for (let i = from; i < to; i++) re += x.re[i] * y.re[i];
  if (x.im !== null && y.im !== null) {
    for (let i = from; i < to; i++) {
      re += x.im[i] * y.im[i];
      im += x.re[i] * y.im[i] - x.im[i] * y.re[i];
    }
  }
  return [re, im];
}

/** y -= f · x, of the elements in [from, to). */
export function subtract([a, b]: Pair, x: Vector, y: Vector, from = 0, to: number = x.re.length): void {
  if (x.im === null || y.im === null) {
    for (let i = from; i < to; i++) y.re[i] -= a * x.re[i];
    return;
  }
  for (let i = from; i < to; i++) {
    const [re, im] = [x.re[i], x.im[i]];
    y.re[i] -= a * re - b * im;
    y.im[i] -= a * im + b * re;
  }
}

/** x / f, in place. */
export function divide(x: Vector, f: Pair): void {
  for (let i = 0; i < x.re.length; i++) set(x, i, over(at(x, i), f));
}

export const isFinite = (rows: Matrix): boolean =>
  rows.every(({ re, im }) => re.every(Number.isFinite) && (im === null || im.every(Number.isFinite)));

/** A power of two by which the largest element comes near 1, so that squares neither overflow nor vanish. */
export function scaleOf(rows: Matrix): number {
  let largest = 0;
  for (const { re, im } of rows)
    for (const list of im === null ? [re] : [re, im])
      for (const x of list) largest = Math.max(largest, Math.abs(x));
  return largest === 0 ? 1 : 2 ** -Math.max(-1000, Math.min(1000, Math.ceil(Math.log2(largest))));
}
export function scale(rows: Matrix, by: number): void {
  for (const { re, im } of rows)
    for (const list of im === null ? [re] : [re, im]) for (let i = 0; i < list.length; i++) list[i] *= by;
}

/**
 * Householder's reflection I − tau · v · vᴴ whose adjoint takes the elements of x from `from` on to (beta, 0, …), beta real; these become v, whose first
 * element is 1. As in LAPACK and Eigen: no reflection where nothing but a real number stands first.
 */
export function reflector(x: Vector, from: number): { readonly beta: number; readonly tau: Pair } {
  const tail = dot(x, x, from + 1)[0];
  const head = at(x, from);
  set(x, from, [1, 0]);
  if (tail < 1e-290 && head[1] === 0) {
    for (let i = from + 1; i < x.re.length; i++) set(x, i, [0, 0]);
    return { beta: head[0], tau: [0, 0] };
  }
  const norm = Math.sqrt(head[0] * head[0] + head[1] * head[1] + tail);
  const beta = head[0] >= 0 ? -norm : norm;
  const inverse = over([1, 0], minus(head, [beta, 0]));
  for (let i = from + 1; i < x.re.length; i++) set(x, i, times(at(x, i), inverse));
  return { beta, tau: [(beta - head[0]) / beta, head[1] === 0 ? 0 : -head[1] / beta] };
}

/** The sizes of a tensor without the axis of parts that complex numbers have. */
export const shapeOf = (t: TensorRef, complex: boolean): readonly number[] =>
  complex ? t.shape.slice(0, -1) : t.shape;
/** How many matrices there are. */
export const countOf = (t: TensorRef, complex: boolean): number => product(shapeOf(t, complex).slice(0, -2));

/** A matrix of a batch, row by row, or by columns. */
export function readMatrix(t: TensorRef, index: number, complex: boolean, byColumns = false): Vector[] {
  const [m, n] = shapeOf(t, complex).slice(-2);
  const data = numbers(t);
  const parts = complex ? 2 : 1;
  const made = byColumns ? zeroMatrix(n, m, complex) : zeroMatrix(m, n, complex);
  for (let i = 0; i < m; i++) {
    for (let j = 0; j < n; j++) {
      const place = parts * ((index * m + i) * n + j);
      const value: Pair = [data[place], complex ? data[place + 1] : 0];
      if (byColumns) set(made[j], i, value);
      else set(made[i], j, value);
    }
  }
  return made;
}

/** Puts the first rows of a matrix, or its first columns, into a batch; NaN for null. */
export function writeMatrix(
  t: TensorRef,
  index: number,
  complex: boolean,
  value: Matrix | null,
  byColumns = false,
): void {
  const [m, n] = shapeOf(t, complex).slice(-2);
  const data = numbers(t);
  const parts = complex ? 2 : 1;
  for (let i = 0; i < m; i++) {
    for (let j = 0; j < n; j++) {
      const place = parts * ((index * m + i) * n + j);
      const [re, im] =
        value === null ? [Number.NaN, Number.NaN] : byColumns ? at(value[j], i) : at(value[i], j);
      data[place] = re;
      if (complex) data[place + 1] = im;
    }
  }
}

/** Puts real numbers into row `index` of [..., n]; NaN for null. */
export function writeReals(
  t: TensorRef,
  index: number,
  complex: boolean,
  values: ArrayLike<number> | null,
): void {
  const n = shapeOf(t, complex).at(-1) as number;
  const data = numbers(t);
  for (let i = 0; i < n; i++) {
    const place = (complex ? 2 : 1) * (index * n + i);
    data[place] = values === null ? Number.NaN : values[i];
    if (complex) data[place + 1] = values === null ? Number.NaN : 0;
  }
}
