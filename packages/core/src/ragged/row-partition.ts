// How the values of a ragged tensor fall into rows. All is computed by ops, so it works in traced functions and on any device.
import { InvalidArgumentError } from '@eagre/backend';
import { checkValues, integersOf } from '../dispatch/checked-values.ts';
import { execute1 } from '../dispatch/op.ts';
import { knownTensor } from '../dispatch/symbolic.ts';
import { repeat, scatterNd, unsortedSegmentSum } from '../ops/array/gather.ts';
import { rangeOp } from '../ops/array/iota.ts';
import { concat } from '../ops/array/join.ts';
import { isRising } from '../ops/array/rising.ts';
import { addDims, type Dim, subDims } from '../shapes/dim.ts';
import { dims, toShape } from '../shapes/dims.ts';
import { hostDims, sizeValue } from '../shapes/sizes.ts';
import { constant } from '../tensor/constant.ts';
import { type TensorLike, toTensor } from '../tensor/convert.ts';
import { Tensor } from '../tensor/tensor.ts';

/** The integer dtypes that positions of rows may have. */
export type SplitsDType = 'int32' | 'int64';

/** A size as a scalar of a dtype. */
export function sizeScalar(size: Dim, dtype: SplitsDType): Tensor {
  const value = sizeValue(size, dtype);
  return value instanceof Tensor ? value : constant(value, dtype);
}

/** 0, 1, …, n - 1. */
export function countTo(n: Dim, dtype: SplitsDType): Tensor {
  return execute1(rangeOp, [], { start: 0, delta: 1, size: n, dtype });
}

/** Integers given for splits, lengths or ids: int64 unless they are a tensor of int32. @throws InvalidArgumentError for others. */
export function rowIntegers(
  given: TensorLike,
  what: string,
  op: string,
  hint: SplitsDType = 'int64',
): Tensor {
  const t = toTensor(given, hint);
  if (t.dtype !== 'int32' && t.dtype !== 'int64')
    throw new InvalidArgumentError(`${what} must be int32 or int64, got ${t.dtype}`, op);
  if (t.rank !== 1) throw new InvalidArgumentError(`${what} must have rank 1, got shape [${t.shape}]`, op);
  return t;
}

/** How many rows splits make. */
export function rowCount(splits: Tensor): Dim {
  return subDims(dims(splits)[0], 1);
}

/** Where rows begin, and where they end. */
export const startsOf = (splits: Tensor): Tensor => splits.slice([0], toShape([rowCount(splits)]));
export const limitsOf = (splits: Tensor): Tensor => splits.slice([1], toShape([rowCount(splits)]));
/** How long rows are. */
export const lengthsOf = (splits: Tensor): Tensor => limitsOf(splits).sub(startsOf(splits));

/** The splits of rows of these lengths. */
export function splitsOfLengths(lengths: Tensor): Tensor {
  return concat([constant([0], lengths.dtype), lengths.cumsum()], 0);
}

/** The splits of so many rows of one length. */
export function uniformSplits(rows: Dim, length: Dim, dtype: SplitsDType): Tensor {
  return countTo(addDims(rows, 1), dtype).mul(sizeScalar(length, dtype));
}

/** The row of each value: marks where rows end are added up. */
export function rowIdsOf(splits: Tensor, values: Dim): Tensor {
  const ends = limitsOf(splits).reshape([-1, 1]);
  const ones = constant(1, 'int32').broadcastTo(toShape([rowCount(splits)]));
  const marks = scatterNd(ends, ones, toShape([addDims(values, 1)]));
  return marks
    .cumsum()
    .slice([0], toShape([values]))
    .cast(splits.dtype);
}

/** The splits of values that belong to these rows, in ascending order. */
export function splitsOfIds(ids: Tensor, rows: Dim): Tensor {
  const ones = constant(1, ids.dtype).broadcastTo(ids.shape);
  return splitsOfLengths(unsortedSegmentSum(ones, ids, rows as number));
}

/** One more than the last id; 0 without any. */
export function rowsOfIds(ids: Tensor, op: string): Dim {
  const padded = concat([constant([-1], ids.dtype), ids], 0);
  return addDims(hostDims(padded.max().cast('int64'), 'valueRowids', op)[0], 1);
}

/** The place of each value in its row, and its row, for rows of these lengths. */
export function placesInRows(lengths: Tensor): { readonly rows: Tensor; readonly places: Tensor } {
  const dtype = lengths.dtype as SplitsDType;
  const rows = repeat(countTo(dims(lengths)[0], dtype), lengths, 0);
  const starts = splitsOfLengths(lengths).gather(rows);
  return { rows, places: countTo(dims(rows)[0], dtype).sub(starts) };
}

/** The integers of a tensor where they are known now, else null. */
export function knownIntegers(t: Tensor): number[] | null {
  const known = knownTensor(t);
  return known === null ? null : integersOf(known);
}

/** @throws InvalidArgumentError for splits that are none of so many values. */
export function checkSplits(splits: Tensor, values: Dim, op: string): void {
  const count = sizeScalar(values, splits.dtype as SplitsDType);
  checkValues(
    op,
    [splits, count],
    (now, size) => {
      const [known, wanted] = [integersOf(now), integersOf(size)[0]];
      if (known.length === 0) refuse('rowSplits must have at least one value', op);
      if (known[0] !== 0) refuse(`rowSplits must begin with 0, but begin with ${known[0]}`, op);
      known.forEach((s, i) => {
        if (i > 0 && s < known[i - 1]) refuse(`rowSplits must not decrease: ${known[i - 1]}, ${s}`, op);
      });
      const last = known[known.length - 1];
      if (last !== wanted) refuse(`rowSplits end with ${last}, but there are ${wanted} values`, op);
    },
    (now, size) =>
      lengthsOf(now)
        .greaterEqual(0)
        .all()
        .logicalAnd(now.slice([0], [1]).equal(0).all())
        .logicalAnd(
          now
            .slice(toShape([rowCount(now)]), [1])
            .equal(size)
            .all(),
        ),
  );
}

/** @throws InvalidArgumentError unless ids ascend from 0 on, one for each value, below the number of rows. */
export function checkIds(ids: Tensor, rows: Dim, values: Dim, op: string): void {
  const [n, count] = [rows, values].map((d) => sizeScalar(d, ids.dtype as SplitsDType)) as [Tensor, Tensor];
  checkValues(
    op,
    [ids, n, count],
    (now, most, size) => {
      const [known, end, wanted] = [integersOf(now), integersOf(most)[0], integersOf(size)[0]];
      if (known.length !== wanted) refuse(`${known.length} valueRowids for ${wanted} values`, op);
      known.forEach((id, i) => {
        if (id < 0 || id < (known[i - 1] ?? 0)) refuse('valueRowids must not be negative or decrease', op);
        if (id >= end) refuse(`the row ${id} is not one of ${end}`, op);
      });
    },
    (now, most) => isRising(now).logicalAnd(now.less(most).all()),
  );
}

/** @throws InvalidArgumentError where the integers of two tensors differ. */
export function checkSame(a: Tensor, b: Tensor, message: string, op: string): void {
  if (a === b) return;
  checkValues(op, [a, b], (x, y) => {
    if (integersOf(x).join() !== integersOf(y).join()) throw new InvalidArgumentError(message, op);
  });
}

function refuse(why: string, op: string): never {
  throw new InvalidArgumentError(`Arguments do not form a valid RaggedTensor: ${why}`, op);
}
