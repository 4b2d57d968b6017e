// Options of metrics, layers and callbacks that few programs use, against real Keras; tools/golden/keras_options.py makes the numbers.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import * as tf from '../src/index.ts';

type Json = Record<string, unknown>;
const golden = JSON.parse(readFileSync(new URL('../golden/keras-options.json', import.meta.url), 'utf8'));
const camel = (options: Json): Json =>
  Object.fromEntries(
    Object.entries(options).map(([key, v]) => [key.replace(/_(\w)/g, (_, c: string) => c.toUpperCase()), v]),
  );
const close = (y: tf.Tensor, expected: number[]): void => {
  const want = tf.constant(expected, 'float64');
  expect(y.shape).toEqual(want.shape);
  expect(y.cast('float64').sub(want).abs().max().item<number>()).toBeLessThan(2e-5);
};

describe('AUC of several labels', () => {
  const { truth, guess, weights, cases } = golden.auc;
  const [t, p, w] = [truth, guess, weights].map((values) => tf.constant(values));
  test.each(cases as [Json, [number, number], Json][])('%j', (options, expected, config) => {
    const parts = (x: tf.Tensor): tf.Tensor[] => [x.at(':20'), x.at('20:')];
    [null, w as tf.Tensor].forEach((weight, i) => {
      for (const traced of [false, true]) {
        const metric = new tf.keras.metrics.AUC(camel(options) as never);
        const update = (a: tf.Tensor, b: tf.Tensor, c: tf.Tensor | null): void => metric.updateState(a, b, c);
        const fn = traced ? (tf.function(update as never) as unknown as typeof update) : update;
        parts(t as tf.Tensor).forEach((a, k) =>
          fn(
            a,
            parts(p as tf.Tensor)[k] as tf.Tensor,
            weight === null ? null : (parts(weight)[k] as tf.Tensor),
          ),
        );
        expect(metric.result().item()).toBeCloseTo(expected[i] as number, 5);
        const { name: _, ...own } = metric.getConfig();
        expect(own).toEqual(config);
        expect(new tf.keras.metrics.AUC(camel(own) as never).multiLabel).toBe(metric.multiLabel);
      }
    });
  });

  test('in fit, and wrong arguments', async () => {
    const model = new tf.Sequential([tf.Input([4]), new tf.layers.Dense(3, { activation: 'sigmoid' })]);
    model.compile({
      loss: 'binaryCrossentropy',
      metrics: [new tf.metrics.AUC({ multiLabel: true, name: 'auc' })],
    });
    const x = tf.random.normal([40, 4], { seed: 1 });
    const { history } = await model.fit(x, x.at(':', ':3').greater(0), { epochs: 2, verbose: 0 });
    expect(history.auc?.every((v) => v > 0 && v < 1)).toBe(true);
    expect(() => new tf.metrics.AUC({ numLabels: 3 })).toThrow('numLabels is for multiLabel: true');
    expect(() => new tf.metrics.AUC({ multiLabel: true, labelWeights: 3 as never })).toThrow(
      /list of numbers/,
    );
    expect(() =>
      new tf.metrics.AUC({ multiLabel: true, numLabels: 2 }).updateState(t as tf.Tensor, p as tf.Tensor),
    ).toThrow('expects predictions [n, 2], got [30, 3]');
  });
});

test('SparseTopKCategoricalAccuracy of sorted ids', () => {
  const { ids, wanted, cases } = golden.topk;
  for (const [k, expected] of cases) {
    const metric = new tf.metrics.SparseTopKCategoricalAccuracy({ k, fromSortedIds: true });
    metric.updateState(wanted, ids);
    expect(metric.result().item()).toBeCloseTo(expected, 6);
    expect(metric.getConfig()['from_sorted_ids']).toBe(true);
  }
});

describe('MultiHeadAttention with a window and a gate', () => {
  test.each(golden.attention as unknown[][])(
    '%j',
    (options, query, value, names, values, y, z, scores, config) => {
      const layer = new tf.layers.MultiHeadAttention(2, 4, camel(options as Json));
      const [q, v] = [tf.constant(query as number[]), tf.constant(value as number[])];
      layer(q, v);
      expect(layer.namedWeights.map((w) => w.path)).toEqual(names);
      layer.setWeights(values as number[]);
      close(layer(q, v), y as number[]);
      const [seen, weights] = layer(q, v, {
        useCausalMask: true,
        returnAttentionScores: true,
      }) as unknown as tf.Tensor[];
      close(seen as tf.Tensor, z as number[]);
      close(weights as tf.Tensor, scores as number[]);
      expect(layer.getConfig()).toMatchObject(config as Json);
      expect(tf.layers.MultiHeadAttention.fromConfig(layer.getConfig()).useGate).toBe(layer.useGate);
    },
  );
});

test('Embedding takes its table', () => {
  const table = [
    [1, 2],
    [3, 4],
    [5, 6],
  ];
  for (const weights of [table, [table], tf.constant(table), [tf.constant(table)]] as never[]) {
    const layer = new tf.layers.Embedding(3, 2, { weights });
    expect(layer(tf.constant([[2, 0]], 'int32')).array()).toEqual([
      [
        [5, 6],
        [1, 2],
      ],
    ]);
    expect('weights' in layer.getConfig()).toBe(false);
  }
  expect(new tf.layers.Embedding(1, 2, { weights: [[7, 8]] })(tf.constant([0], 'int32')).array()).toEqual([
    [7, 8],
  ]);
  expect(() => new tf.layers.Embedding(3, 3, { weights: [table] as never })).toThrow(
    tf.errors.InvalidArgumentError,
  );
});

test('Lambda gives its function further options, and its result a mask', () => {
  const scaled = new tf.layers.Lambda((x, options) => x.mul((options as { factor: number }).factor), {
    arguments: { factor: 3 },
  });
  expect(scaled(tf.constant([1, 2])).array()).toEqual([3, 6]);
  expect(scaled.getConfig()['arguments']).toEqual({ factor: 3 });
  const x = tf.Input([3, 1]);
  const masked = new tf.layers.Lambda((y) => y, { mask: (y) => (y as tf.Tensor).notEqual(2).any(-1) });
  const model = new tf.Model(x, new tf.layers.GlobalAveragePooling1D()(masked(x)));
  expect(model(tf.constant([[[1], [2], [4]]])).array()).toEqual([[2.5]]);
  expect(() => new tf.layers.Lambda((y) => y, { arguments: 3 as never })).toThrow(
    /arguments to be options by name/,
  );
});

test('Input takes the shape of a batch', () => {
  expect(tf.Input({ batchShape: [4, null, 3] }).shape).toEqual([4, null, 3]);
  expect(tf.Input({ batchShape: [null, 3] }).shape).toEqual([null, 3]);
  expect(() => tf.Input({ batchShape: [4, 3], shape: [3] })).toThrow(
    'give either shape and batchSize, or batchShape',
  );
  expect(() => tf.Input({} as never)).toThrow('shape must be given');
});

test('recurrent layers know unroll, which changes nothing', () => {
  const x = tf.random.normal([2, 4, 3], { seed: 2 });
  for (const Class of [tf.layers.LSTM, tf.layers.GRU, tf.layers.SimpleRNN]) {
    const [one, two] = [new Class(3, { unroll: true }), new Class(3)];
    two(x);
    one(x);
    one.setWeights(two.getWeights());
    expect(one(x).array()).toEqual(two(x).array());
    expect([one.getConfig()['unroll'], two.getConfig()['unroll']]).toEqual([golden.unroll, false]);
  }
});

test('evaluate, trainOnBatch and testOnBatch take returnDict: true', async () => {
  const model = new tf.Sequential([tf.Input([2]), new tf.layers.Dense(1)]);
  model.compile({ loss: 'mse', optimizer: 'sgd' });
  const [x, y] = [tf.ones([4, 2]), tf.ones([4, 1])];
  expect(Object.keys(await model.evaluate(x, y, { returnDict: true, verbose: 0 }))).toEqual(['loss']);
  expect(Object.keys(model.trainOnBatch(x, y, { returnDict: true }))).toEqual(['loss']);
  expect(Object.keys(model.testOnBatch(x, y, { returnDict: true }))).toEqual(['loss']);
  await expect(model.evaluate(x, y, { returnDict: false as true, verbose: 0 })).rejects.toThrow(
    'returnDict must be true, got false: losses and metrics come by name',
  );
});

test('TerminateOnNaN may fail', async () => {
  const model = new tf.Sequential([tf.Input([2]), new tf.layers.Dense(1)]);
  model.compile({ loss: 'mse', optimizer: 'sgd' });
  const x = tf.fill([4, 2], Number.NaN);
  const fit = (raiseError?: boolean) =>
    model.fit(x, tf.ones([4, 1]), {
      epochs: 3,
      verbose: 0,
      callbacks: [new tf.keras.callbacks.TerminateOnNaN(...(raiseError === undefined ? [] : [raiseError]))],
    });
  expect((await fit()).history.loss).toHaveLength(1);
  await expect(fit(true)).rejects.toThrow('TerminateOnNaN: the loss of batch 0 is NaN');
});
