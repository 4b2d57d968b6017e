// `tf.keras.random.binomial` against the binomial distribution's mean, variance and probabilities.
import { expect, test } from 'vitest';
import * as tf from '../src/index.ts';

const { binomial } = tf.keras.random;

test.each([
  [1, 0.3],
  [5, 0.5],
  [40, 0.9],
  [100000, 0.01],
])('%i trials of %f', (n, p) => {
  tf.random.setSeed(5);
  const drawn = Array.from(binomial([4000], n, p).data() as Float32Array);
  expect(drawn.every((k) => Number.isInteger(k) && k >= 0 && k <= n)).toBe(true);
  const mean = drawn.reduce((a, b) => a + b, 0) / drawn.length;
  const variance = drawn.reduce((a, b) => a + (b - mean) ** 2, 0) / drawn.length;
  const expected = n * p * (1 - p);
  // Five standard errors of the mean; the variance's relative error is about sqrt(2 / 4000).
  expect(Math.abs(mean - n * p)).toBeLessThan(5 * Math.sqrt(expected / 4000));
  expect(Math.abs(variance / expected - 1)).toBeLessThan(0.12);
});

test('each number of successes as often as it should be', () => {
  tf.random.setSeed(6);
  const drawn = Array.from(binomial([8000], 3, 0.25).data() as Float32Array);
  const shares = [0, 1, 2, 3].map((k) => drawn.filter((d) => d === k).length / drawn.length);
  const expected = [27, 27, 9, 1].map((c) => c / 64);
  shares.forEach((share, k) => {
    expect(Math.abs(share - (expected[k] as number))).toBeLessThan(0.025);
  });
});

test('counts and probabilities broadcast; certain ones are exact, impossible ones are NaN', () => {
  const of = (): tf.Tensor => binomial([2, 3], [[0], [7]], [0, 1, 2], { dtype: 'float64' });
  for (const fn of [of, tf.function(of)]) {
    const y = fn();
    expect(y.dtype).toBe('float64');
    expect(y.array()).toEqual([
      [0, 0, Number.NaN],
      [0, 7, Number.NaN],
    ]);
  }
  expect(binomial([1], -1, 0.5).array()).toEqual([Number.NaN]);
  expect(() => binomial([1], 1, 0.5, { dtype: 'int32' })).toThrow(tf.errors.InvalidArgumentError);
});

test('a seed repeats, eagerly and traced, at each call', () => {
  const of = (): tf.Tensor => binomial([50], 20, 0.5, { seed: 3 });
  for (const fn of [of, tf.function(of)]) {
    tf.random.setSeed(1);
    const [first, second] = [fn().array(), fn().array()];
    tf.random.setSeed(1);
    expect(fn().array()).toEqual(first);
    // As in Keras, an integer gives the same numbers at each call.
    expect(second).toEqual(first);
  }
});
