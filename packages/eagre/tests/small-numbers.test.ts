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

describe('adjustHue of what is no number', () => {
  const NAN = Number.NaN;
  const rows = [
    [NAN, 0.5, 0.2],
    [0.1, NAN, 0.3],
    [0.3, 0.2, NAN],
    [NAN, NAN, 0.2],
    [0.2, 0.2, NAN],
    [0.2, NAN, 0.2],
    [0.5, 0.2, 0.2],
    [-0.5, 0.2, 0.1],
    [1.5, 0.2, 2],
  ];
  const hues = [
    [NAN, 0.2, NAN],
    [0.3, NAN, NAN],
    [0.3, 0.2, NAN],
    [NAN, NAN, NAN],
    [0.2, 0.2, 0.2],
    [0.2, NAN, NAN],
    [0.26, 0.5, 0.2],
    [-0.04, -0.5, 0.2],
    [2, 1.14, 0.2],
  ];
  it('adjustHue', () => {
    const adjust = (x: tf.Tensor): tf.Tensor => tf.image.adjustHue(x, 0.3);
    for (const fn of [adjust, tf.function(adjust)])
      for (const [i, row] of fn(tf.constant([rows]))
        .array<number[][][]>()[0]
        .entries())
        for (const [j, v] of row.entries())
          if (Number.isNaN(hues[i][j])) expect(v).toBeNaN();
          else expect(v).toBeCloseTo(hues[i][j], 5);
  });
});

it('adjustSaturation of what is no number', () => {
  const N = Number.NaN;
  // Colours, and what becomes of them by half the saturation, in TensorFlow 2.21.
  const cases = [
    [
      [N, 0.5, 0.2],
      [N, N, N],
    ],
    [
      [0.1, N, 0.3],
      [0.1, 0.1, 0.1],
    ],
    [
      [0.3, 0.2, N],
      [0.25, 0.25, 0.25],
    ],
    [
      [0.2, 0.3, N],
      [0.25, 0.25, 0.25],
    ],
    [
      [0.2, N, N],
      [0.2, 0.2, 0.2],
    ],
    [
      [0.2, 0.2, N],
      [0.2, 0.2, 0.2],
    ],
    [
      [N, 0.2, 0.2],
      [N, N, N],
    ],
    [
      [-0.5, 0.2, 0.1],
      [0, 0.2, 0.1714],
    ],
    [
      [1.5, 0.2, 2],
      [1.75, 1.1, 2],
    ],
    [
      [-0.5, -0.2, -0.1],
      [-0.1, -0.1, -0.1],
    ],
    [
      [0.5, 0.2, 0.2],
      [0.5, 0.35, 0.35],
    ],
  ];
  const adjust = (x: tf.Tensor): tf.Tensor => tf.image.adjustSaturation(x, 0.5);
  const images = tf.constant([cases.map(([x]) => x)]);
  for (const fn of [adjust, tf.function(adjust)])
    for (const [i, row] of fn(images).array<number[][][]>()[0].entries())
      for (const [j, v] of row.entries())
        if (Number.isNaN(cases[i][1][j])) expect(v).toBeNaN();
        else expect(v).toBeCloseTo(cases[i][1][j], 4);
});

it('the second derivative of lgamma at −∞ is ∞', () => {
  const x = tf.constant([-Infinity, Infinity, -1, Number.NaN, 2]);
  const outer = new tf.GradientTape();
  outer.watch(x);
  const inner = new tf.GradientTape();
  inner.watch(x);
  const slope = inner.gradient(tf.math.lgamma(x), x) as tf.Tensor;
  const [a, b, c, d, e] = (outer.gradient(slope, x) as tf.Tensor).array<number[]>();
  expect([a, b, c, d]).toEqual([Infinity, 0, Infinity, Number.NaN]);
  expect(e).toBeCloseTo(Math.PI ** 2 / 6 - 1, 5);
});

it('RandomElasticTransform smooths its moves by a filter of the deviation that was drawn', () => {
  // A deviation below 1 pixel, as most of these scales give, has a filter of one weight: 80 · 0.1 · s of moves of 3 · s.
  const [h, w] = [60, 80];
  const across = tf.range(w).broadcastTo([2, h, w]).expandDims(-1);
  const layer = new layers.RandomElasticTransform({
    factor: [1, 1],
    scale: [0.3, 0.34],
    valueRange: [-1000, 1000],
    seed: 4,
  });
  const moved = (layer(across, { training: true }) as tf.Tensor).sub(across);
  const deviation = tf.math.reduceStd(moved.slice([0, 15, 20, 0], [2, 30, 40, 1])).item() as number;
  expect(deviation).toBeGreaterThan(2.1);
  expect(deviation).toBeLessThan(2.9);
});
