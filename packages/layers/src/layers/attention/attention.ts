import type { PartialShape, Shape, Tensor, TensorLike } from '@eagre/core';
import { argumentsOf, type Option, orNull, partialShape, shown, takesOptions } from '@eagre/core/internal';
import {
  type FromConfig,
  type Layer,
  type LayerInput,
  type LayerOptions,
  ownsTemporaries,
} from '../../layer/layer.ts';
import type { StepOutput } from '../../layer/layer-types.ts';
import { takesCall } from '../../layer/own-call.ts';
import { isShapes } from '../../layer/specs.ts';
import type { RegularizerLike } from '../../regularizers.ts';
import { fail, knownSize, seenBy } from '../common.ts';

import { flag, integer, rate, regularizer, seed, weights } from '../options.ts';
import { type BiasOptions, type KernelOptions, penalizedOptions } from '../weights.ts';
import { AttentionAxes } from './attention-axes.ts';
import {
  type AttentionCallOptions,
  attentionCall,
  ProjectedAttention,
  type Projection,
  type Shapes,
} from './projected.ts';

/** Options of `MultiHeadAttention`. */
export interface MultiHeadAttentionOptions extends LayerOptions, KernelOptions, BiasOptions {
  /** How many heads there are. */
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
  /**
   * Along which axes a query sees, of inputs with more axes than time between batch and features: [2] in [batch, frames, time, n] sees
   * time alone. All of them by default.
   */
  readonly attentionAxes?: number | readonly number[] | null;
  /** Of the dropout. */
  readonly seed?: number | null;
  /** How far a query sees: keys less than that many steps away, before and behind it. All of them by default. */
  readonly slidingWindow?: number | null;
  /** Whether what each head gives is multiplied by a gate, sigmoid(query · kernel + bias) (Qiu and others, 2025); false by default. */
  readonly useGate?: boolean;
}

/**
 * Attention of several heads (Vaswani et al., 2017): projects query, key and value, attends, and projects back.
 * Called as `attention(query, value)` or `attention(query, value, key)`, all [batch, time, n]; or with one tensor that attends to itself.
 * Without dropout and scores to return, the weights are never in memory as a whole. A query that may see nothing gets zeros
 * before the last projection.
 *
 * Inputs may have several axes between batch and features, such as height and width: see `attentionAxes`. An `attentionMask` is then
 * [...batch, heads, ...queries, ...keys], the first of which may be left out, as the scores are.
 *
 *     const attention = new tf.layers.MultiHeadAttention(4, 64); // or ({ numHeads: 4, keyDim: 64 })
 *     const y = attention(x, { useCausalMask: true });
 */
export class MultiHeadAttention extends ProjectedAttention {
  declare static readonly fromConfig: FromConfig<MultiHeadAttention>;
  /** How many heads there are. */
  declare readonly numHeads: number;
  /** Size of each head for query and key. */
  declare readonly keyDim: number;
  /** Size of each head for value. */
  declare readonly valueDim: number;
  /** As given; null is the query's last axis. */
  declare readonly outputShape: Shape | null;
  /** As given; null is all axes between batch and features. */
  declare readonly attentionAxes: readonly number[] | null;
  /** How far a query sees: keys less than that many steps away, before and behind it. */
  declare readonly slidingWindow: number | null;
  /** Whether what each head gives is multiplied by a gate, sigmoid(query · kernel + bias) (Qiu and others, 2025). */
  declare readonly useGate: boolean;
  /** [n, heads, valueDim], or null without. */
  declare gate: Projection | null;

  constructor(
    ...args:
      | [numHeads: number, keyDim: number, options?: Omit<MultiHeadAttentionOptions, 'numHeads' | 'keyDim'>]
      | [options: MultiHeadAttentionOptions]
  ) {
    super(argumentsOf<MultiHeadAttentionOptions>(MultiHeadAttention, new.target, args));
  }

  /** @internal */
  override get savedNames(): Readonly<Record<string, string>> {
    return {
      query: 'query_dense',
      key: 'key_dense',
      value: 'value_dense',
      attentionOutput: 'output_dense',
    };
  }

  /** The projection of queries: `query`. */
  get queryDense(): Projection {
    return this.query;
  }
  /** The projection of keys: `key`. */
  get keyDense(): Projection {
    return this.key;
  }
  /** The projection of values: `value`. */
  get valueDense(): Projection {
    return this.value;
  }
  /** The projection of what attention makes of them: `attentionOutput`. */
  get outputDense(): Projection {
    return this.attentionOutput;
  }

  /**
   * Makes the weights.
   * @param queryShape the shape of the queries, which is that of values and keys unless given; or the list of all two or three
   */
  override build(
    queryShape: Shapes,
    _valueShape?: PartialShape | null,
    _keyShape?: PartialShape | null,
  ): void {
    // `ensureBuilt` has made one list of them.
    const [query, value, key] = this.shapes(queryShape);
    const n = knownSize(this, query, -1);
    const heads = this.numHeads;
    this.query = this.projection('query', [n], [heads, this.keyDim]);
    this.key = this.projection('key', [knownSize(this, key, -1)], [heads, this.keyDim]);
    this.gate = this.useGate
      ? this.projection('gate', [n], [heads, this.valueDim], (y) => y.sigmoid())
      : null;
    this.value = this.projection('value', [knownSize(this, value, -1)], [heads, this.valueDim]);
    this.attentionOutput = this.projection(
      'attention_output',
      [heads, this.valueDim],
      this.outputShape ?? [n],
    );
  }

  override call(
    inputs: LayerInput,
    options: AttentionCallOptions = {},
  ): Tensor | readonly Tensor[] | StepOutput {
    const given = this.given(inputs);
    const axes = this.#axes(given[0].rank);
    if (axes === null) return this.#attend(given, options);
    const [query, , key] = given;
    if (options.useCausalMask === true && axes.count > 1)
      fail(this, `has no causal mask for ${axes.count} axes, which have no order: give an attentionMask`);
    const mask = (of: TensorLike | null | undefined): Tensor | null =>
      of === undefined || of === null ? null : axes.fold(seenBy(of));
    const { queryMask, valueMask, keyMask, attentionMask } = options;
    const [y, weights] = [
      this.#attend(given.map((x) => axes.fold(x)) as unknown as typeof given, {
        ...options,
        queryMask: mask(queryMask),
        valueMask: mask(valueMask),
        keyMask: mask(keyMask),
        attentionMask:
          attentionMask === undefined || attentionMask === null
            ? null
            : axes.foldMask(this, seenBy(attentionMask), query),
      }),
    ].flat() as [Tensor, Tensor?];
    const whole = axes.unfold(y, query);
    return weights === undefined ? whole : [whole, axes.unfoldWeights(weights, query, key)];
  }

  #attend(
    [x, v, k]: readonly [Tensor, Tensor, Tensor],
    options: AttentionCallOptions,
  ): Tensor | readonly Tensor[] {
    const [query, key, value] = [this.query(x), this.key(k), this.value(v)];
    const band = this.band(this.slidingWindow, x, k);
    const [seen, weights] = this.attend([query, value, key], this.keyDim, options, band);
    const y = this.attentionOutput(this.gate === null ? seen : seen.mul(this.gate(x)));
    return weights === null ? y : [y, weights];
  }

  /** How inputs of that rank become [batch, time, n]; null where they are. */
  #axes(rank: number): AttentionAxes | null {
    const given = this.attentionAxes;
    if (rank < 3 || (rank === 3 && given === null)) return null;
    const axes = new AttentionAxes(this, rank, given);
    return rank === 3 ? null : axes;
  }

  protected override shapes(given: Shapes): ReturnType<ProjectedAttention['shapes']> {
    const list = (isShapes(given) ? given : [given]).map((shape) => partialShape(shape));
    const ranks = new Set(list.map((shape) => shape.length));
    const axes = ranks.size === 1 ? this.#axes((list[0] as PartialShape).length) : null;
    return super.shapes(axes === null ? list : list.map((shape) => axes.shape(shape)));
  }

  override computeOutputShape(inputShape: Shapes): PartialShape {
    this.shapes(inputShape);
    const query = partialShape(isShapes(inputShape) ? (inputShape[0] as PartialShape) : inputShape);
    return [...query.slice(0, -1), ...(this.outputShape ?? query.slice(-1))];
  }
}
ownsTemporaries(MultiHeadAttention);
takesCall(attentionCall, MultiHeadAttention);

const axes: Option<readonly number[] | null> = orNull({
  read: (given, name, layer) => {
    const list = typeof given === 'number' ? [given] : given;
    if (!Array.isArray(list) || list.length === 0 || !list.every(Number.isSafeInteger))
      fail(layer as Layer, `needs ${name} to be an axis or a list of axes, got ${shown(given)}`);
    return list;
  },
});
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
      attentionAxes: axes,
      ...weights({ kernel: 'glorotUniform', bias: 'zeros' }),
      activityRegularizer: regularizer,
      seed,
      slidingWindow: orNull(integer()),
      useGate: flag(false),
      ...penalizedOptions,
    },
  },
  MultiHeadAttention,
);
