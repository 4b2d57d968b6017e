// Factors of matrices, column by column. Loops run over the size of one matrix, which has to be known; all matrices of a batch go together.
import { eye, linalg, type NamedFunction, stack, type Tensor, type TensorLike } from '@eagre/core';
import {
  bySubstitution,
  defineFunction,
  dims,
  factored,
  iota,
  kind,
  sizeOfAxis as sizeOf,
  solved,
  toShape,
} from '@eagre/core/internal';
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
export { bySubstitution, factored, sizeOf, solved };
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

/** Lower and upper triangular factors in one matrix, and for each row of x its place among theirs: [lu, pivots]. */
export const luFactor: NamedFunction<[x: TensorLike], ['x'], unknown, [lu: Tensor, pivots: Tensor]> =
  defineFunction(named('luFactor'), { x: kind.tensor }, {}, (x) => {
    const { lu, order } = factored(matrices(x, 'luFactor'));
    return [lu, order.argSort(-1)];
  });

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
