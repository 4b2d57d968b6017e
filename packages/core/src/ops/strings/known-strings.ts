// Strings are on the host: ops on them are plain code, and part of a trace only where all that they depend on is known.
import { InvalidArgumentError, UnimplementedError } from '@eagre/backend';
import { context, inInitScope, withoutTapes } from '../../dispatch/context.ts';
import { knownTensor } from '../../dispatch/symbolic.ts';
import { type Shape, sizeOf } from '../../shapes/shape.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkListSize } from '../../tensor/list-size.ts';
import { stringTensor, Tensor, textsOf } from '../../tensor/tensor.ts';
import { Variable } from '../../tensor/variable.ts';

/**
 * A tensor of strings, or one of their places, with values.
 * @throws UnimplementedError where it differs from run to run of a traced function.
 */
export function knownStrings(x: Tensor, op: string): Tensor {
  const known = knownTensor(x);
  if (known !== null) return known;
  throw new UnimplementedError(
    'a traced function cannot compute with strings and sets, unless everything they depend on is known while tracing: compute an index or a mask, and look it up outside the function',
    op,
  );
}

/**
 * Runs plain code on tensors with values: at once, or while a function is traced, of which the results are then constants.
 * @param portable the same in ops of TensorFlow, for a trace that is written.
 * @throws UnimplementedError where an input differs from run to run of a traced function.
 */
export function onKnown<R>(
  op: string,
  inputs: readonly Tensor[],
  run: (...known: Tensor[]) => R,
  portable?: (...inputs: Tensor[]) => R,
): R {
  if (context.tracer === null) return withoutTapes(() => run(...inputs));
  if (portable !== undefined && context.tracer.forFile && inputs.some((x) => knownTensor(x) === null))
    return portable(...inputs);
  const known = inputs.map((x) => knownStrings(x, op));
  return inInitScope(() => run(...known));
}

/** A string tensor; lists without elements count as strings. @throws InvalidArgumentError for other dtypes. */
export function toStrings(value: TensorLike, what: string, op: string): Tensor {
  const isTensor = value instanceof Tensor || value instanceof Variable;
  const x = toTensor(value);
  if (x.dtype === 'string') return x;
  if (!isTensor && Array.isArray(value) && x.size === 0) return stringTensor([], x.shape);
  throw new InvalidArgumentError(`${what} must be strings, got ${x.dtype}`, op);
}

/** The one string of a scalar or of a tensor with one element. */
export function toText(value: TensorLike, what: string, op: string): string {
  const x = knownStrings(toStrings(value, what, op), op);
  if (x.size !== 1) throw new InvalidArgumentError(`${what} must be one string, got shape [${x.shape}]`, op);
  return textsOf(x)[0];
}

/** A string tensor of what `fn` makes of each string. */
export function mapStrings(
  x: Tensor,
  op: string,
  fn: (text: string) => string,
  portable?: (x: Tensor) => Tensor,
): Tensor {
  return onKnown(op, [x], (known) => stringTensor(textsOf(known).map(fn), known.shape), portable);
}

/** A string tensor. @throws ResourceExhaustedError for more than a list can hold. */
export function stringsOf(values: readonly string[], shape: Shape, op: string): Tensor {
  checkListSize(sizeOf(shape), 'strings', 'make smaller tensors', op);
  return stringTensor(values, shape);
}
