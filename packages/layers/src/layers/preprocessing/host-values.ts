// Functions of strings and integers, computed by the host.
import { constant, type Tensor } from '@eagre/core';
import { atRunTime, knownTensor } from '@eagre/core/internal';

/** Strings, or integers in int64; floats lose what is behind the point. */
export const exact = (x: Tensor): Tensor =>
  x.dtype === 'string' || x.dtype === 'int64' ? x : x.cast('int64');

/** Elements as strings or integers. */
export function valuesOf(x: Tensor): readonly (string | bigint)[] {
  return x.dtype === 'string' ? x.strings() : Array.from(exact(x).data() as BigInt64Array);
}

/**
 * An integer for the elements of tensors of one shape, in int64. Of strings, values have to be known while a function is traced.
 * @param fn gets the tensors with values, of strings and int64
 * @param portable the same in ops of TensorFlow, for functions that are saved.
 */
export function integersOf(
  name: string,
  inputs: Tensor | readonly Tensor[],
  fn: (...inputs: Tensor[]) => BigInt64Array<ArrayBuffer>,
  portable?: (...inputs: Tensor[]) => Tensor,
): Tensor {
  const list = Array.isArray(inputs) ? (inputs as readonly Tensor[]) : [inputs as Tensor];
  const compute = (...xs: Tensor[]): Tensor =>
    constant({ data: fn(...xs.map(exact)), shape: [...(xs[0] as Tensor).shape], dtype: 'int64' });
  const known = list.map((x) => knownTensor(x));
  if (known.every((x) => x !== null)) return compute(...(known as Tensor[]));
  const outputs = [{ dtype: 'int64', shape: (list[0] as Tensor).shape }] as const;
  const form = portable === undefined ? undefined : (...xs: readonly Tensor[]) => [portable(...xs)];
  return atRunTime(name, compute, list, outputs, false, form)[0] as Tensor;
}
