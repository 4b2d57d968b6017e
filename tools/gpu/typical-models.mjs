// Steps of usual models, so that their kernels are among those that are compiled before.

import { registerBackend } from '@eagre/backend';
import { jsBackend } from '@eagre/backend-js';
import * as tf from 'eagre';
import { Recorder } from '../../packages/gpu-kernels/src/testing/recorder.ts';

const { layers } = tf;
const CLASSES = 16;
const BATCH = 16;

const floats = (...shape) => tf.random.statelessUniform(shape, [1, 2]);
const integers = (most, ...shape) =>
  tf.random.statelessUniform(shape, [3, 4], { minval: 0, maxval: most, dtype: 'int32' });

function mlp() {
  const model = new tf.Sequential([
    new layers.Dense(32, { activation: 'relu', inputShape: [24] }),
    new layers.Dropout(0.1),
    new layers.Dense(32, { activation: 'tanh' }),
    new layers.Dense(CLASSES),
  ]);
  return [model, floats(BATCH, 24), integers(CLASSES, BATCH)];
}

function cnn() {
  const model = new tf.Sequential([
    new layers.Conv2D(16, 3, { padding: 'same', useBias: false, inputShape: [12, 12, 3] }),
    new layers.BatchNormalization(),
    new layers.Activation('relu'),
    new layers.MaxPooling2D(2),
    new layers.Conv2D(32, 3, { strides: 2, activation: 'relu' }),
    new layers.DepthwiseConv2D(3, { padding: 'same' }),
    new layers.AveragePooling2D(2),
    new layers.GlobalAveragePooling2D(),
    new layers.Dense(CLASSES),
  ]);
  return [model, floats(BATCH, 12, 12, 3), integers(CLASSES, BATCH)];
}

function transformer() {
  const tokens = tf.Input([16], { dtype: 'int32' });
  const x = new layers.Embedding(40, 32)(tokens);
  const normal = new layers.LayerNormalization()(x);
  const attended = new layers.Add()([
    x,
    new layers.MultiHeadAttention(2, 16)([normal, normal], { useCausalMask: true }),
  ]);
  const wide = new layers.Dense(64, { activation: 'gelu' })(new layers.LayerNormalization()(attended));
  const sum = new layers.Add()([attended, new layers.Dropout(0.1)(new layers.Dense(32)(wide))]);
  return [
    new tf.Model(tokens, new layers.Dense(CLASSES)(sum)),
    integers(40, 2, 16),
    integers(CLASSES, 2, 16),
  ];
}

const recurrent = (Layer) => () => {
  const model = new tf.Sequential([
    new layers.Embedding(40, 16),
    new Layer(16, { returnSequences: true }),
    new Layer(16),
    new layers.Dense(CLASSES),
  ]);
  return [model, integers(40, BATCH, 5), integers(CLASSES, BATCH)];
};

/** @returns a recorder that knows the programs of the steps, eager and traced */
export function recordModels() {
  const recorder = new Recorder(jsBackend);
  recorder.keeps = false;
  registerBackend(recorder, -1);
  const loss = new tf.losses.SparseCategoricalCrossentropy({ fromLogits: true });
  for (const policy of ['float32', 'mixed_bfloat16', 'mixed_float16'])
    for (const make of [mlp, cnn, transformer, recurrent(layers.LSTM), recurrent(layers.GRU)])
      for (const makeOptimizer of [
        () => new tf.optimizers.SGD({ learningRate: 0.01, momentum: 0.9 }),
        () => new tf.optimizers.Adam(0.001),
        () => new tf.optimizers.AdamW({ learningRate: 0.001, weightDecay: 0.01 }),
      ])
        tf.device('/recorder:0', () => {
          tf.keras.mixedPrecision.setGlobalPolicy(policy);
          const [model, x, labels] = make();
          const optimizer = makeOptimizer();
          const step = (given, wanted) => {
            const tape = new tf.GradientTape();
            const value = tape.record(() => loss(wanted, model(given, { training: true })));
            optimizer.applyGradients(
              tape.gradient(value, model.trainableVariables),
              model.trainableVariables,
            );
            return value;
          };
          step(x, labels);
          tf.function(step)(x, labels);
          tf.nn.softmax(model(x)).argMax(-1);
        });
  tf.keras.mixedPrecision.setGlobalPolicy('float32');
  return recorder;
}
