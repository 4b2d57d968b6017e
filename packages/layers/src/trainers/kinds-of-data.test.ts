// What fit, evaluate, predict and steps on single batches take, as in Keras 3.15.1.
import '@eagre/backend-js';
import '@eagre/backend-native';
import { ones, type Tensor, zeros } from '@eagre/core';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { type CallOptions, Layer } from '../layer/layer.ts';
import * as layers from '../layers/index.ts';
import { Input } from '../models/functional.ts';
import { Model } from '../models/model.ts';
import { Sequential } from '../models/sequential.ts';

const quiet = { verbose: 0 } as const;
const x = ones([10, 2]);

describe('without targets', () => {
  class Own extends Layer {
    readonly dense = new layers.Dense(1);
    override call(v: Tensor, _: CallOptions = {}): Tensor {
      const y = this.dense<Tensor>(v);
      this.addLoss(y.square().mean());
      return y;
    }
  }
  const make = (): Model => {
    const model = new Sequential([Input([2]), new Own()]);
    model.compile({ optimizer: 'sgd' });
    return model;
  };
  test.each([
    ['validationSplit', { validationSplit: 0.2 }],
    ['a tensor', { validationData: x }],
    ['a list of one', { validationData: [x] as const }],
    ['a tensor by name', { validationData: { input_layer: x } }],
  ])('validates on %s', async (_, options) => {
    const model = new Sequential([Input({ shape: [2], name: 'input_layer' }), new Own()]);
    model.compile({ optimizer: 'sgd' });
    const { history } = await model.fit(x, { ...quiet, ...options });
    expect(history['val_loss']).toHaveLength(1);
  });
  test('of examples that are too few, or a wrong form, it says so', async () => {
    await expect(make().fit(x, { ...quiet, validationSplit: 0.999 })).rejects.toThrow('no examples');
    await expect(make().fit(x, { ...quiet, validationData: 3 as never })).rejects.toThrow('validationData');
  });
});

test('validationFreq may be a list of epochs', async () => {
  const model = new Sequential([Input([2]), new layers.Dense(1)]);
  model.compile({ optimizer: 'sgd', loss: 'mse' });
  const y = zeros([10, 1]);
  const options = { ...quiet, epochs: 5, validationData: [x, y] as const };
  const { history } = await model.fit(x, y, { ...options, validationFreq: [1, 4] });
  expect(history['val_loss']).toHaveLength(2);
  await expect(model.fit(x, y, { ...options, validationFreq: [0] })).rejects.toThrow('validationFreq');
});

describe('tensors by name', () => {
  const make = (): Model => {
    const [a, b] = [Input({ shape: [2], name: 'a' }), Input({ shape: [2], name: 'b' })];
    const model = new Model({ a, b }, new layers.Dense(1)(new layers.Add()([a, b])));
    model.compile({ optimizer: 'sgd', loss: 'mse' });
    return model;
  };
  const y = zeros([10, 1]);
  const given = { a: x, b: x, id: zeros([10], { dtype: 'int32' }) };

  test('those that the model has no input for are left out everywhere', async () => {
    const model = make();
    await model.fit(given, y, quiet);
    await model.evaluate(given, y, quiet);
    expect(((await model.predict(given, quiet)) as Tensor).shape).toEqual([10, 1]);
    await model.trainOnBatch(given, y);
    await model.testOnBatch(given, y);
    expect((model.predictOnBatch(given) as Tensor).shape).toEqual([10, 1]);
    const batches = {
      *[Symbol.iterator]() {
        yield [given, y] as const;
      },
    };
    await model.fit(batches as never, quiet);
    await model.fit({ ...given, note: ['no', 'tensor', 'of', 'ten'] as never }, y, quiet);
    await expect(model.fit({ a: x, c: x } as never, y, quiet)).rejects.toThrow("no input 'c'");
  });
  test('a Sequential model with an Input that has a name takes it by that', async () => {
    const model = new Sequential([Input({ shape: [2], name: 'a' }), new layers.Dense(1)]);
    model.compile({ optimizer: 'sgd', loss: 'mse' });
    expect((model({ a: x }) as Tensor).array()).toEqual((model(x) as Tensor).array());
    await model.fit({ a: x }, y, quiet);
    await model.fit(given as never, y, quiet);
    expect(((await model.predict({ a: x }, quiet)) as Tensor).shape).toEqual([10, 1]);
  });
});

describe('a model without trainable weights', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });
  test('says so when it is trained, once', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const model = new Sequential([Input([2]), new layers.Dense(1)]);
    model.trainable = false;
    model.compile({ optimizer: 'sgd', loss: 'mse' });
    await model.fit(x, zeros([10, 1]), { ...quiet, epochs: 2 });
    expect(warn.mock.calls.flat()).toEqual([expect.stringContaining('no trainable weights')]);
    warn.mockClear();
    model.trainable = true;
    await model.fit(x, zeros([10, 1]), quiet);
    expect(warn).not.toHaveBeenCalled();
  });
});
