import { InvalidArgumentError } from '@eagre/backend';
import type { Tensor } from '@eagre/core';
import { Dataset } from '../dataset.ts';
import { TFRecordDataset } from '../files/file-datasets.ts';
import type { FileNames } from '../files/files-node.ts';
import { AUTOTUNE, checkCount } from '../options.ts';
import { batchSpec, type FeatureSpecs } from './features.ts';
import { parseExample } from './parse-example.ts';

/** Options of {@link makeBatchedFeaturesDataset}; names and defaults are TensorFlow's. */
export interface BatchedFeaturesOptions {
  /** Makes the dataset of examples' bytes. Default: files of TFRecords, not compressed. */
  readonly reader?: ((filenames: Dataset<Tensor>) => Dataset<Tensor>) | undefined;
  /** How often to go through the files. Default: without end, in whole batches. */
  readonly numEpochs?: number | undefined;
  /** Shuffle files and examples. Default: true. */
  readonly shuffle?: boolean | undefined;
  /** Default: 10,000. */
  readonly shuffleBufferSize?: number | undefined;
  readonly shuffleSeed?: number | undefined;
  /** Default: AUTOTUNE. */
  readonly prefetchBufferSize?: number | undefined;
  /** From how many files examples come in turn. Default: 1. */
  readonly readerNumThreads?: number | undefined;
  /** Whether a last batch that is not full is left out. Default: false. */
  readonly dropFinalBatch?: boolean | undefined;
}

type Parsed<F> = { [K in keyof F]: Tensor };

/**
 * Files of `tf.train.Example` as batches of features by name, or with `labelKey` as [features, label]: as TensorFlow's
 * `make_batched_features_dataset`. Features of any number of values are padded, see `tf.io.parseExample`.
 *
 * @param filePattern a pattern, or several, as for `Dataset.listFiles`.
 * @throws NotFoundError when no file matches. @throws InvalidArgumentError for a label that is no feature, and wrong options.
 * Iterating throws what TFRecordDataset and `tf.io.parseExample` throw.
 */
export function makeBatchedFeaturesDataset<F extends FeatureSpecs, Label extends keyof F & string>(
  filePattern: string | readonly string[],
  batchSize: number,
  features: F,
  options: BatchedFeaturesOptions & { readonly labelKey: Label },
): Dataset<[features: Parsed<Omit<F, Label>>, label: Tensor]>;
export function makeBatchedFeaturesDataset<F extends FeatureSpecs>(
  filePattern: string | readonly string[],
  batchSize: number,
  features: F,
  options?: BatchedFeaturesOptions,
): Dataset<Parsed<F>>;
export function makeBatchedFeaturesDataset(
  filePattern: string | readonly string[],
  batchSize: number,
  features: FeatureSpecs,
  options: BatchedFeaturesOptions & { readonly labelKey?: string } = {},
): Dataset<unknown> {
  const what = 'makeBatchedFeaturesDataset';
  checkCount(batchSize, 'batchSize', what);
  const { shuffle = true, shuffleSeed, numEpochs, labelKey } = options;
  if (labelKey !== undefined && !Object.hasOwn(features, labelKey))
    throw new InvalidArgumentError(
      `labelKey must be one of the features, ${Object.keys(features).join(', ')}; got '${labelKey}'`,
      what,
    );
  const numParallelReads = options.readerNumThreads ?? 1;
  const reader = options.reader ?? ((names: FileNames) => new TFRecordDataset(names, { numParallelReads }));
  let examples = reader(Dataset.listFiles(filePattern, { shuffle, seed: shuffleSeed }));
  if (shuffle) {
    const seed = shuffleSeed === undefined ? {} : { seed: shuffleSeed };
    examples = examples.shuffle(options.shuffleBufferSize ?? 10_000, seed);
  }
  const dropRemainder = options.dropFinalBatch === true || numEpochs === undefined;
  const apart = <V>(
    row: Readonly<Record<string, V>>,
  ): Readonly<Record<string, V>> | [Record<string, V>, V] => {
    if (labelKey === undefined) return row;
    const { [labelKey]: label, ...rest } = row;
    return [rest, label as V];
  };
  return examples
    .repeat(numEpochs)
    .raggedBatch(batchSize, { dropRemainder })
    .map((batch) => apart(parseExample(batch, features)), {
      runEagerly: true,
      outputSignature: apart(batchSpec(features, dropRemainder ? batchSize : null)),
    })
    .prefetch(options.prefetchBufferSize ?? AUTOTUNE);
}
