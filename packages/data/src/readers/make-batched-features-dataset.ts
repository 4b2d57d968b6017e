import { InvalidArgumentError } from '@eagre/backend';
import type { Tensor } from '@eagre/core';
import { defineFunction, kind, type NamedFunction } from '@eagre/core/internal';
import type { Dataset } from '../pipeline/dataset.ts';
import { checkCount } from '../pipeline/options.ts';
import { batchSpec, checkFeatures, type FeatureSpecs } from './features.ts';
import { batchesOfRecords, type FileBatchOptions, filesOf } from './file-batches.ts';
import { TFRecordDataset } from './file-datasets.ts';
import type { FileNames } from './files-node.ts';
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
 * @param features a feature for each name; see `tf.io.parseExample` for one that is called `features`.
 * @throws NotFoundError when no file matches. @throws InvalidArgumentError for a label that is no feature, and wrong options.
 * Iterating throws what TFRecordDataset and `tf.io.parseExample` throw.
 */
export const makeBatchedFeaturesDataset: {
  <F extends FeatureSpecs, Label extends keyof F & string>(
    filePattern: string | readonly string[],
    batchSize: number,
    features: F,
    options: BatchedFeaturesOptions & {
      /** The feature that is the label: elements are pairs then. */
      readonly labelKey: Label;
    },
  ): Dataset<[features: Parsed<Omit<F, Label>>, label: Tensor]>;
  <F extends FeatureSpecs, Label extends keyof F & string>(
    options: FeatureFiles<F> &
      BatchedFeaturesOptions & {
        /** The feature that is the label: elements are pairs then. */
        readonly labelKey: Label;
      },
  ): Dataset<[features: Parsed<Omit<F, Label>>, label: Tensor]>;
  <F extends FeatureSpecs>(
    filePattern: string | readonly string[],
    batchSize: number,
    features: F,
    options?: BatchedFeaturesOptions | null,
  ): Dataset<Parsed<F>>;
  <F extends FeatureSpecs>(options: FeatureFiles<F> & BatchedFeaturesOptions): Dataset<Parsed<F>>;
} = defineFunction<
  NamedFunction<
    [filePattern: string | readonly string[], batchSize: number, features: FeatureSpecs],
    ['filePattern', 'batchSize', 'features'],
    BatchedFeaturesOptions & { readonly labelKey?: string },
    Dataset<unknown>
  >
>(
  'tf.data.makeBatchedFeaturesDataset',
  { filePattern: true, batchSize: true, features: kind.structure },
  {
    labelKey: true,
    reader: true,
    readerNumThreads: true,
    dropFinalBatch: true,
    numEpochs: true,
    shuffle: true,
    shuffleBufferSize: true,
    shuffleSeed: true,
    prefetchBufferSize: true,
  },
  batchedFeatures,
) as never;

interface FeatureFiles<F> {
  /** Names of files, or patterns with `*`. */
  readonly filePattern: string | readonly string[];
  /** How many records become one batch. */
  readonly batchSize: number;
  /** What each feature is, by its name. */
  readonly features: F;
}

function batchedFeatures(
  filePattern: string | readonly string[],
  batchSize: number,
  features: FeatureSpecs,
  options: BatchedFeaturesOptions & { readonly labelKey?: string },
): Dataset<unknown> {
  const what = 'makeBatchedFeaturesDataset';
  checkCount(batchSize, 'batchSize', what);
  checkFeatures(features, what);
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
    return [rest, label];
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
