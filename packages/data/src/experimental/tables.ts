// Tables whose keys and values are the elements of a dataset.
import { InvalidArgumentError } from '@eagre/backend';
import { type DType, lookup, type Tensor, type TensorLike } from '@eagre/core';
import {
  type Arguments,
  argumentsOf,
  checkCount,
  defineFunction,
  itemsOf,
  kind,
  type NamedFunction,
  type TableItem,
  takesArguments,
} from '@eagre/core/internal';
import { TensorSpec } from '@eagre/graph';
import { showSpec } from '../elements/element-spec.ts';
import type { Dataset } from '../pipeline/dataset.ts';
import { checkDataset } from './apply.ts';

interface InitializerArguments {
  readonly dataset: Dataset<readonly [Tensor, Tensor]>;
}

/**
 * Keys and values for a table: a dataset of pairs of scalars.
 *
 *     const pairs = tf.data.Dataset.zip(keys, values);
 *     const table = new tf.lookup.StaticHashTable(new tf.data.experimental.DatasetInitializer(pairs), -1);
 */
export class DatasetInitializer implements lookup.TableInitializer {
  readonly dataset: Dataset<readonly [Tensor, Tensor]>;
  readonly keyDtype: DType;
  readonly valueDtype: DType;

  /** @throws InvalidArgumentError for a dataset of anything else. */
  constructor(...args: Arguments<[dataset: Dataset<readonly [Tensor, Tensor]>], ['dataset']>) {
    const { dataset } = argumentsOf<InitializerArguments>(DatasetInitializer, new.target, args);
    const spec = checkDataset(dataset, 'DatasetInitializer').elementSpec;
    const parts: readonly unknown[] = Array.isArray(spec) ? spec : [];
    const isScalar = (part: unknown): part is TensorSpec =>
      part instanceof TensorSpec && (part.shape === null || part.shape.length === 0);
    const [key, value] = parts;
    if (parts.length !== 2 || !isScalar(key) || !isScalar(value))
      throw new InvalidArgumentError(
        `the elements must be pairs of scalars, a key and a value, whose spec is known; got ${showSpec(spec)}`,
        'DatasetInitializer',
      );
    this.dataset = dataset;
    this.keyDtype = key.dtype;
    this.valueDtype = value.dtype;
  }

  /** @internal Goes through the dataset. */
  entries(): readonly [readonly TableItem[], readonly TableItem[]] {
    const keys: TableItem[] = [];
    const values: TableItem[] = [];
    for (const [key, value] of this.dataset) {
      keys.push(...itemsOf(key));
      values.push(...itemsOf(value));
    }
    return [keys, values];
  }
}
takesArguments<InitializerArguments>(
  { positional: ['dataset'], names: { dataset: true } },
  DatasetInitializer,
);

/** Options of `tableFromDataset` and `indexTableFromDataset`. */
export interface DatasetTableOptions {
  /** How many ids there are for keys that are not in the dataset; 0 unless given, and then these get the default value. */
  readonly numOovBuckets?: number;
  /** How many elements are used; all unless given. A dataset with fewer is an error. */
  readonly vocabSize?: number | null;
  /** What other keys get; -1 unless given. */
  readonly defaultValue?: TensorLike | null;
  /** The dtype of keys that are looked up, where there are buckets; that of the dataset's unless given. */
  readonly keyDtype?: DType;
}
type Table = lookup.StaticHashTable | lookup.StaticVocabularyTable;
type TableFunction = NamedFunction<[dataset: Dataset<never>], ['dataset'], DatasetTableOptions, Table>;

const optionKinds = {
  numOovBuckets: kind.asIs,
  vocabSize: kind.asIs,
  defaultValue: kind.asIs,
  keyDtype: kind.asIs,
} as const;

function tableOf(dataset: Dataset<unknown>, options: DatasetTableOptions, op: string): Table {
  const { numOovBuckets = 0, vocabSize = null, defaultValue = null, keyDtype } = options;
  checkCount(numOovBuckets, 'numOovBuckets', op, 0);
  if (vocabSize !== null) checkCount(vocabSize, 'vocabSize', op);
  const used = vocabSize === null ? dataset : dataset.take(vocabSize).assertCardinality(vocabSize);
  const initializer = new DatasetInitializer(used as Dataset<readonly [Tensor, Tensor]>);
  if (defaultValue === null && initializer.valueDtype === 'string')
    throw new InvalidArgumentError('defaultValue must be given where values are strings', op);
  if (numOovBuckets > 0)
    return new lookup.StaticVocabularyTable(initializer, numOovBuckets, keyDtype ?? null);
  if (keyDtype !== undefined && (keyDtype === 'string') !== (initializer.keyDtype === 'string'))
    throw new InvalidArgumentError(`the keys are ${initializer.keyDtype}, and keyDtype is ${keyDtype}`, op);
  return new lookup.StaticHashTable(initializer, defaultValue ?? -1);
}

/**
 * A table of the pairs (key, value) of a dataset. With `numOovBuckets`, values are ids (int64), and other keys get one of as many ids behind them by their hash.
 * @throws InvalidArgumentError for a key with two values, and elements that are no pairs of scalars.
 */
export const tableFromDataset: TableFunction = /* @__PURE__ */ defineFunction(
  'data.experimental.tableFromDataset',
  { dataset: kind.asIs },
  optionKinds,
  (dataset, options) => {
    const op = 'data.experimental.tableFromDataset';
    return tableOf(checkDataset(dataset, op), options, op);
  },
);

/** A table from each element of a dataset of keys to its number (int64), with options as `tableFromDataset`. */
export const indexTableFromDataset: TableFunction = /* @__PURE__ */ defineFunction(
  'data.experimental.indexTableFromDataset',
  { dataset: kind.asIs },
  optionKinds,
  (dataset, options) => {
    const op = 'data.experimental.indexTableFromDataset';
    const { elementSpec } = checkDataset(dataset, op);
    const signature = elementSpec instanceof TensorSpec ? [elementSpec, new TensorSpec([], 'int64')] : null;
    const pairs = (dataset as Dataset<unknown>)
      .enumerate()
      .map(((i: Tensor, key: unknown) => [key, i]) as never, {
        runEagerly: true,
        ...(signature === null ? {} : { outputSignature: signature }),
      });
    return tableOf(pairs, options, op);
  },
);
