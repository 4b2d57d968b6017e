// Operators: those of JavaScript, and ops where a tensor is among the operands.
import {
  add as addOp,
  constant,
  div as divOp,
  equal,
  greater,
  greaterEqual,
  less,
  lessEqual,
  logicalAnd,
  logicalNot,
  mod,
  mul as mulOp,
  neg as negOp,
  notEqual,
  pow as powOp,
  sub as subOp,
  type TensorLike,
  where,
} from '@eagre/core';
import { toTensor } from '@eagre/core/internal';
import { isTensor } from './truth.ts';

/** What JavaScript's own operators take: anything, as numbers here for the compiler only. */
type Host = number;

const tensors = (a: unknown, b: unknown): boolean => isTensor(a) || isTensor(b);
const like = (v: unknown): TensorLike => v as TensorLike;

export const add = (a: unknown, b: unknown): unknown =>
  tensors(a, b) && typeof a !== 'string' && typeof b !== 'string'
    ? addOp(like(a), like(b))
    : (a as Host) + (b as Host);
export const sub = (a: unknown, b: unknown): unknown =>
  tensors(a, b) ? subOp(like(a), like(b)) : (a as Host) - (b as Host);
export const mul = (a: unknown, b: unknown): unknown =>
  tensors(a, b) ? mulOp(like(a), like(b)) : (a as Host) * (b as Host);
export const div = (a: unknown, b: unknown): unknown =>
  tensors(a, b) ? divOp(like(a), like(b)) : (a as Host) / (b as Host);
export const pow = (a: unknown, b: unknown): unknown =>
  tensors(a, b) ? powOp(like(a), like(b)) : (a as Host) ** (b as Host);
/** The remainder with the sign of a, as in JavaScript. */
export const rem = (a: unknown, b: unknown): unknown => {
  if (!tensors(a, b)) return (a as Host) % (b as Host);
  const floor = mod(like(a), like(b));
  const differs = notEqual(less(floor, 0), less(like(a), 0));
  return where(logicalAnd(notEqual(floor, 0), differs), subOp(floor, like(b)), floor);
};
export const lt = (a: unknown, b: unknown): unknown =>
  tensors(a, b) ? less(like(a), like(b)) : (a as Host) < (b as Host);
export const le = (a: unknown, b: unknown): unknown =>
  tensors(a, b) ? lessEqual(like(a), like(b)) : (a as Host) <= (b as Host);
export const gt = (a: unknown, b: unknown): unknown =>
  tensors(a, b) ? greater(like(a), like(b)) : (a as Host) > (b as Host);
export const ge = (a: unknown, b: unknown): unknown =>
  tensors(a, b) ? greaterEqual(like(a), like(b)) : (a as Host) >= (b as Host);

/** Whether == compares elements: of a tensor with a tensor or a number. Anything else is compared as an object. */
function comparable(a: unknown, b: unknown): boolean {
  const value = (v: unknown): boolean =>
    isTensor(v) || typeof v === 'number' || typeof v === 'boolean' || typeof v === 'bigint';
  return tensors(a, b) && value(a) && value(b);
}
export const eq = (a: unknown, b: unknown): unknown => (comparable(a, b) ? equal(like(a), like(b)) : a === b);
export const ne = (a: unknown, b: unknown): unknown =>
  comparable(a, b) ? notEqual(like(a), like(b)) : a !== b;
export const looseEq = (a: unknown, b: unknown): unknown =>
  // biome-ignore lint/suspicious/noDoubleEquals: it is what was written
  comparable(a, b) ? equal(like(a), like(b)) : a == b;
export const looseNe = (a: unknown, b: unknown): unknown =>
  // biome-ignore lint/suspicious/noDoubleEquals: it is what was written
  comparable(a, b) ? notEqual(like(a), like(b)) : a != b;

export const neg = (a: unknown): unknown => (isTensor(a) ? negOp(a) : -(a as Host));
export const not = (a: unknown): unknown => {
  if (!isTensor(a)) return !a;
  const x = toTensor(a);
  return x.dtype === 'bool' ? logicalNot(x) : equal(x, constant(0, x.dtype));
};

const step = (a: unknown, by: 1 | -1): unknown => {
  if (isTensor(a)) return addOp(a, by);
  if (typeof a === 'bigint') return a + BigInt(by);
  return Number(a) + by;
};
export const inc = (a: unknown): unknown => step(a, 1);
export const dec = (a: unknown): unknown => step(a, -1);
/** The value of `x++`, where `_` is x + 1. */
export const before = (a: unknown, _: unknown): unknown =>
  isTensor(a) || typeof a === 'bigint' ? a : Number(a);
