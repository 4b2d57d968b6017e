import '@eagre/backend-js';
import '@eagre/backend-native';
import { expect, test } from 'vitest';
import * as tf from '../../index.ts';
import { everywhere, slopes } from '../../testing/ops.ts';

test('comparisons give bools', () => {
  everywhere(() => {
    const a = [1, 2, NaN];
    const b = [2, 2, NaN];
    expect(tf.equal(a, b).array()).toEqual([false, true, false]);
    expect(tf.notEqual(a, b).array()).toEqual([true, false, true]);
    expect(tf.less(a, b).array()).toEqual([true, false, false]);
    expect(tf.lessEqual(a, b).array()).toEqual([true, true, false]);
    expect(tf.greater(a, b).array()).toEqual([false, false, false]);
    expect(tf.greaterEqual(a, b).array()).toEqual([false, true, false]);
    expect(tf.greater(a, b).dtype).toBe('bool');
    expect(tf.less([[1], [5]], [3, 9]).array()).toEqual([
      [true, true],
      [false, true],
    ]);
  });
});

test('strings are equal or not', () => {
  everywhere(() => {
    const words = tf.constant([
      ['a', 'b'],
      ['', 'a'],
    ]);
    expect(words.equal('a').array()).toEqual([
      [true, false],
      [false, true],
    ]);
    expect(tf.equal(['a', 'b'], words).array()).toEqual([
      [true, true],
      [false, false],
    ]);
    expect(tf.notEqual('x', 'y').array()).toBe(true);
    expect(tf.notEqual(new tf.Variable(['a']), ['a']).array()).toEqual([false]);
    expect(() => tf.equal(words, 1)).toThrow(tf.InvalidArgumentError);
    expect(() => words.equal(['a', 'b', 'c'])).toThrow(/do not broadcast/);
    expect(() => words.less('a')).toThrow(tf.InvalidArgumentError);
  });
});

test('big integers are compared exactly', () => {
  everywhere(() => {
    const a = tf.constant([2n ** 62n + 1n]);
    expect(a.greater(2n ** 62n).array()).toEqual([true]);
    expect(a.equal(2n ** 62n).array()).toEqual([false]);
  });
});

test('equality of bools, and no order among them', () => {
  everywhere(() => {
    expect(tf.equal([true, false], [true, true]).array()).toEqual([true, false]);
    expect(tf.notEqual([true, false], true).array()).toEqual([false, true]);
  });
  expect(() => tf.less([true], [false])).toThrow(/Less: a is bool/);
});

test('kinds of floats', () => {
  everywhere(() => {
    const x = [1, NaN, Infinity, -Infinity];
    expect(tf.isNan(x).array()).toEqual([false, true, false, false]);
    expect(tf.isInf(x).array()).toEqual([false, false, true, true]);
    expect(tf.isFinite(x).array()).toEqual([true, false, false, false]);
  });
});

test('logic', () => {
  everywhere(() => {
    const a = [true, true, false, false];
    const b = [true, false, true, false];
    expect(tf.logicalAnd(a, b).array()).toEqual([true, false, false, false]);
    expect(tf.logicalOr(a, b).array()).toEqual([true, true, true, false]);
    expect(tf.logicalXor(a, b).array()).toEqual([false, true, true, false]);
    expect(tf.logicalNot(a).array()).toEqual([false, false, true, true]);
  });
  expect(() => tf.logicalAnd([1], [true])).toThrow(tf.InvalidArgumentError);
});

test('bits', () => {
  everywhere(() => {
    for (const dtype of ['int32', 'int64', 'uint8'] as const) {
      const a = tf.constant([12, 10, 255], dtype);
      const b = tf.constant([10, 3, 1], dtype);
      const to = (x: tf.Tensor): number[] => Array.from(x.data() as ArrayLike<number>, Number);
      expect(to(a.bitwiseAnd(b))).toEqual([8, 2, 1]);
      expect(to(a.bitwiseOr(b))).toEqual([14, 11, 255]);
      expect(to(a.bitwiseXor(b))).toEqual([6, 9, 254]);
      expect(to(a.bitwiseRightShift(b))).toEqual([0, 1, 127]);
      expect(to(b.bitwiseLeftShift(2))).toEqual([40, 12, 4]);
      expect(to(b.bitwiseNot().bitwiseNot())).toEqual([10, 3, 1]);
    }
    expect(tf.constant([5], 'int32').bitwiseNot().array()).toEqual([-6]);
  });
  expect(() => tf.bitwiseAnd([1], [2])).toThrow(/BitwiseAnd: a is float32/);
});

test('where picks, broadcasts and promotes', () => {
  everywhere(() => {
    expect(tf.where([true, false], 1, [5, 6]).array()).toEqual([1, 6]);
    expect(tf.where([[true], [false]], [1, 2], 0).array()).toEqual([
      [1, 2],
      [0, 0],
    ]);
    expect(tf.constant([true]).where(tf.constant([1], 'uint8'), tf.constant([2], 'int32')).dtype).toBe(
      'int32',
    );
  });
  expect(() => tf.where([1, 0], 1, 2)).toThrow(/SelectV2: condition is float32, expected bool/);
});

test('clip limits, keeps NaN, and its gradient passes in between, ends included', () => {
  everywhere(() => {
    expect(tf.clip([-3, 0.5, 9, NaN], -1, 2).array()).toEqual([-1, 0.5, 2, NaN]);
    expect(tf.clipByValue([1, 2, 3], [2, 0, 0], 2.5).array()).toEqual([2, 2, 2.5]);
    expect(tf.clipByValue(tf.constant([-5, 5], 'int32'), -1, 2).array()).toEqual([-1, 2]);
    const x = tf.constant([-2, -1, 0, 1, 2], 'float64');
    expect(slopes('ClipByValue', [x, tf.constant(-1, 'float64'), tf.constant(1, 'float64')])).toEqual([
      [0, 1, 1, 1, 0],
      [1],
      [1],
    ]);
  });
  expect(() => tf.clip(tf.constant([1], 'int32'), tf.constant(0, 'int64'), 3)).toThrow(
    /ClipByValue: low is int64/,
  );
});

test('lerp', () => {
  everywhere(() => expect(tf.lerp([0, 10], [10, 20], 0.25).array()).toEqual([2.5, 12.5]));
});

test('cast truncates, saturates, and turns what is not 0 into true', () => {
  everywhere(() => {
    expect(tf.cast([1.9, -1.9, NaN, 1e20, -Infinity], 'int32').array()).toEqual([
      1,
      -1,
      0,
      2 ** 31 - 1,
      -(2 ** 31),
    ]);
    expect(tf.cast([-0.5, 300, 7.9], 'uint8').array()).toEqual([0, 255, 7]);
    expect(tf.cast([0, -0, 0.5, NaN], 'bool').array()).toEqual([false, false, true, true]);
    expect(tf.cast([true, false], 'float64').array()).toEqual([1, 0]);
    expect(tf.cast(tf.constant([2n ** 40n + 5n]), 'int32').array()).toEqual([5]);
  });
  expect(() => tf.cast(['a'], 'float32')).toThrow(/Cast: cannot convert string/);
  expect(() => tf.cast([1], 'string')).toThrow(/Cast/);
});

test('casting to the same dtype gives a tensor that lives on its own', () => {
  everywhere(() => {
    const x = tf.constant([1, 2]);
    x.cast('float32').dispose();
    expect(x.array()).toEqual([1, 2]);
    const v = new tf.Variable([1, 2]);
    const before = v.cast('float32');
    v.assign([3, 4]);
    expect(before.array()).toEqual([1, 2]);
  });
});
