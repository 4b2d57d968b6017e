import { ResourceExhaustedError } from '@eagre/backend';
import { describe, expect, it } from 'vitest';
import { kernels } from './sort.ts';
import { tensor, values } from './testing/kernels.ts';

function topK(x: ReturnType<typeof tensor>, k: number, descending: boolean) {
  const shape = [...x.shape.slice(0, -1), k];
  const sorted = tensor(x.dtype as 'float32', shape);
  const places = tensor('int32', shape);
  kernels.TopK!([x], [sorted, places], { descending });
  return [values(sorted), values(places)];
}

describe('TopK', () => {
  it('takes the first of every row, equal ones in order', () => {
    const x = tensor('float32', [2, 4], [1, 3, 3, 2, 5, 4, 5, 5]);
    expect(topK(x, 3, true)).toEqual([
      [3, 3, 2, 5, 5, 5],
      [1, 2, 3, 0, 2, 3],
    ]);
    expect(topK(x, 2, false)).toEqual([
      [1, 2, 4, 5],
      [0, 3, 1, 0],
    ]);
    expect(topK(x, 0, false)).toEqual([[], []]);
  });

  it('counts NaN as the largest, and 0 like -0', () => {
    const x = tensor('float64', [6], [0, NaN, -0, Infinity, NaN, -1]);
    expect(topK(x, 6, true)).toEqual([
      [NaN, NaN, Infinity, 0, -0, -1],
      [1, 4, 3, 0, 2, 5],
    ]);
    expect(topK(x, 6, false)).toEqual([
      [-1, 0, -0, Infinity, NaN, NaN],
      [5, 0, 2, 3, 1, 4],
    ]);
  });

  it('sorts int64 and bool', () => {
    const x = tensor('int64', [3], [2n ** 62n, -(2n ** 62n), 2n ** 62n + 1n]);
    expect(topK(x, 2, true)).toEqual([
      [2n ** 62n + 1n, 2n ** 62n],
      [2, 0],
    ]);
    expect(topK(tensor('bool', [4], [0, 1, 0, 1]), 4, true)).toEqual([
      [1, 1, 0, 0],
      [1, 3, 0, 2],
    ]);
  });

  it('refuses more than JavaScript sorts', () => {
    const x = { ...tensor('uint8', [0]), shape: [2 ** 27], size: 2 ** 27 };
    const one = tensor('uint8', [1]);
    expect(() => kernels.TopK!([x], [one, tensor('int32', [1])], { descending: true })).toThrow(
      ResourceExhaustedError,
    );
  });
});
