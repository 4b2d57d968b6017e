import { InvalidArgumentError, isComplex } from '@eagre/backend';
import { type BinaryFunction, defineBinary, defineUnary, type UnaryFunction } from '../../dispatch/op.ts';
import { type Sample, type SampleInput, uniform } from '../../dispatch/samples.ts';
import type { Shape } from '../../shapes/shape.ts';
import { hasGradient, isInteger } from '../../tensor/dtypes.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { zerosLike } from '../array/creation.ts';
import { logGrad, reciprocalGrad, rsqrtGrad, sqrtGrad, tanhGrad } from '../gradients.ts';
import { conj, real } from './complex.ts';

export * from './cast.ts';
export * from './complex.ts';
export * from './logic.ts';
export * from './select.ts';
export * from './special.ts';

/** Samples of a binary op whose arguments come from different ranges. */
function pairs(a: (shape: Shape) => SampleInput, b: (shape: Shape) => SampleInput): () => readonly Sample[] {
  return () => [
    { inputs: [a([3, 5]), b([3, 5])] },
    { inputs: [a([2, 1, 4]), b([3, 1])] },
    { inputs: [a([2, 3]), b([])] },
  ];
}
const any = (shape: Shape): SampleInput => uniform(shape, -3, 3);
const positive = (shape: Shape): SampleInput => uniform(shape, 0.3, 3);
const divisor = (shape: Shape): SampleInput =>
  shape.length === 0 ? uniform(shape, -3, -0.5) : uniform(shape, 0.5, 3);

// ---- arithmetic

/** a + b, element-wise. Integers wrap around. */
export const add: BinaryFunction = defineBinary({
  name: 'AddV2',
  dtypes: 'numeric',
  scalar: (s, a, b) => s.add(a, b),
  grad: (_, dy) => [dy, dy],
});
/** a − b, element-wise. Integers wrap around. */
export const sub: BinaryFunction = defineBinary({
  name: 'Sub',
  dtypes: 'numeric',
  scalar: (s, a, b) => s.sub(a, b),
  grad: (g, dy) => [dy, g.needs(1) ? dy.neg() : null],
});
/** a · b, element-wise. Integers wrap around. */
export const mul: BinaryFunction<['a|x|x1|scalar', 'b|y|x2|x']> = defineBinary(
  {
    name: 'Mul',
    dtypes: 'numeric',
    scalar: (s, a, b) => s.mul(a, b),
    grad: (g, dy) => [g.needs(0) ? dy.mul(g.b) : null, g.needs(1) ? dy.mul(g.a) : null],
  },
  ['a|x|x1|scalar', 'b|y|x2|x'],
);
/** a / b for floats. @throws InvalidArgumentError for integers: use `floorDiv`, or cast first. */
export const div: BinaryFunction = defineBinary({
  name: 'RealDiv',
  dtypes: 'any',
  samples: pairs(any, divisor),
  // Runs once for each dtype, so the check costs the calls nothing.
  scalar: (s, a, b) => {
    if (!hasGradient(a.dtype)) {
      throw new InvalidArgumentError(
        `the quotient of ${a.dtype} tensors is no integer: cast them to 'float32' first, or use floorDiv`,
      );
    }
    return s.div(a, b);
  },
  grad: (g, dy) => {
    const da = dy.div(g.b);
    return [da, g.needs(1) ? da.mul(g.y).neg() : null];
  },
});
/** a / b rounded down, element-wise. An integer division by zero is an error. */
export const floorDiv: BinaryFunction = defineBinary({
  name: 'FloorDiv',
  dtypes: 'numeric',
  samples: pairs(any, divisor),
  scalar: (s, a, b) => s.floorDiv(a, b),
  notDifferentiable: 'piecewise constant',
});
/** a − b · floorDiv(a, b), element-wise: the remainder with the sign of b, as in Python. */
export const mod: BinaryFunction = defineBinary({
  name: 'FloorMod',
  dtypes: 'numeric',
  samples: pairs(any, divisor),
  scalar: (s, a, b) => s.mod(a, b),
  grad: (g, dy) => [dy, g.needs(1) ? dy.mul(g.a.floorDiv(g.b)).neg() : null],
});
/** a / b, element-wise, but 0 where b is 0. */
export const divNoNan: BinaryFunction = defineBinary({
  name: 'DivNoNan',
  samples: pairs(any, divisor),
  scalar: (s, a, b) => s.select(s.eq(b, 0), 0, s.div(a, b)),
  grad: (g, dy) => {
    const da = dy.divNoNan(g.b);
    return [da, g.needs(1) ? da.mul(g.y).neg() : null];
  },
});
/** a · b, element-wise, but 0 where b is 0, even if a is infinite or NaN. */
export const mulNoNan: BinaryFunction = defineBinary({
  name: 'MulNoNan',
  scalar: (s, a, b) => s.select(s.eq(b, 0), 0, s.mul(a, b)),
  grad: (g, dy) => [g.needs(0) ? dy.mulNoNan(g.b) : null, g.needs(1) ? g.a.mulNoNan(dy) : null],
});
/**
 * a to the power b. Integers wrap around. The gradient for b is 0 where a is not positive (of complex numbers: where a is 0), as in TensorFlow.
 * @throws InvalidArgumentError for an integer to a negative power.
 */
export const pow: BinaryFunction = defineBinary({
  name: 'Pow',
  dtypes: 'numeric',
  ulp: 16,
  samples: pairs(positive, (shape) => uniform(shape, -2, 3)),
  scalar: (s, a, b) => s.pow(a, b),
  grad: (g, dy) => {
    const { a, b } = g;
    // The slope for a of 0^0 is 0, which 0^-1 · 0 is not; and the logarithm sees only what it can take, or its own gradient would
    // turn the masked zero into NaN.
    const logarithm = (): ReturnType<BinaryFunction> =>
      (isComplex(a.dtype) ? a.notEqual(0) : a.greater(0)).where(a, 1).log();
    return [
      g.needs(0) ? dy.mul(a.pow(b.sub(1)).mulNoNan(b)) : null,
      g.needs(1) ? dy.mul(g.y.mul(logarithm())) : null,
    ];
  },
});
/** The larger of a and b; NaN when either is. The gradient goes to a where they are equal. */
export const maximum: BinaryFunction = defineBinary({
  name: 'Maximum',
  dtypes: 'numeric',
  scalar: (s, a, b) => s.max(a, b),
  grad: (g, dy) => {
    const first = g.a.greaterEqual(g.b);
    return [g.needs(0) ? first.where(dy, 0) : null, g.needs(1) ? first.where(0, dy) : null];
  },
});
/** The smaller of a and b; NaN when either is. The gradient goes to a where they are equal. */
export const minimum: BinaryFunction = defineBinary({
  name: 'Minimum',
  dtypes: 'numeric',
  scalar: (s, a, b) => s.min(a, b),
  grad: (g, dy) => {
    const first = g.a.lessEqual(g.b);
    return [g.needs(0) ? first.where(dy, 0) : null, g.needs(1) ? first.where(0, dy) : null];
  },
});
/** (a − b)², element-wise; of complex numbers |a − b|², as in TensorFlow. */
export const squaredDifference: BinaryFunction = defineBinary({
  name: 'SquaredDifference',
  dtypes: 'numeric',
  scalar: (s, a, b) => {
    const d = s.sub(a, b);
    return s.mul(d, s.conj(d));
  },
  grad: (g, dy) => {
    const d = g.a.sub(g.b);
    // The result is real, and what comes here is conjugated.
    const da = (isComplex(d.dtype) ? conj(d).mul(real(dy)) : dy.mul(d)).mul(2);
    return [da, g.needs(1) ? da.neg() : null];
  },
});
/** a · log(b), element-wise, but 0 where a is 0, whatever b is: the terms of an entropy. */
export const xlogy: BinaryFunction = defineBinary({
  name: 'Xlogy',
  samples: pairs(positive, positive),
  scalar: (s, a, b) => s.select(s.eq(a, 0), 0, s.mul(a, s.log(b))),
  grad: (g, dy) => [
    g.needs(0) ? dy.mul(g.a.notEqual(0).cast(dy.dtype).xlogy(g.b)) : null,
    g.needs(1) ? dy.mul(g.a.xdivy(g.b)) : null,
  ],
});
/** a · log(1 + b), element-wise, but 0 where a is 0, whatever b is. */
export const xlog1py: BinaryFunction = defineBinary({
  name: 'Xlog1py',
  samples: pairs(positive, positive),
  scalar: (s, a, b) => s.select(s.eq(a, 0), 0, s.mul(a, s.log1p(b))),
  grad: (g, dy) => [
    g.needs(0) ? dy.mul(g.a.notEqual(0).cast(dy.dtype).xlog1py(g.b)) : null,
    g.needs(1) ? dy.mul(g.a.xdivy(g.b.add(1))) : null,
  ],
});
/** a / b, element-wise, but 0 where a is 0, whatever b is. */
export const xdivy: BinaryFunction = defineBinary({
  name: 'Xdivy',
  samples: pairs(positive, divisor),
  scalar: (s, a, b) => s.select(s.eq(a, 0), 0, s.div(a, b)),
  grad: (g, dy) => [
    g.needs(0) ? dy.mul(g.a.notEqual(0).cast(dy.dtype).xdivy(g.b)) : null,
    g.needs(1) ? dy.mul(g.a.neg().xdivy(g.b.square())) : null,
  ],
});
/** The angle of the point (b, a) in (−π, π], element-wise: the arc tangent of a / b in the right quadrant. */
export const atan2: BinaryFunction<['a|y|x1', 'b|x|x2']> = defineBinary(
  {
    name: 'Atan2',
    samples: pairs(positive, any),
    scalar: (s, a, b) => s.atan2(a, b),
    grad: (g, dy) => {
      const scaled = dy.div(g.a.square().add(g.b.square()));
      return [g.needs(0) ? scaled.mul(g.b) : null, g.needs(1) ? scaled.mul(g.a).neg() : null];
    },
  },
  ['a|y|x1', 'b|x|x2'],
);

// ---- signs and rounding

/** −x, element-wise. */
export const neg: UnaryFunction = defineUnary({
  name: 'Neg',
  dtypes: 'numeric',
  scalar: (s, x) => s.neg(x),
  grad: (_, dy) => dy.neg(),
});
/** The absolute value; its gradient at 0 is 0. */
export const abs: UnaryFunction = defineUnary({
  name: 'Abs',
  dtypes: 'numeric',
  scalar: (s, x) => s.abs(x),
  grad: ({ x }, dy) => dy.mul(x.sign()),
});
/** −1, 0 or 1 by the sign of x, element-wise; NaN for NaN. Of complex numbers x / |x|, and 0 for 0. */
export const sign: UnaryFunction = defineUnary({
  name: 'Sign',
  dtypes: 'numeric',
  scalar: (s, x) => s.sign(x),
  grad: ({ x, y }, dy) => {
    if (!isComplex(x.dtype)) return zerosLike(dy);
    // Only what turns x changes the result; what comes here is conjugated.
    const along = conj(y).mul(real(y.mul(dy)));
    return dy.sub(along).divNoNan(x.abs().cast(x.dtype));
  },
});
/** The largest integer that is not above x, element-wise, as a float. */
export const floor: UnaryFunction = defineUnary({
  name: 'Floor',
  scalar: (s, x) => s.floor(x),
  notDifferentiable: 'piecewise constant',
});
/** The smallest integer that is not below x, element-wise, as a float. */
export const ceil: UnaryFunction = defineUnary({
  name: 'Ceil',
  scalar: (s, x) => s.ceil(x),
  notDifferentiable: 'piecewise constant',
});
/** The nearest integer, element-wise, in the dtype of x; halves go to the even one (2.5 becomes 2). */
export const round: UnaryFunction = defineUnary({
  name: 'Round',
  dtypes: 'numeric',
  scalar: (s, x) => (isInteger(x.dtype) ? x : s.round(x)),
  notDifferentiable: 'piecewise constant',
});

// ---- powers and roots

/** x², element-wise. */
export const square: UnaryFunction = defineUnary({
  name: 'Square',
  dtypes: 'numeric',
  scalar: (s, x) => s.mul(x, x),
  grad: ({ x }, dy) => dy.mul(x).mul(2),
});
/** The square root, element-wise; NaN below 0. */
export const sqrt: UnaryFunction = defineUnary({
  name: 'Sqrt',
  domain: [0.2, 4],
  scalar: (s, x) => s.sqrt(x),
  grad: ({ y }, dy) => sqrtGrad(y, dy),
});
/** 1 / √x, element-wise. */
export const rsqrt: UnaryFunction = defineUnary({
  name: 'Rsqrt',
  domain: [0.2, 4],
  scalar: (s, x) => s.rsqrt(x),
  grad: ({ y }, dy) => rsqrtGrad(y, dy),
});
/** 1 / x, element-wise. */
export const reciprocal: UnaryFunction = defineUnary({
  name: 'Reciprocal',
  domain: [0.3, 3],
  scalar: (s, x) => s.div(1, x),
  grad: ({ y }, dy) => reciprocalGrad(y, dy),
});

// ---- exponentials and logarithms

/** e to the power x, element-wise. */
export const exp: UnaryFunction = defineUnary({
  name: 'Exp',
  scalar: (s, x) => s.exp(x),
  grad: ({ y }, dy) => dy.mul(y),
});
/** exp(x) − 1, element-wise, exact for x near 0. */
export const expm1: UnaryFunction = defineUnary({
  name: 'Expm1',
  scalar: (s, x) => s.expm1(x),
  grad: ({ y }, dy) => dy.mul(y.add(1)),
});
/** The natural logarithm, element-wise; −∞ at 0, NaN below. */
export const log: UnaryFunction = defineUnary({
  name: 'Log',
  domain: [0.2, 5],
  scalar: (s, x) => s.log(x),
  grad: ({ x }, dy) => logGrad(dy, x),
});
/** log(1 + x), element-wise, exact for x near 0. */
export const log1p: UnaryFunction = defineUnary({
  name: 'Log1p',
  domain: [-0.7, 4],
  scalar: (s, x) => s.log1p(x),
  grad: ({ x }, dy) => logGrad(dy, x.add(1)),
});
/** The logarithm to base 2, element-wise. */
export const log2: UnaryFunction = defineUnary({
  name: 'Log2',
  domain: [0.2, 5],
  scalar: (s, x) => s.mul(s.log(x), Math.LOG2E),
  grad: ({ x }, dy) => logGrad(dy.mul(Math.LOG2E), x),
});

// ---- circular and hyperbolic functions, in radians

/** Sine, element-wise. */
export const sin: UnaryFunction = defineUnary({
  name: 'Sin',
  scalar: (s, x) => s.sin(x),
  grad: ({ x }, dy) => dy.mul(x.cos()),
});
/** Cosine, element-wise. */
export const cos: UnaryFunction = defineUnary({
  name: 'Cos',
  scalar: (s, x) => s.cos(x),
  grad: ({ x }, dy) => dy.mul(x.sin()).neg(),
});
/** Tangent, element-wise. */
export const tan: UnaryFunction = defineUnary({
  name: 'Tan',
  domain: [-1.2, 1.2],
  scalar: (s, x) => s.tan(x),
  grad: ({ y }, dy) => dy.mul(y.square().add(1)),
});
/** 1 / √(1 − x²). TensorFlow computes it of the conjugate, which decides on which side of the cuts a complex number lies on them. */
const asinSlope = (x: Tensor): Tensor =>
  isComplex(x.dtype) ? conj(conj(x).square().neg().add(1).rsqrt()) : x.square().neg().add(1).rsqrt();
/** Arc sine in [−π/2, π/2], element-wise; NaN outside of [−1, 1]. */
export const asin: UnaryFunction = defineUnary({
  name: 'Asin',
  domain: [-0.9, 0.9],
  scalar: (s, x) => s.asin(x),
  grad: ({ x }, dy) => dy.mul(asinSlope(x)),
});
/** Arc cosine in [0, π], element-wise; NaN outside of [−1, 1]. */
export const acos: UnaryFunction = defineUnary({
  name: 'Acos',
  domain: [-0.9, 0.9],
  scalar: (s, x) => s.acos(x),
  grad: ({ x }, dy) => dy.mul(asinSlope(x)).neg(),
});
/** Arc tangent in (−π/2, π/2), element-wise. */
export const atan: UnaryFunction = defineUnary({
  name: 'Atan',
  scalar: (s, x) => s.atan(x),
  grad: ({ x }, dy) => dy.div(x.square().add(1)),
});
/** Hyperbolic sine, element-wise. */
export const sinh: UnaryFunction = defineUnary({
  name: 'Sinh',
  scalar: (s, x) => s.sinh(x),
  grad: ({ x }, dy) => dy.mul(x.cosh()),
});
/** Hyperbolic cosine, element-wise. */
export const cosh: UnaryFunction = defineUnary({
  name: 'Cosh',
  scalar: (s, x) => s.cosh(x),
  grad: ({ x }, dy) => dy.mul(x.sinh()),
});
/** Hyperbolic tangent, element-wise. */
export const tanh: UnaryFunction = defineUnary({
  name: 'Tanh',
  scalar: (s, x) => s.tanh(x),
  grad: ({ y }, dy) => tanhGrad(y, dy),
});
/** Inverse of the hyperbolic sine, element-wise. */
export const asinh: UnaryFunction = defineUnary({
  name: 'Asinh',
  scalar: (s, x) => s.asinh(x),
  grad: ({ y }, dy) => dy.div(y.cosh()),
});
/** Inverse of the hyperbolic cosine, element-wise; NaN below 1. */
export const acosh: UnaryFunction = defineUnary({
  name: 'Acosh',
  domain: [1.2, 5],
  scalar: (s, x) => s.acosh(x),
  grad: ({ y }, dy) => dy.div(y.sinh()),
});
/** Inverse of the hyperbolic tangent, element-wise; infinite at −1 and 1, NaN beyond. */
export const atanh: UnaryFunction = defineUnary({
  name: 'Atanh',
  domain: [-0.9, 0.9],
  scalar: (s, x) => s.atanh(x),
  grad: ({ x }, dy) => logGrad(dy, x.square().neg().add(1)),
});
