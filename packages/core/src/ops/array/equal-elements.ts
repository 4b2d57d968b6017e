// Which elements of a vector are equal, in time that does not depend on how many are: no Map, which looks each up in memory far away.
import { dtypeTraits, hostView, ResourceExhaustedError, type TypedArray } from '@eagre/backend';
import {
  emptyTensor,
  hostValues,
  spaceOf,
  stringTensor,
  type Tensor,
  textsOf,
  uploaded,
  viewOf,
} from '../../tensor/tensor.ts';

/** Whether the elements of two places are equal, which have the same key. */
type Same = (i: number, j: number) => boolean;

/** What is found: for each of the different elements, in their order, where it first occurs and how often. */
interface Different {
  count: number;
  readonly first: Int32Array;
  readonly times: Int32Array;
}

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
  const found: Different = { count: 0, first: pairs.subarray(0, size), times: pairs.subarray(size) };
  const strings = dtype === 'string' ? textsOf(x) : [];
  if (dtype === 'string') numberStrings(strings, place, found);
  else {
    const same = numberKeys(x, place);
    if (same !== null || !numberByTable(place, found)) {
      firstOfEach(place, pairs, same);
      numberFirsts(place, found);
    }
  }
  const { count, first } = found;
  const counts = emptyTensor('int32', [count], count);
  const times = spaceOf(counts) as Int32Array;
  times.set(found.times.subarray(0, count));
  let values: Tensor;
  if (dtype === 'string') {
    const texts = new Array<string>(count);
    for (let i = 0; i < count; i++) texts[i] = strings[first[i]];
    values = stringTensor(texts, [count]);
  } else {
    values = emptyTensor(dtype, [count], count);
    const space = spaceOf(values);
    take(viewOf(x), first, space);
    uploaded(values, space);
  }
  memory?.release();
  return [values, uploaded(places, place), uploaded(counts, times)];
}

/** Puts the elements of these places into a list. */
function take(from: TypedArray, places: Int32Array, to: TypedArray): void {
  const step = from.BYTES_PER_ELEMENT >> 2;
  if (step === 0) {
    for (let i = 0; i < to.length; i++) to[i] = from[places[i]];
    return;
  }
  // By bits, as V8 is slow where an array may be of any type.
  const bits = new Int32Array(from.buffer, from.byteOffset, step * from.length);
  const out = new Int32Array(to.buffer, to.byteOffset, step * to.length);
  if (step === 1) for (let i = 0; i < out.length; i++) out[i] = bits[places[i]];
  else
    for (let i = 0; i < to.length; i++) {
      out[2 * i] = bits[2 * places[i]];
      out[2 * i + 1] = bits[2 * places[i] + 1];
    }
}

function numberStrings(strings: readonly string[], place: Int32Array, found: Different): void {
  const { first, times } = found;
  const numbers = new Map<string, number>();
  let count = 0;
  // By their places: an iterator takes several times as long.
  for (let i = 0; i < place.length; i++) {
    const text = strings[i];
    let number = numbers.get(text);
    if (number === undefined) {
      number = count++;
      if (number === MAX_MAP)
        throw new ResourceExhaustedError(
          `x has more than ${MAX_MAP} different strings, the limit of a JavaScript Map; take parts of x`,
          'Unique',
        );
      numbers.set(text, number);
      first[number] = i;
      times[number] = 0;
    }
    place[i] = number;
    times[number]++;
  }
  found.count = count;
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

/**
 * Replaces equal keys by the number of the element, by a table of all keys from the least to the largest.
 * @returns false where that is too large for so few, and nothing has changed.
 */
function numberByTable(keys: Int32Array, found: Different): boolean {
  const limit = Math.min(TABLE, 2 * keys.length + 256);
  let least = keys[0];
  let most = least;
  for (const key of keys) {
    if (key < least) least = key;
    else if (key > most) most = key;
    if (most - least >= limit) return false;
  }
  const { first, times } = found;
  // One more than the number of each key, and how often there is one: beside each other, as they are needed together.
  const table = new Int32Array(2 * (most - least + 1));
  let count = 0;
  for (let i = 0; i < keys.length; i++) {
    const at = 2 * (keys[i] - least);
    if (table[at] === 0) {
      first[count] = i;
      times[count] = at + 1;
      table[at] = ++count;
    }
    keys[i] = table[at] - 1;
    table[at + 1]++;
  }
  for (let i = 0; i < count; i++) times[i] = table[times[i]];
  found.count = count;
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
  // An eighth of it is in use, as each collision is a branch that the processor did not expect.
  const table = new Int32Array(2 ** (34 - Math.clz32(most))).fill(-1);
  const mask = table.length - 1;
  let j = 0;
  for (const end of ends) {
    const start = j;
    for (; j < end; j++) {
      const hash = pairs[2 * j];
      let at = hash & mask;
      let first = table[at];
      while (
        first >= start &&
        !(pairs[2 * first] === hash && (same === null || same(pairs[2 * first + 1], pairs[2 * j + 1])))
      ) {
        at = (at + 1) & mask;
        first = table[at];
      }
      if (first < start) table[at] = j;
      // The places of a part are all over memory, so only those are written that do not stand there.
      else keys[pairs[2 * j + 1]] = pairs[2 * first + 1];
    }
  }
}

/**
 * Pairs of hash and place, in the order of the first bits of the hash; keys become their places.
 * @returns where the pairs of each value of these bits end.
 */
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
    keys[i] = i;
  }
  return next.subarray(0, 2 ** bits);
}

/** Numbers the first ones, and replaces the place of each element's first one by its number. */
function numberFirsts(firsts: Int32Array, found: Different): void {
  const { first, times } = found;
  let count = 0;
  for (let i = 0; i < firsts.length; i++) {
    if (firsts[i] === i) {
      first[count] = i;
      times[count] = 1;
      firsts[i] = count++;
    } else {
      const number = firsts[firsts[i]];
      firsts[i] = number;
      times[number]++;
    }
  }
  found.count = count;
}
