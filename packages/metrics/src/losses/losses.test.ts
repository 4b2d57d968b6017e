import { inspect } from 'node:util';
import '@eagre/backend-js';
import { getBackend } from '@eagre/backend';
import {
  constant,
  InvalidArgumentError,
  listPhysicalDevices,
  OutOfRangeError,
  ones,
  type Tensor,
  type TensorLike,
  Variable,
  withBackend,
  zeros,
} from '@eagre/core';
import { context, type TapeObserver } from '@eagre/core/internal';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { losses } from '../index.ts';
import type { ReductionName } from './loss.ts';

test('BinaryCrossentropy of certain predictions that are wrong, as in Keras 3', () => {
  const bce = new losses.BinaryCrossentropy();
  expect(`${bce([0, 0, 1, 1], [1, 1, 1, 0])}`).toBe('12.000716');
  expect(bce([0, 0, 1, 1], constant([1, 1, 1, 0], 'float64')).item()).toBeCloseTo(-0.75 * Math.log(1e-7), 6);
});

test('targets of any dtype', () => {
  const mse = new losses.MeanSquaredError();
  for (const t of [
    [1, 2],
    constant([1, 2], 'int32'),
    constant([1, 2], 'uint8'),
    new Int32Array([1, 2]),
    [1n, 2n],
    constant([1, 2], 'float64'),
  ]) {
    expect(mse(t as TensorLike, [1, 4]).item()).toBe(2);
  }
  expect(new losses.BinaryCrossentropy({ fromLogits: true })([true, false], [0, 0]).item()).toBeCloseTo(
    Math.LN2,
    6,
  );
  // Predictions that are whole numbers count as float32.
  expect(mse([1, 2], constant([1, 4], 'int32')).dtype).toBe('float32');
  expect(new losses.MeanSquaredError({ dtype: 'float64' })([1, 2], [1, 4]).dtype).toBe('float64');
});

test('labels of any integer dtype; one that is no class', () => {
  const scce = new losses.SparseCategoricalCrossentropy({ fromLogits: true });
  const logits = zeros([2, 4]);
  for (const t of [
    [1, 3],
    constant([1, 3], 'uint8'),
    constant([1, 3], 'int64'),
    [1n, 3n],
    [[1], [3]],
    constant([1, 3]),
    new Uint8Array([1, 3]),
  ]) {
    expect(scce(t as TensorLike, logits).item()).toBeCloseTo(Math.log(4), 6);
  }
  expect(() => scce([1, 4], logits)).toThrow(OutOfRangeError);
  expect(() => scce([1, 4], logits)).toThrow(/label 4\b.* 4/);
  expect(() => scce([1, -1], logits)).toThrow(/-1/);
  expect(() => scce([1, 2, 3], logits)).toThrow(/labels \[3\] do not match predictions \[2, 4\]/);
  expect(() =>
    new losses.SparseCategoricalCrossentropy()(
      [0, 7],
      [
        [0.5, 0.5],
        [0.5, 0.5],
      ],
    ),
  ).toThrow(OutOfRangeError);
});

test('a class that is ignored leaves the mean', () => {
  const options = { fromLogits: true, ignoreClass: 255 };
  const logits = zeros([4, 2]);
  const labels = constant([0, 255, 255, 1], 'uint8');
  expect(new losses.SparseCategoricalCrossentropy(options)(labels, logits).item()).toBeCloseTo(Math.LN2, 6);
  const none = new losses.SparseCategoricalCrossentropy({ ...options, reduction: 'none' })(labels, logits);
  expect(none.array()).toEqual([Math.fround(Math.LN2), 0, 0, Math.fround(Math.LN2)]);
});

test('a column beside a vector does not become a matrix', () => {
  const options = { reduction: 'none' } as const;
  expect(new losses.MeanSquaredError(options)([1, 2, 3], [[1], [2], [4]]).array()).toEqual([0, 0, 1]);
  expect(new losses.MeanAbsoluteError(options)([[1], [2], [3]], [1, 2, 4]).array()).toEqual([0, 0, 1]);
  expect(() => new losses.BinaryCrossentropy()([[1, 0]], [[0.5], [0.5]])).toThrow(InvalidArgumentError);
});

test('sample weights of examples, and of places', () => {
  const mae = new losses.MeanAbsoluteError({ reduction: 'none' });
  const ones = [
    [[1], [1]],
    [[1], [1]],
  ];
  const zero = [
    [[0], [0]],
    [[0], [0]],
  ];
  expect(mae(ones, zero, { sampleWeight: [[1], [3]] }).array()).toEqual([
    [1, 1],
    [3, 3],
  ]);
  expect(mae(ones, zero, { sampleWeight: 2 }).array()).toEqual([
    [2, 2],
    [2, 2],
  ]);
  expect(
    mae(ones, zero, {
      sampleWeight: [
        [1, 2],
        [3, 4],
      ],
    }).array(),
  ).toEqual([
    [1, 2],
    [3, 4],
  ]);
});

test('a loss of one’s own', () => {
  class Quartic extends losses.Loss {
    override call(yTrue: Tensor, yPred: Tensor): Tensor {
      return yTrue.sub(yPred).square().square().mean(-1);
    }
  }
  const loss = new Quartic();
  expect(loss.name).toBe('quartic');
  expectTypeOf(loss([1], [2])).toEqualTypeOf<Tensor>();
  expect(loss([1, 2], [2, 4]).item()).toBe(8.5);
  expect(loss([[1], [2]], [[2], [4]], { sampleWeight: [1, 0] }).item()).toBe(0.5);
  expect(inspect(loss)).toBe("Quartic { name: 'quartic', reduction: 'sumOverBatchSize', dtype: null }");
  const kept: Tensor[] = [];
  const keeping = losses.get((t: Tensor, p: Tensor) => {
    const error = t.sub(p).abs();
    kept.push(error);
    return error.mean(-1);
  });
  expect(keeping([1, 2], [2, 4]).item()).toBe(1.5);
  expect(kept[0]?.array()).toEqual([1, 2]);
});

test('get', () => {
  for (const name of ['mse', 'MSE', 'mean_squared_error', 'MeanSquaredError', 'meanSquaredError']) {
    expect(losses.get(name), name).toBeInstanceOf(losses.MeanSquaredError);
  }
  expect(losses.get('sparse_categorical_crossentropy')).toBeInstanceOf(losses.SparseCategoricalCrossentropy);
  expect(losses.get('kl_divergence')).toBeInstanceOf(losses.KLDivergence);
  expect(losses.get('kld')).toBeInstanceOf(losses.KLDivergence);
  expect(losses.get('bce')).toBeInstanceOf(losses.BinaryCrossentropy);
  const loss = new losses.Huber({ delta: 2 });
  expect(losses.get(loss)).toBe(loss);
  expect((losses.get(losses.serialize(loss)) as losses.Huber).delta).toBe(2);
  expect(losses.get(losses.meanAbsoluteError)([1], [3]).item()).toBe(2);
  expect(() => losses.get('nonsense')).toThrow(/there is no loss 'nonsense'/);
  expect(() => losses.get(undefined as never)).toThrow(InvalidArgumentError);
  expect(() => new losses.Huber({ reduction: 'average' as never })).toThrow(/unknown reduction 'average'/);
  expect(new losses.Huber({ reduction: losses.Reduction.NONE }).reduction).toBe('none');
});

test('nothing but the result stays in memory', () => {
  using _ = withBackend('js');
  const { allocator } = getBackend('js');
  const p = constant([
    [0.2, 0.8],
    [0.5, 0.5],
  ]);
  const t = constant([
    [0, 1],
    [1, 0],
  ]);
  const labels = constant([1, 0], 'int32');
  const all = [
    () => new losses.BinaryCrossentropy({ labelSmoothing: 0.1 })(t, p),
    () => new losses.CategoricalCrossentropy({ fromLogits: true })(t, p, { sampleWeight: [1, 2] }),
    () => new losses.SparseCategoricalCrossentropy({ ignoreClass: 1 })(labels, p),
    () => new losses.CosineSimilarity()(t, p),
    () => losses.hinge(t, p),
  ];
  for (const loss of all) {
    loss().dispose();
    const before = allocator.info().bytesTaken;
    for (let i = 0; i < 5; i++) loss().dispose();
    expect(allocator.info().bytesTaken).toBe(before);
  }
  expect(listPhysicalDevices().length).toBeGreaterThan(0);
});

test('losses are recorded by tapes', () => {
  const seen: string[] = [];
  const observer: TapeObserver = { record: (op) => seen.push(op.name), variableRead: () => undefined };
  context.tapes = [observer];
  try {
    new losses.SparseCategoricalCrossentropy({ fromLogits: true })([0], new Variable([[1, 2]]));
  } finally {
    context.tapes = [];
  }
  expect(seen).toContain('SparseSoftmaxCrossEntropyWithLogits');
});

describe('weights of examples, as in Keras', () => {
  const mse = (reduction: ReductionName) => new losses.MeanSquaredError({ reduction });
  const cube = constant([
    [
      [0, 1],
      [2, 3],
    ],
    [
      [4, 5],
      [6, 7],
    ],
  ]);

  test('broadcast from the last axis on', () => {
    const of = (reduction: ReductionName): unknown =>
      mse(reduction)(cube.mul(0), cube, { sampleWeight: [1, 3] }).array();
    expect(of('none')).toEqual([
      [0.5, 19.5],
      [20.5, 127.5],
    ]);
    expect(of('sumOverBatchSize')).toBe(42);
    expect(of('meanWithSampleWeight')).toBe(42);
    expect(() => mse('sum')(zeros([2, 3, 2]), ones([2, 3, 2]), { sampleWeight: [1, 3] })).toThrow(
      'sampleWeight [2] does not match the losses [2, 3]: give one number for each loss',
    );
    expect(mse('sum')(zeros([2, 3, 2]), ones([2, 3, 2]), { sampleWeight: [[1], [3]] }).item()).toBe(12);
  });

  test('weigh the one loss of a vector', () => {
    const of = (reduction: ReductionName, sampleWeight: TensorLike): unknown =>
      mse(reduction)([0, 0, 0], [1, 2, 3], { sampleWeight }).mul(3).round().array();
    expect(of('none', [1, 2, 3])).toEqual([14, 28, 42]);
    expect(of('sum', [1, 2, 3])).toBe(84);
    expect(of('sumOverBatchSize', [1, 2, 3])).toBe(28);
    expect(of('meanWithSampleWeight', [1, 2, 3])).toBe(14);
    expect(of('none', [2])).toBe(28);
    expect(of('none', [[1], [2], [3]])).toEqual([[14], [28], [42]]);
    expect(mse('sum')(zeros([2, 2]), ones([2, 2]), { sampleWeight: ones([3, 2]) }).item()).toBe(6);
  });
});

test('labelSmoothing counts the classes of the axis', () => {
  const t = constant([
    [1, 0, 0],
    [0, 1, 1],
  ]);
  const p = constant([
    [0.7, 0.2, 0.4],
    [0.3, 0.8, 0.6],
  ]);
  for (const name of ['categoricalCrossentropy', 'categoricalFocalCrossentropy'] as const) {
    const alongFirst = losses[name](t, p, { labelSmoothing: 0.3, axis: 0 }).data();
    const alongLast = losses[name](t.transpose(), p.transpose(), { labelSmoothing: 0.3 }).data();
    expect([...alongFirst]).toEqual([...alongLast]);
  }
});
