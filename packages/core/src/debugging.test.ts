import '@eagre/backend-js';
import { describe, expect, test, vi } from 'vitest';
import * as tf from './index.ts';

const { debugging: d } = tf;

describe('comparisons', () => {
  test('assertEqual takes plain shapes and says where it failed', () => {
    d.assertEqual(tf.zeros([2, 3]).shape, [2, 3]);
    d.assertEqual([1, 1], 1);
    d.assertEqual(tf.constant([1, 2], 'int32'), [1, 2]);
    d.assertEqual(['a'], ['a']);
    d.assertEqual(tf.constant([2n ** 60n]), tf.constant([2n ** 60n]));
    expect(() =>
      d.assertEqual(
        [
          [1, 2],
          [3, 4],
        ],
        [
          [1, 2],
          [5, 6],
        ],
      ),
    ).toThrow(
      'expected a = b, but 2 of 4 elements differ; first at [1, 0]: a = 3, b = 5 (a float32 [2, 2], b float32 [2, 2])',
    );
    expect(() => d.assertEqual([1, 2], [1, 2, 3], 'sizes')).toThrow(
      'sizes: shapes [2] and [3] do not broadcast',
    );
    expect(() => d.assertEqual(['a'], ['b'])).toThrow('a = a, b = b');
    expect(() => d.assertEqual([Number.NaN], [Number.NaN])).toThrow(tf.InvalidArgumentError);
  });

  test('the others', () => {
    d.assertNoneEqual([1], [2]);
    d.assertLess([1], 2);
    d.assertLessEqual([2], 2);
    d.assertGreater([[3]], [2]);
    d.assertGreaterEqual(2, 2);
    d.assertPositive([1, 2]);
    d.assertNonNegative([0]);
    d.assertNegative(tf.constant([-1], 'int32'));
    d.assertNonPositive([0, -1]);
    expect(() => d.assertNoneEqual([1, 2], [0, 2])).toThrow('assertNoneEqual');
    expect(() => d.assertLess(2, 2)).toThrow('a < b');
    expect(() => d.assertLess([Number.NaN], 2)).toThrow('a = NaN');
    expect(() => d.assertGreater([1, 2], 1, 'rates')).toThrow('rates: expected a > b, but 1 of 2');
    expect(() => d.assertPositive([0])).toThrow('assertPositive');
    expect(() => d.assertNonNegative([-1])).toThrow('assertNonNegative');
  });

  test('assertNear', () => {
    d.assertNear([1, Infinity], [1 + 1e-7, Infinity]);
    d.assertNear(100, 101, { rtol: 0.01 });
    expect(() => d.assertNear(1, 1.1)).toThrow('a ≈');
    expect(() => d.assertNear([Number.NaN], [Number.NaN])).toThrow('a = NaN');
    expect(() => d.assertNear(tf.constant(1, 'float64'), tf.constant(1 + 1e-9, 'float64'))).toThrow('a ≈');
  });
});

describe('shapes and dtypes', () => {
  test('ranks and dtypes', () => {
    d.assertRank([[1]], 2);
    d.assertRankAtLeast([[1]], 1);
    d.assertRankIn([1], [1, 2]);
    expect(d.assertScalar(3).item()).toBe(3);
    d.assertType([1], 'float32');
    d.assertInteger(tf.constant(1, 'uint8'));
    d.assertSameFloatDtype([[1], 2], 'float32');
    expect(() => d.assertRank([1], 2, 'x')).toThrow('x: shape [1] has rank 1, expected 2');
    expect(() => d.assertRankAtLeast(1, 1)).toThrow('at least 1');
    expect(() => d.assertRankIn(1, [1, 2])).toThrow('one of 1, 2');
    expect(() => d.assertScalar([1])).toThrow('expected a scalar');
    expect(() => d.assertType([1], 'int32')).toThrow('x is float32, expected int32');
    expect(() => d.assertInteger([1])).toThrow('expected integers');
    expect(() => d.assertSameFloatDtype([tf.constant(1, 'int32')])).toThrow('a floating one');
  });

  test('assertShapes binds names', () => {
    const x = tf.zeros([4, 3]);
    d.assertShapes([
      [x, ['n', 3]],
      [tf.zeros([4]), ['n']],
      [tf.zeros([4, 7]), ['n', null]],
    ]);
    expect(() =>
      d.assertShapes([
        [x, ['n', 'd']],
        [tf.zeros([5]), ['n']],
      ]),
    ).toThrow('tensor 1 has shape [5], expected [n] with n = 4, d = 3');
    expect(() => d.assertShapes([[x, ['n', 'n']]])).toThrow("'n' is 4 and 3");
    expect(() => d.assertShapes([[x, ['n']]])).toThrow('expected [n]');
  });
});

describe('NaN and infinity', () => {
  const bad = (): tf.Tensor =>
    tf.constant([
      [1, Number.NaN],
      [Infinity, Number.NaN],
    ]);

  test('checkNumerics passes finite values through', () => {
    expect(d.checkNumerics([1, 2], 'x').array()).toEqual([1, 2]);
    expect(() => d.checkNumerics(bad(), 'loss')).toThrow(
      'loss: 2 NaN and 1 infinite of 4 elements; first at [0, 1]: NaN (float32 [2, 2])',
    );
    d.assertAllFinite([1]);
    expect(() => d.assertAllFinite(bad())).toThrow('assertAllFinite');
  });

  test('enableCheckNumerics names the op', () => {
    d.enableCheckNumerics();
    try {
      expect(() => tf.log([-1, 1])).toThrow(
        'Log: output 0 has 1 NaN and 0 infinite of 2 elements; first at [0]: NaN',
      );
    } finally {
      d.disableCheckNumerics();
    }
    expect(Number.isNaN(tf.log(-1).item())).toBe(true);
  });
});

describe('equalityTester', () => {
  expect.addEqualityTesters([d.equalityTester]);

  test('toEqual compares dtypes, shapes and values', () => {
    expect(tf.range(3)).toEqual(tf.constant([0, 1, 2]));
    expect({ w: [new tf.Variable([Number.NaN])] }).toEqual({ w: [tf.constant([Number.NaN])] });
    expect(tf.constant('a')).toEqual(tf.constant('a'));
    expect(tf.constant(5)).not.toEqual(tf.constant(6));
    expect(tf.constant(5)).not.toEqual(tf.constant(5, 'int32'));
    expect(tf.constant([5])).not.toEqual(tf.constant([[5]]));
    expect(tf.constant([5, 6])).not.toEqual(tf.constant([5, 7]));
    expect(tf.constant(['a', 'b'])).not.toEqual(tf.constant(['a', 'c']));
    expect(tf.constant([1])).not.toEqual([1]);
    expect(tf.constant([0])).not.toEqual(tf.constant([-0]));
  });

  test('what differs shows its values', () => {
    expect(() => expect([tf.constant([5, 6])]).toEqual([tf.constant([5, 7])])).toThrow(/to deeply equal/);
    expect(d.equalityTester(1, tf.constant(1))).toBeUndefined();
  });
});

describe('devices', () => {
  test('ops of eager code tell where they run', () => {
    const said = vi.spyOn(console, 'info').mockImplementation(() => {});
    try {
      d.setLogDevicePlacement(true);
      expect(d.getLogDevicePlacement()).toBe(true);
      const x = tf.ones([2, 2]);
      said.mockClear();
      tf.device('/cpu:0', () => tf.matmul(x, x).add(1));
      expect(said.mock.calls.map(([text]) => text)).toEqual(
        expect.arrayContaining([
          'Executing op MatMul in device /device:CPU:0',
          'Executing op AddV2 in device /device:CPU:0',
        ]),
      );
      d.setLogDevicePlacement(false);
      said.mockClear();
      tf.matmul(x, x);
      expect(said).not.toHaveBeenCalled();
    } finally {
      d.setLogDevicePlacement(false);
      said.mockRestore();
    }
    expect(() => d.setLogDevicePlacement('yes' as never)).toThrow(tf.InvalidArgumentError);
  });
});
