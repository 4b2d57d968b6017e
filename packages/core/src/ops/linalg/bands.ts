// Matrices of which only a band around the diagonal is given: three diagonals, or triangles of a few.
import { InvalidArgumentError, isComplex } from '@eagre/backend';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { defineOp, execute1, type Op } from '../../dispatch/op.ts';
import { uniform, values } from '../../dispatch/samples.ts';
import { addDims, type Dim, mulDims, subDims } from '../../shapes/dim.ts';
import { dims, toShape } from '../../shapes/dims.ts';
import { checkFlag, showShape } from '../../shapes/shape.ts';
import { equalDims } from '../../shapes/shape-env.ts';
import { differs, sizeValue } from '../../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { booleanMask } from '../array/gather.ts';
import { iota } from '../array/iota.ts';
import { stack } from '../array/join.ts';
import { pad, reshape } from '../array/shaping.ts';
import { real } from '../elementwise/complex.ts';
import { where } from '../elementwise/select.ts';
import { conjugated, matricesOf, sameBatch, withAdjoints } from './adjoint.ts';
import { eighOf, substituted } from './factors.ts';

/** A size to compute with. */
const count = (n: Dim): number | Tensor => sizeValue(n, 'int32');
const last = (x: Tensor): Dim => dims(x)[x.rank - 1];

/** x moved by one place along an axis counted from the end (1 or 2), with a 0 where nothing comes from. */
function moved(x: Tensor, fromEnd: 1 | 2, towardsEnd: boolean): Tensor {
  const axis = x.rank - fromEnd;
  const kept = toShape(dims(x).map((d, i) => (i === axis ? subDims(d, 1) : d)));
  const begin = dims(x).map((_, i) => (i === axis && !towardsEnd ? 1 : 0));
  const zeros = dims(x).map((_, i): [number, number] => (i !== axis ? [0, 0] : towardsEnd ? [1, 0] : [0, 1]));
  return pad(x.slice(begin, kept), zeros);
}
/** The diagonals of the transposed matrices. */
export function transposedDiagonals(diagonals: Tensor): Tensor {
  const [upper, main, lower] = rowsOf(diagonals);
  return stack([moved(lower, 1, false), main, moved(upper, 1, true)], -2);
}
const rowsOf = (diagonals: Tensor): readonly [upper: Tensor, main: Tensor, lower: Tensor] => [
  diagonals.at('...', 0, ':'),
  diagonals.at('...', 1, ':'),
  diagonals.at('...', 2, ':'),
];
/** The three diagonals of x · yᵀ. */
function diagonalsOfProduct(x: Tensor, y: Tensor): Tensor {
  const of = (other: Tensor): Tensor => x.mul(other).sum(-1);
  return stack([of(moved(y, 2, false)), of(y), of(moved(y, 2, true))], -2);
}

const DIAGONALS = values([1, -0.5, 0, 4, 3, 5, 0, 0.5, 2], [3, 3]);

/** Solutions of systems of three diagonals. */
const solveOp: Op = /* @__PURE__ */ defineOp({
  name: 'TridiagonalSolve',
  kernel: 'TridiagonalSolve',
  kernelAttrs: ({ pivoting }) => ({ complex: false, pivoting: pivoting as boolean }),
  ulp: 32,
  infer: ([, b]) => ({ dtype: b.dtype, shape: dims(b) }),
  grad: withAdjoints((g, dy) => {
    const db = execute1(solveOp, [conjugated(transposedDiagonals(g.a)), dy], g.attrs);
    return [diagonalsOfProduct(db, conjugated(g.y)).neg(), db];
  }),
  samples: () => [
    { inputs: [DIAGONALS, uniform([3, 2])], attrs: { pivoting: true } },
    { inputs: [DIAGONALS, uniform([3, 1])], attrs: { pivoting: false } },
  ],
});

/** Products of matrices of three diagonals. */
const matmulOp: Op = /* @__PURE__ */ defineOp({
  name: 'TridiagonalMatMul',
  ulp: 16,
  // The diagonals are [..., 1, n], as in TensorFlow.
  compose: ([upper, main, lower, x]) => {
    const column = (d: Tensor): Tensor => d.squeeze(-2).expandDims(-1);
    return column(main)
      .mul(x)
      .add(column(upper).mul(moved(x, 2, false)))
      .add(column(lower).mul(moved(x, 2, true)));
  },
  samples: () => [{ inputs: [uniform([1, 3]), uniform([1, 3]), uniform([1, 3]), uniform([3, 2])] }],
});

/** How three diagonals are given. */
export type DiagonalsFormat = 'compact' | 'sequence' | 'matrix';
/** Three diagonals. */
export type Diagonals =
  | TensorLike
  | readonly [superdiag: TensorLike, maindiag: TensorLike, subdiag: TensorLike];

/** Three diagonals [..., 3, n] of what is given. */
export function compactOf(diagonals: Diagonals, format: DiagonalsFormat, name: string): Tensor {
  if (format === 'compact') {
    const t = matricesOf(diagonals as TensorLike, name, { what: 'diagonals' });
    if (differs(dims(t)[t.rank - 2], 3))
      throw new InvalidArgumentError(`diagonals has shape ${showShape(t.shape)}, expected [..., 3, n]`, name);
    return t;
  }
  if (format === 'matrix')
    return diagonalsOf(matricesOf(diagonals as TensorLike, name, { square: true, what: 'diagonals' }));
  if (format !== 'sequence')
    throw new InvalidArgumentError(
      `diagonalsFormat is ${String(format)}, expected 'compact', 'sequence' or 'matrix'`,
      name,
    );
  if (!Array.isArray(diagonals) || diagonals.length !== 3)
    throw new InvalidArgumentError(
      'diagonals must be a list of three: above, on and below the main one',
      name,
    );
  const main = toTensor(diagonals[1] as TensorLike);
  const n = last(main);
  const filled = (value: TensorLike, what: string, atStart: boolean): Tensor => {
    const t = toTensor(value, main.dtype);
    if (t.rank !== main.rank || main.rank === 0)
      throw new InvalidArgumentError(
        `the ${what} has shape ${showShape(t.shape)}, expected the rank of the others`,
        name,
      );
    if (equalDims(last(t), n)) return t;
    if (differs(addDims(last(t), 1), n))
      throw new InvalidArgumentError(
        `the ${what} has length ${last(t)}, expected ${String(subDims(n, 1))} or ${n}`,
        name,
      );
    return pad(
      t,
      dims(t).map((_, i): [number, number] => (i < t.rank - 1 ? [0, 0] : atStart ? [1, 0] : [0, 1])),
    );
  };
  const rows = [
    filled(diagonals[0] as TensorLike, 'superdiagonal', false),
    main,
    filled(diagonals[2] as TensorLike, 'subdiagonal', true),
  ];
  return matricesOf(stack(rows, -2), name, { what: 'diagonals' });
}

/** The three diagonals of square matrices, as `compactOf` has them. */
function diagonalsOf(x: Tensor): Tensor {
  const n = last(x);
  const rows = iota(n);
  const columns = [rows.add(1), rows, rows.sub(1)].map((c) => {
    const there = c.greaterEqual(0).logicalAnd(c.less(count(n)));
    const place = rows.mul(count(n)).add(where(there, c, 0));
    const flat = reshape(x, toShape([...dims(x).slice(0, -2), mulDims(n, n)]));
    return where(there, flat.gather(place, -1), 0);
  });
  return stack(columns, -2);
}

interface DiagonalsOptions {
  /** `compact` ([..., 3, n], the default), `sequence` (three diagonals), or `matrix` ([..., n, n]). */
  readonly diagonalsFormat?: DiagonalsFormat;
}
/** Options of `tridiagonalSolve`. */
export interface TridiagonalSolveOptions extends DiagonalsOptions {
  /** Whether the matrices of `rhs` are transposed before. */
  readonly transposeRhs?: boolean;
  /** Whether the conjugate of `rhs` is taken before. */
  readonly conjugateRhs?: boolean;
  /** Whether rows may be exchanged; true by default. */
  readonly partialPivoting?: boolean;
}

/**
 * The solutions of systems of three diagonals: those above, on and below the main one, [..., 3, n] (the last number of the first row and the first one
 * of the last do not count), of right sides [..., n, k] or [..., n]. NaN where there is none.
 *
 *     tf.linalg.tridiagonalSolve([[1, 1, 0], [2, 2, 2], [0, 1, 1]], [3, 4, 3]); // [1, 1, 1]
 *
 * @throws InvalidArgumentError for shapes that do not fit.
 */
export const tridiagonalSolve: NamedFunction<
  [diagonals: Diagonals, rhs: TensorLike],
  ['diagonals', 'rhs'],
  TridiagonalSolveOptions
> = /* @__PURE__ */ defineFunction(
  'linalg.tridiagonalSolve',
  { diagonals: kind.asIs, rhs: kind.tensor },
  {
    diagonalsFormat: kind.asIs,
    transposeRhs: kind.asIs,
    conjugateRhs: kind.asIs,
    partialPivoting: kind.asIs,
  },
  (diagonals, rhs, options) => {
    const name = 'linalg.tridiagonalSolve';
    const d = compactOf(diagonals, options.diagonalsFormat ?? 'compact', name);
    let b = toTensor(rhs, d.dtype);
    if (checkFlag(options.conjugateRhs, 'conjugateRhs', name)) b = conjugated(b);
    const vectors = b.rank === d.rank - 1;
    if (vectors) b = b.expandDims(-1);
    else if (checkFlag(options.transposeRhs, 'transposeRhs', name)) b = b.swapAxes(-1, -2);
    checkSides(d, b, name);
    const pivoting =
      options.partialPivoting === undefined || checkFlag(options.partialPivoting, 'partialPivoting', name);
    const x = execute1(solveOp, sameBatch(d, b, name), { pivoting });
    return vectors ? x.squeeze(-1) : x;
  },
);

function checkSides(d: Tensor, b: Tensor, name: string): void {
  if (b.rank < 2 || differs(last(d), dims(b)[b.rank - 2]))
    throw new InvalidArgumentError(
      `the diagonals have shape ${showShape(d.shape)} and the right side ${showShape(b.shape)}: they differ in length`,
      name,
    );
}

/**
 * Products of matrices of three diagonals, as `tridiagonalSolve` takes them, and matrices [..., n, k].
 * @throws InvalidArgumentError for shapes that do not fit.
 */
export const tridiagonalMatmul: NamedFunction<
  [diagonals: Diagonals, rhs: TensorLike],
  ['diagonals', 'rhs'],
  DiagonalsOptions
> = /* @__PURE__ */ defineFunction(
  'linalg.tridiagonalMatmul',
  { diagonals: kind.asIs, rhs: kind.tensor },
  { diagonalsFormat: kind.asIs },
  (diagonals, rhs, { diagonalsFormat = 'compact' }) => {
    const name = 'linalg.tridiagonalMatmul';
    const d = compactOf(diagonals, diagonalsFormat, name);
    const b = matricesOf(toTensor(rhs, d.dtype), name, { what: 'rhs' });
    checkSides(d, b, name);
    const [full, right] = sameBatch(d, b, name);
    return execute1(matmulOp, [...rowsOf(full).map((row) => row.expandDims(-2)), right]);
  },
);

/** Square matrices of diagonals [..., k, n]: element (i, j) is that of diagonal `diagonal(i, j)` at place `place(i, j)`, or 0 where there is none. */
function spread(bands: Tensor, diagonal: (i: Tensor, j: Tensor) => Tensor, byRow: boolean): Tensor {
  const [k, n] = dims(bands).slice(-2);
  const j = iota(n);
  const i = j.expandDims(-1);
  const which = diagonal(i, j);
  const there = which.greaterEqual(0).logicalAnd(which.less(count(k)));
  const place = where(there, which, 0)
    .mul(count(n))
    .add(byRow ? i : j);
  const flat = reshape(bands, toShape([...dims(bands).slice(0, -2), mulDims(k, n)]));
  return where(there, flat.gather(place, -1), 0);
}

/** Options of `bandedTriangularSolve`. */
export interface BandedTriangularSolveOptions {
  /** Whether the triangles are lower ones (true, the default), the main diagonal first, or upper ones, the main one last. */
  readonly lower?: boolean;
  /** Whether the adjoint of the triangles is meant; false by default. */
  readonly adjoint?: boolean;
}

/**
 * The solutions of triangular systems of a few diagonals [..., k, n], of right sides [..., n, m] or [..., n]. Element (i, j) of the matrix stands in column i of
 * its diagonal; what is left of the beginning or behind the end of the matrix does not count.
 * @throws InvalidArgumentError for shapes that do not fit.
 */
export const bandedTriangularSolve: NamedFunction<
  [bands: TensorLike, rhs: TensorLike],
  ['bands', 'rhs'],
  BandedTriangularSolveOptions
> = /* @__PURE__ */ defineFunction(
  'linalg.bandedTriangularSolve',
  { bands: kind.tensor, rhs: kind.tensor },
  { lower: kind.asIs, adjoint: kind.asIs },
  (bands, rhs, options) => {
    const name = 'linalg.bandedTriangularSolve';
    const d = matricesOf(bands, name, { what: 'bands' });
    const k = dims(d)[d.rank - 2];
    const lower = options.lower === undefined || checkFlag(options.lower, 'lower', name);
    const adjoint = checkFlag(options.adjoint, 'adjoint', name);
    let b = toTensor(rhs, d.dtype);
    const vectors = b.rank === d.rank - 1;
    if (vectors) b = b.expandDims(-1);
    checkSides(d, b, name);
    const matrix = spread(d, (i, j) => (lower ? i.sub(j) : i.sub(j).add(count(k)).sub(1)), true);
    const x = substituted(matrix, b, { lower, adjoint });
    return vectors ? x.squeeze(-1) : x;
  },
);

/** Options of `eighTridiagonal`. */
export interface EighTridiagonalOptions {
  /** Whether eigenvalues alone are wanted; true by default. */
  readonly eigvalsOnly?: boolean;
  /** All eigenvalues (`a`, the default), those of places (`i`), or those in an interval (`v`). */
  readonly select?: 'a' | 'i' | 'v';
  /** The first and the last place, or the ends of the interval (min, max]. */
  readonly selectRange?: readonly [number, number];
}
/** The function `eighTridiagonal`. */
export type EighTridiagonal = NamedFunction<
  [alpha: TensorLike, beta: TensorLike],
  ['alpha', 'beta'],
  EighTridiagonalOptions,
  Tensor | [eigvals: Tensor, eigvectors: Tensor]
>;

/**
 * The eigenvalues of one symmetric (Hermitian) matrix of three diagonals, in rising order, and its eigenvectors [n, k] as columns where `eigvalsOnly` is false.
 * @param alpha the main diagonal [n], of which the real part counts
 * @param beta the diagonal above it [n − 1]
 * @throws InvalidArgumentError for shapes that do not fit, and for ranges that are empty.
 */
export const eighTridiagonal: EighTridiagonal = /* @__PURE__ */ defineFunction(
  'linalg.eighTridiagonal',
  { alpha: kind.tensor, beta: kind.tensor },
  { eigvalsOnly: kind.asIs, select: kind.asIs, selectRange: kind.asIs },
  (alpha, beta, { eigvalsOnly, select = 'a', selectRange }) => {
    const name = 'linalg.eighTridiagonal';
    const main = toTensor(alpha);
    const above = toTensor(beta, main.dtype);
    if (main.rank !== 1 || above.rank !== 1 || differs(addDims(last(above), 1), last(main)))
      throw new InvalidArgumentError(
        `alpha has shape ${showShape(main.shape)} and beta ${showShape(above.shape)}, expected [n] and [n - 1]`,
        name,
      );
    const rows = [pad(above, [[0, 1]]), main, pad(conjugated(above), [[1, 0]])];
    const [diagonals] = [matricesOf(stack(rows, -2), name, { what: 'alpha' })];
    const whole = spread(diagonals, (i, j) => i.sub(j).add(1), true);
    const [e, vectors] = eighOf(whole);
    const found = isComplex(e.dtype) ? real(e) : e;
    const wanted = chosen(found, select, selectRange, name);
    const onlyValues = eigvalsOnly === undefined || checkFlag(eigvalsOnly, 'eigvalsOnly', name);
    return onlyValues ? wanted(found, 0) : [wanted(found, 0), wanted(vectors, 1)];
  },
) as EighTridiagonal;

type Choose = (x: Tensor, axis: number) => Tensor;
function chosen(
  e: Tensor,
  select: unknown,
  range: readonly [number, number] | undefined,
  name: string,
): Choose {
  if (select === 'a') return (x) => x;
  if (select !== 'i' && select !== 'v')
    throw new InvalidArgumentError(`select is ${String(select)}, expected 'a', 'i' or 'v'`, name);
  if (!Array.isArray(range) || range.length !== 2 || range.some((x) => typeof x !== 'number'))
    throw new InvalidArgumentError(`selectRange must be two numbers with select: '${select}'`, name);
  const [low, high] = range as readonly [number, number];
  if (select === 'i' ? low > high : low >= high)
    throw new InvalidArgumentError(`selectRange [${low}, ${high}] is empty`, name);
  if (select === 'v') {
    const inside = e.greater(low).logicalAnd(e.lessEqual(high));
    return (x, axis) => booleanMask(x, inside, axis);
  }
  return (x, axis) => (axis === 0 ? x.at(`${low}:${high + 1}`) : x.at(':', `${low}:${high + 1}`));
}
