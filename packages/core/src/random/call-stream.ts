// The random stream of one call: two words, which the call draws.

import { Philox } from '@eagre/backend';
import { hostValues, type Tensor } from '../tensor/tensor.ts';
import { type SeedSource, uniform } from './random.ts';

/** The words of the stream of one call, int32 [2]. */
export function wordsOfCall(seed: number | SeedSource | null | undefined): Tensor {
  return uniform([2], {
    minval: -(2 ** 31),
    maxval: 2 ** 31,
    dtype: 'int32',
    ...(seed === null || seed === undefined ? {} : { seed }),
  });
}

/** The stream of such words. */
export function streamOfWords(words: Tensor): Philox {
  const [k0, k1] = Array.from(hostValues(words) as ArrayLike<number>, (w) => w >>> 0) as [number, number];
  return new Philox([k0, k1], [0, 0, 0, 0]);
}
