// Factors of matrices, as Keras gives them.
import { linalg, type NamedFunction, type Tensor, type TensorLike } from '@eagre/core';
import {
  choleskyOf,
  defineFunction,
  differs,
  dims,
  factored,
  inverseOrder,
  kind,
  qrOf,
} from '@eagre/core/internal';
import { floating, named, refuse } from '../define.ts';

/** Matrices of floats. @throws InvalidArgumentError for what is none, or not square where that is needed */
export function matrices(x: TensorLike, name: string, square = false): Tensor {
  const t = floating(x);
  if (t.rank < 2) refuse(`x has shape [${t.shape}], expected matrices`, name);
  const [rows, columns] = dims(t).slice(-2);
  if (square && differs(rows, columns)) refuse(`x has shape [${t.shape}], expected square matrices`, name);
  return t;
}
/** The transposed matrices. */
export const flipped = (x: Tensor): Tensor => x.swapAxes(-1, -2);

type Cholesky = NamedFunction<[x: TensorLike], ['x'], { readonly upper?: boolean }>;
/** The lower triangular matrices L with L · Lᵀ = x of symmetric positive definite ones; Lᵀ if `upper`. NaN for others. */
export const cholesky: Cholesky = defineFunction(
  named('cholesky'),
  { x: kind.tensor },
  { upper: kind.asIs },
  (x, { upper }) => {
    const l = choleskyOf(matrices(x, 'cholesky', true));
    return upper === true ? flipped(l) : l;
  },
);

/** Lower and upper triangular factors in one matrix, and for each row of x its place among theirs: [lu, pivots]. */
export const luFactor: NamedFunction<[x: TensorLike], ['x'], unknown, [lu: Tensor, pivots: Tensor]> =
  defineFunction(named('luFactor'), { x: kind.tensor }, {}, (x) => {
    const [lu, order] = factored(matrices(x, 'luFactor'));
    return [lu, inverseOrder(order)];
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
    return qrOf(matrices(x, 'qr'), mode === 'complete');
  },
);

/** Eigenvalues in rising order and eigenvectors as columns of symmetric matrices: [values, vectors]. */
export const eigh: NamedFunction<[x: TensorLike], ['x'], unknown, [values: Tensor, vectors: Tensor]> =
  defineFunction(named('eigh'), { x: kind.tensor }, {}, (x) => linalg.eigh(matrices(x, 'eigh', true)));
