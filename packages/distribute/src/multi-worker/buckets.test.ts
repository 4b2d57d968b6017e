import { expect, test } from 'vitest';
import { bucketsOf, type Sized } from './buckets.ts';

const floats = (...sizes: readonly number[]): readonly Sized[] =>
  sizes.map((n) => ({ dtype: 'float32', shape: [n] }));

test('buckets hold the last variables first: 1 MB, then 25 MB', () => {
  const mb = 2 ** 18;
  expect(bucketsOf(floats(mb, mb, mb / 2, mb / 2), 0)).toEqual([
    [3, 2],
    [1, 0],
  ]);
  const many = bucketsOf(floats(...Array<number>(60).fill(mb)), 0);
  expect(many.map((bucket) => bucket.length)).toEqual([1, 25, 25, 9]);
  expect(many.flat()).toEqual(Array.from({ length: 60 }, (_, i) => 59 - i));
  expect(bucketsOf(floats(30 * mb, 1), 0)).toEqual([[1, 0]]);
});

test('bytesPerPack is the size of all buckets', () => {
  expect(bucketsOf(floats(2, 2, 2, 2, 2), 16)).toEqual([[4, 3], [2, 1], [0]]);
  expect(bucketsOf(floats(2, 2), 1)).toEqual([[1], [0]]);
  expect(bucketsOf([], 0)).toEqual([]);
});
