// Which elements of a vector are equal, in time that does not depend on how many are: no Map, which looks each up in memory far away.
import { dtypeTraits, hostView, ResourceExhaustedError, type TypedArray } from '@eagre/backend';
import {
  emptyTensor,
  hostValues,
  spaceOf,
  stringTensor,
  type Tensor,
  uploaded,
  viewOf,
} from '../../tensor/tensor.ts';

/** Whether the elements of two places are equal, which have the same key. */
type Same = (i: number, j: number) => boolean;

// A table of all values that may occur is faster than hashing up to here: 1 MB of numbers.
const TABLE = 2 ** 18;
// Elements of one part: what looks for equal ones among them stays in the nearest cache.
const PART_BITS = 10;
// More parts at once would need more pages of memory than the processor has at hand.
const MOST_PARTS_BITS = 11;
const MAX_MAP = 2 ** 24;

/**
 * The different elements of a vector in the order in which they first occur, the place of each element among them, and how often each
 * occurs (both int32). Zeros are equal, whatever their sign, and a NaN equals nothing, as TensorFlow has it.
 */
export function equalElements(x: Tensor): Tensor[] {
  const { size, dtype } = x;
  const places = emptyTensor('int32', x.shape, size);
  const { allocator } = places.storage;
  // Memory of the pool, as fresh pages cost as much as the work.
  const memory = allocator.isHost ? allocator.allocate(8 * size) : null;
  const pairs = (
    memory === null ? new Int32Array(2 * size) : hostView(memory, 'int32', 2 * size)
  ) as Int32Array;
  const place = spaceOf(places) as Int32Array;
  const strings = x.storage.strings ?? [];
  const same = dtype === 'string' ? stringKeys(strings, place) : numberKeys(x, place);
  if (same !== null || !tableOf(place)) firstOfEach(place, pairs, same);
  const found = numberFirsts(place, pairs);
  const counts = emptyTensor('int32', [found], found);
  const count = spaceOf(counts);
  for (let i = 0; i < found; i++) count[i] = pairs[2 * i + 1];
  const first = <T>(from: ArrayLike<T>, to: T[]): T[] => {
    for (let i = 0; i < found; i++) to[i] = from[pairs[2 * i]];
    return to;
  };
  let values: Tensor;
  if (dtype === 'string') values = stringTensor(first(strings, []), [found]);
  else {
    values = emptyTensor(dtype, [found], found);
    const space = spaceOf(values);
    first(viewOf(x) as ArrayLike<unknown>, space as never);
    uploaded(values, space);
  }
  memory?.release();
  return [values, uploaded(places, place), uploaded(counts, count)];
}

function stringKeys(strings: readonly string[], keys: Int32Array): null {
  const numbers = new Map<string, number>();
  for (const [i, text] of strings.entries()) {
    let number = numbers.get(text);
    if (number === undefined) {
      number = numbers.size;
      if (number === MAX_MAP)
        throw new ResourceExhaustedError(
          `x has more than ${MAX_MAP} different strings, the limit of a JavaScript Map; take parts of x`,
          'Unique',
        );
      numbers.set(text, number);
    }
    keys[i] = number;
  }
  return null;
}

/**
 * Sets a key for each number: equal ones have equal keys.
 * @returns what tells whether elements of the same key are equal; null where they are.
 */
function numberKeys(x: Tensor, keys: Int32Array): Same | null {
  const view: TypedArray = hostValues(x);
  const { floating } = dtypeTraits[x.dtype];
  const step = view.BYTES_PER_ELEMENT >> 2;
  if (!floating && step < 2) {
    keys.set(view as Int32Array);
    return null;
  }
  const bits = new Int32Array(view.buffer, view.byteOffset, step * keys.length);
  let isSure = !floating || step === 1;
  for (let i = 0; i < keys.length; i++) {
    const low = bits[step * i];
    // What the lower half of an integer does not say.
    const rest = step === 1 ? 0 : bits[2 * i + 1] ^ (low >> 31);
    if (rest !== 0) isSure = false;
    keys[i] = low ^ Math.imul(rest ^ (rest >>> 15), 0x2c1b3c6d);
    if (!floating) continue;
    const v = view[i];
    // Many NaN of one key would all be compared with one another.
    // biome-ignore lint/suspicious/noSelfCompare: as fast as it gets
    if (v !== v) {
      keys[i] = i;
      isSure = false;
    } else if (v === 0) keys[i] = 0;
  }
  if (isSure) return null;
  // By bits, as V8 is slow where an array may be of any type; no two NaN have the same key.
  return (i, j) => {
    const a = step * i;
    const b = step * j;
    if (bits[a] === bits[b] && bits[a + step - 1] === bits[b + step - 1]) return true;
    return floating && view[i] === 0 && view[j] === 0;
  };
}

/** Different numbers for different keys, whose bits depend on all bits of these. */
function hashed(key: number): number {
  const h = Math.imul(key ^ (key >>> 16), 0x7feb352d);
  const k = Math.imul(h ^ (h >>> 15), 0x846ca68b | 0);
  return k ^ (k >>> 16);
}

/** `firstOfEach` by a table of all keys from the least to the largest. @returns false where that is too large for so few. */
function tableOf(keys: Int32Array): boolean {
  const limit = Math.min(TABLE, 2 * keys.length + 256);
  let least = keys[0];
  let most = least;
  for (const key of keys) {
    if (key < least) least = key;
    else if (key > most) most = key;
    if (most - least >= limit) return false;
  }
  const ends = new Int32Array(limit);
  for (let i = 0; i < keys.length; i++) {
    const at = keys[i] - least;
    if (ends[at] === 0) ends[at] = i + 1;
    keys[i] = ends[at] - 1;
  }
  return true;
}

/** Puts in the place of each key where the first element is that equals its own. `pairs` are changed. */
function firstOfEach(keys: Int32Array, pairs: Int32Array, same: Same | null): void {
  const n = keys.length;
  const bits = Math.min(Math.max(1, 32 - Math.clz32(n) - PART_BITS), MOST_PARTS_BITS);
  const ends = sortByHash(keys, pairs, bits);
  let most = 0;
  for (let p = 0; p < ends.length; p++) most = Math.max(most, ends[p] - (p === 0 ? 0 : ends[p - 1]));
  // One table for all parts: what is from an earlier one lies before the start of the present one.
  const table = new Int32Array(2 ** (33 - Math.clz32(most))).fill(-1);
  const mask = table.length - 1;
  let j = 0;
  for (const end of ends) {
    const start = j;
    for (; j < end; j++) {
      const hash = pairs[2 * j];
      const i = pairs[2 * j + 1];
      let at = hash & mask;
      let first = table[at];
      while (
        first >= start &&
        !(pairs[2 * first] === hash && (same === null || same(pairs[2 * first + 1], i)))
      ) {
        at = (at + 1) & mask;
        first = table[at];
      }
      if (first < start) table[at] = first = j;
      keys[i] = pairs[2 * first + 1];
    }
  }
}

/** Pairs of hash and place, in the order of the first bits of the hash. @returns where the pairs of each value of these bits end. */
function sortByHash(keys: Int32Array, pairs: Int32Array, bits: number): Int32Array {
  const shift = 32 - bits;
  const next = new Int32Array(1 + 2 ** bits);
  for (let i = 0; i < keys.length; i++) {
    const hash = hashed(keys[i]);
    keys[i] = hash;
    next[1 + (hash >>> shift)]++;
  }
  for (let p = 1; p < next.length; p++) next[p] += next[p - 1];
  for (let i = 0; i < keys.length; i++) {
    const hash = keys[i];
    const at = next[hash >>> shift]++;
    pairs[2 * at] = hash;
    pairs[2 * at + 1] = i;
  }
  return next.subarray(0, 2 ** bits);
}

/** Numbers the first ones, and puts into `pairs` where each is and how many equal it. @returns how many there are. */
function numberFirsts(firsts: Int32Array, pairs: Int32Array): number {
  let found = 0;
  for (let i = 0; i < firsts.length; i++) {
    const first = firsts[i];
    let number = found;
    if (first === i) {
      pairs[2 * found] = i;
      pairs[2 * found++ + 1] = 0;
    } else number = firsts[first];
    firsts[i] = number;
    pairs[2 * number + 1]++;
  }
  return found;
}
