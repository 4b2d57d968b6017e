/**
 * `tf.io`: files of arrays, and records. What is read goes into every op; `tensor.ndarray()` is what is written.
 */
export {
  FixedLenFeature,
  FixedLenSequenceFeature,
  parseExample,
  parseSingleExample,
  VarLenFeature,
} from '@eagre/data';
export {
  decodeExample,
  encodeExample,
  type FeatureInput,
  type FeatureInputs,
  type FeatureValue,
  type NDArray,
  RecordFileWriter as TFRecordWriter,
  readIdxFile,
  readNpyFile,
  readNpzFile,
  readSafetensorsFile,
  writeNpyFile,
  writeNpzFile,
  writeSafetensorsFile,
} from '@eagre/formats';
