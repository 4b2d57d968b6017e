import { describe, expect, it } from 'vitest';
import { mergeAxes } from './elements.ts';
import { libraryProduct } from './library-product.ts';

const [rows, columns, depth] = [20, 24, 32];

/** A product of batches; steps are in matrices. */
function of(
  sizes: readonly number[],
  a: readonly number[],
  b: readonly number[],
  other: { readonly rows?: number; readonly transposeA?: boolean } = {},
): ReturnType<typeof libraryProduct> {
  const product = {
    operands: [0, 1, 2],
    dtype: 'float32',
    transposeA: false,
    transposeB: false,
    hasBias: false,
    hasRelu: false,
  } as const;
  const axes = mergeAxes(sizes, [a, b]);
  return libraryProduct({ ...product, rows, columns, depth, ...other }, axes.sizes, axes.steps);
}

describe('products for libraries', () => {
  it('have batches of one stride, or of the same matrix', () => {
    expect(of([], [], [])).toMatchObject({ batches: 1, calls: [[0, 0, 0]] });
    expect(of([2, 3], [3, 1], [3, 1])).toMatchObject({
      batches: 6,
      strides: [rows * depth, depth * columns],
      calls: [[0, 0, 0]],
    });
    expect(of([5], [0], [1])).toMatchObject({ rows, batches: 5, strides: [0, depth * columns] });
    expect(of([5], [1], [0], { transposeA: true })).toMatchObject({
      rows,
      batches: 5,
      strides: [rows * depth, 0],
    });
  });

  it('have more rows where only the left factor has a batch', () => {
    expect(of([5], [1], [0])).toMatchObject({ rows: 5 * rows, batches: 1, strides: [0, 0] });
    // Few rows are many then.
    expect(of([5], [1], [0], { rows: 4 })).toMatchObject({ rows: 20 });
    // The outer axis is a batch of these.
    expect(of([2, 3], [3, 1], [1, 0])).toMatchObject({
      rows: 3 * rows,
      batches: 2,
      strides: [3 * rows * depth, depth * columns],
    });
  });

  it('are a call for each place of the outer axes', () => {
    const [a, b, y] = [rows * depth, depth * columns, rows * columns];
    expect(of([2, 2, 3], [0, 1, 0], [3, 0, 1])).toMatchObject({
      batches: 3,
      strides: [0, b],
      calls: [
        [0, 0, 0],
        [a, 0, 3 * y],
        [0, 3 * b, 6 * y],
        [a, 3 * b, 9 * y],
      ],
    });
  });

  it('are left to kernels where they are small, or many calls', () => {
    expect(of([], [], [], { rows: 15 })).toBeUndefined();
    expect(of([9, 3], [1, 0], [0, 1])).toBeUndefined();
    expect(of([8, 3], [1, 0], [0, 1])?.calls).toHaveLength(8);
  });
});
