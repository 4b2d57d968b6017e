// Coordinates of sparse tensors: in order, as single numbers, and back. All is computed by ops, so it works in traced functions.
import { InvalidArgumentError } from '@eagre/backend';
import { unsortedSegmentSum } from '../ops/array/gather.ts';
import { concat, stack } from '../ops/array/join.ts';
import { argSort } from '../ops/array/order.ts';
import { sizeScalar } from '../ragged/row-partition.ts';
import { type Dim, mulDims } from '../shapes/dim.ts';
import { dims, toShape } from '../shapes/dims.ts';
import { constant } from '../tensor/constant.ts';
import type { Tensor } from '../tensor/tensor.ts';

/** What a sparse tensor holds. */
export interface Coordinates {
  /** int64 [n, rank]. */
  readonly indices: Tensor;
  /** [n]. */
  readonly values: Tensor;
  readonly sizes: readonly Dim[];
}

/** How far apart the places along each axis are, row-major. */
export function stridesOf(sizes: readonly Dim[]): Dim[] {
  const strides = new Array<Dim>(sizes.length).fill(1);
  for (let i = sizes.length - 2; i >= 0; i--)
    strides[i] = mulDims(strides[i + 1] as Dim, sizes[i + 1] as Dim);
  return strides;
}

/** Sizes as int64. */
export function shapeTensor(sizes: readonly Dim[]): Tensor {
  if (sizes.every((d) => typeof d === 'number'))
    return constant((sizes as readonly number[]).map(BigInt), 'int64').reshape([sizes.length]);
  return stack(sizes.map((d) => sizeScalar(d, 'int64')));
}

/** The place of each coordinate in row-major order. */
export function placesOf(indices: Tensor, sizes: readonly Dim[]): Tensor {
  if (sizes.length === 1) return indices.reshape([-1]);
  return indices.mul(shapeTensor(stridesOf(sizes)).expandDims(0)).sum(1);
}

/** The coordinates of places. */
export function coordinatesOf(places: Tensor, sizes: readonly Dim[]): Tensor {
  const columns = stridesOf(sizes).map((stride, i) => {
    const along = places.floorDiv(sizeScalar(stride, 'int64'));
    return i === 0 ? along : along.mod(sizeScalar(sizes[i] as Dim, 'int64'));
  });
  return stack(columns, 1);
}

/** One column of coordinates. */
export function columnOf(indices: Tensor, axis: number): Tensor {
  return indices.slice([0, axis], toShape([dims(indices)[0] as number, 1])).reshape([-1]);
}

/** Some columns, in an order. */
export function columnsOf(indices: Tensor, axes: readonly number[]): Tensor {
  if (axes.length === 0) return indices.slice([0, 0], toShape([dims(indices)[0] as number, 0]));
  return concat(
    axes.map((axis) => columnOf(indices, axis).expandDims(1)),
    1,
  );
}

/** The order in which places are sorted. */
export function sortedOrder(places: Tensor): Tensor {
  return argSort(places);
}

/** An axis of a tensor of some rank. @throws InvalidArgumentError for another. */
export function sparseAxis(axis: number, rank: number, op: string): number {
  if (!Number.isInteger(axis) || axis < -rank || axis >= rank)
    throw new InvalidArgumentError(`axis must be from ${-rank} to ${rank - 1}, got ${axis}`, op);
  return axis < 0 ? axis + rank : axis;
}

// ---- segments

/** How rows of one segment become one. */
export type Combiner = 'sum' | 'mean' | 'sqrtn';

/** @internal Rows of `data` in segments, together: their sum, mean, or sum over √n. Segments without rows are 0. */
export function combined(
  x: Tensor,
  segments: Tensor,
  count: Dim,
  combiner: Combiner,
  weights?: Tensor,
): Tensor {
  const own =
    weights === undefined
      ? x
      : x.mul(
          weights.reshape(
            toShape([
              dims(x)[0] as Dim,
              ...dims(x)
                .slice(1)
                .map(() => 1),
            ]),
          ),
        );
  const sum = unsortedSegmentSum(own, segments, count as number);
  if (combiner === 'sum') return sum;
  const each = weights ?? segments.cast(x.dtype).mul(0).add(1);
  const total = unsortedSegmentSum(combiner === 'mean' ? each : each.square(), segments, count as number);
  const by = combiner === 'mean' ? total : total.sqrt();
  return sum.divNoNan(
    by.reshape(
      toShape([
        count,
        ...dims(x)
          .slice(1)
          .map(() => 1),
      ]),
    ),
  );
}
