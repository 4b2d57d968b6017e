// Functions along the rows of ragged tensors.
import { UnimplementedError } from '@eagre/backend';
import { concat } from '../ops/array/join.ts';
import { dims, toShape } from '../shapes/dims.ts';
import { constant } from '../tensor/constant.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { isRagged, makeRagged, type RaggedOrDense, raggedAxis } from './ragged-base.ts';
import type { RaggedTensor } from './ragged-tensor.ts';
import { reduce } from './reducing.ts';
import { startsOf } from './row-partition.ts';

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
  if (a !== x.raggedRank || options.reverse === true)
    throw new UnimplementedError(
      'cumsum of a ragged tensor along another axis than the innermost ragged one, or reversed',
      'Cumsum',
    );
  return innermost(x, (rows) => {
    const flat = rows.flatValues;
    const zero = constant(0, flat.dtype).broadcastTo(toShape([1, ...dims(flat).slice(1)]));
    const before = concat([zero, flat.cumsum(0)], 0);
    const sums =
      options.exclusive === true
        ? before.slice(toShape(dims(flat).map(() => 0)), flat.shape)
        : flat.cumsum(0);
    const offsets = before.gather(startsOf(rows.rowSplits), 0);
    return rows.withValues(sums.sub(offsets.gather(rows.valueRowids(), 0)));
  });
}
