import type { DType, PartialShape, Tensor, TensorLike, Variable } from '@eagre/core';
import {
  type Arguments,
  argumentsOf,
  differs,
  dims,
  isFloating,
  type Option,
  orNull,
  showShape,
  takesOptions,
  useMasks,
} from '@eagre/core/internal';
import { type CallOptions, type FromConfig, ownsTemporaries, type Specs } from '../../layer/layer.ts';
import { tellMasks } from '../../layer/masks.ts';
import { takesCall } from '../../layer/own-call.ts';
import { show } from '../../layer/show.ts';
import type { KerasTensor } from '../../models/keras-tensor.ts';
import { fail, floats } from '../common.ts';
import { flag, positive, recipe } from '../options.ts';
import { Embedding, type EmbeddingOptions, embeddingOptions } from './embedding.ts';

export interface ReversibleEmbeddingOptions extends EmbeddingOptions {
  /** Whether one matrix serves both directions; true by default. */
  readonly tieWeights?: boolean;
  /** The dtype of the way back; the layer's by default. */
  readonly reverseDtype?: DType | null;
  /** Bounds the logits softly: c · tanh(logits / c). */
  readonly logitSoftCap?: number | null;
}
/** All arguments of `ReversibleEmbedding`, by name. */
export interface ReversibleEmbeddingArguments extends ReversibleEmbeddingOptions {
  readonly inputDim: number;
  readonly outputDim: number;
}

export interface ReversibleCallOptions extends CallOptions {
  /** Whether vectors become logits instead of integers vectors. */
  readonly reverse?: boolean;
}

/**
 * An `Embedding` with a way back (Press and Wolf, 2016): integers [batch, n] become vectors [batch, n, outputDim], and with `{ reverse: true }` vectors
 * [..., outputDim] become logits [..., inputDim], of the same matrix.
 *
 *     const embedding = new tf.layers.ReversibleEmbedding(vocabulary, 64);
 *     const logits = embedding(decode(embedding(ids)), { reverse: true });
 */
export class ReversibleEmbedding extends Embedding {
  declare static readonly fromConfig: FromConfig<ReversibleEmbedding>;
  declare readonly tieWeights: boolean;
  declare readonly reverseDtype: DType | null;
  declare readonly logitSoftCap: number | null;
  /** [outputDim, inputDim], or null where one matrix serves both directions. */
  reverseEmbeddings: Variable | null = null;

  constructor(
    ...args: Arguments<
      [inputDim: number, outputDim: number],
      ['inputDim', 'outputDim'],
      ReversibleEmbeddingOptions
    >
  ) {
    super(argumentsOf<ReversibleEmbeddingArguments>(ReversibleEmbedding, new.target, args));
    if (this.maskZero) useMasks();
  }

  /** The call says itself which places of its result count: only those of integers are known. */
  override get passesOn(): boolean {
    return true;
  }

  override build(inputShape?: PartialShape | readonly PartialShape[]): void {
    super.build(inputShape);
    if (this.tieWeights) return;
    const { initializer } = recipe(this, 'embeddings');
    this.reverseEmbeddings = this.addWeight({
      name: 'reverse_embeddings',
      shape: [this.outputDim, this.inputDim],
      initializer,
    });
  }

  /** @param inputs integers, or vectors where it is reversed. @throws OutOfRangeError for another integer. */
  override call(inputs: Tensor, { reverse = false }: ReversibleCallOptions = {}): Tensor {
    if (reverse) return this.#back(floats(this, inputs));
    const y = super.call(inputs);
    if (this.maskZero) tellMasks([y], [inputs.notEqual(0)]);
    return y;
  }

  #back(inputs: Tensor): Tensor {
    const last = dims(inputs).at(-1);
    if (last === undefined || differs(last, this.outputDim))
      fail(this, `takes vectors [..., ${this.outputDim}] in reverse, got ${showShape(inputs.shape)}`);
    const dtype = this.reverseDtype ?? this.computeDtype;
    const as = (x: Tensor | Variable): Tensor => x.cast(dtype);
    const logits =
      this.reverseEmbeddings === null
        ? as(inputs).matmul(as(this.embeddings), { transposeB: true })
        : as(inputs).matmul(as(this.reverseEmbeddings));
    const cap = this.logitSoftCap;
    return cap === null ? logits : logits.div(cap).tanh().mul(cap);
  }

  /** @internal */
  override specsOfCall(args: readonly unknown[], now: Parameters<Embedding['specsOfCall']>[1]): Specs {
    const specs = super.specsOfCall(args, now);
    if ((args.at(-1) as ReversibleCallOptions | undefined)?.reverse !== true) return specs;
    // What it said is of integers: an axis is behind those.
    const shape = [...specs.list[0].shape.slice(0, -2), this.inputDim];
    return { list: [{ shape, dtype: this.reverseDtype ?? this.computeDtype }], many: false };
  }
}
export interface ReversibleEmbedding {
  (inputs: KerasTensor, options?: ReversibleCallOptions): KerasTensor;
  (inputs: TensorLike, options?: ReversibleCallOptions): Tensor;
}
ownsTemporaries(ReversibleEmbedding);
takesCall({ options: { reverse: true, training: true } }, ReversibleEmbedding);

const floating: Option<DType | null> = orNull({
  read: (given, name, layer) => {
    if (!isFloating(given as DType))
      fail(layer as Embedding, `needs ${name} to be a dtype of floats, got ${show(given)}`);
    return given as DType;
  },
});
takesOptions<ReversibleEmbeddingArguments, ReversibleEmbedding>(
  {
    positional: ['inputDim', 'outputDim'],
    options: {
      ...embeddingOptions,
      tieWeights: flag(true),
      reverseDtype: floating,
      logitSoftCap: orNull(positive()),
    },
  },
  ReversibleEmbedding,
);
