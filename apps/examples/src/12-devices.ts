// Where ops run, and how long a product takes there.
import * as tf from 'eagre';

/** Seconds for `steps` products of a matrix with itself. */
function measure(x: tf.Tensor, steps: number): number {
  // The first use prepares the device.
  tf.matmul(x, x);
  const start = performance.now();
  let y = x;
  for (let i = 0; i < steps; i++) y = tf.matmul(x, x);
  // Reading waits until all is computed.
  y.at(0, 0).item();
  return (performance.now() - start) / 1000;
}

export const cpus = tf.config.listPhysicalDevices('CPU');
export const gpus = tf.config.listPhysicalDevices('GPU');
const shape = [1000, 1000];
const steps = Number(process.env.STEPS ?? 200);
console.log(`Time to multiply a [${shape}] matrix by itself ${steps} times:`);

export const seconds = tf.device('/cpu:0', () => measure(tf.random.normal(shape), steps));
console.log(`CPU: ${seconds.toFixed(3)} s`);

if (gpus.length > 0) {
  using _ = tf.device('/gpu:0');
  console.log(`GPU: ${measure(tf.random.normal(shape), steps).toFixed(3)} s`);
} else {
  console.log('GPU: not found');
}

export const placed = tf.device('/cpu:0', () => tf.zeros([2])).device;
console.log('a tensor of this device:', placed);
