// TensorFlow.js's side: `tfjs_peer.mjs --backend wasm|cpu --threads n`, found in the folder that EAGRE_BENCH_TFJS names.
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { classLabels, meanSquare, values } from '../src/inputs.ts';
import { serve } from '../src/serve.ts';

const option = (name) => process.argv[process.argv.indexOf(name) + 1];
const backend = option('--backend');

// It greets with console.log; stdout belongs to the protocol.
console.log = console.error;
console.warn = console.error;

const folder = process.env.EAGRE_BENCH_TFJS;
if (!folder) absent('EAGRE_BENCH_TFJS names no folder');
if (option('--threads') !== '1') absent('one thread only: in Node its WebAssembly has no others');
const require = createRequire(join(resolve(folder), 'package.json'));
let tf;
try {
  tf = require('@tensorflow/tfjs');
  if (backend === 'wasm') {
    const wasm = require('@tensorflow/tfjs-backend-wasm');
    wasm.setWasmPaths(`${dirname(require.resolve('@tensorflow/tfjs-backend-wasm'))}/`);
  }
  if (!(await tf.setBackend(backend))) absent(`the backend ${backend} did not start`);
} catch (error) {
  absent(String(error.message).split('\n')[0]);
}

function absent(why) {
  process.stdout.write(`${JSON.stringify({ absent: why })}\n`);
  process.exit(0);
}

/** Results are given back as soon as the work is done, as its users must. */
function timed(compute, iterations = 1) {
  return {
    run: () => tf.tidy(() => void compute()),
    iterations,
    check: () =>
      tf.tidy(() => [compute()].flat().reduce((sum, result) => sum + meanSquare(result.dataSync()), 0)),
  };
}

const tensor = (shape, salt = 0) =>
  tf.tensor(
    values(
      shape.reduce((a, b) => a * b, 1),
      salt,
    ),
    shape,
  );

const gemm = (m, k, n) => () => {
  const a = tensor([m, k]);
  const b = tensor([k, n], 1);
  return timed(() => tf.matMul(a, b));
};

const conv = (batch, size, channels, filters) => () => {
  const x = tensor([batch, size, size, channels]);
  const w = tensor([3, 3, channels, filters], 1);
  const dy = tensor([batch, size - 2, size - 2, filters], 2);
  const gradients = tf.grads((images, filter) => tf.conv2d(images, filter, 1, 'valid'));
  return timed(() => gradients([x, w], dy));
};

const mlp = (batch) => () => {
  const { dense } = tf.layers;
  const model = tf.sequential({
    layers: [
      dense({ units: 128, activation: 'relu', inputShape: [784] }),
      dense({ units: 64, activation: 'relu' }),
      dense({ units: 10 }),
    ],
  });
  return step(model, tf.train.sgd(0.01), tensor([batch, 784]));
};

const chain = (n) => () => {
  const x = tensor([n]);
  return timed(() => x.mul(2).add(1).tanh().mul(x).sub(tf.relu(x)));
};

function step(model, optimizer, x) {
  const labels = tf.tensor1d(classLabels(x.shape[0]), 'int32');
  const targets = tf.oneHot(labels, 10);
  const variables = model.trainableWeights.map((w) => w.val);
  const loss = () => tf.losses.softmaxCrossEntropy(targets, model.apply(x, { training: true }));
  return { run: () => tf.tidy(() => void optimizer.minimize(loss, false, variables)) };
}

const workloads = {
  gemm256: gemm(256, 256, 256),
  gemm512: gemm(512, 512, 512),
  gemm1000: gemm(1000, 1000, 1000),
  gemm1024: gemm(1024, 1024, 1024),
  gemm2048: gemm(2048, 2048, 2048),
  gemm_mlp: gemm(32, 784, 128),
  gemm_row: gemm(1, 2896, 2896),
  conv_fwd_bwd: conv(32, 26, 32, 64),
  conv_large: conv(8, 56, 64, 64),
  conv_one_channel: conv(32, 28, 1, 32),
  add10() {
    const [a, b] = [tensor([10]), tensor([10], 1)];
    const run = () =>
      tf.tidy(() => {
        for (let i = 0; i < 100; i++) tf.add(a, b);
      });
    return { ...timed(() => tf.add(a, b)), run, iterations: 100 };
  },
  adds1000() {
    const [x, b] = [tensor([10]), tensor([10], 1)];
    const gradients = tf.grads((start, step) => {
      let y = start;
      for (let i = 0; i < 1000; i++) y = tf.add(y, step);
      return y;
    });
    return timed(() => gradients([x, b]));
  },
  lstm_step() {
    const layer = tf.layers.lstm({ units: 128, inputShape: [50, 64] });
    const model = tf.sequential({ layers: [layer] });
    const x = tensor([32, 50, 64]);
    const variables = model.trainableWeights.map((w) => w.val);
    const optimizer = tf.train.adam(1e-3);
    const loss = () => tf.mean(model.apply(x, { training: true }));
    return { run: () => tf.tidy(() => void optimizer.minimize(loss, false, variables)) };
  },
  mnist_cnn_step() {
    const { conv2d, maxPooling2d, flatten, dense } = tf.layers;
    const model = tf.sequential({
      layers: [
        conv2d({ filters: 32, kernelSize: 3, activation: 'relu', inputShape: [28, 28, 1] }),
        maxPooling2d({ poolSize: 2 }),
        conv2d({ filters: 64, kernelSize: 3, activation: 'relu' }),
        maxPooling2d({ poolSize: 2 }),
        flatten(),
        dense({ units: 64, activation: 'relu' }),
        dense({ units: 10 }),
      ],
    });
    return step(model, tf.train.adam(1e-3), tensor([32, 28, 28, 1]));
  },
  mlp_step: mlp(32),
  mlp_step_256: mlp(256),
  elementwise_chain_10k: chain(10_000),
  elementwise_chain_1m: chain(1_000_000),
  elementwise_chain_10m: chain(10_000_000),
  softmax() {
    const x = tensor([1024, 1000]);
    return timed(() => tf.softmax(x));
  },
  transpose() {
    const x = tensor([2000, 2000]);
    return timed(() => tf.transpose(x));
  },
  sum10m() {
    const x = tensor([10_000_000]).add(0.5);
    return timed(() => x.sum());
  },
  add10m() {
    const [a, b] = [tensor([10_000_000]), tensor([10_000_000], 1)];
    return timed(() => tf.add(a, b));
  },
};

const { version } = require('@tensorflow/tfjs/package.json');
await serve({ ready: true, version }, (name) => (workloads[name] ? [workloads[name]()] : undefined));
