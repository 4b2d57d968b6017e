// Rows of different lengths that functions of strings give: ragged tensors.
import { InvalidArgumentError } from '@eagre/backend';
import { isRagged, type RaggedOrDense } from '../../ragged/ragged-base.ts';
import { RaggedTensor } from '../../ragged/ragged-tensor.ts';
import { constant } from '../../tensor/constant.ts';
import { hostValues, stringTensor, type Tensor } from '../../tensor/tensor.ts';
import { onKnown } from './known-strings.ts';
import type { StringRows } from './parts.ts';

/** Where rows of these lengths end, with 0 before: int64, as TensorFlow's functions of strings have it. */
export function splitsOf(lengths: readonly number[]): Tensor {
  const data = new BigInt64Array(lengths.length + 1);
  // The lower halves, as no list has 2³² values: sums of bigints take ten times as long.
  const words = new Uint32Array(data.buffer);
  let end = 0;
  lengths.forEach((length, i) => {
    words[2 * i + 2] = end += length;
  });
  return constant({ data, shape: [data.length], dtype: 'int64' });
}

/** Values as rows, one for each element of a tensor of this shape; for a scalar as they are. */
export function rowsLike(
  shape: readonly number[],
  values: Tensor,
  lengths: readonly number[],
): RaggedOrDense {
  if (shape.length === 0) return values;
  let rows = RaggedTensor.fromRowSplits(values, splitsOf(lengths), { validate: false });
  for (let axis = shape.length - 1; axis > 0; axis--) {
    const count = shape.slice(0, axis).reduce((n, size) => n * size, 1);
    rows = RaggedTensor.fromUniformRowLength(rows, shape[axis], count, { validate: false });
  }
  return rows;
}

/** Replaces the rows of the last axis by others, which all have one length too. */
export function denseLists(x: Tensor, op: string, fn: StringRows): Tensor {
  return onKnown(op, [x], (known) => {
    const outer = known.shape.slice(0, -1);
    const count = outer.reduce((n, size) => n * size, 1);
    const width = known.shape.at(-1) as number;
    const texts = known.strings();
    // Of no strings at all nothing is made, as in TensorFlow, also where a row would be padded.
    if (width === 0) return stringTensor([], known.shape);
    const made = Array.from({ length: count }, (_, i) => fn(texts.slice(i * width, (i + 1) * width)));
    const size = made.length > 0 ? made[0].length : fn(new Array<string>(width).fill('')).length;
    return stringTensor(made.flat(), [...outer, size]);
  });
}

/** Replaces the rows of the last axis of a ragged tensor by others. */
export function raggedLists(
  x: RaggedTensor,
  op: string,
  fn: StringRows,
  portable?: (values: Tensor, rowSplits: Tensor) => RaggedTensor,
): RaggedTensor {
  const { values, rowSplits } = x;
  if (isRagged(values)) return x.withValues(raggedLists(values, op, fn, portable));
  if (values.rank > 1) return x.withValues(denseLists(values, op, fn));
  const lists = (flat: Tensor, splits: Tensor): RaggedTensor => {
    const ends = Array.from(hostValues(splits) as ArrayLike<number | bigint>, Number);
    const texts = flat.strings();
    const rows = ends.slice(1).map((end, i) => (texts.length === 0 ? [] : fn(texts.slice(ends[i], end))));
    const all = rows.flat();
    const ownSplits = splitsOf(rows.map((row) => row.length)).cast(splits.dtype);
    return RaggedTensor.fromRowSplits(stringTensor(all, [all.length]), ownSplits, { validate: false });
  };
  return onKnown(op, [values, rowSplits], lists, portable);
}

/** A string for each row of the last axis of a ragged tensor. */
export function raggedTexts(
  x: RaggedTensor,
  op: string,
  fn: (row: readonly string[]) => string,
): RaggedOrDense {
  const { values, rowSplits } = x;
  if (isRagged(values)) return x.withValues(raggedTexts(values, op, fn));
  if (values.rank > 1)
    throw new InvalidArgumentError('the last axis must be ragged; use toTensor() for the others', op);
  return onKnown(op, [values, rowSplits], (flat, splits) => {
    const ends = Array.from(hostValues(splits) as ArrayLike<number | bigint>, Number);
    const texts = flat.strings();
    return stringTensor(
      ends.slice(1).map((end, i) => fn(texts.slice(ends[i], end))),
      [ends.length - 1],
    );
  });
}
