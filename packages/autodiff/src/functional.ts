import {
  InvalidArgumentError,
  type NamedFunction,
  type Tensor,
  type TensorLike,
  type Variable,
} from '@eagre/core';
import { checkFunction, defineFunction, kind, toOwnTensor } from '@eagre/core/internal';
import { GradientTape } from './tape.ts';

type Fn<A extends readonly TensorLike[]> = (...args: A) => Tensor | readonly Tensor[];
type Any = (...args: never[]) => unknown;
/** A function of a function, as it is declared. */
type OfFunction = NamedFunction<[fn: Any], ['fn'], unknown, Any>;
/** A gradient with its variable, as optimizers take them. */
export type GradientPair = readonly [gradient: Tensor, variable: Variable];

function differentiate(
  fn: Fn<TensorLike[]>,
  args: readonly TensorLike[],
): [Tensor | readonly Tensor[], Tensor[]] {
  const inputs = args.map((a) => toOwnTensor(a));
  using tape = new GradientTape();
  tape.watch(inputs);
  const value = tape.record(() => fn(...inputs));
  return [value, tape.denseGradient(value, inputs, { unconnectedGradients: 'zero' }) as Tensor[]];
}

/** Declares a function of a function, which is checked at once. */
function define(name: string, made: (fn: never) => (...args: never) => unknown): never {
  return defineFunction<OfFunction>(name, { fn: kind.asIs }, {}, (fn) => {
    checkFunction(fn, 'fn', name);
    return made(fn as never);
  }) as never;
}

/** The one argument of a function of one tensor. */
function one(args: readonly TensorLike[], name: string): readonly TensorLike[] {
  if (args.length === 1) return args;
  throw new InvalidArgumentError(
    `the function takes one tensor, got ${args.length} arguments; for several arguments write tf.autodiff.${name === 'grad' ? 'gradientsFunction' : 'valueAndGradientsFunction'}(fn)`,
    name,
  );
}

/**
 * The function that gives the gradients of `fn` with respect to each of its arguments. Applied N times it gives the N-th
 * derivative: `gradientsFunction(gradientsFunction(square))`. Several values of `fn` count as their sum.
 */
export const gradientsFunction: {
  <A extends readonly TensorLike[]>(fn: Fn<A>): (...args: A) => Tensor[];
  <A extends readonly TensorLike[]>(options: {
    /** A function of tensors that gives a tensor. */
    readonly fn: Fn<A>;
  }): (...args: A) => Tensor[];
} = define(
  'gradientsFunction',
  (fn) =>
    (...args: TensorLike[]) =>
      differentiate(fn, args)[1],
);

/** `gradientsFunction` that gives the value as well. */
export const valueAndGradientsFunction: {
  <A extends readonly TensorLike[], R extends Tensor | readonly Tensor[]>(
    fn: (...args: A) => R,
  ): (...args: A) => [value: R, gradients: Tensor[]];
  <A extends readonly TensorLike[], R extends Tensor | readonly Tensor[]>(options: {
    /** A function of tensors that gives a tensor. */
    readonly fn: (...args: A) => R;
  }): (...args: A) => [value: R, gradients: Tensor[]];
} = define(
  'valueAndGradientsFunction',
  (fn) =>
    (...args: TensorLike[]) =>
      differentiate(fn, args),
);

/** The gradient of a function of one tensor. */
export const grad: NamedFunction<[fn: (x: Tensor) => Tensor], ['fn'], unknown, (x: TensorLike) => Tensor> =
  define(
    'grad',
    (fn) =>
      (...args: TensorLike[]) =>
        differentiate(fn, one(args, 'grad'))[1][0],
  );

/** The value and the gradient of a function of one tensor. */
export const valueAndGrad: NamedFunction<
  [fn: (x: Tensor) => Tensor],
  ['fn'],
  unknown,
  (x: TensorLike) => [value: Tensor, gradient: Tensor]
> = define('valueAndGrad', (fn) => (...args: TensorLike[]) => {
  const [value, [gradient]] = differentiate(fn, one(args, 'valueAndGrad'));
  return [value, gradient];
});

function valueAndPairs(
  fn: (...args: unknown[]) => Tensor,
  args: readonly unknown[],
): [Tensor, GradientPair[]] {
  using tape = new GradientTape();
  const value = tape.record(() => fn(...args));
  const variables = tape.watchedVariables();
  if (variables.length === 0) {
    throw new InvalidArgumentError('the function used no trainable variable', 'implicitGradients');
  }
  const grads = tape.denseGradient(value, variables, { unconnectedGradients: 'zero' }) as Tensor[];
  return [value, variables.map((variable, i): GradientPair => [grads[i], variable])];
}

/** The function that gives `fn`'s value and its gradients with respect to every trainable variable that it used. */
export const implicitValueAndGradients: {
  <A extends readonly unknown[]>(
    fn: (...args: A) => Tensor,
  ): (...args: A) => [value: Tensor, gradients: GradientPair[]];
  <A extends readonly unknown[]>(options: {
    /** A function that reads variables and gives a tensor. */
    readonly fn: (...args: A) => Tensor;
  }): (...args: A) => [value: Tensor, gradients: GradientPair[]];
} = define(
  'implicitValueAndGradients',
  (fn) =>
    (...args: unknown[]) =>
      valueAndPairs(fn, args),
);

/** The gradients of `fn` with respect to every trainable variable that it used, ready for `optimizer.applyGradients`. */
export const implicitGradients: {
  <A extends readonly unknown[]>(fn: (...args: A) => Tensor): (...args: A) => GradientPair[];
  <A extends readonly unknown[]>(options: {
    /** A function that reads variables and gives a tensor. */
    readonly fn: (...args: A) => Tensor;
  }): (...args: A) => GradientPair[];
} = define(
  'implicitGradients',
  (fn) =>
    (...args: unknown[]) =>
      valueAndPairs(fn, args)[1],
);
