// One value of many: sums, extremes, moments, order statistics.
import { InvalidArgumentError } from '@eagre/backend';
import {
  type Axis,
  type AxisLike,
  argMax,
  argMin,
  countNonzero as coreCount,
  cumprod as coreCumprod,
  cumsum as coreCumsum,
  type DType,
  type IntegerLike,
  maximum,
  minimum,
  type NamedFunction,
  onesLike,
  range,
  stack,
  type Tensor,
  type TensorLike,
} from '@eagre/core';
import {
  type Dim,
  defineFunction,
  dims,
  iota,
  isFloating,
  kind,
  normalizeAxis,
  pair,
  sizeValue,
  toTensor,
} from '@eagre/core/internal';
import {
  type Along,
  along,
  asLast,
  floating,
  floatType,
  integer as integerKind,
  type Keepdims,
  named,
  refuse,
  size as sizeKind,
  taken,
} from '../define.ts';

const numbers = (x: TensorLike): Tensor => {
  const t = toTensor(x);
  return t.dtype === 'bool' ? t.cast('int32') : t;
};
const truths = (x: TensorLike): Tensor => toTensor(x).cast('bool');

/** The sum over axes. */
export const sum: Along = along('sum', (x, axis, options) => x.sum(axis, options), numbers);
/** The mean over axes; that of integers is a float. */
export const mean: Along = along('mean', (x, axis, options) => x.mean(axis, options), floating);
/** The standard deviation over axes; that of integers is a float. */
export const std: Along = along('std', (x, axis, options) => x.std(axis, options), floating);
const variance: Along = along('var', (x, axis, options) => x.variance(axis, options), floating);

export { /** The variance over axes; that of integers is a float. */ variance as var };
/** Whether all elements over axes are true or not 0. */
export const all: Along = along('all', (x, axis, options) => x.all(axis, options), truths);
/** Whether any element over axes is true or not 0. */
export const any: Along = along('any', (x, axis, options) => x.any(axis, options), truths);
/** The largest value over axes minus the smallest. */
export const ptp: Along = along('ptp', (x, axis, options) => x.max(axis, options).sub(x.min(axis, options)));

/** The product over axes. */
export const prod: Along<Keepdims & { readonly dtype?: DType | null }> = defineFunction(
  named('prod'),
  { 'x|a': kind.tensor, axis: kind.axes },
  { keepdims: kind.asIs, dtype: kind.asIs },
  (x, axis: Axis = null, { dtype = null, keepdims }) => {
    const t = numbers(x);
    return (dtype === null ? t : t.cast(dtype)).prod(axis, { keepdims });
  },
);

type Extreme = Along<
  Keepdims & {
    /** A number that is compared too; none by default. */
    readonly initial?: number | null;
  }
>;
const extreme = (name: string, of: 'max' | 'min', both: typeof maximum): Extreme =>
  defineFunction(
    named(name),
    { 'x|a': kind.tensor, axis: kind.axes },
    { keepdims: kind.asIs, initial: kind.asIs },
    (x, axis: Axis = null, { keepdims, initial = null }) => {
      const t = toTensor(x);
      const found = (t.dtype === 'bool' ? t.cast('int32') : t)[of](axis, { keepdims });
      const result = initial === null ? found : both(found, initial);
      return t.dtype === 'bool' ? result.cast('bool') : result;
    },
  );
/** The largest value over axes. @param options.initial what it is at least. */
export const max: Extreme = extreme('max', 'max', maximum);
/** The smallest value over axes. @param options.initial what it is at most. */
export const min: Extreme = extreme('min', 'min', minimum);
/** The same as `max`. */
export const amax: Along = along('amax', (x, axis, options) => x.max(axis, options));
/** The same as `min`. */
export const amin: Along = along('amin', (x, axis, options) => x.min(axis, options));

/** How many elements over axes are not 0: int32. */
export const countNonzero: NamedFunction<[x: TensorLike, axis?: AxisLike], ['x', 'axis']> = defineFunction(
  named('countNonzero'),
  { x: kind.tensor, axis: kind.axes },
  {},
  (x, axis: Axis = null) => coreCount(x, axis, { dtype: 'int32' }),
);

// ---- places

type Place = NamedFunction<[x: TensorLike, axis?: IntegerLike | null], ['x', 'axis'], Keepdims>;
const place = (name: string, find: typeof argMax, filled?: number): Place =>
  defineFunction(
    named(name),
    { x: kind.tensor, axis: kind.axis },
    { keepdims: kind.asIs },
    (x, axis: number | null = null, { keepdims = false }) => {
      const given = numbers(x);
      const t = filled === undefined || !isFloating(given.dtype) ? given : given.isNan().where(filled, given);
      const flat = axis === null ? t.flatten() : t;
      let at = find(flat, axis ?? 0, { dtype: 'int32' });
      if (filled !== undefined && isFloating(given.dtype)) {
        const none = given.isNan().all(axis);
        at = none.where(-1, at);
      }
      if (!keepdims) return at;
      return axis === null ? at.reshape(t.shape.map(() => 1)) : at.expandDims(axis);
    },
  );
/** The first place of the largest value along an axis, of all elements as one list by default: int32. */
export const argmax: Place = place('argmax', argMax);
/** The first place of the smallest value along an axis, of all elements as one list by default: int32. */
export const argmin: Place = place('argmin', argMin);
/** As `argmax`, leaving out NaN; −1 where there is nothing else. */
export const nanargmax: Place = place('nanargmax', argMax, -Infinity);
/** As `argmin`, leaving out NaN; −1 where there is nothing else. */
export const nanargmin: Place = place('nanargmin', argMin, Infinity);

// ---- running sums

type Running = NamedFunction<
  [x: TensorLike, axis?: IntegerLike | null, dtype?: DType | null],
  ['x', 'axis', 'dtype']
>;
const running = (name: string, of: typeof coreCumsum, missing?: number): Running =>
  defineFunction(
    named(name),
    { x: kind.tensor, axis: kind.axis, dtype: kind.asIs },
    {},
    (x, axis: number | null = null, dtype: DType | null = null) => {
      const given = missing === undefined ? toTensor(x) : without(toTensor(x), missing);
      const t = dtype === null ? numbers(given) : given.cast(dtype);
      return axis === null ? of(t.flatten(), 0) : of(t, axis);
    },
  );
/** The sums up to each element along an axis, of all elements as one list by default. */
export const cumsum: Running = running('cumsum', coreCumsum);
/** The products up to each element along an axis, of all elements as one list by default. */
export const cumprod: Running = running('cumprod', coreCumprod);
/** As `cumsum`, NaN counting as 0. */
export const nancumsum: Running = running('nancumsum', coreCumsum, 0);
/** As `cumprod`, NaN counting as 1. */
export const nancumprod: Running = running('nancumprod', coreCumprod, 1);

// ---- without NaN

/** x with another value in the place of NaN. */
const without = (x: Tensor, value: number): Tensor => (isFloating(x.dtype) ? x.isNan().where(value, x) : x);

/** The sum over axes, leaving out NaN. */
export const nansum: Along = along('nansum', (x, axis, options) => without(x, 0).sum(axis, options), numbers);
/** The product over axes, leaving out NaN. */
export const nanprod: Along = along(
  'nanprod',
  (x, axis, options) => without(x, 1).prod(axis, options),
  numbers,
);

function nanMean(x: Tensor, axis: Axis, options: Keepdims): Tensor {
  const count = x.isNan().logicalNot().cast(x.dtype).sum(axis, options);
  return without(x, 0).sum(axis, options).div(count);
}
function nanVariance(x: Tensor, axis: Axis, options: Keepdims): Tensor {
  // NaN is left out before it is squared: after that its gradient would be 0 · NaN.
  const missing = x.isNan();
  const squares = missing.where(0, x.sub(nanMean(x, axis, { keepdims: true }))).square();
  return squares.sum(axis, options).div(missing.logicalNot().cast(x.dtype).sum(axis, options));
}
/** The mean over axes, leaving out NaN; NaN where there is nothing else. */
export const nanmean: Along = along('nanmean', nanMean, floating);
/** The variance over axes, leaving out NaN. */
export const nanvar: Along = along('nanvar', nanVariance, floating);
/** The standard deviation over axes, leaving out NaN. */
export const nanstd: Along = along(
  'nanstd',
  (x, axis, options) => nanVariance(x, axis, options).sqrt(),
  floating,
);

const nanExtreme = (name: string, of: 'max' | 'min', lowest: number): Along =>
  along(name, (x, axis, options) => {
    if (!isFloating(x.dtype)) return x[of](axis, options);
    return x.isNan().all(axis, options).where(NaN, without(x, lowest)[of](axis, options));
  });
/** The largest value over axes, leaving out NaN; NaN where there is nothing else. */
export const nanmax: Along = nanExtreme('nanmax', 'max', -Infinity);
/** The smallest value over axes, leaving out NaN; NaN where there is nothing else. */
export const nanmin: Along = nanExtreme('nanmin', 'min', Infinity);

// ---- order statistics

/** Which number stands for those between two: their mix by distance, one of them, their mean, or the nearer one. */
export type QuantileMethod = 'linear' | 'lower' | 'higher' | 'midpoint' | 'nearest';
const METHODS: readonly unknown[] = ['linear', 'lower', 'higher', 'midpoint', 'nearest'];

/** The quantiles of the numbers over axes: of the shape of q, then of the other axes. */
function quantiles(
  x: Tensor,
  q: Tensor,
  axis: Axis,
  { method = 'linear', keepdims = false }: { method?: QuantileMethod; keepdims?: boolean },
  skips: boolean,
  name: string,
): Tensor {
  if (!METHODS.includes(method))
    refuse(`method is '${String(method)}', expected one of ${METHODS.join(', ')}`, name);
  const { rows, back } = asLast(x, axis, keepdims);
  // NaN comes last.
  const sorted = rows.sort(-1);
  const valid = rows.isNan().logicalNot();
  const count = valid.cast('int32').sum(-1, { keepdims: true });
  const share = q.cast('float64').flatten();
  const all = sizeValue(dims(rows)[rows.rank - 1], 'int32');
  const last = (skips ? count : count.mul(0).add(all)).sub(1).maximum(0);
  const exact = last.cast('float64').mul(share);
  const at = (place: Tensor): Tensor => taken(sorted, place.cast('int32'));
  const low = exact.floor();
  const high = exact.ceil();
  let found: Tensor;
  if (method === 'lower') found = at(low);
  else if (method === 'higher') found = at(high);
  else if (method === 'nearest') found = at(exact.round());
  else if (method === 'midpoint') found = at(low).add(at(high)).mul(0.5);
  else {
    // As Keras: at a number itself, its share is 1 and that of the one below 0, so that q has a gradient there.
    const below = high.sub(1).maximum(0);
    const above = below.add(1).minimum(last.cast('float64'));
    const share = above.sub(exact).cast(x.dtype);
    found = at(above).mulNoNan(share.neg().add(1)).add(at(below).mulNoNan(share));
  }
  const missing = skips ? count.equal(0) : count.less(all);
  const result = missing.where(NaN, found);
  const each = result.unstack(-1).map(back);
  if (q.rank === 0) return each[0];
  return stack(each).reshape([...q.shape, ...each[0].shape]);
}

type Quantile = NamedFunction<
  [x: TensorLike, q: TensorLike, axis?: AxisLike],
  ['x', 'q', 'axis'],
  Keepdims & {
    /** What lies between two values; `linear` by default. */
    readonly method?: QuantileMethod;
  }
>;
const quantileOf = (name: string, scale: number, skips: boolean): Quantile =>
  defineFunction(
    named(name),
    { x: kind.tensor, q: kind.tensor, axis: kind.axes },
    { method: kind.asIs, keepdims: kind.asIs },
    (x, q, axis: Axis = null, options) =>
      quantiles(floating(x), floating(q).cast('float64').div(scale), axis, options, skips, name),
  );
/** The numbers that a share q (0 … 1) of the elements over axes is below; q may be a tensor, whose shape comes first. */
export const quantile: Quantile = quantileOf('quantile', 1, false);
/** As `quantile`, leaving out NaN. */
export const nanquantile: Quantile = quantileOf('nanquantile', 1, true);
/** As `quantile`, with q in percent. */
export const percentile: Quantile = quantileOf('percentile', 100, false);
/** As `percentile`, leaving out NaN. */
export const nanpercentile: Quantile = quantileOf('nanpercentile', 100, true);

const HALF = (): Tensor => toTensor(0.5, 'float64');
/** The number in the middle over axes, of an even number of elements the mean of two. */
export const median: Along = along(
  'median',
  (x, axis, options) => quantiles(x, HALF(), axis, options, false, 'median'),
  floating,
);
/** As `median`, leaving out NaN. */
export const nanmedian: Along = along(
  'nanmedian',
  (x, axis, options) => quantiles(x, HALF(), axis, options, true, 'nanmedian'),
  floating,
);

/** The mean along an axis, each element counting as much as its weight. */
export const average: NamedFunction<
  [x: TensorLike, axis?: AxisLike, weights?: TensorLike | null],
  ['x|a', 'axis', 'weights']
> = defineFunction(
  named('average'),
  { 'x|a': kind.tensor, axis: kind.axes, weights: kind.tensor },
  {},
  (x, axis: Axis = null, weights: TensorLike | null = null) => {
    if (weights === null) return floating(x).mean(axis);
    const [t, w] = pair(floating(x), weights, named('average')).map((v) => floating(v));
    let shares = w;
    if (w.rank === 1 && t.rank > 1) {
      if (typeof axis !== 'number') refuse('weights of rank 1 need an axis', 'average');
      const at = normalizeAxis(axis as number, t.rank);
      shares = w.reshape(t.shape.map((_, i) => (i === at ? -1 : 1)));
    }
    const full = t.mul(0).add(shares);
    return t.mul(shares).sum(axis).div(full.sum(axis));
  },
);

/** The matrix of correlations of the rows of x [variables, observations]. */
export const corrcoef: NamedFunction<[x: TensorLike], ['x']> = defineFunction(
  named('corrcoef'),
  { x: kind.tensor },
  {},
  (x) => {
    const t = floating(x);
    const rows = t.rank === 1 ? t.expandDims(0) : t;
    const centred = rows.sub(rows.mean(-1, { keepdims: true }));
    const covariance = centred.matmul(centred, { transposeB: true });
    const scale = centred.square().sum(-1).sqrt();
    const result = covariance.div(scale.expandDims(1)).div(scale.expandDims(0)).clipByValue(-1, 1);
    return t.rank === 1 ? result.squeeze() : result;
  },
);

/** The integral of y by trapezoids along an axis. @param options.x where y was taken; at distances `dx` (1) by default. */
export const trapezoid: NamedFunction<
  [y: TensorLike, x?: TensorLike | null],
  ['y', 'x'],
  {
    /** How far points are apart; 1 by default. */
    readonly dx?: number;
    /** The axis along which is summed; the last by default. */
    readonly axis?: IntegerLike;
  }
> = defineFunction(
  named('trapezoid'),
  { y: kind.tensor, x: kind.tensor },
  { dx: kind.asIs, axis: kind.axis },
  (y, x: TensorLike | null = null, { dx = 1, axis = -1 }) => {
    const values = floating(y);
    const rows = values.moveAxis(axis as number, -1);
    const sums = neighbours(rows, (a, b) => a.add(b).mul(0.5));
    if (x === null) return sums.mul(dx).sum(-1);
    const at = floating(x);
    const steps = neighbours(at.rank === 1 ? at : at.moveAxis(axis as number, -1), (a, b) => b.sub(a));
    return sums.mul(steps).sum(-1);
  },
);

/** What is computed of each element and the next one along the last axis. */
const neighbours = (x: Tensor, of: (a: Tensor, b: Tensor) => Tensor): Tensor =>
  of(x.at('...', ':-1'), x.at('...', '1:'));

/** The differences between neighbours along an axis, `n` times. */
export const diff: NamedFunction<[a: TensorLike, n?: IntegerLike, axis?: IntegerLike], ['a', 'n', 'axis']> =
  defineFunction(
    named('diff'),
    { a: kind.tensor, n: integerKind, axis: kind.axis },
    {},
    (a, n: number = 1, axis: number = -1) => {
      if (n < 0) throw new InvalidArgumentError(`n is ${n}, expected at least 0`, named('diff'));
      let x = toTensor(a).moveAxis(axis, -1);
      // Of nothing there are no differences.
      for (let i = 0; i < n && x.shape.at(-1) !== 0; i++)
        x = neighbours(x, (p, q) => (x.dtype === 'bool' ? q.notEqual(p) : q.sub(p)));
      return x.moveAxis(-1, axis);
    },
  );

// ---- counting

/** How often each number from 0 on occurs, or the sums of the weights where it does; along the last axis of x of integers. */
export const bincount: NamedFunction<
  [x: TensorLike, weights?: TensorLike | null],
  ['x', 'weights'],
  {
    /** How many counts there are at least; 0 by default. */
    readonly minlength?: IntegerLike;
    /** Keras's sparse result, which is not here: false. */
    readonly sparse?: false;
  }
> = defineFunction(
  named('bincount'),
  { x: kind.tensor, weights: kind.tensor },
  { minlength: sizeKind, sparse: kind.asIs },
  (x, weights: TensorLike | null = null, { minlength = 0, sparse }) => {
    if ((sparse as boolean | undefined) === true) refuse('there are no sparse tensors', 'bincount');
    const t = toTensor(x).cast('int32');
    const least = sizeValue(minlength as Dim, 'int32');
    const length = t.max().add(1).maximum(least).maximum(0);
    const values = weights === null ? onesLike(t, 'int32') : toTensor(weights);
    if (t.rank === 1) return values.unsortedSegmentSum(t, length);
    const hits = t
      .expandDims(-1)
      .equal(range(0, length, 1, { dtype: 'int32' }))
      .cast(values.dtype);
    return hits.mul(values.expandDims(-1)).sum(-2);
  },
);

/** The numbers of the pieces between bins in which the elements lie, and the edges: [counts [bins], edges [bins + 1]], both floats. */
export const histogram: NamedFunction<
  [x: TensorLike, bins?: IntegerLike, range?: readonly [number, number] | null],
  ['x', 'bins', 'range'],
  unknown,
  [counts: Tensor, edges: Tensor]
> = defineFunction(
  named('histogram'),
  { x: kind.tensor, bins: integerKind, range: kind.asIs },
  {},
  (x, bins: number = 10, limits: readonly [number, number] | null = null) => {
    const given = toTensor(x);
    const t = given.cast(floatType(given.dtype)).flatten();
    const low = limits === null ? t.min() : toTensor(limits[0], t.dtype);
    const high = limits === null ? t.max() : toTensor(limits[1], t.dtype);
    const shares = iota(bins + 1)
      .cast(t.dtype)
      .div(bins);
    const edges = low.add(high.sub(low).mul(shares));
    const inside = t.greaterEqual(low).logicalAnd(t.lessEqual(high));
    const place = countBelow(edges, t)
      .sub(1)
      .minimum(bins - 1)
      .maximum(0);
    const counts = inside.cast(t.dtype);
    return [counts.unsortedSegmentSum(place, bins), edges];
  },
);
const countBelow = (edges: Tensor, values: Tensor): Tensor =>
  values.expandDims(-1).greaterEqual(edges).cast('int32').sum(-1);
