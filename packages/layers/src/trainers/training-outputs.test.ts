import '@eagre/backend-js';
import { getBackend } from '@eagre/backend';
import { constant, ones, Tensor, withBackend, zeros } from '@eagre/core';
import { SGD } from '@eagre/optimizers';
import { describe, expect, test } from 'vitest';
import { Concatenate, Dense } from '../layers/index.ts';
import { Input } from '../models/functional.ts';
import { Model } from '../models/model.ts';
import { Sequential } from '../models/sequential.ts';
import type { CompileOptions } from './compile.ts';
import type { BatchLike, Inputs } from './data-adapter.ts';

const make = (): Model => {
  const [left, right] = [Input({ shape: [3], name: 'left' }), Input({ shape: [2], name: 'right' })];
  const h = new Concatenate()([left, right]);
  const a = new Dense(2, { name: 'a', kernelInitializer: 'ones' })(h);
  return new Model([left, right], [a, new Dense(1, { name: 'b', kernelInitializer: 'ones' })(h)]);
};
const compiled = (options: CompileOptions = { loss: 'mse' }): Model => {
  const model = make();
  model.compile({ optimizer: new SGD(0.01), ...options });
  return model;
};
const x = { left: ones([4, 3]), right: ones([4, 2]) };
const y = { a: zeros([4, 2]), b: ones([4, 1]) };
const quiet = { verbose: 0 } as const;
const batches = (...list: BatchLike[]): Iterable<BatchLike> => ({ [Symbol.iterator]: () => list.values() });

test('names of inputs and outputs', () => {
  expect(make().inputNames).toEqual(['left', 'right']);
  expect(make().outputNames).toEqual(['a', 'b']);
  expect(new Sequential([new Dense(1, { name: 'last' })]).outputNames).toEqual(['last']);
  class Own extends Model {}
  expect([new Own().inputNames, new Own().outputNames]).toEqual([null, null]);
});

test('data by name, in lists, and in batches are the same', async () => {
  const lists = [
    [x.left, x.right],
    [y.a, y.b],
  ] as const;
  const loss = async (...args: Parameters<Model['evaluate']>) => compiled().evaluate(...args);
  const expected = { loss: 25 + 16, a_loss: 25, b_loss: 16 };
  expect(await loss(lists[0], lists[1], quiet)).toEqual(expected);
  expect(await loss(x, y, quiet)).toEqual(expected);
  expect(await loss({ right: x.right, left: x.left }, { b: y.b, a: y.a }, quiet)).toEqual(expected);
  expect(await loss(batches([x, y]), quiet)).toEqual(expected);
  expect(await loss(batches(lists), quiet)).toEqual(expected);
  expect(await loss(batches([x, lists[1], { a: ones([4]), b: zeros([4]) }]), quiet)).toEqual({
    loss: 25,
    a_loss: 25,
    b_loss: 0,
  });
  // The targets are told from options by the outputs' names.
  expect(await compiled().evaluate(x, y)).toEqual(expected);
});

test('outputs of one layer share its name: the last loss counts, as in Keras', async () => {
  const [input, d] = [Input({ shape: [2] }), new Dense(1, { name: 'd', kernelInitializer: 'ones' })];
  const model = new Model(input, [d(input), d(input.mul(2))] as never);
  const logs = async (options: CompileOptions): Promise<unknown> => {
    model.compile({ optimizer: new SGD(0), ...options });
    const targets = [zeros([4, 1]), zeros([4, 1])];
    const { history } = await model.fit(ones([4, 2]), targets, quiet);
    const found = Object.fromEntries(Object.entries(history).map(([name, list]) => [name, list[0]]));
    expect(await model.evaluate(ones([4, 2]), targets, quiet)).toEqual(found);
    return found;
  };
  expect(await logs({ loss: ['mse', 'mae'] })).toEqual({ loss: 8, d_loss: 4 });
  expect(await logs({ loss: 'mse' })).toEqual({ loss: 20, d_loss: 16 });
  expect(await logs({ loss: ['mse', 'mae'], metrics: [['mae'], ['mae']] })).toEqual({
    loss: 8,
    d_loss: 4,
    d_mae: 2,
    d_mae_1: 4,
  });
});

test('a shorter last batch counts for less in each loss', async () => {
  const found = await compiled().evaluate(
    x,
    { a: zeros([4, 2]), b: ones([4, 1]) },
    { ...quiet, batchSize: 3 },
  );
  expect(found).toEqual({ loss: 41, a_loss: 25, b_loss: 16 });
});

test('one loss and one factor count for all outputs; a factor for several losses does not', async () => {
  // Keras 3.15.1: 2 · (25 + 16).
  expect(await compiled({ loss: 'mse', lossWeights: 2 }).evaluate(x, y, quiet)).toEqual({
    loss: 82,
    a_loss: 25,
    b_loss: 16,
  });
  expect(() => compiled({ loss: ['mse', 'mse'], lossWeights: 2 })).toThrow('lossWeights has 1 items');
});

test('messages about nested outputs say what was given', () => {
  const one = Input({ shape: [2] });
  const model = (): Model => new Model(one, { p: [new Dense(1)(one)], q: new Dense(1)(one) } as never);
  expect(() => model().compile({ loss: { p: 'mse', q: 'mae' } })).toThrow(
    "loss is 'mse' at p, expected a list of 1",
  );
  expect(() => model().compile({ loss: 'mse', metrics: ['mae'] })).toThrow(
    "metrics is ['mae'], expected an object of p, q",
  );
});

test('a model may give one output twice', async () => {
  const one = Input({ shape: [2] });
  const y = new Dense(1, { kernelInitializer: 'ones' })(one);
  const rows = constant([
    [1, 2],
    [3, 4],
    [5, 6],
  ]);
  const twice = new Model(one, { first: y, others: [y, one] } as never);
  const { first, others } = await twice.predict<{ first: Tensor; others: Tensor[] }>(rows, {
    ...quiet,
    batchSize: 2,
  });
  expect([first.array(), others[0]?.array(), others[1]?.array()]).toEqual([
    [[3], [7], [11]],
    [[3], [7], [11]],
    rows.array(),
  ]);
});

test('validation by name', async () => {
  const { history } = await compiled().fit(x, y, { ...quiet, validationData: [x, y] });
  expect(Object.keys(history).sort()).toEqual([
    'a_loss',
    'b_loss',
    'loss',
    'val_a_loss',
    'val_b_loss',
    'val_loss',
  ]);
});

test('steps of one’s own get lists', async () => {
  class Own extends Model {
    override call(given: Tensor): Tensor[] {
      return [given, given];
    }
    override trainStep(given: Tensor, targets: Tensor[], weight: Tensor | undefined): { n: number } {
      expect(given).toBeInstanceOf(Tensor);
      expect(targets.map((t) => t.shape)).toEqual([
        [4, 2],
        [4, 1],
      ]);
      expect(weight).toBeUndefined();
      return { n: targets.length };
    }
  }
  const model = new Own();
  model.compile({});
  expect((await model.fit(x.left, [y.a, y.b], quiet)).history).toEqual({ n: [2] });
});

test('functions of the user see the targets and predictions of their output', async () => {
  const seen: number[][] = [];
  const loss = (yTrue: Tensor, yPred: Tensor): Tensor => {
    seen.push([...yTrue.shape], [...yPred.shape]);
    return yTrue.sub(yPred).square().mean(-1);
  };
  const options = { loss: { a: null, b: loss }, metrics: { b: [loss] }, runEagerly: true };
  expect(await compiled(options).evaluate(x, y, quiet)).toEqual({ loss: 16, b_loss: 16 });
  expect(seen).toEqual([
    [4, 1],
    [4, 1],
    [4, 1],
    [4, 1],
  ]);
});

test('a model of one output takes lists, names and a weight as well', async () => {
  const model = new Sequential([new Dense(1, { name: 'last', kernelInitializer: 'ones', inputShape: [3] })]);
  const evaluate = async (options: CompileOptions, targets: Inputs) => {
    model.compile(options);
    return model.evaluate(x.left, targets, quiet);
  };
  const expected = { loss: 4, mae: 2 };
  expect(await evaluate({ loss: 'mse', metrics: ['mae'] }, y.b)).toEqual(expected);
  expect(await evaluate({ loss: ['mse'], metrics: [['mae']] }, [y.b])).toEqual(expected);
  expect(await evaluate({ loss: { last: 'mse' }, metrics: { last: 'mae' } }, { last: y.b })).toEqual(
    expected,
  );
  expect(await evaluate({ loss: 'mse', lossWeights: 0.5 }, y.b)).toEqual({ loss: 2 });
});

test.each([false, true])('nothing of a batch stays in memory, eagerly: %s', async (runEagerly) => {
  using _ = withBackend('js');
  const model = compiled({ loss: 'mse', metrics: { b: ['mae'] }, runEagerly });
  const taken = (): number => getBackend('js').allocator.info().bytesTaken;
  const options = { ...quiet, batchSize: 2, shuffle: false };
  const data = [ones([4, 3]), ones([4, 2])] as const;
  const targets = [zeros([4, 2]), ones([4, 1])] as const;
  const weights = [ones([4]), ones([4])] as const;
  await model.fit(data, targets, { ...options, sampleWeight: weights });
  const before = taken();
  for (let i = 0; i < 5; i++) await model.fit(data, targets, { ...options, sampleWeight: weights });
  expect(taken()).toBe(before);
});

describe('what does not fit the outputs', () => {
  const late = async (options: CompileOptions, targets: unknown, rest = {}): Promise<unknown> =>
    compiled(options).fit(x, targets as typeof y, { ...quiet, ...rest });
  const cases: Readonly<Record<string, readonly [() => unknown, string]>> = {
    'too few losses': [
      () => compiled({ loss: ['mse'] }),
      'loss has 1 items for a model with 2 outputs (a, b): give one for each',
    ],
    'a loss of nobody': [
      () => compiled({ loss: { a: 'mse', c: 'mse' } }),
      "loss: there is no output 'c'; the model has 'a', 'b'",
    ],
    'a loss left out': [
      () => compiled({ loss: { a: 'mse' } }),
      "the output 'b' has no loss; write null if it needs none",
    ],
    // @ts-expect-error
    'an unknown loss': [() => compiled({ loss: ['mse', 'msee'] }), "there is no loss 'msee'"],
    'too many weights': [
      () => compiled({ loss: 'mse', lossWeights: [1, 2, 3] }),
      'lossWeights has 3 items for a model with 2 outputs',
    ],
    'weights that are no numbers': [
      () => compiled({ loss: 'mse', lossWeights: ['1', '2'] as never }),
      'lossWeights must be numbers',
    ],
    'weights without losses': [
      () => compiled({ lossWeights: [1, 2] }),
      'lossWeights have no effect without a loss',
    ],
    'metrics in one list': [
      () => compiled({ loss: 'mse', metrics: ['mae'] }),
      'metrics has 1 items for a model with 2 outputs (a, b)',
    ],
    'metrics of nobody': [
      () => compiled({ loss: 'mse', metrics: { c: 'mae' } }),
      "metrics: there is no output 'c'",
    ],
    'one tensor of targets': [
      () => late({ loss: 'mse' }, y.a),
      'the model has 2 outputs (a, b), y is one tensor: give one for each, in a list or by name',
    ],
    'too many targets': [
      () => late({ loss: 'mse' }, [y.a, y.b, y.b]),
      'the model has 2 outputs (a, b), y has 3 tensors',
    ],
    'targets of nobody': [
      () => late({ loss: 'mse' }, { a: y.a, c: y.b }),
      "y: there is no output 'c'; the model has 'a', 'b'",
    ],
    'targets left out': [() => late({ loss: 'mse' }, { a: y.a }), "y lacks the output 'b'"],
    'no targets': [() => compiled().fit(x, quiet), 'the loss needs targets: pass y'],
    'targets of another number': [
      () => late({ loss: 'mse' }, [y.a, ones([3, 1])]),
      'y has 3 examples (shape [3, 1]), x has 4',
    ],
    'inputs of nobody': [
      () => compiled().predict({ left: x.left, middle: x.right }),
      "x: there is no input 'middle'; the model has 'left', 'right'",
    ],
    'weights of examples for one output': [
      () => late({ loss: 'mse' }, y, { sampleWeight: [ones([4])] }),
      'sampleWeight has 1 items for a model with 2 outputs',
    ],
    'weights of classes': [
      () => late({ loss: 'mse' }, y, { classWeight: { 0: 1 } }),
      'classWeight works for models with one output',
    ],
    'metrics without targets': [
      () => late({ loss: ['mse', null], metrics: { b: 'mae' } }, [y.a]),
      'there are no targets for the metrics of output b',
    ],
    'names where there are none': [
      async () => {
        class Own extends Model {
          override call(given: Tensor): Tensor[] {
            return [given, given];
          }
        }
        const model = new Own();
        model.compile({ loss: { a: 'mse', b: 'mse' } });
        await model.fit(x.left, [x.left, x.left], quiet);
      },
      "loss: the model's outputs have no names; give a list of one for each",
    ],
    'weights of two outputs of one name': [
      () => {
        const [one, two] = [Input({ shape: [2] }), Input({ shape: [2] })];
        const shared = new Dense(1, { name: 'shared' });
        new Model([one, two], [shared(one), shared(two)]).compile({
          loss: 'mse',
          lossWeights: { shared: 2 },
        });
      },
      'several outputs have the same name (shared, shared); give a list',
    ],
  };
  test.each(Object.entries(cases))('%s', async (_, [run, message]) => {
    await expect(Promise.resolve().then(run)).rejects.toThrow(message);
  });
});

test('outputs that share a name share losses, metrics and targets by name, as in Keras 3.15.1', async () => {
  const input = Input({ shape: [2] });
  const shared = new Dense(1, { name: 'same', kernelInitializer: 'ones' });
  shared.build([null, 2]);
  const given = constant([
    [0, 1],
    [2, 3],
    [4, 5],
    [6, 7],
  ]).div(8);
  const wanted = given.sum(1, { keepdims: true });
  const fitted = async (options: CompileOptions, targets: unknown): Promise<unknown> => {
    shared.setWeights([ones([2, 1]), zeros([1])]);
    const model = new Model(input, [shared(input), shared(input.mul(2))]);
    model.compile({ optimizer: 'sgd', ...options });
    const { history } = await model.fit(given, targets as typeof y, { batchSize: 4, verbose: 0 });
    return Object.fromEntries(
      Object.entries(history).map(([name, [v]]) => [name, Number((v as number).toFixed(4))]),
    );
  };
  const byName = { same: wanted };
  expect(await fitted({ loss: { same: 'mse' } }, byName)).toEqual({ loss: 1.0781, same_loss: 1.0781 });
  const options = { loss: { same: 'mae' }, metrics: { same: ['mse', 'mae'] } } as const;
  expect(await fitted(options, byName)).toEqual({
    loss: 0.875,
    same_loss: 0.875,
    same_mse: 0,
    same_mae: 0,
    same_mse_1: 1.0781,
    same_mae_1: 0.875,
  });
});
