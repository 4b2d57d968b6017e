// The program that runtimes.py runs under Node, Bun and Deno. It prints the results, which have to be the same everywhere, and then what loops cost.
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import * as tf from '../../packages/eagre/dist/index.js';

const folder = process.argv[2];
mkdirSync(folder, { recursive: true });

function readme() {
  const x = tf.constant([
    [1, 2],
    [3, 4],
  ]);
  return [x.matmul(x).add(1).array(), tf.zeros([1]).backend.name];
}

function tapes() {
  const w = new tf.Variable(3);
  const outer = new tf.GradientTape({ persistent: true });
  const [cube, first] = outer.record(() => {
    const inner = new tf.GradientTape();
    const loss = inner.record(() => w.mul(w).mul(w));
    return [loss, inner.gradient(loss, w)];
  });
  return [outer.gradient(cube, w).item(), outer.gradient(first, w).item()];
}

function functions() {
  const count = new tf.Variable(0);
  const step = tf.function((x) => {
    count.assignAdd(2);
    return tf
      .whileLoop(
        (n) => n.less(100),
        (n) => n.mul(x),
        [tf.constant(1)],
      )[0]
      .add(count);
  });
  step(tf.constant(2));
  return [step(tf.constant(3)).item(), count.item(), step.experimentalGetTracingCount()];
}

function network() {
  return new tf.Sequential([
    new tf.layers.Dense(16, { activation: 'relu', inputShape: [4] }),
    new tf.layers.Dropout(0.1),
    new tf.layers.Dense(1),
  ]);
}

async function training() {
  tf.random.setSeed(1);
  const x = tf.random.normal([256, 4]);
  const y = x.square().sum(1, { keepdims: true });
  const model = network();
  model.compile({ optimizer: new tf.optimizers.Adam(0.01), loss: 'meanSquaredError' });
  const { history } = await model.fit(x, y, { epochs: 20, verbose: 0 });
  await model.save(join(folder, 'model.keras'));
  const again = await tf.keras.models.loadModel(join(folder, 'model.keras'));
  const [one, two] = [await model.predict(x, { verbose: 0 }), await again.predict(x, { verbose: 0 })];
  return [
    history.loss.at(-1) < history.loss[0] / 2,
    history.loss.at(-1),
    one.equal(two).array().flat().every(Boolean),
  ];
}

async function checkpoints() {
  const v = new tf.Variable([1, 2, 3]);
  const checkpoint = new tf.train.Checkpoint({ v, step: new tf.Variable(7n) });
  const path = await checkpoint.save(join(folder, 'checkpoint'));
  v.assign([0, 0, 0]);
  (await checkpoint.restore(path)).assertConsumed();
  const manager = new tf.train.CheckpointManager(checkpoint, join(folder, 'kept'), { maxToKeep: 2 });
  for (let i = 0; i < 4; i++) await manager.save();
  return [v.array(), manager.checkpoints.length, readdirSync(join(folder, 'kept')).length];
}

async function datasets() {
  const numbers = tf.data.Dataset.range(20)
    .map((x) => x.mul(x), { numParallelCalls: 4 })
    .filter((x) => x.mod(2).equal(0))
    .shuffle(5, { seed: 1 })
    .batch(4)
    .prefetch(2);
  const seen = [];
  for await (const batch of numbers) seen.push(...batch.array().map(Number));
  const outputSignature = new tf.TensorSpec([], 'int32');
  const made = tf.data.Dataset.fromGenerator(
    function* () {
      yield 1;
      yield 2;
    },
    { outputSignature },
  );
  let sum = 0;
  for await (const x of made) sum += x.item();
  return [seen, sum];
}

async function summaries() {
  const writer = tf.summary.createFileWriter(join(folder, 'logs'));
  writer.asDefault(() => {
    for (let step = 0; step < 3; step++) tf.summary.scalar('loss', 1 / (step + 1), { step });
  });
  await writer.close();
  return readdirSync(join(folder, 'logs')).length;
}

/** Milliseconds, and the megabytes of the process at most while it runs. */
function cost(times, body) {
  const start = performance.now();
  let most = 0;
  for (let i = 0; i < times; i++) {
    body(i);
    if (i % 1000 === 0) most = Math.max(most, process.memoryUsage().rss);
  }
  return { ms: Math.round(performance.now() - start), megabytes: Math.round(most / 2 ** 20) };
}

const results = {};
for (const part of [readme, tapes, functions, training, checkpoints, datasets, summaries])
  results[part.name] = await part();
console.log(JSON.stringify(results));
const a = tf.ones([16]);
const small = cost(300_000, (i) => a.add(i));
const long = cost(2_000_000, (i) => a.add(i));
const large = cost(20_000, () => tf.zeros([65_536]));
console.log(JSON.stringify({ small, long, large }));
