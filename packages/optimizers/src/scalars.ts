// Formulas of a step: written once, they compute with numbers at once, and with float64 scalars while `tf.function` traces, or with those of `onDevice`.
import * as ops from '@eagre/core';
import { constant, type Tensor, type TensorLike } from '@eagre/core';

/** A number, or the scalar that it is in a graph or on a device. */
export type Scalar = number | Tensor;
/** The outcome of a comparison. */
export type Flag = boolean | Tensor;

type Binary = (a: Scalar, b: Scalar) => Scalar;
type Unary = (a: Scalar) => Scalar;
type Comparison = (a: Scalar, b: Scalar) => Flag;

/**
 * The dtype of such scalars while an update may be taken back, by what only the device knows; null while the host knows the step. Then they
 * are computed on the device, as Keras does, and GPUs have none of float64.
 */
export const onDevice: { dtype: 'float32' | 'float64' | null } = { dtype: null };

/** The scalar as a tensor. */
export function asTensor(x: Scalar): Tensor {
  return typeof x === 'number' ? constant(x, onDevice.dtype ?? 'float64') : x;
}

function binary<R>(
  ofNumbers: (a: number, b: number) => R,
  ofTensors: (a: TensorLike, b: TensorLike) => Tensor,
): (a: Scalar, b: Scalar) => R | Tensor {
  return (a, b) => (typeof a === 'number' && typeof b === 'number' ? ofNumbers(a, b) : ofTensors(a, b));
}

function unary(ofNumber: (a: number) => number, ofTensor: (a: TensorLike) => Tensor): Unary {
  return (a) => (typeof a === 'number' ? ofNumber(a) : ofTensor(a));
}

export const add: Binary = binary((a, b) => a + b, ops.add);
export const sub: Binary = binary((a, b) => a - b, ops.sub);
export const mul: Binary = binary((a, b) => a * b, ops.mul);
export const div: Binary = binary((a, b) => a / b, ops.div);
export const mod: Binary = binary((a, b) => a % b, ops.mod);
export const pow: Binary = binary((a, b) => a ** b, ops.pow);
export const min: Binary = binary(Math.min, ops.minimum);
export const sqrt: Unary = unary(Math.sqrt, ops.sqrt);
export const log: Unary = unary(Math.log, ops.log);
export const cos: Unary = unary(Math.cos, ops.cos);
export const floor: Unary = unary(Math.floor, ops.floor);
export const ceil: Unary = unary(Math.ceil, ops.ceil);
export const less: Comparison = binary((a, b) => a < b, ops.less);
export const lessEqual: Comparison = binary((a, b) => a <= b, ops.lessEqual);
export const equal: Comparison = binary((a, b) => a === b, ops.equal);

/** `a` where the flag is true, `b` where it is not. */
export function select(flag: Flag, a: Scalar, b: Scalar): Scalar {
  if (typeof flag === 'boolean') return flag ? a : b;
  return ops.where(flag, asTensor(a), asTensor(b));
}
