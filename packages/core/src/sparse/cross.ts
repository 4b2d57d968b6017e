// Crosses of features, as sparse tensors.
import * as kind from '../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../arguments/arguments.ts';
import { checkText } from '../arguments/checks.ts';
import {
  checkFeature,
  type Feature,
  hashedValues,
  joinedValues,
  onRows,
  type Values,
} from '../composite/crosses.ts';
import { checkList } from '../shapes/shape.ts';
import { type TensorLike, toTensor } from '../tensor/convert.ts';
import { SparseTensor } from './sparse-tensor.ts';

type Input = TensorLike | SparseTensor;

/** @throws InvalidArgumentError for what is no matrix of strings or integers */
export function featureOf(x: Input, op: string): Feature {
  if (x instanceof SparseTensor) return checkFeature([x.values, x.indices, x.denseShape], x.rank, op);
  const values = toTensor(x);
  return checkFeature([values], values.rank, op);
}

/** @internal The crosses of features with the values that a function makes of combinations. */
export function sparseCrosses(inputs: readonly Input[], op: string, valuesOf: Values): SparseTensor {
  const all = checkList(inputs, 'inputs', op).map((x) => featureOf(x, op));
  // As in TensorFlow, where sparse features come first.
  const features = [...all.filter((parts) => parts.length > 1), ...all.filter((parts) => parts.length === 1)];
  return onRows(op, features, (rows) => {
    const indices = rows.flatMap((row, i) => row.flatMap((_, place) => [BigInt(i), BigInt(place)]));
    const values = valuesOf(rows.flat());
    return SparseTensor.of({
      indices: toTensor({ data: BigInt64Array.from(indices), shape: [values.size, 2] }),
      values,
      sizes: [rows.length, rows.reduce((longest, row) => Math.max(longest, row.length), 0)],
    });
  });
}

/**
 * In each row all combinations of one value of each input, joined: 'a_X_d'. A sparse tensor of strings; values of sparse inputs stand before
 * those of dense ones.
 * @param inputs sparse tensors and tensors [rows, n] of strings or integers
 */
export const cross: NamedFunction<
  [inputs: readonly Input[]],
  ['inputs'],
  {
    /** What stands between the joined texts; `_X_` by default. */
    readonly separator?: string | null;
  },
  SparseTensor
> = /* @__PURE__ */ defineFunction(
  'sparse.cross',
  { inputs: kind.asIs },
  { separator: kind.asIs },
  (inputs, { separator }) => {
    const op = 'sparse.cross';
    const between = separator ?? '_X_';
    checkText(between, 'separator', op);
    return sparseCrosses(inputs, op, joinedValues(between));
  },
);

/** `cross` whose values are the hashes of combinations, int64: of `numBuckets` bins, TensorFlow's, or any integer of at least 0 where that is 0. */
export const crossHashed: NamedFunction<
  [inputs: readonly Input[], numBuckets?: number],
  ['inputs', 'numBuckets'],
  {
    /** A key of the hash; TensorFlow's by default. */
    readonly hashKey?: number | bigint | null;
  },
  SparseTensor
> = /* @__PURE__ */ defineFunction(
  'sparse.crossHashed',
  { inputs: kind.asIs, numBuckets: kind.asIs },
  { hashKey: kind.asIs },
  (inputs, numBuckets = 0, { hashKey }) => {
    const op = 'sparse.crossHashed';
    return sparseCrosses(inputs, op, hashedValues(numBuckets, hashKey, op));
  },
);
