import '@eagre/backend-js';
import '@eagre/backend-native';
import { constant, random, type Tensor, zeros } from '@eagre/core';
import { autographIterate, tfFunction } from '@eagre/graph';
import { expect, it } from 'vitest';
import { Dataset } from './dataset.ts';

/** What a converted loop asks the dataset for. */
const turns = <T>(dataset: Dataset<T>): Iterable<T> =>
  (Reflect.get(dataset, autographIterate) as (site: string) => Iterable<T>).call(dataset, 'here');

/** What conversion makes of `for (const x of dataset) total = total.add(fn(x))`. */
const total = (dataset: Dataset<Tensor>, fn: (x: Tensor) => Tensor = (x) => x) =>
  tfFunction((start: Tensor) => {
    let sum = start;
    for (const x of turns(dataset)) sum = sum.add(fn(x));
    return sum;
  });
const numbers = (n: number) => Dataset.range(n, { outputType: 'float32' });

it('each run of a traced function is a new pass', () => {
  random.setSeed(1);
  const first = total(numbers(10).shuffle(10).take(3), (x) => x.mul(1));
  const seen = new Set([1, 2, 3, 4, 5, 6].map(() => first(constant(0)).item()));
  expect(seen.size).toBeGreaterThan(2);
  const all = total(numbers(10).map((x) => x.square()));
  expect([all(constant(0)).item(), all(constant(1)).item()]).toEqual([285, 286]);
  expect(all.experimentalGetTracingCount()).toBe(1);
});

it('gives elements in their structure', () => {
  const pairs = Dataset.fromTensorSlices({ x: zeros([4, 3]).add(1), y: [constant([1, 2, 3, 4])] });
  const f = tfFunction(() => {
    let sum = constant(0);
    for (const { x, y } of turns(pairs.batch(2))) sum = sum.add(x.sum().mul(y[0].sum()));
    return sum;
  });
  // A batch's size is not known without dropRemainder.
  expect(() => f()).toThrow(/dropRemainder/);
  const g = tfFunction(() => {
    let sum = constant(0);
    for (const { x, y } of turns(pairs.batch(2, { dropRemainder: true })))
      sum = sum.add(x.sum().mul(y[0].sum()));
    return sum;
  });
  expect(g().item()).toBe(6 * 3 + 6 * 7);
});

it('says why a graph cannot have a loop', () => {
  for (const [dataset, why] of [
    [numbers(3).repeat(), /no end/],
    [numbers(3).filter((x) => x.greater(1)), /assertCardinality/],
    [numbers(1001), /1000/],
  ] as const)
    expect(() => total(dataset)(constant(0))).toThrow(why);
  const fewer = numbers(5)
    .filter((x) => x.less(3))
    .assertCardinality(4);
  expect(() => total(fewer)(constant(0))).toThrow(/expected to contain 4/);
});
