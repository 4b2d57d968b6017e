// Reductions, scans and segments.

import type { Tensor } from '@eagre/core';
import * as tf from '@eagre/core';
import type { OpCall } from '../op-call.ts';
import type { OpTable, Translate } from '../op-row.ts';

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

export const reduce: OpTable = {
  Sum: reduction(tf.sum),
  Mean: reduction(tf.mean),
  Prod: reduction(tf.prod),
  Max: reduction(tf.max),
  Min: reduction(tf.min),
  All: reduction(tf.all),
  Any: reduction(tf.any),
  EuclideanNorm: reduction(tf.reduceEuclideanNorm),
  ArgMax: position(tf.argMax),
  ArgMin: position(tf.argMin),
  Cumsum: scan(tf.cumsum),
  Cumprod: scan(tf.cumprod),
  L2Loss: (c) => tf.nn.l2Loss(c.x()),
  UnsortedSegmentSum: (c) => tf.unsortedSegmentSum(c.x(0), c.x(1), c.x(2)),
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
