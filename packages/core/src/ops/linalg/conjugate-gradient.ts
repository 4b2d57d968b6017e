// The conjugate gradient method.
import { InvalidArgumentError } from '@eagre/backend';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { checkCount, checkNumber, shown } from '../../arguments/checks.ts';
import { knownTensor } from '../../dispatch/symbolic.ts';
import { dims, toShape } from '../../shapes/dims.ts';
import { showShape } from '../../shapes/shape.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { zerosLike } from '../array/creation.ts';
import { where } from '../elementwise/select.ts';
import { LinearOperator } from './operators/linear-operator.ts';

/** Where the method is: the step, a solution, the residual, the search direction, and ⟨r, M r⟩. */
export interface ConjugateGradient {
  readonly i: Tensor;
  readonly x: Tensor;
  readonly r: Tensor;
  readonly p: Tensor;
  readonly gamma: Tensor;
}
/** Options of `conjugateGradient`. */
export interface ConjugateGradientOptions {
  /** An operator that approximates the inverse; none by default. */
  readonly preconditioner?: LinearOperator | null;
  /** Where it begins; 0 by default. */
  readonly x?: TensorLike | null;
  /** It ends where the residual is smaller than that share of the right-hand side; 1e-5 by default. */
  readonly tol?: number;
  /** How many steps there are at most; 20 by default. */
  readonly maxIter?: number;
}

const OP = 'linalg.experimental.conjugateGradient';
const dot = (a: Tensor, b: Tensor): Tensor => a.mul(b).sum(-1, { keepdims: true });
const norm = (a: Tensor): Tensor => dot(a, a).sqrt();

/**
 * Solves A x = b for a self-adjoint positive definite operator, or a batch of right-hand sides, by conjugate gradients (Hestenes and Stiefel, 1952).
 * In a traced function all `maxIter` steps are written down, and those of what has converged change nothing.
 * @param operator of shape [..., n, n]
 * @param rhs [..., n]
 * @throws InvalidArgumentError for an operator that is not self-adjoint and positive definite
 */
export const conjugateGradient: NamedFunction<
  [operator: LinearOperator, rhs: TensorLike],
  ['operator', 'rhs'],
  ConjugateGradientOptions,
  ConjugateGradient
> = /* @__PURE__ */ defineFunction(
  OP,
  { operator: kind.asIs, rhs: kind.tensor },
  { preconditioner: kind.asIs, x: kind.tensor, tol: kind.asIs, maxIter: kind.asIs },
  (operator, rhs, { preconditioner = null, x = null, tol = 1e-5, maxIter = 20 }) => {
    checkOperator(operator, 'operator');
    if (preconditioner !== null) checkOperator(preconditioner, 'preconditioner');
    checkNumber(tol, 'tol', OP, 0);
    checkCount(maxIter, 'maxIter', OP);
    const b = toTensor(rhs, operator.dtype);
    if (b.rank === 0) throw new InvalidArgumentError(`rhs must be [..., n], got ${showShape(b.shape)}`, OP);
    const apply = (v: Tensor): Tensor => operator.matvec(v);
    const conditioned = (r: Tensor): Tensor => (preconditioner === null ? r : preconditioner.matvec(r));
    const limit = norm(b).mul(tol);
    const start = x === null ? zerosLike(b) : toTensor(x, b.dtype).broadcastTo(toShape(dims(b)));
    const r0 = x === null ? b : b.sub(apply(start));
    const p0 = conditioned(r0);
    let state = { i: toTensor(0, 'int32'), x: start, r: r0, p: p0, gamma: dot(r0, p0) };
    for (let step = 0; step < maxIter; step++) {
      const goes = norm(state.r).greater(limit).any();
      if (knownTensor(goes)?.item<boolean>() === false) break;
      state = advanced(state, goes, apply, conditioned);
    }
    return { ...state, gamma: state.gamma.squeeze([-1]) };
  },
);

function checkOperator(given: unknown, what: string): void {
  if (!(given instanceof LinearOperator))
    throw new InvalidArgumentError(`${what} must be a LinearOperator, got ${shown(given)}`, OP);
  if (given.isSelfAdjoint !== true || given.isPositiveDefinite !== true)
    throw new InvalidArgumentError(`${what} must be self-adjoint and positive definite`, OP);
}

/** One step; what has converged stays as it is. */
function advanced(
  { i, x, r, p, gamma }: ConjugateGradient,
  goes: Tensor,
  apply: (v: Tensor) => Tensor,
  conditioned: (v: Tensor) => Tensor,
): ConjugateGradient {
  const z = apply(p);
  const alpha = gamma.divNoNan(dot(p, z));
  const nextX = x.add(alpha.mul(p));
  const nextR = r.sub(alpha.mul(z));
  const q = conditioned(nextR);
  const nextGamma = dot(nextR, q);
  const nextP = q.add(nextGamma.divNoNan(gamma).mul(p));
  const pick = (now: Tensor, before: Tensor): Tensor => where(goes, now, before);
  return {
    i: i.add(goes.cast('int32')),
    x: pick(nextX, x),
    r: pick(nextR, r),
    p: pick(nextP, p),
    gamma: pick(nextGamma, gamma),
  };
}
