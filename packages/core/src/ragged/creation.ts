// `tf.ragged`: making ragged tensors.

import { type DType, InvalidArgumentError } from '@eagre/backend';
import type { IntegerLike } from '../arguments/argument-kinds.ts';
import * as kind from '../arguments/argument-kinds.ts';
import { defineFunction, defineVariadic, type NamedFunction } from '../arguments/arguments.ts';
import { checkFunction } from '../arguments/checks.ts';
import { checkValues, integersOf } from '../dispatch/checked-values.ts';
import { pair } from '../dispatch/op.ts';
import { booleanMask as denseMask } from '../ops/array/gather.ts';
import type { Dim } from '../shapes/dim.ts';
import { dims } from '../shapes/dims.ts';
import { checkList } from '../shapes/shape.ts';
import { differs, hostDims } from '../shapes/sizes.ts';
import { constant as denseConstant } from '../tensor/constant.ts';
import { type TensorLike, toTensor } from '../tensor/convert.ts';
import { type Scalar, Tensor } from '../tensor/tensor.ts';
import { Variable } from '../tensor/variable.ts';
import { join } from './joining.ts';
import { partitions } from './pieces.ts';
import {
  checkSplitsDType,
  isRagged,
  makeRagged,
  type RaggedOrDense,
  toRaggedOrDense,
} from './ragged-base.ts';
import { type RaggedLike, RaggedTensor } from './ragged-tensor.ts';
import { reduce } from './reducing.ts';
import {
  checkSame,
  checkSplits,
  placesInRows,
  rowIdsOf,
  rowIntegers,
  rowsOfIds,
  type SplitsDType,
  splitsOfIds,
  splitsOfLengths,
} from './row-partition.ts';

/** Values in lists of lists, whose lengths may differ. */
export type NestedList = Scalar | readonly NestedList[];

/** Options of `ragged.constant`. */
export interface ConstantOptions {
  /** How many dimensions are ragged; all but the first and those of `innerShape` unless given. */
  readonly raggedRank?: number;
  /** The shape of single values, which all have. */
  readonly innerShape?: readonly number[];
  /** int64 unless given. */
  readonly rowSplitsDtype?: SplitsDType;
}

/**
 * A ragged tensor of lists of lists; a tensor where there is but one list, or `raggedRank` is 0.
 *
 *     tf.ragged.constant([[1, 2, 3], [], [4]])
 *     tf.ragged.constant([[[1, 2]], [[3, 4], [5, 6]]], { raggedRank: 1 }) // rows of pairs
 *
 * @throws InvalidArgumentError for values at different depths.
 */
export const constant: NamedFunction<
  [values: NestedList, dtype?: DType],
  ['values|pylist', 'dtype'],
  ConstantOptions,
  RaggedTensor
> = defineFunction(
  'ragged.constant',
  { 'values|pylist': kind.asIs, dtype: kind.optional(kind.asIs) },
  { raggedRank: kind.integer, innerShape: kind.shape, rowSplitsDtype: kind.asIs },
  (values, dtype = undefined, options) => fromLists(values, dtype, options) as RaggedTensor,
);

const OP = 'ragged.constant';

function fromLists(values: NestedList, dtype: DType | undefined, options: ConstantOptions): RaggedOrDense {
  const { innerShape, rowSplitsDtype = 'int64' } = options;
  if (innerShape !== undefined) checkList(innerShape, 'innerShape', OP);
  checkSplitsDType(rowSplitsDtype, OP);
  const depth = depthOf(values);
  const rank = depth.scalars ?? depth.lists;
  if (rank === 0) {
    if ((options.raggedRank ?? 0) !== 0)
      throw new InvalidArgumentError('a scalar has no ragged dimension', OP);
    return denseConstant(values as Scalar, dtype);
  }
  if (depth.scalars !== null && depth.lists > depth.scalars)
    throw new InvalidArgumentError('all values must be at the same depth', OP);
  const innerRank = innerShape?.length ?? 0;
  const raggedRank = options.raggedRank ?? Math.max(0, rank - 1 - innerRank);
  if (
    !Number.isInteger(raggedRank) ||
    raggedRank < 0 ||
    raggedRank >= rank ||
    (innerShape !== undefined && raggedRank + innerRank >= rank + 0 && raggedRank + innerRank > rank - 1)
  )
    throw new InvalidArgumentError(`raggedRank ${raggedRank} does not fit values at depth ${rank}`, OP);
  let level: readonly NestedList[] = [values];
  const splits: number[][] = [];
  for (let i = 0; i < raggedRank; i++) {
    level = level.flatMap((list) => list as readonly NestedList[]);
    splits.push(splitsOf(level));
  }
  const flat = level.flatMap((list) => list as readonly NestedList[]);
  const shape = innerShape ?? innerOf(flat, rank - raggedRank - 1);
  return splits.reduceRight<RaggedOrDense>(
    (inner, s) => makeRagged(inner, denseConstant(s.map(BigInt), 'int64').cast(rowSplitsDtype)),
    denseValues(flat, dtype, shape),
  );
}

function denseValues(
  flat: readonly NestedList[],
  dtype: DType | undefined,
  inner: readonly number[],
): Tensor {
  // Of lists without any value the sizes cannot be told.
  const empty = inner.some((n) => n === 0) && depthOf(flat).scalars === null;
  if (flat.length > 0 && !empty) {
    const made = denseConstant(flat as TensorLike, dtype);
    if (made.shape.slice(1).join() === inner.join()) return made;
    throw new InvalidArgumentError(`the values have shape [${made.shape.slice(1)}], not [${inner}]`, OP);
  }
  return denseConstant([], dtype ?? 'float32').reshape([flat.length, ...inner]);
}

function splitsOf(lists: readonly NestedList[]): number[] {
  const splits = [0];
  for (const list of lists)
    splits.push((splits[splits.length - 1] as number) + (list as readonly NestedList[]).length);
  return splits;
}

/** The shape of the first of some values. */
function innerOf(flat: readonly NestedList[], rank: number): number[] {
  const shape: number[] = [];
  let value: NestedList | undefined = flat[0];
  for (let i = 0; i < rank; i++) {
    shape.push(Array.isArray(value) ? value.length : 0);
    value = Array.isArray(value) ? value[0] : undefined;
  }
  return shape;
}

/** At what depth scalars are, and how deep lists without any go. */
function depthOf(value: NestedList, level = 0): { readonly scalars: number | null; readonly lists: number } {
  if (!Array.isArray(value)) return { scalars: level, lists: 0 };
  if (level > 32) throw new InvalidArgumentError('the lists are too deep', OP);
  let scalars: number | null = null;
  let lists = level + 1;
  for (const item of value as readonly NestedList[]) {
    const inner = depthOf(item, level + 1);
    lists = Math.max(lists, inner.lists);
    if (inner.scalars === null) continue;
    if (scalars !== null && scalars !== inner.scalars)
      throw new InvalidArgumentError(
        `all values must be at the same depth, got ${scalars} and ${inner.scalars}`,
        OP,
      );
    scalars = inner.scalars;
  }
  return { scalars, lists };
}

/**
 * Ranges in rows: row i goes from `starts[i]` to `limits[i]`, without it, by `deltas[i]`. With one argument, from 0 to it.
 *
 *     tf.ragged.range([3, 5, 2]); // [[0, 1, 2], [0, 1, 2, 3, 4], [0, 1]]
 *     tf.ragged.range([0, 5], [8, 2], [2, -1]); // [[0, 2, 4, 6], [5, 4, 3]]
 */
export const range: NamedFunction<
  [starts: TensorLike, limits?: TensorLike | null, deltas?: TensorLike],
  ['starts', 'limits', 'deltas'],
  {
    /** Of the numbers; that of the arguments by default. */
    dtype?: DType;
    /** The dtype of the splits; int64 by default. */
    rowSplitsDtype?: SplitsDType;
  },
  RaggedTensor
> = defineFunction(
  'ragged.range',
  { starts: kind.tensor, limits: kind.tensor, deltas: kind.tensor },
  { dtype: kind.asIs, rowSplitsDtype: kind.asIs },
  (first, second = null, deltas = 1, { dtype, rowSplitsDtype = 'int64' }) => {
    const op = 'ragged.range';
    checkSplitsDType(rowSplitsDtype, op);
    // Bare numbers take the dtype of a tensor among the others.
    const own = [first, second, deltas].find((v) => v instanceof Tensor || v instanceof Variable) as
      | Tensor
      | undefined;
    const hint = dtype ?? own?.dtype ?? hintOf([first, second, deltas]);
    const hinted = (v: TensorLike): Tensor => toTensor(v, hint);
    let [starts, limits] =
      second === null ? [hinted(0), hinted(first)] : pair(hinted(first), hinted(second), op);
    let step = hinted(deltas);
    [starts, step] = pair(starts, step, op);
    limits = pair(limits, step, op)[0];
    if (dtype !== undefined)
      [starts, limits, step] = [starts, limits, step].map((t) => t.cast(dtype)) as [Tensor, Tensor, Tensor];
    const shape = [starts, limits, step].find((t) => t.rank === 1)?.shape ?? [1];
    const [from, to, by] = [starts, limits, step].map((t) => t.broadcastTo(shape)) as [
      Tensor,
      Tensor,
      Tensor,
    ];
    checkValues(
      op,
      [by.equal(0).any()],
      (isZero) => {
        if (integersOf(isZero)[0] === 1) throw new InvalidArgumentError('deltas must not be 0', op);
      },
      (isZero) => isZero.logicalNot(),
    );
    const lengths = to.sub(from).neg().floorDiv(by).neg().maximum(0).cast(rowSplitsDtype);
    const splits = splitsOfLengths(lengths);
    return rangesOf(from, by, lengths, splits);
  },
);

/** Integers unless some number is not one. */
function hintOf(values: readonly unknown[]): DType | undefined {
  const whole = (v: unknown): boolean =>
    typeof v === 'number' ? Number.isInteger(v) : Array.isArray(v) ? v.every(whole) : v === null;
  return values.every(whole) ? 'int32' : undefined;
}

function rangesOf(from: Tensor, by: Tensor, lengths: Tensor, splits: Tensor): RaggedTensor {
  const { rows, places: at } = placesInRows(lengths);
  return makeRagged(from.gather(rows).add(at.cast(from.dtype).mul(by.gather(rows))), splits);
}

/**
 * Tensors, of one rank, along a new axis: their sizes may differ.
 *
 *     tf.ragged.stack([tf.constant([1, 2]), tf.constant([3])]); // [[1, 2], [3]]
 */
export const stack: NamedFunction<
  [values: readonly RaggedLike[], axis?: IntegerLike],
  ['values', 'axis'],
  unknown,
  RaggedTensor
> = defineFunction(
  'ragged.stack',
  { values: kind.asIs, axis: kind.axis },
  {},
  (values, axis: number = 0) =>
    join(
      (Array.isArray(values) ? values : [values]).map((v) => toRaggedOrDense(v)),
      axis,
      true,
      'ragged.stack',
    ) as RaggedTensor,
);

/**
 * The values where a mask is true: of each row those that the mask keeps. The mask has the shape of the first axes of `data`.
 *
 *     tf.ragged.booleanMask([[1, 2], [3, 4]], [[true, false], [true, true]]); // [[1], [3, 4]]
 */
export const booleanMask: NamedFunction<
  [data: RaggedLike, mask: RaggedLike],
  ['data', 'mask'],
  unknown,
  RaggedOrDense
> = defineFunction('ragged.booleanMask', { data: kind.asIs, mask: kind.asIs }, {}, (data, mask) => {
  const m = toRaggedOrDense(mask, 'bool');
  if (m.dtype !== 'bool')
    throw new InvalidArgumentError(`the mask must be bool, got ${m.dtype}`, 'ragged.booleanMask');
  return masked(toRaggedOrDense(data), m);
});

function masked(data: RaggedOrDense, mask: RaggedOrDense): RaggedOrDense {
  const op = 'ragged.booleanMask';
  if (mask.rank === 0 || mask.rank > data.rank)
    throw new InvalidArgumentError(`a mask of rank ${mask.rank} does not fit data of rank ${data.rank}`, op);
  if (!isRagged(mask) && mask.rank === 1) {
    if (!isRagged(data)) return denseMask(data, mask);
    const lengths = denseMask(data.rowLengths() as Tensor, mask);
    const keep = mask.gather(data.valueRowids());
    return makeRagged(masked(data.values, keep), splitsOfLengths(lengths), data.uniformRowLength);
  }
  const [d, m] = [asRows(data), asRows(mask)];
  checkSame(d.rowSplits, m.rowSplits, 'the rows of the mask and of the data have other lengths', op);
  if (isRagged(m.values)) return makeRagged(masked(d.values, m.values), d.rowSplits, d.uniformRowLength);
  if (m.values.rank > 1) return makeRagged(masked(d.values, m.values), d.rowSplits, d.uniformRowLength);
  const lengths = reduce('sum', m.withValues(m.values.cast(d.rowSplits.dtype)), 1, false) as Tensor;
  return makeRagged(masked(d.values, m.values), splitsOfLengths(lengths));
}

const asRows = (x: RaggedOrDense): RaggedTensor => (isRagged(x) ? x : RaggedTensor.fromTensor(x));

/**
 * Calls a function with the innermost values of ragged tensors, all of which have the same rows. Other arguments are given as they are.
 *
 *     tf.ragged.mapFlatValues((x) => x.mul(2), rt)
 *
 * @throws InvalidArgumentError for ragged tensors of other rows, and for a result of another number of values.
 */
export const mapFlatValues: (
  op: (...args: never[]) => TensorLike,
  ...args: readonly unknown[]
) => RaggedTensor = defineVariadic(
  'ragged.mapFlatValues',
  { op: kind.asIs },
  'args',
  {},
  (op: (...args: unknown[]) => TensorLike, args: readonly unknown[]) => {
    const name = 'ragged.mapFlatValues';
    checkFunction(op, 'op', name);
    const ragged = args.filter(isRagged);
    const first = ragged[0];
    if (first === undefined) return toTensor(op(...args));
    for (const other of ragged) checkSameSplits(other, first, name);
    return first.withFlatValues(op(...args.map((v) => (isRagged(v) ? v.flatValues : v))));
  },
);

function checkSameSplits(a: RaggedTensor, b: RaggedTensor, op: string): void {
  const message = 'the ragged tensors must have the same rows';
  a.nestedRowSplits.forEach((splits, i) => {
    const other = b.nestedRowSplits[i];
    if (other === undefined) throw new InvalidArgumentError(message, op);
    checkSame(splits, other, message, op);
  });
}

/** The row of each value of rows with these splits: `[0, 2, 2, 3]` → `[0, 0, 2]`. */
export const rowSplitsToSegmentIds: NamedFunction<
  [splits: TensorLike],
  ['splits'],
  {
    /** The dtype of the result; that of the splits by default. */
    outType?: SplitsDType;
  }
> = defineFunction(
  'ragged.rowSplitsToSegmentIds',
  { splits: kind.tensor },
  { outType: kind.asIs },
  (splits, { outType }) => {
    const op = 'ragged.rowSplitsToSegmentIds';
    const s = rowIntegers(splits, 'splits', op);
    const count = differs(dims(s)[0], 0) ? hostDims(s.at(-1), 'the last of splits', op)[0] : 0;
    checkSplits(s, count as Dim, op);
    return rowIdsOf(s, count as Dim).cast(outType ?? s.dtype);
  },
);

/** The splits of rows that have these values: `[0, 0, 2]` → `[0, 2, 2, 3]`. */
export const segmentIdsToRowSplits: NamedFunction<
  [segmentIds: TensorLike, numSegments?: IntegerLike | null],
  ['segmentIds', 'numSegments'],
  {
    /** The dtype of the result; that of the ids by default. */
    outType?: SplitsDType;
  }
> = defineFunction(
  'ragged.segmentIdsToRowSplits',
  { segmentIds: kind.tensor, numSegments: kind.size },
  { outType: kind.asIs },
  (segmentIds, numSegments: number | null = null, { outType }) => {
    const op = 'ragged.segmentIdsToRowSplits';
    const ids = rowIntegers(segmentIds, 'segmentIds', op);
    checkValues(
      op,
      [ids],
      (now) => {
        if (integersOf(now).some((id) => id < 0))
          throw new InvalidArgumentError('segmentIds must not be negative', op);
      },
      (now) => now.greaterEqual(0).all(),
    );
    const splits = splitsOfIds(ids, numSegments ?? rowsOfIds(ids, op));
    return splits.cast(outType ?? ids.dtype);
  },
);

/**
 * The slices of `data` in rows by their partition: row i has those whose partition is i.
 *
 *     tf.ragged.stackDynamicPartitions(['a', 'b', 'c'], [1, 0, 1], 2); // [['b'], ['a', 'c']]
 */
export const stackDynamicPartitions: NamedFunction<
  [data: RaggedLike, partitions: RaggedLike, numPartitions: IntegerLike],
  ['data', 'partitions', 'numPartitions'],
  unknown,
  RaggedTensor
> = defineFunction(
  'ragged.stackDynamicPartitions',
  { data: kind.asIs, partitions: kind.asIs, numPartitions: kind.size },
  {},
  (data, partitionsOf, numPartitions: number) => {
    const [d, p] = [toRaggedOrDense(data), toRaggedOrDense(partitionsOf, 'int32')];
    return partitions(d, p, numPartitions, 'ragged.stackDynamicPartitions');
  },
);
