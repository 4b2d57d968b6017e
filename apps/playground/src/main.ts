// Trains a network and runs converted loops while the page stays alive.
import * as tf from 'eagre';
import { collatz, mandelbrot, sumEven } from './converted.ts';
import { bars, COLOURS, context, curve, dots, glow, image } from './draw.ts';
import type { Outcome } from './outcome.ts';
import { frame, say } from './page.ts';
import { accuracy, predict, spiral, trainStep } from './spiral.ts';

const STEPS = 400;
const FIELD = 60;
const [WIDE, HIGH, LIMIT] = [360, 240, 60];

/** Points of a grid in rows, as columns of x and y. */
function grid(
  width: number,
  height: number,
  x: readonly [number, number],
  y: readonly [number, number],
): [tf.Tensor, tf.Tensor] {
  const columns = tf.linspace(x[0], x[1], width).reshape([1, width]).broadcastTo([height, width]);
  const rows = tf.linspace(y[0], y[1], height).reshape([height, 1]).broadcastTo([height, width]);
  return [columns, rows];
}

function drawMandelbrot(): void {
  const start = performance.now();
  const steps = mandelbrot(...grid(WIDE, HIGH, [-2.1, 0.8], [-0.97, 0.97]), LIMIT).data();
  image(context('mandelbrot'), WIDE, HIGH, (i) =>
    Number(steps[i]) >= LIMIT ? [11, 13, 18] : glow(Number(steps[i]) / LIMIT),
  );
  say('mandelbrot-value', `${Math.round(performance.now() - start)} ms`);
}

function drawCollatz(): void {
  const steps = Array.from({ length: 100 }, (_, i) => Number(collatz(tf.constant(i + 1, 'int32')).item()));
  bars(context('collatz'), steps);
  say('collatz-value', `27 takes ${steps[26]}; ${collatz.experimentalGetTracingCount()} trace`);
}

async function train(): Promise<void> {
  const points = tf.stack(grid(FIELD, FIELD, [-1.1, 1.1], [-1.1, 1.1]), -1).reshape([FIELD * FIELD, 2]);
  const losses: number[] = [];
  const field = context('field');
  for (let step = 1; step <= STEPS; step++) {
    losses.push(Number(trainStep().item()));
    if (step % 20 !== 0) continue;
    const shares = predict(points).data();
    image(field, FIELD, FIELD, (i) => {
      const mix = (c: 0 | 1 | 2): number =>
        COLOURS.reduce((sum, colour, arm) => sum + Number(shares[i * COLOURS.length + arm]) * colour[c], 0) *
        0.5;
      return [mix(0), mix(1), mix(2)];
    });
    dots(field, spiral.x, spiral.labels);
    curve(context('loss'), losses, STEPS, `${STEPS} steps`);
    say('accuracy', `${(accuracy() * 100).toFixed(1)} % right`);
    say('loss-value', (losses.at(-1) ?? Number.NaN).toFixed(4));
    await frame();
  }
}

declare global {
  var outcome: Outcome | undefined;
}

drawMandelbrot();
drawCollatz();
await train();
globalThis.outcome = {
  accuracy: accuracy(),
  collatz: Number(collatz(tf.constant(27, 'int32')).item()),
  sumEven: Number(sumEven(tf.constant([1, 2, 3, 4, 5, 6], 'int32')).item()),
};
