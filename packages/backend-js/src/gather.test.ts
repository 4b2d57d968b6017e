import { InternalError, OutOfRangeError, UnimplementedError } from '@eagre/backend';
import { describe, expect, it } from 'vitest';
import { kernels } from './gather.ts';
import { inner, noise, run, tensor, values } from './testing/kernels.ts';
import { view } from './view.ts';

describe('gathering', () => {
  const params = tensor('float32', [3, 2], [0, 1, 10, 11, 20, 21]);

  it('takes slices along an axis', () => {
    const rows = tensor('int32', [2, 2], [2, 0, 0, 1]);
    expect(
      values(run(kernels, 'Gather', [params, rows], 'float32', [2, 2, 2], { axis: 0, batchDims: 0 })),
    ).toEqual([20, 21, 0, 1, 0, 1, 10, 11]);
    const columns = tensor('int64', [3], [1n, 0n, 1n]);
    expect(
      values(run(kernels, 'Gather', [params, columns], 'float32', [3, 3], { axis: 1, batchDims: 0 })),
    ).toEqual([1, 0, 1, 11, 10, 11, 21, 20, 21]);
    expect(
      values(
        run(kernels, 'Gather', [params, tensor('int32', [], [1])], 'float32', [2], { axis: 0, batchDims: 0 }),
      ),
    ).toEqual([10, 11]);
  });

  it('shares batch axes', () => {
    const columns = tensor('int32', [3, 1], [1, 0, 1]);
    expect(
      values(run(kernels, 'Gather', [params, columns], 'float32', [3, 1], { axis: 1, batchDims: 1 })),
    ).toEqual([1, 10, 21]);
    const deep = tensor(
      'int64',
      [2, 2, 3, 1],
      Array.from({ length: 12 }, (_, i) => i),
    );
    const index = tensor('int32', [2, 2], [0, 2, 1, 1]);
    // params[b, p, indices[b, i], q]
    expect(
      values(run(kernels, 'Gather', [deep, index], 'int64', [2, 2, 2, 1], { axis: 2, batchDims: 1 })),
    ).toEqual([0n, 2n, 3n, 5n, 7n, 7n, 10n, 10n]);
  });

  it('has a gradient that is the transposed map', () => {
    const x = tensor('float64', [2, 3, 5, 4], noise(120, 1));
    const index = tensor(
      'int32',
      [2, 7],
      noise(14, 2).map((v) => Math.floor((v + 1) * 2.5)),
    );
    const dy = tensor('float64', [2, 3, 7, 4], noise(168, 3));
    const attrs = { axis: 2, batchDims: 1 };
    const y = run(kernels, 'Gather', [x, index], 'float64', dy.shape, attrs);
    const dx = run(kernels, 'GatherGrad', [dy, index], 'float64', x.shape, attrs);
    expect(inner(y, dy)).toBeCloseTo(inner(x, dx), 12);
    const big = tensor('int64', [3], [1n, 2n, 2n ** 60n]);
    expect(
      values(
        run(kernels, 'GatherGrad', [big, tensor('int64', [3], [1n, 1n, 0n])], 'int64', [2], {
          axis: 0,
          batchDims: 0,
        }),
      ),
    ).toEqual([2n ** 60n, 3n]);
  });

  it('refuses indices outside of the axis', () => {
    for (const index of [-1, 3]) {
      const attrs = { axis: 0, batchDims: 0 };
      const bad = tensor('int32', [1], [index]);
      expect(() => run(kernels, 'Gather', [params, bad], 'float32', [1, 2], attrs)).toThrow(OutOfRangeError);
      expect(() =>
        run(kernels, 'GatherGrad', [tensor('float32', [1, 2], [1, 2]), bad], 'float32', [3, 2], attrs),
      ).toThrow(OutOfRangeError);
    }
  });

  it('is done at once where there is nothing to move, however long the axes', () => {
    const none = tensor('float32', [2 ** 50, 3, 0], []);
    const one = tensor('int32', [1], [2]);
    const attrs = { axis: 1, batchDims: 0 };
    expect(run(kernels, 'Gather', [none, one], 'float32', [2 ** 50, 1, 0], attrs).size).toBe(0);
    const tuples = tensor('int32', [2 ** 50, 0], []);
    expect(run(kernels, 'GatherNd', [tensor('float32', [0], []), tuples], 'float32', [2 ** 50, 0]).size).toBe(
      0,
    );
  });

  it('takes slices at index tuples', () => {
    const pairs = tensor('int32', [2, 2], [2, 1, 0, 0]);
    expect(values(run(kernels, 'GatherNd', [params, pairs], 'float32', [2]))).toEqual([21, 0]);
    const rows = tensor('int64', [1, 1, 1], [1n]);
    expect(values(run(kernels, 'GatherNd', [params, rows], 'float32', [1, 1, 2]))).toEqual([10, 11]);
    const none = tensor('int32', [2, 0], []);
    expect(values(run(kernels, 'GatherNd', [params, none], 'float32', [2, 3, 2])).slice(6)).toEqual(
      values(params),
    );
    expect(() => run(kernels, 'GatherNd', [params, tensor('int32', [1, 2], [0, 2])], 'float32', [1])).toThrow(
      OutOfRangeError,
    );
  });
});

describe('ScatterNd', () => {
  const rows = tensor('int32', [3, 1], [1, 0, 1]);
  it.each([
    [0, [3, 4, 5, 6, 50, 60]],
    [1, [13, 24, 36, 48, 50, 60]],
    [2, [7, 16, 24, 32, 50, 60]],
    [3, [10, 20, 30, 40, 50, 60]],
    [4, [3, 4, 1, 2, 50, 60]],
  ])('in mode %i', (mode, expected) => {
    const list = [10, 20, 30, 40, 50, 60];
    for (const dtype of ['float32', 'float64', 'int32', 'uint8'] as const) {
      const inputs = [tensor(dtype, [3, 2], list), rows, tensor(dtype, [3, 2], [1, 2, 3, 4, 5, 6])];
      expect(values(run(kernels, 'ScatterNd', inputs, dtype, [3, 2], { mode }))).toEqual(expected);
    }
    const big = [tensor('int64', [3, 2], list), rows, tensor('int64', [3, 2], [1, 2, 3, 4, 5, 6])];
    expect(values(run(kernels, 'ScatterNd', big, 'int64', [3, 2], { mode }))).toEqual(expected.map(BigInt));
  });

  it('keeps NaN in a maximum, and refuses sums of bool', () => {
    const index = tensor('int32', [2, 1], [0, 1]);
    const inputs = [tensor('float32', [2], [NaN, 1]), index, tensor('float32', [2], [1, NaN])];
    expect(values(run(kernels, 'ScatterNd', inputs, 'float32', [2], { mode: 3 }))).toEqual([NaN, NaN]);
    const bools = [tensor('bool', [2], [0, 1]), index, tensor('bool', [2], [1, 0])];
    expect(values(run(kernels, 'ScatterNd', bools, 'bool', [2], { mode: 0 }))).toEqual([1, 0]);
    expect(() => run(kernels, 'ScatterNd', bools, 'bool', [2], { mode: 1 })).toThrow(UnimplementedError);
    expect(() =>
      run(kernels, 'ScatterNd', [inputs[0], tensor('int32', [2, 1], [0, 2]), inputs[2]], 'float32', [2], {
        mode: 0,
      }),
    ).toThrow(OutOfRangeError);
  });
});

describe('SetRow', () => {
  const list = [10, 20, 30, 40, 50, 60];
  it.each([
    [0, [10, 20, 1, 2, 50, 60]],
    [1, [10, 20, 31, 42, 50, 60]],
  ])('in mode %i, into memory of its own and in place', (mode, expected) => {
    for (const dtype of ['float32', 'float64', 'int32', 'int64', 'uint8'] as const) {
      const wanted = dtype === 'int64' ? expected.map(BigInt) : expected;
      const x = tensor(dtype, [3, 2], list);
      const [index, row] = [tensor('int64', [], [1n]), tensor(dtype, [2], [1, 2])];
      expect(values(run(kernels, 'SetRow', [x, index, row], dtype, [3, 2], { mode }))).toEqual(wanted);
      expect(values(x).map(Number)).toEqual(list);
      kernels.SetRow!([x, tensor('int32', [], [1]), row], [x], { mode });
      expect(values(x)).toEqual(wanted);
    }
  });

  it('rounds and wraps sums as the dtype does', () => {
    const sum = (dtype: 'uint8' | 'int64' | 'float32', a: number | bigint, b: number | bigint) =>
      values(
        run(
          kernels,
          'SetRow',
          [tensor(dtype, [1], [a]), tensor('int32', [], [0]), tensor(dtype, [], [b])],
          dtype,
          [1],
          { mode: 1 },
        ),
      )[0];
    expect(sum('uint8', 250, 10)).toBe(4);
    expect(sum('int64', 2n ** 63n - 1n, 1n)).toBe(-(2n ** 63n));
    expect(sum('float32', 1, 2 ** -30)).toBe(1);
  });

  it('moves bools but does not add them, and takes rows of nothing', () => {
    const inputs = [tensor('bool', [2], [0, 1]), tensor('int32', [], [0]), tensor('bool', [], [1])];
    expect(values(run(kernels, 'SetRow', inputs, 'bool', [2], { mode: 0 }))).toEqual([1, 1]);
    expect(() => run(kernels, 'SetRow', inputs, 'bool', [2], { mode: 1 })).toThrow(UnimplementedError);
    const empty = [tensor('float32', [2, 0]), tensor('int32', [], [1]), tensor('float32', [0])];
    expect(run(kernels, 'SetRow', empty, 'float32', [2, 0], { mode: 1 }).size).toBe(0);
  });

  it.each([-1, 3])('refuses row %i of three, before it writes', (index) => {
    for (const dtype of ['int32', 'int64'] as const) {
      const x = tensor('float32', [3, 2], list);
      const row = tensor('float32', [2], [1, 2]);
      const at = tensor(dtype, [], [index]);
      expect(() => kernels.SetRow!([x, at, row], [x], { mode: 0 })).toThrow(OutOfRangeError);
      expect(() => kernels.SetRow!([x, at, row], [x], { mode: 0 })).toThrow(`SetRow: index ${index} is not`);
      expect(values(x)).toEqual(list);
    }
  });
});

describe('OneHot and Nonzero', () => {
  it('puts the axis anywhere', () => {
    const index = tensor('int32', [2, 2], [0, 2, -1, 3]);
    expect(values(run(kernels, 'OneHot', [index], 'float32', [2, 2, 3], { axis: 2, on: 1, off: 0 }))).toEqual(
      [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0],
    );
    expect(values(run(kernels, 'OneHot', [index], 'int64', [2, 3, 2], { axis: 1, on: 5, off: -1 }))).toEqual([
      5n,
      -1n,
      -1n,
      -1n,
      -1n,
      5n,
      ...Array(6).fill(-1n),
    ]);
    const bytes = tensor('uint8', [1], [1]);
    expect(values(run(kernels, 'OneHot', [bytes], 'bool', [2, 1], { axis: 0, on: 1, off: 0 }))).toEqual([
      0, 1,
    ]);
  });

  it('finds what is not 0', () => {
    const x = tensor('float32', [2, 3], [0, NaN, -0, 4, 0, 5]);
    expect(values(run(kernels, 'Nonzero', [x], 'int64', [3, 2]))).toEqual([0n, 1n, 1n, 0n, 1n, 2n]);
    const big = tensor('int64', [2], [0n, 7n]);
    expect(values(run(kernels, 'Nonzero', [big], 'int64', [1, 1]))).toEqual([1n]);
    expect(values(run(kernels, 'Nonzero', [tensor('bool', [], [1])], 'int64', [1, 0]))).toEqual([]);
    expect(() => run(kernels, 'Nonzero', [x], 'int64', [4, 2])).toThrow(InternalError);
  });

  it('takes more tuples than an array holds', () => {
    const count = 2 ** 27;
    const none = tensor('int32', [count, 0]);
    const y = run(kernels, 'GatherNd', [tensor('uint8', [], [7]), none], 'uint8', [count]);
    const out = view(y);
    expect([out[0], out[count - 1]]).toEqual([7, 7]);
    const base = tensor('uint8', [0, 3]);
    const updates = tensor('uint8', [2 ** 50, 0, 3]);
    const many = tensor('int32', [2 ** 50, 0]);
    expect(run(kernels, 'ScatterNd', [base, many, updates], 'uint8', [0, 3], { mode: 1 }).size).toBe(0);
  });
});
