// Scalar programs as text of the subset.
import {
  type DType,
  halfBits,
  isHalf,
  type NumericDType,
  type ScalarInstr,
  type ScalarOp,
  type ScalarProgram,
} from '@eagre/backend';
import { narrowFunctions } from '../language/syntax.ts';
import { bytesOf, raise } from './kernel.ts';

/** The type of the values of a dtype inside of a program; undefined for dtypes that GPUs do not have. */
export function valueType(dtype: NumericDType): 'f32' | 'i32' | 'u32' | 'bool' | undefined {
  switch (dtype) {
    case 'float32':
      return 'f32';
    case 'int32':
    case 'int8':
    case 'int16':
    case 'uint16':
      return 'i32';
    // Floats of 16 bits are their bits: programs only move and cast them.
    case 'uint8':
    case 'uint32':
    case 'float16':
    case 'bfloat16':
      return 'u32';
    case 'bool':
      return 'bool';
    default:
      return undefined;
  }
}

/** The element type of a buffer of a dtype of `valueType`. */
export function bufferType(dtype: NumericDType): 'f32' | 'i32' | 'u32' {
  if (dtype === 'float32') return 'f32';
  return dtype === 'int32' ? 'i32' : 'u32';
}

/** The dtypes of floats that kernels compute with, in f32. */
export const floats: readonly NumericDType[] = ['float32', 'float16', 'bfloat16'];

/** Whether kernels compute with a dtype in f32. */
export function isFloat(dtype: DType): boolean {
  return floats.includes(dtype as NumericDType);
}

/** The element type of a buffer whose elements kernels read and write as f32. */
export function floatType(dtype: DType): 'f32' | 'float16' | 'bfloat16' {
  return isHalf(dtype) ? dtype : 'f32';
}

/** Buffers of a kernel of float32, for tensors of another dtype of floats. */
export function ofFloats(
  dtype: DType,
  buffers: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(buffers).map(([name, type]) => [name, type.replace('f32', floatType(dtype))]),
  );
}

/** A value of f32 as it is when it was stored with so many bits. */
export function rounded(value: string, dtype: DType): string {
  if (!isHalf(dtype)) return value;
  const { load, store } = narrowFunctions[dtype];
  return `${load}(${store}(${value}))`;
}

/** The value of a dtype of what `rawLoad` reads, or what a buffer of `bufferType` holds. */
export function decode(raw: string, dtype: NumericDType): string {
  switch (dtype) {
    case 'bool':
      return `(${raw} != 0u)`;
    case 'int8':
      return `(bitcast<i32>(${raw} << 24u) >> 24u)`;
    case 'int16':
      return `(bitcast<i32>(${raw} << 16u) >> 16u)`;
    case 'uint16':
      return `bitcast<i32>(${raw})`;
    default:
      return raw;
  }
}

/** What a buffer stores of a value: the element, or the bits of one that is smaller than a word. */
export function encode(value: string, dtype: NumericDType): string {
  if (dtype === 'bool') return `select(0u, 1u, ${value})`;
  return bytesOf(dtype) < 4 && valueType(dtype) === 'i32' ? `bitcast<u32>(${value})` : value;
}

/** What an operation makes of its operands. */
type Text = (a: string, b: string) => string;
type Texts = Partial<Record<ScalarOp, Text>>;
/** The operations that kernels beside scalar programs use too. */
export type Binary = 'add' | 'sub' | 'mul' | 'min' | 'max';

const floatOps: Texts & Record<Binary, Text> = {
  neg: (a) => `fNeg(${a})`,
  abs: (a) => `fAbs(${a})`,
  sign: (a) => `fSign(${a})`,
  floor: (a) => `fCopySign(floor(${a}), ${a})`,
  ceil: (a) => `fCopySign(ceil(${a}), ${a})`,
  round: (a) => `fRound(${a})`,
  sqrt: (a) => `fSqrt(${a})`,
  rsqrt: (a) => `fRsqrt(${a})`,
  isNaN: (a) => `isNaN(${a})`,
  isInf: (a) => `isInf(${a})`,
  isFinite: (a) => `isFinite(${a})`,
  add: (a, b) => `(${a} + ${b})`,
  sub: (a, b) => `(${a} - ${b})`,
  mul: (a, b) => `(${a} * ${b})`,
  div: (a, b) => `fDiv(${a}, ${b})`,
  floorDiv: (a, b) => `fFloorDiv(${a}, ${b})`,
  mod: (a, b) => `fMod(${a}, ${b})`,
  pow: (a, b) => `fPow(${a}, ${b})`,
  min: (a, b) => `fMin(${a}, ${b})`,
  max: (a, b) => `fMax(${a}, ${b})`,
  atan2: (a, b) => `fAtan2(${a}, ${b})`,
};
for (const op of [
  'exp',
  'expm1',
  'log',
  'log1p',
  'sin',
  'cos',
  'tan',
  'asin',
  'acos',
  'atan',
  'sinh',
  'cosh',
  'tanh',
  'asinh',
  'acosh',
  'atanh',
  'sigmoid',
  'softplus',
  'erf',
  'erfc',
  'erfinv',
] as const)
  floatOps[op] = (a) => `f${op[0].toUpperCase()}${op.slice(1)}(${a})`;

const finiteOps = {
  isNaN: () => 'false',
  isInf: () => 'false',
  isFinite: () => 'true',
} satisfies Texts;

const wholeOps = {
  ...finiteOps,
  floor: (a) => a,
  ceil: (a) => a,
  round: (a) => a,
  min: (a, b) => `min(${a}, ${b})`,
  max: (a, b) => `max(${a}, ${b})`,
  bitAnd: (a, b) => `(${a} & ${b})`,
  bitOr: (a, b) => `(${a} | ${b})`,
  bitXor: (a, b) => `(${a} ^ ${b})`,
} satisfies Texts;

const intOps: Texts & Record<Binary, Text> = {
  ...wholeOps,
  neg: (a) => `iNeg(${a})`,
  abs: (a) => `iAbs(${a})`,
  sign: (a) => `iSign(${a})`,
  add: (a, b) => `iAdd(${a}, ${b})`,
  sub: (a, b) => `iSub(${a}, ${b})`,
  mul: (a, b) => `iMul(${a}, ${b})`,
  div: (a, b) => `iDiv(${a}, ${b})`,
  floorDiv: (a, b) => `iFloorDiv(${a}, ${b})`,
  mod: (a, b) => `iMod(${a}, ${b})`,
  pow: (a, b) => `iPow(${a}, ${b})`,
  bitNot: (a) => `(~${a})`,
  shiftLeft: (a, b) => `iShl(${a}, ${b})`,
  shiftRight: (a, b) => `iShr(${a}, ${b})`,
};

const byte = (e: string): string => `(${e} & 255u)`;
const byteOps: Texts = {
  ...wholeOps,
  neg: (a) => byte(`(0u - ${a})`),
  abs: (a) => a,
  sign: (a) => `min(${a}, 1u)`,
  add: (a, b) => byte(`(${a} + ${b})`),
  sub: (a, b) => byte(`(${a} - ${b})`),
  mul: (a, b) => byte(`(${a} * ${b})`),
  div: (a, b) => `uDiv(${a}, ${b})`,
  floorDiv: (a, b) => `uDiv(${a}, ${b})`,
  mod: (a, b) => `uRem(${a}, ${b})`,
  pow: (a, b) => byte(`uPow(${a}, ${b})`),
  bitNot: (a) => byte(`(~${a})`),
  shiftLeft: (a, b) => byte(`uShl(${a}, ${b})`),
  shiftRight: (a, b) => `uShr(${a}, ${b})`,
};

const boolOps: Texts = {
  not: (a) => `(!${a})`,
  and: (a, b) => `(${a} && ${b})`,
  or: (a, b) => `(${a} || ${b})`,
  xor: (a, b) => `(${a} != ${b})`,
  eq: (a, b) => `(${a} == ${b})`,
  ne: (a, b) => `(${a} != ${b})`,
  lt: (a, b) => `(!${a} && ${b})`,
  le: (a, b) => `(!${a} || ${b})`,
  gt: (a, b) => `(${a} && !${b})`,
  ge: (a, b) => `(${a} || !${b})`,
  ...finiteOps,
};

/** An operation on floats, or on integers that wrap, as an expression. */
export function binary(op: Binary, type: 'f32' | 'i32'): Text {
  return (type === 'f32' ? floatOps : intOps)[op];
}

const signs: Partial<Record<ScalarOp, string>> = { eq: '==', ne: '!=', lt: '<', le: '<=', gt: '>', ge: '>=' };

/** Comparisons of floats, right for NaN whatever the compiler assumes. */
function compareFloats(op: ScalarOp, a: string, b: string): string {
  const ordered = `!isNaN(${a}) && !isNaN(${b})`;
  if (op === 'ne') return `(isNaN(${a}) || isNaN(${b}) || ${a} != ${b})`;
  return `(${ordered} && ${a} ${signs[op]} ${b})`;
}

/** A number of a dtype as an expression. */
export function literal(value: number, dtype: NumericDType): string {
  const type = valueType(dtype);
  if (type === 'bool') return value !== 0 ? 'true' : 'false';
  if (type === 'u32') return `${Math.min(Math.max(Math.trunc(value) || 0, 0), 0xffffffff)}u`;
  if (type === 'i32') {
    const whole = Math.min(Math.max(Math.trunc(value) || 0, -(2 ** 31)), 2 ** 31 - 1);
    return whole === -(2 ** 31) ? '(-2147483647 - 1)' : whole < 0 ? `(${whole})` : `${whole}`;
  }
  return float(value);
}

/** A float32 as an expression; what no constant of WGSL may be is made from its bits, in a function. */
export function float(value: number): string {
  const x = Math.fround(value);
  if (Number.isNaN(x)) return 'fNaN()';
  if (x === Infinity) return 'fInf()';
  if (x === -Infinity) return 'fNeg(fInf())';
  if (Object.is(x, -0)) return 'fNeg(0.0)';
  const text = Math.abs(x) < 1e-6 || Math.abs(x) >= 1e15 ? x.toExponential() : String(x);
  const whole = /[.e]/.test(text) ? text : `${text}.0`;
  return x < 0 ? `(${whole})` : whole;
}

/** `a` of one dtype as a value of another; undefined where GPUs cannot. */
function cast(a: string, from: NumericDType, to: NumericDType): string | undefined {
  if (from === to) return a;
  const [f, t] = [valueType(from), valueType(to)];
  if (f === undefined || t === undefined) return undefined;
  if (isHalf(from)) {
    const wide = from === 'float16' ? `halfToF(${a})` : `bfloatToF(${a})`;
    return to === 'float32' ? wide : undefined;
  }
  if (isHalf(to)) {
    if (from !== 'float32') return undefined;
    return to === 'float16' ? `fToHalf(${a})` : `fToBfloat(${a})`;
  }
  // Those are computed in int64.
  if (from === 'uint32' || to === 'uint32') return undefined;
  if (to === 'bool')
    return f === 'f32' ? `(isNaN(${a}) || ${a} != 0.0)` : `(${a} != ${f === 'u32' ? '0u' : '0'})`;
  if (from === 'bool') return `select(${literal(0, to)}, ${literal(1, to)}, ${a})`;
  switch (to) {
    case 'float32':
      return `f32(${a})`;
    case 'uint8':
      return f === 'f32' ? `fToByte(${a})` : byte(`bitcast<u32>(${a})`);
    case 'int32':
      return f === 'f32' ? `fToI(${a})` : f === 'u32' ? `bitcast<i32>(${a})` : a;
    case 'int8':
      return f === 'i32' ? `(bitcast<i32>(bitcast<u32>(${a}) << 24u) >> 24u)` : undefined;
    case 'int16':
      return f === 'i32' ? `(bitcast<i32>(bitcast<u32>(${a}) << 16u) >> 16u)` : undefined;
    case 'uint16':
      return f === 'i32' ? `(${a} & 65535)` : undefined;
    default:
      return undefined;
  }
}

const dividing = new Set<ScalarOp>(['div', 'floorDiv', 'mod']);

/** Statements that compute what a program does, with a variable `v${number}` for each value; its inputs are there before. */
export interface ScalarText {
  readonly text: string;
  /** Whether it notes faults, so that the kernel needs the binding `fault`. */
  readonly mayFail: boolean;
}

/**
 * What a program may do with integers and floats of 64 bits, of which each is two words, `v${number}` and `h${number}` above it: nothing; choose
 * between them, and cast them from and to 32 bits; or compute with the integers too.
 */
type WideUse = 'none' | 'moved' | 'computed';

/** A program as statements; undefined where GPUs lack a dtype or a function that it uses. */
export function scalarText(
  { inputs, instrs, outputs }: ScalarProgram,
  wide: WideUse = 'none',
): ScalarText | undefined {
  const isServed = (dtype: NumericDType): boolean =>
    valueType(dtype) !== undefined || (wide !== 'none' && isWide(dtype));
  if (!inputs.every(isServed)) return undefined;
  const dtypes: NumericDType[] = [...inputs, ...instrs.map(({ dtype }) => dtype)];
  const needed = needs(inputs.length, instrs, outputs);
  const lines: string[] = [];
  let mayFail = false;
  for (const [i, instr] of instrs.entries()) {
    const { op, dtype, args, value } = instr;
    const id = inputs.length + i;
    if (!needed.has(id)) continue;
    if (!isServed(dtype)) return undefined;
    const names = args.map((arg) => `v${arg}`);
    const from = args.length === 0 ? dtype : dtypes[args[0]];
    if (isWide(dtype) || isWide(from)) {
      const text = wideInstruction(instr, from, id, wide === 'computed');
      if (text === undefined) return undefined;
      lines.push(text);
      continue;
    }
    const type = valueType(dtype);
    if ((from === 'int32' || from === 'uint8') && type !== 'bool') {
      const zero = from === 'int32' ? '0' : '0u';
      if (dividing.has(op)) lines.push(`if (${names[1]} == ${zero}) { ${raise(2)} }`);
      if (op === 'pow' && from === 'int32') lines.push(`if (${names[1]} < 0) { ${raise(3)} }`);
      mayFail ||= dividing.has(op) || (op === 'pow' && from === 'int32');
    }
    const expression = instruction(op, dtype, from, names, value);
    if (expression === undefined) return undefined;
    lines.push(`let v${id}: ${type} = ${expression};`);
  }
  return { text: lines.join('\n'), mayFail };
}

/** Whether values are two words. */
export function isWide(dtype: DType): boolean {
  return dtype === 'int64' || dtype === 'float64';
}

/** Declares the words of a value of 64 bits. */
export function words(id: number, [low, high]: Words): string {
  return `let v${id}: u32 = ${low}; let h${id}: u32 = ${high};`;
}

type Words = readonly [low: string, high: string];

/** The words of one value or, where `test` is true, of another. */
function choose(test: string, x: number, y: number): Words {
  return [`select(v${x}, v${y}, ${test})`, `select(h${x}, h${y}, ${test})`];
}

function bitwise(op: string): (a: number, b: number) => Words {
  return (a, b) => [`(v${a} ${op} v${b})`, `(h${a} ${op} h${b})`];
}

function longLess(a: number, b: number): string {
  return `longLess(v${a}, h${a}, v${b}, h${b})`;
}

const longOps: Partial<Record<ScalarOp, (a: number, b: number) => Words>> = {
  neg: (a) => [`(0u - v${a})`, `longNegHigh(v${a}, h${a})`],
  abs: (a) => [
    `select(v${a}, 0u - v${a}, h${a} > 0x7fffffffu)`,
    `select(h${a}, longNegHigh(v${a}, h${a}), h${a} > 0x7fffffffu)`,
  ],
  sign: (a) => [`((0u - (h${a} >> 31u)) | u32((v${a} | h${a}) != 0u))`, `(0u - (h${a} >> 31u))`],
  add: (a, b) => [`(v${a} + v${b})`, `(h${a} + h${b} + u32(v${a} + v${b} < v${a}))`],
  sub: (a, b) => [`(v${a} - v${b})`, `(h${a} - h${b} - u32(v${a} < v${b}))`],
  mul: (a, b) => [`(v${a} * v${b})`, `(mulHigh(v${a}, v${b}) + v${a} * h${b} + h${a} * v${b})`],
  min: (a, b) => choose(longLess(a, b), b, a),
  max: (a, b) => choose(longLess(a, b), a, b),
  bitAnd: bitwise('&'),
  bitOr: bitwise('|'),
  bitXor: bitwise('^'),
  bitNot: (a) => [`(~v${a})`, `(~h${a})`],
};

const longTests: Partial<Record<ScalarOp, (a: number, b: number) => string>> = {
  eq: (a, b) => `(v${a} == v${b} && h${a} == h${b})`,
  ne: (a, b) => `(v${a} != v${b} || h${a} != h${b})`,
  lt: longLess,
  le: (a, b) => `!${longLess(b, a)}`,
  gt: (a, b) => longLess(b, a),
  ge: (a, b) => `!${longLess(a, b)}`,
};

/** The statements of an instruction on values of 64 bits; undefined where GPUs lack it. */
function wideInstruction(
  { op, dtype, args, value }: ScalarInstr,
  from: NumericDType,
  id: number,
  computes: boolean,
): string | undefined {
  const [a, b, c] = args;
  let made: Words | undefined;
  if (op === 'const') {
    if (dtype === 'int64' && !Number.isSafeInteger(value)) return undefined;
    const bits = dtype === 'float64' ? Float64Array.of(value) : BigInt64Array.of(BigInt(value));
    const [low, high] = new Uint32Array(bits.buffer);
    made = [`${low}u`, `${high}u`];
  } else if (op === 'select') made = choose(`v${a}`, c, b);
  else if (op === 'cast') {
    if (!isWide(dtype)) {
      const narrow = ofWide(a, from, dtype);
      return narrow && `let v${id}: ${valueType(dtype)} = ${narrow};`;
    }
    made = from === dtype ? [`v${a}`, `h${a}`] : toWide(`v${a}`, from, dtype);
  } else if (computes && from === 'int64') {
    const test = longTests[op]?.(a, b);
    if (test !== undefined) return `let v${id}: bool = ${test};`;
    made = longOps[op]?.(a, b);
  }
  return made && words(id, made);
}

function toWide(a: string, from: NumericDType, to: NumericDType): Words | undefined {
  const type = isHalf(from) ? undefined : valueType(from);
  if (to === 'float64') return from === 'float32' ? [`doubleLow(${a})`, `doubleHigh(${a})`] : undefined;
  if (type === 'f32') return [`fToLongLow(${a})`, `fToLongHigh(${a})`];
  if (type === 'i32') return [`bitcast<u32>(${a})`, `bitcast<u32>(${a} >> 31u)`];
  return type && [`u32(${a})`, '0u'];
}

function ofWide(a: number, from: NumericDType, to: NumericDType): string | undefined {
  const type = isHalf(to) ? undefined : valueType(to);
  if (from === 'float64') return type === 'f32' ? `doubleToF(v${a}, h${a})` : undefined;
  if (type === 'bool') return `((v${a} | h${a}) != 0u)`;
  if (type === 'f32') return `longToF(v${a}, h${a})`;
  if (to === 'uint32') return `v${a}`;
  // Their lowest bits, as those of the lower word.
  return type && cast(`bitcast<i32>(v${a})`, 'int32', to);
}

/** The values that the outputs follow from. */
function needs(first: number, instrs: readonly ScalarInstr[], outputs: readonly number[]): Set<number> {
  const needed = new Set(outputs);
  for (let i = instrs.length - 1; i >= 0; i--)
    if (needed.has(first + i)) for (const arg of instrs[i].args) needed.add(arg);
  return needed;
}

function instruction(
  op: ScalarOp,
  dtype: NumericDType,
  from: NumericDType,
  [a, b, c]: readonly string[],
  value: number,
): string | undefined {
  if (op === 'const') {
    if (isHalf(dtype)) return `${halfBits(value, dtype)}u`;
    return dtype === 'uint32' ? undefined : literal(value, dtype);
  }
  if (op === 'cast') return cast(a, from, dtype);
  if (op === 'select') return `select(${c}, ${b}, ${a})`;
  switch (from) {
    case 'float32':
      return signs[op] === undefined ? floatOps[op]?.(a, b) : compareFloats(op, a, b);
    case 'int32':
    case 'uint8':
      if (signs[op] !== undefined) return `(${a} ${signs[op]} ${b})`;
      return (from === 'int32' ? intOps : byteOps)[op]?.(a, b);
    case 'bool':
      return boolOps[op]?.(a, b);
    default:
      return undefined;
  }
}
