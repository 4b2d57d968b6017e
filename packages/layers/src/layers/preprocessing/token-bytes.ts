// Texts as tokens, in bytes: of tokens that are only looked up no strings are made.
import type { Tensor } from '@eagre/core';
import { eachUtf8, textOf } from '@eagre/core/internal';

/** What takes tokens. */
export interface TokenSink {
  /** The bytes from `start` on, without the one at `end`. They are there during the call alone. */
  token(bytes: Uint8Array, start: number, end: number): void;
  /** What follows is of the next text. */
  endText(): void;
}

/** How texts become tokens. */
export interface Tokenizing {
  readonly lower: boolean;
  readonly punctuation: boolean;
  readonly split: 'whitespace' | 'character' | null;
  /** How many tokens are one together, of each of several numbers; null for tokens as they are. */
  readonly widths: readonly number[] | null;
}

const LEFT_OUT = 256;
const BETWEEN = 257;
const SPACE = 32;
const isSpace = (byte: number): boolean => byte === SPACE || (byte >= 9 && byte <= 13);
// All of ASCII that is no letter, digit, space or control character.
const isPunctuation = (byte: number): boolean =>
  byte > SPACE && byte < 127 && !/[0-9A-Za-z]/.test(String.fromCharCode(byte));

/** What becomes of each byte. */
function bytesBy({ lower, punctuation, split }: Tokenizing): Uint16Array {
  return Uint16Array.from({ length: 256 }, (_, byte) => {
    if (punctuation && isPunctuation(byte)) return LEFT_OUT;
    if (split === 'whitespace' && isSpace(byte)) return BETWEEN;
    return lower && byte >= 65 && byte <= 90 ? byte + 32 : byte;
  });
}

/** Cuts the texts of a tensor into tokens. @returns false, before anything is taken, where bytes are not UTF-8 */
export function tokenize(x: Tensor, how: Tokenizing, sink: TokenSink): boolean {
  const { split, widths } = how;
  const map = bytesBy(how);
  let row = new Uint8Array(256);
  let starts = new Int32Array(64);
  let ends = new Int32Array(64);
  let valid = true;
  eachUtf8(x, (utf8, first) => {
    if (first === 0) valid = utf8.valid;
    if (!valid) return;
    const { bytes } = utf8;
    for (let i = 0; i + 1 < utf8.starts.length; i++) {
      const begin = utf8.starts[i] as number;
      const end = utf8.starts[i + 1] as number;
      // With a space behind each character.
      if (row.length < 2 * (end - begin) + 1) row = new Uint8Array(4 * (end - begin) + 1);
      if (starts.length < end - begin + 1) {
        starts = new Int32Array(2 * (end - begin) + 1);
        ends = new Int32Array(starts.length);
      }
      let size = 0;
      let count = 0;
      let inside = false;
      for (let at = begin; at < end; at++) {
        const byte = map[bytes[at] as number] as number;
        if (byte === LEFT_OUT) continue;
        // A character ends where another one begins.
        const closes = byte === BETWEEN || (split === 'character' && (byte & 0xc0) !== 0x80);
        if (closes && inside) {
          ends[count++] = size;
          row[size++] = SPACE;
          inside = false;
        }
        if (byte === BETWEEN) continue;
        if (!inside) {
          starts[count] = size;
          inside = true;
        }
        row[size++] = byte;
      }
      if (inside || split === null) {
        if (!inside) starts[count] = size;
        ends[count++] = size;
      }
      if (widths === null)
        for (let k = 0; k < count; k++) sink.token(row, starts[k] as number, ends[k] as number);
      else
        for (const width of widths)
          for (let k = 0; k + width <= count; k++)
            sink.token(row, starts[k] as number, ends[k + width - 1] as number);
      sink.endText();
    }
  });
  return valid;
}

/** The numbers of tokens, by their bytes. */
export class TokenIndex {
  count = 0;
  #bytes = new Uint8Array(1024);
  /** Where each token begins. */
  #starts = new Int32Array(64);
  #hashes = new Int32Array(64);
  /** By hash: numbers plus 1. At least half of the places are free. */
  #places = new Int32Array(128);

  /** The place of a token, or the one where it belongs. */
  #placeOf(bytes: Uint8Array, start: number, end: number, hash: number): number {
    const places = this.#places;
    const mask = places.length - 1;
    const own = this.#bytes;
    for (let at = hash & mask; ; at = (at + 1) & mask) {
      const number = places[at] as number;
      if (number === 0) return at;
      if (this.#hashes[number - 1] !== hash) continue;
      const from = this.#starts[number - 1] as number;
      if ((this.#starts[number] as number) - from !== end - start) continue;
      let i = 0;
      while (start + i < end && own[from + i] === bytes[start + i]) i++;
      if (start + i === end) return at;
    }
  }
  /** The number of a token; -1 where it is not there. */
  find(bytes: Uint8Array, start: number, end: number): number {
    const at = this.#placeOf(bytes, start, end, hashOf(bytes, start, end));
    return (this.#places[at] as number) - 1;
  }
  /** The same, but tokens that are not there are added. */
  add(bytes: Uint8Array, start: number, end: number): number {
    const hash = hashOf(bytes, start, end);
    const at = this.#placeOf(bytes, start, end, hash);
    if (this.#places[at] !== 0) return (this.#places[at] as number) - 1;
    const number = this.count++;
    if (number + 2 > this.#starts.length) {
      this.#starts = longer(this.#starts, Int32Array, 2 * this.#starts.length);
      this.#hashes = longer(this.#hashes, Int32Array, 2 * this.#hashes.length);
    }
    const from = this.#starts[number] as number;
    const to = from + end - start;
    if (to > this.#bytes.length) this.#bytes = longer(this.#bytes, Uint8Array, 2 * to);
    for (let i = start; i < end; i++) this.#bytes[from + i - start] = bytes[i] as number;
    this.#starts[number + 1] = to;
    this.#hashes[number] = hash;
    this.#places[at] = number + 1;
    if (2 * this.count > this.#places.length) this.#spread();
    return number;
  }
  #spread(): void {
    const places = new Int32Array(2 * this.#places.length);
    for (let number = 0; number < this.count; number++) {
      let at = (this.#hashes[number] as number) & (places.length - 1);
      while (places[at] !== 0) at = (at + 1) & (places.length - 1);
      places[at] = number + 1;
    }
    this.#places = places;
  }
  /** The token of a number. */
  text(number: number): string {
    return textOf(this.#bytes.subarray(this.#starts[number], this.#starts[number + 1]));
  }
}

function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = end - start;
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ (bytes[i] as number), 0x01000193);
  return Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) >> 1;
}
const longer = <A extends Uint8Array | Int32Array>(
  old: A,
  type: new (size: number) => A,
  size: number,
): A => {
  const out = new type(size);
  out.set(old);
  return out;
};

/** The index of tokens of a tensor; null where their bytes are not UTF-8. */
export function tokenIndexOf(tokens: Tensor): TokenIndex | null {
  const index = new TokenIndex();
  let valid = true;
  eachUtf8(tokens, (utf8) => {
    valid &&= utf8.valid;
    for (let i = 0; i + 1 < utf8.starts.length; i++)
      index.add(utf8.bytes, utf8.starts[i] as number, utf8.starts[i + 1] as number);
  });
  return valid ? index : null;
}

/** Integers of tokens: their numbers of a vocabulary, and how many tokens each text has. */
export class TokenNumbers implements TokenSink {
  numbers: Int32Array;
  count = 0;
  readonly ends: Int32Array;
  #texts = 0;
  readonly #index: TokenIndex;
  readonly #none: number;

  /** @param none what stands for an empty token */
  constructor(index: TokenIndex, texts: number, none: number) {
    this.#index = index;
    this.#none = none;
    this.numbers = new Int32Array(16 * texts + 16);
    this.ends = new Int32Array(texts);
  }
  token(bytes: Uint8Array, start: number, end: number): void {
    if (this.count === this.numbers.length) this.numbers = longer(this.numbers, Int32Array, 2 * this.count);
    this.numbers[this.count++] = start === end ? this.#none : this.#index.find(bytes, start, end);
  }
  endText(): void {
    this.ends[this.#texts++] = this.count;
  }
}

/** How often tokens were seen, and in how many documents. */
export class TokenTally implements TokenSink {
  documents = 0;
  readonly #index = new TokenIndex();
  #counts = new Int32Array(64);
  #documents = new Int32Array(64);
  /** The document that each was seen in last, from 1 on. */
  #last = new Int32Array(64);
  #texts = 0;
  readonly #width: number;

  /** @param width how many texts a document has */
  constructor(width: number) {
    this.#width = width;
  }
  token(bytes: Uint8Array, start: number, end: number): void {
    const number = this.#index.add(bytes, start, end);
    if (number >= this.#counts.length) {
      const size = 2 * this.#counts.length;
      this.#counts = longer(this.#counts, Int32Array, size);
      this.#documents = longer(this.#documents, Int32Array, size);
      this.#last = longer(this.#last, Int32Array, size);
    }
    this.#counts[number] = (this.#counts[number] as number) + 1;
    if (this.#last[number] === this.documents + 1) return;
    this.#last[number] = this.documents + 1;
    this.#documents[number] = (this.#documents[number] as number) + 1;
  }
  endText(): void {
    if (++this.#texts % this.#width === 0) this.documents++;
  }
  /** Each token, and its counts. */
  forEach(take: (token: string, count: number, documents: number) => void): void {
    for (let i = 0; i < this.#index.count; i++)
      take(this.#index.text(i), this.#counts[i] as number, this.#documents[i] as number);
  }
}
