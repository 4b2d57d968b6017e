// Second-order optimisation: L-BFGS on an autoencoder of MNIST digits, with a short and a long memory.
import * as tf from 'eagre';
import { type LbfgsResult, lbfgs } from './lbfgs.ts';

const EXAMPLES = Number(process.env.EXAMPLES ?? 1000);
const ITERATIONS = Number(process.env.ITERATIONS ?? 30);
const HIDDEN = 64;
const PIXELS = 784;

tf.random.setSeed(24);
const [images] = await tf.keras.datasets.mnist.loadTest();
const x = tf
  .constant(images)
  .slice([0, 0, 0], [EXAMPLES, 28, 28])
  .cast('float32')
  .div(255)
  .reshape([EXAMPLES, PIXELS]);

// All parameters in one vector: encoder, its bias, decoder, its bias.
const sizes = [PIXELS * HIDDEN, HIDDEN, HIDDEN * PIXELS, PIXELS];
const limit = Math.sqrt(6 / (PIXELS + HIDDEN));
const start = tf.concat(
  sizes.map((n, i) =>
    i % 2 === 0 ? tf.random.uniform([n], { minval: -limit, maxval: limit }) : tf.zeros([n]),
  ),
  0,
);

function loss(theta: tf.Tensor): tf.Tensor {
  const [w1, b1, w2, b2] = tf.split(theta, sizes) as [tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor];
  const hidden = tf.sigmoid(x.matmul(w1.reshape([PIXELS, HIDDEN])).add(b1));
  const output = tf.sigmoid(hidden.matmul(w2.reshape([HIDDEN, PIXELS])).add(b2));
  return output.sub(x).square().sum(1).mean().div(2);
}
const both = tf.autodiff.valueAndGrad(loss);

function run(history: number): LbfgsResult & { seconds: number } {
  const began = performance.now();
  const result = lbfgs(both, start, { history, iterations: ITERATIONS });
  const seconds = (performance.now() - began) / 1000;
  const { losses } = result;
  console.log(
    `history ${history}: loss ${losses[0]?.toFixed(3)} → ${losses.at(-1)?.toFixed(3)} in ${losses.length - 1} iterations, ` +
      `${((seconds / (losses.length - 1)) * 1000).toFixed(1)} ms each`,
  );
  return { ...result, seconds };
}

export const short = run(5);
export const long = run(100);
