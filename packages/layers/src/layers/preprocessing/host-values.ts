// Functions of single strings and integers, computed by the host.
import { constant, type Tensor } from '@eagre/core';
import { atRunTime, knownTensor } from '@eagre/core/internal';

/** Elements as strings or integers; floats lose what is behind the point. */
export function valuesOf(x: Tensor): readonly (string | bigint)[] {
  if (x.dtype === 'string') return x.strings();
  const data = (x.dtype === 'int64' ? x : x.cast('int64')).data();
  return Array.from(data as BigInt64Array);
}

/**
 * An integer for the elements of tensors of one shape, in int64. Of strings, values have to be known while a function is traced.
 * @param portable the same in ops of TensorFlow, for functions that are saved.
 */
export function integersOfEach(
  name: string,
  inputs: Tensor | readonly Tensor[],
  fn: (...values: (string | bigint)[]) => bigint,
  portable?: (...inputs: Tensor[]) => Tensor,
): Tensor {
  const list = Array.isArray(inputs) ? (inputs as readonly Tensor[]) : [inputs as Tensor];
  const compute = (...xs: Tensor[]): Tensor => {
    const [first, ...others] = xs.map(valuesOf);
    const out = BigInt64Array.from(first, (value, i) => fn(value, ...others.map((o) => o[i])));
    return constant(out, 'int64', { shape: [...xs[0].shape] });
  };
  const known = list.map((x) => knownTensor(x));
  if (known.every((x) => x !== null)) return compute(...(known as Tensor[]));
  const outputs = [{ dtype: 'int64', shape: list[0].shape }] as const;
  const form = portable === undefined ? undefined : (...xs: readonly Tensor[]) => [portable(...xs)];
  return atRunTime(name, compute, list, outputs, false, form)[0];
}
