// A vision transformer: an image is a row of patches, which attend to each other.
import * as tf from 'eagre';

const { keras } = tf;
const { layers, ops } = keras;

const EXAMPLES = Number(process.env.EXAMPLES ?? 6000);
const EPOCHS = Number(process.env.EPOCHS ?? 6);
const CLASSES = 10;
const IMAGE_SIZE = 28;
const PATCH_SIZE = 7;
const PATCHES = (IMAGE_SIZE / PATCH_SIZE) ** 2;
const PROJECTION = 32;
const HEADS = 4;
const TRANSFORMER_LAYERS = 2;
const TRANSFORMER_UNITS = [PROJECTION * 2, PROJECTION];
const MLP_HEAD_UNITS = [128, 64];

keras.utils.setRandomSeed(46);

// MNIST's 10,000 test images: 1.6 MB, fetched once. The last 2,000 are held back.
const [images, labels] = await tf.keras.datasets.mnist.loadTest();
const pixels = tf.constant(images).cast('float32').expandDims(-1);
const [xTrain, yTrain] = [pixels.at(`:${EXAMPLES}`), tf.constant(labels).at(`:${EXAMPLES}`)];
const [xTest, yTest] = [pixels.at('-2000:'), tf.constant(labels).at('-2000:')];

const dataAugmentation = new keras.Sequential(
  [
    new layers.Normalization(),
    new layers.RandomRotation(0.02),
    new layers.RandomZoom({ heightFactor: 0.1, widthFactor: 0.1 }),
  ],
  { name: 'data_augmentation' },
);
// Mean and variance of the training data, for normalization.
(dataAugmentation.layers[0] as tf.layers.Normalization).adapt(xTrain);

function mlp(x: tf.keras.KerasTensor, hiddenUnits: number[], dropoutRate: number): tf.keras.KerasTensor {
  for (const units of hiddenUnits) {
    x = new layers.Dense(units, { activation: keras.activations.gelu })(x);
    x = new layers.Dropout(dropoutRate)(x);
  }
  return x;
}

/** [batch, height, width, channels] to [batch, patches, pixels of a patch]. */
class Patches extends layers.Layer {
  patchSize: number;

  constructor({ patchSize, ...options }: tf.layers.LayerOptions & { patchSize: number }) {
    super(options);
    this.patchSize = patchSize;
  }

  override call(images: tf.Tensor): tf.Tensor {
    const [batchSize, height, width, channels] = ops.shape(images) as [number, number, number, number];
    const numPatchesH = Math.floor(height / this.patchSize);
    const numPatchesW = Math.floor(width / this.patchSize);
    const patches = ops.image.extractPatches(images, this.patchSize);
    return ops.reshape(patches, [
      batchSize,
      numPatchesH * numPatchesW,
      this.patchSize * this.patchSize * channels,
    ]);
  }

  override getConfig() {
    return { ...super.getConfig(), patchSize: this.patchSize };
  }
}

/** Projects each patch and adds a learned vector for its position. */
class PatchEncoder extends layers.Layer {
  numPatches: number;
  projection: tf.keras.Layer;
  positionEmbedding: tf.keras.Layer;

  constructor({ numPatches, projectionDim }: { numPatches: number; projectionDim: number }) {
    super();
    this.numPatches = numPatches;
    this.projection = new layers.Dense(projectionDim);
    this.positionEmbedding = new layers.Embedding({ inputDim: numPatches, outputDim: projectionDim });
  }

  override call(patch: tf.Tensor): tf.Tensor {
    const positions = ops.expandDims(ops.arange(0, this.numPatches, 1, { dtype: 'int32' }), 0);
    const projectedPatches = this.projection(patch);
    return projectedPatches.add(this.positionEmbedding(positions));
  }
}

function createVitClassifier(): tf.Model {
  const inputs = keras.Input({ shape: [IMAGE_SIZE, IMAGE_SIZE, 1] });
  const augmented = dataAugmentation(inputs);
  const patches = new Patches({ patchSize: PATCH_SIZE })(augmented);
  let encodedPatches = new PatchEncoder({ numPatches: PATCHES, projectionDim: PROJECTION })(patches);

  for (let i = 0; i < TRANSFORMER_LAYERS; i++) {
    const x1 = new layers.LayerNormalization({ epsilon: 1e-6 })(encodedPatches);
    const attention = new layers.MultiHeadAttention({ numHeads: HEADS, keyDim: PROJECTION, dropout: 0.1 });
    const x2 = new layers.Add()([attention(x1, x1), encodedPatches]);
    let x3 = new layers.LayerNormalization({ epsilon: 1e-6 })(x2);
    x3 = mlp(x3, TRANSFORMER_UNITS, 0.1);
    encodedPatches = new layers.Add()([x3, x2]);
  }

  let representation = new layers.LayerNormalization({ epsilon: 1e-6 })(encodedPatches);
  representation = new layers.Flatten()(representation);
  representation = new layers.Dropout(0.2)(representation);
  const features = mlp(representation, MLP_HEAD_UNITS, 0.2);
  const logits = new layers.Dense(CLASSES)(features);
  return new keras.Model({ inputs, outputs: logits });
}

const model = createVitClassifier();
model.compile({
  optimizer: new keras.optimizers.AdamW({ learningRate: 1e-3, weightDecay: 1e-4 }),
  loss: new keras.losses.SparseCategoricalCrossentropy({ fromLogits: true }),
  metrics: [
    new keras.metrics.SparseCategoricalAccuracy({ name: 'accuracy' }),
    new keras.metrics.SparseTopKCategoricalAccuracy(3, { name: 'top-3-accuracy' }),
  ],
});
export const { history } = await model.fit(xTrain, yTrain, {
  batchSize: 64,
  epochs: EPOCHS,
  validationSplit: 0.1,
  verbose: 2,
});
export const scores = await model.evaluate(xTest, yTest, { verbose: 0 });
console.log('test scores:', scores);
