// Images of handwritten digits, and a network that learns to read them.
import * as tf from 'eagre';

export const SIDE = 28;
const PIXELS = SIDE * SIDE;
/** Images to test with; all others are learned. */
const TESTED = 1000;

export interface Digits {
  /** Bytes of images, one behind the other. */
  readonly images: Uint8Array;
  readonly labels: Uint8Array;
}

/** The images that the server has. @throws Error that says why it has none. */
export async function load(): Promise<Digits> {
  const [images, labels] = await Promise.all(
    ['images', 'labels'].map(async (name) => {
      const response = await fetch(`./mnist/${name}`);
      // A server of files answers with a page what it does not have.
      if (!response.ok || response.headers.get('content-type')?.startsWith('text/html') === true)
        throw new Error(
          `There are no images: ${response.ok ? 'the site was built without them' : await response.text()}`,
        );
      return new Uint8Array(await response.arrayBuffer());
    }),
  );
  return { images: images as Uint8Array, labels: labels as Uint8Array };
}

/** The network and what it has learned, on the device that is current when it is made. */
export interface Learning {
  /** Learns one batch. @returns its loss, which may still be computed. */
  step(): tf.Tensor;
  /** What it takes the images to test with for. */
  test(): tf.Tensor;
  readonly tested: Digits;
}

/** @param batch images of a step. */
export function learn({ images, labels }: Digits, batch: number): Learning {
  const count = labels.length - TESTED;
  const batches = Math.floor(count / batch);
  const of = (from: number, many: number): Digits => ({
    images: images.subarray(from * PIXELS, (from + many) * PIXELS),
    labels: labels.subarray(from, from + many),
  });
  const inputs = (digits: Digits): tf.Tensor =>
    tf.constant(digits.images, 'uint8', { shape: [digits.labels.length, SIDE, SIDE, 1] });
  const tested = of(count, TESTED);

  tf.random.setSeed(1);
  const model = new tf.Sequential([
    tf.Input({ shape: [SIDE, SIDE, 1], dtype: 'uint8' }),
    new tf.layers.Rescaling(1 / 255),
    new tf.layers.Conv2D(8, 5, { strides: 2, activation: 'relu' }),
    new tf.layers.Conv2D(16, 3, { strides: 2, activation: 'relu' }),
    new tf.layers.Flatten(),
    new tf.layers.Dense(10),
  ]);
  const optimizer = new tf.optimizers.Adam(0.002);
  const lossOf = new tf.losses.SparseCategoricalCrossentropy({ fromLogits: true });
  const train = tf.function((x: tf.Tensor, y: tf.Tensor) => {
    const tape = new tf.GradientTape();
    const loss = tape.record(() => lossOf(y, model(x, { training: true })));
    const variables = model.trainableVariables;
    optimizer.applyGradients(tape.gradient(loss, variables), variables);
    return loss;
  });
  const read = tf.function((x: tf.Tensor) => model(x).argMax(-1, { dtype: 'int32' }));
  const unseen = inputs(tested);
  let next = 0;
  return {
    step() {
      const digits = of(batch * (next++ % batches), batch);
      return train(inputs(digits), tf.constant(Int32Array.from(digits.labels)));
    },
    test: () => read(unseen),
    tested,
  };
}
