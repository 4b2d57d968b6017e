/** `tf.data`: pipelines of elements. */
export { at } from './at.ts';
export { Dataset } from './dataset.ts';
export { DatasetIterator } from './dataset-iterator.ts';
export type { FunctionCallOptions, SignatureOptions } from './element-function.ts';
export { DatasetSpec, type ElementSpec } from './elements/element-spec.ts';
export type { Element, ElementOf } from './elements/structure.ts';
export type { ElementFn, HostOf, Windowed, Zipped } from './elements/types.ts';
export {
  type FeatureDefault,
  type FeatureDType,
  type FeatureSpecs,
  FixedLenFeature,
  FixedLenSequenceFeature,
  VarLenFeature,
} from './examples/features.ts';
export {
  type BatchedFeaturesOptions,
  makeBatchedFeaturesDataset,
} from './examples/make-batched-features-dataset.ts';
export { parseExample, parseSingleExample, type Serialized } from './examples/parse-example.ts';
export {
  readIdxFile,
  readNpyFile,
  readNpzFile,
  readSafetensorsFile,
  writeNpyFile,
  writeNpzFile,
  writeSafetensorsFile,
} from './files/array-files.ts';
export {
  type CsvColumn,
  CsvDataset,
  type CsvDType,
  type CsvOptions,
  type CsvValue,
} from './files/csv-dataset.ts';
export type { CsvFormat } from './files/csv-records.ts';
export type { FileBatchOptions } from './files/file-batches.ts';
export type { Compression, FileOptions, TFRecordOptions } from './files/file-bytes.ts';
export {
  FixedLengthRecordDataset,
  type FixedLengthRecordOptions,
  TextLineDataset,
  TFRecordDataset,
} from './files/file-datasets.ts';
export type { FileNames } from './files/files-node.ts';
export { JsonLinesDataset, type JsonLinesOptions } from './files/json-lines.ts';
export type { ListFilesOptions } from './files/list-files.ts';
export { type CsvFeatures, type MakeCsvOptions, makeCsvDataset } from './files/make-csv-dataset.ts';
export { TFRecordWriter } from './files/record-writer.ts';
export { type RecordOptions, type StandardSchema, validated, validatedAsync } from './files/schema.ts';
export type { FolderOptions } from './folders/folder-files.ts';
export { FolderDataset } from './folders/folder-node.ts';
export { type ImageDatasetOptions, imageDatasetFromDirectory } from './folders/image-dataset.ts';
export type { ColorMode, Interpolation, Picture } from './folders/picture.ts';
export { type TextDatasetOptions, textDatasetFromDirectory } from './folders/text-dataset.ts';
export type { State } from './iterator.ts';
export { AUTOTUNE, type DatasetOptions, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY } from './options.ts';
export type { SaveOptions, SnapshotOptions } from './saved/saved-files.ts';
export type { ElementSource, GeneratorOptions } from './sources/generator.ts';
export type { RangeOptions } from './sources/numbers.ts';
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
