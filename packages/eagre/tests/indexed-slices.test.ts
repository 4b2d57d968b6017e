import { describe, expect, test } from 'vitest';
import * as tf from '../src/index.ts';
import { lentBy } from './testing/lent.ts';

const table = () => new tf.Variable(tf.range(12, null, 1, { dtype: 'float32' }).reshape([6, 2]).div(10));

function gradientOf(w: tf.Variable, ids: number[]): unknown {
  const tape = new tf.GradientTape();
  const loss = tape.record(() => tf.gather(w, tf.constant(ids, 'int32')).square().sum());
  return tape.gradient(loss, w);
}

describe('IndexedSlices', () => {
  test('are the gradient of a lookup', () => {
    const g = gradientOf(table(), [1, 3, 1]) as tf.IndexedSlices;
    expect(g).toBeInstanceOf(tf.IndexedSlices);
    expect(g.indices.array()).toEqual([1, 3, 1]);
    expect(g.values.shape).toEqual([3, 2]);
    expect(g.shape).toEqual([6, 2]);
    expect(g.denseShape?.array()).toEqual([6, 2]);
    expect(g.deduplicated().indices.array()).toEqual([1, 3]);
    const dense = tf.convertToTensor(g as never);
    expect(dense.shape).toEqual([6, 2]);
    expect(g.mul(2).array()).toEqual(dense.mul(2).array());
  });

  test.each([
    ['SGD', () => new tf.optimizers.SGD(0.1)],
    ['SGD clipnorm', () => new tf.optimizers.SGD(0.1, { clipnorm: 0.5 })],
    ['SGD globalClipnorm', () => new tf.optimizers.SGD(0.1, { globalClipnorm: 0.5 })],
    ['SGD clipvalue', () => new tf.optimizers.SGD(0.1, { clipvalue: 0.3 })],
    ['SGD weightDecay', () => new tf.optimizers.SGD(0.1, { weightDecay: 0.1 })],
    ['SGD accumulation', () => new tf.optimizers.SGD(0.1, { gradientAccumulationSteps: 2 })],
    ['SGD ema', () => new tf.optimizers.SGD(0.1, { useEma: true, emaOverwriteFrequency: 2 })],
    ['momentum', () => new tf.optimizers.SGD(0.1, { momentum: 0.9 })],
    ['Adagrad', () => new tf.optimizers.Adagrad(0.1)],
    ['Adagrad clipnorm', () => new tf.optimizers.Adagrad(0.1, { clipnorm: 0.5 })],
    ['Adam', () => new tf.optimizers.Adam(0.1)],
    ['RMSprop', () => new tf.optimizers.RMSprop(0.1)],
    ['Ftrl', () => new tf.optimizers.Ftrl(0.1)],
    ['Lion', () => new tf.optimizers.Lion(0.1)],
    ['LossScale', () => new tf.optimizers.LossScaleOptimizer(new tf.optimizers.SGD(0.1))],
  ])('%s takes them as it takes whole gradients', (_, make) => {
    const steps = [
      [1, 3, 1],
      [0, 1],
      [5, 5],
    ];
    const run = (sparse: boolean, traced: boolean): unknown => {
      const w = table();
      const optimizer = make();
      const step = (ids: tf.Tensor): void => {
        const tape = new tf.GradientTape();
        const loss = tape.record(() => tf.gather(w, ids).square().sum());
        const g = tape.gradient(loss, w) as tf.Tensor;
        optimizer.applyGradients([sparse ? g : tf.convertToTensor(g)], [w]);
      };
      const call = traced ? tf.function(step) : step;
      for (const ids of steps) call(tf.constant(ids, 'int32'));
      return w.data();
    };
    const expected = run(false, false) as Float32Array;
    for (const traced of [false, true])
      for (const [i, x] of (run(true, traced) as Float32Array).entries())
        expect(x).toBeCloseTo(expected[i] as number, 5);
  });

  test('a step of a large table touches the rows alone', () => {
    const rows = 100_000;
    const w = new tf.Variable(tf.zeros([rows, 64]));
    const optimizer = new tf.optimizers.SGD(0.1);
    const ids = tf.constant([5, 99_999, 5], 'int32');
    const step = (at: tf.Tensor): void => {
      using tape = new tf.GradientTape();
      const loss = tf.gather(w, at).add(1).square().sum();
      optimizer.applyGradients([tape.gradient(loss, w)], [w]);
    };
    for (const run of [step, tf.function(step)]) {
      for (let i = 0; i < 3; i++) run(ids);
      const at = w.storage;
      // A whole gradient, or a copy of the table, would be 25.6 MB.
      expect(lentBy(() => run(ids))).toBeLessThan(100_000);
      expect(w.storage).toBe(at);
    }
  });

  test('so does a step of fit', async () => {
    const model = new tf.Sequential([
      new tf.layers.Embedding(100_000, 64, { inputShape: [4] }),
      new tf.layers.Flatten(),
      new tf.layers.Dense(1),
    ]);
    model.compile({ optimizer: new tf.optimizers.SGD(0.1), loss: 'meanSquaredError' });
    const x = tf.constant([[1, 2, 3, 99_999]], 'int32');
    const y = tf.constant([[1]]);
    for (let i = 0; i < 3; i++) await model.trainOnBatch(x, y);
    const { embeddings } = model.layers[0] as tf.layers.Embedding;
    const before = embeddings.gather([1, 50]).data();
    let pending: Promise<unknown> | undefined;
    const bytes = lentBy(() => {
      pending = Promise.resolve(model.trainOnBatch(x, y));
    });
    await pending;
    expect(bytes).toBeLessThan(200_000);
    const after = embeddings.gather([1, 50]).data();
    expect(after[0]).not.toBe(before[0]);
    expect(after[64]).toBe(before[64]);
  });
});
