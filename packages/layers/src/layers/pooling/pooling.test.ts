import '@eagre/backend-js';
import '@eagre/backend-native';
import { constant, InvalidArgumentError, ones } from '@eagre/core';
import { describe, expect, test } from 'vitest';
import { runLayerTest } from '../../testing/run-layer-test.ts';
import {
  AveragePooling2D,
  GlobalAveragePooling1D,
  GlobalAveragePooling2D,
  GlobalMaxPooling1D,
  GlobalMaxPooling2D,
  MaxPooling2D,
} from '../index.ts';

describe.each([MaxPooling2D, AveragePooling2D])('%o', (Class) => {
  test.each([
    [[], [2, 4, 6, 3], [2, 2, 3, 3]],
    [[2], [2, 5, 7, 3], [2, 2, 3, 3]],
    [[{ poolSize: 3, strides: 1 }], [1, 5, 6, 2], [1, 3, 4, 2]],
    [
      [[3, 2], { strides: [2, 1], padding: 'same' }],
      [1, 5, 6, 2],
      [1, 3, 6, 2],
    ],
  ] as const)('%j of %j', (args, inputShape, outputShape) => {
    runLayerTest(Class, { args: args as unknown as [number], inputShape, outputShape });
  });

  test('says what does not fit', () => {
    expect(() => new Class(2)(ones([2, 4]))).toThrow(
      'expects input of rank 4 [batch, height, width, channels], got [2, 4]',
    );
    expect(() => new Class(3)(ones([1, 2, 4, 1]))).toThrow(InvalidArgumentError);
    expect(() => new Class(3).computeOutputShape([1, 2, 4, 1])).toThrow('a window of 3 pixels');
    expect(() => new Class(0)).toThrow(InvalidArgumentError);
    expect(new Class(2).computeOutputShape([null, null, 5, null])).toEqual([null, null, 2, null]);
  });
});

test.each([GlobalAveragePooling2D, GlobalMaxPooling2D])('%o', (Class) => {
  runLayerTest(Class, { args: [], inputShape: [2, 3, 4, 5], outputShape: [2, 5] });
  runLayerTest(Class, { args: [{ keepdims: true }], inputShape: [2, 3, 4, 5], outputShape: [2, 1, 1, 5] });
  expect(() => new Class()(ones([2, 3]))).toThrow('rank 4');
});

test.each([GlobalAveragePooling1D, GlobalMaxPooling1D])('%o', (Class) => {
  runLayerTest(Class, { args: [], inputShape: [2, 3, 5], outputShape: [2, 5] });
  runLayerTest(Class, { args: [{ keepdims: true }], inputShape: [2, 3, 5], outputShape: [2, 1, 5] });
  expect(new Class().computeOutputShape([null, null, 5])).toEqual([null, 5]);
  expect(() => new Class()(ones([2, 3]))).toThrow('rank 3 [batch, steps, features], got [2, 3]');
});

test('over steps', () => {
  const x = constant([
    [
      [1, 2],
      [3, 8],
    ],
  ]);
  expect(new GlobalAveragePooling1D()(x).array()).toEqual([[2, 5]]);
  expect(new GlobalMaxPooling1D()(x).array()).toEqual([[3, 8]]);
});
