// The steps of `fit` on a GPU do not wait for it: what they read of it is read at the end of the epoch. On the fake driver, which notes what it is asked.
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { hasFakeCuda } from '../../backend-cuda/src/testing/fake-cuda.ts';
import { temporaryFolder } from '../../testing/src/temporary.ts';
import * as tf from '../src/index.ts';

const { cudaBackend, cudaUnavailable } = await import('@eagre/backend-cuda');
const isTested = hasFakeCuda && cudaBackend !== undefined;
if (!isTested) console.log(`CUDA is not tested: ${cudaUnavailable}`);

/** Runs `body` on the GPU. @returns how often values were read, and how many calls ran on the host */
async function readsOf(body: () => Promise<unknown>): Promise<{ reads: number; onHost: number }> {
  const file = join(temporaryFolder('calls'), 'calls');
  const fallbacks = (): number => tf.memory().cuda.hostFallbacks ?? Number.NaN;
  const before = fallbacks();
  const scope = tf.device('/gpu:0');
  process.env['FAKE_CUDA_CALLS'] = file;
  try {
    await body();
  } finally {
    process.env['FAKE_CUDA_CALLS'] = '';
    scope[Symbol.dispose]();
  }
  const calls = readFileSync(file, 'utf8').split('\n');
  rmSync(file);
  return {
    reads: calls.filter((name) => /DtoH|Synchronize/.test(name)).length,
    onHost: fallbacks() - before,
  };
}

it.skipIf(!isTested).each([
  ['SGD', () => new tf.optimizers.SGD(0.1)],
  ['Adam', () => new tf.optimizers.Adam(0.1)],
] as const)(
  'reads no metric, rate or count in a step of %s',
  async (_, optimizer) => {
    const [x, y, model] = tf.device('/gpu:0', () => {
      const made = new tf.Sequential([new tf.layers.Dense(4, { inputShape: [8] })]);
      made.compile({
        optimizer: optimizer(),
        loss: new tf.losses.SparseCategoricalCrossentropy({ fromLogits: true }),
        metrics: ['accuracy'],
      });
      return [tf.random.normal([128, 8]), tf.zeros([128], 'int32'), made] as const;
    });
    const fit = (steps: number): Promise<{ reads: number; onHost: number }> =>
      readsOf(() =>
        model.fit(x.slice([0, 0], [4 * steps, 8]), y.slice([0], [4 * steps]), {
          batchSize: 4,
          verbose: 0,
          shuffle: false,
        }),
      );
    await fit(3);
    const [few, many] = [await fit(4), await fit(32)];
    // The loss and the metric at the end.
    expect(few.reads).toBeGreaterThan(0);
    expect(many).toEqual(few);
    expect(many.onHost).toBe(0);
  },
  120_000,
);
