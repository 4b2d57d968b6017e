/** For tests: what every decoder promises whatever the bytes. */

import { checkNDArray, type NDArray } from '../arrays/ndarray.ts';
import { FormatError } from '../errors.ts';
import { mutate, randomSource } from './mutate.ts';

/** Another one in each run of `pnpm fuzz`. */
const FUZZ_SEED = Number(process.env['EAGRE_FUZZ_SEED'] ?? 1);

/** How {@link fuzz} ended. */
export interface FuzzResult {
  decoded: number;
  rejected: number;
}

/**
 * Decodes `runs` damaged copies of the samples. Each must give valid arrays of at most `maxGrowth` times the file's
 * bytes, or throw a FormatError; anything else is thrown on.
 */
export function fuzz(
  samples: readonly Uint8Array[],
  decode: (bytes: Uint8Array) => Iterable<NDArray>,
  { runs = 3000, maxGrowth = 4, seed = FUZZ_SEED }: { runs?: number; maxGrowth?: number; seed?: number } = {},
): FuzzResult {
  const random = randomSource(seed);
  const result = { decoded: 0, rejected: 0 };
  for (let run = 0; run < runs; run++) {
    const bytes = mutate(samples[run % samples.length]!, random);
    try {
      let total = 0;
      for (const array of decode(bytes)) {
        checkNDArray(array, 'fuzz');
        total += array.data.byteLength;
      }
      if (total > bytes.length * maxGrowth) throw new Error(`${bytes.length} bytes became ${total}`);
      result.decoded++;
    } catch (error) {
      if (!(error instanceof FormatError) || error.format === 'fuzz') {
        throw new Error(`run ${run} (seed ${seed}): ${Buffer.from(bytes).toString('base64')}`, {
          cause: error,
        });
      }
      result.rejected++;
    }
  }
  return result;
}
