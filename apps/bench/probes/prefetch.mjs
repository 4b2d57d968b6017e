// What `prefetch` hides of a pipeline's time: `pnpm build && node apps/bench/probes/prefetch.mjs`. A function in plain JavaScript makes each
// batch, a traced step computes with it; each alone, one after the other, and with `prefetch` in the cases that overlap:
// the step by `runAsync` (the map runs on this thread meanwhile), and the map on a worker (the step may block this thread).
// `EAGRE_NUM_THREADS=1` leaves other processors to the map. Milliseconds per batch, the best of several passes.
import * as tf from 'eagre';
import { augment, SIZE } from './prefetch-augment.mjs';

const BATCHES = 100;
const PASSES = 4;

const weights = tf.random.normal([SIZE, SIZE], { stddev: 0.01 });
const step = tf.function((x) => {
  let y = x;
  for (let i = 0; i < 40; i++) y = y.matmul(weights);
  return y.sum();
});
const numbers = tf.data.Dataset.range(BATCHES, { outputType: 'float32' });
const here = numbers.map((x) => augment(x.ndarray()), { runEagerly: true });
const there = tf.data.mapOnWorkers(
  numbers,
  { worker: new URL('./prefetch-augment.mjs', import.meta.url), export: 'augment' },
  { numParallelCalls: 1 },
);
const batch = tf.constant(augment({ data: [1], dtype: 'float32' }));
const cases = {
  'map alone': async () => {
    for (const x of here) x.dispose();
  },
  'step alone': async () => {
    for (let i = 0; i < BATCHES; i++) step(batch).item();
  },
  'one after the other': async () => {
    for (const x of here) step(x).item();
  },
  'runAsync, no prefetch': async () => {
    for await (const x of here) (await step.runAsync(x)).item();
  },
  'runAsync, prefetch(1)': async () => {
    for await (const x of here.prefetch(1)) (await step.runAsync(x)).item();
  },
  'on a worker, prefetch(2)': async () => {
    for await (const x of there.prefetch(2)) step(x).item();
  },
};
for (const [name, run] of Object.entries(cases)) {
  let best = Number.POSITIVE_INFINITY;
  for (let pass = 0; pass < PASSES; pass++) {
    const start = performance.now();
    await run();
    best = Math.min(best, (performance.now() - start) / BATCHES);
  }
  console.log(`${name.padEnd(26)} ${best.toFixed(1)}`);
}
