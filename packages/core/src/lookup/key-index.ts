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

/** Integers as halves of 64 bits: lower ones, and upper ones, each so many places behind the one before. */
function halvesOf(x: Tensor): readonly [lower: Int32Array, upper: Int32Array, step: number] {
  const values = hostValues(x);
  if (values instanceof BigInt64Array || values instanceof BigUint64Array) {
    const { buffer, byteOffset, length } = values;
    const words = new Int32Array(buffer, byteOffset, 2 * length);
    return [words, words.subarray(1), 2];
  }
  const lower = Int32Array.from(values as ArrayLike<number>);
  return [lower, Int32Array.from(values as ArrayLike<number>, (v) => Math.floor(v / 2 ** 32)), 1];
}

// Of a place without a number, and of one whose key was removed.
const NONE = 0;
const REMOVED = -1;

class IntegerIndex implements KeyIndex {
  count = 0;
  size = 0;
  /** The key of each number. */
  #lower = new Int32Array(8);
  #upper = new Int32Array(8);
  /** By hash: numbers plus 1. At least half of the places are free. */
  #places = new Int32Array(16);

  /** The place of a key, or the one where it belongs. */
  #placeOf(lower: number, upper: number): number {
    const places = this.#places;
    const mask = places.length - 1;
    const hash = Math.imul(lower ^ Math.imul(upper, 0x2c1b3c6d), 0x297a2d39);
    let free = -1;
    for (let at = (hash ^ (hash >>> 15)) & mask; ; at = (at + 1) & mask) {
      const number = places[at];
      if (number === NONE) return free < 0 ? at : free;
      if (number === REMOVED) {
        if (free < 0) free = at;
      } else if (this.#lower[number - 1] === lower && this.#upper[number - 1] === upper) return at;
    }
  }
  find(keys: Tensor): Int32Array<ArrayBuffer> {
    const [lower, upper, step] = halvesOf(keys);
    const out = new Int32Array(keys.size);
    for (let i = 0; i < out.length; i++)
      out[i] = Math.max(0, this.#places[this.#placeOf(lower[step * i], upper[step * i])]) - 1;
    return out;
  }
  add(keys: Tensor): Int32Array<ArrayBuffer> {
    const [lower, upper, step] = halvesOf(keys);
    const out = new Int32Array(keys.size);
    for (let i = 0; i < out.length; i++) out[i] = this.#add(lower[step * i], upper[step * i]);
    return out;
  }
  #add(lower: number, upper: number): number {
    const at = this.#placeOf(lower, upper);
    if (this.#places[at] > 0) return this.#places[at] - 1;
    const number = this.count++;
    if (number === this.#lower.length) {
      this.#lower = longer(this.#lower);
      this.#upper = longer(this.#upper);
    }
    this.#lower[number] = lower;
    this.#upper[number] = upper;
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
      this.#places[this.#placeOf(this.#lower[number], this.#upper[number])] = number + 1;
  }
  #numbers(): Int32Array<ArrayBuffer> {
    return this.#places
      .filter((number) => number > 0)
      .map((number) => number - 1)
      .sort();
  }
  remove(keys: Tensor): void {
    const [lower, upper, step] = halvesOf(keys);
    for (let i = 0; i < keys.size; i++) {
      const at = this.#placeOf(lower[step * i], upper[step * i]);
      if (this.#places[at] <= 0) continue;
      this.#places[at] = REMOVED;
      this.size--;
    }
  }
  contents(): readonly [Int32Array<ArrayBuffer>, Tensor] {
    const numbers = this.#numbers();
    const data = new BigInt64Array(numbers.length);
    const words = new Int32Array(data.buffer);
    numbers.forEach((number, i) => {
      words[2 * i] = this.#lower[number];
      words[2 * i + 1] = this.#upper[number];
    });
    return [numbers, constant({ data, shape: [numbers.length], dtype: 'int64' })];
  }
}
const longer = (old: Int32Array): Int32Array<ArrayBuffer> => {
  const out = new Int32Array(2 * old.length);
  out.set(old);
  return out;
};
