import { type DType, InvalidArgumentError } from '@eagre/backend';
import * as kind from '../arguments/argument-kinds.ts';
import { type Arguments, defineFunction, type NamedFunction } from '../arguments/arguments.ts';
import { shapeOf } from '../ops/array/shaping.ts';
import { prod } from '../ops/reduce/reduce.ts';
import { constant } from './constant.ts';
import { type TensorLike, toTensor } from './convert.ts';
import { checkDType, checkDTypeName } from './dtypes.ts';
import { type Known, Tensor } from './tensor.ts';
import { Variable } from './variable.ts';

/** In `at`, an axis of size 1 at this place: `x.at(tf.newaxis, '...')`. */
export const newaxis: null = null;

/** Whether something is a tensor or a variable. It may be given to `filter` and the like, so it looks at its first argument alone. */
export function isTensor(value: unknown): value is Tensor | Variable {
  return value instanceof Tensor || value instanceof Variable;
}

/**
 * Tensors as they are, variables as their values, anything else as `constant` makes it.
 * @param options.dtypeHint the dtype of values that are no tensors, where these can have it and `dtype` is not given.
 * @throws InvalidArgumentError for a tensor of another dtype: nothing is cast.
 */
export const convertToTensor: NamedFunction<
  [value: TensorLike, dtype?: DType],
  ['value', 'dtype'],
  {
    /** The dtype that is tried where `dtype` says none. */
    readonly dtypeHint?: DType | null;
  }
> = defineFunction(
  'convertToTensor',
  { value: kind.tensor, dtype: kind.optional(kind.asIs) },
  { dtypeHint: kind.asIs },
  (value, dtype = undefined, options) => {
    const dtypeHint = options.dtypeHint ?? undefined;
    if (dtypeHint !== undefined) checkDTypeName(dtypeHint, 'convertToTensor');
    if (!isTensor(value)) {
      if (dtype !== undefined || dtypeHint === undefined) return constant(value, dtype);
      try {
        return constant(value, dtypeHint);
      } catch {
        return constant(value);
      }
    }
    if (dtype !== undefined && dtype !== value.dtype) {
      checkDTypeName(dtype, 'convertToTensor');
      throw new InvalidArgumentError(
        `the tensor is ${value.dtype}, not ${dtype}; convert it with x.cast('${dtype}')`,
        'convertToTensor',
      );
    }
    return toTensor(value);
  },
);

/** How many axes there are, an int32 scalar; `x.rank` gives it as a number. */
export const rank: NamedFunction<[x: TensorLike], ['x|input|a'], unknown, Tensor<'int32'>> = defineFunction(
  'rank',
  { 'x|input|a': kind.tensor },
  {},
  (x) => constant(toTensor(x).rank, 'int32'),
);

/** How many elements there are, a scalar of int32 or `outType`, in traced functions that of the run; `x.size` gives it as a number. */
export const size: <D extends DType = 'int32'>(
  ...args: Arguments<
    [x: TensorLike],
    ['x|input'],
    {
      /** The dtype of the result; int32 by default. */
      outType?: D;
    }
  >
) => Tensor<Known<D>> = defineFunction<NamedFunction<[x: TensorLike], ['x|input'], { outType?: DType }>>(
  'size',
  { 'x|input': kind.tensor },
  { outType: kind.asIs },
  (x, { outType = 'int32' }) => {
    checkDType(outType, 'numeric', 'outType', 'Size');
    const count = prod(shapeOf(x, { outType: outType === 'int32' ? outType : 'int64' }));
    return count.dtype === outType ? count : count.cast(outType);
  },
);
