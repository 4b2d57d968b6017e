/**
 * `tf.io`: files of arrays, and records. What is read goes into every op; `tensor.ndarray()` is what is written.
 */
import { DataLossError, InvalidArgumentError } from '@eagre/core';
import { declareAs, defineFunction, isPlain, type NamedFunction, shown } from '@eagre/core/internal';
import type { FeatureInputs, FeatureValue } from '@eagre/formats';
import * as formats from '@eagre/formats';

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
  type BytesLike,
  type DecodeCsvOptions,
  type DecodedProto,
  type DecodeImageOptions,
  type DecodeJpegOptions,
  type DecodeProtoOptions,
  type DecodeRawOptions,
  type DescriptorSource,
  decodeAndCropJpeg,
  decodeBase64,
  decodeBmp,
  decodeCompressed,
  decodeCsv,
  decodeGif,
  decodeImage,
  decodeJpeg,
  decodeJsonExample,
  decodePng,
  decodeProto,
  decodeRaw,
  decodeWebp,
  deserializeManySparse,
  type EncodeProtoOptions,
  encodeBase64,
  encodeJpeg,
  encodePng,
  encodeProto,
  extractJpegShape,
  gfile,
  isJpeg,
  loadImageCodecs,
  matchFilenamesOnce,
  matchingFiles,
  parseSequenceExample,
  parseSingleSequenceExample,
  parseTensor,
  RaggedFeature,
  readFile,
  SparseFeature,
  serializeManySparse,
  serializeSparse,
  serializeTensor,
  TFRecordOptions,
  writeFile,
} from '@eagre/data/internal';
export type {
  FeatureInput,
  FeatureInputs,
  FeatureValue,
  FetchOptions,
  FetchProgress,
  FileLike,
  FileScheme,
  NDArray,
  RequestOptions,
  StoredFile,
} from '@eagre/formats';
export { copyModel, listModels, moveModel, registerScheme, removeModel } from './io-models.ts';
export { writeGraph } from './write-graph.ts';

// These calls are marked as pure, and read nothing of other modules, so that bundlers leave out what a program does not use.
const encode: NamedFunction<[features: FeatureInputs], ['features'], unknown, Uint8Array> =
  /* @__PURE__ */ defineFunction('io.encodeExample', { features: { plain: true } }, {}, (features) => {
    if (!holdsFeatures(features))
      throw new InvalidArgumentError(
        `features must be an object or a map of values by name, got ${shown(features)}`,
        'io.encodeExample',
      );
    try {
      return formats.encodeExample(features);
    } catch (cause) {
      if (!(cause instanceof formats.FormatError)) throw cause;
      throw new InvalidArgumentError(cause.message, 'io.encodeExample', { cause });
    }
  });

const holdsFeatures = (value: unknown): boolean => isPlain(value) || value instanceof Map;

/**
 * The bytes of a `tf.train.Example`.
 *
 * @throws InvalidArgumentError for a value that no feature can hold.
 */
export const encodeExample: typeof encode = /* @__PURE__ */ declareAs(
  (...args: readonly unknown[]): Uint8Array => {
    const [first] = args;
    // A feature may have any name, that of the argument too; its value is no object.
    const alone =
      args.length === 1 && holdsFeatures(first) && !(isPlain(first) && holdsFeatures(first.features));
    return encode(...((alone ? [{ features: first }] : args) as Parameters<typeof encode>));
  },
  encode,
);

/**
 * The features in the bytes of a `tf.train.Example`.
 *
 * @throws DataLossError when they are something else.
 */
export const decodeExample: NamedFunction<
  [serialized: Uint8Array],
  ['serialized'],
  {
    /** The file's name, for error messages. */
    readonly file?: string | undefined;
  },
  Map<string, FeatureValue>
> = /* @__PURE__ */ defineFunction(
  'io.decodeExample',
  { serialized: true },
  { file: true },
  (serialized, options) => {
    if (!(serialized instanceof Uint8Array))
      throw new InvalidArgumentError(
        `serialized must be the bytes of an Example, a Uint8Array; got ${shown(serialized)}`,
        'io.decodeExample',
      );
    try {
      return formats.decodeExample(serialized, options);
    } catch (cause) {
      if (!(cause instanceof formats.FormatError)) throw cause;
      throw new DataLossError(cause.message, 'io.decodeExample', { cause });
    }
  },
);
