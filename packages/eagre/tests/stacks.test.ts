// The caller's own line is in the stack of what goes wrong in layers, models, training, traces and datasets.
import * as tf from 'eagre';
import { expect, test } from 'vitest';

const dense = (): tf.keras.Sequential => {
  const model = new tf.keras.Sequential([
    tf.keras.layers.Input({ shape: [3] }),
    new tf.keras.layers.Dense(2),
  ]);
  model.compile({ loss: 'mse' });
  return model;
};
const trace = tf.function((x: tf.Tensor) => tf.matmul(x, x));
class Mine extends tf.keras.layers.Layer {
  override call(x: tf.Tensor): tf.Tensor {
    return tf.matmul(x, x);
  }
}
const inverse = tf.function((x: tf.Tensor) => tf.linalg.inv(x));
const numbers = (): tf.data.Dataset<tf.Tensor> => tf.data.Dataset.range(3);

const wrong: readonly (readonly [string, () => unknown])[] = [
  ['an op', () => tf.matmul(tf.ones([2, 3]), tf.ones([2, 3]))],
  ['a layer', () => new tf.keras.layers.Conv2D(1, 2)(tf.ones([2, 3]))],
  ['a model', () => dense()(tf.ones([2, 5]))],
  ['a model in a model', () => new tf.keras.Sequential([dense()])(tf.ones([2, 5]))],
  ['predict', () => dense().predict(tf.ones([2, 5]))],
  ['fit', () => dense().fit(tf.ones([2, 3]), tf.ones([2, 5]), { verbose: 0 })],
  ['evaluate', () => dense().evaluate(tf.ones([2, 3]), tf.ones([2, 5]), { verbose: 0 })],
  ['a function, traced', () => trace(tf.ones([2, 3]))],
  ['a function, run', () => inverse(tf.zeros([2, 2]))],
  ['a layer of the program', () => new Mine()(tf.ones([2, 3]))],
  [
    'a functional model',
    () => tf.keras.layers.add([tf.keras.Input({ shape: [2] }), tf.keras.Input({ shape: [3] })]),
  ],
  ['a gradient', () => tf.autodiff.grad((x) => tf.matmul(x, x))(tf.ones([2, 3]))],
  ['a dataset, made', () => numbers().batch(-1)],
  ['a dataset, mapped', () => numbers().map((x) => tf.reshape(x, [7]))],
  [
    'a dataset, read',
    () => [
      ...numbers()
        .batch(2)
        .unbatch()
        .map((x) => tf.ensureShape(x, [1])),
    ],
  ],
  [
    'fit, of a dataset',
    () => dense().fit(tf.data.Dataset.fromTensors([tf.ones([2, 5]), tf.ones([2, 2])]), { verbose: 0 }),
  ],
];

test.each(wrong)('%s', async (_, call) => {
  const error: unknown = await (async () => {
    await call();
  })().catch((error: unknown) => error);
  expect(error).toBeInstanceOf(tf.errors.InvalidArgumentError);
  expect((error as Error).stack).toContain('stacks.test.ts');
  expect((error as Error).stack).toContain('more in Eagre');
});
