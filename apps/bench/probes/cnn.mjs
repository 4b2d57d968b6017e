// The convolutional network that the memory probes train.
import * as tf from 'eagre';

const model = new tf.Sequential([
  new tf.layers.Conv2D(32, 3, { activation: 'relu', inputShape: [28, 28, 1] }),
  new tf.layers.MaxPooling2D(2),
  new tf.layers.Conv2D(64, 3, { activation: 'relu' }),
  new tf.layers.MaxPooling2D(2),
  new tf.layers.Flatten(),
  new tf.layers.Dense(64, { activation: 'relu' }),
  new tf.layers.Dense(10),
]);
const x = tf.random.normal([32, 28, 28, 1]);
const labels = tf.constant(Int32Array.from({ length: 32 }, (_, i) => i % 10));
const lossObject = new tf.losses.SparseCategoricalCrossentropy({ fromLogits: true });
const optimizer = new tf.optimizers.Adam({ learningRate: 1e-3 });
const variables = model.trainableVariables;

export function train(steps) {
  for (let i = 0; i < steps; i++) {
    const tape = new tf.GradientTape();
    const loss = lossObject(labels, model(x, { training: true }));
    optimizer.applyGradients(tape.gradient(loss, variables), variables);
  }
}
