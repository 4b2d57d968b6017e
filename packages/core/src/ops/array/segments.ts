// Rows that are reduced by segments: those with the same number become one.

import {
  type Backend,
  dtypeTraits,
  InvalidArgumentError,
  isBig,
  isComplex,
  isHalf,
  OutOfRangeError,
  processorOf,
  type TypedArray,
} from '@eagre/backend';
import type { IntegerLike } from '../../arguments/argument-kinds.ts';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { checkValues } from '../../dispatch/checked-values.ts';
import { context, currentBackend, eagerBackend } from '../../dispatch/context.ts';
import {
  defineOp,
  execute1,
  type GradContext,
  type GradFn,
  kernelFor,
  type Op,
  opHooks,
} from '../../dispatch/op.ts';
import { type Sample, values } from '../../dispatch/samples.ts';
import { symbolic } from '../../dispatch/symbolic.ts';
import { addDims, type Dim } from '../../shapes/dim.ts';
import { dims, sizeOfDims, toShape } from '../../shapes/dims.ts';
import { checkShape, showShape } from '../../shapes/shape.ts';
import { atMost, lessThan } from '../../shapes/shape-env.ts';
import { differs, hostDims, mayBeSame } from '../../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType, hasGradient, isFloating } from '../../tensor/dtypes.ts';
import { numbersOf, rises } from '../../tensor/integer-scan.ts';
import { emptyTensor, hostValues, spaceOf, type Tensor, uploaded, viewOf } from '../../tensor/tensor.ts';
import { where } from '../elementwise/select.ts';
import { shifted } from '../reduce/doubling.ts';
import { fill, ones, onesLike } from './creation.ts';
import {
  gather,
  segmentSumOp,
  tensorScatterNdMax,
  tensorScatterNdMin,
  tensorScatterNdUpdate,
} from './gather.ts';
import { toIndices } from './moving.ts';
import { argSort } from './order.ts';
import { isRising } from './rising.ts';
import { expandDims, reshape } from './shaping.ts';

/** Reduces the rows of x by their numbers: a vector with one for each row, of which none is negative. */
type Reduce = (x: Tensor, ids: Tensor, count: Dim) => Tensor;

/** The sizes of x with another number of rows. */
const rowsOf = (x: Tensor, count: Dim): number[] =>
  toShape([count, ...dims(x).slice(1)]) as unknown as number[];
/** One number for each row, of the rank of x. */
const alongRows = (perRow: Tensor, x: Tensor): Tensor =>
  reshape(perRow, [-1, ...new Array<number>(x.rank - 1).fill(1)]);

const sums: Reduce = (x, ids, count) => execute1(segmentSumOp, [x, ids], { count });

/** How many rows each segment has, as numbers of the dtype of x. */
const sizesOf = (x: Tensor, ids: Tensor, count: Dim): Tensor =>
  sums(onesLike(ids, 'int32'), ids, count).cast(x.dtype);

const means: Reduce = (x, ids, count) => {
  const sizes = alongRows(sizesOf(x, ids, count).maximum(1), x);
  const total = sums(x, ids, count);
  if (hasGradient(x.dtype)) return total.div(sizes);
  // Toward 0.
  return total.abs().floorDiv(sizes).mul(total.sign());
};
const rootMeans: Reduce = (x, ids, count) =>
  sums(x, ids, count).div(alongRows(sizesOf(x, ids, count).maximum(1).sqrt(), x));

/** The lowest or highest finite number of a dtype. */
function limit(x: Tensor, which: 'low' | 'high'): Tensor {
  const { dtype } = x;
  if (isFloating(dtype)) {
    const most = { float16: 65504, bfloat16: 3.3895313892515355e38, float64: Number.MAX_VALUE }[
      dtype as string
    ];
    return toTensor((which === 'low' ? -1 : 1) * (most ?? 3.4028234663852886e38), dtype);
  }
  if (dtype === 'int64' || dtype === 'uint64') {
    const high = dtype === 'int64' ? 2n ** 63n - 1n : 2n ** 64n - 1n;
    return toTensor(which === 'high' ? high : dtype === 'int64' ? -(2n ** 63n) : 0n, dtype);
  }
  return toTensor(dtypeTraits[dtype][which], dtype);
}

const extremes =
  (which: 'low' | 'high', scatter: typeof tensorScatterNdMax): Reduce =>
  (x, ids, count) =>
    scatter(fill(rowsOf(x, count), limit(x, which)), expandDims(ids, 1), x);
const maxima = extremes('low', tensorScatterNdMax);
const minima = extremes('high', tensorScatterNdMin);

/** The gradient of an op of rows and their segments is that of the ops that compute the same. */
/* @__NO_SIDE_EFFECTS__ */
const gradBy =
  (composed: Reduce) =>
  (g: GradContext, dy: Tensor): [Tensor, null] => [
    opHooks.vjp(([x]) => [composed(x as Tensor, g.b, g.attrs['count'] as number)], [g.a], [dy])[0] as Tensor,
    null,
  ];
const fourRows = (ids: readonly number[], count: number): Sample[] => [
  {
    inputs: [values([1, 2, -3, 0.25, 5, 0.5, 0.75, 2], [4, 2]), values(ids, [4], 'int32')],
    attrs: { count },
  },
];

/** The extremes of segments, and 0 of those without a row. */
const orZeros =
  (reduce: Reduce): Reduce =>
  (x, ids, count) =>
    where(alongRows(sizesOf(x, ids, count).greater(0), x), reduce(x, ids, count), toTensor(0, x.dtype));

/**
 * Products by doubling: of the sorted rows each gets the product of all in its segment up to itself, in about log2(n) steps. The last
 * one of each segment is its result. No division, so that the gradient is right where factors are 0.
 */
const productsByDoubling: Reduce = (x, ids, count) => {
  const n = dims(x)[0];
  const base = ones(rowsOf(x, addDims(count, 1)), x.dtype);
  if (atMost(n, 0)) return base.slice(new Array<number>(x.rank).fill(0), rowsOf(x, count));
  const order = argSort(ids);
  const sorted = gather(ids, order);
  let product = gather(x, order);
  for (let by = 1; lessThan(by, n); by *= 2) {
    // Moved toward the end: as `shifted`, from the other side.
    const earlier = (t: Tensor, filler: number): Tensor => shifted(t.reverse(0), 0, by, filler).reverse(0);
    const same = alongRows(earlier(sorted, -1).equal(sorted), x);
    product = product.mul(where(same, earlier(product, 1), onesLike(product)));
  }
  const last = shifted(sorted, 0, 1, -1).notEqual(sorted);
  // All others go to a row before, which is left out.
  const places = where(last, sorted.add(1), 0);
  const found = tensorScatterNdUpdate(base, expandDims(places, 1), product);
  return found.slice([1, ...new Array<number>(x.rank - 1).fill(0)], rowsOf(x, count));
};

/** The same of rows that lie in memory of the host, one by one. */
const segmentProdOp: Op = /* @__PURE__ */ defineOp({
  name: 'SegmentProdOfRows',
  compose: ([x, ids], { count }) => {
    // Also where a function is traced, since others know those ops.
    if (isHalf(x.dtype) || !currentBackend().allocator.isHost)
      return productsByDoubling(x, ids, count as number);
    const y = emptyTensor(x.dtype, rowsOf(x, count as number));
    const width = y.size / Math.max(1, count as number);
    const [from, to, places] = [hostValues(x), spaceOf(y), wordsOf(hostValues(ids) as TypedArray)];
    // By their places: an iterator takes several times as long.
    for (let r = 0; r < places.length; r++)
      if (places[r] < 0 || places[r] >= (count as number))
        throw new OutOfRangeError(`the segment ${places[r]} is not in [0, ${count})`, 'SegmentProd');
    if (to instanceof Float32Array) multiplyFloats(from as Float32Array, to, places, width);
    else multiplyAny(from as Float64Array, to as Float64Array, places, width, isBig(x.dtype));
    return uploaded(y, to);
  },
  grad: gradBy(productsByDoubling),
  samples: () => fourRows([0, 2, 0, 2], 3),
});
/** Places as integers of 32 bits: what is beyond these is beyond all segments, too. */
const wordsOf = (ids: TypedArray): Int32Array =>
  ids instanceof Int32Array
    ? ids
    : Int32Array.from(numbersOf(ids), (id) => (id < 0 ? -1 : Math.min(id, MOST)));
const MOST = 2 ** 31 - 1;
/** Apart from others, as V8 compiles it for one kind of array. */
function multiplyFloats(from: Float32Array, to: Float32Array, places: Int32Array, width: number): void {
  to.fill(1);
  for (let r = 0, i = 0; r < places.length; r++)
    for (let k = places[r] * width, end = k + width; k < end; k++, i++) to[k] *= from[i];
}
function multiplyAny(
  from: Float64Array,
  to: Float64Array,
  places: Int32Array,
  width: number,
  big: boolean,
): void {
  to.fill((big ? 1n : 1) as number);
  const product = to instanceof Int32Array ? Math.imul : (a: number, b: number): number => a * b;
  for (let r = 0, i = 0; r < places.length; r++)
    for (let k = places[r] * width, end = k + width; k < end; k++, i++) to[k] = product(to[k], from[i]);
}

const products: Reduce = (x, ids, count) =>
  // Devices multiply by themselves; files and graphs have ops that others know.
  context.tracer !== null ||
  typeof count !== 'number' ||
  isHalf(x.dtype) ||
  isComplex(x.dtype) ||
  !eagerBackend().allocator.isHost
    ? productsByDoubling(x, ids, count)
    : execute1(segmentProdOp, [x, ids], { count });

// ---- of numbers in any order

/** Functions of TensorFlow's signature: data, the number of the segment of each row, and how many segments there are. */
export type UnsortedSegments = NamedFunction<
  [data: TensorLike, segmentIds: TensorLike, numSegments: IntegerLike],
  ['data', 'segmentIds', 'numSegments']
>;

const unsorted = (
  name: string,
  op: string,
  reduce: Reduce,
  group: 'numeric' | 'floating' = 'numeric',
): UnsortedSegments =>
  defineFunction(
    `math.${name}`,
    { data: kind.tensor, segmentIds: kind.tensor, numSegments: kind.size },
    {},
    (data, segmentIds, numSegments: number) => {
      const given = toTensor(data);
      const ids = toIndices(segmentIds, 'segmentIds', op);
      checkDType(given.dtype, group, 'data', op);
      checkShape([numSegments], op);
      if (!mayBeSame(ids.shape, dims(given).slice(0, ids.rank)))
        throw new InvalidArgumentError(
          `segmentIds have shape ${showShape(ids.shape)}, but data ${showShape(given.shape)} must begin with these sizes`,
          op,
        );
      const rest = dims(given).slice(ids.rank);
      const x = reshape(given, toShape([sizeOfDims(ids.shape), ...rest]));
      // Rows of negative numbers get a segment of their own, the first, which goes.
      const shifted = reshape(ids, [-1]).maximum(-1).add(1);
      const all = reduce(x, shifted, addDims(numSegments, 1));
      return all.slice([1, ...rest.map(() => 0)]);
    },
  );

/**
 * The means of the rows with the same number: `numSegments` rows, 0 where a number does not occur. Rows with negative numbers are left
 * out. The shape of `segmentIds` is that of the leading axes of `data`.
 * @throws OutOfRangeError for a number of `numSegments` or more.
 */
export const unsortedSegmentMean: UnsortedSegments = /* @__PURE__ */ unsorted(
  'unsortedSegmentMean',
  'UnsortedSegmentMean',
  // That of integers is a float here, other than in segmentMean: as in TensorFlow.
  (x, ids, count) => means(hasGradient(x.dtype) ? x : x.cast('float64'), ids, count),
);
/** The sums of the rows with the same number, each divided by the root of how many there are; see `unsortedSegmentMean`. */
export const unsortedSegmentSqrtN: UnsortedSegments = /* @__PURE__ */ unsorted(
  'unsortedSegmentSqrtN',
  'UnsortedSegmentSqrtN',
  rootMeans,
  'floating',
);
/** The products of the rows with the same number, 1 where it does not occur; see `unsortedSegmentMean`. */
export const unsortedSegmentProd: UnsortedSegments = /* @__PURE__ */ unsorted(
  'unsortedSegmentProd',
  'UnsortedSegmentProd',
  products,
);
/** The largest of the rows with the same number, the lowest number of the dtype where it does not occur; see `unsortedSegmentMean`. */
export const unsortedSegmentMax: UnsortedSegments = /* @__PURE__ */ unsorted(
  'unsortedSegmentMax',
  'UnsortedSegmentMax',
  maxima,
);
/** The smallest of the rows with the same number, the highest number of the dtype where it does not occur; see `unsortedSegmentMean`. */
export const unsortedSegmentMin: UnsortedSegments = /* @__PURE__ */ unsorted(
  'unsortedSegmentMin',
  'UnsortedSegmentMin',
  minima,
);

// ---- of numbers that rise

/** Functions of data and the number of the segment of each row; the numbers rise from row to row, or stay. */
export type Segments = NamedFunction<[data: TensorLike, segmentIds: TensorLike], ['data', 'segmentIds']>;

/** An op of a kernel of the processor, whose values are those of `composed`; the place of its reduction is what the kernel takes. */
interface Rising {
  readonly op: Op;
  readonly composed: Reduce;
}
/* @__NO_SIDE_EFFECTS__ */
function risingOp(
  name: string,
  reduction: number,
  composed: Reduce,
  grad: GradFn = gradBy(composed),
): Rising {
  const op = defineOp({
    name,
    compose: ([x, ids], { count }) => {
      const backend = currentBackend();
      // Where a function is traced, too: files and graphs have ops that others know, and devices compute these by themselves.
      if (!reducesBy(backend)) return composed(x, ids, count as number);
      const y = emptyTensor(x.dtype, rowsOf(x, count as number));
      const inputs = [x, ids];
      kernelFor(backend, 'SegmentReduce', inputs)(inputs, [y], { reduction });
      return y;
    },
    grad,
    samples: () => fourRows([0, 0, 2, 2], 3),
  });
  return { op, composed };
}
/** Whether a backend has the kernel itself. */
const reducesBy = (backend: Backend): boolean => backend !== symbolic && processorOf(backend) === backend;

/** The last of integers. */
const lastOf = (ids: Tensor): number =>
  numbersOf(viewOf(ids.storage.allocator.isHost ? ids : ids.at(-1)).subarray(-1))[0];

function checkRising(ids: Tensor, op: string): void {
  checkValues(
    op,
    [ids],
    (now) => {
      const all = viewOf(now);
      if (rises(all) && (all.length === 0 || all[0] >= 0)) return;
      for (let i = 0; i < all.length; i++) {
        if (all[i] < 0 || (i > 0 && all[i] < all[i - 1]))
          throw new InvalidArgumentError(
            `segmentIds must be at least 0 and rise, but number ${i} is ${all[i]}${i > 0 ? ` after ${all[i - 1]}` : ''}`,
            op,
          );
      }
    },
    isRising,
  );
}

const rising = (name: string, { op, composed }: Rising): Segments =>
  defineFunction(`math.${name}`, { data: kind.tensor, segmentIds: kind.tensor }, {}, (data, segmentIds) => {
    const x = toTensor(data);
    const ids = toIndices(segmentIds, 'segmentIds', op.name);
    checkDType(x.dtype, 'numeric', 'data', op.name);
    if (ids.rank !== 1 || x.rank === 0 || differs(dims(ids)[0], dims(x)[0]))
      throw new InvalidArgumentError(
        `segmentIds have shape ${showShape(ids.shape)}, expected one number for each row of data ${showShape(x.shape)}`,
        op.name,
      );
    if (context.tracer === null && reducesBy(currentBackend()) && !isComplex(x.dtype)) {
      // The kernel looks at the numbers; the last one says how many segments there are.
      const count = ids.size === 0 ? 0 : lastOf(ids) + 1;
      if (count > 0 || ids.size === 0) return execute1(op, [x, ids], { count });
    }
    checkRising(ids, op.name);
    // None at all makes none.
    const count = atMost(dims(ids)[0], 0) ? 0 : hostDims(ids.at(-1).add(1), 'segmentIds', op.name)[0];
    return composed(x, ids, count);
  });

/**
 * The sums of the rows with the same number, from 0 to the last one; 0 where it does not occur. The numbers rise from row to row.
 * @throws InvalidArgumentError where they fall
 */
export const segmentSum: Segments = /* @__PURE__ */ rising(
  'segmentSum',
  /* @__PURE__ */ risingOp('SegmentSum', 0, sums, ({ b }, dy) => [gather(dy, b), null]),
);
/** The means of the rows with the same number, 0 where it does not occur; see `segmentSum`. */
export const segmentMean: Segments = /* @__PURE__ */ rising(
  'segmentMean',
  /* @__PURE__ */ risingOp('SegmentMean', 1, means, ({ a, b, attrs }, dy) => [
    gather(dy.div(alongRows(sizesOf(a, b, attrs['count'] as number).maximum(1), a)), b),
    null,
  ]),
);
/** The products of the rows with the same number, 1 where it does not occur; see `segmentSum`. */
export const segmentProd: Segments = /* @__PURE__ */ rising(
  'segmentProd',
  /* @__PURE__ */ risingOp('SegmentProd', 2, productsByDoubling),
);
/** The largest of the rows with the same number, 0 where it does not occur; see `segmentSum`. */
export const segmentMax: Segments = /* @__PURE__ */ rising(
  'segmentMax',
  /* @__PURE__ */ risingOp('SegmentMax', 3, /* @__PURE__ */ orZeros(maxima)),
);
/** The smallest of the rows with the same number, 0 where it does not occur; see `segmentSum`. */
export const segmentMin: Segments = /* @__PURE__ */ rising(
  'segmentMin',
  /* @__PURE__ */ risingOp('SegmentMin', 4, /* @__PURE__ */ orZeros(minima)),
);
