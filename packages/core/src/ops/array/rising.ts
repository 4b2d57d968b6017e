// Whether integers ascend.
import { dims, toShape } from '../../shapes/dims.ts';
import { constant } from '../../tensor/constant.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { concat } from './join.ts';

/** Whether a list of integers begins with 0 or more and never falls: a bool scalar. */
export function isRising(ids: Tensor): Tensor {
  const before = concat([constant([0], ids.dtype), ids], 0).slice([0], toShape([dims(ids)[0]]));
  return ids.greaterEqual(before).all();
}
