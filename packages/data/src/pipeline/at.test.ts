import '@eagre/backend-js';
import { expect, it } from 'vitest';
import { plain } from '../testing/elements.ts';
import { at } from './at.ts';
import { Dataset } from './dataset.ts';

it('gives an element by its number', () => {
  const squares = Dataset.range(10).map((x) => x.mul(x));
  expect(plain(at(squares, 3))).toBe(9);
  expect(plain(at(squares.skip(2).enumerate(), 5))).toEqual([5, 49]);
  expect(plain(at(Dataset.zip({ a: squares, b: Dataset.fromTensorSlices(['x', 'y']) }), 1))).toEqual({
    a: 1,
    b: 'y',
  });
  expect(() => at(squares, 10)).toThrow(expect.objectContaining({ code: 'OUT_OF_RANGE' }));
  expect(() => at(squares, -1)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }));
  expect(() => at(squares.shuffle(10), 1)).toThrow(expect.objectContaining({ code: 'UNIMPLEMENTED' }));
});
