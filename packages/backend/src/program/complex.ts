// Scalar functions of complex numbers, written as programs over their parts: backends know real numbers only.
import { type ComplexDType, type DType, isComplex, type NumericDType, partsOf } from '../dtype.ts';
import { InternalError, UnimplementedError } from '../errors.ts';
import { isHalf } from '../half.ts';
import { buildScalarProgram, type ScalarBuilder, type ScalarProgram, type ScalarValue } from './scalar.ts';

/** A value inside the scalar function of an op: `ScalarValue`, or a complex number. */
export interface NumberValue {
  readonly dtype: Exclude<DType, 'string'>;
}
type Operand = NumberValue | number;

/** Writes the scalar function of an op, as `ScalarBuilder` does, for complex numbers too. */
export type NumberBuilder = {
  readonly [K in Exclude<keyof ScalarBuilder, 'constant' | 'cast' | 'select'>]: (
    ...args: Parameters<ScalarBuilder[K]> extends [unknown, unknown]
      ? [a: Operand, b: Operand]
      : [x: NumberValue]
  ) => NumberValue;
} & {
  constant(value: number, dtype: NumberValue['dtype']): NumberValue;
  cast(x: NumberValue, dtype: NumberValue['dtype']): NumberValue;
  select(condition: NumberValue, a: Operand, b: Operand): NumberValue;
  /** The complex number of two floats. */
  complex(re: NumberValue, im: NumberValue): NumberValue;
  /** The real part; of a real number itself. */
  real(x: NumberValue): NumberValue;
  /** The imaginary part; of a real number 0. */
  imag(x: NumberValue): NumberValue;
  /** The conjugate; of a real number itself. */
  conj(x: NumberValue): NumberValue;
};

class ComplexValue implements NumberValue {
  readonly dtype: ComplexDType;
  readonly re: ScalarValue;
  readonly im: ScalarValue;
  constructor(re: ScalarValue, im: ScalarValue) {
    this.dtype = re.dtype === 'float64' ? 'complex128' : 'complex64';
    this.re = re;
    this.im = im;
  }
}

type Real = ScalarValue;
type Unary = (z: ComplexValue) => ComplexValue | Real;
type Binary = (a: ComplexValue, b: ComplexValue) => ComplexValue | Real;

/** The functions of complex numbers that there are; each branch cut is that of C's and NumPy's. */
function functions(s: ScalarBuilder): {
  readonly unary: { readonly [op: string]: Unary | undefined };
  readonly binary: { readonly [op: string]: Binary | undefined };
} {
  const make = (re: Real, im: Real): ComplexValue => new ComplexValue(re, im);
  const plus = (z: ComplexValue, x: number): ComplexValue => make(s.add(z.re, x), z.im);
  const scaled = (z: ComplexValue, x: Real | number): ComplexValue => make(s.mul(z.re, x), s.mul(z.im, x));
  /** i · z and −i · z. */
  const turned = ({ re, im }: ComplexValue): ComplexValue => make(s.neg(im), re);
  const turnedBack = ({ re, im }: ComplexValue): ComplexValue => make(im, s.neg(re));
  /** √(a² + b²) without overflow; infinite where a part is, whatever the other is. */
  const hypot = (a: Real, b: Real): Real => {
    const x = s.abs(a);
    const y = s.abs(b);
    const large = s.max(x, y);
    const ratio = s.div(s.min(x, y), large);
    const length = s.mul(large, s.sqrt(s.add(s.mul(ratio, ratio), 1)));
    return s.select(
      s.or(s.isInf(x), s.isInf(y)),
      Number.POSITIVE_INFINITY,
      s.select(s.eq(large, 0), large, length),
    );
  };
  const abs = ({ re, im }: ComplexValue): Real => hypot(re, im);
  const angle = ({ re, im }: ComplexValue): Real => s.atan2(im, re);
  const neg = ({ re, im }: ComplexValue): ComplexValue => make(s.neg(re), s.neg(im));
  const add = (a: ComplexValue, b: ComplexValue): ComplexValue => make(s.add(a.re, b.re), s.add(a.im, b.im));
  const sub = (a: ComplexValue, b: ComplexValue): ComplexValue => make(s.sub(a.re, b.re), s.sub(a.im, b.im));
  const mul = (a: ComplexValue, b: ComplexValue): ComplexValue =>
    make(s.sub(s.mul(a.re, b.re), s.mul(a.im, b.im)), s.add(s.mul(a.re, b.im), s.mul(a.im, b.re)));
  /** By the larger part of the divisor, so that nothing overflows that need not (Smith 1962). */
  const div = (a: ComplexValue, b: ComplexValue): ComplexValue => {
    const wide = s.ge(s.abs(b.re), s.abs(b.im));
    const large = s.select(wide, b.re, b.im);
    const ratio = s.div(s.select(wide, b.im, b.re), large);
    const [p, q] = [s.select(wide, a.re, a.im), s.select(wide, a.im, a.re)];
    const divisor = s.add(large, s.mul(s.select(wide, b.im, b.re), ratio));
    const im = s.div(s.sub(q, s.mul(p, ratio)), divisor);
    return make(s.div(s.add(p, s.mul(q, ratio)), divisor), s.select(wide, im, s.neg(im)));
  };
  const reciprocal = (z: ComplexValue): ComplexValue =>
    div(make(s.constant(1, z.re.dtype), s.constant(0, z.re.dtype)), z);
  const exp = ({ re, im }: ComplexValue): ComplexValue => {
    const size = s.exp(re);
    return make(s.mul(size, s.cos(im)), s.select(s.eq(im, 0), im, s.mul(size, s.sin(im))));
  };
  const log = (z: ComplexValue): ComplexValue => make(s.log(abs(z)), angle(z));
  /** Whether the sign of a number is −; that of −0 shows in its angle alone. */
  const negative = (x: Real): Real => s.lt(s.atan2(x, s.constant(-1, x.dtype)), 0);
  const sqrt = (z: ComplexValue): ComplexValue => {
    const { re, im } = z;
    const large = s.sqrt(s.mul(s.add(abs(z), s.abs(re)), 0.5));
    const small = s.select(s.eq(large, 0), im, s.div(im, s.mul(large, 2)));
    // The sign of −0 tells on which side of the cut a number lies.
    const signed = s.select(negative(im), s.neg(large), large);
    const right = s.ge(re, 0);
    const far = s.isInf(im);
    return make(
      s.select(far, Number.POSITIVE_INFINITY, s.select(right, large, s.abs(small))),
      s.select(far, im, s.select(right, small, signed)),
    );
  };
  const sinh = ({ re, im }: ComplexValue): ComplexValue =>
    make(s.mul(s.sinh(re), s.cos(im)), s.mul(s.cosh(re), s.sin(im)));
  const cosh = ({ re, im }: ComplexValue): ComplexValue =>
    make(s.mul(s.cosh(re), s.cos(im)), s.mul(s.sinh(re), s.sin(im)));
  /** Kahan, "Branch cuts for complex elementary functions" (1987); beyond `far` the real part is ±1. */
  const tanh = ({ re, im }: ComplexValue): ComplexValue => {
    const far = s.gt(s.abs(re), 20);
    const near = s.select(far, 0, re);
    const t = s.tan(im);
    const sine = s.sinh(near);
    const beta = s.add(s.mul(t, t), 1);
    const divisor = s.add(s.mul(s.mul(beta, sine), sine), 1);
    const rho = s.sqrt(s.add(s.mul(sine, sine), 1));
    const tail = s.mul(s.mul(s.sin(im), s.cos(im)), s.mul(s.exp(s.mul(s.abs(re), -2)), 4));
    return make(
      s.select(far, s.sign(re), s.div(s.mul(s.mul(beta, rho), sine), divisor)),
      s.select(far, tail, s.div(t, divisor)),
    );
  };
  const log1p = (z: ComplexValue): ComplexValue => {
    const { re, im } = z;
    const close = s.lt(s.max(s.abs(re), s.abs(im)), 0.5);
    const excess = s.add(s.mul(re, s.add(re, 2)), s.mul(im, im));
    const moved = plus(z, 1);
    return make(
      s.select(close, s.mul(s.log1p(s.select(close, excess, 0)), 0.5), s.log(abs(moved))),
      angle(moved),
    );
  };
  const asinh = (z: ComplexValue): ComplexValue => {
    // An odd function: on the right nothing cancels.
    const left = negative(z.re);
    const flipped = (of: ComplexValue): ComplexValue =>
      make(s.select(left, s.neg(of.re), of.re), s.select(left, s.neg(of.im), of.im));
    const w = flipped(z);
    const w2 = mul(w, w);
    // log(w + √(w² + 1)), where a small w is not added to 1; of a large one the square is not needed, and may be too large.
    const near = log1p(add(w, div(w2, plus(sqrt(plus(w2, 1)), 1))));
    const far = s.gt(abs(w), 1e9);
    const large = plus(log(w), Math.LN2);
    return flipped(make(s.select(far, large.re, near.re), s.select(far, large.im, near.im)));
  };
  const atanh = (z: ComplexValue): ComplexValue => scaled(sub(log1p(z), log1p(neg(z))), 0.5);
  const asin = (z: ComplexValue): ComplexValue => turnedBack(asinh(turned(z)));
  return {
    unary: {
      neg,
      abs,
      exp,
      log,
      sqrt,
      sinh,
      cosh,
      tanh,
      log1p,
      asinh,
      atanh,
      asin,
      sign: (z) => {
        const length = abs(z);
        const none = s.eq(length, 0);
        return make(s.select(none, 0, s.div(z.re, length)), s.select(none, 0, s.div(z.im, length)));
      },
      // On the cut the sign of −0 does not count, and that of 0 is infinite.
      rsqrt: (z) => {
        const root = sqrt(make(z.re, s.select(s.eq(z.im, 0), 0, z.im)));
        const { re, im } = reciprocal(root);
        const size = abs(z);
        const far = s.isInf(size);
        const finite = s.select(far, 0, re);
        return make(s.select(s.eq(size, 0), Number.POSITIVE_INFINITY, finite), s.select(far, 0, im));
      },
      expm1: (z) => {
        const half = s.sin(s.mul(z.im, 0.5));
        const re = s.sub(s.mul(s.expm1(z.re), s.cos(z.im)), s.mul(s.mul(half, half), 2));
        return make(re, exp(z).im);
      },
      sin: (z) => turnedBack(sinh(turned(z))),
      cos: (z) => cosh(turned(z)),
      tan: (z) => turnedBack(tanh(turned(z))),
      acos: (z) => {
        const y = asin(z);
        return make(s.add(s.neg(y.re), Math.PI / 2), s.neg(y.im));
      },
      atan: (z) => turnedBack(atanh(turned(z))),
      acosh: (z) => log(add(z, mul(sqrt(plus(z, 1)), sqrt(plus(z, -1))))),
      sigmoid: (z) => reciprocal(plus(exp(neg(z)), 1)),
    },
    binary: {
      add,
      sub,
      mul,
      div,
      pow: (a, b) => {
        const power = exp(mul(b, log(a)));
        // 0 to a power whose real part is positive is 0, and infinite where that is negative; else it is nothing.
        const zero = s.eq(abs(a), 0);
        const defined = s.gt(b.re, 0);
        const none = s.constant(Number.NaN, a.re.dtype);
        const re = s.select(s.lt(b.re, 0), Number.POSITIVE_INFINITY, none);
        return make(
          s.select(zero, s.select(defined, 0, re), power.re),
          s.select(zero, s.select(defined, 0, none), power.im),
        );
      },
      eq: (a, b) => s.and(s.eq(a.re, b.re), s.eq(a.im, b.im)),
      ne: (a, b) => s.or(s.ne(a.re, b.re), s.ne(a.im, b.im)),
    },
  };
}

function numberBuilder(s: ScalarBuilder): NumberBuilder {
  const { unary, binary } = functions(s);
  const constant = (value: number, dtype: NumberValue['dtype']): NumberValue => {
    if (!isComplex(dtype)) return s.constant(value, dtype);
    const part = partsOf(dtype);
    return new ComplexValue(s.constant(value, part), s.constant(0, part));
  };
  const cast = (x: NumberValue, dtype: NumberValue['dtype']): NumberValue => {
    if (x.dtype === dtype) return x;
    if (x instanceof ComplexValue) {
      const { re, im } = x;
      if (isComplex(dtype)) return new ComplexValue(s.cast(re, partsOf(dtype)), s.cast(im, partsOf(dtype)));
      return s.cast(re, dtype);
    }
    if (!isComplex(dtype)) return s.cast(x as ScalarValue, dtype);
    return new ComplexValue(s.cast(x as ScalarValue, partsOf(dtype)), s.constant(0, partsOf(dtype)));
  };
  const pair = (a: Operand, b: Operand): [ComplexValue, ComplexValue] => {
    const { dtype } = (a instanceof ComplexValue ? a : b) as ComplexValue;
    const lifted = (v: Operand): ComplexValue => {
      if (typeof v !== 'number' && v.dtype !== dtype && v.dtype !== partsOf(dtype))
        throw new InternalError(`operands of ${v.dtype} and ${dtype} in a scalar function`);
      return (typeof v === 'number' ? constant(v, dtype) : cast(v, dtype)) as ComplexValue;
    };
    return [lifted(a), lifted(b)];
  };
  const real = (x: NumberValue): NumberValue => (x instanceof ComplexValue ? x.re : x);
  // No complex number has parts of 16 bits.
  const wide = (x: ScalarValue): ScalarValue => (isHalf(x.dtype) ? s.cast(x, 'float32') : x);
  const builder: Record<string, unknown> = {
    constant,
    cast,
    select: (condition: ScalarValue, a: Operand, b: Operand) => {
      if (!(a instanceof ComplexValue || b instanceof ComplexValue))
        return s.select(condition, a as never, b as never);
      const [x, y] = pair(a, b);
      return new ComplexValue(s.select(condition, x.re, y.re), s.select(condition, x.im, y.im));
    },
    complex: (re: ScalarValue, im: ScalarValue) => new ComplexValue(wide(re), wide(im)),
    real,
    imag: (x: NumberValue) => (x instanceof ComplexValue ? x.im : s.constant(0, x.dtype as NumericDType)),
    conj: (x: NumberValue) => (x instanceof ComplexValue ? new ComplexValue(x.re, s.neg(x.im)) : x),
  };
  for (const op of Object.keys(s) as (keyof ScalarBuilder)[]) {
    builder[op] ??= (...args: Operand[]) => {
      if (!args.some((x) => x instanceof ComplexValue))
        return (s[op] as (...args: unknown[]) => unknown)(...args);
      const done =
        args.length === 1
          ? unary[op]?.(args[0] as ComplexValue)
          : binary[op]?.(...pair(...(args as [Operand, Operand])));
      if (done === undefined) throw new UnimplementedError(`there is no ${op} of complex numbers`);
      return done;
    };
  }
  return builder as unknown as NumberBuilder;
}

/**
 * Builds the program of a scalar function: `buildScalarProgram`, with two inputs for each complex one, and two outputs for a complex
 * result, the real part first.
 * @returns the program, and the dtype of the result. @throws UnimplementedError for what complex numbers do not have, such as an order.
 */
export function buildNumberProgram(
  inputs: readonly NumberValue['dtype'][],
  body: (s: NumberBuilder, ...values: NumberValue[]) => NumberValue,
): { readonly program: ScalarProgram; readonly dtype: NumberValue['dtype'] } {
  let dtype: NumberValue['dtype'] = 'float32';
  const parts = inputs.flatMap((of): NumericDType[] => (isComplex(of) ? [partsOf(of), partsOf(of)] : [of]));
  const program = buildScalarProgram(parts, (s, ...given) => {
    let at = 0;
    const values = inputs.map((of) =>
      isComplex(of) ? new ComplexValue(given[at++], given[at++]) : given[at++],
    );
    const result = body(numberBuilder(s), ...values);
    dtype = result.dtype;
    return result instanceof ComplexValue ? [result.re, result.im] : (result as ScalarValue);
  });
  return { program, dtype };
}
