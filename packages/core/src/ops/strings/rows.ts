// Rows of different lengths that functions of strings give: ragged tensors.
import { InvalidArgumentError } from '@eagre/backend';
import { isRagged, type RaggedOrDense } from '../../ragged/ragged-base.ts';
import { RaggedTensor } from '../../ragged/ragged-tensor.ts';
import { constant } from '../../tensor/constant.ts';
import { hostValues, stringTensor, type Tensor, textsOf } from '../../tensor/tensor.ts';
import { onKnown } from './known-strings.ts';
import type { StringRows } from './parts.ts';

/** Where rows of these lengths end, with 0 before: int64, as TensorFlow's functions of strings have it. */
export function splitsOf(lengths: ArrayLike<number>): Tensor {
  const data = new BigInt64Array(lengths.length + 1);
  // The lower halves, as no list has 2³² values: sums of bigints take ten times as long.
  const words = new Uint32Array(data.buffer);
  let end = 0;
  for (let i = 0; i < lengths.length; i++) words[2 * i + 2] = end += lengths[i];
  return constant({ data, shape: [data.length], dtype: 'int64' });
}

/** Values as rows, one for each element of a tensor of this shape; for a scalar as they are. */
export function rowsLike(
  shape: readonly number[],
  values: Tensor,
  lengths: ArrayLike<number>,
): RaggedOrDense {
  if (shape.length === 0) return values;
  let rows = RaggedTensor.fromRowSplits(values, splitsOf(lengths), { validate: false });
  for (let axis = shape.length - 1; axis > 0; axis--) {
    const count = shape.slice(0, axis).reduce((n, size) => n * size, 1);
    rows = RaggedTensor.fromUniformRowLength(rows, shape[axis], count, { validate: false });
  }
  return rows;
}

/** Integers as numbers. */
export function numbersOf(x: Tensor): ArrayLike<number> {
  const values = hostValues(x);
  if (!(values instanceof BigInt64Array || values instanceof BigUint64Array)) return values;
  // The halves, as a million bigints take as long as the rest.
  const words = new Int32Array(values.buffer, values.byteOffset, 2 * values.length);
  const unsigned = values instanceof BigUint64Array;
  const numbers = new Float64Array(values.length);
  for (let i = 0; i < numbers.length; i++) {
    const upper = words[2 * i + 1];
    numbers[i] = (unsigned ? upper >>> 0 : upper) * 2 ** 32 + (words[2 * i] >>> 0);
  }
  return numbers;
}

/** Replaces the rows of the last axis by others, which all have one length too. */
export function denseLists(x: Tensor, op: string, fn: StringRows): Tensor {
  return onKnown(op, [x], (known) => {
    const outer = known.shape.slice(0, -1);
    const count = outer.reduce((n, size) => n * size, 1);
    const width = known.shape.at(-1) as number;
    const texts = textsOf(known);
    // Of no strings at all nothing is made, as in TensorFlow, also where a row would be padded.
    if (width === 0) return stringTensor([], known.shape);
    const all: string[] = [];
    for (let i = 0; i < count; i++) fn(texts, i * width, (i + 1) * width, all);
    const one: string[] = [];
    if (count === 0) fn(new Array<string>(width).fill(''), 0, width, one);
    return stringTensor(all, [...outer, count > 0 ? all.length / count : one.length]);
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
    const ends = numbersOf(splits);
    const texts = textsOf(flat);
    const all: string[] = [];
    const lengths = new Float64Array(ends.length - 1);
    for (let i = 0; i < lengths.length; i++) {
      const before = all.length;
      if (texts.length > 0) fn(texts, ends[i], ends[i + 1], all);
      lengths[i] = all.length - before;
    }
    return RaggedTensor.fromRowSplits(stringTensor(all, [all.length]), splitsOf(lengths).cast(splits.dtype), {
      validate: false,
    });
  };
  return onKnown(op, [values, rowSplits], lists, portable);
}

/** A string for each row of the last axis of a ragged tensor. */
export function raggedTexts(
  x: RaggedTensor,
  op: string,
  fn: (texts: readonly string[], from: number, to: number) => string,
): RaggedOrDense {
  const { values, rowSplits } = x;
  if (isRagged(values)) return x.withValues(raggedTexts(values, op, fn));
  if (values.rank > 1)
    throw new InvalidArgumentError('the last axis must be ragged; use toTensor() for the others', op);
  return onKnown(op, [values, rowSplits], (flat, splits) => {
    const ends = numbersOf(splits);
    const texts = textsOf(flat);
    const out = new Array<string>(ends.length - 1);
    for (let i = 0; i < out.length; i++) out[i] = fn(texts, ends[i], ends[i + 1]);
    return stringTensor(out, [out.length]);
  });
}
