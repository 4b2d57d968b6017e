// How fast `fit` trains a model: seconds of a step once it runs evenly, or what the first epoch takes beyond its steps (making the model,
// tracing, compiling). `fit.py` does the same with Keras.
import * as tf from 'eagre';

const { layers } = tf;

/** Numbers that look random, the same in Python. */
function numbers(count, seed) {
  const out = new Float32Array(count);
  let x = seed + 1;
  for (let i = 0; i < count; i++) {
    x = (x * 48271) % 2147483647;
    out[i] = x / 2147483647;
  }
  return out;
}

const floats = (shape) =>
  tf.constant(
    numbers(
      shape.reduce((a, b) => a * b),
      1,
    ),
    { shape },
  );
const integers = (shape, below) =>
  tf.constant(
    Int32Array.from(
      numbers(
        shape.reduce((a, b) => a * b),
        2,
      ),
      (v) => Math.floor(v * below),
    ),
    { shape },
  );
const classes = 'sparseCategoricalCrossentropy';

const cases = {
  mlp: {
    batch: 32,
    steps: 60,
    make: () =>
      new tf.Sequential([
        tf.Input({ shape: [784] }),
        new layers.Dense(128, { activation: 'relu' }),
        new layers.Dense(64, { activation: 'relu' }),
        new layers.Dense(10, { activation: 'softmax' }),
      ]),
    data: (n) => [floats([n, 784]), integers([n], 10)],
    loss: classes,
  },
  wide: {
    batch: 256,
    steps: 20,
    make: () =>
      new tf.Sequential([
        tf.Input({ shape: [784] }),
        new layers.Dense(1024, { activation: 'relu' }),
        new layers.Dense(1024, { activation: 'relu' }),
        new layers.Dense(10, { activation: 'softmax', dtype: 'float32' }),
      ]),
    data: (n) => [floats([n, 784]), integers([n], 10)],
    loss: classes,
  },
  cnn: {
    batch: 32,
    steps: 40,
    make: () =>
      new tf.Sequential([
        tf.Input({ shape: [28, 28, 1] }),
        new layers.Conv2D(32, 3, { activation: 'relu' }),
        new layers.MaxPooling2D(2),
        new layers.Conv2D(64, 3, { activation: 'relu' }),
        new layers.MaxPooling2D(2),
        new layers.Flatten(),
        new layers.Dense(64, { activation: 'relu' }),
        new layers.Dense(10, { activation: 'softmax' }),
      ]),
    data: (n) => [floats([n, 28, 28, 1]), integers([n], 10)],
    loss: classes,
  },
  lstm: {
    batch: 32,
    steps: 20,
    make: () =>
      new tf.Sequential([
        tf.Input({ shape: [80], dtype: 'int32' }),
        new layers.Embedding(5000, 64),
        new layers.LSTM(64),
        new layers.Dense(1, { activation: 'sigmoid' }),
      ]),
    data: (n) => [integers([n, 80], 5000), integers([n, 1], 2)],
    loss: 'binaryCrossentropy',
  },
  gpt: {
    batch: 16,
    steps: 20,
    make() {
      const [length, width, heads] = [64, 128, 4];
      const tokens = tf.Input({ shape: [length], dtype: 'int32' });
      let x = new layers.Embedding(65, width)(tokens);
      for (let i = 0; i < 2; i++) {
        const attention = new layers.MultiHeadAttention({ numHeads: heads, keyDim: width / heads });
        x = new layers.LayerNormalization()(new layers.Add()([x, attention(x, x, { useCausalMask: true })]));
        const wide = new layers.Dense(4 * width, { activation: 'gelu' })(x);
        x = new layers.LayerNormalization()(new layers.Add()([x, new layers.Dense(width)(wide)]));
      }
      return new tf.Model({ inputs: tokens, outputs: new layers.Dense(65, { activation: 'softmax' })(x) });
    },
    data: (n) => [integers([n, 64], 65), integers([n, 64], 65)],
    loss: classes,
  },
  mobilenet: {
    batch: 16,
    steps: 8,
    make: () => tf.keras.applications.MobileNetV2({ inputShape: [96, 96, 3], weights: null, classes: 10 }),
    data: (n) => [floats([n, 96, 96, 3]), integers([n], 10)],
    loss: classes,
  },
};

const [name, what, policy = 'float32', epochs = '6'] = process.argv.slice(2);
tf.keras.mixedPrecision.setGlobalPolicy(policy);
const { batch, steps, make, data, loss } = cases[name];
const [x, y] = data(batch * steps);
const seconds = [];
let start = performance.now();
const model = make();
model.compile({ optimizer: 'adam', loss });
const clock = new tf.keras.callbacks.LambdaCallback({
  onEpochEnd() {
    const now = performance.now();
    seconds.push((now - start) / 1000);
    start = now;
  },
});
const { history } = await model.fit(x, y, {
  batchSize: batch,
  epochs: Number(epochs),
  shuffle: false,
  verbose: 0,
  callbacks: [clock],
});
const [first, ...others] = seconds;
const even = others.sort((a, b) => a - b)[others.length >> 1];
const value = what === 'start' ? Math.max(first - even, 0) : even / steps;
console.log(JSON.stringify({ value, detail: `loss ${history.loss.at(-1).toFixed(4)}` }));
