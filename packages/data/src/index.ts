/** `tf.data`: pipelines of elements. */

export { DatasetSpec, type ElementSpec } from './elements/element-spec.ts';
export { IteratorSpec } from './elements/iterator-spec.ts';
export type { Element, ElementOf } from './elements/structure.ts';
export type { ElementFn, HostOf, Windowed, Zipped } from './elements/types.ts';
export * as experimental from './experimental.ts';
export type { FolderOptions } from './images/folder-files.ts';
export { FolderDataset } from './images/folder-node.ts';
export {
  type ArrayToImageOptions,
  arrayToImg,
  type ImageToArrayOptions,
  imgToArray,
  type SaveImageOptions,
  saveImg,
} from './images/image-arrays.ts';
export { type ImageDatasetOptions, imageDatasetFromDirectory } from './images/image-dataset.ts';
export { type LoadImageOptions, loadImg } from './images/load-image.ts';
export type { ColorMode, Interpolation, Picture } from './images/picture.ts';
export { at } from './pipeline/at.ts';
export { AutoShardPolicy, SHARD_HINT } from './pipeline/auto-shard-policy.ts';
export { Dataset } from './pipeline/dataset.ts';
export { DatasetIterator, DatasetIterator as Iterator } from './pipeline/dataset-iterator.ts';
export { Options, ThreadingOptions } from './pipeline/dataset-options.ts';
export type { FunctionCallOptions, SignatureOptions } from './pipeline/element-function.ts';
export type { State } from './pipeline/iterator.ts';
export {
  AUTOTUNE,
  type Count,
  type DatasetOptions,
  INFINITE_CARDINALITY,
  UNKNOWN_CARDINALITY,
} from './pipeline/options.ts';
export {
  readIdxFile,
  readNpyFile,
  readNpzFile,
  readSafetensorsFile,
  writeNpyFile,
  writeNpzFile,
  writeSafetensorsFile,
} from './readers/array-files.ts';
export { type AudioDatasetOptions, audioDatasetFromDirectory } from './readers/audio-dataset.ts';
export {
  type CsvColumn,
  CsvDataset,
  type CsvDType,
  type CsvOptions,
  type CsvValue,
} from './readers/csv-dataset.ts';
export type { CsvFormat } from './readers/csv-records.ts';
export {
  type FeatureDefault,
  type FeatureSpecs,
  FixedLenFeature,
  FixedLenSequenceFeature,
  VarLenFeature,
} from './readers/features.ts';
export type { FileBatchOptions } from './readers/file-batches.ts';
export type { Compression, FileOptions, TFRecordOptions } from './readers/file-bytes.ts';
export {
  FixedLengthRecordDataset,
  type FixedLengthRecordOptions,
  TextLineDataset,
  TFRecordDataset,
} from './readers/file-datasets.ts';
export type { FileNames } from './readers/files-node.ts';
export { JsonLinesDataset, type JsonLinesOptions } from './readers/json-lines.ts';
export type { ListFilesOptions } from './readers/list-files.ts';
export {
  type BatchedFeaturesOptions,
  makeBatchedFeaturesDataset,
} from './readers/make-batched-features-dataset.ts';
export { type CsvFeatures, type MakeCsvOptions, makeCsvDataset } from './readers/make-csv-dataset.ts';
export { parseExample, parseSingleExample, type Serialized } from './readers/parse-example.ts';
export type { FeatureDType } from './readers/ragged-feature.ts';
export { TFRecordWriter } from './readers/record-writer.ts';
export type { SaveOptions, SnapshotOptions } from './readers/saved-files.ts';
export { type RecordOptions, type StandardSchema, validated, validatedAsync } from './readers/schema.ts';
export { type TextDatasetOptions, textDatasetFromDirectory } from './readers/text-dataset.ts';
export type { ElementSource, GeneratorOptions } from './sources/generator.ts';
export type { RangeOptions } from './sources/numbers.ts';
export { type Split, type SplitOptions, splitDataset } from './sources/split-dataset.ts';
export { type TimeseriesOptions, timeseriesDatasetFromArray } from './sources/timeseries.ts';
export type { BatchOptions } from './transformations/batch.ts';
export type { BucketOptions } from './transformations/bucket.ts';
export type { InterleaveOptions } from './transformations/flat-map.ts';
export type { GroupByWindowOptions } from './transformations/group.ts';
export type { MapOptions } from './transformations/map.ts';
export type { PaddedBatchOptions, PaddedShapes, PaddingValues } from './transformations/padded-batch.ts';
export type { Ragged, RaggedBatchOptions } from './transformations/ragged-batch.ts';
export type { ResampleOptions } from './transformations/resample.ts';
export type { SampleOptions } from './transformations/sample.ts';
export type { ShuffleOptions } from './transformations/shuffle.ts';
export type { WindowOptions } from './transformations/window.ts';
export {
  mapOnWorkers,
  type WorkerArray,
  type WorkerFunction,
  type WorkerMapOptions,
} from './workers/map-on-workers.ts';
