import { afterEach, describe, expect, test, vi } from 'vitest';
import * as tf from '../src/index.ts';

const { layers } = tf;
const SIZES = [3, 1, 2, 7, 32, 3];
afterEach(() => vi.restoreAllMocks());

interface Case {
  readonly model: () => tf.Model;
  /** Of one example. */
  readonly input: readonly number[];
}
const chain = (...list: tf.layers.Layer[]): tf.Model => new tf.Sequential([...list, new layers.Dense(3)]);

const cases: Readonly<Record<string, Case>> = {
  dense: {
    model: () =>
      chain(new layers.Dense(5, { activation: 'relu', kernelRegularizer: 'l2' }), new layers.Dropout(0.3)),
    input: [4],
  },
  convolutional: {
    model: () =>
      chain(
        new layers.Conv2D(4, 3, { activation: 'relu', padding: 'same', strides: 2 }),
        new layers.BatchNormalization(),
        new layers.MaxPooling2D(2),
        new layers.SpatialDropout2D(0.2),
        new layers.Flatten(),
      ),
    input: [9, 8, 2],
  },
  'depthwise, transposed, global pooling': {
    model: () =>
      chain(
        new layers.DepthwiseConv2D(3, { padding: 'same' }),
        new layers.Conv2DTranspose(3, 2, { strides: 2 }),
        new layers.UpSampling2D(2),
        new layers.AveragePooling2D(3),
        new layers.GlobalAveragePooling2D(),
      ),
    input: [5, 6, 2],
  },
  'layer normalisation and activations': {
    model: () =>
      chain(
        new layers.LayerNormalization(),
        new layers.LeakyReLU(),
        new layers.Softmax(),
        new layers.GaussianNoise(0.1),
      ),
    input: [6],
  },
  'LSTM both ways and GRU': {
    model: () =>
      chain(
        new layers.Bidirectional(new layers.LSTM(4, { returnSequences: true })),
        new layers.GRU(4, { returnSequences: true, dropout: 0.2 }),
        new layers.SimpleRNN(3),
      ),
    input: [5, 3],
  },
  'time distributed, embedding-like reshapes': {
    model: () =>
      chain(
        new layers.TimeDistributed(new layers.Dense(4)),
        new layers.Permute([2, 1]),
        new layers.Reshape([-1]),
        new layers.RepeatVector(2),
        new layers.Flatten(),
      ),
    input: [3, 4],
  },
  attention: {
    model: () => {
      class Block extends tf.Model {
        readonly attention = new layers.MultiHeadAttention(2, 4);
        readonly norm = new layers.LayerNormalization();
        readonly head = new layers.Dense(3);
        override call(x: tf.Tensor): tf.Tensor {
          const y = this.norm(x.add(this.attention(x)));
          return this.head(y.mean(1));
        }
      }
      return new Block();
    },
    input: [6, 8],
  },
};

type Step = (x: tf.Tensor, y: tf.Tensor) => tf.Tensor;

/** Losses of a step for each size, and the weights at the end. */
function train(
  { model: make, input }: Case,
  wrap: (f: Step) => Step,
  optimizer = new tf.optimizers.Adam(0.01),
) {
  tf.random.setSeed(3);
  const model = make();
  const lossObject = new tf.losses.SparseCategoricalCrossentropy({ fromLogits: true });
  model(tf.random.normal([2, ...input]));
  const accuracy = new tf.metrics.SparseCategoricalAccuracy();
  const mean = new tf.metrics.Mean();
  const step = wrap((x, y) => {
    const tape = new tf.GradientTape();
    const logits = model(x, { training: true });
    let loss = lossObject(y, logits);
    for (const extra of model.losses) loss = loss.add(extra);
    optimizer.applyGradients(tape.gradient(loss, model.trainableVariables), model.trainableVariables);
    accuracy.updateState(y, logits);
    mean.updateState(loss);
    return loss;
  });
  const data = SIZES.map((n) => [
    tf.random.normal([n, ...input]),
    tf.random.uniform([n], { maxval: 3, dtype: 'int32' }),
  ]);
  const losses = data.map(([x, y]) => step(x as tf.Tensor, y as tf.Tensor).item());
  const metrics = [accuracy.result().item(), mean.result().item()];
  return [...losses, ...metrics, ...model.weights.flatMap((w) => Array.from(w.data() as Float32Array))];
}

describe('a training step for any batch size equals that of each size', () => {
  test.each(Object.entries(cases))('%s', (_, one) => {
    const warn = vi.spyOn(console, 'warn');
    let traces = 0;
    const sized = train(one, (f) => {
      const inputSignature = [new tf.TensorSpec([null, ...one.input]), new tf.TensorSpec([null], 'int32')];
      return tf.function({ inputSignature })(((x, y) => {
        traces++;
        return f(x, y);
      }) as Step);
    });
    // The optimizer makes its variables in a first trace.
    expect(traces).toBe(2);
    expect(warn.mock.calls).toEqual([]);
    warn.mockImplementation(() => undefined);
    expect(sized).toEqual(train(one, (f) => tf.function(f)));
    const eager = train(one, (f) => f);
    sized.forEach((v, i) => expect(Math.abs(v - (eager[i] as number))).toBeLessThan(2e-4));
  });
});
