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
import { hostValues, stringTensor, type Tensor } from '../../tensor/tensor.ts';
import { bytesOf, textOf } from './bytes.ts';
import {
  type Character,
  decoderOf,
  encodePoints,
  type FaultPolicy,
  repaired,
  UNICODE_ENCODINGS,
  type UnicodeEncoding,
  type UnicodeErrors,
} from './encodings.ts';
import { mapStrings, onKnown, toStrings } from './known-strings.ts';
import { rowsLike } from './rows.ts';
import { scriptOf } from './scripts.ts';

export interface UnicodeOptions {
  /** What is done with bytes that are no character: replaced by default, left out, or refused. */
  readonly errors?: UnicodeErrors;
  /** The code point that replaces them; U+FFFD by default. */
  readonly replacementChar?: number;
}
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

function decoded(
  input: TensorLike | RaggedTensor,
  encoding: string,
  options: UnicodeDecodeOptions,
  op: string,
  valuesOf: (characters: readonly Character[]) => Tensor,
): Decoded {
  const decode = decoderOf(encoding, op);
  const policy = policyOf(options, op);
  if (isRagged(input)) {
    const [values, offsets] = decoded(input.flatValues, encoding, options, op, valuesOf);
    return [input.withFlatValues(values), input.withFlatValues(offsets)];
  }
  return onKnown(op, [toStrings(input, 'input', op)], (x) => {
    const rows = x.strings().map((text) => repaired(decode(bytesOf(text)), policy, op));
    const all = rows.flat();
    const lengths = rows.map((row) => row.length);
    const places = BigInt64Array.from(all, ({ at }) => BigInt(at));
    return [
      rowsLike(x.shape, valuesOf(all), lengths),
      rowsLike(x.shape, constant({ data: places, shape: [all.length], dtype: 'int64' }), lengths),
    ];
  });
}

const pointsOf = (characters: readonly Character[]): Tensor =>
  constant({ data: Int32Array.from(characters, ({ point }) => point), shape: [characters.length] });

/** Characters as strings of their encoding. */
const stringsIn =
  (encoding: UnicodeEncoding) =>
  (characters: readonly Character[]): Tensor =>
    stringTensor(
      characters.map(({ point }) => textOf(encodePoints([point], encoding))),
      [characters.length],
    );

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
  const write = (points: readonly number[]): string => {
    const characters = points.map((point, at) => ({ point, at }));
    return textOf(
      encodePoints(
        repaired(characters, policy, op).map(({ point }) => point),
        encoding,
      ),
    );
  };
  if (isRagged(input)) {
    const { values } = input;
    if (isRagged(values) || values.rank > 1) return input.withValues(encoded(values, encoding, policy));
    return onKnown(op, [values, input.rowSplits], (x, splits) => {
      const points = endsOf(x);
      const ends = Array.from(hostValues(splits) as ArrayLike<number | bigint>, Number);
      const texts = ends.slice(1).map((end, i) => write(points.slice(ends[i], end)));
      return stringTensor(texts, [texts.length]);
    });
  }
  const x = toTensor(input, 'int32');
  if (x.size === 0 && x.dtype === 'float32') return encoded(x.cast('int32'), encoding, policy);
  checkDType(x.dtype, 'integer', 'input', op);
  if (x.rank === 0) throw new InvalidArgumentError('input must have an axis, got a scalar', op);
  return onKnown(op, [x], (known) => {
    const points = endsOf(known);
    const n = known.shape.at(-1) as number;
    const shape = known.shape.slice(0, -1);
    const count = shape.reduce((product, size) => product * size, 1);
    return stringTensor(
      Array.from({ length: count }, (_, i) => write(points.slice(i * n, (i + 1) * n))),
      shape,
    );
  });
}

const endsOf = (x: Tensor): number[] => Array.from(hostValues(x) as ArrayLike<number | bigint>, Number);

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
    return mapStrings(toStrings(input, 'input', op), op, (text) => {
      const read = decode(bytesOf(text));
      // Of control characters TensorFlow's decoders think otherwise: they replace them where faults are errors.
      if (policy.errors === 'strict' && policy.replacesControls && read.some(({ point }) => point < 0x20))
        throw new InvalidArgumentError('input has a control character, and errors is strict', op);
      const characters = repaired(read, policy, op);
      return textOf(
        encodePoints(
          characters.map(({ point }) => point),
          outputEncoding,
        ),
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
  const scripts = (points: Tensor): Tensor =>
    constant({ data: Int32Array.from(endsOf(points), scriptOf), shape: points.shape });
  return atRunTime('UnicodeScript', scripts as never, [x], [{ dtype: 'int32', shape: x.shape }])[0];
});
