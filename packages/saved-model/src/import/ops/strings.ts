// Text. Strings are on the host: where a function is traced, those that it knows then.

import type { RaggedTensor, Tensor } from '@eagre/core';
import * as tf from '@eagre/core';
import { bytesOf, textOf as bytesToText, knownTensor } from '@eagre/core/internal';
import type { OpCall } from '../op-call.ts';
import { type OpTable, several, type Translate } from '../op-row.ts';
import { raggedOf } from './ragged.ts';

/** The tensor with values that input `i` is. */
export function known(c: OpCall, i: number): Tensor {
  const value = knownTensor(c.x(i));
  if (value === null)
    throw c.lacks('a traced function cannot read bytes or texts that differ from run to run');
  return value;
}

const textOf = (strings: readonly string[], shape: readonly number[]): Tensor =>
  tf.constant([...strings], 'string', { shape });

const unit = (c: OpCall): tf.strings.StringUnit => c.textAttr('unit', 'BYTE') as tf.strings.StringUnit;
const encoding = (c: OpCall): tf.strings.CaseEncoding =>
  c.textAttr('encoding', '') as tf.strings.CaseEncoding;

/** The words of each text, as the values of a sparse tensor. */
const split: Translate = (c) => {
  const x = known(c, 0);
  const rows = x.strings().map((text) => {
    const parts = tf.strings.split(text, known(c, 1), c.intAttr('maxsplit', -1)) as Tensor;
    return parts.strings();
  });
  return asSparse(rows);
};

/** Rows of words as a sparse tensor: where they are, what they are, and its shape. */
function asSparse(rows: readonly (readonly string[])[]): Tensor[] {
  const places = rows.flatMap((words, row) => words.map((_, i) => [row, i]));
  const longest = rows.reduce((most, words) => Math.max(most, words.length), 0);
  return [
    tf.constant(places.flat(), 'int64', { shape: [places.length, 2] }),
    textOf(rows.flat(), [places.length]),
    tf.constant([rows.length, longest], 'int64'),
  ];
}

/** The parts of a text between any of some bytes; its bytes where there are none. */
function tokens(text: string, delimiters: ReadonlySet<number>, skipEmpty: boolean): string[] {
  const bytes = bytesOf(text);
  if (delimiters.size === 0) return Array.from(bytes, (byte) => bytesToText(Uint8Array.of(byte)));
  // An empty text has no parts, not even an empty one.
  if (bytes.length === 0) return [];
  const found: string[] = [];
  let from = 0;
  for (let i = 0; i <= bytes.length; i++) {
    if (i < bytes.length && !delimiters.has(bytes[i] as number)) continue;
    if (i > from || !skipEmpty) found.push(bytesToText(bytes.subarray(from, i)));
    from = i + 1;
  }
  return found;
}

/** The op before `StringSplitV2`, to which each byte of the delimiter is one. */
const splitAtBytes: Translate = (c) => {
  const delimiters = new Set(bytesOf(known(c, 1).strings()[0] as string));
  const skipEmpty = c.boolAttr('skip_empty', true);
  return asSparse(
    known(c, 0)
      .strings()
      .map((text) => tokens(text, delimiters, skipEmpty)),
  );
};

/** The rows of pieces that n-grams are made of, as values and where rows end. */
const ngrams: Translate = (c) => {
  const texts = known(c, 0).strings();
  const ends = c.ints(1);
  const widths = c.intsAttr('ngram_widths');
  const pad = c.intAttr('pad_width', 0);
  const pads = [c.textAttr('left_pad', ''), c.textAttr('right_pad', '')] as const;
  const rows = ends.slice(1).map((end, i) => {
    const grams = tf.strings.ngrams(
      tf.constant(texts.slice(ends[i], end), 'string', { shape: [end - (ends[i] as number)] }),
      widths,
      {
        separator: c.textAttr('separator', ''),
        preserveShortSequences: c.boolAttr('preserve_short_sequences', false),
        ...(pad === 0 ? {} : { padValues: pads, ...(pad > 0 ? { paddingWidth: pad } : {}) }),
      },
    ) as Tensor;
    return grams.strings();
  });
  let at = 0;
  const splits = [0, ...rows.map((row) => (at += row.length))];
  const flat = rows.flat();
  return [textOf(flat, [flat.length]), tf.constant(splits, c.dtypeAttr('Tsplits', 'int64'))];
};

const errorsOf = (c: OpCall): tf.strings.UnicodeErrors =>
  c.textAttr('errors', 'replace') as tf.strings.UnicodeErrors;

/** The code points of each string, as rows, and where each begins. */
function decoded(c: OpCall, withOffsets: boolean): Tensor[] {
  const texts = tf.reshape(c.x(0), [-1]);
  const [points, offsets] = tf.strings.unicodeDecodeWithOffsets(texts, c.textAttr('input_encoding'), {
    errors: errorsOf(c),
    replacementChar: c.intAttr('replacement_char', 0xfffd),
    replaceControlCharacters: c.boolAttr('replace_control_characters', false),
  }) as unknown as [RaggedTensor, RaggedTensor];
  const splits = tf.cast(points.rowSplits, c.dtypeAttr('Tsplits', 'int64'));
  return [splits, points.flatValues, ...(withOffsets ? [offsets.flatValues] : [])];
}

export const strings: OpTable = {
  StringLower: (c) => tf.strings.lower(c.x(), encoding(c)),
  StringUpper: (c) => tf.strings.upper(c.x(), encoding(c)),
  StringStrip: (c) => tf.strings.strip(c.x()),
  StringLength: (c) => tf.strings.length(c.x(), unit(c)),
  Substr: (c) => tf.strings.substr(c.x(), c.x(1), c.x(2), unit(c)),
  StringJoin: (c) => tf.strings.join(c.xs(), c.textAttr('separator', '')),
  ReduceJoin: (c) =>
    tf.strings.reduceJoin(c.x(), c.ints(1), {
      keepdims: c.boolAttr('keep_dims', false),
      separator: c.textAttr('separator', ''),
    }),
  UnsortedSegmentJoin: (c) =>
    tf.strings.unsortedSegmentJoin(c.x(), c.x(1), c.int(2), c.textAttr('separator', '')),
  StaticRegexReplace: (c) =>
    tf.strings.regexReplace(
      c.x(),
      c.textAttr('pattern'),
      c.textAttr('rewrite'),
      c.boolAttr('replace_global', true),
    ),
  RegexReplace: (c) => tf.strings.regexReplace(c.x(), c.x(1), c.x(2), c.boolAttr('replace_global', true)),
  StaticRegexFullMatch: (c) => tf.strings.regexFullMatch(c.x(), c.textAttr('pattern')),
  RegexFullMatch: (c) => tf.strings.regexFullMatch(c.x(), c.x(1)),
  AsString: (c) =>
    tf.strings.asString(c.x(), {
      precision: c.intAttr('precision', -1),
      scientific: c.boolAttr('scientific', false),
      shortest: c.boolAttr('shortest', false),
      width: c.intAttr('width', -1),
      fill: c.textAttr('fill', ''),
    }),
  StringToNumber: (c) => tf.strings.toNumber(c.x(), c.dtypeAttr('out_type', 'float32')),
  StringToHashBucket: (c) => tf.strings.toHashBucket(c.x(), c.intAttr('num_buckets')),
  StringToHashBucketFast: (c) => tf.strings.toHashBucketFast(c.x(), c.intAttr('num_buckets')),
  StringToHashBucketStrong: (c) =>
    tf.strings.toHashBucketStrong(c.x(), c.intAttr('num_buckets'), c.intsAttr('key')),
  StringFormat: (c) =>
    tf.strings.format(c.textAttr('template', '%s'), c.xs(), {
      placeholder: c.textAttr('placeholder', '%s'),
      summarize: c.intAttr('summarize', 3),
    }),
  StringSplit: several(['indices', 'values', 'shape'], splitAtBytes),
  Fingerprint: (c) => tf.fingerprint(c.x(0), known(c, 1).strings()[0] as 'farmhash64'),
  StringSplitV2: several(['indices', 'values', 'shape'], split),
  StringNGrams: several(['ngrams', 'ngrams_splits'], ngrams),
  UnicodeScript: (c) => tf.strings.unicodeScript(c.x()),
  UnicodeTranscode: (c) =>
    tf.strings.unicodeTranscode(
      c.x(),
      c.textAttr('input_encoding'),
      c.textAttr('output_encoding') as tf.strings.UnicodeEncoding,
      {
        errors: errorsOf(c),
        replacementChar: c.intAttr('replacement_char', 0xfffd),
        replaceControlCharacters: c.boolAttr('replace_control_characters', false),
      },
    ),
  UnicodeDecode: several(['row_splits', 'char_values'], (c) => decoded(c, false)),
  UnicodeDecodeWithOffsets: several(['row_splits', 'char_values', 'char_to_byte_starts'], (c) =>
    decoded(c, true),
  ),
  UnicodeEncode: (c) =>
    tf.strings.unicodeEncode(
      raggedOf([c.x(1)], c.x(0)),
      c.textAttr('output_encoding') as tf.strings.UnicodeEncoding,
      { errors: errorsOf(c), replacementChar: c.intAttr('replacement_char', 0xfffd) },
    ) as Tensor,
};
