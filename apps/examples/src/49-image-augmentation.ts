// Data augmentation: a picture as tf.image and the augmentation layers of Keras change it, on one contact sheet.
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as tf from 'eagre';

const { image, keras } = tf;
const { layers } = keras;

const FOLDER = process.env.RUNS ?? fileURLToPath(new URL('../runs/augmentation', import.meta.url));
const SIZE = 96;
const COLUMNS = 6;
const GAP = 4;

keras.utils.setRandomSeed(49);

/** A landscape with a sun and a house, [96, 96, 3] from 0 to 1. */
function draw(): tf.Tensor {
  const [x, y] = tf.meshgrid([tf.linspace(0, 1, SIZE), tf.linspace(0, 1, SIZE)]) as [tf.Tensor, tf.Tensor];
  let picture = tf.stack([y.mul(0.6).add(0.3), y.mul(0.3).add(0.6), tf.onesLike(y)], -1);
  const paint = (where: tf.Tensor, colour: readonly [number, number, number]): void => {
    picture = tf.where(where.expandDims(-1), tf.constant([...colour]), picture);
  };
  const inside = (left: number, right: number, top: number, bottom: number): tf.Tensor =>
    x.greater(left).logicalAnd(x.less(right)).logicalAnd(y.greater(top)).logicalAnd(y.less(bottom));
  paint(x.sub(0.78).square().add(y.sub(0.22).square()).less(0.012), [1, 0.85, 0.2]);
  paint(y.greater(x.mul(6).sin().mul(0.04).add(0.7)), [0.3, 0.6, 0.25]);
  paint(inside(0.2, 0.6, 0.5, 0.85), [0.85, 0.75, 0.6]);
  paint(x.sub(0.4).abs().mul(0.9).add(0.25).less(y).logicalAnd(y.lessEqual(0.5)), [0.7, 0.2, 0.15]);
  paint(inside(0.27, 0.37, 0.58, 0.7), [0.3, 0.45, 0.6]);
  paint(inside(0.45, 0.53, 0.65, 0.85), [0.35, 0.2, 0.1]);
  return picture;
}
export const original = draw();

/** Functions of tf.image: the ones without `random` change it alike each time. */
const functions: Record<string, (x: tf.Tensor) => tf.Tensor> = {
  flipLeftRight: (x) => image.flipLeftRight(x),
  flipUpDown: (x) => image.flipUpDown(x),
  rot90: (x) => image.rot90(x),
  transpose: (x) => image.transpose(x),
  adjustHue: (x) => image.adjustHue(x, 0.3),
  adjustSaturation: (x) => image.adjustSaturation(x, 0.3),
  adjustContrast: (x) => image.adjustContrast(x, 2),
  adjustGamma: (x) => image.adjustGamma(x, 2),
  randomBrightness: (x) => image.randomBrightness(x, 0.4),
  // A crop of another size each time, and back to the size of all.
  randomCrop: (x) => image.resize(image.randomCrop(x, [64, 64, 3]), [SIZE, SIZE]),
  centralCrop: (x) => image.resize(image.centralCrop(x, 0.5), [SIZE, SIZE]),
  sobelEdges: (x) => image.sobelEdges(x.expandDims(0)).at(0).square().sum(-1).sqrt(),
};

/** Layers of Keras, which change a batch in training only. */
const valueRange = [0, 1] as const;
// A single number would be the most of a likelihood that is drawn itself.
const always = [1, 1] as const;
const augmentations: Record<string, tf.layers.Layer> = {
  RandomFlip: new layers.RandomFlip('horizontalAndVertical'),
  RandomRotation: new layers.RandomRotation(0.1),
  RandomTranslation: new layers.RandomTranslation(0.2, 0.2),
  RandomZoom: new layers.RandomZoom(0.3),
  RandomShear: new layers.RandomShear({ xFactor: 0.3, yFactor: 0.3 }),
  RandomPerspective: new layers.RandomPerspective({ factor: always, scale: 0.5 }),
  RandomElasticTransform: new layers.RandomElasticTransform({ factor: always, scale: 0.6, valueRange }),
  RandomColorJitter: new layers.RandomColorJitter({
    valueRange,
    brightnessFactor: 0.2,
    contrastFactor: 0.3,
    saturationFactor: [0.3, 0.7],
    hueFactor: 0.2,
  }),
  RandomGrayscale: new layers.RandomGrayscale({ factor: 1 }),
  RandomPosterization: new layers.RandomPosterization(2, { valueRange }),
  Solarization: new layers.Solarization({ thresholdFactor: 0.5, valueRange }),
  RandomGaussianBlur: new layers.RandomGaussianBlur({ factor: always, kernelSize: 7, sigma: 1, valueRange }),
  RandomErasing: new layers.RandomErasing({ factor: always, scale: [0.05, 0.2], valueRange }),
  Equalization: new layers.Equalization({ valueRange }),
  RandAugment: new layers.RandAugment({ valueRange }),
  AugMix: new layers.AugMix({ valueRange }),
  Pipeline: new layers.Pipeline([
    new layers.RandomRotation(0.05),
    new layers.RandomInvert({ factor: always, valueRange }),
  ]),
};

export const pictures: Record<string, tf.Tensor> = { original };
for (const [name, change] of Object.entries(functions)) pictures[name] = change(original);
for (const [name, layer] of Object.entries(augmentations))
  pictures[name] = (layer(original.expandDims(0), { training: true }) as tf.Tensor).at(0);

/** All of one size in rows, with white between them. */
function contactSheet(list: readonly tf.Tensor[]): tf.Tensor {
  const framed = list.map((p) =>
    tf.pad(
      p.clipByValue(0, 1),
      [
        [GAP, GAP],
        [GAP, GAP],
        [0, 0],
      ],
      { constantValues: 1 },
    ),
  );
  const blank = tf.onesLike(framed[0] as tf.Tensor);
  while (framed.length % COLUMNS !== 0) framed.push(blank);
  const rows = Array.from({ length: framed.length / COLUMNS }, (_, i) =>
    tf.concat(framed.slice(i * COLUMNS, (i + 1) * COLUMNS), 1),
  );
  return tf.concat(rows, 0);
}
export const sheet = contactSheet(Object.values(pictures));
mkdirSync(FOLDER, { recursive: true });
export const file = `${FOLDER}/augmentation.png`;
await keras.utils.saveImg(file, sheet);
const names = Object.keys(pictures);
for (let i = 0; i < names.length; i += COLUMNS) console.log(names.slice(i, i + COLUMNS).join(', '));
console.log(`drew ${file}`);
