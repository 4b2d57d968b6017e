import '@eagre/backend-native';
import { random, type Tensor } from '@eagre/core';
import { dims, iota } from '@eagre/core/internal';
import { beforeEach, describe, expect, test } from 'vitest';
import { clearSession } from '../layer/naming.ts';
import {
  type AttentionCache,
  CachedMultiHeadAttention,
  Dense,
  Embedding,
  LayerNormalization,
} from '../layers/index.ts';
import { CausalLM } from './causal-lm.ts';

/** One block of attention, without a cache and with one. */
export class Tiny extends CausalLM {
  tokens: Embedding = new Embedding(12, 8, { embeddingsInitializer: 'randomNormal' });
  positions: Embedding = new Embedding(2000, 8, { embeddingsInitializer: 'randomNormal' });
  attention: CachedMultiHeadAttention = new CachedMultiHeadAttention(2, 4);
  norm: LayerNormalization = new LayerNormalization();
  head: Dense = new Dense(12, { kernelInitializer: 'randomNormal' });
  calls = 0;

  override call(tokens: Tensor): Tensor {
    const x = this.tokens(tokens).add(this.positions(iota(dims(tokens)[1]!)));
    return this.head(this.norm(x.add(this.attention(x, { useCausalMask: true })))).mul(100);
  }
  override buildCache(batchSize: number, maxLength: number): AttentionCache[] {
    return [this.attention.buildCache(batchSize, maxLength)];
  }
  override callWithCache(
    tokens: Tensor,
    cache: readonly AttentionCache[],
    cacheUpdateIndex: Tensor,
  ): [Tensor, AttentionCache[]] {
    this.calls++;
    const at = iota(dims(tokens)[1]!).add(cacheUpdateIndex);
    const x = this.tokens(tokens).add(this.positions(at));
    const [y, next] = this.attention(x, { cache: cache[0]!, cacheUpdateIndex, useCausalMask: true });
    return [this.head(this.norm(x.add(y))).mul(100), [next]];
  }
}

/** What the whole model says, without a cache. */
function greedy(
  model: Tiny,
  prompt: readonly number[],
  maxLength: number,
  stop: readonly number[] = [],
): number[] {
  const text = [...prompt];
  while (text.length < maxLength && !(text.length > prompt.length && stop.includes(text.at(-1)!)))
    text.push(
      model([text] as never)
        .at(0, -1)
        .argMax()
        .item() as number,
    );
  return text;
}

let model: Tiny;
beforeEach(() => {
  clearSession();
  random.setSeed(4);
  model = new Tiny();
});

describe('generate', () => {
  const prompts = [[3], [5, 1, 7, 2], [0, 9]];

  test('gives what the whole model gives, for prompts of any lengths', async () => {
    const texts = await model.generate(prompts, { maxLength: 15, sampler: 'greedy' });
    expect(texts).toEqual(prompts.map((prompt) => greedy(model, prompt, 15)));
    console.log(JSON.stringify(texts), model.calls);
  });
});
