// Where keys are: strings and integers by the order in which they came.
import type { DType } from '@eagre/backend';
import { constant } from '../tensor/constant.ts';
import { hostValues, stringTensor, type Tensor, textsOf } from '../tensor/tensor.ts';

/** The numbers of keys, from 0 on. One that was removed is not given again. */
export interface KeyIndex {
  /** How many numbers were given. */
  readonly count: number;
  /** How many keys there are. */
  readonly size: number;
  /** The number of each key; -1 of those that are not there. */
  find(keys: Tensor): Int32Array<ArrayBuffer>;
  /** The same, where keys that are not there are added. */
  add(keys: Tensor): Int32Array<ArrayBuffer>;
  remove(keys: Tensor): void;
  /** The numbers that have a key, in order, and a tensor of those keys. */
  contents(): readonly [numbers: Int32Array<ArrayBuffer>, keys: Tensor];
}

/** An index of keys of a dtype. */
export const keyIndexOf = (dtype: DType): KeyIndex =>
  dtype === 'string' ? new TextIndex() : new IntegerIndex();

class TextIndex implements KeyIndex {
  count = 0;
  readonly #numbers = new Map<string, number>();

  get size(): number {
    return this.#numbers.size;
  }
  find(keys: Tensor): Int32Array<ArrayBuffer> {
    const texts = textsOf(keys);
    const numbers = this.#numbers;
    const out = new Int32Array(texts.length);
    for (let i = 0; i < texts.length; i++) {
      const number = numbers.get(texts[i]);
      out[i] = number === undefined ? -1 : number;
    }
    return out;
  }
  add(keys: Tensor): Int32Array<ArrayBuffer> {
    const texts = textsOf(keys);
    const numbers = this.#numbers;
    const out = new Int32Array(texts.length);
    for (let i = 0; i < texts.length; i++) {
      let number = numbers.get(texts[i]);
      if (number === undefined) numbers.set(texts[i], (number = this.count++));
      out[i] = number;
    }
    return out;
  }
  remove(keys: Tensor): void {
    for (const text of textsOf(keys)) this.#numbers.delete(text);
  }
  contents(): readonly [Int32Array<ArrayBuffer>, Tensor] {
    return [Int32Array.from(this.#numbers.values()), stringTensor([...this.#numbers.keys()], [this.size])];
  }
}

/** Integers as pairs of words, the lower one first. */
function pairsOf(x: Tensor): Int32Array {
  const values = hostValues(x);
  if (values instanceof BigInt64Array || values instanceof BigUint64Array)
    return new Int32Array(values.buffer, values.byteOffset, 2 * values.length);
  const pairs = new Int32Array(2 * values.length);
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    pairs[2 * i] = value;
    pairs[2 * i + 1] = Math.floor(value / 2 ** 32);
  }
  return pairs;
}

// Of a place without a number, and of one whose key was removed.
const NONE = 0;
const REMOVED = -1;

/** Where a key is looked for first, of a power of 2 of places. */
function firstPlace(lower: number, upper: number, places: Int32Array): number {
  const hash = Math.imul(lower ^ Math.imul(upper, 0x2c1b3c6d), 0x297a2d39);
  return (hash ^ (hash >>> 15)) & (places.length - 1);
}
/** The numbers of keys in `known`; -1 of those that are not there. Apart, as fields are read anew at each key. */
function findPairs(
  asked: Int32Array,
  places: Int32Array,
  known: Int32Array,
  count: number,
): Int32Array<ArrayBuffer> {
  const out = new Int32Array(count);
  const mask = places.length - 1;
  for (let i = 0; i < count; i++) {
    const lower = asked[2 * i];
    const upper = asked[2 * i + 1];
    let at = firstPlace(lower, upper, places);
    let number = places[at];
    while (number !== NONE) {
      if (number > 0 && known[2 * number - 2] === lower && known[2 * number - 1] === upper) break;
      at = (at + 1) & mask;
      number = places[at];
    }
    out[i] = number - 1;
  }
  return out;
}

class IntegerIndex implements KeyIndex {
  count = 0;
  size = 0;
  /** The key of each number, as a pair of words. */
  #known = new Int32Array(16);
  /** By hash: numbers plus 1. At least half of the places are free. */
  #places = new Int32Array(16);

  /** The place of a key, or the one where it belongs. */
  #placeOf(lower: number, upper: number): number {
    const places = this.#places;
    const known = this.#known;
    const mask = places.length - 1;
    let free = -1;
    for (let at = firstPlace(lower, upper, places); ; at = (at + 1) & mask) {
      const number = places[at];
      if (number === NONE) return free < 0 ? at : free;
      if (number === REMOVED) {
        if (free < 0) free = at;
      } else if (known[2 * number - 2] === lower && known[2 * number - 1] === upper) return at;
    }
  }
  find(keys: Tensor): Int32Array<ArrayBuffer> {
    return findPairs(pairsOf(keys), this.#places, this.#known, keys.size);
  }
  add(keys: Tensor): Int32Array<ArrayBuffer> {
    const pairs = pairsOf(keys);
    // Most are often there.
    const out = findPairs(pairs, this.#places, this.#known, keys.size);
    for (let i = 0; i < out.length; i++) if (out[i] < 0) out[i] = this.#add(pairs[2 * i], pairs[2 * i + 1]);
    return out;
  }
  /** A key may have come since it was looked for. */
  #add(lower: number, upper: number): number {
    const at = this.#placeOf(lower, upper);
    if (this.#places[at] > 0) return this.#places[at] - 1;
    const number = this.count++;
    if (2 * number === this.#known.length) {
      const longer = new Int32Array(4 * number);
      longer.set(this.#known);
      this.#known = longer;
    }
    this.#known[2 * number] = lower;
    this.#known[2 * number + 1] = upper;
    this.#places[at] = number + 1;
    this.size++;
    // Removed keys take places too, until there are others.
    if (2 * this.count > this.#places.length) this.#spread();
    return number;
  }
  /** Puts the keys that are there into new places, which are enough. */
  #spread(): void {
    const numbers = this.#numbers();
    let size = 16;
    while (size < 2 * this.count + 2) size *= 2;
    this.#places = new Int32Array(size);
    for (const number of numbers)
      this.#places[this.#placeOf(this.#known[2 * number], this.#known[2 * number + 1])] = number + 1;
  }
  #numbers(): Int32Array<ArrayBuffer> {
    return this.#places
      .filter((number) => number > 0)
      .map((number) => number - 1)
      .sort();
  }
  remove(keys: Tensor): void {
    const pairs = pairsOf(keys);
    for (let i = 0; i < keys.size; i++) {
      const at = this.#placeOf(pairs[2 * i], pairs[2 * i + 1]);
      if (this.#places[at] <= 0) continue;
      this.#places[at] = REMOVED;
      this.size--;
    }
  }
  contents(): readonly [Int32Array<ArrayBuffer>, Tensor] {
    const numbers = this.#numbers();
    const data = new BigInt64Array(numbers.length);
    const pairs = new Int32Array(data.buffer);
    numbers.forEach((number, i) => {
      pairs[2 * i] = this.#known[2 * number];
      pairs[2 * i + 1] = this.#known[2 * number + 1];
    });
    return [numbers, constant({ data, shape: [numbers.length], dtype: 'int64' })];
  }
}
