// Lookups in tables as ops of TensorFlow, for traces that are written.
import type { DType } from '@eagre/backend';
import { CROSS_KEY } from '../composite/crosses.ts';
import { portable, portableEach } from '../dispatch/portable.ts';
import { dims } from '../shapes/dims.ts';
import { constant } from '../tensor/constant.ts';
import type { Tensor } from '../tensor/tensor.ts';
import type { TableResource } from './table-resource.ts';

const types = (table: TableResource) =>
  ({
    Tin: { kind: 'type', value: table.keyDtype },
    Tout: { kind: 'type', value: table.valueDtype },
  }) as const;
const common = (table: TableResource) => ({ table, ordered: table.isMutable });

/** The values of keys; `missing` for others. */
export function portableFind(table: TableResource, keys: Tensor, missing: Tensor): Tensor {
  return portable({
    op: 'LookupTableFindV2',
    ...common(table),
    inputs: [keys, missing],
    attrs: types(table),
    outputs: () => [{ dtype: table.valueDtype, shape: [...dims(keys), ...table.valueShape] }],
  })[0];
}

/** How many keys a table has (int64). */
export function portableSize(table: TableResource): Tensor {
  const outputs = (): [{ dtype: DType; shape: [] }] => [{ dtype: 'int64', shape: [] }];
  return portable({ op: 'LookupTableSizeV2', ...common(table), inputs: [], outputs })[0];
}

/** Gives keys their values. */
export function portableInsert(table: TableResource, keys: Tensor, values: Tensor): void {
  const call = { ...common(table), inputs: [keys, values], attrs: types(table), outputs: () => [] };
  portable({ op: 'LookupTableInsertV2', ...call });
}

/** Removes keys. */
export function portableRemove(table: TableResource, keys: Tensor): void {
  const { Tin } = types(table);
  portable({
    op: 'LookupTableRemoveV2',
    ...common(table),
    inputs: [keys],
    attrs: { Tin },
    outputs: () => [],
  });
}

/** What a lookup gives for keys that have no index. */
export const missingIndex = (): Tensor => constant(-1n, 'int64');

/** The bin of each string or integer, which is hashed as its digits: by its fingerprint, or by a hash with a key. */
export function portableBins(x: Tensor, bins: number, key: readonly [number, number] | null): Tensor {
  const texts =
    x.dtype === 'string'
      ? x
      : portableEach('AsString', [x], 'string', { T: { kind: 'type', value: x.dtype } });
  const num_buckets = { kind: 'int', value: bins } as const;
  return key === null
    ? portableEach('StringToHashBucketFast', [texts], 'int64', { num_buckets })
    : portableEach('StringToHashBucketStrong', [texts], 'int64', {
        num_buckets,
        key: { kind: 'ints', value: key },
      });
}

/** The bin of the elements of several columns of one length together: strings and int64 [rows, 1]. */
export function portableCross(columns: readonly Tensor[], bins: number): Tensor {
  const int64 = { kind: 'type', value: 'int64' } as const;
  const [rows] = dims(columns[0]);
  const [, values] = portable({
    op: 'SparseCross',
    inputs: columns,
    attrs: {
      N: { kind: 'int', value: 0 },
      hashed_output: { kind: 'bool', value: true },
      num_buckets: { kind: 'int', value: bins },
      hash_key: { kind: 'int', value: Number(CROSS_KEY) },
      sparse_types: { kind: 'types', value: [] },
      dense_types: { kind: 'types', value: columns.map((x) => x.dtype) },
      out_type: int64,
      internal_type: int64,
    },
    outputs: () => [
      { dtype: 'int64', shape: [rows, 2] },
      { dtype: 'int64', shape: [rows] },
      { dtype: 'int64', shape: [2] },
    ],
  });
  return values;
}
