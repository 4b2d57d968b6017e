import '@eagre/backend-js';
import '@eagre/backend-native';
import { constant, InvalidArgumentError, type Tensor } from '@eagre/core';
import { expect, test } from 'vitest';
import { runLayerTest } from '../../testing/run-layer-test.ts';
import { Activation, LeakyReLU, ReLU, Softmax } from '../index.ts';

test('as layers', () => {
  const shapes = { inputShape: [2, 3], outputShape: [2, 3] };
  for (const name of ['relu', 'gelu', 'softmax', 'linear', 'hard_sigmoid'] as const)
    runLayerTest(Activation, { args: [name], ...shapes });
  runLayerTest(Activation, { args: [null], ...shapes });
  runLayerTest(ReLU, { args: [], ...shapes });
  runLayerTest(ReLU, { args: [{ maxValue: 6, negativeSlope: 0.1, threshold: 0.2 }], ...shapes });
  runLayerTest(LeakyReLU, { args: [], ...shapes });
  runLayerTest(LeakyReLU, { args: [0.2, { name: 'leaky' }], ...shapes });
  runLayerTest(LeakyReLU, { args: [{ negativeSlope: 0 }], ...shapes });
  runLayerTest(Softmax, { args: [], ...shapes });
  runLayerTest(Softmax, { args: [1], ...shapes });
  runLayerTest(Softmax, { args: [{ axis: 0 }], ...shapes });
});

test('values', () => {
  const x = constant([-2, 0, 1, 8]);
  expect((new ReLU({ maxValue: 6 })(x) as Tensor).array()).toEqual([0, 0, 1, 6]);
  expect((new ReLU({ threshold: 2, negativeSlope: 0.5 })(x) as Tensor).array()).toEqual([-2, -1, -0.5, 8]);
  expect((new LeakyReLU(0.5)(x) as Tensor).array()).toEqual([-1, 0, 1, 8]);
  expect((new Activation((t) => t.square())(x) as Tensor).array()).toEqual([4, 0, 1, 64]);
});

test('says what does not fit', () => {
  expect(() => new ReLU({ negativeSlope: -1 })).toThrow('negativeSlope to be a number of at least 0, got -1');
  expect(() => new LeakyReLU(-1)).toThrow(InvalidArgumentError);
  expect(() => new Softmax(2)([1, 2])).toThrow('axis 2, which input [2] does not have');
  expect(() => new Softmax(0.5)).toThrow(InvalidArgumentError);
  expect(() => new Activation('nope' as never)).toThrow("unknown activation 'nope'");
});
