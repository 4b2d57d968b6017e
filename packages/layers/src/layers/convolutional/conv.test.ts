import '@eagre/backend-js';
import '@eagre/backend-native';
import { constant, InvalidArgumentError, nn, ones, zeros } from '@eagre/core';
import { describe, expect, test } from 'vitest';
import { runLayerTest } from '../../testing/run-layer-test.ts';
import { Conv1D, Conv2D, Conv2DTranspose, Conv3D, DepthwiseConv2D, SeparableConv2D } from '../index.ts';

describe('Conv2D', () => {
  test.each([
    [[4, 3], [2, 5, 6, 2], [2, 3, 4, 4], 2],
    [[4, [3, 2], { padding: 'same', activation: 'relu' }], [2, 5, 6, 2], [2, 5, 6, 4], 2],
    [[3, 3, { strides: 2, padding: 'same', useBias: false }], [2, 5, 6, 2], [2, 3, 3, 3], 1],
    [[3, 2, { strides: [2, 3], activation: 'tanh' }], [1, 7, 8, 2], [1, 3, 3, 3], 2],
    [[2, 3, { dilationRate: [2, 1] }], [1, 6, 6, 3], [1, 2, 4, 2], 2],
    [[4, 2, { groups: 2, kernelRegularizer: 'l1' }], [1, 4, 4, 6], [1, 3, 3, 4], 2],
  ] as const)('%j of %j', (args, inputShape, outputShape, trainable) => {
    runLayerTest(Conv2D, { args: args as unknown as [number, number], inputShape, outputShape, trainable });
  });

  test('shapes with unknown sizes', () => {
    expect(new Conv2D(4, 3).computeOutputShape([null, null, 9, null])).toEqual([null, null, 7, 4]);
    expect(new Conv2D(4, 3, { padding: 'same', strides: 2 }).computeOutputShape([null, null, 9, 1])).toEqual([
      null,
      null,
      5,
      4,
    ]);
  });

  test('kernels are [height, width, channels / groups, filters]', () => {
    const layer = new Conv2D(4, [2, 3], { groups: 2 });
    layer(ones([1, 4, 4, 6]));
    expect(layer.namedWeights.map((w) => [w.path, w.variable.shape])).toEqual([
      ['kernel', [2, 3, 3, 4]],
      ['bias', [4]],
    ]);
  });

  test('says what does not fit', () => {
    const layer = new Conv2D(4, 3, { name: 'conv2d_1' });
    expect(() => layer(ones([32, 784]))).toThrow(
      "Conv2D 'conv2d_1' expects input of rank 4 [batch, height, width, channels], got [32, 784]",
    );
    expect(() => layer(ones([1, 2, 5, 1]))).toThrow(
      'a window of 3 pixels that does not fit into the 2 of its input',
    );
    layer(ones([1, 5, 5, 2]));
    expect(() => layer(ones([1, 5, 5, 3]))).toThrow('was built for 2 channels, got 3 (input [1, 5, 5, 3])');
    expect(() => new Conv2D(4, 3, { groups: 3 })).toThrow('filters to be a multiple of groups, got 4 and 3');
    expect(() => new Conv2D(4, 3, { groups: 2 })(ones([1, 5, 5, 3]))).toThrow(
      'channels to be a multiple of its 2 groups',
    );
    expect(() => new Conv2D(4, 3, { strides: 2, dilationRate: 2 })).toThrow('together');
    expect(() => new Conv2D(4, 3, { padding: 'full' as 'same' })).toThrow(
      "padding 'valid' or 'same', got \"full\"",
    );
    expect(() => new Conv2D(4, 3, { dataFormat: 'channels' as 'channelsLast' })).toThrow(
      "needs dataFormat 'channelsLast' or 'channelsFirst', got",
    );
    expect(() => new Conv2D(4, 3, { padding: 'causal' as 'same' })).toThrow("padding 'valid' or 'same', got");
    expect(() => new Conv1D(4, 3, { padding: 'full' as 'same' })).toThrow(
      "padding 'valid', 'same' or 'causal', got",
    );
    expect(() => new Conv1D(4, 3)(ones([1, 5, 5, 2]))).toThrow('rank 3 [batch, steps, features]');
    expect(() => new Conv1D(4, 3)(ones([1, 2, 2]))).toThrow(
      'a window of 3 steps that does not fit into the 2',
    );
    expect(() => new Conv1D(4, [3, 3] as unknown as [number])).toThrow(
      'kernelSize to be an integer of at least 1, got [3,3]',
    );
    expect(() => new Conv3D(4, [3, 3] as never)).toThrow('at least 1 or three of them, got [3,3]');
    const first = new Conv2D(4, 3, { dataFormat: 'channelsFirst' });
    expect(() => first(ones([5, 5]))).toThrow('rank 4 [batch, channels, height, width], got [5, 5]');
    first(ones([1, 2, 5, 5]));
    expect(() => first(ones([1, 3, 5, 5]))).toThrow('was built for 2 channels, got 3');
    expect(() => new Conv2D(0, 3)).toThrow(InvalidArgumentError);
    expect(() => new Conv2D(4, [3, 0])).toThrow(
      'kernelSize to be an integer of at least 1 or two of them, got [3,0]',
    );
    expect(() => new Conv2D(4, [1, 2, 3] as unknown as [number, number])).toThrow(InvalidArgumentError);
    expect(() => new Conv2D(4, undefined as unknown as number)).toThrow(InvalidArgumentError);
  });
});

test('filters that take more channels than there are', () => {
  expect(() => nn.conv3d(ones([1, 3, 3, 3, 2]), ones([2, 2, 2, 3, 4]))).toThrow(
    'has 2 channels, filters [2, 2, 2, 3, 4] take 3 and give 4: they do not fit',
  );
});

test('biases are those of channels, also where the last axis is as long', () => {
  const first = new Conv2D(3, 1, { dataFormat: 'channelsFirst' });
  const x = ones([1, 2, 4, 3]);
  first(x);
  first.setWeights([zeros([1, 1, 2, 3]), constant([1, 2, 3])]);
  expect(first(x).mean([2, 3]).array()).toEqual([[1, 2, 3]]);
});

describe('Conv2DTranspose', () => {
  test.each([
    [[2, 3], [1, 3, 4, 2], [1, 5, 6, 2], 2],
    [[2, 3, { strides: 2, padding: 'same', activation: 'relu' }], [1, 3, 4, 2], [1, 6, 8, 2], 2],
    [[2, 2, { strides: 3, useBias: false }], [2, 2, 3, 2], [2, 6, 9, 2], 1],
    [[2, 3, { strides: 2, outputPadding: 1 }], [1, 3, 4, 2], [1, 8, 10, 2], 2],
    [[2, 3, { strides: 2, outputPadding: 0, padding: 'same' }], [1, 3, 4, 2], [1, 5, 7, 2], 2],
  ] as const)('%j of %j', (args, inputShape, outputShape, trainable) => {
    runLayerTest(Conv2DTranspose, {
      args: args as unknown as [number, number],
      inputShape,
      outputShape,
      trainable,
    });
  });

  test('says what does not fit', () => {
    expect(() => new Conv2DTranspose(2, 3, { strides: 2, outputPadding: 2 })).toThrow(
      'outputPadding below strides [2,2]',
    );
    expect(new Conv2DTranspose(2, 3).computeOutputShape([null, null, 4, 1])).toEqual([null, null, 6, 2]);
  });
});

describe('DepthwiseConv2D and SeparableConv2D', () => {
  test.each([
    [[3], [2, 5, 6, 3], [2, 3, 4, 3], 2],
    [[[3, 2], { depthMultiplier: 2, padding: 'same', activation: 'relu' }], [1, 5, 6, 3], [1, 5, 6, 6], 2],
    [[2, { strides: [1, 2], useBias: false }], [1, 5, 6, 2], [1, 4, 3, 2], 1],
  ] as const)('depthwise %j of %j', (args, inputShape, outputShape, trainable) => {
    runLayerTest(DepthwiseConv2D, { args: args as unknown as [number], inputShape, outputShape, trainable });
  });
  test.each([
    [[4, 3], [2, 5, 6, 3], [2, 3, 4, 4], 3],
    [[4, 3, { depthMultiplier: 2, padding: 'same', useBias: false }], [1, 5, 6, 3], [1, 5, 6, 4], 2],
  ] as const)('separable %j of %j', (args, inputShape, outputShape, trainable) => {
    runLayerTest(SeparableConv2D, {
      args: args as unknown as [number, number],
      inputShape,
      outputShape,
      trainable,
    });
  });
});
