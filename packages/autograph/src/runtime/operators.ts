// Operators: those of JavaScript, and ops where a tensor is among the operands.
import {
  add as addOp,
  bitwise,
  constant,
  div as divOp,
  equal,
  greater,
  greaterEqual,
  InvalidArgumentError,
  less,
  lessEqual,
  logicalAnd,
  logicalNot,
  logicalOr,
  logicalXor,
  mod,
  mul as mulOp,
  neg as negOp,
  notEqual,
  pow as powOp,
  sub as subOp,
  Tensor,
  type TensorLike,
  where,
} from '@eagre/core';
import { isFloating, toTensor } from '@eagre/core/internal';
import { bareOf, derived, mark, together } from './bare.ts';
import { isTensor } from './truth.ts';

/** What JavaScript's own operators take: anything, as numbers here for the compiler only. */
type Host = number;
type Binary = (a: unknown, b: unknown) => unknown;

const tensors = (a: unknown, b: unknown): boolean => isTensor(a) || isTensor(b);
const like = (v: unknown): TensorLike => v as TensorLike;

/** An op of two operands; of bare numbers it is one again. @param whole whether the result of integers is one. */
const arithmetic = (
  op: (a: TensorLike, b: TensorLike) => unknown,
  a: unknown,
  b: unknown,
  whole: boolean = true,
): unknown => {
  const [x, y] = together(a, b, !whole);
  return derived(op(like(x), like(y)), [x, y], whole);
};
const compared = (op: (a: TensorLike, b: TensorLike) => unknown, a: unknown, b: unknown): unknown => {
  const [x, y] = together(a, b, false);
  return op(like(x), like(y));
};

export const add = (a: unknown, b: unknown): unknown =>
  tensors(a, b) && typeof a !== 'string' && typeof b !== 'string'
    ? arithmetic(addOp, a, b)
    : (a as Host) + (b as Host);
export const sub = (a: unknown, b: unknown): unknown =>
  tensors(a, b) ? arithmetic(subOp, a, b) : (a as Host) - (b as Host);
export const mul = (a: unknown, b: unknown): unknown =>
  tensors(a, b) ? arithmetic(mulOp, a, b) : (a as Host) * (b as Host);
export const div = (a: unknown, b: unknown): unknown =>
  tensors(a, b) ? arithmetic(divOp, a, b, false) : (a as Host) / (b as Host);
export const pow = (a: unknown, b: unknown): unknown =>
  tensors(a, b) ? arithmetic(powOp, a, b, typeof b === 'number' && b >= 0) : (a as Host) ** (b as Host);
/** The remainder with the sign of a, as in JavaScript. */
export const rem = (a: unknown, b: unknown): unknown => {
  if (!tensors(a, b)) return (a as Host) % (b as Host);
  return arithmetic(remainder, a, b);
};
function remainder(a: TensorLike, b: TensorLike): unknown {
  const floor = mod(a, b);
  const differs = notEqual(less(floor, 0), less(a, 0));
  return where(logicalAnd(notEqual(floor, 0), differs), subOp(floor, b), floor);
}
export const lt = (a: unknown, b: unknown): unknown =>
  tensors(a, b) ? compared(less, a, b) : (a as Host) < (b as Host);
export const le = (a: unknown, b: unknown): unknown =>
  tensors(a, b) ? compared(lessEqual, a, b) : (a as Host) <= (b as Host);
export const gt = (a: unknown, b: unknown): unknown =>
  tensors(a, b) ? compared(greater, a, b) : (a as Host) > (b as Host);
export const ge = (a: unknown, b: unknown): unknown =>
  tensors(a, b) ? compared(greaterEqual, a, b) : (a as Host) >= (b as Host);

/** Whether == compares elements: of a tensor with a tensor or a number. Anything else is compared as an object. */
function comparable(a: unknown, b: unknown): boolean {
  const value = (v: unknown): boolean =>
    isTensor(v) || typeof v === 'number' || typeof v === 'boolean' || typeof v === 'bigint';
  return tensors(a, b) && value(a) && value(b);
}
export const eq = (a: unknown, b: unknown): unknown => (comparable(a, b) ? compared(equal, a, b) : a === b);
export const ne = (a: unknown, b: unknown): unknown =>
  comparable(a, b) ? compared(notEqual, a, b) : a !== b;
export const looseEq = (a: unknown, b: unknown): unknown =>
  // biome-ignore lint/suspicious/noDoubleEquals: it is what was written
  comparable(a, b) ? compared(equal, a, b) : a == b;
export const looseNe = (a: unknown, b: unknown): unknown =>
  // biome-ignore lint/suspicious/noDoubleEquals: it is what was written
  comparable(a, b) ? compared(notEqual, a, b) : a != b;

export const neg = (a: unknown): unknown => (isTensor(a) ? derived(negOp(a), [a], true) : -(a as Host));
export const not = (a: unknown): unknown => {
  if (!isTensor(a)) return !a;
  const x = toTensor(a);
  return x.dtype === 'bool' ? logicalNot(x) : equal(x, constant(0, x.dtype));
};

/** A tensor as it is. */
export const plus = (a: unknown): unknown => (isTensor(a) ? a : +(a as Host));

/** Bits as in JavaScript, of integers; of bools what the operators of TensorFlow do. */
const bits =
  (
    op: (a: TensorLike, b: TensorLike) => unknown,
    logical: ((a: TensorLike, b: TensorLike) => unknown) | null,
    host: (a: Host, b: Host) => Host,
  ) =>
  (a: unknown, b: unknown): unknown => {
    if (!tensors(a, b)) return host(a as Host, b as Host);
    const isBool = (v: unknown): boolean => typeof v === 'boolean' || (isTensor(v) && v.dtype === 'bool');
    return logical !== null && isBool(a) && isBool(b)
      ? logical(like(a), like(b))
      : arithmetic((x, y) => op(whole(x), whole(y)), a, b);
  };

/** A bare number, which a graph holds as a float, as an integer. */
function whole(value: TensorLike): TensorLike {
  return value instanceof Tensor && bareOf(value)?.integer === true && isFloating(value.dtype)
    ? mark(value.cast('int32'), { integer: true, met: [] })
    : value;
}
export const bitAnd: Binary = bits(bitwise.bitwiseAnd, logicalAnd, (a, b) => a & b);
export const bitOr: Binary = bits(bitwise.bitwiseOr, logicalOr, (a, b) => a | b);
export const bitXor: Binary = bits(bitwise.bitwiseXor, logicalXor, (a, b) => a ^ b);
export const shiftLeft: Binary = bits(bitwise.leftShift, null, (a, b) => a << b);
export const shiftRight: Binary = bits(bitwise.rightShift, null, (a, b) => a >> b);
/** @throws InvalidArgumentError for signed integers, whose dtype does not hold what JavaScript gives. */
export const shiftUnsigned: Binary = bits(
  (a, b) => {
    const { dtype } = toTensor(a);
    if (!dtype.startsWith('uint'))
      throw new InvalidArgumentError(
        `>>> of ${dtype} gives an unsigned number: cast or bitcast to an unsigned dtype first, or use >>`,
        'autograph',
      );
    return bitwise.rightShift(a, b);
  },
  null,
  (a, b) => a >>> b,
);
export const bitNot = (a: unknown): unknown => {
  if (!isTensor(a)) return ~(a as Host);
  return a.dtype === 'bool' ? logicalNot(a) : derived(bitwise.invert(whole(a)), [a], true);
};

const step = (a: unknown, by: 1 | -1): unknown => {
  if (isTensor(a)) return arithmetic(addOp, a, by);
  if (typeof a === 'bigint') return a + BigInt(by);
  return Number(a) + by;
};
export const inc = (a: unknown): unknown => step(a, 1);
export const dec = (a: unknown): unknown => step(a, -1);
/** The value of `x++`, where `_` is x + 1. */
export const before = (a: unknown, _: unknown): unknown =>
  isTensor(a) || typeof a === 'bigint' ? a : Number(a);
