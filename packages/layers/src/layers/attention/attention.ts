import {
  nn,
  type PartialShape,
  type Shape,
  type Tensor,
  type TensorLike,
  type TrackableView,
  UnimplementedError,
  type Variable,
} from '@eagre/core';
import {
  argumentsOf,
  causalMask,
  type Dim,
  dims,
  fusedMatMul,
  mulDims,
  type Option,
  optionsFrom,
  orNull,
  partialShape,
  shown,
  showShape,
  takesOptions,
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
import { takesCall } from '../../layer/own-call.ts';
import { isShapes } from '../../layer/specs.ts';
import type { KerasTensor } from '../../models/keras-tensor.ts';
import type { RegularizerFunction, RegularizerLike } from '../../regularizers.ts';
import { type Config, fail, floats, knownSize, penalize, seenBy } from '../common.ts';
import { flag, integer, rate, recipe, regularizer, seed, weights } from '../options.ts';
import { Dropout } from '../regularization/regularization.ts';
import { type BiasOptions, type KernelOptions, layerOptions } from '../weights.ts';

type Shapes = PartialShape | readonly PartialShape[];

/** x · kernel + bias from the axes `from` to the axes `to`: [batch, time, ...from] becomes [batch, time, ...to]. */
class Projection extends Layer {
  readonly from: Shape;
  readonly to: Shape;
  /** [...from, ...to] */
  kernel!: Variable;
  /** [...to] */
  bias: Variable | null = null;

  readonly activityRegularizer: RegularizerFunction | null;
  readonly #of: MultiHeadAttention;

  constructor(of: MultiHeadAttention, name: string, from: Shape, to: Shape) {
    super({ name, dtype: of.dtype, trainable: of.trainable });
    this.#of = of;
    this.from = from;
    this.to = to;
    this.activityRegularizer = of.activityRegularizer;
  }

  override build(): void {
    const shape = [...this.from, ...this.to];
    const axes = shape.map((_, axis) => axis);
    const { initializer, ...kernel } = recipe(this.#of, 'kernel');
    const n = this.from.length;
    this.kernel = this.addWeight({
      name: 'kernel',
      shape,
      ...kernel,
      initializer: withAxes(initializer, axes.slice(0, n), axes.slice(n)),
    });
    if (!this.#of.useBias) return;
    this.bias = this.addWeight({ name: 'bias', shape: this.to, ...recipe(this.#of, 'bias') });
  }

  override call(x: Tensor): Tensor {
    const [batch, time] = dims(x) as [Dim, Dim];
    const size = (shape: Shape): number => shape.reduce((n, d) => n * d, 1);
    const [k, n] = [size(this.from), size(this.to)];
    const y = fusedMatMul(
      x.reshape(toShape([mulDims(batch, time), k])),
      this.kernel.reshape([k, n]),
      this.bias?.reshape([n]) ?? null,
    );
    return penalize(this, y.reshape(toShape([batch, time, ...this.to])));
  }

  override computeOutputShape(inputShape: PartialShape): PartialShape {
    return [...inputShape.slice(0, 2), ...this.to];
  }
}

export interface MultiHeadAttentionOptions extends LayerOptions, KernelOptions, BiasOptions {
  readonly numHeads: number;
  /** Size of each head for query and key. */
  readonly keyDim: number;
  /** Size of each head for value; `keyDim` by default. */
  readonly valueDim?: number | null;
  /** Share of the attention weights that training puts to 0. */
  readonly dropout?: number;
  /** Of the result behind batch and time; the query's last axis by default. */
  readonly outputShape?: number | Shape | null;
  /** A penalty on the result of each projection, per example. */
  readonly activityRegularizer?: RegularizerLike | null;
  /** Of the dropout. */
  readonly seed?: number | null;
}

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

/**
 * Attention of several heads (Vaswani et al., 2017): projects query, key and value, attends, and projects back.
 * Called as `attention(query, value)` or `attention(query, value, key)`, all [batch, time, n]; or with one tensor that attends to itself.
 * Without dropout and scores to return, the weights are never in memory as a whole. A query that may see nothing gets zeros
 * before the last projection.
 *
 *     const attention = new tf.layers.MultiHeadAttention(4, 64); // or ({ numHeads: 4, keyDim: 64 })
 *     const y = attention(x, { useCausalMask: true });
 */
export class MultiHeadAttention extends Layer {
  declare readonly numHeads: number;
  declare readonly keyDim: number;
  declare readonly valueDim: number;
  declare readonly dropout: number;
  declare readonly useBias: boolean;
  /** As given; null is the query's last axis. */
  declare readonly outputShape: Shape | null;
  declare readonly seed: number | null;
  /** @internal */
  declare readonly activityRegularizer: RegularizerFunction | null;
  /** [n, heads, keyDim] */
  query!: Projection;
  key!: Projection;
  value!: Projection;
  /** [heads, valueDim, ...outputShape] */
  attentionOutput!: Projection;
  readonly #drop: Dropout | null;

  constructor(
    ...args:
      | [numHeads: number, keyDim: number, options?: Omit<MultiHeadAttentionOptions, 'numHeads' | 'keyDim'>]
      | [options: MultiHeadAttentionOptions]
  ) {
    super(argumentsOf<MultiHeadAttentionOptions>(MultiHeadAttention, new.target, args));
    const { dropout, seed, dtypePolicy: dtype } = this;
    this.#drop = dropout > 0 ? new Dropout(dropout, { seed, dtype }) : null;
  }

  /** What checkpoints save: Keras has private names for the projections. */
  override trackableView(): TrackableView {
    const names = new Map<unknown, string>([
      [this.query, '_query_dense'],
      [this.key, '_key_dense'],
      [this.value, '_value_dense'],
      [this.attentionOutput, '_output_dense'],
    ]);
    const children: (readonly [string, unknown])[] = [];
    for (const [name, child] of super.trackableView().children ?? [])
      children.push([(child ? names.get(child) : undefined) ?? name, child]);
    return { children };
  }

  /** A new layer of the options that `getConfig` gave, here or in Keras. */
  static override fromConfig(config: Config): MultiHeadAttention {
    // That of time, which Keras says of a layer that is built.
    const { attention_axes: axes = null, ...options } = config;
    if (axes !== null && JSON.stringify(axes) !== '[1]')
      throw new UnimplementedError(
        `supports only the time axis, [1], as attentionAxes, got ${shown(axes)}`,
        'MultiHeadAttention',
      );
    return new MultiHeadAttention(optionsFrom(options, MultiHeadAttention) as never);
  }

  override build(inputShape: Shapes): void {
    const [query, value, key] = this.#shapes(inputShape);
    const n = knownSize(this, query, -1);
    const projection = (name: string, from: Shape, to: Shape): Projection => {
      const layer = new Projection(this, name, from, to);
      layer.ensureBuilt([null, null, ...from]);
      return layer;
    };
    const heads = this.numHeads;
    this.query = projection('query', [n], [heads, this.keyDim]);
    this.key = projection('key', [knownSize(this, key, -1)], [heads, this.keyDim]);
    this.value = projection('value', [knownSize(this, value, -1)], [heads, this.valueDim]);
    this.attentionOutput = projection('attention_output', [heads, this.valueDim], this.outputShape ?? [n]);
  }

  override call(inputs: LayerInput, options: AttentionCallOptions): Tensor | readonly Tensor[] {
    const list = (Array.isArray(inputs) ? inputs : [inputs]) as readonly Tensor[];
    const [x, v = x, k = v] = list.map((t) => floats(this, t)) as [Tensor, Tensor?, Tensor?];
    this.#shapes(list.map((t) => t.shape));
    const query = this.query(x);
    const key = this.key(k);
    const value = this.value(v);
    const mask = this.#masks(options);
    const isCausal = options.useCausalMask === true;
    const scale = 1 / Math.sqrt(this.keyDim);
    const drop = options.training === true ? this.#drop : null;
    if (drop === null && options.returnAttentionScores !== true) {
      const y = nn.scaledDotProductAttention(query, key, value, { mask, isCausal, scale, timeFirst: true });
      return this.attentionOutput(y);
    }
    const first = (t: Tensor): Tensor => t.transpose([0, 2, 1, 3]);
    const weights = this.#weights(
      first(query).mul(scale).matmul(first(key), { transposeB: true }),
      mask,
      isCausal,
    );
    const y = this.attentionOutput(first((drop === null ? weights : drop(weights)).matmul(first(value))));
    return options.returnAttentionScores === true ? [y, weights] : y;
  }

  override computeOutputShape(inputShape: Shapes): PartialShape {
    const [query] = this.#shapes(inputShape);
    return [...query.slice(0, 2), ...(this.outputShape ?? query.slice(2))];
  }

  /** Query's, value's and key's shapes. @throws InvalidArgumentError for others than the layer takes. */
  #shapes(given: Shapes): readonly [PartialShape, PartialShape, PartialShape] {
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

  /** That of the queries. */
  override computeMask(_: LayerInput, mask: Mask): Mask {
    return Array.isArray(mask) ? (mask[0] ?? null) : mask;
  }

  /** What all masks leave to be seen, [batch, 1 or heads, queries, keys]; null for everything. */
  #masks({ queryMask, valueMask, keyMask, attentionMask }: AttentionCallOptions): Tensor | null {
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
export interface MultiHeadAttention {
  (inputs: KerasTensor | readonly KerasTensor[], options?: AttentionCallOptions): KerasTensor;
  (
    inputs: TensorLike | readonly Tensor[],
    options: AttentionCallOptions & { readonly returnAttentionScores: true },
  ): [output: Tensor, scores: Tensor];
  (inputs: TensorLike | readonly Tensor[], options?: AttentionCallOptions): Tensor;
}
ownsTemporaries(Projection, MultiHeadAttention);
takesCall(
  {
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
  },
  MultiHeadAttention,
);

const sizes: Option<Shape | null> = orNull({
  read: (given, name, layer) => {
    const list = typeof given === 'number' ? [given] : given;
    if (!Array.isArray(list)) fail(layer as Layer, `needs ${name} to be sizes, got ${shown(given)}`);
    return list.map((d) => integer().read(d, name, layer));
  },
});
takesOptions<MultiHeadAttentionOptions, MultiHeadAttention>(
  {
    positional: ['numHeads', 'keyDim'],
    options: {
      numHeads: integer(),
      keyDim: integer(),
      valueDim: integer((layer: MultiHeadAttention) => layer.keyDim),
      dropout: rate(0),
      useBias: flag(true),
      outputShape: sizes,
      ...weights({ kernel: 'glorotUniform', bias: 'zeros' }),
      activityRegularizer: regularizer,
      seed,
      ...layerOptions,
    },
    fixed: { use_gate: false, attention_axes: null, sliding_window: null },
  },
  MultiHeadAttention,
);
