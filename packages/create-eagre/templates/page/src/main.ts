import * as tf from 'eagre';
import { draw, places } from './draw.ts';
import { createModel, probabilities } from './model.ts';
import { spirals } from './spirals.ts';

const canvas = document.querySelector('canvas') as HTMLCanvasElement;
const status = document.querySelector('#status') as HTMLElement;
const button = document.querySelector('button') as HTMLButtonElement;

// Fetches the kernels, which are a module of WebAssembly.
await tf.ready();

const { points, labels } = spirals(900);
const [shownPoints, shownLabels] = [points.array() as number[][], labels.array() as number[]];
const grid = tf.constant(places());
let model = createModel();

function show(text: string): void {
  draw(canvas, probabilities(model, grid).array() as number[][], shownPoints, shownLabels);
  status.textContent = text;
}

button.addEventListener('click', async () => {
  button.disabled = true;
  model = createModel();
  // `fit` lets the page draw in between.
  await model.fit(points, labels, {
    epochs: 40,
    batchSize: 64,
    verbose: 0,
    callbacks: [
      new tf.keras.callbacks.LambdaCallback({
        onEpochEnd: (epoch, { loss, accuracy } = {}) =>
          show(
            `epoch ${epoch + 1}: loss ${Number(loss).toFixed(3)}, accuracy ${Number(accuracy).toFixed(3)}`,
          ),
      }),
    ],
  });
  button.disabled = false;
});

show(`Ready, on ${points.backend.name}`);
button.disabled = false;
