import {
  type Axis,
  nn,
  OutOfRangeError,
  type PartialShape,
  type Shape,
  type Tensor,
  type TensorLike,
  type Variable,
  zeros,
} from '@eagre/core';
import {
  type Arguments,
  argumentsOf,
  naming,
  type Schema,
  takesOptions,
  useMasks,
} from '@eagre/core/internal';
import type { ConstraintFunction, ConstraintLike } from '../../constraints.ts';
import type { InitializerLike } from '../../initializers/initializers.ts';
import { densified, isStored, kindOf, onValues, takesKinds } from '../../layer/kinds.ts';
import {
  type FromConfig,
  type LayerInput,
  type LayerOptions,
  ownsTemporaries,
  widened,
} from '../../layer/layer.ts';
import type { Mask } from '../../layer/masks.ts';
import { isTryingOut } from '../../layer/specs.ts';
import type { RegularizerFunction, RegularizerLike } from '../../regularizers.ts';
import { checkOne, fail, penalize } from '../common.ts';
import { flag, integer, recipe, regularizer, weights } from '../options.ts';
import { penalizedOptions } from '../weights.ts';
import {
  AdaptedLayer,
  type AdaptedOptions,
  adaptedOptions,
  addQuantized,
  fourBits,
  quantizedOf,
  toIntegers,
} from './adapted.ts';
import { floatsOf, type MatrixForm } from './four-bits.ts';
import { baseOf, loraOf } from './lora.ts';

/** Options of `Embedding`. */
export interface EmbeddingOptions extends LayerOptions, AdaptedOptions {
  /** `uniform`, between -0.05 and 0.05 by default. */
  readonly embeddingsInitializer?: InitializerLike;
  /** A penalty on the table, which training adds to the loss; none by default. */
  readonly embeddingsRegularizer?: RegularizerLike | null;
  /** A function that is applied to the table after each update; none by default. */
  readonly embeddingsConstraint?: ConstraintLike | null;
  /** Whether the integer 0 stands for nothing: what comes behind gets the mask that hides it. False by default. */
  readonly maskZero?: boolean;
  /** The table itself, [inputDim, outputDim], or a list with it: `weights: [pretrained]`. */
  readonly weights?: TensorLike | readonly [TensorLike] | null;
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
export class Embedding extends AdaptedLayer {
  declare static readonly fromConfig: FromConfig<Embedding>;
  /** The number of rows: one more than the largest integer. */
  declare readonly inputDim: number;
  /** The size of each row. */
  declare readonly outputDim: number;
  /** Whether the integer 0 stands for nothing: what comes behind gets the mask that hides it. */
  declare readonly maskZero: boolean;
  /** @internal */
  declare readonly activityRegularizer: RegularizerFunction | null;
  /** @internal */
  declare readonly embeddingsRegularizer: RegularizerFunction | null;
  /** @internal */
  declare readonly embeddingsConstraint: ConstraintFunction | null;
  /** After `enableLora`: [inputDim, rank] and [rank, outputDim]. */
  declare readonly loraEmbeddingsA?: Variable;
  declare readonly loraEmbeddingsB?: Variable;
  /** [inputDim], by which the integers are divided; of int4 with groups [inputDim, groups], by which they are multiplied. */
  declare readonly embeddingsScale?: Variable;
  /** Of int4 with groups: [inputDim, groups], which is taken off the integers before. */
  declare readonly embeddingsZero?: Variable;
  /** Of int4 with groups: [outputDim], the group of each column. */
  declare readonly gIdx?: Variable;
  /** [inputDim, outputDim]; of int8 the integers, of int4 [inputDim, ⌈outputDim / 2⌉], two in a byte. After `enableLora` the sum of both, which cannot be assigned to. */
  embeddings!: Variable;

  constructor(
    ...args: Arguments<[inputDim: number, outputDim: number], ['inputDim', 'outputDim'], EmbeddingOptions>
  ) {
    const { weights: given, ...options } = argumentsOf<EmbeddingArguments>(Embedding, new.target, args);
    super(options);
    if (this.maskZero) useMasks();
    if (given === undefined || given === null) return;
    this.ensureBuilt([]);
    const isList = Array.isArray(given) && given.length === 1 && this.inputDim !== 1;
    naming('weights', () =>
      this.setWeights(isList ? (given as readonly TensorLike[]) : [given as TensorLike]),
    );
  }

  override build(_inputShape?: PartialShape | readonly PartialShape[]): void {
    const shape = [this.inputDim, this.outputDim];
    if (this.isOfIntegers) addQuantized(this, 'embeddings', shape, [this.inputDim]);
    else this.embeddings = this.addWeight({ name: 'embeddings', shape, ...recipe(this, 'embeddings') });
    this.addOwnLora();
  }

  /** @internal */
  override get takesFloat8(): boolean {
    return false;
  }
  /** @internal */
  override get largeWeight(): 'embeddings' {
    return 'embeddings';
  }
  /** @internal */
  protected override scaleOfWeight(scale: Tensor): Tensor {
    return scale.expandDims(-1);
  }
  /** @internal */
  override toIntegers(mode: unknown, config: unknown): void {
    toIntegers(this, Embedding, mode, config);
  }
  /** @internal */
  override matrixForm([rows, columns]: Shape): MatrixForm {
    return { rows: rows as number, columns: columns as number, axis: 1 };
  }
  /** @internal */
  override get axisOfScale(): Axis {
    return -1;
  }
  /** @internal */
  override keptScale(scale: Tensor): Tensor {
    return scale.squeeze([-1]);
  }

  /** The rows of integers, of a table of int8 or with LoRA beside it. */
  #rows(ids: Tensor): Tensor {
    const dtype = this.computeDtype;
    const base = baseOf(this, 'embeddings') as Variable;
    const isPacked = this.quantizationMode === 'int4';
    const found = isPacked ? this.#rowsOfFourBits(ids) : nn.embeddingLookup(base, ids);
    let y = found;
    if (this.quantizationMode === 'int8') {
      const { scale } = quantizedOf(this, 'embeddings');
      y = found.cast(dtype).div(nn.embeddingLookup(scale, ids).cast(dtype).expandDims(-1));
    }
    const lora = loraOf(this);
    if (lora === null) return y;
    return y.add(nn.embeddingLookup(lora.a, ids).matmul(lora.b).mul(lora.scale).cast(y.dtype));
  }

  #rowsOfFourBits(ids: Tensor): Tensor {
    const { kept, form } = fourBits(this);
    return floatsOf(kept, form, this.computeDtype as 'float32', ids);
  }

  /** @param inputs integers; floats that hold integers are converted. @throws OutOfRangeError for another integer. */
  override call(inputs: Tensor): Tensor {
    checkOne(this, inputs.shape);
    // As in Keras, a sparse tensor's places without a value are the row of 0.
    if (kindOf(inputs) === 'sparse') return this.call(densified(inputs));
    if (isStored(inputs)) return onValues(inputs as Tensor, (ids) => this.call(ids));
    if (inputs.dtype === 'string') fail(this, 'expects integers, got a string tensor');
    // Where only shapes are asked for, sizes and so the integers that are computed of them are made up.
    if (isTryingOut())
      return penalize(this, zeros([...inputs.shape, this.outputDim], { dtype: this.computeDtype }));
    const ids = inputs.dtype === 'int32' || inputs.dtype === 'int64' ? inputs : inputs.cast('int32');
    try {
      return penalize(this, this.#rows(ids));
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
    if (!this.maskZero) return null;
    return onValues(inputs as Tensor, (ids) => ids.notEqual(0));
  }

  override computeOutputShape(inputShape: PartialShape): PartialShape {
    return [...checkOne(this, inputShape), this.outputDim];
  }
}
ownsTemporaries(Embedding);
takesKinds(['sparse', 'ragged'], Embedding);
// Rows are read from the table in 32 bits, which then need not be converted as a whole.
widened(Embedding);
/** @internal */
export const embeddingOptions: Schema<EmbeddingArguments, Embedding>['options'] = {
  inputDim: integer(),
  outputDim: integer(),
  ...weights({ embeddings: 'uniform' }),
  maskZero: flag(false),
  weights: true,
  activityRegularizer: regularizer,
  ...adaptedOptions,
  ...penalizedOptions,
};
takesOptions<EmbeddingArguments, Embedding>(
  {
    positional: ['inputDim', 'outputDim'],
    options: embeddingOptions,
  },
  Embedding,
);
