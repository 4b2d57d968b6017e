// The names of the options that the methods of datasets take.
import type { OptionNames } from '@eagre/core/internal';
import type { ListFilesOptions } from '../readers/list-files.ts';
import type { SaveOptions, SnapshotOptions } from '../readers/saved-files.ts';
import type { GeneratorOptions } from '../sources/generator.ts';
import type { RangeOptions } from '../sources/numbers.ts';
import type { BatchOptions } from '../transformations/batch.ts';
import type { BucketOptions } from '../transformations/bucket.ts';
import type { InterleaveOptions } from '../transformations/flat-map.ts';
import type { GroupByWindowOptions } from '../transformations/group.ts';
import type { MapOptions } from '../transformations/map.ts';
import type { PaddedBatchOptions } from '../transformations/padded-batch.ts';
import type { RaggedBatchOptions } from '../transformations/ragged-batch.ts';
import type { ResampleOptions } from '../transformations/resample.ts';
import type { SampleOptions } from '../transformations/sample.ts';
import type { ShuffleOptions } from '../transformations/shuffle.ts';
import type { WindowOptions } from '../transformations/window.ts';
import type { FunctionCallOptions, SignatureOptions } from './element-function.ts';
import type { Count } from './options.ts';

/** Options of `Dataset.counter`. */
export interface CounterOptions extends RangeOptions {
  /** The first number; 0 unless given. */
  readonly start?: Count;
  /** From one to the next; 1 unless given. */
  readonly step?: Count;
}
/** Options of `Dataset.random`. */
export interface RandomOptions {
  /** Makes the numbers the same in each run of the program; drawn anew unless given. */
  readonly seed?: number;
  /** Whether each pass gives other numbers. */
  readonly rerandomizeEachIteration?: boolean;
}
/** Options of `Dataset.chooseFromDatasets`. */
export interface ChooseOptions {
  /** Whether the first dataset that ends ends all; true unless given. */
  readonly stopOnEmptyDataset?: boolean;
}
/** Options of `ignoreErrors`. */
export interface IgnoreErrorsOptions {
  /** Whether each error is told on the console. */
  readonly logWarning?: boolean;
}

export const callNames: OptionNames<FunctionCallOptions> = { runEagerly: true };
export const signatureNames: OptionNames<SignatureOptions> = { outputSignature: true };
const parallelNames = { numParallelCalls: true, deterministic: true } as const;
export const mapNames: OptionNames<MapOptions> = { ...parallelNames, ...callNames, ...signatureNames };
export const interleaveNames: OptionNames<InterleaveOptions> = {
  cycleLength: true,
  blockLength: true,
  ...parallelNames,
  ...signatureNames,
};
export const generatorNames: OptionNames<GeneratorOptions> = { outputSignature: true };
export const rangeNames: OptionNames<RangeOptions> = { outputType: true };
export const counterNames: OptionNames<CounterOptions> = { start: true, step: true, ...rangeNames };
export const randomNames: OptionNames<RandomOptions> = { seed: true, rerandomizeEachIteration: true };
export const listFilesNames: OptionNames<ListFilesOptions> = { shuffle: true, seed: true };
export const sampleNames: OptionNames<SampleOptions> = {
  weights: true,
  seed: true,
  stopOnEmptyDataset: true,
  rerandomizeEachIteration: true,
};
export const chooseNames: OptionNames<ChooseOptions> = { stopOnEmptyDataset: true };
export const batchNames: OptionNames<BatchOptions> = { dropRemainder: true };
export const paddedBatchNames: OptionNames<PaddedBatchOptions> = {
  paddedShapes: true,
  paddingValues: true,
  ...batchNames,
};
export const raggedBatchNames: OptionNames<RaggedBatchOptions> = { ...batchNames, rowSplitsDtype: true };
export const windowNames: OptionNames<WindowOptions> = { shift: true, stride: true, dropRemainder: true };
export const groupNames: OptionNames<GroupByWindowOptions> = {
  windowSize: true,
  windowSizeFunc: true,
  ...callNames,
  ...signatureNames,
};
export const bucketNames: OptionNames<BucketOptions> = {
  ...paddedBatchNames,
  noPadding: true,
  padToBucketBoundary: true,
};
export const shuffleNames: OptionNames<ShuffleOptions> = { seed: true, reshuffleEachIteration: true };
export const resampleNames: OptionNames<ResampleOptions> = { initialDist: true, seed: true, ...callNames };
export const saveNames: OptionNames<SaveOptions> = { compression: true };
export const snapshotNames: OptionNames<SnapshotOptions> = {
  ...saveNames,
  readerFunc: true,
  shardFunc: true,
};
export const ignoreErrorsNames: OptionNames<IgnoreErrorsOptions> = { logWarning: true };
