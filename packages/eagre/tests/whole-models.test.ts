// Twelve models after 50 steps and more of training: histories, weights and predictions are Keras's.
// tools/golden/whole_models.py makes the same models, each of the same name.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import * as tf from '../src/index.ts';

const { layers, Model, Sequential, Input, losses, metrics, optimizers, regularizers } = tf.keras;
const { schedules } = optimizers;
const [N, VALID] = [18, 6];

interface Case {
  readonly history: Readonly<Record<string, readonly number[]>>;
  readonly weights: readonly { readonly path: string; readonly shape: number[]; readonly values: number[] }[];
  readonly predicted: readonly (readonly number[])[];
  readonly steps: number;
}
const { cases } = JSON.parse(
  readFileSync(new URL('../golden/whole-models.json', import.meta.url), 'utf8'),
) as { readonly cases: Readonly<Record<string, Case>> };

/** Numbers between -0.5 and 0.5 that Python makes too. */
function noise(size: number, seed: number): number[] {
  return Array.from({ length: size }, (_, n) => {
    const x = Math.sin(n * 12.9898 + seed * 78.233) * 43758.5453;
    return x - Math.floor(x) - 0.5;
  });
}
const sizeOf = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);
function real(shape: readonly number[], seed: number): tf.Tensor {
  return tf.constant(
    noise(sizeOf(shape), seed).map((x) => 2 * x),
    'float32',
    { shape },
  );
}
function whole(below: number, shape: readonly number[], seed: number): tf.Tensor {
  const values = noise(sizeOf(shape), seed).map((x) => Math.floor((x + 0.5) * below));
  return tf.constant(values, 'int32', { shape });
}
const oneHot = (below: number, count: number, seed: number): tf.Tensor =>
  tf.oneHot(whole(below, [count], seed), below);

function fill<M extends tf.keras.Model>(model: M): M {
  model.weights.forEach((w, i) => {
    const { name } = w;
    if (name.startsWith('moving')) return;
    const shift = name === 'gamma' ? 1 : 0;
    const values = noise(w.size, 100 + i).map((x) => shift + 0.8 * x);
    w.assign(tf.constant(values, 'float32', { shape: w.shape as number[] }));
  });
  return model;
}

/** Adds an embedding of each position. */
class Positions extends layers.Layer {
  readonly embedding: tf.keras.layers.Embedding;
  readonly count: number;
  constructor(count: number, size: number) {
    super();
    this.embedding = new layers.Embedding(count, size);
    this.count = count;
  }
  override call(x: tf.Tensor): tf.Tensor {
    return x.add(this.embedding(tf.range(this.count)));
  }
}

/** Mixes tokens by Fourier transforms instead of attention. */
class FNetEncoder extends layers.Layer {
  readonly dense: tf.Sequential;
  readonly first = new layers.LayerNormalization({ epsilon: 1e-5 });
  readonly second = new layers.LayerNormalization({ epsilon: 1e-5 });
  constructor(size: number, hidden: number) {
    super();
    this.dense = new Sequential([new layers.Dense(hidden, { activation: 'relu' }), new layers.Dense(size)]);
  }
  override call(x: tf.Tensor): tf.Tensor {
    const [mixed] = tf.keras.ops.fft2([x, tf.zerosLike(x)]);
    const y: tf.Tensor = this.first(x.add(mixed));
    return this.second(y.add(this.dense(y)));
  }
}

/** Products of features, with a matrix of low rank. */
class FeatureCross extends layers.Layer {
  down!: tf.keras.layers.Dense;
  up!: tf.keras.layers.Dense;
  override build(shape: readonly (number | null)[]): void {
    this.down = new layers.Dense(4, { useBias: false });
    this.up = new layers.Dense(shape.at(-1) as number);
    this.down.build(shape);
    this.up.build([null, 4]);
  }
  override call(x0: tf.Tensor, x: tf.Tensor): tf.Tensor {
    const projected: tf.Tensor = this.up(this.down(x));
    return x0.mul(projected).add(x);
  }
}

/** A step of its own: one loss, and a penalty of the hidden numbers. */
class Own extends Model {
  readonly hidden = new layers.Dense(6, { activation: 'softplus' });
  readonly last = new layers.Dense(2);
  readonly tracker = new metrics.Mean('both');
  readonly error = new metrics.RootMeanSquaredError('error');
  override call(x: tf.Tensor): tf.Tensor {
    return this.last(this.hidden(x));
  }
  override trainStep(x: tf.Tensor, y: tf.Tensor): Record<string, tf.Tensor> {
    const tape = new tf.GradientTape();
    const h = this.hidden(x);
    const predicted = this.last(h);
    const loss = y.sub(predicted).square().mean().add(h.square().sum().mul(0.01));
    const gradients = tape.gradient(loss, this.trainableVariables);
    this.optimizer.applyGradients(gradients, this.trainableVariables);
    this.tracker.updateState(loss);
    this.error.updateState(y, predicted);
    return { both: this.tracker.result(), error: this.error.result() };
  }
}

type Inputs = tf.Tensor | tf.Tensor[];
interface Made {
  readonly model: tf.keras.Model;
  readonly compile: tf.CompileOptions;
  readonly x: Inputs;
  readonly y: Inputs;
  readonly fit?: tf.FitOptions;
}

const make: Readonly<Record<string, () => Made>> = {
  mlp() {
    const model = new Sequential([
      Input([6]),
      new layers.Dense(8, { activation: 'relu' }),
      new layers.BatchNormalization(),
      new layers.Dense(6, { activation: 'tanh' }),
      new layers.BatchNormalization({ momentum: 0.9, center: false, epsilon: 0.01 }),
      new layers.Dense(3, { kernelRegularizer: new regularizers.L2(0.01) }),
    ]);
    const rate = new schedules.ExponentialDecay(0.05, 10, 0.8);
    const compile = {
      optimizer: new optimizers.SGD(rate, { momentum: 0.9, nesterov: true, clipnorm: 0.5 }),
      loss: new losses.SparseCategoricalCrossentropy({ fromLogits: true }),
      metrics: ['accuracy'],
      weightedMetrics: ['accuracy'],
    } as const;
    const fit = { classWeight: { 0: 2, 2: 0.5 }, validationSplit: 0.2, epochs: 13 };
    return { model, compile, x: real([N, 6], 1), y: whole(3, [N], 2), fit };
  },
  cnn() {
    const model = new Sequential([
      Input([8, 8, 2]),
      new layers.Conv2D(4, 3, { padding: 'same', useBias: false, activation: 'relu' }),
      new layers.MaxPooling2D(),
      new layers.BatchNormalization(),
      new layers.Conv2D(4, 3),
      new layers.AveragePooling2D(2, { strides: 1, padding: 'same' }),
      new layers.Flatten(),
      new layers.Dense(3, { activation: 'softmax' }),
    ]);
    const warm = { alpha: 0.1, warmupTarget: 0.02, warmupSteps: 10 };
    const optimizer = new optimizers.AdamW(new schedules.CosineDecay(0, 40, warm), { weightDecay: 0.1 });
    optimizer.excludeFromWeightDecay({ varNames: ['bias', 'gamma', 'beta'] });
    const loss = 'sparseCategoricalCrossentropy';
    const compile = { optimizer, loss, metrics: ['accuracy'], stepsPerExecution: 2 } as const;
    const fit = { validationData: [real([VALID, 8, 8, 2], 5), whole(3, [VALID], 6)] } as const;
    return { model, compile, x: real([N, 8, 8, 2], 3), y: whole(3, [N], 4), fit };
  },
  lstm() {
    const model = new Sequential([
      Input([7], { dtype: 'int32' }),
      new layers.Embedding(12, 5, { maskZero: true }),
      new layers.LSTM(6),
      new layers.Dense(1, { activation: 'sigmoid' }),
    ]);
    const compile = {
      optimizer: new optimizers.RMSprop(0.01, {
        rho: 0.8,
        momentum: 0.5,
        centered: true,
        globalClipnorm: 0.3,
      }),
      loss: 'binaryCrossentropy',
      metrics: ['accuracy', new metrics.AUC({ name: 'auc' })],
      weightedMetrics: ['mae'],
    } as const;
    const rows = tf.range(N).mod(5).add(3).expandDims(1);
    const x = whole(12, [N, 7], 7).mul(tf.range(7).less(rows).cast('int32'));
    const fit = { sampleWeight: real([N], 9).abs().add(0.1) };
    return { model, compile, x, y: whole(2, [N, 1], 8).cast('float32'), fit };
  },
  bigru() {
    const model = new Sequential([
      Input([7, 3]),
      new layers.Bidirectional(new layers.GRU(4, { returnSequences: true })),
      new layers.GRU(3, { resetAfter: false }),
      new layers.Dense(2),
    ]);
    const averaged = { useEma: true, emaMomentum: 0.8, emaOverwriteFrequency: 7 };
    const optimizer = new optimizers.Nadam(0.01, averaged);
    const compile = { optimizer, loss: 'mse', metrics: ['mae'], stepsPerExecution: 5 } as const;
    const fit = { validationData: [real([VALID, 7, 3], 12), real([VALID, 2], 13)] } as const;
    return { model, compile, x: real([N, 7, 3], 10), y: real([N, 2], 11), fit };
  },
  gpt() {
    const tokens = Input([8], { dtype: 'int32' });
    let x = new Positions(8, 8)(new layers.Embedding(11, 8)(tokens));
    for (let i = 0; i < 2; i++) {
      const normal = new layers.LayerNormalization()(x);
      x = x.add(
        new layers.MultiHeadAttention(2, 4, { useBias: false })([normal, normal], { useCausalMask: true }),
      );
      const wide = new layers.Dense(12, { activation: 'gelu' });
      const narrow = new layers.Dense(8);
      x = x.add(narrow(wide(new layers.LayerNormalization()(x))));
    }
    const model = new Model(tokens, new layers.Dense(11)(new layers.LayerNormalization()(x)));
    const rate = new schedules.PolynomialDecay(0.01, 20, { endLearningRate: 0.002, power: 2 });
    const compile = {
      optimizer: new optimizers.Adam(rate, { beta2: 0.98, amsgrad: true, gradientAccumulationSteps: 2 }),
      loss: new losses.SparseCategoricalCrossentropy({ fromLogits: true }),
      metrics: ['accuracy'],
    } as const;
    const text = whole(11, [N, 9], 14);
    const fit = { validationSplit: 0.25, epochs: 13 };
    return { model, compile, x: text.slice([0, 0], [N, 8]), y: text.slice([0, 1], [N, 8]), fit };
  },
  residual() {
    const [a, b] = [Input([5], { name: 'a' }), Input([5], { name: 'b' })];
    const shared = new layers.Dense(6, { activation: 'elu', name: 'shared' });
    const block = new layers.Dense(6, { activation: 'swish', name: 'block' });
    let [left, right] = [shared(a), shared(b)];
    left = new layers.Add()([left, block(left)]);
    right = new layers.Add()([right, block(right)]);
    const both = new layers.Concatenate()([left, new layers.Multiply()([left, right])]);
    const value = new layers.Dense(1, { name: 'value' })(both);
    const kind = new layers.Dense(3, { activation: 'softmax', name: 'kind' })(both);
    const rate = new schedules.PiecewiseConstantDecay([15, 30], [0.1, 0.05, 0.02]);
    const compile = {
      optimizer: new optimizers.Adagrad(rate, { clipvalue: 0.2, weightDecay: 0.01 }),
      loss: [new losses.Huber({ delta: 0.5 }), 'categoricalCrossentropy'],
      lossWeights: [0.3, 2],
      metrics: [['mae'], ['accuracy']],
    } as const;
    const validationData = [
      [real([VALID, 5], 19), real([VALID, 5], 20)],
      [real([VALID, 1], 21), oneHot(3, VALID, 22)],
    ] as const;
    return {
      model: new Model([a, b], [value, kind]),
      compile,
      x: [real([N, 5], 15), real([N, 5], 16)],
      y: [real([N, 1], 17), oneHot(3, N, 18)],
      fit: { validationData },
    };
  },
  autoencoder() {
    const options = { strides: 2, padding: 'same', activation: 'leakyRelu' } as const;
    const model = new Sequential([
      Input([8, 8, 1]),
      new layers.Conv2D(3, 3, options),
      new layers.Conv2D(4, 3, options),
      new layers.Conv2DTranspose(3, 3, options),
      new layers.Conv2DTranspose(1, 3, { ...options, activation: 'tanh' }),
    ]);
    const rate = new schedules.CosineDecayRestarts(0.02, 12, { tMul: 1.5, mMul: 0.8 });
    const optimizer = new optimizers.Lamb(rate, { weightDecay: 0.01, clipnorm: 0.5 });
    const x = real([N, 8, 8, 1], 23);
    const fit = { validationSplit: 0.2, epochs: 13 };
    return { model, compile: { optimizer, loss: 'mse', metrics: ['mae'] }, x, y: x, fit };
  },
  mobile() {
    const x = Input([8, 8, 3]);
    const normal = (y: tf.keras.KerasTensor): tf.keras.KerasTensor => new layers.BatchNormalization()(y);
    const relu6 = (y: tf.keras.KerasTensor): tf.keras.KerasTensor => new layers.ReLU(6)(y);
    const depthwise = new layers.DepthwiseConv2D(3, { strides: 2, padding: 'same', useBias: false });
    const y = normal(new layers.Conv2D(4, 1, { useBias: false })(relu6(normal(depthwise(x)))));
    const separable = new layers.SeparableConv2D(4, 3, {
      padding: 'same',
      depthMultiplier: 2,
      useBias: false,
    });
    const z = relu6(normal(separable(y)));
    const pooled = new layers.GlobalAveragePooling2D()(new layers.Add()([y, z]));
    const rate = new schedules.InverseTimeDecay(0.02, 10, 0.5, { staircase: true });
    const compile = {
      optimizer: new optimizers.Muon(rate, { weightDecay: 0.05, adamWeightDecay: 0.01 }),
      loss: new losses.CategoricalCrossentropy({ fromLogits: true, labelSmoothing: 0.1 }),
      metrics: ['accuracy'],
    } as const;
    const fit = { classWeight: { 0: 2, 1: 1, 2: 0.5, 3: 1.5 } };
    const model = new Model(x, new layers.Dense(4)(pooled));
    return { model, compile, x: real([N, 8, 8, 3], 24), y: oneHot(4, N, 25), fit };
  },
  convlstm() {
    const model = new Sequential([
      Input([4, 5, 5, 2]),
      new layers.ConvLSTM2D(3, 2, { returnSequences: true }),
      new layers.TimeDistributed(new layers.Conv2D(2, 2, { activation: 'relu' })),
      new layers.TimeDistributed(new layers.Flatten()),
      new layers.SimpleRNN(4),
      new layers.Dense(2),
    ]);
    const optimizer = new optimizers.Ftrl(0.1, {
      l1RegularizationStrength: 0.01,
      l2RegularizationStrength: 0.02,
      l2ShrinkageRegularizationStrength: 0.01,
      beta: 0.1,
    });
    const compile = { optimizer, loss: 'logCosh', metrics: ['mse', 'cosineSimilarity'] } as const;
    const fit = { sampleWeight: real([N], 28).abs().add(0.2) };
    return { model, compile, x: real([N, 4, 5, 5, 2], 26), y: real([N, 2], 27), fit };
  },
  own() {
    const model = new Own();
    model.build([null, 5]);
    const averaged = { useEma: true, emaMomentum: 0.9 };
    const optimizer = new optimizers.Lion(0.003, { beta1: 0.8, beta2: 0.95, weightDecay: 0.1, ...averaged });
    return { model, compile: { optimizer }, x: real([N, 5], 29), y: real([N, 2], 30) };
  },
  fnet() {
    const tokens = Input([8], { dtype: 'int32' });
    let x = new Positions(8, 6)(new layers.Embedding(12, 6)(tokens));
    for (let i = 0; i < 2; i++) x = new FNetEncoder(6, 10)(x);
    const y = new layers.Dense(1, { activation: 'sigmoid' })(new layers.GlobalAveragePooling1D()(x));
    const compile = {
      optimizer: new optimizers.Adam(0.01),
      loss: 'binaryCrossentropy',
      metrics: ['accuracy'],
    } as const;
    return { model: new Model(tokens, y), compile, x: whole(12, [N, 8], 31), y: whole(2, [N, 1], 32) };
  },
  deep_and_cross() {
    const [users, films] = [Input([1], { dtype: 'int32' }), Input([1], { dtype: 'int32' })];
    const row = (id: tf.keras.KerasTensor, count: number): tf.keras.KerasTensor =>
      new layers.Flatten()(new layers.Embedding(count, 4)(id));
    const x0 = new layers.Concatenate()([row(users, 5), row(films, 7)]);
    const inner = new FeatureCross()(x0, x0);
    const x = new FeatureCross()(x0, inner);
    const y = new layers.Dense(1)(new layers.Dense(8, { activation: 'relu' })(x));
    const compile = {
      optimizer: new optimizers.AdamW(0.01),
      loss: 'mse',
      metrics: [new metrics.RootMeanSquaredError()],
    } as const;
    const rows = [whole(5, [N, 1], 33), whole(7, [N, 1], 34)];
    return { model: new Model([users, films], y), compile, x: rows, y: real([N, 1], 35).abs().mul(2).add(1) };
  },
};

/** Near Keras's numbers; those below 1 absolutely. */
function close(got: ArrayLike<number>, expected: readonly number[], what: string): void {
  expect(got.length, what).toBe(expected.length);
  expected.forEach((e, i) => {
    const g = got[i] as number;
    if (!(Math.abs(g - e) <= 1e-4 * Math.max(1, Math.abs(e))))
      expect.fail(`${what}: element ${i} is ${g}, Keras has ${e}`);
  });
}
const snake = (name: string): string => name.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`);

describe.each(['traced', 'eager'])('%s', (how) => {
  test.each(Object.keys(cases))('%s', run);

  async function run(name: string): Promise<void> {
    const expected = cases[name] as Case;
    const { model, compile, x, y, fit } = (make[name] as () => Made)();
    fill(model);
    expect(model.weights.map((w) => w.shape)).toEqual(expected.weights.map((w) => w.shape));
    model.compile({ ...compile, runEagerly: how === 'eager' });
    const { history } = await model.fit(x, y, {
      batchSize: 4,
      epochs: 10,
      shuffle: false,
      verbose: 0,
      ...fit,
    });
    const reported = new Map(Object.entries(history).map(([key, numbers]) => [snake(key), numbers]));
    expect([...reported.keys()].sort()).toEqual(Object.keys(expected.history).sort());
    for (const [key, numbers] of Object.entries(expected.history))
      close(reported.get(key) as number[], numbers, `${name}: ${key}`);
    model.weights.forEach((w, i) => {
      const { values, path } = expected.weights[i] as Case['weights'][number];
      close(w.data() as Float32Array, values, `${name}: ${path}`);
    });
    const predicted = [await model.predict(x, { batchSize: 7, verbose: 0 })].flat() as tf.Tensor[];
    predicted.forEach((p, i) => {
      close(p.data() as Float32Array, expected.predicted[i] as number[], `${name}: prediction ${i}`);
    });
  }
});
