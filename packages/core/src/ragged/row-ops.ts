// Functions along the rows of ragged tensors.
import { InvalidArgumentError, UnimplementedError } from '@eagre/backend';
import { onesLike } from '../ops/array/creation.ts';
import { booleanMask, unsortedSegmentSum } from '../ops/array/gather.ts';
import { concat } from '../ops/array/join.ts';
import { mulDims } from '../shapes/dim.ts';
import { dims, toShape } from '../shapes/dims.ts';
import { checkFlag } from '../shapes/shape.ts';
import { constant } from '../tensor/constant.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { isRagged, makeRagged, type RaggedOrDense, raggedAxis } from './ragged-base.ts';
import type { RaggedTensor } from './ragged-tensor.ts';
import { reduce } from './reducing.ts';
import { limitsOf, rowCount, sizeScalar, startsOf } from './row-partition.ts';

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
  return innermost(x, (rows) => {
    const flat = rows.flatValues;
    const zero = constant(0, flat.dtype).broadcastTo(toShape([1, ...dims(flat).slice(1)]));
    const sums = flat.cumsum(0, { reverse });
    // Beside each value, and the end, the sum of all before it, or of all behind it.
    const others = concat(reverse ? [sums, zero] : [zero, sums], 0);
    const first = dims(flat).map((_, i) => (i === 0 && reverse ? 1 : 0));
    const own = exclusive ? others.slice(first, flat.shape) : sums;
    const foreign = others.gather((reverse ? limitsOf : startsOf)(rows.rowSplits), 0);
    return rows.withValues(own.sub(foreign.gather(rows.valueRowids(), 0)));
  });
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
