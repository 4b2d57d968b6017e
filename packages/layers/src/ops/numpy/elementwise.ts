// Functions of each element.
import {
  cast,
  clipByValue,
  round as coreRound,
  where as coreWhere,
  type DType,
  type IntegerLike,
  math,
  type NamedFunction,
  type Tensor,
  type TensorLike,
  zerosLike,
} from '@eagre/core';
import { defineFunction, isFloating, kind, pair, toTensor } from '@eagre/core/internal';
import {
  type Binary,
  binary,
  binaryFloat,
  floating,
  integer as integerKind,
  list as listKind,
  named,
  refuse,
  type Unary,
  unary,
  unaryFloat,
} from '../define.ts';

export {
  abs,
  abs as absolute,
  add,
  angle,
  bitwiseAnd,
  bitwiseLeftShift,
  bitwiseLeftShift as leftShift,
  bitwiseNot,
  bitwiseNot as bitwiseInvert,
  bitwiseOr,
  bitwiseRightShift,
  bitwiseRightShift as rightShift,
  bitwiseXor,
  ceil,
  conj,
  conj as conjugate,
  divNoNan as divideNoNan,
  equal,
  floor,
  floorDiv as floorDivide,
  greater,
  greaterEqual,
  imag,
  less,
  lessEqual,
  maximum,
  minimum,
  mod,
  mul as multiply,
  neg as negative,
  notEqual,
  pow as power,
  real,
  sign,
  square,
  sub as subtract,
} from '@eagre/core';

/** x1 / x2; integers become floats. */
export const divide: Binary = binaryFloat('divide', (a, b) => a.div(b));
/** The same as `divide`. */
export const trueDivide: Binary = divide;

// Numbers are true unless they are 0.
const truth = (x: TensorLike): Tensor => toTensor(x).cast('bool');
const truths = (a: TensorLike, b: TensorLike): [Tensor, Tensor] => [truth(a), truth(b)];
/** Whether x1 and x2. */
export const logicalAnd: Binary = /* @__PURE__ */ binary('logicalAnd', (a, b) => a.logicalAnd(b), truths);
/** Whether x1 or x2 or both. */
export const logicalOr: Binary = /* @__PURE__ */ binary('logicalOr', (a, b) => a.logicalOr(b), truths);
/** Whether either x1 or x2. */
export const logicalXor: Binary = /* @__PURE__ */ binary('logicalXor', (a, b) => a.logicalXor(b), truths);
/** Whether not x. */
export const logicalNot: Unary = /* @__PURE__ */ unary('logicalNot', (x) => truth(x).logicalNot());

// Those of integers are floats.
/** The square root. */
export const sqrt: Unary = unaryFloat('sqrt', (x) => x.sqrt());
/** 1 / x. */
export const reciprocal: Unary = unaryFloat('reciprocal', (x) => x.reciprocal());
/** e to the power of x. */
export const exp: Unary = unaryFloat('exp', (x) => x.exp());
/** 2 to the power of x. */
export const exp2: Unary = unaryFloat('exp2', (x) => x.mul(Math.LN2).exp());
/** exp(x) − 1, accurate for small x. */
export const expm1: Unary = unaryFloat('expm1', (x) => x.expm1());
/** The natural logarithm. */
export const log: Unary = unaryFloat('log', (x) => x.log());
/** log(1 + x), accurate for small x. */
export const log1p: Unary = unaryFloat('log1p', (x) => x.log1p());
/** The logarithm to base 2. */
export const log2: Unary = unaryFloat('log2', (x) => x.log2());
/** The logarithm to base 10. */
export const log10: Unary = unaryFloat('log10', (x) => x.log().mul(Math.LOG10E));
/** The sine. */
export const sin: Unary = unaryFloat('sin', (x) => x.sin());
/** The cosine. */
export const cos: Unary = unaryFloat('cos', (x) => x.cos());
/** The tangent. */
export const tan: Unary = unaryFloat('tan', (x) => x.tan());
/** The hyperbolic sine. */
export const sinh: Unary = unaryFloat('sinh', (x) => x.sinh());
/** The hyperbolic cosine. */
export const cosh: Unary = unaryFloat('cosh', (x) => x.cosh());
/** The hyperbolic tangent. */
export const tanh: Unary = unaryFloat('tanh', (x) => x.tanh());
/** The inverse of the sine. */
export const arcsin: Unary = unaryFloat('arcsin', (x) => x.asin());
/** The inverse of the cosine. */
export const arccos: Unary = unaryFloat('arccos', (x) => x.acos());
/** The inverse of the tangent. */
export const arctan: Unary = unaryFloat('arctan', (x) => x.atan());
/** The inverse of the hyperbolic sine. */
export const arcsinh: Unary = unaryFloat('arcsinh', (x) => x.asinh());
/** The inverse of the hyperbolic cosine. */
export const arccosh: Unary = unaryFloat('arccosh', (x) => x.acosh());
/** The inverse of the hyperbolic tangent. */
export const arctanh: Unary = unaryFloat('arctanh', (x) => x.atanh());
/** The angle of the point (x2, x1). */
export const arctan2: Binary = binaryFloat('arctan2', (y, x) => y.atan2(x));
/** sin(πx) / πx, which is 1 at 0. */
export const sinc: Unary = unaryFloat('sinc', (x) => {
  const zero = x.equal(0);
  const angle = zero.where(1, x).mul(Math.PI);
  return zero.where(1, angle.sin().div(angle));
});
/** The cube root, of negative numbers too. */
export const cbrt: Unary = unaryFloat('cbrt', (x) => x.sign().mul(x.abs().pow(1 / 3)));
/** Degrees as radians. */
export const deg2rad: Unary = unaryFloat('deg2rad', (x) => x.mul(Math.PI / 180));
/** Radians as degrees. */
export const rad2deg: Unary = unaryFloat('rad2deg', (x) => x.mul(180 / Math.PI));
/** The absolute value, as floats. */
export const fabs: Unary = unaryFloat('fabs', (x) => x.abs());

/** x without its fraction: rounded toward 0. */
export const trunc: Unary = unary('trunc', (x) =>
  isFloating(x.dtype) ? x.less(0).where(x.ceil(), x.floor()) : x.identity(),
);

/** x rounded to so many decimals, halves to even; negative `decimals` round tens, hundreds and so on. */
export const round: NamedFunction<[x: TensorLike, decimals?: IntegerLike], ['x|a', 'decimals']> =
  defineFunction(
    named('round'),
    { 'x|a': kind.tensor, decimals: integerKind },
    {},
    (x, decimals: number = 0) => {
      const t = toTensor(x);
      if (decimals === 0) return isFloating(t.dtype) ? coreRound(t) : t.identity();
      const factor = 10 ** decimals;
      return coreRound(floating(t).mul(factor)).div(factor).cast(t.dtype);
    },
  );

// ---- kinds of numbers

const onFloats = (name: string, run: (x: Tensor) => Tensor, otherwise: boolean): Unary =>
  unary(name, (x) => (isFloating(x.dtype) ? run(x) : constantly(x, otherwise)));
const constantly = (x: Tensor, value: boolean): Tensor => {
  const none = zerosLike(x, 'bool');
  return value ? none.logicalNot() : none;
};
/** Whether each element is NaN. */
export const isnan: Unary = onFloats('isnan', (x) => x.isNan(), false);
/** Whether each element is Infinity or −Infinity. */
export const isinf: Unary = onFloats('isinf', (x) => x.isInf(), false);
/** Whether each element is a number and not infinite. */
export const isfinite: Unary = onFloats('isfinite', (x) => x.isFinite(), true);
/** Whether each element is Infinity. */
export const isposinf: Unary = onFloats('isposinf', (x) => x.equal(Infinity), false);
/** Whether each element is −Infinity. */
export const isneginf: Unary = onFloats('isneginf', (x) => x.equal(-Infinity), false);
/** Whether each element's imaginary part is 0; true of all that are not complex. */
export const isreal: Unary = unary('isreal', (x) =>
  x.dtype === 'complex64' || x.dtype === 'complex128' ? x.imag().equal(0) : constantly(x, true),
);
/** Whether each element has a minus sign, −0 included. */
export const signbit: Unary = unary('signbit', (x) =>
  isFloating(x.dtype) ? x.less(0).logicalOr(x.equal(0).logicalAnd(x.reciprocal().less(0))) : x.less(0),
);

/** 0 where x1 is negative, x2 where it is 0, and 1 where it is positive; NaN stays. */
export const heaviside: Binary = binary('heaviside', (a, b) => {
  const step = a.equal(0).where(b, a.greater(0).cast(b.dtype));
  return isFloating(a.dtype) ? a.isNan().where(a, step) : step;
});

// ---- of two tensors

/** √(x1² + x2²), which neither overflows nor underflows; ∞ where one is infinite, as in NumPy. */
export const hypot: Binary = binaryFloat('hypot', (a, b) => {
  const [x, y] = [a.abs(), b.abs()];
  const most = x.maximum(y);
  const scale = most.equal(0).logicalOr(most.isInf()).where(1, most);
  const share = x.minimum(y).div(scale);
  return most.mul(share.square().add(1).sqrt());
});
/** How far apart two are: 0 for the same infinities. */
const distance = (a: Tensor, b: Tensor): Tensor => a.equal(b).where(0, a.sub(b)).abs();
/** log(exp(x1) + exp(x2)). */
export const logaddexp: Binary = binaryFloat('logaddexp', (a, b) =>
  a.maximum(b).add(distance(a, b).neg().exp().log1p()),
);
/** The logarithm to base 2 of 2^x1 + 2^x2. */
export const logaddexp2: Binary = binaryFloat('logaddexp2', (a, b) =>
  a.maximum(b).add(distance(a, b).mul(-Math.LN2).exp().log1p().mul(Math.LOG2E)),
);
/** x1 · 2^x2. */
export const ldexp: Binary = defineFunction(
  named('ldexp'),
  { 'x1|a': kind.tensor, 'x2|b': kind.tensor },
  {},
  (x1, x2) => {
    const x = floating(x1);
    return x.mul(toTensor(x2).cast(x.dtype).mul(Math.LN2).exp());
  },
);
/** The remainder of x1 / x2, of the sign of x1. */
export const fmod: Binary = binary('fmod', (a, b) => {
  const rest = a.abs().mod(b.abs());
  return a.less(0).where(rest.neg(), rest);
});
const other =
  (choose: (a: Tensor, b: Tensor) => Tensor) =>
  (a: Tensor, b: Tensor): Tensor =>
    isFloating(a.dtype) ? a.isNan().where(b, b.isNan().where(a, choose(a, b))) : choose(a, b);
/** The larger one of two; of a number and NaN the number. */
export const fmax: Binary = binary(
  'fmax',
  other((a, b) => a.maximum(b)),
);
/** The smaller one of two; of a number and NaN the number. */
export const fmin: Binary = binary(
  'fmin',
  other((a, b) => a.minimum(b)),
);

/** The next number of the dtype after x1 in the direction of x2. Without a gradient. */
export const nextafter: Binary = binaryFloat('nextafter', (a, b) => math.nextafter(a, b));

// Euclid's algorithm halves the numbers in two steps, and those of int64 have 63 bits.
const STEPS: Readonly<Partial<Record<DType, number>>> = { int64: 92, uint64: 94, int32: 46, uint32: 47 };

/** The largest integer that divides both; integers only. */
export const gcd: Binary = binary('gcd', (a, b) => divisor(a, b, 'gcd'));

function divisor(a: Tensor, b: Tensor, name: string): Tensor {
  if (isFloating(a.dtype)) refuse(`x1 and x2 are ${a.dtype}, expected integers`, name);
  let [x, y] = [a.abs(), b.abs()];
  for (let i = 0; i < (STEPS[a.dtype] ?? 24); i++) {
    const done = y.equal(0);
    [x, y] = [done.where(x, y), done.where(y, x.mod(done.where(1, y)))];
  }
  return x;
}

/** The smallest integer that both divide; integers only. */
export const lcm: Binary = binary('lcm', (a, b) => {
  const common = divisor(a, b, 'lcm');
  return a.abs().floorDiv(common.maximum(1)).mul(b.abs());
});

// ---- limits and choices

/** x limited to `xMin` … `xMax`. */
export const clip: NamedFunction<
  [x: TensorLike, xMin: TensorLike, xMax: TensorLike],
  ['x|a', 'xMin|aMin', 'xMax|aMax']
> = defineFunction(
  named('clip'),
  { 'x|a': kind.tensor, 'xMin|aMin': kind.tensor, 'xMax|aMax': kind.tensor },
  {},
  (x, xMin, xMax) => {
    const t = toTensor(x);
    return clipByValue(t.dtype === 'bool' ? t.cast('int32') : t, xMin, xMax);
  },
);

/**
 * x1 where the condition is true or not 0, x2 elsewhere; all three broadcast. Without x1 and x2, the places of the true elements: int32
 * [count] for each axis.
 */
export const where: NamedFunction<
  [condition: TensorLike, x1?: TensorLike | null, x2?: TensorLike | null],
  ['condition', 'x1|x', 'x2|y']
> = defineFunction<
  NamedFunction<
    [condition: TensorLike, x1?: TensorLike | null, x2?: TensorLike | null],
    ['condition', 'x1|x', 'x2|y'],
    unknown,
    unknown
  >
>(
  named('where'),
  { condition: kind.tensor, 'x1|x': kind.tensor, 'x2|y': kind.tensor },
  {},
  (condition, x1: TensorLike | null = null, x2: TensorLike | null = null) => {
    const is = cast(condition, 'bool');
    if (x1 === null && x2 === null) return places(is);
    if (x1 === null || x2 === null) return refuse('give both x1 and x2, or neither', 'where');
    return coreWhere(is, x1, x2);
  },
) as never;

const places = (x: Tensor): Tensor[] => x.nonzero().cast('int32').unstack(1);

/** The places of the elements that are not 0: int32 [count] for each axis. */
export const nonzero: NamedFunction<[x: TensorLike], ['x'], unknown, Tensor[]> = defineFunction(
  named('nonzero'),
  { x: kind.tensor },
  {},
  (x) => places(toTensor(x)),
);

/** The element of the first list whose condition holds, `default` where none does; all broadcast. */
export const select: NamedFunction<
  [condlist: readonly TensorLike[], choicelist: readonly TensorLike[], dflt?: TensorLike],
  ['condlist', 'choicelist', 'default']
> = defineFunction(
  named('select'),
  { condlist: listKind, choicelist: listKind, default: kind.tensor },
  {},
  (condlist, choicelist, otherwise: TensorLike = 0) => {
    if (condlist.length !== choicelist.length || condlist.length === 0)
      refuse(`${condlist.length} conditions and ${choicelist.length} choices do not match`, 'select');
    return condlist.reduceRight<TensorLike>(
      (rest, condition, i) =>
        coreWhere(cast(condition, 'bool'), ...pair(choicelist[i], rest, named('select'))),
      otherwise,
    ) as Tensor;
  },
);

/** NaN and the infinities replaced by numbers: NaN by `nan`, the infinities by the largest and smallest numbers unless given. */
export const nanToNum: NamedFunction<
  [x: TensorLike, nan?: number, posinf?: number | null, neginf?: number | null],
  ['x', 'nan', 'posinf', 'neginf']
> = defineFunction(
  named('nanToNum'),
  { x: kind.tensor, nan: kind.asIs, posinf: kind.asIs, neginf: kind.asIs },
  {},
  (x, nan: number = 0, posinf: number | null = null, neginf: number | null = null) => {
    const t = toTensor(x);
    if (!isFloating(t.dtype)) return t.identity();
    const most = LARGEST[t.dtype] ?? 3.4028234663852886e38;
    return t
      .isNan()
      .where(nan, t.equal(Infinity).where(posinf ?? most, t.equal(-Infinity).where(neginf ?? -most, t)));
  },
);
const LARGEST: Readonly<Partial<Record<DType, number>>> = {
  float64: Number.MAX_VALUE,
  float16: 65504,
  bfloat16: 3.3895313892515355e38,
};

interface Closeness {
  /** The distance allowed for each unit of x2; 1e-5 by default. */
  readonly rtol?: number;
  /** The distance allowed at least; 1e-8 by default. */
  readonly atol?: number;
  /** Whether NaN equals NaN; false by default. */
  readonly equalNan?: boolean;
}
type Near = NamedFunction<[x1: TensorLike, x2: TensorLike], ['x1|a', 'x2|b'], Closeness>;
const closeness = { rtol: kind.asIs, atol: kind.asIs, equalNan: kind.asIs };

function near(x1: TensorLike, x2: TensorLike, { rtol = 1e-5, atol = 1e-8, equalNan }: Closeness): Tensor {
  const [a, b] = pair(x1, x2, named('isclose'));
  if (!isFloating(a.dtype)) return near(a.cast('float32'), b.cast('float32'), { rtol, atol });
  const close = a
    .sub(b)
    .abs()
    .lessEqual(b.abs().mul(toTensor(rtol, b.dtype)).add(toTensor(atol, b.dtype)));
  const same = a.equal(b).logicalOr(b.isFinite().logicalAnd(close));
  return equalNan === true ? same.logicalOr(a.isNan().logicalAnd(b.isNan())) : same;
}

/** Whether |x1 − x2| ≤ atol + rtol · |x2|, for each element. */
export const isclose: Near = defineFunction(
  named('isclose'),
  { 'x1|a': kind.tensor, 'x2|b': kind.tensor },
  closeness,
  (x1, x2, options) => near(x1, x2, options),
);
/** Whether |x1 − x2| ≤ atol + rtol · |x2| for all elements: one bool. */
export const allclose: Near = defineFunction(
  named('allclose'),
  { 'x1|a': kind.tensor, 'x2|b': kind.tensor },
  closeness,
  (x1, x2, options) => near(x1, x2, options).all(),
);
