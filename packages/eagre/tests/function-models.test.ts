import { describe, expect, test } from 'vitest';
import * as tf from '../src/index.ts';

const image = (): tf.Tensor => tf.random.normal([4, 8, 8, 1]);
const sequence = (): tf.Tensor => tf.random.normal([4, 6, 8]);

interface Case {
  readonly model: () => tf.Model;
  readonly input: () => tf.Tensor;
}

const { layers } = tf;
const cases: Readonly<Record<string, Case>> = {
  'convolutional, with dropout and batch normalisation': {
    model: () =>
      new tf.Sequential([
        new layers.Conv2D(4, 3, { activation: 'relu' }),
        new layers.BatchNormalization(),
        new layers.MaxPooling2D(2),
        new layers.Dropout(0.5),
        new layers.Flatten(),
        new layers.Dense(3, { kernelRegularizer: 'l2' }),
      ]),
    input: image,
  },
  'recurrent, both ways': {
    model: () =>
      new tf.Sequential([
        new layers.Bidirectional(new layers.LSTM(5, { returnSequences: true })),
        new layers.GRU(4),
        new layers.Dense(3),
      ]),
    input: sequence,
  },
  transformer: {
    model: () => {
      class Block extends tf.Model {
        readonly attention = new layers.MultiHeadAttention(2, 4);
        readonly norm = new layers.LayerNormalization();
        readonly head = new layers.Dense(3);
        override call(x: tf.Tensor) {
          const y = this.norm(x.add(this.attention(x)));
          return this.head(y.mean(1));
        }
      }
      return new Block();
    },
    input: sequence,
  },
};

/** Losses of some steps, and the weights after them. */
function train(
  { model: make, input }: Case,
  wrap: (f: (x: tf.Tensor) => tf.Tensor) => (x: tf.Tensor) => tf.Tensor,
) {
  tf.random.setSeed(3);
  const model = make();
  const x = input();
  const labels = tf.constant([0, 1, 2, 1], 'int32');
  const optimizer = new tf.optimizers.Adam(0.01);
  const lossObject = new tf.losses.SparseCategoricalCrossentropy({ fromLogits: true });
  const step = wrap((batch) => {
    const tape = new tf.GradientTape();
    let loss = lossObject(labels, model(batch, { training: true }));
    for (const extra of model.losses) loss = loss.add(extra);
    optimizer.applyGradients(tape.gradient(loss, model.trainableVariables), model.trainableVariables);
    return loss;
  });
  model(x);
  const losses = Array.from({ length: 4 }, () => step(x).item());
  return { losses, weights: model.weights.map((w) => Array.from(w.data() as Float32Array)) };
}

describe('a training step in tf.function equals the eager one', () => {
  test.each(Object.entries(cases))('%s', (_, one) => {
    const eager = train(one, (f) => f);
    const traced = train(one, (f) => tf.function(f));
    expect(traced.losses[3]).toBeLessThan(traced.losses[0] as number);
    traced.losses.forEach((l, i) => expect(l).toBeCloseTo(eager.losses[i] as number, 4));
    expect(traced.weights.length).toBe(eager.weights.length);
    traced.weights
      .flat()
      .forEach((w, i) => expect(Math.abs(w - (eager.weights.flat()[i] as number))).toBeLessThan(1e-4));
  });
});

test('a model builds its weights in the first call of a function', () => {
  const model = new tf.Sequential([new layers.Dense(4, { activation: 'relu' }), new layers.Dense(2)]);
  const predict = tf.function((x: tf.Tensor) => model(x));
  const x = tf.random.normal([3, 5]);
  const traced = predict(x);
  expect(model.weights.map((w) => w.shape)).toEqual([[5, 4], [4], [4, 2], [2]]);
  expect(traced.data()).toEqual(model(x).data());
});

test.each([
  ['a model', () => new tf.Sequential([new layers.Dense(4), new layers.Dense(2)])],
  ['a layer', () => new layers.Dense(2)],
  ['a loss', () => new tf.losses.MeanSquaredError()],
] as const)('%s is itself a function', (_, make) => {
  const callee = make() as unknown as (...args: tf.Tensor[]) => tf.Tensor;
  const args = 'reduction' in callee ? [tf.ones([3, 5]), tf.zeros([3, 5])] : [tf.ones([3, 5])];
  const run = tf.function(callee);
  const first = run(...args);
  expect(run(...args).array()).toEqual(first.array());
  expect(callee(...args).array()).toEqual(first.array());
  const specs = args.map(() => new tf.TensorSpec([null, 5]));
  expect(
    run
      .getConcreteFunction(...(specs as never[]))(...args)
      .array(),
  ).toEqual(first.array());
});

describe('a model whose code needs values', () => {
  class OfCode extends tf.Model {
    readonly #code: (x: tf.Tensor) => unknown;
    constructor(code: (x: tf.Tensor) => unknown) {
      super();
      this.#code = code;
    }
    override call(x: tf.Tensor): tf.Tensor {
      return this.#code(x) as tf.Tensor;
    }
  }
  const notAllowed = tf.errors.OperatorNotAllowedInGraphError;
  const x = tf.ones([2, 3]);
  // What tf.function and fit say; and what the same model gives outside of them.
  const codes: Readonly<Record<string, [(x: tf.Tensor) => unknown, new (...args: never) => Error, string]>> =
    {
      'reads a number': [(t) => t.mul(t.sum().item()), notAllowed, 'has no value while tf.function traces'],
      'reads a list': [(t) => tf.constant(t.array()), notAllowed, 'has no value while tf.function traces'],
      'turns it into a number': [(t) => t.mul(+t.sum()), notAllowed, 'has no value while tf.function traces'],
      'makes a variable each time': [
        (t) => t.add(new tf.Variable(1)),
        tf.errors.InvalidArgumentError,
        'may create variables in its first call only',
      ],
      'is async': [async (t) => t, tf.errors.InvalidArgumentError, 'must not be async'],
    };
  test.each(Object.entries(codes))('%s', async (name, [code, Kind, message]) => {
    const calls = [
      (model: OfCode) => tf.function((t: tf.Tensor) => model(t))(x),
      (model: OfCode) => tf.function(model)(x),
    ];
    for (const call of calls) {
      const error = await (async () => call(new OfCode(code)))().catch((caught: unknown) => caught);
      expect(error).toBeInstanceOf(Kind);
      expect((error as Error).message).toContain(message);
    }
    if (name === 'is async') return;
    const model = new OfCode(code);
    expect(model(x).shape).toEqual([2, 3]);
    model.compile({ optimizer: 'sgd', loss: 'mse', runEagerly: true });
    expect((await model.fit(x, x, { verbose: 0, epochs: 1 })).history['loss']).toHaveLength(1);
  });
  test('a number is no prediction', async () => {
    await expect(new OfCode(() => 3).predict(x)).rejects.toThrow('must return tensors, got 3');
  });
});

test('a metric and a counter change at each run', () => {
  const mean = new tf.metrics.Mean();
  const update = tf.function((x: tf.Tensor) => mean.updateState(x));
  update(tf.constant([1, 3]));
  update(tf.constant([8]));
  expect(mean.result().item()).toBe(4);
});
