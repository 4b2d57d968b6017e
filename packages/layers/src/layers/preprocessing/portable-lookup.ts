// Lookups and hashes of the layers in ops that TensorFlow has, for functions that are saved.
import { constant, type Tensor, where } from '@eagre/core';
import { portable, portableEach, portableFind, TableResource, tensorOfItems } from '@eagre/core/internal';
import type { Token } from './vocabulary.ts';

// No index: what a table gives for a token that it does not have.
const NONE = -2n;

/** What a lookup does with unknown tokens: an error, one index for all, or one of several by a hash. */
export interface Unknowns {
  readonly first: bigint;
  readonly count: number;
  readonly oneOf: (tokens: Tensor) => Tensor;
}

/** Tokens and the index of each. */
export type Indices = ReadonlyMap<Token, bigint>;

/** A table from tokens to indices. */
export function tableOfIndices(name: string, indices: Indices, integers: boolean): TableResource {
  const keyDtype = integers ? 'int64' : 'string';
  return new TableResource({
    name: `${name}_table`,
    keyDtype,
    valueDtype: 'int64',
    contents: () => [
      tensorOfItems([...indices.keys()], keyDtype, [indices.size]),
      tensorOfItems([...indices.values()], 'int64', [indices.size]),
    ],
  });
}

/** A table from indices to tokens. */
export function tableOfTokens(name: string, tokens: readonly Token[], integers: boolean): TableResource {
  const valueDtype = integers ? 'int64' : 'string';
  return new TableResource({
    name: `${name}_table`,
    keyDtype: 'int64',
    valueDtype,
    contents: () => [
      tensorOfItems(
        tokens.map((_, i) => BigInt(i)),
        'int64',
        [tokens.length],
      ),
      tensorOfItems(tokens, valueDtype, [tokens.length]),
    ],
  });
}

/** The index of each token. */
export function portableIndices(
  table: TableResource,
  tokens: Tensor,
  { first, count, oneOf }: Unknowns,
): Tensor {
  if (count === 1) return portableFind(table, tokens, constant(first, 'int64'));
  const none = constant(NONE, 'int64');
  const ids = portableFind(table, tokens, none);
  if (count > 1) return where(ids.equal(none), oneOf(tokens).add(constant(first, 'int64')), ids);
  portable({
    op: 'Assert',
    inputs: [ids.notEqual(none).all(), constant(`${table.name}: a token is not in the vocabulary`)],
    attrs: { T: { kind: 'types', value: ['string'] } },
    ordered: true,
    outputs: () => [],
  });
  return ids;
}

/** The bin of each string or integer: by its fingerprint, or by a hash with a key. */
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
