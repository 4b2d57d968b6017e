import * as tf from 'eagre';
import { places } from './draw.ts';
import type { Told, Train } from './messages.ts';
import { createModel, probabilities } from './model.ts';
import { spirals } from './spirals.ts';

const tell = (message: Told): void => postMessage(message);

// Fetches the kernels, which are a module of WebAssembly.
await tf.ready();

const { points, labels } = spirals(900);
const grid = tf.constant(places());

async function train(epochs: number): Promise<void> {
  const model = createModel();
  await model.fit(points, labels, {
    epochs,
    batchSize: 64,
    verbose: 0,
    callbacks: [
      new tf.keras.callbacks.LambdaCallback({
        onEpochEnd: (epoch, { loss, accuracy } = {}) =>
          tell({
            type: 'epoch',
            epoch: epoch + 1,
            epochs,
            loss: Number(loss),
            accuracy: Number(accuracy),
            likely: probabilities(model, grid).array() as number[][],
          }),
      }),
    ],
  });
  tell({ type: 'done' });
}

addEventListener('message', ({ data: { epochs } }: MessageEvent<Train>) => {
  train(epochs).catch((error: unknown) => tell({ type: 'failed', message: String(error) }));
});

tell({
  type: 'ready',
  backend: points.backend.name,
  points: points.array() as number[][],
  labels: labels.array() as number[],
});
