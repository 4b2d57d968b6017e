// The whole of a training program: a model, a schedule, checkpoints, traced steps, metrics. It goes on where it stopped.
import { fileURLToPath } from 'node:url';
import * as tf from 'eagre';

const EXAMPLES = Number(process.env.EXAMPLES ?? 8000);
const EPOCHS = Number(process.env.EPOCHS ?? 3);
const FOLDER = process.env.RUNS ?? fileURLToPath(new URL('../runs/fashion-mnist', import.meta.url));
const BATCH = 32;

// `tf.keras.datasets.fashionMnist` has the same form; MNIST's test images are small enough to be there.
const [allImages, allLabels] = await tf.keras.datasets.mnist.loadTest();
// A dimension for the channels, and pixels from 0 to 1.
const images = tf.constant(allImages).cast('float32').div(255).expandDims(-1);
const labels = tf.constant(allLabels).cast('int64');
const [trainImages, testImages] = tf.split(images, [8000, 2000]) as [tf.Tensor, tf.Tensor];
const [trainLabels, testLabels] = tf.split(labels, [8000, 2000]) as [tf.Tensor, tf.Tensor];
const trainData = tf.data.Dataset.fromTensorSlices([trainImages, trainLabels] as const)
  .take(EXAMPLES)
  .shuffle(10_000)
  .batch(BATCH, { dropRemainder: true });
const testData = tf.data.Dataset.fromTensorSlices([testImages, testLabels] as const)
  .take(EXAMPLES)
  .batch(BATCH, { dropRemainder: true });

// ---- model, optimizer, checkpoints, loss, metrics

class MyModel extends tf.Sequential {
  constructor() {
    super([
      new tf.layers.Conv2D(32, 3, { activation: 'relu' }),
      new tf.layers.MaxPooling2D(),
      new tf.layers.Conv2D(64, 3, { activation: 'relu' }),
      new tf.layers.MaxPooling2D(),
      new tf.layers.Flatten(),
      new tf.layers.Dense(64, { activation: 'relu', kernelRegularizer: tf.keras.regularizers.l2(1e-5) }),
      new tf.layers.Dense(10),
    ]);
  }
}
const model = new MyModel();
const schedule = new tf.optimizers.schedules.ExponentialDecay({
  initialLearningRate: 1e-3,
  decaySteps: 100,
  decayRate: 0.96,
  staircase: true,
});
const optimizer = new tf.optimizers.RMSprop({ learningRate: schedule });

const checkpoint = new tf.train.Checkpoint({
  step: new tf.Variable(0, { dtype: 'int32', trainable: false }),
  optimizer,
  model,
});
const manager = new tf.train.CheckpointManager(checkpoint, FOLDER, { maxToKeep: 3 });
checkpoint.restore(manager.latestCheckpoint);
export const startedFrom = checkpoint.step.item();
console.log(startedFrom === 0 ? 'Starting anew' : `Going on from ${manager.latestCheckpoint}`);

const lossObject = new tf.losses.SparseCategoricalCrossentropy({ fromLogits: true });
const trainLoss = new tf.metrics.Mean('train_loss');
const trainAccuracy = new tf.metrics.SparseCategoricalAccuracy('train_accuracy');
const testLoss = new tf.metrics.Mean('test_loss');
const testAccuracy = new tf.metrics.SparseCategoricalAccuracy('test_accuracy');

// ---- steps

export const trainStep = tf.function((inputs: tf.Tensor, targets: tf.Tensor) => {
  const tape = new tf.GradientTape();
  const predictions = model(inputs, { training: true });
  // What the layers add, such as penalties for large weights.
  const loss = model.losses.reduce((sum, more) => sum.add(more), lossObject(targets, predictions));
  const gradients = tape.gradient(loss, model.trainableVariables);
  optimizer.applyGradients(gradients, model.trainableVariables);
  trainLoss(loss);
  trainAccuracy(targets, predictions);
});

export const testStep = tf.function((inputs: tf.Tensor, targets: tf.Tensor) => {
  const predictions = model(inputs, { training: false });
  testLoss(lossObject(targets, predictions));
  testAccuracy(targets, predictions);
});

// ---- training

export const epochs: { trainLoss: number; trainAccuracy: number; testLoss: number; testAccuracy: number }[] =
  [];
for (let epoch = 0; epoch < EPOCHS; epoch++) {
  console.log(`Start of epoch ${epoch}`);
  let step = 0;
  for (const [inputs, targets] of trainData) {
    trainStep(inputs, targets);
    checkpoint.step.assignAdd(1);
    if (step++ % 20 === 0) {
      manager.save();
      const [loss, accuracy] = [trainLoss.result().item(), trainAccuracy.result().item()];
      console.log(`Step ${step}, loss ${loss.toFixed(4)}, accuracy ${accuracy.toFixed(4)}`);
    }
  }
  for (const [inputs, targets] of testData) testStep(inputs, targets);
  const [a, b, c, d] = [trainLoss, trainAccuracy, testLoss, testAccuracy].map((m) => m.result().item());
  epochs.push({ trainLoss: a, trainAccuracy: b, testLoss: c, testAccuracy: d } as (typeof epochs)[number]);
  console.log(epochs.at(-1));
  for (const metric of [trainLoss, trainAccuracy, testLoss, testAccuracy]) metric.resetStates();
}
manager.save();
export const learningRate = optimizer.learningRate;
export const steps = checkpoint.step.item();
export const kept = manager.checkpoints.length;
