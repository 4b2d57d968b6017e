// Trains a convolutional network on real images, saves it, and restores it in a new process.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import * as tf from 'eagre';
import { compile, mnistData, mnistModel } from './mnist-model.ts';

tf.random.setSeed(1);
const { train, held } = await mnistData();
const model = mnistModel();
compile(model);
model.summary();

const started = performance.now();
await model.fit(...train, { epochs: 6, batchSize: 32 });
console.log(`trained in ${((performance.now() - started) / 1000).toFixed(1)} s`);

const { accuracy } = await model.evaluate(...held, { batchSize: 500 });
const file = fileURLToPath(new URL('../runs/mnist.safetensors', import.meta.url));
await model.saveWeights(file);
console.log(`saved ${file}`);
console.log(`test accuracy ${accuracy?.toFixed(4)}`);

const restore = fileURLToPath(new URL('./restore.ts', import.meta.url));
const { status } = spawnSync(process.execPath, [...process.execArgv, restore, file], { stdio: 'inherit' });
process.exit(status ?? 1);
