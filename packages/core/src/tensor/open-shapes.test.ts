// Variables whose shape may change.
import { InvalidArgumentError } from '@eagre/backend';
import { expect, test } from 'vitest';
import { constant, Variable } from '../index.ts';

test('a variable takes values of the shapes that it is made for', () => {
  const rows = new Variable([[1, 2]], { shape: [null, 2] });
  expect(rows.shape).toEqual([1, 2]);
  const before = rows.read();
  rows.assign([
    [1, 2],
    [3, 4],
    [5, 6],
  ]);
  expect([rows.shape, rows.rank, rows.size]).toEqual([[3, 2], 2, 6]);
  expect(before.array()).toEqual([[1, 2]]);
  rows.assignAdd([[1, 1]]);
  expect(rows.sum().item()).toBe(27);
  rows.assign(constant([], 'float32', { shape: [0, 2] }));
  expect(rows.size).toBe(0);
  expect(() => rows.assign([[1, 2, 3]])).toThrow(
    "cannot assign float32 [1, 3] to the variable 'Variable' of float32 [null, 2]",
  );
  expect(() => rows.assign([1, 2])).toThrow(InvalidArgumentError);

  const any = new Variable(1, { shape: null });
  any.assign([[1], [2]]);
  expect(any.shape).toEqual([2, 1]);
  any.assign(5);
  expect(any.item()).toBe(5);
  const texts = new Variable(['a'], { shape: [null] });
  texts.assign(['a', 'b']);
  expect(texts.array()).toEqual(['a', 'b']);
});

test('shapes that do not fit are refused', () => {
  expect(() => new Variable([1, 2], { shape: [3] })).toThrow('the first value has shape [2]');
  expect(() => new Variable([1, 2], { shape: [null, null] })).toThrow(InvalidArgumentError);
  for (const shape of [2, 'x', [1.5], [-1], {}])
    expect(() => new Variable([1, 2], { shape: shape as never })).toThrow(InvalidArgumentError);
  const fixed = new Variable([1, 2], { shape: [2] });
  expect(() => fixed.assign([1])).toThrow(InvalidArgumentError);
});
