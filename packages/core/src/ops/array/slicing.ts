import { type DType, InvalidArgumentError, OutOfRangeError, ResourceExhaustedError } from '@eagre/backend';
import type { IntegerLike, IntegersLike } from '../../arguments/argument-kinds.ts';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, defineVariadic, type NamedFunction } from '../../arguments/arguments.ts';
import { checkNumber } from '../../arguments/checks.ts';
import { defineOp, execute, execute1, type Op } from '../../dispatch/op.ts';
import { integers, uniform } from '../../dispatch/samples.ts';
import {
  addDims,
  type Dim,
  type Dims,
  floorDivDims,
  isExpression,
  maxDims,
  minDims,
  modDims,
  mulDims,
  subDims,
} from '../../shapes/dim.ts';
import { dims, dimsOf, toShape } from '../../shapes/dims.ts';
import { checkList, listOf, normalizeAxis, type Shape, showShape } from '../../shapes/shape.ts';
import { atMost, knownDim, lessThan, mayBeAtMost, mayBeEqual } from '../../shapes/shape-env.ts';
import { differs, hostDims, openDims, shapesAgree, sizeValue } from '../../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { MAX_PIECES } from '../../tensor/list-size.ts';
import { aliasTensor, Tensor } from '../../tensor/tensor.ts';
import type { Variable } from '../../tensor/variable.ts';
import { zeros } from './creation.ts';
import { booleanMask } from './gather.ts';
import { type IndexItem, type IndexRange, isPlace, parseIndex, showRange } from './index-item.ts';
import { iota } from './iota.ts';
import { concat, stack } from './join.ts';
import { checkDims, checkIntegers, checkRankOf, disposeAll, move } from './moving.ts';
import {
  type Index,
  indexOf,
  indicesOf,
  isIndexTensor,
  isSliceRange,
  namesRange,
  rangeOf,
  type SliceRange,
  sizesOf,
  takeAt,
  takeFrom,
} from './run-index.ts';
import { identity, reshape } from './shaping.ts';

const ones = (n: number): number[] => new Array<number>(n).fill(1);

/** A block of a tensor. */
const sliceOp: Op = defineOp({
  name: 'Slice',
  kernel: 'Slice',
  kernelAttrs: ({ begin }) => ({ begin: begin as number[], strides: ones((begin as number[]).length) }),
  infer: ([x], { size }) => ({ dtype: x.dtype, shape: size as Shape }),
  grad: ({ x, attrs }, dy) =>
    execute1(stridedSliceGradOp, [dy], { begin: attrs.begin, strides: ones(x.rank), shape: x.shape }),
  samples: () => [
    { inputs: [uniform([6])], attrs: { begin: [2], size: [3] } },
    { inputs: [uniform([3, 4, 2])], attrs: { begin: [1, 0, 1], size: [2, 3, 1] } },
    { inputs: [uniform([3, 4])], attrs: { begin: [1, 0], size: [0, 4] } },
  ],
});
/** Elements begin, begin + stride, … along every axis. */
const stridedSliceOp: Op = defineOp({
  name: 'StridedSlice',
  kernel: 'Slice',
  infer: ([x], { size }) => ({ dtype: x.dtype, shape: size as Shape }),
  grad: ({ x, attrs }, dy) =>
    execute1(stridedSliceGradOp, [dy], { begin: attrs.begin, strides: attrs.strides, shape: x.shape }),
  samples: () => [
    { inputs: [uniform([7])], attrs: { begin: [6], strides: [-2], size: [4] } },
    { inputs: [uniform([5, 6])], attrs: { begin: [0, 4], strides: [2, -1], size: [3, 3] } },
    {
      inputs: [integers([4, 3, 2], 0, 9)],
      attrs: { begin: [3, 0, 1], strides: [-1, 2, 1], size: [4, 2, 1] },
    },
  ],
});
/** The gradient of StridedSlice: zeros, with the given values where they were taken. */
const stridedSliceGradOp: Op = defineOp({
  name: 'StridedSliceGrad',
  kernel: 'SliceGrad',
  infer: ([dy], { shape }) => ({ dtype: dy.dtype, shape: shape as Shape }),
  grad: ({ x, attrs }, ddx) =>
    execute1(stridedSliceOp, [ddx], { begin: attrs.begin, strides: attrs.strides, size: x.shape }),
  samples: () => [
    { inputs: [uniform([4])], attrs: { begin: [6], strides: [-2], shape: [7] } },
    { inputs: [uniform([2, 3])], attrs: { begin: [1, 0], strides: [1, 2], shape: [4, 6] } },
  ],
});

/**
 * The block of `size` that starts at `begin`; a size of -1 takes all that is left of the axis. Both are lists of integers, or of integer
 * scalars, or one tensor; in a traced function both may differ from run to run.
 * @throws InvalidArgumentError unless the block lies inside of x; OutOfRangeError for a `begin` that is not known while tracing.
 */
export const slice: NamedFunction<
  [x: TensorLike, begin: readonly Index[] | Tensor | Variable, size?: readonly Index[] | Tensor | Variable],
  ['x|input', 'begin', 'size']
> = defineFunction(
  'slice',
  { 'x|input': kind.tensor, begin: kind.asIs, size: kind.optional(kind.asIs) },
  {},
  (x, begin, size = undefined) => {
    const t = toTensor(x);
    const starts = indicesOf(begin, 'begin', 'Slice');
    const from = checkDims(
      starts.map((b) => (b instanceof Tensor ? 0 : b)),
      t.rank,
      'begin',
      'Slice',
    );
    const own = dims(t);
    // How much is left of an axis, as a scalar.
    const left = (axis: number, dtype: DType): Tensor =>
      integer(own[axis], dtype).sub(
        starts[axis] instanceof Tensor ? starts[axis].cast(dtype) : integer(from[axis], dtype),
      );
    const wanted =
      size === undefined
        ? new Array<number>(t.rank).fill(-1)
        : checkDims(blockSizes(size, own.length, left), t.rank, 'size', 'Slice');
    if (starts.some((b) => b instanceof Tensor)) {
      const late = starts.flatMap((b, axis) => (b instanceof Tensor ? [{ b, axis }] : []));
      for (const { b, axis } of late)
        if (wanted[axis] === -1) wanted[axis] = hostDims(left(axis, b.dtype), 'begin', 'Slice')[0];
      const block = slice(
        t,
        toShape(from),
        toShape(wanted.map((n, axis) => (starts[axis] instanceof Tensor ? -1 : n))),
      );
      return late.reduce((y, { b, axis }) => takeFrom(y, b, wanted[axis], axis), block);
    }
    const shape = wanted.map((n, i) => (n === -1 ? subDims(own[i], from[i]) : n));
    const end = from.map((b, i) => addDims(b, shape[i]));
    const fits = (b: Dim, i: number): boolean =>
      mayBeAtMost(0, b) && mayBeAtMost(0, shape[i]) && mayBeAtMost(end[i], own[i]);
    if (!from.every(fits)) {
      throw new InvalidArgumentError(
        `begin [${from}] and size [${wanted}] reach outside the shape ${showShape(t.shape)}`,
        'Slice',
      );
    }
    if (shapesAgree(shape, t.shape)) return identity(t);
    return move(sliceOp, [t], { begin: toShape(from), size: toShape(shape) });
  },
);

/** A size as a scalar of a dtype. */
const integer = (size: Dim, dtype: DType): Tensor => toTensor(sizeValue(size, dtype)).cast(dtype);

/** The sizes of a block; where only a run knows them, what is left stands there for a -1. */
function blockSizes(
  size: readonly Index[] | Tensor | Variable,
  rank: number,
  left: (axis: number, dtype: DType) => Tensor,
): Dim[] {
  const given = size instanceof Tensor ? kind.openShape.read?.(size, 'size', 'Slice') : undefined;
  if (!(given instanceof Tensor) || given.size !== rank || rank === 0) return sizesOf(size, 'size', 'Slice');
  return openDims(
    given,
    stack(Array.from({ length: rank }, (_, axis) => left(axis, given.dtype))),
    'size',
    'Slice',
  );
}

// ---- indexing as in Python

export type { SliceRange };

/**
 * One item of an index: a number takes that place and drops the axis; `'1:3'`, `':'`, `'::-1'` are ranges as in Python;
 * `'...'` stands for all axes not named; `null` or `'newaxis'` adds an axis of size 1. An integer scalar does what a number does, also where
 * it differs from run to run of a traced function. A range may also be an object, `{ start, end, step }`, whose ends are tensors. `null` is
 * `tf.newaxis`.
 */
export type SliceSpec = number | bigint | string | null | Tensor | Variable | SliceRange;

/**
 * Indexing as with Python's brackets: `t.at('1:3', ':', -1)` is `t[1:3, :, -1]`. Axes not named are taken whole. A bool tensor alone
 * is a mask, as of `booleanMask`: `t.at(t.greater(0))`.
 * @throws OutOfRangeError for a number outside of its axis; InvalidArgumentError for a text that is no range, a step of 0, or
 * more items than axes.
 */
export const at: (
  ...args:
    | [x: TensorLike, ...specs: SliceSpec[]]
    | [
        x: TensorLike,
        options: {
          /** What is taken of each axis: an index, a range, or all. */
          readonly specs: readonly SliceSpec[];
        },
      ]
    | [
        options: {
          /** What it is taken of. */
          readonly x: TensorLike;
          /** What is taken of each axis: an index, a range, or all. */
          readonly specs: readonly SliceSpec[];
        },
      ]
) => Tensor = defineVariadic(
  'at',
  { x: kind.tensor },
  { specs: { ...kind.structure, isItem: namesRange } },
  {},
  (x: TensorLike, specs: readonly SliceSpec[]) => {
    const t = toTensor(x);
    const mask = specs.find((s) => isIndexTensor(s) && s.dtype === 'bool');
    if (mask !== undefined) {
      if (specs.length === 1) return booleanMask(t, mask as Tensor);
      throw new InvalidArgumentError(
        'a mask must be the only index; use booleanMask(x, mask, axis), or at(mask).at(…)',
        'at',
      );
    }
    const known = specs.map((s) =>
      isIndexTensor(s) || typeof s === 'bigint' ? indexOf(s, 'the index', 'at') : s,
    );
    const late = known.flatMap((s, i) => (isIndexTensor(s) ? [{ index: s, i }] : []));
    const items = known.map((s): IndexItem => {
      if (isIndexTensor(s)) return WHOLE;
      return isSliceRange(s) ? rangeOf(s, 'at') : parseIndex(s);
    });
    const shown = `[${known.map((s, i) => (isIndexTensor(s) ? '?' : isSliceRange(s) ? showRange(items[i] as IndexRange) : String(s))).join(', ')}]`;
    const ranges = take(t, items, shown);
    // From the last axis on, so that those before it keep their places.
    return late.reduceRight((y, { index, i }) => {
      const axis = items.slice(0, i).reduce<number>((n, item) => n + axesOf(item, items, t.rank), 0);
      return takeAt(y, index, axis);
    }, ranges);
  },
);

const WHOLE: IndexItem = { begin: null, end: null, step: 1 };

/** How many axes of the result an item makes. */
function axesOf(item: IndexItem, items: readonly IndexItem[], rank: number): number {
  if (isPlace(item)) return 0;
  return item === '...' ? rank - items.filter((i) => i !== null && i !== '...').length : 1;
}

function take(x: Tensor, items: readonly IndexItem[], shown: string): Tensor {
  const fail = (text: string): never => {
    throw new InvalidArgumentError(
      `index ${shown} of a tensor of shape ${showShape(x.shape)}: ${text}`,
      'StridedSlice',
    );
  };
  const used = items.filter((i) => i !== null && i !== '...').length;
  if (used > x.rank) fail(`${used} axes are indexed, there are ${x.rank}`);
  const dots = items.indexOf('...');
  if (dots >= 0 && items.indexOf('...', dots + 1) >= 0) fail("'...' may stand only once");
  const list: IndexItem[] = dots < 0 ? [...items, '...'] : [...items];
  list.splice(list.indexOf('...'), 1, ...new Array<IndexItem>(x.rank - used).fill(WHOLE));

  const begin: Dim[] = [];
  const strides: number[] = [];
  const size: Dim[] = [];
  const shape: Dim[] = [];
  for (const item of list) {
    if (item === null) {
      shape.push(1);
      continue;
    }
    const axis = begin.length;
    const n = dims(x)[axis];
    if (isPlace(item)) {
      const index = lessThan(item, 0) ? addDims(item, n) : item;
      if (lessThan(index, 0) || !lessThan(index, n)) {
        throw new OutOfRangeError(
          `index ${item} is out of range for axis ${axis} of size ${n} (shape ${showShape(x.shape)})`,
          'StridedSlice',
        );
      }
      begin.push(index);
      strides.push(1);
      size.push(1);
      continue;
    }
    const range = item as IndexRange;
    if (range.step === 0) fail('a step of 0 goes nowhere');
    const [first, count] = extent(range, n);
    const empty = count === 0;
    begin.push(empty ? 0 : first);
    strides.push(empty ? 1 : range.step);
    size.push(count);
    shape.push(count);
  }
  const result = checkRankOf(toShape(shape), 'StridedSlice');
  const whole = shapesAgree(size, x.shape) && strides.every((s) => s === 1);
  if (whole) return reshape(x, result);
  const y = strides.every((s) => s === 1)
    ? move(sliceOp, [x], { begin: toShape(begin), size: toShape(size) })
    : move(stridedSliceOp, [x], { begin: toShape(begin), strides, size: toShape(size) });
  return shapesAgree(shape, size) ? y : reshape(y, result);
}

/** First index and number of elements of a Python range over n elements. */
function extent({ begin, end, step }: IndexRange, n: Dim): [first: Dim, count: Dim] {
  const low = step > 0 ? 0 : -1;
  const high = step > 0 ? n : subDims(n, 1);
  if (isExpression(begin) || isExpression(end)) return openExtent(begin, end, step, n, low, high);
  const clip = (i: Dim): Dim => {
    const at = lessThan(i, 0) ? addDims(i, n) : i;
    if (!atMost(low, at)) return low;
    return atMost(at, high) ? at : high;
  };
  const first = begin === null ? (step > 0 ? low : high) : clip(begin);
  const last = end === null ? (step > 0 ? high : low) : clip(end);
  const distance = step > 0 ? subDims(last, first) : subDims(first, last);
  if (atMost(distance, 0)) return [first, 0];
  // The number of steps, rounded up.
  return [first, floorDivDims(addDims(distance, Math.abs(step) - 1), Math.abs(step))];
}

/** The same for ends that are not known, where whether they are negative or beyond the axis is part of the numbers. */
function openExtent(
  begin: Dim | null,
  end: Dim | null,
  step: number,
  n: Dim,
  low: Dim,
  high: Dim,
): [first: Dim, count: Dim] {
  const clip = (i: Dim): Dim => {
    const isNegative = minDims(maxDims(subDims(0, i), 0), 1);
    return minDims(maxDims(addDims(i, mulDims(isNegative, n)), low), high);
  };
  const [start, stop] = step > 0 ? [low, high] : [high, low];
  const first = begin === null ? start : clip(begin);
  const last = end === null ? stop : clip(end);
  const distance = step > 0 ? subDims(last, first) : subDims(first, last);
  const size = Math.abs(step);
  const count = maxDims(floorDivDims(addDims(distance, size - 1), size), 0);
  // An empty range may begin before the axis.
  return [maxDims(first, 0), count];
}

/** Bit i of a mask of `stridedSlice` speaks of the i-th item. */
export interface StridedSliceMasks {
  /** `begin[i]` is ignored: from the start. */
  readonly beginMask?: number;
  /** `end[i]` is ignored: to the end. */
  readonly endMask?: number;
  /** The item stands for all axes not named. */
  readonly ellipsisMask?: number;
  /** The item adds an axis of size 1. */
  readonly newAxisMask?: number;
  /** The item takes `begin[i]` alone and drops the axis. */
  readonly shrinkAxisMask?: number;
}

/** `x[begin[0]:end[0]:strides[0], …]`, with TensorFlow's masks; `at` says the same more readably. */
export const stridedSlice: NamedFunction<
  [x: TensorLike, begin: IntegersLike, end: IntegersLike, strides?: IntegersLike | null],
  ['x|input', 'begin', 'end', 'strides'],
  StridedSliceMasks
> = defineFunction(
  'stridedSlice',
  { 'x|input': kind.tensor, begin: kind.shape, end: kind.shape, strides: kind.optional(kind.integers) },
  {
    beginMask: kind.asIs,
    endMask: kind.asIs,
    ellipsisMask: kind.asIs,
    newAxisMask: kind.asIs,
    shrinkAxisMask: kind.asIs,
  },
  (
    x,
    begin: readonly number[],
    end: readonly number[],
    strides: readonly number[] | null | undefined = undefined,
    masks,
  ) => {
    const t = toTensor(x);
    const count = checkList(begin, 'begin', 'StridedSlice').length;
    const from = checkDims(begin, count, 'begin', 'StridedSlice');
    const to = checkDims(end, count, 'end', 'StridedSlice');
    const steps =
      strides === undefined || strides === null
        ? ones(count)
        : checkIntegers(strides, count, 'strides', 'StridedSlice');
    for (const [name, mask] of Object.entries(masks))
      if (mask !== undefined) checkNumber(mask, name, 'StridedSlice');
    const has = (mask: number | undefined, i: number): boolean => (((mask ?? 0) >> i) & 1) === 1;
    const items = from.map((b, i): IndexItem => {
      if (has(masks.ellipsisMask, i)) return '...';
      if (has(masks.newAxisMask, i)) return null;
      if (has(masks.shrinkAxisMask, i)) return b;
      return {
        begin: has(masks.beginMask, i) ? null : b,
        end: has(masks.endMask, i) ? null : to[i],
        step: steps[i],
      };
    });
    return take(t, items, `begin [${from}], end [${to}], strides [${steps}]`);
  },
);

// ---- in pieces

const block = (x: Tensor, axis: number, start: Dim, count: Dim): Tensor =>
  move(sliceOp, [x], {
    begin: toShape(dims(x).map((_, i) => (i === axis ? start : 0))),
    size: toShape(dims(x).map((d, i) => (i === axis ? count : d))),
  });

/** Cuts a tensor into pieces along an axis. */
const splitOp: Op = defineOp({
  name: 'SplitV',
  run: ([x], attrs) => {
    let start: Dim = 0;
    return dimsOf(attrs.sizes as Dims).map((n) => {
      const piece = block(x, attrs.axis as number, start, n);
      start = addDims(start, n);
      return piece;
    });
  },
  grad: ({ outputs, attrs }, dy, ...more) => concat(filled(outputs, dy, more), attrs.axis as number),
  samples: () => [
    { inputs: [uniform([6])], attrs: { sizes: [2, 2, 2], axis: 0 } },
    { inputs: [uniform([2, 5, 2])], attrs: { sizes: [1, 4], axis: 1 } },
  ],
});
/** The slices of a tensor along an axis, without that axis. */
const unpackOp: Op = defineOp({
  name: 'Unpack',
  run: ([x], attrs) => {
    const axis = attrs.axis as number;
    const shape = toShape(dims(x).filter((_, i) => i !== axis));
    const size = toShape(dims(x).map((d, i) => (i === axis ? 1 : d)));
    return Array.from({ length: knownDim(dims(x)[axis]) }, (_, row) => {
      const begin = dims(x).map((_, i) => (i === axis ? row : 0));
      const piece = move(sliceOp, [x], { begin, size });
      return disposeAll(aliasTensor(piece, shape), piece);
    });
  },
  grad: ({ outputs, attrs }, dy, ...more) => stack(filled(outputs, dy, more), attrs.axis as number),
  samples: () => [
    { inputs: [uniform([3, 2])], attrs: { axis: 0 } },
    { inputs: [uniform([2, 3, 2])], attrs: { axis: 1 } },
  ],
});

const sumOf = (list: Dims): Dim => list.reduce(addDims, 0);

/** The gradients of all outputs, zeros where none arrived. */
function filled(outputs: readonly Tensor[], first: Tensor, more: readonly (Tensor | null)[]): Tensor[] {
  return outputs.map((y, i) => (i === 0 ? first : (more[i - 1] ?? zeros(y.shape, y.dtype))));
}

/** @throws ResourceExhaustedError for too many: an axis of an empty tensor may be of any size. */
function checkPieces(count: number, op: string): void {
  if (count > MAX_PIECES) {
    throw new ResourceExhaustedError(
      `${count} tensors at once are too many; at most ${MAX_PIECES} are possible. Iterate over the tensor, or take slices`,
      op,
    );
  }
}

/**
 * Cuts into equal pieces, or into pieces of the listed sizes (one may be -1: the rest), along an axis.
 * @throws InvalidArgumentError when the pieces do not add up to the axis.
 */
export const split: NamedFunction<
  [x: TensorLike, numOrSizes: IntegerLike | IntegersLike, axis?: IntegerLike],
  ['x|value', 'numOrSizes|numOrSizeSplits', 'axis'],
  unknown,
  Tensor[]
> = defineFunction(
  'split',
  { 'x|value': kind.tensor, 'numOrSizes|numOrSizeSplits': kind.openSizes, axis: kind.axis },
  {},
  (x, numOrSizes: number | readonly number[] | Tensor, axis: number = 0) => {
    const t = toTensor(x);
    const a = normalizeAxis(axis, t.rank, 'SplitV');
    const n = dims(t)[a];
    let sizes: Dim[];
    if (typeof numOrSizes === 'number') {
      if (!Number.isInteger(numOrSizes) || numOrSizes < 1 || differs(modDims(n, numOrSizes), 0)) {
        throw new InvalidArgumentError(
          `axis ${a} of size ${n} cannot be split into ${numOrSizes} equal pieces`,
          'SplitV',
        );
      }
      checkPieces(numOrSizes, 'SplitV');
      sizes = new Array<Dim>(numOrSizes).fill(floorDivDims(n, numOrSizes));
    } else {
      sizes =
        numOrSizes instanceof Tensor
          ? openDims(numOrSizes, restOf(n, numOrSizes), 'numOrSizes', 'SplitV')
          : [...dimsOf(listOf(numOrSizes, 'numOrSizes', 'SplitV'))];
      const whole = sizes.every((s) => (typeof s === 'number' ? Number.isInteger(s) : isExpression(s)));
      const rest = sizes.indexOf(-1);
      if (whole && rest >= 0) sizes[rest] = subDims(n, sumOf(sizes.filter((_, i) => i !== rest)));
      if (!whole || !sizes.every((s) => atMost(0, s)) || !mayBeEqual(sumOf(sizes), n)) {
        throw new InvalidArgumentError(
          `the sizes [${sizes}] do not add up to the size ${n} of axis ${a}`,
          'SplitV',
        );
      }
    }
    return [...execute(splitOp, [t], { sizes: toShape(sizes), axis: a })];
  },
);

/** What is left of an axis where one of the sizes of pieces is -1. */
const restOf = (n: Dim, sizes: Tensor): Tensor => integer(n, sizes.dtype).sub(sizes.sum().add(1));

/** The slices along an axis, without that axis: the inverse of `stack`. */
export const unstack: NamedFunction<
  [x: TensorLike, axis?: IntegerLike],
  ['x|value', 'axis'],
  unknown,
  Tensor[]
> = defineFunction('unstack', { 'x|value': kind.tensor, axis: kind.axis }, {}, (x, axis: number = 0) => {
  const t = toTensor(x);
  const a = normalizeAxis(axis, t.rank, 'Unpack');
  checkPieces(knownDim(dims(t)[a]), 'Unpack');
  return [...execute(unpackOp, [t], { axis: a })];
});

/** Shifts elements along axes; what falls off one end comes in at the other. */
const rollOp: Op = defineOp({
  name: 'Roll',
  compose: ([x], attrs) => {
    let y = x;
    (attrs.axes as number[]).forEach((axis, i) => {
      const n = dims(y)[axis];
      if (!differs(n, 0)) return;
      const k = modDims((attrs.shifts as number[])[i], n);
      const rest = subDims(n, k);
      if (k !== 0) y = concat([block(y, axis, rest, k), block(y, axis, 0, rest)], axis);
    });
    return y === x ? identity(x) : y;
  },
  samples: () => [
    { inputs: [uniform([5])], attrs: { shifts: [2], axes: [0] } },
    { inputs: [uniform([3, 4])], attrs: { shifts: [-1, 5], axes: [0, 1] } },
  ],
});

/** Shifts by `shift` places along `axis` (or several of each); what falls off one end comes in at the other. */
export const roll: NamedFunction<
  [x: TensorLike, shift: IntegerLike | IntegersLike, axis: IntegerLike | IntegersLike],
  ['x|input', 'shift', 'axis']
> = defineFunction(
  'roll',
  { 'x|input': kind.tensor, shift: kind.runIntegers, axis: kind.axes },
  {},
  (x, shift: number | Tensor | readonly (number | Tensor)[], axis: number | readonly number[]) => {
    const t = toTensor(x);
    const axes = listOf(axis, 'axis', 'Roll').map((a) => normalizeAxis(a, t.rank, 'Roll'));
    const shifts =
      shift instanceof Tensor ? elementsOf(shift) : [...listOf<number | Tensor>(shift, 'shift', 'Roll')];
    if (
      shifts.length !== axes.length ||
      !shifts.every((s) => (s instanceof Tensor ? s.rank === 0 : Number.isSafeInteger(s)))
    ) {
      throw new InvalidArgumentError(
        `shift [${shifts.map((s) => (s instanceof Tensor ? 'tensor' : s))}] must have an integer for each axis of [${axes}]`,
        'Roll',
      );
    }
    if (!shifts.some((s) => s instanceof Tensor)) return execute1(rollOp, [t], { shifts, axes });
    return shifts.reduce<Tensor>((y, s, i) => rolledInRun(y, s, axes[i]), t);
  },
);

const elementsOf = (list: Tensor): Tensor[] => (list.rank === 0 ? [list] : unstack(list));

/** Shifted by as many places as only a run knows. */
function rolledInRun(x: Tensor, shift: number | Tensor, axis: number): Tensor {
  const n = dims(x)[axis];
  const places = iota(n);
  const by = shift instanceof Tensor ? shift.cast('int32') : shift;
  return x.gather(places.sub(by).mod(sizeValue(n, 'int32')), axis);
}
