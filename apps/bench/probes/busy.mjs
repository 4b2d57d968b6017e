// Two threads against one while other programs want the processors: `pnpm build && node apps/bench/probes/busy.mjs [how many others]`.
// Ratios below 1 mean that the second thread did harm. With EAGRE_NUM_THREADS unset, `taskset -c 0` shows a single processor.
import { spawn } from 'node:child_process';
import os from 'node:os';
import * as tf from 'eagre';

const others = Number(process.argv[2] ?? os.availableParallelism());
const spin = 'const parent = process.ppid; while (process.ppid === parent) for (let i = 0; i < 1e7; i++);';
const children = Array.from({ length: others }, () =>
  spawn(process.execPath, ['-e', spin], { stdio: 'ignore' }),
);

const ROUNDS = 12;
const ROUND_MS = 250;
const results = [];
try {
  for (const size of [50_000, 300_000, 2_000_000]) {
    const x = tf.random.normal([size]);
    const ms = { 1: 0, 2: 0 };
    const calls = { 1: 0, 2: 0 };
    for (let round = 0; round < ROUNDS; round++) {
      for (const threads of round % 2 === 0 ? [1, 2] : [2, 1]) {
        tf.config.threading.setIntraOpParallelismThreads(threads);
        const start = performance.now();
        let now = start;
        while ((now = performance.now()) - start < ROUND_MS) {
          x.tanh().dispose();
          calls[threads]++;
        }
        ms[threads] += now - start;
      }
    }
    const [one, two] = [1, 2].map((n) => ms[n] / calls[n]);
    results.push(one / two);
    console.error(
      `tanh of ${size} elements beside ${others} others: one thread ${(1000 * one).toFixed(0)} µs, two ${(1000 * two).toFixed(0)} µs, ${(one / two).toFixed(2)}×`,
    );
  }
} finally {
  for (const child of children) child.kill();
}
console.log(JSON.stringify({ value: Math.min(...results), detail: `the least of ${results.length} sizes` }));
