// Graphs of traced functions as GraphDef bytes, with arguments and results; run by graphs.py.
import * as tf from '../../packages/eagre/dist/index.js';

const { layers } = tf;

tf.random.setSeed(1);

/** A tensor for Python; integers that numbers of JSON cannot hold are text. */
function host(t) {
  const values = Array.from(t.data(), (value) => (typeof value === 'bigint' ? String(value) : value));
  return { dtype: t.dtype, shape: t.shape, values };
}

/** The values that the variables of a graph have now, by name. */
function variablesOf(graph) {
  const variables = {};
  for (const { what } of graph.nodes)
    if (what.kind === 'variable') variables[what.variable.path] = host(what.variable.read());
  return variables;
}

/**
 * The graph of a function with the variables' values before, arguments and results.
 * @param others further arguments, of other sizes, which the graph serves too.
 */
function program(fn, args, inputSignature, others = []) {
  const f = tf.function(fn, inputSignature === undefined ? {} : { inputSignature });
  const concrete = others.length > 0 ? f.getConcreteFunction() : f.getConcreteFunction(...args);
  const variables = variablesOf(concrete.graph);
  const result = f(...args);
  const after = {};
  for (const { variable } of concrete.graph.assignments) after[variable.path] = host(variable.read());
  const list = (results) => (Array.isArray(results) ? results : [results]).map(host);
  return {
    graph: Buffer.from(concrete.graph.asGraphDef()).toString('base64'),
    args: args.map(host),
    results: list(result),
    others: others.map((more) => ({ args: more.map(host), results: list(f(...more)) })),
    variables,
    after,
  };
}

/** The graph of a function that draws random numbers, and what its first calls give. */
function drawn(fn, ...args) {
  return drawnBy(tf.function(fn), args);
}

function drawnBy(f, args) {
  const { graph } = f.getConcreteFunction(...args);
  return {
    graph: Buffer.from(graph.asGraphDef()).toString('base64'),
    args: args.map(host),
    variables: variablesOf(graph),
    calls: Array.from({ length: 3 }, () => f(...args).map(host)),
  };
}

/** The program of a function of matrices of any size. */
function anySizes(fn) {
  const matrix = (...shape) => [tf.random.normal(shape)];
  return program(
    fn,
    matrix(5, 3),
    [new tf.TensorSpec([null, null])],
    [matrix(2, 4), matrix(6, 2), matrix(3, 3)],
  );
}

/** A training step of a classifier with ten classes. */
function training(model, x) {
  const labels = tf.constant(Int32Array.from({ length: x.shape[0] }, (_, i) => i % 10));
  const lossObject = new tf.losses.SparseCategoricalCrossentropy({ fromLogits: true });
  const optimizer = new tf.optimizers.Adam({ learningRate: 1e-3 });
  model(x);
  return program(
    function train(images) {
      const tape = new tf.GradientTape();
      const loss = lossObject(labels, model(images, { training: true }));
      optimizer.applyGradients(tape.gradient(loss, model.trainableVariables), model.trainableVariables);
      return loss;
    },
    [x],
  );
}

/** The graph of a training step, and the losses of its first 20 runs. */
function losses(optimizer, between = []) {
  const model = new tf.Sequential([
    new layers.Dense(16, { activation: 'relu' }),
    ...between,
    new layers.Dense(10),
  ]);
  const x = tf.random.normal([12, 8]);
  const labels = tf.constant(Int32Array.from({ length: 12 }, (_, i) => i % 10));
  const lossObject = new tf.losses.SparseCategoricalCrossentropy({ fromLogits: true });
  model(x);
  const f = tf.function((images) => {
    const tape = new tf.GradientTape();
    const loss = lossObject(labels, model(images, { training: true }));
    optimizer.applyGradients(tape.gradient(loss, model.trainableVariables), model.trainableVariables);
    return loss;
  });
  const { graph } = f.getConcreteFunction(x);
  const variables = variablesOf(graph);
  return {
    graph: Buffer.from(graph.asGraphDef()).toString('base64'),
    args: [host(x)],
    variables,
    losses: Array.from({ length: 20 }, () => f(x).item()),
    after: Object.fromEntries(graph.assignments.map(({ variable: v }) => [v.path, host(v.read())])),
  };
}

const { schedules } = tf.optimizers;
const optimizers = {
  adam: new tf.optimizers.Adam({
    learningRate: new schedules.CosineDecay(0.02, 15, { warmupTarget: 0.05, warmupSteps: 4 }),
  }),
  adamW: new tf.optimizers.AdamW({ learningRate: 0.01, amsgrad: true }),
  momentum: new tf.optimizers.SGD(new schedules.CosineDecayRestarts(0.1, 3), {
    momentum: 0.9,
    nesterov: true,
  }),
  sgd: new tf.optimizers.SGD(new schedules.PolynomialDecay(0.1, 5, { cycle: true, power: 2 })),
  centered: new tf.optimizers.RMSprop({
    learningRate: new schedules.PiecewiseConstantDecay([3, 10], [0.03, 0.02, 0.01]),
    momentum: 0.5,
    centered: true,
  }),
  rmsprop: new tf.optimizers.RMSprop({
    learningRate: new schedules.ExponentialDecay(0.01, 3, 0.9, { staircase: true }),
  }),
  nadam: new tf.optimizers.Nadam(0.01),
  adamax: new tf.optimizers.Adamax(new schedules.InverseTimeDecay(0.05, 4, 0.5)),
  ftrl: new tf.optimizers.Ftrl(0.1),
  adafactor: new tf.optimizers.Adafactor({ learningRate: new schedules.ExponentialDecay(0.05, 3, 0.9) }),
  average: new tf.optimizers.Adam({ learningRate: 0.02, useEma: true, emaOverwriteFrequency: 5 }),
};

const generator = tf.random.Generator.fromSeed(5);
const drawsOf = (shape) => [
  tf.random.uniform(shape),
  tf.random.uniform(shape, { minval: -3, maxval: 0.1 }),
  tf.random.uniform(shape, { dtype: 'float64', minval: 1, maxval: 9.5 }),
  tf.random.normal(shape),
  tf.random.normal(shape, { mean: 0.3, stddev: 7, seed: 3 }),
  tf.random.normal(shape, { dtype: 'float64', mean: -1 }),
  tf.random.truncatedNormal(shape, { seed: 3, stddev: 0.1 }),
  generator.truncatedNormal(shape, { dtype: 'float64' }),
  tf.random.uniform(shape, { minval: -4, maxval: 1000, dtype: 'int32' }),
  generator.uniform(shape, { minval: 0, maxval: 2 ** 53 - 1, dtype: 'int64' }),
  tf.random.uniform(shape, { maxval: 256, dtype: 'uint8' }),
  tf.random.statelessNormal(shape, [1, 2]),
];
const n = (value) => tf.constant(value, 'int32');

const w = new tf.Variable(tf.random.normal([3, 4]), { name: 'dense/kernel' });
const count = new tf.Variable([0, 0], { name: 'count' });
const image = tf.random.normal([2, 7, 6, 3]);
const filter = tf.random.normal([3, 3, 3, 5]);
const grouped = tf.random.normal([3, 3, 1, 6]);
const classifier = new tf.Sequential(
  [
    new layers.Conv2D(4, 3, { activation: 'relu', inputShape: [7, 6, 3] }),
    new layers.Flatten(),
    new layers.Dense(8, { activation: 'relu' }),
    new layers.Dense(2, { activation: 'softmax' }),
  ],
  { name: 'classifier' },
);
const square = tf.random.normal([4, 4]);
const numbers = tf.constant([
  [3, -1, 2],
  [0, 5, -4],
]);
const bytes = tf.constant(
  [
    [3, 1, 2],
    [0, 5, 4],
  ],
  'int32',
);

console.log(
  JSON.stringify({
    // Parsed and looked at.
    models: {
      mlp: training(
        new tf.Sequential([new layers.Dense(16, { activation: 'relu' }), new layers.Dense(10)], {
          name: 'mlp',
        }),
        tf.random.normal([4, 8]),
      ),
      cnn: training(
        new tf.Sequential(
          [
            new layers.Conv2D(4, 3, { activation: 'relu' }),
            new layers.MaxPooling2D(2),
            new layers.Flatten(),
            new layers.Dense(10),
          ],
          { name: 'cnn' },
        ),
        tf.random.normal([4, 8, 8, 1]),
      ),
    },
    // Trained by TensorFlow.
    trainings: {
      ...Object.fromEntries(Object.entries(optimizers).map(([name, o]) => [name, losses(o)])),
      dropout: losses(new tf.optimizers.Adam(new schedules.CosineDecay(0.02, 15)), [new layers.Dropout(0.3)]),
      dropouts: losses(new tf.optimizers.Adam(new schedules.CosineDecay(0.02, 15)), [
        new layers.Dropout({ rate: 0.3, seed: 5 }),
        new layers.Dense(7),
        new layers.Dropout(0.2),
        new layers.Dropout({ rate: 0.5, noiseShape: [1, 7] }),
        new layers.Dropout({ rate: 0.2, seed: 9 }),
      ]),
    },
    // Drawn by TensorFlow.
    draws: {
      all: drawn(() => drawsOf([7])),
      many: drawn(() => drawsOf([100, 71])),
      none: drawn(() => drawsOf([0, 3])),
      scalars: drawn(() => drawsOf([])),
      anySize: drawnBy(
        tf.function((x) => [tf.random.normal(x.shape), tf.nn.dropout(x, 0.4)], {
          inputSignature: [new tf.TensorSpec([null, 3])],
        }),
        [tf.random.normal([5, 3])],
      ),
      classes: drawn((x) => [tf.random.categorical(x, 5)], tf.random.normal([4, 3])),
      branches: drawn(
        (x) => {
          const first = tf.cond(
            tf.random.uniform([]).less(0.5),
            () => x.add(tf.random.normal([3])),
            () => x.mul(tf.random.uniform([3], { seed: 9 })),
          );
          const second = tf.switchCase(tf.random.uniform([], { maxval: 3, dtype: 'int32' }), [
            () => x,
            () => generator.normal([3]),
            () => x.add(tf.random.uniform([3])),
          ]);
          return [first, second, tf.random.uniform([3]), generator.uniform([2])];
        },
        tf.constant([1, 2, 3]),
      ),
      loops: drawn(
        (x) => [
          ...tf.whileLoop(
            (i) => i.cast('float32').less(tf.random.uniform([], { minval: 2, maxval: 8 })),
            (i, y) => [
              i.add(1),
              tf.cond(
                tf.random.uniform([], { seed: 1 }).less(0.5),
                () => y.add(tf.random.truncatedNormal([3])),
                () => y.mul(tf.random.uniform([3])),
              ),
            ],
            [n(0), x.add(tf.random.uniform([3]))],
          ),
          tf.random.uniform([3]),
        ],
        tf.constant([1, 2, 3]),
      ),
    },
    // Run by TensorFlow.
    programs: {
      complex: (() => {
        const z = (n) => tf.complex(tf.random.normal([n, 3]), tf.random.normal([n, 3]));
        const fn = (a, b) => {
          const tape = new tf.GradientTape();
          tape.watch([a, b]);
          const moved = tf
            .concat([a, b.conj()], 0)
            .transpose()
            .matmul(tf.concat([b, a.mul({ re: 0, im: 1 })], 0));
          const y = tf
            .where(a.real().greater(0), a.exp(), b)
            .div(b.add(3))
            .add(a.pow(2).mul(tf.ones([3], 'complex64')));
          const loss = y.abs().sum().add(tf.math.angle(moved).mean()).add(moved.imag().square().sum());
          return [loss, moved, y, ...tape.gradient(loss, [a, b])];
        };
        const spec = new tf.TensorSpec([null, 3], 'complex64');
        return program(fn, [z(4), z(4)], [spec, spec], [[z(2), z(2)]]);
      })(),
      dense: program((x) => tf.nn.relu(x.matmul(w).add([0.5, 0, -0.5, 1])), [tf.random.normal([2, 3])]),
      classifier: program((x) => classifier(x), [image]),
      assignments: program((x) => [count.assignAdd(x).read(), x.neg()], [tf.constant([1, 2])]),
      elementwise: program(
        (x, y) => [
          x.add(y).sub(1).mul(y).div(2.5).square(),
          x.sigmoid().tanh(),
          x.abs().add(1).log().exp().sqrt().rsqrt(),
          tf.maximum(x, y).minimum(0.5),
          x.floor().add(x.ceil()).add(x.round()).add(x.sign()),
          tf.where(x.greater(y), x, y),
          tf.nn.softmax(x),
          tf.nn.logSoftmax(x),
          x.less(y).logicalAnd(x.notEqual(0)).logicalNot(),
          x.cast('int32'),
          x.floorDiv(y).add(x.mod(y)),
          tf.math.erf(x).add(tf.math.lgamma(x.abs().add(1))),
          tf.nn.leakyRelu(x, { alpha: 1 }),
          tf.atan2(x, y).add(tf.math.squaredDifference(x, y)),
        ],
        [square, square.transpose().add(0.1)],
      ),
      reductions: program(
        (x) => [
          x.sum(),
          x.mean(0),
          x.max([0, 1], { keepdims: true }),
          x.min(1),
          x.prod(0),
          ...tf.nn.moments(x, 0),
          ...tf.nn.moments(x, [0, 1], { keepdims: true }),
          tf.math.reduceVariance(x, 1),
          x.greater(0).any(1),
          x.greater(-9).all(),
          x.argMax(1),
          x.argMin(0),
          x.cumsum(1, { reverse: true }),
          tf.math.cumprod(x, 0, { exclusive: true }),
        ],
        [square],
      ),
      products: program(
        (a, b) => [
          tf.matmul(a, b, { transposeB: true }),
          tf.matmul(a.reshape([2, 2, 4]), b.reshape([2, 2, 4]), { transposeA: true }),
          tf.einsum('ij,kj->ik', a, b),
        ],
        [square, square.mul(2)],
      ),
      decompositions: program(
        (x) => {
          const [s, u, v] = tf.linalg.svd(x);
          const product = tf.matmul(u.mul(s.square()), v, { transposeB: true });
          return [s, product, tf.linalg.svd(x, { computeUV: false }), tf.norm(x, { ord: 2, axis: [0, 1] })];
        },
        [square],
      ),
      movement: program(
        (x) => [
          x.reshape([3, 2]).transpose(),
          x.expandDims(1),
          x.expandDims([0, 3]),
          x.expandDims(0).squeeze(),
          x.expandDims([0, 1]).squeeze(0),
          tf.concat([x, x.mul(2)], 1),
          tf.stack([x, x.neg()], 1),
          ...tf.unstack(x, 1),
          ...tf.split(x, [1, 2], 1),
          tf.pad(
            x,
            [
              [1, 0],
              [0, 2],
            ],
            { constantValues: 7 },
          ),
          tf.pad(
            x,
            [
              [1, 0],
              [0, 2],
            ],
            { mode: 'REFLECT' },
          ),
          tf.pad(
            x,
            [
              [1, 0],
              [0, 2],
            ],
            { mode: 'SYMMETRIC' },
          ),
          tf.tile(x, [2, 1]),
          tf.broadcastTo(x, [2, 2, 3]),
          tf.reverse(x, 1),
          tf.slice(x, [0, 1], [2, 2]),
          tf.stridedSlice(x, [1, 2], [0, 0], [-1, -2]),
          tf.shape(x),
        ],
        [numbers],
      ),
      indices: program(
        (x, i) => [
          tf.gather(x, i, 1),
          tf.oneHot(i, 4),
          tf.oneHot(i, 3, { axis: 0, onValue: 5, offValue: 1 }),
          tf.gatherNd(x, tf.stack([i.mul(0), i], 1)),
          tf.math.unsortedSegmentSum(tf.stack([x.sum(0), x.max(0)], 0), tf.constant([1, 1], 'int32'), 3),
          tf.math.topK(x, 2).values,
          tf.math.topK(x, 2).indices,
          tf.range(2, 9, 3),
          tf.range(0, 1, 0.1),
          tf.fill([2, 2], 3),
        ],
        [numbers, tf.constant([2, 0], 'int32')],
      ),
      integers: program((x) => [x.add(x).mul(3), x.floorDiv(2), x.sum(1)], [bytes]),
      images: program(
        (x) => [
          tf.nn.conv2d(x, filter, { padding: 'SAME', strides: 2 }),
          tf.nn.conv2d(x, filter, { dilations: 2 }),
          tf.nn.conv2d(x, filter, {
            padding: [
              [1, 0],
              [2, 1],
            ],
          }),
          tf.nn.conv2d(x, grouped, { groups: 3 }),
          tf.nn.maxPool2d(x, 2),
          tf.nn.maxPool2d(x, 3, { strides: 2, padding: 'SAME' }),
          tf.nn.avgPool2d(x, [2, 3], { padding: 'SAME' }),
        ],
        [image],
      ),
      gradients: program(
        (x) => {
          const tape = new tf.GradientTape();
          tape.watch(x);
          const y = tf.nn.conv2d(x, filter, { padding: 'SAME' }).relu().sigmoid().mean();
          return tape.gradient(y, x);
        },
        [image],
      ),
      branches: program(
        (x) => [
          tf.cond(
            x.sum().greater(0),
            () => x.mul(count),
            () => x.neg(),
          ),
          tf.switchCase(tf.constant(1, 'int32'), [() => x, () => x.add(1)]),
        ],
        [tf.constant([3, -1])],
      ),
      loop: program(
        (x, n) =>
          tf.whileLoop(
            (i) => i.less(n),
            (i, y) => [i.add(1), y.mul(x).add(count)],
            [tf.constant(0, 'int32'), x],
          ),
        [tf.constant([0.5, 2]), tf.constant(4, 'int32')],
      ),
      anySize: program(
        (x) => [x.reshape([-1]).add(1), x.matmul(w), x.sum(1)],
        [tf.random.normal([5, 3])],
        [new tf.TensorSpec([null, 3])],
        [[tf.random.normal([2, 3])], [tf.random.normal([1, 3])]],
      ),
      anySizes: anySizes((x) => [
        x.mean(),
        tf.zeros(x.shape).add(x),
        tf.shape(x),
        tf.range(tf.shape(x).at(0)),
        x.at('1:').sum(0),
        x.at('::-1'),
        x.at('::2'),
        x.reverse(0).slice([1, 0]),
        tf.concat([x, x], 0).reshape([2, -1]),
        x
          .sub(x.mean(0, { keepdims: true }))
          .square()
          .mean(),
        tf.pad(x, [
          [1, tf.shape(x).at(0)],
          [0, 1],
        ]),
        tf.tile(x, [tf.shape(x).at(1), 1]),
        tf.linalg.diag(x.at(':', 0)),
        tf.repeat(x, 2, 0),
        tf.oneHot(tf.range(tf.shape(x).at(0), { dtype: 'int32' }), tf.shape(x).at(0)),
        x.expandDims(1).squeeze(1),
      ]),
      anySizeGradients: anySizes((x) => {
        const tape = new tf.GradientTape();
        tape.watch(x);
        const y = x.matmul(x, { transposeB: true }).softmax().mean(0).square().sum();
        return tape.gradient(y, x);
      }),
      anySizeControl: anySizes((x) => [
        tf.cond(
          x.sum().greater(0),
          () => x.sub(x.mean()),
          () => tf.zeros(x.shape),
        ),
        tf.whileLoop(
          (i) => i.less(tf.shape(x).at(0)),
          (i, y) => [i.add(1), y.mul(0.5).add(x.mean())],
          [tf.constant(0, 'int32'), x],
        )[1],
      ]),
      valueSizes: anySizes((x) => {
        const rows = tf.booleanMask(x, x.sum(1).greater(0));
        const n = tf.size(tf.where(x.greater(0)));
        return [
          rows,
          tf.concat([rows, x], 0).mean(0),
          tf.zeros([n, 2]).add(1),
          tf.where(x),
          tf.tile(x, [1, n]),
          tf.unique(x.sign().cast('int32').reshape([-1])).counts,
          tf.sequenceMask(x.abs().sum(1).cast('int32')),
          tf.range(n),
        ];
      }),
      tensorsForNumbers: anySizes((x) => {
        const n = tf.size(tf.where(x.greater(0)));
        const counts = x.abs().sum(1).cast('int32');
        return [
          tf.roll(x, n, 0),
          tf.roll(x, [n.neg(), counts.gather(0)], [0, 1]),
          tf.repeat(x, counts, 0),
          tf.linspace(-1, 2.1, n.add(1)),
          tf.pad(x, [
            [n, 0],
            [1, n],
          ]),
        ];
      }),
      valueSizeControl: anySizes((x) => [
        tf.cond(
          x.sum().greater(0),
          () => tf.booleanMask(x, x.sum(1).greater(0)),
          () => x.mul(2),
        ),
        tf.whileLoop(
          (i) => i.less(3),
          (i, s) => [i.add(1), s.add(tf.booleanMask(x, x.greater(i.cast('float32'))).sum())],
          [tf.constant(0, 'int32'), tf.constant(0)],
        )[1],
      ]),
      anySizeImages: program(
        (x) => [
          tf.nn.conv2d(x, filter, { padding: 'SAME', strides: 2 }),
          tf.nn.conv2d(x, filter),
          tf.nn.maxPool2d(x, 2),
          tf.nn.avgPool2d(x, 2, { padding: 'SAME' }),
          x.mean([1, 2]),
        ],
        [image],
        [new tf.TensorSpec([null, null, null, 3])],
        [[tf.random.normal([3, 8, 9, 3])], [tf.random.normal([1, 12, 4, 3])]],
      ),
      losses: program(
        (x) => tf.nn.sparseSoftmaxCrossEntropyWithLogits({ labels: tf.constant([1, 2], 'int32'), logits: x }),
        [numbers],
      ),
    },
  }),
);
