// Tensors from shapes and ranges.
import { type DType, InvalidArgumentError, storedNumber } from '@eagre/backend';
import type { IntegerLike, ShapeLike } from '../../arguments/argument-kinds.ts';
import * as kind from '../../arguments/argument-kinds.ts';
import { type Arguments, defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { context } from '../../dispatch/context.ts';
import { defineOp, execute1, type Op, pair } from '../../dispatch/op.ts';
import { uniform } from '../../dispatch/samples.ts';
import { knownTensor } from '../../dispatch/symbolic.ts';
import {
  addDims,
  type Dim,
  type Dims,
  floorDivDims,
  isExpression,
  maxDims,
  subDims,
} from '../../shapes/dim.ts';
import { dims, dimsOf, hasUnknown, sizeOfDims, toShape } from '../../shapes/dims.ts';
import {
  broadcastShapes,
  checkList,
  checkShape,
  normalizeAxis,
  type Shape,
  show,
  showShape,
} from '../../shapes/shape.ts';
import { isSize, knownDim } from '../../shapes/shape-env.ts';
import { sizeValue } from '../../shapes/sizes.ts';
import { constant } from '../../tensor/constant.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType, isFloating, isInteger } from '../../tensor/dtypes.ts';
import { noValue } from '../../tensor/no-value.ts';
import { emptyTensor, type Known, type OpenDType, spaceOf, Tensor, uploaded } from '../../tensor/tensor.ts';
import { Variable } from '../../tensor/variable.ts';
import { where } from '../elementwise/select.ts';
import { rangeOp } from './iota.ts';
import { ownShape } from './moving.ts';
import { broadcastTo, expandDims, reshape } from './shaping.ts';

/** A tensor of one value. */
const fillOp: Op = defineOp({
  name: 'Fill',
  kernel: 'Fill',
  infer: (_, { dtype, shape }) => ({ dtype: dtype as DType, shape: shape as Shape }),
  notDifferentiable: 'it has no inputs',
  samples: () => [
    { inputs: [], attrs: { shape: [2, 3], dtype: 'float32', value: 1.5 } },
    { inputs: [], attrs: { shape: [], dtype: 'int64', value: -7 } },
    { inputs: [], attrs: { shape: [0, 2], dtype: 'bool', value: 1 } },
  ],
});
/** ZerosLike and OnesLike: they take a tensor for its shape, the kernel takes none. */
/* @__NO_SIDE_EFFECTS__ */
function likeOp(name: string, value: number): Op {
  return defineOp({
    name,
    run: ([x], { dtype }) => execute1(fillOp, [], { shape: x.shape, dtype, value }),
    notDifferentiable: 'the result does not depend on the values',
    samples: () => [
      { inputs: [uniform([2, 3])], attrs: { dtype: 'float32' } },
      { inputs: [uniform([])], attrs: { dtype: 'int32' } },
    ],
  });
}
/** Zeros of the shape of a tensor. */
const zerosLikeOp: Op = likeOp('ZerosLike', 0);
/** Ones of the shape of a tensor. */
const onesLikeOp: Op = likeOp('OnesLike', 1);

function filled(shape: Shape, value: number, dtype: DType, op: string): Tensor {
  const to = ownShape(shape, op);
  if (dtype === 'string') return constant('', 'string', { shape: to });
  checkDType(dtype, 'any', 'dtype', op);
  return execute1(fillOp, [], { shape: to, dtype, value });
}

type OfShapeCall = NamedFunction<[shape: ShapeLike, dtype?: DType], ['shape', 'dtype']>;
type OfShape = <D extends DType = 'float32'>(
  ...args: Arguments<[shape: ShapeLike, dtype?: D], ['shape', 'dtype']>
) => Tensor<Known<D>>;

/** Zeros (false for bool, empty strings) of a shape; float32 by default. `tf.zeros([2, 3])` */
export const zeros: OfShape = defineFunction<OfShapeCall>(
  'zeros',
  { shape: kind.shape, dtype: kind.optional(kind.asIs) },
  {},
  (shape: Shape, dtype = undefined) => filled(shape, 0, dtype ?? 'float32', 'zeros'),
);

/** Ones (true for bool) of a shape; float32 by default. */
export const ones: OfShape = defineFunction<OfShapeCall>(
  'ones',
  { shape: kind.shape, dtype: kind.optional(kind.asIs) },
  {},
  (shape: Shape, dtype = undefined) => {
    const type = dtype ?? 'float32';
    checkDType(type, 'any', 'dtype', 'ones');
    return filled(shape, 1, type, 'ones');
  },
);

/**
 * A tensor in which every element is `value`, a scalar: `tf.fill([2, 3], 9)`. Without a dtype the value decides: numbers are
 * float32. A scalar tensor gets a gradient.
 */
export const fill: NamedFunction<
  [shape: ShapeLike, value: TensorLike, dtype?: DType],
  ['shape|dims', 'value', 'dtype']
> = defineFunction(
  'fill',
  { 'shape|dims': kind.shape, value: kind.tensor, dtype: kind.optional(kind.asIs) },
  {},
  (shape: Shape, value, dtype = undefined) => {
    checkShape(shape, 'Fill');
    if (typeof value === 'number' && (dtype === undefined || isFloating(dtype))) {
      return filled(shape, value, dtype ?? 'float32', 'Fill');
    }
    const scalar = constant(value, dtype);
    if (scalar.rank !== 0) {
      throw new InvalidArgumentError(`value has shape ${showShape(scalar.shape)}, expected a scalar`, 'Fill');
    }
    return broadcastTo(scalar, shape);
  },
);

/** Zeros of x's shape, and of its dtype by default. */
export const zerosLike: NamedFunction<[x: TensorLike, dtype?: DType], ['x|input|a', 'dtype']> =
  defineFunction(
    'zerosLike',
    { 'x|input|a': kind.tensor, dtype: kind.optional(kind.asIs) },
    {},
    (x, dtype = undefined) => {
      const t = toTensor(x);
      const type = dtype ?? t.dtype;
      if (type !== 'string') checkDType(type, 'any', 'dtype', 'ZerosLike');
      return type === 'string' || t.dtype === 'string'
        ? zeros(t.shape, type)
        : execute1(zerosLikeOp, [t], { dtype: type });
    },
  );

/** Ones of x's shape, and of its dtype by default. */
export const onesLike: NamedFunction<[x: TensorLike, dtype?: DType], ['x|input|a', 'dtype']> = defineFunction(
  'onesLike',
  { 'x|input|a': kind.tensor, dtype: kind.optional(kind.asIs) },
  {},
  (x, dtype = undefined) => {
    const t = toTensor(x);
    const type = dtype ?? t.dtype;
    checkDType(type, 'any', 'dtype', 'OnesLike');
    return t.dtype === 'string' ? ones(t.shape, type) : execute1(onesLikeOp, [t], { dtype: type });
  },
);

/** `value` in x's shape, of x's dtype by default. */
export const fullLike: NamedFunction<
  [x: TensorLike, value: TensorLike, dtype?: DType],
  ['x', 'value', 'dtype']
> = defineFunction(
  'fullLike',
  { x: kind.tensor, value: kind.tensor, dtype: kind.optional(kind.asIs) },
  {},
  (x, value, dtype = undefined) => {
    const t = toTensor(x);
    return fill(t.shape, value, dtype ?? t.dtype);
  },
);

// ---- sequences

/** A bound of a range: a number, a bigint (int64) or a scalar tensor. */
export type Bound = number | bigint | Tensor | Variable;

function bound(value: Bound, dtypes: Set<DType>): Dim {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') {
    dtypes.add('int64');
    return Number(value);
  }
  if (!(value instanceof Tensor || value instanceof Variable))
    throw new InvalidArgumentError(`a bound is ${show(value)}, expected a number or a scalar`, 'Range');
  const t = toTensor(value);
  dtypes.add(t.dtype);
  const known = knownTensor(t);
  if (known !== null) return known.item();
  const [size] = t.size === 1 ? (context.tracer?.integers(t) ?? measuredIn(t) ?? []) : [];
  if (size === undefined) throw noValue(t, UNKNOWN_BOUND);
  return size;
}

const measuredIn = (t: Tensor): Dims | null =>
  isInteger(t.dtype) ? (context.tracer?.measured(t) ?? null) : null;

/** How many integers there are from `from` to `to`, without it, in whole steps. */
function countOf(from: Dim, to: Dim, step: number): Dim {
  const distance = step > 0 ? subDims(to, from) : subDims(from, to);
  return maxDims(0, floorDivDims(addDims(distance, Math.abs(step) - 1), Math.abs(step)));
}

const UNKNOWN_BOUND =
  'a bound of tf.range has no value while tf.function traces, so the size of the result is not known. A loop that tf.autograph converts ' +
  'takes such bounds where the call stands in it, by this name: for (const i of tf.range(n)); tf.whileLoop counts without';

/**
 * `start`, `start + delta`, … as long as they are below `limit` (above it for a negative delta). `range(n)` counts from 0.
 * float32 for plain numbers, otherwise of the arguments' dtype by default: `tf.range(5, { dtype: 'int32' })`.
 */
export const range: <D extends DType = OpenDType>(
  ...args: Arguments<
    [start: Bound, limit?: Bound | null, delta?: Bound],
    ['start', 'limit', 'delta'],
    {
      /** Of the numbers; that of the arguments by default. */
      dtype?: D | undefined;
    }
  >
) => Tensor<Known<D>> = defineFunction<
  NamedFunction<
    [start: Bound, limit?: Bound | null, delta?: Bound],
    ['start', 'limit', 'delta'],
    { dtype?: DType | undefined }
  >
>(
  'range',
  { start: kind.asIs, limit: kind.asIs, delta: kind.asIs },
  { dtype: kind.asIs },
  (start, limit = null, delta = 1, options) => {
    const dtypes = new Set<DType>();
    const ends = limit === null ? [0, start] : [start, limit];
    const bounds = [...ends, delta].map((b) => bound(b, dtypes));
    if (dtypes.size > 1)
      throw new InvalidArgumentError(
        `the bounds are ${[...dtypes].join(' and ')}; give them the same dtype`,
        'Range',
      );
    const dtype = options.dtype ?? [...dtypes][0] ?? 'float32';
    checkDType(dtype, 'numeric', 'dtype', 'Range');
    const [first, end, by] = bounds as [Dim, Dim, Dim];
    const whole = bounds.every((b) => typeof b !== 'number' || Number.isSafeInteger(b));
    if (typeof by === 'number' && by !== 0 && whole && hasUnknown([first, end]))
      return execute1(rangeOp, [], { start: first, delta: by, size: countOf(first, end, by), dtype });
    const numbers = bounds.map(knownDim);
    const [from, to, step] = numbers as [number, number, number];
    if (!numbers.every(Number.isFinite) || step === 0) {
      throw new InvalidArgumentError(
        `the bounds [${numbers}] must be one to three finite numbers, and delta must not be 0`,
        'Range',
      );
    }
    if (!isFloating(dtype) && !numbers.every(Number.isSafeInteger)) {
      throw new InvalidArgumentError(`the bounds [${numbers}] must be integers for ${dtype}`, 'Range');
    }
    const size = Math.max(0, Math.ceil((to - from) / step));
    if (!Number.isSafeInteger(size))
      throw new InvalidArgumentError(`the bounds [${numbers}] contain ${size} numbers`, 'Range');
    return execute1(rangeOp, [], { start: from, delta: step, size, dtype });
  },
);

/** Numbers at equal distances, both ends included. */
const linspaceOp: Op = defineOp({
  name: 'LinSpace',
  run: (_, attrs) => {
    const { start, stop, num } = attrs as { start: number; stop: number; num: number };
    const out = emptyTensor(attrs.dtype as DType, [num], num);
    const view = spaceOf(out);
    const at = (i: number): number =>
      i > 0 && i === num - 1 ? stop : start + ((stop - start) * i) / Math.max(1, num - 1);
    for (let i = 0; i < num; i++) view[i] = storedNumber(at(i), out.dtype);
    return uploaded(out, view);
  },
  notDifferentiable: 'it has no inputs',
  samples: () => [{ inputs: [], attrs: { start: -1, stop: 2, num: 7, dtype: 'float32' } }],
});

/**
 * `num` numbers from `start` to `stop`, both included, at equal distances. Tensors broadcast to one shape, which gets a new axis of size
 * `num`, the first one unless `axis` says otherwise.
 * @param options.dtype that of numbers, float32 by default. Tensors keep their dtype, and integers become float64.
 */
export const linspace: NamedFunction<
  [start: TensorLike, stop: TensorLike, num: IntegerLike],
  ['start', 'stop', 'num'],
  {
    /** The axis along which the numbers run; 0 by default. */
    axis?: IntegerLike;
    /** Of the numbers; that of the ends by default. */
    dtype?: 'float32' | 'float64';
  }
> = defineFunction(
  'linspace',
  { start: kind.tensor, stop: kind.tensor, num: kind.size },
  { axis: kind.axis, dtype: kind.asIs },
  (start, stop, num: number, options: { axis?: number; dtype?: 'float32' | 'float64' }) => {
    const { dtype = 'float32' } = options;
    checkDType(dtype, 'floating', 'dtype', 'LinSpace');
    if (!isSize(num, 1))
      throw new InvalidArgumentError(`num is ${num}, expected an integer of at least 1`, 'LinSpace');
    if (typeof start !== 'number' || typeof stop !== 'number')
      return between(...ends(start, stop, options.dtype), num, options.axis);
    normalizeAxis(options.axis ?? 0, 1, 'LinSpace');
    // Between numbers in float64, also where only a run knows how many.
    if (!isExpression(num)) return execute1(linspaceOp, [], { start, stop, num, dtype });
    return between(toTensor(start, 'float64'), toTensor(stop, 'float64'), num).cast(dtype);
  },
);

/** Where numbers begin and end, as tensors of floats. */
function ends(start: TensorLike, stop: TensorLike, wanted: DType | undefined): [Tensor, Tensor] {
  const bare = (x: TensorLike): TensorLike => (typeof x === 'number' ? x : toTensor(x, wanted));
  const [a, b] = pair(bare(start), bare(stop), 'LinSpace');
  checkDType(a.dtype, 'numeric', 'start', 'LinSpace');
  if (isInteger(a.dtype)) return [a.cast(wanted ?? 'float64'), b.cast(wanted ?? 'float64')];
  checkDType(a.dtype, 'floating', 'start', 'LinSpace');
  if (wanted !== undefined && a.dtype !== wanted)
    throw new InvalidArgumentError(
      `start and stop are ${a.dtype}, not ${wanted}; convert them with cast`,
      'LinSpace',
    );
  return [a, b];
}

/** Numbers between tensors along a new axis; the first is `start`, and the last of several is `stop`, to the last bit. */
function between(start: Tensor, stop: Tensor, num: Dim, axis = 0): Tensor {
  const shape = broadcastShapes(dims(start), dims(stop), 'LinSpace');
  const along = normalizeAxis(axis, shape.length + 1, 'LinSpace');
  const [from, to] = [start, stop].map((x) => expandDims(broadcastTo(x, shape), along)) as [Tensor, Tensor];
  const row = dims(from).map((_, i) => (i === along ? num : 1));
  const at = reshape(execute1(rangeOp, [], { start: 0, delta: 1, size: num, dtype: 'int32' }), toShape(row));
  const last = sizeValue(maxDims(1, subDims(num, 1)), 'int32');
  const step = to.sub(from).div(toTensor(last, 'int32').cast(from.dtype));
  const y = from.add(step.mul(at.cast(from.dtype)));
  return where(at.equal(0), from, where(at.less(last), y, to));
}

// ---- matrices and grids

/**
 * Ones on the diagonal and zeros elsewhere, [numRows, numColumns]; square without `numColumns`.
 * @param options.batchShape leading axes, along which the matrix is repeated.
 */
export const eye: NamedFunction<
  [numRows: IntegerLike, numColumns?: IntegerLike | null],
  ['numRows', 'numColumns'],
  {
    /** How many such matrices there are, along each axis of a batch: [] by default, which is one. */
    batchShape?: ShapeLike;
    /** Of the matrix; float32 by default. */
    dtype?: DType;
  }
> = defineFunction(
  'eye',
  { numRows: kind.size, numColumns: kind.optional(kind.size) },
  { batchShape: kind.shape, dtype: kind.asIs },
  (
    numRows: number,
    numColumns: number | null | undefined = undefined,
    options: { batchShape?: Shape; dtype?: DType },
  ) => {
    const columns = numColumns ?? numRows;
    checkShape([numRows, columns], 'eye');
    const places = range(sizeValue(numRows, 'int32'), { dtype: 'int32' });
    const matrix = places.oneHot(columns, { dtype: options.dtype ?? 'float32' });
    return options.batchShape === undefined
      ? matrix
      : broadcastTo(matrix, toShape([...dimsOf(checkShape(options.batchShape, 'eye')), numRows, columns]));
  },
);

/**
 * Coordinates of a grid: for vectors x, y, … (anything else is flattened) the tensors that hold each point's coordinate. With `xy` (the default) the first
 * two axes are swapped, as in plots: for x of size m and y of size n the results are [n, m]; with `ij` [m, n].
 */
export const meshgrid: NamedFunction<
  [vectors: readonly TensorLike[]],
  ['vectors'],
  {
    /** `xy`, the default: the first input runs along columns. `ij`: along rows. */
    indexing?: 'xy' | 'ij';
  },
  Tensor[]
> = defineFunction('meshgrid', { vectors: kind.tensor }, { indexing: kind.asIs }, (vectors, options) => {
  const list = checkList(vectors, 'vectors', 'meshgrid').map((v) => toTensor(v));
  const indexing = options.indexing ?? 'xy';
  if (indexing !== 'xy' && indexing !== 'ij') {
    throw new InvalidArgumentError(`indexing '${String(indexing)}' is not 'xy' or 'ij'`, 'meshgrid');
  }
  const axisOf = (i: number): number => (indexing === 'xy' && i < 2 && list.length > 1 ? 1 - i : i);
  const sizes = new Array<Dim>(list.length);
  list.forEach((v, i) => (sizes[axisOf(i)] = sizeOfDims(v.shape)));
  const shape = toShape(sizes);
  return list.map((v, i) =>
    broadcastTo(reshape(v, toShape(sizes.map((d, a) => (a === axisOf(i) ? d : 1)))), shape),
  );
});
