// `tf.sparse`: functions of sparse tensors.

import { type DType, InvalidArgumentError } from '@eagre/backend';
import type { IntegerLike, IntegersLike } from '../arguments/argument-kinds.ts';
import * as kind from '../arguments/argument-kinds.ts';
import { defineFunction, defineVariadic, type NamedFunction } from '../arguments/arguments.ts';
import { checkCount, checkFunction, shown } from '../arguments/checks.ts';
import { IndexedSlices } from '../composite/indexed-slices.ts';
import { checkValues, integersOf } from '../dispatch/checked-values.ts';
import { ones } from '../ops/array/creation.ts';
import {
  booleanMask,
  tensorScatterNdMax,
  tensorScatterNdUpdate,
  unsortedSegmentSum,
} from '../ops/array/gather.ts';
import { concat as denseConcat, stack } from '../ops/array/join.ts';
import { unique } from '../ops/array/order.ts';
import { isRising } from '../ops/array/rising.ts';
import { isRagged, type RaggedOrDense } from '../ragged/ragged-base.ts';
import { checkSame, countTo } from '../ragged/row-partition.ts';
import {
  addDims,
  type Dim,
  type Dims,
  floorDivDims,
  maxDims,
  minDims,
  mulDims,
  subDims,
} from '../shapes/dim.ts';
import { dims, toShape } from '../shapes/dims.ts';
import { checkList, checkShape, type Shape } from '../shapes/shape.ts';
import { knownDim } from '../shapes/shape-env.ts';
import { differs, hostDims } from '../shapes/sizes.ts';
import { constant } from '../tensor/constant.ts';
import { type TensorLike, toTensor } from '../tensor/convert.ts';
import { checkDType, isFloating } from '../tensor/dtypes.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { int64, type OfSparse, reordered, row, sparse } from './ordered.ts';
import {
  type Combiner,
  columnOf,
  columnsOf,
  combined,
  coordinatesOf,
  placesOf,
  sortedOrder,
  sparseAxis,
} from './sparse-base.ts';
import { checkOrder, SparseTensor } from './sparse-tensor.ts';

/**
 * The whole tensor.
 * @param defaultValue stands where there is no value: 0, false or an empty string unless given.
 * @throws InvalidArgumentError with `validateIndices` (true unless given) for coordinates out of order, or repeated.
 */
export const toDense: NamedFunction<
  [spInput: SparseTensor, defaultValue?: TensorLike | null],
  ['spInput', 'defaultValue'],
  {
    /** Whether places must be in order, and each only once; true by default. */
    validateIndices?: boolean;
  }
> = /* @__PURE__ */ defineFunction(
  'sparse.toDense',
  { spInput: kind.asIs, defaultValue: kind.tensor },
  { validateIndices: kind.asIs },
  (spInput, defaultValue = null, { validateIndices = true }) => {
    const x = sparse(spInput, 'spInput', 'sparse.toDense');
    if (validateIndices) checkOrder(x, 'sparse.toDense');
    return x.toDense(defaultValue);
  },
);

/** The identity matrix. float32 unless given. */
export const eye: NamedFunction<
  [numRows: IntegerLike, numColumns?: IntegerLike | null, dtype?: DType],
  ['numRows', 'numColumns', 'dtype'],
  unknown,
  SparseTensor
> = /* @__PURE__ */ defineFunction(
  'sparse.eye',
  { numRows: kind.size, numColumns: kind.size, dtype: kind.asIs },
  {},
  (numRows: number, numColumns: number | null = null, dtype: DType = 'float32') => {
    const columns = numColumns ?? numRows;
    checkShape([numRows, columns], 'sparse.eye');
    const n = minDims(numRows, columns);
    const at = countTo(n, 'int64');
    return SparseTensor.of({
      indices: stack([at, at], 1),
      values: ones(toShape([n]), { dtype }),
      sizes: [numRows, columns],
    });
  },
);

// ---- shapes

/** @throws InvalidArgumentError for what is no list of integers */
function sizesOf(given: readonly number[], what: string, op: string): Dims {
  const sizes = dims({ shape: checkList(given, what, op) as Shape });
  for (const d of sizes)
    if (typeof d === 'number' && !Number.isInteger(d))
      throw new InvalidArgumentError(`${what} must be a list of integers, got ${shown(d)}`, op);
  return sizes;
}

/** Adds an axis of size 1, last unless given. */
export const expandDims: NamedFunction<
  [spInput: SparseTensor, axis?: IntegerLike | null],
  ['spInput', 'axis'],
  unknown,
  SparseTensor
> = /* @__PURE__ */ defineFunction(
  'sparse.expandDims',
  { spInput: kind.asIs, axis: kind.axis },
  {},
  (spInput, axis: number | null = null) => {
    const x = sparse(spInput, 'spInput', 'sparse.expandDims');
    const a = sparseAxis(axis ?? -1, x.rank + 1, 'sparse.expandDims');
    const zero = columnOf(x.indices, 0).mul(int64(0)).expandDims(1);
    const columns = Array.from({ length: x.rank }, (_, i) => columnOf(x.indices, i).expandDims(1));
    columns.splice(a, 0, zero);
    const sizes = [...x.sizes];
    sizes.splice(a, 0, 1);
    return x.with({ indices: denseConcat(columns, 1), sizes });
  },
);

/** The values in another shape of the same size; -1 stands for what is left. */
export const reshape: NamedFunction<
  [spInput: SparseTensor, shape: IntegersLike],
  ['spInput', 'shape'],
  unknown,
  SparseTensor
> = /* @__PURE__ */ defineFunction(
  'sparse.reshape',
  { spInput: kind.asIs, shape: kind.shape },
  {},
  (spInput, shape: readonly number[]) => {
    const op = 'sparse.reshape';
    const x = sparse(spInput, 'spInput', op);
    const total = x.sizes.reduce(mulDims, 1);
    const wanted = sizesOf(shape, 'shape', op);
    const known = wanted.filter((d) => d !== -1).reduce(mulDims, 1);
    if (wanted.filter((d) => d === -1).length > 1)
      throw new InvalidArgumentError('only one size may be -1', op);
    const sizes = wanted.map((d) => (d === -1 ? (known === 0 ? 0 : floorDivDims(total, known)) : d));
    if (differs(sizes.reduce(mulDims, 1), total))
      throw new InvalidArgumentError(
        `[${x.sizes.join(', ')}] cannot have the shape [${wanted.join(', ')}]`,
        op,
      );
    return x.with({ indices: coordinatesOf(placesOf(x.indices, x.sizes), sizes), sizes });
  },
);

/** The same values in a larger shape, or in the tightest one around them. */
export const resetShape: NamedFunction<
  [spInput: SparseTensor, newShape?: IntegersLike | null],
  ['spInput', 'newShape'],
  unknown,
  SparseTensor
> = /* @__PURE__ */ defineFunction(
  'sparse.resetShape',
  { spInput: kind.asIs, newShape: kind.shape },
  {},
  (spInput, newShape: readonly number[] | null = null) => {
    const op = 'sparse.resetShape';
    const x = sparse(spInput, 'spInput', op);
    if (newShape === null) {
      const none = constant(-1n, 'int64').broadcastTo([1, x.rank]);
      const most = denseConcat([none, x.indices], 0).max(0).add(int64(1));
      return x.with({ sizes: hostDims(most, 'indices', op) });
    }
    const sizes = sizesOf(newShape, 'newShape', op);
    if (sizes.length !== x.rank)
      throw new InvalidArgumentError(`newShape has ${sizes.length} sizes, expected ${x.rank}`, op);
    sizes.forEach((d, i) => {
      if (typeof d === 'number') checkCount(d, `newShape[${i}]`, op);
      const own = x.sizes[i] as Dim;
      if (typeof d === 'number' && typeof own === 'number' && d < own)
        throw new InvalidArgumentError(`newShape[${i}] is ${d}, less than ${own}`, op);
    });
    return x.with({ sizes });
  },
);

/** The axes in another order; reversed unless given. */
export const transpose: NamedFunction<
  [spInput: SparseTensor, perm?: IntegersLike | null],
  ['spInput', 'perm'],
  unknown,
  SparseTensor
> = /* @__PURE__ */ defineFunction(
  'sparse.transpose',
  { spInput: kind.asIs, perm: kind.integers },
  {},
  (spInput, perm: readonly number[] | null = null) => {
    const op = 'sparse.transpose';
    const x = sparse(spInput, 'spInput', op);
    const order = perm ?? Array.from({ length: x.rank }, (_, i) => x.rank - 1 - i);
    if (!Array.isArray(order))
      throw new InvalidArgumentError(`perm must be a list of axes, got ${shown(order)}`, op);
    if ([...order].sort((a, b) => a - b).join() !== Array.from({ length: x.rank }, (_, i) => i).join())
      throw new InvalidArgumentError(`perm [${order}] must name each of ${x.rank} axes once`, op);
    return reordered(
      x.with({ indices: columnsOf(x.indices, order), sizes: order.map((a) => x.sizes[a] as Dim) }),
    );
  },
);

/** The values whose mask is true. */
function retained(x: SparseTensor, mask: Tensor): SparseTensor {
  return x.with({ indices: booleanMask(x.indices, mask), values: booleanMask(x.values, mask) });
}

/** The block of `size` that begins at `start`; cut where the tensor ends. */
export const slice: NamedFunction<
  [spInput: SparseTensor, start: IntegersLike, size: IntegersLike],
  ['spInput', 'start', 'size'],
  unknown,
  SparseTensor
> = /* @__PURE__ */ defineFunction(
  'sparse.slice',
  { spInput: kind.asIs, start: kind.shape, size: kind.shape },
  {},
  (spInput, start: readonly number[], size: readonly number[]) => {
    const op = 'sparse.slice';
    const x = sparse(spInput, 'spInput', op);
    const wanted = sizesOf(size, 'size', op);
    for (const d of wanted)
      if (typeof d === 'number' && d < 0)
        throw new InvalidArgumentError(`size must not be negative, got ${d}`, op);
    return block(x, sizesOf(start, 'start', op), wanted);
  },
);

function block(x: SparseTensor, start: readonly Dim[], size: readonly Dim[]): SparseTensor {
  if (start.length !== x.rank || size.length !== x.rank)
    throw new InvalidArgumentError(`start and size must have ${x.rank} numbers`, 'sparse.slice');
  const end = start.map((s, i) => minDims(addDims(s, size[i] as Dim), x.sizes[i] as Dim));
  const inside = x.indices
    .greaterEqual(row(start))
    .logicalAnd(x.indices.less(row(end)))
    .all(1);
  const kept = retained(x, inside);
  const sizes = end.map((e, i) => maxDims(subDims(e, start[i] as Dim), 0));
  return kept.with({ indices: kept.indices.sub(row(start)), sizes });
}

/** So many pieces along an axis; the first ones are 1 larger where the size cannot be divided. */
export const split: NamedFunction<
  [spInput: SparseTensor, numSplit: IntegerLike, axis: IntegerLike],
  ['spInput', 'numSplit', 'axis'],
  unknown,
  SparseTensor[]
> = /* @__PURE__ */ defineFunction(
  'sparse.split',
  { spInput: kind.asIs, numSplit: kind.integer, axis: kind.axis },
  {},
  (spInput, numSplit: number, axis: number) => {
    const op = 'sparse.split';
    const x = sparse(spInput, 'spInput', op);
    const a = sparseAxis(axis, x.rank, op);
    const size = knownDim(x.sizes[a] as Dim);
    if (!Number.isInteger(numSplit) || numSplit < 1 || numSplit > size)
      throw new InvalidArgumentError(`numSplit must be from 1 to the size ${size}, got ${numSplit}`, op);
    const [each, more] = [Math.floor(size / numSplit), size % numSplit];
    let begin = 0;
    return Array.from({ length: numSplit }, (_, i) => {
      const own = each + (i < more ? 1 : 0);
      const start = x.sizes.map((_d, j) => (j === a ? begin : 0));
      begin += own;
      return block(
        x,
        start,
        x.sizes.map((d, j) => (j === a ? own : d)),
      );
    });
  },
);

/** The values for which a mask is true. */
export const retain: NamedFunction<
  [spInput: SparseTensor, toRetain: TensorLike],
  ['spInput', 'toRetain'],
  unknown,
  SparseTensor
> = /* @__PURE__ */ defineFunction(
  'sparse.retain',
  { spInput: kind.asIs, toRetain: kind.tensor },
  {},
  (spInput, toRetain) => retained(sparse(spInput, 'spInput', 'sparse.retain'), toTensor(toRetain, 'bool')),
);

/** Slices without those of some indices. */
export const mask: NamedFunction<
  [a: IndexedSlices, maskIndices: TensorLike],
  ['a', 'maskIndices'],
  unknown,
  IndexedSlices
> = /* @__PURE__ */ defineFunction(
  'sparse.mask',
  { a: kind.asIs, maskIndices: kind.tensor },
  {},
  (a, maskIndices) => {
    if (!(a instanceof IndexedSlices))
      throw new InvalidArgumentError(`a must be tf.IndexedSlices, got ${shown(a)}`, 'sparse.mask');
    const out = toTensor(maskIndices, a.indices.dtype).cast(a.indices.dtype);
    const keep = a.indices
      .expandDims(1)
      .notEqual(out.reshape([1, -1]))
      .all(1);
    return a.like(booleanMask(a.values, keep), booleanMask(a.indices, keep));
  },
);

/**
 * Each row without a value gets `defaultValue` at its first place.
 * @returns the tensor, and for each row whether it was empty (bool).
 */
export const fillEmptyRows: NamedFunction<
  [spInput: SparseTensor, defaultValue: TensorLike],
  ['spInput', 'defaultValue'],
  unknown,
  [SparseTensor, Tensor]
> = /* @__PURE__ */ defineFunction(
  'sparse.fillEmptyRows',
  { spInput: kind.asIs, defaultValue: kind.tensor },
  {},
  (spInput, defaultValue) => filled(sparse(spInput, 'spInput', 'sparse.fillEmptyRows'), defaultValue),
);

function filled(x: SparseTensor, defaultValue: TensorLike): [SparseTensor, Tensor] {
  const rows = columnOf(x.indices, 0);
  const [n] = x.sizes as [Dim];
  const counts = unsortedSegmentSum(rows.mul(int64(0)).add(int64(1)), rows, n as number);
  const empty = counts.equal(int64(0));
  const added = booleanMask(countTo(n, 'int64'), empty);
  const [more] = dims(added);
  const rest = constant(0n, 'int64').broadcastTo(toShape([more as Dim, x.rank - 1]));
  const indices = denseConcat([x.indices, denseConcat([added.expandDims(1), rest], 1)], 0);
  const filler = toTensor(defaultValue, x.dtype).reshape([1]);
  const values = denseConcat([x.values, filler.gather(added.mul(int64(0)), 0)], 0);
  return [reordered(x.with({ indices, values })), empty];
}

// ---- reductions

/** Places reduced over some axes: the sums or maxima by what is left. */
function reduced(
  name: 'sum' | 'max',
  given: unknown,
  axis: number | readonly number[] | null,
  keepdims: boolean,
  outputIsSparse: boolean,
): Tensor | SparseTensor {
  const op = `sparse.reduce${name === 'sum' ? 'Sum' : 'Max'}`;
  const x = sparse(given, 'spInput', op);
  const over = new Set(
    (axis === null ? x.sizes.map((_, i) => i) : [axis].flat()).map((a) =>
      sparseAxis(a as number, x.rank, op),
    ),
  );
  const left = x.sizes.map((_, i) => i).filter((i) => !over.has(i));
  const kept = left.map((i) => x.sizes[i] as Dim);
  const places =
    left.length === 0 ? columnOf(x.indices, 0).mul(int64(0)) : placesOf(columnsOf(x.indices, left), kept);
  const groups = merged(places, x.values, name);
  const whole = x.sizes.map((d, i) => (over.has(i) ? 1 : d));
  const sizes = keepdims ? whole : kept;
  if (outputIsSparse) {
    const indices =
      sizes.length === 0
        ? groups.places.expandDims(1).slice([0, 0], toShape([dims(groups.places)[0] as Dim, 0]))
        : coordinatesOf(groups.places, sizes);
    return SparseTensor.of({ values: groups.values, indices, sizes });
  }
  const total = kept.reduce(mulDims, 1);
  const none = constant(0, x.dtype).broadcastTo(toShape([total]));
  return tensorScatterNdUpdate(none, groups.places.expandDims(1), groups.values).reshape(toShape(sizes));
}

/** Equal places become one, in ascending order. */
function merged(
  places: Tensor,
  values: Tensor,
  name: 'sum' | 'max',
): { readonly places: Tensor; readonly values: Tensor; readonly counts: Tensor } {
  const order = sortedOrder(places);
  const { values: own, indices: groups, counts } = unique(places.gather(order));
  const [n] = dims(own);
  const sorted = values.gather(order, 0);
  if (name === 'sum') return { places: own, values: unsortedSegmentSum(sorted, groups, n as number), counts };
  // The first value of each group, which the others are compared with.
  const firsts = tensorScatterNdUpdate(
    constant(0, values.dtype).broadcastTo(toShape([n as Dim])),
    groups.expandDims(1),
    sorted,
  );
  return {
    places: own,
    counts,
    values: tensorScatterNdMax(firsts.stopGradient(), groups.expandDims(1), sorted),
  };
}

interface ReduceOptions {
  /** Keeps the axes as 1; false by default. */
  readonly keepdims?: boolean;
  /** Whether the result is sparse; false by default. */
  readonly outputIsSparse?: boolean;
}
type Reduce = NamedFunction<
  [spInput: SparseTensor, axis?: IntegerLike | IntegersLike | null],
  ['spInput', 'axis'],
  ReduceOptions,
  Tensor
>;
const reduceKinds = { spInput: kind.asIs, axis: kind.axes };
const reduceOptions = { keepdims: kind.asIs, outputIsSparse: kind.asIs };

/** The sum over axes, all unless given: a dense tensor, or a sparse one with `outputIsSparse`. */
export const reduceSum: Reduce = /* @__PURE__ */ defineFunction(
  'sparse.reduceSum',
  reduceKinds,
  reduceOptions,
  (spInput, axis: number | readonly number[] | null = null, { keepdims = false, outputIsSparse = false }) =>
    reduced('sum', spInput, axis, keepdims, outputIsSparse) as Tensor,
);

/** The largest value over axes, as `reduceSum`: elements that are not there do not count. Where there is none, 0. */
export const reduceMax: Reduce = /* @__PURE__ */ defineFunction(
  'sparse.reduceMax',
  reduceKinds,
  reduceOptions,
  (spInput, axis: number | readonly number[] | null = null, { keepdims = false, outputIsSparse = false }) =>
    reduced('max', spInput, axis, keepdims, outputIsSparse) as Tensor,
);

// ---- arithmetic

/** All coordinates of two tensors of one shape. */
function union(a: SparseTensor, b: SparseTensor, op: string): void {
  if (a.rank !== b.rank || a.sizes.some((d, i) => differs(d, b.sizes[i] as Dim)))
    throw new InvalidArgumentError(
      `the shapes [${a.sizes.join(', ')}] and [${b.sizes.join(', ')}] differ`,
      op,
    );
  if (a.dtype !== b.dtype) throw new InvalidArgumentError(`the dtypes are ${a.dtype} and ${b.dtype}`, op);
}

/**
 * The sum of two sparse tensors of one shape, which is sparse, or of a sparse and a dense one, which is dense.
 * @param options.threshold sums of two values nearer to 0 than that are left out; 0 unless given, which keeps all.
 */
export const add: NamedFunction<
  [a: SparseTensor | TensorLike, b: SparseTensor | TensorLike],
  ['a', 'b'],
  {
    /** Sums that are not larger in magnitude are left out; 0 by default. */
    threshold?: number;
  },
  SparseTensor | Tensor
> = /* @__PURE__ */ defineFunction(
  'sparse.add',
  { a: kind.asIs, b: kind.asIs },
  { threshold: kind.asIs },
  (a, b, { threshold = 0 }) => {
    const op = 'sparse.add';
    if (a instanceof SparseTensor && b instanceof SparseTensor) {
      union(a, b, op);
      const places = denseConcat([placesOf(a.indices, a.sizes), placesOf(b.indices, b.sizes)], 0);
      const sums = merged(places, denseConcat([a.values, b.values], 0), 'sum');
      const all = a.with({ indices: coordinatesOf(sums.places, a.sizes), values: sums.values });
      if (threshold <= 0) return all;
      // What only one of them has stays, as in TensorFlow.
      const large = all.values.abs().greaterEqual(threshold);
      return retained(all, large.logicalOr(sums.counts.equal(1)));
    }
    const [x, dense] = a instanceof SparseTensor ? [a, b] : [sparse(b, 'a or b', op), a];
    return toTensor(dense as TensorLike, x.dtype).tensorScatterNdAdd(x.indices, x.values);
  },
);

/** At all coordinates of either: the larger or smaller of both, where one that is not there is 0. */
function extremes(name: 'maximum' | 'minimum', first: unknown, second: unknown): SparseTensor {
  const op = `sparse.${name}`;
  const [a, b] = [sparse(first, 'spA', op), sparse(second, 'spB', op)];
  union(a, b, op);
  const places = denseConcat([placesOf(a.indices, a.sizes), placesOf(b.indices, b.sizes)], 0);
  const zeros = [a, b].map((x) => x.values.mul(constant(0, x.dtype)));
  const left = merged(places, denseConcat([a.values, zeros[1] as Tensor], 0), 'sum');
  const right = merged(places, denseConcat([zeros[0] as Tensor, b.values], 0), 'sum');
  const values = left.values[name](right.values);
  return a.with({ indices: coordinatesOf(left.places, a.sizes), values });
}
type OfTwo = NamedFunction<[spA: SparseTensor, spB: SparseTensor], ['spA', 'spB'], unknown, SparseTensor>;
const two = { spA: kind.asIs, spB: kind.asIs };
/** The larger of two sparse tensors at each place; what is not there is 0. */
export const maximum: OfTwo = /* @__PURE__ */ defineFunction('sparse.maximum', two, {}, (a, b) =>
  extremes('maximum', a, b),
);
/** The smaller of two sparse tensors at each place; what is not there is 0. */
export const minimum: OfTwo = /* @__PURE__ */ defineFunction('sparse.minimum', two, {}, (a, b) =>
  extremes('minimum', a, b),
);

/** e^x over the sum of its row, along the last axis; what is not there is -∞. */
export const softmax: OfSparse<SparseTensor> = /* @__PURE__ */ defineFunction(
  'sparse.softmax',
  { spInput: kind.asIs },
  {},
  (spInput) => {
    const x = sparse(spInput, 'spInput', 'sparse.softmax');
    if (x.rank < 2)
      throw new InvalidArgumentError(`the rank must be 2 or more, got ${x.rank}`, 'sparse.softmax');
    const outer = x.sizes.slice(0, -1);
    const rows = placesOf(
      columnsOf(
        x.indices,
        outer.map((_, i) => i),
      ),
      outer,
    );
    const count = outer.reduce(mulDims, 1);
    const least = constant(Number.NEGATIVE_INFINITY, x.dtype).broadcastTo(toShape([count]));
    const most = tensorScatterNdMax(least, rows.expandDims(1), x.values).stopGradient();
    const e = x.values.sub(most.gather(rows)).exp();
    const total = unsortedSegmentSum(e, rows, count as number);
    return x.withValues(e.div(total.gather(rows)));
  },
);

/** Calls a function with the values of sparse tensors, all of which have the same coordinates. */
export const mapValues: (op: (...args: never[]) => TensorLike, ...args: readonly unknown[]) => SparseTensor =
  /* @__PURE__ */ defineVariadic(
    'sparse.mapValues',
    { op: kind.asIs },
    'args',
    {},
    (op: (...args: unknown[]) => TensorLike, args: readonly unknown[]) => {
      const name = 'sparse.mapValues';
      checkFunction(op, 'op', name);
      const [first, ...others] = args.filter((v) => v instanceof SparseTensor);
      if (first === undefined) throw new InvalidArgumentError('no argument is a tf.SparseTensor', name);
      for (const other of others)
        checkSame(first.indices, other.indices, 'the sparse tensors must have the same coordinates', name);
      return first.withValues(op(...args.map((v) => (v instanceof SparseTensor ? v.values : v))));
    },
  );

/** For each row which integers are among its values: bool, of size `vocabSize` along the last axis. */
export const toIndicator: NamedFunction<
  [spInput: SparseTensor, vocabSize: IntegerLike],
  ['spInput', 'vocabSize']
> = /* @__PURE__ */ defineFunction(
  'sparse.toIndicator',
  { spInput: kind.asIs, vocabSize: kind.size },
  {},
  (spInput, vocabSize: number) => {
    const x = sparse(spInput, 'spInput', 'sparse.toIndicator');
    const outer = x.sizes.map((_, i) => i).slice(0, -1);
    const at = denseConcat([columnsOf(x.indices, outer), x.values.cast('int64').expandDims(1)], 1);
    const none = constant(false).broadcastTo(toShape([...x.sizes.slice(0, -1), vocabSize]));
    return tensorScatterNdUpdate(none, at, constant(true).broadcastTo(x.values.shape));
  },
);

/**
 * How often each integer occurs: in all, or with `axis` -1 in each row. Integers of `maxlength` or more are left out.
 * @throws InvalidArgumentError for `weights` together with `binaryOutput`.
 */
export const bincount: NamedFunction<
  [values: SparseTensor | RaggedOrDense | TensorLike],
  ['values'],
  {
    /** What each integer counts for; 1 by default. */
    weights?: SparseTensor | RaggedOrDense | TensorLike | null;
    /** -1: in each row; in all by default. */
    axis?: 0 | -1 | null;
    /** How many counts there are at least. */
    minlength?: number | null;
    /** How many counts there are at most. */
    maxlength?: number | null;
    /** Whether only is said if an integer occurs, by 1; false by default. */
    binaryOutput?: boolean;
  },
  SparseTensor
> = /* @__PURE__ */ defineFunction(
  'sparse.bincount',
  { values: kind.asIs },
  {
    weights: kind.asIs,
    axis: kind.optional(kind.integer),
    minlength: kind.integer,
    maxlength: kind.integer,
    binaryOutput: kind.asIs,
  },
  (values, { weights = null, axis: given = 0, minlength = null, maxlength = null, binaryOutput = false }) => {
    const op = 'sparse.bincount';
    const axis = given ?? 0;
    if (weights !== null && binaryOutput)
      throw new InvalidArgumentError('weights and binaryOutput exclude each other', op);
    if (axis !== 0 && axis !== -1)
      throw new InvalidArgumentError(`axis must be 0 or -1, got ${String(axis)}`, op);
    const { rows, flat, count, dtype } = rowsOf(values, axis);
    const own = weights === null ? null : rowsOf(weights, axis).flat;
    if (maxlength !== null) checkCount(maxlength, 'maxlength', op);
    const keep = maxlength === null ? null : flat.less(constant(BigInt(maxlength), 'int64'));
    // By one list of places, so that a trace knows that all have as many.
    const places = keep === null ? null : keep.nonzero().reshape([-1]);
    const pick = (t: Tensor): Tensor => (places === null ? t : t.gather(places));
    const [r, v] = [pick(rows), pick(flat)];
    const longest = (): Dim =>
      hostDims(denseConcat([constant([-1n], 'int64'), v], 0).max(), 'values', op)[0] as Dim;
    // As in TensorFlow, where a limit is the size.
    const width = maxlength ?? maxDims(addDims(longest(), 1), minlength ?? 0);
    const sums = merged(
      r.mul(int64(width)).add(v),
      own === null ? v.mul(int64(0)).add(int64(1)).cast(dtype) : pick(own),
      'sum',
    );
    const counts = binaryOutput
      ? sums.values.mul(constant(0, sums.values.dtype)).add(constant(1, sums.values.dtype))
      : sums.values;
    const sizes = count === null ? [width] : [count, width];
    return SparseTensor.of({ indices: coordinatesOf(sums.places, sizes), values: counts, sizes });
  },
);

/** Values with the row of each. */
interface InRows {
  readonly rows: Tensor;
  readonly flat: Tensor;
  /** How many rows there are; null where all are one. */
  readonly count: Dim | null;
  /** Of counts. */
  readonly dtype: DType;
}

function rowsOf(given: unknown, axis: number): InRows {
  const integers = (t: Tensor): Tensor => (isFloating(t.dtype) ? t : t.cast('int64'));
  const inRows = (values: Tensor, rows: Tensor, count: Dim): InRows => {
    const whole = { flat: integers(values), dtype: values.dtype };
    return axis === 0 ? { ...whole, rows: rows.mul(int64(0)), count: null } : { ...whole, rows, count };
  };
  if (given instanceof SparseTensor)
    return inRows(given.values, columnOf(given.indices, 0), given.sizes[0] as Dim);
  if (isRagged(given))
    return inRows(
      given.flatValues,
      given.valueRowids().cast('int64'),
      subDims(dims(given.rowSplits)[0] as Dim, 1),
    );
  const x = toTensor(given as TensorLike, 'int64');
  const flat = x.reshape([-1]);
  const places = countTo(dims(flat)[0] as Dim, 'int64');
  if (axis === 0 || x.rank === 1)
    return { rows: places.mul(int64(0)), flat: integers(flat), count: null, dtype: x.dtype };
  const [n, width] = dims(x);
  return inRows(flat, places.floorDiv(int64(width as Dim)), n as Dim);
}

// ---- segments

type Segments = NamedFunction<
  [data: TensorLike, indices: TensorLike, segmentIds: TensorLike],
  ['data', 'indices', 'segmentIds'],
  {
    /** How many segments there are; one more than the last id by default. */
    numSegments?: IntegerLike | null;
    /** TensorFlow's gradient as rows, with the same numbers; false by default. */
    sparseGradient?: boolean;
  }
>;
function defineSegments(name: string, combiner: Combiner): Segments {
  return defineFunction(
    name,
    { data: kind.tensor, indices: kind.tensor, segmentIds: kind.tensor },
    { numSegments: kind.size, sparseGradient: kind.asIs },
    (data, indices, segmentIds, { numSegments = null }) => {
      const ids = toTensor(segmentIds, 'int32');
      checkDType(ids.dtype, 'integer', 'segmentIds', name);
      checkValues(
        name,
        [ids],
        (now) => {
          const known = integersOf(now);
          if (known.some((id, i) => id < (known[i - 1] ?? 0)))
            throw new InvalidArgumentError('segmentIds must not be negative or decrease', name);
        },
        isRising,
      );
      const last = denseConcat([constant([-1], ids.dtype), ids], 0).max();
      const count = (numSegments as Dim | null) ?? addDims(hostDims(last, 'segmentIds', name)[0] as Dim, 1);
      return combined(toTensor(data).gather(toTensor(indices, 'int32'), 0), ids, count, combiner);
    },
  );
}
/** Sums rows of `data` at `indices` by segment: `segmentIds` are sorted. Gradients of `data` are those of a lookup with either `sparseGradient`. */
export const segmentSum: Segments = /* @__PURE__ */ defineSegments('sparse.segmentSum', 'sum');
/** As `segmentSum`, over the number of rows. */
export const segmentMean: Segments = /* @__PURE__ */ defineSegments('sparse.segmentMean', 'mean');
/** As `segmentSum`, over the root of the number of rows. */
export const segmentSqrtN: Segments = /* @__PURE__ */ defineSegments('sparse.segmentSqrtN', 'sqrtn');

/**
 * `alpha` times the product of two matrices, at some coordinates only, plus `beta` times the values there.
 * @returns indices, values and shape of the result.
 */
export const sampledAddmm: NamedFunction<
  [indices: TensorLike, values: TensorLike, denseShape: TensorLike, mat1: TensorLike, mat2: TensorLike],
  ['indices', 'values', 'denseShape', 'mat1', 'mat2'],
  {
    /** By which the matrix is multiplied that is added; 1 by default. */
    beta?: number;
    /** By which the product is multiplied; 1 by default. */
    alpha?: number;
    /** The dtype of the result; float32 by default. */
    outputType?: DType;
  },
  [indices: Tensor, values: Tensor, denseShape: Tensor]
> = /* @__PURE__ */ defineFunction(
  'sparse.sampledAddmm',
  {
    indices: kind.tensor,
    values: kind.tensor,
    denseShape: kind.tensor,
    mat1: kind.tensor,
    mat2: kind.tensor,
  },
  { beta: kind.asIs, alpha: kind.asIs, outputType: kind.asIs },
  (indices, values, denseShape, mat1, mat2, { beta = 1, alpha = 1, outputType = 'float32' }) => {
    const x = new SparseTensor(indices, values, denseShape);
    const rank = x.rank;
    const [a, b] = [toTensor(mat1), toTensor(mat2)];
    const outer = Array.from({ length: rank - 2 }, (_, i) => i);
    const rows = a.gatherNd(columnsOf(x.indices, [...outer, rank - 2]));
    const columns = b.matrixTranspose().gatherNd(columnsOf(x.indices, [...outer, rank - 1]));
    const products = rows.mul(columns).sum(-1).mul(alpha).add(x.values.mul(beta)).cast(outputType);
    return [x.indices, products, x.denseShape];
  },
);
