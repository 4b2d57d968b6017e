/** `tf.strings`: text, and the bytes that it consists of. */
export {
  type AsStringOptions,
  asString,
  toHashBucket,
  toHashBucketFast,
  toHashBucketStrong,
  toNumber,
} from './ops/strings/convert.ts';
export type { UnicodeEncoding, UnicodeErrors } from './ops/strings/encodings.ts';
export {
  type FormatOptions,
  format,
  join,
  type ReduceJoinOptions,
  reduceJoin,
  unsortedSegmentJoin,
} from './ops/strings/join.ts';
export type { NgramsOptions } from './ops/strings/parts.ts';
export { bytesSplit, ngrams, split } from './ops/strings/split.ts';
export {
  type CaseEncoding,
  length,
  lower,
  regexFullMatch,
  regexReplace,
  type StringUnit,
  strip,
  substr,
  upper,
} from './ops/strings/text.ts';
export {
  type UnicodeDecodeOptions,
  type UnicodeOptions,
  unicodeDecode,
  unicodeDecodeWithOffsets,
  unicodeEncode,
  unicodeScript,
  unicodeSplit,
  unicodeSplitWithOffsets,
  unicodeTranscode,
} from './ops/strings/unicode.ts';
