import { nn, OutOfRangeError, type PartialShape, type Tensor, type Variable } from '@eagre/core';
import { argumentsOf, type Schema, takesOptions, useMasks } from '@eagre/core/internal';
import type { ConstraintLike } from '../../constraints.ts';
import type { InitializerLike } from '../../initializers/initializers.ts';
import {
  type FromConfig,
  Layer,
  type LayerInput,
  type LayerOptions,
  ownsTemporaries,
  widened,
} from '../../layer/layer.ts';
import type { Mask } from '../../layer/masks.ts';
import type { RegularizerFunction, RegularizerLike } from '../../regularizers.ts';
import { checkOne, fail, penalize } from '../common.ts';
import { flag, integer, recipe, regularizer, weights } from '../options.ts';
import { layerOptions } from '../weights.ts';

export interface EmbeddingOptions extends LayerOptions {
  /** `uniform`, between -0.05 and 0.05 by default. */
  readonly embeddingsInitializer?: InitializerLike;
  readonly embeddingsRegularizer?: RegularizerLike | null;
  readonly embeddingsConstraint?: ConstraintLike | null;
  /** Whether the integer 0 stands for nothing: what comes behind gets the mask that hides it. False by default. */
  readonly maskZero?: boolean;
  /** A penalty on the output, per example. */
  readonly activityRegularizer?: RegularizerLike | null;
}

/** All arguments of `Embedding`, by name. */
export interface EmbeddingArguments extends EmbeddingOptions {
  /** The number of rows: one more than the largest integer. */
  readonly inputDim: number;
  /** The size of each row. */
  readonly outputDim: number;
}

/** Integers in 0 … inputDim − 1 become vectors that training learns: [batch, n] becomes [batch, n, outputDim]. */
export class Embedding extends Layer {
  declare static readonly fromConfig: FromConfig<Embedding>;
  declare readonly inputDim: number;
  declare readonly outputDim: number;
  declare readonly maskZero: boolean;
  /** @internal */
  declare readonly activityRegularizer: RegularizerFunction | null;
  /** [inputDim, outputDim] */
  embeddings!: Variable;

  constructor(
    ...args: [inputDim: number, outputDim: number, options?: EmbeddingOptions] | [options: EmbeddingArguments]
  ) {
    super(argumentsOf<EmbeddingArguments>(Embedding, new.target, args));
    if (this.maskZero) useMasks();
  }

  override build(_inputShape?: PartialShape | readonly PartialShape[]): void {
    this.embeddings = this.addWeight({
      name: 'embeddings',
      shape: [this.inputDim, this.outputDim],
      ...recipe(this, 'embeddings'),
    });
  }

  /** @param inputs integers; floats that hold integers are converted. @throws OutOfRangeError for another integer. */
  override call(inputs: Tensor): Tensor {
    checkOne(this, inputs.shape);
    if (inputs.dtype === 'string') fail(this, 'expects integers, got a string tensor');
    const ids = inputs.dtype === 'int32' || inputs.dtype === 'int64' ? inputs : inputs.cast('int32');
    try {
      return penalize(this, nn.embeddingLookup(this.embeddings, ids));
    } catch (error) {
      if (!(error instanceof OutOfRangeError)) throw error;
      throw new OutOfRangeError(
        `Embedding '${this.name}' has rows 0 … ${this.inputDim - 1}, got another index: ${error.message}`,
        undefined,
        { cause: error },
      );
    }
  }

  /** Where the integers are not 0, if that stands for nothing. */
  override computeMask(inputs: LayerInput, _previousMask: Mask): Mask {
    return this.maskZero ? (inputs as Tensor).notEqual(0) : null;
  }

  override computeOutputShape(inputShape: PartialShape): PartialShape {
    return [...checkOne(this, inputShape), this.outputDim];
  }
}
ownsTemporaries(Embedding);
// Rows are read from the table in 32 bits, which then need not be converted as a whole.
widened(Embedding);
/** @internal */
export const embeddingOptions: Schema<EmbeddingArguments, Embedding>['options'] = {
  inputDim: integer(),
  outputDim: integer(),
  ...weights({ embeddings: 'uniform' }),
  maskZero: flag(false),
  activityRegularizer: regularizer,
  ...layerOptions,
};
takesOptions<EmbeddingArguments, Embedding>(
  {
    positional: ['inputDim', 'outputDim'],
    options: embeddingOptions,
    fixed: { quantization_config: null },
  },
  Embedding,
);
