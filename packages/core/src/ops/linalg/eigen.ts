// Eigenvalues of any square matrix, by numbers of the host: reflections to Hessenberg form, then complex QR steps with shifts (Golub and Van
// Loan, "Matrix Computations", chapter 7). Complex numbers stand as two arrays, of real and of imaginary parts.

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
  const r = Math.sqrt((Math.abs(a) + Math.hypot(a, b)) / 2);
  return a >= 0 ? [r, b / (2 * r)] : [Math.abs(b) / (2 * r), b < 0 ? -r : r];
}

/** The largest size of an element; NaN if one is NaN. */
function largest(...lists: readonly Float64Array[]): number {
  let most = 0;
  for (const list of lists) for (const x of list) most = Math.max(most, Math.abs(x));
  return most;
}
const lengthOf = (v: readonly Pair[]): number => normOf(Float64Array.from(v.flat()));
/** The square root of the sum of squares. */
function normOf(...lists: readonly Float64Array[]): number {
  let sum = 0;
  for (const list of lists) for (const x of list) sum += x * x;
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

/** Makes zeros below the first subdiagonal; `u` takes part. */
function toHessenberg(a: Complex, u: Complex): void {
  for (let k = 0; k < a.n - 2; k++) {
    const v = Array.from({ length: a.n - k - 1 }, (_, i) => at(a, k + 1 + i, k));
    const below = lengthOf(v.slice(1));
    if (below === 0) continue;
    const norm = Math.hypot(below, ...v[0]);
    const head = Math.hypot(...v[0]);
    const phase: Pair = head === 0 ? [1, 0] : [v[0][0] / head, v[0][1] / head];
    v[0] = plus(v[0], [phase[0] * norm, phase[1] * norm]);
    const length = lengthOf(v);
    const unit = {
      re: Float64Array.from(v, ([re]) => re / length),
      im: Float64Array.from(v, ([, im]) => im / length),
    };
    reflectRows(a, unit, 2, k + 1, k);
    reflectColumns(a, unit, 2, k + 1);
    reflectColumns(u, unit, 2, k + 1);
    for (let i = k + 2; i < a.n; i++) put(a, i, k, [0, 0]);
  }
}

/** Whether the element below a diagonal one is nothing beside its neighbours; then it becomes 0. */
function isNegligible(t: Complex, i: number): boolean {
  const beside = size(at(t, i, i)) + size(at(t, i + 1, i + 1));
  if (size(at(t, i + 1, i)) > beside * Number.EPSILON) return false;
  put(t, i + 1, i, [0, 0]);
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
  const scale = Math.hypot(...a) + Math.hypot(...b) + Math.hypot(...c) + Math.hypot(...d);
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

/** The rotation (c, s), c real, that takes (x, y) to (r, 0). */
function rotationOf(x: Pair, y: Pair): { readonly c: number; readonly s: Pair } {
  const norm = Math.hypot(...x, ...y);
  if (norm === 0) return { c: 1, s: [0, 0] };
  const head = Math.hypot(...x);
  if (head === 0) return { c: 0, s: [y[0] / norm, -y[1] / norm] };
  const phase: Pair = [x[0] / head, x[1] / head];
  return { c: head / norm, s: times(phase, [y[0] / norm, -y[1] / norm]) };
}
function rotateRows(
  { n, re, im }: Complex,
  i: number,
  turn: ReturnType<typeof rotationOf>,
  from: number,
): void {
  const { c } = turn;
  const [sRe, sIm] = turn.s;
  for (let p = i * n + from, q = p + n; p < (i + 1) * n; p++, q++) {
    const [xRe, xIm, yRe, yIm] = [re[p], im[p], re[q], im[q]];
    re[p] = c * xRe + (sRe * yRe - sIm * yIm);
    im[p] = c * xIm + (sRe * yIm + sIm * yRe);
    re[q] = c * yRe - (sRe * xRe + sIm * xIm);
    im[q] = c * yIm - (sRe * xIm - sIm * xRe);
  }
}
function rotateColumns(
  { n, re, im }: Complex,
  j: number,
  turn: ReturnType<typeof rotationOf>,
  rows: number,
): void {
  const { c } = turn;
  const [sRe, sIm] = turn.s;
  for (let p = j; p < rows * n; p += n) {
    const q = p + 1;
    const [xRe, xIm, yRe, yIm] = [re[p], im[p], re[q], im[q]];
    re[p] = c * xRe + (sRe * yRe + sIm * yIm);
    im[p] = c * xIm + (sRe * yIm - sIm * yRe);
    re[q] = c * yRe - (sRe * xRe - sIm * xIm);
    im[q] = c * yIm - (sRe * xIm + sIm * xRe);
  }
}

// Steps for each row, of which about two are needed.
const STEPS = 30;

/** Makes t triangular; false where it does not converge. */
function toTriangular(t: Complex, u: Complex): boolean {
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
      const turn =
        i === first
          ? rotationOf(minus(at(t, i, i), shift), at(t, i + 1, i))
          : rotationOf(at(t, i, i - 1), at(t, i + 1, i - 1));
      rotateRows(t, i, turn, Math.max(0, i - 1));
      if (i > first) put(t, i + 1, i - 1, [0, 0]);
      rotateColumns(t, i, turn, Math.min(i + 2, last) + 1);
      rotateColumns(u, i, turn, t.n);
    }
  }
}

/** The eigenvectors of a triangular matrix, turned by u, as columns of length 1. */
function vectorsOf(t: Complex, u: Complex): Complex {
  const { n } = t;
  const norm = normOf(t.re, t.im);
  const found = { n, re: new Float64Array(n * n), im: new Float64Array(n * n) };
  for (let k = n - 1; k >= 0; k--) {
    const x = { re: new Float64Array(k + 1), im: new Float64Array(k + 1) };
    x.re[k] = 1;
    for (let i = k - 1; i >= 0; i--) {
      const sum = plus(at(t, i, k), dot(t, i * n + i + 1, 1, x, i + 1, 1, k - i - 1));
      const gap = minus(at(t, i, i), at(t, k, k));
      // Of equal eigenvalues the vectors are the same up to rounding.
      const divisor: Pair = gap[0] === 0 && gap[1] === 0 ? [Number.EPSILON * norm, 0] : gap;
      [x.re[i], x.im[i]] = over([-sum[0], -sum[1]], divisor);
    }
    const column = Array.from({ length: n }, (_, i) => dot(u, i * n, 1, x, 0, 1, k + 1));
    const length = lengthOf(column);
    column.forEach(([re, im], i) => {
      put(found, i, k, [re / length, im / length]);
    });
  }
  return found;
}

/** Eigenvalues and, as columns, eigenvectors of length 1; real and imaginary parts by turns. */
export interface Eigen {
  readonly values: Float64Array;
  readonly vectors: Float64Array;
}

/**
 * The eigenvalues and eigenvectors of a matrix [n, n]. One with an element that is not finite, or whose eigenvalues are not found, gives NaN.
 * @param re its real parts, `im` its imaginary ones
 */
export function eigenOf(n: number, re: Float64Array, im: Float64Array): Eigen {
  const values = new Float64Array(2 * n).fill(Number.NaN);
  const vectors = new Float64Array(2 * n * n).fill(Number.NaN);
  const scale = largest(re, im);
  if (!Number.isFinite(scale)) return { values, vectors };
  // Near 1, so that squares neither overflow nor vanish.
  const by = scale === 0 ? 1 : scale;
  const t: Complex = { n, re: re.map((x) => x / by), im: im.map((x) => x / by) };
  const u = identity(n);
  toHessenberg(t, u);
  if (!toTriangular(t, u)) return { values, vectors };
  const found = vectorsOf(t, u);
  for (let i = 0; i < n; i++) {
    values[2 * i] = t.re[i * n + i] * by;
    values[2 * i + 1] = t.im[i * n + i] * by;
  }
  for (let i = 0; i < n * n; i++) {
    vectors[2 * i] = found.re[i];
    vectors[2 * i + 1] = found.im[i];
  }
  return { values, vectors };
}

// ---- functions of matrices, of their triangular form u · t · uᴴ (Schur)

/** An upper triangular matrix and the unitary one beside it; null where there is none. */
function schurOf(n: number, re: Float64Array, im: Float64Array): readonly [t: Complex, u: Complex] | null {
  if (!Number.isFinite(largest(re, im))) return null;
  const t: Complex = { n, re: re.slice(), im: im.slice() };
  const u = identity(n);
  toHessenberg(t, u);
  if (!toTriangular(t, u)) return null;
  for (let i = 1; i < n; i++) for (let j = 0; j < i; j++) put(t, i, j, [0, 0]);
  return [t, u];
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
      for (let j = i; j < n; j++) sum += size(minus(at(r, i, j), [i === j ? 1 : 0, 0]));
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
  const x = (i: number, j: number): Pair => minus(at(r, i, j), [i === j ? 1 : 0, 0]);
  for (const [point, weight] of POINTS) {
    // Columns of (1 + p · X)⁻¹ · X, from below.
    for (let j = 0; j < n; j++) {
      const column = { re: new Float64Array(n), im: new Float64Array(n) };
      for (let i = j; i >= 0; i--) {
        // Beside the diagonal X is r.
        const [p, q] = dot(r, i * n + i + 1, 1, column, i + 1, 1, j - i);
        const [a, b] = x(i, i);
        const [re, im] = over(minus(x(i, j), [point * p, point * q]), [1 + point * a, point * b]);
        [column.re[i], column.im[i]] = [re, im];
        put(log, i, j, plus(at(log, i, j), [by * weight * re, by * weight * im]));
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

const nothing = (n: number): readonly [re: Float64Array, im: Float64Array] => [
  new Float64Array(n * n).fill(Number.NaN),
  new Float64Array(n * n).fill(Number.NaN),
];

/** The principal square root of a matrix; NaN where there is none, or, of a real matrix, none that is real. */
export function rootOf(
  n: number,
  re: Float64Array,
  im: Float64Array,
): readonly [re: Float64Array, im: Float64Array] {
  const schur = schurOf(n, re, im);
  if (schur === null) return nothing(n);
  const found = turnedBack(triangularRoot(schur[0]), schur[1]);
  const isReal = im.every((x) => x === 0);
  return isReal && largest(found[1]) > 1e-8 * largest(found[0]) ? nothing(n) : found;
}

/** The principal logarithm of a matrix; NaN where there is none. */
export function logarithmOf(
  n: number,
  re: Float64Array,
  im: Float64Array,
): readonly [re: Float64Array, im: Float64Array] {
  const schur = schurOf(n, re, im);
  if (schur === null) return nothing(n);
  const log = triangularLogarithm(schur[0]);
  return log === null ? nothing(n) : turnedBack(log, schur[1]);
}
