// SavedModels of many kinds of models and functions, with arguments and results; loaded, run and trained by saved_models.py.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

// On sources: EAGRE_ENTRY=$PWD/packages/eagre/src/index.ts, under tsx.
const tf = await import(process.env.EAGRE_ENTRY ?? '../../packages/eagre/dist/index.js');

const { layers } = tf;
const [folder] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
tf.random.setSeed(1);

/** A structure of tensors for Python. */
function host(value) {
  if (Array.isArray(value)) return value.map(host);
  if (value instanceof tf.RaggedTensor)
    return { ragged: [value.flatValues, ...value.nestedRowSplits].map(host) };
  if (value instanceof tf.SparseTensor)
    return { sparse: [value.indices, value.values, value.denseShape].map(host) };
  if (value instanceof tf.IndexedSlices)
    return { slices: [value.values, value.indices, value.denseShape].map(host) };
  if (!(value instanceof tf.Tensor) && typeof value === 'object')
    return { fields: Object.fromEntries(Object.entries(value).map(([k, v]) => [k, host(v)])) };
  const values = value.dtype === 'string' ? value.strings() : Array.from(value.data(), Number);
  return { dtype: value.dtype, shape: value.shape, values };
}

const described = {};

/** Loads a model and saves it again, under another name. */
async function again(name) {
  const loaded = await tf.savedModel.load(join(folder, name));
  await tf.savedModel.save(loaded, join(folder, `${name}_again`), { signatures: loaded.signatures });
  described[`${name}_again`] = described[name];
}

/** Exports a Keras model, with what it predicts for batches of two sizes. */
async function exported(name, model, ...inputs) {
  const results = inputs.map((x) => host(model(x)));
  await model.export(join(folder, name), { verbose: false });
  described[name] = { kind: 'model', inputs: inputs.map(host), results, weights: model.variables.length };
}

/** Saves an object, with calls of its functions in order: [name, arguments, keywords]. */
async function saved(name, object, calls, signatures) {
  await tf.savedModel.save(object, join(folder, name), signatures === undefined ? {} : { signatures });
  // After the save: the state of what is saved is that before the calls.
  const results = calls.map(([fn, ...args]) => host(object[fn](...args)));
  described[name] = {
    kind: 'object',
    calls: calls.map(([fn, ...args], i) => ({
      fn,
      args: args.map((a) => (typeof a === 'object' ? host(a) : a)),
      result: results[i],
    })),
  };
}

const x = (...shape) => tf.random.normal(shape);
const batches = (...shape) => [x(5, ...shape), x(2, ...shape)];
const sequential = (inputShape, first, ...all) => {
  const dtype = first instanceof layers.TextVectorization ? 'string' : 'float32';
  return new tf.Sequential([tf.Input(inputShape, { dtype }), first, ...all]);
};
const spec = (...args) => new tf.TensorSpec(...args);
const ints = (shape, high) => tf.random.uniform(shape, { maxval: high, dtype: 'int32' });

writeFileSync(join(folder, 'vocabulary.txt'), 'x\ny\n');
const { lookup } = tf;
class Tables extends tf.Module {
  ids = new lookup.StaticHashTable(
    new lookup.KeyValueTensorInitializer(['a', 'b'], [1n, 2n], 'string', 'int64'),
    -1,
  );
  names = new lookup.StaticHashTable(
    new lookup.KeyValueTensorInitializer([1n, 2n], ['one', 'two'], 'int64', 'string'),
    '?',
  );
  words = new lookup.StaticVocabularyTable(
    new lookup.TextFileInitializer({
      filename: join(folder, 'vocabulary.txt'),
      keyDtype: 'string',
      keyIndex: lookup.TextFileIndex.WHOLE_LINE,
      valueDtype: 'int64',
      valueIndex: lookup.TextFileIndex.LINE_NUMBER,
      valueIndexOffset: 10,
    }),
    3,
  );
  counts = new lookup.experimental.MutableHashTable('string', 'int64', -1);
  points = new lookup.experimental.MutableHashTable('int64', 'float32', [0, 0]);
  dense = new lookup.experimental.DenseHashTable('string', 'float32', -1, '', '-');
  look = this.#of('string', (x) => [this.ids.lookup(x), this.words.lookup(x), this.dense.lookup(x)]);
  named = this.#of('string', (x) => this.names.lookup(this.ids.lookup(x)));
  near = this.#of('int64', (x) => [this.points.lookup(x), this.points.size()]);
  count = this.#of('string', (x) => {
    this.counts.insert(x, this.counts.lookup(x).add(1n));
    return [this.counts.lookup(x), this.counts.size()];
  });
  texts = this.#of('string', (x) => ({
    words: tf.strings.split(tf.strings.lower(x)),
    length: tf.strings.length(x),
    without: tf.strings.regexReplace(x, '[aeiou]', '\\0_'),
    hashed: [tf.strings.toHashBucketFast(x, 50), tf.strings.toHashBucketStrong(x, 50, [3, 4])],
    same: x.equal('a'),
    column: x.expandDims(1),
    known: tf.constant(['known']),
  }));
  #of(dtype, fn) {
    return tf.function({ inputSignature: [spec([null], dtype, 'x')] })(fn);
  }
}
const tables = new Tables();
tables.counts.insert(['q'], [5n]);
tables.points.insert([7n], [[1, 2]]);
tables.dense.insert(['a', 'b', 'c', 'd', 'e'], [1, 2, 3, 4, 5]);
const keys = tf.constant(['a', 'x', 'zz', 'q', 'y', 'd']);
const sentences = tf.constant(['The Cat  sat', 'a', '']);
await saved(
  'tables',
  tables,
  [
    ['look', keys],
    ['named', keys],
    ['near', tf.constant([7n, 8n], 'int64')],
    ['count', keys],
    ['count', keys],
    ['texts', sentences],
  ],
  tables.look,
);

const texts = tf.constant([['The cat, sat!'], ['a dog'], [''], ['cat cat  dog']]);
const tokens = tf.constant([['a'], ['b'], ['zz'], ['m']]);
const numbers = tf.constant([[10n], [21n], [-3n]], 'int64');
const vocabulary = ['a', 'b', 'c'];
const words = ['cat', 'dog', 'the'];
const textLayers = {
  lookup: [tokens, new layers.StringLookup({ vocabulary })],
  buckets: [tokens, new layers.StringLookup({ vocabulary, numOovIndices: 3, salt: 5, maskToken: 'm' })],
  inverted: [numbers, new layers.StringLookup({ vocabulary, invert: true })],
  integers: [numbers, new layers.IntegerLookup({ vocabulary: [10, 20], numOovIndices: 2 })],
  hashing: [tokens, new layers.Hashing(7, { maskValue: 'm' })],
  hashed_integers: [numbers, new layers.Hashing(7, { salt: 3 })],
  text: [texts, new layers.TextVectorization({ vocabulary: words })],
  counts: [texts, new layers.TextVectorization({ vocabulary: words, outputMode: 'count' })],
  ngrams: [
    texts,
    new layers.TextVectorization({ vocabulary: ['cat', 'cat cat'], ngrams: 2, outputMode: 'multiHot' }),
  ],
  characters: [texts, new layers.TextVectorization({ vocabulary: ['a', 't'], split: 'character' })],
};
for (const [name, [values, layer]] of Object.entries(textLayers)) {
  const input = tf.Input([1], { dtype: values.dtype });
  await exported(`texts_${name}`, new tf.Model({ inputs: input, outputs: layer(input) }), values);
}
for (const outputMode of ['int', 'oneHot']) {
  const inputs = [
    tf.Input([1], { dtype: 'string', name: 'a' }),
    tf.Input([1], { dtype: 'int64', name: 'b' }),
  ];
  const outputs = new layers.HashedCrossing(11, { outputMode })(inputs);
  await exported(`texts_crossing_${outputMode}`, new tf.Model({ inputs, outputs }), [
    tokens,
    ints([4, 1], 90).cast('int64'),
  ]);
}
const classifier = sequential(
  [1],
  new layers.TextVectorization({ vocabulary: words, outputSequenceLength: 3 }),
  new layers.Embedding(10, 4),
  new layers.GlobalAveragePooling1D(),
  new layers.Dense(2),
);
await exported('texts_classifier', classifier, texts);

await exported(
  'dense',
  sequential(
    [4],
    new layers.Dense(8, { activation: 'relu' }),
    new layers.Dense(3, { activation: 'softmax' }),
  ),
  ...batches(4),
);
for (const activation of [
  'gelu',
  'silu',
  'elu',
  'selu',
  'mish',
  'softplus',
  'hardSigmoid',
  'leakyRelu',
  'tanh',
  'logSoftmax',
])
  await exported(
    `activation_${activation}`,
    sequential([4], new layers.Dense(5, { activation })),
    ...batches(4),
  );
await exported(
  'conv',
  sequential(
    [9, 8, 3],
    new layers.Conv2D(4, 3, { padding: 'same', activation: 'relu', strides: 2 }),
    new layers.Conv2D(4, 3, { dilationRate: 2, padding: 'same' }),
    new layers.Flatten(),
    new layers.Dense(2),
  ),
  ...batches(9, 8, 3),
);
await exported(
  'separable',
  sequential(
    [8, 8, 4],
    new layers.DepthwiseConv2D(3, { depthMultiplier: 2 }),
    new layers.SeparableConv2D(5, 3, { padding: 'same' }),
    new layers.GlobalAveragePooling2D(),
  ),
  ...batches(8, 8, 4),
);
await exported(
  'transposed',
  sequential(
    [4, 4, 3],
    new layers.Conv2DTranspose(5, 3, { strides: 2, padding: 'same' }),
    new layers.Conv2DTranspose(2, 2),
    new layers.UpSampling2D(2),
  ),
  ...batches(4, 4, 3),
);
await exported(
  'conv1d',
  sequential([12, 3], new layers.Conv1D(4, 3, { padding: 'causal' }), new layers.MaxPooling1D(2)),
  ...batches(12, 3),
);
await exported(
  'conv3d',
  sequential([5, 6, 6, 2], new layers.Conv3D(3, 2), new layers.MaxPooling3D(2)),
  ...batches(5, 6, 6, 2),
);
await exported(
  'pooling',
  sequential(
    [9, 9, 2],
    new layers.MaxPooling2D(2, { padding: 'same' }),
    new layers.AveragePooling2D(3, { strides: 1, padding: 'same' }),
    new layers.ZeroPadding2D(1),
    new layers.Cropping2D(1),
    new layers.GlobalMaxPooling2D(),
  ),
  ...batches(9, 9, 2),
);
await exported(
  'normalization',
  sequential(
    [6, 6, 4],
    new layers.BatchNormalization(),
    new layers.LayerNormalization(),
    new layers.GroupNormalization(2),
    new layers.RMSNormalization(),
    new layers.UnitNormalization(),
  ),
  ...batches(6, 6, 4),
);
for (const [name, layer] of Object.entries({
  lstm: new layers.LSTM(5),
  lstmSequences: new layers.LSTM(5, { returnSequences: true, goBackwards: true }),
  gru: new layers.GRU(4),
  simpleRnn: new layers.SimpleRNN(4, { returnSequences: true }),
  bidirectional: new layers.Bidirectional(new layers.LSTM(3, { returnSequences: true })),
}))
  await exported(name, sequential([7, 3], layer), ...batches(7, 3));
await exported(
  'anyTime',
  sequential([null, 3], new layers.GRU(4, { returnSequences: true }), new layers.LSTM(2)),
  x(2, 5, 3),
  x(3, 9, 3),
);
await exported(
  'embedding',
  new tf.Sequential([
    tf.Input([6], { dtype: 'int32' }),
    new layers.Embedding(10, 4),
    new layers.GlobalAveragePooling1D(),
    new layers.Dense(2),
  ]),
  ints([3, 6], 10),
  ints([1, 6], 10),
);
await exported(
  'masked',
  new tf.Sequential([
    tf.Input([6], { dtype: 'int32' }),
    new layers.Embedding(10, 4, { maskZero: true }),
    new layers.LSTM(3),
  ]),
  ints([4, 6], 3),
);
{
  const input = tf.Input([6, 8]);
  const attention = new layers.MultiHeadAttention(2, 4);
  const y =
    new layers.LayerNormalization().call === undefined
      ? input
      : attention(input, input, { useCausalMask: true });
  await exported(
    'attention',
    new tf.Model({ inputs: input, outputs: new layers.Add()([input, y]) }),
    ...batches(6, 8),
  );
}
{
  const [a, b] = [tf.Input([4], { name: 'first' }), tf.Input([3], { name: 'second' })];
  const shared = new layers.Dense(3, { name: 'shared' });
  const joined = new layers.Concatenate()([shared(shared(new layers.Dense(3)(a))), b]);
  const outputs = [new layers.Dense(2)(joined), new layers.Dense(1)(b)];
  await exported(
    'several',
    new tf.Model({ inputs: [a, b], outputs }),
    [x(3, 4), x(3, 3)],
    [x(1, 4), x(1, 3)],
  );
  await exported(
    'named',
    new tf.Model({ inputs: { first: a, second: b }, outputs: { left: outputs[0], right: outputs[1] } }),
    { first: x(3, 4), second: x(3, 3) },
  );
}
{
  const inner = sequential([4], new layers.Dense(4, { activation: 'relu' }), new layers.Dense(4));
  const input = tf.Input([4]);
  await exported(
    'nested',
    new tf.Model({ inputs: input, outputs: new layers.Add()([inner(input), inner(inner(input))]) }),
    ...batches(4),
  );
}
{
  class Own extends tf.Model {
    dense = new layers.Dense(3);
    call(inputs) {
      return this.dense(inputs).relu().mul(2);
    }
  }
  const own = new Own();
  own(x(2, 4));
  await exported('subclassed', own, ...batches(4));
}
{
  const normalization = new layers.Normalization();
  normalization.adapt(x(20, 4));
  await exported('numbers', sequential([4], normalization, new layers.Dense(2)), ...batches(4));
  await exported(
    'images',
    sequential(
      [10, 12, 3],
      new layers.Rescaling(1 / 255, { offset: -1 }),
      new layers.Resizing(6, 5),
      new layers.CenterCrop(4, 4),
    ),
    ...batches(10, 12, 3),
  );
  await exported(
    'categories',
    new tf.Sequential([
      tf.Input([3], { dtype: 'int32' }),
      new layers.CategoryEncoding({ numTokens: 5, outputMode: 'multiHot' }),
      new layers.Dense(2),
    ]),
    ints([4, 3], 5),
  );
  await exported(
    'buckets',
    sequential([3], new layers.Discretization({ binBoundaries: [-1, 0, 1] })),
    ...batches(3),
  );
}
await exported(
  'dropout',
  sequential(
    [8],
    new layers.Dense(8),
    new layers.Dropout(0.5),
    new layers.GaussianNoise(1),
    new layers.Dense(2),
  ),
  ...batches(8),
);

// Objects with functions.
class Counter extends tf.Module {
  count = new tf.Variable(1, { name: 'count' });
  add = tf.function({ inputSignature: [spec([])] })((a) => this.count.assignAdd(a).read());
}
{
  const counter = new Counter();
  await saved(
    'counter',
    counter,
    [
      ['add', tf.constant(5)],
      ['add', tf.constant(2.5)],
    ],
    { serving_default: counter.add },
  );
}
{
  const object = {
    scale: new tf.Variable([1, 2, 3], { name: 'scale' }),
    table: [new tf.Variable(2, { name: 'a' }), { deep: new tf.Variable(3, { name: 'b' }) }],
    power: tf.function((a, n, negate = false) => (negate ? a.pow(n).neg() : a.pow(n))),
    nested: tf.function((given) => ({
      sum: given.left.add(given.right[0]),
      parts: [given.left, given.right[1].mul(2)],
    })),
  };
  const a = tf.constant([1, 2, 3]);
  object.power(a, 2);
  object.power(a, 3, true);
  object.nested({ left: a, right: [a, a] });
  await saved('structures', object, [
    ['power', a, 2],
    ['power', a, 3, true],
    ['nested', { left: a, right: [a.mul(3), a] }],
  ]);
}
{
  const object = {
    v: new tf.Variable([1, 1], { name: 'v' }),
    large: tf.random.normal([30, 20]),
    branch: tf.function({ inputSignature: [spec([null])] })((a) => {
      const y = tf.cond(
        a.sum().greater(0),
        () => {
          object.v.assignAdd([1, 2]);
          return a.mul(2);
        },
        () => a.neg(),
      );
      return [y, object.v.read()];
    }),
    loop: tf.function({ inputSignature: [spec([], 'int32'), spec([null, null])] })((n, a) =>
      tf.whileLoop(
        (i) => i.less(n),
        (i, y) => [i.add(1), y.mul(0.5).add(a.mean())],
        [tf.constant(0, 'int32'), a],
      ),
    ),
    sizes: tf.function({ inputSignature: [spec([null])] })((a) => {
      const tape = new tf.GradientTape();
      tape.watch(a);
      const y = tf.cond(
        a.sum().greater(0),
        () => a.mul(a),
        () => tf.concat([a, a.slice([0], [1])], 0),
      );
      return [y, tape.gradient(y, a)];
    }),
    chosen: tf.function({ inputSignature: [spec([], 'int32'), spec([2])] })((i, a) =>
      tf.switchCase(i, [() => a, () => a.mul(10), () => a.add(object.v)]),
    ),
    array: tf.function({ inputSignature: [spec([4, null])] })((rows) => {
      const squares = new tf.TensorArray('float32', { size: 4, elementShape: [null] });
      const [, filled] = tf.whileLoop(
        (i) => i.less(4),
        (i, array) => [i.add(1), array.write(i, rows.gather(i).square())],
        [tf.constant(0, 'int32'), squares],
      );
      return filled.stack();
    }),
    constants: tf.function({ inputSignature: [spec([null, 30])] })((a) =>
      a.matmul(object.large).add(object.large.sum()),
    ),
    twice: tf.function({ inputSignature: [spec([null, 30])] })((a) => object.constants(a).mul(2)),
  };
  await saved('control', object, [
    ['branch', tf.constant([1, 2, 3])],
    ['branch', tf.constant([-1, -2])],
    ['loop', tf.constant(4, 'int32'), x(3, 2)],
    ['sizes', tf.constant([1, 2, 3])],
    ['sizes', tf.constant([-1, -2])],
    ['chosen', tf.constant(2, 'int32'), tf.constant([1, 2])],
    ['chosen', tf.constant(9, 'int32'), tf.constant([1, 2])],
    ['array', x(4, 3)],
    ['constants', x(2, 30)],
    ['twice', x(2, 30)],
  ]);
}
{
  const generator = tf.random.Generator.fromSeed(5);
  const object = {
    generator,
    noise: tf.function({ inputSignature: [spec([null, 3])] })((a) => a.add(tf.random.normal(a.shape))),
    ofGenerator: tf.function({ inputSignature: [] })(() => [generator.uniform([4]), generator.normal([2])]),
    inBranch: tf.function({ inputSignature: [spec([])] })((a) =>
      tf.cond(
        a.greater(0),
        () => tf.random.uniform([3]),
        () => generator.normal([3]),
      ),
    ),
    inLoop: tf.function({ inputSignature: [spec([], 'int32')] })(
      (n) =>
        tf.whileLoop(
          (i) => i.less(n),
          (i, y) => [i.add(1), y.add(tf.random.normal([2]))],
          [tf.constant(0, 'int32'), tf.zeros([2])],
        )[1],
    ),
  };
  await saved('random', object, [
    ['noise', tf.zeros([2, 3])],
    ['noise', tf.zeros([2, 3])],
    ['ofGenerator'],
    ['inBranch', tf.constant(1)],
    ['inBranch', tf.constant(-1)],
    ['inLoop', tf.constant(3, 'int32')],
    ['noise', tf.zeros([1, 3])],
  ]);
}
for (const [name, makeOptimizer, net] of [
  [
    'trainSgd',
    () => new tf.optimizers.SGD(0.1, { momentum: 0.9 }),
    () => [new layers.Dense(8, { activation: 'tanh' })],
  ],
  [
    'trainAdam',
    () => new tf.optimizers.Adam(0.02),
    () => [new layers.Dense(8, { activation: 'relu' }), new layers.Dropout(0.3)],
  ],
  [
    'trainAdamW',
    () => new tf.optimizers.AdamW(0.02),
    () => [
      new layers.BatchNormalization(),
      new layers.Dense(8, { activation: 'gelu' }),
      new layers.LayerNormalization(),
    ],
  ],
  [
    'trainRmsprop',
    () => new tf.optimizers.RMSprop(0.01),
    () => [new layers.Reshape([4, 2]), new layers.LSTM(6)],
  ],
  ['trainGru', () => new tf.optimizers.Adam(0.01), () => [new layers.Reshape([4, 2]), new layers.GRU(6)]],
  [
    'trainConv',
    () => new tf.optimizers.Nadam(0.01),
    () => [
      new layers.Reshape([4, 2, 1]),
      new layers.Conv2D(3, 2, { padding: 'same', activation: 'relu' }),
      new layers.MaxPooling2D(2),
      new layers.Flatten(),
    ],
  ],
  [
    'trainRnn',
    () => new tf.optimizers.Adam(0.01),
    () => [
      new layers.Reshape([4, 2]),
      new layers.SimpleRNN(5, { returnSequences: true }),
      new layers.RNN(new layers.GRUCell(3)),
    ],
  ],
  [
    'trainSeparable',
    () => new tf.optimizers.Adam(0.01),
    () => [new layers.Reshape([2, 2, 2]), new layers.DepthwiseConv2D(2), new layers.Flatten()],
  ],
]) {
  const model = sequential([8], ...net(), new layers.Dense(3));
  const optimizer = makeOptimizer();
  const lossObject = new tf.losses.SparseCategoricalCrossentropy({ fromLogits: true });
  optimizer.build(model.trainableVariables);
  const object = {
    model,
    optimizer,
    step: tf.function({ inputSignature: [spec([null, 8]), spec([null], 'int32')] })((inputs, labels) => {
      const tape = new tf.GradientTape();
      const loss = tape.record(() => lossObject(labels, model(inputs, { training: true })));
      optimizer.applyGradients(tape.gradient(loss, model.trainableVariables), model.trainableVariables);
      return loss;
    }),
    predict: tf.function({ inputSignature: [spec([null, 8])] })((inputs) => model(inputs)),
  };
  const [inputs, labels] = [x(6, 8), ints([6], 3)];
  await saved(name, object, [
    ...Array.from({ length: 8 }, () => ['step', inputs, labels]),
    ['predict', inputs],
    ['predict', x(2, 8)],
  ]);
}
{
  const w = new tf.Variable([0.5, -0.25], { name: 'w' });
  const object = {
    w,
    // Back through a loop whose turns only a run tells, in a loop over rows.
    gradient: tf.function({ inputSignature: [spec([], 'int32'), spec([null, 2])] })((n, a) => {
      const tape = new tf.GradientTape();
      tape.watch(a);
      const loss = tape.record(() => {
        const [, y, z] = tf.whileLoop(
          (i) => i.less(n),
          (i, y, z) => [i.add(1), y.mul(w).tanh().add(a), z.add(y.square().sum())],
          [tf.constant(0, 'int32'), a, tf.constant(0)],
        );
        return y.sum().add(z);
      });
      return [loss, ...tape.gradient(loss, [w, a])];
    }),
    rows: tf.function({ inputSignature: [spec([null, 2])] })((a) => {
      const tape = new tf.GradientTape();
      tape.watch(a);
      const loss = tape.record(() =>
        tf
          .scan((state, row) => state.mul(w).add(row.sin()), a, { initializer: tf.zeros([2]) })
          .square()
          .sum(),
      );
      return [loss, ...tape.gradient(loss, [w, a])];
    }),
  };
  await saved('loopGradients', object, [
    ['gradient', tf.constant(3, 'int32'), x(2, 2)],
    ['gradient', tf.constant(0, 'int32'), x(2, 2)],
    ['gradient', tf.constant(5, 'int32'), x(3, 2)],
    ['rows', x(4, 2)],
    ['rows', x(1, 2)],
  ]);
}
{
  // None is the gradient of what is computed.
  const clipped = tf.customGradient((a) => [a, (dy) => tf.clipByNorm(dy, 0.5)]);
  const softplus = tf.customGradient((a) => {
    const e = tf.exp(a);
    return [tf.math.log(e.add(1)), (dy) => dy.mul(e.div(e.add(1))).mul(3)];
  });
  const product = tf.customGradient((a, b) => [a.mul(b), (dy) => [dy.mul(b).mul(2), dy.mul(a).mul(5)]]);
  const first = tf.customGradient((a, _) => [a.mul(2), (dy) => [dy.mul(7), null]]);
  const sized = tf.customGradient((a) => [
    a.sum(),
    (dy) => dy.mul(tf.size(a).cast('float32')).broadcastTo(tf.shape(a)),
  ]);
  const nested = tf.customGradient((a) => [a.mul(a), (dy) => product(dy, a.mul(4))]);
  const both = tf.customGradient((a, b) => [
    [a.mul(2), b.add(1), a.mul(b)],
    (da, db, dc) => [da.mul(7).add(dc.mul(b)), db.mul(a)],
  ]);
  const w = new tf.Variable([1.5, -2], { name: 'w' });
  const big = tf.fill([400], 0.01);
  const one = { inputSignature: [spec([null])] };
  const two = { inputSignature: [spec([null]), spec([null])] };
  const object = {
    w,
    chain: tf.function((a) => softplus(clipped(a.mul(w))), one),
    pair: tf.function((a, b) => product(a, b), two),
    missing: tf.function((a, b) => first(a, b).mul(b), two),
    size: tf.function((a) => sized(a).mul(a), one),
    nested: tf.function((a) => nested(a), one),
    several: tf.function((a, b) => both(a, b)[0].mul(both(a, b)[2]), two),
    parts: tf.function((a, b) => {
      const [first, , last] = both(a, b);
      return first.mul(last);
    }, two),
    outside: tf.function((a) => {
      const factor = big.sum().mul(a.max());
      return tf.customGradient((v) => [v.add(1), (dy) => dy.mul(factor).mul(big.sum())])(a);
    }, one),
  };
  const row = (...values) => tf.constant(values);
  const calls = [
    ['chain', row(1, 2)],
    ['pair', row(1, 2), row(3, -1)],
    ['missing', row(1, 2), row(3, -1)],
    ['size', row(1, 2, 4)],
    ['nested', row(1, 2)],
    ['outside', row(1, 2)],
    ['several', row(1, 2), row(3, -1)],
    ['parts', row(1, 2), row(3, -1)],
  ];
  await saved('ownGradients', object, calls);
  described.ownGradients.gradients = calls.map(([fn, ...args]) => {
    const tape = new tf.GradientTape();
    const y = tape.record(() => {
      for (const a of args) tape.watch(a);
      return object[fn](...args);
    });
    const found = tape.gradient(y, [...args, w], { unconnectedGradients: 'zero' });
    return { fn, args: args.map(host), result: [y, ...found].map(host) };
  });
}
{
  const spec = new tf.RaggedTensorSpec([null, null], 'float32');
  const object = {
    ragged: tf.function((a) => ({ sums: tf.reduceSum(a, 1), y: tf.multiply(a, 2) }), {
      inputSignature: [spec],
    }),
    deep: tf.function((a) => [tf.add(a, 1), tf.reduceSum(a, 2)], {
      inputSignature: [new tf.RaggedTensorSpec([null, null, null], 'int32', 2, 'int32')],
    }),
    sparse: tf.function((a) => [tf.multiply(a, 3), tf.sparse.toDense(a)], {
      inputSignature: [new tf.SparseTensorSpec([null, 3], 'float32')],
    }),
    slices: tf.function((a) => new tf.IndexedSlices(a.values.mul(2), a.indices, a.denseShape), {
      inputSignature: [new tf.IndexedSlicesSpec([4, 2], 'float32', 'int32')],
    }),
  };
  await saved('composites', object, [
    ['ragged', tf.ragged.constant([[1, 2], [], [3]], 'float32')],
    ['deep', tf.ragged.constant([[[1], [2, 3]], [[]]], 'int32', { rowSplitsDtype: 'int32' })],
    [
      'sparse',
      new tf.SparseTensor(
        [
          [0, 1],
          [1, 2],
        ],
        [5, 7],
        [2, 3],
      ),
    ],
    ['slices', new tf.IndexedSlices(x(2, 2), tf.constant([3, 1], 'int32'), tf.constant([4, 2], 'int32'))],
  ]);
}
{
  // Checks of values, by the library and by the user: each function with what it takes and what it refuses.
  const of = (fn, ...specs) => tf.function((...xs) => fn(...xs), { inputSignature: specs });
  const [floats, numbers] = [spec([null]), spec([null], 'int32')];
  const debugging = Object.fromEntries(
    [
      ['assertEqual', [1, 2], [1, 3]],
      ['assertNoneEqual', [2, 1], [2, 2]],
      ['assertLess', [0, 1], [0, 2]],
      ['assertLessEqual', [1, 2], [1, 2.5]],
      ['assertGreater', [2, 3], [1, 3]],
      ['assertGreaterEqual', [1, 2], [0.5, 3]],
      ['assertNear', [1, 2], [1, 2.01]],
      ['assertPositive', [1, 2], [0, 1]],
      ['assertNonNegative', [0, 1], [-1, 1]],
      ['assertNegative', [-1, -2], [0, -1]],
      ['assertNonPositive', [0, -1], [1, 0]],
      ['assertAllFinite', [1, 2], [0, 1]],
      ['checkNumerics', [1, 2], [-1, 1]],
    ].map(([name, good, bad]) => {
      const two = !/Positive|Negative|Finite|Numerics/.test(name);
      const fn = (a) => {
        const message = 'as it is written';
        if (name === 'assertNear') tf.debugging[name](a, [1, 2], { message });
        else if (two) tf.debugging[name](a, [1, 2], message);
        else tf.debugging[name](/Finite|Numerics/.test(name) ? a.log() : a, message);
        return a.add(1);
      };
      return [name, [of(fn, floats), [good], [bad]]];
    }),
  );
  const cases = {
    ...debugging,
    assertion: [
      of((a) => {
        tf.Assert(a.sum().greater(0), ['the sum is', a.sum()]);
        return a.mul(2);
      }, floats),
      [[1, 2]],
      [[-1, 0]],
    ],
    rising: [
      of((a, ids) => tf.math.segmentSum(a, ids), floats, numbers),
      [
        [1, 2, 3],
        [0, 0, 1],
      ],
      [
        [1, 2, 3],
        [0, 1, 0],
      ],
    ],
    places: [
      of((a, ids) => tf.dynamicPartition(a, ids, 2)[0], floats, numbers),
      [
        [1, 2],
        [0, 1],
      ],
      [
        [1, 2],
        [0, 2],
      ],
    ],
    splits: [
      of((a, ids) => tf.RaggedTensor.fromRowSplits(a, ids).sum(1), floats, numbers),
      [
        [1, 2, 3],
        [0, 1, 3],
      ],
      [
        [1, 2, 3],
        [0, 2, 1],
      ],
    ],
  };
  const types = ['float32', 'int32'];
  const argsOf = (lists) => lists.map((list, i) => tf.constant(list, types[i]));
  const object = Object.fromEntries(Object.entries(cases).map(([name, [fn]]) => [name, fn]));
  await saved(
    'assertions',
    object,
    Object.entries(cases).map(([name, [, good]]) => [name, ...argsOf(good)]),
    object.assertion,
  );
  described.assertions.refused = Object.entries(cases).map(([fn, [, , bad]]) => ({
    fn,
    args: argsOf(bad).map((a) => host(a)),
  }));
}
{
  writeFileSync(join(folder, 'words.txt'), 'a\nb\n');
  const object = {
    words: new tf.savedModel.Asset(join(folder, 'words.txt')),
    f: tf.function({ inputSignature: [spec([null], 'float32', 'numbers')] })((a) => ({
      doubled: a.mul(2),
      all: a.sum(),
    })),
  };
  await saved('asset', object, [['f', tf.constant([1, 2])]]);
}
for (const name of Object.keys(described)) await again(name);
writeFileSync(join(folder, 'models.json'), JSON.stringify(described));
