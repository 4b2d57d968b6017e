// Buckets of strings and integers by a hash.
import { hashAttributes, hashing, hashOfTexts, processorOf, type TextHash } from '@eagre/backend';
import { eagerBackend } from '../../dispatch/context.ts';
import { kernelFor } from '../../dispatch/op.ts';
import {
  emptyTensor,
  hostValues,
  setValues,
  stringTensor,
  type Tensor,
  textsOf,
  viewOf,
} from '../../tensor/tensor.ts';
import { eachUtf8, type Utf8 } from './utf8.ts';
import { setInteger } from './wide-integers.ts';

/** The hashes of texts, below `count`; whole ones where that is 0. By a kernel of the processor. */
export function hashesOf(
  { bytes, starts }: Pick<Utf8, 'starts'> & { readonly bytes: Uint8Array },
  count: number,
  hash: TextHash,
): BigInt64Array<ArrayBuffer> {
  const backend = processorOf(eagerBackend());
  const n = starts.length - 1;
  const size = starts[n];
  const inputs = [
    setValues(emptyTensor('uint8', [size], size, backend), bytes.subarray(0, size)),
    setValues(emptyTensor('int32', [n + 1], n + 1, backend), starts),
  ];
  const y = emptyTensor('int64', [n], n, backend);
  hashing.of = hashOfTexts;
  try {
    kernelFor(backend, 'HashTexts', inputs)(inputs, [y], { count, ...hashAttributes(hash) });
    const found = viewOf(y) as BigInt64Array<ArrayBuffer>;
    // What is read of other memory is a copy.
    return y.storage.allocator.isHost ? found.slice() : found;
  } finally {
    for (const t of [...inputs, y]) t.dispose();
  }
}

/** The bucket of each string, of so many (int64). */
export function bucketsOf(x: Tensor, count: number, hash: TextHash): BigInt64Array<ArrayBuffer> {
  const data = new BigInt64Array(x.size);
  eachUtf8(x, (utf8, first) => data.set(hashesOf(utf8, count, hash), first));
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
  hash: TextHash = 'farm',
): void {
  const others: number[] = [];
  for (let i = 0; i < numbers.length; i++) if (numbers[i] < 0) others.push(i);
  if (others.length === 0) return;
  const words = new Uint32Array(data.buffer, data.byteOffset, 2 * data.length);
  const all = hashedTexts(x);
  const texts = others.map((i) => all[i]);
  const hashed = new Float64Array(texts.length);
  eachUtf8(stringTensor(texts, [texts.length]), (utf8, begin) => {
    const found = hashesOf(utf8, count, hash);
    for (let i = 0; i < found.length; i++) hashed[begin + i] = Number(found[i]);
  });
  others.forEach((i, k) => {
    setInteger(words, i, first + hashed[k]);
  });
}
