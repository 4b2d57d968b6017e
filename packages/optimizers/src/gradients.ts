// The arguments of applyGradients.
import {
  FailedPreconditionError,
  InvalidArgumentError,
  type Tensor,
  type TensorLike,
  type Variable,
} from '@eagre/core';
import { isPlain, sameShape, shown, showShape, toTensor } from '@eagre/core/internal';

/** A gradient with its variable. */
export type GradientAndVariable = readonly [gradient: TensorLike | null | undefined, variable: Variable];

/** @internal A checked gradient with its variable. */
export interface Update {
  readonly gradient: Tensor;
  readonly variable: Variable;
}

/**
 * Gradients with their variables, of both forms of arguments: two lists, or one of pairs.
 * @throws InvalidArgumentError for something else, and for lists of different lengths
 */
export function pairsOf(
  first: Iterable<unknown>,
  second: Iterable<Variable> | undefined,
  optimizer: string,
): GradientAndVariable[] {
  const list = (given: Iterable<unknown>): unknown[] => {
    // A tensor is iterable, too.
    if (typeof given === 'object' && given !== null && Symbol.iterator in given && !('dtype' in given))
      return [...given];
    throw new InvalidArgumentError(
      'applyGradients takes a list of gradients and one of variables, or a list of pairs [gradient, variable]',
      optimizer,
    );
  };
  if (second === undefined) {
    const pairs = list(first);
    const wrong = pairs.findIndex((pair) => !Array.isArray(pair) || pair.length !== 2);
    if (wrong >= 0)
      throw new InvalidArgumentError(
        `expected pairs [gradient, variable], or applyGradients(gradients, variables), got ${shown(pairs[wrong])} in the list`,
        optimizer,
      );
    return pairs as GradientAndVariable[];
  }
  const [gradients, variables] = [list(first), list(second) as Variable[]];
  if (gradients.length !== variables.length) {
    throw new InvalidArgumentError(
      `${gradients.length} gradients were given for ${variables.length} variables`,
      optimizer,
    );
  }
  return variables.map((variable, i) => [gradients[i] as TensorLike | null, variable]);
}

/** @throws InvalidArgumentError unless it has the shape and dtype of the variable, FailedPreconditionError when it was disposed */
export function gradientOf(given: TensorLike, variable: Variable, optimizer: string): Tensor {
  // Refuses what cannot be looked at.
  isPlain(given);
  const gradient = toTensor(given, variable.dtype);
  if (gradient.dtype !== variable.dtype || !sameShape(gradient.shape, variable.shape)) {
    throw new InvalidArgumentError(
      `the gradient of '${variable.name}' is ${gradient.dtype} ${showShape(gradient.shape)}, the variable ${variable.dtype} ${showShape(variable.shape)}`,
      optimizer,
    );
  }
  if (gradient.storage.refs <= 0)
    throw new FailedPreconditionError(`the gradient of '${variable.name}' was disposed`, optimizer);
  return gradient;
}
