// `tf.experimental.numpy.random`.
import {
  random as core,
  type DType,
  type IntegerLike,
  InvalidArgumentError,
  type NamedFunction,
  type ShapeLike,
  type Tensor,
  type TensorLike,
} from '@eagre/core';
import { defineFunction, defineVariadic, kind } from '@eagre/core/internal';

const named = (name: string): string => `numpy.random.${name}`;
const shapeOf = (size: ShapeLike | IntegerLike | null | undefined): number[] =>
  size === null || size === undefined ? [] : ((typeof size === 'number' ? [size] : size) as number[]);
type Size = ShapeLike | IntegerLike | null;

/** Sets the global seed. */
export const seed: NamedFunction<[s: number], ['s'], unknown, void> = /* @__PURE__ */ defineFunction(
  named('seed'),
  { s: kind.asIs },
  {},
  (s) => core.setSeed(s),
);
/** Uniform numbers from 0 to 1, of the sizes that are given. */
export const rand: (...size: readonly number[]) => Tensor = /* @__PURE__ */ defineVariadic<
  (...size: readonly number[]) => Tensor
>(named('rand'), {}, 'size', {}, (size: readonly number[]): Tensor => core.uniform([...size]));
/** Numbers of mean 0 and variance 1, of the sizes that are given. */
export const randn: (...args: readonly number[]) => Tensor = /* @__PURE__ */ defineVariadic<
  (...args: readonly number[]) => Tensor
>(named('randn'), {}, 'args', {}, (args: readonly number[]): Tensor => core.normal([...args]));
/** Uniform numbers from 0 to 1. */
export const random: NamedFunction<[size?: Size], ['size']> = /* @__PURE__ */ defineFunction(
  named('random'),
  { size: kind.sizes },
  {},
  (size: Size = null) => core.uniform(shapeOf(size)),
);
/** Numbers of mean 0 and variance 1. */
export const standardNormal: NamedFunction<[size?: Size], ['size']> = /* @__PURE__ */ defineFunction(
  named('standardNormal'),
  { size: kind.sizes },
  {},
  (size: Size = null) => core.normal(shapeOf(size)),
);
/** Uniform numbers between two bounds, 0 and 1 by default. */
export const uniform: NamedFunction<
  [low?: TensorLike, high?: TensorLike, size?: Size],
  ['low', 'high', 'size']
> = /* @__PURE__ */ defineFunction(
  named('uniform'),
  { low: kind.tensor, high: kind.tensor, size: kind.sizes },
  {},
  (low: TensorLike = 0, high: TensorLike = 1, size: Size = null) =>
    core.uniform(shapeOf(size), { minval: low, maxval: high }),
);
/** Integers from `low`, and below `high`; from 0 and below `low` where `high` is not given. int64 by default. */
export const randint: NamedFunction<
  [low: number, high?: number | null, size?: Size],
  ['low', 'high', 'size'],
  {
    /** Of the integers. */
    readonly dtype?: DType;
  }
> = /* @__PURE__ */ defineFunction(
  named('randint'),
  { low: kind.asIs, high: kind.asIs, size: kind.sizes },
  { dtype: kind.asIs },
  (low, high: number | null = null, size: Size = null, { dtype = 'int64' }) => {
    const [from, to] = high === null ? [0, low] : [low, high];
    if (!Number.isSafeInteger(from) || !Number.isSafeInteger(to))
      throw new InvalidArgumentError(`expected integers, got ${from} and ${to}`, named('randint'));
    return core.uniform(shapeOf(size), { minval: from, maxval: to, dtype });
  },
);
/** Counts of a Poisson distribution. */
export const poisson: NamedFunction<[lam?: TensorLike, size?: Size], ['lam', 'size']> =
  /* @__PURE__ */ defineFunction(
    named('poisson'),
    { lam: kind.tensor, size: kind.sizes },
    {},
    (lam: TensorLike = 1, size: Size = null) => core.poisson(shapeOf(size), lam, { dtype: 'int64' }),
  );
