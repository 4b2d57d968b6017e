// Integers of categories as rows: one-hot, multi-hot, counts.
import { type DType, oneHot, type PartialShape, type Tensor, unsortedSegmentSum, where } from '@eagre/core';
import {
  type Dim,
  dims,
  iota,
  mulDims,
  type Option,
  partialShape,
  sizeOfDims,
  toShape,
} from '@eagre/core/internal';
import type { Layer } from '../../layer/layer.ts';
import { show } from '../../layer/show.ts';
import { fail, plus, shapeOf, sizesOf } from '../common.ts';
import { option } from '../options.ts';

/**
 * `int`: integers as they are. `oneHot`: a row for each. `multiHot`: one row for each example, 1 where a category is among its integers.
 * `count`: how often.
 */
export type CategoryMode = 'int' | 'oneHot' | 'multiHot' | 'count';

const written: Readonly<Record<string, string>> = {
  one_hot: 'oneHot',
  multi_hot: 'multiHot',
  binary: 'multiHot',
  tf_idf: 'tfIdf',
  'tf-idf': 'tfIdf',
};
const keras: Readonly<Record<string, string>> = { oneHot: 'one_hot', multiHot: 'multi_hot', tfIdf: 'tf_idf' };

/** One of some ways to give categories, also under Keras's names. */
export function modes<M extends string>(all: readonly M[], otherwise: M): Option<M> {
  return option<M, string>(
    (value, name, layer) => {
      const mode = (written[value] ?? value) as M;
      if (!all.includes(mode))
        fail(layer, `needs ${name} to be ${all.map(show).join(', ')}, got ${show(value)}`);
      return mode;
    },
    otherwise,
    (mode) => keras[mode] ?? mode,
  );
}

/** Integers [...] as rows of a depth. What is below 0 or too large counts nowhere. @param weights of the integers, of `count` */
export function encoded(
  ids: Tensor,
  mode: Exclude<CategoryMode, 'int'>,
  depth: number,
  dtype: DType,
  weights?: Tensor,
): Tensor {
  const x = ids.rank === 0 ? ids.reshape([1]) : ids;
  if (mode === 'oneHot') {
    const single = x.rank > 1 && dims(x).at(-1) === 1;
    return oneHot(single ? x.squeeze(-1) : x, depth, { dtype });
  }
  const axis = x.rank > 1 ? 1 : 0;
  if (x.rank > 2) {
    const rows = oneHot(x, depth, { dtype });
    if (mode === 'multiHot') return rows.max(axis);
    return (weights === undefined ? rows : rows.mul(weights.cast(dtype).expandDims(-1))).sum(axis);
  }
  // Sums at places of one long row, as rows for each integer would be large.
  const size = dims(x);
  const count: Dim = axis === 1 ? size[0] : 1;
  const known = x.greaterEqual(0).logicalAnd(x.less(depth));
  const first = axis === 1 ? iota(count).mul(depth).reshape([-1, 1]) : 0;
  const place = where(known, x.cast('int32').add(first), -1).reshape(toShape([sizeOfDims(size)]));
  const values = (weights ?? x.mul(0).add(1)).cast(dtype).reshape(toShape([sizeOfDims(size)]));
  const sums = unsortedSegmentSum(values, place, mulDims(count, depth) as number);
  const rows = sums.reshape(toShape(axis === 1 ? [count, depth] : [depth]));
  return mode === 'multiHot' ? rows.minimum(1) : rows;
}

/** The shape of encoded integers. */
export function encodedShape(shape: PartialShape, mode: CategoryMode, depth: number | null): PartialShape {
  if (mode === 'int') return shape;
  const sizes = sizesOf(shape);
  if (mode === 'oneHot') {
    const single = sizes.length > 1 && partialShape(shape).at(-1) === 1;
    return shapeOf([...(single ? sizes.slice(0, -1) : sizes), plus(depth, 0)]);
  }
  return shapeOf(
    [...sizes.slice(0, 1), ...sizes.slice(2)].slice(sizes.length > 1 ? 0 : 1).concat(plus(depth, 0)),
  );
}

/** @throws InvalidArgumentError for what holds no integers */
export function checkIntegers(layer: Layer, x: Tensor): Tensor {
  if (x.dtype === 'string') fail(layer, 'expects integers, got a string tensor');
  return x.dtype === 'int32' || x.dtype === 'int64' ? x : x.cast('int64');
}
