// Factors of matrices, column by column. Loops run over the size of one matrix, which has to be known; all matrices of a batch go together.
import {
  concat,
  eye,
  linalg,
  type NamedFunction,
  stack,
  type Tensor,
  type TensorLike,
  where,
} from '@eagre/core';
import { defineFunction, dims, iota, kind, knownDim, toShape } from '@eagre/core/internal';
import { floating, named, refuse } from '../define.ts';

/** Matrices of floats. @throws InvalidArgumentError for what is none, or not square where that is needed */
export function matrices(x: TensorLike, name: string, square = false): Tensor {
  const t = floating(x);
  if (t.rank < 2) refuse(`x has shape [${t.shape}], expected matrices`, name);
  const [rows, columns] = dims(t).slice(-2);
  if (square && typeof rows === 'number' && typeof columns === 'number' && rows !== columns)
    refuse(`x has shape [${t.shape}], expected square matrices`, name);
  return t;
}
export const sizeOf = (x: Tensor, axis = -1): number => knownDim(dims(x)[x.rank + axis]);
/** The transposed matrices. */
export const flipped = (x: Tensor): Tensor => x.swapAxes(-1, -2);

type Cholesky = NamedFunction<[x: TensorLike], ['x'], { readonly upper?: boolean }>;
/** The lower triangular matrices L with L · Lᵀ = x of symmetric positive definite ones; Lᵀ if `upper`. NaN for others. */
export const cholesky: Cholesky = defineFunction(
  named('cholesky'),
  { x: kind.tensor },
  { upper: kind.asIs },
  (x, { upper }) => {
    const a = matrices(x, 'cholesky', true);
    const n = sizeOf(a);
    const rows = iota(n);
    // As in TensorFlow, both halves share the gradient.
    let rest = a.add(flipped(a)).mul(0.5);
    const columns: Tensor[] = [];
    for (let j = 0; j < n; j++) {
      const pivot = rest.at('...', j, j).sqrt().expandDims(-1);
      const column = rows.less(j).where(0, rest.at('...', ':', j).div(pivot));
      columns.push(column);
      if (j < n - 1) rest = rest.sub(column.expandDims(-1).mul(column.expandDims(-2)));
    }
    const l = n === 0 ? a : stack(columns, -1);
    return upper === true ? flipped(l) : l;
  },
);

/** L and U in one matrix, and by place the row of x that stands there; the sign of the permutation. */
export function factored(x: Tensor): { readonly lu: Tensor; readonly order: Tensor; readonly sign: Tensor } {
  const n = sizeOf(x, -2);
  const m = sizeOf(x);
  const rows = iota(n);
  const lead = dims(x).slice(0, -2);
  let a = x;
  let order = rows.broadcastTo(toShape([...lead, n]));
  let sign = x.at('...', 0, 0).mul(0).add(1);
  for (let j = 0; j < Math.min(n, m); j++) {
    if (j < n - 1) {
      const size = rows.less(j).where(-1, a.at('...', ':', j).abs());
      const pivot = size.argMax(-1, { dtype: 'int32' }).expandDims(-1);
      const places = rows.equal(j).where(pivot, rows.equal(pivot).where(j, rows));
      const rank = a.rank - 2;
      const swap = (t: Tensor): Tensor => t.gather(places, rank, { batchDims: rank });
      a = swap(a);
      order = swap(order);
      sign = where(pivot.squeeze(-1).equal(j), sign, sign.neg());
    }
    if (j >= n - 1) break;
    const row = a.at('...', j, ':');
    const below = rows.greater(j);
    const factors = below.where(a.at('...', ':', j).div(a.at('...', j, `${j}:${j + 1}`)), 0);
    const behind = iota(m).greater(j);
    const updated = a.sub(factors.expandDims(-1).mul(behind.where(row, 0).expandDims(-2)));
    // The factors stand where they have made zeros.
    a = iota(m).equal(j).logicalAnd(below.expandDims(1)).where(factors.expandDims(-1), updated);
  }
  return { lu: a, order, sign };
}

/** Lower and upper triangular factors in one matrix, and for each row of x its place among theirs: [lu, pivots]. */
export const luFactor: NamedFunction<[x: TensorLike], ['x'], unknown, [lu: Tensor, pivots: Tensor]> =
  defineFunction(named('luFactor'), { x: kind.tensor }, {}, (x) => {
    const { lu, order } = factored(matrices(x, 'luFactor'));
    return [lu, order.argSort(-1)];
  });

/** Columns b [..., n, k] solved by triangular matrices [..., n, n]; `unit` for those with ones on the diagonal. */
export function bySubstitution(a: Tensor, b: Tensor, lower: boolean, unit = false): Tensor {
  const n = sizeOf(a);
  const rows = iota(n).expandDims(1);
  let rest = b;
  const found: Tensor[] = new Array<Tensor>(n);
  for (let i = 0; i < n; i++) {
    const j = lower ? i : n - 1 - i;
    const own = rest.at('...', `${j}:${j + 1}`, ':');
    const x = unit ? own : own.div(a.at('...', `${j}:${j + 1}`, `${j}:${j + 1}`));
    found[j] = x;
    const open = lower ? rows.greater(j) : rows.less(j);
    rest = rest.sub(open.where(a.at('...', ':', `${j}:${j + 1}`), 0).mul(x));
  }
  return concat(found, -2);
}

/** The solutions of a · x = b for square matrices. */
export function solved(a: Tensor, b: Tensor): Tensor {
  const { lu, order } = factored(a);
  const rank = a.rank - 2;
  const wide =
    b.rank === a.rank ? b.broadcastTo(toShape([...dims(a).slice(0, -2), ...dims(b).slice(-2)])) : b;
  const sorted = wide.gather(order, rank, { batchDims: rank });
  return bySubstitution(lu, bySubstitution(lu, sorted, true, true), false);
}

/** Orthonormal columns q and upper triangular r with q · r = x, by Householder's reflections: [q, r]. */
export const qr: NamedFunction<
  [x: TensorLike, mode?: 'reduced' | 'complete'],
  ['x', 'mode'],
  unknown,
  [q: Tensor, r: Tensor]
> = defineFunction(
  named('qr'),
  { x: kind.tensor, mode: kind.asIs },
  {},
  (x, mode: 'reduced' | 'complete' = 'reduced') => {
    if (mode !== 'reduced' && mode !== 'complete')
      refuse(`mode is '${String(mode)}', expected 'reduced' or 'complete'`, 'qr');
    const a = matrices(x, 'qr');
    const [m, n] = [sizeOf(a, -2), sizeOf(a)];
    const rows = iota(m);
    let r = a;
    let q = eye(m, { dtype: a.dtype as 'float32' }).broadcastTo(toShape([...dims(a).slice(0, -2), m, m]));
    for (let j = 0; j < Math.min(m - 1, n); j++) {
      const column = rows.less(j).where(0, r.at('...', ':', j));
      const head = column.at('...', `${j}:${j + 1}`);
      const norm = column.square().sum(-1, { keepdims: true }).sqrt();
      const v = rows.equal(j).where(head.add(head.less(0).where(norm.neg(), norm)), column);
      const length = v.square().sum(-1, { keepdims: true });
      const scale = length.equal(0).where(0, length.equal(0).where(1, length).reciprocal().mul(2));
      const [tall, wide] = [v.expandDims(-1), v.mul(scale).expandDims(-2)];
      r = r.sub(tall.matmul(wide.matmul(r)));
      q = q.sub(q.matmul(tall).matmul(wide));
    }
    const k = mode === 'reduced' ? Math.min(m, n) : m;
    return [q.at('...', `:${k}`), r.at('...', `:${k}`, ':').triu()];
  },
);

/** Eigenvalues in rising order and eigenvectors as columns of symmetric matrices: [values, vectors]. */
export const eigh: NamedFunction<[x: TensorLike], ['x'], unknown, [values: Tensor, vectors: Tensor]> =
  defineFunction(named('eigh'), { x: kind.tensor }, {}, (x) => {
    const a = matrices(x, 'eigh', true);
    const lower = a.tril();
    const whole = lower.add(flipped(a.tril(-1)));
    // Moved by a bound, all eigenvalues are positive and thus singular values.
    const bound = whole.abs().sum(-1).max(-1).stopGradient();
    const moved = whole.add(
      eye(sizeOf(a), { dtype: a.dtype as 'float32' }).mul(bound.expandDims(-1).expandDims(-1)),
    );
    const [s, u] = linalg.svd(moved);
    return [s.sub(bound.expandDims(-1)).reverse(-1), u.reverse(-1)];
  });
