import { InvalidArgumentError } from '@eagre/backend';
import type { Tensor } from '@eagre/core';
import type { Dataset } from '../dataset.ts';
import { batchesOfRecords, type FileBatchOptions, filesOf } from '../files/file-batches.ts';
import { TFRecordDataset } from '../files/file-datasets.ts';
import type { FileNames } from '../files/files-node.ts';
import { checkCount } from '../options.ts';
import { batchSpec, type FeatureSpecs } from './features.ts';
import { parseExample } from './parse-example.ts';

/** Options of {@link makeBatchedFeaturesDataset}; names and defaults are TensorFlow's. */
export interface BatchedFeaturesOptions extends FileBatchOptions {
  /** Makes the dataset of examples' bytes. Default: files of TFRecords, not compressed. */
  readonly reader?: ((filenames: Dataset<Tensor>) => Dataset<Tensor>) | undefined;
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
  const { labelKey, dropFinalBatch = false } = options;
  if (labelKey !== undefined && !Object.hasOwn(features, labelKey))
    throw new InvalidArgumentError(
      `labelKey must be one of the features, ${Object.keys(features).join(', ')}; got '${labelKey}'`,
      what,
    );
  const numParallelReads = options.readerNumThreads ?? 1;
  const reader = options.reader ?? ((names: FileNames) => new TFRecordDataset(names, { numParallelReads }));
  const apart = <V>(
    row: Readonly<Record<string, V>>,
  ): Readonly<Record<string, V>> | [Record<string, V>, V] => {
    if (labelKey === undefined) return row;
    const { [labelKey]: label, ...rest } = row;
    return [rest, label as V];
  };
  return batchesOfRecords(reader(filesOf(filePattern, options)), options, (examples, endless) => {
    const dropRemainder = dropFinalBatch || endless;
    return examples
      .raggedBatch(batchSize, { dropRemainder })
      .map((batch) => apart(parseExample(batch, features)), {
        runEagerly: true,
        outputSignature: apart(batchSpec(features, dropRemainder ? batchSize : null)),
      });
  });
}
