import type { Kernel, KernelName, TensorRef } from '@eagre/backend';
import { complexSvd } from './complex-svd.ts';
import { numbers } from './view.ts';

const SWEEPS = 60;
// Squared norms below count as zero: the largest element is about 1, and squares of smaller ones lose their bits.
const TINY = 1e-290;

/** A matrix by columns. */
type Columns = readonly Float64Array[];

const columns = (rows: number, count: number): Columns =>
  Array.from({ length: count }, () => new Float64Array(rows));

function dot(x: Float64Array, y: Float64Array, from = 0): number {
  let sum = 0;
  for (let i = from; i < x.length; i++) sum += x[i] * y[i];
  return sum;
}

/** y -= w · x. */
function subtract(w: number, x: Float64Array, y: Float64Array, from = 0): void {
  for (let i = from; i < x.length; i++) y[i] -= w * x[i];
}

/**
 * (x, y) = (c x − s y, s x + c y), written with half = s/(1 + c) as Rutishauser does: a small angle then rounds little, and the norms stay
 * through many turns.
 */
function rotate(half: number, s: number, x: Float64Array, y: Float64Array): void {
  for (let i = 0; i < x.length; i++) {
    const [a, b] = [x[i], y[i]];
    x[i] = a - s * (b + half * a);
    y[i] = b + s * (a - half * b);
  }
}

/** A · P = Q · R with the longest column first. `a` becomes the reflectors of Q, [v, tau]; rows of R that are 0 have none. */
interface Factors {
  readonly reflectors: readonly (readonly [v: Float64Array, tau: number])[];
  /** The transpose of R. */
  readonly lower: Columns;
  readonly pivots: readonly number[];
}

function factor(a: Columns): Factors {
  const n = a.length;
  const rest = [...a];
  const pivots = a.map((_, j) => j);
  const lower = columns(n, n);
  const reflectors: [Float64Array, number][] = [];
  for (let k = 0; k < n; k++) {
    const squares = rest.map((column, j) => (j < k ? -1 : dot(column, column, k)));
    const longest = squares.indexOf(Math.max(...squares));
    if (!(squares[longest] >= TINY)) break;
    for (const list of [rest, pivots, ...lower.slice(0, k)] as unknown[][])
      [list[k], list[longest]] = [list[longest], list[k]];
    const v = rest[k];
    const norm = Math.sqrt(squares[longest]);
    const beta = v[k] >= 0 ? -norm : norm;
    const tau = (beta - v[k]) / beta;
    const inverse = 1 / (v[k] - beta);
    for (let i = k + 1; i < v.length; i++) v[i] *= inverse;
    v[k] = 1;
    lower[k][k] = beta;
    for (let j = k + 1; j < n; j++) {
      subtract(tau * dot(rest[j], v, k), v, rest[j], k);
      lower[k][j] = rest[j][k];
    }
    reflectors.push([v, tau]);
  }
  return { reflectors, lower, pivots };
}

/** Turns the first `rank` columns of x against each other until all are orthogonal (one-sided Jacobi), and `turns` alike. */
function orthogonalise(x: Columns, turns: Columns, rank: number): void {
  const tolerance = Number.EPSILON * Math.max(4, Math.sqrt(x.length));
  let turned = true;
  for (let sweep = 0; sweep < SWEEPS && turned; sweep++) {
    turned = false;
    for (let p = 0; p < rank; p++) {
      for (let q = p + 1; q < rank; q++) {
        const [pp, qq, pq] = [dot(x[p], x[p]), dot(x[q], x[q]), dot(x[p], x[q])];
        if (pp < TINY || qq < TINY || Math.abs(pq) <= tolerance * (Math.sqrt(pp) * Math.sqrt(qq))) continue;
        turned = true;
        const zeta = (qq - pp) / (2 * pq);
        const size = Math.abs(zeta);
        // A large zeta would overflow as a square.
        const tangent = size > 1e9 ? 0.5 / size : 1 / (size + Math.sqrt(1 + zeta * zeta));
        const t = zeta < 0 ? -tangent : tangent;
        const c = 1 / Math.sqrt(1 + t * t);
        const s = c * t;
        rotate(s / (1 + c), s, x[p], x[q]);
        if (turns.length > 0) rotate(s / (1 + c), s, turns[p], turns[q]);
      }
    }
  }
}

/** Makes a column a vector orthogonal to others: what they leave of the axis that is farthest from them. */
function complete(column: Float64Array, others: Columns): void {
  const rest = column.map((_, i) => others.reduce((sum, other) => sum - other[i] ** 2, 1));
  column.fill(0);
  column[rest.reduce((best, value, i) => (value > rest[best] ? i : best), 0)] = 1;
  for (let round = 0; round < 2; round++)
    for (const other of others) subtract(dot(column, other), other, column);
  const norm = Math.sqrt(dot(column, column));
  for (let i = 0; i < column.length; i++) column[i] /= norm;
}

/** What stays of a decomposition: the singular values in falling order, and the vectors of each. */
interface Decomposition {
  readonly values: readonly number[];
  readonly right: Columns;
  /** The left vector at a place of [0, m). */
  left(place: number): Float64Array;
}

/** The SVD of a matrix [m, n] with m ≥ n; `a` is overwritten. */
function decompose(a: Columns, m: number, vectors: boolean): Decomposition {
  const n = a.length;
  const { reflectors, lower: x, pivots } = factor(a);
  const turns = vectors ? columns(n, n) : [];
  turns.forEach((column, i) => {
    column[i] = 1;
  });
  orthogonalise(x, turns, reflectors.length);
  const norms = x.map((column) => {
    const square = dot(column, column);
    return square < TINY ? 0 : Math.sqrt(square);
  });
  const order = norms.map((_, k) => k).sort((k, l) => norms[l] - norms[k] || k - l);
  const right = vectors ? columns(n, n) : [];
  if (vectors) {
    order.forEach((k, j) => {
      if (norms[k] === 0)
        complete(
          x[k],
          order.slice(0, j).map((l) => x[l]),
        );
      else for (let i = 0; i < n; i++) x[k][i] /= norms[k];
      pivots.forEach((pivot, i) => {
        right[j][pivot] = x[k][i];
      });
    });
  }
  const left = (place: number): Float64Array => {
    const column = new Float64Array(m);
    if (place < n) column.set(turns[order[place]]);
    else column[place] = 1;
    for (let k = reflectors.length - 1; k >= 0; k--) {
      const [v, tau] = reflectors[k];
      subtract(tau * dot(column, v, k), v, column, k);
    }
    return column;
  };
  return { values: order.map((k) => norms[k]), right, left };
}

/** As native/cpu/svd.cc, step by step: a QR with pivoting, then one-sided Jacobi on the transpose of its triangle, in float64. */
function svd(x: TensorRef, s: TensorRef, u?: TensorRef, v?: TensorRef): void {
  const [rows, width] = x.shape.slice(-2);
  const tall = rows >= width;
  const [m, n] = tall ? [rows, width] : [width, rows];
  const [data, values] = [numbers(x), numbers(s)];
  const sides = u === undefined || v === undefined ? [] : tall ? [u, v] : [v, u];
  const parts = sides.map((side) => ({ data: numbers(side), count: side.shape[side.shape.length - 1] }));
  const matrices = x.shape.slice(0, -2).reduce((product, size) => product * size, 1);
  for (let matrix = 0; matrix < matrices; matrix++) {
    const start = matrix * m * n;
    let largest = 0;
    let finite = true;
    for (let i = start; i < start + m * n; i++) {
      finite &&= Number.isFinite(data[i]);
      largest = Math.max(largest, Math.abs(data[i]));
    }
    if (!finite) {
      values.fill(Number.NaN, matrix * n, (matrix + 1) * n);
      for (const [side, { data: to, count }] of parts.entries()) {
        const size = count * [m, n][side];
        to.fill(Number.NaN, matrix * size, (matrix + 1) * size);
      }
      continue;
    }
    // A power of two, which rounds nothing, so that squares neither overflow nor vanish.
    const exponent = largest === 0 ? 0 : Math.max(-1000, Math.min(1000, Math.ceil(Math.log2(largest))));
    const a = columns(m, n);
    for (let j = 0; j < n; j++)
      for (let i = 0; i < m; i++) a[j][i] = data[start + (tall ? i * n + j : j * m + i)] * 2 ** -exponent;
    const made = decompose(a, m, parts.length > 0);
    made.values.forEach((value, j) => {
      values[matrix * n + j] = value * 2 ** exponent;
    });
    for (const [side, { data: to, count }] of parts.entries()) {
      const length = [m, n][side];
      for (let j = 0; j < count; j++) {
        const column = side === 0 ? made.left(j) : made.right[j];
        for (let i = 0; i < length; i++) to[(matrix * length + i) * count + j] = column[i];
      }
    }
  }
}

/** The kernels of singular values. */
export const kernels: Partial<Record<KernelName, Kernel>> = {
  Svd: ([x], [s, u, v], { complex }) => (complex === true ? complexSvd : svd)(x, s, u, v),
};
