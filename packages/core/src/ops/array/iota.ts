// Numbers at equal distances, as many as a size says, which need not be known. Nothing here is public.
import type { DType } from '@eagre/backend';
import { defineOp, execute1, type Op } from '../../dispatch/op.ts';
import type { Dim } from '../../shapes/dim.ts';
import type { Tensor } from '../../tensor/tensor.ts';

export const rangeOp: Op = defineOp({
  name: 'Range',
  kernel: 'Iota',
  infer: (_, { dtype, size }) => ({ dtype: dtype as DType, shape: [size as Dim] }),
  notDifferentiable: 'it has no inputs',
  samples: () => [
    { inputs: [], attrs: { start: 3, delta: 0.25, size: 5, dtype: 'float32' } },
    { inputs: [], attrs: { start: 10, delta: -3, size: 4, dtype: 'int64' } },
  ],
});

/** 0, delta, 2 · delta, … in int32. */
export function iota(size: Dim, delta = 1): Tensor {
  return execute1(rangeOp, [], { start: 0, delta, size, dtype: 'int32' });
}
