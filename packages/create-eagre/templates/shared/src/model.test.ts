import * as tf from 'eagre';
import { expect, test } from 'vitest';
import { createModel, decide, probabilities } from './model.ts';
import { CLASSES, spirals } from './spirals.ts';

test('points come with the arm that they are on', () => {
  const { points, labels } = spirals(6);
  expect(points.shape).toEqual([6, 2]);
  expect(labels.array()).toEqual([0, 1, 2, 0, 1, 2]);
});

test('a model learns them', async () => {
  tf.keras.utils.setRandomSeed(1);
  const { points, labels } = spirals(600);
  const model = createModel();
  const { history } = await model.fit(points, labels, { epochs: 5, verbose: 0 });
  expect(history.loss?.at(-1)).toBeLessThan(history.loss?.[0] as number);
  const rows = probabilities(model, points.slice([0, 0], [4, 2]));
  expect(rows.shape).toEqual([4, CLASSES]);
});

test('a model that is not sure says so', () => {
  const model = createModel();
  model.setWeights(model.weights.map((weight) => tf.zeros(weight.shape)));
  // All classes are as likely as each other.
  expect(decide(model, tf.constant([0.5, 0.5])).item()).toBe(-1);
});
