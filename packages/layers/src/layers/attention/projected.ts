// What attention layers with projections share.
import {
  nn,
  type PartialShape,
  type Shape,
  type Tensor,
  type TensorLike,
  type TrackableView,
  type Variable,
} from '@eagre/core';
import {
  causalMask,
  type Dim,
  dims,
  fusedMatMul,
  iota,
  mulDims,
  partialShape,
  showShape,
  sizeOf,
  toShape,
} from '@eagre/core/internal';
import { withAxes } from '../../initializers/initializer-axes.ts';
import {
  type CallOptions,
  Layer,
  type LayerInput,
  type LayerOptions,
  ownsTemporaries,
} from '../../layer/layer.ts';
import type { Mask } from '../../layer/masks.ts';
import type { CallParameters } from '../../layer/own-call.ts';
import { isShapes } from '../../layer/specs.ts';
import type { KerasTensor } from '../../models/keras-tensor.ts';
import type { RegularizerFunction } from '../../regularizers.ts';
import { fail, floats, penalize, seenBy } from '../common.ts';
import {
  AdaptedLayer,
  addEightBits,
  addQuantized,
  eightBits,
  noteInputs,
  productOfIntegers,
  toIntegers,
} from '../core/adapted.ts';
import { biasBesideEightBits, productOfEightBits } from '../core/eight-bit-floats.ts';
import type { MatrixForm } from '../core/four-bits.ts';
import { loraOf } from '../core/lora.ts';
import { recipe } from '../options.ts';
import { Dropout } from '../regularization/regularization.ts';

export type Shapes = PartialShape | readonly PartialShape[];

/** x · kernel + bias from the axes `from` to the axes `to`: [batch, time, ...from] becomes [batch, time, ...to]. */
export class Projection extends AdaptedLayer {
  readonly from: Shape;
  readonly to: Shape;
  /** [...from, ...to]; of int8 the integers, of int4, gptq and awq a matrix of them. After `enableLora` the sum of both. */
  kernel!: Variable;
  /** [...to] */
  bias: Variable | null = null;

  override readonly activityRegularizer: RegularizerFunction | null;
  readonly #of: ProjectedAttention;

  readonly #activation: ((y: Tensor) => Tensor) | undefined;

  constructor(
    of: ProjectedAttention,
    name: string,
    [from, to]: readonly [from: Shape, to: Shape],
    activation?: (y: Tensor) => Tensor,
  ) {
    super({ name, dtype: of.dtypePolicy, trainable: of.trainable });
    this.#of = of;
    this.#activation = activation;
    this.from = from;
    this.to = to;
    this.activityRegularizer = of.activityRegularizer;
    // Nobody gives it options of its own.
    for (const name of ['loraRank', 'loraAlpha', 'quantizationConfig'])
      Object.defineProperty(this, name, { value: null, writable: true, configurable: true });
  }

  override build(): void {
    const shape = [...this.from, ...this.to];
    if (this.quantizationMode === 'float8') addEightBits(this);
    if (this.isOfIntegers) addQuantized(this, 'kernel', shape, [1, 1, ...this.to]);
    else this.#addKernel(shape);
    if (!this.#of.useBias) return;
    this.bias = this.addWeight({ name: 'bias', shape: this.to, ...recipe(this.#of, 'bias') });
  }
  #addKernel(shape: Shape): void {
    const axes = shape.map((_, axis) => axis);
    const { initializer, ...kernel } = recipe(this.#of, 'kernel');
    const n = this.from.length;
    this.kernel = this.addWeight({
      name: 'kernel',
      shape,
      ...kernel,
      initializer: withAxes(initializer, axes.slice(0, n), axes.slice(n)),
    });
  }

  /** @internal */
  override get largeWeight(): 'kernel' {
    return 'kernel';
  }
  /** @internal */
  override toIntegers(mode: unknown, config: unknown): void {
    toIntegers(this, Projection, mode, config);
  }
  /** @internal */
  override matrixForm(): MatrixForm {
    return { rows: sizeOf(this.from), columns: sizeOf(this.to), axis: 0 };
  }
  /** @internal */
  override get axisOfScale(): readonly number[] {
    return this.from.map((_, axis) => axis);
  }
  /** @internal With the axes of the result. */
  override keptScale(scale: Tensor): Tensor {
    return scale.reshape([1, 1, ...this.to]);
  }
  /** @internal */
  protected override scaleOfWeight(scale: Tensor): Tensor {
    return scale.reshape([...this.from.map(() => 1), ...this.to]);
  }

  /** The product with a weight of integers and what LoRA adds, or that of floats of 8 bits. */
  #quantized(x: Tensor, training: boolean): Tensor {
    const [batch, time] = dims(x) as [Dim, Dim];
    const [k, n] = [sizeOf(this.from), sizeOf(this.to)];
    const times = (a: Tensor, b: Tensor, to: Shape, transposeB = false): Tensor => {
      const flat = a.reshape(toShape([mulDims(batch, time), transposeB ? n : k]));
      const last = transposeB ? n : sizeOf(to);
      const y = flat.matmul(b.reshape([k, last]), { transposeB });
      return y.reshape(toShape([batch, time, ...to]));
    };
    const parts = {
      axis: this.from.map((_, i) => i + 2),
      product: (a: Tensor, b: Tensor) => times(a, b, this.to),
      ofInputs: (scale: Tensor) => scale.reshape(toShape([batch, time, ...this.to.map(() => 1)])),
      ofWeight: (scale: Tensor) => this.scaleOfWeight(scale),
      back: (dy: Tensor, kernel: Tensor) => times(dy, kernel, this.from, true),
    };
    if (this.quantizationMode === 'float8')
      return productOfEightBits(x, this.kernel.cast(x.dtype), eightBits(this), training, parts.product);
    const y = productOfIntegers(this, x, parts);
    const lora = loraOf(this);
    if (lora === null) return y;
    const { a, b, scale } = lora;
    const small = times(x, a.read(), [...this.to.slice(0, -1), a.shape.at(-1) as number]);
    return y.add(small.matmul(b).mul(scale).cast(y.dtype));
  }

  override call(inputs: Tensor, { training }: CallOptions = {}): Tensor {
    const x = floats(this, inputs);
    noteInputs(this, x);
    if (this.quantizationMode !== null) {
      const product = this.#quantized(x, training === true);
      const bias =
        this.bias === null || this.quantizationMode !== 'float8'
          ? this.bias
          : biasBesideEightBits(this.bias.cast(x.dtype));
      const sum = bias === null ? product : product.add(bias);
      return penalize(this, this.#activation?.(sum) ?? sum);
    }
    const [batch, time] = dims(x) as [Dim, Dim];
    const [k, n] = [sizeOf(this.from), sizeOf(this.to)];
    const y = fusedMatMul(
      x.reshape(toShape([mulDims(batch, time), k])),
      this.kernel.reshape([k, n]),
      this.bias?.reshape([n]) ?? null,
    );
    const z = y.reshape(toShape([batch, time, ...this.to]));
    return penalize(this, this.#activation?.(z) ?? z);
  }

  override computeOutputShape(inputShape: PartialShape): PartialShape {
    return [...inputShape.slice(0, 2), ...this.to];
  }
}

/** What a call of `MultiHeadAttention` or `GroupQueryAttention` takes behind its inputs. */
export interface AttentionCallOptions extends CallOptions {
  /** What a query may see, true or not 0: [queries, keys], [batch, queries, keys] or [batch, heads, queries, keys]. */
  readonly attentionMask?: TensorLike | null;
  /** Which queries count, bool [batch, queries]. */
  readonly queryMask?: TensorLike | null;
  /** Which values can be seen, bool [batch, keys]. */
  readonly valueMask?: TensorLike | null;
  /** Which keys can be seen, bool [batch, keys]; besides `valueMask`. */
  readonly keyMask?: TensorLike | null;
  /** Whether a query sees only what is no later than itself. */
  readonly useCausalMask?: boolean;
  /** Also returns the weights, [batch, heads, queries, keys]; for tensors, not when a functional model is described. */
  readonly returnAttentionScores?: boolean;
}

/** The shapes of query, value and key, of what `build` was given. */
function shapesGiven(query: Shapes, value?: PartialShape | null, key?: PartialShape | null): Shapes {
  const more = [value, key].filter((shape) => shape !== undefined && shape !== null);
  return more.length === 0 ? query : [query as PartialShape, ...more];
}

/** Query, key and value are projected to heads [batch, time, heads, n], and what attention makes of them is projected back. */
export abstract class ProjectedAttention extends Layer {
  /** Share of the attention weights that training puts to 0. */
  declare readonly dropout: number;
  /** Whether a bias is added to the result. */
  declare readonly useBias: boolean;
  /** Makes what is dropped the same in each run of the program. */
  declare readonly seed: number | null;
  /** @internal */
  declare readonly activityRegularizer: RegularizerFunction | null;
  // Declared only: weights are in the order in which `build` makes them.
  /** [n, heads, size of a head] */
  declare query: Projection;
  /** Makes keys of the inputs. */
  declare key: Projection;
  /** Makes values of the inputs. */
  declare value: Projection;
  /** [heads, size of a head, ...outputShape] */
  declare attentionOutput: Projection;
  readonly #drop: Dropout | null;

  constructor(options: LayerOptions) {
    super(options);
    const { dropout, seed, dtypePolicy: dtype } = this;
    this.#drop = dropout > 0 ? new Dropout(dropout, { seed, dtype }) : null;
  }

  /** @internal */
  override get buildsOfSeveral(): boolean {
    return true;
  }
  /** @internal */
  override ensureBuilt(shape: Shapes, [value, key]: readonly (PartialShape | null | undefined)[] = []): void {
    super.ensureBuilt(shapesGiven(shape, value, key));
  }

  /** What checkpoints save: Keras has private names for the projections. */
  override trackableView(): TrackableView {
    const children: (readonly [string, unknown])[] = [];
    for (const [name, child] of super.trackableView().children ?? []) {
      const own = name === 'attentionOutput' || name === 'attention_output' ? 'output' : name;
      children.push([child instanceof Projection ? `_${own}_dense` : name, child]);
    }
    return { children };
  }

  protected projection(name: string, from: Shape, to: Shape, activation?: (y: Tensor) => Tensor): Projection {
    const layer = new Projection(this, name, [from, to], activation);
    layer.ensureBuilt([null, null, ...from]);
    return layer;
  }

  /** The inputs as floats: query, value and key. */
  protected given(inputs: LayerInput): readonly [query: Tensor, value: Tensor, key: Tensor] {
    const list = (Array.isArray(inputs) ? inputs : [inputs]) as readonly Tensor[];
    const [query, value = query, key = value] = list.map((t) => floats(this, t)) as [
      Tensor,
      Tensor?,
      Tensor?,
    ];
    this.shapes(list.map((t) => t.shape));
    return [query, value, key];
  }

  /**
   * What projected queries [batch, time, heads, n] see of as many heads of keys and values, and the weights where they were asked for.
   * @param band beside the masks of the call: [1, 1, queries, keys].
   */
  protected attend(
    projected: readonly [Tensor, Tensor, Tensor],
    size: number,
    options: AttentionCallOptions,
    band: Tensor | null = null,
  ): readonly [y: Tensor, weights: Tensor | null] {
    // With a map of policies projections may have other precisions.
    const [query, value, key] = projected.map((t) => floats(this, t)) as [Tensor, Tensor, Tensor];
    const mask = this.#masks(options, band);
    const isCausal = options.useCausalMask === true;
    const scale = 1 / Math.sqrt(size);
    const drop = options.training === true ? this.#drop : null;
    if (drop === null && options.returnAttentionScores !== true)
      return [
        nn.scaledDotProductAttention(query, key, value, { mask, isCausal, scale, timeFirst: true }),
        null,
      ];
    const first = (t: Tensor): Tensor => t.transpose([0, 2, 1, 3]);
    const scores = first(query).mul(scale).matmul(first(key), { transposeB: true });
    const weights = this.#weights(scores, mask, isCausal);
    const y = first((drop === null ? weights : drop(weights)).matmul(first(value)));
    return [y, options.returnAttentionScores === true ? weights : null];
  }

  /** What lies in the window of each query, which sees keys less than `window` steps away. */
  protected band(window: number | null, query: Tensor, key: Tensor): Tensor | null {
    if (window === null) return null;
    const places = (t: Tensor, axis: number): Tensor => iota(dims(t)[1] as Dim).expandDims(axis);
    return places(query, 1).sub(places(key, 0)).abs().less(window).expandDims([0, 1]);
  }

  /** Query's, value's and key's shapes. @throws InvalidArgumentError for others than the layer takes. */
  protected shapes(given: Shapes): readonly [PartialShape, PartialShape, PartialShape] {
    const list = (isShapes(given) ? given : [given]).map((s) => partialShape(s));
    const [query, value = query, key = value] = list as [PartialShape, PartialShape?, PartialShape?];
    const all = [query, value, key] as const;
    const shown = list.map(showShape).join(', ');
    if (list.length > 3 || all.some((s) => s.length !== 3))
      fail(this, `takes [query, value] or [query, value, key], each [batch, time, n], got ${shown}`);
    const differ = (a: number | null | undefined, b: number | null | undefined): boolean =>
      typeof a === 'number' && typeof b === 'number' && a !== b;
    if (differ(query[0], value[0]) || differ(value[0], key[0]) || differ(value[1], key[1]))
      fail(this, `needs inputs of one batch size, and as many values as keys, got ${shown}`);
    const built = [this.query, this.value, this.key] as const;
    built.forEach((projection, i) => {
      const n = (projection as Projection | undefined)?.from[0];
      if (differ(n, all[i]?.[2]))
        fail(this, `was built for ${['query', 'value', 'key'][i]} [batch, time, ${n}], got ${shown}`);
    });
    return all;
  }

  override optionsShape({ returnAttentionScores }: AttentionCallOptions): boolean {
    return returnAttentionScores === true;
  }

  /** That of the queries. */
  override computeMask(_: LayerInput, mask: Mask): Mask {
    return Array.isArray(mask) ? (mask[0] ?? null) : mask;
  }

  /** What all masks leave to be seen, [batch, 1 or heads, queries, keys]; null for everything. */
  #masks(
    { queryMask, valueMask, keyMask, attentionMask }: AttentionCallOptions,
    band: Tensor | null,
  ): Tensor | null {
    const along = (given: TensorLike | null | undefined, name: string, axis: 2 | 3): Tensor | null => {
      if (given === undefined || given === null) return null;
      const mask = seenBy(given);
      if (mask.rank !== 2) fail(this, `needs a ${name} [batch, time], got ${showShape(mask.shape)}`);
      const [batch, time] = dims(mask) as [Dim, Dim];
      return mask.reshape(toShape(axis === 2 ? [batch, 1, time, 1] : [batch, 1, 1, time]));
    };
    const all = [
      along(queryMask, 'queryMask', 2),
      along(valueMask, 'valueMask', 3),
      along(keyMask, 'keyMask', 3),
      this.#mask(attentionMask),
      band,
    ].filter((mask) => mask !== null);
    return all.length === 0 ? null : all.reduce((a, b) => a.logicalAnd(b));
  }

  /** A mask of rank 4, or null. */
  #mask(given: TensorLike | null | undefined): Tensor | null {
    if (given === undefined || given === null) return null;
    const mask = seenBy(given);
    if (mask.rank < 2 || mask.rank > 4)
      fail(this, `needs an attentionMask [batch, queries, keys], got ${showShape(mask.shape)}`);
    if (mask.rank === 4) return mask;
    const own = dims(mask);
    return mask.reshape(toShape([mask.rank === 3 ? own[0] : 1, 1, ...own.slice(-2)]));
  }

  /** The softmax of scores [batch, heads, queries, keys], 0 for what is not to be seen. */
  #weights(scores: Tensor, mask: Tensor | null, isCausal: boolean): Tensor {
    const causal = isCausal ? causalMask(dims(scores)[2], dims(scores)[3]) : null;
    const seen = mask === null ? causal : causal === null ? mask : mask.logicalAnd(causal);
    if (seen === null) return scores.softmax();
    return seen.where(seen.where(scores, -1e30).softmax(), 0);
  }
}
interface AttentionCall {
  (
    inputs: KerasTensor | readonly KerasTensor[],
    options: AttentionCallOptions & { readonly returnAttentionScores: true },
  ): [output: KerasTensor, scores: KerasTensor];
  (inputs: KerasTensor | readonly KerasTensor[], options?: AttentionCallOptions): KerasTensor;
  (
    inputs: TensorLike | readonly Tensor[],
    options: AttentionCallOptions & { readonly returnAttentionScores: true },
  ): [output: Tensor, scores: Tensor];
  (inputs: TensorLike | readonly Tensor[], options?: AttentionCallOptions): Tensor;
}
export interface ProjectedAttention extends AttentionCall {}
ownsTemporaries(Projection);

/** How such layers are called. */
export const attentionCall: CallParameters = {
  inputs: ['query', 'value', 'key'],
  options: {
    queryMask: true,
    valueMask: true,
    keyMask: true,
    attentionMask: true,
    returnAttentionScores: true,
    training: true,
    useCausalMask: true,
  },
};
