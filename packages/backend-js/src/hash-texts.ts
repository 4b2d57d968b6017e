import {
  hashing,
  InternalError,
  type Kernel,
  type KernelName,
  remainder,
  textHashes,
  upperHalf,
} from '@eagre/backend';
import { bytesOf, view } from './view.ts';

const word = (low: unknown, high: unknown): bigint =>
  (BigInt((high as number) >>> 0) << 32n) | BigInt((low as number) >>> 0);

/** The kernels of hashes of texts. */
export const kernels: Partial<Record<KernelName, Kernel>> = {
  HashTexts: ([texts, places], [y], { hash: place, count, key0, key1, key2, key3 }) => {
    const name = textHashes[place as number];
    if (name === undefined || hashing.of === null) throw new InternalError(`the hash ${place}`, 'HashTexts');
    const hash = hashing.of(name === 'sip' ? [word(key0, key1), word(key2, key3)] : name);
    // Integers are read where they begin, whole ones, so that there are bytes behind the last.
    const bytes = new Uint8Array(texts.size + 8);
    bytes.set(bytesOf(texts));
    const data = new DataView(bytes.buffer);
    const starts = view(places) as Int32Array;
    const all = view(y) as BigInt64Array;
    const words = new Int32Array(all.buffer, all.byteOffset, 2 * all.length);
    for (let i = 0; i < all.length; i++) {
      let low = hash(data, starts[i], starts[i + 1]);
      let high = upperHalf();
      if (count !== 0) {
        const rest = remainder(low, count as number);
        low = rest | 0;
        high = Math.floor(rest / 2 ** 32);
      }
      words[2 * i] = low;
      words[2 * i + 1] = high;
    }
  },
};
