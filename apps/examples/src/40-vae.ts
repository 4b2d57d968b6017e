// A variational autoencoder of digits: a layer that samples, a training step of one's own, a grid drawn from the latent plane.
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as tf from 'eagre';

const { keras } = tf;
const { layers, ops } = keras;

const EXAMPLES = Number(process.env.EXAMPLES ?? 10_000);
const EPOCHS = Number(process.env.EPOCHS ?? 8);
const FOLDER = process.env.RUNS ?? fileURLToPath(new URL('../runs/vae', import.meta.url));
const LATENT = 2;

keras.utils.setRandomSeed(1337);

/** Draws z from the normal distribution that the encoder describes. */
class Sampling extends layers.Layer {
  override call([zMean, zLogVar]: [tf.Tensor, tf.Tensor]): tf.Tensor {
    const [batch, dim] = ops.shape(zMean) as [number, number];
    const epsilon = keras.random.normal([batch, dim]);
    return zMean.add(ops.exp(zLogVar.mul(0.5)).mul(epsilon));
  }
}

const encoderInputs = keras.Input({ shape: [28, 28, 1] });
let x = new layers.Conv2D(16, 3, { activation: 'relu', strides: 2, padding: 'same' })(encoderInputs);
x = new layers.Conv2D(32, 3, { activation: 'relu', strides: 2, padding: 'same' })(x);
x = new layers.Flatten()(x);
x = new layers.Dense(16, { activation: 'relu' })(x);
const zMean = new layers.Dense(LATENT, { name: 'z_mean' })(x);
const zLogVar = new layers.Dense(LATENT, { name: 'z_log_var' })(x);
const z = new Sampling()([zMean, zLogVar]);
const encoder = new keras.Model(encoderInputs, [zMean, zLogVar, z], { name: 'encoder' });
encoder.summary();

const latentInputs = keras.Input({ shape: [LATENT] });
x = new layers.Dense(7 * 7 * 32, { activation: 'relu' })(latentInputs);
x = new layers.Reshape([7, 7, 32])(x);
x = new layers.Conv2DTranspose(32, 3, { activation: 'relu', strides: 2, padding: 'same' })(x);
x = new layers.Conv2DTranspose(16, 3, { activation: 'relu', strides: 2, padding: 'same' })(x);
const decoderOutputs = new layers.Conv2DTranspose(1, 3, { activation: 'sigmoid', padding: 'same' })(x);
const decoder = new keras.Model(latentInputs, decoderOutputs, { name: 'decoder' });
decoder.summary();

class VAE extends keras.Model {
  encoder: tf.Model;
  decoder: tf.Model;
  totalLossTracker = new keras.metrics.Mean({ name: 'total_loss' });
  reconstructionLossTracker = new keras.metrics.Mean({ name: 'reconstruction_loss' });
  klLossTracker = new keras.metrics.Mean({ name: 'kl_loss' });

  constructor(encoder: tf.Model, decoder: tf.Model) {
    super();
    this.encoder = encoder;
    this.decoder = decoder;
  }

  override get metrics() {
    return [this.totalLossTracker, this.reconstructionLossTracker, this.klLossTracker];
  }

  override trainStep(data: tf.Tensor) {
    const tape = new tf.GradientTape();
    const [zMean, zLogVar, z] = this.encoder<[tf.Tensor, tf.Tensor, tf.Tensor]>(data);
    const reconstruction = this.decoder(z);
    const reconstructionLoss = ops.mean(
      ops.sum(keras.losses.binaryCrossentropy(data, reconstruction), [1, 2]),
    );
    let klLoss = zLogVar.add(1).sub(ops.square(zMean)).sub(ops.exp(zLogVar)).mul(-0.5);
    klLoss = ops.mean(ops.sum(klLoss, 1));
    const totalLoss = reconstructionLoss.add(klLoss);
    const grads = tape.gradient(totalLoss, this.trainableWeights);
    this.optimizer.applyGradients(grads, this.trainableWeights);
    this.totalLossTracker.updateState(totalLoss);
    this.reconstructionLossTracker.updateState(reconstructionLoss);
    this.klLossTracker.updateState(klLoss);
    return {
      loss: this.totalLossTracker.result(),
      reconstruction_loss: this.reconstructionLossTracker.result(),
      kl_loss: this.klLossTracker.result(),
    };
  }
}

// MNIST's 10,000 test images: 1.6 MB, fetched once.
const [images, labels] = await tf.keras.datasets.mnist.loadTest();
const digits = tf.constant(images).cast('float32').div(255).expandDims(-1).at(`:${EXAMPLES}`);

const vae = new VAE(encoder, decoder);
vae.compile({ optimizer: new keras.optimizers.Adam({ learningRate: 2e-3 }) });
export const { history } = await vae.fit(digits, { epochs: EPOCHS, batchSize: 64, verbose: 2 });

/** The digits at n × n points of the latent plane, side by side. */
async function latentSpace(n = 15, scale = 1.5): Promise<tf.Tensor> {
  const line = tf.linspace(-scale, scale, n);
  const [gridX, gridY] = tf.meshgrid([line, line.reverse(0)]) as [tf.Tensor, tf.Tensor];
  const decoded = await decoder.predict(tf.stack([gridX.flatten(), gridY.flatten()], 1), { verbose: 0 });
  return decoded
    .reshape([n, n, 28, 28])
    .transpose([0, 2, 1, 3])
    .reshape([n * 28, n * 28, 1]);
}
export const grid = await latentSpace();
mkdirSync(FOLDER, { recursive: true });
export const file = `${FOLDER}/latent-space.png`;
await keras.utils.saveImg(file, grid);
console.log(`drew ${file}`);

// Where each digit lies: means over the latent points of its images.
const [points] = await encoder.predict<[tf.Tensor, tf.Tensor, tf.Tensor]>(digits, { verbose: 0 });
const kinds = tf.constant(labels).at(`:${EXAMPLES}`).cast('int32');
const ofKind = ops.oneHot(kinds, 10);
export const centres = ops.matmul(ops.transpose(ofKind), points).div(ops.sum(ofKind, 0).expandDims(1));
console.log('centres of the digits 0 to 9 in the latent plane:', centres.array());
