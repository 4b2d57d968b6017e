// A gradient of one's own: to clip it, to keep it finite, to add noise, to whiten it.
import * as tf from 'eagre';

/** The identity, whose gradient is cut to a norm. */
export const clipGradientByNorm = tf.customGradient((x: tf.Tensor, norm: tf.Tensor) => [
  tf.identity(x),
  (dresult) => [tf.clipByNorm(dresult, norm), null],
]);

const plain = (x: tf.Tensor): tf.Tensor => tf.math.log(tf.exp(x).add(1));

/** log(1 + eˣ), with the gradient in a form that does not overflow and reuses eˣ. */
const log1pexp = tf.customGradient((x: tf.Tensor) => {
  const e = tf.exp(x);
  return [tf.math.log(e.add(1)), (dy) => dy.mul(tf.subtract(1, tf.divide(1, e.add(1))))];
});

export const gradPlain = tf.autodiff.grad(plain);
export const gradStable = tf.autodiff.grad(log1pexp);
console.log('gradient of log(1 + eˣ) at 0 and 100');
console.log('plain: ', gradPlain(0).item(), gradPlain(100).item());
console.log('stable:', gradStable(0).item(), gradStable(100).item());

/** A square whose backward pass is noisy. */
export const noisySquare = tf.customGradient((x: tf.Tensor) => [
  x.mul(x),
  (dy) => dy.mul(x.mul(2).add(tf.random.normal(x.shape, { stddev: 0.1 }))),
]);

/** Minimises the square with and without noise. @returns the distances to the minimum at 0. */
export function descend(fn: (x: tf.Tensor) => tf.Tensor, steps: number): number {
  let x = tf.constant(10);
  const slope = tf.autodiff.grad(fn);
  for (let i = 0; i < steps; i++) x = x.sub(slope(x).mul(0.1));
  return Math.abs(x.item());
}
console.log(
  'distance to the minimum, without and with noise:',
  descend((x) => x.mul(x), 60),
  descend(noisySquare, 60),
);

/**
 * A product a·w whose gradient for w is whitened on both sides, as K-FAC does: by the inverse of the second moment of the
 * activations on the left, and of the back-propagated values on the right (diagonal here).
 */
export const kfacMatmul = tf.customGradient((a: tf.Tensor, w: tf.Tensor) => [
  a.matmul(w),
  (dy) => {
    const left = a.square().mean(0).add(1e-3).reciprocal();
    const right = dy.square().mean(0).add(1e-3).reciprocal();
    const gradient = a.matmul(dy, { transposeA: true });
    return [dy.matmul(w, { transposeB: true }), gradient.mul(left.expandDims(1)).mul(right.expandDims(0))];
  },
]);

const activations = tf.constant([
  [1, 2],
  [3, 4],
]);
const weights = tf.constant([
  [1, 0],
  [0, 1],
]);
const tape = new tf.GradientTape();
tape.watch(weights);
export const whitened = tape.gradient(kfacMatmul(activations, weights).square().sum(), weights);
console.log('whitened gradient:', whitened);
