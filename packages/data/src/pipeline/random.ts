// Random numbers of pipelines: scalar, with a state that can be saved. xoshiro128** by Blackman and Vigna (2018).
import { InvalidArgumentError } from '@eagre/backend';
import { random } from '@eagre/core';
import { seeds, shown } from '@eagre/core/internal';
import type { State } from './iterator.ts';
import { list } from './node.ts';

/** What generators are seeded with. */
export type SeedWords = readonly number[];

// Stands for the global seed where none was set, so that a seed of a transformation's own repeats from run to run.
const UNSET = 87654321;

/**
 * The seed of a transformation. With a seed of its own it depends on that and the global one; otherwise it is drawn from the global stream, so
 * that after `tf.random.setSeed` the same program draws the same.
 */
export function seedWords(seed: number | undefined, what: string): SeedWords {
  if (seed === undefined) {
    const words = random.uniform([3], { minval: 0, maxval: 2 ** 31, dtype: 'int32' });
    const values = Array.from(words.data() as Int32Array);
    words.dispose();
    return values;
  }
  if (!Number.isSafeInteger(seed))
    throw new InvalidArgumentError(`the seed ${shown(seed)} is not an integer`, what);
  return [seeds.global ?? UNSET, seed];
}

/** One step of MurmurHash3's finaliser: each bit of the result depends on all of them. */
function mix(x: number): number {
  let h = x;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

const rotate = (x: number, by: number): number => (x << by) | (x >>> (32 - by));

export class Rng {
  #a: number;
  #b: number;
  #c: number;
  #d: number;

  /** The same words give the same numbers. */
  constructor(words: SeedWords) {
    let hash = 0x9e3779b9;
    for (const word of words)
      for (const half of [(word % 2 ** 32) | 0, Math.floor(word / 2 ** 32) | 0])
        hash = mix(Math.imul(hash, 31) ^ half);
    const next = (): number => mix((hash = (hash + 0x9e3779b9) | 0));
    this.#a = next();
    this.#b = next();
    this.#c = next();
    // Not all of the state may be zero.
    this.#d = next() | 1;
  }

  /** 32 random bits. */
  bits(): number {
    const result = Math.imul(rotate(Math.imul(this.#b, 5), 7), 9) >>> 0;
    const t = this.#b << 9;
    this.#c ^= this.#a;
    this.#d ^= this.#b;
    this.#b ^= this.#c;
    this.#a ^= this.#d;
    this.#c ^= t;
    this.#d = rotate(this.#d, 11);
    return result;
  }

  /** Uniform in [0, 1), with 53 bits. */
  uniform(): number {
    return ((this.bits() >>> 5) * 2 ** 26 + (this.bits() >>> 6)) / 2 ** 53;
  }

  /** An integer from 0 to n - 1, each equally likely. */
  below(n: number): number {
    if (n >= 2 ** 32) return n === 2 ** 32 ? this.bits() : Math.floor(this.uniform() * n);
    // As an integer of 32 bits, whose remainders take an instruction and not a call.
    const count = n >>> 0;
    let bits: number;
    let rest: number;
    // What lies above the largest multiple of n would make some more likely.
    do {
      bits = this.bits();
      rest = bits % count;
    } while (bits - rest > 2 ** 32 - count);
    return rest;
  }

  /** Brings what is in a list into another order. */
  shuffle(list: { [index: number]: number; readonly length: number }): void {
    for (let i = list.length - 1; i > 0; i--) {
      const j = this.below(i + 1);
      const moved = list[i];
      list[i] = list[j];
      list[j] = moved;
    }
  }

  save(): State {
    return [this.#a >>> 0, this.#b >>> 0, this.#c >>> 0, this.#d >>> 0];
  }

  restore(state: State | undefined): void {
    const words = list(state);
    if (words.length !== 4 || !words.every((w) => typeof w === 'number'))
      throw new InvalidArgumentError('the saved state has no random state', 'Dataset');
    [this.#a, this.#b, this.#c, this.#d] = words as [number, number, number, number];
  }
}
