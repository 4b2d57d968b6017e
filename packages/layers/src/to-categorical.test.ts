import '@eagre/backend-js';
import { constant, InvalidArgumentError } from '@eagre/core';
import { expect, test } from 'vitest';
import { toCategorical } from './to-categorical.ts';

// As Keras's to_categorical of the same arguments.
test('labels become rows', () => {
  const y = toCategorical([0, 2, 1], 4);
  expect([y.dtype, y.shape]).toEqual(['float32', [3, 4]]);
  expect(y.array()).toEqual([
    [1, 0, 0, 0],
    [0, 0, 1, 0],
    [0, 1, 0, 0],
  ]);
  expect(toCategorical(constant([[1], [0]], 'int64')).array()).toEqual([
    [0, 1],
    [1, 0],
  ]);
  expect(toCategorical(Uint8Array.of(1)).array()).toEqual([[0, 1]]);
  expect(toCategorical([[0, 1]]).shape).toEqual([1, 2, 2]);
  expect(toCategorical(2).array()).toEqual([0, 0, 1]);
});

test('what is no class is refused', () => {
  expect(() => toCategorical([0, 4], 4)).toThrow(
    'toCategorical: expected integers from 0 to 3 as labels, got 4',
  );
  expect(() => toCategorical([-1])).toThrow('expected integers from 0 as labels, got -1');
  expect(() => toCategorical([0.5])).toThrow('got 0.5');
  expect(() => toCategorical([2 ** 40])).toThrow('got 1099511627776');
  expect(() => toCategorical(['a'])).toThrow('got strings');
  expect(() => toCategorical([0], 0)).toThrow(InvalidArgumentError);
  expect(() => toCategorical([0], 1.5)).toThrow('numClasses must be an integer of at least 1, got 1.5');
  expect(() => toCategorical(new Int32Array(0))).toThrow('there are no labels: give numClasses');
  expect(toCategorical(new Int32Array(0), 3).shape).toEqual([0, 3]);
});
