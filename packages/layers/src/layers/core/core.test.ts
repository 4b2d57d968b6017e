import '@eagre/backend-js';
import '@eagre/backend-native';
import { constant, ones, type Tensor } from '@eagre/core';
import { describe, expect, test } from 'vitest';
import { Input } from '../../models/functional.ts';
import { Model } from '../../models/model.ts';
import { Sequential } from '../../models/sequential.ts';
import { layerClasses, requiredArguments } from '../../testing/layer-arguments.ts';
import { runLayerTest } from '../../testing/run-layer-test.ts';
import * as layers from '../index.ts';

const { Conv2D, Dense, Flatten, Identity, InputLayer, Lambda, MaxPooling2D, Rescaling } = layers;

test('Identity and Rescaling', () => {
  runLayerTest(Identity, { args: [], inputShape: [2, 3], outputShape: [2, 3] });
  runLayerTest(Rescaling, { args: [1 / 255], inputShape: [2, 3], outputShape: [2, 3] });
  runLayerTest(Rescaling, {
    args: [[1, 2, 3], { offset: [1, 0, -1] }],
    inputShape: [2, 3],
    outputShape: [2, 3],
  });
  const bytes = constant({ data: Uint8Array.of(0, 255), shape: [1, 2] });
  expect((new Rescaling(2 / 255, { offset: -1 })(bytes) as Tensor).array()).toEqual([[-1, 1]]);
  expect(() => new Rescaling('1' as unknown as number)).toThrow('needs numbers');
});

describe('InputLayer', () => {
  test('gives a Sequential model its shape', () => {
    const model = new Sequential([new InputLayer({ shape: [2, 2] }), new Flatten(), new Dense(3)]);
    expect(model.countParams()).toBe(15);
    expect(model(ones([1, 2, 2])).shape).toEqual([1, 3]);
    expect(() => model(ones([1, 2, 3]))).toThrow('expects input of shape [any, 2, 2], got [1, 2, 3]');
  });
  test('knows the batch', () => {
    const ways = [{ shape: [2], batchSize: 4 }, { batchShape: [4, 2] }] as const;
    for (const options of ways) {
      const layer = new InputLayer(options);
      expect(layer.getConfig()).toMatchObject({ batch_shape: [4, 2] });
      expect(InputLayer.fromConfig(layer.getConfig()).getConfig()).toEqual(layer.getConfig());
      expect(new Sequential([layer, new Dense(3)]).outputShape).toEqual([4, 3]);
    }
    for (const wrong of [
      { shape: [2], batchShape: [4, 2] },
      { batchSize: 4, batchShape: [4, 2] },
    ])
      expect(() => new InputLayer(wrong)).toThrow('either shape and batchSize, or batchShape');
    expect(() => new InputLayer({ shape: [2], batchSize: 0 })).toThrow('batchSize must be');
  });
  test('as a layer', () => {
    runLayerTest(InputLayer, { args: [{ shape: [null, 3] }], inputShape: [2, 4, 3], outputShape: [2, 4, 3] });
    expect(() => new InputLayer({})).toThrow('needs a shape');
  });
});

describe('Lambda', () => {
  test('computes what the function says', () => {
    const layer = new Lambda((x) => x.square().sum(-1));
    expect(layer(ones([2, 3])).array()).toEqual([3, 3]);
    expect(layer.computeOutputShape([null, 3])).toEqual([null]);
    expect(new Lambda((x) => x, { outputShape: [7] }).computeOutputShape([null, 3])).toEqual([null, 7]);
    expect(new Lambda((x) => x, { outputShape: (s) => [...s, 1] }).computeOutputShape([null, 3])).toEqual([
      null,
      3,
      1,
    ]);
  });
  test('what the function keeps stays valid', () => {
    const kept: Tensor[] = [];
    const model = new Sequential([
      new Dense(2),
      new Lambda((x) => {
        const y = x.mul(2);
        kept.push(x, y);
        return y.add(1);
      }),
      new Dense(1),
    ]);
    model(ones([1, 2]));
    expect(kept.filter((t) => t.isDisposed)).toEqual([]);
  });
});

test('every class is callable, has a snake_case name and makes itself from its configuration', () => {
  for (const [name, Class] of layerClasses) {
    const layer = name === 'InputLayer' ? new Class({ shape: [1] }) : new Class(...requiredArguments(name));
    expect(layer, name).toBeInstanceOf(Class);
    expect(typeof layer).toBe('function');
    expect(layer.name).toMatch(/^[a-z]+[a-z0-9]*(_[a-z0-9]+)*$/);
    const again = Class.fromConfig({ ...layer.getConfig(), name: 'again', trainable: false });
    expect(again, name).toBeInstanceOf(Class);
    expect([again.name, again.trainable]).toEqual(['again', false]);
  }
});

test('a convolutional network, sequential and functional', () => {
  const make = (): layers.Layer[] => [
    new Conv2D(4, 3, { activation: 'relu' }),
    new MaxPooling2D(),
    new Flatten(),
    new Dense(10),
  ];
  const x = ones([2, 8, 8, 1]);
  const sequential = new Sequential(make());
  expect(sequential(x).shape).toEqual([2, 10]);
  expect(sequential.namedWeights.map((w) => w.path)).toEqual([
    'conv2d/kernel',
    'conv2d/bias',
    'dense/kernel',
    'dense/bias',
  ]);
  const inputs = Input({ shape: [8, 8, 1] });
  const outputs = make().reduce((t, layer) => layer(t), inputs);
  expect(outputs.shape).toEqual([null, 10]);
  const model = new Model({ inputs, outputs });
  model.setWeights(sequential.getWeights());
  expect(model(x).data()).toEqual(sequential(x).data());
});
