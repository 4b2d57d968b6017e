import { describe, expect, it } from 'vitest';
import { kernels } from './scan.ts';
import { run, tensor, values } from './testing/kernels.ts';

describe('scans', () => {
  const x = tensor('float32', [2, 3], [1, 2, 3, 4, 5, 6]);
  it.each([
    [0, false, false, [1, 2, 3, 5, 7, 9]],
    [1, false, false, [1, 3, 6, 4, 9, 15]],
    [1, true, false, [0, 1, 3, 0, 4, 9]],
    [1, false, true, [6, 5, 3, 15, 11, 6]],
    [0, true, true, [4, 5, 6, 0, 0, 0]],
  ])('sum along %i, exclusive %s, reverse %s', (axis, exclusive, reverse, expected) => {
    expect(values(run(kernels, 'CumSum', [x], 'float32', [2, 3], { axis, exclusive, reverse }))).toEqual(
      expected,
    );
  });

  it('multiply', () => {
    const attrs = { axis: 1, exclusive: false, reverse: false };
    expect(values(run(kernels, 'CumProd', [x], 'float32', [2, 3], attrs))).toEqual([1, 2, 6, 4, 20, 120]);
    expect(
      values(run(kernels, 'CumProd', [x], 'float32', [2, 3], { ...attrs, exclusive: true, reverse: true })),
    ).toEqual([6, 3, 1, 30, 6, 1]);
  });

  it('wrap integers and add float32 in float64', () => {
    const attrs = { axis: 0, exclusive: false, reverse: false };
    const max = 2 ** 31 - 1;
    expect(values(run(kernels, 'CumSum', [tensor('int32', [2], [max, 2])], 'int32', [2], attrs))).toEqual([
      max,
      -max,
    ]);
    expect(
      values(run(kernels, 'CumProd', [tensor('int32', [3], [max, max, max])], 'int32', [3], attrs)),
    ).toEqual([max, 1, max]);
    expect(values(run(kernels, 'CumSum', [tensor('uint8', [2], [200, 100])], 'uint8', [2], attrs))).toEqual([
      200, 44,
    ]);
    const big = 2n ** 63n - 1n;
    expect(
      values(run(kernels, 'CumProd', [tensor('int64', [3], [big, big, 2n])], 'int64', [3], attrs)),
    ).toEqual([big, 1n, 2n]);
    const ones = tensor('float32', [3], [2 ** 24, 1, 1]);
    expect(values(run(kernels, 'CumSum', [ones], 'float32', [3], attrs))[2]).toBe(2 ** 24 + 2);
    expect(values(run(kernels, 'CumSum', [tensor('float32', [0], [])], 'float32', [0], attrs))).toEqual([]);
  });
});
