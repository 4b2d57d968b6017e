// Buckets of strings and integers by a hash.
import { hostValues, stringTensor, type Tensor, textsOf } from '../../tensor/tensor.ts';
import { fingerprint, type HashOfBytes, remainder } from './hashes.ts';
import { eachUtf8 } from './utf8.ts';
import { setInteger } from './wide-integers.ts';

/** The bucket of each string, of so many (int64). */
export function bucketsOf(x: Tensor, count: number, hash: HashOfBytes): BigInt64Array<ArrayBuffer> {
  const data = new BigInt64Array(x.size);
  const words = new Uint32Array(data.buffer);
  eachUtf8(x, ({ view, starts }, first) => {
    for (let i = 0; i + 1 < starts.length; i++)
      setInteger(words, first + i, remainder(hash(view, starts[i], starts[i + 1]), count));
  });
  return data;
}

/** Strings as they are, and integers as their digits, which are what is hashed of them. */
export function hashedTexts(x: Tensor): readonly string[] {
  if (x.dtype === 'string') return textsOf(x);
  const values = hostValues(x);
  const texts = new Array<string>(values.length);
  if (!(values instanceof BigInt64Array)) for (let i = 0; i < texts.length; i++) texts[i] = String(values[i]);
  else {
    const words = new Int32Array(values.buffer, values.byteOffset, 2 * values.length);
    // Most integers are small, and bigints take long.
    for (let i = 0; i < texts.length; i++) {
      const low = words[2 * i];
      texts[i] = words[2 * i + 1] === low >> 31 ? String(low) : String(values[i]);
    }
  }
  return texts;
}

/**
 * Gives the elements that have no number, which is then negative, the buckets behind a first one: by their fingerprint.
 * @param data of all elements (int64)
 */
export function setBuckets(
  data: BigInt64Array<ArrayBuffer>,
  x: Tensor,
  numbers: Int32Array,
  first: number,
  count: number,
  hash: HashOfBytes = fingerprint,
): void {
  const others: number[] = [];
  for (let i = 0; i < numbers.length; i++) if (numbers[i] < 0) others.push(i);
  if (others.length === 0) return;
  const words = new Uint32Array(data.buffer, data.byteOffset, 2 * data.length);
  const all = hashedTexts(x);
  const texts = others.map((i) => all[i]);
  const hashed = new Float64Array(texts.length);
  eachUtf8(stringTensor(texts, [texts.length]), ({ view, starts }, begin) => {
    for (let i = 0; i + 1 < starts.length; i++)
      hashed[begin + i] = remainder(hash(view, starts[i], starts[i + 1]), count);
  });
  others.forEach((i, k) => {
    setInteger(words, i, first + hashed[k]);
  });
}
