import { describe, expect, test } from 'vitest';
import { constant, linalg, math, type Tensor, zeros } from '../../index.ts';

const x = (dtype: 'float32' | 'int32' | 'int64' | 'float16'): Tensor =>
  constant(
    [
      [1, -2],
      [3, 4],
      [-5, 6],
    ],
    dtype,
  );

describe('the extremes of segments', () => {
  test.each(['float32', 'int32', 'int64', 'float16'] as const)(
    'are 0 where there is no row, of %s',
    (dtype) => {
      const ids = constant([0, 0, 2], 'int64');
      expect(math.segmentMax(x(dtype), ids).cast('float32').array()).toEqual([
        [3, 4],
        [0, 0],
        [-5, 6],
      ]);
      expect(math.segmentMin(x(dtype), ids).cast('float32').array()).toEqual([
        [1, -2],
        [0, 0],
        [-5, 6],
      ]);
    },
  );
  test('are NaN where a row is, and infinite', () => {
    const rows = constant([1, Number.NaN, 3, Number.NEGATIVE_INFINITY]);
    const ids = constant([0, 0, 0, 1], 'int32');
    expect(math.segmentMax(rows, ids).array()).toEqual([Number.NaN, Number.NEGATIVE_INFINITY]);
    expect(math.segmentMin(rows, ids).array()).toEqual([Number.NaN, Number.NEGATIVE_INFINITY]);
    expect(math.segmentMax(zeros([0, 2]), constant([], 'int32')).shape).toEqual([0, 2]);
  });
});

describe('products of segments', () => {
  test('refuse numbers beyond 32 bits', () => {
    const ids = (id: bigint): Tensor => constant([0n, id], 'int64');
    for (const id of [2n ** 32n, 2n ** 31n, 5n])
      expect(() => math.unsortedSegmentProd(constant([2, 3]), ids(id), 2)).toThrow('is not in [0, ');
    expect(math.unsortedSegmentProd(constant([2, 3]), ids(-(2n ** 40n)), 2).array()).toEqual([2, 1]);
  });
});

describe('diagonals that are replaced', () => {
  test.each([
    'float32',
    'float64',
    'int32',
    'int64',
    'uint8',
    'bool',
    'float16',
    'bfloat16',
    'complex64',
  ] as const)('of %s', (dtype) => {
    const y = linalg.setDiag(
      zeros([2, 2, 3], { dtype }),
      constant([
        [1, 0],
        [1, 1],
      ]).cast(dtype),
    );
    expect(y.cast('int32').array()).toEqual([
      [
        [1, 0, 0],
        [0, 0, 0],
      ],
      [
        [1, 0, 0],
        [0, 1, 0],
      ],
    ]);
  });
  test('of no matrix', () => {
    expect(linalg.setDiag(zeros([3, 0]), zeros([0])).shape).toEqual([3, 0]);
  });
});
