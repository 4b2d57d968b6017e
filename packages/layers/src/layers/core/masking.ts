import type { PartialShape, Tensor } from '@eagre/core';
import { argumentsOf, takesOptions, useMasks } from '@eagre/core/internal';
import {
  builtAtOnce,
  type FromConfig,
  Layer,
  type LayerInput,
  type LayerOptions,
  ownsTemporaries,
} from '../../layer/layer.ts';
import type { Mask } from '../../layer/masks.ts';
import { checkOne, values } from '../common.ts';
import { number } from '../options.ts';
import { layerOptions } from '../weights.ts';

/** Options of `Masking`. */
export interface MaskingOptions extends LayerOptions {
  /** What stands for nothing; 0 by default. */
  readonly maskValue?: number;
}

/**
 * Hides the steps whose features all are `maskValue`: they become 0, and what comes behind gets the mask [batch, steps] of the others.
 */
export class Masking extends Layer {
  declare static readonly fromConfig: FromConfig<Masking>;
  /** What stands for nothing. */
  declare readonly maskValue: number;

  constructor(...args: [maskValue?: number | null | MaskingOptions, options?: MaskingOptions]) {
    super(argumentsOf<MaskingOptions>(Masking, new.target, args));
    useMasks();
  }
  override call(inputs: Tensor): Tensor {
    const given = values(this, inputs);
    // As Keras multiplies truths.
    const x = given.dtype === 'bool' ? given.cast('int32') : given;
    return x.notEqual(this.maskValue).any(-1, { keepdims: true }).where(x, 0);
  }
  override computeMask(inputs: LayerInput, _previousMask: Mask): Mask {
    return (inputs as Tensor).notEqual(this.maskValue).any(-1);
  }
  override computeOutputShape(inputShape: PartialShape): PartialShape {
    return checkOne(this, inputShape);
  }
}
ownsTemporaries(Masking);
builtAtOnce(Masking);
takesOptions<MaskingOptions, Masking>(
  { positional: ['maskValue'], required: 0, options: { maskValue: number(0), ...layerOptions } },
  Masking,
);
