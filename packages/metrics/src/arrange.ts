import { scope, type Tensor, type TensorLike } from '@eagre/core';
import { differs, isFloating, toTensor } from '@eagre/core/internal';

/** Keras's fuzz factor, which keeps logarithms and quotients finite. */
export const EPSILON = 1e-7;

/** `x.cast(dtype)`, or `x` itself. */
export function as(x: Tensor, dtype: Tensor['dtype']): Tensor {
  return x.dtype === dtype ? x : x.cast(dtype);
}

/** Predictions as floats: integers and truth values become float32. */
export function predictions(value: TensorLike): Tensor {
  const x = toTensor(value);
  return isFloating(x.dtype) ? x : x.cast('float32');
}

/** What accompanies predictions (targets, weights), in their dtype. */
export function alike(value: TensorLike, dtype: Tensor['dtype']): Tensor {
  return as(toTensor(value, dtype), dtype);
}

/**
 * Makes up for one missing or superfluous last axis of size 1, as in `[n]` beside `[n, 1]`: what would otherwise broadcast to
 * `[n, n]`. A vector is expanded (unless told otherwise), anything else squeezed.
 */
export function sameRank(a: Tensor, b: Tensor, expandVectors = true): [Tensor, Tensor] {
  const extra = (long: Tensor, short: Tensor): [Tensor, Tensor] => {
    if (long.rank !== short.rank + 1 || differs(long.shape.at(-1) as number, 1)) return [long, short];
    return short.rank === 1 && expandVectors ? [long, short.expandDims(-1)] : [long.squeeze(-1), short];
  };
  if (a.rank > b.rank) return extra(a, b);
  const [y, x] = extra(b, a);
  return [x, y];
}

/** Axes `from` … `to` − 1. */
export function axes(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i);
}

/** `fn` in a memory scope, as the functions here are: only what they return stays. */
export function tidy<A extends readonly unknown[]>(fn: (...args: A) => Tensor): (...args: A) => Tensor {
  return (...args) => scope(() => fn(...args));
}
