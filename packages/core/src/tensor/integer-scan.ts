// What checks ask of many integers, in loops that V8 compiles for one kind of array: over any kind they take ten times as long.
import type { TypedArray } from '@eagre/backend';

/** Integers as pairs of words, the low one first, where the memory has them so. */
const pairsOf = ({ buffer, byteOffset, length }: BigInt64Array): Int32Array =>
  new Int32Array(buffer, byteOffset, 2 * length);
const LOW_FIRST: boolean = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

function rangeOfWords(view: Int32Array): readonly [least: number, most: number] {
  let least = Number.POSITIVE_INFINITY;
  let most = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < view.length; i++) {
    const x = view[i];
    if (x < least) least = x;
    if (x > most) most = x;
  }
  return [least, most];
}
function rangeOfPairs(pairs: Int32Array): readonly [least: number, most: number] {
  let least = Number.POSITIVE_INFINITY;
  let most = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < pairs.length; i += 2) {
    const x = pairs[i + 1] * 2 ** 32 + (pairs[i] >>> 0);
    if (x < least) least = x;
    if (x > most) most = x;
  }
  return [least, most];
}

/** The least and the largest of integers, infinite of none; rounded to float64. */
export function rangeOf(view: TypedArray): readonly [least: number, most: number] {
  if (view instanceof Int32Array) return rangeOfWords(view);
  if (view instanceof BigInt64Array && LOW_FIRST) return rangeOfPairs(pairsOf(view));
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let i = 0; i < view.length; i++) {
    least = Math.min(least, Number(view[i]));
    most = Math.max(most, Number(view[i]));
  }
  return [least, most];
}

function wordsRise(view: Int32Array): boolean {
  for (let i = 1; i < view.length; i++) if (view[i] < view[i - 1]) return false;
  return true;
}
function pairsRise(pairs: Int32Array): boolean {
  for (let i = 3; i < pairs.length; i += 2) {
    const [high, before] = [pairs[i], pairs[i - 2]];
    if (high < before || (high === before && pairs[i - 1] >>> 0 < pairs[i - 3] >>> 0)) return false;
  }
  return true;
}

/** Whether no integer is below the one before it. */
export function rises(view: TypedArray): boolean {
  if (view instanceof Int32Array) return wordsRise(view);
  if (view instanceof BigInt64Array && LOW_FIRST) return pairsRise(pairsOf(view));
  for (let i = 1; i < view.length; i++) if (view[i] < view[i - 1]) return false;
  return true;
}

/** The integers as a list of numbers, rounded to float64. */
export function numbersOf(view: TypedArray): number[] {
  const numbers = new Array<number>(view.length);
  if (view instanceof BigInt64Array && LOW_FIRST) {
    const pairs = pairsOf(view);
    for (let i = 0; i < numbers.length; i++) numbers[i] = pairs[2 * i + 1] * 2 ** 32 + (pairs[2 * i] >>> 0);
  } else if (view instanceof Int32Array) for (let i = 0; i < numbers.length; i++) numbers[i] = view[i];
  else for (let i = 0; i < numbers.length; i++) numbers[i] = Number(view[i]);
  return numbers;
}
