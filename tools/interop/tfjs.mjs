// Models for TensorFlow.js, of functions and of layers, with arguments and results; tfjs.py has TensorFlow.js run and train them.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

// On sources: EAGRE_ENTRY=$PWD/packages/eagre/src/index.ts, under tsx.
const tf = await import(process.env.EAGRE_ENTRY ?? '../../packages/eagre/dist/index.js');

const { layers } = tf;
const [folder] = process.argv.slice(2);
tf.random.setSeed(1);

const stored = (x) => ({ dtype: x.dtype, shape: x.shape, data: Array.from(x.data(), Number) });
const x = (...shape) => tf.random.normal(shape);
const spec = (...args) => new tf.TensorSpec(...args);
const models = [];

/** The files of a model that is saved in a folder of its own. */
async function filesOf(name, save) {
  const own = join(folder, name);
  mkdirSync(own, { recursive: true });
  await save(join(own, 'model.json'));
  return Object.fromEntries(
    readdirSync(own).map((file) => [file, readFileSync(join(own, file)).toString('base64')]),
  );
}

/** A function as a graph, with what it gives. */
async function graph(name, inputSignature, fn, ...inputs) {
  const traced = tf.function({ inputSignature })(fn);
  const files = await filesOf(name, (path) => tf.savedModel.save(traced, path));
  inputs.forEach((given, i) => {
    const results = traced(...given);
    const list = Array.isArray(results)
      ? results.map((result, at) => [`output_${at}`, result])
      : results instanceof tf.Tensor
        ? [['output_0', results]]
        : Object.entries(results);
    models.push({
      name: `${name}-${i}`,
      files,
      inputs: Object.fromEntries(given.map((value, at) => [inputSignature[at].name, stored(value)])),
      results: Object.fromEntries(list.map(([key, value]) => [key, stored(value)])),
    });
  });
}

const kernel = new tf.Variable(x(3, 4), { name: 'kernel' });
const bias = new tf.Variable(x(4), { name: 'bias' });
await graph(
  'dense',
  [spec([null, 3], 'float32', 'x')],
  (a) => ({ hidden: a.matmul(kernel), scores: a.matmul(kernel).add(bias).relu().softmax() }),
  [x(2, 3)],
  [x(5, 3)],
);
await graph(
  'several',
  [spec([null, 2], 'float32', 'x'), spec([null], 'int32', 'index')],
  (a, i) => [
    a.gather(i),
    a.gather(i),
    tf.math.topK(a, 1).indices,
    tf.unstack(a, { axis: 1 })[1],
    tf.cast(i, 'int64').add(3n),
    i.greater(1),
  ],
  [x(3, 2), tf.constant([2, 0], 'int32')],
);
await graph(
  'branches',
  [spec([null], 'float32', 'x'), spec([], 'int32', 'i')],
  (a, i) => {
    const y = tf.cond(
      a.sum().greater(0),
      () => a.mul(kernel.sum()),
      () => tf.concat([a, a], 0),
    );
    const z = tf.switchCase(i, [
      () => a.sum(),
      () => a.mean(),
      () => a.max(),
      () => tf.math.topK(a, 2).indices.sum().cast('float32'),
    ]);
    return { y, z };
  },
  ...[0, 1, 2, 3, 9].map((i) => [tf.constant(i % 2 === 0 ? [1, 2, 3] : [-1, -4]), tf.constant(i, 'int32')]),
);
await graph(
  'loop',
  [spec([], 'int32', 'n'), spec([null, 2], 'float32', 'x')],
  (n, a) =>
    tf.whileLoop(
      (i) => i.less(n),
      (i, y) => [
        i.add(1),
        tf.cond(
          i.mod(2).equal(0),
          () => y.mul(0.5).add(bias.sum()),
          () => y.sub(1),
        ),
      ],
      [tf.constant(0, 'int32'), a],
    ),
  [tf.constant(4, 'int32'), x(3, 2)],
  [tf.constant(0, 'int32'), x(1, 2)],
);
await graph(
  'images',
  [spec([null, 8, 8, 3], 'float32', 'image')],
  (image) => {
    const small = tf.image.resize(image, [4, 6], { method: 'bilinear' });
    return [
      small,
      tf.image.resize(image, [5, 5], { method: 'nearest' }),
      tf.nn.avgPool2d(image, { ksize: 2, strides: 2, padding: 'VALID' }),
      tf.pad(image, [
        [0, 0],
        [1, 2],
        [0, 1],
        [0, 0],
      ]),
    ];
  },
  [x(2, 8, 8, 3)],
);

/** A model of Keras as a graph and as layers. */
async function keras(name, model, ...inputs) {
  const files = await filesOf(`${name}-graph`, (path) => tf.savedModel.save(model, path));
  const layered = await filesOf(`${name}-layers`, (path) => model.save(path));
  inputs.forEach((given, i) => {
    const y = model(given);
    const key = JSON.parse(Buffer.from(files['model.json'], 'base64').toString()).signature;
    models.push({
      name: `${name}-graph-${i}`,
      files,
      inputs: { [Object.keys(key.inputs)[0]]: stored(given) },
      results: { [Object.keys(key.outputs)[0]]: stored(y) },
    });
    models.push({ name: `${name}-layers-${i}`, files: layered, x: stored(given), results: { 0: stored(y) } });
  });
}
const sequential = (shape, ...all) => new tf.Sequential([tf.Input(shape), ...all]);
await keras(
  'mlp',
  sequential(
    [4],
    new layers.Dense(8, { activation: 'relu' }),
    new layers.Dropout(0.5),
    new layers.Dense(3, { activation: 'softmax' }),
  ),
  x(5, 4),
);
await keras(
  'cnn',
  sequential(
    [8, 8, 3],
    new layers.Conv2D(4, 3, { padding: 'same', activation: 'relu' }),
    new layers.BatchNormalization(),
    new layers.MaxPooling2D(),
    new layers.DepthwiseConv2D(3, { padding: 'same', activation: 'elu' }),
    new layers.SeparableConv2D(4, 2),
    new layers.Conv2DTranspose(2, 2, { strides: 2 }),
    new layers.GlobalAveragePooling2D(),
    new layers.Dense(2, { activation: 'sigmoid' }),
  ),
  x(2, 8, 8, 3),
);
await keras(
  'words',
  sequential(
    [6],
    new layers.Embedding(10, 4),
    new layers.Bidirectional(new layers.LSTM(3, { returnSequences: true })),
    new layers.GRU(2, { resetAfter: false }),
    new layers.Dense(1, { activation: 'tanh' }),
  ),
  tf.random.uniform([2, 6], { maxval: 10, dtype: 'int32' }).cast('float32'),
);

/** A model of Keras that is trained, saved, and trained on. */
async function trained(name, optimizer, ...all) {
  const model = sequential([3], ...all);
  const [given, target] = [x(4, 3), x(4, 1)];
  model.compile({ optimizer, loss: 'mse', metrics: ['mae'] });
  const step = () => {
    model.resetMetrics();
    return model.trainOnBatch(given, target).loss;
  };
  step();
  step();
  const files = await filesOf(name, (path) => model.save(path));
  const y = model(given);
  const results = { 0: stored(y), 1: stored(tf.constant([step(), step(), step()])) };
  models.push({ name, files, x: stored(given), target: stored(target), results });
}
const net = () => [
  new layers.Dense(4, { activation: 'tanh' }),
  new layers.Reshape([4, 1]),
  new layers.Bidirectional(new layers.LSTM(2)),
  new layers.Dense(1),
];
const { SGD, RMSprop } = tf.optimizers;
await trained('sgd', 'sgd', ...net());
await trained('momentum', new SGD(0.05, { momentum: 0.9 }), ...net());
await trained('nesterov', new SGD(0.05, { momentum: 0.9, nesterov: true }), ...net());
await trained('adam', 'adam', ...net(), new layers.LayerNormalization());
await trained('rmsprop', 'rmsprop', ...net());
await trained('rmspropMomentum', new RMSprop(0.01, { momentum: 0.5 }), ...net());
// Of a centered one TensorFlow.js subtracts epsilon under the root, which is no number for small gradients.
await trained('adagrad', 'adagrad', ...net());

writeFileSync(join(folder, 'models.json'), JSON.stringify(models));
