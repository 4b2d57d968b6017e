import '@eagre/backend-js';
import {
  constant,
  type DType,
  fill,
  InvalidArgumentError,
  random,
  type Shape,
  type Tensor,
} from '@eagre/core';
import { describe, expect, test } from 'vitest';
import * as activations from '../activations.ts';
import * as constraints from '../constraints.ts';
import { Dense } from '../layers/index.ts';
import * as regularizers from '../regularizers.ts';
import * as initializers from './initializers.ts';

const moments = (t: Tensor): { mean: number; std: number; max: number } => {
  const values = Array.from(t.data() as Float32Array);
  const mean = values.reduce((a, b) => a + b) / values.length;
  const variance = values.reduce((a, b) => a + (b - mean) ** 2, 0) / values.length;
  return { mean, std: Math.sqrt(variance), max: Math.max(...values.map(Math.abs)) };
};
const seed = 4;
const KERNEL = [3, 3, 20, 60];
const fanIn = 9 * 20;
const fanOut = 9 * 60;
const fanAvg = (fanIn + fanOut) / 2;
const cut = 0.8796256610342398;

describe('means and deviations', () => {
  test.each([
    ['randomNormal', initializers.randomNormal({ seed }), 0, 0.05, Number.POSITIVE_INFINITY],
    ['randomNormal', initializers.randomNormal({ seed, mean: 2, stddev: 3 }), 2, 3, Number.POSITIVE_INFINITY],
    ['truncatedNormal', initializers.truncatedNormal({ seed }), 0, 0.05 * cut, 0.1],
    ['randomUniform', initializers.randomUniform({ seed }), 0, 0.1 / Math.sqrt(12), 0.05],
    ['randomUniform', initializers.randomUniform({ seed, minval: 1, maxval: 3 }), 2, 2 / Math.sqrt(12), 3],
    ['glorotUniform', initializers.glorotUniform({ seed }), 0, Math.sqrt(1 / fanAvg), Math.sqrt(3 / fanAvg)],
    [
      'glorotNormal',
      initializers.glorotNormal({ seed }),
      0,
      Math.sqrt(1 / fanAvg),
      (2 * Math.sqrt(1 / fanAvg)) / cut,
    ],
    ['heNormal', initializers.heNormal({ seed }), 0, Math.sqrt(2 / fanIn), (2 * Math.sqrt(2 / fanIn)) / cut],
    ['heUniform', initializers.heUniform({ seed }), 0, Math.sqrt(2 / fanIn), Math.sqrt(6 / fanIn)],
    [
      'lecunNormal',
      initializers.lecunNormal({ seed }),
      0,
      Math.sqrt(1 / fanIn),
      (2 * Math.sqrt(1 / fanIn)) / cut,
    ],
    ['lecunUniform', initializers.lecunUniform({ seed }), 0, Math.sqrt(1 / fanIn), Math.sqrt(3 / fanIn)],
    [
      'varianceScaling',
      initializers.varianceScaling({ seed, scale: 3, mode: 'fanOut', distribution: 'untruncatedNormal' }),
      0,
      Math.sqrt(3 / fanOut),
      Number.POSITIVE_INFINITY,
    ],
  ] as const)('%s', (_, make, mean, std, max) => {
    const t = make(KERNEL, 'float32');
    expect(t.shape).toEqual(KERNEL);
    const got = moments(t);
    expect(Math.abs(got.mean - mean)).toBeLessThan((5 * std) / Math.sqrt(t.size));
    expect(Math.abs(got.std / std - 1)).toBeLessThan(0.03);
    expect(got.max).toBeLessThanOrEqual(max * 1.000001);
  });

  test('fans of a matrix, a vector, a scalar', () => {
    const limit = (shape: number[]): number =>
      moments(initializers.varianceScaling({ seed, scale: 1 / 3, distribution: 'uniform' })(shape, 'float64'))
        .max;
    expect(limit([50, 400])).toBeCloseTo(Math.sqrt(1 / 50), 3);
    expect(limit([4000])).toBeCloseTo(Math.sqrt(1 / 4000), 4);
    expect(limit([])).toBeLessThanOrEqual(1);
    expect(initializers.glorotNormal()([0, 3], 'float32').shape).toEqual([0, 3]);
  });
});

test('constants, in every dtype', () => {
  expect(initializers.zeros()([2], 'float32').array()).toEqual([0, 0]);
  expect(initializers.ones()([2], 'int32').array()).toEqual([1, 1]);
  expect(initializers.constant(2.5)([1], 'float64').array()).toEqual([2.5]);
  for (const dtype of ['float32', 'float64'] as DType[])
    for (const make of [initializers.glorotUniform(), initializers.heNormal(), initializers.randomNormal()])
      expect(make([2, 2], dtype).dtype).toBe(dtype);
});

test('a seed decides, the global seed otherwise', () => {
  for (const make of [initializers.glorotUniform, initializers.heNormal, initializers.randomUniform]) {
    const a = make({ seed: 7 })([4, 4], 'float32').array();
    expect(make({ seed: 7 })([4, 4], 'float32').array()).toEqual(a);
    expect(make({ seed: 8 })([4, 4], 'float32').array()).not.toEqual(a);
    random.setSeed(1);
    const first = make()([4, 4], 'float32').array();
    const second = make()([4, 4], 'float32').array();
    random.setSeed(1);
    expect(make()([4, 4], 'float32').array()).toEqual(first);
    expect(second).not.toEqual(first);
  }
});

describe('names', () => {
  test('of initializers', () => {
    for (const name of [
      ...['zeros', 'ones', 'zero', 'one', 'constant', 'uniform', 'normal'],
      ...['glorotUniform', 'glorot_uniform', 'GlorotUniform', 'he_normal', 'HeNormal', 'lecun_uniform'],
      ...['random_normal', 'RandomUniform', 'truncated_normal', 'varianceScaling', 'variance_scaling'],
    ]) {
      expect(initializers.get(name)([2, 2], 'float32').shape, name).toEqual([2, 2]);
    }
    expect(initializers.get('ones')([1], 'float32').array()).toEqual([1]);
    expect(() => initializers.get('nonsense')).toThrow("unknown initializer 'nonsense'");
    expect(() => initializers.get('constructor')).toThrow(InvalidArgumentError);
    const own = (): Tensor => constant(1);
    expect(initializers.get(own)).toBe(own);
  });
  test('of regularizers', () => {
    const w = constant([1, -2]);
    const value = (like: regularizers.RegularizerLike | (string & {})): number =>
      regularizers.get(like)(w).item();
    expect(value('l1')).toBeCloseTo(0.03, 6);
    expect(value('L2')).toBeCloseTo(0.05, 6);
    // Keras's factors of both are 0 unless given.
    for (const name of ['l1l2', 'l1_l2', 'L1L2']) expect(value(name)).toBe(0);
    expect(value(regularizers.l1l2({ l2: 1 }))).toBeCloseTo(5, 6);
    expect(() => regularizers.get('l3')).toThrow(InvalidArgumentError);
    expect(regularizers.get(null)).toBeNull();
    expect(regularizers.get(undefined)).toBeNull();
    expect(constraints.get(null)).toBeNull();
  });
  test('of constraints', () => {
    const w = constant([
      [3, -1],
      [4, 0],
    ]);
    const apply = (like: constraints.ConstraintLike | (string & {})): number[] => [
      ...(constraints.get(like)(w).data() as Float32Array),
    ];
    const near = (got: number[], expected: number[]): void =>
      expected.forEach((v, i) => expect(got[i]).toBeCloseTo(v, 5));
    near(apply('nonNeg'), [3, 0, 4, 0]);
    near(apply('non_neg'), [3, 0, 4, 0]);
    near(apply('unit_norm'), [0.6, -1, 0.8, 0]);
    near(apply('MaxNorm'), [1.2, -1, 1.6, 0]);
    near(apply(constraints.unitNorm(1)), [3 / Math.sqrt(10), -1 / Math.sqrt(10), 1, 0]);
    expect(() => constraints.get('max')).toThrow(InvalidArgumentError);
  });
  test('of activations', () => {
    const x = constant([-1, 2]);
    expect(activations.get('relu')(x).array()).toEqual([0, 2]);
    expect(activations.get(null)(x)).toBe(x);
    expect(activations.get(undefined)(x)).toBe(x);
    for (const name of ['leaky_relu', 'hard_sigmoid', 'log_softmax', 'swish', 'softsign', 'relu6', 'mish'])
      expect(activations.get(name)(x).shape, name).toEqual([2]);
    expect(() => activations.get('nonsense')).toThrow("unknown activation 'nonsense'");
    expect(() => activations.get('toString')).toThrow(InvalidArgumentError);
  });
});

test('constants of several numbers', () => {
  const rows = [
    [1, 2],
    [1, 2],
  ];
  for (const value of [[1, 2], constant([1, 2]), new Float64Array([1, 2])]) {
    const made = new initializers.Constant(value);
    expect(made([2], 'float32').array()).toEqual([1, 2]);
    expect(made([2, 2], 'float32').array()).toEqual(rows);
    expect(made.getConfig()).toEqual({ value: [1, 2] });
    expect(() => made([3], 'float32')).toThrow(InvalidArgumentError);
  }
  const ofKeras = {
    module: 'keras.initializers',
    class_name: 'Constant',
    config: { value: { class_name: '__numpy__', config: { value: [1, 0, 0, 1], dtype: 'float64' } } },
    registered_name: null,
  };
  expect(initializers.deserialize(ofKeras)!([2, 2], 'float32').array()).toEqual([
    [1, 0],
    [0, 1],
  ]);
  for (const bad of ['a', ['a'], { value: {} }, true])
    expect(() => new initializers.Constant(bad as never)).toThrow(InvalidArgumentError);
});

test('classes under Keras’s names, and functions that make them', () => {
  const seed = 7;
  const values = (make: initializers.InitializerFunction): number[] => [
    ...(make([3, 2], 'float32').data() as Float32Array),
  ];
  expect(new initializers.HeNormal({ seed })).toBeInstanceOf(initializers.Initializer);
  expect(values(new initializers.HeNormal(seed))).toEqual(values(initializers.heNormal({ seed })));
  expect(new initializers.Zeros()([2]).array()).toEqual([0, 0]);
  expect(new initializers.Constant(3)([1]).array()).toEqual([3]);
  expect(new initializers.Identity(2)([2, 2]).array()).toEqual([
    [2, 0],
    [0, 2],
  ]);
  expect(new regularizers.L2(0.5)(constant([1, 2])).item()).toBe(2.5);
  expect(new regularizers.L1L2({ l1: 1, l2: 1 })(constant([1, 2])).item()).toBe(8);
  const length = (t: Tensor): number => t.square().sum().sqrt().item();
  expect(length(new constraints.MaxNorm(1)(constant([[3], [4]])))).toBeCloseTo(1, 5);
  const between = new constraints.MinMaxNorm({ minValue: 10, maxValue: 20, rate: 0.5 });
  expect(length(between(constant([[3], [4]])))).toBeCloseTo(7.5, 4);
  expect(() => new regularizers.L1L2(1, 2 as never)).toThrow('write { l2: 2 }');
  expect(() => new constraints.MaxNorm({ max: 1 } as never)).toThrow("MaxNorm: 'max' is not an option");
});

test('in files', () => {
  const layer = new Dense(2, {
    kernelRegularizer: new regularizers.L2(0.25),
    kernelInitializer: new initializers.VarianceScaling({ mode: 'fanOut', scale: 2 }),
    kernelConstraint: new constraints.UnitNorm(),
  });
  const config = JSON.parse(JSON.stringify(layer.getConfig())) as Record<string, { config: object }>;
  expect(config['kernel_regularizer']).toEqual({
    module: 'keras.regularizers',
    class_name: 'L2',
    config: { l2: 0.25 },
    registered_name: null,
  });
  expect(config['kernel_initializer']?.config).toEqual({
    scale: 2,
    mode: 'fan_out',
    distribution: 'truncated_normal',
    seed: null,
    input_axes: null,
    output_axes: null,
  });
  const again = Dense.fromConfig(config);
  expect(JSON.stringify(again.getConfig())).toBe(JSON.stringify(layer.getConfig()));
});

test('made by extending the bases', () => {
  class Three extends initializers.Initializer {
    override call(shape: Shape, dtype: DType): Tensor {
      return fill(shape, 3, { dtype });
    }
  }
  const layer = new Dense(1, { kernelInitializer: new Three() });
  layer([[1, 1]]);
  expect(layer.kernel.array()).toEqual([[3], [3]]);
  expect(() => new Dense(1, { kernelInitializer: Three as never })).toThrow(
    'got the class Three: write new Three(',
  );
});

test('axes of inputs and outputs, as in Keras', () => {
  const make = (options: object): Tensor =>
    new initializers.VarianceScaling({ mode: 'fanIn', distribution: 'uniform', seed: 3, ...options })(
      [8, 4, 16],
      'float32',
    );
  const limit = (x: Tensor): number => x.abs().max().item();
  expect(limit(make({ inputAxes: [0], outputAxes: [1, 2] }))).toBeCloseTo(Math.sqrt(3 / 8), 1);
  expect(limit(make({ inputAxes: [0, 1], outputAxes: [-1] }))).toBeCloseTo(Math.sqrt(3 / 32), 1);
  expect(new initializers.GlorotUniform({ inputAxes: [0], outputAxes: [1] }).getConfig()).toEqual({
    seed: null,
    input_axes: [0],
    output_axes: [1],
  });
  expect(() => new initializers.HeNormal({ inputAxes: 1 as never })).toThrow('list of integers');
});
