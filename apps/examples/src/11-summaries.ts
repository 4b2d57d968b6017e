// What TensorBoard shows of a training: `npx tsx --tsconfig ../tsconfig.run.json src/11-summaries.ts`, then
// `tensorboard --logdir runs/summaries`.
import * as tf from 'eagre';

const STEPS = 300;
const EVERY = 100;

tf.random.setSeed(11);
export const logdir: string = `${process.env.LOGDIR ?? 'runs/summaries'}/${Date.now()}`;

// ---- A writer as the default, scalars each 100 steps, also from inside of tf.function.

const x = tf.random.normal([1000]);
const y = x
  .mul(3)
  .add(2)
  .add(tf.random.normal([1000]));
const w = new tf.Variable(5, { name: 'w' });
const b = new tf.Variable(10, { name: 'b' });
const optimizer = new tf.optimizers.SGD(0.01);
const globalStep = new tf.Variable(0n, { trainable: false });

const trainStep = tf.function(() => {
  using tape = new tf.GradientTape();
  const loss = x.mul(w).add(b).sub(y).square().mean();
  optimizer.applyGradients(tape.gradient(loss, [w, b]), [w, b]);
  globalStep.assignAdd(1n);
  tf.nameScope('train', () => tf.summary.scalar('loss', loss, { step: globalStep }));
  return loss;
});

export const writer = tf.summary.createFileWriter(logdir, { flushMillis: 10_000 });
writer.asDefault(() => {
  using _ = tf.summary.recordIf(() => globalStep.mod(BigInt(EVERY)).equal(0n));
  tf.summary.experimental.setStep(globalStep);
  for (let step = 0; step < STEPS; step++) {
    trainStep();
    tf.summary.scalar('w', w);
  }
  tf.summary.experimental.setStep(null);
});

// ---- Other kinds.

const sine = Float32Array.from({ length: 8000 }, (_, i) => Math.sin((2 * Math.PI * 440 * i) / 8000));
const gradient = Float32Array.from({ length: 16 * 16 }, (_, i) => (i % 16) / 15);
writer.asDefault(STEPS, () => {
  tf.summary.histogram('residuals', x.mul(w).add(b).sub(y));
  tf.summary.image('gradient', { data: gradient, shape: [1, 16, 16, 1] });
  tf.summary.audio('a4', { data: sine, shape: [1, 8000, 1] }, 8000);
  tf.summary.text('note', 'The data are **3x + 2** with noise.', { description: 'What is fitted.' });
});

// ---- The graphs that ran between traceOn and traceExport; hyperparameters.

const noisy = tf.function((v: tf.Tensor) => tf.nn.relu(v.mul(w).add(b)));
writer.asDefault(() => {
  tf.summary.traceOn({ graph: true });
  noisy(tf.constant([1, 2]));
  tf.summary.traceExport('noisy', { step: 0 });
  tf.summary.graph(trainStep.getConcreteFunction().graph);

  tf.summary.hparamsConfig({
    hparams: [new tf.summary.HParam('learningRate', new tf.summary.RealInterval(0.001, 0.1))],
    metrics: [new tf.summary.Metric('train/loss', { displayName: 'loss' })],
  });
  tf.summary.hparams({ learningRate: 0.01, optimizer: 'sgd' });
});
writer.close();

// ---- The file read again.

for (const event of tf.summary.readEvents(logdir)) {
  if (event.kind === 'scalar') console.log(`step ${event.step}: ${event.tag} ${event.value.toFixed(3)}`);
  else if ('tag' in event) console.log(`step ${event.step}: ${event.tag}, ${event.kind}`);
}

// ---- The same for Keras models: `fit` with a callback.

export const kerasLogdir: string = `${logdir}-keras`;
const model = new tf.Sequential([new tf.layers.Dense(1, { name: 'line', inputShape: [1] })], {
  name: 'linear',
});
model.compile({ optimizer: new tf.optimizers.SGD(0.1), loss: 'mse' });
const callbacks = [new tf.keras.callbacks.TensorBoard(kerasLogdir, { histogramFreq: 1 })];
await model.fit(x.reshape([-1, 1]), y.reshape([-1, 1]), { epochs: 3, verbose: 0, callbacks });
