// Keras's functions for the layers that make one tensor of a list: `add([a, b])` is `new Add()([a, b])`.
import type { Tensor } from '@eagre/core';
import type { KerasTensor } from '../keras-tensor.ts';
import type { Layer, LayerOptions } from '../layer.ts';
import {
  Add,
  Average,
  Concatenate,
  type ConcatenateOptions,
  Maximum,
  Minimum,
  Multiply,
  Subtract,
} from './merging.ts';

/** A layer that merges, made and called at once: of outputs of layers as a part of a model, or of tensors. */
export interface MergeFunction<O extends LayerOptions = LayerOptions> {
  (inputs: readonly KerasTensor[], options?: O): KerasTensor;
  (inputs: readonly Tensor[], options?: O): Tensor;
}

function merging<O extends LayerOptions>(Class: new (options?: O) => Layer): MergeFunction<O> {
  function merge(inputs: readonly KerasTensor[], options?: O): KerasTensor;
  function merge(inputs: readonly Tensor[], options?: O): Tensor;
  function merge(inputs: readonly (KerasTensor | Tensor)[], options?: O): KerasTensor | Tensor {
    return Reflect.apply(new Class(options), undefined, [inputs]);
  }
  return merge;
}

/** The sum of the inputs, by {@link Add}. */
export const add: MergeFunction = merging(Add);
/** The first of two inputs less the second, by {@link Subtract}. */
export const subtract: MergeFunction = merging(Subtract);
/** The product of the inputs, by {@link Multiply}. */
export const multiply: MergeFunction = merging(Multiply);
/** The mean of the inputs, by {@link Average}. */
export const average: MergeFunction = merging(Average);
/** The largest of the inputs, by {@link Maximum}. */
export const maximum: MergeFunction = merging(Maximum);
/** The smallest of the inputs, by {@link Minimum}. */
export const minimum: MergeFunction = merging(Minimum);
/** The inputs joined along one axis, by {@link Concatenate}. */
export const concatenate: MergeFunction<ConcatenateOptions> = merging(Concatenate);
