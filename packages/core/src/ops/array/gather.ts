import { type DType, InvalidArgumentError, isComplex } from '@eagre/backend';
import type { IntegerLike, IntegersLike, ShapeLike } from '../../arguments/argument-kinds.ts';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { checkOneOf } from '../../arguments/checks.ts';
import { context, inInitScope, withoutTapes } from '../../dispatch/context.ts';
import { atRunTime } from '../../dispatch/host.ts';
import { defineOp, execute1, type Op, type OpSpec, opHooks, pair } from '../../dispatch/op.ts';
import { integers, type Sample, uniform, values } from '../../dispatch/samples.ts';
import { knownTensor } from '../../dispatch/symbolic.ts';
import { inScope } from '../../scopes/scope.ts';
import { addDims, type Dim, identicalDims, isExpression, mulDims } from '../../shapes/dim.ts';
import { dims, dimsOf, sizeOfDims, toShape } from '../../shapes/dims.ts';
import { checkShape, listOf, normalizeAxis, type Shape, sameShape, showShape } from '../../shapes/shape.ts';
import { atMost, knownDim } from '../../shapes/shape-env.ts';
import { differs, hostDims, mayBeSame, sizeValue } from '../../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType, checkDTypeName } from '../../tensor/dtypes.ts';
import { rangeOf } from '../../tensor/integer-scan.ts';
import { emptyTensor, hostValues, spaceOf, Tensor, uploaded, viewOf } from '../../tensor/tensor.ts';
import { notEqual } from '../elementwise/logic.ts';
import { where } from '../elementwise/select.ts';
import { blanks } from './blanks.ts';
import { range, zeros } from './creation.ts';
import { gatherOp } from './gathering.ts';
import { iota } from './iota.ts';
import { concat, stack } from './join.ts';
import { checkRank, disposeAll, move, ownShape, toIndices } from './moving.ts';
import { broadcastTo, expandDims, flatten, reshape, stopGradient, tile } from './shaping.ts';

// ---- slices at indices

/**
 * The slices of `params` at `indices` (int32 or int64) along `axis` (0 by default, or `batchDims`). The result's shape is
 * params' with the axis replaced by indices' shape. The first `batchDims` axes are shared by both.
 * `tf.gather(embeddings, ids)`
 * @throws OutOfRangeError for an index outside of the axis.
 */
export const gather: NamedFunction<
  [params: TensorLike, indices: TensorLike, axis?: IntegerLike | null],
  ['params', 'indices', 'axis'],
  {
    /** How many leading axes both share; 0 by default. */
    batchDims?: IntegerLike;
  }
> = defineFunction(
  'gather',
  { params: kind.tensor, indices: kind.tensor, axis: kind.optional(kind.axis) },
  { batchDims: kind.integer },
  (params, indices, axis: number | null | undefined = undefined, options: { batchDims?: number }) => {
    const p = toTensor(params);
    const i = toIndices(indices, 'indices', 'GatherV2');
    const most = Math.min(p.rank, i.rank);
    let batchDims = options.batchDims ?? 0;
    if (batchDims < 0) batchDims += i.rank;
    if (!Number.isInteger(batchDims) || batchDims < 0 || batchDims > most) {
      throw new InvalidArgumentError(`batchDims ${options.batchDims} must be in 0 … ${most}`, 'GatherV2');
    }
    const a = normalizeAxis(axis ?? batchDims, p.rank, 'GatherV2');
    const shared = batchDims === 0 || sameShape(dims(p).slice(0, batchDims), dims(i).slice(0, batchDims));
    if (a < batchDims || !shared) {
      throw new InvalidArgumentError(
        `params ${showShape(p.shape)} and indices ${showShape(i.shape)} must share ${batchDims} leading axes before axis ${a}`,
        'GatherV2',
      );
    }
    checkRank(p.rank + i.rank - batchDims - 1, 'GatherV2');
    return move(gatherOp, [p, i], { axis: a, batchDims });
  },
);

/** What becomes of indices outside of their axes, as TensorFlow calls it: an error unless it is `'IGNORE'`. */
export type BadIndicesPolicy = '' | 'DEFAULT' | 'ERROR' | 'IGNORE';
const POLICIES: readonly unknown[] = ['', 'DEFAULT', 'ERROR', 'IGNORE'];
const ignores = (policy: unknown, op: string): boolean => {
  checkOneOf(policy ?? '', POLICIES, 'badIndicesPolicy', op);
  return policy === 'IGNORE';
};

/** The first axes as one, with one more row of zeros: the place of what is outside of them. */
function withSpareRow(x: Tensor, depth: number): Tensor {
  const [axes, rest] = [dims(x).slice(0, depth), dims(x).slice(depth)];
  const rows = reshape(x, toShape([sizeOfDims(axes), ...rest]));
  return concat([rows, blanks(toShape([1, ...rest]), x.dtype)], 0);
}

/** For each tuple its row in `withSpareRow`. */
function placesInRows(i: Tensor, axes: readonly Dim[]): Tensor {
  const size = (d: Dim): Tensor => toTensor(sizeValue(d, 'int64'), 'int64');
  let inside: Tensor | null = null;
  let place = zeros(toShape(dims(i).slice(0, -1)), 'int64');
  axes.forEach((d, axis) => {
    const at = gather(i, axis, i.rank - 1).cast('int64');
    const within = at.greaterEqual(0).logicalAnd(at.less(size(d)));
    inside = inside === null ? within : (inside as Tensor).logicalAnd(within);
    place = place.mul(size(d)).add(at);
  });
  return inside === null ? place : where(inside, place, size(sizeOfDims(axes)));
}

/** The slices of `params` at tuples of indices. */
const gatherNdOp: Op = defineOp({
  name: 'GatherNd',
  kernel: 'GatherNd',
  infer: ([params, indices]) => {
    const depth = indices.shape[indices.rank - 1];
    return { dtype: params.dtype, shape: [...dims(indices).slice(0, -1), ...dims(params).slice(depth)] };
  },
  grad: ({ inputs }, dy) => [scatterNd(inputs[1], dy, inputs[0].shape), null],
  samples: () => [
    { inputs: [uniform([3, 4]), values([2, 3, 0, 1, 2, 3], [3, 2], 'int32')] },
    { inputs: [uniform([3, 2, 2]), values([1, 1, 0], [3, 1], 'int64')] },
  ],
});

/**
 * The slices of `params` at index tuples, the last axis of `indices`: shape [...indices' but the last, ...rest of params'].
 * @param options.batchDims how many leading axes params and indices share (0 by default): tuples are for the axes behind these.
 * @param options.badIndicesPolicy `'IGNORE'` gives zeros for tuples outside of the axes; any other an error.
 * @throws OutOfRangeError for an index outside of its axis.
 */
export const gatherNd: NamedFunction<
  [params: TensorLike, indices: TensorLike],
  ['params', 'indices'],
  {
    /** How many leading axes both share; 0 by default. */
    batchDims?: IntegerLike;
    /** `'IGNORE'` gives zeros for tuples outside of the axes; any other an error, as by default. */
    badIndicesPolicy?: BadIndicesPolicy;
  }
> = defineFunction(
  'gatherNd',
  { params: kind.tensor, indices: kind.tensor },
  { batchDims: kind.integer, badIndicesPolicy: kind.asIs },
  (params, indices, options: { batchDims?: number; badIndicesPolicy?: BadIndicesPolicy }) => {
    const ignoring = ignores(options.badIndicesPolicy, 'GatherNd');
    const at = (x: Tensor, tuples: Tensor): Tensor => {
      if (!ignoring) return move(gatherNdOp, [x, tuples], {});
      const n = knownDim(dims(tuples)[tuples.rank - 1]);
      return gather(withSpareRow(x, n), placesInRows(tuples, dims(x).slice(0, n)), 0);
    };
    const p = toTensor(params);
    const i = toIndices(indices, 'indices', 'GatherNd');
    const batchDims = options.batchDims ?? 0;
    const most = Math.max(0, Math.min(p.rank, i.rank) - 1);
    if (!Number.isInteger(batchDims) || batchDims < 0 || batchDims > most)
      throw new InvalidArgumentError(`batchDims ${options.batchDims} must be in 0 … ${most}`, 'GatherNd');
    const depth = i.shape[i.rank - 1];
    const own = p.rank - batchDims;
    if (depth === undefined || depth > own) {
      throw new InvalidArgumentError(
        `the last axis of indices ${showShape(i.shape)} holds tuples for at most the ${own} axes of params ${showShape(p.shape)}`,
        'GatherNd',
      );
    }
    const batch = dims(i).slice(0, batchDims);
    if (!sameShape(dims(p).slice(0, batchDims), batch))
      throw new InvalidArgumentError(
        `params ${showShape(p.shape)} and indices ${showShape(i.shape)} must share ${batchDims} leading axes`,
        'GatherNd',
      );
    checkRank(i.rank - 1 + own - depth, 'GatherNd');
    if (batchDims === 0) return at(p, i);
    // The place of each tuple in the batch stands before it.
    const shape = [...dims(i).slice(0, -1), 1];
    const before = batch.map((n, axis) => {
      const along = shape.map((_, k) => (k === axis ? n : 1));
      return broadcastTo(reshape(iota(n).cast(i.dtype), toShape(along)), toShape(shape));
    });
    return at(p, concat([...before, i], -1));
  },
);

// ---- putting slices in

const scatterSamples = (overlap: boolean) => (): readonly Sample[] => [
  { inputs: [uniform([5]), values([3, 1, overlap ? 3 : 0], [3, 1], 'int32'), uniform([3])] },
  { inputs: [uniform([3, 2, 2]), values([2, 0, 0, 1], [2, 2], 'int64'), uniform([2, 2])] },
];

/* @__NO_SIDE_EFFECTS__ */
function scatterOp(
  name: string,
  mode: number,
  grad: NonNullable<OpSpec['grad']>,
  samples = scatterSamples(true),
): Op {
  return defineOp({
    name,
    kernel: 'ScatterNd',
    kernelAttrs: () => ({ mode }),
    infer: ([base]) => ({ dtype: base.dtype, shape: base.shape }),
    grad,
    samples,
  });
}

const extreme: NonNullable<OpSpec['grad']> = ({ inputs, y }, dy) => {
  const [base, indices, updates] = inputs;
  // Where several values are equal to the extreme, the gradient is shared among them.
  const kept = base.equal(y).cast(dy.dtype);
  const put = updates.equal(gatherNd(y, indices)).cast(dy.dtype);
  const each = dy.div(kept.add(scatterNd(indices, put, base.shape)));
  return [each.mul(kept), null, gatherNd(each, indices).mul(put)];
};

/** A copy of `base` with slices replaced. */
const scatterUpdateOp: Op = scatterOp(
  'TensorScatterUpdate',
  0,
  (g, dy) => {
    const [, indices, updates] = g.inputs;
    return [
      g.needs(0) ? tensorScatterNdUpdate(dy, indices, zeros(updates.shape, dy.dtype)) : null,
      null,
      g.needs(2) ? gatherNd(dy, indices) : null,
    ];
  },
  scatterSamples(false),
);
/** A copy of `base` with slices added. */
const scatterAddOp: Op = scatterOp('TensorScatterAdd', 1, (g, dy) => [
  dy,
  null,
  g.needs(2) ? gatherNd(dy, g.inputs[1]) : null,
]);
/** A copy of `base` with slices subtracted. */
const scatterSubOp: Op = scatterOp('TensorScatterSub', 2, (g, dy) => [
  dy,
  null,
  g.needs(2) ? gatherNd(dy, g.inputs[1]).neg() : null,
]);
const extremeSamples = (): readonly Sample[] => [
  { inputs: [uniform([5], 0, 1), values([3, 1, 3], [3, 1], 'int32'), values([0.2, 2, -1.5])] },
  { inputs: [uniform([5], 0, 1), values([3, 1, 3], [3, 1], 'int64'), values([-0.3, -2, 1.5])] },
];
/** A copy of `base` with the larger of both values. */
const scatterMaxOp: Op = scatterOp('TensorScatterMax', 3, extreme, extremeSamples);
/** A copy of `base` with the smaller of both values. */
const scatterMinOp: Op = scatterOp('TensorScatterMin', 4, extreme, extremeSamples);
/** Zeros, plus slices added at tuples of indices. */
const scatterNdOp: Op = defineOp({
  name: 'ScatterNd',
  compose: ([indices, updates], { shape }) =>
    execute1(scatterAddOp, [zeros(shape as Shape, updates.dtype), indices, updates]),
  grad: ({ inputs }, dy) => [null, gatherNd(dy, inputs[0])],
  samples: () => [
    { inputs: [values([3, 1, 3], [3, 1], 'int32'), uniform([3, 2])], attrs: { shape: [4, 2] } },
    { inputs: [values([0, 1, 1, 1], [2, 2], 'int64'), uniform([2])], attrs: { shape: [2, 3] } },
  ],
});

function scatter(
  op: Op,
  base: TensorLike,
  indices: TensorLike,
  updates: TensorLike,
  policy?: BadIndicesPolicy,
): Tensor {
  const [b, u] = pair(base, updates, op.name);
  const i = toIndices(indices, 'indices', op.name);
  checkDType(b.dtype, op === scatterUpdateOp ? 'any' : 'numeric', 'base', op.name);
  checkScatter(b.shape, i, u.shape, op.name);
  if (!ignores(policy, op.name)) return execute1(op, [b, i, u]);
  return ignoringBad(b, i, (rows, places) => execute1(op, [rows, places, u]));
}

/** What a function that puts slices into rows does with those whose tuples are inside. */
function ignoringBad(base: Tensor, i: Tensor, put: (rows: Tensor, places: Tensor) => Tensor): Tensor {
  const depth = knownDim(dims(i)[i.rank - 1]);
  const axes = dims(base).slice(0, depth);
  const all = put(withSpareRow(base, depth), expandDims(placesInRows(i, axes), -1));
  const sizes = [sizeOfDims(axes), ...dims(base).slice(depth)];
  return reshape(all.slice(toShape(sizes.map(() => 0)), toShape(sizes)), base.shape);
}

function checkScatter(base: Shape, indices: Tensor, updates: Shape, op: string): void {
  const depth = indices.shape[indices.rank - 1];
  if (depth === undefined || depth > base.length) {
    throw new InvalidArgumentError(
      `the last axis of indices ${showShape(indices.shape)} holds tuples for at most the ${base.length} axes of ${showShape(base)}`,
      op,
    );
  }
  const expected = [...dims(indices).slice(0, -1), ...dimsOf(base).slice(depth)];
  if (!mayBeSame(expected, updates)) {
    throw new InvalidArgumentError(
      `updates have shape ${showShape(updates)}, expected ${showShape(expected)}`,
      op,
    );
  }
}

type ScatterFunction<
  O = {
    /** `'IGNORE'` leaves out tuples outside of the axes; any other is an error, as by default. */
    badIndicesPolicy?: BadIndicesPolicy;
  },
> = NamedFunction<
  [base: TensorLike, indices: TensorLike, updates: TensorLike],
  ['base|tensor', 'indices', 'updates'],
  O
>;
const scatterKinds = { 'base|tensor': kind.tensor, indices: kind.tensor, updates: kind.tensor };
/* @__NO_SIDE_EFFECTS__ */
function defineScatter(name: string, op: Op): ScatterFunction {
  return defineFunction(
    name,
    scatterKinds,
    { badIndicesPolicy: kind.asIs },
    (base, indices, updates, options: { badIndicesPolicy?: BadIndicesPolicy }) =>
      scatter(op, base, indices, updates, options.badIndicesPolicy),
  );
}
/**
 * A copy of `base` with the slices at index tuples (the last axis of `indices`) replaced by `updates`, whose shape is
 * [...indices' but the last, ...rest of base's]. Where an index stands twice, the last one wins.
 * @throws OutOfRangeError for an index outside of its axis.
 */
export const tensorScatterNdUpdate: ScatterFunction<unknown> = defineFunction(
  'tensorScatterNdUpdate',
  scatterKinds,
  {},
  (base, indices, updates) => scatter(scatterUpdateOp, base, indices, updates),
);
/**
 * Like `tensorScatterNdUpdate`, but adds; what stands twice is added twice.
 * @param options.badIndicesPolicy `'IGNORE'` leaves out what is outside of the axes; any other is an error.
 */
export const tensorScatterNdAdd: ScatterFunction = defineScatter('tensorScatterNdAdd', scatterAddOp);
/** Like `tensorScatterNdUpdate`, but subtracts. */
export const tensorScatterNdSub: ScatterFunction = defineScatter('tensorScatterNdSub', scatterSubOp);
/** Like `tensorScatterNdUpdate`, but keeps the larger value. */
export const tensorScatterNdMax: ScatterFunction = defineScatter('tensorScatterNdMax', scatterMaxOp);
/** Like `tensorScatterNdUpdate`, but keeps the smaller value. */
export const tensorScatterNdMin: ScatterFunction = defineScatter('tensorScatterNdMin', scatterMinOp);

/**
 * Zeros of a shape, plus `updates` added at the index tuples `indices`. The arguments fit as in `tensorScatterNdUpdate`. Of bools:
 * whether any of the updates of a place is true.
 */
export const scatterNd: NamedFunction<
  [indices: TensorLike, updates: TensorLike, shape: ShapeLike],
  ['indices', 'updates', 'shape'],
  {
    /** `'IGNORE'` leaves out tuples outside of the axes; any other is an error, as by default. */
    badIndicesPolicy?: BadIndicesPolicy;
  }
> = defineFunction(
  'scatterNd',
  { indices: kind.tensor, updates: kind.tensor, shape: kind.shape },
  { badIndicesPolicy: kind.asIs },
  (indices, updates, shape: Shape, { badIndicesPolicy }: { badIndicesPolicy?: BadIndicesPolicy }) => {
    const i = toIndices(indices, 'indices', 'ScatterNd');
    const u = toTensor(updates);
    const to = ownShape(shape, 'ScatterNd');
    checkDType(u.dtype, 'any', 'updates', 'ScatterNd');
    checkScatter(to, i, u.shape, 'ScatterNd');
    if (ignores(badIndicesPolicy, 'ScatterNd')) {
      const add = (rows: Tensor, places: Tensor): Tensor => scatterNd(places, u, rows.shape);
      return ignoringBad(blanks(to, u.dtype), i, add);
    }
    // How many are true: a smaller dtype could wrap around to 0.
    if (u.dtype === 'bool') return execute1(scatterNdOp, [i, u.cast('int32')], { shape: to }).cast('bool');
    return execute1(scatterNdOp, [i, u], { shape: to });
  },
);

// ---- segments

/** Sums the slices that belong to one segment; no number is negative. */
export const segmentSumOp: Op = defineOp({
  name: 'UnsortedSegmentSum',
  kernel: 'GatherGrad',
  kernelAttrs: () => ({ axis: 0, batchDims: 0 }),
  infer: ([x, ids], { count }) => ({ dtype: x.dtype, shape: [count as Dim, ...dims(x).slice(ids.rank)] }),
  grad: ({ inputs }, dy) => [gather(dy, inputs[1]), null],
  samples: () => [
    { inputs: [uniform([5, 2]), values([1, 0, 1, 3, 0], [5], 'int32')], attrs: { count: 4 } },
    { inputs: [uniform([2, 2]), values([1, 0, 1, 1], [2, 2], 'int64')], attrs: { count: 2 } },
  ],
});

/**
 * Sums the slices of x whose id is the same: result[i] = Σ x[j] where segmentIds[j] = i, with `numSegments` rows.
 * The shape of `segmentIds` is that of x's leading axes. Rows without a slice are 0; slices with a negative id are left out.
 * @throws OutOfRangeError for an id of `numSegments` or more.
 */
export const unsortedSegmentSum: NamedFunction<
  [x: TensorLike, segmentIds: TensorLike, numSegments: IntegerLike],
  ['x|data', 'segmentIds', 'numSegments']
> = defineFunction(
  'unsortedSegmentSum',
  { 'x|data': kind.tensor, segmentIds: kind.tensor, numSegments: kind.size },
  {},
  (x, segmentIds, numSegments: number) => {
    const t = toTensor(x);
    const ids = toIndices(segmentIds, 'segmentIds', 'UnsortedSegmentSum');
    checkDType(t.dtype, 'numeric', 'x', 'UnsortedSegmentSum');
    checkShape([numSegments], 'UnsortedSegmentSum');
    if (!mayBeSame(ids.shape, dims(t).slice(0, ids.rank))) {
      throw new InvalidArgumentError(
        `segmentIds have shape ${showShape(ids.shape)}, but x ${showShape(t.shape)} must begin with these sizes`,
        'UnsortedSegmentSum',
      );
    }
    checkRank(1 + t.rank - ids.rank, 'UnsortedSegmentSum');
    const known = knownTensor(ids);
    if (known !== null && rangeOf(viewOf(known))[0] >= 0)
      return execute1(segmentSumOp, [t, ids], { count: numSegments });
    // Those of negative ids get a row of their own, the first, which goes.
    const shifted = ids.maximum(-1).add(1);
    const rows = execute1(segmentSumOp, [t, shifted], { count: addDims(numSegments, 1) });
    return rows.slice([1, ...new Array<number>(rows.rank - 1).fill(0)]);
  },
);

// ---- indices to values and back

/** Rows that are on at an index and off elsewhere. */
const oneHotOp: Op = defineOp({
  name: 'OneHot',
  kernel: 'OneHot',
  infer: ([indices], attrs) => {
    const shape = [...dims(indices)];
    shape.splice(attrs.axis as number, 0, attrs.depth as Dim);
    return { dtype: attrs.dtype as DType, shape };
  },
  notDifferentiable: 'the inputs are indices',
  samples: () => [
    {
      inputs: [values([0, 3, -1, 2], [4], 'int32')],
      attrs: { axis: 1, depth: 4, on: 1, off: 0, dtype: 'float32' },
    },
    {
      inputs: [integers([2, 3], 0, 6, 'int64')],
      attrs: { axis: 0, depth: 5, on: 7, off: -2, dtype: 'int32' },
    },
  ],
});

/**
 * A new axis of size `depth`, last unless `axis` says otherwise, that is `onValue` at the index and `offValue` elsewhere; an
 * index outside of 0 … depth - 1 gives a row of `offValue`. The dtype is `dtype`, or that of the values: float32 for numbers.
 * @param options.onValue a scalar, 1 by default; `offValue` 0. Nothing has a gradient.
 */
export const oneHot: NamedFunction<
  [indices: TensorLike, depth: IntegerLike],
  ['indices', 'depth'],
  {
    /** What stands in the place of the index; 1 by default. */
    onValue?: TensorLike;
    /** What stands in all other places; 0 by default. */
    offValue?: TensorLike;
    /** Where the new axis is; the last by default. */
    axis?: IntegerLike;
    /** Of the result; that of the values by default, else float32. */
    dtype?: DType;
  }
> = defineFunction(
  'oneHot',
  { indices: kind.tensor, depth: kind.size },
  { onValue: kind.tensor, offValue: kind.tensor, axis: kind.axis, dtype: kind.asIs },
  (
    indices,
    depth: number,
    options: { onValue?: TensorLike; offValue?: TensorLike; axis?: number; dtype?: DType },
  ) => {
    const i = toIndices(indices, 'indices', 'OneHot');
    checkShape([depth], 'OneHot');
    const axis = normalizeAxis(options.axis ?? -1, i.rank + 1, 'OneHot');
    checkRank(i.rank + 1, 'OneHot');
    const { onValue: on = 1, offValue: off = 0 } = options;
    const attrs = { axis, depth, on: 1, off: 0, dtype: 'float32' as DType };
    if (typeof on === 'number' && typeof off === 'number') {
      const dtype = options.dtype ?? 'float32';
      checkDType(dtype, 'any', 'dtype', 'OneHot');
      return execute1(oneHotOp, [i], { ...attrs, on, off, dtype });
    }
    const [ones, others] = onAndOff(on, off, options.dtype);
    // Strings are moved, but not chosen.
    if (ones.dtype === 'string')
      return gather(stack([others, ones]), execute1(oneHotOp, [i], { ...attrs, dtype: 'int32' }), 0);
    return where(execute1(oneHotOp, [i], { ...attrs, dtype: 'bool' }), ones, others);
  },
);

/** The values of `oneHot`, not both bare numbers: scalars of one dtype. */
function onAndOff(on: TensorLike, off: TensorLike, wanted: DType | undefined): Tensor[] {
  const dtype = wanted ?? toTensor(typeof on === 'number' ? off : on).dtype;
  checkDTypeName(dtype, 'OneHot');
  return Object.entries({ onValue: on, offValue: off }).map(([what, given]) => {
    // Bools have no numbers of their own, and 1 and 0 are what is left out.
    const value = toTensor(dtype === 'bool' && typeof given === 'number' ? given !== 0 : given, dtype);
    if (value.rank !== 0 || value.dtype !== dtype)
      throw new InvalidArgumentError(
        `${what} is ${value.dtype} ${showShape(value.shape)}, expected a scalar of ${dtype}`,
        'OneHot',
      );
    return stopGradient(value);
  });
}

/** Those that devices compare and count by themselves. */
const countedByDevices: ReadonlySet<DType> = new Set([
  'bool',
  'uint8',
  'int32',
  'float32',
  'float16',
  'bfloat16',
]);

// From here on kernels count faster than a loop.
const MANY = 1024;

/** How many elements are not 0. A device counts them, so that the count alone is read. */
function countOn(x: Tensor): number {
  if (x.storage.allocator.isHost ? x.size > MANY : countedByDevices.has(x.dtype) && x.size > 1)
    return withoutTapes(() =>
      inScope(() => Number(opHooks.sumTo(opHooks.cast(notEqual(x, 0), 'int32'), []).item())),
    );
  const view = hostValues(x);
  let n = 0;
  for (let i = 0; i < view.length; i++) if (Number(view[i]) !== 0) n++;
  return n;
}

/** The coordinates of the elements that are not 0. */
const nonzeroOp: Op = defineOp({
  name: 'Where',
  kernel: 'Nonzero',
  infer: ([x]) => {
    // How many there are is only in the values.
    return { dtype: 'int64', shape: [countOn(x), x.rank] };
  },
  valueSized: ([x], _, size) => [{ dtype: 'int64', shape: [size(), x.rank] }],
  notDifferentiable: 'the result is indices',
  samples: () => [
    { inputs: [values([1, 0, 1, 1, 0, 1], [2, 3], 'bool')] },
    { inputs: [values([0, 0, 2.5, -1])] },
    { inputs: [values([0, 0], [2], 'int32')] },
  ],
});

/** The coordinates of the elements that are true or not 0: int64 [n, rank], in row-major order. TensorFlow's `tf.where(x)`. */
export const nonzero: NamedFunction<[x: TensorLike], ['x'], unknown, Tensor<'int64'>> = defineFunction(
  'nonzero',
  { x: kind.tensor },
  {},
  (x) => {
    const t = toTensor(x);
    checkDType(t.dtype, 'any', 'x', 'Where');
    return execute1(nonzeroOp, [isComplex(t.dtype) ? t.notEqual(0) : t]);
  },
);

/**
 * The slices of x where the mask is true. The mask's shape is that of the axes of x from `axis` on, which become one.
 * `scores.booleanMask(scores.greater(0.5))`
 */
export const booleanMask: NamedFunction<
  [x: TensorLike, mask: TensorLike, axis?: IntegerLike],
  ['x|tensor', 'mask', 'axis']
> = defineFunction(
  'booleanMask',
  { 'x|tensor': kind.tensor, mask: kind.tensor, axis: kind.axis },
  {},
  (x, mask, axis: number = 0) => {
    const t = toTensor(x);
    const m = toTensor(mask);
    checkDType(m.dtype, 'bool', 'mask', 'booleanMask');
    if (m.rank === 0)
      throw new InvalidArgumentError('the mask is a scalar; it must have at least one axis', 'booleanMask');
    const a = normalizeAxis(axis, t.rank, 'booleanMask');
    if (!mayBeSame(dims(t).slice(a, a + m.rank), m.shape)) {
      throw new InvalidArgumentError(
        `the mask ${showShape(m.shape)} does not match x ${showShape(t.shape)} from axis ${a} on`,
        'booleanMask',
      );
    }
    const own = dims(t);
    const merged = reshape(t, toShape([...own.slice(0, a), sizeOfDims(dims(m)), ...own.slice(a + m.rank)]));
    return gather(merged, reshape(nonzero(flatten(m)), [-1]), a);
  },
);

/**
 * bool [...lengths' shape, maxlen]: true in the first `lengths[i]` places.
 * @param maxlen the largest of the lengths unless given.
 */
export const sequenceMask: NamedFunction<
  [lengths: TensorLike, maxlen?: IntegerLike | null],
  ['lengths', 'maxlen'],
  {
    /** Of the result; bool by default. */
    dtype?: DType;
  }
> = defineFunction(
  'sequenceMask',
  { lengths: kind.tensor, maxlen: kind.optional(kind.size) },
  { dtype: kind.asIs },
  (lengths, maxlen: number | null | undefined = undefined, options) => {
    const n = toIndices(lengths, 'lengths', 'sequenceMask');
    let most: Dim = 0;
    if (maxlen !== undefined && maxlen !== null) most = dimsOf(checkShape([maxlen], 'sequenceMask'))[0];
    else {
      const known = knownTensor(n);
      if (known === null)
        most = hostDims(n.max().maximum(0), 'the largest of the lengths', 'sequenceMask')[0];
      else for (const v of viewOf(known)) most = Math.max(most, Number(v));
    }
    checkRank(n.rank + 1, 'sequenceMask');
    const mask = range(sizeValue(most, 'int32'), { dtype: n.dtype as 'int32' }).less(expandDims(n, -1));
    return options.dtype === undefined || options.dtype === 'bool' ? mask : mask.cast(options.dtype);
  },
);

/**
 * Each element `repeats` times in a row along an axis; without an axis the tensor is flattened first. A list gives each
 * element's own number: `tf.repeat(x, [1, 3], 0)`.
 */
export const repeat: NamedFunction<
  [x: TensorLike, repeats: IntegerLike | IntegersLike, axis?: IntegerLike | null],
  ['x|input', 'repeats', 'axis']
> = defineFunction(
  'repeat',
  { 'x|input': kind.tensor, repeats: kind.repeats, axis: kind.optional(kind.axis) },
  {},
  (
    x,
    repeats: number | Tensor | readonly (number | Tensor)[],
    axis: number | null | undefined = undefined,
  ) => {
    let t = toTensor(x);
    if (axis === undefined || axis === null) t = flatten(t);
    const a = normalizeAxis(axis ?? 0, t.rank, 'repeat');
    if (isExpression(repeats) && atMost(0, repeats)) return repeated(t, repeats, a);
    const given = isExpression(repeats) ? knownDim(repeats) : repeats;
    if (given instanceof Tensor) return repeatedInRun(t, given, a);
    const list = listOf<number | Tensor>(given, 'repeats', 'repeat');
    if (list.some((c) => c instanceof Tensor))
      return repeatedInRun(t, stack(list.map((c) => toTensor(c, 'int32').cast('int32'))), a);
    const counts = list as readonly number[];
    // A single number is for all.
    const n = counts.length === 1 ? 1 : dims(t)[a];
    if (!counts.every((c) => Number.isSafeInteger(c) && c >= 0) || differs(counts.length, n)) {
      throw new InvalidArgumentError(
        `repeats must be one integer of at least 0, or ${n} of them, got [${counts}]`,
        'repeat',
      );
    }
    if (counts.length === 1) return repeated(t, counts[0], a);
    const total = counts.reduce((sum, c) => sum + c, 0);
    const indices = emptyTensor('int32', [total], total);
    const view = spaceOf(indices) as Int32Array;
    let at = 0;
    counts.forEach((c, i) => {
      view.fill(i, at, (at += c));
    });
    return disposeAll(t.gather(uploaded(indices, view), a), indices);
  },
);

/** Each element of an axis as often as only a run knows. */
function repeatedInRun(t: Tensor, counts: Tensor, axis: number): Tensor {
  const [count] = dims(counts);
  // As many as elements, which may turn out to be one.
  const forEach = typeof count !== 'number' && identicalDims(count, dims(t)[axis]);
  if (!forEach && !differs(count, 1)) return repeated(t, hostDims(counts, 'repeats', 'repeat')[0], axis);
  const n = dims(t)[axis];
  if (differs(count, n))
    throw new InvalidArgumentError(
      `repeats must be one integer of at least 0, or ${n} of them, got ${count}`,
      'repeat',
    );
  // The rows of the places that are true.
  const places = nonzero(sequenceMask(counts));
  return t.gather(places.slice([0, 0], [-1, 1]).reshape([-1]), axis);
}

/** Each element of an axis so many times. */
function repeated(t: Tensor, count: Dim, axis: number): Tensor {
  const multiples = new Array<Dim>(t.rank + 1).fill(1);
  multiples[axis + 1] = count;
  const shape = dims(t).map((d, i) => (i === axis ? mulDims(d, count) : d));
  return reshape(tile(expandDims(t, axis + 1), toShape(multiples)), toShape(shape));
}

/** The permutation that undoes x (rank 1): result[x[i]] = i. @throws InvalidArgumentError unless x names 0 … n-1 once each. */
export const invertPermutation: NamedFunction<[x: TensorLike], ['x']> = defineFunction(
  'invertPermutation',
  { x: kind.tensor },
  {},
  (x) => {
    const p = toIndices(x, 'x', 'InvertPermutation');
    if (p.rank !== 1)
      throw new InvalidArgumentError(
        `x has shape ${showShape(p.shape)}, expected rank 1`,
        'InvertPermutation',
      );
    const run = (x: Tensor): Tensor => execute1(invertPermutationOp, [x]);
    if (context.tracer === null) return run(p);
    const known = knownTensor(p);
    if (known !== null) return inInitScope(() => run(known));
    // Only a run knows whether it is a permutation; the size is that of x.
    return atRunTime('InvertPermutation', run, [p], [{ dtype: p.dtype, shape: p.shape }])[0];
  },
);
/** The permutation that undoes one. */
const invertPermutationOp: Op = defineOp({
  name: 'InvertPermutation',
  run: ([p]) => {
    const out = emptyTensor(p.dtype, p.shape, p.size);
    const to = spaceOf(out);
    const seen = new Uint8Array(p.size);
    const from = viewOf(p);
    for (let i = 0; i < p.size; i++) {
      const at = Number(from[i]);
      if (at < 0 || at >= p.size || seen[at] === 1) {
        throw new InvalidArgumentError(
          `${at} at place ${i} is repeated or not in 0 … ${p.size - 1}: x is not a permutation`,
        );
      }
      seen[at] = 1;
      to[at] = (p.dtype === 'int64' ? BigInt(i) : i) as never;
    }
    return uploaded(out, to);
  },
  notDifferentiable: 'the inputs are indices',
  samples: () => [{ inputs: [values([2, 0, 3, 1], [4], 'int32')] }],
});
