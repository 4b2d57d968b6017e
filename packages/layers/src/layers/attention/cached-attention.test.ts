import '@eagre/backend-js';
import '@eagre/backend-native';
import { listBackends } from '@eagre/backend';
import {
  concat,
  constant,
  InvalidArgumentError,
  OutOfRangeError,
  ones,
  random,
  type Tensor,
  withBackend,
} from '@eagre/core';
import { TensorSpec, tfFunction } from '@eagre/graph';
import { describe, expect, test } from 'vitest';
import { type AttentionCache, CachedMultiHeadAttention, MultiHeadAttention } from '../index.ts';

const random3 = (...shape: number[]): Tensor => random.Generator.fromSeed(2).normal(shape);
const expectClose = (a: Tensor, b: Tensor): void => {
  expect(a.shape).toEqual(b.shape);
  expect(a.sub(b).abs().max().item()).toBeLessThan(1e-5);
};
/** The results for pieces of a sequence, one after the other. */
function inPieces(attention: CachedMultiHeadAttention, x: Tensor, sizes: readonly number[]): Tensor {
  let cache = attention.buildCache(x.shape[0] as number, (x.shape[1] as number) + 2);
  let at = 0;
  const results = sizes.map((size) => {
    const piece = x.at(':', `${at}:${at + size}`);
    const [y, next] = attention(piece, { cache, cacheUpdateIndex: at, useCausalMask: true });
    cache = next;
    at += size;
    return y;
  });
  return concat(results, 1);
}

describe.each(listBackends().map((b) => b.name))('on %s', (name) => {
  test('pieces give what the whole gives, with heads of values of another size', () => {
    withBackend(name, () => {
      const attention = new CachedMultiHeadAttention(2, 3, { valueDim: 5 });
      const x = random3(2, 6, 4);
      const whole = attention(x, { useCausalMask: true });
      for (const sizes of [[6], [1, 1, 1, 1, 1, 1], [3, 1, 2]])
        expectClose(inPieces(attention, x, sizes), whole);
    });
  });
});

test('without a cache it is MultiHeadAttention', () => {
  const [cached, plain] = [new CachedMultiHeadAttention(2, 3), new MultiHeadAttention(2, 3)];
  const x = random3(2, 5, 4);
  plain(x);
  cached(x);
  cached.setWeights(plain.getWeights());
  expect(cached(x, { useCausalMask: true }).array()).toEqual(plain(x, { useCausalMask: true }).array());
  const [y, scores] = cached(x, { returnAttentionScores: true });
  expect([y.shape, scores.shape]).toEqual([
    [2, 5, 4],
    [2, 2, 5, 5],
  ]);
  expect(cached.weights.map((w) => w.shape)).toEqual(plain.weights.map((w) => w.shape));
  const copy = CachedMultiHeadAttention.fromConfig(cached.getConfig());
  expect([copy.constructor, copy.getConfig()]).toEqual([CachedMultiHeadAttention, cached.getConfig()]);
});

test('without a causal mask, queries see all that is in the cache so far', () => {
  const attention = new CachedMultiHeadAttention({ numHeads: 2, keyDim: 3 });
  const x = random3(2, 6, 4);
  const [, cache] = attention(x.at(':', ':4'), {
    cache: attention.buildCache({ batchSize: 2, maxLength: 9 }),
  });
  const [y] = attention(x.at(':', '4:'), { cache, cacheUpdateIndex: constant(4, 'int32') });
  expectClose(y, attention([x.at(':', '4:'), x]));
  // And a mask of one's own besides.
  const attentionMask = constant([1, 1, 0, 0, 1, 1, 1, 1, 1]).reshape([1, 1, 9]);
  const [masked] = attention(x.at(':', '4:'), { cache, cacheUpdateIndex: 4, attentionMask });
  expectClose(masked, attention([x.at(':', '4:'), concat([x.at(':', ':2'), x.at(':', '4:')], 1)]));
});

test('in a traced function of pieces of any length', () => {
  const attention = new CachedMultiHeadAttention(2, 3);
  const x = random3(2, 6, 4);
  const whole = attention(x, { useCausalMask: true });
  const step = tfFunction(
    (piece: Tensor, keys: Tensor, values: Tensor, at: Tensor): [Tensor, Tensor, Tensor] => {
      const [y, [k, v]] = attention(piece, {
        cache: [keys, values],
        cacheUpdateIndex: at,
        useCausalMask: true,
      });
      return [y, k, v];
    },
    {
      inputSignature: [
        new TensorSpec([null, null, 4]),
        new TensorSpec([null, 8, 2, 3]),
        new TensorSpec([null, 8, 2, 3]),
        new TensorSpec([], 'int32'),
      ],
    },
  );
  let [keys, values] = attention.buildCache(2, 8) as [Tensor, Tensor];
  const results: Tensor[] = [];
  for (const [from, to] of [
    [0, 3],
    [3, 4],
    [4, 6],
  ] as const) {
    const [y, k, v] = step(x.at(':', `${from}:${to}`), keys, values, constant(from, 'int32'));
    [keys, values] = [k, v];
    results.push(y);
  }
  expectClose(concat(results, 1), whole);
  expect(step.experimentalGetTracingCount()).toBe(1);
});

test('in 16 bits the cache is of 16 bits', () => {
  const attention = new CachedMultiHeadAttention(2, 3, { dtype: 'mixed_bfloat16' });
  const cache = attention.buildCache(1, 4);
  expect(cache.map((t) => t.dtype)).toEqual(['bfloat16', 'bfloat16']);
  const [y, next] = attention(random3(1, 2, 4), { cache });
  expect([y.dtype, next[0].dtype]).toEqual(['bfloat16', 'bfloat16']);
});

test('says what does not fit', () => {
  const attention = new CachedMultiHeadAttention(2, 3);
  const x = ones([2, 3, 4]);
  const cache = attention.buildCache(2, 4);
  expect(() => attention(x, { cache, cacheUpdateIndex: 2 })).toThrow(OutOfRangeError);
  expect(() => attention(x, { cache: attention.buildCache(1, 4) })).toThrow(
    'needs a cache [2, null, 2, 3] of float32, got ',
  );
  expect(() => attention(x, { cacheUpdateIndex: 2 })).toThrow('needs a cache for cacheUpdateIndex');
  expect(() => attention(x, { cache, cacheUpdateIndex: [1, 2] })).toThrow('a scalar');
  expect(() => attention(x, { cache, returnAttentionScores: true })).toThrow('no attention scores');
  const wrong = (bad: unknown): void =>
    expect(() => attention(x, { cache: bad as AttentionCache })).toThrow(InvalidArgumentError);
  wrong([ones([2, 4, 2]), cache[1]]);
  wrong([ones([2, 4, 2, 3], 'float64'), cache[1]]);
  wrong([ones([2, 4, 2, 5]), cache[1]]);
  wrong(ones([2, 4, 2, 3]));
  wrong('x');
  expect(() => attention.buildCache(2, -1)).toThrow(InvalidArgumentError);
});
