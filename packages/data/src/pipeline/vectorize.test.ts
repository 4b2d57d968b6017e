// Functions on whole batches give bit by bit what they give for each element; what cannot run so does not.
import '@eagre/backend-js';
import '@eagre/backend-native';
import { constant, random, type Tensor, Variable, where } from '@eagre/core';
import { TensorSpec } from '@eagre/graph';
import { describe, expect, it } from 'vitest';
import { tensorsOf } from '../elements/structure.ts';
import { Dataset } from './dataset.ts';

const images = () =>
  random.uniform([23, 5, 3], { maxval: 256, dtype: 'int32', seed: 1 }).cast('uint8') as Tensor;
const labels = () => random.normal([23], { seed: 2 });

const functions: Record<string, (x: Tensor, y: Tensor) => unknown> = {
  scaled: (x, y) => [x.cast('float32').div(255), y],
  transcendental: (x, y) => [x.cast('float32').add(0.1).log().sin(), y.exp().tanh()],
  'a constant of the element': (x) => x.cast('float32').mul(constant([0.1, 0.2, 0.3])),
  'a constant of more axes': (_, y) =>
    y.mul(
      constant([
        [1, 2],
        [3, 4],
      ]),
    ),
  'two ranks': (x, y) => x.cast('float32').mul(y),
  reshaped: (x, y) => ({
    flat: x.reshape([15]).cast('float64'),
    one: y.reshape([1]),
    more: x.expandDims(-1),
  }),
  selected: (x, y) => where(x.greater(100), y, 0),
};

describe.each(Object.keys(functions))('%s', (name) => {
  it.each([4, 23, 100])('batches of %d', (size) => {
    const slices = Dataset.fromTensorSlices([images(), labels()]);
    const batches = slices.map(functions[name] as never).batch(size);
    const fast = [...batches] as never[];
    const slow = [...batches.withOptions({ vectorization: false })] as never[];
    expect(fast).toHaveLength(slow.length);
    fast.forEach((element, i) => {
      const [a, b] = [tensorsOf(element, ''), tensorsOf(slow[i] as never, '')];
      expect(a.map((t) => [t.dtype, t.shape, t.data()])).toEqual(b.map((t) => [t.dtype, t.shape, t.data()]));
    });
  });
});

it('traces a function once, whatever the sizes of batches are', () => {
  let calls = 0;
  const dataset = Dataset.range(10).map((x) => {
    calls++;
    return x.cast('float32').mul(2);
  });
  for (const size of [1, 3, 4, 10]) for (const _ of dataset.batch(size)) _;
  expect(calls).toBe(1);
});

it('calls a function with effects for each element', () => {
  const count = new Variable(0);
  const dataset = Dataset.range(6, { outputType: 'float32' }).map((x) => {
    count.assignAdd(1);
    return x.add(count);
  });
  expect([...dataset.batch(3)].map((t) => t.array())).toEqual([
    [1, 3, 5],
    [7, 9, 11],
  ]);
});

it('draws random numbers for each element', () => {
  random.setSeed(3);
  const draws = () => Dataset.range(4, { outputType: 'float32' }).map((x) => x.add(random.uniform([])));
  const batched = [...draws().batch(4)].flatMap((t) => t.array() as number[]);
  random.setSeed(3);
  expect([...draws()].map((t) => t.item())).toEqual(batched);
  expect(new Set(batched.map((v) => v % 1)).size).toBe(4);
});

it('shuffles rows in the order in which it shuffles elements', () => {
  const order = (rows: boolean) => {
    random.setSeed(5);
    const numbers = rows
      ? Dataset.range(50, { outputType: 'float32' })
      : (Dataset.fromGenerator(() => Array.from({ length: 50 }, (_, i) => i), {
          outputSignature: new TensorSpec([], 'float32'),
        }) as Dataset<Tensor>);
    return [
      ...numbers
        .map((x) => x.add(1))
        .shuffle(20)
        .batch(7),
    ].flatMap((t) => t.array());
  };
  expect(order(true)).toEqual(order(false));
});
