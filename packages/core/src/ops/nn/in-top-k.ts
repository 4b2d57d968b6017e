import { InvalidArgumentError } from '@eagre/backend';
import type { IntegerLike } from '../../arguments/argument-kinds.ts';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import type { Dim } from '../../shapes/dim.ts';
import { dims } from '../../shapes/dims.ts';
import { showShape } from '../../shapes/shape.ts';
import { differs, sizeValue } from '../../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { gather } from '../array/gather.ts';
import { toIndices } from '../array/moving.ts';
import { expandDims } from '../array/shaping.ts';
import { where } from '../elementwise/select.ts';

/** For each example whether the target class (int32 or int64 [n]) is among the k largest of its predictions [n, classes]. */
export const inTopK: NamedFunction<
  [targets: TensorLike, predictions: TensorLike, k: IntegerLike],
  ['targets', 'predictions', 'k'],
  unknown,
  Tensor<'bool'>
> = /* @__PURE__ */ defineFunction(
  'nn.inTopK',
  { targets: kind.tensor, predictions: kind.tensor, k: kind.integer },
  {},
  (targets, predictions, k: number) => {
    const t = toIndices(targets, 'targets', 'InTopKV2');
    const p = toTensor(predictions);
    if (p.rank !== 2 || t.rank !== 1 || differs(dims(t)[0], dims(p)[0])) {
      throw new InvalidArgumentError(
        `targets ${showShape(t.shape)} and predictions ${showShape(p.shape)} must be [n] and [n, classes]`,
        'InTopKV2',
      );
    }
    // No class outside of the predictions is among the largest, and none is where a prediction is not finite.
    const known = t.greaterEqual(0).logicalAnd(t.less(sizeValue(dims(p)[1] as Dim, t.dtype)));
    const own = gather(p, expandDims(where(known, t, 0), -1), 1, { batchDims: 1 });
    const among = p.greater(own).cast('int32').sum(-1).less(k);
    return among.logicalAnd(p.isFinite().all(-1)).logicalAnd(known);
  },
);
