// Places along axes whose sizes need not be known. Nothing here is public.
import { execute1 } from '../../dispatch/op.ts';
import type { Dim } from '../../shapes/dim.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { rangeOp } from './creation.ts';

/** The places along an axis of a size: 0, 1, …, int32. */
export const placesOf = (size: Dim): Tensor =>
  execute1(rangeOp, [], { start: 0, delta: 1, size, dtype: 'int32' });
