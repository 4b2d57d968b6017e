// Values of TensorFlow 2.21 and Keras 3.15.1 at places of their own; of scipy where these are wrong.
import * as tf from 'eagre';
import { describe, expect, it } from 'vitest';

const { random, ops, layers } = tf.keras;

describe('keras.random draws Keras’s numbers from an integer', () => {
  const draws: readonly [string, () => tf.Tensor, readonly number[]][] = [
    ['normal', () => random.normal([3], { mean: 1, stddev: 2, seed: 5 }), [-3.110757, 3.316375, 1.383217]],
    ['uniform', () => random.uniform([3], { seed: 5 }), [0.061853, 0.831669, 0.973577]],
    ['truncatedNormal', () => random.truncatedNormal([3], { seed: 5 }), [1.158188, 0.191609, -0.129779]],
    ['randint', () => random.randint([4], 0, 100, { seed: 5 }), [83, 10, 57, 19]],
    ['categorical', () => random.categorical([[1, 2, 3]], 5, { seed: 5 }), [2, 2, 0, 2, 2]],
    ['dropout', () => random.dropout(tf.ones([6]), 0.5, { seed: 5 }), [0, 2, 2, 0, 2, 0]],
    ['shuffle', () => random.shuffle(tf.range(6), { seed: 5 }), [0, 3, 5, 4, 1, 2]],
  ];
  it.each(draws)('%s', (_, draw, expected) => {
    for (const fn of [draw, tf.function(draw)]) {
      const got = [...fn().data()].map(Number);
      for (const [i, v] of expected.entries()) expect(got[i]).toBeCloseTo(v, 5);
    }
  });
});

it('igamma of large arguments', () => {
  const a = tf.constant([1e10, 1e10, 1e10, 1e12], 'float64');
  const x = tf.constant([1e10, 1e10 + 1e5, 1e10 - 1e5, 1e12], 'float64');
  const lower = tf.math.igamma(a, x).array<number[]>();
  const upper = tf.math.igammac(a, x).array<number[]>();
  for (const [i, v] of [0.5000013298076014, 0.8413447460725758, 0.158656, 0.50000013298].entries())
    expect(lower[i]).toBeCloseTo(v, i === 2 ? 5 : 9);
  for (const [i, v] of lower.entries()) expect(v + upper[i]).toBeCloseTo(1, 12);
});

it('the gradient of a quantile by q, at a number and between two', () => {
  const x = tf.constant([1, 2, 4, 8, 16]);
  for (const [q, slope, value] of [
    [0.5, 8, 4],
    [0.625, 16, 6],
    [0, 4, 1],
    [1, 32, 16],
  ]) {
    const v = new tf.Variable(q);
    const tape = new tf.GradientTape();
    const y = tape.record(() => ops.quantile(x, v));
    expect([y.item(), tape.gradient(y, v)?.item()]).toEqual([value, slope]);
  }
  expect(ops.quantile(tf.constant([1, 2, Infinity]), 0.5).item()).toBe(2);
});

it('the second gradient of approximate gelu in 16 bits', () => {
  const x = tf.constant([-300, -40, 0, 40, 300], 'float16');
  const outer = new tf.GradientTape();
  outer.watch(x);
  const inner = new tf.GradientTape();
  inner.watch(x);
  const slope = inner.gradient(tf.nn.gelu(x, { approximate: true }), x) as tf.Tensor;
  const [a, b, c, d, e] = (outer.gradient(slope, x) as tf.Tensor).array<number[]>();
  expect([a, b, d, e]).toEqual([0, 0, 0, 0]);
  expect(c).toBeCloseTo(0.798, 2);
});

it('Discretization puts NaN into the last bin', () => {
  expect(new layers.Discretization([0, 1])(tf.constant([Number.NaN, -1, 0.5, 5])).array()).toEqual([
    2, 0, 1, 2,
  ]);
});

it('a range of bare numbers is float32', () => {
  expect([
    tf.range(3).dtype,
    tf.range(3, { dtype: 'int32' }).dtype,
    tf.range(tf.constant(3, 'int32')).dtype,
  ]).toEqual(['float32', 'int32', 'int32']);
});
