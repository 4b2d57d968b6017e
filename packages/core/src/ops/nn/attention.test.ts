import '@eagre/backend-js';
import '@eagre/backend-native';
import { describe, expect, test } from 'vitest';
import * as tf from '../../index.ts';
import { nn } from '../../index.ts';
import { everywhere, worst } from '../../testing/ops.ts';

const random = (shape: number[], seed: number) =>
  tf.random.Generator.fromSeed(seed).normal(shape, { dtype: 'float64' });

/** The definition, with the matrix of weights in memory. */
function plainly(q: tf.Tensor, k: tf.Tensor, v: tf.Tensor, scale: number, bias?: tf.Tensor): tf.Tensor {
  const scores = q.matmul(k, { transposeB: true }).mul(scale);
  return (bias === undefined ? scores : scores.add(bias)).softmax().matmul(v);
}
const numbers = (t: tf.Tensor) => t.data() as Float64Array;

describe('scaled dot-product attention', () => {
  const q = () => random([2, 3, 4, 5], 1);
  const k = () => random([2, 3, 6, 5], 2);
  const v = () => random([2, 3, 6, 7], 3);

  test('is what its name says', () => {
    everywhere(() => {
      const y = nn.scaledDotProductAttention(q(), k(), v());
      expect(y.shape).toEqual([2, 3, 4, 7]);
      expect(worst(y, numbers(plainly(q(), k(), v(), 1 / Math.sqrt(5))))).toBeLessThan(1e-12);
      const bias = random([3, 1, 6], 4);
      const biased = nn.scaledDotProductAttention(q(), k(), v(), { mask: bias, scale: 2 });
      expect(worst(biased, numbers(plainly(q(), k(), v(), 2, bias)))).toBeLessThan(1e-12);
    });
  });

  test('takes time before heads', () => {
    everywhere(() => {
      const swap = (t: tf.Tensor) => t.transpose([0, 2, 1, 3]);
      const y = nn.scaledDotProductAttention(swap(q()), swap(k()), swap(v()), {
        timeFirst: true,
        isCausal: true,
      });
      const same = nn.scaledDotProductAttention(q(), k(), v(), { isCausal: true });
      expect(worst(swap(y), numbers(same))).toBeLessThan(1e-12);
    });
  });

  test('masks', () => {
    everywhere(() => {
      const seen = tf.constant([
        [true, false, true, true, false, true],
        [true, true, true, true, true, true],
        [false, false, false, false, false, false],
        [false, false, false, false, false, true],
      ]);
      const y = nn.scaledDotProductAttention(q(), k(), v(), { mask: seen });
      const bias = tf.where(seen, 0, -1e300).cast('float64');
      const expected = numbers(plainly(q(), k(), v(), 1 / Math.sqrt(5), bias));
      // A query that sees nothing gets nothing.
      const at = (i: number): number => Math.floor(i / 7) % 4;
      expect(
        worst(
          y,
          expected.map((x, i) => (at(i) === 2 ? 0 : x)),
        ),
      ).toBeLessThan(1e-12);
      const first = nn
        .scaledDotProductAttention(q(), k(), v(), { isCausal: true })
        .slice([0, 0, 0, 0], [2, 3, 1, 7]);
      expect(worst(first, numbers(v().slice([0, 0, 0, 0], [2, 3, 1, 7])))).toBeLessThan(1e-12);
    });
  });

  test('says what does not fit', () => {
    const x = tf.ones([1, 2, 3, 4]);
    const bad = (a: tf.Tensor, b: tf.Tensor, c: tf.Tensor, options = {}) =>
      expect(() => nn.scaledDotProductAttention(a, b, c, options));
    bad(tf.ones([2, 3, 4]), x, x).toThrow(
      'query is float32 [2, 3, 4], expected float32 [batch, heads, time, d]',
    );
    bad(x, tf.ones([1, 2, 3, 5]), x).toThrow('do not match');
    bad(x, x, tf.ones([1, 2, 4, 4])).toThrow('do not match');
    bad(x, x, x.cast('float64')).toThrow('value is float64');
    bad(x, x, x, { mask: tf.ones([4]) }).toThrow('broadcasts to [1, 2, 3, 3]');
    bad(x, x, x, { mask: tf.ones([3], 'int32') }).toThrow('mask');
    bad(x, x, x, { scale: Number.NaN }).toThrow('scale is NaN');
  });
});
