// Sizes that no memory holds are refused at once: nothing is made step by step before.

import { describe, expect, it } from 'vitest';
import { processorTime } from '../../testing/src/processor-time.ts';
import * as tf from '../src/index.ts';

const { ResourceExhaustedError } = tf.errors;

describe('what is made step by step on the host', () => {
  it.each<[string, (n: number) => unknown]>([
    ["Kaiser's window", (n) => tf.signal.kaiserWindow(n)],
    ["the window derived from Kaiser's", (n) => tf.signal.kaiserBesselDerivedWindow(n)],
    ['padded n-grams', (n) => tf.strings.ngrams(['a', 'b'], n, { padValues: ['x', 'y'] })],
    ['sampled classes', (n) => tf.random.uniformCandidateSampler([[0n]], 1, n, false, 10)],
    ['distinct sampled classes', (n) => tf.random.logUniformCandidateSampler([[0n]], 1, n, true, n)],
  ])('%s', (_, make) => {
    for (const n of [2 ** 31, 2 ** 40]) {
      const refused = (): void => expect(() => make(n)).toThrow(ResourceExhaustedError);
      expect(processorTime(refused)).toBeLessThan(1000);
    }
  });
  it('n-grams wider than a row are none, without padding', () => {
    expect((tf.strings.ngrams(['a', 'b'], 2 ** 40) as tf.Tensor).shape).toEqual([0]);
  });
  it('differences end where there is nothing left', () => {
    expect(tf.experimental.numpy.diff([1, 2], 2 ** 40).shape).toEqual([0]);
    expect(tf.experimental.numpy.diff([1, 2], 2).shape).toEqual([0]);
    // As in NumPy, Keras and TensorFlow.
    expect(() => tf.experimental.numpy.diff([1, 2], -1)).toThrow(tf.errors.InvalidArgumentError);
  });
});

describe('odd sizes', () => {
  it('are refused by decodeRaw, resetShape and toCategorical', () => {
    const raw = (fixedLength: number): unknown => tf.io.decodeRaw(['ab'], 'uint8', { fixedLength });
    for (const n of [2 ** 31, 2 ** 40]) expect(() => raw(n)).toThrow(ResourceExhaustedError);
    const sparse = tf.sparse.fromDense([1, 0, 2]);
    for (const n of [Number.NaN, Number.POSITIVE_INFINITY])
      expect(() => tf.sparse.resetShape(sparse, [n])).toThrow(tf.errors.InvalidArgumentError);
    expect(() => tf.keras.utils.toCategorical([0], 2n ** 40n)).toThrow(tf.errors.InvalidArgumentError);
    expect(tf.keras.utils.toCategorical([1], 2n).array()).toEqual([[0, 1]]);
  });
});

// As in TensorFlow 2.21.
describe('running log-sum-exp of nothing, and of one number', () => {
  it.each([
    [false, false, [2]],
    [false, true, [2]],
    [true, false, [Number.NEGATIVE_INFINITY]],
    [true, true, [Number.NEGATIVE_INFINITY]],
  ])('exclusive %s, reverse %s', (exclusive, reverse, expected) => {
    const f = (x: tf.Tensor): tf.Tensor => tf.math.cumulativeLogsumexp(x, 0, { exclusive, reverse });
    for (const run of [f, tf.function(f)]) {
      expect(run(tf.zeros([0])).shape).toEqual([0]);
      expect(run(tf.zeros([0, 3])).shape).toEqual([0, 3]);
      expect(run(tf.constant([2])).array()).toEqual(expected);
    }
  });
});
