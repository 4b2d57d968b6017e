// Automatic differentiation: a tape records what is computed and plays it backwards.
import * as tf from 'eagre';

const w = new tf.Variable([[1]]);

const first = new tf.GradientTape();
export const square = first.gradient(w.mul(w), w);
console.log('d(w·w)/dw at 1:', square);

const second = new tf.GradientTape();
export const polynomial = second.gradient(w.mul(w).add(w.mul(2)).add(5), w);
console.log('d(w² + 2w + 5)/dw at 1:', polynomial);

// A tape gives one gradient, unless it is persistent.
const once = new tf.GradientTape();
const y = w.mul(w);
once.gradient(y, w);
export const refused = attempt(() => once.gradient(y, w));
console.log('a second time:', refused);

{
  using tape = new tf.GradientTape({ persistent: true });
  const x = tf.constant([1, 2, 3]);
  tape.watch(x);
  const cubes = x.pow(3);
  console.log('d(x³)/dx, twice:', tape.gradient(cubes, x), tape.gradient(cubes.sum(), x));
}

// Nested tapes give higher orders: d²(x³)/dx² = 6x.
export function secondDerivative(at: number): number {
  const x = tf.constant(at);
  using outer = new tf.GradientTape();
  outer.watch(x);
  using inner = new tf.GradientTape();
  inner.watch(x);
  const slope = inner.gradient(x.pow(3), x, { unconnectedGradients: 'zero' });
  return outer.gradient(slope, x)?.item() ?? Number.NaN;
}
console.log('d²(x³)/dx² at 2:', secondDerivative(2));

const v = tf.constant([1, 2]);
const matrix = new tf.GradientTape();
matrix.watch(v);
export const jacobian = matrix.jacobian(tf.stack([v.sum(), v.prod()]), v);
console.log('jacobian of [sum, product]:', jacobian);

const batch = tf.constant([
  [1, 2],
  [3, 4],
]);
const each = new tf.GradientTape();
each.watch(batch);
export const batchJacobian = each.batchJacobian(batch.square(), batch);
console.log('jacobian for each row:', batchJacobian);

// What stopGradient shields counts as a constant.
const shielded = new tf.GradientTape();
export const stopped = shielded.gradient(w.mul(w.stopGradient()), w);
console.log('with stopGradient:', stopped);

const other = new tf.Variable(1);
const none = new tf.GradientTape({ persistent: true });
const z = w.mul(2);
export const unconnected = none.gradient(z, other);
export const zeros = none.gradient(z, other, { unconnectedGradients: 'zero' });
none.dispose();
console.log('unconnected:', unconnected, 'or', zeros);

function attempt(fn: () => unknown): string {
  try {
    fn();
    return 'no error';
  } catch (error) {
    return (error as Error).message;
  }
}
