import { InvalidArgumentError } from '@eagre/backend';
import type { IntegerLike } from '../../arguments/argument-kinds.ts';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import {
  type Attrs,
  defineElementwise,
  defineOp,
  defineUnary,
  execute1,
  type Op,
  pair,
  type UnaryFunction,
} from '../../dispatch/op.ts';
import { type Sample, uniform } from '../../dispatch/samples.ts';
import { normalizeAxis, show } from '../../shapes/shape.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType } from '../../tensor/dtypes.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import {
  eluGrad,
  geluCubic,
  geluGrad,
  geluScale,
  geluTanhGrad,
  hardSigmoidGrad,
  hardSiluGrad,
  leakyReluGrad,
  mishGrad,
  relu6Grad,
  reluGrad,
  seluAlpha,
  seluGrad,
  seluScale,
  sigmoidGrad,
  siluGrad,
  softplusGrad,
  softsignGrad,
} from '../gradients.ts';

// ---- rectifiers

/** max(x, 0); the gradient at 0 is 0. */
export const relu: UnaryFunction<'x|features'> = defineUnary(
  {
    name: 'Relu',
    dtypes: 'numeric',
    scalar: (s, x) => s.max(x, 0),
    grad: ({ y }, dy) => reluGrad(dy, y),
  },
  'x|features',
);
/** min(max(x, 0), 6); the gradient at 0 and 6 is 0. */
export const relu6: UnaryFunction<'x|features'> = defineUnary(
  {
    name: 'Relu6',
    dtypes: 'numeric',
    domain: [-3, 9],
    scalar: (s, x) => s.min(s.max(x, 0), 6),
    grad: ({ y }, dy) => relu6Grad(dy, y),
  },
  'x|features',
);

const alphaOf = (attrs: Attrs): number => attrs.alpha as number;
/** @throws InvalidArgumentError unless it is a finite number. */
function checkAlpha(alpha: number, op: string): number {
  if (!Number.isFinite(alpha))
    throw new InvalidArgumentError(`alpha is ${show(alpha)}, expected a finite number`, op);
  return alpha;
}

/** x where it is above 0, else alpha · x, element-wise. */
const leakyReluOp: Op = defineElementwise({
  name: 'LeakyRelu',
  samples: () => [{ inputs: [uniform([3, 5], -3, 3)], attrs: { alpha: 0.2 } }],
  check: ([x]) => checkDType(x.dtype, 'floating', 'x', 'LeakyRelu'),
  key: (attrs) => String(attrs.alpha),
  scalar: (attrs) => (s, x) => s.select(s.gt(x, 0), x, s.mul(x, alphaOf(attrs))),
  grad: (g, dy) => leakyReluGrad(dy, g.x, alphaOf(g.attrs)),
});
/**
 * x where it is above 0, else alpha · x.
 * @param options.alpha the slope below 0; 0.2 by default, as in TensorFlow.
 */
export const leakyRelu: NamedFunction<
  [x: TensorLike],
  ['x|features'],
  {
    /** The slope below 0; 0.2 by default. */
    readonly alpha?: number;
  }
> = defineFunction('leakyRelu', { 'x|features': kind.tensor }, { alpha: kind.asIs }, (x, options) =>
  execute1(leakyReluOp, [toTensor(x)], { alpha: checkAlpha(options.alpha ?? 0.2, 'LeakyRelu') }),
);

/** x where it is above 0, else alpha · (exp(x) − 1), element-wise: the exponential linear unit. */
const eluOp: Op = defineElementwise({
  name: 'Elu',
  samples: () => [
    { inputs: [uniform([3, 5], -3, 3)], attrs: { alpha: 1 } },
    { inputs: [uniform([7], -3, 3)], attrs: { alpha: 0.5 } },
  ],
  check: ([x]) => checkDType(x.dtype, 'floating', 'x', 'Elu'),
  key: (attrs) => String(attrs.alpha),
  scalar: (attrs) => (s, x) => s.select(s.gt(x, 0), x, s.mul(s.expm1(x), alphaOf(attrs))),
  grad: (g, dy) => eluGrad(dy, g.y, alphaOf(g.attrs)),
});
/**
 * x where it is above 0, else alpha · (exp(x) − 1).
 * @param options.alpha minus the limit at −∞, above 0; 1 by default.
 */
export const elu: NamedFunction<
  [x: TensorLike],
  ['x|features'],
  {
    /** Minus the limit at −∞, above 0; 1 by default. */
    readonly alpha?: number;
  }
> = defineFunction('elu', { 'x|features': kind.tensor }, { alpha: kind.asIs }, (x, options) => {
  const alpha = checkAlpha(options.alpha ?? 1, 'Elu');
  if (alpha <= 0) throw new InvalidArgumentError(`alpha is ${alpha}, expected a number above 0`, 'Elu');
  return execute1(eluOp, [toTensor(x)], { alpha });
});
/** The scaled exponential linear unit, element-wise: elu with the two constants that keep mean 0 and variance 1. */
export const selu: UnaryFunction<'x|features'> = defineUnary(
  {
    name: 'Selu',
    scalar: (s, x) => s.select(s.gt(x, 0), s.mul(x, seluScale), s.mul(s.expm1(x), seluScale * seluAlpha)),
    grad: ({ y }, dy) => seluGrad(dy, y),
  },
  'x|features',
);

// ---- smooth and piecewise linear ones

/** 1 / (1 + exp(−x)), element-wise. */
export const sigmoid: UnaryFunction = defineUnary({
  name: 'Sigmoid',
  scalar: (s, x) => s.sigmoid(x),
  grad: ({ y }, dy) => sigmoidGrad(y, dy),
});
/** log(sigmoid(x)), element-wise, without loss where that is near 0 or far below. */
export const logSigmoid: UnaryFunction = defineUnary({
  name: 'LogSigmoid',
  scalar: (s, x) => s.neg(s.softplus(s.neg(x))),
  grad: ({ x }, dy) => softplusGrad(dy, x.neg()),
});
/** relu6(x + 3) / 6, element-wise: a sigmoid of three straight lines. */
export const hardSigmoid: UnaryFunction = defineUnary({
  name: 'HardSigmoid',
  domain: [-5, 5],
  scalar: (s, x) => s.mul(s.min(s.max(s.add(x, 3), 0), 6), 1 / 6),
  grad: ({ x }, dy) => hardSigmoidGrad(dy, x),
});
/** log(1 + exp(x)), element-wise, without overflow. */
export const softplus: UnaryFunction<'x|features'> = defineUnary(
  {
    name: 'Softplus',
    scalar: (s, x) => s.softplus(x),
    grad: ({ x }, dy) => softplusGrad(dy, x),
  },
  'x|features',
);
/** x / (1 + |x|), element-wise. */
export const softsign: UnaryFunction<'x|features'> = defineUnary(
  {
    name: 'Softsign',
    scalar: (s, x) => s.div(x, s.add(s.abs(x), 1)),
    grad: ({ x }, dy) => softsignGrad(dy, x),
  },
  'x|features',
);
/** x · sigmoid(x), element-wise. */
const siluOnce: UnaryFunction = defineUnary({
  name: 'Silu',
  scalar: (s, x) => s.mul(x, s.sigmoid(x)),
  grad: ({ x }, dy) => siluGrad(dy, x),
});
type Silu = NamedFunction<[x: TensorLike, beta?: TensorLike], ['x|features', 'beta']>;
const scaledSilu = /* @__NO_SIDE_EFFECTS__ */ (name: string): Silu =>
  defineFunction(name, { 'x|features': kind.tensor, beta: kind.tensor }, {}, (x, beta = 1) => {
    if (beta === 1) return siluOnce(x);
    const [t, b] = pair(x, beta, 'Silu');
    checkDType(t.dtype, 'floating', 'x', 'Silu');
    return t.mul(t.mul(b).sigmoid());
  });
/** x · sigmoid(beta · x), element-wise; also called swish. `beta` is 1 by default. */
export const silu: Silu = scaledSilu('silu');
/** Another name of `silu`. */
export const swish: Silu = scaledSilu('swish');
/** x · hardSigmoid(x), element-wise; also called hard swish. */
export const hardSilu: UnaryFunction = defineUnary({
  name: 'HardSilu',
  domain: [-5, 5],
  scalar: (s, x) => s.mul(x, s.mul(s.min(s.max(s.add(x, 3), 0), 6), 1 / 6)),
  grad: ({ x }, dy) => hardSiluGrad(dy, x),
});
/** x · tanh(softplus(x)), element-wise. */
export const mish: UnaryFunction = defineUnary({
  name: 'Mish',
  ulp: 16,
  scalar: (s, x) => s.mul(x, s.tanh(s.softplus(x))),
  grad: ({ x }, dy) => mishGrad(dy, x),
});
/** x · Φ(x) with the normal distribution function Φ, element-wise: the Gaussian error linear unit. */
const geluExact: UnaryFunction = defineUnary({
  name: 'Gelu',
  domain: [-2, 3],
  ulp: 32,
  scalar: (s, x) => s.mul(s.mul(x, 0.5), s.add(s.erf(s.mul(x, Math.SQRT1_2)), 1)),
  grad: ({ x }, dy) => geluGrad(dy, x),
});
/** The approximation x/2 · (1 + tanh(√(2/π) · (x + 0.044715 x³))) of gelu, element-wise. */
const geluTanh: UnaryFunction = defineUnary({
  name: 'GeluTanh',
  domain: [-2, 3],
  ulp: 32,
  scalar: (s, x) => {
    const u = s.mul(s.mul(x, s.add(s.mul(s.mul(x, x), geluCubic), 1)), geluScale);
    return s.mul(s.mul(x, 0.5), s.add(s.tanh(u), 1));
  },
  grad: ({ x }, dy) => geluTanhGrad(dy, x),
});
/**
 * x · Φ(x) with the normal distribution function Φ: the Gaussian error linear unit.
 * @param options.approximate by tanh, as older models do it; false by default.
 */
export const gelu: NamedFunction<
  [x: TensorLike],
  ['x|features'],
  {
    /** By tanh, as older models do it; false by default. */
    readonly approximate?: boolean;
  }
> = defineFunction('gelu', { 'x|features': kind.tensor }, { approximate: kind.asIs }, (x, options) =>
  options.approximate === true ? geluTanh(x) : geluExact(x),
);

// ---- over an axis

const rows = (): readonly Sample[] => [
  { inputs: [uniform([3, 5])] },
  { inputs: [uniform([2, 3, 4], -6, 6)] },
];
const last = -1;

/** exp(x) / Σ exp(x) over the last axis. */
const softmaxOp: Op = defineOp({
  name: 'Softmax',
  ulp: 16,
  samples: rows,
  kernel: 'Softmax',
  infer: ([x]) => ({ dtype: x.dtype, shape: x.shape }),
  grad: ({ y }, dy) => dy.sub(dy.mul(y).sum(last, { keepdims: true })).mul(y),
});
/** x − log Σ exp(x) over the last axis. */
const logSoftmaxOp: Op = defineOp({
  name: 'LogSoftmax',
  // Small results are differences of large terms.
  ulp: 128,
  samples: rows,
  kernel: 'LogSoftmax',
  infer: ([x]) => ({ dtype: x.dtype, shape: x.shape }),
  grad: ({ y }, dy) => dy.sub(y.exp().mul(dy.sum(last, { keepdims: true }))),
});

/** Runs an op of the last axis over another one. */
function over(op: Op, x: TensorLike, axis: number): Tensor {
  const value = toTensor(x);
  checkDType(value.dtype, 'floating', 'x', op.name);
  const { rank } = value;
  const at = normalizeAxis(axis, rank, op.name);
  if (at === rank - 1) return execute1(op, [value]);
  const perm = Array.from({ length: rank }, (_, i) => (i === at ? rank - 1 : i === rank - 1 ? at : i));
  return execute1(op, [value.transpose(perm)]).transpose(perm);
}
/**
 * exp(x) / Σ exp(x) over one axis: positive numbers that add up to 1. Stable for large x.
 * @param axis the last one by default. @throws InvalidArgumentError for a scalar or an axis out of range.
 */
export const softmax: NamedFunction<[x: TensorLike, axis?: IntegerLike], ['x|logits', 'axis']> =
  defineFunction('softmax', { 'x|logits': kind.tensor, axis: kind.axis }, {}, (x, axis: number = -1) =>
    over(softmaxOp, x, axis),
  );
/** log(softmax(x)) over one axis, exact where softmax would be 0. */
export const logSoftmax: NamedFunction<[x: TensorLike, axis?: IntegerLike], ['x|logits', 'axis']> =
  defineFunction('logSoftmax', { 'x|logits': kind.tensor, axis: kind.axis }, {}, (x, axis: number = -1) =>
    over(logSoftmaxOp, x, axis),
  );
