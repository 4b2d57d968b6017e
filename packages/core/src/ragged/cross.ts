// Crosses of features, as ragged tensors.
import { InvalidArgumentError } from '@eagre/backend';
import * as kind from '../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../arguments/arguments.ts';
import { binOf, checkHashing, combinations, featuresOf, type Rows, rowCount } from '../composite/crosses.ts';
import { onKnown } from '../ops/strings/known-strings.ts';
import { checkList } from '../shapes/shape.ts';
import { SparseTensor } from '../sparse/sparse-tensor.ts';
import { type TensorLike, toTensor } from '../tensor/convert.ts';
import { isInteger } from '../tensor/dtypes.ts';
import { hostValues, stringTensor, type Tensor } from '../tensor/tensor.ts';
import { RaggedTensor } from './ragged-tensor.ts';

type Feature = TensorLike | SparseTensor | RaggedTensor;

/** The values, and where rows begin or which rows values are in. */
interface Parts {
  readonly values: Tensor;
  readonly splits: Tensor | null;
  readonly indices: Tensor | null;
  readonly shape: Tensor | null;
}

function partsOf(x: Feature, op: string): Parts {
  const none = { splits: null, indices: null, shape: null };
  const parts: Parts =
    x instanceof RaggedTensor
      ? { ...none, values: x.flatValues, splits: x.nestedRowSplits[0] as Tensor }
      : x instanceof SparseTensor
        ? { ...none, values: x.values, indices: x.indices, shape: x.denseShape }
        : { ...none, values: toTensor(x) };
  if (x instanceof RaggedTensor || x instanceof SparseTensor ? x.rank !== 2 : parts.values.rank !== 2)
    throw new InvalidArgumentError('inputs must have two axes', op);
  if (parts.values.dtype !== 'string' && !isInteger(parts.values.dtype))
    throw new InvalidArgumentError(`inputs must be strings or integers, got ${parts.values.dtype}`, op);
  return parts;
}

const integers = (x: Tensor): number[] => Array.from(hostValues(x) as ArrayLike<number | bigint>, Number);

function rowsOf({ values, splits, indices, shape }: Parts): Rows {
  const all = featuresOf(values);
  if (splits !== null) {
    const ends = integers(splits);
    return ends.slice(1).map((end, i) => all.slice(ends[i], end));
  }
  if (indices === null || shape === null) {
    const [n, width] = values.shape as [number, number];
    return Array.from({ length: n }, (_, i) => all.slice(i * width, (i + 1) * width));
  }
  const rows: (string | bigint)[][] = Array.from({ length: integers(shape)[0] as number }, () => []);
  const at = integers(indices);
  all.forEach((v, i) => (rows[at[2 * i] as number] as (string | bigint)[]).push(v));
  return rows;
}

function crossed(
  inputs: readonly Feature[],
  op: string,
  make: (crosses: readonly (readonly (string | bigint)[])[]) => Tensor,
): RaggedTensor {
  checkList(inputs, 'inputs', op);
  const all = inputs.map((x) => partsOf(x, op));
  const given = all.flatMap((parts) => Object.values(parts).filter((t) => t !== null)) as Tensor[];
  const narrow =
    all.some(({ splits }) => splits !== null) && all.every(({ splits }) => splits?.dtype !== 'int64');
  return onKnown(op, given, (...known) => {
    let next = 0;
    const features = all.map((parts) =>
      rowsOf(
        Object.fromEntries(
          Object.entries(parts).map(([key, t]) => [key, t === null ? null : known[next++]]),
        ) as never,
      ),
    );
    const n = rowCount(features, op);
    const found: (string | bigint)[][] = [];
    const splits = [0];
    for (let row = 0; row < n; row++) {
      found.push(...combinations(features, row));
      splits.push(found.length);
    }
    const data = narrow ? Int32Array.from(splits) : BigInt64Array.from(splits, BigInt);
    return RaggedTensor.fromRowSplits(make(found), toTensor({ data, shape: [n + 1] }));
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
export const cross: Cross<[inputs: readonly Feature[]], ['inputs'], unknown> = /* @__PURE__ */ defineFunction(
  'ragged.cross',
  { inputs: kind.asIs },
  {},
  (inputs) =>
    crossed(inputs, 'ragged.cross', (all) =>
      stringTensor(
        all.map((values) => values.join('_X_')),
        [all.length],
      ),
    ),
);

/** `cross` whose values are the hashes of combinations, int64: of `numBuckets` bins, TensorFlow's, or any integer of at least 0 where that is 0. */
export const crossHashed: Cross<
  [inputs: readonly Feature[], numBuckets?: number],
  ['inputs', 'numBuckets'],
  { readonly hashKey?: number | bigint | null }
> = /* @__PURE__ */ defineFunction(
  'ragged.crossHashed',
  { inputs: kind.asIs, numBuckets: kind.asIs },
  { hashKey: kind.asIs },
  (inputs, numBuckets = 0, { hashKey }) => {
    const op = 'ragged.crossHashed';
    const [buckets, key] = checkHashing(numBuckets, hashKey, op);
    return crossed(inputs, op, (all) =>
      toTensor({
        data: BigInt64Array.from(all, (values) => binOf(values, buckets, key)),
        shape: [all.length],
      }),
    );
  },
);
