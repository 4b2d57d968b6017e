// The precision in which weights are read while a layer computes in another one than they have.
import { type DType, dtypeTraits } from '@eagre/backend';
import type { Tensor } from '../tensor/tensor.ts';
import { ambient } from './ambient.ts';

/** The dtype of the computation; null where weights are read as they are. */
export const autocast: { dtype: DType | null } = ambient<{ dtype: DType | null }>({ dtype: null }, [], true);

/** The value of a weight for the computation at hand. */
export function inComputation(value: Tensor): Tensor {
  const { dtype } = autocast;
  return dtype === null || dtype === value.dtype || !dtypeTraits[value.dtype].floating
    ? value
    : value.cast(dtype);
}
