// Functions along the rows of ragged tensors.
import { InvalidArgumentError, UnimplementedError } from '@eagre/backend';
import { context } from '../dispatch/context.ts';
import { graphLoops } from '../dispatch/graph-loops.ts';
import { onesLike, zerosLike } from '../ops/array/creation.ts';
import { booleanMask, unsortedSegmentSum } from '../ops/array/gather.ts';
import { iota } from '../ops/array/iota.ts';
import { where } from '../ops/elementwise/select.ts';
import { mulDims } from '../shapes/dim.ts';
import { dims, toShape } from '../shapes/dims.ts';
import { checkFlag } from '../shapes/shape.ts';
import { constant } from '../tensor/constant.ts';
import { checkDType } from '../tensor/dtypes.ts';
import { hostValues, type Tensor } from '../tensor/tensor.ts';
import { isRagged, longest, makeRagged, type RaggedOrDense, raggedAxis } from './ragged-base.ts';
import type { RaggedTensor } from './ragged-tensor.ts';
import { reduce } from './reducing.ts';
import { lengthsOf, limitsOf, rowCount, sizeScalar, startsOf } from './row-partition.ts';

/** For each value that of its row, in a reduction over the rows of an axis. */
function spread(x: RaggedTensor, perRow: RaggedOrDense): Tensor {
  return (perRow as Tensor).gather(x.valueRowids(), 0);
}

/** The innermost ragged rows, which all functions here work along. */
function innermost(x: RaggedTensor, fn: (rows: RaggedTensor) => RaggedOrDense): RaggedTensor {
  if (isRagged(x.values)) return makeRagged(innermost(x.values, fn), x.rowSplits, x.uniformRowLength);
  return fn(x) as RaggedTensor;
}

/** e^x, over the sum of those of its row. */
export function softmax(x: RaggedTensor, axis: number): RaggedTensor {
  const a = raggedAxis(axis, x.rank, 'Softmax');
  if (a > x.raggedRank) return x.withFlatValues(x.flatValues.softmax(a - x.raggedRank));
  if (a !== x.raggedRank)
    throw new UnimplementedError('softmax over another axis than the innermost ragged one', 'Softmax');
  return innermost(x, (rows) => {
    const most = spread(rows, reduce('max', rows, 1, false)).stopGradient();
    const e = rows.flatValues.sub(most).exp();
    const total = reduce('sum', rows.withValues(e), 1, false);
    return rows.withValues(e.div(spread(rows, total)));
  });
}

/** Sums up to each value, along an axis. */
export function cumsum(
  x: RaggedTensor,
  axis: number,
  options: Readonly<Record<string, unknown>>,
): RaggedTensor {
  const a = raggedAxis(axis, x.rank, 'Cumsum');
  if (a > x.raggedRank) return x.withFlatValues(x.flatValues.cumsum(a - x.raggedRank, options));
  if (a < x.raggedRank) {
    const present = x.withFlatValues(constant(true).broadcastTo(toShape(dims(x.flatValues).slice(0, 1))));
    return x.withFlatValues(booleanMask(x.toTensor().cumsum(a, options), present.toTensor()));
  }
  const reverse = checkFlag(options.reverse as boolean | undefined, 'reverse', 'Cumsum');
  const exclusive = checkFlag(options.exclusive as boolean | undefined, 'exclusive', 'Cumsum');
  checkDType(x.dtype, 'numeric', 'x', 'Cumsum');
  return innermost(x, (rows) => rows.withValues(sumsWithin(rows, reverse, exclusive)));
}

// Of 32 bits, which places have.
const POWERS = /* @__PURE__ */ Array.from({ length: 31 }, (_, i) => 2 ** i);

/**
 * Sums of all values before each in its row, by doubling: a difference of running sums of all rows would lose what is small beside other rows, and an
 * infinite value would make all that follow NaN.
 */
function sumsWithin(rows: RaggedTensor, reverse: boolean, exclusive: boolean): Tensor {
  const { flatValues: flat, rowSplits: splits } = rows;
  const places = iota(dims(flat)[0]);
  const powers = constant(POWERS, 'int32');
  const limits = reverse ? limitsOf(splits).sub(1) : startsOf(splits);
  const border = limits.gather(rows.valueRowids(), 0).cast('int32');
  const perValue = [-1, ...new Array<number>(flat.rank - 1).fill(1)];
  /** What stands so far from each, and 0 where that is in another row. */
  const beside = (y: Tensor, by: Tensor | number): Tensor => {
    const from = reverse ? places.add(by) : places.sub(by);
    const own = reverse ? from.lessEqual(border) : from.greaterEqual(border);
    return where(own.reshape(perValue), y.gather(where(own, from, places), 0), zerosLike(flat));
  };
  // Each pass makes sums of twice as many.
  const times = powers
    .less(longest(lengthsOf(splits)).cast('int32'))
    .cast('int32')
    .sum();
  const add = (y: Tensor, by: Tensor | number): Tensor => y.add(beside(y, by));
  let sums = flat;
  if (context.tracer !== null)
    sums = graphLoops.repeat(times, ([y], i) => [add(y, powers.gather(i))], [flat])[0];
  else for (let i = 0, count = Number(hostValues(times)[0]); i < count; i++) sums = add(sums, 2 ** i);
  return exclusive ? beside(sums, 1) : sums;
}

/**
 * How often each number occurs in each row, [rows, numbers]: `math.bincount` with the axis -1.
 * @param count what counts all numbers together, by the options that are given but the axis
 */
export function countsOfRows(
  x: RaggedTensor,
  weights: Tensor | null,
  binary: boolean,
  count: (flat: Tensor) => Tensor,
): Tensor {
  if (x.rank !== 2)
    throw new InvalidArgumentError(`arr has rank ${x.rank}, expected rows of numbers`, 'Bincount');
  const flat = x.flatValues;
  const all = count(flat);
  const [size] = dims(all);
  const rows = rowCount(x.rowSplits);
  const numbers = flat.cast('int64');
  const width = sizeScalar(size, 'int64');
  // Numbers beyond the end are not counted.
  const bins = numbers
    .less(width)
    .where(x.valueRowids().cast('int64').mul(width).add(numbers), constant(-1n, 'int64'));
  const counts = unsortedSegmentSum(
    weights ?? onesLike(flat, all.dtype),
    bins,
    mulDims(rows, size) as number,
  );
  return (binary ? counts.minimum(1) : counts).reshape(toShape([rows, size]));
}
