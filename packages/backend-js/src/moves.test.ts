import { InternalError, InvalidArgumentError, type NumericDType } from '@eagre/backend';
import { describe, expect, it } from 'vitest';
import { kernels } from './moves.ts';
import { inner, noise, run, tensor, values } from './testing/kernels.ts';
import { numbers } from './view.ts';

const dtypes: readonly NumericDType[] = ['float32', 'float64', 'int32', 'int64', 'uint8', 'bool'];

/** 0, 1, 2, … as a tensor; bool alternates. */
function count(dtype: NumericDType, shape: readonly number[]) {
  const size = shape.reduce((a, b) => a * b, 1);
  return tensor(
    dtype,
    shape,
    Array.from({ length: size }, (_, i) => (dtype === 'bool' ? i % 2 : i)),
  );
}
/** Numbers as the elements that a tensor of that dtype gives. */
function as(dtype: NumericDType, list: readonly number[]): (number | bigint)[] {
  return list.map((v) => (dtype === 'int64' ? BigInt(v) : dtype === 'bool' ? v % 2 : v));
}

describe.each(dtypes)('moving %s', (dtype) => {
  const moved = (name: keyof typeof kernels, x: readonly number[], y: readonly number[], attrs = {}) =>
    values(run(kernels, name, [count(dtype, x)], dtype, y, attrs));

  it('transposes', () => {
    expect(moved('Transpose', [2, 3], [3, 2], { perm: [1, 0] })).toEqual(as(dtype, [0, 3, 1, 4, 2, 5]));
    expect(moved('Transpose', [2, 2, 2], [2, 2, 2], { perm: [2, 0, 1] })).toEqual(
      as(dtype, [0, 2, 4, 6, 1, 3, 5, 7]),
    );
    expect(moved('Transpose', [], [], { perm: [] })).toEqual(as(dtype, [0]));
    expect(moved('Transpose', [0, 3], [3, 0], { perm: [1, 0] })).toEqual([]);
  });

  it('reverses', () => {
    expect(moved('Reverse', [2, 3], [2, 3], { axes: [1] })).toEqual(as(dtype, [2, 1, 0, 5, 4, 3]));
    expect(moved('Reverse', [2, 3], [2, 3], { axes: [0, 1] })).toEqual(as(dtype, [5, 4, 3, 2, 1, 0]));
    expect(moved('Reverse', [2], [2], { axes: [] })).toEqual(as(dtype, [0, 1]));
  });

  it('pads', () => {
    const around = { before: [1, 0], after: [0, 2] };
    expect(moved('Pad', [1, 2], [2, 4], { ...around, mode: 0, value: 1 })).toEqual(
      as(dtype, [1, 1, 1, 1, 0, 1, 1, 1]),
    );
    expect(moved('Pad', [3], [7], { before: [2], after: [2], mode: 1, value: 0 })).toEqual(
      as(dtype, [2, 1, 0, 1, 2, 1, 0]),
    );
    expect(moved('Pad', [3], [8], { before: [3], after: [2], mode: 2, value: 0 })).toEqual(
      as(dtype, [2, 1, 0, 0, 1, 2, 2, 1]),
    );
    expect(moved('Pad', [0], [2], { before: [1], after: [1], mode: 0, value: 1 })).toEqual(as(dtype, [1, 1]));
  });

  it('slices and puts back', () => {
    const attrs = { begin: [2, 0], strides: [-2, 3] };
    expect(moved('Slice', [3, 4], [2, 2], attrs)).toEqual(as(dtype, [8, 11, 0, 3]));
    const dy = count(dtype, [2, 2]);
    expect(values(run(kernels, 'SliceGrad', [dy], dtype, [3, 4], attrs))).toEqual(
      as(dtype, [2, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 1]),
    );
    expect(moved('Slice', [], [], { begin: [], strides: [] })).toEqual(as(dtype, [0]));
    expect(moved('Slice', [3], [0], { begin: [3], strides: [1] })).toEqual([]);
  });

  it('joins', () => {
    const parts = [count(dtype, [2, 1]), count(dtype, [2, 0]), count(dtype, [2, 2])];
    expect(values(run(kernels, 'Concat', parts, dtype, [2, 3], { axis: 1 }))).toEqual(
      as(dtype, [0, 0, 1, 1, 2, 3]),
    );
    const rows = [count(dtype, [1, 2]), count(dtype, [2, 2])];
    expect(values(run(kernels, 'Concat', rows, dtype, [3, 2], { axis: 0 }))).toEqual(
      as(dtype, [0, 1, 0, 1, 2, 3]),
    );
  });

  it('repeats', () => {
    expect(moved('Tile', [2, 1], [2, 3])).toEqual(as(dtype, [0, 0, 0, 1, 1, 1]));
    expect(moved('Tile', [1, 2], [2, 4])).toEqual(as(dtype, [0, 1, 0, 1, 0, 1, 0, 1]));
  });
});

describe('moves', () => {
  it('keep every bit of an int64', () => {
    const x = tensor('int64', [2], [2n ** 63n - 1n, -(2n ** 63n)]);
    expect(values(run(kernels, 'Reverse', [x], 'int64', [2], { axes: [0] }))).toEqual([
      -(2n ** 63n),
      2n ** 63n - 1n,
    ]);
  });

  it('cast the padding', () => {
    const attrs = { before: [1], after: [0], mode: 0, value: 1.7 };
    expect(values(run(kernels, 'Pad', [count('int64', [1])], 'int64', [2], attrs))).toEqual([1n, 0n]);
    expect(values(run(kernels, 'Pad', [count('bool', [1])], 'bool', [2], attrs))).toEqual([1, 0]);
  });

  it.each([1, 2])('pad in mode %i with a gradient that is the transposed map', (mode) => {
    const attrs = { before: [2, 0, 1], after: [1, 3, 2], mode };
    const x = tensor('float64', [3, 4, 3], noise(36, 1));
    const dy = tensor('float64', [6, 7, 6], noise(252, 2));
    const y = run(kernels, 'Pad', [x], 'float64', dy.shape, { ...attrs, value: 0 });
    const dx = run(kernels, 'MirrorPadGrad', [dy], 'float64', x.shape, attrs);
    expect(inner(y, dy)).toBeCloseTo(inner(x, dx), 12);
  });

  it('sum mirrored integers', () => {
    for (const dtype of ['int32', 'int64', 'uint8'] as const) {
      const attrs = { before: [1], after: [1], mode: 2 };
      expect(values(run(kernels, 'MirrorPadGrad', [count(dtype, [4])], dtype, [2], attrs))).toEqual(
        as(dtype, [1, 5]),
      );
    }
  });

  it('of a hundred million places need no table of them', () => {
    const n = 2 ** 27;
    const x = tensor('uint8', [2], [5, 7]);
    const padding = { before: [n], after: [3], mode: 0, value: 9 };
    const padded = numbers(run(kernels, 'Pad', [x], 'uint8', [n + 5], padding));
    expect([...padded.subarray(n - 2)]).toEqual([9, 9, 5, 7, 9, 9, 9]);
    expect([...padded.subarray(0, 3)]).toEqual([9, 9, 9]);
    const tiled = numbers(run(kernels, 'Tile', [tensor('uint8', [1], [6])], 'uint8', [n]));
    expect([tiled[0], tiled[n - 1]]).toEqual([6, 6]);
  });

  it('copy long runs as they copy short ones', () => {
    for (const n of [1, 31, 32, 100]) {
      const x = tensor(
        'int32',
        [3, n],
        Array.from({ length: 3 * n }, (_, i) => i),
      );
      const at = (i: number, j: number): number => i * n + j;
      const slice = { begin: [1, 0], strides: [1, 1] };
      const sliced = run(kernels, 'Slice', [x], 'int32', [2, n], slice);
      expect(values(sliced)).toEqual(values(x).slice(n));
      expect(values(run(kernels, 'SliceGrad', [sliced], 'int32', [3, n], slice))).toEqual(
        values(x).map((v, i) => (i < n ? 0 : v)),
      );
      const padding = { before: [0, 40], after: [0, 2], mode: 0, value: -1 };
      const padded = values(run(kernels, 'Pad', [x], 'int32', [3, n + 42], padding));
      expect(padded).toEqual(
        Array.from({ length: 3 * (n + 42) }, (_, i) => {
          const [row, column] = [Math.floor(i / (n + 42)), (i % (n + 42)) - 40];
          return column >= 0 && column < n ? at(row, column) : -1;
        }),
      );
      const column = run(kernels, 'Slice', [x], 'int32', [3, 1], { begin: [0, 0], strides: [1, 1] });
      expect(values(run(kernels, 'Tile', [column], 'int32', [3, n]))).toEqual(
        Array.from({ length: 3 * n }, (_, i) => at(Math.floor(i / n), 0)),
      );
    }
  });

  it('are done at once where there is nothing to move, however long the axes', () => {
    const x = tensor('float32', [0, 3]);
    expect(run(kernels, 'Tile', [x], 'float32', [0, 3 * 2 ** 50]).size).toBe(0);
    expect(
      run(kernels, 'Transpose', [tensor('float32', [0, 2 ** 53])], 'float32', [2 ** 53, 0], { perm: [1, 0] })
        .size,
    ).toBe(0);
    const attrs = { before: [0, 2 ** 50], after: [0, 0], mode: 0, value: 0 };
    expect(run(kernels, 'Pad', [x], 'float32', [0, 2 ** 50 + 3], attrs).size).toBe(0);
  });

  it('refuse what cannot be', () => {
    const x = count('float32', [2]);
    const attrs = { before: [2], after: [0], mode: 1, value: 0 };
    expect(() => run(kernels, 'Pad', [x], 'float32', [4], attrs)).toThrow(InvalidArgumentError);
    expect(() => run(kernels, 'Slice', [x], 'float32', [2], { begin: [1], strides: [1] })).toThrow(
      InvalidArgumentError,
    );
    expect(() => run(kernels, 'Concat', [x], 'float32', [3], { axis: 0 })).toThrow(InternalError);
  });
});
