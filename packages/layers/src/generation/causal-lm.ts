// Models that continue texts token by token.
import { nextTurn } from '@eagre/backend';
import { InvalidArgumentError, Tensor } from '@eagre/core';
import { defineMethods, shown } from '@eagre/core/internal';
import type { AttentionCache } from '../layers/attention/cached-attention.ts';
import { Model } from '../models/model.ts';
import { Generation } from './generation.ts';
import { get as getSampler, type SamplerLike } from './samplers.ts';

/** Token ids of texts that may differ in length. */
export type Prompts = readonly (readonly number[])[] | Tensor;

/** Options of `generate`. */
export interface GenerateOptions {
  /** How many tokens a text has at most, with its prompt. */
  readonly maxLength: number;
  /** How tokens are chosen: a sampler, or the name of one. 'topK' by default, as in KerasHub. */
  readonly sampler?: SamplerLike | null;
  /** Tokens that end a text; none by default. */
  readonly stopTokenIds?: readonly number[] | null;
}
/** Options of `generateText`, which takes and gives texts. */
export interface GenerateTextOptions extends GenerateOptions {
  /** Whether results are without their prompts; false by default. */
  readonly stripPrompt?: boolean;
}

const optionNames = { maxLength: true, sampler: true, stopTokenIds: true } as const;

/**
 * Base of models that predict the next token of a text and can keep what their attention has seen, like the class of this name in KerasHub.
 * Extend it and write `call`, `buildCache` and `callWithCache`:
 *
 *     class Gpt extends tf.keras.models.CausalLM {
 *       override call(tokens) { … } // logits [batch, time, vocabulary]
 *       override buildCache(batchSize, maxLength) {
 *         return this.blocks.map((block) => block.attention.buildCache(batchSize, maxLength));
 *       }
 *       override callWithCache(tokens, cache, index) { … } // [logits, cache]
 *     }
 *     const [text] = await model.generate([[1, 2, 3]], { maxLength: 50, sampler: 'greedy' });
 *
 * A text costs one run of a graph for its prompt, and one for each token that follows. These graphs are traced once for each number of texts,
 * maximal length, sampler and list of stop tokens, of which the last is kept; caches are updated in place.
 */
export abstract class CausalLM extends Model {
  #generation: Generation | null = null;
  readonly #samplers = new Map<unknown, ReturnType<typeof getSampler>>();

  /** Empty caches for texts of at most so many tokens: one for each layer of attention. */
  abstract buildCache(batchSize: number, maxLength: number): readonly AttentionCache[];

  /**
   * The logits [batch, time, vocabulary] of tokens at the positions from `cacheUpdateIndex` on, and the caches with their keys and values.
   * @param tokenIds int32 [batch, time].
   * @param cache the caches with the keys and values of all positions before.
   * @param cacheUpdateIndex an int32 scalar.
   */
  abstract callWithCache(
    tokenIds: Tensor,
    cache: readonly AttentionCache[],
    cacheUpdateIndex: Tensor,
  ): readonly [logits: Tensor, cache: readonly AttentionCache[]];

  /**
   * Continues texts until each has `maxLength` tokens, or ends with one of `stopTokenIds`.
   * @param inputs the token ids of the prompts, at least one of each.
   * @returns the token ids of the texts, with their prompts unless `stripPrompt` is true.
   */
  async generate(
    inputs:
      | Prompts
      | (GenerateTextOptions & {
          /** The prompts: lists of token ids, or a tensor of them. */
          readonly inputs: Prompts;
        }),
    options?: GenerateTextOptions,
  ): Promise<number[][]> {
    const { stripPrompt = false, ...others } = options as GenerateTextOptions;
    if (typeof stripPrompt !== 'boolean')
      throw new InvalidArgumentError(
        `stripPrompt must be true or false, got ${shown(stripPrompt)}`,
        this.name,
      );
    const texts = promptsOf(inputs as Prompts, this.name);
    const lengths = texts.map((text) => text.length);
    const stop = new Set(others.stopTokenIds ?? []);
    let at = Math.min(...lengths);
    for (const tokens of this.#stream(texts, others)) {
      texts.forEach((text, i) => {
        const hasEnded = text.length > (lengths[i] as number) && stop.has(text.at(-1) as number);
        // The tokens of longer prompts are there already.
        if (at >= text.length && !hasEnded) text.push(tokens[i] as number);
      });
      at++;
      await nextTurn();
    }
    return stripPrompt ? texts.map((text, i) => text.slice(lengths[i])) : texts;
  }

  /**
   * The same, token by token: gives the tokens of all texts at one position after the other, behind the shortest prompt. A text that has
   * ended repeats its last token.
   */
  generateStream(
    inputs:
      | Prompts
      | (GenerateOptions & {
          /** The prompts: lists of token ids, or a tensor of them. */
          readonly inputs: Prompts;
        }),
    options?: GenerateOptions,
  ): IterableIterator<readonly number[]> {
    return this.#stream(promptsOf(inputs as Prompts, this.name), options as GenerateOptions);
  }

  *#stream(
    prompts: readonly (readonly number[])[],
    { maxLength, sampler = null, stopTokenIds = null }: GenerateOptions,
  ): IterableIterator<readonly number[]> {
    const longest = Math.max(...prompts.map((prompt) => prompt.length));
    if (!Number.isSafeInteger(maxLength) || maxLength < longest)
      throw new InvalidArgumentError(
        `maxLength must be an integer, and at least the ${longest} tokens of the longest prompt, got ${shown(maxLength)}`,
        this.name,
      );
    const stop = stopTokenIds ?? [];
    if (!Array.isArray(stop) || !stop.every((id) => Number.isSafeInteger(id) && id >= 0))
      throw new InvalidArgumentError(
        `stopTokenIds must be a list of token ids, got ${shown(stop)}`,
        this.name,
      );
    const settings = {
      batchSize: prompts.length,
      maxLength,
      sampler: this.#samplerOf(sampler ?? 'topK'),
      stop,
    };
    let generation = this.#generation;
    // One that is still being read has its own state.
    if (generation === null || generation.isBusy || !generation.fits(settings)) {
      generation = new Generation(this, settings);
      this.#generation = generation;
    }
    yield* generation.run(prompts);
  }

  #samplerOf(given: SamplerLike): ReturnType<typeof getSampler> {
    let sampler = this.#samplers.get(given);
    if (sampler === undefined) {
      sampler = getSampler(given);
      if (typeof given === 'string') this.#samplers.set(given, sampler);
    }
    return sampler;
  }
}
defineMethods(CausalLM.prototype, 'CausalLM', {
  generate: { positional: ['inputs'], options: { ...optionNames, stripPrompt: true } },
  generateStream: { positional: ['inputs'], options: optionNames },
});

/** Copies of the prompts as lists. */
function promptsOf(inputs: Prompts, where: string): number[][] {
  const refuse = (): never => {
    throw new InvalidArgumentError(
      `inputs must be the token ids of one or more prompts, [[1, 2, 3]] or an integer tensor [batch, time], at least one token each; got ${shown(inputs)}`,
      where,
    );
  };
  const lists: unknown = inputs instanceof Tensor ? inputs.array() : inputs;
  if (!Array.isArray(lists) || lists.length === 0) return refuse();
  return lists.map((prompt: unknown) => {
    if (!Array.isArray(prompt) || prompt.length === 0) return refuse();
    const ids = prompt.map(Number);
    return ids.every((id) => Number.isSafeInteger(id) && id >= 0) ? ids : refuse();
  });
}
