// Probabilities carry the logits that they came from to cross-entropies. Numbers are those of Keras 3.15.1 with TensorFlow 2.21.
import * as tf from 'eagre';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { temporaryFolder } from '../../testing/src/temporary.ts';
import { mirrored } from './testing/strategies.ts';

const { keras } = tf;
const { losses, ops, layers, activations } = keras;
const x = tf.constant([
  [30, -40],
  [1, 2],
  [-25, 60],
]);
const rows = tf.constant([
  [0, 1],
  [1, 0],
  [1, 0],
]);
const labels = tf.constant([1, 0, 0], 'int32');

type Fn = (p: tf.Tensor) => tf.Tensor;
/** What a loss gives in all, and the gradient by x; and without logits, of probabilities that are clipped. */
type Case = readonly [name: string, loss: Fn, total: number, gradient: readonly number[], clipped: number];
const sigmoids: readonly Case[] = [
  [
    'binaryCrossentropy',
    (p) => losses.binaryCrossentropy(rows, p),
    78.7201,
    [0.5, -0.5, -0.1345, 0.4404, -0.5, 0.5],
    33.2806,
  ],
  [
    'BinaryCrossentropy',
    (p) => new losses.BinaryCrossentropy()(rows, p),
    26.24,
    [0.1667, -0.1667, -0.0448, 0.1468, -0.1667, 0.1667],
    11.0935,
  ],
  [
    'binaryFocalCrossentropy',
    (p) => losses.binaryFocalCrossentropy(rows, p),
    78.3364,
    [0.5, -0.5, -0.0263, 0.5384, -0.5, 0.5],
    32.8968,
  ],
  [
    'ops.binaryCrossentropy',
    (p) => ops.binaryCrossentropy(rows, p),
    157.4402,
    [1, -1, -0.2689, 0.8808, -1, 1],
    66.5611,
  ],
  [
    'labelSmoothing',
    (p) => losses.binaryCrossentropy(rows, p, { labelSmoothing: 0.1 }),
    74.8201,
    [0.475, -0.475, -0.1095, 0.4154, -0.475, 0.475],
    31.6525,
  ],
];
const whole = [1, -1, -0.7311, 0.7311, -1, 1];
const softmaxes: readonly Case[] = [
  ['categoricalCrossentropy', (p) => losses.categoricalCrossentropy(rows, p), 156.3133, whole, 33.5495],
  [
    'sparseCategoricalCrossentropy',
    (p) => losses.sparseCategoricalCrossentropy(labels, p),
    156.3133,
    whole,
    33.5495,
  ],
  [
    'ignoreClass',
    (p) => losses.sparseCategoricalCrossentropy(labels, p, { ignoreClass: 1 }),
    17.4314,
    [0, 0, -0.7311, 0.7311, 0, 0],
    17.4314,
  ],
  [
    'categoricalFocalCrossentropy',
    (p) => losses.categoricalFocalCrossentropy(rows, p),
    8.2345,
    [0, 0, -0.1921, 0.1921, 0, 0],
    8.2345,
  ],
  ['ops.categoricalCrossentropy', (p) => ops.categoricalCrossentropy(rows, p), 156.3133, whole, 33.5495],
  [
    'ops.sparseCategoricalCrossentropy',
    (p) => ops.sparseCategoricalCrossentropy(labels, p),
    156.3133,
    whole,
    33.5495,
  ],
  // Keras does not ask which activation it was.
  [
    'binaryCrossentropy',
    (p) => losses.binaryCrossentropy(rows, p),
    78.7201,
    [0.5, -0.5, -0.1345, 0.4404, -0.5, 0.5],
    33.3737,
  ],
];
const ways: Readonly<Record<'sigmoid' | 'softmax', readonly (readonly [string, Fn])[]>> = {
  sigmoid: [
    ['activation', activations.sigmoid],
    ['op', ops.sigmoid],
    ['layer', new layers.Activation('sigmoid')],
  ],
  softmax: [
    ['activation', activations.softmax],
    ['op', ops.softmax],
    ['layer', new layers.Softmax()],
    ['Activation', new layers.Activation('softmax')],
  ],
};
const both: readonly (readonly [string, (fn: Fn) => Fn])[] = [
  ['eagerly', (fn) => fn],
  ['traced', (fn) => tf.function(fn) as Fn],
];
const totalAndGradient = (as: (fn: Fn) => Fn, fn: Fn): number[] =>
  as((v) => {
    const tape = new tf.GradientTape();
    tape.watch(v);
    const y = tape.record(() => fn(v).sum());
    return tf.concat([y.reshape([1]), (tape.gradient(y, v) as tf.Tensor).flatten()], 0);
  })(x).array<number[]>();
const close = (got: readonly number[], expected: readonly number[]): void => {
  expect(got).toHaveLength(expected.length);
  for (const [i, v] of expected.entries()) expect(got[i]).toBeCloseTo(v, 3);
};

describe.each(both)('cross-entropies %s', (how, as) => {
  for (const [kind, cases] of [
    ['sigmoid', sigmoids],
    ['softmax', softmaxes],
  ] as const)
    it.each(cases)(`${kind}, %s`, (_name, loss, total, gradient, clipped) => {
      for (const [, fn] of ways[kind])
        close(
          totalAndGradient(as, (v) => loss(fn(v))),
          [total, ...gradient],
        );
      // TensorFlow's own functions give no logits along. In a graph, a loss looks behind the op that it needs.
      const own = kind === 'sigmoid' ? tf.nn.sigmoid : (v: tf.Tensor) => tf.nn.softmax(v);
      const crossed = kind === 'softmax' && _name === 'binaryCrossentropy';
      const expected = how === 'traced' && !crossed ? total : clipped;
      close(totalAndGradient(as, (v) => loss(own(v))).slice(0, 1), [expected]);
      // What is done to probabilities makes others of them.
      close(totalAndGradient(as, (v) => loss(ways[kind][0][1](v).mul(1))).slice(0, 1), [clipped]);
    });
});

describe('models', () => {
  afterEach(() => vi.restoreAllMocks());
  const weights = (): tf.Tensor[] => [tf.constant([[30]]), tf.constant([0])];
  const one = tf.ones([4, 1]);
  const nothing = tf.zeros([4, 1]);
  class Own extends tf.Model {
    readonly dense = new layers.Dense(1, { activation: 'sigmoid' });
    override call(v: tf.Tensor): tf.Tensor {
      return this.dense(v);
    }
  }
  const functional = (): tf.Model => {
    const input = tf.Input({ shape: [1] });
    return new tf.Model(input, new layers.Activation('sigmoid')(new layers.Dense(1)(input)));
  };
  const models: readonly (readonly [string, () => tf.Model])[] = [
    [
      'Sequential',
      () => new tf.Sequential([new layers.Dense(1, { activation: 'sigmoid', inputShape: [1] })]),
    ],
    ['functional', functional],
    ['nested', () => new tf.Sequential([tf.Input({ shape: [1] }), functional()])],
    ['subclass', () => new Own()],
  ];
  const compiled = (model: tf.Model, runEagerly: boolean): tf.Model => {
    model(one);
    model.setWeights(weights());
    model.compile({
      optimizer: new keras.optimizers.SGD(1),
      loss: 'binaryCrossentropy',
      metrics: ['binaryCrossentropy'],
      runEagerly,
    });
    return model;
  };
  const trains = async (model: tf.Model): Promise<void> => {
    const { loss, binary_crossentropy } = await model.evaluate(one, nothing, { verbose: 0 });
    expect([loss, binary_crossentropy]).toEqual([30, 30]);
    await model.fit(one, nothing, { verbose: 0, batchSize: 4 });
    // The gradient is 1: a step of 1 makes 29 of 30.
    expect(model.trainableVariables.map((v) => v.item())).toEqual([29, -1]);
  };

  it.each(models)('%s', async (_, make) => {
    for (const runEagerly of [false, true]) await trains(compiled(make(), runEagerly));
    const model = make();
    model(one);
    model.setWeights(weights());
    const tape = new tf.GradientTape();
    const loss = tape.record(() => losses.binaryCrossentropy(nothing, model(one, { training: true })));
    expect(loss.array()).toEqual([30, 30, 30, 30]);
    expect(tape.gradient(loss, model.trainableVariables).map((g) => g?.item())).toEqual([4, 4]);
  });

  it('read from a file', async () => {
    const folder = temporaryFolder('logits');
    await compiled(functional(), false).save(`${folder}/m.keras`);
    await trains((await keras.models.loadModel(`${folder}/m.keras`)) as tf.Model);
  });

  it('on two devices', async () => {
    const strategy = mirrored(2);
    await trains(strategy.scope(() => compiled(functional(), false)));
  });

  it('of 16 bits, whose losses are computed in 32, carry none', () => {
    const p = activations.sigmoid(tf.constant([[30]], 'float16'));
    expect(new losses.BinaryCrossentropy()(tf.zeros([1, 1]), p).item()).toBeCloseTo(15.9424, 3);
  });

  it('warn where probabilities are said to be logits, once', () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    const p = activations.softmax(x);
    for (let i = 0; i < 3; i++)
      expect(losses.categoricalCrossentropy(rows, p, { fromLogits: true }).sum().item()).toBeCloseTo(
        156.3133,
        3,
      );
    expect(warn).toHaveBeenCalledTimes(1);
    expect(warn.mock.calls[0][0]).toMatch(/categoricalCrossentropy: fromLogits is set/);
  });
});

describe('memory', () => {
  it('scopes keep the logits of what they keep, and of nothing else', () => {
    const model = new tf.Sequential([
      new layers.Dense(2, { activation: 'sigmoid' }),
      new layers.Dense(2, { activation: 'softmax' }),
    ]);
    const p = tf.experimental.scope(() => tf.experimental.scope(() => model(x)));
    const carried = losses.categoricalCrossentropy(rows, p).sum().item();
    const kernel = model.getWeights();
    const hidden = activations.sigmoid(x.matmul(kernel[0]).add(kernel[1]));
    const logits = hidden.matmul(kernel[2]).add(kernel[3]);
    expect(carried).toBeCloseTo(
      losses.categoricalCrossentropy(rows, logits, { fromLogits: true }).sum().item(),
      5,
    );
    const z = tf.constant([[30]]);
    const y = activations.sigmoid(z);
    z.dispose();
    // Who gives the logits back has probabilities left.
    expect(losses.binaryCrossentropy([[0]], y).item()).toBeCloseTo(15.9424, 3);
  });

  it('predictions that are dropped take their logits with them', () => {
    const dense = new layers.Dense(512, { activation: 'sigmoid' });
    const large = tf.ones([512, 4]);
    dense(large);
    const turns = (n: number): number => {
      for (let i = 0; i < n; i++) losses.binaryCrossentropy(tf.zeros([512, 512]), dense(large));
      return Object.values(tf.experimental.memory()).reduce(
        (sum, { bytesTaken }) => sum + (bytesTaken ?? 0),
        0,
      );
    };
    turns(100);
    const before = turns(200);
    expect(turns(400)).toBeLessThan(before * 1.5 + 2 ** 24);
  });
});
