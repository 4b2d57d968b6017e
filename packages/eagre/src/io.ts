/**
 * `tf.io`: files of arrays, and records. What is read goes into every op; `tensor.ndarray()` is what is written.
 */
export {
  FixedLenFeature,
  FixedLenSequenceFeature,
  parseExample,
  parseSingleExample,
  readIdxFile,
  readNpyFile,
  readNpzFile,
  readSafetensorsFile,
  TFRecordWriter,
  VarLenFeature,
  writeNpyFile,
  writeNpzFile,
  writeSafetensorsFile,
} from '@eagre/data';
export {
  decodeExample,
  encodeExample,
  type FeatureInput,
  type FeatureInputs,
  type FeatureValue,
  type NDArray,
} from '@eagre/formats';
