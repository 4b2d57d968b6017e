// Where elements stand: shapes, joins, splits, diagonals, order.
import {
  type Axis,
  type AxisLike,
  argSort,
  bitcast,
  concat,
  pad as corePad,
  repeat as coreRepeat,
  roll as coreRoll,
  searchsorted as coreSearchsorted,
  tile as coreTile,
  unique as coreUnique,
  type DType,
  gather,
  type IntegerLike,
  type IntegersLike,
  type NamedFunction,
  reverse,
  type Shape,
  type ShapeLike,
  type Tensor,
  type TensorLike,
  zerosLike,
} from '@eagre/core';
import {
  addDims,
  type Dim,
  defineFunction,
  dims,
  floorDivDims,
  iota,
  kind,
  knownDim,
  maxDims,
  minDims,
  mulDims,
  normalizeAxes,
  normalizeAxis,
  pair,
  shown,
  sizeValue,
  subDims,
  toShape,
  toTensor,
  unraveled,
} from '@eagre/core/internal';
import { integer as integerKind, named, refuse, taken, type Unary, unary } from '../define.ts';

export {
  at as getItem,
  broadcastTo,
  expandDims,
  flatten as ravel,
  sort,
  squeeze,
  stack,
  swapAxes as swapaxes,
  tril,
  triu,
} from '@eagre/core';

const tensors = (xs: readonly TensorLike[], name: string): Tensor[] => {
  if (!Array.isArray(xs) || xs.length === 0) refuse('expected a list of at least one tensor', name);
  const list = xs.map((x) => toTensor(x as TensorLike));
  const type = list.reduce((a, b) => pair(a, b, named(name))[0]).dtype;
  return list.map((x) => (x.dtype === type ? x : x.cast(type)));
};

type Join<O = unknown> = NamedFunction<
  [xs: readonly TensorLike[], axis?: IntegerLike],
  ['xs|arys|arrays', 'axis'],
  O
>;

/** Several tensors one behind the other along an axis, the first by default. */
export const concatenate: Join = defineFunction(
  named('concatenate'),
  { 'xs|arys|arrays': kind.asIs, axis: kind.axis },
  {},
  (xs, axis: number = 0) => concat(tensors(xs, 'concatenate'), axis),
);

type Joined = NamedFunction<[xs: readonly TensorLike[]], ['xs|tup']>;
const joined = (
  name: string,
  rank: number,
  form: (x: Tensor) => Tensor,
  axis: (rank: number) => number,
): Joined =>
  defineFunction(named(name), { 'xs|tup': kind.asIs }, {}, (xs) => {
    const list = tensors(xs, name).map((x) => (x.rank < rank ? form(x) : x));
    return concat(list, axis(list[0].rank));
  });
/** Tensors one below the other: vectors as rows. */
export const vstack: Joined = joined(
  'vstack',
  2,
  (x) => (x.rank === 0 ? x.reshape([1, 1]) : x.expandDims(0)),
  () => 0,
);
/** Tensors side by side: vectors one behind the other, others along their second axis. */
export const hstack: Joined = joined(
  'hstack',
  1,
  (x) => x.expandDims(0),
  (rank) => (rank === 1 ? 0 : 1),
);
/** Tensors behind one another, along their third axis. */
export const dstack: Joined = joined(
  'dstack',
  3,
  (x) => (x.rank === 0 ? x.reshape([1, 1, 1]) : x.rank === 1 ? x.reshape([1, -1, 1]) : x.expandDims(2)),
  () => 2,
);

/** x1 and then x2 along an axis; both as lists of their elements by default. */
export const append: NamedFunction<
  [x1: TensorLike, x2: TensorLike, axis?: IntegerLike | null],
  ['x1|arr', 'x2|values', 'axis']
> = defineFunction(
  named('append'),
  { 'x1|arr': kind.tensor, 'x2|values': kind.tensor, axis: kind.axis },
  {},
  (x1, x2, axis: number | null = null) => {
    const list = pair(x1, x2, named('append'));
    return axis === null ? concat(list.map((x) => x.flatten())) : concat(list, axis);
  },
);

// ---- splits

type Parts = IntegerLike | readonly IntegerLike[];
type Split = NamedFunction<
  [x: TensorLike, indicesOrSections: Parts, axis?: IntegerLike],
  ['x|ary', 'indicesOrSections', 'axis'],
  unknown,
  Tensor[]
>;
type SplitAt = NamedFunction<
  [x: TensorLike, indicesOrSections: Parts],
  ['x|ary', 'indicesOrSections'],
  unknown,
  Tensor[]
>;

const MOST_PIECES = 1_000_000;

function parts(x: Tensor, given: number | readonly number[], axis: number, uneven: boolean): Tensor[] {
  const size = dims(x)[normalizeAxis(axis, x.rank)];
  if (![given].flat().every((n: unknown) => typeof n === 'number'))
    refuse(`indicesOrSections must be an integer or a list of them, got ${shown(given)}`, 'split');
  if (typeof given === 'number') {
    if (!uneven) return x.split(given, axis);
    if (!Number.isInteger(given) || given < 1 || given > MOST_PIECES)
      refuse(`indicesOrSections must be an integer from 1 to ${MOST_PIECES}, got ${given}`, 'arraySplit');
    const n = knownDim(size);
    return x.split(
      Array.from({ length: given }, (_, i) => Math.floor(n / given) + (i < n % given ? 1 : 0)),
      axis,
    );
  }
  // The places where pieces begin, which may be behind the end.
  const places = [0, ...given].map((i): Dim => (i < 0 ? maxDims(0, addDims(size, i)) : minDims(i, size)));
  const ends = [...places.slice(1), size];
  return x.split(toShape(ends.map((end, i) => maxDims(0, subDims(end, places[i])))), axis);
}
const splitArguments = { 'x|ary': kind.tensor, indicesOrSections: kind.oneOrMore };
/** Pieces of equal size along an axis, or those between the given places. */
const split: Split = defineFunction(
  named('split'),
  { ...splitArguments, axis: kind.axis },
  {},
  (x, given: number | readonly number[], axis: number = 0) => parts(toTensor(x), given, axis, false),
);
/** As `split`, with pieces that differ by 1 where a number of them does not divide the size. */
const arraySplit: Split = defineFunction(
  named('arraySplit'),
  { ...splitArguments, axis: kind.axis },
  {},
  (x, given: number | readonly number[], axis: number = 0) => parts(toTensor(x), given, axis, true),
);

export { arraySplit, split };

const splitAt = (name: string, axis: (rank: number) => number): SplitAt =>
  defineFunction(named(name), splitArguments, {}, (x, given: number | readonly number[]) => {
    const t = toTensor(x);
    return parts(t, given, axis(t.rank), false);
  });
/** As `split`, along the first axis. */
export const vsplit: SplitAt = splitAt('vsplit', () => 0);
/** As `split`, along the second axis; of vectors the first. */
export const hsplit: SplitAt = splitAt('hsplit', (rank) => (rank === 1 ? 0 : 1));
/** As `split`, along the third axis. */
export const dsplit: SplitAt = splitAt('dsplit', () => 2);

// ---- shapes and axes

/** The same elements in another shape, of which one size may be −1. */
export const reshape: NamedFunction<[x: TensorLike, newshape: ShapeLike], ['x|a', 'newshape']> =
  defineFunction(named('reshape'), { 'x|a': kind.tensor, newshape: kind.shape }, {}, (x, newshape: Shape) =>
    toTensor(x).reshape(newshape),
  );

/** The axes in another order, reversed by default. */
export const transpose: NamedFunction<[x: TensorLike, axes?: IntegersLike | null], ['x|a', 'axes']> =
  defineFunction(
    named('transpose'),
    { 'x|a': kind.tensor, axes: kind.integers },
    {},
    (x, axes: readonly number[] | null = null) => toTensor(x).transpose(axes),
  );

/** Axes in other places; the others keep their order. */
export const moveaxis: NamedFunction<
  [x: TensorLike, source: IntegerLike | IntegersLike, destination: IntegerLike | IntegersLike],
  ['x|a', 'source', 'destination']
> = defineFunction(
  named('moveaxis'),
  { 'x|a': kind.tensor, source: kind.axes, destination: kind.axes },
  {},
  (x, source: number | readonly number[], destination: number | readonly number[]) => {
    const t = toTensor(x);
    const inOrder = (axes: number | readonly number[]): number[] =>
      [axes].flat().map((axis) => normalizeAxis(axis, t.rank, named('moveaxis')));
    const [from, to] = [inOrder(source), inOrder(destination)];
    if (from.length !== to.length) refuse('source and destination differ in length', 'moveaxis');
    const perm = dims(t).flatMap((_, i) => (from.includes(i) ? [] : [i]));
    to.map((at, i) => [at, from[i]])
      .sort((a, b) => a[0] - b[0])
      .forEach(([at, axis]) => {
        perm.splice(at, 0, axis);
      });
    return t.transpose(perm);
  },
);

/** The elements in reverse along axes, all by default. */
export const flip: NamedFunction<[x: TensorLike, axis?: AxisLike], ['x|m', 'axis']> = defineFunction(
  named('flip'),
  { 'x|m': kind.tensor, axis: kind.axes },
  {},
  (x, axis: Axis = null) => {
    const t = toTensor(x);
    return reverse(t, normalizeAxes(axis, t.rank));
  },
);
/** The elements in reverse along the second axis. */
export const fliplr: Unary = unary('fliplr', (x) => reverse(x, 1));
/** The elements in reverse along the first axis. */
export const flipud: Unary = unary('flipud', (x) => reverse(x, 0));

/** x turned `k` times by 90 degrees, from the first of two axes to the second. */
export const rot90: NamedFunction<
  [array: TensorLike, k?: IntegerLike, axes?: IntegersLike],
  ['array|m', 'k', 'axes']
> = defineFunction(
  named('rot90'),
  { 'array|m': kind.tensor, k: integerKind, axes: kind.integers },
  {},
  (array, k: number = 1, axes: readonly number[] = [0, 1]) => {
    const x = toTensor(array);
    if (!Array.isArray(axes) || axes.length !== 2) refuse('axes must be two integers', 'rot90');
    const [a, b] = axes.map((axis) => normalizeAxis(axis, x.rank, named('rot90')));
    if (axes.length !== 2 || a === b) refuse(`axes are [${axes}], expected two that differ`, 'rot90');
    const turns = ((k % 4) + 4) % 4;
    if (turns === 0) return x.identity();
    if (turns === 2) return reverse(x, [a, b]);
    return turns === 1 ? reverse(x, b).swapAxes(a, b) : reverse(x.swapAxes(a, b), b);
  },
);

/** The elements moved along axes, those at one end to the other; as one list by default. */
export const roll: NamedFunction<
  [x: TensorLike, shift: IntegerLike | IntegersLike, axis?: IntegerLike | IntegersLike | null],
  ['x|a', 'shift', 'axis']
> = defineFunction(
  named('roll'),
  { 'x|a': kind.tensor, shift: kind.asIs, axis: kind.axes },
  {},
  (x, shift, axis: number | readonly number[] | null = null) => {
    const t = toTensor(x);
    return axis === null ? coreRoll(t.flatten(), shift, 0).reshape(t.shape) : coreRoll(t, shift, axis);
  },
);

/** Each element so many times along an axis; of all as one list by default. */
export const repeat: NamedFunction<
  [x: TensorLike, repeats: IntegerLike | IntegersLike, axis?: IntegerLike | null],
  ['x|a', 'repeats', 'axis']
> = defineFunction(
  named('repeat'),
  { 'x|a': kind.tensor, repeats: kind.asIs, axis: kind.axis },
  {},
  (x, repeats, axis: number | null = null) => coreRepeat(x, repeats, axis),
);

/** x so many times along each axis; a shorter list is for the last axes. */
export const tile: NamedFunction<
  [x: TensorLike, repeats: IntegerLike | IntegersLike],
  ['x|a', 'repeats|reps']
> = defineFunction(
  named('tile'),
  { 'x|a': kind.tensor, 'repeats|reps': kind.sizes },
  {},
  (x, repeats: number | Shape) => {
    const t = toTensor(x);
    const times: Dim[] = [...dims({ shape: Array.isArray(repeats) ? repeats : [repeats as number] })];
    while (times.length < t.rank) times.unshift(1);
    const extra = times.length - t.rank;
    const own = extra === 0 ? t : t.reshape(toShape([...new Array<number>(extra).fill(1), ...dims(t)]));
    return coreTile(own, toShape(times));
  },
);

/** What `pad` puts outside: a constant, mirrored elements without or with the border. */
export type PadMode = 'constant' | 'reflect' | 'symmetric';
/**
 * x with `padWidth` elements more before and behind each axis: pairs for each axis, one pair or one number for all.
 * @param constantValues what stands there in the mode `constant`; 0 by default
 */
export const pad: NamedFunction<
  [
    x: TensorLike,
    padWidth: IntegerLike | readonly IntegerLike[] | readonly (readonly IntegerLike[])[],
    mode?: PadMode,
    constantValues?: number | null,
  ],
  ['x|array', 'padWidth', 'mode', 'constantValues']
> = defineFunction(
  named('pad'),
  { 'x|array': kind.tensor, padWidth: kind.asIs, mode: kind.asIs, constantValues: kind.asIs },
  {},
  (x, padWidth, mode: PadMode = 'constant', constantValues: number | null = null) => {
    const t = toTensor(x);
    const width = Array.isArray(padWidth) ? (padWidth as readonly unknown[]) : [padWidth];
    const lists = width.map((w) => (Array.isArray(w) ? (w as number[]) : undefined));
    const one = lists[0] === undefined ? (width as number[]) : undefined;
    const pairs = dims(t).map((_, i) => {
      const own = one ?? lists[width.length === 1 ? 0 : i] ?? [];
      return [own[0], own[1] ?? own[0]] as [number, number];
    });
    if (constantValues !== null && mode !== 'constant')
      refuse("constantValues is for the mode 'constant' only", 'pad');
    return corePad(t, pairs, {
      mode: String(mode).toUpperCase() as 'CONSTANT',
      ...(constantValues === null ? {} : { constantValues }),
    });
  },
);

// ---- diagonals

/** Two axes behind all others. */
function matrices(x: Tensor, axis1: number, axis2: number, name: string): Tensor {
  const [a, b] = [axis1, axis2].map((axis) => normalizeAxis(axis, x.rank, named(name)));
  if (a === b) refuse('axis1 and axis2 must differ', name);
  const rest = dims(x).flatMap((_, i) => (i === a || i === b ? [] : [i]));
  return x.transpose([...rest, a, b]);
}
/** The diagonal of number `offset` of matrices [..., rows, columns]. */
function diagonalOf(x: Tensor, offset: number): Tensor {
  const [rows, columns] = dims(x).slice(-2);
  const length = maxDims(
    0,
    minDims(subDims(rows, Math.max(0, -offset)), subDims(columns, Math.max(0, offset))),
  );
  const i = iota(length);
  const places = i
    .add(Math.max(0, -offset))
    .mul(sizeValue(columns, 'int32'))
    .add(i.add(Math.max(0, offset)));
  return gather(x.reshape(toShape([...dims(x).slice(0, -2), mulDims(rows, columns)])), places, -1);
}
/** Vectors [..., n] on the diagonal of number `k` of matrices, zeros elsewhere. */
function onDiagonal(x: Tensor, k: number): Tensor {
  const n = addDims(dims(x)[x.rank - 1], Math.abs(k));
  const [row, column] = [iota(n).expandDims(1), iota(n)];
  const wide = corePad(x, [
    ...dims(x)
      .slice(1)
      .map((): [number, number] => [0, 0]),
    k >= 0 ? [k, 0] : [0, -k],
  ]);
  const hit = column.equal(row.add(k));
  return hit.where(wide.expandDims(-2), x.dtype === 'bool' ? false : 0);
}

type Diagonal = NamedFunction<[x: TensorLike, k?: IntegerLike], ['x|v', 'k']>;
/** The matrix with a vector on its diagonal of number `k`; of a matrix that diagonal. */
export const diag: Diagonal = defineFunction(
  named('diag'),
  { 'x|v': kind.tensor, k: integerKind },
  {},
  (x, k: number = 0) => {
    const t = toTensor(x);
    if (t.rank !== 1 && t.rank !== 2) refuse(`x has shape [${t.shape}], expected rank 1 or 2`, 'diag');
    return t.rank === 1 ? onDiagonal(t, k) : diagonalOf(t, k);
  },
);
/** The matrix with all elements of x on its diagonal of number `k`. */
export const diagflat: Diagonal = defineFunction(
  named('diagflat'),
  { 'x|v': kind.tensor, k: integerKind },
  {},
  (x, k: number = 0) => onDiagonal(toTensor(x).flatten(), k),
);

type OfDiagonal = NamedFunction<
  [x: TensorLike, offset?: IntegerLike, axis1?: IntegerLike, axis2?: IntegerLike],
  ['x|a', 'offset', 'axis1', 'axis2']
>;
const ofDiagonal = (name: string, of: (d: Tensor) => Tensor): OfDiagonal =>
  defineFunction(
    named(name),
    { 'x|a': kind.tensor, offset: integerKind, axis1: kind.axis, axis2: kind.axis },
    {},
    (x, offset: number = 0, axis1: number = 0, axis2: number = 1) =>
      of(diagonalOf(matrices(toTensor(x), axis1, axis2, name), offset)),
  );
/** The diagonal of number `offset` of two axes, which comes last. */
export const diagonal: OfDiagonal = ofDiagonal('diagonal', (d) => d);
/** The sum of the diagonal of number `offset` of two axes. */
export const trace: OfDiagonal = ofDiagonal('trace', (d) =>
  (d.dtype === 'bool' ? d.cast('int32') : d).sum(-1),
);

// ---- elements by their places

/** The elements in places along an axis; of all as one list by default. Negative places count from the end. */
export const take: NamedFunction<
  [x: TensorLike, indices: TensorLike, axis?: IntegerLike | null],
  ['x|a', 'indices', 'axis']
> = defineFunction(
  named('take'),
  { 'x|a': kind.tensor, indices: kind.tensor, axis: kind.axis },
  {},
  (x, indices, axis: number | null = null) => {
    const t = axis === null ? toTensor(x).flatten() : toTensor(x);
    const at = normalizeAxis(axis ?? 0, t.rank, named('take'));
    return gather(t, fromStart(indices, dims(t)[at]), at);
  },
);
function fromStart(indices: TensorLike, size: Dim): Tensor {
  const places = toTensor(indices, 'int32');
  const i = places.dtype === 'int64' ? places : places.cast('int32');
  return i.less(0).where(i.add(sizeValue(size, i.dtype)), i);
}

/** For each place along an axis the element there; the other axes of both agree. Of all as one list by default. */
export const takeAlongAxis: NamedFunction<
  [x: TensorLike, indices: TensorLike, axis?: IntegerLike | null],
  ['x|arr', 'indices', 'axis']
> = defineFunction(
  named('takeAlongAxis'),
  { 'x|arr': kind.tensor, indices: kind.tensor, axis: kind.axis },
  {},
  (x, indices, axis: number | null = null) => {
    const t = axis === null ? toTensor(x).flatten() : toTensor(x);
    const given = toTensor(indices, 'int32');
    const at = normalizeAxis(axis ?? 0, t.rank, named('takeAlongAxis'));
    const places = fromStart(axis === null ? given.flatten() : given, dims(t)[at]);
    const last = (y: Tensor): Tensor => (at === y.rank - 1 ? y : y.moveAxis(at, -1));
    const [rows, columns] = [last(t), last(places)];
    // Axes of size 1 broadcast.
    const lead = dims(rows)
      .slice(0, -1)
      .map((d, i) => maxDims(d, dims(columns)[i]));
    const wide = (y: Tensor): Tensor => y.broadcastTo(toShape([...lead, dims(y)[y.rank - 1]]));
    const found = taken(wide(rows), wide(columns));
    return at === t.rank - 1 ? found : found.moveAxis(-1, at);
  },
);

/** The places that would sort an axis, the last by default: int32. `null` sorts all as one list. */
export const argsort: NamedFunction<[x: TensorLike, axis?: IntegerLike | null], ['x', 'axis']> =
  defineFunction(named('argsort'), { x: kind.tensor, axis: kind.axis }, {}, (x, axis: number | null = -1) => {
    const given = toTensor(x);
    const t = given.dtype === 'bool' ? given.cast('int32') : given;
    return axis === null ? argSort(t.flatten()) : argSort(t, axis);
  });

/** Places of which the first `kth` have the smallest elements, and the next one the element that sorting would put there: int32. */
export const argpartition: NamedFunction<
  [x: TensorLike, kth: IntegerLike, axis?: IntegerLike],
  ['x', 'kth', 'axis']
> = defineFunction(
  named('argpartition'),
  { x: kind.tensor, kth: integerKind, axis: kind.axis },
  {},
  (x, kth: number, axis: number = -1) => {
    const t = toTensor(x);
    const size = dims(t)[normalizeAxis(axis, t.rank, named('argpartition'))];
    if (typeof size === 'number' && (kth >= size || kth < -size))
      refuse(`kth is ${kth}, the axis has ${size} elements`, 'argpartition');
    return argSort(t, axis);
  },
);

/**
 * The places where values would have to be put into a sorted list [n] for it to stay sorted: int32, before those that are equal (`left`) or
 * behind them (`right`).
 */
export const searchsorted: NamedFunction<
  [sortedSequence: TensorLike, values: TensorLike, side?: 'left' | 'right'],
  ['sortedSequence', 'values', 'side']
> = defineFunction(
  named('searchsorted'),
  { sortedSequence: kind.tensor, values: kind.tensor, side: kind.asIs },
  {},
  (sortedSequence, values, side: 'left' | 'right' = 'left') => {
    if (side !== 'left' && side !== 'right')
      refuse(`side is '${String(side)}', expected 'left' or 'right'`, 'searchsorted');
    const [list, x] = pair(sortedSequence, values, named('searchsorted'));
    if (list.rank !== 1) refuse(`sortedSequence has shape [${list.shape}], expected rank 1`, 'searchsorted');
    return placeIn(list, x, side);
  },
);

function placeIn(list: Tensor, x: Tensor, side: 'left' | 'right'): Tensor {
  return coreSearchsorted(list, x.reshape([-1]), { side }).reshape(toShape(dims(x)));
}

/** The numbers of the bins in which the elements lie, whose edges rise: 0 below the first, int32. */
export const digitize: NamedFunction<[x: TensorLike, bins: TensorLike], ['x', 'bins']> = defineFunction(
  named('digitize'),
  { x: kind.tensor, bins: kind.tensor },
  {},
  (x, bins) => {
    const [list, values] = pair(bins, x, named('digitize'));
    return placeIn(list, values, 'right');
  },
);

/** Whether each element of x1 is among those of x2; with `invert`, whether it is not. */
export const isin: NamedFunction<
  [x1: TensorLike, x2: TensorLike],
  ['x1', 'x2'],
  {
    /** Promises that no value stands twice, which changes nothing here. */
    readonly assumeUnique?: boolean;
    /** Whether those are true that are not found; false by default. */
    readonly invert?: boolean;
  }
> = defineFunction(
  named('isin'),
  { x1: kind.tensor, x2: kind.tensor },
  { assumeUnique: kind.asIs, invert: kind.asIs },
  (x1, x2, { invert }) => {
    const [a, b] = pair(x1, x2, named('isin'));
    const found = a.expandDims(-1).equal(b.flatten()).any(-1);
    return invert === true ? found.logicalNot() : found;
  },
);

/** Places in the flat list of a shape as places along each axis: a tensor for each. */
export const unravelIndex: NamedFunction<
  [indices: TensorLike, shape: ShapeLike],
  ['indices', 'shape'],
  unknown,
  Tensor[]
> = defineFunction(
  named('unravelIndex'),
  { indices: kind.tensor, shape: kind.shape },
  {},
  (indices, shape: Shape) => {
    if (!Array.isArray(shape)) refuse('shape must be a list of sizes', 'unravelIndex');
    return unraveled(toTensor(indices, 'int32'), dims({ shape }));
  },
);

interface UniqueOptions {
  /** Whether to give the place of each value's first element too. */
  readonly returnIndex?: boolean;
  /** Whether to give the number of the value of each element too. */
  readonly returnInverse?: boolean;
  /** Whether to give how often each value occurs too. */
  readonly returnCounts?: boolean;
  /** Other axes than `null`, which stands for all elements, are not supported. */
  readonly axis?: null;
  /** How many values are given: the first ones, or `fillValue` behind them. */
  readonly size?: IntegerLike | null;
  /** What fills the result up to `size`. */
  readonly fillValue?: number | null;
}
/** The different values of all elements, in rising order. With options a list: the values, and what else was asked for. */
export const unique: NamedFunction<[x: TensorLike, sorted?: boolean], ['x', 'sorted'], UniqueOptions> =
  defineFunction<NamedFunction<[x: TensorLike, sorted?: boolean], ['x', 'sorted'], UniqueOptions, unknown>>(
    named('unique'),
    { x: kind.tensor, sorted: kind.asIs },
    {
      returnIndex: kind.asIs,
      returnInverse: kind.asIs,
      returnCounts: kind.asIs,
      axis: kind.asIs,
      size: integerKind,
      fillValue: kind.asIs,
    },
    (x, _: boolean = true, options) => {
      const t = toTensor(x);
      if ((options.axis as unknown) !== undefined && options.axis !== null)
        refuse('only all elements are compared: axis must be null', 'unique');
      const flat = t.flatten();
      const { values, indices, counts } = coreUnique(flat);
      const order = argSort(values);
      const fit = (y: Tensor, fill: number): Tensor => {
        const rising = gather(y, order);
        const size = options.size as number | null | undefined;
        if (size === undefined || size === null) return rising;
        const n = rising.shape[0];
        return n >= size
          ? rising.slice([0], [size])
          : concat([rising, toTensor(fill, y.dtype).broadcastTo([size - n])]);
      };
      const found = fit(values, Number(options.fillValue ?? 0));
      const list = [found];
      if (options.returnIndex === true) {
        const last = zerosLike(values, 'int32').add(sizeValue(dims(flat)[0], 'int32'));
        const first = last.tensorScatterNdMin(indices.expandDims(1), iota(dims(flat)[0]));
        list.push(fit(first, 0));
      }
      if (options.returnInverse === true) list.push(gather(argSort(order), indices).reshape(t.shape));
      if (options.returnCounts === true) list.push(fit(counts, 0));
      return list.length === 1 ? found : list;
    },
  ) as never;

/** The same bytes as numbers of another dtype; of other widths the last axis grows or shrinks. */
export const view: NamedFunction<[x: TensorLike, dtype?: DType | null], ['x', 'dtype']> = defineFunction(
  named('view'),
  { x: kind.tensor, dtype: kind.asIs },
  {},
  (x, dtype: DType | null = null) => {
    const t = toTensor(x);
    if (dtype === null || dtype === t.dtype) return t.identity();
    const [from, to] = [BYTES[t.dtype] ?? 4, BYTES[dtype] ?? 4];
    const own = dims(t);
    if (from === to) return bitcast(t, dtype);
    if (t.rank === 0) refuse('a scalar has no last axis, which other sizes of elements need', 'view');
    const last = own[t.rank - 1];
    if (from > to) return bitcast(t, dtype).reshape(toShape([...own.slice(0, -1), mulDims(last, from / to)]));
    return bitcast(
      t.reshape(toShape([...own.slice(0, -1), floorDivDims(last, to / from), to / from])),
      dtype,
    );
  },
);
const BYTES: Readonly<Partial<Record<DType, number>>> = {
  ...{ bool: 1, int8: 1, uint8: 1, int16: 2, uint16: 2, float16: 2, bfloat16: 2 },
  ...{ float64: 8, int64: 8, uint64: 8, complex64: 8, complex128: 16 },
};
