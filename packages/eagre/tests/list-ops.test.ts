// Samplers, losses with sampled classes, crosses and others against TensorFlow.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  type Distribution,
  drawCandidates,
  LearnedClasses,
  logUniformClasses,
  uniformClasses,
  weightedClasses,
} from '../../core/src/random/candidates.ts';
import { Philox } from '../../core/src/random/philox.ts';
import * as tf from '../src/index.ts';
import { testCases } from './testing/golden-cases.ts';

testCases('list-ops.json');

describe('candidate samplers', () => {
  const { samples } = JSON.parse(
    readFileSync(new URL('../golden/candidates.json', import.meta.url), 'utf8'),
  ) as {
    samples: { name: string; unique: boolean; range: number; result: { values: number[] }[] }[];
  };
  const unigrams = [1, 2, 3, 4, 3, 0.5, 1, 0.25, 7];
  const weighted = (power: number): Distribution => {
    const weights = unigrams.map((w) => Math.fround(w ** power));
    return weightedClasses(
      weights,
      weights.reduce((a, b) => Math.fround(a + b), 0),
    );
  };
  const distributions: Readonly<Record<string, (range: number) => Distribution>> = {
    uniform: uniformClasses,
    uniform8: uniformClasses,
    logUniform: logUniformClasses,
    learned: (range) => new LearnedClasses(range),
    fixed: () => weighted(1),
    distorted: () => weighted(0.75),
  };
  it.each(samples)('draw what TensorFlow draws: $name, unique $unique', ({ name, unique, range, result }) => {
    // TensorFlow's generator of the seeds 2^33 + 3 and 2^35 + 5.
    const stream = new Philox([3, 2], [0, 0, 5, 8]);
    const found = drawCandidates(distributions[name](range), stream, 5, unique, [0, 3, 2, 6]);
    expect(found.sampled).toEqual(result[0].values);
    [found.trueCounts, found.sampledCounts].forEach((list, i) =>
      list.forEach((v, k) => expect(Math.abs(v - result[i + 1].values[k])).toBeLessThan(1e-6)),
    );
  });
  const { random } = tf;
  const ids = tf.constant(
    [
      [0, 3],
      [2, 6],
    ],
    'int64' as never,
  );
  it('give classes and counts, eagerly and traced, and repeat by their seeds', () => {
    const draw = (): unknown[] => {
      random.setSeed(3);
      return random.uniformCandidateSampler(ids, 2, 4, true, 9, { seed: 5 }).map((t) => t.array());
    };
    expect(draw()).toEqual(draw());
    const traced = tf.function((x: tf.Tensor) => random.logUniformCandidateSampler(x, 2, 4, true, 9), {
      inputSignature: [new tf.TensorSpec([null, 2], 'int64')],
    }) as unknown as (x: tf.Tensor) => tf.Tensor[];
    const [a, b] = [traced(ids), traced(ids)];
    expect(a.map((t) => [t.dtype, t.shape])).toEqual([
      ['int64', [4]],
      ['float32', [2, 2]],
      ['float32', [4]],
    ]);
    expect([a, b].map(([t]) => new Set(t.array() as bigint[]).size)).toEqual([4, 4]);
    const many = Array.from({ length: 20 }, () => String(traced(ids)[0].array()));
    expect(new Set(many).size).toBeGreaterThan(1);
  });
  it('learn what they have seen', () => {
    const seen = tf.constant([[4, 4, 4, 4]], 'int64' as never);
    const first = random.learnedUnigramCandidateSampler(seen, 4, 1, false, 101)[1].array() as number[][];
    const second = random.learnedUnigramCandidateSampler(seen, 4, 1, false, 101)[1].array() as number[][];
    expect([first[0][0], second[0][0]]).toEqual([Math.fround(1 / 101), Math.fround(5 / 105)]);
  });
  it('refuse what they cannot use', () => {
    const bad: (() => unknown)[] = [
      () => random.uniformCandidateSampler(ids, 1, 4, true, 9),
      () => random.uniformCandidateSampler(ids, 2, 10, true, 9),
      () => random.uniformCandidateSampler(ids, 2, 0, true, 9),
      () => random.uniformCandidateSampler([[0.5, 1]], 2, 1, true, 9),
      () => random.fixedUnigramCandidateSampler(ids, 2, 2, true, 9, { unigrams: [1, 2] }),
      () => random.fixedUnigramCandidateSampler(ids, 2, 2, true, 2),
      () => random.fixedUnigramCandidateSampler(ids, 2, 2, true, 2, { unigrams: [0, 1] }),
      () => random.fixedUnigramCandidateSampler(ids, 2, 2, true, 2, { unigrams: [-1, 1] }),
      () => random.fixedUnigramCandidateSampler(ids, 2, 2, true, 2, { unigrams: [1, 1], shard: 1 }),
      () => tf.nn.nceLoss([[1, 2]], [1, 2], [[0]], [[1]], 2, 2),
      () => tf.nn.sampledSoftmaxLoss([[1], [2]], [1, 2], [[0]], [[1]], 3, 2),
      () => tf.nn.computeAccidentalHits([[1]], [[1]], 1),
    ];
    for (const call of bad) expect(call, String(call)).toThrow(tf.errors.InvalidArgumentError);
    expect(() =>
      random.fixedUnigramCandidateSampler(ids, 2, 2, true, 2, { vocabFile: '/none/at/all' }),
    ).toThrow(tf.errors.NotFoundError);
  });
});
