// Factors of matrices and what they solve, as native/cpu/{cholesky,lu,qr,eigh}.cc, without their blocks. All is computed in float64.
import { InvalidArgumentError, type Kernel, type KernelName, type TensorRef } from '@eagre/backend';
import {
  at,
  conj,
  countOf,
  divide,
  dot,
  isFinite,
  type Matrix,
  minus,
  over,
  type Pair,
  readMatrix,
  reflector,
  scale,
  scaleOf,
  set,
  shapeOf,
  size,
  subtract,
  times,
  type Vector,
  writeMatrix,
  writeReals,
  zeroMatrix,
  zeroVector,
} from './vectors.ts';
import { numbers } from './view.ts';

// ---- Cholesky

/** The lower triangle of a becomes its factor; false where a is not positive definite. */
function choleskyOf(a: Matrix): boolean {
  for (const [i, row] of a.entries()) {
    for (let j = 0; j <= i; j++) {
      const rest = minus(at(row, j), conj(dot(row, a[j], 0, j)));
      if (i > j) {
        const [d] = at(a[j], j);
        set(row, j, [rest[0] / d, rest[1] / d]);
      } else {
        if (!(rest[0] > 0) || !Number.isFinite(rest[0])) return false;
        set(row, j, [Math.sqrt(rest[0]), 0]);
      }
    }
    for (let j = i + 1; j < a.length; j++) set(row, j, [0, 0]);
  }
  return true;
}
const cholesky: Kernel = ([x], [y], attrs) => {
  const complex = attrs.complex === true;
  for (let i = 0; i < countOf(x, complex); i++) {
    const a = readMatrix(x, i, complex);
    writeMatrix(y, i, complex, choleskyOf(a) ? a : null);
  }
};

// ---- LU, triangles, three diagonals

/** Factors in place, which may exchange rows; `order` says which row stands where. False where a pivot is 0. */
function factor(a: Vector[], order: number[]): boolean {
  const n = a.length === 0 ? 0 : a[0].re.length;
  let regular = true;
  for (let j = 0; j < Math.min(a.length, n); j++) {
    let pivot = j;
    let most = size(at(a[j], j));
    for (let i = j + 1; i < a.length; i++) {
      const candidate = size(at(a[i], j));
      if (candidate > most) [most, pivot] = [candidate, i];
    }
    [a[j], a[pivot]] = [a[pivot], a[j]];
    [order[j], order[pivot]] = [order[pivot], order[j]];
    if (most === 0) {
      regular = false;
      continue;
    }
    // The factors stand where they have made zeros.
    for (let i = j + 1; i < a.length; i++) {
      const f = over(at(a[i], j), at(a[j], j));
      set(a[i], j, f);
      subtract(f, a[j], a[i], j + 1);
    }
  }
  return regular;
}
const lu: Kernel = ([x], [y, p], attrs) => {
  const complex = attrs.complex === true;
  const order = numbers(p);
  for (let i = 0; i < countOf(x, complex); i++) {
    const a = readMatrix(x, i, complex);
    const rows = a.map((_, k) => k);
    if (!factor(a, rows) && attrs.check === true)
      throw new InvalidArgumentError(`Input is not invertible: matrix ${i} of the batch is singular`);
    writeMatrix(y, i, complex, a);
    rows.forEach((row, k) => {
      order[i * a.length + k] = row;
    });
  }
};

const triangularSolve: Kernel = ([a, b], [y], attrs) => {
  const complex = attrs.complex === true;
  for (let i = 0; i < countOf(a, complex); i++) {
    const m = readMatrix(a, i, complex);
    const n = m.length;
    const x = readMatrix(b, i, complex);
    const element = (row: number, column: number): Pair =>
      attrs.adjoint === true ? conj(at(m[column], row)) : at(m[row], column);
    const down = (attrs.lower === true) !== (attrs.adjoint === true);
    for (let step = 0; step < n; step++) {
      const row = down ? step : n - 1 - step;
      for (let j = down ? 0 : row + 1; j < (down ? row : n); j++) subtract(element(row, j), x[j], x[row]);
      if (attrs.unit !== true) divide(x[row], element(row, row));
    }
    writeMatrix(y, i, complex, x);
  }
};

/** Gaussian elimination of three diagonals, with rows of neighbours exchanged if `pivoting`. */
function solveTridiagonal([upper, middle, below]: Matrix, x: Vector[], pivoting: boolean): void {
  const n = x.length;
  const second = zeroVector(n, middle.im !== null);
  if (n > 0) set(upper, n - 1, [0, 0]);
  for (let i = 0; i + 1 < n; i++) {
    if (pivoting && size(at(below, i + 1)) > size(at(middle, i))) {
      const [m, u] = [at(middle, i), at(upper, i)];
      set(middle, i, at(below, i + 1));
      set(upper, i, at(middle, i + 1));
      set(second, i, at(upper, i + 1));
      set(below, i + 1, m);
      set(middle, i + 1, u);
      set(upper, i + 1, [0, 0]);
      [x[i], x[i + 1]] = [x[i + 1], x[i]];
    }
    const f = over(at(below, i + 1), at(middle, i));
    set(middle, i + 1, minus(at(middle, i + 1), times(f, at(upper, i))));
    set(upper, i + 1, minus(at(upper, i + 1), times(f, at(second, i))));
    subtract(f, x[i], x[i + 1]);
  }
  for (let i = n - 1; i >= 0; i--) {
    if (i + 1 < n) subtract(at(upper, i), x[i + 1], x[i]);
    if (i + 2 < n) subtract(at(second, i), x[i + 2], x[i]);
    divide(x[i], at(middle, i));
  }
}
const tridiagonalSolve: Kernel = ([diagonals, b], [y], attrs) => {
  const complex = attrs.complex === true;
  for (let i = 0; i < countOf(diagonals, complex); i++) {
    const x = readMatrix(b, i, complex);
    solveTridiagonal(readMatrix(diagonals, i, complex), x, attrs.pivoting === true);
    writeMatrix(y, i, complex, isFinite(x) ? x : null);
  }
};

// ---- QR

const qr: Kernel = ([x], [q, r], attrs) => {
  const complex = attrs.complex === true;
  const [m, n] = shapeOf(x, complex).slice(-2);
  const wanted = shapeOf(q, complex).at(-1) as number;
  for (let i = 0; i < countOf(x, complex); i++) {
    const a = readMatrix(x, i, complex, true);
    const reflectors: (readonly [v: Vector, tau: Pair])[] = [];
    for (let j = 0; j < Math.min(m, n); j++) {
      const v = zeroVector(m, complex);
      for (let k = j; k < m; k++) set(v, k, at(a[j], k));
      const { beta, tau } = reflector(v, j);
      set(a[j], j, [beta, 0]);
      for (let k = j + 1; k < m; k++) set(a[j], k, [0, 0]);
      for (let c = j + 1; c < n; c++) subtract(times(conj(tau), dot(v, a[c], j)), v, a[c], j);
      reflectors.push([v, tau]);
    }
    const columns = zeroMatrix(wanted, m, complex);
    columns.forEach((column, k) => {
      set(column, k, [1, 0]);
      for (let j = reflectors.length - 1; j >= 0; j--) {
        const [v, tau] = reflectors[j];
        subtract(times(tau, dot(v, column, j)), v, column, j);
      }
    });
    writeMatrix(q, i, complex, columns, true);
    writeMatrix(r, i, complex, a, true);
  }
};

// ---- eigenvalues

const STEPS = 80;

/** Reflections to three real diagonals: the main one, that beside it, and the reflectors. */
function toTridiagonal(a: Matrix): { d: Float64Array; e: Float64Array; reflectors: [Vector, Pair][] } {
  const n = a.length;
  const e = new Float64Array(n);
  const reflectors: [Vector, Pair][] = [];
  for (let k = 0; k + 1 < n; k++) {
    const v = zeroVector(n, a[0].im !== null);
    for (let i = k + 1; i < n; i++) set(v, i, at(a[i], k));
    const { beta, tau } = reflector(v, k + 1);
    e[k] = beta;
    reflectors.push([v, tau]);
    if (size(tau) === 0) continue;
    // A -= v wᴴ + w vᴴ with w = tau A v − ½ tau (pᴴ v) v.
    const w = zeroVector(n, v.im !== null);
    for (let i = k + 1; i < n; i++) set(w, i, times(tau, product(a[i], v, k + 1)));
    const [re, im] = times(tau, dot(w, v, k + 1));
    subtract([re / 2, im / 2], v, w, k + 1);
    for (let i = k + 1; i < n; i++) {
      const [x, y] = [at(v, i), at(w, i)];
      for (let j = k + 1; j < n; j++)
        set(a[i], j, minus(minus(at(a[i], j), times(x, conj(at(w, j)))), times(y, conj(at(v, j)))));
    }
  }
  return { d: Float64Array.from(a, (row, i) => at(row, i)[0]), e, reflectors };
}
/** The sum of the products of elements from `from` on. */
function product(row: Vector, v: Vector, from: number): Pair {
  let re = 0;
  let im = 0;
  for (let j = from; j < v.re.length; j++) {
    const [a, b] = times(at(row, j), at(v, j));
    re += a;
    im += b;
  }
  return [re, im];
}

/** Implicit QL steps, in which rows of `vectors` take part. False where they do not converge. */
function toDiagonal(d: Float64Array, e: Float64Array, vectors: Matrix): boolean {
  const n = d.length;
  for (let l = 0; l < n; l++) {
    for (let step = 0; ; step++) {
      let m = l;
      while (m + 1 < n && Math.abs(e[m]) > (Number.EPSILON / 2) * (Math.abs(d[m]) + Math.abs(d[m + 1]))) m++;
      if (m === l) break;
      if (step === STEPS) return false;
      let g = (d[l + 1] - d[l]) / (2 * e[l]);
      let r = Math.hypot(g, 1);
      g = d[m] - d[l] + e[l] / (g + (g < 0 ? -r : r));
      let [s, c, p] = [1, 1, 0];
      let i = m - 1;
      for (; i >= l; i--) {
        const [f, b] = [s * e[i], c * e[i]];
        r = Math.hypot(f, g);
        e[i + 1] = r;
        if (r === 0) {
          d[i + 1] -= p;
          e[m] = 0;
          break;
        }
        s = f / r;
        c = g / r;
        g = d[i + 1] - p;
        r = (d[i] - g) * s + 2 * c * b;
        p = s * r;
        d[i + 1] = g + p;
        g = c * r - b;
        if (vectors.length > 0) turn(vectors[i], vectors[i + 1], c, s);
      }
      if (r === 0 && i >= l) continue;
      d[l] -= p;
      e[l] = g;
      e[m] = 0;
    }
  }
  return true;
}
function turn(x: Vector, y: Vector, c: number, s: number): void {
  for (const [a, b] of [
    [x.re, y.re],
    [x.im, y.im],
  ]) {
    if (a === null || b === null) continue;
    for (let i = 0; i < a.length; i++) [a[i], b[i]] = [c * a[i] - s * b[i], s * a[i] + c * b[i]];
  }
}

/** Eigenvalues in rising order and eigenvectors; null where there are none. */
function eigenOf(a: Matrix, wanted: boolean): { values: number[]; vectors: Matrix } | null {
  const complex = a.length > 0 && a[0].im !== null;
  // The lower half counts, and of its diagonal the real parts.
  a.forEach((row, i) => {
    set(row, i, [at(row, i)[0], 0]);
    for (let j = i + 1; j < a.length; j++) set(row, j, conj(at(a[j], i)));
  });
  if (!isFinite(a)) return null;
  const down = scaleOf(a);
  scale(a, down);
  const { d, e, reflectors } = toTridiagonal(a);
  const vectors = wanted ? zeroMatrix(a.length, a.length, complex) : [];
  vectors.forEach((column, k) => {
    set(column, k, [1, 0]);
    for (let j = reflectors.length - 1; j >= 0; j--) {
      const [v, tau] = reflectors[j];
      subtract(times(tau, dot(v, column, j + 1)), v, column, j + 1);
    }
  });
  if (!toDiagonal(d, e, vectors)) return null;
  const order = Array.from(d, (_, k) => k).sort((k, l) => d[k] - d[l] || k - l);
  return { values: order.map((k) => d[k] / down), vectors: wanted ? order.map((k) => vectors[k]) : [] };
}
function selfAdjointEig(x: TensorRef, e: TensorRef, v: TensorRef | undefined, complex: boolean): void {
  for (let i = 0; i < countOf(x, complex); i++) {
    const eigen = eigenOf(readMatrix(x, i, complex), v !== undefined);
    writeReals(e, i, complex, eigen?.values ?? null);
    if (v !== undefined) writeMatrix(v, i, complex, eigen?.vectors ?? null, true);
  }
}

/** The kernels of factors of matrices. */
export const kernels: Partial<Record<KernelName, Kernel>> = {
  Cholesky: cholesky,
  LU: lu,
  TriangularSolve: triangularSolve,
  TridiagonalSolve: tridiagonalSolve,
  QR: qr,
  SelfAdjointEig: ([x], [e, v], attrs) => selfAdjointEig(x, e, v, attrs.complex === true),
};
