import { expect, test } from 'vitest';
import { median, pool, quantile, summarize, thin, trimmedMean } from './statistics.ts';

test('quantiles interpolate', () => {
  expect(quantile([1, 2, 3, 4], 0)).toBe(1);
  expect(quantile([1, 2, 3, 4], 0.5)).toBe(2.5);
  expect(quantile([1, 2, 3, 4], 1)).toBe(4);
  expect(quantile([7], 0.9)).toBe(7);
  expect(quantile([], 0.5)).toBeNaN();
  expect(median([3, 1, 2])).toBe(2);
});

test('a trimmed mean counts what every few runs cost, not what disturbed a few', () => {
  const collects = Array.from({ length: 100 }, (_, i) => (i % 3 === 0 ? 9 : 6));
  expect(median(collects)).toBe(6);
  expect(trimmedMean(collects)).toBeCloseTo((66 * 6 + 24 * 9) / 90, 9);
  expect(trimmedMean([...new Array<number>(19).fill(2), 1000])).toBe(2);
  expect(trimmedMean([5])).toBe(5);
});

test('a summary does not depend on the order', () => {
  const samples = Array.from({ length: 11 }, (_, i) => (i * 7) % 11);
  expect(summarize(samples)).toEqual({ median: 5, low: 1, high: 9, runs: 11 });
});

test('thinning keeps the distribution', () => {
  const samples = Array.from({ length: 10_001 }, (_, i) => (i * 7919) % 10_001);
  const few = thin(samples);
  expect(few).toHaveLength(500);
  expect(few[0]).toBe(0);
  expect(few.at(-1)).toBe(10_000);
  expect(Math.abs(median(few) - 5000)).toBeLessThan(30);
  expect(thin([3, 1, 2])).toEqual([1, 2, 3]);
});

test('each round counts the same', () => {
  const many = { samples: new Array<number>(400).fill(1), runs: 4000 };
  const few = { samples: [3, 3, 3], runs: 3 };
  const pooled = pool([many, few, few]);
  expect(pooled.median).toBe(3);
  expect(pooled.low).toBe(1);
  expect(pooled.runs).toBe(4006);
});
