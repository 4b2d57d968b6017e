import '@eagre/backend-js';
import '@eagre/backend-native';
import { constant, InvalidArgumentError, type Tensor } from '@eagre/core';
import { expect, test } from 'vitest';
import { runLayerTest } from '../../testing/run-layer-test.ts';
import { Normalization } from '../index.ts';

const x = constant([
  [0, 7, 4],
  [2, 9, 6],
  [0, 7, 4],
  [2, 9, 6],
]);
const rounded = (y: unknown): number[] =>
  Array.from((y as Tensor).data() as Float32Array, (v) => Math.fround(v));

test('as a layer', () => {
  const shapes = { inputShape: [2, 3, 4], outputShape: [2, 3, 4] };
  runLayerTest(Normalization, { args: [], nonTrainable: 3, ...shapes });
  runLayerTest(Normalization, { args: [[1, 2]], nonTrainable: 3, ...shapes });
  runLayerTest(Normalization, { args: [null], nonTrainable: 3, ...shapes });
  runLayerTest(Normalization, { args: [-1, 1, 4], ...shapes });
  runLayerTest(Normalization, { args: [1, [1, 2, 3], [4, 5, 6], { invert: true }], ...shapes });
  runLayerTest(Normalization, {
    args: [
      [2, 1],
      [[1], [2], [3]],
      [[1], [2], [3]],
    ],
    ...shapes,
  });
});

test('adapts as in Keras', () => {
  const one = new Normalization();
  one.adapt(x);
  expect(one.weights.map((w) => [w.shape, w.dtype])).toEqual([
    [[3], 'float32'],
    [[3], 'float32'],
    [[], 'int64'],
  ]);
  expect(rounded(one([[1, 9, 4]]))).toEqual([0, 1, -1]);
  const batches = new Normalization({ axis: -1, invert: true });
  const [first, rest] = x.split([1, 3]);
  batches.adapt({ data: [first, [rest, 'a label']] as never });
  expect(rounded(batches([[1, 2, 3]]))).toEqual([2, 10, 8]);
  batches.adapt(new Set([first, rest]));
  expect(rounded(batches([[1, 2, 3]]))).toEqual([2, 10, 8]);
  const all = new Normalization({ axis: null });
  all.adapt([[1], [2], [3]]);
  expect(rounded(all([[2]]))).toEqual([0]);
  expect(all.adaptVariance?.item()).toBeCloseTo(2 / 3, 6);
});

test('takes a mean and a variance', () => {
  expect(rounded(new Normalization({ mean: 3, variance: 4 })([[1], [2], [3]]))).toEqual([-1, -0.5, 0]);
  expect(new Normalization([1, 2], [[1, 2]], [[4, 9]], { invert: true, name: 'n' }).getConfig()).toEqual({
    name: 'n',
    trainable: true,
    dtype: { module: 'keras', class_name: 'DTypePolicy', config: { name: 'float32' }, registered_name: null },
    axis: [1, 2],
    mean: [[1, 2]],
    variance: [[4, 9]],
    invert: true,
  });
});

test('says what does not fit', () => {
  expect(() => new Normalization({ mean: 1 })).toThrow('both mean and variance');
  expect(() => new Normalization({ mean: [1, 2], variance: 1 })).toThrow('of one shape, got [2] and []');
  expect(() => new Normalization({ mean: [[1]], variance: [[1]] })).toThrow('rank 1 at most');
  expect(() => new Normalization({ mean: [1, 2], variance: [1, 2] })([[1, 2, 3]])).toThrow('do not fit [3]');
  expect(() => new Normalization(2)([[1]])).toThrow('axis 2, which input [1, 1] does not have');
  expect(() => new Normalization('1' as never)).toThrow(InvalidArgumentError);
  expect(() => new Normalization().adapt(3n as never)).toThrow(InvalidArgumentError);
  expect(() => new Normalization().adapt(new Set())).toThrow('at least one batch');
  expect(() => new Normalization({ mean: 1, variance: 1 }).adapt(x)).toThrow('nothing to adapt');
  const built = new Normalization();
  built.adapt(x);
  expect(() => built.adapt([[1, 2]])).toThrow('was built for input [4, 3], got examples [1, 2]');
});

test('says which means it takes off, as Keras does', () => {
  const layer = new Normalization();
  expect([layer.mean, layer.variance]).toEqual([null, null]);
  layer.adapt(constant([[[1, 2]], [[3, 6]]]));
  expect(layer.mean!.array()).toEqual([[[2, 4]]]);
  expect(layer.variance!.array()).toEqual([[[1, 4]]]);
  expect(layer.getConfig()).toMatchObject({ mean: null, variance: null });

  const given = new Normalization({ mean: 1, variance: 2 });
  expect([given.mean, given.inputMean, given.inputVariance]).toEqual([null, 1, 2]);
  given.build([null, 3]);
  expect(given.mean!.array()).toEqual([[1, 1, 1]]);
  expect(given.variance!.array()).toEqual([[2, 2, 2]]);
  expect(given.getConfig()).toMatchObject({ mean: 1, variance: 2 });
  const again = Normalization.fromConfig(given.getConfig());
  expect(again.call(constant([[1, 3, 5]])).array()).toEqual(given.call(constant([[1, 3, 5]])).array());

  const whole = new Normalization(null);
  whole.adapt(
    constant([
      [1, 2],
      [3, 6],
    ]),
  );
  expect(whole.mean!.array()).toEqual([[3]]);
  for (const name of ['mean', 'variance'] as const)
    expect(() => {
      whole[name] = constant([1]);
    }).toThrow('takes mean and variance from adapt or the constructor');
});
