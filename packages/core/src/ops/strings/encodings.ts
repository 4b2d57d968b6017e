// Encodings of text: bytes to code points, with their places, and back.
import { InvalidArgumentError } from '@eagre/backend';
import { shown } from '../../arguments/checks.ts';
import { sequenceAt, textOf } from './bytes.ts';

/** A code point and where it begins; -1 for bytes that are none. */
export interface Character {
  readonly point: number;
  readonly at: number;
}
type Decoder = (bytes: Uint8Array) => Character[];

const INVALID = -1;
export const isPoint = (point: number): boolean =>
  point >= 0 && point <= 0x10ffff && !(point >= 0xd800 && point <= 0xdfff);

/** UTF-8. Of what is none, as many bytes as begin a sequence are one fault. */
function fromUtf8(bytes: Uint8Array): Character[] {
  const out: Character[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = sequenceAt(bytes, at);
    if (length === 0) {
      out.push({ point: INVALID, at });
      at += faultAt(bytes, at);
      continue;
    }
    let point = length === 1 ? bytes[at] : bytes[at] & (0x7f >> length);
    for (let i = 1; i < length; i++) point = (point << 6) | (bytes[at + i] & 0x3f);
    out.push({ point, at });
    at += length;
  }
  return out;
}

/** How many bytes begin a sequence that does not go on. */
function faultAt(bytes: Uint8Array, at: number): number {
  const first = bytes[at];
  if (first < 0xc2 || first > 0xf4) return 1;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  const most = Math.min(length - 1, bytes.length - at);
  const begun = bytes.slice(at, at + most);
  // A beginning is what more bytes make whole.
  const isBeginning = (n: number): boolean =>
    sequenceAt(
      Uint8Array.from({ length }, (_, i) => (i < n ? begun[i] : 0x80)),
      0,
    ) > 0;
  let n = most;
  while (n > 1 && !isBeginning(n)) n--;
  return n;
}

const fromUtf16 =
  /* @__NO_SIDE_EFFECTS__ */
    (little: boolean): Decoder =>
    (bytes) => {
      const out: Character[] = [];
      const unit = (at: number): number =>
        at + 1 >= bytes.length
          ? INVALID
          : little
            ? bytes[at] | (bytes[at + 1] << 8)
            : (bytes[at] << 8) | bytes[at + 1];
      for (let at = 0; at < bytes.length; at += 2) {
        const [high, low] = [unit(at), unit(at + 2)];
        const pair = high >= 0xd800 && high < 0xdc00 && low >= 0xdc00 && low < 0xe000;
        const point = pair ? 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00) : high;
        out.push({ point: isPoint(point) ? point : INVALID, at });
        if (pair) at += 2;
      }
      return out;
    };

const fromUtf32 =
  /* @__NO_SIDE_EFFECTS__ */
    (little: boolean): Decoder =>
    (bytes) => {
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      const out: Character[] = [];
      for (let at = 0; at < bytes.length; at += 4) {
        const point = at + 4 > bytes.length ? INVALID : view.getUint32(at, little);
        out.push({ point: isPoint(point) ? point : INVALID, at });
      }
      return out;
    };

/** UTF-16 or UTF-32 whose first character may say the order of bytes; the next one begins with it, as in TensorFlow. */
const marked =
  /* @__NO_SIDE_EFFECTS__ */
    (size: 2 | 4, decoder: (little: boolean) => Decoder, littleAlone: boolean): Decoder =>
    (bytes) => {
      const [first] = decoder(false)(bytes.subarray(0, size));
      const [second] = decoder(true)(bytes.subarray(0, size));
      const little = second?.point === 0xfeff;
      if (!little && first?.point !== 0xfeff) return decoder(littleAlone)(bytes);
      return decoder(little)(bytes.subarray(size)).map(({ point, at }) => ({
        point,
        at: at === 0 ? 0 : at + size,
      }));
    };

const fromOneByte =
  /* @__NO_SIDE_EFFECTS__ */
    (last: number): Decoder =>
    (bytes) =>
      Array.from(bytes, (byte, at) => ({ point: byte <= last ? byte : INVALID, at }));

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** UTF-7 (RFC 2152): units of UTF-16 in base 64 between + and what is no digit of it; a - there is left out. Faults are those of ICU. */
function fromUtf7(bytes: Uint8Array): Character[] {
  const out: Character[] = [];
  let start = 0;
  /** A character, or half of one, that ends before a byte; what was read before it and is none belongs to it. */
  const put = (point: number, end: number): void => {
    const high = out.at(-1);
    if (
      high !== undefined &&
      high.point >= 0xd800 &&
      high.point < 0xdc00 &&
      point >= 0xdc00 &&
      point < 0xe000
    )
      out[out.length - 1] = { point: 0x10000 + ((high.point - 0xd800) << 10) + point - 0xdc00, at: high.at };
    else out.push({ point, at: start });
    start = end;
  };
  const isDirect = (byte: number): boolean => /[\t\n\r -[\]-}]/.test(String.fromCharCode(byte));
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] !== 0x2b) {
      put(isDirect(bytes[at]) ? bytes[at] : INVALID, at + 1);
      continue;
    }
    let [bits, count, end] = [0, 0, at + 1];
    for (; end < bytes.length; end++) {
      const digit = BASE64.indexOf(String.fromCharCode(bytes[end]));
      if (digit < 0) break;
      bits = (bits << 6) | digit;
      count += 6;
      if (count < 16) continue;
      count -= 16;
      put(bits >> count, end + 1);
      bits &= (1 << count) - 1;
    }
    const none = end === at + 1;
    const closed = bytes[end] === 0x2d;
    if (closed && none) put(0x2b, end + 1);
    // A + needs a digit, and what is left of the last one is 0.
    else if (none || bits !== 0) put(INVALID, end);
    at = closed ? end : end - 1;
  }
  return out;
}

/** Encodings that the platform knows: byte by byte, so that the places of characters are seen. */
function fromPlatform(name: string): Decoder | undefined {
  try {
    new TextDecoder(name);
  } catch {
    return undefined;
  }
  return (bytes) => {
    const decoder = new TextDecoder(name, { ignoreBOM: true });
    const out: Character[] = [];
    let begin = 0;
    const take = (text: string, end: number): void => {
      for (const c of text) {
        const point = c.codePointAt(0) as number;
        out.push({ point: point === 0xfffd ? INVALID : point, at: begin });
        begin = end;
      }
    };
    bytes.forEach((_, i) => {
      take(decoder.decode(bytes.subarray(i, i + 1), { stream: true }), i + 1);
    });
    take(decoder.decode(), bytes.length);
    return out;
  };
}

const UTF: Readonly<Record<string, Decoder>> = {
  utf8: fromUtf8,
  utf16: marked(2, fromUtf16, false),
  utf16be: fromUtf16(false),
  utf16le: fromUtf16(true),
  utf32: marked(4, fromUtf32, false),
  utf32be: fromUtf32(false),
  utf32le: fromUtf32(true),
  utf7: fromUtf7,
  usascii: fromOneByte(0x7f),
  ascii: fromOneByte(0x7f),
  iso88591: fromOneByte(0xff),
  latin1: fromOneByte(0xff),
};

/** Whether a decoder is that of UTF-8. */
export const isUtf8 = (decoder: Decoder): boolean => decoder === fromUtf8;

/** The code points of bytes. @throws InvalidArgumentError for an encoding that nobody knows */
export function decoderOf(encoding: unknown, op: string): Decoder {
  const name = String(encoding).toLowerCase();
  const own =
    typeof encoding === 'string' ? (UTF[name.replace(/[-_ ]/g, '')] ?? fromPlatform(name)) : undefined;
  if (own !== undefined) return own;
  throw new InvalidArgumentError(`the encoding ${shown(encoding)} is not known`, op);
}

/** Encodings that text is written in. */
export type UnicodeEncoding = 'UTF-8' | 'UTF-16-BE' | 'UTF-32-BE';
export const UNICODE_ENCODINGS: readonly UnicodeEncoding[] = ['UTF-8', 'UTF-16-BE', 'UTF-32-BE'];

/** The text whose bytes are code points in an encoding. */
export function textIn(points: ArrayLike<number>, encoding: UnicodeEncoding): string {
  if (encoding === 'UTF-8') return textOfPoints(points);
  const out = new Uint8Array(4 * points.length);
  let at = 0;
  for (let i = 0; i < points.length; i++) {
    const point = points[i];
    if (encoding === 'UTF-32-BE') {
      out[at++] = 0;
      out[at++] = point >> 16;
      out[at++] = point >> 8;
      out[at++] = point;
      continue;
    }
    const high = point > 0xffff ? 0xd7c0 + (point >> 10) : 0;
    if (high > 0) {
      out[at++] = high >> 8;
      out[at++] = high;
    }
    const unit = high > 0 ? 0xdc00 | (point & 0x3ff) : point;
    out[at++] = unit >> 8;
    out[at++] = unit;
  }
  return textOf(out.subarray(0, at));
}

// As many arguments as a call certainly takes.
const MOST_ARGUMENTS = 4096;
function textOfPoints(points: ArrayLike<number>): string {
  let text = '';
  for (let from = 0; from < points.length; from += MOST_ARGUMENTS) {
    const some = Array.prototype.slice.call(points, from, from + MOST_ARGUMENTS) as number[];
    text += String.fromCodePoint(...some);
  }
  return text;
}

/** What is done with what is no character. */
export type UnicodeErrors = 'strict' | 'replace' | 'ignore';

/** How faults and control characters are dealt with. */
export interface FaultPolicy {
  readonly errors: UnicodeErrors;
  readonly replacement: number;
  readonly replacesControls: boolean;
}

/** Characters with faults and, where these are replaced too, control characters replaced or left out. @throws InvalidArgumentError for a fault where they are strict */
export function repaired(
  characters: readonly Character[],
  { errors, replacement, replacesControls }: FaultPolicy,
  op: string,
): Character[] {
  const out: Character[] = [];
  for (const character of characters) {
    const { point, at } = character;
    const fault = !isPoint(point);
    if (fault && errors === 'strict')
      throw new InvalidArgumentError(`what is at ${at} is no character of the encoding`, op);
    const replaced = fault || (replacesControls && point < 0x20);
    if (replaced && errors === 'ignore') continue;
    out.push(replaced ? { point: replacement, at } : character);
  }
  return out;
}
