import '@eagre/backend-js';
import '@eagre/backend-native';
import { describe, expect, test } from 'vitest';
import { currentBackend } from '../../dispatch/context.ts';
import * as tf from '../../index.ts';
import { everywhere, numbers, randoms, slopes, worst } from '../../testing/ops.ts';

const f64 = (...list: number[]): tf.Tensor => tf.constant(list, 'float64');
const matrix = [
  [1, 2, 3],
  [4, 5, 6],
];

describe('reductions', () => {
  test('over all axes, one, several and none', () => {
    everywhere(() => {
      expect(tf.sum(matrix).array()).toBe(21);
      expect(tf.sum(matrix, 0).array()).toEqual([5, 7, 9]);
      expect(tf.sum(matrix, -1, { keepdims: true }).array()).toEqual([[6], [15]]);
      expect(tf.sum(matrix, [0, 1], { keepdims: true }).array()).toEqual([[21]]);
      expect(tf.sum(matrix, []).array()).toEqual(matrix);
      expect(tf.mean(matrix, 1).array()).toEqual([2, 5]);
      expect(tf.prod(matrix, 0).array()).toEqual([4, 10, 18]);
      expect(tf.max(matrix, 1).array()).toEqual([3, 6]);
      expect(tf.min(matrix).array()).toBe(1);
    });
  });

  test('agree with sums in plain numbers for every choice of axes', () => {
    const shape = [3, 4, 5];
    const list = randoms(60, -2, 2);
    everywhere(() => {
      const x = tf.constant(list).reshape(shape);
      for (let mask = 0; mask < 8; mask++) {
        const axes = [0, 1, 2].filter((axis) => mask & (1 << axis));
        const expected = new Map<number, number[]>();
        list.forEach((value, i) => {
          const at = [Math.floor(i / 20), Math.floor(i / 5) % 4, i % 5];
          const to = at.reduce((n, index, axis) => (axes.includes(axis) ? n : n * shape[axis] + index), 0);
          expected.set(to, [...(expected.get(to) ?? []), value]);
        });
        const of = (f: (group: number[]) => number): number[] =>
          [...expected].sort((a, b) => a[0] - b[0]).map(([, group]) => f(group));
        const total = (group: number[]): number => group.reduce((a, b) => a + b, 0);
        const variance = (group: number[]): number => {
          const mean = total(group) / group.length;
          return total(group.map((v) => (v - mean) ** 2)) / group.length;
        };
        expect(worst(x.sum(axes), of(total))).toBeLessThan(1e-13);
        expect(
          worst(
            x.mean(axes),
            of((g) => total(g) / g.length),
          ),
        ).toBeLessThan(1e-13);
        expect(
          worst(
            x.max(axes),
            of((g) => Math.max(...g)),
          ),
        ).toBe(0);
        expect(
          worst(
            x.min(axes),
            of((g) => Math.min(...g)),
          ),
        ).toBe(0);
        expect(
          worst(
            x.prod(axes),
            of((g) => g.reduce((a, b) => a * b)),
          ),
        ).toBeLessThan(1e-12);
        expect(worst(x.variance(axes), of(variance))).toBeLessThan(1e-13);
        expect(
          worst(
            x.std(axes),
            of((g) => Math.sqrt(variance(g))),
          ),
        ).toBeLessThan(1e-13);
        expect(
          worst(
            x.norm('euclidean', axes),
            of((g) => Math.hypot(...g)),
          ),
        ).toBeLessThan(1e-13);
        expect(
          worst(
            x.logSumExp(axes),
            of((g) => Math.log(total(g.map(Math.exp)))),
          ),
        ).toBeLessThan(1e-13);
      }
    });
  });

  test('of nothing', () => {
    everywhere(() => {
      const none = tf.zeros([0, 2]);
      expect(none.sum(0).array()).toEqual([0, 0]);
      expect(none.prod(0).array()).toEqual([1, 1]);
      expect(none.max(0).array()).toEqual([-Infinity, -Infinity]);
      expect(none.mean(0).array()).toEqual([NaN, NaN]);
      expect(() => none.argMax(0)).toThrow(/ArgMax: axis 0 of shape \[0,2\] is empty/);
    });
  });

  test('integers stay integers', () => {
    everywhere(() => {
      const x = tf.constant([3, 4, -2], 'int32');
      expect(x.sum().dtype).toBe('int32');
      expect(x.sum().item()).toBe(5);
      expect(x.mean().item()).toBe(1);
      expect(
        tf
          .constant([2n ** 60n, 1n])
          .sum()
          .item('bigint'),
      ).toBe(2n ** 60n + 1n);
    });
    expect(() => tf.sum([true, false])).toThrow(/Sum: x is bool/);
    expect(() => tf.variance(tf.constant([1], 'int32'))).toThrow(/ReduceVariance: x is int32/);
  });

  test('axes are checked', () => {
    expect(() => tf.sum(matrix, 2)).toThrow(/Sum: axis 2 is out of range for rank 2/);
    expect(() => tf.sum(matrix, [0, -2])).toThrow(/twice/);
  });

  test('all, any, countNonzero', () => {
    everywhere(() => {
      const x = [
        [true, false],
        [true, true],
      ];
      expect(tf.all(x, 1).array()).toEqual([false, true]);
      expect(tf.any(x, 0).array()).toEqual([true, true]);
      expect(tf.all(x).array()).toBe(false);
      expect(tf.countNonzero(x, 0).array()).toEqual([2n, 1n]);
      expect(tf.countNonzero([0, 1, -2], 0, { dtype: 'int32' }).array()).toBe(2);
    });
  });

  test('argMax and argMin give the first position', () => {
    everywhere(() => {
      const x = [
        [1, 5, 5],
        [7, 2, 2],
      ];
      expect(tf.argMax(x, 1).array()).toEqual([1n, 0n]);
      expect(tf.argMin(x, -1, { dtype: 'int32' }).array()).toEqual([0, 1]);
      expect(tf.argMax(x).array()).toEqual([1n, 0n, 0n]);
      // NaN is passed over, as in TensorFlow.
      const places = (x: number[]): unknown[] => [
        tf.argMax(x).array(),
        tf.argMin(x).array(),
        ...(tf.argMax(x.map((v) => [v, 0])).array() as bigint[]),
      ];
      expect(places([1, NaN, 3])).toEqual([2n, 0n, 2n, 0n]);
      expect(places([NaN, 3, NaN, 3])).toEqual([1n, 1n, 1n, 0n]);
      expect(places([NaN, NaN])).toEqual([0n, 0n, 0n, 0n]);
      expect(places([NaN, -Infinity])).toEqual([0n, 1n, 0n, 0n]);
    });
    expect(() => tf.argMax(3)).toThrow(/axis 0 is out of range/);
  });

  test('moments', () => {
    everywhere(() => {
      const [mean, variance] = tf.moments(matrix, 0);
      expect(mean.array()).toEqual([2.5, 3.5, 4.5]);
      expect(variance.array()).toEqual([2.25, 2.25, 2.25]);
      expect(tf.moments(matrix, [0, 1], { keepdims: true })[0].shape).toEqual([1, 1]);
      // As TensorFlow has them.
      const both = (x: tf.TensorLike, axis: number): unknown[] => tf.moments(x, axis).map((t) => t.array());
      expect(both(tf.zeros([0, 2]), 0)).toEqual([
        [NaN, NaN],
        [NaN, NaN],
      ]);
      const infinite = [
        [Infinity, 1],
        [2, 3],
      ];
      expect(both(infinite, 0)).toEqual([
        [Infinity, 2],
        [NaN, 1],
      ]);
      expect(both(infinite, 1)).toEqual([
        [Infinity, 2.5],
        [NaN, 0.25],
      ]);
      const cube = tf.range(24, { dtype: 'float32' }).reshape([2, 3, 4]).pow(1.5);
      const [middle, spread] = tf.moments(cube, [0, 2]);
      expect(worst(middle, [25.992989, 43.209618, 64.612851])).toBeLessThan(1e-6);
      expect(worst(spread, [584.364441, 938.928833, 1281.17395])).toBeLessThan(1e-6);
    });
  });

  test('logSumExp neither overflows nor loses infinities', () => {
    everywhere(() => {
      expect(worst(tf.logSumExp([1000, 1000]), [1000 + Math.log(2)])).toBeLessThan(1e-6);
      expect(tf.logSumExp([-Infinity, -Infinity]).item()).toBe(-Infinity);
      expect(tf.logSumExp([Infinity, 1]).item()).toBe(Infinity);
      expect(slopes('ReduceLogSumExp', [f64(-Infinity, -Infinity)], { axes: [0], keepdims: false })).toEqual([
        [Number.NaN, Number.NaN],
      ]);
    });
  });

  test('norms', () => {
    everywhere(() => {
      const x = [3, -4];
      expect(tf.norm(x).item()).toBe(5);
      expect(tf.norm(x, 1).item()).toBe(7);
      expect(tf.norm(x, 2).item()).toBe(5);
      expect(tf.norm(x, Infinity).item()).toBe(4);
      expect(tf.norm(x, 3).item()).toBeCloseTo(91 ** (1 / 3), 5);
      expect(tf.norm([x, x], 1, 1, { keepdims: true }).array()).toEqual([[7], [7]]);
      expect(slopes('EuclideanNorm', [f64(0, 0)], { axes: [0], keepdims: false })).toEqual([[0, 0]]);
    });
    expect(tf.norm(matrix, 1, [0, 1]).item()).toBe(9);
    expect(tf.norm(matrix, 2, [0, 1]).item()).toBeCloseTo(Math.sqrt((91 + Math.sqrt(8065)) / 2), 5);
    expect(() => tf.norm(matrix, 3, [0, 1])).toThrow(/1, 2 or Infinity for matrices/);
    expect(() => tf.norm(matrix, 1, [0, -2])).toThrow(/expected one axis, or two/);
    expect(() => tf.norm(matrix, 0)).toThrow(/ord is 0/);
  });

  test('l2Normalize and clipByNorm', () => {
    everywhere(() => {
      expect(worst(tf.l2Normalize([3, 4]), [0.6, 0.8])).toBeLessThan(1e-6);
      expect(tf.l2Normalize([0, 0]).array()).toEqual([0, 0]);
      expect(worst(tf.clipByNorm([3, 4], 1), [0.6, 0.8])).toBeLessThan(1e-6);
      expect(tf.clipByNorm([3, 4], 10).array()).toEqual([3, 4]);
      expect(
        worst(
          tf.clipByNorm(
            [
              [3, 4],
              [0.3, 0.4],
            ],
            1,
            1,
          ),
          [0.6, 0.8, 0.3, 0.4],
        ),
      ).toBeLessThan(1e-6);
    });
    expect(() => tf.clipByNorm([1], 0)).toThrow(/clipNorm is 0/);
  });
});

describe('gradients', () => {
  test('equal extremes share', () => {
    everywhere(() => {
      expect(slopes('Max', [f64(1, 3, 3, 2)], { axes: [0], keepdims: false })).toEqual([[0, 0.5, 0.5, 0]]);
      expect(slopes('Min', [f64(1, 3, 1, 2)], { axes: [0], keepdims: false })).toEqual([[0.5, 0, 0.5, 0]]);
    });
  });

  test('a product with zeros', () => {
    everywhere(() => {
      const attrs = { axes: [0], keepdims: false };
      expect(slopes('Prod', [f64(2, 3, 4)], attrs)).toEqual([[12, 8, 6]]);
      expect(slopes('Prod', [f64(2, 0, 4)], attrs)).toEqual([[0, 8, 0]]);
      expect(slopes('Prod', [f64(0, 0, 4)], attrs)).toEqual([[0, 0, 0]]);
      const x = f64(1, 0, 2, 3, 4, 5).reshape([1, 2, 3]);
      expect(slopes('Prod', [x], { axes: [0, 2], keepdims: false })).toEqual([[0, 2, 0, 20, 15, 12]]);
    });
  });

  test('a running product with zeros', () => {
    const cumprod = (list: number[], exclusive: boolean, reverse: boolean): number => {
      const order = reverse ? [...list].reverse() : list;
      let product = 1;
      let total = 0;
      for (const v of order) {
        if (exclusive) total += product;
        product *= v;
        if (!exclusive) total += product;
      }
      return total;
    };
    everywhere(() => {
      for (const list of [[2, 0, 3, 0, -1], [1, 2, 3, 4, 5, 6, 7], [0.5], [-1, 2, 0]]) {
        for (const exclusive of [false, true]) {
          for (const reverse of [false, true]) {
            const [got] = slopes('Cumprod', [f64(...list)], { axis: 0, exclusive, reverse });
            // A product is linear in each factor, so this difference is exact.
            const expected = list.map(
              (_, k) =>
                cumprod(
                  list.map((v, i) => v + (i === k ? 1 : 0)),
                  exclusive,
                  reverse,
                ) - cumprod(list, exclusive, reverse),
            );
            expect(worst(f64(...(got ?? [])), expected)).toBeLessThan(1e-12);
          }
        }
      }
    });
  });
});

describe('running sums and products', () => {
  test('inclusive, exclusive, reversed', () => {
    everywhere(() => {
      expect(tf.cumsum([1, 2, 3]).array()).toEqual([1, 3, 6]);
      expect(tf.cumsum([1, 2, 3], 0, { exclusive: true }).array()).toEqual([0, 1, 3]);
      expect(tf.cumsum([1, 2, 3], 0, { reverse: true }).array()).toEqual([6, 5, 3]);
      expect(tf.cumsum([1, 2, 3], -1, { reverse: true, exclusive: true }).array()).toEqual([5, 3, 0]);
      expect(tf.cumprod([1, 2, 3]).array()).toEqual([1, 2, 6]);
      expect(tf.cumprod([1, 2, 3], 0, { exclusive: true }).array()).toEqual([1, 1, 2]);
      expect(tf.cumsum(matrix, 0).array()).toEqual([
        [1, 2, 3],
        [5, 7, 9],
      ]);
    });
    expect(() => tf.cumsum(5)).toThrow(/axis 0 is out of range/);
  });
});

test('positions of bools', () => {
  everywhere(() => {
    expect(tf.argMax([false, true, true]).array()).toBe(1n);
    expect(tf.argMin([true, false], 0, { dtype: 'int32' }).array()).toBe(1);
  });
});

test('countNonzero of many elements goes by parts', () => {
  everywhere(() => {
    const bytes = tf.ones([3, 2, 2 ** 19], 'uint8');
    const taken = (): number => currentBackend().allocator.info().bytesTaken;
    const before = taken();
    expect(tf.countNonzero(bytes).array()).toBe(3n * 2n ** 20n);
    expect(taken() - before).toBeLessThan(16 * 2 ** 20);
    expect(tf.countNonzero(bytes, 1, { dtype: 'int32' }).sum().array()).toBe(3 * 2 ** 20);
    expect(tf.countNonzero(bytes, [0, 2], { keepdims: true }).array()).toEqual([
      [[3n * 2n ** 19n], [3n * 2n ** 19n]],
    ]);
    expect(tf.countNonzero(bytes.reshape([1, -1]), 0).shape).toEqual([3 * 2 ** 20]);
  });
});

describe('clipping by the norm of a list', () => {
  test('globalNorm and clipByGlobalNorm', () => {
    everywhere(() => {
      const a = tf.constant([3, 0]);
      const b = tf.constant([[4]]);
      expect(tf.globalNorm([a, null, b]).item()).toBe(5);
      const [clipped, norm] = tf.clipByGlobalNorm([a, null, b], 1);
      expect(norm.item()).toBe(5);
      expect(clipped[1]).toBeNull();
      expect(worst(clipped[0] as tf.Tensor, [0.6, 0])).toBeLessThan(1e-6);
      expect(worst(clipped[2] as tf.Tensor, [0.8])).toBeLessThan(1e-6);
      const [same] = tf.clipByGlobalNorm([a], 10);
      expect(numbers(same[0])).toEqual([3, 0]);
    });
  });

  test('a norm that is not finite shows', () => {
    everywhere(() => {
      const [clipped] = tf.clipByGlobalNorm([tf.constant([1, Infinity]), tf.constant([2])], 1);
      expect(numbers(clipped[1])).toEqual([NaN]);
    });
    expect(() => tf.globalNorm([null])).toThrow(/the list is empty/);
    expect(() => tf.clipByGlobalNorm([1], -1)).toThrow(/clipNorm is -1/);
  });
});
