import { InvalidArgumentError, norm, type Tensor, type TensorLike } from '@eagre/core';
import { defineFunction, isFloating, kind, type NamedFunction, shown, toTensor } from '@eagre/core/internal';

/**
 * Vectors along an axis (the last unless given) divided by their lengths; zeros stay. A float tensor of the same shape.
 * @param order which length: 1 for the sum of sizes, 2, the default, for the Euclidean one, or any number above 0
 */
export const normalize: NamedFunction<
  [x: TensorLike, axis?: number, order?: number],
  ['x', 'axis', 'order']
> = /* @__PURE__ */ defineFunction(
  'keras.utils.normalize',
  { x: kind.tensor, axis: kind.axis, order: true },
  {},
  (given: TensorLike, axis: number = -1, order: unknown = 2): Tensor => {
    if (typeof order !== 'number' || !(order > 0))
      throw new InvalidArgumentError(
        `order must be a number above 0, got ${shown(order)}`,
        'keras.utils.normalize',
      );
    const t = toTensor(given);
    const x = isFloating(t.dtype) ? t : t.cast('float32');
    const length = norm(x, { ord: order, axis, keepdims: true });
    return x.div(length.equal(0).where(1, length));
  },
);
