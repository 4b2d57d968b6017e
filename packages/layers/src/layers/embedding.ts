import { nn, OutOfRangeError, type PartialShape, type Tensor, type Variable } from '@eagre/core';
import { argumentsOf, takesArguments } from '@eagre/core/internal';
import type { ConstraintLike } from '../constraints.ts';
import type { InitializerLike } from '../initializers.ts';
import { functionConfig } from '../keras-object.ts';
import { builtin, Layer, type LayerOptions } from '../layer.ts';
import type { RegularizerFunction, RegularizerLike } from '../regularizers.ts';
import { type Config, checkInteger, checkOne, fail, penalize, resolveActivityRegularizer } from './common.ts';
import { layerOptions, recipe, recipeOptions, weightNames } from './weights.ts';

export interface EmbeddingOptions extends LayerOptions {
  /** `uniform`, between -0.05 and 0.05, unless said. */
  readonly embeddingsInitializer?: InitializerLike;
  readonly embeddingsRegularizer?: RegularizerLike | null;
  readonly embeddingsConstraint?: ConstraintLike | null;
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
  readonly inputDim: number;
  readonly outputDim: number;
  /** [inputDim, outputDim] */
  embeddings!: Variable;
  readonly #recipes;
  readonly #activityRegularizer: RegularizerLike | null;
  readonly #penalty: RegularizerFunction | undefined;

  constructor(
    ...args: [inputDim: number, outputDim: number, options?: EmbeddingOptions] | [options: EmbeddingArguments]
  ) {
    const options = argumentsOf<EmbeddingArguments>(Embedding, new.target, args);
    super(options);
    this.inputDim = checkInteger(this, 'inputDim', options.inputDim);
    this.outputDim = checkInteger(this, 'outputDim', options.outputDim);
    this.#recipes = { embeddings: recipe('embeddings', options, 'uniform') };
    this.#activityRegularizer = options.activityRegularizer ?? null;
    this.#penalty = resolveActivityRegularizer(options.activityRegularizer);
  }

  override build(_inputShape?: PartialShape | readonly PartialShape[]): void {
    this.embeddings = this.addWeight({
      name: 'embeddings',
      shape: [this.inputDim, this.outputDim],
      ...this.#recipes.embeddings,
    });
  }

  /** @param inputs integers; floats that hold integers are converted. @throws OutOfRangeError for another integer. */
  override call(inputs: Tensor): Tensor {
    checkOne(this, inputs.shape);
    if (inputs.dtype === 'string') fail(this, 'expects integers, got a string tensor');
    const ids = inputs.dtype === 'int32' || inputs.dtype === 'int64' ? inputs : inputs.cast('int32');
    try {
      return penalize(this, this.#penalty, nn.embeddingLookup(this.embeddings, ids));
    } catch (error) {
      if (!(error instanceof OutOfRangeError)) throw error;
      throw new OutOfRangeError(
        `Embedding '${this.name}' has rows 0 … ${this.inputDim - 1}, got another index: ${error.message}`,
        undefined,
        { cause: error },
      );
    }
  }

  override computeOutputShape(inputShape: PartialShape): PartialShape {
    return [...checkOne(this, inputShape), this.outputDim];
  }

  override getConfig(): Record<string, unknown> {
    return {
      ...super.getConfig(),
      inputDim: this.inputDim,
      outputDim: this.outputDim,
      activityRegularizer: functionConfig(this.#activityRegularizer),
      ...recipeOptions(this.#recipes),
    };
  }
  static override fromConfig({ inputDim, outputDim, ...options }: Config): Embedding {
    return new Embedding(inputDim as number, outputDim as number, options);
  }
}
builtin(Embedding);
takesArguments<EmbeddingArguments>(
  {
    positional: ['inputDim', 'outputDim'],
    names: {
      inputDim: true,
      outputDim: true,
      ...weightNames('embeddings'),
      activityRegularizer: true,
      ...layerOptions,
    },
  },
  Embedding,
);
