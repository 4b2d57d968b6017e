import '@eagre/backend-js';
import { expect, test } from 'vitest';
import { context } from '../dispatch/context.ts';
import { constant, memory, ResourceExhaustedError, range, Tensor, zeros } from '../index.ts';

test('rows are made as they are asked for', () => {
  const x = range(2 ** 22, { dtype: 'int32' }).reshape([2 ** 22, 1]);
  let calls = 0;
  const counter = { record: () => void calls++, variableRead() {} };
  // A tape sees one entry, whose gradient is one tensor; without one, few rows exist at a time.
  const before = memory().js!.bytesTaken;
  let seen = 0;
  for (const row of x) {
    if (row.data()[0] !== seen) break;
    row.dispose();
    if (++seen === 5000) break;
  }
  expect(seen).toBe(5000);
  expect(memory().js!.bytesTaken - before).toBeLessThan(1e6);
  context.tapes = [...context.tapes, counter];
  try {
    expect([...range(5000)]).toHaveLength(5000);
    expect(calls).toBeLessThan(4);
  } finally {
    context.tapes = context.tapes.filter((tape) => tape !== counter);
  }
  expect([...range(5000).reshape([2500, 2])].map((row) => row.data()[1])).toEqual(
    Array.from({ length: 2500 }, (_, i) => 2 * i + 1),
  );
  const words = constant(Array.from({ length: 2500 }, (_, i) => `${i}`));
  expect([...words].map((word) => word.item<string>())).toEqual(words.array());
  expect(() => [...zeros([2 ** 40, 0])]).toThrow(ResourceExhaustedError);
});

test('a disposed row gives its memory back', () => {
  const [a] = range(6).reshape([2, 3]);
  a?.dispose();
  expect(a?.storage.refs).toBe(0);
});

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
