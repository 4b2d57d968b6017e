import { dtypeTraits, isBig, type NumericDType, numericDTypes } from '../dtype.ts';
import { InternalError } from '../errors.ts';
import { type HalfDType, isHalf } from '../half.ts';

/**
 * The opcodes of a scalar program, in the order of their numbers (native code has the same list). Unless noted, the result
 * has the operands' dtype. `f` floating only, `i` integer, `b` bool.
 *
 * - integers wrap; `div` is IEEE for f and truncates for i; `floorDiv`, `mod` round down (result has the divisor's sign) for f and i;
 *   an integer division by zero is an error (InvalidArgumentError), as is an integer `pow` with a negative exponent
 * - `round` is half to even; `sign(NaN)` is NaN; `min`/`max` return NaN when either is NaN
 * - comparisons, `isNaN`, `isInf`, `isFinite` give bool; `and`, `or`, `xor`, `not` take bool
 * - `select(c, a, b)`: c is bool; `cast`: float to int truncates toward zero (NaN to 0, saturating), anything to bool is `!= 0`
 * - dtypes that `DTypeTraits.computesIn` sends elsewhere are only read, written, chosen by `select`, and cast to and from that dtype;
 *   `buildScalarProgram` sees to it. Integers wrap after each instruction; float16 and bfloat16 are rounded once, where a result leaves
 *   the program: an op computes in float32, whatever it is made of
 * - `softplus` is log(1+exp(x)) without overflow; `erfinv` on (-1, 1)
 * - `bitAnd`, `bitOr`, `bitXor`, `bitNot`, `shiftLeft`, `shiftRight` take integers
 */
// biome-ignore format: a table reads better in rows
export const scalarOps = [
  'const', 'cast', 'neg', 'abs', 'sign', 'floor', 'ceil', 'round', 'sqrt', 'rsqrt',
  'exp', 'expm1', 'log', 'log1p', 'sin', 'cos', 'tan', 'asin', 'acos', 'atan',
  'sinh', 'cosh', 'tanh', 'asinh', 'acosh', 'atanh', 'sigmoid', 'softplus', 'erf', 'erfc',
  'erfinv', 'lgamma', 'digamma', 'isNaN', 'isInf', 'isFinite', 'not', 'add', 'sub', 'mul',
  'div', 'floorDiv', 'mod', 'pow', 'min', 'max', 'atan2', 'eq', 'ne', 'lt',
  'le', 'gt', 'ge', 'and', 'or', 'xor', 'bitAnd', 'bitOr', 'bitXor', 'bitNot',
  'shiftLeft', 'shiftRight', 'select',
] as const;
/** The name of an instruction of scalar programs. */
export type ScalarOp = (typeof scalarOps)[number];

/** One instruction; `args` are value numbers: inputs first, then instructions in order. `dtype` is the result's. */
export interface ScalarInstr {
  readonly op: ScalarOp;
  readonly dtype: NumericDType;
  readonly args: readonly number[];
  /** The number of a `const`; beyond 2^53 it would not be exact and is refused. */
  readonly value: number;
}

/** A function of scalars that a backend maps over broadcast inputs. */
export interface ScalarProgram {
  readonly inputs: readonly NumericDType[];
  readonly instrs: readonly ScalarInstr[];
  /** Value numbers of the results. */
  readonly outputs: readonly number[];
}

/** The dtype of a value of a program, by its number. */
export function dtypeOfValue({ inputs, instrs }: ScalarProgram, value: number): NumericDType {
  return inputs[value] ?? instrs[value - inputs.length].dtype;
}

/** The largest programs that every backend takes (native/runtime/programs.h has the same numbers). */
export const scalarProgramLimits = { inputs: 32, outputs: 8, instrs: 256 } as const;

/** A value inside a scalar program. */
export interface ScalarValue {
  readonly id: number;
  readonly dtype: NumericDType;
}

type Operand = ScalarValue | number;

const comparisons = new Set<ScalarOp>(['eq', 'ne', 'lt', 'le', 'gt', 'ge', 'isNaN', 'isInf', 'isFinite']);
const shifts = new Set<ScalarOp>(['shiftLeft', 'shiftRight']);

// biome-ignore format: a table reads better in rows
const unaryOps = [
  'neg', 'abs', 'sign', 'floor', 'ceil', 'round', 'sqrt', 'rsqrt', 'exp', 'expm1', 'log', 'log1p',
  'sin', 'cos', 'tan', 'asin', 'acos', 'atan', 'sinh', 'cosh', 'tanh', 'asinh', 'acosh', 'atanh',
  'sigmoid', 'softplus', 'erf', 'erfc', 'erfinv', 'lgamma', 'digamma', 'isNaN', 'isInf', 'isFinite',
  'not', 'bitNot',
] as const;

type UnaryName = (typeof unaryOps)[number];
type BinaryName = Exclude<ScalarOp, UnaryName | 'const' | 'cast' | 'select'>;

/** Writes a scalar program: `s.add(x, s.mul(y, 2))`. A bare number takes the dtype of the other operand. */
export type ScalarBuilder = { readonly [K in UnaryName]: (x: ScalarValue) => ScalarValue } & {
  readonly [K in BinaryName]: (a: Operand, b: Operand) => ScalarValue;
} & {
  constant(value: number, dtype: NumericDType): ScalarValue;
  cast(x: ScalarValue, dtype: NumericDType): ScalarValue;
  select(condition: ScalarValue, a: Operand, b: Operand): ScalarValue;
};

/** Builds the program of `body` for inputs of the given dtypes. Equal instructions are shared. */
export function buildScalarProgram(
  inputs: readonly NumericDType[],
  body: (s: ScalarBuilder, ...values: ScalarValue[]) => ScalarValue | readonly ScalarValue[],
): ScalarProgram {
  const instrs: ScalarInstr[] = [];
  const seen = new Map<string, ScalarValue>();
  const emit = (op: ScalarOp, dtype: NumericDType, args: readonly ScalarValue[], value = 0): ScalarValue => {
    const ids = args.map((v) => v.id);
    const key = `${op} ${dtype} ${ids.join(' ')} ${Object.is(value, -0) ? '-0' : value}`;
    let result = seen.get(key);
    if (result === undefined) {
      result = { id: inputs.length + instrs.length, dtype };
      instrs.push({ op, dtype, args: ids, value });
      seen.set(key, result);
    }
    return result;
  };
  // Floats of 16 bits are computed with in float32. What such a value is there; an input is cast when it is used.
  const wideForms = new Map<ScalarValue, ScalarValue>();
  const widened = (x: ScalarValue): ScalarValue =>
    isHalf(x.dtype) ? (wideForms.get(x) ?? emit('cast', 'float32', [x])) : x;
  const half = (dtype: HalfDType, wide: ScalarValue): ScalarValue => {
    const value = { id: -1, dtype };
    wideForms.set(value, wide);
    return value;
  };
  const constant = (value: number, dtype: NumericDType): ScalarValue => {
    if (isHalf(dtype)) return half(dtype, emit('const', 'float32', [], value));
    if (isBig(dtype) && !Number.isSafeInteger(value))
      throw new InternalError(`the constant ${value} is not exact as ${dtype}`);
    return emit('const', dtype, [], value);
  };
  const cast = (x: ScalarValue, dtype: NumericDType): ScalarValue => {
    if (x.dtype === dtype) return x;
    if (isHalf(x.dtype)) return cast(widened(x), dtype);
    if (isHalf(dtype)) return half(dtype, cast(x, 'float32'));
    const from = dtypeTraits[x.dtype];
    const to = dtypeTraits[dtype];
    if (from.computesIn !== x.dtype && from.computesIn !== dtype)
      return cast(cast(x, from.computesIn as NumericDType), dtype);
    if (to.computesIn === dtype || to.computesIn === x.dtype) return emit('cast', dtype, [x]);
    let wide = cast(x, to.computesIn as NumericDType);
    // Integers wrap, floats saturate: in the wider dtype they have done so at its ends only.
    if (from.floating && to.integer) {
      wide = emit('max', wide.dtype, [wide, constant(to.low, wide.dtype)]);
      wide = emit('min', wide.dtype, [wide, constant(to.high, wide.dtype)]);
    }
    return emit('cast', dtype, [wide]);
  };
  const apply = (op: ScalarOp, args: readonly ScalarValue[]): ScalarValue => {
    const { dtype } = args[0];
    if (isHalf(dtype)) {
      const y = apply(op, args.map(widened));
      return comparisons.has(op) ? y : half(dtype, y);
    }
    const { computesIn, bytes } = dtypeTraits[dtype];
    const wide = computesIn as NumericDType;
    const result = comparisons.has(op) ? 'bool' : wide;
    if (wide === dtype) return emit(op, result, args);
    const operands = args.map((x) => cast(x, wide));
    if (shifts.has(op)) operands[1] = emit('min', wide, [operands[1], constant(8 * bytes - 1, wide)]);
    const y = emit(op, result, operands);
    return comparisons.has(op) ? y : cast(y, dtype);
  };
  const pair = (a: Operand, b: Operand): [ScalarValue, ScalarValue] => {
    if (typeof a === 'number') {
      if (typeof b === 'number') throw new InternalError('one operand must be a value of the program');
      return [constant(a, b.dtype), b];
    }
    if (typeof b === 'number') return [a, constant(b, a.dtype)];
    if (a.dtype !== b.dtype)
      throw new InternalError(`operands of ${a.dtype} and ${b.dtype} in a scalar program`);
    return [a, b];
  };
  const builder: Record<string, unknown> = {
    constant,
    cast,
    select: (c: ScalarValue, a: Operand, b: Operand) => {
      const [x, y] = pair(a, b);
      if (isHalf(x.dtype) && (wideForms.has(x) || wideForms.has(y)))
        return half(x.dtype, emit('select', 'float32', [c, widened(x), widened(y)]));
      return emit('select', x.dtype, [c, x, y]);
    },
  };
  for (const op of scalarOps) {
    if (op === 'const' || op === 'cast' || op === 'select') continue;
    builder[op] = (unaryOps as readonly ScalarOp[]).includes(op)
      ? (x: ScalarValue) => apply(op, [x])
      : (a: Operand, b: Operand) => apply(op, pair(a, b));
  }
  const values = inputs.map((dtype, id): ScalarValue => ({ id, dtype }));
  const result = body(builder as unknown as ScalarBuilder, ...values);
  const outputs = (Array.isArray(result) ? result : [result]) as readonly ScalarValue[];
  const rounded = (v: ScalarValue): ScalarValue => {
    const wide = wideForms.get(v);
    return wide === undefined ? v : emit('cast', v.dtype, [wide]);
  };
  return { inputs: [...inputs], instrs, outputs: outputs.map((v) => rounded(v).id) };
}

/** A scalar program as numbers, in the form of native/runtime/programs.h. */
export function encodeScalarProgram({ inputs, instrs, outputs }: ScalarProgram): number[] {
  const numbers = [inputs.length, ...inputs.map((dtype) => dtypeTraits[dtype].code), instrs.length];
  for (const { op, dtype, args, value } of instrs) {
    const [a = -1, b = -1, c = -1] = args;
    numbers.push(scalarOps.indexOf(op), dtypeTraits[dtype].code, a, b, c, value);
  }
  numbers.push(outputs.length, ...outputs);
  return numbers;
}

/**
 * The scalar program of such numbers.
 * @throws InternalError for numbers that `encodeScalarProgram` does not write.
 */
export function decodeScalarProgram(numbers: readonly number[]): ScalarProgram {
  let at = 0;
  const next = (): number => {
    if (at >= numbers.length) throw new InternalError('a scalar program that ends early');
    return numbers[at++];
  };
  const oneOf = <T>(list: readonly T[], what: string): T => {
    const number = next();
    const found = list[number];
    if (found === undefined) throw new InternalError(`a scalar program with ${what} ${number}`);
    return found;
  };
  const dtype = (): NumericDType => oneOf(numericDTypes, 'dtype');
  const several = <T>(read: () => T): T[] => Array.from({ length: next() }, read);
  const inputs = several(dtype);
  const instrs = several((): ScalarInstr => {
    const op = oneOf(scalarOps, 'opcode');
    const result = dtype();
    const args = [next(), next(), next()].filter((arg) => arg >= 0);
    return { op, dtype: result, args, value: next() };
  });
  const outputs = several(next);
  if (at < numbers.length)
    throw new InternalError(`a scalar program with ${numbers.length - at} numbers too many`);
  return { inputs, instrs, outputs };
}
