// How often numbers occur: counts, histograms, confusion matrices.

import { type DType, InvalidArgumentError } from '@eagre/backend';
import type { IntegerLike } from '../../arguments/argument-kinds.ts';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { checkOneOf } from '../../arguments/checks.ts';
import { checkValues } from '../../dispatch/checked-values.ts';
import { context, eagerBackend } from '../../dispatch/context.ts';
import { type Dim, isExpression, maxDims, minDims, mulDims } from '../../shapes/dim.ts';
import { dims, toShape } from '../../shapes/dims.ts';
import { checkFlag, checkShape, sameShape, showShape } from '../../shapes/shape.ts';
import { atMost } from '../../shapes/shape-env.ts';
import { checkSize, differs, hostDims, sizeValue } from '../../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType, isInteger } from '../../tensor/dtypes.ts';
import { rangeOf } from '../../tensor/integer-scan.ts';
import { emptyTensor, hostValues, spaceOf, type Tensor, uploaded, viewOf } from '../../tensor/tensor.ts';
import { onesLike } from '../array/creation.ts';
import { scatterNd, unsortedSegmentSum } from '../array/gather.ts';
import { iota } from '../array/iota.ts';
import { stack } from '../array/join.ts';
import { expandDims, flatten, reshape } from '../array/shaping.ts';
import { where } from '../elementwise/select.ts';

/** @throws InvalidArgumentError where numbers of a tensor are negative: now, or in a run */
function checkNotNegative(x: Tensor, what: string, op: string): void {
  checkValues(
    op,
    [x],
    (now) => {
      const values = viewOf(now);
      if (rangeOf(values)[0] >= 0) return;
      for (let i = 0; i < values.length; i++)
        if (values[i] < 0)
          throw new InvalidArgumentError(`${what} must be at least 0, but number ${i} is ${values[i]}`, op);
    },
    (now) => now.greaterEqual(0).all(),
  );
}

// ---- counts

/** Options of `bincount`. */
export interface BincountOptions {
  /** What each number counts, of the shape of `arr`; 1 unless given. The result is of its dtype. */
  readonly weights?: TensorLike | null;
  /** How long the result is at least. */
  readonly minlength?: IntegerLike | null;
  /** How long it is at most: numbers from there on are not counted. */
  readonly maxlength?: IntegerLike | null;
  /** Of the counts where there are no weights; int32 by default. */
  readonly dtype?: DType;
  /** null counts all numbers together, 0 too; −1 those of each row of a matrix. */
  readonly axis?: 0 | -1 | null;
  /** 1 for each number that occurs, instead of how often it does; false by default. */
  readonly binaryOutput?: boolean;
}

/** How often each of the numbers 0, 1, … occurs among integers of at least 0. Up to the largest of them, unless lengths say otherwise. */
export const bincount: NamedFunction<[arr: TensorLike], ['arr'], BincountOptions> =
  /* @__PURE__ */ defineFunction(
    'math.bincount',
    { arr: kind.tensor },
    {
      weights: kind.tensor,
      minlength: kind.size,
      maxlength: kind.size,
      dtype: kind.asIs,
      axis: kind.asIs,
      binaryOutput: kind.asIs,
    },
    (arr, options) => {
      const op = 'Bincount';
      const given = toTensor(arr, 'int32');
      checkDType(given.dtype, 'integer', 'arr', op);
      const x = given.dtype === 'int64' ? given : given.cast('int32');
      const axis = options.axis ?? null;
      checkOneOf(axis, [null, 0, -1], 'axis', op);
      if (axis === -1 && x.rank !== 1 && x.rank !== 2)
        throw new InvalidArgumentError(`arr has shape ${showShape(x.shape)}, expected rank 1 or 2`, op);
      const binary = checkFlag(options.binaryOutput, 'binaryOutput', op);
      const weights =
        options.weights === undefined || options.weights === null ? null : toTensor(options.weights);
      if (weights !== null) {
        checkDType(weights.dtype, 'numeric', 'weights', op);
        if (binary) throw new InvalidArgumentError('weights and binaryOutput exclude each other', op);
        if (!sameShape(weights.shape, x.shape))
          throw new InvalidArgumentError(
            `weights have shape ${showShape(weights.shape)}, expected that of arr, ${showShape(x.shape)}`,
            op,
          );
      }
      const dtype = options.dtype ?? 'int32';
      checkDType(dtype, 'numeric', 'dtype', op);
      checkNotNegative(x, 'arr', op);
      const size = lengthOf(x, options, op);
      // Numbers beyond the end go to a negative segment, which is left out.
      const bins = where(x.less(sizeValue(size, x.dtype)), x, toTensor(-1, x.dtype));
      const counted = (ids: Tensor, w: Tensor | null, n: Dim): Tensor => {
        if (w !== null) return unsortedSegmentSum(w, ids, n as number);
        const counts = unsortedSegmentSum(onesLike(ids, dtype), ids, n as number);
        return binary ? counts.minimum(1) : counts;
      };
      if (axis !== -1 || x.rank === 1)
        return counted(flatten(bins), weights === null ? null : flatten(weights), size);
      const rows = dims(x)[0];
      // Each row has bins of its own.
      const first = expandDims(iota(rows).cast(x.dtype).mul(sizeValue(size, x.dtype)), 1);
      const own = where(bins.less(0), bins, bins.add(first));
      const all = counted(flatten(own), weights === null ? null : flatten(weights), mulDims(rows, size));
      return reshape(all, toShape([rows, size]));
    },
  );

function lengthOf(x: Tensor, options: BincountOptions, op: string): Dim {
  const limit = (value: unknown, what: string): Dim | null => {
    return value === undefined || value === null ? null : checkSize(value, what, op);
  };
  const [least, most] = [limit(options.minlength, 'minlength'), limit(options.maxlength, 'maxlength')];
  if (least !== null && most !== null && least === most) return least;
  const n = dims(flatten(x))[0];
  let size = atMost(n, 0) ? 0 : hostDims(x.max().add(1), 'the largest of arr', op)[0];
  if (least !== null) size = maxDims(size, least);
  return most === null ? size : minDims(size, most);
}

/** Options of `confusionMatrix`. */
export interface ConfusionMatrixOptions {
  /** How many classes there are; one more than the largest label or prediction unless given. */
  readonly numClasses?: IntegerLike | null;
  /** What each prediction counts; 1 unless given. */
  readonly weights?: TensorLike | null;
  /** Of the result; int32 by default. */
  readonly dtype?: DType;
}

/**
 * How often each class was taken for each: in row i and column j the number of places where the label is i and the prediction j.
 * @param labels integers of at least 0 [n]
 * @param predictions as many
 */
export const confusionMatrix: NamedFunction<
  [labels: TensorLike, predictions: TensorLike],
  ['labels', 'predictions'],
  ConfusionMatrixOptions
> = /* @__PURE__ */ defineFunction(
  'math.confusionMatrix',
  { labels: kind.tensor, predictions: kind.tensor },
  { numClasses: kind.size, weights: kind.tensor, dtype: kind.asIs },
  (labels, predictions, options) => {
    const op = 'ConfusionMatrix';
    const numbers = (value: TensorLike, other: TensorLike, what: string): Tensor => {
      const t = toTensor(value);
      checkDType(t.dtype, 'numeric', what, op);
      // An axis of size 1 that the others do not have goes.
      const wide =
        t.rank === 2 && toTensor(other).rank === 1 && !differs(dims(t)[1], 1) ? reshape(t, [-1]) : t;
      if (wide.rank !== 1)
        throw new InvalidArgumentError(`${what} have shape ${showShape(t.shape)}, expected rank 1`, op);
      return wide.cast('int64');
    };
    const truth = numbers(labels, predictions, 'labels');
    const guess = numbers(predictions, labels, 'predictions');
    if (!sameShape(truth.shape, guess.shape))
      throw new InvalidArgumentError(
        `labels ${showShape(truth.shape)} and predictions ${showShape(guess.shape)} must be as many`,
        op,
      );
    checkNotNegative(truth, 'labels', op);
    checkNotNegative(guess, 'predictions', op);
    const dtype = options.dtype ?? 'int32';
    checkDType(dtype, 'numeric', 'dtype', op);
    const n = dims(truth)[0];
    let classes = options.numClasses as Dim | null | undefined;
    if (classes === undefined || classes === null)
      classes = atMost(n, 0)
        ? 1
        : hostDims(truth.max().maximum(guess.max()).add(1), 'the largest label', op)[0];
    else checkShape([classes as number], op);
    const weights =
      options.weights === undefined || options.weights === null
        ? null
        : toTensor(options.weights).cast(dtype);
    if (weights !== null && !sameShape(weights.shape, truth.shape))
      throw new InvalidArgumentError(
        `weights have shape ${showShape(weights.shape)}, expected that of labels, ${showShape(truth.shape)}`,
        op,
      );
    return scatterNd(
      stack([truth, guess], 1),
      weights ?? onesLike(truth, dtype),
      toShape([classes, classes]),
    );
  },
);

// ---- histograms

interface HistogramOptions {
  /** How many bins there are; 100 by default. */
  readonly nbins?: IntegerLike;
  /** Of the result: int32, which is the default, or int64. */
  readonly dtype?: 'int32' | 'int64';
}

/** The two limits of bins, of the dtype of the values. @throws InvalidArgumentError where they, or the values, are none */
function rangeOfBins(x: Tensor, valueRange: TensorLike, nbins: Dim, op: string): Tensor {
  checkDType(x.dtype, 'numeric', 'values', op);
  const range = toTensor(valueRange, x.dtype).cast(x.dtype);
  if (range.rank !== 1 || dims(range)[0] !== 2)
    throw new InvalidArgumentError(`valueRange has shape ${showShape(range.shape)}, expected [2]`, op);
  if (isExpression(nbins) || !Number.isSafeInteger(nbins) || nbins < 1)
    throw new InvalidArgumentError(`nbins must be an integer of at least 1, got ${String(nbins)}`, op);
  checkValues(
    op,
    [range],
    (now) => {
      const [low, high] = Array.from(now.data() as ArrayLike<number | bigint>);
      if (!(low < high)) throw new InvalidArgumentError(`valueRange must rise, got [${low}, ${high}]`, op);
    },
    (now) => now.at(0).less(now.at(1)),
  );
  return range;
}

/** How many values are in each bin, counted one by one, by the same arithmetic in float64 as `binsOf`. */
function histogramOnHost(x: Tensor, range: Tensor, nbins: number, dtype: 'int32' | 'int64'): Tensor {
  const values = hostValues(x) as Float32Array;
  const [low, high] = hostValues(range) as Float32Array;
  const width = (high - low) / nbins;
  const y = emptyTensor('int32', [nbins], nbins);
  const counts = spaceOf(y) as Int32Array;
  counts.fill(0);
  for (let i = 0; i < values.length; i++) {
    const place = (values[i] - low) / width;
    // NaN is in the first.
    counts[place >= nbins ? nbins - 1 : place > 0 ? Math.floor(place) : 0]++;
  }
  return uploaded(y, counts).cast(dtype);
}

/** The numbers of the bins of values, which are computed in float64 where they are counted, as TensorFlow does. */
function binsOf(values: TensorLike, valueRange: TensorLike, nbins: Dim, op: string, counted = false): Tensor {
  const x = toTensor(values);
  const range = rangeOfBins(x, valueRange, nbins, op);
  const dtype = counted || isInteger(x.dtype) ? 'float64' : x.dtype;
  const [low, high] = [range.at(0).cast(dtype), range.at(1).cast(dtype)];
  const width = high.sub(low);
  const distance = x.cast(dtype).sub(low);
  const scaled = counted
    ? distance.div(width.div(nbins as number))
    : distance.div(width).mul(nbins as number);
  return scaled
    .floor()
    .maximum(0)
    .minimum((nbins as number) - 1)
    .cast('int32');
}

/** For each value the number of its bin: `nbins` of one width between the two numbers of `valueRange`; those outside are in the first or last. */
export const histogramFixedWidthBins: NamedFunction<
  [values: TensorLike, valueRange: TensorLike],
  ['values', 'valueRange'],
  HistogramOptions
> = /* @__PURE__ */ defineFunction(
  'histogramFixedWidthBins',
  { values: kind.tensor, valueRange: kind.tensor },
  { nbins: kind.size, dtype: kind.asIs },
  (values, valueRange, options) => {
    const op = 'HistogramFixedWidthBins';
    const dtype = options.dtype ?? 'int32';
    checkDType(dtype, 'index', 'dtype', op);
    return binsOf(values, valueRange, (options.nbins ?? 100) as Dim, op).cast(dtype);
  },
);

/** How many values are in each of `nbins` bins of one width between the two numbers of `valueRange`; those outside count in the first or last. */
export const histogramFixedWidth: NamedFunction<
  [values: TensorLike, valueRange: TensorLike],
  ['values', 'valueRange'],
  HistogramOptions
> = /* @__PURE__ */ defineFunction(
  'histogramFixedWidth',
  { values: kind.tensor, valueRange: kind.tensor },
  { nbins: kind.size, dtype: kind.asIs },
  (values, valueRange, options) => {
    const op = 'HistogramFixedWidth';
    const dtype = options.dtype ?? 'int32';
    checkDType(dtype, 'index', 'dtype', op);
    const nbins = (options.nbins ?? 100) as number;
    const x = toTensor(values);
    const known = context.tracer === null && eagerBackend().allocator.isHost && x.dtype === 'float32';
    if (known) return histogramOnHost(x, rangeOfBins(x, valueRange, nbins, op), nbins, dtype);
    const bins = flatten(binsOf(values, valueRange, nbins, op, true));
    return unsortedSegmentSum(onesLike(bins, dtype), bins, nbins);
  },
);
