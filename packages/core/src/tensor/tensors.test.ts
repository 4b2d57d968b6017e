import '@eagre/backend-js';
import { expect, test } from 'vitest';
import {
  constant,
  convertToTensor,
  float32,
  InvalidArgumentError,
  isTensor,
  rank,
  size,
  string,
  Variable,
} from '../index.ts';

test('what is a tensor', () => {
  expect([constant(1), new Variable(1), 1, [1], null].map(isTensor)).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
});

test('conversion casts nothing', () => {
  const x = constant([1, 2]);
  expect(convertToTensor(x)).toBe(x);
  expect(convertToTensor(x, float32)).toBe(x);
  expect(convertToTensor(new Variable([3, 4])).array()).toEqual([3, 4]);
  expect(convertToTensor([1, 2], 'int32').dtype).toBe('int32');
  expect(() => convertToTensor(x, 'int32')).toThrow(InvalidArgumentError);
  expect(() => convertToTensor(x, 'int32')).toThrow(
    "the tensor is float32, not int32; convert it with x.cast('int32')",
  );
});

test('rank and size are tensors', () => {
  for (const [x, r, n] of [
    [constant(5), 0, 1],
    [constant([[1, 2, 3]]), 2, 3],
    [constant([], float32, { shape: [0, 4] }), 2, 0],
    [constant(['a', 'b'], string), 1, 2],
  ] as const) {
    expect([rank(x).item(), rank(x).dtype]).toEqual([r, 'int32']);
    expect([size(x).item(), size(x).dtype]).toEqual([n, 'int32']);
  }
});
