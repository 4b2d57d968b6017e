import '@eagre/backend-js';
import '@eagre/backend-native';
import { listBackends } from '@eagre/backend';
import { describe, expect, test } from 'vitest';
import * as tf from '../index.ts';
import { everywhere, numbers } from '../testing/ops.ts';
import { StreamGenerator } from './random.ts';

const { random } = tf;
const moments = (list: number[]): [mean: number, deviation: number] => {
  const mean = list.reduce((a, b) => a + b, 0) / list.length;
  return [mean, Math.sqrt(list.reduce((a, b) => a + (b - mean) ** 2, 0) / list.length)];
};

describe('seeds', () => {
  test('the global seed repeats everything', () => {
    const draw = (): unknown[] => [
      random.uniform([3]).array(),
      random.normal([3]).array(),
      random.uniform([3], { seed: 5 }).array(),
      random.uniform([3], { seed: 5 }).array(),
      random.shuffle([1, 2, 3, 4, 5]).array(),
    ];
    random.setSeed(1);
    const first = draw();
    const second = draw();
    random.setSeed(1);
    expect(draw()).toEqual(first);
    expect(second).not.toEqual(first);
    random.setSeed(2);
    expect(draw()).not.toEqual(first);
  });

  test("a call's own seed makes a sequence that other calls do not disturb", () => {
    random.setSeed(7);
    const a = [random.uniform([2], { seed: 1 }).array(), random.uniform([2], { seed: 1 }).array()];
    random.setSeed(7);
    const b = random.uniform([2], { seed: 1 }).array();
    random.normal([9]);
    random.uniform([4], { seed: 2 });
    expect([b, random.uniform([2], { seed: 1 }).array()]).toEqual(a);
    expect(a[0]).not.toEqual(a[1]);
    expect(() => random.uniform([1], { seed: 0.5 })).toThrow('not an integer');
  });

  test('every backend draws the same', () => {
    const lists = listBackends().map(({ name }) =>
      tf.withBackend(name, () => {
        random.setSeed(3);
        return [
          random.uniform([5]),
          random.normal([5]),
          random.truncatedNormal([5]),
          random.shuffle(tf.range(20)),
        ].map((t) => t.array());
      }),
    );
    for (const list of lists) expect(list).toEqual(lists[0]);
  });

  test('stateless calls depend on their seed alone', () => {
    everywhere(() => {
      const a = random.statelessUniform([4], [1, 2]);
      expect(random.statelessUniform([4], [1, 2]).array()).toEqual(a.array());
      expect(random.statelessUniform([4], [2, 1]).array()).not.toEqual(a.array());
      expect(random.statelessNormal([4], [1, 2]).array()).toEqual(
        random.statelessNormal([4], [1, 2]).array(),
      );
      expect(random.statelessTruncatedNormal([2], [0, 0]).shape).toEqual([2]);
      expect(random.statelessUniform([3], [0, 2 ** 40], { maxval: 5, dtype: 'int32' }).dtype).toBe('int32');
    });
    expect(() => random.statelessUniform([1], [1] as unknown as [number, number])).toThrow('two integers');
  });
});

describe('distributions', () => {
  test('uniform', () => {
    everywhere(() => {
      const list = numbers(random.uniform([20000], { minval: -1, maxval: 3, seed: 1 }));
      expect(Math.min(...list)).toBeGreaterThanOrEqual(-1);
      expect(Math.max(...list)).toBeLessThan(3);
      const [mean, deviation] = moments(list);
      expect(mean).toBeCloseTo(1, 1);
      expect(deviation).toBeCloseTo(4 / Math.sqrt(12), 1);
      expect(random.uniform([2], { dtype: 'float64' }).dtype).toBe('float64');
    });
  });

  test('integers', () => {
    everywhere(() => {
      const list = numbers(random.uniform([3000], { minval: -1, maxval: 2, dtype: 'int32', seed: 1 }));
      for (const v of [-1, 0, 1]) expect(list.filter((x) => x === v).length / 3000).toBeCloseTo(1 / 3, 1);
      expect(random.uniform([2], { maxval: 10n, dtype: 'int64' }).dtype).toBe('int64');
    });
    expect(() => random.uniform([2], { minval: 0, maxval: 2 ** 53, dtype: 'int64' })).toThrow(
      'as bigints from 2^53 on',
    );
    expect(() => random.uniform([2], { dtype: 'int32' })).toThrow('needs integers minval < maxval');
    expect(() => random.uniform([2], { maxval: 300, dtype: 'uint8' })).toThrow('outside the range of uint8');
    expect(() => random.uniform([2], { dtype: 'bool' })).toThrow('dtype is bool');
  });

  test('64-bit integers of bounds that no float holds', () => {
    for (const [minval, maxval] of [
      [2n ** 53n + 1n, 2n ** 53n + 4n],
      [-(2n ** 63n), 2n ** 63n],
      [-(2n ** 62n), 2n ** 62n + 2n ** 61n],
      [-5n, 2n ** 62n + 1n],
      [2n ** 63n - 2n, 2n ** 63n],
      [-(2n ** 63n), 3n],
    ] as const) {
      const draw = (): bigint[] => {
        random.setSeed(1);
        return random.uniform([2000], { minval, maxval, dtype: 'int64', seed: 2 }).array() as bigint[];
      };
      const [native, js] = listBackends().map(({ name }) => tf.withBackend(name, draw));
      expect(native).toEqual(js);
      expect(js.every((v) => v >= minval && v < maxval)).toBe(true);
      const range = maxval - minval;
      if (range < 10n) expect(new Set(js).size).toBe(Number(range));
      else
        expect(
          Math.abs(Number(js.reduce((a, v) => a + (v - minval), 0n) / 2000n) / Number(range) - 0.5),
        ).toBeLessThan(0.09);
    }
    const wrong = (minval: bigint | number, maxval: bigint | number) => () =>
      random.uniform([1], { minval, maxval, dtype: 'int64' });
    expect(wrong(2n ** 53n, 2n ** 53n)).toThrow(tf.InvalidArgumentError);
    expect(wrong(0, 2n ** 63n + 1n)).toThrow(/outside the range of int64/);
    expect(wrong(0.5, 2n ** 60n)).toThrow(tf.InvalidArgumentError);
  });

  test('normal', () => {
    everywhere(() => {
      const [mean, deviation] = moments(numbers(random.normal([20000], { mean: 2, stddev: 3, seed: 1 })));
      expect(mean).toBeCloseTo(2, 0);
      expect(deviation).toBeCloseTo(3, 1);
      const cut = numbers(random.truncatedNormal([20000], { seed: 1 }));
      expect(Math.max(...cut.map(Math.abs))).toBeLessThanOrEqual(2);
      expect(moments(cut)[1]).toBeCloseTo(0.88, 1);
      const wide = random.normal([1000, 2], { mean: [0, 100], stddev: tf.constant([1, 0]), seed: 2 });
      expect(numbers(wide.at(':', 1)).every((v) => v === 100)).toBe(true);
      expect(moments(numbers(wide.at(':', 0)))[1]).toBeCloseTo(1, 0);
    });
    expect(() => random.normal([2], { stddev: -1 })).toThrow('at least 0');
    expect(() => random.normal([2], { dtype: 'int32' })).toThrow('dtype is int32');
  });

  test('shuffle keeps the rows', () => {
    everywhere(() => {
      const x = tf.range(60).reshape([20, 3]);
      const y = random.shuffle(x, { seed: 4 });
      expect(y.array()).not.toEqual(x.array());
      expect(numbers(y.at(':', 0)).sort((a, b) => a - b)).toEqual(numbers(x.at(':', 0)));
      expect(numbers(y.at(':', 1).sub(y.at(':', 0)))).toEqual(new Array(20).fill(1));
    });
  });

  test('categorical', () => {
    everywhere(() => {
      const y = random.categorical(
        tf.log([
          [0.1, 0.2, 0.7],
          [1, 0, 0],
        ]),
        5000,
        { seed: 1 },
      );
      expect(y.shape).toEqual([2, 5000]);
      expect(y.dtype).toBe('int64');
      const first = numbers(y.at(0));
      [0.1, 0.2, 0.7].forEach((p, k) => expect(first.filter((v) => v === k).length / 5000).toBeCloseTo(p, 1));
      expect(new Set(numbers(y.at(1)))).toEqual(new Set([0]));
      expect(random.categorical([[0, 0]], 2, { dtype: 'int32' }).dtype).toBe('int32');
    });
    expect(() => random.categorical([1, 2], 1)).toThrow('[batch, classes]');
  });
});

test('options are known by their names', () => {
  const g = random.Generator.fromSeed(1);
  const wrong = { std: 2 } as object;
  for (const [name, fn] of [
    ['random.uniform', () => random.uniform([2], { min: 1 } as object)],
    ['random.normal', () => random.normal([2], wrong)],
    ['random.truncatedNormal', () => random.truncatedNormal([2], wrong)],
    ['random.shuffle', () => random.shuffle([1, 2], wrong)],
    ['random.categorical', () => random.categorical([[1, 2]], 2, wrong)],
    ['random.statelessUniform', () => random.statelessUniform([2], [1, 2], wrong)],
    ['random.statelessNormal', () => random.statelessNormal([2], [1, 2], wrong)],
    ['random.statelessTruncatedNormal', () => random.statelessTruncatedNormal([2], [1, 2], wrong)],
    ['Generator.uniform', () => g.uniform([2], { seed: 1 } as object)],
    ['Generator.normal', () => g.normal([2], wrong)],
    ['Generator.truncatedNormal', () => g.truncatedNormal([2], wrong)],
    ['Generator.uniformInt', () => g.uniformInt([2], { maxval: 3, low: 1 } as { maxval: number })],
  ] as const)
    expect(fn, name).toThrow(new RegExp(`^${name}: '\\w+' is not an option; the options are`));
  expect(() => random.normal([2], 2 as never)).toThrow(tf.InvalidArgumentError);
  const Made = random.Generator as unknown as new (seed: number) => object;
  expect(() => new Made(1)).toThrow('random.Generator: write tf.random.Generator.fromSeed(seed)');
});

test('generators', () => {
  everywhere(() => {
    const g = random.Generator.fromSeed(1);
    const a = [g.uniform([3]).array(), g.normal([2]).array(), g.uniformInt([3], { maxval: 9 }).array()];
    g.resetFromSeed(1);
    expect([g.uniform([3]).array(), g.normal([2]).array(), g.uniformInt([3], { maxval: 9 }).array()]).toEqual(
      a,
    );
    const [c, d] = random.Generator.fromSeed(1).split(2);
    const [e] = random.Generator.fromSeed(1).split();
    const draw = c.normal([4]).array();
    expect(d.normal([4]).array()).not.toEqual(draw);
    expect(e.normal([4]).array()).toEqual(draw);
    expect(random.Generator.fromNonDeterministicState().truncatedNormal([2]).shape).toEqual([2]);
    expect(random.getGlobalGenerator()).toBe(random.getGlobalGenerator());
  });
});

describe('the state in checkpoints', () => {
  type Attribute = { save(): tf.Tensor; restore(value: tf.Tensor): void };
  const stateOf = (object: { trackableView(): tf.TrackableView }): Attribute =>
    new Map(object.trackableView().attributes).get('STATE') as Attribute;

  test('a generator of a layer goes on where it was', () => {
    const g = new StreamGenerator(5);
    g.normal([2]);
    const saved = stateOf(g).save();
    const wanted = g.normal([3]).array();
    const other = new StreamGenerator(6);
    stateOf(other).restore(saved);
    expect(other.normal([3]).array()).toEqual(wanted);
    expect(() => stateOf(other).restore(tf.constant([1, 2, 3]))).toThrow(/not a random state: float32/);
  });

  test('calls without a generator, with seeds and without', () => {
    for (const seed of [undefined, 11]) {
      if (seed !== undefined) random.setSeed(seed);
      random.normal([1]);
      random.normal([1], { seed: 3 });
      const saved = stateOf(random.globalStream).save();
      const draw = (): unknown => [random.normal([2]).array(), random.normal([2], { seed: 3 }).array()];
      const wanted = draw();
      draw();
      stateOf(random.globalStream).restore(saved);
      expect(draw()).toEqual(wanted);
    }
  });
});
