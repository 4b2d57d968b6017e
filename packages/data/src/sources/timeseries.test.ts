import '@eagre/backend-native';
import { InvalidArgumentError, range, type Tensor } from '@eagre/core';
import { expect, expectTypeOf, test } from 'vitest';
import type { Dataset } from '../pipeline/dataset.ts';
import { timeseriesDatasetFromArray } from './timeseries.ts';

const series = range(20);
const arrays = (dataset: Dataset<[Tensor, Tensor]>): unknown[] =>
  [...dataset].map((parts) => parts.map((t) => t.array()));

// What Keras 3.15.1 gives for the same arguments.
test('sequences and targets', () => {
  const dataset = timeseriesDatasetFromArray(series, range(100, 120), 3, {
    sequenceStride: 4,
    samplingRate: 2,
    batchSize: 3,
    startIndex: 1,
    endIndex: 18,
  });
  expectTypeOf(dataset).toEqualTypeOf<Dataset<[sequences: Tensor, targets: Tensor]>>();
  expect(arrays(dataset)).toEqual([
    [
      [
        [1.0, 3.0, 5.0],
        [5.0, 7.0, 9.0],
        [9.0, 11.0, 13.0],
      ],
      [101.0, 105.0, 109.0],
    ],
    [[[13.0, 15.0, 17.0]], [113.0]],
  ]);
  const short = timeseriesDatasetFromArray(series, range(5, 8), 5);
  expect(arrays(short)).toEqual([
    [
      [
        [0.0, 1.0, 2.0, 3.0, 4.0],
        [1.0, 2.0, 3.0, 4.0, 5.0],
        [2.0, 3.0, 4.0, 5.0, 6.0],
      ],
      [5.0, 6.0, 7.0],
    ],
  ]);
});

test('sequences alone, of rows, one by one', () => {
  const rows = series.reshape([10, 2]);
  const dataset = timeseriesDatasetFromArray(rows, null, 8, { batchSize: null });
  expectTypeOf(dataset).toEqualTypeOf<Dataset<Tensor>>();
  expect([...dataset].map((t) => [t.shape, t.at(0, 0).item()])).toEqual([
    [[8, 2], 0],
    [[8, 2], 2],
    [[8, 2], 4],
  ]);
  expect([...timeseriesDatasetFromArray(rows, null, 11)]).toEqual([]);
});

test('another order, the same pairs', () => {
  const make = (): [number, number][] =>
    [...timeseriesDatasetFromArray(series, series, 4, { shuffle: true, seed: 3, batchSize: null })].map(
      ([x, y]) => [x.at(0).item<number>(), y.item<number>()],
    );
  const pairs = make();
  expect(pairs.every(([x, y]) => x === y)).toBe(true);
  const starts = pairs.map(([x]) => x);
  expect(starts).not.toEqual([...starts].sort((a, b) => a - b));
  expect([...starts].sort((a, b) => a - b)).toEqual([...range(17).data()]);
  expect(make()).toEqual(pairs);
});

test('what does not fit', () => {
  for (const [length, options] of [
    [0, {}],
    [2, { sequenceStride: 0 }],
    [2, { batchSize: 1.5 }],
    [2, { startIndex: -1 }],
    [2, { startIndex: 5, endIndex: 5 }],
  ] as const)
    expect(() => timeseriesDatasetFromArray(series, null, length, options)).toThrow(InvalidArgumentError);
  expect(() => timeseriesDatasetFromArray(1, null, 2)).toThrow('data must have a first axis, the time steps');
});
