// Lookups of the layers in ops that TensorFlow has, for functions that are saved.
import { constant, type DType, type Tensor, where } from '@eagre/core';
import { portable, portableFind, type TableItem, TableResource, tensorOfItems } from '@eagre/core/internal';
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

/** A table that does not change. */
function fixedTable(
  name: string,
  [keys, keyDtype]: readonly [readonly TableItem[], DType],
  [values, valueDtype]: readonly [readonly TableItem[], DType],
): TableResource {
  const contents = (): [Tensor, Tensor] => [
    tensorOfItems(keys, keyDtype, [keys.length]),
    tensorOfItems(values, valueDtype, [values.length]),
  ];
  return new TableResource({ name: `${name}_table`, keyDtype, valueDtype, contents });
}

/** A table from tokens to indices. */
export function tableOfIndices(name: string, indices: Indices, integers: boolean): TableResource {
  const keys = [...indices.keys()];
  return fixedTable(name, [keys, integers ? 'int64' : 'string'], [[...indices.values()], 'int64']);
}

/** A table from indices to tokens. */
export function tableOfTokens(name: string, tokens: readonly Token[], integers: boolean): TableResource {
  const indices = tokens.map((_, i) => BigInt(i));
  return fixedTable(name, [indices, 'int64'], [tokens, integers ? 'int64' : 'string']);
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
