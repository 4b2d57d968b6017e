// Transfer learning: a network trained on one task is the frozen base of another, and is fine-tuned at last.
// Keras's tutorial reads weights of ImageNet; nothing is downloaded here, so the base is trained first on images drawn here.
import * as tf from 'eagre';

const { keras } = tf;
const { layers, ops } = keras;

const EXAMPLES = Number(process.env.EXAMPLES ?? 2000);
const EPOCHS = Number(process.env.EPOCHS ?? 12);
const SIZE = 32;

keras.utils.setRandomSeed(43);

/** Images of one shape each, in colour on a noisy ground: disc, square, ring, cross. */
function shapes(count: number, kinds: number[]): [images: tf.Tensor, labels: tf.Tensor] {
  const line = tf.range(SIZE).cast('float32');
  const draw = (low: number, high: number): tf.Tensor =>
    keras.random
      .uniform([count, 1, 1])
      .mul(high - low)
      .add(low);
  const x = line.reshape([1, 1, SIZE]).sub(draw(12, 20)).abs();
  const y = line.reshape([1, SIZE, 1]).sub(draw(12, 20)).abs();
  const [size, distance, farther] = [draw(7, 11), ops.sqrt(x.square().add(y.square())), tf.maximum(x, y)];
  const disc = distance.less(size);
  const all = [
    disc,
    farther.less(size.mul(0.9)),
    disc.logicalAnd(distance.greater(size.mul(0.6))),
    farther.less(size).logicalAnd(tf.minimum(x, y).less(size.mul(0.3))),
  ];
  const labels = keras.random.randint([count], 0, kinds.length);
  const masks = ops.stack(
    kinds.map((kind) => (all[kind] as tf.Tensor).cast('float32')),
    1,
  );
  const mask = ops.einsum('nk,nkhw->nhw', ops.oneHot(labels, kinds.length), masks).expandDims(-1);
  const [ground, colour] = [0, 1].map(() => keras.random.uniform([count, 1, 1, 3]));
  const noise = keras.random.normal([count, SIZE, SIZE, 3]).mul(0.05);
  const images = mask.mul(colour as tf.Tensor).add(ops.subtract(1, mask).mul(ground as tf.Tensor));
  return [images.add(noise).clip(0, 1).mul(255), labels];
}

// ---- A base, trained on three kinds of shapes: as MobileNet, convolutions for each channel and then across channels.

function makeBase(): tf.Model {
  const inputs = keras.Input({ shape: [SIZE, SIZE, 3] });
  let x = new layers.Conv2D(16, 3, { strides: 2, padding: 'same', useBias: false })(inputs);
  for (const filters of [32, 48, 64]) {
    x = new layers.DepthwiseConv2D(3, { padding: 'same', useBias: false })(x);
    x = new layers.BatchNormalization({ momentum: 0.9 })(x);
    x = new layers.ReLU({ maxValue: 6 })(x);
    x = new layers.Conv2D(filters, 1, { strides: filters === 64 ? 1 : 2, padding: 'same', useBias: false })(
      x,
    );
    x = new layers.BatchNormalization({ momentum: 0.9 })(x);
    x = new layers.ReLU({ maxValue: 6 })(x);
  }
  return new keras.Model(inputs, x, { name: 'base' });
}
const baseModel = makeBase();
const rescale = new layers.Rescaling({ scale: 1 / 127.5, offset: -1 });
const pretraining = new keras.Sequential([
  keras.Input({ shape: [SIZE, SIZE, 3] }),
  rescale,
  baseModel,
  new layers.GlobalAveragePooling2D(),
  new layers.Dense(3),
]);
pretraining.compile({
  optimizer: new keras.optimizers.Adam({ learningRate: 3e-3 }),
  loss: new keras.losses.SparseCategoricalCrossentropy({ fromLogits: true }),
  metrics: ['accuracy'],
});
const [pretrainImages, pretrainLabels] = shapes(EXAMPLES, [1, 2, 3]);
export const pretrained = await pretraining.fit(pretrainImages, pretrainLabels, {
  epochs: EPOCHS,
  verbose: 2,
});

// ---- A new model on top of the frozen base, for another task with few examples: discs against crosses.

const [newImages, newLabels] = shapes(160, [0, 3]);
const [validationImages, validationLabels] = shapes(400, [0, 3]);
const trainDs = tf.data.Dataset.fromTensorSlices([newImages, newLabels] as const)
  .shuffle(160)
  .batch(16);
const validationDs = tf.data.Dataset.fromTensorSlices([validationImages, validationLabels] as const).batch(
  100,
);

const augmentation = [new layers.RandomFlip('horizontal'), new layers.RandomRotation(0.1)];
baseModel.trainable = false; // Freeze the base

const inputs = keras.Input({ shape: [SIZE, SIZE, 3] });
let x = inputs;
for (const layer of augmentation) x = layer(x);
x = rescale(x);
// The base has batch normalization, whose statistics stay as they are when it is unfrozen below.
x = baseModel(x, { training: false });
x = new layers.GlobalAveragePooling2D()(x);
x = new layers.Dropout(0.2)(x);
const outputs = new layers.Dense(1)(x);
const model = new keras.Model(inputs, outputs);
model.summary({ showTrainable: true });
export const trainableWhenFrozen = model.trainableWeights.length;

const compiled = (learningRate: number) => ({
  optimizer: new keras.optimizers.Adam({ learningRate }),
  loss: new keras.losses.BinaryCrossentropy({ fromLogits: true }),
  metrics: [new keras.metrics.BinaryAccuracy({ threshold: 0 })],
});
const weightsOf = (m: tf.Model): tf.Tensor[] => m.getWeights() as tf.Tensor[];
const changed = (before: tf.Tensor[], after: tf.Tensor[]): number =>
  after.filter((w, i) => ops.any(w.notEqual(before[i] as tf.Tensor)).item()).length;

const base = weightsOf(baseModel);
model.compile(compiled(1e-2));
export const top = await model.fit(trainDs, { epochs: EPOCHS, validationData: validationDs, verbose: 2 });
export const topScores = await model.evaluate(validationDs, { verbose: 0 });
export const changedWhenFrozen = changed(base, weightsOf(baseModel));

// ---- Fine-tuning: the whole model, slowly. `compile` again, so that it takes effect.

baseModel.trainable = true;
export const trainableWhenTuned = model.trainableWeights.length;
model.compile(compiled(2e-4));
export const tuned = await model.fit(trainDs, { epochs: EPOCHS, validationData: validationDs, verbose: 2 });
export const tunedScores = await model.evaluate(validationDs, { verbose: 0 });
// All but the moving means and variances of six normalizations.
export const changedWhenTuned = changed(base, weightsOf(baseModel));
console.log({ topScores, tunedScores, changedWhenFrozen, changedWhenTuned });
