// Eigenvalues of any square matrix, and its square root and logarithm: reflections to Hessenberg form, then QR steps with shifts (Golub and Van
// Loan, "Matrix Computations", chapter 7), complex ones of complex matrices. Complex numbers stand as two arrays, of real and of imaginary
// parts. native/cpu/eig.cc has the same in C++.
import {
  InternalError,
  InvalidArgumentError,
  type Kernel,
  type KernelName,
  type TensorRef,
} from '@eagre/backend';
import { eigenOfReal, type RealSchur, realSchurOf } from './eigen-real.ts';
import { numbers } from './view.ts';

/** A square matrix of complex numbers, row by row. */
interface Complex {
  readonly n: number;
  readonly re: Float64Array;
  readonly im: Float64Array;
}
type Pair = readonly [re: number, im: number];

const times = ([a, b]: Pair, [c, d]: Pair): Pair => [a * c - b * d, a * d + b * c];
const minus = ([a, b]: Pair, [c, d]: Pair): Pair => [a - c, b - d];
const plus = ([a, b]: Pair, [c, d]: Pair): Pair => [a + c, b + d];
const half = ([a, b]: Pair): Pair => [a / 2, b / 2];
/** |re| + |im|, which cannot overflow where neither does. */
const size = ([a, b]: Pair): number => Math.abs(a) + Math.abs(b);
function over([a, b]: Pair, [c, d]: Pair): Pair {
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
function root([a, b]: Pair): Pair {
  if (a === 0 && b === 0) return [0, 0];
  const r = Math.sqrt((Math.abs(a) + lengthOf(a, b)) / 2);
  return a >= 0 ? [r, b / (2 * r)] : [Math.abs(b) / (2 * r), b < 0 ? -r : r];
}

/** The largest size of an element; NaN if one is NaN. */
function largest(...lists: readonly Float64Array[]): number {
  let most = 0;
  for (const list of lists) for (let i = 0; i < list.length; i++) most = Math.max(most, Math.abs(list[i]));
  return most;
}
/** √(a² + b²). Math.hypot takes ten times as long, so it has only what would overflow or vanish. */
function lengthOf(a: number, b: number): number {
  const sum = a * a + b * b;
  return sum > 1e-200 && sum < 1e200 ? Math.sqrt(sum) : Math.hypot(a, b);
}
/** The square root of the sum of squares. */
function normOf(...lists: readonly Float64Array[]): number {
  let sum = 0;
  for (const list of lists) for (let i = 0; i < list.length; i++) sum += list[i] * list[i];
  return Math.sqrt(sum);
}

const at = ({ n, re, im }: Complex, i: number, j: number): Pair => [
  re[i * n + j] as number,
  im[i * n + j] as number,
];
function put({ n, re, im }: Complex, i: number, j: number, [a, b]: Pair): void {
  re[i * n + j] = a;
  im[i * n + j] = b;
}
function identity(n: number): Complex {
  const one = { n, re: new Float64Array(n * n), im: new Float64Array(n * n) };
  for (let i = 0; i < n; i++) one.re[i * n + i] = 1;
  return one;
}

// The loops below take parts out of the arrays, as a pair for each element costs many times what is done with it.

/** A vector of complex numbers. */
type Vector = Omit<Complex, 'n'>;

/** Subtracts tau · v · (vᴴ · column) of each column from `from` on; v stands at the rows from `first` on. */
function reflectRows({ n, re, im }: Complex, v: Vector, tau: number, first: number, from: number): void {
  const count = v.re.length;
  for (let j = from; j < n; j++) {
    let [sumRe, sumIm] = [0, 0];
    for (let i = 0, k = first * n + j; i < count; i++, k += n) {
      sumRe += v.re[i] * re[k] + v.im[i] * im[k];
      sumIm += v.re[i] * im[k] - v.im[i] * re[k];
    }
    sumRe *= tau;
    sumIm *= tau;
    for (let i = 0, k = first * n + j; i < count; i++, k += n) {
      re[k] -= v.re[i] * sumRe - v.im[i] * sumIm;
      im[k] -= v.re[i] * sumIm + v.im[i] * sumRe;
    }
  }
}
function reflectColumns({ n, re, im }: Complex, v: Vector, tau: number, first: number): void {
  const count = v.re.length;
  for (let i = 0; i < n; i++) {
    const start = i * n + first;
    let [sumRe, sumIm] = [0, 0];
    for (let j = 0; j < count; j++) {
      sumRe += re[start + j] * v.re[j] - im[start + j] * v.im[j];
      sumIm += re[start + j] * v.im[j] + im[start + j] * v.re[j];
    }
    sumRe *= tau;
    sumIm *= tau;
    for (let j = 0; j < count; j++) {
      re[start + j] -= sumRe * v.re[j] + sumIm * v.im[j];
      im[start + j] -= sumIm * v.re[j] - sumRe * v.im[j];
    }
  }
}

/** Σ a · b of `count` elements, from a place on and by a step in each. */
function dot(
  a: Vector,
  aAt: number,
  aStep: number,
  b: Vector,
  bAt: number,
  bStep: number,
  count: number,
): Pair {
  let [re, im] = [0, 0];
  for (let k = 0, i = aAt, j = bAt; k < count; k++, i += aStep, j += bStep) {
    re += a.re[i] * b.re[j] - a.im[i] * b.im[j];
    im += a.re[i] * b.im[j] + a.im[i] * b.re[j];
  }
  return [re, im];
}

/** Makes zeros below the first subdiagonal; `u` takes part, if there is one. */
function toHessenberg(a: Complex, u: Complex | null): void {
  const { n } = a;
  for (let k = 0; k < n - 2; k++) {
    const v = { re: new Float64Array(n - k - 1), im: new Float64Array(n - k - 1) };
    for (let i = 0, p = (k + 1) * n + k; i < v.re.length; i++, p += n) {
      v.re[i] = a.re[p];
      v.im[i] = a.im[p];
    }
    const below = normOf(v.re.subarray(1), v.im.subarray(1));
    if (below === 0) continue;
    const head = lengthOf(v.re[0], v.im[0]);
    const norm = lengthOf(below, head);
    v.re[0] += head === 0 ? norm : (v.re[0] / head) * norm;
    v.im[0] += head === 0 ? 0 : (v.im[0] / head) * norm;
    const length = normOf(v.re, v.im);
    for (let i = 0; i < v.re.length; i++) {
      v.re[i] /= length;
      v.im[i] /= length;
    }
    reflectRows(a, v, 2, k + 1, k);
    reflectColumns(a, v, 2, k + 1);
    if (u !== null) reflectColumns(u, v, 2, k + 1);
    for (let i = k + 2; i < n; i++) a.re[i * n + k] = a.im[i * n + k] = 0;
  }
}

/** Whether the element below a diagonal one is nothing beside its neighbours; then it becomes 0. */
function isNegligible({ n, re, im }: Complex, i: number): boolean {
  const p = i * (n + 1);
  const q = p + n + 1;
  const beside = Math.abs(re[p]) + Math.abs(im[p]) + Math.abs(re[q]) + Math.abs(im[q]);
  if (Math.abs(re[p + n]) + Math.abs(im[p + n]) > beside * Number.EPSILON) return false;
  re[p + n] = im[p + n] = 0;
  return true;
}

/** The eigenvalue of the last two rows that is nearer to the last element. */
function shiftOf(t: Complex, last: number, step: number): Pair {
  // What does not converge is moved elsewhere.
  if ((step === 10 || step === 20) && last > 1)
    return [Math.abs(at(t, last, last - 1)[0]) + Math.abs(at(t, last - 1, last - 2)[0]), 0];
  const [a, b, c, d] = [
    at(t, last - 1, last - 1),
    at(t, last - 1, last),
    at(t, last, last - 1),
    at(t, last, last),
  ];
  const scale = lengthOf(...a) + lengthOf(...b) + lengthOf(...c) + lengthOf(...d);
  const [p, q, r, s] = [a, b, c, d].map(([re, im]): Pair => [re / scale, im / scale]) as [
    Pair,
    Pair,
    Pair,
    Pair,
  ];
  const across = times(q, r);
  const difference = minus(p, s);
  const squared = times(difference, difference);
  const spread = root(plus(squared, [4 * across[0], 4 * across[1]]));
  const det = minus(times(p, s), across);
  const trace = plus(p, s);
  let one = half(plus(trace, spread));
  let two = half(minus(trace, spread));
  // The smaller one would lose its digits in the difference.
  if (size(one) > size(two)) two = over(det, one);
  else if (size(two) !== 0) one = over(det, two);
  const chosen = size(minus(one, s)) < size(minus(two, s)) ? one : two;
  return [chosen[0] * scale, chosen[1] * scale];
}

/** A rotation (c, s) with a real c. */
interface Rotation {
  readonly c: number;
  readonly sRe: number;
  readonly sIm: number;
}
/** The one that takes (x, y) to (r, 0). */
function rotationOf(xRe: number, xIm: number, yRe: number, yIm: number): Rotation {
  const head = lengthOf(xRe, xIm);
  const norm = lengthOf(head, lengthOf(yRe, yIm));
  if (norm === 0) return { c: 1, sRe: 0, sIm: 0 };
  const [re, im] = [yRe / norm, -yIm / norm];
  if (head === 0) return { c: 0, sRe: re, sIm: im };
  const [a, b] = [xRe / head, xIm / head];
  return { c: head / norm, sRe: a * re - b * im, sIm: a * im + b * re };
}
function rotateRows({ n, re, im }: Complex, i: number, { c, sRe, sIm }: Rotation, from: number): void {
  for (let p = i * n + from, q = p + n; p < (i + 1) * n; p++, q++) {
    const [xRe, xIm, yRe, yIm] = [re[p], im[p], re[q], im[q]];
    re[p] = c * xRe + (sRe * yRe - sIm * yIm);
    im[p] = c * xIm + (sRe * yIm + sIm * yRe);
    re[q] = c * yRe - (sRe * xRe + sIm * xIm);
    im[q] = c * yIm - (sRe * xIm - sIm * xRe);
  }
}
function rotateColumns({ n, re, im }: Complex, j: number, { c, sRe, sIm }: Rotation, rows: number): void {
  for (let p = j; p < rows * n; p += n) {
    const q = p + 1;
    const [xRe, xIm, yRe, yIm] = [re[p], im[p], re[q], im[q]];
    re[p] = c * xRe + (sRe * yRe + sIm * yIm);
    im[p] = c * xIm + (sRe * yIm - sIm * yRe);
    re[q] = c * yRe - (sRe * xRe - sIm * xIm);
    im[q] = c * yIm - (sRe * xIm + sIm * xRe);
  }
}

const NOTHING: Pair = [0, 0];
// Steps for each row, of which about two are needed.
const STEPS = 30;

/** Makes t triangular; false where it does not converge. */
function toTriangular(t: Complex, u: Complex | null): boolean {
  const { n, re, im } = t;
  let last = t.n - 1;
  let step = 0;
  let all = 0;
  for (;;) {
    for (; last > 0 && isNegligible(t, last - 1); last--) step = 0;
    if (last <= 0) return true;
    step++;
    if (++all > STEPS * t.n) return false;
    let first = last - 1;
    while (first > 0 && !isNegligible(t, first - 1)) first--;
    const shift = shiftOf(t, last, step);
    for (let i = first; i < last; i++) {
      const p = i === first ? i * (n + 1) : i * (n + 1) - 1;
      const moved = i === first ? shift : NOTHING;
      const turn = rotationOf(re[p] - moved[0], im[p] - moved[1], re[p + n], im[p + n]);
      rotateRows(t, i, turn, Math.max(0, i - 1));
      if (i > first) re[p + n] = im[p + n] = 0;
      rotateColumns(t, i, turn, Math.min(i + 2, last) + 1);
      if (u !== null) rotateColumns(u, i, turn, t.n);
    }
  }
}

/** The eigenvectors of a triangular matrix, turned by u, as columns of length 1: real and imaginary parts by turns. */
function vectorsOf(t: Complex, u: Complex): Float64Array {
  const { n } = t;
  const norm = normOf(t.re, t.im);
  const found = new Float64Array(2 * n * n);
  for (let k = n - 1; k >= 0; k--) {
    const x = { re: new Float64Array(k + 1), im: new Float64Array(k + 1) };
    x.re[k] = 1;
    for (let i = k - 1; i >= 0; i--) {
      const row = i * n;
      let [sumRe, sumIm] = [t.re[row + k], t.im[row + k]];
      for (let j = i + 1; j < k; j++) {
        const [re, im] = [t.re[row + j], t.im[row + j]];
        sumRe += re * x.re[j] - im * x.im[j];
        sumIm += re * x.im[j] + im * x.re[j];
      }
      const gapRe = t.re[row + i] - t.re[k * n + k];
      const gapIm = t.im[row + i] - t.im[k * n + k];
      // Of equal eigenvalues the vectors are the same up to rounding.
      const same = gapRe === 0 && gapIm === 0;
      [x.re[i], x.im[i]] = over([-sumRe, -sumIm], [same ? Number.EPSILON * norm : gapRe, gapIm]);
    }
    const column = { re: new Float64Array(n), im: new Float64Array(n) };
    for (let i = 0; i < n; i++) [column.re[i], column.im[i]] = dot(u, i * n, 1, x, 0, 1, k + 1);
    const length = normOf(column.re, column.im);
    for (let i = 0; i < n; i++) {
      found[2 * (i * n + k)] = column.re[i] / length;
      found[2 * (i * n + k) + 1] = column.im[i] / length;
    }
  }
  return found;
}

/** Eigenvalues and, as columns, eigenvectors of length 1; real and imaginary parts by turns. */
interface Eigen {
  readonly values: Float64Array;
  readonly vectors: Float64Array | null;
}

/** The eigenvalues and, if they are wanted, eigenvectors of a complex matrix; null where they are not found. */
function eigenOfComplex(t: Complex, wanted: boolean): Eigen | null {
  const { n } = t;
  const u = wanted ? identity(n) : null;
  toHessenberg(t, u);
  if (!toTriangular(t, u)) return null;
  const values = new Float64Array(2 * n);
  for (let i = 0; i < n; i++) {
    values[2 * i] = t.re[i * n + i];
    values[2 * i + 1] = t.im[i * n + i];
  }
  return { values, vectors: u === null ? null : vectorsOf(t, u) };
}

/** Matrices of a batch one by one: their elements, real and imaginary parts by turns for complex ones. */
function eachMatrix(
  x: TensorRef,
  isPairs: boolean,
  f: (n: number, index: number, elements: Float64Array) => void,
): void {
  const shape = isPairs ? x.shape.slice(0, -1) : x.shape;
  const n = shape[shape.length - 1];
  if (shape[shape.length - 2] !== n)
    throw new InvalidArgumentError(`the matrices are [${shape.slice(-2)}], expected square ones`);
  const size = (isPairs ? 2 : 1) * n * n;
  const all = numbers(x);
  for (let i = 0; size > 0 && i * size < x.size; i++)
    f(n, i, Float64Array.from(all.subarray(i * size, (i + 1) * size)));
}
/** A power of two by which the largest element comes near 1, so that squares neither overflow nor vanish; NaN where one is not finite. */
function scaleOf(elements: Float64Array): number {
  const most = largest(elements);
  if (!Number.isFinite(most)) return Number.NaN;
  return most === 0 ? 1 : 2 ** -Math.max(-1000, Math.min(1000, Math.floor(Math.log2(most)) + 1));
}
/** The parts of complex numbers. */
function split(n: number, elements: Float64Array): Complex {
  const [re, im] = [new Float64Array(n * n), new Float64Array(n * n)];
  for (let k = 0; k < re.length; k++) {
    re[k] = elements[2 * k];
    im[k] = elements[2 * k + 1];
  }
  return { n, re, im };
}

function eig(x: TensorRef, e: TensorRef, v: TensorRef | undefined): void {
  // The values are pairs always.
  const isPairs = x.shape.length > e.shape.length;
  eachMatrix(x, isPairs, (n, index, elements) => {
    const down = scaleOf(elements);
    const scaled = elements.map((element) => element * down);
    const found = !Number.isFinite(down)
      ? null
      : isPairs
        ? eigenOfComplex(split(n, scaled), v !== undefined)
        : eigenOfReal(n, scaled, v !== undefined);
    const values = found?.values.map((value) => value / down) ?? new Float64Array(2 * n).fill(Number.NaN);
    numbers(e).set(values, 2 * n * index);
    if (v !== undefined)
      numbers(v).set(found?.vectors ?? new Float64Array(2 * n * n).fill(Number.NaN), 2 * n * n * index);
  });
}

// ---- functions of matrices, of their triangular form u · t · uᴴ (Schur)

/** An upper triangular matrix and the unitary one beside it; null where there is none. */
function schurOf(a: Complex): readonly [t: Complex, u: Complex] | null {
  const { n, re, im } = a;
  if (im.every((x) => x === 0)) {
    const schur = realSchurOf(n, re, true);
    return schur === null ? null : toComplex(n, schur);
  }
  const u = identity(n);
  toHessenberg(a, u);
  if (!toTriangular(a, u)) return null;
  for (let i = 1; i < n; i++) for (let j = 0; j < i; j++) put(a, i, j, [0, 0]);
  return [a, u];
}

/** The complex form of a real one: a rotation makes each block of a pair triangular. */
function toComplex(n: number, { t, z, im }: RealSchur): readonly [t: Complex, u: Complex] {
  const found: Complex = { n, re: t, im: new Float64Array(n * n) };
  const u = identity(n);
  for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) u.re[i * n + j] = z[j * n + i];
  for (let i = 0; i + 1 < n; i++) {
    if (!(im[i] > 0)) continue;
    // The pair's first eigenvector.
    const c = t[(i + 1) * n + i];
    const turn = rotationOf((t[i * n + i] - t[(i + 1) * n + i + 1]) / 2, im[i], c, 0);
    rotateRows(found, i, turn, i);
    rotateColumns(found, i, turn, i + 2);
    rotateColumns(u, i, turn, n);
    put(found, i + 1, i, [0, 0]);
  }
  return [found, u];
}

/** The square root of an upper triangular matrix, by diagonals (Å. Björck and S. Hammarling, 1983). */
function triangularRoot(t: Complex): Complex {
  const { n } = t;
  const r: Complex = { n, re: new Float64Array(n * n), im: new Float64Array(n * n) };
  for (let j = 0; j < n; j++) {
    put(r, j, j, root(at(t, j, j)));
    for (let i = j - 1; i >= 0; i--) {
      const sum = minus(at(t, i, j), dot(r, i * n + i + 1, 1, r, (i + 1) * n + j, n, j - i - 1));
      const divisor = plus(at(r, i, i), at(r, j, j));
      put(r, i, j, size(sum) === 0 ? [0, 0] : over(sum, divisor));
    }
  }
  return r;
}

// Gauss's points and weights of order 8 on [0, 1]: Padé's approximation of log(1 + x) is the sum of w · x / (1 + p · x).
const POINTS: readonly (readonly [point: number, weight: number])[] = [
  [0.1834346424956498, 0.362683783378362],
  [0.525532409916329, 0.3137066458778873],
  [0.7966664774136267, 0.2223810344533745],
  [0.9602898564975363, 0.1012285362903763],
].flatMap(([p, w]) => [
  [(1 - p) / 2, w / 2],
  [(1 + p) / 2, w / 2],
]) as [number, number][];
// The distance from 1 at which the approximation is exact to rounding.
const NEAR = 0.25;
const ROOTS = 100;

/** The logarithm of an upper triangular matrix; null where roots do not come near 1. */
function triangularLogarithm(t: Complex): Complex | null {
  const { n } = t;
  let r = t;
  let doublings = 0;
  const distance = (): number => {
    let most = 0;
    for (let i = 0; i < n; i++) {
      let sum = 0;
      for (let j = i, p = i * n + i; j < n; j++, p++)
        sum += Math.abs(i === j ? r.re[p] - 1 : r.re[p]) + Math.abs(r.im[p]);
      most = Math.max(most, sum);
    }
    return most;
  };
  for (; !(distance() <= NEAR); doublings++) {
    if (doublings === ROOTS || !Number.isFinite(distance())) return null;
    r = triangularRoot(r);
  }
  const log: Complex = { n, re: new Float64Array(n * n), im: new Float64Array(n * n) };
  const by = 2 ** doublings;
  const column = { re: new Float64Array(n), im: new Float64Array(n) };
  for (const [point, weight] of POINTS) {
    // Columns of (1 + p · X)⁻¹ · X, from below. Beside the diagonal X is r.
    for (let j = 0; j < n; j++) {
      for (let i = j; i >= 0; i--) {
        const row = i * n;
        let [sumRe, sumIm] = [0, 0];
        for (let k = i + 1; k <= j; k++) {
          const [re, im] = [r.re[row + k], r.im[row + k]];
          sumRe += re * column.re[k] - im * column.im[k];
          sumIm += re * column.im[k] + im * column.re[k];
        }
        const xRe = i === j ? r.re[row + j] - 1 : r.re[row + j];
        const [re, im] = over(
          [xRe - point * sumRe, r.im[row + j] - point * sumIm],
          [1 + point * (r.re[row + i] - 1), point * r.im[row + i]],
        );
        column.re[i] = re;
        column.im[i] = im;
        log.re[row + j] += by * weight * re;
        log.im[row + j] += by * weight * im;
      }
    }
  }
  return log;
}

/** u · t · uᴴ. */
function turnedBack(t: Complex, u: Complex): readonly [re: Float64Array, im: Float64Array] {
  const { n } = t;
  const half = identity(n);
  const whole = identity(n);
  const conjugate = { re: u.re, im: u.im.map((x) => -x) };
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) {
      put(half, i, j, dot(u, i * n, 1, t, j, n, j + 1));
    }
    for (let j = 0; j < n; j++) put(whole, i, j, dot(half, i * n, 1, conjugate, j * n, 1, n));
  }
  return [whole.re, whole.im];
}

const FUNCTIONS: readonly ((t: Complex) => Complex | null)[] = [triangularRoot, triangularLogarithm];

function matrixFunction(x: TensorRef, y: TensorRef, isPairs: boolean, which: number): void {
  const of = FUNCTIONS[which];
  if (of === undefined) throw new InternalError(`the function ${which} of matrices`, 'MatrixFunction');
  const out = numbers(y);
  eachMatrix(x, isPairs, (n, index, elements) => {
    const most = largest(elements);
    // Only where squares would overflow or vanish; a power of four, so that its root is exact.
    let down = most > 1e-100 && most < 1e100 ? 1 : scaleOf(elements);
    if (Math.log2(down) % 2 !== 0) down /= 2;
    const scaled = elements.map((element) => element * down);
    const a = isPairs ? split(n, scaled) : { n, re: scaled, im: new Float64Array(n * n) };
    const schur = Number.isFinite(most) ? schurOf(a) : null;
    const found = schur === null ? null : of(schur[0]);
    const whole = found === null || schur === null ? null : turnedBack(found, schur[1]);
    // A real matrix may have none that is real.
    const isNone = whole === null || (!isPairs && largest(whole[1]) > 1e-8 * largest(whole[0]));
    if (!isNone && which === 0)
      for (const list of whole) for (let k = 0; k < n * n; k++) list[k] /= Math.sqrt(down);
    if (!isNone && which === 1) for (let k = 0; k < n * n; k += n + 1) whole[0][k] -= Math.log(down);
    const parts = isPairs ? 2 : 1;
    for (let k = 0, to = parts * n * n * index; k < n * n; k++, to += parts) {
      out[to] = isNone ? Number.NaN : whole[0][k];
      if (isPairs) out[to + 1] = isNone ? Number.NaN : whole[1][k];
    }
  });
}

/** The kernels of eigenvalues. */
export const kernels: Partial<Record<KernelName, Kernel>> = {
  Eig: ([x], [e, v]) => eig(x, e, v),
  MatrixFunction: ([x], [y], attrs) =>
    matrixFunction(x, y, attrs['complex'] === true, attrs['function'] as number),
};
