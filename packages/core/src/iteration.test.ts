import '@eagre/backend-js';
import { expect, test } from 'vitest';
import { constant, Tensor, zeros } from './index.ts';

test('a tensor is iterable along its first axis', () => {
  const x = constant([
    [1, 2],
    [3, 4],
  ]);
  const [a, b] = x;
  expect([a?.array(), b?.array()]).toEqual([
    [1, 2],
    [3, 4],
  ]);
  let sum = 0;
  for (const row of constant([10, 12, 15, 20], 'int32')) sum += row.item() % 2 > 0 ? 0 : row.item();
  expect(sum).toBe(42);
  expect([...zeros([0, 3])]).toEqual([]);
  expect([...constant(['a', 'b'])].every((s) => s instanceof Tensor && s.rank === 0)).toBe(true);
  expect(() => [...constant(1)]).toThrow(TypeError);
  expect(Symbol.iterator in constant([1])).toBe(true);
  expect(constant(1)).not.toBe(constant(1));
});
