// Strings as code points, and code points as strings.
import { InvalidArgumentError } from '@eagre/backend';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { checkCount, checkOneOf } from '../../arguments/checks.ts';
import { atRunTime } from '../../dispatch/host.ts';
import { isRagged, type RaggedOrDense } from '../../ragged/ragged-base.ts';
import type { RaggedTensor } from '../../ragged/ragged-tensor.ts';
import { checkFlag } from '../../shapes/shape.ts';
import { constant } from '../../tensor/constant.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType } from '../../tensor/dtypes.ts';
import { stringTensor, type Tensor } from '../../tensor/tensor.ts';
import { bytesOf, hasHalves } from './bytes.ts';
import {
  decoderOf,
  type FaultPolicy,
  isPoint,
  isUtf8,
  repaired,
  textIn,
  UNICODE_ENCODINGS,
  type UnicodeEncoding,
  type UnicodeErrors,
} from './encodings.ts';
import { mapStrings, onKnown, toStrings } from './known-strings.ts';
import { numbersOf, rowsLike } from './rows.ts';
import { scriptOf } from './scripts.ts';
import { eachUtf8 } from './utf8.ts';

/** Options of `unicodeSplit`, `unicodeSplitWithOffsets` and `unicodeEncode`. */
export interface UnicodeOptions {
  /** What is done with bytes that are no character: replaced by default, left out, or refused. */
  readonly errors?: UnicodeErrors;
  /** The code point that replaces them; U+FFFD by default. */
  readonly replacementChar?: number;
}
/** Options of `unicodeDecode`, `unicodeDecodeWithOffsets` and `unicodeTranscode`. */
export interface UnicodeDecodeOptions extends UnicodeOptions {
  /** Whether the characters below U+0020 are replaced too; false by default. */
  readonly replaceControlCharacters?: boolean;
}

type Decode<R, O> = NamedFunction<
  [input: TensorLike | RaggedTensor, inputEncoding: string],
  ['input', 'inputEncoding'],
  O,
  R
>;

const ERRORS: readonly UnicodeErrors[] = ['strict', 'replace', 'ignore'];

function policyOf(options: UnicodeDecodeOptions, op: string): FaultPolicy {
  const { errors = 'replace', replacementChar = 0xfffd, replaceControlCharacters = false } = options;
  checkOneOf(errors, ERRORS, 'errors', op);
  checkCount(replacementChar, 'replacementChar', op);
  if (replacementChar > 0x10ffff)
    throw new InvalidArgumentError(`replacementChar must be a code point, got ${replacementChar}`, op);
  const replacesControls = checkFlag(replaceControlCharacters, 'replaceControlCharacters', op);
  return { errors, replacement: replacementChar, replacesControls };
}

/** A tensor of what characters have, and one of where they begin. */
type Decoded = readonly [values: RaggedOrDense, offsets: RaggedOrDense];

/** The characters of texts, one text behind the other. */
interface Characters {
  points: Int32Array<ArrayBuffer>;
  /** The byte of its text at which each begins. */
  places: Int32Array<ArrayBuffer>;
  count: number;
  /** How many each text has. */
  readonly lengths: Int32Array<ArrayBuffer>;
}

function decoded(
  input: TensorLike | RaggedTensor,
  encoding: string,
  options: UnicodeDecodeOptions,
  op: string,
  valuesOf: (points: Int32Array<ArrayBuffer>) => Tensor,
): Decoded {
  const decode = decoderOf(encoding, op);
  const policy = policyOf(options, op);
  if (isRagged(input)) {
    const [values, offsets] = decoded(input.flatValues, encoding, options, op, valuesOf);
    return [input.withFlatValues(values), input.withFlatValues(offsets)];
  }
  return onKnown(op, [toStrings(input, 'input', op)], (x) => {
    const none = new Int32Array(0);
    const all: Characters = { points: none, places: none, count: 0, lengths: new Int32Array(x.size) };
    eachUtf8(x, ({ bytes, starts, valid }, first) => {
      grow(all, starts[starts.length - 1]);
      for (let i = 0; i + 1 < starts.length; i++) {
        const before = all.count;
        if (valid && isUtf8(decode) && !policy.replacesControls)
          addUtf8(all, bytes, starts[i], starts[i + 1]);
        else {
          const characters = repaired(decode(bytes.subarray(starts[i], starts[i + 1])), policy, op);
          grow(all, characters.length);
          for (const { point, at } of characters) {
            all.points[all.count] = point;
            all.places[all.count++] = at;
          }
        }
        all.lengths[first + i] = all.count - before;
      }
    });
    const { count, lengths } = all;
    const places = new BigInt64Array(count);
    const words = new Uint32Array(places.buffer);
    for (let i = 0; i < count; i++) words[2 * i] = all.places[i];
    return [
      rowsLike(x.shape, valuesOf(all.points.subarray(0, count)), lengths),
      rowsLike(x.shape, constant({ data: places, shape: [count], dtype: 'int64' }), lengths),
    ];
  });
}

/** Makes room for more characters. */
function grow(all: Characters, more: number): void {
  const size = all.count + more;
  if (size <= all.points.length) return;
  const longer = (old: Int32Array): Int32Array<ArrayBuffer> => {
    const out = new Int32Array(Math.max(size, old.length + (old.length >> 1)));
    out.set(old);
    return out;
  };
  all.points = longer(all.points);
  all.places = longer(all.places);
}

/** Adds the characters of a text that is UTF-8. */
function addUtf8(all: Characters, bytes: Uint8Array, start: number, end: number): void {
  const { points, places } = all;
  let { count } = all;
  for (let at = start; at < end; ) {
    const byte = bytes[at];
    places[count] = at - start;
    if (byte < 0x80) {
      points[count++] = byte;
      at++;
    } else if (byte < 0xe0) {
      points[count++] = ((byte & 0x1f) << 6) | (bytes[at + 1] & 0x3f);
      at += 2;
    } else if (byte < 0xf0) {
      points[count++] = ((byte & 0xf) << 12) | ((bytes[at + 1] & 0x3f) << 6) | (bytes[at + 2] & 0x3f);
      at += 3;
    } else {
      const high = ((byte & 7) << 18) | ((bytes[at + 1] & 0x3f) << 12);
      points[count++] = high | ((bytes[at + 2] & 0x3f) << 6) | (bytes[at + 3] & 0x3f);
      at += 4;
    }
  }
  all.count = count;
}

const pointsOf = (points: Int32Array<ArrayBuffer>): Tensor =>
  constant({ data: points, shape: [points.length] });

/** Characters as strings of their encoding. */
const stringsIn =
  (encoding: UnicodeEncoding) =>
  (points: Int32Array<ArrayBuffer>): Tensor => {
    const few: string[] = [];
    const others = new Map<number, string>();
    const texts = new Array<string>(points.length);
    for (let i = 0; i < texts.length; i++) {
      const point = points[i];
      let text = point < 0x80 ? few[point] : others.get(point);
      if (text === undefined) {
        text = textIn([point], encoding);
        if (point < 0x80) few[point] = text;
        else others.set(point, text);
      }
      texts[i] = text;
    }
    return stringTensor(texts, [texts.length]);
  };

const DECODE_KINDS = { errors: kind.asIs, replacementChar: kind.asIs, replaceControlCharacters: kind.asIs };
const SPLIT_KINDS = { errors: kind.asIs, replacementChar: kind.asIs };
const INPUTS = { input: kind.tensor, inputEncoding: kind.asIs };

/**
 * The code points of strings (int32): a row for each string, so a ragged tensor, or a vector for a scalar.
 * @param inputEncoding UTF-8, UTF-16-BE, UTF-32-BE, or another one that the platform knows, such as shift-jis
 */
export const unicodeDecode: Decode<RaggedOrDense, UnicodeDecodeOptions> = /* @__PURE__ */ defineFunction(
  'strings.unicodeDecode',
  INPUTS,
  DECODE_KINDS,
  (input, inputEncoding, options: UnicodeDecodeOptions) =>
    decoded(input, inputEncoding, options, 'UnicodeDecode', pointsOf)[0],
);

/** {@link unicodeDecode}, and the byte at which each character begins (int64): `[codepoints, offsets]`. */
export const unicodeDecodeWithOffsets: Decode<Decoded, UnicodeDecodeOptions> = /* @__PURE__ */ defineFunction(
  'strings.unicodeDecodeWithOffsets',
  INPUTS,
  DECODE_KINDS,
  (input, inputEncoding, options: UnicodeDecodeOptions) =>
    decoded(input, inputEncoding, options, 'UnicodeDecodeWithOffsets', pointsOf),
);

function splitUp(
  input: TensorLike | RaggedTensor,
  encoding: string,
  options: UnicodeOptions,
  op: string,
): Decoded {
  checkOneOf(encoding, UNICODE_ENCODINGS, 'inputEncoding', op);
  return decoded(input, encoding, options, op, stringsIn(encoding as UnicodeEncoding));
}

/**
 * The characters of strings, each a string: a row for each string, so a ragged tensor, or a vector for a scalar.
 * @param inputEncoding UTF-8, UTF-16-BE or UTF-32-BE, that of the results too
 */
export const unicodeSplit: Decode<RaggedOrDense, UnicodeOptions> = /* @__PURE__ */ defineFunction(
  'strings.unicodeSplit',
  INPUTS,
  SPLIT_KINDS,
  (input, inputEncoding, options: UnicodeOptions) =>
    splitUp(input, inputEncoding, options, 'UnicodeSplit')[0],
);

/** {@link unicodeSplit}, and the byte at which each character begins (int64): `[chars, offsets]`. */
export const unicodeSplitWithOffsets: Decode<Decoded, UnicodeOptions> = /* @__PURE__ */ defineFunction(
  'strings.unicodeSplitWithOffsets',
  INPUTS,
  SPLIT_KINDS,
  (input, inputEncoding, options: UnicodeOptions) =>
    splitUp(input, inputEncoding, options, 'UnicodeSplitWithOffsets'),
);

/** Strings of the code points along the last axis, which may be ragged. */
export const unicodeEncode: NamedFunction<
  [input: TensorLike | RaggedTensor, outputEncoding: UnicodeEncoding],
  ['input', 'outputEncoding'],
  UnicodeOptions,
  RaggedOrDense
> = /* @__PURE__ */ defineFunction(
  'strings.unicodeEncode',
  { input: kind.tensor, outputEncoding: kind.asIs },
  SPLIT_KINDS,
  (input, outputEncoding, options: UnicodeOptions) => {
    checkOneOf(outputEncoding, UNICODE_ENCODINGS, 'outputEncoding', 'UnicodeEncode');
    return encoded(input, outputEncoding, policyOf(options, 'UnicodeEncode'));
  },
);

function encoded(
  input: TensorLike | RaggedTensor,
  encoding: UnicodeEncoding,
  policy: FaultPolicy,
): RaggedOrDense {
  const op = 'UnicodeEncode';
  const { errors, replacement } = policy;
  const write = (points: ArrayLike<number>, from: number, to: number): string => {
    const own: number[] = [];
    for (let i = from; i < to; i++) {
      const point = points[i];
      if (isPoint(point)) own.push(point);
      else if (errors === 'strict') repaired([{ point, at: i - from }], policy, op);
      else if (errors === 'replace') own.push(replacement);
    }
    return textIn(own, encoding);
  };
  if (isRagged(input)) {
    const { values } = input;
    if (isRagged(values) || values.rank > 1) return input.withValues(encoded(values, encoding, policy));
    return onKnown(op, [values, input.rowSplits], (x, splits) => {
      const points = numbersOf(x);
      const ends = numbersOf(splits);
      const texts = new Array<string>(ends.length - 1);
      for (let i = 0; i < texts.length; i++) texts[i] = write(points, ends[i], ends[i + 1]);
      return stringTensor(texts, [texts.length]);
    });
  }
  const x = toTensor(input, 'int32');
  if (x.size === 0 && x.dtype === 'float32') return encoded(x.cast('int32'), encoding, policy);
  checkDType(x.dtype, 'integer', 'input', op);
  if (x.rank === 0) throw new InvalidArgumentError('input must have an axis, got a scalar', op);
  return onKnown(op, [x], (known) => {
    const points = numbersOf(known);
    const n = known.shape.at(-1) as number;
    const shape = known.shape.slice(0, -1);
    const count = shape.reduce((product, size) => product * size, 1);
    return stringTensor(
      Array.from({ length: count }, (_, i) => write(points, i * n, (i + 1) * n)),
      shape,
    );
  });
}

/** Strings in another encoding. */
export const unicodeTranscode: NamedFunction<
  [input: TensorLike, inputEncoding: string, outputEncoding: UnicodeEncoding],
  ['input', 'inputEncoding', 'outputEncoding'],
  UnicodeDecodeOptions,
  Tensor<'string'>
> = /* @__PURE__ */ defineFunction(
  'strings.unicodeTranscode',
  { ...INPUTS, outputEncoding: kind.asIs },
  DECODE_KINDS,
  (input, inputEncoding, outputEncoding, options) => {
    const op = 'UnicodeTranscode';
    checkOneOf(outputEncoding, UNICODE_ENCODINGS, 'outputEncoding', op);
    const decode = decoderOf(inputEncoding, op);
    const policy = policyOf(options, op);
    const keeps = isUtf8(decode) && outputEncoding === 'UTF-8' && !policy.replacesControls;
    return mapStrings(toStrings(input, 'input', op), op, (text) => {
      if (keeps && !hasHalves(text)) return text;
      const read = decode(bytesOf(text));
      // Of control characters TensorFlow's decoders think otherwise: they replace them where faults are errors.
      if (policy.errors === 'strict' && policy.replacesControls && read.some(({ point }) => point < 0x20))
        throw new InvalidArgumentError('input has a control character, and errors is strict', op);
      const characters = repaired(read, policy, op);
      return textIn(
        characters.map(({ point }) => point),
        outputEncoding,
      );
    });
  },
);

/** The script of each code point, as ICU numbers them (int32): 25 is Latin, 17 Han; -1 for what is no code point. */
export const unicodeScript: NamedFunction<
  [input: TensorLike],
  ['input'],
  unknown,
  Tensor<'int32'>
> = /* @__PURE__ */ defineFunction('strings.unicodeScript', { input: kind.tensor }, {}, (input) => {
  const x = toTensor(input, 'int32');
  checkDType(x.dtype, 'integer', 'input', 'UnicodeScript');
  const scripts = (points: Tensor): Tensor => {
    const numbers = numbersOf(points);
    const data = new Int32Array(points.size);
    for (let i = 0; i < data.length; i++) data[i] = scriptOf(numbers[i]);
    return constant({ data, shape: points.shape });
  };
  return atRunTime('UnicodeScript', scripts as never, [x], [{ dtype: 'int32', shape: x.shape }])[0];
});
