import { execute1 } from '../../dispatch/op.ts';
import type { Dim } from '../../shapes/dim.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { rangeOp } from './creation.ts';

/** 0, delta, 2 · delta, … in int32: as many as a size says, which need not be known. */
export function iota(size: Dim, delta = 1): Tensor {
  return execute1(rangeOp, [], { start: 0, delta, size, dtype: 'int32' });
}
