import type { PartialShape, Tensor } from '@eagre/core';
import { argumentsOf, takesOptions, toTensor } from '@eagre/core/internal';
import { takesKinds } from '../../layer/kinds.ts';
import {
  type CallOptions,
  type FromConfig,
  Layer,
  type LayerOptions,
  ownsTemporaries,
  type Specs,
} from '../../layer/layer.ts';
import { takesCall } from '../../layer/own-call.ts';
import { checkOne, fail } from '../common.ts';
import { integer } from '../options.ts';
import { layerOptions } from '../weights.ts';
import {
  type CategoryMode,
  checkIntegers,
  encoded,
  encodedShape,
  encodedSpec,
  modes,
  sparseFlag,
} from './categories.ts';

/** Options of `CategoryEncoding`. */
export interface CategoryEncodingOptions extends LayerOptions {
  /** `multiHot`, the default: one row for an example, 1 where a category occurs. `oneHot`: a row for each category; `count`: how often each occurs. */
  readonly outputMode?: Exclude<CategoryMode, 'int'>;
  /** Whether it gives sparse tensors; false by default. */
  readonly sparse?: boolean;
}
/** All arguments of `CategoryEncoding`, by name. */
export interface CategoryEncodingArguments extends CategoryEncodingOptions {
  /** How many categories there are: one more than the largest integer. */
  readonly numTokens: number;
}

/** Integers of categories as rows of 0 and 1, or as counts; of `count`, each may have a weight, `layer(x, { countWeights })`. */
export class CategoryEncoding extends Layer {
  declare static readonly fromConfig: FromConfig<CategoryEncoding>;
  /** How many categories there are: one more than the largest integer. */
  declare readonly numTokens: number;
  /** `multiHot`: one row for an example, 1 where a category occurs. `oneHot`: a row for each category; `count`: how often each occurs. */
  declare readonly outputMode: Exclude<CategoryMode, 'int'>;
  /** Whether it gives sparse tensors. */
  declare readonly sparse: boolean;

  constructor(...args: [numTokens: number | CategoryEncodingArguments, options?: CategoryEncodingOptions]) {
    super(argumentsOf<CategoryEncodingArguments>(CategoryEncoding, new.target, args));
  }
  override call(inputs: Tensor, { countWeights }: CallOptions = {}): Tensor {
    checkOne(this, inputs.shape);
    const given = countWeights !== undefined && countWeights !== null;
    if (given && this.outputMode !== 'count') fail(this, "takes countWeights with outputMode 'count' only");
    const weights = given ? toTensor(countWeights as Tensor).cast(this.variableDtype) : undefined;
    // As in Keras rows are float32 where the layer computes in 16 bits.
    const { outputMode: mode, numTokens: depth, variableDtype: dtype, sparse } = this;
    return encoded(checkIntegers(this, inputs), { mode, depth, dtype, weights, sparse });
  }
  override computeOutputShape(inputShape: PartialShape): PartialShape {
    return encodedShape(checkOne(this, inputShape), this.outputMode, this.numTokens);
  }
  override computeOutputSpec({ list }: Specs): Specs {
    const { outputMode: mode, numTokens: depth, variableDtype: dtype, sparse } = this;
    checkOne(this, list[0].shape);
    return encodedSpec(list[0], { mode, depth, dtype, sparse }, dtype);
  }
  /** As Keras's, which does not say whether it is sparse. */
  override getConfig(): Record<string, unknown> {
    const { sparse, ...config } = super.getConfig();
    return sparse === true ? { ...config, sparse } : config;
  }
}
ownsTemporaries(CategoryEncoding);
takesKinds(['sparse', 'ragged'], CategoryEncoding);
takesCall({ options: { countWeights: true, training: true } }, CategoryEncoding);
takesOptions<CategoryEncodingArguments, CategoryEncoding>(
  {
    positional: ['numTokens'],
    options: {
      numTokens: integer(),
      outputMode: modes(['multiHot', 'oneHot', 'count'], 'multiHot'),
      sparse: sparseFlag,
      ...layerOptions,
    },
  },
  CategoryEncoding,
);
