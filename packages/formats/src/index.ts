export { crc32c, maskCrc, unmaskCrc } from './archives/crc32c.ts';
export { deflateBytes } from './archives/deflate.ts';
export { type GunzipOptions, gunzip, isGzip } from './archives/gzip.ts';
export { Inflater } from './archives/inflater.ts';
export { unzip, type ZipFile } from './archives/zip.ts';
export { type FileParts, zipParts } from './archives/zip-writer.ts';
export { type DecodeIdxOptions, decodeIdx, encodeIdx } from './arrays/idx.ts';
export type { DataOf, DTypeName, NamedArrays, NDArray, NDArrayOf, TypedArray } from './arrays/ndarray.ts';
export {
  type DecodeNpyOptions,
  decodeNpy,
  decodeNpyHeader,
  decodeNpyOrTexts,
  encodeNpy,
  type NpyInfo,
  type TextArray,
} from './arrays/npy.ts';
export {
  type DecodeNpzOptions,
  decodeNpz,
  decodeNpzOrTexts,
  decodeNpzRagged,
  type EncodeNpzOptions,
  encodeNpz,
} from './arrays/npz.ts';
export {
  type DecodeSafetensorsOptions,
  decodeSafetensors,
  decodeSafetensorsHeader,
  encodeSafetensors,
  type Safetensors,
  type SafetensorsEntry,
  type SafetensorsHeader,
  safetensorsKind,
  type TensorSpec,
} from './arrays/safetensors.ts';
export {
  parseSafetensorsIndex,
  type SafetensorsIndex,
  SafetensorsModel,
  type SafetensorsModelEntry,
} from './arrays/safetensors-model.ts';
export {
  shardBytes,
  type TensorSource,
  type WriteSafetensorsModelOptions,
  writeSafetensorsModel,
  writeSafetensorsTensors,
} from './arrays/safetensors-writer.ts';
export { FormatError, type FormatErrorDetails, UnsupportedFormatError } from './errors.ts';
export { type FileContent, writeFileAtomic, writeFileAtomicSync, writeFilesAtomic } from './files/atomic.ts';
export {
  readFileBytes,
  readIdxFile,
  readNpyFile,
  readNpzFile,
  readSafetensorsFile,
  writeNpyFile,
  writeNpzFile,
  writeSafetensorsFile,
} from './files/files.ts';
export { makeFolders } from './files/make-folders.ts';
export type {
  FetchOptions,
  FetchProgress,
  FileScheme,
  RequestOptions,
  Signal,
  StoredFile,
} from './files/schemes.ts';
export type { FileLike, FileSource } from './files/url-files.ts';
export {
  type Hdf5Attribute,
  type Hdf5Dataset,
  type Hdf5Group,
  hdf5At,
  isHdf5Dataset,
} from './hdf5/hdf5.ts';
export { type Hdf5Source, type ReadHdf5Options, readHdf5, readHdf5File } from './hdf5/hdf5-reader.ts';
export { encodeHdf5, type Hdf5ArraySource, Hdf5GroupBuilder } from './hdf5/hdf5-writer.ts';
export * as onnx from './onnx/index.ts';
export * as tensorflow from './protobuf/messages.ts';
export type { BundleEntry } from './tensorflow/bundle-index.ts';
export { mergeBundles } from './tensorflow/bundle-merge.ts';
export { recoverBundle } from './tensorflow/bundle-open.ts';
export { BundleReader } from './tensorflow/bundle-reader.ts';
export type { BundleReading } from './tensorflow/bundle-reading.ts';
export { BundleWriter, type BundleWriterOptions } from './tensorflow/bundle-writer.ts';
export {
  type CheckpointState,
  formatCheckpointState,
  parseCheckpointState,
  readCheckpointState,
  writeCheckpointState,
} from './tensorflow/checkpoint-state.ts';
export {
  type DataTypeInfo,
  dataTypeInfo,
  dataTypeNumber,
  type StringArray,
  type TensorValue,
} from './tensorflow/data-types.ts';
export {
  type DecodeExampleOptions,
  decodeExample,
  decodeSequenceExample,
  encodeExample,
  encodeSequenceExample,
  type FeatureInput,
  type FeatureInputs,
  type FeatureListInputs,
  type FeatureValue,
  fromFeature,
  type SequenceExampleValue,
  toFeature,
} from './tensorflow/example.ts';
export {
  type ReadTableOptions,
  readTable,
  type TableEntry,
  type WriteTableOptions,
  writeTable,
} from './tensorflow/table.ts';
export {
  type DecodeTensorOptions,
  decodeTensorProto,
  type EncodeTensorOptions,
  encodeTensorProto,
  type StringInput,
} from './tensorflow/tensor-proto.ts';
export {
  encodeRecord,
  type RecordOptions,
  RecordParser,
  readRecords,
  recordBytes,
  writeRecord,
} from './tensorflow/tfrecord.ts';
export {
  defaultMaxRecordBytes,
  type RecordCompression,
  type RecordFileOptions,
  RecordFileReader,
  RecordFileWriter,
  type RecordFileWriterOptions,
} from './tensorflow/tfrecord-files.ts';
