// Rows that are dealt out and put together again, sequences, places.

import { InvalidArgumentError, OutOfRangeError } from '@eagre/backend';
import type { IntegerLike, ShapeLike } from '../../arguments/argument-kinds.ts';
import * as kind from '../../arguments/argument-kinds.ts';
import { type Arguments, defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { checkOneOf } from '../../arguments/checks.ts';
import { checkValues } from '../../dispatch/checked-values.ts';
import { eagerBackend } from '../../dispatch/context.ts';
import { atRunTime } from '../../dispatch/host.ts';
import { pair } from '../../dispatch/op.ts';
import { addDims, type Dim, type Dims } from '../../shapes/dim.ts';
import { dims, dimsOf, sizeOfDims, toShape } from '../../shapes/dims.ts';
import {
  checkList,
  checkShape,
  normalizeAxis,
  type Shape,
  sameShape,
  showShape,
} from '../../shapes/shape.ts';
import { atMost, lessThan } from '../../shapes/shape-env.ts';
import { differs, hostDims, mayBeSame, sizeValue } from '../../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType, isInteger } from '../../tensor/dtypes.ts';
import { rangeOf } from '../../tensor/integer-scan.ts';
import { emptyTensor, hostValues, spaceOf, type Tensor, uploaded, viewOf } from '../../tensor/tensor.ts';
import { where } from '../elementwise/select.ts';
import { zeros, zerosLike } from './creation.ts';
import { gather, nonzero, tensorScatterNdUpdate } from './gather.ts';
import { iota } from './iota.ts';
import { concat, stack } from './join.ts';
import { toIndices } from './moving.ts';
import { expandDims, flatten, reshape, transpose } from './shaping.ts';

/** @throws OutOfRangeError where integers are not in [0, most): now, or in a run */
function checkPlaces(x: Tensor, most: Dim, what: string, op: string): void {
  const limit = toTensor(sizeValue(most, 'int32'), 'int32');
  checkValues(
    op,
    [x, limit],
    (now, size) => {
      const [values, n] = [viewOf(now), Number(viewOf(size)[0])];
      const [least, most] = rangeOf(values);
      if (least >= 0 && most < n) return;
      for (let i = 0; i < values.length; i++)
        if (values[i] < 0 || values[i] >= n)
          throw new OutOfRangeError(`${what} must be in 0 … ${n - 1}, but number ${i} is ${values[i]}`, op);
    },
    (now, size) =>
      now
        .greaterEqual(0)
        .all()
        .logicalAnd(now.less(size.cast(now.dtype)).all()),
  );
}

// ---- partitions

/**
 * The rows of `data` dealt out: a tensor for each of `numPartitions`, with the rows whose number it is, in their order. The shape of
 * `partitions` is that of the leading axes of `data`, which become one.
 * @throws OutOfRangeError for a number outside of 0 … numPartitions − 1
 */
export const dynamicPartition: NamedFunction<
  [data: TensorLike, partitions: TensorLike, numPartitions: IntegerLike],
  ['data', 'partitions', 'numPartitions'],
  unknown,
  Tensor[]
> = /* @__PURE__ */ defineFunction(
  'dynamicPartition',
  { data: kind.tensor, partitions: kind.tensor, numPartitions: kind.integer },
  {},
  (data, partitions, numPartitions: number) => {
    const op = 'DynamicPartition';
    const x = toTensor(data);
    const ids = toIndices(partitions, 'partitions', op);
    if (!Number.isSafeInteger(numPartitions) || numPartitions < 1)
      throw new InvalidArgumentError(
        `numPartitions is ${numPartitions}, expected an integer of at least 1`,
        op,
      );
    if (!mayBeSame(ids.shape, dims(x).slice(0, ids.rank)))
      throw new InvalidArgumentError(
        `partitions have shape ${showShape(ids.shape)}, but data ${showShape(x.shape)} must begin with these sizes`,
        op,
      );
    checkPlaces(ids, numPartitions, 'partitions', op);
    const rows = reshape(x, toShape([sizeOfDims(ids.shape), ...dims(x).slice(ids.rank)]));
    const flat = flatten(ids);
    return Array.from({ length: numPartitions }, (_, i) =>
      gather(rows, reshape(nonzero(flat.equal(i)), [-1])),
    );
  },
);

/**
 * Rows put together: row `indices[m][i, …]` of the result is `data[m][i, …]`. Where a place occurs several times, the last one wins; places
 * that do not occur hold zeros.
 */
export const dynamicStitch: NamedFunction<
  [indices: readonly TensorLike[], data: readonly TensorLike[]],
  ['indices', 'data']
> = /* @__PURE__ */ defineFunction(
  'dynamicStitch',
  { indices: kind.asIs, data: kind.asIs },
  {},
  (indices, data) => {
    const op = 'DynamicStitch';
    const places = checkList(indices as readonly TensorLike[], 'indices', op).map((i) =>
      toIndices(i, 'indices', op).cast('int32'),
    );
    const parts = checkList(data as readonly TensorLike[], 'data', op).map((x) => toTensor(x));
    if (places.length === 0 || places.length !== parts.length)
      throw new InvalidArgumentError(
        `indices and data must be lists of the same length, got ${places.length} and ${parts.length}`,
        op,
      );
    const rest = dims(parts[0]).slice(places[0].rank);
    const rows = parts.map((x, i) => {
      const own = dims(x).slice(places[i].rank);
      if (!mayBeSame(dims(places[i]), dims(x).slice(0, places[i].rank)) || !mayBeSame(own, rest))
        throw new InvalidArgumentError(
          `data[${i}] has shape ${showShape(x.shape)}, expected ${showShape([...dims(places[i]), ...rest])}`,
          op,
        );
      return reshape(x, toShape([sizeOfDims(dims(places[i])), ...rest]));
    });
    const all = concat(
      places.map((i) => flatten(i)),
      0,
    );
    const size = atMost(dims(all)[0], 0) ? 0 : hostDims(all.max().add(1), 'the largest of indices', op)[0];
    return tensorScatterNdUpdate(
      zeros(toShape([size, ...rest]), parts[0].dtype),
      expandDims(all, 1),
      concat(rows, 0),
    );
  },
);

/** Tensors of one shape as the rows of one; TensorFlow's `tf.stack` for known shapes. */
export const parallelStack: NamedFunction<[values: readonly TensorLike[]], ['values']> =
  /* @__PURE__ */ defineFunction('parallelStack', { values: kind.asIs }, {}, (values) =>
    stack(checkList(values as readonly TensorLike[], 'values', 'parallelStack'), 0),
  );

// ---- sequences

/** Each sequence along an axis with its first `seqLengths[i]` elements turned around, and the others as they are. */
export const reverseSequence: NamedFunction<
  [x: TensorLike, seqLengths: TensorLike, seqAxis: IntegerLike, batchAxis?: IntegerLike],
  ['x|input', 'seqLengths', 'seqAxis', 'batchAxis']
> = /* @__PURE__ */ defineFunction(
  'reverseSequence',
  { 'x|input': kind.tensor, seqLengths: kind.tensor, seqAxis: kind.axis, batchAxis: kind.axis },
  {},
  (x, seqLengths, seqAxis: number, batchAxis: number = 0) => {
    const op = 'ReverseSequence';
    const t = toTensor(x);
    const lengths = toIndices(seqLengths, 'seqLengths', op);
    const [along, batch] = [normalizeAxis(seqAxis, t.rank, op), normalizeAxis(batchAxis, t.rank, op)];
    if (along === batch) throw new InvalidArgumentError('seqAxis and batchAxis must differ', op);
    if (lengths.rank !== 1 || differs(dims(lengths)[0], dims(t)[batch]))
      throw new InvalidArgumentError(
        `seqLengths have shape ${showShape(lengths.shape)}, expected one for each of the ${dims(t)[batch]} sequences`,
        op,
      );
    const n = dims(t)[along];
    checkPlaces(lengths, addDims(n, 1), 'seqLengths', op);
    const place = iota(n).cast(lengths.dtype);
    const length = expandDims(lengths, 1);
    const from = where(place.less(length), length.sub(1).sub(place), place);
    // Sequences first, then their elements.
    const perm = [batch, along, ...dims(t).flatMap((_, i) => (i === batch || i === along ? [] : [i]))];
    const turned = gather(transpose(t, perm), from, 1, { batchDims: 1 });
    return transpose(
      turned,
      perm.map((_, i) => perm.indexOf(i)),
    );
  },
);

// ---- places in sorted lists

/** The places, by halves: each step gathers one element for each value. */
function placesIn(rows: Tensor, values: Tensor, side: 'left' | 'right'): Tensor {
  const n = dims(rows)[rows.rank - 1];
  let low = zerosLike(values, 'int32');
  if (atMost(n, 0)) return low;
  const last = sizeValue(addDims(n, -1), 'int32');
  let high = low.add(sizeValue(n, 'int32'));
  for (let reach = 1; !lessThan(n, reach); reach *= 2) {
    const middle = low.add(high).floorDiv(2);
    const element = gather(rows, middle.minimum(last), rows.rank - 1, { batchDims: rows.rank - 1 });
    const open = low.less(high);
    // NaN among the values is behind all.
    const reached = side === 'left' ? element.less(values) : values.less(element).logicalNot();
    const before = reached.logicalAnd(open);
    [low, high] = [
      where(before, middle.add(1), low),
      where(open.logicalAnd(before.logicalNot()), middle, high),
    ];
  }
  return low;
}

/** The same of tensors with values. */
function placesOnHost(rows: Tensor, values: Tensor, side: 'left' | 'right'): Tensor {
  const [n, m] = [rows.shape.at(-1) as number, values.shape.at(-1) as number];
  const places = emptyTensor('int32', values.shape, values.size);
  const found = spaceOf(places) as Int32Array;
  const [list, wanted] = [hostValues(rows), hostValues(values)];
  const find = list instanceof Float32Array ? floatPlaces : anyPlaces;
  find(list as never, wanted as never, found, n, m, side === 'left');
  return uploaded(places, found);
}

/** Puts the place of each of m values among the n of its row; NaN is behind all. */
function anyPlaces<L extends ArrayLike<number> | ArrayLike<bigint>>(
  list: L,
  values: L,
  found: Int32Array,
  n: number,
  m: number,
  left: boolean,
): void {
  for (let i = 0; i < found.length; i++) {
    const value = values[i] as number;
    const start = Math.floor(i / m) * n;
    let low = 0;
    for (let high = n; low < high; ) {
      const middle = (low + high) >> 1;
      const element = list[start + middle] as number;
      if (left ? element < value : !(value < element)) low = middle + 1;
      else high = middle;
    }
    found[i] = low;
  }
}
/** Of floats, which V8 compiles by itself: without branches that depend on values. */
function floatPlaces(
  list: Float32Array,
  values: Float32Array,
  found: Int32Array,
  n: number,
  m: number,
  left: boolean,
): void {
  let step = 1;
  while (2 * step <= n) step *= 2;
  for (let i = 0, start = 0; i < found.length; start += n) {
    for (const end = i + m; i < end; i++) {
      const value = values[i];
      let low = 0;
      for (let by = step; by > 0; by >>= 1) {
        const next = low + by;
        if (next > n) continue;
        const element = list[start + next - 1];
        low = (left ? element < value : !(value < element)) ? next : low;
      }
      found[i] = low;
    }
  }
}

/**
 * The places where values [..., m] would have to be put into sorted rows [..., n] for these to stay sorted: before those that are equal
 * (`left`, the default) or behind them (`right`). int32 by default.
 */
export const searchsorted: <I extends 'int32' | 'int64' = 'int32'>(
  ...args: Arguments<
    [sortedSequence: TensorLike, values: TensorLike],
    ['sortedSequence', 'values'],
    {
      /** Before values that are equal (`left`, the default), or behind them. */
      readonly side?: 'left' | 'right';
      /** The dtype of the places; int32 by default. */
      readonly outType?: I;
    }
  >
) => Tensor<I> = /* @__PURE__ */ defineFunction<
  NamedFunction<
    [sortedSequence: TensorLike, values: TensorLike],
    ['sortedSequence', 'values'],
    { readonly side?: 'left' | 'right'; readonly outType?: 'int32' | 'int64' }
  >
>(
  'searchsorted',
  { sortedSequence: kind.tensor, values: kind.tensor },
  { side: kind.asIs, outType: kind.asIs },
  (sortedSequence, values, options) => {
    const op = 'searchsorted';
    const side = options.side ?? 'left';
    checkOneOf(side, ['left', 'right'], 'side', op);
    const dtype = options.outType ?? 'int32';
    checkDType(dtype, 'index', 'outType', op);
    const [rows, x] = pair(sortedSequence, values, op);
    checkDType(rows.dtype, 'numeric', 'sortedSequence', op);
    if (rows.rank === 0 || x.rank !== rows.rank || !sameShape(dims(rows).slice(0, -1), dims(x).slice(0, -1)))
      throw new InvalidArgumentError(
        `sortedSequence ${showShape(rows.shape)} and values ${showShape(x.shape)} must agree in all axes but the last`,
        op,
      );
    const inputs = [rows.stopGradient(), x.stopGradient()] as const;
    const byOps = (): Tensor => placesIn(...inputs, side);
    // A device looks for them by itself; so do files.
    const found = eagerBackend().allocator.isHost
      ? (atRunTime(
          op,
          (list, wanted) => placesOnHost(list as Tensor, wanted as Tensor, side),
          inputs,
          [{ dtype: 'int32', shape: x.shape }],
          false,
          (list, wanted) => [placesIn(list as Tensor, wanted as Tensor, side)],
        )[0] as Tensor)
      : byOps();
    return dtype === 'int32' ? found : found.cast(dtype);
  },
);

/** Places in the flat list of a shape as places along each axis: a tensor for each. */
export function unraveled(indices: Tensor, sizes: Dims): Tensor[] {
  let rest = indices;
  const found: Tensor[] = [];
  for (const size of [...sizes].reverse()) {
    const n = sizeValue(size, rest.dtype);
    found.unshift(rest.mod(n));
    rest = rest.floorDiv(n);
  }
  return found;
}

/** Places in the flat list of a tensor of shape `dims` as places along its axes: one row for each axis, then the shape of `indices`. */
export const unravelIndex: NamedFunction<[indices: TensorLike, dims: ShapeLike], ['indices', 'dims']> =
  /* @__PURE__ */ defineFunction(
    'unravelIndex',
    { indices: kind.tensor, dims: kind.shape },
    {},
    (indices, shape: Shape) => {
      const op = 'UnravelIndex';
      const i = toIndices(indices, 'indices', op);
      const sizes = dimsOf(checkShape(shape, op));
      if (sizes.length === 0) throw new InvalidArgumentError('dims must be a list of sizes', op);
      checkPlaces(i, sizeOfDims(sizes), 'indices', op);
      return stack(unraveled(i, sizes), 0);
    },
  );

/** The shapes of several tensors: int32 vectors, or int64. */
export const shapeN: NamedFunction<
  [input: readonly TensorLike[]],
  ['input'],
  {
    /** The dtype of the shapes; int32 by default. */
    readonly outType?: 'int32' | 'int64';
  },
  Tensor[]
> = /* @__PURE__ */ defineFunction(
  'shapeN',
  { input: kind.asIs },
  { outType: kind.asIs },
  (input, options) => {
    const dtype = options.outType ?? 'int32';
    checkDType(dtype, 'index', 'outType', 'ShapeN');
    return checkList(input as readonly TensorLike[], 'input', 'ShapeN').map((x) => {
      const t = toTensor(x);
      const shape = t.shapeOf();
      return isInteger(dtype) && dtype !== 'int32' ? shape.cast(dtype) : shape;
    });
  },
);

/** The same values of several tensors. */
export const identityN: NamedFunction<[input: readonly TensorLike[]], ['input'], unknown, Tensor[]> =
  /* @__PURE__ */ defineFunction('identityN', { input: kind.asIs }, {}, (input) =>
    checkList(input as readonly TensorLike[], 'input', 'IdentityN').map((x) => toTensor(x).identity()),
  );
