import { InvalidArgumentError } from '@eagre/backend';
import { context } from '../dispatch/context.ts';
import { identity } from '../ops/array/shaping.ts';
import { sameShape, showShape } from '../shapes/shape.ts';
import { type TensorLike, toTensor } from './convert.ts';
import type { Tensor } from './tensor.ts';
import type { Variable } from './variable.ts';

/**
 * Runs `fn` while variables hold other values, and gives them back what they held, whatever `fn` assigned. Gradients flow to the values.
 * @param what whose message it is when a value does not fit
 */
export function whileHolding<T>(
  variables: readonly Variable[],
  values: readonly TensorLike[],
  what: string,
  fn: () => T,
): T {
  if (values.length !== variables.length)
    throw new InvalidArgumentError(`got ${values.length} values for ${variables.length} variables`, what);
  const given = values.map((value, i) => {
    const { path, dtype, shape } = variables[i];
    const tensor = toTensor(value, dtype);
    if (tensor.dtype === dtype && sameShape(tensor.shape, shape)) return tensor;
    throw new InvalidArgumentError(
      `the value of '${path}' is ${tensor.dtype} ${showShape(tensor.shape)}, expected ${dtype} ${showShape(shape)}`,
      what,
    );
  });
  if (context.tracer !== null) {
    const before = variables.map((v) => v.read());
    variables.forEach((v, i) => v.assign(given[i]));
    try {
      return fn();
    } finally {
      variables.forEach((v, i) => v.assign(before[i]));
    }
  }
  // Tensors of their own, which tapes know to come from the values.
  const inside = given.map((value) => identity(value));
  const copies = variables.flatMap((v, i) =>
    v.copies.map((copy, c) => ({ copy, inside: c === 0 ? inside[i] : identity(inside[i]) })),
  );
  const before: Tensor[] = [];
  try {
    for (const { copy, inside } of copies) before.push(copy.exchange(inside));
    return fn();
  } finally {
    before.forEach((value, i) => copies[i].copy.exchange(value).dispose());
  }
}
