// Points on three arms of a spiral, and a network that learns to tell them apart.
import * as tf from 'eagre';

// Before any tensor is made.
await tf.ready();

export const ARMS = 3;
const POINTS = 110;

tf.random.setSeed(3);

function points(): { x: number[][]; labels: number[] } {
  const noise = tf.random.normal([ARMS * POINTS], { stddev: 0.14 }).data();
  const x: number[][] = [];
  const labels: number[] = [];
  for (let i = 0; i < ARMS * POINTS; i++) {
    const arm = i % ARMS;
    const along = Math.floor(i / ARMS) / POINTS;
    const angle = (arm * 2 * Math.PI) / ARMS + along * 4.2 + Number(noise[i]);
    const radius = 0.06 + 0.88 * along;
    x.push([radius * Math.cos(angle), radius * Math.sin(angle)]);
    labels.push(arm);
  }
  return { x, labels };
}

export const spiral: { x: number[][]; labels: number[] } = points();
const inputs = tf.constant(spiral.x);
const labels = tf.constant(spiral.labels, 'int64');

const model = new tf.Sequential([
  new tf.layers.Dense(32, { activation: 'tanh', inputShape: [2] }),
  new tf.layers.Dense(32, { activation: 'tanh' }),
  new tf.layers.Dense(ARMS),
]);
const optimizer = new tf.optimizers.Adam({ learningRate: 0.01 });
const lossObject = new tf.losses.SparseCategoricalCrossentropy({ fromLogits: true });

/** One step on all points, with gradients no longer than 1. */
export const trainStep = tf.function(() => {
  const tape = new tf.GradientTape();
  const loss = lossObject(labels, model(inputs, { training: true }));
  const variables = model.trainableVariables;
  const gradients = tape.gradient(loss, variables).filter((g) => g !== null);
  let scale = tf.constant(1);
  const norm = gradients
    .map((g) => g.square().sum())
    .reduce((a, b) => a.add(b))
    .sqrt();
  if (norm.greater(1)) scale = tf.constant(1).div(norm);
  optimizer.applyGradients(
    gradients.map((g) => g.mul(scale)),
    variables,
  );
  return loss;
});

/** The probability of each arm at each point. */
export const predict = tf.function((at: tf.Tensor) => model(at).softmax());

export function accuracy(): number {
  return model(inputs).argMax(-1).equal(labels).cast('float32').mean().item() as number;
}
