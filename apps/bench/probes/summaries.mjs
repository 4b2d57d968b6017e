// How fast summaries are written, and what they cost where nothing is written: `pnpm build && node apps/bench/probes/summaries.mjs`. The best of
// some rounds. A message, and the file, are measured for themselves, too.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from 'eagre';

const CALLS = 100_000;
const ROUNDS = 5;
const folder = mkdtempSync(join(tmpdir(), 'eagre-summaries-'));
const x = tf.constant(0.5);
const step = new tf.Variable(0n);
const traced = tf.function((v) => {
  tf.summary.scalar('traced', v, { step });
  return v;
});

/** Calls in a second. */
function best(count, run) {
  let most = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now();
    for (let i = 0; i < count; i++) run(i);
    most = Math.max(most, count / ((performance.now() - start) / 1000));
  }
  return most;
}

const show = (name, rate) =>
  console.log(`${name.padEnd(44)}${Math.round(rate).toLocaleString('en').padStart(14)} a second`);

show(
  'a scalar without a writer',
  best(CALLS, (i) => tf.summary.scalar('loss', 0.5, { step: i })),
);
for (const maxQueue of [10, 1000]) {
  const writer = tf.summary.createFileWriter(join(folder, String(maxQueue)), { maxQueue });
  writer.asDefault(() => {
    show(
      `a number, maxQueue ${maxQueue}`,
      best(CALLS, (i) => tf.summary.scalar('loss', i, { step: i })),
    );
    show(
      `a tensor, maxQueue ${maxQueue}`,
      best(CALLS, (i) => tf.summary.scalar('loss', x, { step: i })),
    );
    show(
      `in tf.function, maxQueue ${maxQueue}`,
      best(CALLS / 10, () => traced(x)),
    );
  });
  writer.close();
}
const values = tf.random.normal([100_000]);
const image = tf.random.uniform([1, 256, 256, 3]);
const writer = tf.summary.createFileWriter(join(folder, 'large'));
writer.asDefault(0, () => {
  show(
    'a histogram of 100,000 values',
    best(50, () => tf.summary.histogram('values', values)),
  );
  show(
    'an image of 256 by 256 in RGB',
    best(5, () => tf.summary.image('noise', image)),
  );
});
writer.close();
const read = performance.now();
let count = 0;
for (const _ of tf.summary.readEvents(join(folder, '10'))) count++;
show('events read', count / ((performance.now() - read) / 1000));
rmSync(folder, { recursive: true });
