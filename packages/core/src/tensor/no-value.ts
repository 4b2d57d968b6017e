// Tensors without values: where they belong, and what using them anywhere else says.
import { FailedPreconditionError, OperatorNotAllowedInGraphError, Storage } from '@eagre/backend';
import type { Tensor } from './tensor.ts';

/** The traced function, body or graph to which symbolic tensors belong. */
export interface TensorOwner {
  /** `the traced function 'step'`. */
  readonly what: string;
  /** How to get at its values from outside. */
  readonly remedy: string;
  /** How many times it is being written now. */
  open: number;
}

/** The place of a value that is not known yet. */
export class SymbolicStorage extends Storage {
  /** The number that a plan gives it; -1 before. */
  value = -1;
  home: TensorOwner | null = null;
  /** What the value is called in its graph: `MatMul:0`. */
  label = '';
}

/** Why a tensor inside of a traced function cannot be read. */
export const UNKNOWN_VALUE: string =
  'a tensor has no value while tf.function traces, only a shape and a dtype: JavaScript cannot branch on it, iterate over it, ' +
  'print it or convert it. Use tf.cond, tf.where or tf.print, read it outside of the function, or call ' +
  'tf.config.runFunctionsEagerly(true)';

/** The error of who needs the values of a symbolic tensor. @param inside what it says while the tensor's function is traced. */
export function noValue(x: Tensor, inside: string = UNKNOWN_VALUE): FailedPreconditionError {
  const { storage } = x;
  const open = !(storage instanceof SymbolicStorage) || storage.home === null || storage.home.open > 0;
  return open ? new OperatorNotAllowedInGraphError(inside) : outOfScope(x);
}

/** The error of who uses a symbolic tensor where it does not belong. @param here the function that uses it. */
export function outOfScope(x: Tensor, here: TensorOwner | null = null): FailedPreconditionError {
  const { storage } = x;
  const [owner, label] = storage instanceof SymbolicStorage ? [storage.home, storage.label] : [null, ''];
  const name = label === '' ? `a ${x.dtype} tensor` : `the tensor '${label}' (${x.dtype})`;
  const place =
    here === null
      ? 'has no value here'
      : `cannot be used in ${here.what === owner?.what ? 'another one' : here.what}`;
  if (owner === null) return new FailedPreconditionError(`${name} is out of scope: it ${place}`);
  const remedy = here !== null && owner.open > 0 ? `Pass it to ${here.what} as an argument` : owner.remedy;
  return new FailedPreconditionError(
    `${name} is out of scope: it belongs to ${owner.what} and ${place}. ${remedy}`,
  );
}
