// `tf.math.special`: Bessel functions and others, from Chebyshev polynomials that tools/print-special-functions.py fits. Everything is
// computed in float64 and rounded once; of float32, without coefficients that it does not show. What is often used of float32 has polynomials of its own.
import type { NumberBuilder, NumberValue } from '@eagre/backend';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { defineOp, defineUnary, execute1, type UnaryFunction, type UnarySpec } from '../../dispatch/op.ts';
import { uniform } from '../../dispatch/samples.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType } from '../../tensor/dtypes.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { sign } from './math.ts';
import { where } from './select.ts';
import * as floats from './special-floats.ts';
import * as tables from './special-tables.ts';

// Whether the program that is written is one of float64.
let isWide = true;

/**
 * A table of a function without roots, of which float32 shows no more: the coefficients that are left out are together less than 2^-32 of the largest.
 * Near a root they would be seen.
 */
function rootless({ low, high, coefficients }: tables.Table): tables.Table {
  let { length } = coefficients;
  const least = Math.max(...coefficients.map(Math.abs)) * 2 ** -32;
  for (let rest = 0; !isWide && length > 2; length--) {
    rest += Math.abs(coefficients[length - 1]);
    if (rest > least) break;
  }
  return { low, high, coefficients: coefficients.slice(0, length) };
}

/** The value of a polynomial, by Clenshaw's recurrence. */
function chebyshev(s: NumberBuilder, t: NumberValue, { low, high, coefficients }: tables.Table): NumberValue {
  const twice = s.mul(s.sub(t, (low + high) / 2), 4 / (high - low));
  let [next, after]: (NumberValue | number)[] = [coefficients[coefficients.length - 1], 0];
  for (let i = coefficients.length - 2; i > 0; i--)
    [next, after] = [
      s.add(
        typeof after === 'number' && after === 0 ? s.mul(twice, next) : s.sub(s.mul(twice, next), after),
        coefficients[i],
      ),
      next,
    ];
  return s.add(s.sub(s.mul(s.mul(twice, 0.5), next), after), coefficients[0]);
}

/** The value of a polynomial, by its coefficients from the constant one on. */
function polynomial(s: NumberBuilder, x: NumberValue, coefficients: readonly number[]): NumberValue {
  const last = coefficients.length - 1;
  let sum = s.add(s.mul(x, coefficients[last]), coefficients[last - 1]);
  for (let i = last - 2; i >= 0; i--) sum = s.add(s.mul(sum, x), coefficients[i]);
  return sum;
}

/** The larger of a value and a small number: what a branch that is not taken divides by. */
const atLeast = (s: NumberBuilder, x: NumberValue, least: number): NumberValue => s.max(x, least);

type Body = (s: NumberBuilder, x: NumberValue) => NumberValue;
type Special = Omit<UnarySpec, 'scalar' | 'ulp'> & {
  readonly body: Body;
  /** What float32 has instead, computed in float32. */
  readonly narrow?: Body;
};
const define = ({ body, narrow, ...spec }: Special): UnaryFunction =>
  defineUnary({
    ...spec,
    ulp: 16,
    scalar: (s, x) => {
      // The cast would drop the imaginary parts of complex numbers.
      checkDType(x.dtype, 'floating', 'x', spec.name);
      isWide = x.dtype === 'float64';
      if (narrow !== undefined && !isWide) return s.cast(narrow(s, s.cast(x, 'float32')), x.dtype);
      return s.cast(body(s, s.cast(x, 'float64')), x.dtype);
    },
  });

/**
 * Declares a function whose two formulas, for numbers up to `split` in size and beyond, make a scalar program that is too long: each is an
 * op, and both are computed everywhere.
 */
/* @__NO_SIDE_EFFECTS__ */
function defineHalves({
  near,
  far,
  split,
  name,
  domain,
  grad,
}: {
  readonly name: string;
  readonly split: number;
  readonly domain: readonly [low: number, high: number];
  readonly near: Special['body'];
  readonly far: Special['body'];
  readonly grad: NonNullable<UnarySpec['grad']>;
}): UnaryFunction {
  const notDifferentiable = `${name} has the gradient`;
  const inside = define({ name: `${name}Near`, domain, notDifferentiable, body: near });
  const outside = define({ name: `${name}Far`, domain, notDifferentiable, body: far });
  const op = defineOp({
    name,
    ulp: 16,
    compose: ([x]) => {
      checkDType(x.dtype, 'floating', 'x', name);
      return where(x.abs().greater(split), outside(x), inside(x));
    },
    grad,
    samples: () => [{ inputs: [uniform([3, 5], ...domain)] }, { inputs: [uniform([], ...domain)] }],
  });
  return defineFunction(`math.special.${name}`, { x: kind.tensor }, {}, (x) => execute1(op, [toTensor(x)]));
}

// ---- modified Bessel functions of the first kind

function scaledI(
  s: NumberBuilder,
  x: NumberValue,
  near: tables.Table,
  far: tables.Table,
): { readonly size: NumberValue; readonly near: NumberValue; readonly far: NumberValue } {
  const size = s.abs(x);
  return {
    size,
    near: chebyshev(s, s.min(size, 8), rootless(near)),
    far: s.mul(chebyshev(s, s.div(8, atLeast(s, size, 8)), rootless(far)), s.rsqrt(atLeast(s, size, 8))),
  };
}
function i0e(s: NumberBuilder, x: NumberValue): NumberValue {
  const { size, near, far } = scaledI(s, x, tables.i0eNear, tables.i0eFar);
  return s.select(s.gt(size, 8), far, near);
}
function i1e(s: NumberBuilder, x: NumberValue): NumberValue {
  const { size, near, far } = scaledI(s, x, tables.i1eNear, tables.i1eFar);
  return s.select(s.gt(size, 8), s.mul(far, s.sign(x)), s.mul(near, x));
}

/** The same of float32: near 0 without exp(−|x|), and √x without it, too, far from there. */
function narrowI(
  s: NumberBuilder,
  x: NumberValue,
  order: 0 | 1,
): { readonly size: NumberValue; readonly near: NumberValue; readonly far: NumberValue } {
  const size = s.abs(x);
  const least = s.min(size, 8);
  const large = atLeast(s, size, 8);
  const series = polynomial(s, s.mul(least, least), order === 0 ? floats.i0Near : floats.i1Near);
  const rest = polynomial(s, s.div(8, large), order === 0 ? floats.i0Far : floats.i1Far);
  const far = s.mul(rest, s.rsqrt(large));
  return {
    size,
    near: order === 0 ? series : s.mul(series, x),
    far: order === 0 ? far : s.mul(far, s.sign(x)),
  };
}
const scaledNarrow =
  (order: 0 | 1): Body =>
  (s, x) => {
    const { size, near, far } = narrowI(s, x, order);
    return s.select(s.gt(size, 8), far, s.mul(near, s.exp(s.neg(size))));
  };
const wholeNarrow =
  (order: 0 | 1): Body =>
  (s, x) => {
    const { size, near, far } = narrowI(s, x, order);
    // In two halves, since the whole may be too large before it is divided.
    const half = s.exp(s.mul(size, 0.5));
    return s.select(s.gt(size, 8), s.mul(s.mul(half, far), half), near);
  };

const inverse = (x: Tensor): Tensor => x.reciprocal();

/** The modified Bessel function I0, element-wise. */
export const besselI0: UnaryFunction = /* @__PURE__ */ define({
  name: 'BesselI0',
  body: (s, x) => s.mul(s.exp(s.abs(x)), i0e(s, x)),
  narrow: /* @__PURE__ */ wholeNarrow(0),
  grad: ({ x }, dy) => dy.mul(besselI1(x)),
});
/** The modified Bessel function I1, element-wise. */
export const besselI1: UnaryFunction = /* @__PURE__ */ define({
  name: 'BesselI1',
  body: (s, x) => s.mul(s.exp(s.abs(x)), i1e(s, x)),
  narrow: /* @__PURE__ */ wholeNarrow(1),
  grad: ({ x, y }, dy) => {
    const none = x.equal(0);
    const rest = besselI0(x).sub(y.mul(inverse(where(none, 1, x))));
    return dy.mul(where(none, rest.mul(0).add(0.5), rest));
  },
});
/** exp(−|x|) · I0(x), element-wise. */
export const besselI0e: UnaryFunction = /* @__PURE__ */ define({
  name: 'BesselI0e',
  body: i0e,
  narrow: /* @__PURE__ */ scaledNarrow(0),
  grad: ({ x, y }, dy) => dy.mul(besselI1e(x).sub(sign(x).mul(y))),
});
/** exp(−|x|) · I1(x), element-wise. */
export const besselI1e: UnaryFunction = /* @__PURE__ */ define({
  name: 'BesselI1e',
  body: i1e,
  narrow: /* @__PURE__ */ scaledNarrow(1),
  grad: ({ x, y }, dy) => {
    const none = x.equal(0);
    const rest = besselI0e(x).sub(y.mul(sign(x).add(inverse(where(none, 1, x)))));
    return dy.mul(where(none, rest.mul(0).add(0.5), rest));
  },
});

// ---- Bessel functions of the first and second kind

/** √(2/πx) and the two parts of Hankel's expansion for |x| ≥ 8, times cosine and sine of x − (2n + 1) π/4. */
function hankel(
  s: NumberBuilder,
  size: NumberValue,
  order: 0 | 1,
): { readonly first: NumberValue; readonly second: NumberValue } {
  const z = s.div(8, atLeast(s, size, 8));
  const t = s.mul(z, z);
  const [p, q] =
    order === 0
      ? [chebyshev(s, t, tables.p0), chebyshev(s, t, tables.q0)]
      : [chebyshev(s, t, tables.p1), chebyshev(s, t, tables.q1)];
  const scale = s.mul(s.rsqrt(atLeast(s, size, 8)), Math.sqrt(2 / Math.PI));
  const angle = s.sub(size, ((2 * order + 1) * Math.PI) / 4);
  const [cos, sin] = [s.cos(angle), s.sin(angle)];
  const zq = s.mul(z, q);
  return {
    first: s.mul(scale, s.sub(s.mul(p, cos), s.mul(zq, sin))),
    second: s.mul(scale, s.add(s.mul(p, sin), s.mul(zq, cos))),
  };
}
const squareUpTo = (s: NumberBuilder, x: NumberValue, most: number): NumberValue => s.min(s.mul(x, x), most);

/** The Bessel function J0, element-wise. */
export const besselJ0: UnaryFunction = /* @__PURE__ */ define({
  name: 'BesselJ0',
  body: (s, x) => {
    const size = s.abs(x);
    const near = chebyshev(s, squareUpTo(s, x, 64), tables.j0Near);
    return s.select(s.gt(size, 8), hankel(s, size, 0).first, near);
  },
  grad: ({ x }, dy) => dy.mul(besselJ1(x)).neg(),
});
/** The Bessel function J1, element-wise. */
export const besselJ1: UnaryFunction = /* @__PURE__ */ define({
  name: 'BesselJ1',
  body: (s, x) => {
    const size = s.abs(x);
    const near = s.mul(x, chebyshev(s, squareUpTo(s, x, 64), tables.j1Near));
    return s.select(s.gt(size, 8), s.mul(s.sign(x), hankel(s, size, 1).first), near);
  },
  grad: ({ x, y }, dy) => {
    const none = x.equal(0);
    const rest = besselJ0(x).sub(y.mul(inverse(where(none, 1, x))));
    return dy.mul(where(none, rest.mul(0).add(0.5), rest));
  },
});
/** The Bessel function Y0, element-wise: −∞ at 0 and below, as in TensorFlow. */
export const besselY0: UnaryFunction = /* @__PURE__ */ defineHalves({
  name: 'BesselY0',
  split: 8,
  domain: [0.3, 12],
  near: (s, x) => {
    const square = squareUpTo(s, x, 64);
    const j = chebyshev(s, square, tables.j0Near);
    const near = s.add(chebyshev(s, square, tables.y0Near), s.mul(s.mul(s.log(x), 2 / Math.PI), j));
    return s.select(s.le(x, 0), Number.NEGATIVE_INFINITY, near);
  },
  far: (s, x) => s.select(s.lt(x, 0), Number.NEGATIVE_INFINITY, hankel(s, x, 0).second),
  grad: ({ x }, dy) => dy.mul(besselY1(x)).neg(),
});
/** The Bessel function Y1, element-wise: −∞ at 0 and below, as in TensorFlow. */
export const besselY1: UnaryFunction = /* @__PURE__ */ defineHalves({
  name: 'BesselY1',
  split: 8,
  domain: [0.3, 12],
  near: (s, x) => {
    const square = squareUpTo(s, x, 64);
    const j = s.mul(x, chebyshev(s, square, tables.j1Near));
    const log = s.sub(s.mul(s.log(x), j), s.div(1, x));
    const near = s.add(s.mul(x, chebyshev(s, square, tables.y1Near)), s.mul(log, 2 / Math.PI));
    return s.select(s.le(x, 0), Number.NEGATIVE_INFINITY, near);
  },
  far: (s, x) => s.select(s.lt(x, 0), Number.NEGATIVE_INFINITY, hankel(s, x, 1).second),
  grad: ({ x, y }, dy) => dy.mul(besselY0(x).sub(y.div(x))),
});

// ---- modified Bessel functions of the second kind

function k0(s: NumberBuilder, x: NumberValue, scaled: boolean): NumberValue {
  const square = squareUpTo(s, x, 4);
  const log = s.log(s.mul(x, 0.5));
  const near = s.sub(
    chebyshev(s, square, rootless(tables.k0Near)),
    s.mul(log, chebyshev(s, square, rootless(tables.i0Small))),
  );
  const size = atLeast(s, x, 2);
  const far = s.mul(chebyshev(s, s.div(2, size), rootless(tables.k0eFar)), s.rsqrt(size));
  return scaled
    ? s.select(s.gt(x, 2), far, s.mul(near, s.exp(s.min(x, 2))))
    : s.select(s.gt(x, 2), s.mul(far, s.exp(s.neg(size))), near);
}
function k1(s: NumberBuilder, x: NumberValue, scaled: boolean): NumberValue {
  const square = squareUpTo(s, x, 4);
  const log = s.log(s.mul(x, 0.5));
  const near = s.add(
    s.mul(s.mul(log, x), chebyshev(s, square, rootless(tables.i1Small))),
    s.div(chebyshev(s, square, rootless(tables.k1Near)), x),
  );
  const inside = s.select(s.eq(x, 0), Number.POSITIVE_INFINITY, near);
  const size = atLeast(s, x, 2);
  const far = s.mul(chebyshev(s, s.div(2, size), rootless(tables.k1eFar)), s.rsqrt(size));
  return scaled
    ? s.select(s.gt(x, 2), far, s.mul(inside, s.exp(s.min(x, 2))))
    : s.select(s.gt(x, 2), s.mul(far, s.exp(s.neg(size))), inside);
}
/** What is infinite for negative numbers, as in TensorFlow. */
const orInfinite =
  (of: typeof k0, scaled: boolean) =>
  (s: NumberBuilder, x: NumberValue): NumberValue =>
    s.select(s.le(x, 0), Number.POSITIVE_INFINITY, of(s, x, scaled));

/** The modified Bessel function K0, element-wise: infinite at 0 and below. */
export const besselK0: UnaryFunction = /* @__PURE__ */ define({
  name: 'BesselK0',
  domain: [0.3, 5],
  body: /* @__PURE__ */ orInfinite(k0, false),
  grad: ({ x }, dy) => dy.mul(besselK1(x)).neg(),
});
/** exp(x) · K0(x), element-wise: infinite at 0 and below. */
export const besselK0e: UnaryFunction = /* @__PURE__ */ define({
  name: 'BesselK0e',
  domain: [0.3, 5],
  body: /* @__PURE__ */ orInfinite(k0, true),
  grad: ({ x, y }, dy) => dy.mul(y.sub(besselK1e(x))),
});
/** The modified Bessel function K1, element-wise: infinite at 0 and below. */
export const besselK1: UnaryFunction = /* @__PURE__ */ define({
  name: 'BesselK1',
  domain: [0.3, 5],
  body: /* @__PURE__ */ orInfinite(k1, false),
  grad: ({ x, y }, dy) => dy.mul(besselK0(x).add(y.div(x))).neg(),
});
/** exp(x) · K1(x), element-wise: infinite at 0 and below. */
export const besselK1e: UnaryFunction = /* @__PURE__ */ define({
  name: 'BesselK1e',
  domain: [0.3, 5],
  body: /* @__PURE__ */ orInfinite(k1, true),
  grad: ({ x, y }, dy) => dy.mul(y.mul(inverse(x).neg().add(1)).sub(besselK0e(x))),
});

// ---- integrals

/** Dawson's integral exp(−x²) ∫ exp(t²) dt from 0 to x, element-wise. */
export const dawsn: UnaryFunction = /* @__PURE__ */ define({
  name: 'Dawsn',
  domain: [-6, 6],
  body: (s, x) => {
    const size = s.abs(x);
    const near = s.mul(x, chebyshev(s, squareUpTo(s, x, 16), tables.dawsonNear));
    const z = s.div(4, atLeast(s, size, 4));
    const far = s.div(chebyshev(s, s.mul(z, z), tables.dawsonFar), s.mul(x, 2));
    return s.select(s.gt(size, 4), far, near);
  },
  grad: ({ x, y }, dy) => dy.mul(x.mul(y).mul(-2).add(1)),
});
const EULER = 0.5772156649015329;
/** The exponential integral Ei, the integral of exp(t) / t from −∞ to x, element-wise: −∞ at 0, NaN below. */
export const expint: UnaryFunction = /* @__PURE__ */ defineHalves({
  name: 'Expint',
  split: 6,
  domain: [0.3, 9],
  near: (s, x) => s.add(s.mul(x, chebyshev(s, s.min(x, 6), tables.eiNear)), s.add(s.log(x), EULER)),
  far: (s, x) => {
    const large = atLeast(s, x, 6);
    const middle = chebyshev(s, s.min(large, 24), tables.eiMiddle);
    const far = chebyshev(s, s.div(24, atLeast(s, x, 24)), tables.eiFar);
    // In two halves, since the whole may be too large before it is divided.
    const half = s.exp(s.mul(large, 0.5));
    const scaled = s.mul(s.mul(half, s.div(s.select(s.gt(x, 24), far, middle), large)), half);
    return s.select(s.lt(x, 0), Number.NaN, scaled);
  },
  grad: ({ x }, dy) => dy.mul(x.exp()).div(x),
});

/** Beyond this, Fresnel's integrals are waves around 1/2. */
const WAVES = 2.6;
function fresnelWave(s: NumberBuilder, x: NumberValue, which: 'sin' | 'cos'): NumberValue {
  const large = atLeast(s, s.abs(x), WAVES);
  const z = s.div(WAVES, large);
  const t = s.mul(s.mul(z, z), s.mul(z, z));
  const f = s.div(chebyshev(s, t, tables.fresnelF), s.mul(large, Math.PI));
  const g = s.div(chebyshev(s, t, tables.fresnelG), s.mul(s.mul(large, s.mul(large, large)), Math.PI ** 2));
  // At infinity f and g are 0, and the sine of a finite angle keeps their products so.
  const angle = s.mul(s.min(s.mul(large, large), 1e300), Math.PI / 2);
  const [cos, sin] = [s.cos(angle), s.sin(angle)];
  const wave = which === 'sin' ? s.add(s.mul(f, cos), s.mul(g, sin)) : s.sub(s.mul(g, cos), s.mul(f, sin));
  return s.mul(s.sign(x), s.sub(0.5, wave));
}
const fourthOf = (s: NumberBuilder, x: NumberValue): NumberValue => {
  const square = s.mul(x, x);
  return s.min(s.mul(square, square), tables.fresnelSinNear.high);
};
/** Fresnel's integral of sin(π t² / 2) from 0 to x, element-wise. */
export const fresnelSin: UnaryFunction = /* @__PURE__ */ defineHalves({
  name: 'FresnelSin',
  split: WAVES,
  domain: [-4, 4],
  near: (s, x) => s.mul(s.mul(x, s.mul(x, x)), chebyshev(s, fourthOf(s, x), tables.fresnelSinNear)),
  far: (s, x) => fresnelWave(s, x, 'sin'),
  grad: ({ x }, dy) =>
    dy.mul(
      x
        .square()
        .mul(Math.PI / 2)
        .sin(),
    ),
});
/** Fresnel's integral of cos(π t² / 2) from 0 to x, element-wise. */
export const fresnelCos: UnaryFunction = /* @__PURE__ */ defineHalves({
  name: 'FresnelCos',
  split: WAVES,
  domain: [-4, 4],
  near: (s, x) => s.mul(x, chebyshev(s, fourthOf(s, x), tables.fresnelCosNear)),
  far: (s, x) => fresnelWave(s, x, 'cos'),
  grad: ({ x }, dy) =>
    dy.mul(
      x
        .square()
        .mul(Math.PI / 2)
        .cos(),
    ),
});
/** Spence's integral −∫ log(t) / (t − 1) dt from 1 to x, element-wise: NaN below 0. */
export const spence: UnaryFunction = /* @__PURE__ */ define({
  name: 'Spence',
  domain: [0.2, 6],
  body: (s, x) => {
    const turned = s.gt(x, 2);
    const y = s.select(turned, s.div(1, x), x);
    const low = s.lt(y, 0.5);
    const place = s.select(low, s.sub(1, y), y);
    const central = s.mul(s.sub(1, place), chebyshev(s, place, tables.spence));
    const product = s.select(s.gt(y, 0), s.mul(s.log(y), s.log1p(s.neg(y))), 0);
    const reflected = s.sub(s.sub(Math.PI ** 2 / 6, product), central);
    const inside = s.select(low, reflected, central);
    const log = s.log(x);
    const outside = s.sub(s.mul(s.mul(log, log), -0.5), inside);
    return s.select(s.lt(x, 0), Number.NaN, s.select(turned, outside, inside));
  },
  grad: ({ x }, dy) => {
    const one = x.equal(1);
    const slope = x.log().div(where(one, 1, x.neg().add(1)));
    return dy.mul(where(one, slope.sub(1), slope));
  },
});

// ---- quantiles of the normal distribution

/** A rational function, by its coefficients from the constant one on. */
function quotient(s: NumberBuilder, x: NumberValue, [top, bottom]: tables.Quotient): NumberValue {
  return s.div(polynomial(s, x, top), polynomial(s, x, bottom));
}

const quantileBy =
  (byMiddle: tables.Quotient, byTail: tables.Quotient, byFar: tables.Quotient): Body =>
  (s, x) => {
    // The lower half, where small probabilities are exact.
    const upper = s.gt(x, 0.5);
    const p = s.select(upper, s.sub(1, x), x);
    const q = s.sub(p, 0.5);
    const middle = s.mul(q, quotient(s, s.sub(0.180625, s.mul(q, q)), byMiddle));
    const r = s.sqrt(s.neg(s.log(p)));
    const tail = quotient(s, s.sub(r, 1.6), byTail);
    const far = quotient(s, s.sub(r, 5), byFar);
    const z = s.select(s.ge(q, -0.425), middle, s.neg(s.select(s.gt(r, 5), far, tail)));
    const found = s.select(upper, s.neg(z), z);
    const low = s.select(s.eq(x, 0), Number.NEGATIVE_INFINITY, found);
    return s.select(s.eq(x, 1), Number.POSITIVE_INFINITY, low);
  };
/** The number below which a standard normal variable is with probability x, element-wise: −∞ at 0, ∞ at 1, NaN beyond. */
export const ndtri: UnaryFunction = /* @__PURE__ */ define({
  name: 'Ndtri',
  domain: [0.05, 0.95],
  body: /* @__PURE__ */ quantileBy(tables.quantileMiddle, tables.quantileTail, tables.quantileFar),
  narrow: /* @__PURE__ */ quantileBy(floats.quantileMiddle, floats.quantileTail, floats.quantileFar),
  grad: ({ y }, dy) => dy.mul(y.square().mul(0.5).exp()).mul(Math.sqrt(2 * Math.PI)),
});
/** The inverse of erfc on (0, 2), element-wise; exact where x is small. */
export const erfcinv: NamedFunction<[x: TensorLike], ['x']> = /* @__PURE__ */ defineFunction(
  'math.erfcinv',
  { x: kind.tensor },
  {},
  (x) => ndtri(toTensor(x).mul(0.5)).mul(-Math.SQRT1_2),
);
