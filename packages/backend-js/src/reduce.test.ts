import { InvalidArgumentError, type KernelName, type NumericDType } from '@eagre/backend';
import { describe, expect, it } from 'vitest';
import { kernels } from './reduce.ts';
import { noise, run, tensor, values } from './testing/kernels.ts';

type Elements = readonly (number | bigint)[];

/** Reduces a vector to a scalar. */
function all(name: KernelName, dtype: NumericDType, x: Elements): number | bigint {
  return values(run(kernels, name, [tensor(dtype, [x.length], x)], dtype, [], { axes: [0] }))[0];
}

describe('reductions', () => {
  it('reduce over any axes', () => {
    const shape = [2, 3, 1, 4, 5];
    const x = noise(120);
    for (let mask = 0; mask < 32; mask++) {
      const axes = [0, 1, 2, 3, 4].filter((axis) => mask & (1 << axis));
      const kept = shape.map((size, axis) => (axes.includes(axis) ? 1 : size));
      const sums = Array(kept.reduce((a, b) => a * b)).fill(0);
      const largest = sums.map(() => -Infinity);
      x.forEach((value, flat) => {
        let to = 0;
        let stride = 1;
        for (let axis = 4, rest = flat; axis >= 0; axis--) {
          if (!axes.includes(axis)) to += (rest % shape[axis]) * stride;
          stride *= kept[axis];
          rest = Math.floor(rest / shape[axis]);
        }
        sums[to] += value;
        largest[to] = Math.max(largest[to], value);
      });
      const count = 120 / sums.length;
      const input = tensor('float64', shape, x);
      values(run(kernels, 'Sum', [input], 'float64', kept, { axes })).forEach((v, i) => {
        expect(v).toBeCloseTo(sums[i], 13);
      });
      values(run(kernels, 'Mean', [input], 'float64', kept, { axes })).forEach((v, i) => {
        expect(v).toBeCloseTo(sums[i] / count, 13);
      });
      expect(values(run(kernels, 'Max', [input], 'float64', kept, { axes }))).toEqual(largest);
    }
  });

  it('add float32 in float64', () => {
    const x = tensor('float32', [1001], [2 ** 24, ...Array(1000).fill(1)]);
    expect(values(run(kernels, 'Sum', [x], 'float32', [], { axes: [0] }))).toEqual([2 ** 24 + 1000]);
  });

  it('know every dtype', () => {
    expect(all('Sum', 'int32', [2 ** 31 - 1, 1])).toBe(-(2 ** 31));
    expect(all('Sum', 'uint8', [200, 100])).toBe(44);
    expect(all('Sum', 'int64', [2n ** 63n - 1n, 1n])).toBe(-(2n ** 63n));
    expect(all('Prod', 'int32', [65536, 65537])).toBe(65536);
    expect(all('Prod', 'int64', [3n, -4n])).toBe(-12n);
    expect(all('Prod', 'float32', [0.5, 3])).toBe(1.5);
    expect(all('Mean', 'int32', [-3, -4])).toBe(-3);
    expect(all('Mean', 'int64', [3n, 4n])).toBe(3n);
    expect(all('Max', 'int64', [-5n, -4n])).toBe(-4n);
    expect(all('Min', 'uint8', [9, 3])).toBe(3);
    expect(all('Min', 'float32', [2, NaN, 1])).toBe(NaN);
    expect(all('Max', 'float32', [NaN, 1])).toBe(NaN);
    expect([all('All', 'bool', [1, 0]), all('All', 'bool', [1, 1])]).toEqual([0, 1]);
    expect([all('Any', 'bool', [0, 0]), all('Any', 'bool', [0, 1])]).toEqual([0, 1]);
  });

  it('have neutral elements for empty axes', () => {
    expect(
      ['Sum', 'Prod', 'Max', 'Min', 'Mean'].map((name) => all(name as KernelName, 'float32', [])),
    ).toEqual([0, 1, -Infinity, Infinity, NaN]);
    expect([all('Max', 'int32', []), all('Min', 'int32', [])]).toEqual([-(2 ** 31), 2 ** 31 - 1]);
    expect([all('Max', 'int64', []), all('Min', 'uint8', [])]).toEqual([-(2n ** 63n), 255]);
    expect([all('All', 'bool', []), all('Any', 'bool', [])]).toEqual([1, 0]);
    expect(values(run(kernels, 'Sum', [tensor('float32', [0, 2])], 'float32', [2], { axes: [0] }))).toEqual([
      0, 0,
    ]);
    expect(values(run(kernels, 'Sum', [tensor('float32', [2, 0])], 'float32', [0], { axes: [0] }))).toEqual(
      [],
    );
  });
});

describe('ArgMax and ArgMin', () => {
  it('find the first extreme along an axis', () => {
    const x = tensor('float32', [2, 3, 2], [1, 9, 5, 2, 5, 9, 4, NaN, 4, 0, 3, NaN]);
    expect(values(run(kernels, 'ArgMax', [x], 'int64', [2, 2], { axis: 1 }))).toEqual([1n, 0n, 0n, 1n]);
    expect(values(run(kernels, 'ArgMin', [x], 'int32', [2, 2], { axis: 1 }))).toEqual([0, 1, 2, 1]);
    expect(values(run(kernels, 'ArgMax', [x], 'int32', [2, 3], { axis: 2 }))).toEqual([1, 0, 1, 0, 0, 0]);
    expect(values(run(kernels, 'ArgMin', [x], 'int32', [3, 2], { axis: 0 }))).toEqual([0, 0, 1, 1, 1, 0]);
    const big = tensor('int64', [3], [2n ** 60n, 2n ** 60n + 1n, 5n]);
    expect(values(run(kernels, 'ArgMax', [big], 'int32', [], { axis: 0 }))).toEqual([1]);
  });

  it('refuse an empty axis', () => {
    const x = tensor('float32', [2, 0]);
    expect(() => run(kernels, 'ArgMax', [x], 'int32', [2], { axis: 1 })).toThrow(InvalidArgumentError);
    expect(values(run(kernels, 'ArgMax', [x], 'int32', [0], { axis: 0 }))).toEqual([]);
  });
});
