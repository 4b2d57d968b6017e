// Factors of matrices: Cholesky, LU, QR, and eigenvalues of Hermitian ones; solutions of triangular systems.
import { InvalidArgumentError, UnimplementedError } from '@eagre/backend';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { type Attrs, defineOp, execute, execute1, type GradContext, type Op } from '../../dispatch/op.ts';
import { uniform, values } from '../../dispatch/samples.ts';
import { type Dim, subDims } from '../../shapes/dim.ts';
import { dims, toShape } from '../../shapes/dims.ts';
import { checkFlag } from '../../shapes/shape.ts';
import { atMost } from '../../shapes/shape-env.ts';
import { differs } from '../../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { concat } from '../array/join.ts';
import { real } from '../elementwise/complex.ts';
import {
  adjointOf,
  adjointTimes,
  checkRows,
  matricesOf,
  sameBatch,
  timesAdjoint,
  withAdjoints,
} from './adjoint.ts';
import { diag, diagPart, matmul, setDiag, tril, triu } from './linalg.ts';

const POSITIVE = [4, 1, 0.5, 1, 3, -0.25, 0.5, -0.25, 2];
const halfDiagonal = (x: Tensor): Tensor => setDiag(x, diagPart(x).mul(0.5));

// ---- triangular systems

interface TriangleAttrs {
  readonly lower: boolean;
  readonly adjoint: boolean;
  /** Ones stand on the diagonal, whatever is given. */
  readonly unit: boolean;
}

/** Solutions of triangular systems, of as many matrices as right sides. */
const triangularSolveOp: Op = /* @__PURE__ */ defineOp({
  name: 'MatrixTriangularSolve',
  kernel: 'TriangularSolve',
  kernelAttrs: (attrs) => ({ ...(attrs as Attrs & TriangleAttrs), complex: false }),
  ulp: 32,
  infer: ([, b]) => ({ dtype: b.dtype, shape: dims(b) }),
  grad: withAdjoints((g, dy) => {
    const { lower, adjoint, unit } = g.attrs as Attrs & TriangleAttrs;
    const db = execute1(triangularSolveOp, [g.a, dy], { ...g.attrs, adjoint: !adjoint });
    if (!g.needs(0)) return [null, db];
    const da = (adjoint ? timesAdjoint(g.y, db) : timesAdjoint(db, g.y)).neg();
    const by = unit ? 1 : 0;
    return [lower ? tril(da, -by) : triu(da, by), db];
  }),
  samples: () =>
    [
      { lower: true, adjoint: false, unit: false },
      { lower: false, adjoint: true, unit: false },
      { lower: true, adjoint: true, unit: true },
    ].map((attrs) => ({
      inputs: [values(POSITIVE, [3, 3]), uniform([3, 2])],
      attrs,
    })),
});

/** Solutions of triangular systems, of as many matrices as right sides. */
export function substituted(
  a: Tensor,
  b: Tensor,
  { lower, adjoint = false, unit = false }: Partial<TriangleAttrs> & { readonly lower: boolean },
): Tensor {
  return execute1(triangularSolveOp, sameBatch(a, b, 'MatrixTriangularSolve'), {
    lower,
    adjoint,
    unit,
  });
}

/** Options of `triangularSolve`. */
export interface TriangularSolveOptions {
  /** Whether the lower triangles count, or the upper ones; true by default. */
  readonly lower?: boolean;
  /** Whether the adjoint of the triangles is meant; false by default. */
  readonly adjoint?: boolean;
}

/**
 * The solutions of matrix · x = rhs for triangular matrices [..., n, n] and right sides [..., n, k]; the other triangle is not read.
 *
 *     tf.linalg.triangularSolve([[2, 0], [1, 1]], [[4], [3]]); // [[2], [1]]
 *
 * @throws InvalidArgumentError for shapes that do not fit.
 */
export const triangularSolve: NamedFunction<
  [matrix: TensorLike, rhs: TensorLike],
  ['matrix', 'rhs'],
  TriangularSolveOptions
> = /* @__PURE__ */ defineFunction(
  'linalg.triangularSolve',
  { matrix: kind.tensor, rhs: kind.tensor },
  { lower: kind.asIs, adjoint: kind.asIs },
  (matrix, rhs, options) => {
    const name = 'linalg.triangularSolve';
    const a = matricesOf(matrix, name, { square: true, what: 'matrix' });
    const b = matricesOf(toTensor(rhs, a.dtype), name, { what: 'rhs' });
    checkRows(a, b, name);
    const lower = options.lower === undefined || checkFlag(options.lower, 'lower', name);
    return substituted(a, b, { lower, adjoint: checkFlag(options.adjoint, 'adjoint', name) });
  },
);

// ---- Cholesky

/** Lower triangular factors of positive definite matrices; NaN for others. */
const choleskyOp: Op = /* @__PURE__ */ defineOp({
  name: 'Cholesky',
  kernel: 'Cholesky',
  kernelAttrs: () => ({ complex: false }),
  ulp: 8,
  infer: ([x]) => ({ dtype: x.dtype, shape: dims(x) }),
  grad: withAdjoints((g, dy) => {
    // I. Murray, "Differentiation of the Cholesky decomposition" (2016); both triangles of x share the gradient, as in TensorFlow.
    const middle = tril(halfDiagonal(adjointTimes(g.y, dy)));
    const left = substituted(g.y, middle, { lower: true, adjoint: true });
    const dx = adjointOf(substituted(g.y, adjointOf(left), { lower: true, adjoint: true }));
    return dx.add(adjointOf(dx)).mul(0.5);
  }),
  samples: () => [
    // Of types of their own, as differences say nothing of a gradient that both triangles share.
    { inputs: [values(POSITIVE, [3, 3], 'float64')] },
    { inputs: [values([2, 1, 1, 3, 1, 0, 0, 5], [2, 2, 2], 'float32')] },
    { inputs: [values([2.25], [1, 1])] },
  ],
});

/** Factors of Cholesky; NaN where there are none. */
export const choleskyOf = (x: Tensor): Tensor => execute1(choleskyOp, [x]);

/**
 * The lower triangular matrices L with L · Lᴴ = input of symmetric (Hermitian) positive definite ones [..., n, n], of which only the lower
 * triangle is read; NaN for matrices that are not positive definite.
 *
 *     tf.linalg.cholesky([[4, 2], [2, 5]]); // [[2, 0], [1, 2]]
 *
 * @throws InvalidArgumentError for matrices that are not square.
 */
export const cholesky: NamedFunction<[input: TensorLike], ['input']> = /* @__PURE__ */ defineFunction(
  'linalg.cholesky',
  { input: kind.tensor },
  {},
  (input) => choleskyOf(matricesOf(input, 'linalg.cholesky', { square: true })),
);

/**
 * The solutions of A · x = rhs, of the factors L = cholesky(A) [..., n, n] and right sides [..., n, k].
 * @throws InvalidArgumentError for shapes that do not fit.
 */
export const choleskySolve: NamedFunction<[chol: TensorLike, rhs: TensorLike], ['chol', 'rhs']> =
  /* @__PURE__ */ defineFunction(
    'linalg.choleskySolve',
    { chol: kind.tensor, rhs: kind.tensor },
    {},
    (chol, rhs) => {
      const name = 'linalg.choleskySolve';
      const l = matricesOf(chol, name, { square: true, what: 'chol' });
      const b = matricesOf(toTensor(rhs, l.dtype), name, { what: 'rhs' });
      checkRows(l, b, name);
      return substituted(l, substituted(l, b, { lower: true }), { lower: true, adjoint: true });
    },
  );

// ---- LU

/** Rows of matrices in an order [..., n]. */
export const inOrder = (x: Tensor, order: Tensor): Tensor =>
  x.gather(order, x.rank - 2, { batchDims: x.rank - 2 });
/** Rows back at their places, which `inOrder` has changed. */
export const backInOrder = (x: Tensor, order: Tensor): Tensor => inOrder(x, inverseOrder(order));
/** The permutations that undo others [..., n]. */
export const inverseOrder = (order: Tensor): Tensor => order.argSort(-1).cast(order.dtype);

/** `size` rows (2) or columns (1) from one on. */
const partOf = (x: Tensor, fromEnd: 1 | 2, from: Dim, size: Dim): Tensor =>
  x.slice(
    toShape(dims(x).map((_, i) => (i === x.rank - fromEnd ? from : 0))),
    toShape(dims(x).map((d, i) => (i === x.rank - fromEnd ? size : d))),
  );

function gradOfLu(g: GradContext, d: Tensor): Tensor {
  const [lu, order] = g.outputs;
  const [m, n] = dims(lu).slice(-2);
  const tall = !atMost(m, n);
  const k = tall ? n : m;
  // The square part, and what is below or beside it.
  const isSquare = !differs(m, n);
  const part = (x: Tensor, rest = false): Tensor =>
    isSquare ? x : partOf(x, tall ? 2 : 1, rest ? k : 0, rest ? subDims(tall ? m : n, k) : k);
  const square = part(lu);
  let dSquare = part(d);
  const unit = { lower: true, adjoint: true, unit: true } as const;
  /** x · U⁻ᴴ. */
  const overUpper = (x: Tensor): Tensor => adjointOf(substituted(square, adjointOf(x), { lower: false }));
  let more: Tensor | null = null;
  if (!isSquare) {
    const rest = part(lu, true);
    // What is below is A₂ · U⁻¹, what is beside it L⁻¹ · A₂.
    if (tall) {
      more = overUpper(part(d, true));
      dSquare = dSquare.sub(triu(adjointTimes(rest, more)));
    } else {
      more = substituted(square, part(d, true), unit);
      dSquare = dSquare.sub(tril(timesAdjoint(more, rest), -1));
    }
  }
  const lower = setDiag(tril(square), diagPart(square).mul(0).add(1));
  const inner = tril(adjointTimes(lower, tril(dSquare, -1)), -1).add(
    triu(timesAdjoint(triu(dSquare), triu(square))),
  );
  const da = overUpper(substituted(square, inner, unit));
  return backInOrder(more === null ? da : concat([da, more], tall ? -2 : -1), order);
}

/** A unit lower and an upper triangle in one matrix, and which row of x stands where. */
const luOp: Op = /* @__PURE__ */ defineOp({
  name: 'Lu',
  kernel: 'LU',
  kernelAttrs: ({ check }) => ({ complex: false, check: check as boolean }),
  ulp: 16,
  infer: ([x]) => [
    { dtype: x.dtype, shape: dims(x) },
    { dtype: 'int32', shape: dims(x).slice(0, -1) },
  ],
  grad: withAdjoints(gradOfLu),
  samples: () => [
    { inputs: [values([0.5, 2, -1, 3, 1, 0.25, -1, 4, 2], [3, 3])], attrs: { check: true } },
    { inputs: [values([1, 2, 4, -1, 3, 0.5, 0.25, 3], [2, 2, 2])], attrs: { check: false } },
    { inputs: [values([1, 2, 3, 5, -1, 0.5], [3, 2])], attrs: { check: false } },
    { inputs: [values([1, 2, 3, 5, -1, 0.5], [2, 3])], attrs: { check: false } },
  ],
});

/** The factors of matrices, which need not be square, and the order of rows. */
export const factored = (x: Tensor, check = false): readonly [lu: Tensor, order: Tensor] => {
  const [lu, order] = execute(luOp, [x], { check });
  return [lu, order];
};

/**
 * The factors L · U of square matrices [..., n, n] whose rows are exchanged: L, whose diagonal of ones is left out, and U in one matrix, and `p`
 * (int32 or int64 [..., n]), the row of the input that stands at each place.
 *
 *     const [lu, p] = tf.linalg.lu([[1, 2], [3, 4]]); // [[3, 4], [0.3333, 0.6667]], [1, 0]
 *
 * @throws InvalidArgumentError for matrices that are not square, or singular.
 */
export const lu: NamedFunction<
  [input: TensorLike],
  ['input'],
  {
    /** The dtype of the permutation; int32 by default. */
    readonly outputIdxType?: 'int32' | 'int64';
  },
  [lu: Tensor, p: Tensor]
> = /* @__PURE__ */ defineFunction(
  'linalg.lu',
  { input: kind.tensor },
  { outputIdxType: kind.asIs },
  (input, { outputIdxType = 'int32' }) => {
    const [factors, p] = factored(matricesOf(input, 'linalg.lu', { square: true }), true);
    if (outputIdxType !== 'int32' && outputIdxType !== 'int64')
      throw new InvalidArgumentError(
        `outputIdxType is ${String(outputIdxType)}, expected int32 or int64`,
        'linalg.lu',
      );
    return [factors, outputIdxType === 'int64' ? p.cast('int64') : p];
  },
);

// ---- QR

function gradOfDeepQr(q: Tensor, r: Tensor, dq: Tensor, dr: Tensor): Tensor {
  /** x · R⁻ᴴ. */
  const overR = (x: Tensor): Tensor => adjointOf(substituted(r, adjointOf(x), { lower: false }));
  const qdq = adjointTimes(q, dq);
  const rdr = timesAdjoint(r, dr);
  const lower = tril(qdq.sub(adjointOf(qdq)).add(rdr.sub(adjointOf(rdr))));
  let dx = matmul(q, dr.add(overR(lower))).add(overR(dq.sub(matmul(q, qdq))));
  if (q.dtype.startsWith('complex')) {
    const diagonal = diagPart(rdr.sub(adjointOf(qdq)));
    const correction = diag(diagonal.sub(real(diagonal).cast(q.dtype)));
    dx = dx.add(overR(matmul(q, adjointOf(correction))));
  }
  return dx;
}

function gradOfQr(g: GradContext, dy: Tensor, more: Tensor | null): Tensor {
  const [q, r] = g.outputs;
  const dr = more ?? r.mul(0);
  const [m, n] = dims(g.x).slice(-2);
  if (g.attrs['fullMatrices'] === true && !atMost(m, n))
    throw new UnimplementedError(
      'the vectors of matrices with more rows than columns have no gradient with fullMatrices; leave it out',
      'Qr',
    );
  if (atMost(n, m)) return gradOfDeepQr(q, r, dy, dr);
  // Of x = [a, b] and r = [u, v]: that of a = q · u, and of b = q · v.
  const left = (x: Tensor): Tensor => partOf(x, 1, 0, m);
  const right = (x: Tensor): Tensor => partOf(x, 1, m, subDims(n, m));
  const dv = right(dr);
  const da = gradOfDeepQr(q, left(r), dy.add(timesAdjoint(right(g.x), dv)), left(dr));
  return concat([da, matmul(q, dv)], -1);
}

/** Orthonormal columns and upper triangular matrices. */
const qrOp: Op = /* @__PURE__ */ defineOp({
  name: 'Qr',
  kernel: 'QR',
  kernelAttrs: () => ({ complex: false }),
  ulp: 32,
  infer: ([x], { fullMatrices }) => {
    const lead = dims(x).slice(0, -2);
    const [m, n] = dims(x).slice(-2);
    const p = fullMatrices === true || atMost(m, n) ? m : n;
    return [
      { dtype: x.dtype, shape: [...lead, m, p] },
      { dtype: x.dtype, shape: [...lead, p, n] },
    ];
  },
  grad: withAdjoints((g, dy, more) => gradOfQr(g, dy, more ?? null)),
  samples: () => [
    { inputs: [values([1, 2, 3, -1, 0.5, 2], [3, 2])], attrs: { fullMatrices: false } },
    { inputs: [values([1, 2, -3, 1, 0.5, 2, 4, 1], [2, 2, 2])], attrs: { fullMatrices: true } },
    { inputs: [values([1, 2, 3, -1, 0.5, 2], [2, 3])], attrs: { fullMatrices: false } },
  ],
});

/** Orthonormal columns and upper triangular matrices; all columns with `fullMatrices`. */
export function qrOf(x: Tensor, fullMatrices: boolean): [q: Tensor, r: Tensor] {
  const [q, r] = execute(qrOp, [x], { fullMatrices });
  return [q, r];
}

/**
 * Orthonormal columns q [..., m, p] and upper triangular r [..., p, n] with q · r = input [..., m, n]; p is min(m, n), or m with `fullMatrices`. By
 * Householder's reflections, so r may have negative numbers on its diagonal.
 * @throws InvalidArgumentError for what are no matrices; UnimplementedError for the gradient with `fullMatrices` where m > n.
 */
export const qr: NamedFunction<
  [input: TensorLike],
  ['input'],
  {
    /** Whether q is square, and r has as many rows; false by default. */
    readonly fullMatrices?: boolean;
  },
  [q: Tensor, r: Tensor]
> = /* @__PURE__ */ defineFunction(
  'linalg.qr',
  { input: kind.tensor },
  { fullMatrices: kind.asIs },
  (input, { fullMatrices }) =>
    qrOf(matricesOf(input, 'linalg.qr'), checkFlag(fullMatrices, 'fullMatrices', 'linalg.qr')),
);

// ---- eigenvalues of Hermitian matrices

/** x/(x² + ε), which is 1/x, and 0 where x is. */
const safeReciprocal = (x: Tensor): Tensor => x.div(x.mul(x).add(1e-20));

function gradOfEigh(g: GradContext, de: Tensor, dv: Tensor | null): Tensor {
  const [e, v] = (g.attrs['computeV'] === true ? g.outputs : execute(eighOp, [g.x], { computeV: true })) as [
    Tensor,
    Tensor,
  ];
  let middle = diag(de);
  if (dv !== null) {
    const f = setDiag(safeReciprocal(e.expandDims(-2).sub(e.expandDims(-1))), e.mul(0));
    middle = middle.add(f.mul(adjointTimes(v, dv)));
  }
  const dx = matmul(v, timesAdjoint(middle, v));
  // Only the lower triangle is read.
  return halfDiagonal(tril(dx.add(adjointOf(dx))));
}

/** The eigenvalues of Hermitian matrices in rising order and, with `computeV`, their eigenvectors. */
const eighOp: Op = /* @__PURE__ */ defineOp({
  name: 'SelfAdjointEigV2',
  kernel: 'SelfAdjointEig',
  kernelAttrs: () => ({ complex: false }),
  ulp: 64,
  infer: ([x], { computeV }) => {
    const [{ dtype }, shape] = [x, dims(x)];
    const found = { dtype, shape: shape.slice(0, -1) };
    return computeV === true ? [found, { dtype, shape }] : [found];
  },
  grad: withAdjoints((g, de, dv) => gradOfEigh(g, de, dv ?? null)),
  samples: () => [
    { inputs: [values(POSITIVE, [3, 3])], attrs: { computeV: false } },
    { inputs: [values(POSITIVE, [3, 3])], attrs: { computeV: true } },
    { inputs: [values([2, 1, 1, 3, 1, 0, -2, 5], [2, 2, 2])], attrs: { computeV: true } },
  ],
});

/** Eigenvalues, of the dtype of x, and eigenvectors. */
export function eighOf(x: Tensor): [e: Tensor, v: Tensor] {
  const [e, v] = execute(eighOp, [x], { computeV: true });
  return [e, v];
}

/**
 * Eigenvalues [..., n] in rising order and eigenvectors [..., n, n] of symmetric (Hermitian) matrices [..., n, n], of which only the lower triangle is read:
 * tensor · v = v · diag(e). Vectors are the columns of v, of length 1; each is unique but for a factor of size 1. Eigenvalues have the dtype of
 * the matrices.
 * @returns [e, v]
 * @throws InvalidArgumentError for matrices that are not square.
 */
export const eigh: NamedFunction<[tensor: TensorLike], ['tensor'], unknown, [e: Tensor, v: Tensor]> =
  /* @__PURE__ */ defineFunction('linalg.eigh', { tensor: kind.tensor }, {}, (tensor) =>
    eighOf(matricesOf(tensor, 'linalg.eigh', { square: true })),
  );

/** The eigenvalues of symmetric (Hermitian) matrices in rising order: `tf.linalg.eigh(tensor)[0]`. */
export const eigvalsh: NamedFunction<[tensor: TensorLike], ['tensor']> = /* @__PURE__ */ defineFunction(
  'linalg.eigvalsh',
  { tensor: kind.tensor },
  {},
  (tensor) =>
    execute1(eighOp, [matricesOf(tensor, 'linalg.eigvalsh', { square: true })], { computeV: false }),
);
