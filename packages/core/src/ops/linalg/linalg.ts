// Matrices and their products. Every function here takes a tensor first and is a method too.
import { type DType, holdsEvery, InvalidArgumentError, isComplex, isHalf } from '@eagre/backend';
import type { IntegerLike, IntegersLike } from '../../arguments/argument-kinds.ts';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { checkOneOf, shown } from '../../arguments/checks.ts';
import { currentBackend } from '../../dispatch/context.ts';
import { defineOp, execute1, type Op, pair } from '../../dispatch/op.ts';
import { integers, uniform } from '../../dispatch/samples.ts';
import { addDims, type Dim, type Dims, maxDims, mulDims, subDims } from '../../shapes/dim.ts';
import { dims, sizeOfDims, toShape } from '../../shapes/dims.ts';
import {
  broadcastShapes,
  checkList,
  listOf,
  normalizeAxes,
  normalizeAxis,
  sameShape,
  showShape,
} from '../../shapes/shape.ts';
import { atMost, lessThan, mayBeEqual } from '../../shapes/shape-env.ts';
import { checkSize, differs } from '../../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType } from '../../tensor/dtypes.ts';
import { emptyTensor, spaceOf, type Tensor, uploaded, viewOf } from '../../tensor/tensor.ts';
import { iota } from '../array/iota.ts';
import { disposeAll } from '../array/moving.ts';
import { expandDims, identity, pad, reshape, squeeze, stopGradient, transpose } from '../array/shaping.ts';
import { slice } from '../array/slicing.ts';
import {
  type Band,
  type DiagonalAlign,
  diagonalsOp,
  diagonalsPartOp,
  longest,
  setDiagonalsOp,
} from './diagonals.ts';

export type { DiagonalAlign };

import { checkProduct, factor, matMulOp, permuted, type Turns } from './products.ts';

// ---- products

/** Options of `matmul`. */
export interface MatMulOptions extends Turns {
  /** The dtype in which products are computed and added: one that holds all numbers of a's and b's dtype, which it is by default. */
  readonly outputType?: DType;
}

/** Both in the dtype of their product. */
function widened(a: Tensor, b: Tensor, dtype: DType | undefined): [Tensor, Tensor] {
  if (dtype === undefined || dtype === a.dtype) return [a, b];
  checkDType(dtype, 'numeric', 'outputType', 'MatMul');
  if (!holdsEvery(a.dtype, dtype))
    throw new InvalidArgumentError(`outputType ${dtype} does not hold every ${a.dtype}`, 'MatMul');
  return [a.cast(dtype), b.cast(dtype)];
}

/**
 * Products of the matrices in the last two axes: [..., m, k] and [..., k, n] give [..., m, n]. Leading axes broadcast.
 * float32, float64, int32 or int64.
 * @param options.transposeA takes the matrices of a as [..., k, m]; `transposeB` those of b as [..., n, k].
 * @throws InvalidArgumentError for vectors (use `matvec` or `dot`) and for dimensions that do not fit.
 */
export const matmul: NamedFunction<[a: TensorLike, b: TensorLike], ['a', 'b'], MatMulOptions> =
  defineFunction(
    'matmul',
    { a: kind.tensor, b: kind.tensor },
    {
      transposeA: kind.asIs,
      transposeB: kind.asIs,
      adjointA: kind.asIs,
      adjointB: kind.asIs,
      outputType: kind.asIs,
    },
    (a, b, options) => {
      const [left, right] = widened(...pair(a, b, 'MatMul'), options.outputType);
      const [x, transposeA] = factor(left, 'A', options, 'MatMul');
      const [y, transposeB] = factor(right, 'B', options, 'MatMul');
      checkProduct(x, y, transposeA, transposeB, 'MatMul');
      const attrs = { transposeA, transposeB };
      if (y.rank > 2 || x.rank === 2 || transposeA) {
        broadcastShapes(dims(x).slice(0, -2), dims(y).slice(0, -2), 'MatMul');
        return execute1(matMulOp, [x, y], attrs);
      }
      // One matrix for all rows: one large product instead of many, and the same for its gradient.
      const lead = dims(x).slice(0, -1);
      const rows = reshape(x, toShape([sizeOfDims(lead), dims(x)[x.rank - 1]]));
      const flat = execute1(matMulOp, [rows, y], attrs);
      return disposeAll(reshape(flat, toShape([...lead, dims(flat)[1]])), rows, flat);
    },
  );

/**
 * The product of a matrix and vectors: [..., m, k] and [..., k] give [..., m]; leading axes broadcast.
 * @param options.adjointA as `transposeA`, with the conjugates of complex numbers.
 */
export const matvec: NamedFunction<
  [a: TensorLike, x: TensorLike],
  ['a', 'x|b'],
  {
    /** Whether the matrix is transposed first; false by default. */
    transposeA?: boolean;
    /** Whether the matrix is transposed and conjugated first; false by default. */
    adjointA?: boolean;
  }
> = defineFunction(
  'matvec',
  { a: kind.tensor, 'x|b': kind.tensor },
  { transposeA: kind.asIs, adjointA: kind.asIs },
  (a, x, options) => {
    const [m, v] = pair(a, x, 'matvec');
    if (m.rank < 2 || v.rank < 1) {
      throw new InvalidArgumentError(
        `shapes ${showShape(m.shape)} and ${showShape(v.shape)} are not a matrix (rank 2 or more) and a vector`,
        'matvec',
      );
    }
    return squeeze(matmul(m, expandDims(v, -1), options), -1);
  },
);

/**
 * Sum of the products of two vectors. With more axes, as in NumPy: over the last axis of a and the last but one (or only) of
 * b; a scalar multiplies.
 */
export const dot: NamedFunction<[a: TensorLike, b: TensorLike], ['a', 'b']> = defineFunction(
  'dot',
  { a: kind.tensor, b: kind.tensor },
  {},
  (a, b) => {
    const [x, y] = pair(a, b, 'dot');
    if (x.rank === 0 || y.rank === 0) return x.mul(y);
    if (x.rank === 1 && y.rank === 1) {
      if (!mayBeEqual(dims(x)[0], dims(y)[0])) throw differ(x, y, 'dot');
      return x.mul(y).sum();
    }
    return tensordot(x, y, [[x.rank - 1], [Math.max(0, y.rank - 2)]]);
  },
);

function differ(a: Tensor, b: Tensor, op: string): InvalidArgumentError {
  return new InvalidArgumentError(
    `the summed axes of shapes ${showShape(a.shape)} and ${showShape(b.shape)} differ in size`,
    op,
  );
}

/** All products of an element of a and one of b, both flattened: [size of a, size of b]. */
export const outer: NamedFunction<[a: TensorLike, b: TensorLike], ['a', 'b']> = defineFunction(
  'outer',
  { a: kind.tensor, b: kind.tensor },
  {},
  (a, b) => {
    const [x, y] = pair(a, b, 'outer');
    return reshape(x, toShape([sizeOfDims(dims(x)), 1])).mul(reshape(y, toShape([1, sizeOfDims(dims(y))])));
  },
);

/**
 * Sums products over pairs of axes: a number n means the last n of a with the first n of b, `[[…], […]]` names them. The
 * result has the other axes of a, then those of b. `tf.tensordot(a, b, [[0, 1], [1, 0]])`
 */
export const tensordot: NamedFunction<
  [
    a: TensorLike,
    b: TensorLike,
    axes: IntegerLike | readonly [IntegerLike | IntegersLike, IntegerLike | IntegersLike] | Tensor,
  ],
  ['a', 'b', 'axes']
> = defineFunction(
  'tensordot',
  { a: kind.tensor, b: kind.tensor, axes: kind.axisLists },
  {},
  (a, b, axes: number | readonly [number | readonly number[], number | readonly number[]]) => {
    const [x, y] = pair(a, b, 'tensordot');
    let left: readonly number[];
    let right: readonly number[];
    if (typeof axes === 'number') {
      if (!Number.isInteger(axes) || axes < 0 || axes > Math.min(x.rank, y.rank)) {
        throw new InvalidArgumentError(
          `axes is ${axes}, expected 0 … ${Math.min(x.rank, y.rank)}`,
          'tensordot',
        );
      }
      left = Array.from({ length: axes }, (_, i) => x.rank - axes + i);
      right = Array.from({ length: axes }, (_, i) => i);
    } else {
      const list = (v: number | readonly number[]): readonly number[] => listOf(v, 'axes', 'tensordot');
      checkList<unknown>(axes, 'axes', 'tensordot');
      left = list(axes[0]).map((i) => normalizeAxis(i, x.rank, 'tensordot'));
      right = list(axes[1]).map((i) => normalizeAxis(i, y.rank, 'tensordot'));
    }
    if (new Set(left).size !== left.length || new Set(right).size !== right.length) {
      throw new InvalidArgumentError(`axes [[${left}], [${right}]] contain an axis twice`, 'tensordot');
    }
    if (left.length !== right.length || left.some((l, i) => !mayBeEqual(dims(x)[l], dims(y)[right[i]])))
      throw differ(x, y, 'tensordot');
    const freeX = normalizeAxes(null, x.rank).filter((i) => !left.includes(i));
    const freeY = normalizeAxes(null, y.rank).filter((i) => !right.includes(i));
    const along = (t: Tensor, list: readonly number[]): Dims => list.map((i) => dims(t)[i]);
    const k = sizeOfDims(along(x, left));
    const p = reshape(permuted(x, [...freeX, ...left]), toShape([sizeOfDims(along(x, freeX)), k]));
    const q = reshape(permuted(y, [...right, ...freeY]), toShape([k, sizeOfDims(along(y, freeY))]));
    return reshape(matmul(p, q), toShape([...along(x, freeX), ...along(y, freeY)]));
  },
);

// ---- parts of matrices

function toMatrix(x: TensorLike, op: string): Tensor {
  const t = toTensor(x);
  if (t.rank < 2)
    throw new InvalidArgumentError(
      `x has shape ${showShape(t.shape)}, expected matrices (rank 2 or more)`,
      op,
    );
  checkDType(t.dtype, 'any', 'x', op);
  return t;
}

/**
 * Exchanges the last two axes.
 * @param options.conjugate whether to take the conjugates of complex numbers, too.
 */
export const matrixTranspose: NamedFunction<
  [x: TensorLike],
  ['x|a'],
  {
    /** Whether complex elements are conjugated too; false by default. */
    conjugate?: boolean;
  }
> = defineFunction('matrixTranspose', { 'x|a': kind.tensor }, { conjugate: kind.asIs }, (x, options) => {
  const t = toMatrix(x, 'matrixTranspose');
  const axes = dims(t).map((_, i) => i);
  return transpose(t, [...axes.slice(0, -2), t.rank - 1, t.rank - 2], options);
});

// A diagonal is every (columns + 1)-th element of the flat matrix, so padding and reshaping move it to where it belongs.

/** How long the diagonals of matrices are; a trace in which rows are fewer holds only where they are. */
function shorter(x: Tensor): Dim {
  const [m, n] = dims(x).slice(-2);
  return atMost(m, n) ? m : n;
}

/** Zeros behind the elements of the last axes. */
function padEnds(x: Tensor, counts: Dims): Tensor {
  const before = x.rank - counts.length;
  return pad(
    x,
    dims(x).map((_, i) => toShape([0, i < before ? 0 : counts[i - before]]) as never),
  );
}

/** Matrices with the given diagonals and zeros elsewhere. */
const diagOp: Op = defineOp({
  name: 'MatrixDiag',
  compose: ([x]) => {
    const n = dims(x)[x.rank - 1];
    const lead = dims(x).slice(0, -1);
    const rows = padEnds(expandDims(x, -1), [n]);
    const flat = reshape(rows, toShape([...lead, mulDims(n, addDims(n, 1))]));
    const square = slice(flat, new Array<number>(x.rank).fill(0), toShape([...lead, mulDims(n, n)]));
    return reshape(square, toShape([...lead, n, n]));
  },
  samples: () => [{ inputs: [uniform([3])] }, { inputs: [uniform([2, 3])] }, { inputs: [uniform([1])] }],
});
/** The diagonals of matrices. */
const diagPartOp: Op = defineOp({
  name: 'MatrixDiagPart',
  compose: ([x]) => {
    const lead = dims(x).slice(0, -2);
    const n = shorter(x);
    const zeros = new Array<number>(x.rank).fill(0);
    const square = slice(x, zeros, toShape([...lead, n, n]));
    const flat = padEnds(reshape(square, toShape([...lead, mulDims(n, n)])), [n]);
    const rows = reshape(flat, toShape([...lead, n, addDims(n, 1)]));
    return reshape(slice(rows, zeros, toShape([...lead, n, 1])), toShape([...lead, n]));
  },
  samples: () => [
    { inputs: [uniform([3, 3])] },
    { inputs: [uniform([2, 2, 4])] },
    { inputs: [uniform([4, 2])] },
  ],
});

/** Which diagonals of matrices. */
export interface DiagonalOptions {
  /** 0 for the main one, 1 for the one above it, -1 for the one below; a pair is the lowest and the highest of several. */
  readonly k?: IntegerLike | IntegersLike;
  /** Where shorter diagonals lie in rows of the longest one's length: those above the main one, then those below it. */
  readonly align?: DiagonalAlign;
}
/** Options of `diagPart`. */
export interface DiagPartOptions extends DiagonalOptions {
  /** A scalar of x's dtype for what is neither on a diagonal nor of x, 0 if left out. No gradient flows to it. */
  readonly paddingValue?: TensorLike;
}
/** Options of `diag`. */
export interface DiagOptions extends DiagPartOptions {
  /** The matrices' size, the least one if left out or -1. */
  readonly numRows?: IntegerLike;
  /** The matrices' columns, as few as fit if left out or -1. */
  readonly numCols?: IntegerLike;
}

const diagonalKinds = { k: kind.oneOrMore, align: kind.asIs };
const paddedKinds = { ...diagonalKinds, paddingValue: kind.tensor };

const MAIN: Band = { low: 0, high: 0, align: 'RIGHT_LEFT' };

/** The diagonals that options name; null for the main one alone. */
function bandOf(options: DiagonalOptions, op: string): Band | null {
  const { k = 0, align = 'RIGHT_LEFT' } = options;
  checkOneOf(align, ['LEFT_LEFT', 'LEFT_RIGHT', 'RIGHT_LEFT', 'RIGHT_RIGHT'], 'align', op);
  const list: readonly unknown[] = Array.isArray(k) ? k : [k];
  const [low, high = low] = list as readonly number[];
  if (list.length > 2 || !Number.isInteger(low) || !Number.isInteger(high) || low > high)
    throw new InvalidArgumentError(
      `k is ${shown(k)}, expected an integer, or the lowest and the highest`,
      op,
    );
  return low === 0 && high === 0 ? null : { low, high, align };
}

/** @throws InvalidArgumentError for diagonals that m × n matrices do not have. */
function checkBand({ low, high }: Band, m: Dim, n: Dim, op: string): void {
  for (const k of [low, high]) {
    if (k !== 0 && !(k > 0 ? lessThan(k, n) : lessThan(-k, m)))
      throw new InvalidArgumentError(
        `k has ${k}, which is no diagonal of ${showShape([m, n] as never)} matrices`,
        op,
      );
  }
}

/** The value beside a matrix's diagonals: a scalar of its dtype. */
function paddingOf(x: Tensor, { paddingValue }: DiagPartOptions, op: string): Tensor {
  const nothing = x.dtype === 'bool' ? false : x.dtype === 'string' ? '' : 0;
  const [, value] = pair(x, paddingValue ?? nothing, op);
  if (value.rank !== 0 || value.dtype !== x.dtype)
    throw new InvalidArgumentError(
      `paddingValue is ${value.dtype} ${showShape(value.shape)}, expected a scalar of ${x.dtype}`,
      op,
    );
  return stopGradient(value);
}

/**
 * Matrices [..., n, n] with the diagonals [..., n] and zeros elsewhere.
 * @param options.k another diagonal than the main one; or several, of which x has rows: [..., high - low + 1, length] gives
 * [..., numRows, numCols], the highest first.
 */
export const diag: NamedFunction<[x: TensorLike], ['x|diagonal'], DiagOptions> = defineFunction(
  'diag',
  { 'x|diagonal': kind.tensor },
  { ...paddedKinds, numRows: kind.size, numCols: kind.size },
  (x, options: DiagOptions) => {
    const t = toTensor(x);
    if (t.rank === 0)
      throw new InvalidArgumentError('x is a scalar, expected a diagonal (rank 1 or more)', 'MatrixDiag');
    checkDType(t.dtype, 'any', 'x', 'MatrixDiag');
    const main = bandOf(options, 'MatrixDiag');
    const { numRows = -1, numCols = -1, paddingValue } = options;
    if (main === null && numRows === -1 && numCols === -1 && paddingValue === undefined)
      return execute1(diagOp, [t]);
    const band = main ?? MAIN;
    const { low, high } = band;
    if (low !== high && (t.rank < 2 || differs(dims(t)[t.rank - 2], high - low + 1)))
      throw new InvalidArgumentError(
        `x has shape ${showShape(t.shape)}, expected [..., ${high - low + 1}, length]`,
        'MatrixDiag',
      );
    const length = dims(t)[t.rank - 1];
    const least = [subDims(length, Math.min(high, 0)), addDims(length, Math.max(low, 0))];
    const given = [numRows, numCols].map((n, i) =>
      n === -1 ? null : checkSize(n, i === 0 ? 'numRows' : 'numCols', 'MatrixDiag'),
    );
    const both = maxDims(least[0], least[1]);
    const neither = given[0] === null && given[1] === null;
    const [rows, columns] = given.map((n, i) => n ?? (neither ? both : least[i]));
    // One of them is the least, or the diagonals would be longer.
    const fits = atMost(least[0], rows) && atMost(least[1], columns);
    if (!fits || differs(longest(rows, columns, band), length))
      throw new InvalidArgumentError(
        `diagonals of length ${length} do not fit ${showShape([rows, columns] as never)} matrices`,
        'MatrixDiag',
      );
    const attrs = { ...band, rows, columns };
    return execute1(diagonalsOp, [t, paddingOf(t, options, 'MatrixDiag')], attrs);
  },
);

/**
 * The diagonals of matrices: [..., m, n] gives [..., min(m, n)].
 * @param options.k another diagonal than the main one; or several, which are rows of the result, the highest first:
 * [..., high - low + 1, length of the longest].
 */
export const diagPart: NamedFunction<[x: TensorLike], ['x|input'], DiagPartOptions> = defineFunction(
  'diagPart',
  { 'x|input': kind.tensor },
  paddedKinds,
  (x, options: DiagPartOptions) => {
    const t = toMatrix(x, 'MatrixDiagPart');
    const band = bandOf(options, 'MatrixDiagPart');
    if (band === null) return execute1(diagPartOp, [t]);
    const [m, n] = dims(t).slice(-2);
    checkBand(band, m, n, 'MatrixDiagPart');
    return execute1(diagonalsPartOp, [t, paddingOf(t, options, 'MatrixDiagPart')], { ...band });
  },
);

/** A copy of matrices in memory of the host, with other diagonals. */
function withDiagonal(x: Tensor, diagonal: Tensor): Tensor {
  const [m, n] = x.shape.slice(-2) as [number, number];
  const expected = [...x.shape.slice(0, -2), Math.min(m, n)];
  if (!sameShape(diagonal.shape, expected))
    throw new InvalidArgumentError(
      `diagonal has shape ${showShape(diagonal.shape)}, expected ${showShape(expected)}`,
      'MatrixSetDiag',
    );
  const y = emptyTensor(x.dtype, x.shape, x.size);
  const to = spaceOf(y);
  to.set(viewOf(x) as never);
  const view = viewOf(diagonal);
  // Apart, as V8 compiles it for one kind of array.
  if (to instanceof Float32Array) putFloats(to, view as Float32Array, m, n);
  else putAny(to as Float64Array, view as Float64Array, m, n);
  return uploaded(y, to);
}
function putFloats(to: Float32Array, from: Float32Array, m: number, n: number): void {
  const length = Math.min(m, n);
  for (let k = 0, start = 0; k < from.length; k += length, start += m * n)
    for (let i = 0; i < length; i++) to[start + i * (n + 1)] = from[k + i];
}
function putAny(to: Float64Array, from: Float64Array, m: number, n: number): void {
  const length = Math.min(m, n);
  for (let k = 0, start = 0; k < from.length; k += length, start += m * n)
    for (let i = 0; i < length; i++) to[start + i * (n + 1)] = from[k + i];
}

/** Matrices with their diagonals replaced. */
const setDiagOp: Op = defineOp({
  name: 'MatrixSetDiag',
  compose: ([x, diagonal]) => {
    if (x.dtype !== 'string' && !isComplex(x.dtype) && !isHalf(x.dtype) && currentBackend().allocator.isHost)
      return withDiagonal(x, diagonal);
    const [m, n] = dims(x).slice(-2);
    const k = shorter(x);
    const other = padEnds(diag(diagonal), [subDims(m, k), subDims(n, k)]);
    return distance(m, n).equal(0).where(other, x);
  },
  grad: (g, dy) => [g.needs(0) ? setDiag(dy, diagPart(dy).mul(0)) : null, g.needs(1) ? diagPart(dy) : null],
  samples: () => [
    { inputs: [uniform([3, 3]), uniform([3])] },
    { inputs: [uniform([2, 3, 2]), uniform([2, 2])] },
  ],
});

/**
 * x with its diagonals replaced: [..., m, n] and [..., min(m, n)].
 * @param options.k another diagonal than the main one; or several, of which `diagonal` has rows, the highest first:
 * [..., high - low + 1, length of the longest].
 */
export const setDiag: NamedFunction<
  [x: TensorLike, diagonal: TensorLike],
  ['x|input', 'diagonal'],
  DiagonalOptions
> = defineFunction(
  'setDiag',
  { 'x|input': kind.tensor, diagonal: kind.tensor },
  diagonalKinds,
  (x, diagonal, options: DiagonalOptions) => {
    const [a, b] = pair(x, diagonal, 'MatrixSetDiag');
    const t = toMatrix(a, 'MatrixSetDiag');
    const band = bandOf(options, 'MatrixSetDiag');
    const [m, n] = dims(t).slice(-2);
    const expected = [...dims(t).slice(0, -2)];
    if (band === null) expected.push(shorter(t));
    else {
      checkBand(band, m, n, 'MatrixSetDiag');
      if (band.low !== band.high) expected.push(band.high - band.low + 1);
      expected.push(longest(m, n, band));
    }
    if (!sameShape(b.shape, expected)) {
      throw new InvalidArgumentError(
        `diagonal has shape ${showShape(b.shape)}, expected ${showShape(expected)}`,
        'MatrixSetDiag',
      );
    }
    return band === null ? execute1(setDiagOp, [t, b]) : execute1(setDiagonalsOp, [t, b], { ...band });
  },
);

/** The sums of the diagonals: [..., m, n] gives [...]. */
export const trace: NamedFunction<[x: TensorLike], ['x']> = defineFunction(
  'trace',
  { x: kind.tensor },
  {},
  (x) => {
    const t = toMatrix(x, 'trace');
    checkDType(t.dtype, 'numeric', 'x', 'trace');
    return diagPart(t).sum(-1);
  },
);

/** Column minus row of every place of an m × n matrix. */
function distance(m: Dim, n: Dim): Tensor {
  return iota(n).sub(expandDims(iota(m), -1));
}

/** Matrices with zeros outside of a band around the diagonal. */
const bandPartOp: Op = defineOp({
  name: 'MatrixBandPart',
  compose: ([x], attrs) => {
    const { low, high } = attrs as { low: number | null; high: number | null };
    const [m, n] = dims(x).slice(-2);
    const far = distance(m, n);
    const above = low === null ? null : far.greaterEqual(low);
    const below = high === null ? null : far.lessEqual(high);
    const mask = above === null ? below : below === null ? above : above.logicalAnd(below);
    return mask === null ? identity(x) : mask.where(x, x.dtype === 'bool' ? false : 0);
  },
  grad: ({ attrs }, dy) => execute1(bandPartOp, [dy], attrs),
  samples: () => [
    { inputs: [uniform([4, 4])], attrs: { low: -1, high: 0 } },
    { inputs: [uniform([2, 3, 5])], attrs: { low: null, high: 1 } },
    { inputs: [integers([4, 3], 1, 9)], attrs: { low: 0, high: null } },
  ],
});

/**
 * Matrices of which a band around the diagonal is kept: `numLower` diagonals below it and `numUpper` above it, all of them
 * for a negative number; the rest is 0.
 */
export const bandPart: NamedFunction<
  [x: TensorLike, numLower: IntegerLike, numUpper: IntegerLike],
  ['x|input', 'numLower', 'numUpper']
> = defineFunction(
  'bandPart',
  { 'x|input': kind.tensor, numLower: kind.integer, numUpper: kind.integer },
  {},
  (x, numLower: number, numUpper: number) => {
    const t = toMatrix(x, 'MatrixBandPart');
    if (!Number.isInteger(numLower) || !Number.isInteger(numUpper)) {
      throw new InvalidArgumentError(
        `numLower ${numLower} and numUpper ${numUpper} must be integers`,
        'MatrixBandPart',
      );
    }
    return execute1(bandPartOp, [t], {
      low: numLower < 0 ? null : -numLower,
      high: numUpper < 0 ? null : numUpper,
    });
  },
);

/** The lower triangle; zeros above the k-th diagonal (0 the main one, 1 the one above it). */
export const tril: NamedFunction<[x: TensorLike, k?: IntegerLike], ['x|m', 'k']> = defineFunction(
  'tril',
  { 'x|m': kind.tensor, k: kind.integer },
  {},
  (x, k: number = 0) => execute1(bandPartOp, [toMatrix(x, 'tril')], { low: null, high: k }),
);

/** The upper triangle; zeros below the k-th diagonal. */
export const triu: NamedFunction<[x: TensorLike, k?: IntegerLike], ['x|m', 'k']> = defineFunction(
  'triu',
  { 'x|m': kind.tensor, k: kind.integer },
  {},
  (x, k: number = 0) => execute1(bandPartOp, [toMatrix(x, 'triu')], { low: k, high: null }),
);
