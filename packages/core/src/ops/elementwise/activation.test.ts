import '@eagre/backend-js';
import '@eagre/backend-native';
import { describe, expect, test } from 'vitest';
import * as tf from '../../index.ts';
import { everywhere, numbers, randoms, slopes, worst } from '../../testing/ops.ts';

const f64 = (...list: number[]): tf.Tensor => tf.constant(list, 'float64');

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

describe('activations', () => {
  test.each([
    ['relu', tf.relu, (x: number) => Math.max(x, 0)],
    ['relu6', tf.relu6, (x: number) => Math.min(Math.max(x, 0), 6)],
    ['leakyRelu', tf.leakyRelu, (x: number) => (x > 0 ? x : 0.2 * x)],
    ['elu', tf.elu, (x: number) => (x > 0 ? x : Math.expm1(x))],
    ['sigmoid', tf.sigmoid, sigmoid],
    ['logSigmoid', tf.logSigmoid, (x: number) => Math.log(sigmoid(x))],
    ['hardSigmoid', tf.hardSigmoid, (x: number) => Math.min(Math.max(x + 3, 0), 6) / 6],
    ['softplus', tf.softplus, (x: number) => Math.log1p(Math.exp(x))],
    ['softsign', tf.softsign, (x: number) => x / (1 + Math.abs(x))],
    ['silu', (x: tf.TensorLike) => tf.silu(x), (x: number) => x * sigmoid(x)],
    ['swish', (x: tf.TensorLike) => tf.swish(x), (x: number) => x * sigmoid(x)],
    ['hardSilu', tf.hardSilu, (x: number) => (x * Math.min(Math.max(x + 3, 0), 6)) / 6],
    ['mish', tf.mish, (x: number) => x * Math.tanh(Math.log1p(Math.exp(x)))],
  ] as const)('%s', (_, fn, expected) => {
    everywhere(() => {
      const x = randoms(500, -9, 9);
      expect(worst(fn(x), x.map(expected))).toBeLessThan(1e-12);
      const single = Float32Array.from(x);
      expect(worst(fn(single), Array.from(single, expected))).toBeLessThan(2e-6);
    });
  });

  test('selu and gelu have the values of the literature', () => {
    // From mpmath, 30 digits.
    const x = f64(-2, -0.5, 0, 0.7, 3);
    const selu = [-1.520166468595695, -0.6917581878028713, 0, 0.7354906911488364, 3.1521029620664414];
    const gelu = [-0.04550026389635842, -0.15426876936299344, 0, 0.5306254434438489, 2.99595030590511];
    const approximate = [
      -0.04540230591222498, -0.15428599017485609, 0, 0.5305701347051167, 2.996362607918227,
    ];
    everywhere(() => {
      expect(worst(tf.selu(x), selu)).toBeLessThan(1e-13);
      expect(worst(tf.gelu(x), gelu)).toBeLessThan(1e-13);
      expect(worst(x.gelu({ approximate: true }), approximate)).toBeLessThan(1e-13);
    });
  });

  test('extreme arguments', () => {
    everywhere(() => {
      expect(tf.sigmoid([-1000, 1000]).array()).toEqual([0, 1]);
      expect(tf.softplus([-1000, 1000]).array()).toEqual([0, 1000]);
      expect(tf.logSigmoid([-1000, 1000]).array().toString()).toBe('-1000,0');
      expect(tf.relu([NaN, -Infinity, Infinity]).array()).toEqual([NaN, 0, Infinity]);
    });
  });

  test('parameters', () => {
    everywhere(() => {
      expect(tf.leakyRelu([-2, 2], { alpha: 0.5 }).array()).toEqual([-1, 2]);
      expect(worst(tf.elu([-2, 2], { alpha: 0.5 }), [0.5 * Math.expm1(-2), 2])).toBeLessThan(1e-6);
    });
    expect(() => tf.leakyRelu([1], { alpha: NaN })).toThrow(/LeakyRelu: alpha is NaN/);
    expect(() => tf.elu([1], { alpha: -1 })).toThrow(/Elu: alpha is -1/);
    expect(() => tf.elu(tf.constant([1], 'int32'))).toThrow(/Elu: x is int32/);
  });

  test('slopes at the kinks are those of TensorFlow', () => {
    everywhere(() => {
      expect(slopes('Relu', [f64(-1, 0, 1)])).toEqual([[0, 0, 1]]);
      expect(slopes('Relu6', [f64(0, 3, 6, 7)])).toEqual([[0, 1, 0, 0]]);
      expect(slopes('LeakyRelu', [f64(-1, 0, 1)], { alpha: 0.25 })).toEqual([[0.25, 0.25, 1]]);
      expect(slopes('Elu', [f64(0, 1)], { alpha: 1 })).toEqual([[1, 1]]);
    });
  });

  test('the gradient of an infinite slope stays out of a dead unit', () => {
    everywhere(() =>
      expect(
        numbers(
          tf
            .constant([true, false])
            .where(tf.constant([1, Infinity]), 0)
            .relu(),
        ),
      ).toEqual([1, 0]),
    );
  });
});

describe('softmax', () => {
  const rows = [
    [1, 2, 3],
    [1000, 1000, -1000],
  ];
  const z = Math.exp(1) + Math.exp(2) + Math.exp(3);
  const expected = [Math.exp(1) / z, Math.exp(2) / z, Math.exp(3) / z, 0.5, 0.5, 0];

  test('over the last axis, without overflow', () => {
    everywhere(() => {
      expect(worst(tf.softmax(rows), expected)).toBeLessThan(1e-6);
      expect(
        worst(
          tf.logSoftmax([rows[0]]),
          [1, 2, 3].map((v) => v - Math.log(z)),
        ),
      ).toBeLessThan(1e-6);
      expect(worst(tf.logSoftmax([0, -1000]), [0, -1000])).toBeLessThan(1e-6);
    });
  });

  test('over another axis', () => {
    everywhere(() => {
      const x = tf.constant(randoms(60, -3, 3)).reshape([3, 4, 5]);
      for (const axis of [0, 1, -2, 2]) {
        expect(
          worst(x.softmax(axis), numbers(x.exp().div(x.exp().sum(axis, { keepdims: true })))),
        ).toBeLessThan(1e-13);
        expect(worst(x.logSoftmax(axis), numbers(x.sub(x.logSumExp(axis, { keepdims: true }))))).toBeLessThan(
          1e-13,
        );
      }
    });
  });

  test('refuses scalars, integers and axes out of range', () => {
    expect(() => tf.softmax(1)).toThrow(/Softmax: axis -1 is out of range for rank 0/);
    expect(() => tf.softmax([1], 1)).toThrow(/axis 1/);
    expect(() => tf.softmax(tf.constant([1], 'int32'))).toThrow(/Softmax: x is int32/);
  });
});
