// Parts of ragged tensors: equal pieces along an axis, and rows that belong together.

import { InvalidArgumentError, UnimplementedError } from '@eagre/backend';
import { shown } from '../arguments/checks.ts';
import { checkValues, integersOf } from '../dispatch/checked-values.ts';
import { onesLike } from '../ops/array/creation.ts';
import { argSort } from '../ops/array/order.ts';
import { split as splitDense } from '../ops/array/slicing.ts';
import { addDims, type Dim, floorDivDims, modDims } from '../shapes/dim.ts';
import { toShape } from '../shapes/dims.ts';
import { differs, hostDims } from '../shapes/sizes.ts';
import { constant } from '../tensor/constant.ts';
import { type TensorLike, toTensor } from '../tensor/convert.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { gatherRows, rowsBetween } from './indexing.ts';
import { inRows } from './joining.ts';
import { isRagged, makeRagged, outerSize, type RaggedOrDense, raggedAxis } from './ragged-base.ts';
import type { RaggedTensor } from './ragged-tensor.ts';
import {
  checkSame,
  knownIntegers,
  rowCount,
  type SplitsDType,
  sizeScalar,
  splitsOfIds,
  startsOf,
} from './row-partition.ts';

type Sizes = number | Tensor | readonly number[];

/**
 * Equal pieces, or pieces of the listed sizes, along an axis that is not ragged.
 * @throws InvalidArgumentError for a ragged axis, and for sizes that do not add up to it.
 */
export function split(x: RaggedTensor, numOrSizes: unknown, axis: unknown): RaggedTensor[] {
  const a = raggedAxis(axis, x.rank, 'RaggedSplit');
  const given = typeof numOrSizes === 'bigint' ? Number(numOrSizes) : (numOrSizes as Sizes);
  return given === 1 ? [x] : pieces(x, given, a, a);
}

function pieces(x: RaggedTensor, sizes: Sizes, axis: number, named: number): RaggedTensor[] {
  if (axis > 1) {
    const inner = isRagged(x.values)
      ? pieces(x.values, sizes, axis - 1, named)
      : splitDense(x.values, sizes as never, axis - 1);
    return inner.map((values) => makeRagged(values, x.rowSplits, x.uniformRowLength));
  }
  if (axis === 1 && x.uniformRowLength === null)
    throw new InvalidArgumentError(`axis ${named} is ragged: it cannot be split`, 'RaggedSplit');
  const n: Dim = axis === 0 ? rowCount(x.rowSplits) : (x.uniformRowLength as number);
  let start: Dim = 0;
  return sizesOf(sizes, n, named).map((size) => {
    const from = start;
    start = addDims(start, size);
    return axis === 0 ? rowsFrom(x, from, size) : columnsFrom(x, from as number, size as number);
  });
}

function sizesOf(given: Sizes, n: Dim, axis: number): Dim[] {
  const fail = (): never => {
    throw new InvalidArgumentError(
      `axis ${axis} of size ${String(n)} cannot be split into ${typeof given === 'number' ? `${given} equal pieces` : `pieces of ${shown(given)}`}`,
      'RaggedSplit',
    );
  };
  if (typeof given === 'number') {
    if (!Number.isInteger(given) || given < 1 || differs(modDims(n, given), 0)) fail();
    return new Array<Dim>(given).fill(floorDivDims(n, given));
  }
  const listed = toTensor(given as TensorLike, 'int32');
  if (listed.dtype !== 'int32' && listed.dtype !== 'int64') fail();
  const sizes = knownIntegers(listed);
  if (sizes === null) throw new UnimplementedError('sizes of pieces that only a run knows', 'RaggedSplit');
  const total = sizes.reduce((sum, size) => (size < 0 ? fail() : sum + size), 0);
  if (differs(total, n)) fail();
  return sizes;
}

function rowsFrom(x: RaggedTensor, first: Dim, count: Dim): RaggedTensor {
  const starts = x.rowSplits.slice(toShape([first]), toShape([count]));
  const limits = x.rowSplits.slice(toShape([addDims(first, 1)]), toShape([count]));
  return rowsBetween(x.values, starts, limits, onesLike(starts), x.uniformRowLength);
}

/** Some places of rows, all of which have one length. */
function columnsFrom(x: RaggedTensor, first: number, count: number): RaggedTensor {
  const starts = startsOf(x.rowSplits).add(constant(first, x.rowSplits.dtype));
  return rowsBetween(x.values, starts, starts.add(constant(count, starts.dtype)), onesLike(starts), count);
}

/**
 * The rows of each partition, in their order: row i of the result holds the values whose partition is i.
 * @throws InvalidArgumentError for a partition that is none of `count`, now or in a run.
 */
export function partitions(data: RaggedOrDense, ids: RaggedOrDense, count: Dim, op: string): RaggedTensor {
  let [d, p] = [data, ids];
  const dtype = [d, p].find(isRagged)?.rowSplits.dtype ?? (p.dtype as SplitsDType);
  while (p.rank > 1) {
    const [rows, places] = [inRows(d, dtype as SplitsDType), inRows(p, dtype as SplitsDType)];
    checkSameRows(rows, places, op);
    [d, p] = [rows.values, places.values];
  }
  if (isRagged(p) || p.rank !== 1)
    throw new InvalidArgumentError(`partitions must have rank 1 or more, got ${shown(p)}`, op);
  if (differs(outerSize(d), outerSize(p)))
    throw new InvalidArgumentError(
      `there are ${String(outerSize(p))} partitions for ${String(outerSize(d))} rows`,
      op,
    );
  checkValues(op, [p, sizeScalar(count, 'int64')], (now, size) => {
    const [n] = integersOf(size) as [number];
    if (integersOf(now).some((i) => i < 0 || i >= n))
      throw new InvalidArgumentError(`a partition is not in 0 … ${n - 1}`, op);
  });
  const order = argSort(p);
  return makeRagged(gatherRows(d, order), splitsOfIds(p.gather(order).cast(dtype), count));
}

/** @throws InvalidArgumentError for rows of other lengths, now or in a run. */
export function checkSameRows(x: RaggedTensor, ids: RaggedTensor, op: string): void {
  checkSame(x.rowSplits, ids.rowSplits, 'the rows of data have other lengths than those of its numbers', op);
}

/** A number that is given as an argument, which only a run may know. */
export function countFrom(given: unknown, what: string, op: string): Dim {
  const [n] = hostDims(toTensor(given as TensorLike, 'int64'), what, op);
  return n as Dim;
}
