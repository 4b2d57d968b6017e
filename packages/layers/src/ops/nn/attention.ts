// Attention, and complex numbers by length and angle.
import { complex, einsum, type NamedFunction, nn, type Tensor, type TensorLike } from '@eagre/core';
import { defineFunction, dims, iota, kind, toTensor } from '@eagre/core/internal';
import { floating, floatPair, named, refuse } from '../define.ts';

interface AttentionOptions {
  /** Added to the scores [batch, heads, targets, sources]. */
  readonly bias?: TensorLike | null;
  /** False where a target may not look at a source; broadcasts to the scores. */
  readonly mask?: TensorLike | null;
  /** What the scores are multiplied by; 1 / √size by default. */
  readonly scale?: number | null;
  /** Whether targets see no source behind them. */
  readonly isCausal?: boolean;
  /** Accepted for Keras's sake. */
  readonly flashAttention?: boolean | null;
  /** A limit that scores approach: cap · tanh(score / cap). */
  readonly attnLogitsSoftCap?: number | null;
}

/**
 * Values weighted by how well keys match queries: query [batch, targets, heads, size], key and value [batch, sources, heads, size] give
 * [batch, targets, heads, size].
 */
export const dotProductAttention: NamedFunction<
  [query: TensorLike, key: TensorLike, value: TensorLike],
  ['query', 'key', 'value'],
  AttentionOptions
> = defineFunction(
  named('dotProductAttention'),
  { query: kind.tensor, key: kind.tensor, value: kind.tensor },
  {
    bias: kind.asIs,
    mask: kind.asIs,
    scale: kind.asIs,
    isCausal: kind.asIs,
    flashAttention: kind.asIs,
    attnLogitsSoftCap: kind.asIs,
  },
  (query, key, value, { bias, mask, scale, isCausal, attnLogitsSoftCap: cap }) => {
    const [q, k, v] = [query, key, value].map(floating);
    for (const x of [q, k, v])
      if (x.rank !== 4) refuse(`expected rank 4, got [${x.shape}]`, 'dotProductAttention');
    const size = q.shape[3];
    let scores = einsum('btnh,bsnh->bnts', q, k).mul(scale ?? 1 / Math.sqrt(size));
    if (bias !== undefined && bias !== null) scores = scores.add(toTensor(bias).cast(scores.dtype));
    if (cap !== undefined && cap !== null) scores = scores.div(cap).tanh().mul(cap);
    let seen: Tensor | null = mask === undefined || mask === null ? null : toTensor(mask).cast('bool');
    if (isCausal === true) {
      const before = iota(dims(q)[1])
        .expandDims(1)
        .greaterEqual(iota(dims(k)[1]));
      seen = seen === null ? before : seen.logicalAnd(before);
    }
    if (seen !== null) scores = seen.where(scores, -0.7 * 3.4028234663852886e38);
    return einsum('bnts,bsnh->btnh', nn.softmax(scores, -1), v);
  },
);

/** The complex numbers of lengths and angles. */
export const polar: NamedFunction<[abs: TensorLike, angle: TensorLike], ['abs', 'angle']> = defineFunction(
  named('polar'),
  { abs: kind.tensor, angle: kind.tensor },
  {},
  (abs, angle) => {
    const [length, turn] = floatPair(abs, angle, 'polar');
    return complex(length.mul(turn.cos()), length.mul(turn.sin()));
  },
);
