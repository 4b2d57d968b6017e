// Sizes that are not known yet: while a function is traced for arguments of any size, large numbers stand for them.
import {
  FailedPreconditionError,
  InvalidArgumentError,
  sameShape as shapesAreEqual,
  UnimplementedError,
} from '@eagre/backend';
import { context, override } from './context.ts';
import { isInteger } from './dtypes.ts';
import type { PartialShape, Shape } from './shape.ts';
import { knownTensor } from './symbolic.ts';
import { type Tensor, viewOf } from './tensor.ts';

/** Knows the numbers that stand for sizes in the trace that is going on. */
export interface UnknownSizes {
  /** Whether a number stands for an unknown size, or was computed from one. */
  has(size: number): boolean;
  /** Hides the unknown sizes of a tensor from code that is not the library's. */
  guard(tensor: Tensor): void;
  /** A shape whose unknown sizes are hidden so. */
  guarded<S extends PartialShape>(shape: S): S;
  /** Whether a list is such a shape. */
  hides(list: readonly unknown[]): boolean;
  /** What follows holds only where these shapes differ: to be checked for the sizes of each run. */
  differ(a: Shape, b: Shape): void;
  /** What follows holds only where no number of `a` is negative or above that of `b`. */
  within(a: Shape, b: Shape): void;
}

const state: { current: UnknownSizes | null } = { current: null };

/** From here on some numbers stand for unknown sizes. @returns what ends it. */
export function enterUnknownSizes(sizes: UnknownSizes | null): () => boolean {
  return override(state, { current: sizes });
}

/** Runs `fn` while some numbers stand for unknown sizes. */
export function withUnknownSizes<T>(sizes: UnknownSizes | null, fn: () => T): T {
  const leave = enterUnknownSizes(sizes);
  try {
    return fn();
  } finally {
    leave();
  }
}

/** Whether a number stands for an unknown size. */
export function isUnknownSize(size: number): boolean {
  return state.current?.has(size) ?? false;
}

/** Whether a shape has sizes that are not known yet. */
export function hasUnknownSizes(shape: Shape): boolean {
  return state.current !== null && shape.some(isUnknownSize);
}

/** Hides the unknown sizes of a tensor from code that is not the library's. */
export function guardSizes(tensor: Tensor): void {
  if (state.current !== null) state.current.guard(tensor);
}

/** A shape for code of users, from which unknown sizes are hidden. */
export function guardedShape<S extends PartialShape>(shape: S): S {
  return state.current === null ? shape : state.current.guarded(shape);
}

/**
 * A size that decides what is written down, such as a number of pieces.
 * @throws FailedPreconditionError for one that is not known; the function is then traced for each size.
 */
export function knownSize(size: number, op?: string): number {
  if (isUnknownSize(size)) throw new FailedPreconditionError(UNKNOWN_SIZE, op);
  return size;
}

// Inside of ops everything is decided anew for each size.
const deciding = (): UnknownSizes | null => (context.tracer === null ? null : state.current);

/**
 * A list that is taken for numbers, not for a shape.
 * @throws FailedPreconditionError for a shape with sizes that are not known.
 */
export function knownNumbers(list: readonly unknown[]): void {
  if (state.current?.hides(list) === true) throw new FailedPreconditionError(UNKNOWN_SIZE);
}

/**
 * The integers of a tensor as plain numbers, flat and row-major: how every op reads a tensor that stands in the place of a shape, axes,
 * multiples, a depth, paddings and the like. `hostIntegers(toTensor(shape), 'shape', 'Reshape')` gives the list of a shape;
 * `hostIntegers(t, 'depth', 'OneHot')[0]` a single number, and `t.rank` tells which was given. Ranks and values are for the caller to check.
 *
 * Eagerly it reads the values. While a function is traced it knows constants, and what is computed from sizes: `tf.shape(x)`, its
 * elements, sums, differences, products and exact quotients of them, lists stacked or concatenated from them. Where such a size is
 * unknown, the number is the one that stands for it in the shapes of the trace, so that it fits beside `x.shape`.
 * @param what the argument, for errors: `shape`.
 * @throws InvalidArgumentError for a tensor that holds no integers; UnimplementedError, while a function is traced, for values that are
 * known at its runs only.
 */
export function hostIntegers(x: Tensor, what: string, op: string): number[] {
  if (!isInteger(x.dtype))
    throw new InvalidArgumentError(
      `${what} is ${x.dtype} [${x.shape}], expected integers: cast it to 'int32'`,
      op,
    );
  const known = knownTensor(x);
  if (known !== null) return Array.from(viewOf(known) as ArrayLike<number | bigint>, Number);
  const sizes = context.tracer?.integers(x) ?? null;
  if (sizes !== null) return [...sizes];
  throw new UnimplementedError(
    `${what} must be known while a function is traced: the sizes of tensors do not depend on values. Numbers, constants, tf.shape(x) and ` +
      'sums, products and quotients of sizes are known; a remainder, a minimum or a value of a tensor is not. Compute it outside of the ' +
      'function and pass it as a number, or call the op outside',
    op,
  );
}

/** Whether two sizes differ, where code that is traced goes one way or another. */
export function differs(a: number, b: number): boolean {
  if (a === b) return false;
  if (state.current !== null) deciding()?.differ([a], [b]);
  return true;
}

/** Says that 0 ≤ a[i] ≤ b[i] has been found true, and has to be for the sizes of each run. */
export function within(a: Shape, b: Shape): void {
  if (state.current !== null) deciding()?.within(a, b);
}

/** Whether two shapes are equal, where what follows comes to the same if not: a short cut. */
export const shapesAgree: (a: Shape, b: Shape) => boolean = shapesAreEqual;

/** Whether two shapes are equal. */
export function sameShape(a: Shape, b: Shape): boolean {
  if (shapesAreEqual(a, b)) return true;
  if (state.current !== null && a.length === b.length) deciding()?.differ(a, b);
  return false;
}

export const UNKNOWN_SIZE: string =
  'this size is not known while the function is traced, for one trace serves all sizes; tf.shape(x) gives it as a tensor, and -1 in reshape stands for it';

/** Takes over for the trace that is going on what another one has taken for true. */
export function assumeSizes(kind: 'differ' | 'within', a: Shape, b: Shape): void {
  if (kind === 'differ') state.current?.differ(a, b);
  else state.current?.within(a, b);
}

/** What is told of unknown sizes now; null where all sizes are known. */
export function unknownSizes(): UnknownSizes | null {
  return state.current;
}
