// Gradients that are ops themselves, so that a backward pass costs one sweep over memory. Most are TensorFlow's. Each has a
// gradient of its own, so higher orders work. They are no part of the public functions.
import type { NumberBuilder, NumberValue } from '@eagre/backend';
import {
  type Attrs,
  type BinaryFunction,
  defineBinary,
  defineElementwise,
  execute1,
  type Op,
} from '../dispatch/op.ts';
import { uniform } from '../dispatch/samples.ts';
import { checkDType } from '../tensor/dtypes.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { zerosLike } from './array/creation.ts';

// ---- in terms of the function's result y: (y, dy) → dx

/** The gradient of sigmoid from its result y: dy · y · (1 − y). */
export const sigmoidGrad: BinaryFunction = defineBinary({
  name: 'SigmoidGrad',
  ulp: 16,
  scalar: (s, y, dy) => s.mul(dy, s.mul(y, s.sub(1, y))),
  grad: (g, d) => [
    g.needs(0) ? d.mul(g.b).mul(g.a.mul(-2).add(1)) : null,
    g.needs(1) ? sigmoidGrad(g.a, d) : null,
  ],
});
/** The gradient of tanh from its result y: dy · (1 − y²). */
export const tanhGrad: BinaryFunction = defineBinary({
  name: 'TanhGrad',
  ulp: 16,
  scalar: (s, y, dy) => s.mul(dy, s.sub(1, s.mul(y, y))),
  grad: (g, d) => [g.needs(0) ? d.mul(g.b).mul(g.a).mul(-2) : null, g.needs(1) ? tanhGrad(g.a, d) : null],
});

/** 0 where dy is 0, even at a pole, as in TensorFlow's kernels: what `where` does not choose gets a gradient of 0, and it has to stay 0. */
const unlessZero = (s: NumberBuilder, dy: NumberValue, dx: NumberValue): NumberValue =>
  s.select(s.eq(dy, 0), 0, dx);

/** The gradient of sqrt from its result y: dy / 2y; 0 where dy is 0. */
export const sqrtGrad: BinaryFunction = defineBinary({
  name: 'SqrtGrad',
  domain: [0.5, 2],
  scalar: (s, y, dy) => unlessZero(s, dy, s.div(s.mul(dy, 0.5), y)),
  grad: (g, d) => [
    g.needs(0) ? sqrtGrad(g.a, d.mul(g.y)).mul(-2) : null,
    g.needs(1) ? sqrtGrad(g.a, d) : null,
  ],
});
/** The gradient of rsqrt from its result y: −dy · y³ / 2; 0 where dy is 0. */
export const rsqrtGrad: BinaryFunction = defineBinary({
  name: 'RsqrtGrad',
  scalar: (s, y, dy) => unlessZero(s, dy, s.mul(s.mul(dy, -0.5), s.mul(y, s.mul(y, y)))),
  grad: (g, d) => [
    g.needs(0) ? g.a.square().mulNoNan(d.mul(g.b)).mul(-1.5) : null,
    g.needs(1) ? rsqrtGrad(g.a, d) : null,
  ],
});
/** The gradient of reciprocal from its result y: −dy · y²; 0 where dy is 0. */
export const reciprocalGrad: BinaryFunction = defineBinary({
  name: 'ReciprocalGrad',
  scalar: (s, y, dy) => unlessZero(s, dy, s.neg(s.mul(dy, s.mul(y, y)))),
  grad: (g, d) => [
    g.needs(0) ? g.a.mulNoNan(d.mul(g.b)).mul(-2) : null,
    g.needs(1) ? reciprocalGrad(g.a, d) : null,
  ],
});

/** The gradient of log: dy / x, as a division is. That of its own for x is 0 where dy is 0, even at a pole. */
export const logGrad: BinaryFunction = defineBinary({
  name: 'LogGrad',
  samples: () => [{ inputs: [uniform([3, 5]), uniform([3, 5], 0.5, 2)] }],
  scalar: (s, dy, x) => s.div(dy, x),
  grad: (g, d) => [
    g.needs(0) ? logGrad(d, g.b) : null,
    g.needs(1) ? reciprocalGrad(g.b.reciprocal(), d.mul(g.a)) : null,
  ],
});

// ---- (dy, x) → dx, where x may also be the result if that has the same sign

/** The gradient of relu from its argument or result: dy where that is above 0, else 0. */
export const reluGrad: BinaryFunction = defineBinary({
  name: 'ReluGrad',
  dtypes: 'numeric',
  scalar: (s, dy, x) => s.select(s.gt(x, 0), dy, 0),
  grad: (g, d) => [g.needs(0) ? reluGrad(d, g.b) : null, g.needs(1) ? zerosLike(g.b) : null],
});
/** The gradient of relu6 from its argument or result: dy where that is between 0 and 6, else 0. */
export const relu6Grad: BinaryFunction = defineBinary({
  name: 'Relu6Grad',
  domain: [-3, 9],
  dtypes: 'numeric',
  scalar: (s, dy, x) => s.select(s.and(s.gt(x, 0), s.lt(x, 6)), dy, 0),
  grad: (g, d) => [g.needs(0) ? relu6Grad(d, g.b) : null, g.needs(1) ? zerosLike(g.b) : null],
});
/** The gradient of hardSigmoid: dy / 6 where its argument is between −3 and 3, else 0. */
export const hardSigmoidGrad: BinaryFunction = defineBinary({
  name: 'HardSigmoidGrad',
  domain: [-5, 5],
  scalar: (s, dy, x) => s.select(s.lt(s.abs(x), 3), s.mul(dy, 1 / 6), 0),
  grad: (g, d) => [g.needs(0) ? hardSigmoidGrad(d, g.b) : null, g.needs(1) ? zerosLike(g.b) : null],
});

type Slope = (s: NumberBuilder, x: NumberValue) => NumberValue;

/** dy · f'(x) from the scalar program of f', and f'' in ops. */
/* @__NO_SIDE_EFFECTS__ */
function defineSlope(name: string, slope: Slope, curvature: (x: Tensor) => Tensor): BinaryFunction {
  const fn: BinaryFunction = defineBinary({
    name,
    ulp: 64,
    scalar: (s, dy, x) => s.mul(dy, slope(s, x)),
    grad: (g, d) => [g.needs(0) ? fn(d, g.b) : null, g.needs(1) ? d.mul(g.a).mul(curvature(g.b)) : null],
  });
  return fn;
}

const oneMinus = (x: Tensor): Tensor => x.neg().add(1);

/** The gradient of softplus: dy times its derivative at the argument. */
export const softplusGrad: BinaryFunction = defineSlope(
  'SoftplusGrad',
  (s, x) => s.sigmoid(x),
  (x) => {
    const p = x.sigmoid();
    return p.mul(oneMinus(p));
  },
);
/** The gradient of softsign: dy times its derivative at the argument. */
export const softsignGrad: BinaryFunction = defineSlope(
  'SoftsignGrad',
  (s, x) => {
    const d = s.add(s.abs(x), 1);
    return s.div(1, s.mul(d, d));
  },
  (x) => x.sign().mul(-2).div(x.abs().add(1).pow(3)),
);
/** The gradient of silu: dy times its derivative at the argument. */
export const siluGrad: BinaryFunction = defineSlope(
  'SiluGrad',
  (s, x) => {
    const p = s.sigmoid(x);
    return s.mul(p, s.add(s.mul(x, s.sub(1, p)), 1));
  },
  (x) => {
    const p = x.sigmoid();
    return p.mul(oneMinus(p)).mul(x.mul(p.mul(-2).add(1)).add(2));
  },
);
/** The gradient of hardSilu: dy times its derivative at the argument. */
export const hardSiluGrad: BinaryFunction = defineSlope(
  'HardSiluGrad',
  (s, x) => s.select(s.lt(s.abs(x), 3), s.add(s.mul(x, 1 / 3), 0.5), s.cast(s.gt(x, 0), x.dtype)),
  (x) => x.abs().less(3).cast(x.dtype).div(3),
);
/** The gradient of mish: dy times its derivative at the argument. */
export const mishGrad: BinaryFunction = defineSlope(
  'MishGrad',
  (s, x) => {
    const t = s.tanh(s.softplus(x));
    return s.add(t, s.mul(x, s.mul(s.sub(1, s.mul(t, t)), s.sigmoid(x))));
  },
  (x) => {
    const t = x.softplus().tanh();
    const p = x.sigmoid();
    const rest = oneMinus(t.square());
    const slope = rest.mul(p);
    const bend = rest.mul(p.mul(oneMinus(p)).sub(t.mul(p.square()).mul(2)));
    return slope.mul(2).add(x.mul(bend));
  },
);
/** The gradient of gelu: dy times its derivative at the argument. */
export const geluGrad: BinaryFunction = defineSlope(
  'GeluGrad',
  (s, x) => {
    const cumulative = s.mul(s.add(s.erf(s.mul(x, Math.SQRT1_2)), 1), 0.5);
    const density = s.mul(s.exp(s.mul(s.mul(x, x), -0.5)), 1 / Math.sqrt(2 * Math.PI));
    return s.add(cumulative, s.mul(x, density));
  },
  (x) => {
    const squared = x.square();
    return squared
      .mul(-0.5)
      .exp()
      .mul(squared.neg().add(2))
      .mul(1 / Math.sqrt(2 * Math.PI));
  },
);
/** In the approximation of gelu by tanh(u): u = geluScale · (x + geluCubic · x³). */
export const geluScale: number = Math.sqrt(2 / Math.PI);
export const geluCubic = 0.044715;
/** The gradient of gelu's approximation: dy times its derivative at the argument. */
export const geluTanhGrad: BinaryFunction = defineSlope(
  'GeluTanhGrad',
  (s, x) => {
    const squared = s.mul(x, x);
    const t = s.tanh(s.mul(s.mul(x, s.add(s.mul(squared, geluCubic), 1)), geluScale));
    const inner = s.mul(s.add(s.mul(squared, 3 * geluCubic), 1), geluScale);
    const rest = s.sub(1, s.mul(t, t));
    return s.mul(s.add(s.add(t, 1), s.mul(s.mul(x, rest), inner)), 0.5);
  },
  (given) => {
    // Further out it is 0, and powers of 16 bits would be infinite.
    const x = given.clipByValue(-30, 30);
    const squared = x.square();
    const t = x.mul(squared.mul(geluCubic).add(1)).mul(geluScale).tanh();
    const inner = squared
      .mul(3 * geluCubic)
      .add(1)
      .mul(geluScale);
    const bend = squared.mul(3 * geluCubic * geluScale);
    const rest = oneMinus(t.square());
    return rest.mul(inner.add(bend)).sub(x.mul(t).mul(rest.mul(inner)).mul(inner));
  },
);

// ---- with a parameter

const alphaOf = (attrs: Attrs): number => attrs.alpha as number;
const alphaKey = (attrs: Attrs): string => String(attrs.alpha);
const checkFloats =
  (name: string) =>
  (inputs: readonly Tensor[]): void => {
    for (const x of inputs) checkDType(x.dtype, 'floating', 'x', name);
  };

/** The gradient of leakyRelu: dy where its argument is above 0, else alpha · dy. */
const leakyReluGradOp: Op = defineElementwise({
  name: 'LeakyReluGrad',
  samples: () => [{ inputs: [uniform([3, 5]), uniform([3, 5])], attrs: { alpha: 0.2 } }],
  check: checkFloats('LeakyReluGrad'),
  key: alphaKey,
  scalar: (attrs) => (s, dy, x) => s.select(s.gt(x, 0), dy, s.mul(dy, alphaOf(attrs))),
  grad: (g, d) => [
    g.needs(0) ? leakyReluGrad(d, g.b, alphaOf(g.attrs)) : null,
    g.needs(1) ? zerosLike(g.b) : null,
  ],
});
export function leakyReluGrad(dy: Tensor, x: Tensor, alpha: number): Tensor {
  return execute1(leakyReluGradOp, [dy, x], { alpha });
}

/** The gradient of elu from its result y: dy where y is not below 0, else dy · (y + alpha). */
const eluGradOp: Op = defineElementwise({
  name: 'EluGrad',
  samples: () => [{ inputs: [uniform([3, 5]), uniform([3, 5], -0.9, 3)], attrs: { alpha: 1 } }],
  check: checkFloats('EluGrad'),
  key: alphaKey,
  scalar: (attrs) => (s, dy, y) => s.select(s.lt(y, 0), s.mul(dy, s.add(y, alphaOf(attrs))), dy),
  grad: (g, d) => [
    g.needs(0) ? eluGrad(d, g.b, alphaOf(g.attrs)) : null,
    g.needs(1) ? g.b.less(0).where(d.mul(g.a), 0) : null,
  ],
});
export function eluGrad(dy: Tensor, y: Tensor, alpha: number): Tensor {
  return execute1(eluGradOp, [dy, y], { alpha });
}

export const seluScale = 1.0507009873554805;
export const seluAlpha = 1.6732632423543772;
/** The gradient of selu from its result y: scale · dy where y is not below 0, else dy · (y + scale · alpha). */
export const seluGrad: BinaryFunction = defineBinary({
  name: 'SeluGrad',
  domain: [-1.7, 3],
  scalar: (s, dy, y) =>
    s.mul(dy, s.select(s.lt(y, 0), s.add(y, seluScale * seluAlpha), s.constant(seluScale, y.dtype))),
  grad: (g, d) => [
    g.needs(0) ? seluGrad(d, g.b) : null,
    g.needs(1) ? g.b.less(0).where(d.mul(g.a), 0) : null,
  ],
});

// ---- derivatives of digamma

/** B(2k) from k = 1. */
const bernoulli = [1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510] as const;
const factorial = (n: number): number => (n <= 1 ? 1 : n * factorial(n - 1));

/** Where the asymptotic series may take over: it is run at x + 10. */
const SHIFT = 10;

/** (−1)^(n+1) · the n-th derivative of digamma for x ≥ 1/2: a recurrence up to x + 10, then the asymptotic series. */
function polygammaSeries(s: NumberBuilder, x: NumberValue, n: number): NumberValue {
  const power = (v: NumberValue, exponent: number): NumberValue => {
    let result = v;
    for (let i = 1; i < exponent; i++) result = s.mul(result, v);
    return result;
  };
  const inverse = s.div(1, s.add(x, SHIFT));
  const squared = s.mul(inverse, inverse);
  const terms = bernoulli.map((b, i) => (b * factorial(2 * i + 1 + n)) / factorial(2 * i + 2));
  let sum = s.constant(terms[terms.length - 1], x.dtype);
  for (let i = terms.length - 2; i >= 0; i--) sum = s.add(s.mul(sum, squared), terms[i]);
  sum = s.mul(
    s.add(s.mul(s.add(s.mul(sum, inverse), factorial(n) / 2), inverse), factorial(n - 1)),
    power(inverse, n),
  );
  for (let k = SHIFT - 1; k >= 0; k--)
    sum = s.add(sum, s.mul(power(s.div(1, s.add(x, k)), n + 1), factorial(n)));
  return sum;
}

/** The n-th derivative of π · cot(πx) from c = cot(πx): a polynomial, since that of c itself is −π(1 + c²). */
function cotangentDerivative(s: NumberBuilder, c: NumberValue, n: number): NumberValue {
  let coefficients = [0, Math.PI];
  for (let order = 0; order < n; order++) {
    const slope = coefficients.slice(1).map((a, i) => -Math.PI * a * (i + 1));
    coefficients = [...slope, 0, 0].map((a, i) => a + (slope[i - 2] ?? 0));
  }
  let value = s.constant(coefficients[coefficients.length - 1], c.dtype);
  for (let i = coefficients.length - 2; i >= 0; i--) value = s.add(s.mul(value, c), coefficients[i]);
  return value;
}

/** The n-th derivative of digamma for a fixed n of at least 1, element-wise, computed in float64. */
const polygammaOp: Op = defineElementwise({
  name: 'PolygammaN',
  samples: () => [
    { inputs: [uniform([3, 5], 0.3, 5)], attrs: { n: 1 } },
    { inputs: [uniform([3, 5], -0.8, -0.2)], attrs: { n: 2 } },
  ],
  check: checkFloats('PolygammaN'),
  key: (attrs) => String(attrs.n),
  scalar: (attrs) => (s, value) => {
    const n = attrs.n as number;
    const x = s.cast(value, 'float64');
    const far = s.lt(x, 0.5);
    const series = polygammaSeries(s, s.select(far, s.sub(1, x), x), n);
    const angle = s.mul(s.sub(x, s.round(x)), Math.PI);
    const reflected = s.neg(s.add(series, cotangentDerivative(s, s.div(s.cos(angle), s.sin(angle)), n)));
    // −∞ counts as a pole, as in TensorFlow.
    const left = n % 2 === 1 ? s.select(s.eq(x, -Infinity), Infinity, reflected) : reflected;
    const direct = n % 2 === 1 ? series : s.neg(series);
    return s.cast(s.select(far, left, direct), value.dtype);
  },
  grad: (g, dy) => dy.mul(polygamma(g.x, (g.attrs.n as number) + 1)),
});
/** The n-th derivative of digamma. */
export function polygamma(x: Tensor, n: number): Tensor {
  return execute1(polygammaOp, [x], { n });
}
