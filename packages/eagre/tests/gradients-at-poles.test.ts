// A gradient of 0 that meets an infinite slope, as behind a `where` that chooses something else: 0 where TensorFlow 2.21 has 0.
import * as tf from 'eagre';
import { describe, expect, it } from 'vitest';

type Unary = (x: tf.Tensor) => tf.Tensor;
const { inf, big } = { inf: Infinity, big: 1e30 };
const points = [-inf, -big, -2, -1, -0.5, 0, 0.5, 1, 2, big, inf];

/** Functions, and the points where TensorFlow's gradient is NaN although that of the result is 0: 0 · ∞. At all others it is 0. */
const table: readonly (readonly [names: string, nowhere: readonly number[]])[] = [
  [
    'abs sqrt rsqrt reciprocal reciprocalNoNan logSigmoid sigmoid tanh atan asinh erf erfc besselI0e besselI1e neg sign softplus floor',
    [],
  ],
  ['nn.softsign nn.relu nn.relu6 nn.elu nn.selu nn.leakyRelu keras.activations.hardSigmoid', []],
  ['square sin cos tan nn.silu nn.gelu keras.activations.mish', [-inf, inf]],
  ['special.besselJ0 special.besselJ1 special.dawsn special.fresnelCos special.fresnelSin', [-inf, inf]],
  ['exp expm1', [big, inf]],
  ['log', [0]],
  ['log1p', [-1]],
  ['asin acos erfinv', [-inf, -big, -2, -1, 1, 2, big, inf]],
  ['sinh cosh besselI0 besselI1', [-inf, -big, big, inf]],
  ['acosh', [-inf, -big, -2, -1, -0.5, 0, 0.5, 1]],
  ['atanh', [-1, 1]],
  ['lgamma', [-inf, -big, -2, -1, 0, inf]],
  ['digamma', [-inf, -big, -2, -1, 0]],
  ['special.besselK0 special.besselK0e special.besselK1', [-inf, -big, -2, -1, -0.5, 0]],
  ['special.besselY0 special.besselY1 special.spence', [-inf, -big, -2, -1, -0.5, 0, inf]],
  ['special.expint', [0, big, inf]],
];
const functions = table.flatMap(([names, nowhere]) =>
  names.split(' ').map((name): [string, Unary, readonly number[]] => {
    const parts = (name.includes('.') ? name : `math.${name}`).split('.');
    const from: unknown = name.startsWith('special') ? tf.math : tf;
    return [name, parts.reduce((at, part) => (at as never)[part], from) as Unary, nowhere];
  }),
);
const gradientOf = (fn: Unary, x: tf.Tensor): tf.Tensor => {
  const tape = new tf.GradientTape();
  tape.watch(x);
  return tape.gradient(
    tape.record(() => fn(x)),
    x,
  ) as tf.Tensor;
};
const ways: readonly [string, (fn: Unary) => Unary][] = [
  ['eagerly', (fn) => fn],
  ['traced', (fn) => tf.function(fn) as Unary],
];
/** That no function of the list is a part of another kernel: what comes before and after is one program with it when traced. */
const unchosen =
  (fn: Unary): Unary =>
  (x) =>
    tf.where(x.isNan(), fn(x), x.mul(2));

describe.each(ways)('a gradient of 0 at a pole, %s', (_, as) => {
  it.each(functions)('%s', (_name, fn, nowhere) => {
    const x = tf.constant(points, 'float64');
    const got = as((v) => gradientOf(unchosen(fn), v))(x).array<number[]>();
    const wrong = points.filter((p, i) => got[i] !== 2 && !(nowhere.includes(p) && Number.isNaN(got[i])));
    expect(wrong).toEqual([]);
  });

  it.each(['sqrt', 'rsqrt', 'reciprocal'] as const)('%s, in all precisions', (name) => {
    for (const dtype of ['float16', 'bfloat16', 'float32', 'float64', 'complex64'] as const) {
      const x = tf.constant([0, 0, 4], dtype);
      const dy = tf.constant([0, 0, 1], dtype);
      const [dx] = [as((v) => gradientOf((u) => tf.math[name](u).mul(dy), v))(x)];
      const [first, second, third] = dx.cast('float64').array<number[]>();
      // The product's gradient is dy; so nothing comes from the poles.
      expect([first, second], dtype).toEqual([0, 0]);
      expect(third, dtype).toBeCloseTo({ sqrt: 0.25, rsqrt: -0.0625, reciprocal: -0.0625 }[name], 2);
    }
  });

  it('of second order: sqrt, rsqrt, reciprocal, log, log1p and atanh', () => {
    const poles = { sqrt: 0, rsqrt: 0, reciprocal: 0, log: 0, log1p: -1, atanh: 1 } as const;
    for (const [name, pole] of Object.entries(poles)) {
      const second = as((x) => {
        const tape = new tf.GradientTape();
        tape.watch(x);
        const dy = tf.zerosLike(x);
        const inner = new tf.GradientTape();
        inner.watch(x);
        const y = (tf.math[name as 'sqrt'] as Unary)(x);
        const dx = inner.gradient(y, x, { outputGradients: dy }) as tf.Tensor;
        return tape.gradient(tf.where(x.isNan(), dx, x), x) as tf.Tensor;
      });
      expect(second(tf.constant([pole, pole], 'float64')).array(), name).toEqual([1, 1]);
    }
  });

  it('deviations of equal numbers, lengths of nothing, and what an activation leaves out', () => {
    const std = as((x) => gradientOf((v) => tf.where(x.greater(5), tf.math.reduceStd(v), v), x));
    expect(std(tf.constant([2, 2])).array()).toEqual([1, 1]);
    const relu = as((x) => gradientOf((v) => tf.nn.relu(tf.sqrt(v).sub(1)), x));
    expect(relu(tf.constant([0, 0, 0, 4])).array()).toEqual([0, 0, 0, 0.25]);
    const length = as((x) => gradientOf((v) => tf.where(x.greater(5), tf.norm(v), v), x));
    expect(length(tf.constant([0, 0])).array()).toEqual([1, 1]);
  });
});
