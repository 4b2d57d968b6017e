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
    steps: [0, 1, 2],
    wallTimes: [1000, 1001, 1002],
    values: [3, 1, 2],
    smoothed: [3, 1, 2],
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

test('steps that were written again are put in order', () => {
  const view = viewOf(seriesOf([1, 2, 3, 4], [0, 10, 5, 10]).columns(), { points: 10, smoothing: 0 });
  expect(view.steps).toEqual([0, 5, 10, 10]);
  expect(view.values).toEqual([1, 3, 2, 4]);
});

test('a range has one point more on each side', () => {
  const series = seriesOf(Array.from({ length: 1000 }, (_, i) => i));
  const view = viewOf(series.columns(), { points: 100, smoothing: 0, from: 200, to: 205 });
  expect(view.steps).toEqual([199, 200, 201, 202, 203, 204, 205]);
  expect(view.total).toBe(1000);
  expect(viewOf(series.columns(), { points: 100, smoothing: 0, from: 5000, to: 6000 }).steps).toEqual([999]);
});
