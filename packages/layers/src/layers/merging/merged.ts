// Keras's functions for the layers that make one tensor of a list: `add([a, b])` is `new Add()([a, b])`.
import type { Tensor } from '@eagre/core';
import { defineFunction, type NamedFunction, parametersOf } from '@eagre/core/internal';
import type { Layer, LayerOptions } from '../../layer/layer.ts';
import type { KerasTensor } from '../../models/keras-tensor.ts';
import {
  Add,
  Average,
  Concatenate,
  type ConcatenateOptions,
  Dot,
  type DotArguments,
  Maximum,
  Minimum,
  Multiply,
  Subtract,
} from './merging.ts';

/** A layer that merges, made and called at once: of outputs of layers as a part of a model, or of tensors. */
export interface MergeFunction<O extends LayerOptions = LayerOptions> {
  (inputs: readonly KerasTensor[], options?: O | null): KerasTensor;
  (
    options: O & {
      /** What is merged. */
      readonly inputs: readonly KerasTensor[];
    },
  ): KerasTensor;
  (inputs: readonly Tensor[], options?: O | null): Tensor;
  (
    options: O & {
      /** What is merged. */
      readonly inputs: readonly Tensor[];
    },
  ): Tensor;
}

function merging<O extends LayerOptions>(name: string, Class: new (options?: O) => Layer): MergeFunction<O> {
  return defineFunction<NamedFunction<[inputs: readonly unknown[]], ['inputs'], object, unknown>>(
    `layers.${name}`,
    { inputs: true },
    parametersOf(Class)?.names ?? {},
    (inputs, options) => Reflect.apply(new Class(options as O), undefined, [inputs]),
  ) as MergeFunction<O>;
}

/** The sum of the inputs, by {@link Add}. */
export const add: MergeFunction = merging('add', Add);
/** The first of two inputs less the second, by {@link Subtract}. */
export const subtract: MergeFunction = merging('subtract', Subtract);
/** The product of the inputs, by {@link Multiply}. */
export const multiply: MergeFunction = merging('multiply', Multiply);
/** The mean of the inputs, by {@link Average}. */
export const average: MergeFunction = merging('average', Average);
/** The largest of the inputs, by {@link Maximum}. */
export const maximum: MergeFunction = merging('maximum', Maximum);
/** The smallest of the inputs, by {@link Minimum}. */
export const minimum: MergeFunction = merging('minimum', Minimum);
/** The inputs joined along one axis, by {@link Concatenate}. */
export const concatenate: MergeFunction<ConcatenateOptions> = merging('concatenate', Concatenate);
/** The products of the vectors of two inputs along an axis, by {@link Dot}. */
export const dot: MergeFunction<DotArguments> = merging('dot', Dot as never);
