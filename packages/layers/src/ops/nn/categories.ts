// Numbers of classes as rows of zeros and ones.
import {
  oneHot as coreOneHot,
  type DType,
  type IntegerLike,
  type NamedFunction,
  type TensorLike,
} from '@eagre/core';
import { defineFunction, kind, toTensor } from '@eagre/core/internal';
import { named, refuse, size as sizeKind } from '../define.ts';

interface HotOptions {
  /** Where the classes are in the result; last by default. */
  readonly axis?: IntegerLike;
  /** float32 by default. */
  readonly dtype?: DType | null;
  /** There are no sparse tensors. */
  readonly sparse?: false;
}
const hotOptions = { axis: kind.axis, dtype: kind.asIs, sparse: kind.asIs };

function hot(x: TensorLike, count: number, { axis = -1, dtype, sparse }: HotOptions, name: string) {
  if ((sparse as boolean | undefined) === true) refuse('there are no sparse tensors', name);
  const t = toTensor(x, 'int32');
  const numbers = t.dtype === 'int64' ? t : t.cast('int32');
  const ones = coreOneHot(numbers, count, {
    axis,
    dtype: dtype === 'bool' ? 'float32' : (dtype ?? 'float32'),
  });
  return dtype === 'bool' ? ones.cast('bool') : ones;
}

/** A 1 in the place of each number of a class, zeros elsewhere; numbers that are no class give zeros. */
export const oneHot: NamedFunction<
  [x: TensorLike, numClasses: IntegerLike],
  ['x', 'numClasses'],
  HotOptions
> = defineFunction(
  named('oneHot'),
  { x: kind.tensor, numClasses: sizeKind },
  hotOptions,
  (x, numClasses: number, options) => hot(x, numClasses, options, 'oneHot'),
);

/** Ones in the places of all classes of a list [..., count], zeros elsewhere: [..., numClasses]. */
export const multiHot: NamedFunction<
  [inputs: TensorLike, numClasses: IntegerLike],
  ['inputs', 'numClasses'],
  HotOptions
> = defineFunction(
  named('multiHot'),
  { inputs: kind.tensor, numClasses: sizeKind },
  hotOptions,
  (inputs, numClasses: number, options) => {
    const rows = hot(inputs, numClasses, options, 'multiHot');
    // The axis before that of the classes is that of the list.
    return rows.rank > 2 ? rows.max(1) : rows.max(0);
  },
);
