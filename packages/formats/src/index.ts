export { writeFileAtomic, writeFileAtomicSync } from './atomic.ts';
export type { BundleEntry } from './bundle-index.ts';
export { mergeBundles } from './bundle-merge.ts';
export { BundleReader } from './bundle-reader.ts';
export { BundleWriter, type BundleWriterOptions } from './bundle-writer.ts';
export {
  type CheckpointState,
  formatCheckpointState,
  parseCheckpointState,
  readCheckpointState,
  writeCheckpointState,
} from './checkpoint-state.ts';
export { crc32c, maskCrc, unmaskCrc } from './crc32c.ts';
export {
  type DataTypeInfo,
  dataTypeInfo,
  dataTypeNumber,
  type StringArray,
  type TensorValue,
} from './data-types.ts';
export { FormatError, type FormatErrorDetails, UnsupportedFormatError } from './errors.ts';
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
} from './example.ts';
export {
  readFileBytes,
  readIdxFile,
  readNpyFile,
  readNpzFile,
  readSafetensorsFile,
  writeNpyFile,
  writeNpzFile,
  writeSafetensorsFile,
} from './files.ts';
export { type GunzipOptions, gunzip, isGzip } from './gzip.ts';
export { type DecodeIdxOptions, decodeIdx, encodeIdx } from './idx.ts';
export { Inflater } from './inflater.ts';
export { makeFolders } from './make-folders.ts';
export * as tensorflow from './messages.ts';
export type { DataOf, DTypeName, NamedArrays, NDArray, NDArrayOf, TypedArray } from './ndarray.ts';
export { type DecodeNpyOptions, decodeNpy, decodeNpyHeader, encodeNpy, type NpyInfo } from './npy.ts';
export {
  type DecodeNpzOptions,
  decodeNpz,
  decodeNpzRagged,
  type EncodeNpzOptions,
  encodeNpz,
} from './npz.ts';
export {
  type DecodeSafetensorsOptions,
  decodeSafetensors,
  decodeSafetensorsHeader,
  encodeSafetensors,
  type Safetensors,
  type SafetensorsEntry,
  type SafetensorsHeader,
} from './safetensors.ts';
export {
  type ReadTableOptions,
  readTable,
  type TableEntry,
  type WriteTableOptions,
  writeTable,
} from './table.ts';
export {
  type DecodeTensorOptions,
  decodeTensorProto,
  type EncodeTensorOptions,
  encodeTensorProto,
  type StringInput,
} from './tensor-proto.ts';
export {
  encodeRecord,
  type RecordOptions,
  RecordParser,
  readRecords,
  recordBytes,
  writeRecord,
} from './tfrecord.ts';
export {
  defaultMaxRecordBytes,
  type RecordCompression,
  type RecordFileOptions,
  RecordFileReader,
  RecordFileWriter,
  type RecordFileWriterOptions,
} from './tfrecord-files.ts';
export { unzip, type ZipFile } from './zip.ts';
