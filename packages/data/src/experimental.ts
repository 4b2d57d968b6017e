/** `tf.data.experimental`: TensorFlow's older names of what `tf.data.Dataset` does, for `dataset.apply(…)`, and some things more. */
export { Optional } from './elements/optional.ts';
export type { AnyElementFunction, Step, StepTo } from './experimental/apply.ts';
export { DatasetRecordWriter as TFRecordWriter } from './experimental/record-writer.ts';
export {
  Counter,
  cardinality,
  chooseFromDatasets,
  enableDebugMode,
  fromList,
  getNextAsOptional,
  getSingleElement,
  getStructure,
  load,
  RandomDataset,
  sampleFromDatasets,
  save,
} from './experimental/sources.ts';
export {
  DatasetInitializer,
  type DatasetTableOptions,
  indexTableFromDataset,
  tableFromDataset,
} from './experimental/tables.ts';
export {
  assertCardinality,
  bucketBySequenceLength,
  copyToDevice,
  denseToRaggedBatch,
  denseToSparseBatch,
  enumerateDataset,
  groupByReducer,
  groupByWindow,
  ignoreErrors,
  type MapAndBatchOptions,
  mapAndBatch,
  type ParallelInterleaveOptions,
  padToCardinality,
  parallelInterleave,
  parseExampleDataset,
  prefetchToDevice,
  rejectionResample,
  scan,
  shuffleAndRepeat,
  snapshot,
  takeWhile,
  unbatch,
  unique,
} from './experimental/transformations.ts';
export { at } from './pipeline/at.ts';
export { AutoShardPolicy, SHARD_HINT } from './pipeline/auto-shard-policy.ts';
export {
  AutotuneOptions,
  DistributeOptions,
  OptimizationOptions,
  ThreadingOptions,
} from './pipeline/dataset-options.ts';
export {
  AUTOTUNE,
  INFINITE_CARDINALITY,
  UNKNOWN_CARDINALITY,
} from './pipeline/options.ts';
export { CsvDataset } from './readers/csv-dataset.ts';
export { makeBatchedFeaturesDataset } from './readers/make-batched-features-dataset.ts';
export { makeCsvDataset } from './readers/make-csv-dataset.ts';
export { Reducer } from './transformations/group-reduce.ts';
