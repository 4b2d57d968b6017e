import '@eagre/backend-js';
import { InvalidArgumentError } from '@eagre/backend';
import { constant, range, type Tensor } from '@eagre/core';
import { expect, test } from 'vitest';
import { Dataset } from '../pipeline/dataset.ts';
import { splitDataset } from './split-dataset.ts';

const values = (dataset: Dataset<unknown>): unknown =>
  [...dataset].map((e) => (Array.isArray(e) ? e.map((t: Tensor) => t.array()) : (e as Tensor).array()));

test('tensors, lists of tensors and datasets, by shares and by numbers', () => {
  const [left, right] = splitDataset(range(5), { leftSize: 0.6 });
  expect([values(left), values(right)]).toEqual([
    [0, 1, 2],
    [3, 4],
  ]);
  const pairs = splitDataset([range(4), constant([[1], [2], [3], [4]])], { leftSize: 1, rightSize: 2 });
  expect(pairs.map(values)).toEqual([
    [[0, [1]]],
    [
      [2, [3]],
      [3, [4]],
    ],
  ]);
  const named = splitDataset({ dataset: Dataset.range(4).map((x) => ({ a: x })), rightSize: 1 });
  expect([...named[1]].map((e) => (e as unknown as { a: Tensor }).a.item())).toEqual([3]);
  // Halves are rounded to the even number.
  expect([...splitDataset(range(5), { leftSize: 0.5 })[0]]).toHaveLength(2);
  expect([...splitDataset(range(7), { leftSize: 0.5 })[0]]).toHaveLength(4);
});

test('batches are of the same size again', () => {
  const [left, right] = splitDataset(Dataset.range(7).batch(2), { leftSize: 5 });
  expect([values(left), values(right)]).toEqual([[[0n, 1n], [2n, 3n], [4n]], [[5n, 6n]]]);
});

test('another order, the same for a seed', () => {
  const orders = [1, 1, 2].map((seed) =>
    splitDataset(range(20), { leftSize: 10, shuffle: true, seed }).flatMap(values),
  );
  expect(orders[0]).toEqual(orders[1]);
  expect(orders[0]).not.toEqual(orders[2]);
  expect((orders[0] as number[]).toSorted((a, b) => a - b)).toEqual(range(20).array());
});

test('sizes that do not fit, and what is no dataset', () => {
  for (const options of [
    {},
    { leftSize: 0 },
    { leftSize: 5 },
    { leftSize: 1.5 },
    { leftSize: -0.5 },
    { leftSize: 0.01 },
    { leftSize: 0.8, rightSize: 0.8 },
    { rightSize: '1' as never },
  ])
    expect(() => splitDataset(range(5), options), JSON.stringify(options)).toThrow(InvalidArgumentError);
  for (const dataset of [3, 'abc', null, [], {}])
    expect(() => splitDataset(dataset as never, { leftSize: 1 }), String(dataset)).toThrow(
      InvalidArgumentError,
    );
});
