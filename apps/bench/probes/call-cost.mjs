// What a call of one small op costs, part by part: `pnpm build && node apps/bench/probes/call-cost.mjs`. The best of many rounds.
import { buildScalarProgram, listBackends } from '@eagre/backend';
import { emptyTensor } from '@eagre/core/internal';
import * as tf from 'eagre';

tf.config.threading.setIntraOpParallelismThreads(1);
const backend = listBackends()[0];
const [a, b] = [tf.random.normal([10]), tf.random.normal([10])];
const kernel = backend.elementwise(buildScalarProgram(['float32', 'float32'], (s, x, y) => s.add(x, y)));
const [inputs, outputs, attrs] = [[a, b], [emptyTensor('float32', [10])], {}];
const traced = tf.function((x, y) => x.add(y));

const parts = {
  'a.add(b)': () => a.add(b),
  'of it: kernel': () => kernel(inputs, outputs, attrs),
  'of it: memory and tensor': () => emptyTensor('float32', a.shape, 10, backend),
  'a.add(2)': () => a.add(2),
  'memory and tensor of 8 KB': () => emptyTensor('float32', [2048], 2048, backend),
  'a.add(b) in tf.function': () => traced(a, b),
};

const CALLS = 20_000;
for (const [name, run] of Object.entries(parts)) {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 40; round++) {
    const start = performance.now();
    for (let i = 0; i < CALLS; i++) run();
    best = Math.min(best, ((performance.now() - start) * 1e6) / CALLS);
  }
  console.log(`${name.padEnd(28)}${best.toFixed(0).padStart(5)} ns`);
}
