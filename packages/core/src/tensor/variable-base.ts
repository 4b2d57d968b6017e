// Variables as those files see them that `Variable` itself needs.
import type { DType } from '@eagre/backend';
import type { Shape } from '../shapes/shape.ts';
import type { Tensor } from './tensor.ts';

/** A value that changes in place. */
export abstract class VariableBase {
  abstract readonly dtype: DType;
  abstract readonly shape: Shape;
  /** @internal Whether a layer that computes in another precision reads it in that one. */
  declare autocast: boolean;
  /**
   * Whether an optimizer gives it its gradient as its value, in the place of an update by it: so floats of 8 bits find their scales. False unless set
   * before the optimizer is built.
   */
  declare overwriteWithGradient: boolean;
  /** The value now, as a tensor that later assignments do not change. */
  abstract read(): Tensor;
  /** @internal The variable's own value, for an op. */
  abstract taken(): Tensor;
}
VariableBase.prototype.autocast = false;
VariableBase.prototype.overwriteWithGradient = false;
