// Crosses of features, as ragged tensors.
import * as kind from '../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../arguments/arguments.ts';
import {
  checkFeature,
  type Feature,
  hashedValues,
  joinedValues,
  onRows,
  type Values,
} from '../composite/crosses.ts';
import { checkList } from '../shapes/shape.ts';
import { featureOf as sparseOrDense } from '../sparse/cross.ts';
import type { SparseTensor } from '../sparse/sparse-tensor.ts';
import { type TensorLike, toTensor } from '../tensor/convert.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { RaggedTensor } from './ragged-tensor.ts';

type Input = TensorLike | SparseTensor | RaggedTensor;

function featureOf(x: Input, op: string): Feature {
  if (x instanceof RaggedTensor)
    return checkFeature([x.flatValues, x.nestedRowSplits[0] as Tensor], x.rank, op);
  return sparseOrDense(x, op);
}

function crossed(inputs: readonly Input[], op: string, valuesOf: Values): RaggedTensor {
  const features = checkList(inputs, 'inputs', op).map((x) => featureOf(x, op));
  const dtypes = features.flatMap((parts) => (parts.length === 2 ? [parts[1]?.dtype] : []));
  const narrow = dtypes.length > 0 && !dtypes.includes('int64');
  return onRows(op, features, (rows) => {
    let end = 0;
    const splits = [0, ...rows.map((row) => (end += row.length))];
    const data = narrow ? Int32Array.from(splits) : BigInt64Array.from(splits, BigInt);
    return RaggedTensor.fromRowSplits(valuesOf(rows.flat()), toTensor({ data, shape: [splits.length] }));
  });
}

type Cross<P extends readonly unknown[], N extends readonly string[], O> = NamedFunction<
  P,
  N,
  O,
  RaggedTensor
>;

/**
 * In each row all combinations of one value of each input, joined: 'a_X_d'. A ragged tensor of strings.
 * @param inputs ragged, sparse and dense tensors of two axes, of strings or integers
 */
export const cross: Cross<[inputs: readonly Input[]], ['inputs'], unknown> = /* @__PURE__ */ defineFunction(
  'ragged.cross',
  { inputs: kind.asIs },
  {},
  (inputs) => crossed(inputs, 'ragged.cross', joinedValues('_X_')),
);

/** `cross` whose values are the hashes of combinations, int64: of `numBuckets` bins, TensorFlow's, or any integer of at least 0 where that is 0. */
export const crossHashed: Cross<
  [inputs: readonly Input[], numBuckets?: number],
  ['inputs', 'numBuckets'],
  {
    /** A key of the hash; TensorFlow's by default. */
    readonly hashKey?: number | bigint | null;
  }
> = /* @__PURE__ */ defineFunction(
  'ragged.crossHashed',
  { inputs: kind.asIs, numBuckets: kind.asIs },
  { hashKey: kind.asIs },
  (inputs, numBuckets = 0, { hashKey }) => {
    const op = 'ragged.crossHashed';
    return crossed(inputs, op, hashedValues(numBuckets, hashKey, op));
  },
);
