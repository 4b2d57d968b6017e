import type { DType, Shape, Tensor } from '@eagre/core';
import { kerasDefaults } from '@eagre/core/internal';
import { KerasObject } from '../saving/keras-object.ts';

/** Makes the first value of a weight. */
export type InitializerFunction = (shape: Shape, dtype: DType) => Tensor;

/**
 * Base of initializers, which are functions of a shape and a dtype (float32 unless given). To make your own, extend it and write `call`;
 * or take any such function.
 */
export abstract class Initializer extends KerasObject {
  /** The values of a weight. */
  abstract override call(shape: Shape, dtype: DType): Tensor;
  /** Another one with the same options: of a seed the same numbers, of none others. */
  clone(): this {
    return (this.constructor as unknown as typeof KerasObject).fromConfig.call(
      this.constructor as never,
      this.getConfig(),
    ) as this;
  }
  protected override invoke(shape: Shape, dtype: DType = kerasDefaults.floatx): Tensor {
    return this.call(shape, dtype);
  }
  /** @internal */
  protected override get module(): string {
    return 'keras.initializers';
  }
}
export interface Initializer {
  (shape: Shape, dtype?: DType): Tensor;
}
