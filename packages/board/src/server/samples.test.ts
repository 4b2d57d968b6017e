import { expect, test } from 'vitest';
import { Samples } from './samples.ts';

const pushed = (most: number, steps: readonly number[]): readonly number[] => {
  const samples = new Samples<number>(most);
  for (const step of steps) samples.push({ step, wallTime: step, value: step });
  return samples.list().map(({ step }) => step);
};

test('evenly chosen, with the last', () => {
  expect(pushed(10, [0, 1, 2])).toEqual([0, 1, 2]);
  const many = pushed(
    10,
    Array.from({ length: 1000 }, (_, i) => i),
  );
  expect(many.length).toBeLessThanOrEqual(11);
  expect(many[0]).toBe(0);
  expect(many.at(-1)).toBe(999);
});

test('a step that comes again drops itself and what is behind it', () => {
  expect(pushed(10, [0, 10, 20, 30, 10, 15])).toEqual([0, 10, 15]);
  expect(pushed(2, [0, 1, 2, 3, 4, 5, 0])).toEqual([0]);
});
