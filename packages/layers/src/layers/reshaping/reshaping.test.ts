import '@eagre/backend-js';
import '@eagre/backend-native';
import { constant, InvalidArgumentError, ones, type Tensor, zeros } from '@eagre/core';
import { describe, expect, test } from 'vitest';
import { runLayerTest } from '../../testing/run-layer-test.ts';
import { Flatten, Permute, RepeatVector, Reshape, UpSampling2D, ZeroPadding2D } from '../index.ts';

describe('Flatten', () => {
  test.each([
    [
      [2, 3, 4],
      [2, 12],
    ],
    [
      [2, 5],
      [2, 5],
    ],
    [[3], [3, 1]],
    [
      [2, 1, 2, 3],
      [2, 6],
    ],
  ] as const)('%j', (inputShape, outputShape) => {
    runLayerTest(Flatten, { args: [], inputShape, outputShape });
  });
  test('shares memory and keeps integers', () => {
    const x = ones([2, 3, 4]);
    expect(new Flatten()(x).storage).toBe(x.storage);
    expect(new Flatten()(constant([[[1]]], 'int32')).dtype).toBe('int32');
    expect(new Flatten()(zeros([0, 3, 4])).shape).toEqual([0, 12]);
    expect(new Flatten().computeOutputShape([null, null, 3])).toEqual([null, null]);
    expect(() => new Flatten()(constant(1))).toThrow('got a scalar');
  });
});

describe('Reshape', () => {
  test.each([
    [
      [3, 4],
      [2, 12],
      [2, 3, 4],
    ],
    [[-1], [2, 3, 4], [2, 12]],
    [
      [2, -1, 3],
      [2, 12],
      [2, 2, 2, 3],
    ],
    [[], [2, 1], [2]],
  ] as const)('%j of %j', (target, inputShape, outputShape) => {
    runLayerTest(Reshape, { args: [target as readonly number[]], inputShape, outputShape });
  });
  test('finds sizes and says what does not fit', () => {
    expect(new Reshape([-1, 2]).computeOutputShape([null, null, 4])).toEqual([null, null, 2]);
    expect(new Reshape([-1, 2])(zeros([0, 4])).shape).toEqual([0, 2, 2]);
    expect(() => new Reshape([5])(ones([2, 4]))).toThrow(
      'cannot give examples of shape [4] (4 elements) the shape [5]',
    );
    expect(() => new Reshape([3, -1])(ones([2, 4]))).toThrow(InvalidArgumentError);
    expect(() => new Reshape([-1, -1])).toThrow('-1 at most once');
    expect(() => new Reshape([-2])).toThrow(InvalidArgumentError);
  });
});

test('Permute', () => {
  runLayerTest(Permute, { args: [[2, 1]], inputShape: [2, 3, 4], outputShape: [2, 4, 3] });
  runLayerTest(Permute, { args: [[3, 1, 2]], inputShape: [2, 3, 4, 5], outputShape: [2, 5, 3, 4] });
  expect(() => new Permute([0, 1])).toThrow('the numbers 1 … n');
  expect(() => new Permute([2, 1])(ones([2, 3]))).toThrow('rank 3');
});

test('RepeatVector', () => {
  runLayerTest(RepeatVector, { args: [3], inputShape: [2, 4], outputShape: [2, 3, 4] });
  expect((new RepeatVector(2)([[1, 2]]) as Tensor).array()).toEqual([
    [
      [1, 2],
      [1, 2],
    ],
  ]);
  expect(() => new RepeatVector(2)(ones([1, 2, 3]))).toThrow('[batch, features]');
});

describe('ZeroPadding2D', () => {
  test.each([
    [[], [1, 2, 3, 2], [1, 4, 5, 2]],
    [[2], [1, 2, 3, 2], [1, 6, 7, 2]],
    [[[1, 0]], [1, 2, 3, 2], [1, 4, 3, 2]],
    [
      [
        [
          [1, 2],
          [0, 3],
        ],
      ],
      [1, 2, 3, 2],
      [1, 5, 6, 2],
    ],
    [[{ padding: [1, 2] }], [1, 2, 3, 2], [1, 4, 7, 2]],
  ] as const)('%j of %j', (args, inputShape, outputShape) => {
    runLayerTest(ZeroPadding2D, { args: args as unknown as [number], inputShape, outputShape });
  });
  test('says what does not fit', () => {
    expect(() => new ZeroPadding2D(-1)).toThrow(InvalidArgumentError);
    expect(() => new ZeroPadding2D([1, 2, 3] as unknown as number)).toThrow(InvalidArgumentError);
    expect(() => new ZeroPadding2D()(ones([2, 2]))).toThrow('rank 4');
    expect(new ZeroPadding2D().computeOutputShape([null, null, 1, 1])).toEqual([null, null, 3, 1]);
  });
});

test('UpSampling2D', () => {
  runLayerTest(UpSampling2D, { args: [], inputShape: [1, 2, 3, 2], outputShape: [1, 4, 6, 2] });
  runLayerTest(UpSampling2D, { args: [[3, 1]], inputShape: [1, 2, 3, 2], outputShape: [1, 6, 3, 2] });
  expect((new UpSampling2D(2)([[[[1], [2]]]]) as Tensor).reshape([2, 4]).array()).toEqual([
    [1, 1, 2, 2],
    [1, 1, 2, 2],
  ]);
  expect(() => new UpSampling2D({ interpolation: 'cubic' as 'nearest' })).toThrow(
    "needs interpolation 'nearest'",
  );
});
