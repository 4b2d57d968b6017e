// The singular value decomposition of complex matrices: one-sided Jacobi on the columns themselves (Hestenes, 1958), as native/cpu/complex_svd.h.
import type { TensorRef } from '@eagre/backend';
import {
  at,
  conj,
  countOf,
  dot,
  isFinite,
  type Matrix,
  type Pair,
  readMatrix,
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

const SWEEPS = 60;
// Squared norms below count as zero.
const TINY = 1e-290;

/** (a, b) = (c a − s b phase, s a + c b phase). */
function turn(a: Vector, b: Vector, phase: Pair, c: number, s: number): void {
  for (let i = 0; i < a.re.length; i++) {
    const p = at(a, i);
    const q = times(at(b, i), phase);
    set(a, i, [c * p[0] - s * q[0], c * p[1] - s * q[1]]);
    set(b, i, [s * p[0] + c * q[0], s * p[1] + c * q[1]]);
  }
}

/** Turns columns until all are orthogonal, and `turns` alike. */
function orthogonalise(x: Matrix, turns: Matrix): void {
  const tolerance = Number.EPSILON * Math.max(4, Math.sqrt(x.length === 0 ? 0 : x[0].re.length));
  for (let sweep = 0, turned = true; sweep < SWEEPS && turned; sweep++) {
    turned = false;
    for (let p = 0; p < x.length; p++) {
      for (let q = p + 1; q < x.length; q++) {
        const [[aa], [bb], ab] = [dot(x[p], x[p]), dot(x[q], x[q]), dot(x[p], x[q])];
        const length = size(ab);
        if (aa < TINY || bb < TINY || length <= tolerance * (Math.sqrt(aa) * Math.sqrt(bb))) continue;
        turned = true;
        const zeta = (bb - aa) / (2 * length);
        const far = Math.abs(zeta);
        const tangent = far > 1e9 ? 0.5 / far : 1 / (far + Math.sqrt(1 + zeta * zeta));
        const t = zeta < 0 ? -tangent : tangent;
        const c = 1 / Math.sqrt(1 + t * t);
        const [re, im] = conj(ab);
        const phase: Pair = [re / length, im / length];
        turn(x[p], x[q], phase, c, c * t);
        turn(turns[p], turns[q], phase, c, c * t);
      }
    }
  }
}

/** A vector orthogonal to others: what they leave of the axis that is farthest from them. */
function besides(others: Matrix, m: number): Vector {
  let far = 0;
  let most = -1;
  for (let i = 0; i < m; i++) {
    const rest = others.reduce((sum, other) => sum - size(at(other, i)) ** 2, 1);
    if (rest > most) [most, far] = [rest, i];
  }
  const column = zeroVector(m, true);
  set(column, far, [1, 0]);
  for (let round = 0; round < 2; round++)
    for (const other of others) subtract(dot(other, column), other, column);
  scale([column], 1 / Math.sqrt(dot(column, column)[0]));
  return column;
}

function conjugate({ im }: Vector): void {
  if (im !== null) for (let i = 0; i < im.length; i++) im[i] = -im[i];
}

/** As the kernel `Svd` with `complex`. */
export function complexSvd(x: TensorRef, s: TensorRef, u?: TensorRef, v?: TensorRef): void {
  const [rows, width] = shapeOf(x, true).slice(-2);
  const tall = rows >= width;
  const [left, right] = tall ? [u, v] : [v, u];
  for (let i = 0; i < countOf(x, true); i++) {
    // Of a wide matrix: that of its adjoint.
    const columns = readMatrix(x, i, true, tall);
    if (!tall) for (const column of columns) conjugate(column);
    if (!isFinite(columns)) {
      writeReals(s, i, true, null);
      for (const side of [u, v]) if (side !== undefined) writeMatrix(side, i, true, null);
      continue;
    }
    const n = columns.length;
    const down = scaleOf(columns);
    scale(columns, down);
    const turns = zeroMatrix(n, n, true);
    turns.forEach((row, k) => {
      set(row, k, [1, 0]);
    });
    orthogonalise(columns, turns);
    const norms = columns.map((column) => {
      const [square] = dot(column, column);
      return square < TINY ? 0 : Math.sqrt(square);
    });
    const order = norms.map((_, k) => k).sort((k, l) => norms[l] - norms[k] || k - l);
    writeReals(
      s,
      i,
      true,
      order.map((k) => norms[k] / down),
    );
    if (left === undefined || right === undefined) continue;
    const vectors: Vector[] = [];
    const wanted = shapeOf(left, true).at(-1) as number;
    for (let j = 0; j < wanted; j++) {
      const k = j < n ? order[j] : -1;
      if (k >= 0 && norms[k] > 0) {
        scale([columns[k]], 1 / norms[k]);
        vectors.push(columns[k]);
      } else vectors.push(besides(vectors, tall ? rows : width));
    }
    writeMatrix(left, i, true, vectors, true);
    writeMatrix(
      right,
      i,
      true,
      order.map((k) => turns[k]),
      true,
    );
  }
}
