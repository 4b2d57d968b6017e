// Finds the pixels of shapes in images: a U-Net of separable convolutions with shortcuts, on images drawn here.
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as tf from 'eagre';

const { keras } = tf;
const { layers, ops } = keras;

const EXAMPLES = Number(process.env.EXAMPLES ?? 1200);
const EPOCHS = Number(process.env.EPOCHS ?? 12);
const FOLDER = process.env.RUNS ?? fileURLToPath(new URL('../runs/unet', import.meta.url));
const SIZE = 32;
const CLASSES = 3;

keras.utils.setRandomSeed(1337);

/** Images of a disc and a square in any colours on a noisy ground, and the class of each pixel: 0 ground, 1 disc, 2 square. */
function shapes(count: number): [images: tf.Tensor, masks: tf.Tensor] {
  const line = tf.range(SIZE).cast('float32');
  const [y, x] = [line.reshape([1, SIZE, 1]), line.reshape([1, 1, SIZE])];
  const place = () =>
    keras.random
      .uniform([count, 1, 1])
      .mul(SIZE - 12)
      .add(6);
  const half = () => keras.random.uniform([count, 1, 1]).mul(4).add(4);
  const [radius, side] = [half(), half()];
  const inDisc = y.sub(place()).square().add(x.sub(place()).square()).less(radius.square());
  const inSquare = tf.maximum(y.sub(place()).abs(), x.sub(place()).abs()).less(side);
  // The disc lies on the square.
  const masks = ops.where(inDisc, 1, ops.where(inSquare, 2, 0)).cast('int32');
  const colours = keras.random.uniform([count, CLASSES, 3]);
  const noise = keras.random.normal([count, SIZE, SIZE, 3]).mul(0.05);
  const images = ops.matmul(ops.oneHot(masks, CLASSES).reshape([count, -1, CLASSES]), colours);
  return [images.reshape([count, SIZE, SIZE, 3]).add(noise).clip(0, 1), masks.expandDims(-1)];
}

// Moving averages that settle within the few hundred steps of this program.
const batchNorm = () => new layers.BatchNormalization({ momentum: 0.9 });

function getModel(imgSize: [number, number], numClasses: number): tf.Model {
  const inputs = keras.Input({ shape: [...imgSize, 3] });

  // Entry block
  let x = new layers.Conv2D(16, 3, { strides: 2, padding: 'same' })(inputs);
  x = batchNorm()(x);
  x = new layers.Activation('relu')(x);
  let previousBlockActivation = x; // Set aside residual

  // Downsampling
  for (const filters of [32, 64]) {
    x = new layers.Activation('relu')(x);
    x = new layers.SeparableConv2D(filters, 3, { padding: 'same' })(x);
    x = batchNorm()(x);
    x = new layers.Activation('relu')(x);
    x = new layers.SeparableConv2D(filters, 3, { padding: 'same' })(x);
    x = batchNorm()(x);
    x = new layers.MaxPooling2D(3, { strides: 2, padding: 'same' })(x);
    const residual = new layers.Conv2D(filters, 1, { strides: 2, padding: 'same' })(previousBlockActivation);
    x = layers.add([x, residual]);
    previousBlockActivation = x;
  }

  // Upsampling
  for (const filters of [64, 32, 16]) {
    x = new layers.Activation('relu')(x);
    x = new layers.Conv2DTranspose(filters, 3, { padding: 'same' })(x);
    x = batchNorm()(x);
    x = new layers.Activation('relu')(x);
    x = new layers.Conv2DTranspose(filters, 3, { padding: 'same' })(x);
    x = batchNorm()(x);
    x = new layers.UpSampling2D(2)(x);
    let residual = new layers.UpSampling2D(2)(previousBlockActivation);
    residual = new layers.Conv2D(filters, 1, { padding: 'same' })(residual);
    x = layers.add([x, residual]);
    previousBlockActivation = x;
  }

  // A class for each pixel
  const outputs = new layers.Conv2D(numClasses, 3, { activation: 'softmax', padding: 'same' })(x);
  return new keras.Model(inputs, outputs);
}

const model = getModel([SIZE, SIZE], CLASSES);
model.summary();

const [trainImages, trainMasks] = shapes(EXAMPLES);
const [valImages, valMasks] = shapes(100);
const trainDataset = tf.data.Dataset.fromTensorSlices([trainImages, trainMasks] as const).batch(16);
const validDataset = tf.data.Dataset.fromTensorSlices([valImages, valMasks] as const).batch(50);

mkdirSync(FOLDER, { recursive: true });
const best = `${FOLDER}/shapes.weights.safetensors`;
model.compile({
  optimizer: new keras.optimizers.Adam({ learningRate: 3e-3 }),
  loss: 'sparseCategoricalCrossentropy',
  metrics: ['accuracy', new keras.metrics.MeanIoU({ numClasses: CLASSES, sparseYPred: false })],
});
export const { history } = await model.fit(trainDataset, {
  epochs: EPOCHS,
  validationData: validDataset,
  callbacks: [new keras.callbacks.ModelCheckpoint(best, { saveBestOnly: true })],
  verbose: 2,
});

// The best weights, read from their file: images, true masks, predicted masks in three rows.
await model.loadWeights(best);
export const scores = await model.evaluate(validDataset, { verbose: 0 });
const predictions = await model.predict(valImages.at(':8'), { verbose: 0 });
const row = (images: tf.Tensor): tf.Tensor => images.transpose([1, 0, 2, 3]).reshape([SIZE, 8 * SIZE, 3]);
const grey = (masks: tf.Tensor): tf.Tensor => ops.repeat(masks.cast('float32').div(CLASSES - 1), 3, -1);
export const file = `${FOLDER}/segmentation.png`;
const rows = [valImages.at(':8'), grey(valMasks.at(':8')), grey(ops.argmax(predictions, -1).expandDims(-1))];
await keras.utils.saveImg(file, ops.concatenate(rows.map(row), 0));
console.log('scores:', scores, `drew ${file}`);
