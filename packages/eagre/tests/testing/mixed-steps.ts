// Steps of models under mixed policies on a GPU: nothing of them runs on the host.
import { afterEach, expect, it } from 'vitest';
import * as tf from '../../src/index.ts';

const { layers } = tf;

const sizeOf = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);
const sines = (...shape: number[]): tf.Tensor =>
  tf.constant(
    Float32Array.from({ length: sizeOf(shape) }, (_, i) => Math.sin(i * 1.7)),
    { shape },
  );
const integers = (most: number, ...shape: number[]): tf.Tensor =>
  tf.constant(
    Int32Array.from({ length: sizeOf(shape) }, (_, i) => (i * 7) % most),
    { shape },
  );

type Trained = readonly [model: tf.Model, x: tf.Tensor, labels: tf.Tensor];

function cnn(): Trained {
  const model = new tf.Sequential([
    new layers.Conv2D(4, 3, { activation: 'relu', padding: 'same', inputShape: [8, 8, 3] }),
    new layers.BatchNormalization(),
    new layers.MaxPooling2D(2),
    new layers.Conv2D(6, 3, { strides: 1, activation: 'gelu' }),
    new layers.AveragePooling2D(2),
    new layers.Flatten(),
    new layers.Dropout(0.1, { seed: 1 }),
    new layers.Dense(5),
  ]);
  return [model, sines(4, 8, 8, 3), integers(5, 4)];
}

function transformer(): Trained {
  const tokens = tf.Input([6], { dtype: 'int32' });
  const x = new layers.Embedding(11, 8)(tokens);
  const normal = new layers.LayerNormalization()(x);
  const attended = new layers.Add()([
    x,
    new layers.MultiHeadAttention(2, 4)([normal, normal], { useCausalMask: true }),
  ]);
  const again = new layers.LayerNormalization()(attended);
  const wide = new layers.Dense(16, { activation: 'gelu' })(again);
  const sum = new layers.Add()([attended, new layers.Dense(8)(wide)]);
  const classes = new layers.Dense(11)(sum);
  return [new tf.Model(tokens, classes), integers(11, 2, 6), integers(9, 2, 6)];
}

const policies = ['mixed_bfloat16', 'mixed_float16'] as const;

/**
 * Tests two steps of a convolutional network and of a transformer.
 * @param backend whose name `tf.experimental.memory()` has.
 */
export function mixedSteps(backend: string, isThere: boolean): void {
  afterEach(() => tf.keras.mixedPrecision.setGlobalPolicy('float32'));

  const models = { cnn, transformer };
  const cases = Object.keys(models).flatMap((name) =>
    policies.map((policy) => [name as keyof typeof models, policy] as const),
  );
  it.skipIf(!isThere).each(cases)('%s trains under %s without the host', async (name, policy) => {
    tf.keras.mixedPrecision.setGlobalPolicy(policy);
    const train = async (): Promise<number[]> => {
      tf.random.setSeed(3);
      const [model, x, labels] = models[name]();
      const optimizer = new tf.optimizers.Adam(0.01);
      const lossOf = new tf.losses.SparseCategoricalCrossentropy({ fromLogits: true });
      const step = tf.function((images: tf.Tensor, classes: tf.Tensor) => {
        const tape = new tf.GradientTape();
        const loss = tape.record(() => lossOf(classes, model.call(images, { training: true }) as tf.Tensor));
        const variables = model.trainableVariables;
        optimizer.applyGradients(tape.gradient(loss, variables), variables);
        return loss;
      });
      return [await step(x, labels).read(), await step(x, labels).read()].map(([loss]) => Number(loss));
    };
    const expected = await train();
    const before = tf.experimental.memory()[backend]?.hostFallbacks ?? 0;
    using _ = tf.device('/gpu:0');
    const losses = await train();
    expect(tf.experimental.memory()[backend]?.hostFallbacks).toBe(before);
    expect(losses).toHaveLength(2);
    losses.forEach((loss, i) => {
      expect(loss).toBeCloseTo(expected[i] as number, 1);
    });
  });
}
