// The graph of a training step whose batches are divided between replicas.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from 'eagre';
import { expect, onTestFinished, test } from 'vitest';
import { mirrored } from './testing/strategies.ts';

test('TensorBoard gets the graph of a step on a DistributedDataset', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'eagre-distributed-graph-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const two = mirrored(2);
  const model = two.scope(() => {
    const made = new tf.Sequential([new tf.layers.Dense(1, { inputShape: [3] })]);
    made.compile({ optimizer: 'sgd', loss: 'mse' });
    return made;
  });
  const data = tf.data.Dataset.fromTensorSlices([tf.ones([8, 3]), tf.ones([8, 1])]).batch(4);
  await model.fit(two.experimentalDistributeDataset(data) as never, {
    verbose: 0,
    callbacks: [new tf.keras.callbacks.TensorBoard(folder)],
  });
  const kinds = [...tf.summary.readEvents(folder)].map((e) => e.kind);
  expect(kinds.filter((kind) => kind === 'graph')).toEqual(['graph']);
});
