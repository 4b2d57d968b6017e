import * as tf from 'eagre';
import { CLASSES } from './spirals.ts';

/** A small classifier of points, compiled: two numbers in, a logit for each class out. */
export function createModel(): tf.Sequential {
  const model = new tf.Sequential([
    tf.keras.Input({ shape: [2] }),
    new tf.layers.Dense(32, { activation: 'relu' }),
    new tf.layers.Dense(32, { activation: 'relu' }),
    new tf.layers.Dense(CLASSES),
  ]);
  model.compile({
    optimizer: new tf.optimizers.Adam(0.01),
    loss: new tf.losses.SparseCategoricalCrossentropy({ fromLogits: true }),
    metrics: ['accuracy'],
  });
  return model;
}

/** How likely each class is, as one row for each point. */
export const probabilities = tf.function((model: tf.Sequential, points: tf.Tensor): tf.Tensor => {
  return tf.nn.softmax(model(points, { training: false }));
});

/** The class of one point, or -1 where the model is not sure: AutoGraph makes the branch on a tensor part of the graph. */
export const decide = tf.function((model: tf.Sequential, point: tf.Tensor): tf.Tensor => {
  const [row] = tf.unstack(probabilities(model, point.reshape([1, 2])));
  let choice = tf.constant(-1, 'int32');
  if (row.max().greaterEqual(0.5)) choice = row.argMax().cast('int32');
  return choice;
});
