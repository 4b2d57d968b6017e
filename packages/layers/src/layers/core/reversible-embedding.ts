import type { DType, PartialShape, Shape, Tensor, TensorLike, Variable } from '@eagre/core';
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
import {
  forget,
  fourBits,
  int8Of,
  type ProductParts,
  productOfInts,
  quantizedOf,
  standard,
  toIntegers,
} from './adapted.ts';
import { Embedding, type EmbeddingOptions, embeddingOptions } from './embedding.ts';
import {
  type FourBits,
  floatsOf,
  fourBitsOf,
  type MatrixForm,
  productOfFourBits,
  shapesOf,
} from './four-bits.ts';

/** Options of `ReversibleEmbedding`. */
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
  /** The number of rows: one more than the largest integer. */
  readonly inputDim: number;
  /** The size of each row. */
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
  /** Whether one matrix serves both directions. */
  declare readonly tieWeights: boolean;
  /** The dtype of the way back. */
  declare readonly reverseDtype: DType | null;
  /** Bounds the logits softly: c · tanh(logits / c). */
  declare readonly logitSoftCap: number | null;
  /** [outputDim, inputDim], or null where one matrix serves both directions. */
  reverseEmbeddings: Variable | null = null;
  /** Of int8 and int4 with a matrix of its own: [inputDim], by which its integers are divided; with groups [groups, inputDim], by which they are multiplied. */
  declare readonly reverseEmbeddingsScale?: Variable;
  /** Of int4 with groups and a matrix of its own: [groups, inputDim], which is taken off the integers before. */
  declare readonly reverseEmbeddingsZero?: Variable;

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
    if (this.isOfIntegers) {
      this.#addIntegers();
      return;
    }
    const { initializer } = recipe(this, 'embeddings');
    this.reverseEmbeddings = this.addWeight({
      name: 'reverse_embeddings',
      shape: [this.outputDim, this.inputDim],
      initializer,
    });
  }

  /** The own matrix of the way back, of which elements of a column, or groups of them, have a scale. */
  get #form(): MatrixForm {
    return { rows: this.outputDim, columns: this.inputDim, axis: 0, packed: 0 };
  }
  /** Makes the weights of an own matrix of integers. */
  #addIntegers(): void {
    const isInt8 = this.quantizationMode === 'int8';
    const shapes = shapesOf(this.#form, isInt8 ? null : fourBits(this).block);
    const make = (end: string, shape: Shape, initializer: 'ones' | 'zeros', dtype?: 'int8'): Variable =>
      this.addWeight({
        name: `reverse_embeddings${end}`,
        shape,
        initializer,
        trainable: false,
        ...(dtype === undefined ? {} : { dtype, autocast: false }),
      });
    const packed = isInt8 ? [this.outputDim, this.inputDim] : shapes.packed;
    this.reverseEmbeddings = make('', packed, 'zeros', 'int8');
    const own: Record<string, Variable> = { reverseEmbeddingsScale: make('_scale', shapes.scale, 'ones') };
    if (shapes.zero !== null) own['reverseEmbeddingsZero'] = make('_zero', shapes.zero, 'zeros');
    Object.assign(this, own);
  }

  /** @internal */
  override toIntegers(mode: unknown, given: unknown): void {
    const before = this.reverseEmbeddings;
    toIntegers(this, ReversibleEmbedding, mode, given);
    if (before === null) return;
    const matrix = before.read();
    const quantizer = this.quantizationConfig?.weightQuantizer ?? null;
    forget(this, before);
    this.#addIntegers();
    const { reverseEmbeddings: ints, reverseEmbeddingsScale: scale, reverseEmbeddingsZero: zero } = this;
    if (this.quantizationMode === 'int8') {
      const [values, scales] = int8Of(matrix, quantizer, 0);
      ints?.assign(values);
      scale?.assign(scales.squeeze([0]).cast(scale.dtype));
      return;
    }
    const own = fourBitsOf(matrix, this.#form, fourBits(this).block, quantizer);
    ints?.assign(own.packed);
    scale?.assign(own.scale.cast(scale.dtype));
    if (own.zero !== null) zero?.assign(own.zero.cast(zero.dtype));
  }
  /** @internal The weights of the way back come last, as in Keras's files. */
  override get fileVariables(): Variable[] {
    const all = super.fileVariables;
    const { reverseEmbeddings: ints, reverseEmbeddingsScale: scale, reverseEmbeddingsZero: zero } = this;
    if (ints === null || scale === undefined) return all;
    const own = [ints, scale, zero].filter((v) => v !== undefined);
    return [...all.filter((v) => !own.includes(v)), ...own];
  }

  /** @param inputs integers, or vectors where it is reversed. @throws OutOfRangeError for another integer. */
  override call(inputs: Tensor, { reverse = false }: ReversibleCallOptions = {}): Tensor {
    if (reverse) return this.#capped(this.#back(floats(this, inputs)));
    const y = super.call(inputs);
    if (this.maskZero) tellMasks([y], [inputs.notEqual(0)]);
    return y;
  }

  #back(inputs: Tensor): Tensor {
    const last = dims(inputs).at(-1);
    if (last === undefined || differs(last, this.outputDim))
      fail(this, `takes vectors [..., ${this.outputDim}] in reverse, got ${showShape(inputs.shape)}`);
    if (this.isOfIntegers) return this.#backOfIntegers(inputs);
    const dtype = this.reverseDtype ?? this.computeDtype;
    const as = (x: Tensor | Variable): Tensor => x.cast(dtype);
    return this.reverseEmbeddings === null
      ? as(inputs).matmul(as(this.embeddings), { transposeB: true })
      : as(inputs).matmul(as(this.reverseEmbeddings));
  }
  #backOfIntegers(x: Tensor): Tensor {
    const { reverseEmbeddings: reverse, reverseEmbeddingsScale: scale, reverseEmbeddingsZero: zero } = this;
    // Tied, the matrix lies the other way.
    const tied = reverse === null;
    const parts: ProductParts = {
      axis: -1,
      product: (a, weight) => a.matmul(weight, { transposeB: tied }),
      ofInputs: (s) => s,
      ofWeight: (s) => s.expandDims(tied ? -1 : 0),
      back: (dy, weight) => dy.matmul(weight, { transposeB: !tied }),
    };
    const config = this.quantizationConfig;
    const quantizer = config === null ? standard() : config.activationQuantizer;
    if (this.quantizationMode === 'int8') {
      const own = { ints: reverse as Variable, scale: scale as Variable };
      return productOfInts(x, tied ? quantizedOf(this, 'embeddings') : own, quantizer, parts);
    }
    const { group } = fourBits(this).kept;
    const kept: FourBits = {
      packed: reverse as Variable,
      scale: scale as Variable,
      zero: zero ?? null,
      group,
    };
    const weight = (): Tensor =>
      tied ? this.floatsOfBits() : floatsOf(kept, this.#form, this.computeDtype as 'float32');
    return productOfFourBits(x, weight, quantizer, parts);
  }
  #capped(logits: Tensor): Tensor {
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
