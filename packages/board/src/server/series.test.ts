import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Series, viewOf } from './series.ts';

const seriesOf = (values: readonly number[], steps = values.map((_, i) => i)): Series => {
  const series = new Series();
  values.forEach((value, i) => {
    series.push(steps[i] as number, 1000 + i, value);
  });
  return series;
};

test('a short series is shown whole', () => {
  const view = viewOf(seriesOf([3, 1, 2]).columns(), { points: 10, smoothing: 0 });
  expect(view).toEqual({
    total: 3,
    start: 1000,
    steps: [0, 1, 2],
    wallTimes: [1000, 1001, 1002],
    values: [3, 1, 2],
    smoothed: [3, 1, 2],
    odd: { nan: 0, infinite: 0, steps: [], wallTimes: [] },
  });
});

test('of a long one no peak is lost', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: -1000, max: 1000 }), { minLength: 1, maxLength: 500 }),
      fc.integer({ min: 4, max: 60 }),
      (values, points) => {
        const view = viewOf(seriesOf(values).columns(), { points, smoothing: 0 });
        expect(view.steps.length).toBeLessThanOrEqual(Math.max(points, 3));
        expect(Math.max(...(view.values as number[]))).toBe(Math.max(...values));
        expect(Math.min(...(view.values as number[]))).toBe(Math.min(...values));
        expect(view.steps).toEqual([...new Set(view.steps)].sort((a, b) => a - b));
        view.steps.forEach((step, i) => {
          expect(view.values[i]).toBe(values[step]);
        });
      },
    ),
  );
});

test('the moving average is debiased, of all points, and steps over what is not finite', () => {
  const view = viewOf(seriesOf([1, Number.NaN, 3, Infinity, 5]).columns(), { points: 100, smoothing: 0.5 });
  // 1; (0.25·1 + 0.5·3) / 0.75; (0.125·1 + 0.25·3 + 0.5·5) / 0.875
  expect(view.smoothed.map((v) => v && Number(v.toFixed(5)))).toEqual([1, null, 2.33333, null, 3.85714]);
  expect(view.values).toEqual([1, null, 3, null, 5]);
});

test('what is not finite is counted, and hides no peak', () => {
  const values = Array.from({ length: 1000 }, (_, i) =>
    i % 10 === 0 ? Infinity : i % 10 === 1 ? Number.NaN : i,
  );
  const view = viewOf(seriesOf(values).columns(), { points: 20, smoothing: 0 });
  expect(view.odd).toMatchObject({ nan: 100, infinite: 100, steps: expect.arrayContaining([0, 1, 10, 11]) });
  expect(view.odd.wallTimes[1]).toBe(1001);
  expect(Math.max(...(view.values as number[]))).toBe(999);
  expect(view.values.filter((v) => v === null).length).toBeLessThanOrEqual(2);
  const none = viewOf(seriesOf(Array(1000).fill(Number.NaN)).columns(), { points: 20, smoothing: 0.5 });
  expect(none.odd.nan).toBe(1000);
  expect(none.odd.steps.length).toBeLessThanOrEqual(200);
  expect(new Set(none.values)).toEqual(new Set([null]));
});

test('a step that is written again drops itself and what is behind it', () => {
  const series = seriesOf([1, 2, 3, 4, 5], [0, 10, 20, 10, 15]);
  const view = viewOf(series.columns(), { points: 10, smoothing: 0 });
  expect(view.steps).toEqual([0, 10, 15]);
  expect(view.values).toEqual([1, 4, 5]);
  series.push(0, 2000, 9);
  expect(viewOf(series.columns(), { points: 10, smoothing: 0 })).toMatchObject({
    steps: [0],
    values: [9],
    start: 2000,
  });
});

test('a range of time', () => {
  const columns = seriesOf(
    Array.from({ length: 100 }, (_, i) => i),
    Array.from({ length: 100 }, (_, i) => 7 * i),
  ).columns();
  const options = { points: 100, smoothing: 0, from: 20, to: 22 };
  expect(viewOf(columns, { ...options, along: 'relative' }).values).toEqual([19, 20, 21, 22]);
  expect(viewOf(columns, { ...options, from: 1020, to: 1022, along: 'time' }).values).toEqual([
    19, 20, 21, 22,
  ]);
});

test('a range has one point more on each side', () => {
  const series = seriesOf(Array.from({ length: 1000 }, (_, i) => i));
  const view = viewOf(series.columns(), { points: 100, smoothing: 0, from: 200, to: 205 });
  expect(view.steps).toEqual([199, 200, 201, 202, 203, 204, 205]);
  expect(view.total).toBe(1000);
  expect(viewOf(series.columns(), { points: 100, smoothing: 0, from: 5000, to: 6000 }).steps).toEqual([999]);
});
