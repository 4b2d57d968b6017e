// Which elements of a vector are equal, in time that does not depend on how many are: no Map, which looks each up in memory far away.
import { dtypeTraits, hostView, type TypedArray } from '@eagre/backend';
import { emptyTensor, hostValues, spaceOf, type Tensor, uploaded, viewOf } from '../../tensor/tensor.ts';

/** Whether the elements of two places are equal, which have the same key. */
type Same = (i: number, j: number) => boolean;

// A table of all values that may occur is faster than hashing up to here: 1 MB of numbers.
const TABLE = 2 ** 18;
// Elements of one part: what looks for equal ones among them stays in the nearest cache.
const PART_BITS = 10;
// More parts at once would need more pages of memory than the processor has at hand.
const MOST_PARTS_BITS = 11;

/**
 * The different numbers of a vector in the order in which they first occur, the place of each element's number among them, and how often each
 * occurs (both int32). Zeros are equal, whatever their sign, and a NaN equals nothing, as TensorFlow has it.
 */
export function equalElements(x: Tensor): Tensor[] {
  const n = x.size;
  const places = emptyTensor('int32', x.shape, n);
  const { allocator } = places.storage;
  // Memory of the pool, as fresh pages cost as much as the work.
  const memory = allocator.isHost ? allocator.allocate(8 * n) : null;
  const scratch = (memory === null ? new Int32Array(2 * n) : hostView(memory, 'int32', 2 * n)) as Int32Array;
  const place = spaceOf(places) as Int32Array;
  const same = keysOf(x, place);
  const table = same === null ? tableOf(place) : null;
  if (table === null) firstOfEach(place, scratch, same);
  const found = table === null ? numberFirsts(place, scratch) : numberKeys(place, scratch, table);
  uploaded(places, place);
  const counts = emptyTensor('int32', [found], found);
  const count = spaceOf(counts) as Int32Array;
  for (let i = 0; i < found; i++) count[i] = scratch[2 * i + 1];
  uploaded(counts, count);
  const values = emptyTensor(x.dtype, [found], found);
  const to = spaceOf(values);
  pick(bitsOf(viewOf(x)) as Int32Array, bitsOf(to) as Int32Array, scratch);
  memory?.release();
  return [uploaded(values, to), places, counts];
}

/**
 * Sets a key for each element: equal elements have equal keys.
 * @returns what tells whether elements of the same key are equal; null where they are.
 */
function keysOf(x: Tensor, keys: Int32Array): Same | null {
  if (x.dtype === 'float64') return keysOfDoubles(viewOf(x) as Float64Array, keys);
  const { bytes, floating } = dtypeTraits[x.dtype];
  if (floating) return keysOfFloats(hostValues(x) as Float32Array, keys);
  if (bytes === 8) return keysOfLong(words(viewOf(x)), keys);
  keys.set(viewOf(x) as Int32Array);
  return null;
}

function keysOfFloats(x: Float32Array, keys: Int32Array): Same | null {
  const bits = words(x);
  let allSure = true;
  for (let i = 0; i < keys.length; i++) {
    const v = bits[i];
    if ((v & 0x7fffffff) > 0x7f800000) {
      allSure = false;
      // Many NaN of one key would all be compared with one another.
      keys[i] = i;
    } else keys[i] = v === -0x80000000 ? 0 : v;
  }
  return allSure ? null : (i, j) => x[i] === x[j];
}

function keysOfDoubles(x: Float64Array, keys: Int32Array): Same {
  const bits = words(x);
  for (let i = 0; i < keys.length; i++) {
    const v = x[i];
    // biome-ignore lint/suspicious/noSelfCompare: as fast as it gets
    keys[i] = v !== v ? i : v === 0 ? 0 : folded(bits[2 * i], bits[2 * i + 1]);
  }
  return (i, j) => x[i] === x[j];
}

/** Keys of integers of 64 bits: the lower half where that says it all. */
function keysOfLong(bits: Int32Array, keys: Int32Array): Same | null {
  let i = 0;
  for (; i < keys.length && bits[2 * i + 1] === bits[2 * i] >> 31; i++) keys[i] = bits[2 * i];
  if (i === keys.length) return null;
  for (i = 0; i < keys.length; i++) keys[i] = folded(bits[2 * i], bits[2 * i + 1]);
  return (a, b) => bits[2 * a] === bits[2 * b] && bits[2 * a + 1] === bits[2 * b + 1];
}

const folded = (low: number, high: number): number => low ^ Math.imul(high ^ (high >>> 15), 0x2c1b3c6d);

/** Different numbers for different keys, whose bits depend on all bits of these. */
function hashed(key: number): number {
  const h = Math.imul(key ^ (key >>> 16), 0x7feb352d);
  const k = Math.imul(h ^ (h >>> 15), 0x846ca68b | 0);
  return k ^ (k >>> 16);
}

interface Table {
  readonly least: number;
  readonly size: number;
}

/** A table of all keys from the least to the largest; null where that is too large for so few. */
function tableOf(keys: Int32Array): Table | null {
  const limit = Math.min(TABLE, 2 * keys.length + 256);
  let least = keys.length === 0 ? 0 : keys[0];
  let most = least;
  for (let i = 1; i < keys.length; i++) {
    const key = keys[i];
    if (key >= least && key <= most) continue;
    if (key < least) least = key;
    else most = key;
    if (most - least >= limit) return null;
  }
  return { least, size: most - least + 1 };
}

/** Puts numbers in the place of keys, and into `pairs` where each is first and how often it occurs. @returns how many there are. */
function numberKeys(keys: Int32Array, pairs: Int32Array, { least, size }: Table): number {
  const numbers = new Int32Array(size);
  let found = 0;
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] - least;
    let number = numbers[key] - 1;
    if (number < 0) {
      number = found++;
      numbers[key] = found;
      pairs[2 * number] = i;
      pairs[2 * number + 1] = 0;
    }
    keys[i] = number;
    pairs[2 * number + 1]++;
  }
  return found;
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

/** As `numberKeys`, from where the first of the equal elements are. */
function numberFirsts(firsts: Int32Array, pairs: Int32Array): number {
  let found = 0;
  for (let i = 0; i < firsts.length; i++) {
    const first = firsts[i];
    if (first === i) {
      pairs[2 * found] = i;
      pairs[2 * found + 1] = 1;
      firsts[i] = found++;
    } else {
      const number = firsts[first];
      firsts[i] = number;
      pairs[2 * number + 1]++;
    }
  }
  return found;
}

/** The elements that stand first in `pairs`. */
function pick(from: Int32Array, to: Int32Array, pairs: Int32Array): void {
  for (let i = 0; i < to.length; i++) to[i] = from[pairs[2 * i]];
}

const words = ({ buffer, byteOffset, byteLength }: TypedArray): Int32Array =>
  new Int32Array(buffer, byteOffset, byteLength / 4);

/** The elements as integers of the same size. */
function bitsOf(view: TypedArray): TypedArray {
  return view instanceof Float32Array
    ? words(view)
    : view instanceof Float64Array
      ? new BigInt64Array(view.buffer, view.byteOffset, view.length)
      : view;
}
