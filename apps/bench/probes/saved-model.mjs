// What SavedModels cost: `pnpm build && node apps/bench/probes/saved-model.mjs load|predict|memory|save [folder]`.
// `load`: seconds from the call of `tf.savedModel.load` to the first prediction, of a model of 100 MB that another process has saved.
// `predict`: how long a loaded network predicts, as a multiple of the time of the function that was saved. `memory`: the most megabytes that
// saving 1 GB takes beyond the weights. `save` writes the model of `load`, for saved-model.py too.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from './disk.mjs';

const WIDTH = 2896;
const [what, given] = process.argv.slice(2);
const tf = await import('eagre');

const wide = (layers) =>
  new tf.Sequential([
    tf.Input({ shape: [WIDTH] }),
    ...Array.from({ length: layers }, () => new tf.layers.Dense(WIDTH, { activation: 'relu' })),
  ]);

async function load(folder) {
  const path = join(folder, 'model');
  execFileSync(process.execPath, [fileURLToPath(import.meta.url), 'save', path]);
  const x = tf.ones([1, WIDTH]);
  const start = performance.now();
  const model = await tf.savedModel.load(path);
  model.signatures.serving_default(x).output_0.data();
  return { value: (performance.now() - start) / 1000 };
}

async function predict(folder) {
  const { layers } = tf;
  const model = new tf.Sequential([
    tf.Input({ shape: [28, 28, 1] }),
    new layers.Conv2D(16, 3, { activation: 'relu' }),
    new layers.MaxPooling2D(2),
    new layers.Conv2D(32, 3, { activation: 'relu' }),
    new layers.Flatten(),
    new layers.Dense(10, { activation: 'softmax' }),
  ]);
  await model.export(join(folder, 'model'), { verbose: false });
  const loaded = await tf.savedModel.load(join(folder, 'model'));
  const original = tf.function((x) => model(x), { inputSignature: [new tf.TensorSpec([null, 28, 28, 1])] });
  const x = tf.random.normal([8, 28, 28, 1]);
  const ways = [() => original(x).dispose(), () => loaded.serve(x).dispose()];
  for (const way of ways) for (let i = 0; i < 500; i++) way();
  const ratios = [];
  for (let round = 0; round < 200; round++) {
    const seconds = ways.map((way) => {
      const start = performance.now();
      for (let i = 0; i < 10; i++) way();
      return performance.now() - start;
    });
    ratios.push(seconds[1] / seconds[0]);
    ways.reverse();
    if (round % 2 === 1) ratios[round] = 1 / ratios[round];
  }
  return { value: ratios.sort((a, b) => a - b)[100] };
}

/** The most memory that the process has had since the last call with `true`. */
function peak(reset) {
  if (reset) writeFileSync('/proc/self/clear_refs', '5');
  return Number(/VmHWM:\s*(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]) / 1024;
}

async function memory(folder) {
  const model = wide(32);
  const before = peak(true);
  await model.export(join(folder, 'model'), { verbose: false });
  return { value: peak(false) - before, detail: `${before.toFixed(0)} MB before` };
}

if (what === 'save') {
  await wide(3).export(given, { verbose: false });
} else {
  const ways = { load, predict, memory };
  if (!Object.hasOwn(ways, what)) throw new Error(`load, predict, memory or save, not ${what}`);
  // It is removed at the end.
  console.log(JSON.stringify(await ways[what](temporaryFolder(given))));
}
