// Reductions, scans and segments.

import type { Tensor } from '@eagre/core';
import * as tf from '@eagre/core';
import { columnOf } from '@eagre/core/internal';
import type { OpCall } from '../op-call.ts';
import { type OpTable, several, type Translate } from '../op-row.ts';
import { raggedOf } from './ragged.ts';

type Reduce = (x: Tensor, axis: readonly number[], options: { readonly keepdims: boolean }) => Tensor;

/** No axes are none, not all. */
const reduction =
  (fn: Reduce): Translate =>
  (c) => {
    const axes = c.ints(1);
    return axes.length === 0 ? c.x(0) : fn(c.x(0), axes, { keepdims: c.boolAttr('keep_dims', false) });
  };
const position =
  (fn: (x: Tensor, axis: number, options: { readonly dtype: 'int32' | 'int64' }) => Tensor): Translate =>
  (c) => {
    const dtype = c.dtypeAttr('output_type', 'int64');
    const found = fn(c.x(0), c.int(1), { dtype: dtype === 'int64' ? 'int64' : 'int32' });
    return found.dtype === dtype ? found : tf.cast(found, dtype);
  };
const scan =
  (
    fn: (
      x: Tensor,
      axis: number,
      options: { readonly exclusive: boolean; readonly reverse: boolean },
    ) => Tensor,
  ): Translate =>
  (c) =>
    fn(c.x(0), c.int(1), {
      exclusive: c.boolAttr('exclusive', false),
      reverse: c.boolAttr('reverse', false),
    });

/** Segments of sorted numbers: as many as the last one says. */
const sortedSegments =
  (combine: (c: OpCall, x: Tensor, ids: Tensor, n: Tensor) => Tensor): Translate =>
  (c) =>
    combine(c, c.x(0), c.x(1), tf.max(c.x(1)).cast('int32').add(1));

const counts = (ids: Tensor, n: Tensor | number, like: Tensor): Tensor => {
  const ones = tf.unsortedSegmentSum(tf.onesLike(ids, 'float32'), ids, n);
  const shaped = tf.reshape(ones, [-1, ...Array.from({ length: Math.max(0, like.rank - 1) }, () => 1)]);
  return tf.cast(tf.maximum(shaped, 1), like.dtype);
};

/** The largest or smallest of each segment; the other end of the dtype's range where there is none. */
const extreme =
  (scatter: (x: Tensor, indices: Tensor, updates: Tensor) => Tensor, sign: 1 | -1): Translate =>
  (c) => {
    const [x, ids] = [c.x(0), c.x(1)];
    const n = c.has(2) ? c.x(2) : tf.max(ids).cast('int32').add(1);
    const rest = tf.slice(tf.shapeOf(x), [ids.rank], [-1]);
    const shape = tf.concat([tf.reshape(tf.cast(n, 'int32'), [1]), rest], 0);
    const start = tf.broadcastTo(tf.constant(rangeEnd(c, x.dtype, sign), x.dtype), shape);
    return scatter(start, tf.expandDims(ids, -1), x);
  };

const FLOATS: Readonly<Record<string, number>> = {
  float32: 3.4028234663852886e38,
  float64: Number.MAX_VALUE,
  float16: 65504,
  bfloat16: 3.3895313892515355e38,
};
const INTEGERS: Readonly<Record<string, readonly [number | bigint, number | bigint]>> = {
  int8: [-128, 127],
  int16: [-32768, 32767],
  int32: [-(2 ** 31), 2 ** 31 - 1],
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
  uint8: [0, 255],
  uint16: [0, 65535],
  uint32: [0, 2 ** 32 - 1],
  uint64: [0n, 2n ** 64n - 1n],
};
function rangeEnd(c: OpCall, dtype: tf.DType, sign: 1 | -1): number {
  const float = FLOATS[dtype];
  if (float !== undefined) return float * sign;
  const ends = INTEGERS[dtype];
  if (ends === undefined) throw c.lacks(`${dtype} is not supported`);
  return ends[sign === 1 ? 1 : 0] as number;
}

/** How often each integer from 0 to below a size is in each row; others do not count. */
function rowCounts(
  c: OpCall,
  rowIds: Tensor,
  count: Tensor,
  [values, size, weights]: readonly [Tensor, Tensor, Tensor],
): Tensor {
  const n = tf.cast(tf.reshape(size, []), 'int64');
  const ids = tf.cast(values, 'int64');
  const rows = tf.cast(count, 'int64');
  const isIn = ids.greaterEqual(0n).logicalAnd(ids.less(n));
  const one = tf.onesLike(values, weights.dtype);
  const each = weights.shape.includes(0) ? one : weights;
  const counted = tf.where(isIn, each, tf.zerosLike(each)) as Tensor;
  const places = tf
    .cast(rowIds, 'int64')
    .mul(n)
    .add(tf.where(isIn, ids, tf.zerosLike(ids)) as Tensor);
  const sums = tf.unsortedSegmentSum(counted, places, tf.cast(rows.mul(n), 'int32'));
  const whole = tf.reshape(sums, tf.cast(tf.stack([rows, n]), 'int32'));
  return c.boolAttr('binary_output', false) ? tf.minimum(whole, tf.onesLike(whole)) : whole;
}

export const reduce: OpTable = {
  RaggedBincount: (c) => {
    const x = raggedOf([c.x(0)], c.x(1));
    return rowCounts(c, x.valueRowids(), x.nrows(), [x.flatValues, c.x(2), c.x(3)]);
  },
  SparseBincount: (c) => {
    const [indices, shape] = [c.x(0), c.x(2)];
    const given = [c.x(1), c.x(3), c.x(4)] as const;
    // A vector is one row.
    if (indices.shape[1] === 1) {
      const none = tf.reshape(tf.zerosLike(indices), [-1]);
      return tf.reshape(rowCounts(c, none, tf.constant(1n, 'int64'), given), [-1]);
    }
    return rowCounts(c, columnOf(indices, 0), tf.reshape(tf.slice(shape, [0], [1]), []), given);
  },
  Sum: reduction(tf.sum),
  Mean: reduction(tf.mean),
  Prod: reduction(tf.prod),
  Max: reduction(tf.max),
  Min: reduction(tf.min),
  All: reduction(tf.all),
  Any: reduction(tf.any),
  EuclideanNorm: (c) => (c.ints(1).length === 0 ? tf.abs(c.x(0)) : reduction(tf.reduceEuclideanNorm)(c)),
  ArgMax: position(tf.argMax),
  ArgMin: position(tf.argMin),
  Cumsum: scan(tf.cumsum),
  Cumprod: scan(tf.cumprod),
  L2Loss: (c) => tf.nn.l2Loss(c.x()),
  UnsortedSegmentSum: (c) => tf.unsortedSegmentSum(c.x(0), c.x(1), c.x(2)),
  UnsortedSegmentMax: extreme(tf.tensorScatterNdMax, -1),
  UnsortedSegmentMin: extreme(tf.tensorScatterNdMin, 1),
  ApproxTopK: several(['values', 'indices'], (c) => {
    const reductionDimension = c.intAttr('reduction_dimension', -1);
    const find = c.boolAttr('is_max_k', true) ? tf.math.approxMaxK : tf.math.approxMinK;
    return find(c.x(), c.intAttr('k'), { reductionDimension });
  }),
  UnsortedSegmentProd: (c) => tf.math.unsortedSegmentProd(c.x(0), c.x(1), c.x(2)),
  // As many as input 2 says; made for XLA.
  SegmentSumV2: (c) => tf.unsortedSegmentSum(c.x(0), c.x(1), c.x(2)),
  SegmentProdV2: (c) => tf.math.unsortedSegmentProd(c.x(0), c.x(1), c.x(2)),
  SegmentMaxV2: extreme(tf.tensorScatterNdMax, -1),
  SegmentMinV2: extreme(tf.tensorScatterNdMin, 1),
  SegmentMax: (c) => tf.math.segmentMax(c.x(0), c.x(1)),
  SegmentMin: (c) => tf.math.segmentMin(c.x(0), c.x(1)),
  SegmentProd: (c) => tf.math.segmentProd(c.x(0), c.x(1)),
  CumulativeLogsumexp: scan(tf.math.cumulativeLogsumexp),
  HistogramFixedWidth: (c) =>
    tf.histogramFixedWidth(c.x(0), c.x(1), {
      nbins: c.x(2),
      dtype: c.dtypeAttr('dtype', 'int32') as 'int32',
    }),
  SegmentSum: sortedSegments((_, x, ids, n) => tf.unsortedSegmentSum(x, ids, n)),
  SegmentMean: sortedSegments((_, x, ids, n) => tf.unsortedSegmentSum(x, ids, n).div(counts(ids, n, x))),
  Bincount: (c) => {
    const ids = tf.reshape(c.x(0), [-1]);
    const weights = c.x(2);
    const values = weights.shape.includes(0) ? tf.onesLike(ids, weights.dtype) : tf.reshape(weights, [-1]);
    return tf.unsortedSegmentSum(values, ids, c.x(1));
  },
  DenseBincount: (c) => {
    const [ids, size, weights] = [c.x(0), c.x(1), c.x(2)];
    const dtype = weights.dtype;
    const n = tf.reshape(size, []);
    const one = tf.oneHot(ids, n, { dtype });
    const weighted = weights.shape.includes(0) ? one : one.mul(tf.expandDims(weights, -1));
    if (c.boolAttr('binary_output', false)) return tf.max(one, ids.rank - 1);
    return tf.sum(weighted, ids.rank - 1);
  },
};
