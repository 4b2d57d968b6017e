// Gradients of functions, without a tape in sight.
import * as tf from 'eagre';

const square = (x: tf.Tensor): tf.Tensor => x.mul(x);

const first = tf.autodiff.gradientsFunction(square);
const second = tf.autodiff.gradientsFunction(first);
const third = tf.autodiff.gradientsFunction(second);
const at3 = tf.constant(3);
export const orders = [first, second, third].map((f) => f(at3)[0]?.item());
console.log('x² at 3:', square(at3).item(), 'and its derivatives:', orders);

/** A function with a branch. */
const abs = (x: tf.Tensor): tf.Tensor => (x.item() > 0 ? x : x.neg());
export const branches = [3, -3].map((x) => tf.autodiff.grad(abs)(x).item());
console.log('d|x|/dx at 3 and -3:', branches);

export const [value, gradients] = tf.autodiff.valueAndGradientsFunction((a: tf.Tensor, b: tf.Tensor) =>
  a.mul(b),
)(tf.constant(2), tf.constant(5));
console.log('a·b:', value, 'and its gradients:', gradients);

// With respect to every variable that the function uses.
const w = new tf.Variable(5, { name: 'weight' });
const b = new tf.Variable(10, { name: 'bias' });
const loss = (x: number, y: number): tf.Tensor => w.mul(x).add(b).sub(y).square();
export const pairs = tf.autodiff.implicitGradients(loss)(2, 8);
for (const [gradient, variable] of pairs) console.log('gradient for the', variable.name, gradient.item());

export const [lossValue] = tf.autodiff.implicitValueAndGradients(loss)(2, 8);
const optimizer = new tf.optimizers.SGD({ learningRate: 0.01 });
optimizer.applyGradients(pairs);
console.log('loss:', lossValue.item(), '→', loss(2, 8).item());
export const after = loss(2, 8).item();

optimizer.minimize(() => loss(2, 8), [w, b]);
export const minimized = loss(2, 8).item();
console.log('once more:', minimized);
