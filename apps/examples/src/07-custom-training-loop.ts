// A convolutional network on MNIST with a training loop of one's own.
import * as tf from 'eagre';
import { plot } from './plot.ts';

const BATCH = 32;

tf.random.setSeed(7);
const [images, labels] = await tf.keras.datasets.mnist.loadTest();
const x = tf.constant(images).cast('float32').div(255).expandDims(-1);
const y = tf.constant(labels).cast('int64');

const mnistModel = new tf.Sequential([
  new tf.layers.Conv2D(16, [3, 3], { activation: 'relu', inputShape: [null, null, 1] }),
  new tf.layers.Conv2D(16, [3, 3], { activation: 'relu' }),
  new tf.layers.GlobalAveragePooling2D(),
  new tf.layers.Dense(10),
]);

// The model can be called before it is trained.
export const untrained = mnistModel(x.at('0:1'));
console.log('Logits:', untrained);

const optimizer = new tf.optimizers.Adam();
const lossObject = new tf.losses.SparseCategoricalCrossentropy({ fromLogits: true });
export const lossHistory: number[] = [];

function trainStep(inputs: tf.Tensor, targets: tf.Tensor): void {
  using tape = new tf.GradientTape();
  const logits = mnistModel(inputs, { training: true });
  tf.debugging.assertEqual(logits.shape, [BATCH, 10]);
  const loss = lossObject(targets, logits);
  lossHistory.push(loss.item());
  const grads = tape.gradient(loss, mnistModel.trainableVariables);
  optimizer.applyGradients(grads, mnistModel.trainableVariables);
}

const epochs = Number(process.env.EPOCHS ?? 3);
for (let epoch = 0; epoch < epochs; epoch++) {
  const order = tf.random.shuffle(tf.range(0, x.shape[0], 1, { dtype: 'int32' }));
  for (let start = 0; start + BATCH <= order.size; start += BATCH) {
    const rows = order.slice([start], [BATCH]);
    trainStep(x.gather(rows), y.gather(rows));
  }
  console.log(`Epoch ${epoch} finished`);
}
console.log(plot(lossHistory, { xLabel: 'Batch #', yLabel: 'Loss [entropy]' }));
