// The functions of tf.numpy against TensorFlow, and its dtypes.
import { describe, expect, it } from 'vitest';
import * as tf from '../src/index.ts';
import { testCases } from './testing/golden-cases.ts';

testCases('numpy-rest.json');

describe('dtypes of tf.numpy', () => {
  const { numpy: np } = tf;
  it('meet as in NumPy', () => {
    const meet = ([a, b, c]: readonly [tf.DType, tf.DType, tf.DType]): void => {
      expect([np.promoteTypes(a, b), np.promoteTypes(b, a)]).toEqual([c, c]);
    };
    const table: readonly (readonly [tf.DType, tf.DType, tf.DType])[] = [
      ['int8', 'uint8', 'int16'],
      ['int32', 'float32', 'float64'],
      ['int16', 'float32', 'float32'],
      ['uint64', 'int8', 'float64'],
      ['bool', 'int8', 'int8'],
      ['float16', 'float32', 'float32'],
      ['complex64', 'float64', 'complex128'],
      ['int8', 'float16', 'float16'],
      ['uint32', 'int32', 'int64'],
    ];
    table.forEach(meet);
    expect(np.resultType('int8', tf.constant([1], 'uint8'))).toBe('int16');
    expect(() => np.promoteTypes('int8', 'string')).toThrow(tf.errors.InvalidArgumentError);
    expect([np.issubdtype('float32', np.inexact), np.issubdtype('int8', 'inexact')]).toEqual([true, false]);
    expect(np.iinfo('int16').max).toBe(32767);
    expect([np.finfo('float32').eps, np.finfo('float64').eps]).toEqual([2 ** -23, Number.EPSILON]);
    expect(() => np.finfo('int8')).toThrow(tf.errors.InvalidArgumentError);
    expect(() => np.iinfo('float32')).toThrow(tf.errors.InvalidArgumentError);
    expect([np.isscalar(3), np.isscalar([3]), np.isrealobj([1]), np.iscomplexobj([1])]).toEqual([
      true,
      false,
      true,
      false,
    ]);
    expect(np.shape(tf.ones([2, 3]))).toEqual([2, 3]);
    expect([np.pi, np.e, np.inf, np.float, np.newaxis]).toEqual([Math.PI, Math.E, Infinity, 'float64', null]);
    expect(tf.constant(1)).toBeInstanceOf(np.ndarray);
  });
  it('draws at random', () => {
    np.random.seed(3);
    const a = np.random.rand(2, 3);
    np.random.seed(3);
    expect(np.random.rand(2, 3).array()).toEqual(a.array());
    expect(np.random.randn(4).shape).toEqual([4]);
    expect([
      np.random.random([2]).shape,
      np.random.standardNormal(3).shape,
      np.random.random().shape,
    ]).toEqual([[2], [3], []]);
    const dice = np.random.randint(1, 7, [50]);
    expect([dice.dtype, Number(dice.min().item()) >= 1, Number(dice.max().item()) <= 6]).toEqual([
      'int64',
      true,
      true,
    ]);
    expect(np.random.uniform(2, 3, [5]).greaterEqual(2).all().item()).toBe(true);
    expect(() => np.random.randint(1.5)).toThrow(tf.errors.InvalidArgumentError);
  });
});
