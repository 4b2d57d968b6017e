// Models of Keras that TensorFlow.js makes, trains and saves: `EAGRE_TFJS=folder node tools/golden/tfjs-layers.mjs > models.json`; see tfjs_layers.py.
import { createRequire } from 'node:module';
import { join } from 'node:path';

const require = createRequire(join(process.env.EAGRE_TFJS, 'package.json'));
console.info = console.log = console.warn = () => {};
const tf = require('@tensorflow/tfjs');
await tf.setBackend('cpu');
const L = tf.layers;

let state = 3;
/** The same values in each run. */
const draw = () => {
  state = (state * 48271) % 2147483647;
  return Math.round((state / 2147483647 - 0.5) * 200) / 100;
};
const noise = (...shape) => tf.tensor(Array.from({ length: shape.reduce((a, b) => a * b, 1) }, draw), shape);
const stored = (tensor) => ({
  dtype: tensor.dtype,
  shape: tensor.shape,
  data: Array.from(tensor.dataSync(), (value) => Number(value.toPrecision(8))),
});

const functional = () => {
  const [a, b] = [tf.input({ shape: [3], name: 'a' }), tf.input({ shape: [3], name: 'b' })];
  const both = L.dense({ units: 2, activation: 'tanh', name: 'both' });
  const inner = tf.sequential({ name: 'inner', layers: [L.dense({ units: 3, inputShape: [2], name: 'first' }), L.batchNormalization()] });
  const [x, y] = [both.apply(a), both.apply(b)];
  const joined = L.concatenate().apply([inner.apply(x), L.add().apply([x, y]), L.dot({ axes: 1 }).apply([x, y])]);
  return tf.model({ inputs: [a, b], outputs: [L.dense({ units: 1 }).apply(joined)] });
};
const sequential = (...layers) => tf.sequential({ layers });
const dense = () => sequential(L.dense({ units: 4, activation: 'relu', inputShape: [3], kernelRegularizer: 'l1l2' }), L.dropout({ rate: 0 }), L.dense({ units: 1, kernelInitializer: 'heNormal' }));

/** What is made, an input, and how it trains. */
const MODELS = {
  dense: [dense, [4, 3], 'adam'],
  sgd: [dense, [4, 3], 'sgd'],
  momentum: [dense, [4, 3], tf.train.momentum(0.05, 0.9)],
  rmsprop: [dense, [4, 3], 'rmsprop'],
  adagrad: [dense, [4, 3], 'adagrad'],
  functional: [functional, [[4, 3], [4, 3]], 'adam'],
  images: [
    () => sequential(
      L.conv2d({ filters: 2, kernelSize: 3, padding: 'same', activation: 'elu', inputShape: [6, 6, 1] }),
      L.batchNormalization(), L.maxPooling2d({ poolSize: 2 }), L.depthwiseConv2d({ kernelSize: 2, depthMultiplier: 2 }), L.leakyReLU({ alpha: 0.2 }),
      L.upSampling2d({ size: [2, 2] }), L.separableConv2d({ filters: 3, kernelSize: 2 }), L.prelu(), L.zeroPadding2d({ padding: 1 }),
      L.conv2dTranspose({ filters: 2, kernelSize: 2, strides: 2 }), L.cropping2D({ cropping: [[1, 1], [1, 0]] }), L.averagePooling2d({ poolSize: 2 }), L.layerNormalization(), L.flatten(), L.dense({ units: 1 }),
    ),
    [2, 6, 6, 1],
  ],
  words: [
    () => sequential(
      L.embedding({ inputDim: 6, outputDim: 3, inputLength: 4 }), L.bidirectional({ layer: L.lstm({ units: 2, returnSequences: true }), mergeMode: 'concat' }),
      L.timeDistributed({ layer: L.dense({ units: 2, activation: 'hardSigmoid' }) }), L.gru({ units: 3, returnSequences: true }), L.simpleRNN({ units: 2 }), L.repeatVector({ n: 3 }), L.permute({ dims: [2, 1] }), L.reshape({ targetShape: [6] }),
      L.activation({ activation: 'hardSigmoid' }), L.dense({ units: 1, activation: 'swish' }),
    ),
    null,
  ],
  volumes: [
    () => sequential(L.conv3d({ filters: 2, kernelSize: 2, inputShape: [3, 3, 3, 1] }), L.maxPooling3d({ poolSize: 2 }), L.flatten(), L.dense({ units: 2, activation: 'softmax' })),
    [2, 3, 3, 3, 1],
  ],
  series: [
    () => sequential(L.conv1d({ filters: 3, kernelSize: 2, inputShape: [6, 2], activation: 'softplus' }), L.averagePooling1d({ poolSize: 2 }), L.rnn({ cell: [L.lstmCell({ units: 2 }), L.gruCell({ units: 3 })] }), L.dense({ units: 1 })),
    [2, 6, 2],
  ],
};

const models = [];
for (const [name, [make, shape, optimizer]] of Object.entries(MODELS)) {
  try {
    const model = make();
    // Variances are not negative.
    model.setWeights(model.getWeights().map((w) => (w.shape.length === 1 ? noise(...w.shape).abs().add(0.1) : noise(...w.shape))));
    const given = shape === null ? tf.tensor([[1, 2, 3, 0], [4, 5, 1, 1]]) : Array.isArray(shape[0]) ? shape.map((s) => noise(...s)) : noise(...shape);
    const rows = (Array.isArray(given) ? given[0] : given).shape[0];
    const y = noise(rows, 1);
    if (optimizer !== undefined) {
      model.compile({ optimizer, loss: 'meanSquaredError', metrics: optimizer === 'adam' ? ['mae'] : [] });
      for (let i = 0; i < 2; i++) await model.trainOnBatch(given, y);
    }
    let artifacts;
    const handler = tf.io.withSaveHandler(async (saved) => {
      artifacts = saved;
      return { modelArtifactsInfo: { dateSaved: new Date(0), modelTopologyType: 'JSON' } };
    });
    await model.save(handler, { includeOptimizer: optimizer !== undefined });
    const { weightData, weightSpecs, ...json } = artifacts;
    const manifest = [{ paths: ['weights.bin'], weights: weightSpecs }];
    const outputs = stored(model.predict(given));
    const losses = [];
    if (optimizer !== undefined) for (let i = 0; i < 3; i++) losses.push([await model.trainOnBatch(given, y)].flat()[0]);
    models.push({
      name: `tfjs-${name}`,
      files: {
        'model.json': Buffer.from(JSON.stringify({ ...json, weightsManifest: manifest })).toString('base64'),
        'weights.bin': Buffer.from(weightData).toString('base64'),
      },
      x: Array.isArray(given) ? given.map(stored) : stored(given),
      y: stored(y),
      outputs,
      losses,
    });
  } catch (error) {
    throw new Error(`${name}: ${error.message}`, { cause: error });
  }
}
process.stdout.write(JSON.stringify({ version: tf.version['tfjs-core'], models }));
