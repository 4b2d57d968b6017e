// Attention that keeps the keys and values of earlier positions, for generation.
import { concat, constant, Tensor, type TensorLike, zeros } from '@eagre/core';
import {
  type Dim,
  defineMethods,
  differs,
  dims,
  iota,
  optionsFrom,
  shown,
  showShape,
  toShape,
  toTensor,
} from '@eagre/core/internal';
import { type LayerInput, ownsTemporaries } from '../../layer/layer.ts';
import type { StepOutput } from '../../layer/layer-types.ts';
import { takesCall } from '../../layer/own-call.ts';
import type { Config } from '../common.ts';
import { fail } from '../common.ts';
import { MultiHeadAttention } from './attention.ts';
import { type AttentionCallOptions, attentionCall } from './projected.ts';

/** Keys and values of as many positions as there may be, each [batch, positions, heads, n]. */
export type AttentionCache = readonly [keys: Tensor, values: Tensor];

/** What a call of `CachedMultiHeadAttention` takes behind its inputs. */
export interface CachedAttentionCallOptions extends AttentionCallOptions {
  /** The keys and values of earlier positions, as `buildCache` or the call before gave them. */
  readonly cache?: AttentionCache | null;
  /** The position of the first of the inputs, an int32 scalar: their keys and values are written there and behind. 0 by default. */
  readonly cacheUpdateIndex?: TensorLike | null;
}

/**
 * `MultiHeadAttention` that can keep keys and values, like the layer of this name in KerasHub: a call with a `cache` computes keys and values
 * of its inputs alone, writes them into the cache, attends to all that is in it up to there, and returns `[y, cache]` with the new cache.
 * With `useCausalMask`, a query sees what is no later than itself. Without a cache it is `MultiHeadAttention`.
 *
 *     let cache = attention.buildCache(1, 100);
 *     [y, cache] = attention(x, { cache, cacheUpdateIndex: 0, useCausalMask: true }); // of the prompt
 *     [y, cache] = attention(next, { cache, cacheUpdateIndex: x.shape[1] }); // [1, 1, n], of the next position
 *
 * Caches differ from those of KerasHub, which stacks both tensors to one: apart, they are updated in place in a traced function.
 */
export class CachedMultiHeadAttention extends MultiHeadAttention {
  /** A new layer of the options that `getConfig` gave. */
  static override fromConfig(config: Config): CachedMultiHeadAttention {
    const plain = MultiHeadAttention.fromConfig(config).getConfig();
    return new CachedMultiHeadAttention(optionsFrom(plain, CachedMultiHeadAttention) as never);
  }

  /** Zeros for the keys and values of `maxLength` positions, in the dtype of the computation. */
  buildCache(batchSize: number, maxLength: number): AttentionCache;
  buildCache(options: {
    /** How many sequences are made at a time. */
    readonly batchSize: number;
    /** How many positions the longest sequence may have. */
    readonly maxLength: number;
  }): AttentionCache;
  buildCache(batchSize: unknown, maxLength?: unknown): AttentionCache {
    const dtype = this.computeDtype;
    const empty = (size: number): Tensor =>
      zeros([batchSize as number, maxLength as number, this.numHeads, size], dtype);
    return [empty(this.keyDim), empty(this.valueDim)];
  }

  override call(
    inputs: LayerInput,
    options: CachedAttentionCallOptions = {},
  ): Tensor | readonly Tensor[] | StepOutput {
    const { cache = null, cacheUpdateIndex = null, useCausalMask, ...others } = options;
    if (cache === null) {
      if (cacheUpdateIndex !== null) fail(this, 'needs a cache for cacheUpdateIndex');
      return super.call(inputs, options);
    }
    if (others.returnAttentionScores === true)
      fail(this, 'returns no attention scores of a call with a cache');
    const [x, v, k] = this.given(inputs);
    const at =
      cacheUpdateIndex === null ? constant(0, 'int32') : toTensor(cacheUpdateIndex, 'int32').cast('int32');
    if (at.rank !== 0) fail(this, `needs cacheUpdateIndex to be a scalar, got ${showShape(at.shape)}`);
    const keys = this.#written(cache[0], this.key(k), at);
    const values = this.#written(cache[1], this.value(v), at);
    const band = seenFrom(at, dims(x)[1] as Dim, dims(keys)[1] as Dim, useCausalMask === true);
    const [seen] = this.attend([this.query(x), values, keys], this.keyDim, others, band);
    return [this.attentionOutput(seen), [keys, values]];
  }

  /** The cache with keys or values of new positions. */
  #written(cache: Tensor, given: Tensor, at: Tensor): Tensor {
    const [batch, time, ...rest] = dims(given) as [Dim, Dim, Dim, Dim];
    const isRight =
      cache instanceof Tensor &&
      cache.rank === 4 &&
      cache.dtype === given.dtype &&
      [batch, ...rest].every((d, i) => !differs(d, dims(cache)[i === 0 ? 0 : i + 1] as Dim));
    if (!isRight)
      fail(
        this,
        `needs a cache ${showShape([given.shape[0] as number, null, ...given.shape.slice(2)])} of ${given.dtype}, got ${shown(cache)}`,
      );
    // Pairs of an example and a position.
    const pairs = toShape([batch, time, 1]);
    const examples = iota(batch)
      .reshape(toShape([batch, 1, 1]))
      .broadcastTo(pairs);
    const positions = iota(time)
      .add(at)
      .reshape(toShape([1, time, 1]))
      .broadcastTo(pairs);
    return cache.tensorScatterNdUpdate(concat([examples, positions], -1), given);
  }
}

/** Which of `positions` the queries of `time` positions from `at` on see, bool [1, 1, time, positions]. */
function seenFrom(at: Tensor, time: Dim, positions: Dim, isCausal: boolean): Tensor {
  const places = iota(time).add(at);
  const last = isCausal ? places.expandDims(1) : places.max();
  return iota(positions)
    .expandDims(0)
    .lessEqual(last)
    .reshape(toShape([1, 1, isCausal ? time : 1, positions]));
}
export interface CachedMultiHeadAttention {
  // Before the signatures without a cache, which take any options; of the options' own type, so that it fits those in a variable best, too.
  <O extends CachedAttentionCallOptions & { readonly cache: AttentionCache }>(
    inputs: TensorLike | readonly Tensor[],
    options: O,
  ): [y: Tensor, cache: AttentionCache];
}
defineMethods(CachedMultiHeadAttention.prototype, 'CachedMultiHeadAttention', {
  buildCache: { positional: ['batchSize', 'maxLength'] },
});
ownsTemporaries(CachedMultiHeadAttention);
takesCall(
  { ...attentionCall, options: { ...attentionCall.options, cache: true, cacheUpdateIndex: true } },
  CachedMultiHeadAttention,
);
