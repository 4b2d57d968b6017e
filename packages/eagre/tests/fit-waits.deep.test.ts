// The steps of `fit` on a GPU do not wait for it: what they read of it is read at the end of the epoch. On the fake driver, which notes what it is asked.
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { hasFakeCuda } from '../../backend-cuda/src/testing/fake-cuda.ts';
import { temporaryFolder } from '../../testing/src/temporary.ts';
import * as tf from '../src/index.ts';

const { cudaBackend, cudaUnavailable } = await import('@eagre/backend-cuda');
const isTested = hasFakeCuda && cudaBackend !== undefined;
if (!isTested) console.log(`CUDA is not tested: ${cudaUnavailable}`);

/** Runs `body` on the GPU. @returns how often values were read, and how many calls ran on the host */
async function readsOf(body: () => Promise<unknown>): Promise<{ reads: number; onHost: number }> {
  const file = join(temporaryFolder('calls'), 'calls');
  const fallbacks = (): number => tf.experimental.memory().cuda.hostFallbacks ?? Number.NaN;
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

const optimizers = {
  SGD: () => new tf.optimizers.SGD(0.1),
  Adam: () => new tf.optimizers.Adam(0.1),
  // What it does in a step depends on the step's number, which only the GPU knows where steps may be left out.
  'AdamW with all options': () =>
    new tf.optimizers.AdamW({
      learningRate: new tf.optimizers.schedules.CosineDecay(0.1, 20, { warmupSteps: 5, warmupTarget: 0.2 }),
      clipnorm: 1,
      useEma: true,
      emaOverwriteFrequency: 3,
      gradientAccumulationSteps: 2,
    }),
};

type Fit = (steps: number) => Promise<{ reads: number; onHost: number }>;

/** Trains a model on the GPU for some steps of an epoch. */
function fitOf(
  name: keyof typeof optimizers,
  runEagerly: boolean,
  labels: tf.DType,
  metrics: readonly ('accuracy' | 'sparse_top_k_categorical_accuracy' | 'sparse_categorical_crossentropy')[],
): Fit {
  const [x, y, model] = tf.device('/gpu:0', () => {
    const made = new tf.Sequential([new tf.layers.Dense(4, { inputShape: [8] })]);
    made.compile({
      optimizer: optimizers[name](),
      loss: new tf.losses.SparseCategoricalCrossentropy({ fromLogits: true }),
      metrics,
      runEagerly,
    });
    return [tf.random.normal([128, 8]), tf.zeros([128], labels), made] as const;
  });
  return (steps) =>
    readsOf(() =>
      model.fit(x.slice([0, 0], [4 * steps, 8]), y.slice([0], [4 * steps]), {
        batchSize: 4,
        verbose: 0,
        shuffle: false,
      }),
    );
}

async function expectNoReads(fit: Fit): Promise<void> {
  await fit(3);
  const [few, many] = [await fit(4), await fit(32)];
  // The loss and the metrics at the end.
  expect(few.reads).toBeGreaterThan(0);
  expect(many).toEqual(few);
  expect(many.onHost).toBe(0);
}

const policies = ['float32', 'mixed_bfloat16', 'mixed_float16'] as const;
const cases = (Object.keys(optimizers) as (keyof typeof optimizers)[]).flatMap((name) =>
  policies.flatMap((policy) =>
    [false, true]
      // Its float64 numbers are computed together with values of the GPU in graphs.
      .filter((runEagerly) => runEagerly || name !== 'AdamW with all options' || policy === 'mixed_float16')
      .map((runEagerly) => ({ name, policy, runEagerly })),
  ),
);

afterEach(() => tf.keras.mixedPrecision.setGlobalPolicy('float32'));

it.skipIf(!isTested).each(cases)(
  'reads no metric, rate or count in a step of $name under $policy, runEagerly: $runEagerly',
  async ({ name, policy, runEagerly }) => {
    tf.keras.mixedPrecision.setGlobalPolicy(policy);
    await expectNoReads(fitOf(name, runEagerly, 'int32', ['accuracy']));
  },
);

it
  .skipIf(!isTested)
  .each(
    (['uint8', 'int64', 'float32'] as const).flatMap((labels) =>
      [false, true].map((runEagerly) => ({ labels, runEagerly })),
    ),
  )('reads no label of $labels in a step, runEagerly: $runEagerly', async ({ labels, runEagerly }) => {
  const metrics = [
    'accuracy',
    'sparse_top_k_categorical_accuracy',
    'sparse_categorical_crossentropy',
  ] as const;
  await expectNoReads(fitOf('SGD', runEagerly, labels, metrics));
});

it.skipIf(!isTested)('reads one count where the size of a result depends on values', () => {
  using _ = tf.device('/gpu:0');
  const x = tf.range(0, 4096, { dtype: 'int32' }).mod(3);
  const mask = x.greater(1);
  const read = vi.spyOn((cudaBackend as NonNullable<typeof cudaBackend>).allocator, 'read');
  const cases: Readonly<Record<string, () => tf.Tensor>> = {
    nonzero: () => x.nonzero(),
    where: () => tf.where(mask) as tf.Tensor,
    booleanMask: () => tf.booleanMask(x.cast('float32'), mask),
    'booleanMask of rows': () => tf.booleanMask(x.reshape([1024, 4]), mask.slice([0], [1024])),
  };
  const expected = [2730, 1365, 1365, 341];
  for (const [i, [name, make]] of Object.entries(cases).entries()) {
    read.mockClear();
    expect(make().shape[0], name).toBe(expected[i]);
    expect(
      read.mock.calls.map(([, bytes]) => bytes),
      name,
    ).toEqual([4]);
  }
  read.mockRestore();
});
