import '@eagre/backend-native';
import { type Backend, type Kernel, listBackends, type Plan } from '@eagre/backend';
import { constant, InvalidArgumentError, memory, random, type Tensor } from '@eagre/core';
import { dims, iota } from '@eagre/core/internal';
import { runFunctionsEagerly } from '@eagre/graph';
import { beforeEach, describe, expect, test } from 'vitest';
import { setDtypePolicy } from '../layer/dtype-policy.ts';
import { clearSession } from '../layer/naming.ts';
import {
  type AttentionCache,
  CachedMultiHeadAttention,
  Dense,
  Embedding,
  LayerNormalization,
} from '../layers/index.ts';
import { CausalLM } from './causal-lm.ts';
import { GreedySampler, RandomSampler, TopKSampler, TopPSampler } from './samplers.ts';

/** One block of attention, without a cache and with one. */
class Tiny extends CausalLM {
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

const prompts = [[3], [5, 1, 7, 2], [0, 9]];

describe('generate', () => {
  test('gives what the whole model gives, for prompts of any lengths', async () => {
    const expected = prompts.map((prompt) => greedy(model, prompt, 15));
    // Weights of all letters: not the same token for ever.
    expect(new Set(expected.flat()).size).toBeGreaterThan(5);
    expect(await model.generate(prompts, { maxLength: 15, sampler: 'greedy' })).toEqual(expected);
    const long = [
      [5, 1, 7, 2, 8, 8],
      [0, 9, 4, 4, 1, 1],
    ];
    const texts = await model.generate(constant(long, 'int32'), { maxLength: 12, sampler: 'greedy' });
    expect(texts).toEqual(long.map((prompt) => greedy(model, prompt, 12)));
    // By name, and without what was given.
    const continued = await model.generate({
      inputs: long,
      maxLength: 12,
      sampler: 'greedy',
      stripPrompt: true,
    });
    expect(continued).toEqual(texts.map((text) => text.slice(6)));
    expect(await model.generate([[1, 2]], { maxLength: 2 })).toEqual([[1, 2]]);
  });

  test('ends texts at stop tokens, each for itself', async () => {
    const whole = prompts.map((prompt) => greedy(model, prompt, 30));
    // Tokens of the first two, which the prompts hold too.
    const stop = [whole[0]![6]!, whole[1]![9]!, 1];
    const expected = prompts.map((prompt) => greedy(model, prompt, 30, stop));
    expect(expected.some((text) => text.length < 30)).toBe(true);
    expect(await model.generate(prompts, { maxLength: 30, sampler: 'greedy', stopTokenIds: stop })).toEqual(
      expected,
    );
    // It stops when all texts have ended.
    const steps = [
      ...model.generateStream([[3]], { maxLength: 1000, sampler: 'greedy', stopTokenIds: [whole[0]![6]!] }),
    ];
    expect(steps.length).toBe(whole[0]!.indexOf(whole[0]![6]!, 1));
  });

  test('streams tokens, and two streams at once have states of their own', async () => {
    const options = { maxLength: 12, sampler: 'greedy' } as const;
    const [a, b] = [model.generateStream([[3]], options), model.generateStream([[9]], options)];
    const texts: number[][] = [[3], [9]];
    for (let i = 0; i < 11; i++) {
      texts[0]!.push(...a.next().value);
      texts[1]!.push(...b.next().value);
    }
    expect([a.next().done, b.next().done]).toEqual([true, true]);
    expect(texts).toEqual([greedy(model, [3], 12), greedy(model, [9], 12)]);
    // One that is given up leaves nothing behind.
    for (const [token] of model.generateStream([[3]], options)) if (token !== undefined) break;
    expect(await model.generate([[3]], options)).toEqual([texts[0]]);
  });

  test('uses the weights of the moment', async () => {
    const options = { maxLength: 12, sampler: 'greedy' } as const;
    const before = await model.generate([[3]], options);
    model.head.kernel.assign(model.head.kernel.neg());
    const after = await model.generate([[3]], options);
    expect(after).toEqual([greedy(model, [3], 12)]);
    expect(after).not.toEqual(before);
    expect(model.calls).toBe(1);
    expect(model.weights).toHaveLength(2 + 8 + 2 + 2);
  });

  test('draws the same with a seed of its own, and other tokens than greedily', async () => {
    greedy(model, [3], 2);
    model.head.kernel.assign(model.head.kernel.div(30));
    const draw = (seed: number): Promise<number[][]> =>
      model.generate([[3], [4]], { maxLength: 40, sampler: new RandomSampler({ seed }) });
    const [one, two, other] = [await draw(1), await draw(1), await draw(2)];
    expect(one).toEqual(two);
    expect(one).not.toEqual(other);
    expect(one![0]!.slice(1)).not.toEqual(one![1]!.slice(1));
  });

  test('runs eagerly where functions do, and in 16 bits', async () => {
    const options = { maxLength: 12, sampler: 'greedy' } as const;
    const expected = await model.generate(prompts, options);
    runFunctionsEagerly(true);
    try {
      expect(await model.generate(prompts, options)).toEqual(expected);
    } finally {
      runFunctionsEagerly(false);
    }
    setDtypePolicy('mixed_bfloat16');
    try {
      const half = new Tiny();
      expect(
        half
          .buildCache(1, 3)
          .flat()
          .map((t) => t.dtype),
      ).toEqual(['bfloat16', 'bfloat16']);
      const texts = await half.generate(prompts, options);
      expect(texts.map((text) => text.length)).toEqual([12, 12, 12]);
    } finally {
      setDtypePolicy('float32');
    }
  });

  test('needs a length', async () => {
    await expect((async () => model.generate([[1]], undefined as never))()).rejects.toThrow(
      InvalidArgumentError,
    );
    expect(() => model.generateStream([[1]], undefined as never).next()).toThrow(InvalidArgumentError);
    expect(() => model.generateStream([[1]], {} as never).next()).toThrow(/maxLength/);
  });

  test.each([
    [[], {}, /inputs must be/],
    [[[]], {}, /inputs must be/],
    [[[1.5]], {}, /inputs must be/],
    [[1], {}, /inputs must be/],
    ['x', {}, /inputs must be/],
    [[[1, 2, 3]], { maxLength: 2 }, /maxLength must be an integer, and at least the 3 tokens/],
    [[[1]], { maxLength: 2.5 }, /maxLength/],
    [[[1]], { maxLength: 5, sampler: 'beam' }, /a sampler or one of greedy, random, topK, topP, got 'beam'/],
    [[[1]], { maxLength: 5, stopTokenIds: [-1] }, /stopTokenIds/],
    [[[1]], { maxLength: 5, stripPrompt: 1 }, /stripPrompt/],
    [[[1]], { maxLength: 5, maxTokens: 3 }, /maxTokens/],
  ])('refuses %j with %j', async (inputs, options, message) => {
    await expect((async () => model.generate(inputs as never, options as never))()).rejects.toThrow(message);
  });
});

describe('the cost of a token', () => {
  test('is one run of a plan, and no call of a kernel', async () => {
    const counts = { plans: 0, kernels: 0 };
    const backend = listBackends().find((b) => b.name === 'native') as Backend;
    const { prepare, kernel, elementwise } = backend;
    const counted = (made: Kernel | undefined): Kernel | undefined =>
      made &&
      ((...args) => {
        counts.kernels++;
        return made(...args);
      });
    backend.prepare = function (plan) {
      expect(plan.calls.some((call) => call.kernel === 'Host')).toBe(false);
      const executable = prepare.call(this, plan);
      const { run } = executable;
      executable.run = function (...args) {
        counts.plans++;
        return run.apply(this, args);
      };
      return executable;
    };
    backend.kernel = function (...args) {
      return counted(kernel.apply(this, args));
    };
    backend.elementwise = function (...args) {
      return counted(elementwise.apply(this, args)) as Kernel;
    };
    try {
      for (const sampler of [new GreedySampler(), new TopKSampler(), new TopPSampler(0.9)]) {
        const stream = model.generateStream(
          [
            [3, 4, 5],
            [1, 2, 3],
          ],
          { maxLength: 50, sampler, stopTokenIds: [500] },
        );
        stream.next();
        Object.assign(counts, { plans: 0, kernels: 0 });
        for (let i = 0; i < 20; i++) stream.next();
        expect([counts.plans, counts.kernels]).toEqual([20, 0]);
      }
      // And one for the prompt.
      Object.assign(counts, { plans: 0, kernels: 0 });
      model.generateStream([[3, 4, 5]], { maxLength: 50 }).next();
      expect(counts.plans).toBe(2);
    } finally {
      Object.assign(backend, { prepare, kernel, elementwise });
    }
  });

  test('is no memory, for a thousand tokens', async () => {
    const options = { maxLength: 1200, sampler: 'topK' } as const;
    const stream = model.generateStream([[3]], options);
    for (let i = 0; i < 100; i++) stream.next();
    const before = memory().native!;
    for (let i = 0; i < 1000; i++) stream.next();
    const after = memory().native!;
    expect(stream.next().done).toBe(false);
    // Results of steps are collected whenever they take some megabytes; a cache that was copied would be 77 KB a token.
    expect(after.bytesAllocated - before.bytesAllocated).toBeLessThan(2 ** 21);
  });

  test('does not grow with the caches: they are updated in place', async () => {
    const { plans } = plansOf(
      () => void model.generateStream([[3]], { maxLength: 100, sampler: 'greedy' }).next(),
    );
    const calls = plans.flatMap((plan) => plan.calls);
    expect(calls.filter((call) => call.kernel === 'ScatterNd')).toHaveLength(3);
    expect(calls.filter((call) => call.kernel === 'Copy')).toEqual([]);
    for (const { inputs, outputs } of calls.filter((call) => call.kernel === 'ScatterNd'))
      expect(outputs[0]!.value).toBe(inputs[0]!.value);
  });
});

/** The plans that `fn` makes ready. */
function plansOf(fn: () => void): { plans: Plan[] } {
  const plans: Plan[] = [];
  const backend = listBackends().find((b) => b.name === 'native') as Backend;
  const { prepare } = backend;
  backend.prepare = function (plan) {
    plans.push(plan);
    return prepare.call(this, plan);
  };
  try {
    fn();
  } finally {
    backend.prepare = prepare;
  }
  return { plans };
}
