import { draw, GRID } from './draw.ts';
import type { Told, Train } from './messages.ts';

const canvas = document.querySelector('canvas') as HTMLCanvasElement;
const progress = document.querySelector('progress') as HTMLProgressElement;
const status = document.querySelector('#status') as HTMLElement;
const button = document.querySelector('button') as HTMLButtonElement;

let points: number[][] = [];
let labels: number[] = [];

const worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
worker.addEventListener('message', ({ data }: MessageEvent<Told>) => {
  switch (data.type) {
    case 'ready':
      ({ points, labels } = data);
      draw(canvas, new Array<number[]>(GRID * GRID).fill([1 / 3, 1 / 3, 1 / 3]), points, labels);
      status.textContent = `Ready, on ${data.backend}`;
      button.disabled = false;
      break;
    case 'epoch':
      draw(canvas, data.likely, points, labels);
      progress.value = data.epoch / data.epochs;
      status.textContent = `epoch ${data.epoch}: loss ${data.loss.toFixed(3)}, accuracy ${data.accuracy.toFixed(3)}`;
      break;
    case 'done':
      button.disabled = false;
      break;
    case 'failed':
      status.textContent = data.message;
      button.disabled = false;
  }
});
worker.addEventListener('error', ({ message }) => {
  status.textContent = `The worker failed: ${message}`;
});

button.addEventListener('click', () => {
  button.disabled = true;
  const message: Train = { type: 'train', epochs: 40 };
  worker.postMessage(message);
});
