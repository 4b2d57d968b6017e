// First steps: tensors compute at once, and a tape gives gradients.
import * as tf from 'eagre';

const x = tf.constant([
  [1, 2],
  [3, 4],
]);
console.log(x);
console.log(x.matmul(x).add(1));

const w = new tf.Variable(3);
const tape = new tf.GradientTape();
const loss = tape.record(() => w.mul(w));
console.log('gradient:', tape.gradient(loss, w)?.item());
