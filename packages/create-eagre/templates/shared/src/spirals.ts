import * as tf from 'eagre';

/** The arms of the spiral: how many classes there are. */
export const CLASSES = 3;

/**
 * Points on the arms of a spiral, with noise, and the arm that each is on.
 *
 * @returns points of shape [count, 2] in float32, labels of shape [count] in int32
 */
export function spirals(count: number, seed = 1): { points: tf.Tensor; labels: tf.Tensor } {
  const draws = { minval: 0, maxval: 1 };
  const radius = tf.random.statelessUniform([count], [seed, 0], draws);
  const noise = tf.random.statelessNormal([count], [seed, 1]).mul(0.12);
  const labels = tf.range(count).mod(CLASSES).cast('int32');
  const angle = radius
    .mul(4)
    .add(labels.cast('float32').mul((2 * Math.PI) / CLASSES))
    .add(noise);
  const points = tf.stack([radius.mul(tf.cos(angle)), radius.mul(tf.sin(angle))], 1);
  return { points, labels };
}
