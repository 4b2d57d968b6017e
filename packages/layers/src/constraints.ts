import { type Axis, InvalidArgumentError, Tensor } from '@eagre/core';
import { toTensor } from '@eagre/core/internal';
import { markOurs } from './ours.ts';

/** Brings a weight back into a permitted set after each update. */
export type Constraint = (weight: Tensor) => Tensor;

// As Keras: keeps a division by a vanishing norm finite.
const EPSILON = 1e-7;

function own(constraint: Constraint): Constraint {
  return markOurs((w: Tensor) => constraint(w instanceof Tensor ? w : toTensor(w)));
}

/** Norms along `axis` of at most `maxValue`. */
export function maxNorm(maxValue = 2, axis: Axis = 0): Constraint {
  return own((w) => {
    const norms = w.square().sum(axis, { keepdims: true }).sqrt();
    return w.mul(norms.clipByValue(0, maxValue).div(norms.add(EPSILON)));
  });
}
/** No negative values. */
export function nonNeg(): Constraint {
  return own((w) => w.relu());
}
/** Norms along `axis` of 1. */
export function unitNorm(axis: Axis = 0): Constraint {
  return own((w) => w.div(w.square().sum(axis, { keepdims: true }).sqrt().add(EPSILON)));
}

/** A name (Keras's own are understood too), or a function of a weight. */
export type ConstraintLike = 'maxNorm' | 'nonNeg' | 'unitNorm' | Constraint | (string & {});

/** The constraint of a name, or the function itself; null of null. @throws InvalidArgumentError for an unknown name. */
export function get(constraint: ConstraintLike): Constraint;
export function get(constraint: ConstraintLike | null | undefined): Constraint | null;
export function get(constraint: ConstraintLike | null | undefined): Constraint | null {
  if (constraint === null || constraint === undefined) return null;
  if (typeof constraint === 'function') return constraint;
  switch (String(constraint).replace('_', '').toLowerCase()) {
    case 'maxnorm':
      return maxNorm();
    case 'nonneg':
      return nonNeg();
    case 'unitnorm':
      return unitNorm();
    default:
      throw new InvalidArgumentError(
        `unknown constraint '${String(constraint)}'; known: maxNorm, nonNeg, unitNorm`,
      );
  }
}
