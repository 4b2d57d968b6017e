// How reductions are declared; nothing here is public.
import type { AxisLike } from '../../arguments/argument-kinds.ts';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import type { Op } from '../../dispatch/op.ts';
import type { Axis } from '../../shapes/shape.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { type ReduceOptions, reduceBy } from '../array/axes.ts';

/** A function of a tensor and the axes that are reduced: one, several, or all (`null` by default). */
export type Reduction<R = Tensor> = NamedFunction<
  [x: TensorLike, axis?: AxisLike],
  ['x|inputTensor|a', 'axis'],
  ReduceOptions,
  R
>;

/** Declares one. @param reduce the op, or what calls ops. */
export const defineReduced = /* @__NO_SIDE_EFFECTS__ */ (
  name: string,
  reduce: Op | ((x: Tensor, axis: Axis, options: ReduceOptions) => Tensor),
): Reduction =>
  defineFunction(
    name,
    { 'x|inputTensor|a': kind.tensor, axis: kind.axes },
    { keepdims: kind.asIs },
    (x, axis: Axis = null, options) =>
      typeof reduce === 'function' ? reduce(toTensor(x), axis, options) : reduceBy(reduce, x, axis, options),
  );
