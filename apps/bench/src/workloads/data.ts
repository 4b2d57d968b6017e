// Pipelines of tf.data over as many images as MNIST has, alone and in front of a training step.
import type * as Eagre from 'eagre';
import { against, ratio, type TimedWorkload } from '../workload.ts';
import { cnnTrainStep } from './steps.ts';

const IMAGES = 60_000;
const BATCH = 32;

function pipeline(tf: typeof Eagre): Eagre.data.DatasetIterator<[Eagre.Tensor, Eagre.Tensor]> {
  const pixels = Uint8Array.from({ length: IMAGES * 28 * 28 }, (_, i) => (i * 7) & 255);
  const images = tf.constant({ data: pixels, shape: [IMAGES, 28, 28, 1] });
  const labels = tf.constant(Int32Array.from({ length: IMAGES }, (_, i) => i % 10));
  return tf.data.Dataset.fromTensorSlices([images, labels])
    .shuffle(IMAGES)
    .map((image, label) => [image.cast('float32').div(255), label])
    .repeat()
    .batch(BATCH)
    .prefetch(tf.data.AUTOTUNE)
    .iterator();
}

function next<T>(iterator: Eagre.data.DatasetIterator<T>): T {
  const { done, value } = iterator.next();
  if (done === true) throw new Error('the pipeline has ended');
  return value;
}

export const dataPipeline: TimedWorkload = {
  kind: 'timed',
  name: 'data_pipeline',
  title: `a batch of ${BATCH} of 60,000 images: slices, shuffle, map, batch, prefetch`,
  bytes: BATCH * 28 * 28 * 6,
  targets: [ratio('tensorflow', 1)],
  eagre(tf) {
    const iterator = pipeline(tf);
    return {
      iterations: 100,
      run() {
        for (let i = 0; i < 100; i++) next(iterator);
      },
    };
  },
};

export const dataCnnStep: TimedWorkload = {
  kind: 'timed',
  name: 'data_cnn_step',
  title: 'training step in tf.function of the CNN of mnist_cnn_step, with a batch of that pipeline',
  targets: [ratio('tensorflow', 1), against('mnist_cnn_step_function', 0.9)],
  eagre(tf) {
    const iterator = pipeline(tf);
    const step = tf.function(cnnTrainStep(tf));
    return { run: () => step(...next(iterator)) };
  },
};
