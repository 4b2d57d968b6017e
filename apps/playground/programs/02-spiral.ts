// Three arms of a spiral: a network learns to tell them apart.
import * as tf from 'eagre';
import { image, pause, plot } from 'playground';

const [arms, count] = [3, 330];
tf.random.setSeed(3);

// Points along three arms, with some noise.
const arm = tf.range(count).mod(arms);
const along = tf.range(count).cast('float32').div(count);
const angle = arm
  .cast('float32')
  .mul((2 * Math.PI) / arms)
  .add(along.mul(4.2))
  .add(tf.random.normal([count], { stddev: 0.14 }));
const radius = along.mul(0.88).add(0.06);
const x = tf.stack([radius.mul(angle.cos()), radius.mul(angle.sin())], 1);

const model = new tf.Sequential([
  new tf.layers.Dense(32, { activation: 'tanh', inputShape: [2] }),
  new tf.layers.Dense(32, { activation: 'tanh' }),
  new tf.layers.Dense(arms),
]);
const optimizer = new tf.optimizers.Adam(0.01);
const lossOf = new tf.losses.SparseCategoricalCrossentropy({ fromLogits: true });

const trainStep = tf.function(() => {
  const tape = new tf.GradientTape();
  const loss = tape.record(() => lossOf(arm, model(x, { training: true })));
  const variables = model.trainableVariables;
  optimizer.applyGradients(tape.gradient(loss, variables), variables);
  return loss;
});

// What it says of each point of the plane, as red, green and blue.
const side = 120;
const line = tf.linspace(-1.1, 1.1, side);
const plane = tf.stack(tf.meshgrid([line, line]), -1).reshape([side * side, 2]);
const predict = tf.function(() => model(plane).softmax().reshape([side, side, arms]));

const loss: number[] = [];
for (let step = 1; step <= 400; step++) {
  loss.push(Number(trainStep().item()));
  if (step % 20 > 0) continue;
  plot({ loss });
  await image(predict(), { title: 'what it has learned' });
  await pause();
}
const right = model(x).argMax(-1).equal(arm.cast('int64')).cast('float32').mean();
console.log(`${(Number(right.item()) * 100).toFixed(1)} % right`);
