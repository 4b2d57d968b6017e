// Reductions of ragged tensors.
import { type DType, dtypeTraits, InvalidArgumentError, isComplex } from '@eagre/backend';
import { onesLike } from '../ops/array/creation.ts';
import { tensorScatterNdMax, tensorScatterNdMin, unsortedSegmentSum } from '../ops/array/gather.ts';
import { concat } from '../ops/array/join.ts';
import { argSort } from '../ops/array/order.ts';
import type { Dim } from '../shapes/dim.ts';
import { dims, toShape } from '../shapes/dims.ts';
import { hostDims } from '../shapes/sizes.ts';
import { constant } from '../tensor/constant.ts';
import { isFloating } from '../tensor/dtypes.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { elementwise } from './broadcasting.ts';
import { isRagged, makeRagged, outerSize, type RaggedOrDense, raggedAxis } from './ragged-base.ts';
import type { RaggedTensor } from './ragged-tensor.ts';
import {
  lengthsOf,
  placesInRows,
  rowCount,
  rowIdsOf,
  type SplitsDType,
  splitsOfIds,
  splitsOfLengths,
} from './row-partition.ts';

/** How rows with one id become one row: `count` rows in all. */
export type SegmentOp = (x: Tensor, ids: Tensor, count: Dim) => Tensor;

const least = (dtype: DType): number | bigint => extreme(dtype, 'low');
const greatest = (dtype: DType): number | bigint => extreme(dtype, 'high');

/** What the maximum or minimum of nothing is, as in TensorFlow: the lowest or highest number of a dtype. */
function extreme(dtype: DType, end: 'low' | 'high'): number | bigint {
  if (dtype === 'float32') return end === 'low' ? -3.4028234663852886e38 : 3.4028234663852886e38;
  if (dtype === 'float64') return end === 'low' ? -Number.MAX_VALUE : Number.MAX_VALUE;
  if (dtype === 'int64') return end === 'low' ? -(2n ** 63n) : 2n ** 63n - 1n;
  if (isFloating(dtype) || dtype === 'string')
    throw new InvalidArgumentError(`no extreme of ${dtype} rows; cast them to float32`, 'RaggedReduce');
  return dtypeTraits[dtype][end];
}

const filled = (x: Tensor, count: Dim, value: number | bigint): Tensor =>
  constant(value as number, x.dtype).broadcastTo(toShape([count, ...dims(x).slice(1)]));

export const segmentSum: SegmentOp = (x, ids, count) => unsortedSegmentSum(x, ids, count as number);
const segmentMax: SegmentOp = (x, ids, count) =>
  tensorScatterNdMax(filled(x, count, least(x.dtype)), ids.reshape([-1, 1]), x);
const segmentMin: SegmentOp = (x, ids, count) =>
  tensorScatterNdMin(filled(x, count, greatest(x.dtype)), ids.reshape([-1, 1]), x);
/** Rows are sorted by id, and short segments filled up with ones. */
const segmentProd: SegmentOp = (x, ids, count) => {
  const order = argSort(ids);
  const splits = splitsOfIds(ids.gather(order), count);
  const rows = makeRagged(x.gather(order, 0), splits);
  return rows.toTensor({ defaultValue: constant(1, x.dtype) }).prod(1);
};

interface Reduction {
  readonly segment: SegmentOp;
  /** The same of a whole dense tensor. */
  readonly dense: (x: Tensor, axis: number | null, keepdims: boolean) => Tensor;
}

const reductions: Readonly<Record<string, Reduction>> = {
  sum: { segment: segmentSum, dense: (x, axis, keepdims) => x.sum(axis, { keepdims }) },
  prod: { segment: segmentProd, dense: (x, axis, keepdims) => x.prod(axis, { keepdims }) },
  max: { segment: segmentMax, dense: (x, axis, keepdims) => x.max(axis, { keepdims }) },
  min: { segment: segmentMin, dense: (x, axis, keepdims) => x.min(axis, { keepdims }) },
};

/** Reduces a ragged tensor over some axes, or all: `sum`, `mean`, `variance` and so on. */
export function reduce(
  name: string,
  x: RaggedTensor,
  axis: number | readonly number[] | null,
  keepdims: boolean,
): RaggedOrDense {
  if (name === 'all' || name === 'any') {
    const counted = reduce(
      name === 'all' ? 'prod' : 'sum',
      x.withFlatValues(x.flatValues.cast('int32')),
      axis,
      keepdims,
    );
    return mapValues(counted, (v) => v.notEqual(0));
  }
  if (name === 'mean') return mean(x, axis, keepdims);
  if (name === 'variance' || name === 'std') {
    const variance = varianceOf(x, axis, keepdims);
    return name === 'variance' ? variance : mapValues(variance, (v) => v.sqrt());
  }
  if (name === 'logSumExp') return logSumExp(x, axis, keepdims);
  return over(reductions[name] as Reduction, x, axis, keepdims);
}

/** log Σ exp(x): the largest of each sum is taken out before, and added again. -∞ of nothing. */
function logSumExp(
  x: RaggedTensor,
  axis: number | readonly number[] | null,
  keepdims: boolean,
): RaggedOrDense {
  const { max, sum } = reductions as Record<'max' | 'sum', Reduction>;
  const largest = (keeps: boolean): RaggedOrDense =>
    mapValues(over(max, x.withFlatValues(x.flatValues.stopGradient()), axis, keeps), (m) =>
      m.isFinite().where(m, 0),
    );
  const terms = elementwise([x, largest(true)], (a, m) => a.sub(m).exp(), 'ReduceLogSumExp');
  return combine(over(sum, terms, axis, keepdims), largest(keepdims), (t, m) => t.log().add(m));
}

export const isReduction = (name: string): boolean =>
  ['all', 'any', 'mean', 'variance', 'std', 'logSumExp'].includes(name) || Object.hasOwn(reductions, name);

function mapValues(x: RaggedOrDense, fn: (flat: Tensor) => Tensor): RaggedOrDense {
  return isRagged(x) ? x.withFlatValues(fn(x.flatValues)) : fn(x);
}

function combine(a: RaggedOrDense, b: RaggedOrDense, fn: (a: Tensor, b: Tensor) => Tensor): RaggedOrDense {
  if (!isRagged(a) || !isRagged(b)) return fn(a as Tensor, b as Tensor);
  return a.withFlatValues(fn(a.flatValues, b.flatValues));
}

function mean(x: RaggedTensor, axis: number | readonly number[] | null, keepdims: boolean): RaggedOrDense {
  const ones = x.withFlatValues(onesLike(x.flatValues));
  const [total, count] = [x, ones].map((v) => over(reductions.sum as Reduction, v, axis, keepdims));
  return combine(total as RaggedOrDense, count as RaggedOrDense, (a, b) =>
    isFloating(a.dtype) || isComplex(a.dtype) ? a.div(b) : a.cast('float64').div(b.cast('float64')),
  );
}

function varianceOf(
  x: RaggedTensor,
  axis: number | readonly number[] | null,
  keepdims: boolean,
): RaggedOrDense {
  if (isComplex(x.dtype))
    throw new InvalidArgumentError(
      'variances of ragged tensors are of real numbers, as in TensorFlow',
      'RaggedReduce',
    );
  const squares = mean(x.withFlatValues(x.flatValues.square()), axis, keepdims);
  return combine(squares, mean(x, axis, keepdims), (square, m) => square.sub(m.square()));
}

/** Reduces over some axes, or all, by a reduction of its own. */
export function over(
  of: Reduction,
  x: RaggedOrDense,
  axis: number | readonly number[] | null,
  keepdims: boolean,
): RaggedOrDense {
  if (!isRagged(x))
    return Array.isArray(axis) && axis.length === 0 ? x : of.dense(x, axis as number | null, keepdims);
  if (axis === null) {
    const whole = of.dense(x.flatValues, null, false);
    return keepdims ? whole.reshape(new Array<number>(x.rank).fill(1)) : whole;
  }
  if (Array.isArray(axis)) {
    const axes = [...new Set(axis.map((a: number) => raggedAxis(a, x.rank, 'RaggedReduce')))].sort(
      (a, b) => b - a,
    );
    // The last one first, so that those before it keep their places.
    return axes.reduce<RaggedOrDense>((y, a) => over(of, y, a, keepdims), x);
  }
  return overAxis(of, x, raggedAxis(axis, x.rank, 'RaggedReduce'), keepdims);
}

function overAxis(of: Reduction, x: RaggedTensor, axis: number, keepdims: boolean): RaggedOrDense {
  const lengths = lengthsOf(x.rowSplits);
  if (axis === 0) {
    const count = hostDims(maxOf(lengths), 'the longest row', 'RaggedReduce')[0] as Dim;
    const merged = segments(of.segment, x.values, placesInRows(lengths).places, count);
    return keepdims ? expand(merged, 0) : merged;
  }
  if (axis === 1) {
    const ids = rowIdsOf(x.rowSplits, outerSize(x.values));
    const merged = segments(of.segment, x.values, ids, rowCount(x.rowSplits));
    return keepdims ? expand(merged, 1) : merged;
  }
  return x.withValues(over(of, x.values, axis - 1, keepdims));
}

/** Adds an axis of size 1 at 0 or 1. */
function expand(x: RaggedOrDense, axis: 0 | 1): RaggedOrDense {
  if (!isRagged(x)) return x.expandDims(axis);
  const dtype = x.rowSplits.dtype as SplitsDType;
  const n = rowCount(x.rowSplits);
  const whole =
    axis === 0 ? onesLike(lengthsOf(x.rowSplits)).sum().reshape([1]) : onesLike(lengthsOf(x.rowSplits));
  return makeRagged(x, splitsOfLengths(whole.cast(dtype)), axis === 0 ? n : 1);
}

const maxOf = (lengths: Tensor): Tensor => concat([constant([0], lengths.dtype), lengths], 0).max();

/** Rows with one id become one; of ragged rows, place by place. */
export function segments(of: SegmentOp, values: RaggedOrDense, ids: Tensor, count: Dim): RaggedOrDense {
  if (!isRagged(values)) return of(values, ids, count);
  const lengths = lengthsOf(values.rowSplits);
  const none = constant(0, lengths.dtype).broadcastTo(toShape([count]));
  const merged = tensorScatterNdMax(none, ids.reshape([-1, 1]), lengths);
  const splits = splitsOfLengths(merged);
  const { rows, places } = placesInRows(lengths);
  const target = splits.gather(ids.gather(rows)).add(places);
  const total = hostDims(merged.sum(), 'the rows', 'RaggedReduce')[0] as Dim;
  return makeRagged(segments(of, values.values, target, total), splits);
}
