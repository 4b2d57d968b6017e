// Functions of `tf.experimental.numpy` that Keras does not have.
import {
  type Axis,
  type AxisLike,
  bitwise,
  gather,
  type IntegerLike,
  InvalidArgumentError,
  type NamedFunction,
  type Tensor,
  type TensorLike,
  where,
} from '@eagre/core';
import {
  broadcastShapes,
  checkCount,
  checkDType,
  checkOneOf,
  checkSize,
  type Dim,
  defineFunction,
  defineVariadic,
  dims,
  hasGradient,
  iota,
  kind,
  normalizeAxis,
  pair,
  sameShape,
  sizeValue,
  toShape,
  toTensor,
} from '@eagre/core/internal';
import { type Binary, floating, type Unary } from '../ops/define.ts';
import { met } from './meeting.ts';
import { floorDivide, mod } from './pairs.ts';

const named = (name: string): string => `numpy.${name}`;
/** Two arrays in the dtype in which they meet. */
const pairOf = (a: TensorLike, b: TensorLike, name: string): [Tensor, Tensor] =>
  pair(...met([a, b] as const, named(name)).values, named(name));
const unary = (name: string, run: (x: Tensor) => Tensor): Unary =>
  defineFunction(named(name), { 'x|a|m': kind.tensor }, {}, (x) => run(toTensor(x)));
const binary = <R = Tensor>(
  name: string,
  run: (a: Tensor, b: Tensor) => R,
): NamedFunction<[x1: TensorLike, x2: TensorLike], ['x1|a', 'x2|b'], unknown, R> =>
  defineFunction(named(name), { 'x1|a': kind.tensor, 'x2|b': kind.tensor }, {}, (x1, x2) =>
    run(...pairOf(x1, x2, name)),
  );

/** The same values. */
export const positive: Unary = /* @__PURE__ */ unary('positive', (x) => x.identity());
/** The nearest integers toward 0, as floats. */
export const fix: Unary = /* @__PURE__ */ unary('fix', (given) => {
  const x = floating(given);
  return where(x.less(0), x.ceil(), x.floor());
});
/** All bits of integers flipped; of bools, whether each is false. */
export const bitwiseNot: Unary = /* @__PURE__ */ unary('bitwiseNot', (x) =>
  x.dtype === 'bool' ? x.logicalNot() : bitwise.invert(x),
);
/**
 * The elements in places along an axis; of all as one list by default. Unlike NumPy's it throws for no place, as in TensorFlow.
 * @param options.mode `'clip'`, the default, takes those before the first for the first, and those behind the last for the last; with
 * `'wrap'` places go on at the other end, so that negative ones count from there
 */
export const take: NamedFunction<
  [a: TensorLike, indices: TensorLike, axis?: IntegerLike | null],
  ['a', 'indices', 'axis'],
  {
    /** What places outside mean: `'clip'`, the default, the nearest; `'wrap'` goes on at the other end. */
    readonly mode?: 'clip' | 'wrap';
  }
> = /* @__PURE__ */ defineFunction(
  named('take'),
  { a: kind.tensor, indices: kind.tensor, axis: kind.axis },
  { mode: kind.asIs },
  (a, indices, axis: number | null = null, { mode = 'clip' }) => {
    checkOneOf(mode, ['clip', 'wrap'], 'mode', named('take'));
    const x = axis === null ? toTensor(a).flatten() : toTensor(a);
    const at = normalizeAxis(axis ?? 0, x.rank, named('take'));
    const given = toTensor(indices, 'int32');
    checkDType(given.dtype, given.dtype === 'uint64' ? 'index' : 'integer', 'indices', named('take'));
    const places = given.cast(given.dtype === 'int64' || given.dtype === 'uint32' ? 'int64' : 'int32');
    const size = sizeValue(dims(x)[at] as Dim, places.dtype);
    const inside =
      mode === 'wrap' ? places.mod(size) : places.minimum(toTensor(size, places.dtype).sub(1)).maximum(0);
    return gather(x, inside, at);
  },
);
/** All elements as one list. */
export const flatten: Unary = /* @__PURE__ */ unary('flatten', (x) => x.flatten());
/** Whether each element has an imaginary part that is not 0. */
export const iscomplex: Unary = /* @__PURE__ */ unary('iscomplex', (x) =>
  x.dtype.startsWith('complex') ? x.imag().notEqual(0) : x.equal(x).logicalAnd(x.notEqual(x)),
);
/** x1 rounded down behind division by x2, and what is left: [quotient, remainder]. */
export const divmod: NamedFunction<
  [x1: TensorLike, x2: TensorLike],
  ['x1|a', 'x2|b'],
  unknown,
  [quotient: Tensor, remainder: Tensor]
> = /* @__PURE__ */ binary('divmod', (a, b): [Tensor, Tensor] => [floorDivide(a, b), mod(a, b)]);
/** x1 to the power x2; integers become float64. */
export const floatPower: Binary = /* @__PURE__ */ binary('floatPower', (a, b) => {
  const wide = (x: Tensor): Tensor => (hasGradient(x.dtype) ? x : x.cast('float64'));
  return wide(a).pow(wide(b));
});

// ---- places and counts, which are int64 in NumPy

type Position = NamedFunction<[a: TensorLike, axis?: IntegerLike | null], ['a', 'axis']>;
const position = (
  name: string,
  run: (x: Tensor, axis: number) => Tensor,
  otherwise: number | null,
): Position =>
  defineFunction(
    named(name),
    { a: kind.tensor, axis: kind.optional(kind.axis) },
    {},
    (a, axis: IntegerLike | null | undefined = undefined) => {
      const x = toTensor(a);
      const along = axis === undefined ? otherwise : axis;
      return (along === null ? run(x.flatten(), 0) : run(x, along as number)).cast('int64');
    },
  );
/** The first place of the largest element along an axis; in all elements as one list by default. int64. */
export const argmax: Position = /* @__PURE__ */ position('argmax', (x, axis) => x.argMax(axis), null);
/** The first place of the smallest element along an axis; in all elements as one list by default. int64. */
export const argmin: Position = /* @__PURE__ */ position('argmin', (x, axis) => x.argMin(axis), null);
/** The places that would sort an axis, the last by default: int64. `null` sorts all as one list. */
export const argsort: Position = /* @__PURE__ */ position('argsort', (x, axis) => x.argSort(axis), -1);
/** How many elements are not 0, in all or along axes: int64. */
export const countNonzero: NamedFunction<
  [a: TensorLike, axis?: AxisLike],
  ['a', 'axis'],
  {
    /** Keeps the axes as 1; false by default. */
    readonly keepdims?: boolean;
  }
> = /* @__PURE__ */ defineFunction(
  named('countNonzero'),
  { a: kind.tensor, axis: kind.axes },
  { keepdims: kind.asIs },
  (a, axis: Axis = null, { keepdims = false }) =>
    toTensor(a).cast('bool').cast('int64').sum(axis, { keepdims }),
);
/** The places of what is not 0: int64, a list for each axis. */
export const nonzero: NamedFunction<[a: TensorLike], ['a'], unknown, Tensor[]> =
  /* @__PURE__ */ defineFunction(named('nonzero'), { a: kind.tensor }, {}, (a) =>
    toTensor(a).nonzero().unstack(1),
  );
/** Whether two arrays have one shape and the same elements: a bool scalar. */
export const arrayEqual: NamedFunction<[a1: TensorLike, a2: TensorLike], ['a1', 'a2']> =
  /* @__PURE__ */ defineFunction(named('arrayEqual'), { a1: kind.tensor, a2: kind.tensor }, {}, (a1, a2) => {
    const [a, b] = pairOf(a1, a2, 'arrayEqual');
    return sameShape(dims(a), dims(b)) ? a.equal(b).all() : toTensor(false);
  });

type AtLeast = (...arys: readonly TensorLike[]) => Tensor | Tensor[];
const atLeast = (name: string, run: (x: Tensor) => Tensor): AtLeast =>
  defineVariadic<AtLeast>(named(name), {}, 'arys', {}, (arys: readonly TensorLike[]): Tensor | Tensor[] => {
    const all = arys.map((x) => run(toTensor(x)));
    return all.length === 1 ? (all[0] as Tensor) : all;
  });
/** Arrays of at least one axis: one, or a list of them. */
export const atleast1d: AtLeast = /* @__PURE__ */ atLeast('atleast1d', (x) =>
  x.rank === 0 ? x.reshape([1]) : x,
);
/** Arrays of at least two axes, of which new ones come first. */
export const atleast2d: AtLeast = /* @__PURE__ */ atLeast('atleast2d', (x) =>
  x.rank >= 2 ? x : x.reshape(toShape([1, x.rank === 0 ? 1 : (dims(x)[0] as Dim)])),
);
/** Arrays of at least three axes: a list becomes [1, n, 1], a matrix gets a last axis. */
export const atleast3d: AtLeast = /* @__PURE__ */ atLeast('atleast3d', (x) => {
  if (x.rank >= 3) return x;
  if (x.rank === 2) return x.expandDims(2);
  return x.reshape(toShape([1, x.rank === 0 ? 1 : (dims(x)[0] as Dim), 1]));
});

/** Arrays stretched to the shape to which all broadcast. */
export const broadcastArrays: (...args: readonly TensorLike[]) => Tensor[] = /* @__PURE__ */ defineVariadic<
  (...args: readonly TensorLike[]) => Tensor[]
>(named('broadcastArrays'), {}, 'args', {}, (args: readonly TensorLike[]): Tensor[] => {
  const all = args.map((x) => toTensor(x));
  const shape = all
    .map((x) => x.shape)
    .reduce((a, b) => broadcastShapes(a, b, named('broadcastArrays')), toShape([]));
  return all.map((x) => x.broadcastTo(shape));
});

/** The slices along an axis for which the condition holds; of all elements as one list unless an axis is given. */
export const compress: NamedFunction<
  [condition: TensorLike, a: TensorLike, axis?: IntegerLike | null],
  ['condition', 'a', 'axis']
> = /* @__PURE__ */ defineFunction(
  named('compress'),
  { condition: kind.tensor, a: kind.tensor, axis: kind.axis },
  {},
  (condition, a, axis: number | null = null) => {
    const x = axis === null ? toTensor(a).flatten() : toTensor(a);
    const at = normalizeAxis(axis ?? 0, x.rank, named('compress'));
    const holds = toTensor(condition).cast('bool');
    return x.gather(holds.nonzero().reshape([-1]), at);
  },
);

// As in NumPy.
const MOST_AXES = 64;

/** The places of the main diagonal of an array with `ndim` axes of size `n`: a list of places for each axis. */
export const diagIndices: NamedFunction<
  [n: IntegerLike, ndim?: IntegerLike],
  ['n', 'ndim'],
  unknown,
  Tensor[]
> = /* @__PURE__ */ defineFunction(
  named('diagIndices'),
  { n: kind.size, ndim: kind.integer },
  {},
  (n, ndim: IntegerLike = 2) => {
    const size = checkSize(n, 'n', named('diagIndices'));
    checkCount(ndim, 'ndim', named('diagIndices'));
    if ((ndim as number) > MOST_AXES)
      throw new InvalidArgumentError(`ndim must be ${MOST_AXES} at most, got ${ndim}`, named('diagIndices'));
    return Array.from({ length: ndim as number }, () => iota(size));
  },
);

/** Lists as places along one axis each: the k-th has its elements along axis k, and 1 elsewhere. A list of bools stands for the places where it is true. */
export const ix: (...args: readonly TensorLike[]) => Tensor[] = /* @__PURE__ */ defineVariadic<
  (...args: readonly TensorLike[]) => Tensor[]
>(named('ix'), {}, 'args', {}, (args: readonly TensorLike[]): Tensor[] =>
  args.map((value, k) => {
    const t = toTensor(value, 'int32');
    const places = t.dtype === 'bool' ? t.nonzero().reshape([-1]) : t;
    return places.reshape(args.map((_, i) => (i === k ? -1 : 1)));
  }),
);

/** The value at x of the polynomial with coefficients p [n], that of the highest power first. */
export const polyval: NamedFunction<[p: TensorLike, x: TensorLike], ['p', 'x']> =
  /* @__PURE__ */ defineFunction(named('polyval'), { p: kind.tensor, x: kind.tensor }, {}, (p, x) => {
    const [c, t] = pairOf(p, x, 'polyval');
    return c.unstack(0).reduce((value, k) => value.mul(t).add(k), t.mul(0));
  });

/** The sizes of an array: numbers, and scalars where only the run of a traced function knows them. */
export const shape: NamedFunction<[a: TensorLike], ['a'], unknown, (number | Tensor)[]> =
  /* @__PURE__ */ defineFunction(named('shape'), { a: kind.tensor }, {}, (a) =>
    dims(toTensor(a)).map((d) => sizeValue(d, 'int32')),
  );

/** Whether a value is a single number, bool or string. */
export const isscalar: NamedFunction<[num: unknown], ['num'], unknown, boolean> =
  /* @__PURE__ */ defineFunction(named('isscalar'), { num: kind.structure }, {}, (num) => {
    if (['number', 'bigint', 'boolean', 'string'].includes(typeof num)) return true;
    return typeof num === 'object' && num !== null && (num as { rank?: number }).rank === 0;
  });
/** Whether an array is of complex numbers. */
export const iscomplexobj: NamedFunction<[x: TensorLike], ['x'], unknown, boolean> =
  /* @__PURE__ */ defineFunction(named('iscomplexobj'), { x: kind.tensor }, {}, (x) =>
    toTensor(x).dtype.startsWith('complex'),
  );
/** Whether an array is not of complex numbers. */
export const isrealobj: NamedFunction<[x: TensorLike], ['x'], unknown, boolean> =
  /* @__PURE__ */ defineFunction(
    named('isrealobj'),
    { x: kind.tensor },
    {},
    (x) => !toTensor(x).dtype.startsWith('complex'),
  );
