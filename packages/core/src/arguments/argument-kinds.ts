// How arguments that are integers are read: sizes, shapes, axes. They may be tensors, as in TensorFlow.
import { InvalidArgumentError } from '@eagre/backend';
import { CompositeTensor } from '../composite/composite.ts';
import { context } from '../dispatch/context.ts';
import { knownTensor } from '../dispatch/symbolic.ts';
import { type Dim, isExpression, mayBeOpen } from '../shapes/dim.ts';
import { dimsOf, hasUnknown, toShape } from '../shapes/dims.ts';
import { showShape } from '../shapes/shape.ts';
import { knownDim } from '../shapes/shape-env.ts';
import { hostDims } from '../shapes/sizes.ts';
import { checkDType } from '../tensor/dtypes.ts';
import { Tensor } from '../tensor/tensor.ts';
import { Variable } from '../tensor/variable.ts';
import type { Kind } from './arguments.ts';
import { shown } from './checks.ts';
import { isPlain } from './plain.ts';

export { asIs, optional, structure, tensor } from './arguments.ts';

/** An integer: a number, a bigint, or an integer scalar such as `tf.shape(x).at(0)`. */
export type IntegerLike = number | bigint | Tensor | Variable;
/** Several integers: a list of them, or one tensor of rank 1. */
export type IntegersLike = readonly IntegerLike[] | Tensor | Variable;
/** A shape: a list of integers, some or all of which may be tensors, or one tensor such as `tf.shape(x)`. */
export type ShapeLike = IntegersLike;
/** Pairs of integers: a list of pairs, or one tensor [n, 2]. */
export type PairsLike = readonly (readonly [before: IntegerLike, after: IntegerLike])[] | Tensor | Variable;
/** An axis, several, or all (`null`). Negative axes count from the end. */
export type AxisLike = IntegerLike | IntegersLike | null;

const isTensor = (value: unknown): value is Tensor | Variable =>
  !isPlain(value) && (value instanceof Tensor || value instanceof Variable);

const dimsIn = (x: Tensor | Variable, what: string, op: string): Dim[] =>
  hostDims(x instanceof Variable ? x.taken() : x, what, op);
const numbersOf = (x: Tensor | Variable, what: string, op: string): number[] =>
  dimsIn(x, what, op).map(knownDim);

function integerOf(value: unknown, what: string, op: string): unknown {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  if (!isTensor(value)) {
    // Others, such as numbers in strings, are left to the function's own checks.
    if (
      typeof value === 'symbol' ||
      typeof value === 'function' ||
      (typeof value === 'object' && value !== null)
    )
      throw new InvalidArgumentError(`${what} must be an integer, got ${shown(value)}`, op);
    return value;
  }
  if (value.rank !== 0) {
    throw new InvalidArgumentError(
      `${what} is a tensor of shape ${showShape(value.shape)}, expected a scalar`,
      op,
    );
  }
  return numbersOf(value, what, op)[0];
}

/** One integer, of which sizes need not be known. */
function dimIn(value: unknown, what: string, op: string): unknown {
  if (isExpression(value)) return value;
  if (typeof value === 'string')
    throw new InvalidArgumentError(`${what} must be an integer, got ${shown(value)}`, op);
  return isTensor(value) && value.rank === 0 ? dimsIn(value, what, op)[0] : integerOf(value, what, op);
}

/** Lists as lists of numbers; what is neither list nor tensor is left to the function's own checks. */
function readIntegers(value: unknown, what: string, op: string): unknown {
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      if (typeof value[i] !== 'number')
        return value.map((item: unknown, at) => integerOf(item, `${what}[${at}]`, op));
    }
    return value;
  }
  if (ArrayBuffer.isView(value)) return Array.from(value as Int32Array, Number);
  if (!isTensor(value)) {
    if (typeof value === 'function' || value instanceof CompositeTensor)
      throw new InvalidArgumentError(`${what} must be a list of integers, got ${shown(value)}`, op);
    return value;
  }
  if (value.rank !== 1) {
    throw new InvalidArgumentError(
      `${what} is a tensor of shape ${showShape(value.shape)}, expected one of rank 1`,
      op,
    );
  }
  return numbersOf(value, what, op);
}

const integerOrIntegers = (value: unknown, what: string, op: string): unknown =>
  Array.isArray(value) || ArrayBuffer.isView(value) || (isTensor(value) && value.rank > 0)
    ? readIntegers(value, what, op)
    : integerOf(value, what, op);

function areNumbers(list: readonly unknown[]): boolean {
  for (let i = 0; i < list.length; i++) if (typeof list[i] !== 'number') return false;
  return true;
}

/** One integer. */
export const integer: { readonly read: typeof integerOf } = { read: integerOf };
/** A list of integers. */
export const integers: Kind = { read: readIntegers };
/** A list of sizes, some of which may not be known: see `dimsOf`. */
export const shape: Kind = {
  read(value, what, op) {
    if (Array.isArray(value)) {
      if (areNumbers(dimsOf(value))) return value;
      // A shape that is handed on.
      if (hasUnknown(value as number[])) return toShape(value as number[]);
      if (!value.some(isTensor)) return readIntegers(value, what, op);
      return toShape(value.map((item: unknown, at) => dimIn(item, `${what}[${at}]`, op)) as Dim[]);
    }
    if (!isTensor(value) || value.rank !== 1) return readIntegers(value, what, op);
    return toShape(dimsIn(value, what, op));
  },
};
/** As `shape`; a tensor of rank 1 where only a run knows its integers, which may be -1. */
export const openShape: Kind = {
  read(value, what, op) {
    const tensor = isTensor(value) && value.rank === 1 ? ofRun(value, what, op) : null;
    const isOpen = tensor !== null && (context.tracer?.integers(tensor)?.some(mayBeOpen) ?? true);
    return isOpen ? tensor : shape.read?.(value, what, op);
  },
};
/** A number, or a list of sizes. */
export const sizes: Kind = {
  read: (value, what, op) =>
    Array.isArray(value) || (isTensor(value) && value.rank > 0)
      ? shape.read?.(value, what, op)
      : dimIn(value, what, op),
};
/** A number, or a list of sizes as `openShape` has them. */
export const openSizes: Kind = {
  read: (value, what, op) =>
    isTensor(value) && value.rank > 0 ? openShape.read?.(value, what, op) : sizes.read?.(value, what, op),
};
/** A size, which may not be known. */
export const size: Kind = { read: dimIn };
/** One axis. */
export const axis: Kind = { read: integerOf };
/** An axis, several, or all. */
export const axes: Kind = { read: integerOrIntegers };
/** An integer, or a list of them. */
export const oneOrMore: Kind = { read: integerOrIntegers };
/** The tensor that a value is, if only a run knows its integers; null for others. */
function ofRun(value: unknown, what: string, op: string): Tensor | null {
  if (!isTensor(value)) return null;
  const t = value instanceof Variable ? value.taken() : value;
  if (knownTensor(t) !== null) return null;
  checkDType(t.dtype, 'integer', what, op);
  if (t.rank > 1)
    throw new InvalidArgumentError(
      `${what} is a tensor of shape ${showShape(t.shape)}, expected one of rank 1`,
      op,
    );
  return t;
}
/** An integer, or a list of them; a tensor, or tensors in the list, where only a run knows them. */
export const runIntegers: Kind = {
  read(value, what, op) {
    if (!Array.isArray(value)) return ofRun(value, what, op) ?? integerOrIntegers(value, what, op);
    return value.map((item: unknown, at) => {
      const name = `${what}[${at}]`;
      return ofRun(item, name, op) ?? integerOf(item, name, op);
    });
  },
};
/** How often: a size for all, or several integers as `runIntegers` has them. */
export const repeats: Kind = {
  read: (value, what, op) =>
    Array.isArray(value) || ArrayBuffer.isView(value) || (isTensor(value) && value.rank > 0)
      ? runIntegers.read?.(value, what, op)
      : dimIn(value, what, op),
};
/** How many axes of two tensors belong together, or which: two lists, or a tensor [2, n]. */
export const axisLists: Kind = {
  read(value, what, op) {
    if (Array.isArray(value))
      return value.map((list: unknown, i) => integerOrIntegers(list, `${what}[${i}]`, op));
    if (!isTensor(value) || value.rank !== 2) return integerOf(value, what, op);
    const numbers = numbersOf(value, what, op);
    const n = value.shape[1];
    return Array.from({ length: value.shape[0] }, (_, i) => numbers.slice(n * i, n * (i + 1)));
  },
};
/** Pairs of sizes, which may not be known: a list of lists, or a tensor [n, 2]. */
export const pairs: Kind = {
  read(value, what, op) {
    if (Array.isArray(value)) return value.map((pair: unknown, i) => shape.read?.(pair, `${what}[${i}]`, op));
    if (!isTensor(value)) return value;
    if (value.rank !== 2 || value.shape[1] !== 2) {
      throw new InvalidArgumentError(
        `${what} is a tensor of shape ${showShape(value.shape)}, expected [n, 2]`,
        op,
      );
    }
    const sizes = dimsIn(value, what, op);
    return Array.from({ length: value.shape[0] }, (_, i) => toShape(sizes.slice(2 * i, 2 * i + 2)));
  },
};
/** A list of tensors, or of values for them. */
export const tensors: Kind = { list: true };
