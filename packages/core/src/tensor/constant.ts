import { type DType, InvalidArgumentError } from '@eagre/backend';
import type { ShapeLike } from '../arguments/argument-kinds.ts';
import * as kind from '../arguments/argument-kinds.ts';
import { type Arguments, defineFunction, type NamedFunction } from '../arguments/arguments.ts';
import { eagerBackend } from '../dispatch/context.ts';
import { checkShape, type Shape, showShape, sizeOf } from '../shapes/shape.ts';
import { type TensorLike, toOwnTensor } from './convert.ts';
import { checkListSize } from './list-size.ts';
import {
  aliasTensor,
  emptyTensor,
  type Known,
  type OpenDType,
  spaceOf,
  stringTensor,
  type Tensor,
  uploaded,
  viewOf,
} from './tensor.ts';

/**
 * A tensor of the given values.
 * @param dtype the result's dtype; without it the values decide, as `TensorLike` says.
 * @param options.shape reshapes flat values, or repeats one value.
 * @throws InvalidArgumentError for ragged arrays, mixed kinds, or values that the dtype cannot hold.
 */
export const constant: <D extends DType = OpenDType>(
  ...args: Arguments<
    [value: TensorLike, dtype?: D],
    ['value', 'dtype'],
    {
      /** Of the result; one value fills it. That of the value by default. */
      readonly shape?: ShapeLike;
    }
  >
) => Tensor<Known<D>> = defineFunction<
  NamedFunction<[value: TensorLike, dtype?: DType], ['value', 'dtype'], { readonly shape?: ShapeLike }>
>(
  'constant',
  { value: kind.tensor, dtype: kind.optional(kind.asIs) },
  { shape: kind.shape },
  (value, dtype = undefined, options: { shape?: Shape }) => {
    const source = toOwnTensor(value, dtype, true);
    const { shape } = options;
    if (shape === undefined) return source;
    checkShape(shape, 'constant');
    const size = sizeOf(shape);
    if (source.size !== size && source.size !== 1) {
      throw new InvalidArgumentError(
        `${source.size} values do not match the shape ${showShape(shape)} (${size})`,
        'constant',
      );
    }
    if (source.dtype === 'string') {
      checkListSize(size, 'strings', 'make smaller tensors', 'constant');
      const strings = source.strings();
      return stringTensor(source.size === size ? strings : new Array<string>(size).fill(strings[0]), [
        ...shape,
      ]);
    }
    if (source.size === size && source.backend === eagerBackend()) {
      // The same memory: devices are not asked for what they were just given.
      const shaped = aliasTensor(source, [...shape], size);
      if (typeof value !== 'object' || Array.isArray(value) || ArrayBuffer.isView(value)) source.dispose();
      return shaped;
    }
    const out = emptyTensor(source.dtype, [...shape], size);
    const view = spaceOf(out);
    if (source.size === size) view.set(viewOf(source) as never);
    else view.fill(viewOf(source)[0] as never);
    return uploaded(out, view);
  },
);
