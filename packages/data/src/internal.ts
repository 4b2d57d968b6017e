/** What the umbrella puts into `tf.io`, `tf.image`, `tf.audio`, `tf.browser` and `tf.train`. */
export { type DrawOptions, draw, fromPixels, fromPixelsAsync, toPixels } from './browser/from-pixels.ts';
export type {
  BitmapLike,
  CanvasLike,
  ImageLike,
  PixelData,
  PixelSource,
  VideoFrameLike,
  VideoLike,
} from './browser/sources.ts';
export { Optional, OptionalSpec } from './elements/optional.ts';
export {
  adjustJpegQuality,
  type DecodeImageOptions,
  type DecodeJpegOptions,
  decodeAndCropJpeg,
  decodeBmp,
  decodeGif,
  decodeImage,
  decodeJpeg,
  decodePng,
  decodeWebp,
  encodeJpeg,
  encodePng,
  extractJpegShape,
  isJpeg,
  randomJpegQuality,
  statelessRandomJpegQuality,
} from './images/decode-image.ts';
export { loadImageCodecs } from './images/jpeg.ts';
export { decodeWav, encodeWav } from './io/audio.ts';
export type { BytesLike } from './io/byte-strings.ts';
export { type DecodeCsvOptions, decodeCsv } from './io/decode-csv.ts';
export { decodeJsonExample } from './io/decode-json-example.ts';
export {
  BytesList,
  Example,
  Feature,
  FeatureList,
  FeatureLists,
  Features,
  FloatList,
  Int64List,
  SequenceExample,
} from './io/example-messages.ts';
export { matchFilenamesOnce, matchingFiles, readFile, writeFile } from './io/files.ts';
export * as gfile from './io/gfile.ts';
export {
  type DecodedProto,
  decodeProto,
  encodeProto,
} from './io/proto.ts';
export type { DecodeProtoOptions, DescriptorSource, EncodeProtoOptions } from './io/proto-options.ts';
export {
  type DecodeRawOptions,
  decodeBase64,
  decodeCompressed,
  decodeRaw,
  encodeBase64,
} from './io/raw.ts';
export { deserializeManySparse, serializeManySparse, serializeSparse } from './io/sparse-tensors.ts';
export { parseTensor, serializeTensor } from './io/tensors.ts';
export { tracedElements } from './pipeline/traced-loop.ts';
export { SparseFeature } from './readers/features.ts';
export {
  parseSequenceExample,
  parseSingleSequenceExample,
  type SequenceFeatures,
} from './readers/parse-sequence-example.ts';
export { RaggedFeature } from './readers/ragged-feature.ts';
export { TFRecordOptions } from './readers/record-writer.ts';
export { autoShard, batchSizeOf, replicaBatchSizes } from './transformations/auto-shard.ts';
