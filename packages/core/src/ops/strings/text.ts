// What strings are: their letters, lengths and parts.
import { InvalidArgumentError } from '@eagre/backend';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { checkOneOf } from '../../arguments/checks.ts';
import { portableEach } from '../../dispatch/portable.ts';
import { broadcastShapes, type Shape, sameShape } from '../../shapes/shape.ts';
import { constant } from '../../tensor/constant.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType } from '../../tensor/dtypes.ts';
import { hostValues, stringTensor, type Tensor, textsOf } from '../../tensor/tensor.ts';
import { broadcastTo } from '../array/array.ts';
import { bytesOf, hasHalves, isAscii, textOf } from './bytes.ts';
import { mapStrings, onKnown, toStrings, toText } from './known-strings.ts';
import { isSpace } from './parts.ts';
import { matcher, replacer } from './re2.ts';
import { eachUtf8 } from './utf8.ts';

/** What a string is counted in: its bytes, or the characters of UTF-8. */
export type StringUnit = 'BYTE' | 'UTF8_CHAR';
/** Which letters change: those of ASCII, or all. */
export type CaseEncoding = '' | 'utf-8';

type CaseFunction = NamedFunction<
  [input: TensorLike, encoding?: CaseEncoding],
  ['input', 'encoding'],
  unknown,
  Tensor<'string'>
>;

// Of texts of ASCII, as most are, the platform's functions do the same, and many times as fast.
/** Small letters instead of the large ones of ASCII. */
export const lowerAscii = (text: string): string => {
  const all = text.toLowerCase();
  if (all === text || isAscii(text)) return all;
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
};
/** Large letters instead of the small ones of ASCII. */
export const upperAscii = (text: string): string => {
  const all = text.toUpperCase();
  if (all === text || isAscii(text)) return all;
  return text.replace(/[a-z]+/g, (letters) => letters.toUpperCase());
};

const cased = (
  name: string,
  op: string,
  ascii: (text: string) => string,
  all: (text: string) => string,
): CaseFunction =>
  defineFunction(name, { input: kind.tensor, encoding: kind.asIs }, {}, (input, encoding = '') => {
    const x = toStrings(input, 'input', op);
    checkOneOf(encoding, ['', 'utf-8'], 'encoding', op);
    return mapStrings(x, op, encoding === '' ? ascii : all, (texts) =>
      portableEach(op, [texts], 'string', { encoding: { kind: 'text', value: encoding } }),
    );
  });

/** Small letters instead of large ones: those of ASCII, or with the encoding 'utf-8' all. */
export const lower: CaseFunction = /* @__PURE__ */ cased('strings.lower', 'StringLower', lowerAscii, (text) =>
  text.toLowerCase(),
);
/** Large letters instead of small ones: those of ASCII, or with the encoding 'utf-8' all. */
export const upper: CaseFunction = /* @__PURE__ */ cased('strings.upper', 'StringUpper', upperAscii, (text) =>
  text.toUpperCase(),
);

function stripped(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isSpace(text.charCodeAt(start))) start++;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--;
  return end - start === text.length ? text : text.slice(start, end);
}

/** Strings without the spaces of ASCII at their ends. */
export const strip: NamedFunction<
  [input: TensorLike],
  ['input'],
  unknown,
  Tensor<'string'>
> = /* @__PURE__ */ defineFunction('strings.strip', { input: kind.tensor }, {}, (input) =>
  mapStrings(toStrings(input, 'input', 'StringStrip'), 'StringStrip', stripped, (texts) =>
    portableEach('StringStrip', [texts], 'string'),
  ),
);

const UNITS: readonly StringUnit[] = ['BYTE', 'UTF8_CHAR'];
/** Where the characters of UTF-8 begin: a byte that continues none, and does not begin one, counts for nothing, as in TensorFlow. */
const isStart = (byte: number): boolean => (byte & 0xc0) !== 0x80;

/** How long strings are (int32): in bytes, or in characters of UTF-8. */
export const length: NamedFunction<
  [input: TensorLike, unit?: StringUnit],
  ['input', 'unit'],
  unknown,
  Tensor<'int32'>
> = /* @__PURE__ */ defineFunction(
  'strings.length',
  { input: kind.tensor, unit: kind.asIs },
  {},
  (input, unit: StringUnit = 'BYTE') => {
    checkOneOf(unit, UNITS, 'unit', 'StringLength');
    return onKnown(
      'StringLength',
      [toStrings(input, 'input', 'StringLength')],
      (x) => constant({ data: lengthsOf(x, unit), shape: x.shape }),
      (x) => portableEach('StringLength', [x], 'int32', { unit: { kind: 'text', value: unit } }),
    );
  },
);

function lengthsOf(x: Tensor, unit: StringUnit): Int32Array<ArrayBuffer> {
  const lengths = new Int32Array(x.size);
  eachUtf8(x, ({ bytes, starts, ascii }, first) => {
    for (let i = 0; i + 1 < starts.length; i++) {
      const end = starts[i + 1];
      let count = end - starts[i];
      if (unit !== 'BYTE' && !ascii) {
        count = 0;
        for (let at = starts[i]; at < end; at++) if (isStart(bytes[at])) count++;
      }
      lengths[first + i] = count;
    }
  });
  return lengths;
}

/**
 * Parts of strings: from `pos`, which counts from the end where it is negative, at most `len` bytes or characters, all that follow where it
 * is negative. Positions and lengths broadcast with the strings.
 * @throws InvalidArgumentError for a position outside of its string
 */
export const substr: NamedFunction<
  [input: TensorLike, pos: TensorLike, len: TensorLike, unit?: StringUnit],
  ['input', 'pos', 'len', 'unit'],
  unknown,
  Tensor<'string'>
> = /* @__PURE__ */ defineFunction(
  'strings.substr',
  { input: kind.tensor, pos: kind.tensor, len: kind.tensor, unit: kind.asIs },
  {},
  (input, pos, len, unit: StringUnit = 'BYTE') => {
    checkOneOf(unit, UNITS, 'unit', 'Substr');
    const places = [integersIn(pos, 'pos'), integersIn(len, 'len')];
    return onKnown('Substr', [toStrings(input, 'input', 'Substr'), ...places], (x, from, count) => {
      const shape = broadcastShapes(broadcastShapes(x.shape, from.shape, 'Substr'), count.shape, 'Substr');
      const begins = integersFor(from, shape);
      const lengths = integersFor(count, shape);
      const source = sameShape(x.shape, shape) ? x : broadcastTo(x, shape);
      const texts = textsOf(source);
      const parts = new Array<string>(texts.length);
      eachUtf8(source, ({ bytes, starts, ascii, valid }, first) => {
        for (let i = 0; i + 1 < starts.length; i++) {
          const k = first + i;
          const text = texts[k];
          const at = begins[begins.length === 1 ? 0 : k];
          const size = lengths[lengths.length === 1 ? 0 : k];
          // Where each unit is a byte, it is ASCII.
          if (ascii || (valid && starts[i + 1] - starts[i] === text.length))
            parts[k] = unitsFrom(text, at, size);
          else if (unit === 'BYTE')
            parts[k] = bytesFrom(text, bytes, starts[i], starts[i + 1], at, size, valid);
          else parts[k] = charactersFrom(text, at, size);
        }
      });
      return stringTensor(parts, shape);
    });
  },
);

/** Integers as numbers: one for all, or one for each element of a shape. */
function integersFor(x: Tensor, shape: Shape): ArrayLike<number> {
  const values = hostValues(x.size === 1 ? x : broadcastTo(x, shape)) as ArrayLike<number | bigint>;
  return x.dtype === 'int64' || x.dtype === 'uint64'
    ? Array.from(values, Number)
    : (values as ArrayLike<number>);
}

/** Integers, of a number int32. */
function integersIn(value: TensorLike, what: string): Tensor {
  const x = toTensor(value, 'int32');
  checkDType(x.dtype, 'integer', what, 'Substr');
  return x;
}

/** The unit at which a part begins. */
function beginning(text: string, at: number, count: number): number {
  if (at < -count || at > count)
    throw new InvalidArgumentError(`pos ${at} is out of range for '${text}', of length ${count}`, 'Substr');
  return at < 0 ? count + at : at;
}
/** Of ASCII, where a unit is a byte and a character. */
function unitsFrom(text: string, at: number, count: number): string {
  const begin = beginning(text, at, text.length);
  return text.slice(begin, count < 0 ? text.length : begin + count);
}
/** Of the bytes from `start` up to `end`, which are those of the text. */
function bytesFrom(
  text: string,
  bytes: Uint8Array,
  start: number,
  end: number,
  at: number,
  count: number,
  valid: boolean,
): string {
  const begin = start + beginning(text, at, end - start);
  const to = count < 0 ? end : Math.min(end, begin + count);
  // Whole characters are a part of the text.
  if (valid && (to === end || isStart(bytes[to])) && (begin === to || isStart(bytes[begin]))) {
    const from = unitsIn(bytes, start, begin);
    return text.slice(from, from + unitsIn(bytes, begin, to));
  }
  return textOf(bytes.subarray(begin, to));
}
/** How many units of UTF-16 bytes are. */
function unitsIn(bytes: Uint8Array, from: number, to: number): number {
  let count = 0;
  for (let i = from; i < to; i++) if (isStart(bytes[i])) count += bytes[i] >= 0xf0 ? 2 : 1;
  return count;
}
function charactersFrom(text: string, at: number, count: number): string {
  if (hasHalves(text)) return startsFrom(text, at, count);
  let size = 0;
  for (let i = 0; i < text.length; i++) if (!isLow(text.charCodeAt(i))) size++;
  const begin = beginning(text, at, size);
  const from = unitOf(text, 0, begin);
  return text.slice(from, count < 0 ? text.length : unitOf(text, from, count));
}
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;
/** The unit so many characters behind another one. */
function unitOf(text: string, from: number, count: number): number {
  let at = from;
  for (let n = count; at < text.length && (n > 0 || isLow(text.charCodeAt(at))); at++)
    if (!isLow(text.charCodeAt(at))) n--;
  return at;
}
/** Of bytes that are not all UTF-8: a character is what no byte continues. */
function startsFrom(text: string, at: number, count: number): string {
  const bytes = bytesOf(text);
  const starts: number[] = [];
  for (let i = 0; i < bytes.length; i++) if (i === 0 || isStart(bytes[i])) starts.push(i);
  const begin = beginning(text, at, starts.length);
  const end = count < 0 ? starts.length : begin + count;
  return textOf(bytes.subarray(starts[begin] ?? bytes.length, starts[end] ?? bytes.length));
}

/** Whether whole strings match a pattern, in RE2's syntax. The pattern may be a scalar tensor. */
export const regexFullMatch: NamedFunction<
  [input: TensorLike, pattern: TensorLike],
  ['input', 'pattern'],
  unknown,
  Tensor<'bool'>
> = /* @__PURE__ */ defineFunction(
  'strings.regexFullMatch',
  { input: kind.tensor, pattern: kind.tensor },
  {},
  (input, pattern) => {
    const text = scalarText(pattern, 'pattern', 'RegexFullMatch');
    const matches = matcher(text, 'RegexFullMatch');
    return onKnown(
      'RegexFullMatch',
      [toStrings(input, 'input', 'RegexFullMatch')],
      (x) => constant({ data: eachMatch(textsOf(x), matches), shape: x.shape, dtype: 'bool' }),
      (x) => portableEach('StaticRegexFullMatch', [x], 'bool', { pattern: { kind: 'text', value: text } }),
    );
  },
);

function eachMatch(texts: readonly string[], matches: (text: string) => boolean): Uint8Array<ArrayBuffer> {
  const found = new Uint8Array(texts.length);
  for (let i = 0; i < texts.length; i++) if (matches(texts[i])) found[i] = 1;
  return found;
}

/**
 * Strings with what matches a pattern, in RE2's syntax, replaced. In `rewrite`, \1 to \9 are the groups and \0 all that matched.
 * RE2 never takes long; JavaScript's expressions can, for patterns such as (a*)*b, so take no patterns of strangers.
 * @param replaceGlobal whether all matches are replaced, or the first; true by default
 * @throws InvalidArgumentError for a wrong pattern or rewrite, UnimplementedError for the few patterns that JavaScript does not have
 */
export const regexReplace: NamedFunction<
  [input: TensorLike, pattern: TensorLike, rewrite: TensorLike, replaceGlobal?: boolean],
  ['input', 'pattern', 'rewrite', 'replaceGlobal'],
  unknown,
  Tensor<'string'>
> = /* @__PURE__ */ defineFunction(
  'strings.regexReplace',
  { input: kind.tensor, pattern: kind.tensor, rewrite: kind.tensor, replaceGlobal: kind.asIs },
  {},
  (input, pattern, rewrite, replaceGlobal = true) => {
    const op = 'RegexReplace';
    const by = scalarText(rewrite, 'rewrite', op);
    const text = scalarText(pattern, 'pattern', op);
    const replace = replacer(text, by, replaceGlobal, op);
    return mapStrings(toStrings(input, 'input', op), op, replace, (x) =>
      portableEach('StaticRegexReplace', [x], 'string', {
        pattern: { kind: 'text', value: text },
        rewrite: { kind: 'text', value: by },
        replace_global: { kind: 'bool', value: replaceGlobal },
      }),
    );
  },
);

function scalarText(value: TensorLike, what: string, op: string): string {
  const x = toStrings(value, what, op);
  if (x.rank !== 0) throw new InvalidArgumentError(`${what} must be a scalar, got rank ${x.rank}`, op);
  return toText(x, what, op);
}
