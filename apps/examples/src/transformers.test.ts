// Models of Hugging Face's library against what it computes itself: golden/transformers.json, made by tools/golden/transformers_models.py.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as tf from 'eagre';
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { GPT2 } from './50-gpt2.ts';
import type { BertForPreTraining } from './51-bert.ts';

interface Values {
  readonly shape: readonly number[];
  readonly data: readonly number[];
}
interface Golden {
  readonly gpt2: {
    readonly tokens: number[][];
    readonly logits: Values;
    readonly prompts: number[][];
    readonly generated: number[][];
    readonly stop: number;
    readonly stopped: number[][];
  };
  readonly gpt2Bfloat16: { readonly logits: Values };
  readonly samplers: Readonly<Record<'logits' | 'temperature' | 'topK' | 'topP', Values>>;
  readonly bert: Readonly<Record<'tokens' | 'mask' | 'types', number[][]>> &
    Readonly<Record<'logits' | 'relationship', Values>>;
}
const folder = fileURLToPath(new URL('../golden', import.meta.url));
const golden = JSON.parse(readFileSync(`${folder}/transformers.json`, 'utf8')) as Golden;

function expectClose(found: tf.Tensor, { shape, data }: Values): void {
  expect(found.shape).toEqual(shape);
  const values = found.data();
  data.forEach((value, i) => {
    expect(Math.abs(Number(values[i]) - value)).toBeLessThanOrEqual(1e-4 * Math.max(1, Math.abs(value)));
  });
}
beforeEach(() => {
  vi.spyOn(console, 'log').mockImplementation(() => undefined);
});

describe('50: GPT-2', () => {
  let gpt2: typeof import('./50-gpt2.ts');
  let model: GPT2;
  beforeAll(async () => {
    vi.spyOn(console, 'log').mockImplementation(() => undefined);
    gpt2 = await import('./50-gpt2.ts');
    model = gpt2.model;
  });

  it('has the logits of the library, eagerly and as a graph', async () => {
    const tokens = tf.constant(golden.gpt2.tokens, 'int32');
    expectClose(model(tokens), golden.gpt2.logits);
    expectClose(tf.function((x: tf.Tensor) => model(x))(tokens), golden.gpt2.logits);
    expectClose(await model.predict(tokens, { verbose: 0 }), golden.gpt2.logits);
  });

  it('has them position by position too, and in pieces', () => {
    const tokens = tf.constant(golden.gpt2.tokens, 'int32');
    const [batch, time] = tokens.shape as [number, number];
    for (const sizes of [Array(time).fill(1), [4, 1, time - 5]]) {
      let cache = model.buildCache(batch, time + 3);
      let at = 0;
      const pieces = sizes.map((size: number) => {
        const piece = tokens.at(':', `${at}:${at + size}`);
        const [logits, next] = model.callWithCache(piece, cache, tf.constant(at, 'int32'));
        cache = next;
        at += size;
        return logits;
      });
      expectClose(tf.concat(pieces, 1), golden.gpt2.logits);
    }
  });

  it('writes the texts of the library, alone and in a batch of different lengths', async () => {
    const { prompts, generated, stop, stopped } = golden.gpt2;
    const lengths = generated.map((text) => text.length);
    for (const [i, prompt] of prompts.entries()) {
      const [text] = await model.generate([prompt], { maxLength: lengths[i] as number, sampler: 'greedy' });
      expect(text).toEqual(generated[i]);
    }
    const maxLength = Math.max(...lengths);
    const all = await model.generate(prompts, { maxLength, sampler: 'greedy' });
    expect(all.map((text, i) => text.slice(0, lengths[i]))).toEqual(generated);
    const ended = await model.generate(prompts, { maxLength, sampler: 'greedy', stopTokenIds: [stop] });
    expect(stopped.some((text, i) => text.length < (lengths[i] as number))).toBe(true);
    expect(ended.map((text, i) => text.slice(0, lengths[i]))).toEqual(stopped);
    expect(gpt2.streamed).toEqual(gpt2.greedy[0]?.slice(3));
  });

  it('is loaded from one file of 16 bits', async () => {
    const other = await gpt2.loadGPT2(`${folder}/gpt2-bfloat16`, 'transformer.');
    expectClose(other(tf.constant(golden.gpt2.tokens, 'int32')), golden.gpt2Bfloat16.logits);
    expect(other.weights.every((w) => w.dtype === 'float32')).toBe(true);
  });

  it('refuses more positions than it has', async () => {
    await expect(model.generate([[1]], { maxLength: 65 })).rejects.toThrow(/64 positions/);
  });

  it.each(['topK', 'topP', 'temperature'] as const)('draws what the library leaves of logits: %s', (name) => {
    const { logits, [name]: left } = golden.samplers;
    const { TopKSampler, TopPSampler, RandomSampler } = tf.keras.samplers;
    const sampler = {
      topK: new TopKSampler(5, { seed: 1 }),
      topP: new TopPSampler(0.6, { seed: 1 }),
      temperature: new RandomSampler({ temperature: 0.7, seed: 1 }),
    }[name];
    const [rows, size] = logits.shape as [number, number];
    const draws = 20_000;
    for (let row = 0; row < rows; row++) {
      const ofRow = (v: Values): readonly number[] => v.data.slice(row * size, (row + 1) * size);
      const many = tf.tile(tf.constant([[...ofRow(logits)]]), [draws, 1]);
      const counts = Array(size).fill(0) as number[];
      for (const token of sampler.getNextToken(sampler.computeProbabilities(many)).data())
        counts[Number(token)]!++;
      ofRow(left).forEach((p, i) => {
        expect(Math.abs(counts[i]! / draws - p)).toBeLessThanOrEqual(
          5 * Math.sqrt((p * (1 - p)) / draws) + 1e-9,
        );
      });
    }
  });
});

describe('51: BERT', () => {
  let model: BertForPreTraining;
  beforeAll(async () => {
    vi.spyOn(console, 'log').mockImplementation(() => undefined);
    ({ model } = await import('./51-bert.ts'));
  });

  it('has the logits of the library, with padding and two sentences', () => {
    const { tokens, mask, types, logits, relationship } = golden.bert;
    const inputs = [tokens, mask, types].map((rows) => tf.constant(rows, 'int32')) as [
      tf.Tensor,
      tf.Tensor,
      tf.Tensor,
    ];
    const run = (...given: typeof inputs): [tf.Tensor, tf.Tensor] =>
      model(given) as unknown as [tf.Tensor, tf.Tensor];
    for (const call of [run, tf.function(run)]) {
      const [found, next] = call(...inputs);
      expectClose(found, logits);
      expectClose(next, relationship);
    }
    // The padding matters: without the mask there are other logits.
    const [unmasked] = run(inputs[0], tf.onesLike(inputs[1]), inputs[2]);
    expect(
      unmasked
        .at(2, 0)
        .sub(run(...inputs)[0].at(2, 0))
        .abs()
        .max()
        .item(),
    ).toBeGreaterThan(1e-2);
  });
});
