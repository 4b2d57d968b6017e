import { InvalidArgumentError, type Shape, scope, type Tensor, type TensorLike } from '@eagre/core';
import {
  broadcastDims,
  type Dims,
  defineFunction,
  dimsOf,
  endsInOne,
  isFloating,
  type NamedFunction,
  type OptionNames,
  showShape,
  toTensor,
} from '@eagre/core/internal';

/** `x.cast(dtype)`, or `x` itself. */
export function as(x: Tensor, dtype: Tensor['dtype']): Tensor {
  return x.dtype === dtype ? x : x.cast(dtype);
}

/** The precision to add up many values in: at least 32 bits. */
export const wideDType = (dtype: Tensor['dtype']): Tensor['dtype'] =>
  dtype === 'float16' || dtype === 'bfloat16' ? 'float32' : dtype;

/** Predictions as they are. @throws InvalidArgumentError when there are none. */
export function given(yPred: TensorLike): Tensor {
  if (yPred === undefined || yPred === null) {
    throw new InvalidArgumentError(`the predictions are ${yPred}; losses and metrics take (yTrue, yPred)`);
  }
  return toTensor(yPred);
}

/** Predictions as floats: integers and truth values become float32. @throws InvalidArgumentError when there are none. */
export function predictions(yPred: TensorLike): Tensor {
  const x = given(yPred);
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
    if (long.rank !== short.rank + 1 || !endsInOne(long)) return [long, short];
    return short.rank === 1 && expandVectors ? [long, short.expandDims(-1)] : [long.squeeze(-1), short];
  };
  if (a.rank > b.rank) return extra(a, b);
  const [y, x] = extra(b, a);
  return [x, y];
}

/** Whether arrays of these shapes broadcast. */
export function fits(a: Shape, b: Shape): boolean {
  const [long, short] = (a.length >= b.length ? [a, b] : [b, a]).map(dimsOf) as [Dims, Dims];
  return short.every((d, i) => {
    const other = long[i + long.length - short.length];
    return broadcastDims(d, other) !== null;
  });
}

/** @throws InvalidArgumentError when one does not broadcast to the other. */
export function checkFit(yTrue: Tensor, yPred: Tensor): void {
  if (fits(yTrue.shape, yPred.shape)) return;
  throw new InvalidArgumentError(
    `the targets ${showShape(yTrue.shape)} do not match the predictions ${showShape(yPred.shape)}`,
  );
}

/** Axes `from` … `to` − 1. */
export function axes(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i);
}

/** A function of targets and predictions that gives a number for each example. */
export type ExampleFunction<O = object> = NamedFunction<
  [yTrue: TensorLike, yPred: TensorLike],
  ['yTrue', 'yPred'],
  O
>;

/**
 * Declares a function of targets and predictions. It runs in a memory scope: only what it returns stays.
 * @param name as messages call it
 */
export function defineExampleFunction<O extends object>(
  name: string,
  options: NoInfer<OptionNames<O>>,
  compute: (yTrue: TensorLike, yPred: TensorLike, options: O) => Tensor,
): ExampleFunction<O> {
  return defineFunction<ExampleFunction<object>>(
    name,
    { yTrue: true, yPred: true },
    options as object,
    (yTrue, yPred, given) => scope(() => compute(yTrue, yPred, given as O)),
  ) as ExampleFunction<O>;
}
