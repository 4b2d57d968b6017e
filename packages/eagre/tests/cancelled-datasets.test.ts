import { expect, test } from 'vitest';
import * as tf from '../src/index.ts';

// That of arrays and iterables is tested beside fit.

const x = tf.constant([[1], [2], [3], [4], [5], [6]]);
const batches = tf.data.Dataset.fromTensorSlices([x, x.mul(2)] as [tf.Tensor, tf.Tensor]).batch(2);

function compiled(): tf.Sequential {
  const model = new tf.Sequential([new tf.layers.Dense(1, { kernelInitializer: 'ones', inputShape: [1] })]);
  model.compile({ optimizer: new tf.optimizers.SGD(0.01), loss: 'mse' });
  return model;
}

test.each([
  ['a dataset', batches, {}],
  ['an endless dataset', batches.repeat(), { stepsPerEpoch: 3 }],
  ['a dataset that is made ahead', batches.map((a, b) => [a, b], { numParallelCalls: 2 }).prefetch(2), {}],
] as const)('fit, evaluate and predict on %s are cancelled, and go on', async (_, data, perEpoch) => {
  const model = compiled();
  const byTimer = new AbortController();
  setTimeout(() => byTimer.abort(), 20);
  const forever = { ...perEpoch, verbose: 0, epochs: 1e9, signal: byTimer.signal } as const;
  await expect(model.fit(data, forever)).rejects.toThrow(tf.errors.CancelledError);

  const other = compiled();
  const byCallback = new AbortController();
  const callback = new tf.keras.callbacks.LambdaCallback({
    onTrainBatchEnd: () => void (other.optimizer.iterations.item() === 5 && byCallback.abort()),
  });
  await expect(
    other.fit(data, { ...forever, callbacks: [callback], signal: byCallback.signal }),
  ).rejects.toThrow('fit: the run was cancelled after 1 epoch and 2 steps of the next');
  expect(other.optimizer.iterations.item()).toBe(5);
  const same = compiled();
  await same.fit(data, { ...perEpoch, verbose: 0 });
  await same.fit(data, { verbose: 0, stepsPerEpoch: 2 });
  expect(other.getWeights().map((w) => w.array())).toEqual(same.getWeights().map((w) => w.array()));

  const signal = AbortSignal.abort();
  await expect(model.evaluate(data, { verbose: 0, steps: 2, signal })).rejects.toThrow(
    tf.errors.CancelledError,
  );
  await expect(
    model.predict(
      data.map((a) => a),
      { verbose: 0, steps: 2, signal },
    ),
  ).rejects.toThrow('predict: the run was cancelled before its first step');
  const { history } = await other.fit(data, { ...perEpoch, verbose: 0, epochs: 2 });
  expect(history.loss).toHaveLength(2);
  expect(other.optimizer.iterations.item()).toBe(11);
});
