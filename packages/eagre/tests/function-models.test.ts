import { describe, expect, test } from 'vitest';
import * as tf from '../src/index.ts';

const image = (): tf.Tensor => tf.random.normal([4, 8, 8, 1]);
const sequence = (): tf.Tensor => tf.random.normal([4, 6, 8]);

interface Case {
  readonly model: () => tf.Model;
  readonly input: () => tf.Tensor;
}

const { layers } = tf;
const cases: Readonly<Record<string, Case>> = {
  'convolutional, with dropout and batch normalisation': {
    model: () =>
      new tf.Sequential([
        new layers.Conv2D(4, 3, { activation: 'relu' }),
        new layers.BatchNormalization(),
        new layers.MaxPooling2D(2),
        new layers.Dropout(0.5),
        new layers.Flatten(),
        new layers.Dense(3, { kernelRegularizer: 'l2' }),
      ]),
    input: image,
  },
  'recurrent, both ways': {
    model: () =>
      new tf.Sequential([
        new layers.Bidirectional(new layers.LSTM(5, { returnSequences: true })),
        new layers.GRU(4),
        new layers.Dense(3),
      ]),
    input: sequence,
  },
  transformer: {
    model: () => {
      class Block extends tf.Model {
        readonly attention = new layers.MultiHeadAttention(2, 4);
        readonly norm = new layers.LayerNormalization();
        readonly head = new layers.Dense(3);
        override call(x: tf.Tensor) {
          const y = this.norm(x.add(this.attention(x)));
          return this.head(y.mean(1));
        }
      }
      return new Block();
    },
    input: sequence,
  },
};

/** Losses of some steps, and the weights after them. */
function train(
  { model: make, input }: Case,
  wrap: (f: (x: tf.Tensor) => tf.Tensor) => (x: tf.Tensor) => tf.Tensor,
) {
  tf.random.setSeed(3);
  const model = make();
  const x = input();
  const labels = tf.constant([0, 1, 2, 1], 'int32');
  const optimizer = new tf.optimizers.Adam(0.01);
  const lossObject = new tf.losses.SparseCategoricalCrossentropy({ fromLogits: true });
  const step = wrap((batch) => {
    const tape = new tf.GradientTape();
    let loss = lossObject(labels, model(batch, { training: true }));
    for (const extra of model.losses) loss = loss.add(extra);
    optimizer.applyGradients(tape.gradient(loss, model.trainableVariables), model.trainableVariables);
    return loss;
  });
  model(x);
  const losses = Array.from({ length: 4 }, () => step(x).item());
  return { losses, weights: model.weights.map((w) => Array.from(w.data() as Float32Array)) };
}

describe('a training step in tf.function equals the eager one', () => {
  test.each(Object.entries(cases))('%s', (_, one) => {
    const eager = train(one, (f) => f);
    const traced = train(one, (f) => tf.function(f));
    expect(traced.losses[3]).toBeLessThan(traced.losses[0] as number);
    traced.losses.forEach((l, i) => expect(l).toBeCloseTo(eager.losses[i] as number, 4));
    expect(traced.weights.length).toBe(eager.weights.length);
    traced.weights
      .flat()
      .forEach((w, i) => expect(Math.abs(w - (eager.weights.flat()[i] as number))).toBeLessThan(1e-4));
  });
});

test('a model builds its weights in the first call of a function', () => {
  const model = new tf.Sequential([new layers.Dense(4, { activation: 'relu' }), new layers.Dense(2)]);
  const predict = tf.function((x: tf.Tensor) => model(x));
  const x = tf.random.normal([3, 5]);
  const traced = predict(x);
  expect(model.weights.map((w) => w.shape)).toEqual([[5, 4], [4], [4, 2], [2]]);
  expect(traced.data()).toEqual(model(x).data());
});

test('a metric and a counter change at each run', () => {
  const mean = new tf.metrics.Mean();
  const update = tf.function((x: tf.Tensor) => mean.updateState(x));
  update(tf.constant([1, 3]));
  update(tf.constant([8]));
  expect(mean.result().item()).toBe(4);
});
