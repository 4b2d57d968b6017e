// Second-order optimisation: K-FAC on a deep autoencoder of MNIST digits, side by side with gradient descent with momentum.
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as tf from 'eagre';
import { Kfac, type LayerPass } from './kfac.ts';
import { chart } from './plot.ts';

const { layers } = tf;

const EXAMPLES = Number(process.env.EXAMPLES ?? 5000);
const STEPS = Number(process.env.STEPS ?? 100);
const BATCH = Number(process.env.BATCH ?? 500);
const FOLDER = process.env.RUNS ?? fileURLToPath(new URL('../runs/kfac', import.meta.url));
// The published network is 1000-500-250-30 and back.
const WIDTHS = (process.env.WIDTHS ?? '256,128,30,128,256').split(',').map(Number);
// Of the digits, whose squares of pixels are averaged where it is less than 28.
const SIDE = Number(process.env.SIDE ?? 28);
const PIXELS = SIDE * SIDE;

const [pixels] = await tf.keras.datasets.mnist.loadTest();
const digits = tf.constant(pixels).at(`:${EXAMPLES}`).cast('float32').div(255).expandDims(-1);
const images = tf.image.resize(digits, [SIDE, SIDE], { method: 'area' }).reshape([-1, PIXELS]);

/** Dense layers with tanh between them; the last one gives logits of the pixels. */
function autoencoder(): tf.layers.Dense[] {
  tf.random.setSeed(26);
  const made = [...WIDTHS, PIXELS].map((units) => new layers.Dense(units));
  let width = PIXELS;
  for (const layer of made) {
    layer.build([null, width]);
    width = layer.units;
  }
  return made;
}

interface Forward {
  /** Inputs of each layer. */
  readonly inputs: tf.Tensor[];
  /** Its outputs, before tanh. */
  readonly outputs: tf.Tensor[];
  readonly logits: tf.Tensor;
}
function forward(net: readonly tf.layers.Dense[], x: tf.Tensor): Forward {
  const inputs: tf.Tensor[] = [];
  const outputs: tf.Tensor[] = [];
  let a = x;
  for (const layer of net) {
    inputs.push(a);
    const s = layer(a);
    outputs.push(s);
    a = tf.tanh(s);
  }
  return { inputs, outputs, logits: outputs.at(-1) as tf.Tensor };
}

/** Cross-entropy of each example: a Bernoulli distribution for each pixel. */
const crossEntropy = (labels: tf.Tensor, logits: tf.Tensor): tf.Tensor =>
  tf.nn.sigmoidCrossEntropyWithLogits(labels, logits).sum(1);
const weightsOf = (net: readonly tf.layers.Dense[]): tf.Variable[] =>
  net.flatMap((l) => l.trainableVariables);
/** The squared error of the whole set, as the papers report it. */
const error = (net: readonly tf.layers.Dense[]): number =>
  tf.sigmoid(forward(net, images).logits).sub(images).square().sum(1).mean().item();

function kfacStep(net: readonly tf.layers.Dense[], optimizer: Kfac, x: tf.Tensor): number {
  const tape = new tf.GradientTape({ persistent: true });
  const { inputs, outputs, logits } = forward(net, x);
  const loss = crossEntropy(x, logits).mean();
  // The Fisher matrix is that of the model's own predictions, so the targets are drawn from it.
  const drawn = tf.random.uniform(logits.shape).less(tf.sigmoid(logits)).cast('float32').stopGradient();
  const likelihood = crossEntropy(drawn, logits).sum();
  const gradients = tape.gradient(loss, weightsOf(net)) as tf.Tensor[];
  const ofOutputs = tape.gradient(likelihood, outputs) as tf.Tensor[];
  optimizer.step(
    inputs.map((a, i): LayerPass => {
      const [kernel, bias] = gradients.slice(2 * i, 2 * i + 2) as [tf.Tensor, tf.Tensor];
      return { a, g: ofOutputs[i] as tf.Tensor, gradients: [kernel, bias] };
    }),
  );
  return loss.item();
}

function sgdStep(net: readonly tf.layers.Dense[], optimizer: tf.optimizers.SGD, x: tf.Tensor): number {
  const tape = new tf.GradientTape();
  const loss = crossEntropy(x, forward(net, x).logits).mean();
  optimizer.applyGradients(tape.gradient(loss, weightsOf(net)), weightsOf(net));
  return loss.item();
}

export interface Run {
  readonly losses: number[];
  readonly error: number;
  readonly net: tf.layers.Dense[];
}
function train(name: string, net: tf.layers.Dense[], step: (x: tf.Tensor) => number): Run {
  const began = performance.now();
  const losses = Array.from({ length: STEPS }, (_, i) => {
    const from = (i * BATCH) % EXAMPLES;
    return step(images.at(`${from}:${from + BATCH}`));
  });
  const each = (performance.now() - began) / STEPS;
  const run = { losses, error: error(net), net };
  console.log(
    `${name}: loss ${losses[0]?.toFixed(1)} → ${losses.at(-1)?.toFixed(1)}, squared error ${run.error.toFixed(2)}, ` +
      `${STEPS} steps of ${each.toFixed(0)} ms`,
  );
  return run;
}

const first = autoencoder();
const kfacOptimizer = new Kfac(first, { learningRate: 0.1, damping: 0.3, normConstraint: 0.5 });
export const kfac = train('K-FAC', first, (x) => kfacStep(first, kfacOptimizer, x));
const second = autoencoder();
const sgdOptimizer = new tf.optimizers.SGD({ learningRate: 0.01, momentum: 0.9, nesterov: true });
export const sgd = train('SGD', second, (x) => sgdStep(second, sgdOptimizer, x));

// Twelve digits, and what both make of them.
const rows = [images, ...[kfac, sgd].map(({ net }) => tf.sigmoid(forward(net, images).logits))];
export const picture = tf.concat(
  rows.map((row) =>
    row
      .at(':12')
      .reshape([12, SIDE, SIDE])
      .transpose([1, 0, 2])
      .reshape([SIDE, 12 * SIDE, 1]),
  ),
  0,
);
mkdirSync(FOLDER, { recursive: true });
export const files = [`${FOLDER}/kfac-reconstructions.png`, `${FOLDER}/kfac-losses.svg`] as const;
await tf.keras.utils.saveImg(files[0], picture);
writeFileSync(files[1], chart({ 'K-FAC': kfac.losses, SGD: sgd.losses }, { xLabel: 'step', yLabel: 'loss' }));
console.log(`drew ${files.join(' and ')}`);
