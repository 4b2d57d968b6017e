// The workloads of TensorFlow.js, in Node and in pages.
import { classLabels, meanSquare, modelWeights, values } from '../src/inputs.ts';

/** @param tf the library */
export function workloadsOf(tf) {
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

  return {
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
    conv2d() {
      const [x, w] = [tensor([16, 56, 56, 64]), tensor([3, 3, 64, 64], 1)];
      return timed(() => tf.conv2d(x, w, 1, 'same'));
    },
    depthwise() {
      const [x, w] = [tensor([16, 56, 56, 144]), tensor([3, 3, 144, 1], 1)];
      return timed(() => tf.depthwiseConv2d(x, w, 1, 'same'));
    },
    mobilenet_v2() {
      const model = mobileNetV2(tf);
      const x = tensor([1, 224, 224, 3]);
      return timed(() => model.predict(x));
    },
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
}

/** Keras's MobileNetV2, which this library has not, with the weights that all libraries take. */
function mobileNetV2(tf) {
  const { layers } = tf;
  const then = (x, ...through) => through.reduce((y, layer) => layer.apply(y), x);
  const norm = () => layers.batchNormalization({ epsilon: 1e-3, momentum: 0.999 });
  const relu6 = () => layers.reLU({ maxValue: 6 });
  const conv = (filters, kernelSize, strides = 1) =>
    layers.conv2d({ filters, kernelSize, strides, padding: 'same', useBias: false });
  const depthwise = (strides) =>
    layers.depthwiseConv2d({ kernelSize: 3, strides, padding: 'same', useBias: false });
  const input = tf.input({ shape: [224, 224, 3] });
  let x = then(input, conv(32, 3, 2), norm(), relu6());
  x = then(x, depthwise(1), norm(), relu6(), conv(16, 1), norm());
  const stacks = [
    [24, 2, 2],
    [32, 3, 2],
    [64, 4, 2],
    [96, 3, 1],
    [160, 3, 2],
    [320, 1, 1],
  ];
  for (const [filters, repeats, stride] of stacks) {
    for (let i = 0; i < repeats; i++) {
      const wide = then(x, conv(6 * x.shape[3], 1), norm(), relu6());
      const y = then(wide, depthwise(i === 0 ? stride : 1), norm(), relu6(), conv(filters, 1), norm());
      x = i === 0 ? y : layers.add().apply([x, y]);
    }
  }
  x = then(x, conv(1280, 1), norm(), relu6(), layers.globalAveragePooling2d({}));
  x = layers.dense({ units: 1000, activation: 'softmax' }).apply(x);
  const model = tf.model({ inputs: input, outputs: x });
  const weights = model.layers.flatMap((layer) => layer.getWeights());
  const filled = modelWeights(weights.map(({ shape }) => shape));
  let next = 0;
  for (const layer of model.layers)
    layer.setWeights(layer.getWeights().map(({ shape }) => tf.tensor(filled[next++], shape)));
  return model;
}
