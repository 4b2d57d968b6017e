import { type PartialShape, type Shape, type Tensor, UnimplementedError } from '@eagre/core';
import { argumentsOf, type Option, optionsFrom, orNull, shown, takesOptions } from '@eagre/core/internal';
import { type Layer, type LayerInput, type LayerOptions, ownsTemporaries } from '../../layer/layer.ts';
import type { StepOutput } from '../../layer/layer-types.ts';
import { takesCall } from '../../layer/own-call.ts';
import type { RegularizerLike } from '../../regularizers.ts';
import { type Config, fail, knownSize } from '../common.ts';
import { flag, integer, rate, regularizer, seed, weights } from '../options.ts';
import { type BiasOptions, type KernelOptions, layerOptions } from '../weights.ts';
import {
  type AttentionCallOptions,
  attentionCall,
  ProjectedAttention,
  type Projection,
  type Shapes,
} from './projected.ts';

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
 *     const attention = new tf.layers.MultiHeadAttention(4, 64); // or ({ numHeads: 4, keyDim: 64 })
 *     const y = attention(x, { useCausalMask: true });
 */
export class MultiHeadAttention extends ProjectedAttention {
  declare readonly numHeads: number;
  declare readonly keyDim: number;
  declare readonly valueDim: number;
  /** As given; null is the query's last axis. */
  declare readonly outputShape: Shape | null;
  declare readonly slidingWindow: number | null;
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

  /** @internal */
  override get savedNames(): Readonly<Record<string, string>> {
    return {
      query: 'query_dense',
      key: 'key_dense',
      value: 'value_dense',
      attentionOutput: 'output_dense',
    };
  }

  override build(inputShape: Shapes): void {
    const [query, value, key] = this.shapes(inputShape);
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

  override call(inputs: LayerInput, options: AttentionCallOptions): Tensor | readonly Tensor[] | StepOutput {
    const [x, v, k] = this.given(inputs);
    const [query, key, value] = [this.query(x), this.key(k), this.value(v)];
    const band = this.band(this.slidingWindow, x, k);
    const [seen, weights] = this.attend([query, value, key], this.keyDim, options, band);
    const y = this.attentionOutput(this.gate === null ? seen : seen.mul(this.gate(x)));
    return weights === null ? y : [y, weights];
  }

  override computeOutputShape(inputShape: Shapes): PartialShape {
    const [query] = this.shapes(inputShape);
    return [...query.slice(0, 2), ...(this.outputShape ?? query.slice(2))];
  }
}
ownsTemporaries(MultiHeadAttention);
takesCall(attentionCall, MultiHeadAttention);

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
      slidingWindow: orNull(integer()),
      useGate: flag(false),
      ...layerOptions,
    },
    fixed: { attention_axes: null },
  },
  MultiHeadAttention,
);
