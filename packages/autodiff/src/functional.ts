import { InvalidArgumentError, type Tensor, type TensorLike, type Variable } from '@eagre/core';
import { checkFunction, toOwnTensor } from '@eagre/core/internal';
import { GradientTape } from './tape.ts';

type Fn<A extends readonly TensorLike[]> = (...args: A) => Tensor | readonly Tensor[];
/** A gradient with its variable, as optimizers take them. */
export type GradientPair = readonly [gradient: Tensor, variable: Variable];

function differentiate<A extends readonly TensorLike[]>(
  fn: Fn<A>,
  args: A,
): [Tensor | readonly Tensor[], Tensor[]] {
  checkFunction(fn, 'what is differentiated', 'gradientsFunction');
  const inputs = args.map((a) => toOwnTensor(a));
  using tape = new GradientTape();
  tape.watch(inputs);
  const value = tape.record(() => fn(...(inputs as unknown as A)));
  return [value, tape.gradient(value, inputs, { unconnectedGradients: 'zero' })];
}

/**
 * The function that gives the gradients of `fn` with respect to each of its arguments. Applied N times it gives the N-th
 * derivative: `gradientsFunction(gradientsFunction(square))`. Several values of `fn` count as their sum.
 */
export function gradientsFunction<A extends readonly TensorLike[]>(fn: Fn<A>): (...args: A) => Tensor[] {
  return (...args) => differentiate(fn, args)[1];
}

/** `gradientsFunction` that gives the value as well. */
export function valueAndGradientsFunction<
  A extends readonly TensorLike[],
  R extends Tensor | readonly Tensor[],
>(fn: (...args: A) => R): (...args: A) => [value: R, gradients: Tensor[]] {
  return (...args) => differentiate(fn, args) as [R, Tensor[]];
}

/** The gradient of a function of one tensor. */
export function grad(fn: (x: Tensor) => Tensor): (x: TensorLike) => Tensor {
  return (x) => differentiate(fn as Fn<readonly TensorLike[]>, [x])[1][0] as Tensor;
}

/** The value and the gradient of a function of one tensor. */
export function valueAndGrad(
  fn: (x: Tensor) => Tensor,
): (x: TensorLike) => [value: Tensor, gradient: Tensor] {
  return (x) => {
    const [value, [gradient]] = differentiate(fn as Fn<readonly TensorLike[]>, [x]);
    return [value as Tensor, gradient as Tensor];
  };
}

/** The function that gives `fn`'s value and its gradients with respect to every trainable variable that it used. */
export function implicitValueAndGradients<A extends readonly unknown[]>(
  fn: (...args: A) => Tensor,
): (...args: A) => [value: Tensor, gradients: GradientPair[]] {
  return (...args) => {
    checkFunction(fn, 'what is differentiated', 'implicitGradients');
    using tape = new GradientTape();
    const value = tape.record(() => fn(...args));
    const variables = tape.watchedVariables();
    if (variables.length === 0) {
      throw new InvalidArgumentError('the function used no trainable variable', 'implicitGradients');
    }
    const grads = tape.gradient(value, variables, { unconnectedGradients: 'zero' });
    return [value, variables.map((variable, i): GradientPair => [grads[i] as Tensor, variable])];
  };
}

/** The gradients of `fn` with respect to every trainable variable that it used, ready for `optimizer.applyGradients`. */
export function implicitGradients<A extends readonly unknown[]>(
  fn: (...args: A) => Tensor,
): (...args: A) => GradientPair[] {
  const both = implicitValueAndGradients(fn);
  return (...args) => both(...args)[1];
}
