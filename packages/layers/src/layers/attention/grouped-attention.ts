import type { PartialShape, Tensor } from '@eagre/core';
import { argumentsOf, orNull, takesOptions } from '@eagre/core/internal';
import { type FromConfig, type LayerInput, type LayerOptions, ownsTemporaries } from '../../layer/layer.ts';
import { takesCall } from '../../layer/own-call.ts';
import type { RegularizerLike } from '../../regularizers.ts';
import { fail, knownSize } from '../common.ts';
import { flag, integer, rate, regularizer, seed, weights } from '../options.ts';
import { type BiasOptions, type KernelOptions, penalizedOptions } from '../weights.ts';
import {
  type AttentionCallOptions,
  attentionCall,
  ProjectedAttention,
  type Projection,
  type Shapes,
} from './projected.ts';

/** Options of `GroupQueryAttention`. */
export interface GroupQueryAttentionOptions extends LayerOptions, KernelOptions, BiasOptions {
  /** Share of the attention weights that training puts to 0; 0 by default. */
  readonly dropout?: number;
  /** How far a query sees: keys less than that many steps away, before and behind it. All of them by default. */
  readonly slidingWindow?: number | null;
  /** Whether what each head gives is multiplied by a gate, sigmoid(query · kernel + bias) (Qiu and others, 2025); false by default. */
  readonly useGate?: boolean;
  /** A penalty on the result of each projection, per example. */
  readonly activityRegularizer?: RegularizerLike | null;
  /** Of the dropout. */
  readonly seed?: number | null;
}
/** All arguments of `GroupQueryAttention`, by name. */
export interface GroupQueryAttentionArguments extends GroupQueryAttentionOptions {
  /** Size of each head. */
  readonly headDim: number;
  /** How many heads of queries there are; a multiple of `numKeyValueHeads`. */
  readonly numQueryHeads: number;
  /** Heads of key and value, a divisor of those of the query. */
  readonly numKeyValueHeads: number;
}

/**
 * Attention of several heads, groups of which share keys and values (Ainslie and others, 2023): `MultiHeadAttention` where there are as many
 * heads of both, and attention with one key ("multi-query") for `numKeyValueHeads` of 1. Called as `MultiHeadAttention` is, and gives
 * [batch, time, n] as the query is.
 *
 *     const attention = new tf.layers.GroupQueryAttention(64, 8, 2);
 *     const y = attention(x, { useCausalMask: true });
 */
export class GroupQueryAttention extends ProjectedAttention {
  declare static readonly fromConfig: FromConfig<GroupQueryAttention>;
  /** Size of each head. */
  declare readonly headDim: number;
  /** How many heads of queries there are; a multiple of `numKeyValueHeads`. */
  declare readonly numQueryHeads: number;
  /** Heads of key and value, a divisor of those of the query. */
  declare readonly numKeyValueHeads: number;
  /** How far a query sees: keys less than that many steps away, before and behind it. */
  declare readonly slidingWindow: number | null;
  /** Whether what each head gives is multiplied by a gate, sigmoid(query · kernel + bias) (Qiu and others, 2025). */
  declare readonly useGate: boolean;
  /** [n, heads, headDim], or null without. */
  declare gate: Projection | null;

  constructor(
    ...args:
      | [
          headDim: number,
          numQueryHeads: number,
          numKeyValueHeads: number,
          options?: GroupQueryAttentionOptions,
        ]
      | [options: GroupQueryAttentionArguments]
  ) {
    super(argumentsOf<GroupQueryAttentionArguments>(GroupQueryAttention, new.target, args));
    const { numQueryHeads, numKeyValueHeads } = this;
    if (numQueryHeads % numKeyValueHeads !== 0)
      fail(
        this,
        `needs numQueryHeads to be a multiple of numKeyValueHeads, got ${numQueryHeads} and ${numKeyValueHeads}`,
      );
  }

  /** @internal */
  override get classInFiles(): string {
    return 'GroupedQueryAttention';
  }
  /** @internal */
  override get savedNames(): Readonly<Record<string, string>> {
    return {
      query: '_query_dense',
      key: '_key_dense',
      value: '_value_dense',
      gate: '_gate_dense',
      attentionOutput: '_output_dense',
    };
  }

  /** How many heads of queries share one of keys and values. */
  get numRepeats(): number {
    return this.numQueryHeads / this.numKeyValueHeads;
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
    const all = [this.numQueryHeads, this.headDim];
    const shared = [this.numKeyValueHeads, this.headDim];
    this.query = this.projection('query', [n], all);
    this.key = this.projection('key', [knownSize(this, key, -1)], shared);
    this.gate = this.useGate ? this.projection('gate', [n], all, (y) => y.sigmoid()) : null;
    this.value = this.projection('value', [knownSize(this, value, -1)], shared);
    this.attentionOutput = this.projection('attention_output', all, [n]);
  }

  override call(inputs: LayerInput, options: AttentionCallOptions = {}): Tensor | readonly Tensor[] {
    const [x, v, k] = this.given(inputs);
    const times = this.numQueryHeads / this.numKeyValueHeads;
    const repeated = (t: Tensor): Tensor => (times === 1 ? t : t.repeat(times, 2));
    const projected = [this.query(x), repeated(this.value(v)), repeated(this.key(k))] as const;
    const [seen, weights] = this.attend(
      projected,
      this.headDim,
      options,
      this.band(this.slidingWindow, x, k),
    );
    const y = this.attentionOutput(this.gate === null ? seen : seen.mul(this.gate(x)));
    return weights === null ? y : [y, weights];
  }

  override computeOutputShape(inputShape: Shapes): PartialShape {
    return this.shapes(inputShape)[0];
  }
}
ownsTemporaries(GroupQueryAttention);
takesCall(attentionCall, GroupQueryAttention);
takesOptions<GroupQueryAttentionArguments, GroupQueryAttention>(
  {
    positional: ['headDim', 'numQueryHeads', 'numKeyValueHeads'],
    options: {
      headDim: integer(),
      numQueryHeads: integer(),
      numKeyValueHeads: integer(),
      dropout: rate(0),
      useBias: flag(true),
      slidingWindow: orNull(integer()),
      ...weights({ kernel: 'glorotUniform', bias: 'zeros' }),
      activityRegularizer: regularizer,
      useGate: flag(false),
      seed,
      ...penalizedOptions,
    },
  },
  GroupQueryAttention,
);
