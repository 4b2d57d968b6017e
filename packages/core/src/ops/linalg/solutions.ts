// What factors solve: systems of equations, inverses, determinants, least squares.
import { InvalidArgumentError, isComplex } from '@eagre/backend';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { defineOp, execute, execute1, type Op } from '../../dispatch/op.ts';
import { uniform, values } from '../../dispatch/samples.ts';
import { maxDims } from '../../shapes/dim.ts';
import { dims, toShape } from '../../shapes/dims.ts';
import { checkFlag, showShape } from '../../shapes/shape.ts';
import { atMost, knownDim } from '../../shapes/shape-env.ts';
import { differs, sizeValue } from '../../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { zerosLike } from '../array/creation.ts';
import { iota } from '../array/iota.ts';
import { broadcastTo, pad } from '../array/shaping.ts';
import { real } from '../elementwise/complex.ts';
import { where } from '../elementwise/select.ts';
import {
  adjointOf,
  adjointTimes,
  checkRows,
  conjugated,
  identityLike,
  matricesOf,
  sameBatch,
  timesAdjoint,
  withAdjoints,
} from './adjoint.ts';
import {
  backInOrder,
  cholesky,
  choleskyOf,
  choleskySolve,
  factored,
  inOrder,
  inverseOrder,
  substituted,
} from './factors.ts';
import { diagPart, matmul, setDiag, tril, triu } from './linalg.ts';
import { singularValues, svdOf } from './svd.ts';

const SQUARE = values([0.5, 2, -1, 3, 1, 0.25, -1, 4, 2], [3, 3]);
const SQUARES = values([1, 2, 4, -1, 3, 0.5, 0.25, 3], [2, 2, 2]);

// ---- solutions of systems

/** The solutions of a · x = b, of as many matrices as right sides; with `adjoint` those of aᴴ · x = b. */
const solveOp: Op = /* @__PURE__ */ defineOp({
  name: 'MatrixSolve',
  ulp: 64,
  compose: ([a, b], { adjoint, check }) => {
    const [lu, order] = factored(a, check === true);
    if (adjoint !== true) {
      const y = substituted(lu, inOrder(b, order), { lower: true, unit: true });
      return substituted(lu, y, { lower: false });
    }
    const y = substituted(lu, b, { lower: false, adjoint: true });
    return backInOrder(substituted(lu, y, { lower: true, unit: true, adjoint: true }), order);
  },
  grad: withAdjoints((g, dy) => {
    const adjoint = g.attrs['adjoint'] === true;
    const db = execute1(solveOp, [g.a, dy], { ...g.attrs, adjoint: !adjoint });
    if (!g.needs(0)) return [null, db];
    return [(adjoint ? timesAdjoint(g.y, db) : timesAdjoint(db, g.y)).neg(), db];
  }),
  samples: () => [
    { inputs: [SQUARE, uniform([3, 2])], attrs: { adjoint: false, check: true } },
    { inputs: [SQUARE, uniform([3, 1])], attrs: { adjoint: true, check: true } },
    { inputs: [SQUARES, uniform([2, 2, 3])], attrs: { adjoint: false, check: false } },
  ],
});

/** The solutions of a · x = b; with `check` a singular matrix is an error. */
export const solved = (
  a: Tensor,
  b: Tensor,
  { adjoint = false, check = false }: { readonly adjoint?: boolean; readonly check?: boolean } = {},
): Tensor => execute1(solveOp, sameBatch(a, b, 'MatrixSolve'), { adjoint, check });

/** Options of `solve` and `inv`. */
export interface AdjointOption {
  /** Whether the adjoint of the matrix is meant; false by default. */
  readonly adjoint?: boolean;
}

/**
 * The solutions of matrix · x = rhs for square matrices [..., n, n] and right sides [..., n, k].
 *
 *     tf.linalg.solve([[2, 1], [1, 3]], [[3], [5]]); // [[0.8], [1.4]]
 *
 * @throws InvalidArgumentError for shapes that do not fit, and for singular matrices.
 */
export const solve: NamedFunction<[matrix: TensorLike, rhs: TensorLike], ['matrix', 'rhs'], AdjointOption> =
  /* @__PURE__ */ defineFunction(
    'linalg.solve',
    { matrix: kind.tensor, rhs: kind.tensor },
    { adjoint: kind.asIs },
    (matrix, rhs, options) => {
      const name = 'linalg.solve';
      const a = matricesOf(matrix, name, { square: true, what: 'matrix' });
      const b = matricesOf(toTensor(rhs, a.dtype), name, { what: 'rhs' });
      checkRows(a, b, name);
      return solved(a, b, { adjoint: checkFlag(options.adjoint, 'adjoint', name), check: true });
    },
  );

/** The inverses of square matrices; with `adjoint` those of their adjoints. */
const inverseOp: Op = /* @__PURE__ */ defineOp({
  name: 'MatrixInverse',
  ulp: 64,
  compose: ([x], { adjoint, check }) =>
    solved(x, identityLike(x), { adjoint: adjoint === true, check: check === true }),
  grad: withAdjoints((g, dy) => {
    const { y } = g;
    // Of y = x⁻ᴴ, dy = −y · dxᴴ · y.
    return g.attrs['adjoint'] === true
      ? matmul(matmul(y, adjointOf(dy)), y).neg()
      : timesAdjoint(adjointTimes(y, dy), y).neg();
  }),
  samples: () => [
    { inputs: [SQUARE], attrs: { adjoint: false, check: true } },
    { inputs: [SQUARES], attrs: { adjoint: true, check: true } },
  ],
});

/** The inverses of square matrices. */
export const inverseOf = (x: Tensor, check: boolean, adjoint = false): Tensor =>
  execute1(inverseOp, [x], { adjoint, check });

/**
 * The inverses of square matrices [..., n, n].
 * @throws InvalidArgumentError for matrices that are not square, or singular.
 */
export const inv: NamedFunction<[input: TensorLike], ['input'], AdjointOption> =
  /* @__PURE__ */ defineFunction(
    'linalg.inv',
    { input: kind.tensor },
    { adjoint: kind.asIs },
    (input, { adjoint }) =>
      inverseOf(
        matricesOf(input, 'linalg.inv', { square: true }),
        true,
        checkFlag(adjoint, 'adjoint', 'linalg.inv'),
      ),
  );

// ---- determinants

/** 1 or −1: whether an even number of exchanges makes the order [..., n]. */
function signOf(order: Tensor, like: Tensor): Tensor {
  const later = iota(dims(order)[order.rank - 1]);
  const exchanged = order
    .expandDims(-1)
    .greater(order.expandDims(-2))
    .logicalAnd(later.expandDims(-1).less(later));
  const odd = exchanged.cast('int32').sum([-2, -1]).mod(2);
  return odd.mul(-2).add(1).cast(like.dtype);
}
/** Products along the last axis, of complex numbers too. */
function lastProduct(x: Tensor): Tensor {
  if (!isComplex(x.dtype)) return x.prod(-1);
  let rest = x;
  let n = knownDim(dims(x)[x.rank - 1]);
  if (n === 0) return x.sum(-1).add(1);
  for (; n > 1; n = Math.ceil(n / 2)) {
    const half = Math.floor(n / 2);
    const pairs = rest.at('...', `:${half}`).mul(rest.at('...', `${half}:${2 * half}`));
    // The number that is left over goes with the first.
    rest = n % 2 === 0 ? pairs : joined(pairs, rest.at('...', `${n - 1}:`));
  }
  return rest.at('...', 0);
}
function joined(pairs: Tensor, left: Tensor): Tensor {
  const before = dims(pairs).map((_, i): [number, number] => [0, i === pairs.rank - 1 ? 1 : 0]);
  const after = dims(pairs).map((d, i) =>
    i === pairs.rank - 1 ? toShape([d, 0]) : toShape([0, 0]),
  ) as never;
  return pad(pairs, before).add(pad(left, after));
}

/** Determinants. */
const detOp: Op = /* @__PURE__ */ defineOp({
  name: 'MatrixDeterminant',
  ulp: 64,
  compose: ([x]) => {
    const [lu, order] = factored(x);
    return lastProduct(diagPart(lu)).mul(signOf(order, x));
  },
  grad: withAdjoints((g, dy) => {
    const scale = dy.mul(conjugated(g.y));
    return scale
      .expandDims(-1)
      .expandDims(-1)
      .mul(inverseOf(g.x, true, true));
  }),
  samples: () => [{ inputs: [SQUARE] }, { inputs: [SQUARES] }, { inputs: [values([2], [1, 1])] }],
});

/** The determinants of square matrices. */
export const determinantOf = (x: Tensor): Tensor => execute1(detOp, [x]);

/**
 * The determinants of square matrices [..., n, n]: [...]. 1 for matrices without elements.
 * @throws InvalidArgumentError for matrices that are not square; for singular ones where a gradient is wanted.
 */
export const det: NamedFunction<[input: TensorLike], ['input']> = /* @__PURE__ */ defineFunction(
  'linalg.det',
  { input: kind.tensor },
  {},
  (input) => determinantOf(matricesOf(input, 'linalg.det', { square: true })),
);

/** Signs of determinants, and logarithms of their sizes. */
const slogdetOp: Op = /* @__PURE__ */ defineOp({
  name: 'LogMatrixDeterminant',
  ulp: 64,
  compose: ([x]) => {
    const [lu, order] = factored(x);
    const pivots = diagPart(lu);
    const size = pivots.abs();
    const one = isComplex(x.dtype) ? pivots.div(size.cast(x.dtype)) : pivots.sign();
    const none = size.min(-1).equal(0);
    const sign = lastProduct(one).mul(signOf(order, x));
    return [none.where(zerosLike(sign), sign), size.log().sum(-1).cast(x.dtype)];
  },
  grad: withAdjoints((g, _, dLog) =>
    dLog === null || dLog === undefined
      ? g.x.mul(0)
      : dLog
          .expandDims(-1)
          .expandDims(-1)
          .mul(inverseOf(g.x, true, true)),
  ),
  samples: () => [{ inputs: [SQUARE] }, { inputs: [SQUARES] }],
});

/** Signs of determinants, and logarithms of their sizes, of the dtype of x. */
export function slogdetOf(x: Tensor): [sign: Tensor, logAbsDeterminant: Tensor] {
  const [sign, log] = execute(slogdetOp, [x]);
  return [sign, log];
}

/**
 * The signs of the determinants of square matrices [..., n, n], and the logarithms of their sizes, both [...]: 0 and −∞ for singular matrices. The
 * sign of a complex determinant is a number of size 1.
 * @returns [sign, logAbsDeterminant]
 * @throws InvalidArgumentError for matrices that are not square; for singular ones where a gradient is wanted.
 */
export const slogdet: NamedFunction<
  [input: TensorLike],
  ['input'],
  unknown,
  [sign: Tensor, logAbsDeterminant: Tensor]
> = /* @__PURE__ */ defineFunction('linalg.slogdet', { input: kind.tensor }, {}, (input) =>
  slogdetOf(matricesOf(input, 'linalg.slogdet', { square: true })),
);

/** The logarithms of the determinants of positive definite matrices, of the factors of Cholesky. */
export const logDeterminant = (l: Tensor): Tensor => real(diagPart(l)).log().sum(-1).mul(2);

/**
 * The logarithms of the determinants of symmetric (Hermitian) positive definite matrices [..., n, n]: [...], a float; NaN for others.
 * @throws InvalidArgumentError for matrices that are not square.
 */
export const logdet: NamedFunction<[matrix: TensorLike], ['matrix']> = /* @__PURE__ */ defineFunction(
  'linalg.logdet',
  { matrix: kind.tensor },
  {},
  (matrix) => logDeterminant(cholesky(matrix)),
);

// ---- with the factors of LU

function factorsOf(lowerUpper: TensorLike, perm: TensorLike, name: string): [lu: Tensor, order: Tensor] {
  const lu = matricesOf(lowerUpper, name, { square: true, what: 'lowerUpper' });
  const order = toTensor(perm, 'int32');
  if (order.dtype !== 'int32' && order.dtype !== 'int64')
    throw new InvalidArgumentError(`perm is ${order.dtype}, expected int32 or int64`, name);
  if (order.rank !== lu.rank - 1 || dims(order).some((d, i) => differs(d, dims(lu)[i])))
    throw new InvalidArgumentError(
      `perm has shape ${showShape(order.shape)}, expected ${showShape(toShape(dims(lu).slice(0, -1)))}`,
      name,
    );
  return [lu, order];
}
type LuArguments = [lowerUpper: TensorLike, perm: TensorLike];
const luKinds = { lowerUpper: kind.tensor, perm: kind.tensor };

/**
 * The solutions of A · x = rhs, of `[lowerUpper, perm] = tf.linalg.lu(A)` and right sides [..., n, k].
 * @throws InvalidArgumentError for shapes that do not fit.
 */
export const luSolve: NamedFunction<[...LuArguments, rhs: TensorLike], ['lowerUpper', 'perm', 'rhs']> =
  /* @__PURE__ */ defineFunction(
    'linalg.luSolve',
    { ...luKinds, rhs: kind.tensor },
    {},
    (lowerUpper, perm, rhs) => {
      const name = 'linalg.luSolve';
      const [lu, order] = factorsOf(lowerUpper, perm, name);
      const b = matricesOf(toTensor(rhs, lu.dtype), name, { what: 'rhs' });
      checkRows(lu, b, name);
      const [factors, right] = sameBatch(lu, b, name);
      const places = broadcastTo(order, toShape(dims(factors).slice(0, -1)));
      const y = substituted(factors, inOrder(right, places), { lower: true, unit: true });
      return substituted(factors, y, { lower: false });
    },
  );

/** The matrices of which `[lowerUpper, perm]` are the factors that `tf.linalg.lu` gives. @throws InvalidArgumentError for shapes that do not fit */
export const luReconstruct: NamedFunction<LuArguments, ['lowerUpper', 'perm']> =
  /* @__PURE__ */ defineFunction('linalg.luReconstruct', luKinds, {}, (lowerUpper, perm) => {
    const [lu, order] = factorsOf(lowerUpper, perm, 'linalg.luReconstruct');
    const lower = setDiag(tril(lu), diagPart(zerosLike(lu)).add(1));
    return inOrder(matmul(lower, triu(lu)), inverseOrder(order));
  });

/** The inverses of the matrices of which `[lowerUpper, perm]` are the factors that `tf.linalg.lu` gives. @throws InvalidArgumentError for shapes that do not fit */
export const luMatrixInverse: NamedFunction<LuArguments, ['lowerUpper', 'perm']> =
  /* @__PURE__ */ defineFunction('linalg.luMatrixInverse', luKinds, {}, (lowerUpper, perm) => {
    const [lu, order] = factorsOf(lowerUpper, perm, 'linalg.luMatrixInverse');
    return luSolve(lu, order, identityLike(lu));
  });

// ---- least squares, rank

const epsilonOf = (x: Tensor): number =>
  x.dtype === 'float64' || x.dtype === 'complex128' ? 2 ** -52 : 2 ** -23;
/** The larger number of rows or columns, as a number beside x. */
function largerSize(x: Tensor): number | Tensor {
  const [m, n] = dims(x).slice(-2);
  const larger = maxDims(m, n);
  return typeof larger === 'number' ? larger : (sizeValue(larger, 'int32') as Tensor).cast(real(x).dtype);
}
const timesSize = (x: Tensor, by: number): Tensor | number => {
  const size = largerSize(x);
  return typeof size === 'number' ? size * by : size.mul(by);
};

/** v · diag(1 / s) · uᴴ, without the singular values that are not above a share of the largest, or not at least as large. */
export function pseudoInverse(a: Tensor, rcond: Tensor | number, inclusive: boolean): Tensor {
  const [s, u, v] = svdOf(a);
  const share = typeof rcond === 'number' || rcond.rank === 0 ? rcond : rcond.expandDims(-1);
  const limit = s.max(-1, { keepdims: true }).mul(share);
  const counts = inclusive ? s.greaterEqual(limit) : s.greater(limit);
  const inverse = where(counts, where(counts, s, 1).reciprocal(), 0);
  return timesAdjoint(v.mul(inverse.expandDims(-2).cast(v.dtype)), u);
}
/** The share up to which singular values count as 0 unless it is given. */
export const defaultShare = (a: Tensor): Tensor | number => timesSize(a, 10 * epsilonOf(a));

/**
 * The pseudo-inverses (Moore and Penrose) [..., n, m] of matrices [..., m, n], of their singular values.
 * @param rcond the share of the largest singular value up to which others count as 0: a number or one for each matrix; 10 · max(m, n) · ε by default.
 * @throws InvalidArgumentError for what are no matrices.
 */
export const pinv: NamedFunction<[a: TensorLike, rcond?: TensorLike | null], ['a', 'rcond']> =
  /* @__PURE__ */ defineFunction(
    'linalg.pinv',
    { a: kind.tensor, rcond: kind.asIs },
    {},
    (a, rcond: TensorLike | null = null) => {
      const x = matricesOf(a, 'linalg.pinv', { what: 'a' });
      const share = rcond === null ? defaultShare(x) : toTensor(rcond, real(x).dtype).cast(real(x).dtype);
      return pseudoInverse(x, share, false);
    },
  );

/**
 * How many singular values of each matrix [..., m, n] are above `tol`: int32 [...].
 * @param tol a number, or numbers that broadcast with the singular values [..., min(m, n)]; max(m, n) · ε times the largest one by default.
 * @throws InvalidArgumentError for what are no matrices.
 */
export const matrixRank: NamedFunction<[a: TensorLike, tol?: TensorLike | null], ['a', 'tol']> =
  /* @__PURE__ */ defineFunction(
    'linalg.matrixRank',
    { a: kind.tensor, tol: kind.asIs },
    {},
    (a, tol: TensorLike | null = null) => {
      const x = matricesOf(a, 'linalg.matrixRank', { what: 'a' });
      const s = singularValues(x);
      const limit =
        tol === null
          ? s.max(-1, { keepdims: true }).mul(timesSize(x, epsilonOf(x)))
          : toTensor(tol, s.dtype).cast(s.dtype);
      return s.greater(limit).cast('int32').sum(-1);
    },
  );

/** Options of `lstsq`. */
export interface LstsqOptions {
  /** What times the squares of x is made small as well; 0 by default. Solutions by singular values leave it out, as TensorFlow's do. */
  readonly l2Regularizer?: number;
  /** Whether by the factors of Cholesky, which takes matrices of full rank (true, the default), or by singular values. */
  readonly fast?: boolean;
}

/**
 * The x [..., n, k] for which matrix · x is nearest to rhs: of matrices [..., m, n] and right sides [..., m, k]; where m < n the one of least norm.
 * @throws InvalidArgumentError for shapes that do not fit; for matrices without full rank, unless `fast` is false.
 */
export const lstsq: NamedFunction<[matrix: TensorLike, rhs: TensorLike], ['matrix', 'rhs'], LstsqOptions> =
  /* @__PURE__ */ defineFunction(
    'linalg.lstsq',
    { matrix: kind.tensor, rhs: kind.tensor },
    { l2Regularizer: kind.asIs, fast: kind.asIs },
    (matrix, rhs, { l2Regularizer = 0, fast }) => {
      const name = 'linalg.lstsq';
      const a = matricesOf(matrix, name, { what: 'matrix' });
      const b = matricesOf(toTensor(rhs, a.dtype), name, { what: 'rhs' });
      checkRows(a, b, name);
      if (typeof l2Regularizer !== 'number' || !(l2Regularizer >= 0))
        throw new InvalidArgumentError(
          `l2Regularizer is ${String(l2Regularizer)}, expected a number of at least 0`,
          name,
        );
      const isFast = fast === undefined || checkFlag(fast, 'fast', name);
      if (!isFast) return matmul(pseudoInverse(a, timesSize(a, epsilonOf(a)), false), b);
      const regular = (gramian: Tensor): Tensor =>
        choleskyOf(l2Regularizer === 0 ? gramian : gramian.add(identityLike(gramian).mul(l2Regularizer)));
      const [m, n] = dims(a).slice(-2);
      return atMost(n, m)
        ? choleskySolve(regular(adjointTimes(a, a)), adjointTimes(a, b))
        : adjointTimes(a, choleskySolve(regular(timesAdjoint(a, a)), b));
    },
  );
