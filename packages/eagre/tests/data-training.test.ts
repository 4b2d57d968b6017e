// Models and checkpoints with datasets, from the umbrella.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import * as tf from '../src/index.ts';

const quiet = { verbose: 0 } as const;
const folder = mkdtempSync(join(tmpdir(), 'eagre-data-'));
afterAll(() => rmSync(folder, { recursive: true }));

function line(): tf.Sequential {
  const model = new tf.Sequential([new tf.layers.Dense(1, { inputShape: [1] })]);
  model.compile({ optimizer: new tf.optimizers.SGD({ learningRate: 0.1 }), loss: 'mse' });
  return model;
}
const x = tf.linspace(-1, 1, 20).reshape([20, 1]);
const pairs = tf.data.Dataset.fromTensorSlices([x, x.mul(3).add(2)]);

describe('fit, evaluate and predict take datasets', () => {
  test('of batches, in each epoch anew, in another order', async () => {
    tf.random.setSeed(1);
    const model = line();
    const train = pairs.shuffle(20).batch(4).prefetch(tf.data.AUTOTUNE);
    const { history } = await model.fit(train, { ...quiet, epochs: 25, validationData: pairs.batch(10) });
    expect(history['loss']).toHaveLength(25);
    expect(history['val_loss']?.at(-1)).toBeLessThan(1e-3);
    expect((await model.evaluate(pairs.batch(7), quiet))['loss']).toBeLessThan(1e-3);
    const predicted = await model.predict(pairs.map((input) => input).batch(6));
    expect(predicted.shape).toEqual([20, 1]);
  });
  test('of a named function, whose type does not say how many tensors it gives', async () => {
    function prepare(input: tf.Tensor, target: tf.Tensor): tf.Tensor[] {
      return [input.div(2), target];
    }
    const batches = pairs.map(prepare).batch(4);
    const { history } = await line().fit(batches, { ...quiet, validationData: batches });
    expect(Object.keys(history)).toEqual(['loss', 'val_loss']);
  });
  test('with asynchronous parts', async () => {
    const later = pairs.map(async (a, b) => [a, b] as const, { numParallelCalls: 4 }).batch(5);
    const { history } = await line().fit(later, { ...quiet, epochs: 3 });
    expect(history['loss']).toHaveLength(3);
  });
  test('tell the progress bar how many batches there are', async () => {
    const model = line();
    const seen: unknown[] = [];
    class Spy extends tf.keras.callbacks.Callback {
      override onTrainBegin(): void {
        seen.push(this.params?.['steps']);
      }
    }
    await model.fit(pairs.batch(6), { ...quiet, callbacks: [new Spy()] });
    await model.fit(pairs.filter((a) => a.sum().less(9)).batch(6), { ...quiet, callbacks: [new Spy()] });
    expect(seen).toEqual([4, undefined]);
  });
  test('without an end need a number of steps', async () => {
    const endless = pairs.repeat().batch(4);
    await expect(line().fit(endless, quiet)).rejects.toThrow(/stepsPerEpoch/);
    const { history } = await line().fit(endless, { ...quiet, epochs: 2, stepsPerEpoch: 3 });
    expect(history['loss']).toHaveLength(2);
    await expect(line().evaluate(endless, quiet)).rejects.toThrow(/steps/);
  });
});

test('a checkpoint keeps where an iterator is', async () => {
  tf.random.setSeed(2);
  const numbers = tf.data.Dataset.range(30).shuffle(10).batch(3);
  const iterator = numbers.iterator();
  for (let i = 0; i < 4; i++) iterator.next();
  const path = await new tf.train.Checkpoint({ iterator }).save(join(folder, 'ckpt'));
  const rest = [...iterator].map((batch) => batch.array());
  const other = numbers.iterator();
  await new tf.train.Checkpoint({ iterator: other }).restore(path);
  expect([...other].map((batch) => batch.array())).toEqual(rest);
});

test('a Pipeline augments in dataset.map, as its layers do alone', async () => {
  const pipeline = new tf.layers.Pipeline([new tf.layers.RandomBrightness(0.5, { seed: 3 })]);
  const images = tf.data.Dataset.fromTensorSlices(tf.fill([2, 4, 4, 3], 100)).batch(2);
  for await (const x of images.map((v) => pipeline(v))) expect(x.equal(100).all().item()).toBe(false);
});
