// One model on several devices: each trains on its part of every batch. The devices share one CPU here, so this shows how, not how fast.
import * as tf from 'eagre';

const REPLICAS = Number(process.env.REPLICAS ?? 2);
const EPOCHS = Number(process.env.EPOCHS ?? 20);
const BATCH = 32;

const [cpu] = tf.config.listPhysicalDevices('CPU');
tf.config.setLogicalDeviceConfiguration(
  cpu as tf.config.PhysicalDevice,
  Array.from({ length: REPLICAS }, () => new tf.config.LogicalDeviceConfiguration()),
);
const devices = Array.from({ length: REPLICAS }, (_, i) => `/cpu:${i}`);

// Points inside and outside of a ring.
tf.random.setSeed(1);
const points = tf.random.uniform([512, 2], { minval: -1, maxval: 1 });
const radius = points.square().sum(1, { keepdims: true }).sqrt();
const inRing = tf.cast(radius.greater(0.4).logicalAnd(radius.less(0.8)), 'float32');
const dataset = tf.data.Dataset.fromTensorSlices([points, inRing]).batch(BATCH);

/** Trains with a loop of one's own under a strategy. @returns the mean loss of each epoch, and the accuracy at the end */
function train(strategy: tf.distribute.Strategy): { readonly losses: number[]; readonly accuracy: number } {
  const { model, optimizer, loss, accuracy } = strategy.scope(() => {
    const initializer = (seed: number): tf.initializers.GlorotUniform =>
      new tf.initializers.GlorotUniform({ seed });
    return {
      model: new tf.Sequential([
        new tf.layers.Dense(32, { activation: 'relu', kernelInitializer: initializer(1), inputShape: [2] }),
        new tf.layers.BatchNormalization({ synchronized: true }),
        new tf.layers.Dense(1, { kernelInitializer: initializer(2) }),
      ]),
      optimizer: new tf.optimizers.Adam(0.02),
      loss: new tf.losses.BinaryCrossentropy({ fromLogits: true, reduction: 'none' }),
      accuracy: new tf.metrics.BinaryAccuracy({ threshold: 0 }),
    };
  });

  // What each replica does with its part.
  function replicaStep(x: tf.Tensor, y: tf.Tensor): tf.Tensor {
    using tape = new tf.GradientTape();
    const logits = model(x, { training: true }) as tf.Tensor;
    // The sum over all replicas is the mean over the batch.
    const share = loss(y, logits).sum().div(BATCH);
    const variables = model.trainableVariables;
    optimizer.applyGradients(tape.gradient(share, variables), variables);
    accuracy.updateState(y, logits);
    return share;
  }
  const trainStep = tf.function((x: tf.Tensor, y: tf.Tensor) =>
    strategy.reduce('SUM', strategy.run(replicaStep, { args: [x, y] })),
  );

  const losses: number[] = [];
  for (let epoch = 0; epoch < EPOCHS; epoch++) {
    accuracy.resetState();
    let sum = 0;
    let steps = 0;
    for (const batch of strategy.experimentalDistributeDataset(dataset)) {
      const [x, y] = batch as [tf.Tensor, tf.Tensor];
      sum += trainStep(x, y).item();
      steps++;
    }
    losses.push(sum / steps);
  }
  return { losses, accuracy: accuracy.result().item() };
}

export const one = train(tf.distribute.getStrategy());
export const several = train(new tf.distribute.MirroredStrategy(devices));
// One copy of the variables for all replicas, and everything on one device that is named.
export const central = train(new tf.distribute.experimental.CentralStorageStrategy(devices));
export const named = train(new tf.distribute.OneDeviceStrategy('/cpu:1'));
console.log(`one device:    loss ${one.losses.at(-1)?.toFixed(4)}, accuracy ${one.accuracy.toFixed(3)}`);
console.log(
  `${REPLICAS} replicas: loss ${several.losses.at(-1)?.toFixed(4)}, accuracy ${several.accuracy.toFixed(3)}`,
);
console.log(
  `variables in one place: loss ${central.losses.at(-1)?.toFixed(4)}; on /cpu:1: ${named.losses.at(-1)?.toFixed(4)}`,
);
