import { InvalidArgumentError } from '@eagre/backend';
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

describe('segments of numbers that rise', () => {
  const { segmentSum, segmentMean, segmentProd, segmentMax, segmentMin } = math;
  const all = { segmentSum, segmentMean, segmentProd, segmentMax, segmentMin };
  const dtypes = [
    'float32',
    'float64',
    'int32',
    'int64',
    'int8',
    'uint8',
    'uint16',
    'uint64',
    'bfloat16',
  ] as const;
  test.each(dtypes)('are made of their rows, of %s', (dtype) => {
    const rows = constant([7, 2, 3, 4, 5, 6]).cast(dtype);
    const isFloat = dtype.includes('float');
    for (const ids of [constant([1, 1, 1, 4, 4, 5], 'int32'), constant([1, 1, 1, 4, 4, 5], 'int64')]) {
      const found = Object.values(all).map((fn) => fn(rows, ids).cast('float32').array());
      expect(found).toEqual([
        [0, 12, 0, 0, 9, 6],
        [0, 4, 0, 0, isFloat ? 4.5 : 4, 6],
        [1, 42, 1, 1, 20, 6],
        [0, 7, 0, 0, 5, 6],
        [0, 2, 0, 0, 4, 6],
      ]);
    }
  });
  test('have means of integers toward 0, of sums that wrap', () => {
    expect(segmentMean(constant([-3, -4, -1, 2], 'int32'), constant([0, 0, 1, 1], 'int32')).array()).toEqual([
      -3, 0,
    ]);
    expect(segmentMean(constant([200, 100, 7], 'uint8'), constant([0, 0, 0], 'int32')).array()).toEqual([17]);
    // More rows than the dtype has numbers.
    expect(
      segmentMean(constant(new Array(300).fill(1)).cast('int8'), zeros([300], { dtype: 'int32' })).array(),
    ).toEqual([0]);
  });
  test('multiply integers modulo their size', () => {
    const ids = constant([0, 0], 'int32');
    expect(segmentProd(constant([65_537, 65_537], 'int32'), ids).array()).toEqual([131_073]);
    expect(segmentProd(constant([65_535, 65_535], 'uint16'), ids).array()).toEqual([1]);
    expect(segmentProd(constant([2n ** 40n + 1n, 2n ** 40n + 1n], 'int64'), ids).array()).toEqual([
      2n ** 41n + 1n,
    ]);
  });
  test('of nothing, and of rows without elements', () => {
    for (const fn of Object.values(all)) {
      expect(fn(zeros([0, 2]), constant([], 'int32')).shape).toEqual([0, 2]);
      expect(fn(zeros([2, 0]), constant([1, 3], 'int32')).shape).toEqual([4, 0]);
      expect(() => fn(zeros([2, 0]), constant([3, 1], 'int32'))).toThrow('must be at least 0 and rise');
    }
  });
  test('refuse numbers that fall or are negative, with a typed error', () => {
    for (const dtype of ['int32', 'int64'] as const)
      for (const [name, fn] of Object.entries(all))
        for (const [ids, where] of [
          [[0, 2, 1], 'number 2 is 1 after 2'],
          [[2, 0, 1], 'number 1 is 0 after 2'],
          [[-1, 0, 1], 'number 0 is -1'],
          [[-3, -2, -1], 'number 0 is -3'],
          [[5, 3, -1], 'number 1 is 3 after 5'],
        ] as const) {
          const run = (): Tensor => fn(constant([1, 2, 3]), constant([...ids]).cast(dtype));
          expect(run).toThrow(InvalidArgumentError);
          expect(run).toThrow(
            `${name.replace('segment', 'Segment')}: segmentIds must be at least 0 and rise, but ${where}`,
          );
        }
  });
  test('have sums and means that do not depend on the length of rows', () => {
    const rows = constant(
      Array.from({ length: 20 * 41 }, (_, i) => (i % 7) - 3),
      'float32',
      { shape: [20, 41] },
    );
    const ids = constant([0, 0, 0, 1, 2, 2, 2, 2, 2, 2, 5, 5, 5, 5, 5, 5, 5, 6, 6, 6], 'int64');
    const whole = segmentSum(rows, ids);
    for (const at of [0, 15, 16, 40])
      expect(whole.slice([0, at], [7, 1]).array()).toEqual(
        segmentSum(rows.slice([0, at], [20, 1]), ids).array(),
      );
  });
});
