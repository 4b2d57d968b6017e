import { InvalidArgumentError } from '@eagre/backend';
import { Decimal, type Json } from './json.ts';

/** How much a text may hold. */
export interface JsonLimits {
  /** How deep arrays and objects may be nested. */
  readonly maxDepth: number;
  /** The most values, counting arrays and objects too. */
  readonly maxValues: number;
}

/**
 * The value of a JSON text in UTF-8. As in TensorFlow Serving, numbers may be `NaN`, `Inf`, `Infinity`, `-Inf` and `-Infinity`.
 *
 * @throws InvalidArgumentError for other texts, with RapidJSON's message and the offset in bytes; for a key that an object has twice, and beyond the limits.
 */
export function parseJson(bytes: Uint8Array, limits: JsonLimits): Json {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw parseError('Invalid encoding in string.', validBytes(bytes));
  }
  return new JsonReader(text, limits).read();
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** How many bytes at the start are UTF-8, as far as a shorter text tells. */
function validBytes(bytes: Uint8Array): number {
  let low = 0;
  let high = bytes.length;
  const valid = (end: number): boolean => {
    try {
      new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, end), { stream: true });
      return true;
    } catch {
      return false;
    }
  };
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (valid(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

function parseError(why: string, offset: number): InvalidArgumentError {
  return new InvalidArgumentError(`JSON Parse error: ${why} at offset: ${offset}`);
}

const QUOTE = 34;
const COMMA = 44;
const MINUS = 45;
const DOT = 46;
const ZERO = 48;
const NINE = 57;
const COLON = 58;
const OPEN_ARRAY = 91;
const BACKSLASH = 92;
const CLOSE_ARRAY = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

const isDigit = (code: number): boolean => code >= ZERO && code <= NINE;

// Powers of ten that doubles hold exactly.
const TENS = Array.from({ length: 23 }, (_, i) => Number(`1e${i}`));
// Most decimals of images and features that are integers are these: one object for each.
const DECIMALS = Array.from({ length: 256 }, (_, i) => new Decimal(i));

const escapes: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

class JsonReader {
  readonly #text: string;
  readonly #limits: JsonLimits;
  #at = 0;
  #values = 0;

  constructor(text: string, limits: JsonLimits) {
    this.#text = text;
    this.#limits = limits;
  }

  read(): Json {
    this.#space();
    if (this.#at >= this.#text.length) throw this.#error('The document is empty.');
    const value = this.#value(0);
    this.#space();
    if (this.#at < this.#text.length)
      throw this.#error('The document root must not be followed by other values.');
    return value;
  }

  #error(why: string, at: number = this.#at): InvalidArgumentError {
    return parseError(why, Buffer.byteLength(this.#text.slice(0, at)));
  }

  #space(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return;
      this.#at++;
    }
  }

  #value(depth: number): Json {
    if (++this.#values > this.#limits.maxValues)
      throw new InvalidArgumentError(`JSON with more than ${this.#limits.maxValues} values is refused`);
    const code = this.#text.charCodeAt(this.#at);
    switch (code) {
      case QUOTE:
        return this.#string();
      case OPEN_ARRAY:
        return this.#array(this.#deeper(depth));
      case OPEN_OBJECT:
        return this.#object(this.#deeper(depth));
      case 110:
        return this.#word('null', null);
      case 116:
        return this.#word('true', true);
      case 102:
        return this.#word('false', false);
      default:
        return this.#number();
    }
  }

  #deeper(depth: number): number {
    if (depth >= this.#limits.maxDepth)
      throw new InvalidArgumentError(`JSON nested deeper than ${this.#limits.maxDepth} levels is refused`);
    return depth + 1;
  }

  #word<T extends Json>(word: string, value: T): T {
    if (!this.#text.startsWith(word, this.#at)) throw this.#error('Invalid value.');
    this.#at += word.length;
    return value;
  }

  #array(depth: number): Json[] {
    const out: Json[] = [];
    this.#at++;
    this.#space();
    if (this.#skip(CLOSE_ARRAY)) return out;
    for (;;) {
      out.push(this.#value(depth));
      this.#space();
      if (this.#skip(CLOSE_ARRAY)) return out;
      if (!this.#skip(COMMA)) throw this.#error('Missing a comma or ] after an array element.');
      this.#space();
    }
  }

  #object(depth: number): Map<string, Json> {
    const out = new Map<string, Json>();
    this.#at++;
    this.#space();
    if (this.#skip(CLOSE_OBJECT)) return out;
    for (;;) {
      if (this.#text.charCodeAt(this.#at) !== QUOTE) throw this.#error('Missing a name for object member.');
      const start = this.#at;
      const key = this.#string();
      this.#space();
      if (!this.#skip(COLON)) throw this.#error('Missing a colon after a name of object member.');
      this.#space();
      if (out.has(key))
        throw this.#error(`The name ${JSON.stringify(key.slice(0, 100))} is in an object twice.`, start);
      out.set(key, this.#value(depth));
      this.#space();
      if (this.#skip(CLOSE_OBJECT)) return out;
      if (!this.#skip(COMMA)) throw this.#error('Missing a comma or } after an object member.');
      this.#space();
    }
  }

  #skip(code: number): boolean {
    if (this.#text.charCodeAt(this.#at) !== code) return false;
    this.#at++;
    return true;
  }

  #string(): string {
    const text = this.#text;
    let start = ++this.#at;
    let out = '';
    for (;;) {
      const code = text.charCodeAt(this.#at);
      if (code === QUOTE) break;
      if (code === BACKSLASH) {
        out += text.slice(start, this.#at) + this.#escape();
        start = this.#at;
      } else if (code < 32) throw this.#error('Invalid encoding in string.');
      else if (Number.isNaN(code)) throw this.#error('Missing a closing quotation mark in string.');
      else this.#at++;
    }
    out += text.slice(start, this.#at++);
    return out;
  }

  #escape(): string {
    const start = this.#at;
    const next = this.#text[start + 1] ?? '';
    const simple = Object.hasOwn(escapes, next) ? escapes[next] : undefined;
    if (simple !== undefined) {
      this.#at += 2;
      return simple;
    }
    if (next !== 'u') throw this.#error('Invalid escape character in string.');
    const first = this.#hex(start);
    if (first >= 0xdc00 && first <= 0xdfff)
      throw this.#error('The surrogate pair in string is invalid.', start);
    if (first < 0xd800 || first > 0xdbff) return String.fromCharCode(first);
    if (!this.#text.startsWith('\\u', this.#at))
      throw this.#error('The surrogate pair in string is invalid.', start);
    const second = this.#hex(this.#at);
    if (second < 0xdc00 || second > 0xdfff)
      throw this.#error('The surrogate pair in string is invalid.', start);
    return String.fromCharCode(first, second);
  }

  /** The code in the escape `\uXXXX` at `start`. */
  #hex(start: number): number {
    const digits = this.#text.slice(start + 2, start + 6);
    if (!/^[0-9a-fA-F]{4}$/.test(digits))
      throw this.#error('Incorrect hex digit after \\u escape in string.', start);
    this.#at = start + 6;
    return Number.parseInt(digits, 16);
  }

  #number(): Json {
    const text = this.#text;
    const start = this.#at;
    let at = start;
    const negative = text.charCodeAt(at) === MINUS;
    if (negative) at++;
    let code = text.charCodeAt(at);
    if (!isDigit(code)) return this.#special(negative, at);
    let mantissa = 0;
    let digits = 0;
    const leading = code;
    do {
      mantissa = mantissa * 10 + (code - ZERO);
      digits++;
      code = text.charCodeAt(++at);
    } while (isDigit(code) && leading !== ZERO);
    let scale = 0;
    let integer = true;
    if (code === DOT) {
      integer = false;
      code = text.charCodeAt(++at);
      if (!isDigit(code)) throw this.#error('Miss fraction part in number.', at);
      const first = at;
      do {
        mantissa = mantissa * 10 + (code - ZERO);
        code = text.charCodeAt(++at);
      } while (isDigit(code));
      scale = at - first;
      digits += scale;
    }
    if (code === 101 || code === 69) {
      integer = false;
      code = text.charCodeAt(++at);
      if (code === 43 || code === MINUS) code = text.charCodeAt(++at);
      if (!isDigit(code)) throw this.#error('Miss exponent in number.', at);
      while (isDigit(text.charCodeAt(at))) at++;
      // Read from the text below.
      digits = Number.POSITIVE_INFINITY;
    }
    this.#at = at;
    if (integer) {
      const number = integerIn(text.slice(start, at), mantissa, digits, negative);
      if (number === Number.POSITIVE_INFINITY || number === Number.NEGATIVE_INFINITY)
        throw this.#error(TOO_BIG, start);
      return number;
    }
    // Up to 15 digits and 22 places, one division of exact doubles rounds rightly.
    const exact = digits <= 15 && scale <= 22;
    const value = exact ? (negative ? -mantissa : mantissa) / TENS[scale] : Number(text.slice(start, at));
    if (!Number.isFinite(value)) throw this.#error(TOO_BIG, start);
    return decimal(value);
  }

  #special(negative: boolean, at: number): number {
    for (const [word, value] of SPECIAL) {
      if (!this.#text.startsWith(word, at)) continue;
      this.#at = at + word.length;
      return negative ? -value : value;
    }
    throw this.#error('Invalid value.', at);
  }
}

const SPECIAL: readonly (readonly [word: string, value: number])[] = [
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['Inf', Number.POSITIVE_INFINITY],
];

function integerIn(text: string, value: number, digits: number, negative: boolean): Json {
  // No minus zero: it is an integer.
  if (digits <= 15) return negative && value !== 0 ? -value : value;
  // Beyond 64 bits it is a double. A BigInt of millions of digits would take seconds.
  if (digits > 20) return decimal(Number(text));
  const exact = BigInt(text);
  if (exact > MAX_UINT64 || exact < MIN_INT64) return decimal(Number(text));
  const number = Number(exact);
  return Number.isSafeInteger(number) ? number : exact;
}

const TOO_BIG = 'Number too big to be stored in double.';
const MAX_UINT64 = 2n ** 64n - 1n;
const MIN_INT64 = -(2n ** 63n);

function decimal(value: number): number | Decimal {
  if (!Number.isInteger(value)) return value;
  return value >= 0 && value < DECIMALS.length && !Object.is(value, -0)
    ? DECIMALS[value]
    : new Decimal(value);
}
