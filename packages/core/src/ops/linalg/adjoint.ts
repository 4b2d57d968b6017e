// Adjoint matrices, and what the gradients of factors share.
import { InvalidArgumentError, isComplex } from '@eagre/backend';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import type { GradFn } from '../../dispatch/op.ts';
import { dims, toShape } from '../../shapes/dims.ts';
import { broadcastShapes, showShape } from '../../shapes/shape.ts';
import { differs } from '../../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType, hasGradient } from '../../tensor/dtypes.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { onesLike } from '../array/creation.ts';
import { broadcastTo } from '../array/shaping.ts';
import { conj, real } from '../elementwise/complex.ts';
import { diag, diagPart, matmul, matrixTranspose } from './linalg.ts';

/** The conjugates of complex numbers; others as they are. */
export const conjugated = (x: Tensor): Tensor => (isComplex(x.dtype) ? conj(x) : x);
/** Aᴴ of matrices. */
export const adjointOf = (x: Tensor): Tensor => conjugated(matrixTranspose(x));
/** Aᴴ · b. */
export const adjointTimes = (a: Tensor, b: Tensor): Tensor =>
  isComplex(a.dtype) ? matmul(adjointOf(a), b) : matmul(a, b, { transposeA: true });
/** a · Bᴴ. */
export const timesAdjoint = (a: Tensor, b: Tensor): Tensor =>
  isComplex(a.dtype) ? matmul(a, adjointOf(b)) : matmul(a, b, { transposeB: true });
/** Identity matrices as large and as many as square ones. */
export const identityLike = (a: Tensor): Tensor => diag(onesLike(diagPart(a)));

/**
 * Exchanges the rows and columns of matrices [..., m, n], and takes the conjugates of complex ones.
 *
 *     tf.linalg.adjoint(tf.complex([[1, 2]], [[3, 4]])); // [[1-3j], [2-4j]]
 */
export const adjoint: NamedFunction<[matrix: TensorLike], ['matrix']> = /* @__PURE__ */ defineFunction(
  'linalg.adjoint',
  { matrix: kind.tensor },
  {},
  (matrix) => adjointOf(matricesOf(matrix, 'linalg.adjoint', { any: true })),
);

const conjugatedAll = (d: Tensor | null): Tensor | null => (d === null ? null : conjugated(d));
/**
 * A gradient that is written with adjoints, for complex numbers too: not that of an op that is holomorphic, whose gradients are conjugated on the way in
 * and on the way out.
 */
export const withAdjoints =
  (grad: GradFn): GradFn =>
  (g, dy, ...more) => {
    if (!isComplex(dy.dtype)) return grad(g, dy, ...more);
    const result = grad(g, conj(dy), ...more.map(conjugatedAll));
    return Array.isArray(result) ? result.map(conjugatedAll) : conjugatedAll(result as Tensor | null);
  };

interface Wanted {
  readonly square?: boolean;
  /** Whether numbers may be others than floats and complex ones. */
  readonly any?: boolean;
  /** The argument, in messages. */
  readonly what?: string;
}

/** Matrices of floats or complex numbers. @throws InvalidArgumentError for what is none, or not square where that is needed */
export function matricesOf(
  x: TensorLike,
  op: string,
  { square, any, what = 'the input' }: Wanted = {},
): Tensor {
  const t = toTensor(x);
  if (any === true ? t.dtype === 'string' : !hasGradient(t.dtype))
    checkDType(t.dtype, any === true ? 'any' : 'floating', what, op);
  const [m, n] = dims(t).slice(-2);
  if (t.rank < 2)
    throw new InvalidArgumentError(
      `${what} has shape ${showShape(t.shape)}, expected matrices (rank 2 or more)`,
      op,
    );
  if (square === true && differs(m, n))
    throw new InvalidArgumentError(`${what} has shape ${showShape(t.shape)}, expected square matrices`, op);
  return t;
}

/** Matrices and what stands beside them, of which there are as many then. */
export function sameBatch(a: Tensor, b: Tensor, op: string): [Tensor, Tensor] {
  if (a.dtype !== b.dtype)
    throw new InvalidArgumentError(
      `the tensors are ${a.dtype} and ${b.dtype}, expected one dtype; convert one with cast`,
      op,
    );
  const [left, right] = [dims(a).slice(0, -2), dims(b).slice(0, -2)];
  const lead = broadcastShapes(left, right, op);
  const widened = (t: Tensor): Tensor => {
    const own = dims(t).slice(0, -2);
    const same = own.length === lead.length && own.every((d, i) => d === lead[i]);
    return same ? t : broadcastTo(t, toShape([...lead, ...dims(t).slice(-2)]));
  };
  return [widened(a), widened(b)];
}

/** @throws InvalidArgumentError where the rows of what is solved for are not as many as those of the system */
export function checkRows(a: Tensor, b: Tensor, op: string): void {
  if (differs(dims(a)[a.rank - 2], dims(b)[b.rank - 2]))
    throw new InvalidArgumentError(
      `the matrix has shape ${showShape(a.shape)} and the right side ${showShape(b.shape)}: their rows differ in number`,
      op,
    );
}

/** The gradient of a result that is real whatever its dtype is: what turns it has no part in it. */
export const ofReal = (dy: Tensor): Tensor => (isComplex(dy.dtype) ? real(dy).cast(dy.dtype) : dy);
