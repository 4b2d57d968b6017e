// Keys made of others, and distributions as pure functions of keys.
import { describe, expect, it } from 'vitest';
import * as tf from '../src/index.ts';

const { random } = tf;
const N = 20000;
const moments = (x: tf.Tensor): [number, number] => {
  const wide = x.cast('float64');
  return [wide.mean().item(), wide.variance().item()];
};

describe('keys', () => {
  it('are made of others', () => {
    const a = random.split([1, 2], 3);
    expect([a.shape, a.dtype]).toEqual([[3, 2], 'int32']);
    expect(a.array()).toEqual(random.split([1, 2], 3).array());
    expect(new Set((a.array() as number[][]).map(String)).size).toBe(3);
    const folded = [0, 1, 2].map((n) => String(random.foldIn([1, 2], n).array()));
    expect(new Set(folded).size).toBe(3);
    expect(random.foldIn(tf.constant([1, 2], 'int32'), tf.constant(1, 'int32')).array()).toEqual(
      random.foldIn([1, 2], 1).array(),
    );
    expect(Array.from(random.createRngState(7, 'philox').data() as ArrayLike<bigint>, Number)).toEqual([
      7, 0, 0,
    ]);
    expect(() => random.createRngState(7, 'threefry')).toThrow(tf.errors.UnimplementedError);
    expect(() => random.split([1] as never, 2)).toThrow(tf.errors.InvalidArgumentError);
    expect(random.Algorithm.PHILOX).toBe(1);
    const g = random.Generator.fromSeed(3);
    random.setGlobalGenerator(g);
    expect(random.getGlobalGenerator()).toBe(g);
    expect(() => random.setGlobalGenerator(3 as never)).toThrow(tf.errors.InvalidArgumentError);
  });
});

describe('distributions', () => {
  it('have their means and variances', () => {
    const near = (x: tf.Tensor, mean: number, variance: number): void => {
      const [m, v] = moments(x);
      expect(Math.abs(m - mean)).toBeLessThan(5 * Math.sqrt(variance / N) + 0.01);
      expect(Math.abs(v / variance - 1)).toBeLessThan(0.06);
    };
    near(random.statelessPoisson([N], [1, 2], 3), 3, 3);
    near(random.statelessPoisson([N], [1, 3], 50), 50, 50);
    near(random.statelessPoisson([N], [1, 3], 14), 14, 14);
    near(random.statelessGamma([N], [1, 2], 2.5, { beta: 2 }), 1.25, 0.625);
    near(random.statelessGamma([N], [1, 2], 0.4), 0.4, 0.4);
    near(random.statelessBinomial([N], [1, 2], 20, 0.3), 6, 4.2);
    near(random.poisson([N], 4, { seed: 3 }), 4, 4);
    const cut = random.statelessParameterizedTruncatedNormal([N], [1, 2], {
      means: 1,
      stddevs: 2,
      minvals: 3,
      maxvals: 4,
    });
    expect([cut.min().item() >= 3, cut.max().item() <= 4]).toEqual([true, true]);
    // The mean of a standard normal between 1 and 1.5 is 1.2243.
    expect(Math.abs(moments(cut)[0] - (1 + 2 * 1.2243))).toBeLessThan(0.01);
    const classes = random.statelessCategorical(tf.math.log([[0.2, 0.8]]), N, [3, 4]);
    expect([classes.dtype, classes.shape]).toEqual(['int64', [1, N]]);
    expect(Math.abs(moments(classes.reshape([N]))[0] - 0.8)).toBeLessThan(0.02);
    const half = random.poisson([2], [1, 5, 9]);
    expect([half.shape, half.dtype]).toEqual([[2, 3], 'float32']);
  });
  it('repeat', () => {
    const run = (): unknown[] => [
      random.statelessPoisson([4], [1, 2], 3).array(),
      random.statelessGamma([4], [1, 2], 3).array(),
      random.statelessBinomial([4], [1, 2], 5, 0.5).array(),
    ];
    expect(run()).toEqual(run());
    const traced = tf.function((seed: tf.Tensor) => random.statelessPoisson([4], seed, 3));
    expect(traced(tf.constant([1, 2], 'int32')).array()).toEqual(
      random.statelessPoisson([4], [1, 2], 3).array(),
    );
  });
  it('refuse what they cannot use', () => {
    const bad: (() => unknown)[] = [
      () => random.statelessPoisson([2], [1, 2], [1, 2, 3]),
      () => random.statelessBinomial([2], [1, 2], [5, 6, 7], 0.5),
      () => random.statelessCategorical([1, 2], 3, [1, 2]),
      () => random.statelessGamma([2], [1, 2], 1, { dtype: 'int32' }),
      () => random.foldIn([1, 2], 1.5),
    ];
    for (const call of bad) expect(call).toThrow(tf.errors.InvalidArgumentError);
  });
});
