import type { LateNumber } from '@eagre/backend';
import { execute1, listOps, type Op } from '../op.ts';
import type { Tensor } from '../tensor.ts';

/** @internal A scalar whose value each run of a traced function asks for. */
export function lateScalar(value: LateNumber, dtype: 'float32' | 'float64' = 'float32'): Tensor {
  return execute1(listOps().get('Fill') as Op, [], { shape: [], dtype, value });
}
