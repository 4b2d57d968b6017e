// What errors advise where newcomers meet them: what is written there instead works.
import { describe, expect, test } from 'vitest';
import * as tf from '../src/index.ts';

const { concat, stack, addN, constant } = tf as unknown as Record<string, (...args: unknown[]) => tf.Tensor>;
const one = tf.ones([1]);

describe('several values that are no list', () => {
  test.each(Object.entries({ concat, stack, addN }))('%s', (name, fn) => {
    expect(() => fn(one, one)).toThrow(`several values come in a list: write ${name}([x, y])`);
    expect(() => fn(one, one, one)).toThrow(tf.errors.InvalidArgumentError);
    expect(fn([one, one]).rank).toBeGreaterThan(0);
    expect(concat([one, one], tf.constant(0, 'int32')).shape).toEqual([2]);
  });
  test('layers', () => {
    const Sequential = tf.Sequential as unknown as new (...layers: unknown[]) => tf.Sequential;
    const dense = (): unknown => new tf.layers.Dense(1);
    expect(() => new Sequential(dense(), dense())).toThrow('write new Sequential([a, b])');
    for (const layer of [new tf.layers.Concatenate(), new tf.layers.Add()]) {
      const call = layer as unknown as (...inputs: unknown[]) => tf.Tensor;
      expect(() => call(tf.ones([1, 2]), tf.ones([1, 2]))).toThrow('several tensors come in a list');
      const x = tf.Input([2]);
      expect(() => call(x, x)).toThrow('several tensors come in a list');
    }
  });
  test('data sets', () => {
    const x = [
      [1, 2],
      [3, 4],
    ];
    expect(() => tf.data.Dataset.fromTensorSlices([x, [1, 2]])).toThrow('[tf.constant(x), tf.constant(y)]');
    expect([...tf.data.Dataset.fromTensorSlices([tf.constant(x), tf.constant([1, 2])])].length).toBe(2);
  });
});

test('strings where numbers are wanted', async () => {
  const texts = tf.constant(['1', '2']);
  expect(() => texts.add(1)).toThrow('tf.strings.toNumber(x)');
  expect(() => texts.cast('float32')).toThrow('tf.strings.toNumber');
  expect(tf.strings.toNumber(texts).add(1).array()).toEqual([2, 3]);
  const model = new tf.Sequential([new tf.layers.Dense(2, { inputShape: [4] })]);
  model.compile({ loss: 'sparseCategoricalCrossentropy' });
  for (const labels of [['a', 'b'], tf.constant(['a', 'b'])])
    await expect(model.fit(tf.ones([2, 4]), labels as tf.Tensor, { verbose: 0 })).rejects.toThrow(
      'StringLookup',
    );
  expect(() => constant(['a'], 'int32')).toThrow('StringLookup');
});

test('one example without its batch', async () => {
  const model = new tf.Sequential([new tf.layers.Conv2D(2, 3, { inputShape: [8, 8, 1] })]);
  const image = tf.ones([8, 8, 1]);
  await expect(model.predict(image, { verbose: 0 })).rejects.toThrow(
    'one example is a batch of one: x.expandDims(0)',
  );
  expect(() => new tf.layers.Dense(2)(tf.ones([4]))).toThrow('x.expandDims(0)');
  expect((await model.predict(image.expandDims(0), { verbose: 0 })).shape).toEqual([1, 6, 6, 2]);
});

test("names of older versions of Keras, a path that comes second, and a loop variable's size", async () => {
  expect(() => new tf.layers.Dense(1, { inputDim: 4 } as object)).toThrow('write inputShape: [inputDim]');
  expect(() => new tf.optimizers.Adam({ lr: 0.1 } as object)).toThrow('write learningRate');
  const saveImg = tf.keras.utils.saveImg as unknown as (...args: unknown[]) => Promise<void>;
  await expect(saveImg(image(), 'x.png')).rejects.toThrow('the path comes first, saveImg(path, x)');
  const grow = tf.function((n: tf.Tensor) =>
    tf.whileLoop(
      (i: tf.Tensor) => i.less(n),
      (i: tf.Tensor, x: tf.Tensor) => [i.add(1), tf.concat([x, x])] as [tf.Tensor, tf.Tensor],
      [tf.constant(0, 'int32'), one] as [tf.Tensor, tf.Tensor],
    ),
  );
  expect(() => grow(tf.constant(3, 'int32'))).toThrow('shapeInvariants with null for that size');
});
const image = (): tf.Tensor => tf.ones([2, 2, 3]);
