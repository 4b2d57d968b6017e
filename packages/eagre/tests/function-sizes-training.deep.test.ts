import { afterEach, describe, expect, test, vi } from 'vitest';
import * as tf from '../src/index.ts';

const { layers } = tf;
afterEach(() => vi.restoreAllMocks());
type Values = (number | string)[];

const values = (result: unknown): Values =>
  [result].flat(3).flatMap((t) => {
    const x = t as tf.Tensor;
    return [`[${x.shape}]`, ...Array.from(x.data() as Float32Array, Number)];
  });

/** Nothing but what one function traces anew may be warned of. */
function onlyOne<T>(fn: () => T): T {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  const result = fn();
  expect(warn.mock.calls.flat().filter((text) => String(text).includes('each size'))).toEqual([]);
  return result;
}

const losses: Readonly<Record<string, () => tf.losses.Loss>> = {
  MeanSquaredError: () => new tf.losses.MeanSquaredError(),
  MeanAbsoluteError: () => new tf.losses.MeanAbsoluteError({ reduction: 'sum' }),
  Huber: () => new tf.losses.Huber(),
  LogCosh: () => new tf.losses.LogCosh(),
  KLDivergence: () => new tf.losses.KLDivergence(),
  Poisson: () => new tf.losses.Poisson(),
  Hinge: () => new tf.losses.Hinge(),
  CosineSimilarity: () => new tf.losses.CosineSimilarity(),
  BinaryCrossentropy: () => new tf.losses.BinaryCrossentropy(),
  CategoricalCrossentropy: () => new tf.losses.CategoricalCrossentropy({ labelSmoothing: 0.1 }),
  'MeanSquaredError, mean': () => new tf.losses.MeanSquaredError({ reduction: 'none' }),
};

describe('losses for any batch, with weights, and their gradients', () => {
  test.each(Object.entries(losses))('%s', (_, make) => {
    const loss = make();
    const fn = (y: tf.Tensor, p: tf.Tensor, w: tf.Tensor): unknown => {
      const tape = new tf.GradientTape();
      tape.watch(p);
      const plain = loss(y, p);
      const weighted = loss(y, p, { sampleWeight: w });
      return [plain, weighted, tape.gradient(plain.mean().add(weighted.sum()), p)];
    };
    const sized = tf.function({
      inputSignature: [[null, 3], [null, 3], [null]].map((s) => new tf.TensorSpec(s)),
    })(fn as (...x: never[]) => unknown);
    const each = tf.function(fn);
    onlyOne(() => {
      for (const n of [3, 1, 2, 7, 32]) {
        const x = [[n, 3], [n, 3], [n]].map((s) => tf.random.uniform(s, { minval: 0.1, maxval: 0.9 }));
        expect(values(sized(...(x as never[])))).toEqual(
          values(each(...(x as [tf.Tensor, tf.Tensor, tf.Tensor]))),
        );
      }
    });
    expect(sized.experimentalGetTracingCount()).toBe(1);
  });
});

const optimizers: Readonly<Record<string, () => tf.optimizers.Optimizer>> = Object.fromEntries(
  ['SGD', 'Adam', 'AdamW', 'RMSprop', 'Adagrad', 'Adadelta', 'Adamax', 'Nadam', 'Ftrl', 'Lion']
    .filter((name) => name in tf.optimizers)
    .map((name) => [
      name,
      () =>
        new (tf.optimizers as unknown as Record<string, new (rate: number) => tf.optimizers.Optimizer>)[
          name
        ]!(0.05),
    ]),
);

describe('training steps for any batch', () => {
  test.each(Object.entries(optimizers))('%s', (_, make) => {
    const run = (
      wrap: (f: (x: tf.Tensor, y: tf.Tensor) => tf.Tensor) => (x: tf.Tensor, y: tf.Tensor) => tf.Tensor,
    ): Values => {
      tf.random.setSeed(1);
      const [w, b] = [new tf.Variable(tf.random.normal([4, 2])), new tf.Variable(tf.zeros([2]))];
      const optimizer = make();
      const step = wrap((x, y) => {
        const tape = new tf.GradientTape();
        const loss = x.matmul(w).add(b).sub(y).square().mean();
        optimizer.applyGradients(tape.gradient(loss, [w, b]), [w, b]);
        return loss;
      });
      const found = [4, 1, 3, 32, 2].flatMap((n) =>
        values(step(tf.random.normal([n, 4]), tf.random.normal([n, 2]))),
      );
      return [...found, ...values([w.read(), b.read()])];
    };
    const sized = onlyOne(() =>
      run((f) =>
        tf.function({ inputSignature: [new tf.TensorSpec([null, 4]), new tf.TensorSpec([null, 2])] })(f),
      ),
    );
    expect(sized).toEqual(run((f) => tf.function(f)));
  });
});

const sequences: Readonly<Record<string, () => tf.layers.Layer>> = {
  LSTM: () => new layers.LSTM(4, { returnSequences: true }),
  'GRU backwards': () => new layers.GRU(3, { goBackwards: true }),
  'Bidirectional SimpleRNN': () => new layers.Bidirectional(new layers.SimpleRNN(3)),
  MultiHeadAttention: () => {
    const attention = new layers.MultiHeadAttention(2, 3);
    return new (class extends layers.Layer {
      readonly inner = attention;
      override call(x: tf.Tensor): tf.Tensor {
        return this.inner(x);
      }
    })();
  },
  'Reshape and Flatten': () => new tf.Sequential([new layers.Reshape([-1]), new layers.Flatten()]),
  'Add and Concatenate': () =>
    new (class extends layers.Layer {
      readonly add = new layers.Add();
      readonly concat = new layers.Concatenate({ axis: 1 });
      override call(x: tf.Tensor): tf.Tensor {
        return this.concat([x, this.add([x, x.mean(1, { keepdims: true })])]);
      }
    })(),
  'activity regularizer': () => new layers.Dense(2, { activityRegularizer: 'l2' }),
  'TimeDistributed Dense': () => new layers.TimeDistributed(new layers.Dense(5, { activation: 'gelu' })),
  LayerNormalization: () => new layers.LayerNormalization(),
  BatchNormalization: () => new layers.BatchNormalization(),
  Dropout: () => new layers.Dropout(0.4, { seed: 3 }),
  Softmax: () => new layers.Softmax(1),
};
const images: Readonly<Record<string, () => tf.layers.Layer>> = {
  Conv2D: () => new layers.Conv2D(3, 3, { padding: 'same' }),
  'Conv2D with strides and padding': () => new layers.Conv2D(3, 3, { strides: 2, padding: 'same' }),
  'Conv2D with strides': () => new layers.Conv2D(3, 2, { strides: 2 }),
  SeparableConv2D: () => new layers.SeparableConv2D(3, 2),
  DepthwiseConv2D: () => new layers.DepthwiseConv2D(3),
  Conv2DTranspose: () => new layers.Conv2DTranspose(2, 3, { strides: 2 }),
  MaxPooling2D: () => new layers.MaxPooling2D(2),
  AveragePooling2D: () => new layers.AveragePooling2D(3, { strides: 1, padding: 'same' }),
  UpSampling2D: () => new layers.UpSampling2D(2),
  ZeroPadding2D: () => new layers.ZeroPadding2D(1),
  GlobalAveragePooling2D: () => new layers.GlobalAveragePooling2D(),
  BatchNormalization: () => new layers.BatchNormalization(),
  SpatialDropout2D: () => new layers.SpatialDropout2D(0.3, { seed: 2 }),
};

// How often they are traced, where that is not once.
const TRACES: Readonly<Record<string, number>> = {
  // An image that is too small for it fails, after two attempts.
  DepthwiseConv2D: 3,
};

/** Calls of a layer in training, with the gradients of its weights and input. */
function agree(
  make: () => tf.layers.Layer,
  spec: readonly (number | null)[],
  shapes: readonly number[][],
  expected: number,
): void {
  const run = (wrap: (f: (x: tf.Tensor) => unknown) => (x: tf.Tensor) => unknown): Values => {
    tf.random.setSeed(4);
    const layer = make();
    layer(tf.zeros(shapes[0] as number[]));
    const f = wrap((x) => {
      const tape = new tf.GradientTape();
      tape.watch(x);
      const y = layer(x, { training: true });
      const grads = tape.gradient(y.square().sum(), [x, ...layer.trainableVariables]) as (tf.Tensor | null)[];
      return [y, ...grads.filter((g): g is tf.Tensor => g !== null)];
    });
    return shapes.flatMap((shape) => {
      const x = tf.random.uniform(shape);
      tf.random.setSeed(9);
      try {
        return values(f(x));
      } catch (error) {
        return [(error as Error).constructor.name];
      }
    });
  };
  vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  let traces = 0;
  const sized = run((f) =>
    tf.function({ inputSignature: [new tf.TensorSpec(spec)] })((x: tf.Tensor) => {
      traces++;
      return f(x);
    }),
  );
  expect(traces).toBe(expected);
  expect(sized).toEqual(run((f) => tf.function(f)));
}

describe('layers on batches and sequences of any size', () => {
  test.each(Object.entries(sequences))('%s', (name, make) =>
    agree(
      make,
      [null, null, 3],
      [
        [3, 5, 3],
        [1, 4, 3],
        [2, 2, 3],
        [3, 1, 3],
        [4, 4, 3],
        [1, 1, 3],
        [7, 6, 3],
      ],
      TRACES[name] ?? 1,
    ),
  );
});
describe('layers on images of any size', () => {
  test.each(Object.entries(images))('%s', (name, make) =>
    agree(
      make,
      [null, null, null, 2],
      [
        [2, 6, 5, 2],
        [1, 4, 4, 2],
        [3, 5, 8, 2],
        [2, 3, 3, 2],
        [1, 2, 7, 2],
        [5, 7, 4, 2],
      ],
      TRACES[name] ?? 1,
    ),
  );
});

const metrics: Readonly<Record<string, () => tf.metrics.Metric>> = {
  AUC: () => new tf.metrics.AUC(),
  'Precision of a class': () => new tf.metrics.Precision({ classId: 1 }),
  'Recall among the largest': () => new tf.metrics.Recall({ topK: 2 }),
  TopKCategoricalAccuracy: () => new tf.metrics.TopKCategoricalAccuracy(2),
  BinaryAccuracy: () => new tf.metrics.BinaryAccuracy(),
  RootMeanSquaredError: () => new tf.metrics.RootMeanSquaredError(),
};
describe('metrics of batches of any size', () => {
  test.each(Object.entries(metrics))('%s', (_, make) => {
    const metric = make();
    const fn = (y: tf.Tensor, p: tf.Tensor, sampleWeight: tf.Tensor): tf.Tensor => {
      metric.resetState();
      metric.updateState(y, p, { sampleWeight });
      return metric.result();
    };
    const specs = [[null, 3], [null, 3], [null]].map((s) => new tf.TensorSpec(s));
    // It has its variables before it is traced.
    fn(tf.ones([2, 3]), tf.ones([2, 3]), tf.ones([2]));
    const sized = tf.function({ inputSignature: specs })(fn);
    for (const n of [3, 1, 2, 7, 32]) {
      const y = tf.random.uniform([n, 3]).greater(0.5).cast('float32');
      const [p, w] = [tf.random.uniform([n, 3]), tf.random.uniform([n])];
      expect(values(sized(y, p, w))).toEqual(values(fn(y, p, w)));
    }
    expect(sized.experimentalGetTracingCount()).toBe(1);
  });
});
