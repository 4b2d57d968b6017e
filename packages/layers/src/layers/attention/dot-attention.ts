// Attention by products or sums of queries and keys, without projections.
import type { PartialShape, Shape, Tensor, TensorLike, Variable } from '@eagre/core';
import { argumentsOf, causalMask, differs, dims, showShape, takesOptions } from '@eagre/core/internal';
import {
  type CallOptions,
  type FromConfig,
  Layer,
  type LayerInput,
  type LayerOptions,
  ownsTemporaries,
} from '../../layer/layer.ts';
import type { Mask } from '../../layer/masks.ts';
import { takesCall } from '../../layer/own-call.ts';
import { isShapes } from '../../layer/specs.ts';
import type { KerasTensor } from '../../models/keras-tensor.ts';
import { fail, floats, knownSize, seenBy, shapeOf, sizesOf } from '../common.ts';
import { flag, rate, seed, word } from '../options.ts';
import { Dropout } from '../regularization/regularization.ts';
import { layerOptions } from '../weights.ts';

type Shapes = PartialShape | readonly PartialShape[];

/** Options of `AdditiveAttention`. */
export interface AdditiveAttentionOptions extends LayerOptions {
  /** Whether scores are scaled by what training learns; true by default. */
  readonly useScale?: boolean;
  /** Share of the attention weights that training puts to 0; 0 by default. */
  readonly dropout?: number;
  /** Makes what `dropout` drops the same in each run of the program; drawn anew unless given. */
  readonly seed?: number | null;
}
/** Options of `Attention`. */
export interface AttentionOptions extends LayerOptions {
  /** Whether scores are scaled by a number that training learns; false by default. */
  readonly useScale?: boolean;
  /** How queries and keys are compared. `dot`, the default: by their products; `concat`: by the sum of tanh(query + key). */
  readonly scoreMode?: 'dot' | 'concat';
  /** Share of the attention weights that training puts to 0; 0 by default. */
  readonly dropout?: number;
  /** Makes what `dropout` drops the same in each run of the program; drawn anew unless given. */
  readonly seed?: number | null;
}

/** What a call of `Attention` or `AdditiveAttention` takes behind its inputs. */
export interface DotAttentionCallOptions extends CallOptions {
  /** Which queries and which values count, [query mask, value mask], each bool [batch, time] or null. */
  readonly mask?: readonly (TensorLike | null)[] | null;
  /** Also returns the weights, [batch, queries, keys]; for tensors, not when a functional model is described. */
  readonly returnAttentionScores?: boolean;
  /** Whether a query sees only what is no later than itself. */
  readonly useCausalMask?: boolean;
}

abstract class ScoredAttention extends Layer {
  /** Whether scores are scaled by a number that training learns. */
  declare readonly useScale: boolean;
  /** Share of the attention weights that training puts to 0. */
  declare readonly dropout: number;
  /** Makes what `dropout` drops the same in each run of the program. */
  declare readonly seed: number | null;
  /** Of the scores, or null without. */
  scale: Variable | null = null;
  readonly #drop: Dropout | null;

  constructor(options: LayerOptions) {
    super(options);
    const { dropout, seed, dtypePolicy: dtype } = this;
    this.#drop = dropout > 0 ? new Dropout(dropout, { seed, dtype }) : null;
  }

  /** [batch, queries, keys] of queries and keys [batch, time, n]. */
  protected abstract scores(query: Tensor, key: Tensor): Tensor;

  override call(inputs: LayerInput, options: DotAttentionCallOptions = {}): Tensor | readonly Tensor[] {
    if (!Array.isArray(inputs)) this.#shapes((inputs as Tensor).shape);
    const list = (inputs as readonly Tensor[]).map((x) => floats(this, x));
    this.#shapes(list.map((x) => x.shape));
    const [query, value, key = value] = list as [Tensor, Tensor, Tensor?];
    const [queryMask, valueMask] = this.#masks(options.mask);
    let scores = this.scores(query, key);
    const causal = options.useCausalMask === true ? causalMask(...this.#times(scores)) : null;
    const along = valueMask?.expandDims(-2) ?? null;
    const seen = along === null ? causal : causal === null ? along : along.logicalAnd(causal);
    // As Keras: so much less that nothing of it is left.
    if (seen !== null) scores = seen.where(scores, scores.sub(scores.dtype === 'float16' ? 65504 : 1e9));
    const weights = scores.softmax();
    const drop = options.training === true ? this.#drop : null;
    let y = (drop === null ? weights : drop.invoke(weights, { training: true })).matmul(value);
    if (queryMask !== null) y = queryMask.expandDims(-1).where(y, 0);
    return options.returnAttentionScores === true ? [y, weights] : y;
  }

  override computeOutputShape(inputShape: Shapes): PartialShape {
    const [query, value] = this.#shapes(inputShape);
    const [own, last] = [sizesOf(query), sizesOf(value).at(-1) ?? null];
    return shapeOf([...own.slice(0, -1), last]);
  }

  override optionsShape({ returnAttentionScores }: DotAttentionCallOptions): boolean {
    return returnAttentionScores === true;
  }

  /** That of the queries. */
  override computeMask(_inputs: LayerInput, mask: Mask): Mask {
    return Array.isArray(mask) ? (mask[0] ?? null) : null;
  }

  #times(scores: Tensor): Parameters<typeof causalMask> {
    const own = dims(scores);
    return [own[own.length - 2], own[own.length - 1]];
  }

  #masks(given: DotAttentionCallOptions['mask']): readonly (Tensor | null)[] {
    if (given === undefined || given === null) return [null, null];
    if (!Array.isArray(given) || given.length < 2 || given.length > 3)
      fail(this, 'takes masks as its inputs: [query mask, value mask], null for none');
    return given.map((mask) => (mask === null || mask === undefined ? null : seenBy(mask as TensorLike)));
  }

  /** Query's, value's and key's shapes. @throws InvalidArgumentError for others than the layer takes. */
  #shapes(given: Shapes): readonly PartialShape[] {
    const list = isShapes(given) ? given : [given];
    const shown = list.map((s) => showShape(s)).join(', ');
    if (list.length < 2 || list.length > 3 || list.some((s) => s.length !== 3))
      fail(this, `takes a list [query, value] or [query, value, key], each [batch, time, n], got ${shown}`);
    const [query, value, key] = [list[0], list[1], list[2] ?? list[1]].map(sizesOf);
    const differ = (axis: number, a: typeof query, b: typeof query): boolean =>
      a[axis] !== null && b[axis] !== null && differs(a[axis], b[axis]);
    if (differ(0, query, value) || differ(1, value, key) || differ(2, query, key))
      fail(this, `needs one batch size, as many values as keys, and queries as long as keys, got ${shown}`);
    return list;
  }
}

/** Σ tanh over the last axis of each query plus each key: [batch, queries, keys]. */
function sums(query: Tensor, key: Tensor, scaled: (sum: Tensor) => Tensor): Tensor {
  return scaled(query.expandDims(-2).add(key.expandDims(-3)));
}

/**
 * Attention by products of queries and keys (Luong, Pham and Manning, 2015): softmax(query · keyᵀ) · value. Called with a list,
 * `attention([query, value])` or `attention([query, value, key])`, all [batch, time, n].
 */
export class Attention extends ScoredAttention {
  declare static readonly fromConfig: FromConfig<Attention>;
  /** How queries and keys are compared. `dot`: by their products; `concat`: by the sum of tanh(query + key). */
  declare readonly scoreMode: 'dot' | 'concat';
  /** Factor of the sums, or null for products. */
  concatScoreWeight: Variable | null = null;

  constructor(...args: [options?: AttentionOptions]) {
    super(argumentsOf<AttentionOptions>(Attention, new.target, args));
  }
  override build(inputShape: Shapes): void {
    this.computeOutputShape(inputShape);
    const one = { shape: [] as Shape, initializer: 'ones' } as const;
    if (this.useScale) this.scale = this.addWeight({ name: 'scale', ...one });
    if (this.scoreMode === 'concat')
      this.concatScoreWeight = this.addWeight({ name: 'concat_score_weight', ...one });
  }
  protected override scores(query: Tensor, key: Tensor): Tensor {
    const { scale, concatScoreWeight: weight } = this;
    if (weight === null) {
      const products = query.matmul(key, { transposeB: true });
      return scale === null ? products : products.mul(scale);
    }
    return sums(query, key, (sum) => (scale === null ? sum : sum.mul(scale)).tanh().sum(-1)).mul(weight);
  }
}

/**
 * Attention by sums of queries and keys (Bahdanau, Cho and Bengio, 2014): softmax(Σ scale · tanh(query + key)) · value. Called as
 * {@link Attention}.
 */
export class AdditiveAttention extends ScoredAttention {
  declare static readonly fromConfig: FromConfig<AdditiveAttention>;

  constructor(...args: [options?: AdditiveAttentionOptions]) {
    super(argumentsOf<AdditiveAttentionOptions>(AdditiveAttention, new.target, args));
  }
  override build(inputShape: Shapes): void {
    this.computeOutputShape(inputShape);
    if (!this.useScale) return;
    const n = knownSize(this, (inputShape as readonly PartialShape[])[0], -1);
    this.scale = this.addWeight({ name: 'scale', shape: [n], initializer: 'glorotUniform' });
  }
  protected override scores(query: Tensor, key: Tensor): Tensor {
    const { scale } = this;
    return sums(query, key, (sum) => (scale === null ? sum.tanh() : sum.tanh().mul(scale)).sum(-1));
  }
}

interface AttentionCall {
  (
    inputs: readonly KerasTensor[],
    options: DotAttentionCallOptions & { readonly returnAttentionScores: true },
  ): [output: KerasTensor, scores: KerasTensor];
  (inputs: readonly KerasTensor[], options?: DotAttentionCallOptions): KerasTensor;
  (
    inputs: readonly Tensor[],
    options: DotAttentionCallOptions & { readonly returnAttentionScores: true },
  ): [output: Tensor, scores: Tensor];
  (inputs: readonly Tensor[], options?: DotAttentionCallOptions): Tensor;
}
export interface Attention extends AttentionCall {}
export interface AdditiveAttention extends AttentionCall {}
ownsTemporaries(ScoredAttention);
takesCall(
  {
    options: { mask: true, training: true, returnAttentionScores: true, useCausalMask: true },
    maskOfEach: true,
  },
  ScoredAttention,
);
takesOptions<AttentionOptions, Attention>(
  {
    options: {
      useScale: flag(false),
      scoreMode: word(['dot', 'concat'], 'dot', (value) => `needs scoreMode 'dot' or 'concat', got ${value}`),
      dropout: rate(0),
      seed,
      ...layerOptions,
    },
  },
  Attention,
);
takesOptions<AdditiveAttentionOptions, AdditiveAttention>(
  { options: { useScale: flag(true), dropout: rate(0), seed, ...layerOptions } },
  AdditiveAttention,
);
