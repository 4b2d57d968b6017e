import * as tf from 'eagre';

/** A small convolutional network: 28×28 grey pixels in, one logit for each digit out. */
export function mnistModel(): tf.Sequential {
  return new tf.Sequential([
    new tf.layers.Conv2D(32, 3, { activation: 'relu', inputShape: [28, 28, 1] }),
    new tf.layers.MaxPooling2D(2),
    new tf.layers.Conv2D(64, 3, { activation: 'relu' }),
    new tf.layers.MaxPooling2D(2),
    new tf.layers.Flatten(),
    new tf.layers.Dense(64, { activation: 'relu' }),
    new tf.layers.Dense(10),
  ]);
}

/** MNIST's 10,000 test images (1.6 MB): 8,000 to train on, 2,000 held back. Pixels in 0 … 1. */
export async function mnistData(): Promise<{ train: [tf.Tensor, tf.Tensor]; held: [tf.Tensor, tf.Tensor] }> {
  const [images, labels] = await tf.keras.datasets.mnist.loadTest();
  const x = tf.constant(images).cast('float32').div(255).expandDims(-1);
  const [xTrain, xHeld] = tf.split(x, [8000, 2000]) as [tf.Tensor, tf.Tensor];
  const [yTrain, yHeld] = tf.split(tf.constant(labels), [8000, 2000]) as [tf.Tensor, tf.Tensor];
  return { train: [xTrain, yTrain], held: [xHeld, yHeld] };
}

export function compile(model: tf.Sequential): void {
  model.compile({
    optimizer: new tf.optimizers.Adam({ learningRate: 1e-3 }),
    loss: new tf.losses.SparseCategoricalCrossentropy({ fromLogits: true }),
    metrics: ['accuracy'],
  });
}
