// Values that plain code may look at: all of them without a trace, and constants while a function is traced.
import { InvalidArgumentError } from '@eagre/backend';
import { Tensor, type TensorLike } from '@eagre/core';
import { hostValues, isInteger, knownTensor, toTensor } from '@eagre/core/internal';

/**
 * Integers, such as indices, flat; null where they differ from run to run.
 * @throws InvalidArgumentError for values that are no integers.
 */
export function knownNumbers(value: TensorLike, op: string): readonly number[] | null {
  if (typeof value === 'number') return [value];
  const tensor = toTensor(value, 'int32');
  if (!isInteger(tensor.dtype))
    throw new InvalidArgumentError(`expected integers, got a ${tensor.dtype} tensor`, op);
  const found = knownTensor(tensor);
  return found === null ? null : Array.from(hostValues(found), Number);
}

/**
 * A predicate: a boolean where that is known, or a symbolic bool scalar.
 * @throws InvalidArgumentError unless it is one bool.
 */
export function predicate(value: TensorLike, op: string): boolean | Tensor {
  if (typeof value === 'boolean') return value;
  if (!(value instanceof Tensor) && typeof value !== 'object')
    throw new InvalidArgumentError(
      `the predicate is ${typeof value === 'string' ? `'${value}'` : String(value)}, expected a bool scalar: compare first, for example x.greater(0)`,
      op,
    );
  const tensor = toTensor(value);
  if (tensor.dtype !== 'bool' || tensor.size !== 1) {
    throw new InvalidArgumentError(
      `the predicate is ${tensor.dtype} [${tensor.shape}], expected one bool: compare first, for example x.greater(0)`,
      op,
    );
  }
  const found = knownTensor(tensor);
  if (found !== null) return hostValues(found)[0] !== 0;
  return tensor.rank === 0 ? tensor : tensor.reshape([]);
}

/**
 * The number of a branch: where that is known, or a symbolic int32 scalar.
 * @throws InvalidArgumentError unless it is one int32 or uint8.
 */
export function branchIndex(value: TensorLike, op: string): number | Tensor {
  if (typeof value === 'number') {
    if (!Number.isInteger(value)) throw new InvalidArgumentError(`the index ${value} is not an integer`, op);
    return value;
  }
  const tensor = toTensor(value, 'int32');
  if ((tensor.dtype !== 'int32' && tensor.dtype !== 'uint8') || tensor.size !== 1) {
    throw new InvalidArgumentError(
      `the index is ${tensor.dtype} [${tensor.shape}], expected one int32: x.cast('int32')`,
      op,
    );
  }
  const found = knownTensor(tensor);
  if (found !== null) return Number(hostValues(found)[0]);
  const index = tensor.dtype === 'int32' ? tensor : tensor.cast('int32');
  return index.rank === 0 ? index : index.reshape([]);
}
