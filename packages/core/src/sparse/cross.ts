// Crosses of features, as sparse tensors.
import { InvalidArgumentError } from '@eagre/backend';
import * as kind from '../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../arguments/arguments.ts';
import { checkText } from '../arguments/checks.ts';
import { binOf, checkHashing, combinations, featuresOf, type Rows, rowCount } from '../composite/crosses.ts';
import { onKnown } from '../ops/strings/known-strings.ts';
import { checkList, showShape } from '../shapes/shape.ts';
import { type TensorLike, toTensor } from '../tensor/convert.ts';
import { isInteger } from '../tensor/dtypes.ts';
import { hostValues, stringTensor, type Tensor } from '../tensor/tensor.ts';
import { SparseTensor } from './sparse-tensor.ts';

type Feature = TensorLike | SparseTensor;

function checkValues(values: Tensor, op: string): void {
  if (values.dtype !== 'string' && !isInteger(values.dtype))
    throw new InvalidArgumentError(`inputs must be strings or integers, got ${values.dtype}`, op);
}

/** The tensors that features are in. */
function partsOf(inputs: readonly Feature[], op: string): readonly (readonly Tensor[])[] {
  checkList(inputs, 'inputs', op);
  const all = inputs.map((x) => {
    const parts = x instanceof SparseTensor ? [x.values, x.indices, x.denseShape] : [toTensor(x)];
    checkValues(parts[0] as Tensor, op);
    const rank = x instanceof SparseTensor ? x.rank : (parts[0] as Tensor).rank;
    if (rank !== 2) throw new InvalidArgumentError(`inputs must have two axes, got ${rank}`, op);
    return parts;
  });
  // As in TensorFlow, where sparse features come first.
  return [...all.filter((parts) => parts.length > 1), ...all.filter((parts) => parts.length === 1)];
}

function rowsOf([values, indices, shape]: readonly Tensor[], op: string): Rows {
  const all = featuresOf(values as Tensor);
  if (indices === undefined || shape === undefined) {
    const [n, width] = (values as Tensor).shape as [number, number];
    return Array.from({ length: n }, (_, i) => all.slice(i * width, (i + 1) * width));
  }
  const n = Number((hostValues(shape) as ArrayLike<number>)[0]);
  const rows: (string | bigint)[][] = Array.from({ length: n }, () => []);
  const at = hostValues(indices) as ArrayLike<number>;
  all.forEach((v, i) => {
    const row = rows[Number(at[2 * i])];
    if (row === undefined)
      throw new InvalidArgumentError(`inputs have a value outside of ${showShape([n])} rows`, op);
    row.push(v);
  });
  return rows;
}

/** The crosses of each row: `make` turns them into values. */
function crossed(
  inputs: readonly Feature[],
  op: string,
  make: (crosses: readonly (readonly (string | bigint)[])[]) => Tensor,
): SparseTensor {
  const parts = partsOf(inputs, op);
  return onKnown(op, parts.flat(), (...known) => {
    let at = 0;
    const features = parts.map((list) =>
      rowsOf(
        list.map(() => known[at++] as Tensor),
        op,
      ),
    );
    const n = rowCount(features, op);
    const all: (string | bigint)[][] = [];
    const indices: bigint[] = [];
    let longest = 0;
    for (let row = 0; row < n; row++) {
      let place = 0;
      for (const values of combinations(features, row)) {
        indices.push(BigInt(row), BigInt(place++));
        all.push(values);
      }
      longest = Math.max(longest, place);
    }
    return SparseTensor.of({
      indices: toTensor({ data: BigInt64Array.from(indices), shape: [all.length, 2] }),
      values: make(all),
      sizes: [n, longest],
    });
  });
}

/**
 * In each row all combinations of one value of each input, joined: 'a_X_d'. A sparse tensor of strings; values of sparse inputs stand before
 * those of dense ones.
 * @param inputs sparse tensors and tensors [rows, n] of strings or integers
 */
export const cross: NamedFunction<
  [inputs: readonly Feature[]],
  ['inputs'],
  { readonly separator?: string | null },
  SparseTensor
> = /* @__PURE__ */ defineFunction(
  'sparse.cross',
  { inputs: kind.asIs },
  { separator: kind.asIs },
  (inputs, { separator }) => {
    const op = 'sparse.cross';
    const between = separator ?? '_X_';
    checkText(between, 'separator', op);
    return crossed(inputs, op, (all) =>
      stringTensor(
        all.map((values) => values.join(between)),
        [all.length],
      ),
    );
  },
);

/** `cross` whose values are the hashes of combinations, int64: of `numBuckets` bins, TensorFlow's, or any integer of at least 0 where that is 0. */
export const crossHashed: NamedFunction<
  [inputs: readonly Feature[], numBuckets?: number],
  ['inputs', 'numBuckets'],
  { readonly hashKey?: number | bigint | null },
  SparseTensor
> = /* @__PURE__ */ defineFunction(
  'sparse.crossHashed',
  { inputs: kind.asIs, numBuckets: kind.asIs },
  { hashKey: kind.asIs },
  (inputs, numBuckets = 0, { hashKey }) => {
    const op = 'sparse.crossHashed';
    const [buckets, key] = checkHashing(numBuckets, hashKey, op);
    return crossed(inputs, op, (all) =>
      toTensor({
        data: BigInt64Array.from(all, (values) => binOf(values, buckets, key)),
        shape: [all.length],
      }),
    );
  },
);
