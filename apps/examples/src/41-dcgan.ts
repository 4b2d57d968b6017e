// A generator and a discriminator that train against each other: two optimizers in one training step.
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as tf from 'eagre';

const { keras } = tf;
const { layers, ops } = keras;

const EXAMPLES = Number(process.env.EXAMPLES ?? 6000);
const EPOCHS = Number(process.env.EPOCHS ?? 6);
const FOLDER = process.env.RUNS ?? fileURLToPath(new URL('../runs/dcgan', import.meta.url));
const LATENT = 32;

keras.utils.setRandomSeed(41);

// MNIST's 10,000 test images: 1.6 MB, fetched once.
const [images] = await tf.keras.datasets.mnist.loadTest();
const dataset = tf.data.Dataset.fromTensorSlices(
  tf.constant(images).cast('float32').div(255).expandDims(-1).at(`:${EXAMPLES}`),
)
  .shuffle(EXAMPLES)
  .batch(64, { dropRemainder: true });

const discriminator = new keras.Sequential(
  [
    keras.Input({ shape: [28, 28, 1] }),
    new layers.Conv2D(16, { kernelSize: 4, strides: 2, padding: 'same' }),
    new layers.LeakyReLU({ negativeSlope: 0.2 }),
    new layers.Conv2D(32, { kernelSize: 4, strides: 2, padding: 'same' }),
    new layers.LeakyReLU({ negativeSlope: 0.2 }),
    new layers.Flatten(),
    new layers.Dropout(0.2),
    new layers.Dense(1, { activation: 'sigmoid' }),
  ],
  { name: 'discriminator' },
);
discriminator.summary();

const generator = new keras.Sequential(
  [
    keras.Input({ shape: [LATENT] }),
    new layers.Dense(7 * 7 * 32),
    new layers.Reshape([7, 7, 32]),
    new layers.Conv2DTranspose(32, { kernelSize: 4, strides: 2, padding: 'same' }),
    new layers.LeakyReLU({ negativeSlope: 0.2 }),
    new layers.Conv2DTranspose(16, { kernelSize: 4, strides: 2, padding: 'same' }),
    new layers.LeakyReLU({ negativeSlope: 0.2 }),
    new layers.Conv2D(1, { kernelSize: 5, padding: 'same', activation: 'sigmoid' }),
  ],
  { name: 'generator' },
);
generator.summary();

interface GanOptions extends tf.CompileOptions {
  readonly dOptimizer: tf.optimizers.Optimizer;
  readonly gOptimizer: tf.optimizers.Optimizer;
  readonly lossFn: tf.losses.Loss;
}

class GAN extends keras.Model {
  discriminator: tf.Model;
  generator: tf.Model;
  latentDim: number;
  dOptimizer!: tf.optimizers.Optimizer;
  gOptimizer!: tf.optimizers.Optimizer;
  lossFn!: tf.losses.Loss;
  dLossMetric = new keras.metrics.Mean({ name: 'd_loss' });
  gLossMetric = new keras.metrics.Mean({ name: 'g_loss' });

  constructor(discriminator: tf.Model, generator: tf.Model, latentDim: number) {
    super();
    this.discriminator = discriminator;
    this.generator = generator;
    this.latentDim = latentDim;
  }

  override compile({ dOptimizer, gOptimizer, lossFn, ...rest }: GanOptions): void {
    super.compile(rest);
    this.dOptimizer = dOptimizer;
    this.gOptimizer = gOptimizer;
    this.lossFn = lossFn;
  }

  override get metrics() {
    return [this.dLossMetric, this.gLossMetric];
  }

  override trainStep(realImages: tf.Tensor) {
    const batchSize = ops.shape(realImages)[0] as number;
    let randomLatentVectors = keras.random.normal([batchSize, this.latentDim]);
    const generatedImages = this.generator(randomLatentVectors);
    const combinedImages = ops.concatenate([generatedImages, realImages], 0);
    // 1 for made images, 0 for real ones, with some noise.
    let labels = ops.concatenate([ops.ones([batchSize, 1]), ops.zeros([batchSize, 1])], 0);
    labels = labels.add(keras.random.uniform(ops.shape(labels) as number[]).mul(0.05));

    const tape = new tf.GradientTape();
    const predictions = this.discriminator(combinedImages, { training: true });
    const dLoss = this.lossFn(labels, predictions);
    const dGrads = tape.gradient(dLoss, this.discriminator.trainableWeights);
    this.dOptimizer.applyGradients(dGrads, this.discriminator.trainableWeights);

    randomLatentVectors = keras.random.normal([batchSize, this.latentDim]);
    const misleadingLabels = ops.zeros([batchSize, 1]);
    const second = new tf.GradientTape();
    const judged = this.discriminator(this.generator(randomLatentVectors, { training: true }));
    const gLoss = this.lossFn(misleadingLabels, judged);
    const gGrads = second.gradient(gLoss, this.generator.trainableWeights);
    this.gOptimizer.applyGradients(gGrads, this.generator.trainableWeights);

    this.dLossMetric.updateState(dLoss);
    this.gLossMetric.updateState(gLoss);
    return { d_loss: this.dLossMetric.result(), g_loss: this.gLossMetric.result() };
  }
}

/** Draws the same sixteen points of the latent space after each epoch. */
class GANMonitor extends keras.callbacks.Callback {
  readonly latent = keras.random.normal([16, LATENT]);
  readonly files: string[] = [];

  override async onEpochEnd(epoch: number): Promise<void> {
    const made = generator(this.latent).reshape([4, 4, 28, 28]).transpose([0, 2, 1, 3]);
    const file = `${FOLDER}/generated-${epoch}.png`;
    await keras.utils.saveImg(file, made.reshape([4 * 28, 4 * 28, 1]));
    this.files.push(file);
  }
}
mkdirSync(FOLDER, { recursive: true });
const monitor = new GANMonitor();
const before = generator(monitor.latent);

const gan = new GAN(discriminator, generator, LATENT);
gan.compile({
  dOptimizer: new keras.optimizers.Adam({ learningRate: 5e-4, beta1: 0.5 }),
  gOptimizer: new keras.optimizers.Adam({ learningRate: 1e-3, beta1: 0.5 }),
  lossFn: new keras.losses.BinaryCrossentropy(),
});
export const { history } = await gan.fit(dataset, { epochs: EPOCHS, callbacks: [monitor], verbose: 2 });
export const { files } = monitor;

// Digits are bright strokes on black: the made images come to share that.
const real = tf.constant(images).cast('float32').div(255);
const brightness = (x: tf.Tensor): number => ops.mean(x).item();
export const means = {
  before: brightness(before),
  after: brightness(generator(monitor.latent)),
  real: brightness(real),
};
console.log('mean brightness:', means);
