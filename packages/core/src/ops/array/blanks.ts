// Tensors of nothing, of any dtype.

import type { DType } from '@eagre/backend';
import type { Shape } from '../../shapes/shape.ts';
import { toTensor } from '../../tensor/convert.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { zeros } from './creation.ts';
import { broadcastTo } from './shaping.ts';

/** Zeros, or texts without characters. */
export const blanks = (shape: Shape, dtype: DType): Tensor =>
  dtype === 'string' ? broadcastTo(toTensor('', 'string'), shape) : zeros(shape, dtype);
