import '@eagre/backend-native';
import { constant, InvalidArgumentError, random, type Tensor, tile } from '@eagre/core';
import { tfFunction } from '@eagre/graph';
import { describe, expect, test } from 'vitest';
import * as samplers from './samplers.ts';

const { GreedySampler, RandomSampler, TopKSampler, TopPSampler } = samplers;

const logits = [
  [1, 3, 2, -1, 0],
  [0.5, -2, 0.4, 0.3, -0.5],
];
const softmax = (row: readonly number[]): number[] => {
  const powers = row.map(Math.exp);
  const sum = powers.reduce((a, b) => a + b);
  return powers.map((p) => p / sum);
};
/** The same with only some tokens. */
const only = (row: readonly number[], kept: readonly number[]): number[] =>
  softmax(row.map((v, i) => (kept.includes(i) ? v : Number.NEGATIVE_INFINITY)));

/** How often each token comes. */
function shares(sampler: samplers.Sampler, row: readonly number[], draws = 40_000): number[] {
  const run = tfFunction((x: Tensor) => sampler.getNextToken(sampler.computeProbabilities(x)));
  const counts = Array(row.length).fill(0);
  const tokens = run(tile(constant([row as number[]]), [draws, 1]));
  expect([tokens.dtype, tokens.shape]).toEqual(['int32', [draws]]);
  for (const token of tokens.data()) counts[Number(token)]++;
  return counts.map((count) => count / draws);
}
const expectShares = (found: readonly number[], expected: readonly number[]): void =>
  expected.forEach((share, i) => {
    // Five standard deviations.
    expect(Math.abs(found[i]! - share)).toBeLessThanOrEqual(5 * Math.sqrt((share * (1 - share)) / 40_000));
  });

describe('tokens come as often as they should', () => {
  random.setSeed(5);
  test.each([
    ['random', new RandomSampler(), (row: number[]) => softmax(row)],
    ['colder', new RandomSampler({ temperature: 0.5 }), (row: number[]) => softmax(row.map((v) => v / 0.5))],
    ['greedy', new GreedySampler(), (row: number[]) => only(row, [row.indexOf(Math.max(...row))])],
    [
      'greedy, hot',
      new GreedySampler({ temperature: 9 }),
      (row: number[]) => only(row, [row.indexOf(Math.max(...row))]),
    ],
    ['k of 1', new TopKSampler(1), (row: number[]) => only(row, [row.indexOf(Math.max(...row))])],
    ['more than all', new TopKSampler({ k: 99, seed: 3 }), (row: number[]) => softmax(row)],
    ['p of 1', new TopPSampler(1, { seed: 3 }), (row: number[]) => softmax(row)],
    ['a tiny p', new TopPSampler({ p: 1e-9 }), (row: number[]) => only(row, [row.indexOf(Math.max(...row))])],
  ] as const)('%s', (_, sampler, expected) => {
    for (const row of logits) expectShares(shares(sampler, row), expected(row));
  });

  test('the likeliest k', () => {
    expectShares(shares(new TopKSampler(2), logits[0]!), only(logits[0]!, [1, 2]));
    expectShares(
      shares(new TopKSampler(3, { temperature: 2 }), logits[1]!),
      only(
        logits[1]!.map((v) => v / 2),
        [0, 2, 3],
      ),
    );
  });

  test('the likeliest of a probability', () => {
    // 0.64, 0.24, …: the second passes 0.7; 0.33, 0.30, 0.27: the third passes 0.7.
    expectShares(shares(new TopPSampler(0.7), logits[0]!), only(logits[0]!, [1, 2]));
    expectShares(shares(new TopPSampler(0.7), logits[1]!), only(logits[1]!, [0, 2, 3]));
    // At most two of them.
    expectShares(shares(new TopPSampler(0.7, { k: 2 }), logits[1]!), only(logits[1]!, [0, 2]));
  });
});

describe('get', () => {
  test('takes names and samplers', () => {
    expect(samplers.get('topK')).toBeInstanceOf(TopKSampler);
    expect(samplers.get('top_p')).toBeInstanceOf(TopPSampler);
    expect((samplers.get('top_k') as samplers.TopKSampler).k).toBe(5);
    const own = new GreedySampler();
    expect(samplers.get(own)).toBe(own);
  });

  test.each([
    () => samplers.get('beam' as never),
    () => samplers.get('constructor' as never),
    () => new TopKSampler(0),
    () => new TopKSampler({ k: 1.5 }),
    () => new TopPSampler(0),
    () => new TopPSampler(1.1),
    () => new RandomSampler({ temperature: 0 }),
    () => new RandomSampler({ seed: 'x' as never }),
    () => new GreedySampler({ seed: 1 } as never),
    () => new RandomSampler({ p: 1 } as never),
  ])('refuses %s', (make) => {
    expect(make).toThrow(InvalidArgumentError);
  });
});
