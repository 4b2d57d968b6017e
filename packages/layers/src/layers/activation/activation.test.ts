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

test('softmax over several axes and with masks, as in Keras', () => {
  const x = constant([[[1, 2, 3], [4, 5, 7]]]); // biome-ignore format: rows
  const mask = constant([[[1, 0, 1], [0, 0, 0]]]).cast('bool'); // biome-ignore format: rows
  const close = (y: unknown, expected: readonly number[], dtype = 'float32'): void => {
    expect((y as Tensor).dtype).toBe(dtype);
    expect([...((y as Tensor).cast('float32').data() as Float32Array)]).toEqual(
      expected.map((v) => expect.closeTo(v, 6)),
    );
  };
  close(new Softmax([1, 2])(x), [0.00204407, 0.00555636, 0.0151038, 0.0410563, 0.1116025, 0.824637]);
  // What is hidden is 0, also where nothing is left.
  for (const axis of [[-1, -2], -1]) close(new Softmax({ axis })(x, mask), [0.119203, 0, 0.880797, 0, 0, 0]);
  close(new Softmax({ dtype: 'float16' })(x, mask), [0.11920166, 0, 0.880859375, 0, 0, 0], 'float16');
  expect(() => new Softmax([0, 3])(x)).toThrow('axis 0,3, which input [1, 2, 3] does not have');
});
