// Neural style transfer: the pixels of an image are trained to have the content of one image and the style of another.
// Keras's tutorial takes the features of VGG19; here a small network with random weights gives them, and images are drawn here.
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as tf from 'eagre';

const { keras } = tf;
const { layers, ops } = keras;

const ITERATIONS = Number(process.env.ITERATIONS ?? 300);
const FOLDER = process.env.RUNS ?? fileURLToPath(new URL('../runs/style-transfer', import.meta.url));
const SIZE = 64;
const TOTAL_VARIATION_WEIGHT = 1e-4;
const STYLE_WEIGHT = 1e3;
const CONTENT_WEIGHT = 1;

keras.utils.setRandomSeed(48);

// ---- Two images with values from -1 to 1: a disc, and slanted stripes in two colours.

const line = tf.range(SIZE).cast('float32');
const [x, y] = [line.reshape([1, SIZE, 1]), line.reshape([SIZE, 1, 1])];
const paint = (mask: tf.Tensor, on: number[], off: number[]): tf.Tensor =>
  ops.where(mask, tf.constant(on), tf.constant(off)).expandDims(0);
const disc = ops
  .square(x.sub(32))
  .add(ops.square(y.sub(32)))
  .less(20 ** 2);
const baseImage = paint(disc, [0.8, 0.8, 0.8], [-0.6, -0.6, -0.6]);
const stripes = ops.sin(x.add(y).mul(0.8)).greater(0);
const styleReferenceImage = paint(stripes, [0.9, 0.2, -0.8], [-0.8, -0.2, 0.9]);

// ---- Losses

/** How much each two features occur together. */
function gramMatrix(image: tf.Tensor): tf.Tensor {
  const features = ops.reshape(ops.transpose(image, [2, 0, 1]), [image.shape.at(-1) as number, -1]);
  return ops.matmul(features, ops.transpose(features));
}

function styleLoss(style: tf.Tensor, combination: tf.Tensor): tf.Tensor {
  const [height, width, channels] = style.shape as unknown as [number, number, number];
  const difference = ops.square(gramMatrix(style).sub(gramMatrix(combination)));
  return ops.sum(difference).div(4 * channels ** 2 * (height * width) ** 2);
}

function contentLoss(base: tf.Tensor, combination: tf.Tensor): tf.Tensor {
  return ops.mean(ops.square(combination.sub(base)));
}

/** How much neighbouring pixels differ. */
function totalVariationLoss(image: tf.Tensor): tf.Tensor {
  const here = image.at(':', ':-1', ':-1', ':');
  const a = ops.square(here.sub(image.at(':', '1:', ':-1', ':')));
  const b = ops.square(here.sub(image.at(':', ':-1', '1:', ':')));
  return ops.sum(ops.power(a.add(b).add(1e-7), 1.25));
}

// ---- Features: the output of each layer, by its name

const extractor = new keras.Sequential([
  keras.Input({ shape: [SIZE, SIZE, 3] }),
  new layers.Conv2D(16, 3, { activation: 'relu', padding: 'same', name: 'block1_conv1' }),
  new layers.AveragePooling2D(2),
  new layers.Conv2D(32, 3, { activation: 'relu', padding: 'same', name: 'block2_conv1' }),
  new layers.AveragePooling2D(2),
  new layers.Conv2D(64, 3, { activation: 'relu', padding: 'same', name: 'block3_conv1' }),
]);
const STYLE_LAYERS = ['block1_conv1', 'block2_conv1', 'block3_conv1'];
const CONTENT_LAYER = 'block3_conv1';
const { inputs } = extractor;
const outputsDict = Object.fromEntries(
  extractor.layers.map((layer) => [layer.name, layer.output as tf.keras.KerasTensor]),
);
const featureExtractor = new keras.Model({ inputs, outputs: outputsDict });

function computeLoss(combination: tf.Tensor): tf.Tensor {
  const inputTensor = ops.concatenate([baseImage, styleReferenceImage, combination], 0);
  const features = featureExtractor<Record<string, tf.Tensor>>(inputTensor);
  const of = (name: string, image: number): tf.Tensor => (features[name] as tf.Tensor).at(image);
  let loss = contentLoss(of(CONTENT_LAYER, 0), of(CONTENT_LAYER, 2)).mul(CONTENT_WEIGHT);
  for (const name of STYLE_LAYERS) {
    const sl = styleLoss(of(name, 1), of(name, 2));
    loss = loss.add(sl.mul(STYLE_WEIGHT / STYLE_LAYERS.length));
  }
  return loss.add(totalVariationLoss(combination).mul(TOTAL_VARIATION_WEIGHT / SIZE));
}

const computeLossAndGrads = tf.function((combination: tf.Variable) => {
  const tape = new tf.GradientTape();
  const loss = computeLoss(combination.value());
  return { loss, grads: tape.gradient(loss, combination) as tf.Tensor };
});

// ---- Training of the pixels

const optimizer = new keras.optimizers.Adam({
  learningRate: new keras.optimizers.schedules.ExponentialDecay({
    initialLearningRate: 0.05,
    decaySteps: 100,
    decayRate: 0.8,
  }),
});
const combinationImage = new tf.Variable(baseImage);
export const losses: number[] = [];
for (let i = 1; i <= ITERATIONS; i++) {
  const { loss, grads } = computeLossAndGrads(combinationImage);
  optimizer.applyGradients([grads], [combinationImage]);
  losses.push(loss.item());
  if (i % 50 === 0) console.log(`Iteration ${i}: loss=${losses.at(-1)?.toFixed(5)}`);
}
export const traces = computeLossAndGrads.experimentalGetTracingCount();

mkdirSync(FOLDER, { recursive: true });
export const file = `${FOLDER}/style-transfer.png`;
const result = ops.clip(combinationImage.value(), -1, 1);
await keras.utils.saveImg(file, ops.concatenate([baseImage, styleReferenceImage, result], 2).squeeze(0));
console.log(`drew ${file}`);

/** How colourful an image is: grey ones give 0. */
const colour = (image: tf.Tensor): number => ops.mean(ops.std(image, { axis: -1 })).item();
export const colours = {
  base: colour(baseImage),
  style: colour(styleReferenceImage),
  result: colour(result),
};
console.log('colours:', colours);
