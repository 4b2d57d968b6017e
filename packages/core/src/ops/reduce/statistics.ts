import { InvalidArgumentError, isComplex } from '@eagre/backend';
import type { AxisLike } from '../../arguments/argument-kinds.ts';
import * as kind from '../../arguments/argument-kinds.ts';
import { type Arguments, defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { type Attrs, defineOp, execute, execute1, type Op, pair } from '../../dispatch/op.ts';
import { integers, type Sample, uniform, values } from '../../dispatch/samples.ts';
import { symbolic } from '../../dispatch/symbolic.ts';
import { productOf } from '../../shapes/dim.ts';
import { dims, sizeOfDims } from '../../shapes/dims.ts';
import {
  type Axis,
  checkFlag,
  normalizeAxes,
  normalizeAxis,
  reducedShape,
  show,
} from '../../shapes/shape.ts';
import { sizeValue } from '../../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType } from '../../tensor/dtypes.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { axesOf, keepsDims, kept, type ReduceOptions, reduceBy, reductionSamples } from '../array/axes.ts';
import { concat } from '../array/join.ts';
import { disposeAll } from '../array/moving.ts';
import { conj, real } from '../elementwise/complex.ts';
import { permuted } from '../linalg/products.ts';
import { singularValues } from '../linalg/svd.ts';
import { defineReduced, type Reduction } from './define.ts';

/** Mean and variance over neighbouring axes. */
const momentsOp: Op = defineOp({
  name: 'Moments',
  ulp: 16,
  kernel: 'Moments',
  kernelAttrs: (attrs) => ({ axes: axesOf(attrs) }),
  infer: ([x], attrs) => {
    const shape = reducedShape(x.shape, axesOf(attrs), keepsDims(attrs));
    return [
      { dtype: x.dtype, shape },
      { dtype: x.dtype, shape },
    ];
  },
  // With n elements for each result: d mean = dx / n, d variance = 2 (x − mean) dx / n.
  grad: (g, dMean, dVariance) => {
    const n = sizeValue(productOf(axesOf(g.attrs).map((axis) => dims(g.x)[axis])), dMean.dtype);
    const level = kept(dMean.div(n), g);
    if (dVariance === null || dVariance === undefined) return level.broadcastTo(g.x.shape);
    return g.x
      .sub(kept(g.y, g))
      .mul(kept(dVariance.div(n).mul(2), g))
      .add(level);
  },
  samples: () => [
    { inputs: [uniform([3, 4])], attrs: { axes: [0, 1], keepdims: false } },
    { inputs: [uniform([2, 3, 4])], attrs: { axes: [1], keepdims: true } },
    { inputs: [uniform([2, 3, 70])], attrs: { axes: [2], keepdims: false } },
    { inputs: [uniform([50, 3])], attrs: { axes: [0], keepdims: false } },
    { inputs: [uniform([5])], attrs: { axes: [0], keepdims: false } },
  ],
});

/** Mean and variance over any axes, sorted; those that do not follow each other are brought together first. */
function meanAndVariance(x: Tensor, attrs: Attrs): readonly Tensor[] {
  const axes = axesOf(attrs);
  if (axes.every((axis, i) => i === 0 || axis === axes[i - 1] + 1)) return execute(momentsOp, [x], attrs);
  const others = normalizeAxes(null, x.rank).filter((axis) => !axes.includes(axis));
  const results = execute(momentsOp, [x.transpose([...others, ...axes])], {
    axes: axes.map((_, i) => others.length + i),
    keepdims: false,
  });
  if (!keepsDims(attrs)) return results;
  const shape = reducedShape(x.shape, axes, true);
  return results.map((result) => result.reshape(shape));
}

/** The mean squared distance from the mean over axes (divided by n, not n − 1). */
const varianceOp: Op = defineOp({
  name: 'ReduceVariance',
  ulp: 16,
  compose: ([x], attrs) => meanAndVariance(x, attrs)[1],
  samples: reductionSamples(uniform),
});
/**
 * The variance over one axis, several, or all (`null`): the mean squared distance from the mean. Of floats, and of complex numbers, for
 * which it is real.
 */
export const variance: Reduction = defineReduced('variance', (x, axis, options) =>
  isComplex(x.dtype)
    ? complexVariance(x, axis, options)
    : reduceBy(varianceOp, floating(x, 'ReduceVariance'), axis, options),
);

function complexVariance(x: Tensor, axis: Axis, options: ReduceOptions): Tensor {
  return squares(x.sub(x.mean(axis, { keepdims: true }))).mean(axis, options);
}

/** |x|², real; its gradient at 0 is 0. */
function squares(x: Tensor): Tensor {
  return real(x.mul(conj(x)));
}

/** The standard deviation over axes: the square root of the variance. */
const stdOp: Op = defineOp({
  name: 'ReduceStd',
  ulp: 16,
  compose: ([x], attrs) => meanAndVariance(x, attrs)[1].sqrt(),
  samples: reductionSamples(uniform),
});
/** The standard deviation over one axis, several, or all (`null`). Of floats, and of complex numbers, for which it is real. */
export const std: Reduction = defineReduced('std', (x, axis, options) =>
  isComplex(x.dtype)
    ? complexVariance(x, axis, options).sqrt()
    : reduceBy(stdOp, floating(x, 'ReduceStd'), axis, options),
);

/**
 * Mean and variance over one axis, several, or all (`null`): `const [mean, variance] = tf.nn.moments(x, 0)`. Of floats, and of complex
 * numbers; the variance has their dtype then, too, as in TensorFlow.
 */
export const moments: NamedFunction<
  [x: TensorLike, axis?: AxisLike],
  ['x', 'axis|axes'],
  ReduceOptions,
  [mean: Tensor, variance: Tensor]
> = defineFunction(
  'moments',
  { x: kind.tensor, 'axis|axes': kind.axes },
  { keepdims: kind.asIs },
  (x, axis: Axis = null, options) => {
    const given = toTensor(x);
    if (isComplex(given.dtype))
      return [given.mean(axis, options), complexVariance(given, axis, options).cast(given.dtype)];
    const value = floating(given, 'Moments');
    const axes = normalizeAxes(axis, value.rank, 'Moments');
    const keepdims = checkFlag(options.keepdims, 'keepdims', 'Moments');
    const [mean, variance] = meanAndVariance(value, { axes, keepdims });
    return [mean, variance];
  },
);

/** The largest values, as constants; 0 for infinite ones, which would give ∞ − ∞. */
function finiteMax(x: Tensor, axes: readonly number[]): Tensor {
  const largest = x.stopGradient().max(axes, { keepdims: true });
  return largest.isFinite().where(largest, 0);
}

/** log Σ exp(x) over axes, without overflow. */
const logSumExpOp: Op = defineOp({
  name: 'ReduceLogSumExp',
  ulp: 16,
  compose: ([x], attrs) => {
    const axes = axesOf(attrs);
    const offset = finiteMax(x, axes);
    const result = x.sub(offset).exp().sum(axes, { keepdims: true }).log().add(offset);
    return keepsDims(attrs) ? result : result.reshape(reducedShape(x.shape, axes, false));
  },
  grad: (g, dy) => {
    const axes = axesOf(g.attrs);
    const terms = g.x.sub(finiteMax(g.x, axes)).exp();
    return terms.mul(kept(dy, g).div(terms.sum(axes, { keepdims: true })));
  },
  samples: reductionSamples(uniform),
});
/** log Σ exp(x) over one axis, several, or all (`null`), without overflow or underflow. Floats only. */
export const logSumExp: Reduction = defineReduced('logSumExp', (x, axis, options) =>
  reduceBy(logSumExpOp, floating(x, 'ReduceLogSumExp'), axis, options),
);

/** The square root of the sum of squares over axes. */
const euclideanNormOp: Op = defineOp({
  name: 'EuclideanNorm',
  ulp: 16,
  compose: ([x], attrs) =>
    x
      .square()
      .sum(axesOf(attrs), { keepdims: keepsDims(attrs) })
      .sqrt(),
  // At the origin every direction is as good; 0 lets training go on where TensorFlow's norm gives NaN.
  grad: (g, dy) => g.x.mul(kept(dy.divNoNan(g.y), g)),
  samples: reductionSamples(uniform),
});
/**
 * The square root of the sum of squares over one axis, several, or all (`null`); the gradient at 0 is 0. Of floats, and of complex
 * numbers, whose norm has their dtype, as in TensorFlow.
 */
export const reduceEuclideanNorm: Reduction = defineReduced('reduceEuclideanNorm', (x, axis, options) =>
  isComplex(x.dtype)
    ? reduceBy(euclideanNormOp, x.abs(), axis, options).cast(x.dtype)
    : reduceBy(euclideanNormOp, floating(x, 'EuclideanNorm'), axis, options),
);

/**
 * Which norm. Of vectors: euclidean (2), the sum of absolute values (1), the largest of them (Infinity), or the p-norm for p > 0. Of
 * matrices: that of all elements (`'euclidean'`, `'fro'`), the largest sum of absolute values of a column (1) or a row (Infinity), the
 * largest singular value (2).
 */
export type NormOrder = 'euclidean' | 'fro' | number;

/**
 * The norm of vectors, or of all elements. Of complex numbers it is real, but for the euclidean one, which has their dtype, as in TensorFlow.
 * @param ord `'euclidean'` by default, or a number above 0, `Infinity` included.
 * @param axis the axis of the vectors; all elements as one vector by default. Two axes are those of the rows and the columns of
 * matrices.
 * @throws InvalidArgumentError for an order that there is none of.
 */
export const norm: NamedFunction<
  [x: TensorLike, ord?: NormOrder, axis?: AxisLike],
  ['x|tensor', 'ord', 'axis'],
  ReduceOptions
> = defineFunction(
  'norm',
  { 'x|tensor': kind.tensor, ord: kind.asIs, axis: kind.axes },
  { keepdims: kind.asIs },
  (x, ord = 'euclidean', axis: Axis = null, options) => {
    const given = toTensor(x);
    const value = isComplex(given.dtype) ? given : floating(given, 'Norm');
    if (ord === 'euclidean' || ord === 'fro') return reduceEuclideanNorm(value, axis, options);
    if (typeof ord !== 'number' || !(ord > 0)) {
      throw new InvalidArgumentError(
        `ord is ${show(ord)}, expected 'euclidean', 'fro' or a number above 0`,
        'Norm',
      );
    }
    if (Array.isArray(axis) && axis.length > 1) return matrixNorm(value, ord, axis, options);
    if (ord === 2) return reduceEuclideanNorm(value, axis, options);
    const size = value.abs();
    if (ord === 1) return size.sum(axis, options);
    if (ord === Infinity) return size.max(axis, options);
    return size
      .pow(ord)
      .sum(axis, options)
      .pow(1 / ord);
  },
);

// Elements whose 0s and 1s are made at once: as integers to sum they take eight times the memory of bytes.
const COUNTED = 2 ** 18;

function counted(x: Tensor, axes: readonly number[], keepdims: boolean, dtype: 'int32' | 'int64'): Tensor {
  // Graphs fuse the steps, so that nothing is stored between them.
  const axis = x.backend === symbolic || x.size <= COUNTED ? -1 : x.shape.findIndex((d) => d > 1);
  if (axis < 0) {
    const mask = x.dtype === 'bool' ? x.identity() : x.notEqual(0);
    const ones = mask.cast(dtype);
    return disposeAll(ones.sum(axes, { keepdims }), mask, ones);
  }
  const n = x.shape[axis];
  const rows = Math.max(1, Math.floor((COUNTED * n) / x.size));
  let total: Tensor | undefined;
  const parts: Tensor[] = [];
  for (let start = 0; start < n; start += rows) {
    const begin = x.shape.map((_, i) => (i === axis ? start : 0));
    const part = x.slice(
      begin,
      x.shape.map((d, i) => (i === axis ? Math.min(rows, n - start) : d)),
    );
    const count = counted(part, axes, true, dtype);
    part.dispose();
    if (!axes.includes(axis)) parts.push(count);
    else {
      const sum = total === undefined ? count : total.add(count);
      total?.dispose();
      if (sum !== count) count.dispose();
      total = sum;
    }
  }
  const all = total ?? concat(parts, axis);
  for (const part of parts) part.dispose();
  if (keepdims) return all;
  return disposeAll(all.reshape(reducedShape(x.shape, axes, false)), all);
}

function matrixNorm(x: Tensor, ord: number, axis: readonly number[], options: ReduceOptions): Tensor {
  const [rows, columns, ...more] = axis.map((a) => normalizeAxis(a, x.rank, 'Norm'));
  if (more.length > 0 || rows === columns)
    throw new InvalidArgumentError(`axis is [${axis}], expected one axis, or two of matrices`, 'Norm');
  if (ord !== 1 && ord !== 2 && ord !== Infinity)
    throw new InvalidArgumentError(
      `ord is ${ord}, expected 'euclidean', 'fro', 1, 2 or Infinity for matrices`,
      'Norm',
    );
  const keepdims = checkFlag(options.keepdims, 'keepdims', 'Norm');
  if (ord === 2) {
    const others = normalizeAxes(null, x.rank).filter((i) => i !== rows && i !== columns);
    const values = singularValues(permuted(x, [...others, rows, columns])).max(-1);
    return keepdims ? values.reshape(reducedShape(x.shape, [rows, columns], true)) : values;
  }
  const [summed, compared] = ord === 1 ? [rows, columns] : [columns, rows];
  const largest = x.abs().sum(summed, { keepdims: true }).max(compared, { keepdims: true });
  return keepdims ? largest : largest.squeeze([rows, columns]);
}

/** How many elements over axes are not 0 (of bools: true). */
const countNonzeroOp: Op = defineOp({
  name: 'CountNonzero',
  compose: ([x], attrs) => counted(x, axesOf(attrs), keepsDims(attrs), attrs.dtype as 'int64'),
  notDifferentiable: 'it counts',
  samples: (): readonly Sample[] => [
    { inputs: [integers([3, 4], 0, 3)], attrs: { axes: [0, 1], keepdims: false, dtype: 'int64' } },
    { inputs: [values([0, 1, -2, 0], [2, 2])], attrs: { axes: [1], keepdims: true, dtype: 'int32' } },
  ],
});
/**
 * How many elements over one axis, several, or all (`null`) are not 0; of bools, how many are true.
 * @param options.dtype of the result; int64 by default.
 */
export const countNonzero: <I extends 'int32' | 'int64' = 'int64'>(
  ...args: Arguments<
    [x: TensorLike, axis?: AxisLike],
    ['x|input', 'axis'],
    ReduceOptions & {
      /** Of the counts; int64 by default. */
      readonly dtype?: I;
    }
  >
) => Tensor<I> = defineFunction<
  NamedFunction<
    [x: TensorLike, axis?: AxisLike],
    ['x|input', 'axis'],
    ReduceOptions & { readonly dtype?: 'int32' | 'int64' }
  >
>(
  'countNonzero',
  { 'x|input': kind.tensor, axis: kind.axes },
  { keepdims: kind.asIs, dtype: kind.asIs },
  (x, axis: Axis = null, options) => {
    const value = toTensor(x);
    checkDType(value.dtype, 'any', 'x', 'CountNonzero');
    const dtype = options.dtype ?? 'int64';
    checkDType(dtype, 'index', 'dtype', 'CountNonzero');
    const axes = normalizeAxes(axis, value.rank, 'CountNonzero');
    const keepdims = checkFlag(options.keepdims, 'keepdims', 'CountNonzero');
    return execute1(countNonzeroOp, [value], { axes, keepdims, dtype });
  },
);

/** The share of the elements that are 0, a float32 scalar; NaN of nothing. */
export const zeroFraction: NamedFunction<[x: TensorLike], ['x|value']> = defineFunction(
  'zeroFraction',
  { 'x|value': kind.tensor },
  {},
  (x) => {
    const value = toTensor(x);
    return countNonzero(value)
      .cast('float32')
      .div(sizeValue(sizeOfDims(dims(value)), 'float32'))
      .mul(-1)
      .add(1);
  },
);

// ---- scaling by a norm

/** x divided by its euclidean norm over axes, whose square is taken as at least epsilon. */
const l2NormalizeOp: Op = defineOp({
  name: 'L2Normalize',
  ulp: 16,
  compose: ([x], attrs) =>
    x.mul(
      x
        .square()
        .sum(axesOf(attrs), { keepdims: true })
        .maximum(attrs.epsilon as number)
        .rsqrt(),
    ),
  samples: () => [
    { inputs: [uniform([3, 4])], attrs: { axes: [1], epsilon: 1e-12 } },
    { inputs: [uniform([2, 3, 2])], attrs: { axes: [0, 2], epsilon: 1e-12 } },
  ],
});
/**
 * x divided by its euclidean norm over one axis, several, or all (`null`), so that this becomes 1. Of floats and complex numbers.
 * @param options.epsilon lower bound of the squared norm; 1e-12 by default.
 */
export const l2Normalize: NamedFunction<
  [x: TensorLike, axis?: AxisLike],
  ['x', 'axis'],
  {
    /** What the sum of squares is at least; 1e-12 by default. */
    readonly epsilon?: number;
  }
> = defineFunction(
  'l2Normalize',
  { x: kind.tensor, axis: kind.axes },
  { epsilon: kind.asIs },
  (x, axis: Axis = null, options) => {
    const value = toTensor(x);
    const { epsilon = 1e-12 } = options;
    if (isComplex(value.dtype)) {
      const squares = real(value.mul(conj(value))).sum(axis, { keepdims: true });
      return value.mul(squares.maximum(epsilon).rsqrt().cast(value.dtype));
    }
    const axes = normalizeAxes(axis, value.rank, 'L2Normalize');
    return execute1(l2NormalizeOp, [floating(value, 'L2Normalize')], { axes, epsilon });
  },
);

/** x scaled down so that its euclidean norm over axes is at most a limit; unchanged where it already is. */
const clipByNormOp: Op = defineOp({
  name: 'ClipByNorm',
  ulp: 16,
  compose: ([x, limit], attrs) => {
    const norm = x.reduceEuclideanNorm(axesOf(attrs), { keepdims: true });
    return x.mul(limit).div(norm.maximum(limit));
  },
  samples: () => [
    { inputs: [uniform([3, 4]), values([1.5], [])], attrs: { axes: [0, 1] } },
    { inputs: [uniform([3, 4]), values([50], [])], attrs: { axes: [1] } },
  ],
});
/**
 * x scaled down so that its euclidean norm is at most `clipNorm`; unchanged where it already is.
 * @param clipNorm a number above 0, or a tensor.
 * @param axes over which the norm is taken; all (`null`) by default.
 */
export const clipByNorm: NamedFunction<
  [x: TensorLike, clipNorm: TensorLike, axes?: AxisLike],
  ['x|t', 'clipNorm', 'axes']
> = defineFunction(
  'clipByNorm',
  { 'x|t': kind.tensor, clipNorm: kind.tensor, axes: kind.axes },
  {},
  (x, clipNorm, axes: Axis = null) => {
    if (typeof clipNorm === 'number' && !(clipNorm > 0)) {
      throw new InvalidArgumentError(`clipNorm is ${clipNorm}, expected a number above 0`, 'ClipByNorm');
    }
    const [value, limit] = pair(floating(x, 'ClipByNorm'), clipNorm, 'ClipByNorm');
    return execute1(clipByNormOp, [value, limit], { axes: normalizeAxes(axes, value.rank, 'ClipByNorm') });
  },
);

function floating(x: TensorLike, op: string): Tensor {
  const value = toTensor(x);
  checkDType(value.dtype, 'floating', 'x', op);
  return value;
}
