// Tensors that are made of sizes, as arguments that are numbers of the host.
import '@eagre/backend-js';
import { concat, constant, ones, range, shapeOf, stack, type Tensor, zeros } from '@eagre/core';
import { hostDims, toShape } from '@eagre/core/internal';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { cond } from '../control/cond.ts';
import { whileLoop } from '../control/while-loop.ts';
import { tfFunction } from '../function/function.ts';
import { TensorSpec } from '../ir/tensor-spec.ts';

afterEach(() => vi.restoreAllMocks());

const int = (n: number | number[]): Tensor => constant(n, 'int32');
const zerosOf = (shape: Tensor): Tensor => zeros(toShape(hostDims(shape, 'shape', 'zeros')));
const unknown = (fn: (x: Tensor) => unknown) =>
  tfFunction({ inputSignature: [new TensorSpec([null, null])] })(fn) as ((x: Tensor) => Tensor) & {
    experimentalGetTracingCount(): number;
  };

/** The shape of zeros that are as large as a tensor of sizes says, for several sizes; the trace serves them all. */
const programs: Record<string, [(x: Tensor) => Tensor, (b: number, t: number) => number[]]> = {
  'a shape': [(x) => shapeOf(x), (b, t) => [b, t]],
  'an element': [(x) => shapeOf(x).at('1:'), (_, t) => [t]],
  'elements in a list': [(x) => stack([shapeOf(x).at(1), int(3), shapeOf(x).gather(0)]), (b, t) => [t, 3, b]],
  'a list beside a constant': [(x) => concat([shapeOf(x), int([5])], 0), (b, t) => [b, t, 5]],
  'a product': [(x) => shapeOf(x).prod().reshape([1]), (b, t) => [b * t]],
  'sums and differences': [(x) => shapeOf(x).mul(2).sub(1).add([1, 3]), (b, t) => [2 * b, 2 * t + 2]],
  'an exact quotient': [(x) => shapeOf(x).mul(4).floorDiv(2), (b, t) => [2 * b, 2 * t]],
  reversed: [(x) => shapeOf(x).reverse([0]), (b, t) => [t, b]],
  int64: [(x) => shapeOf(x).cast('int64').expandDims(0).squeeze([0]), (b, t) => [b, t]],
};

describe('hostDims', () => {
  test('reads constants eagerly and in a function', () => {
    expect(hostDims(int([1, -2]), 'axes', 'Sum')).toEqual([1, -2]);
    expect(hostDims(constant(7n), 'depth', 'OneHot')).toEqual([7]);
    const f = tfFunction((x: Tensor) => x.reshape(toShape(hostDims(int([2, 2]).add(0), 'shape', 'Reshape'))));
    expect(f(ones([4])).shape).toEqual([2, 2]);
  });

  test.each(Object.entries(programs))('of %s', (_, [sizes, expected]) => {
    const f = unknown((x) => zerosOf(sizes(x)));
    for (const [b, t] of [
      [2, 3],
      [4, 1],
      [5, 7],
    ] as const) {
      expect(f(ones([b, t])).shape).toEqual(expected(b, t));
      expect(zerosOf(sizes(ones([b, t]))).shape).toEqual(expected(b, t));
    }
    // Sizes that are the same have a trace of their own only where a sum says so.
    expect(f.experimentalGetTracingCount()).toBeLessThanOrEqual(2);
  });

  test('inside of branches and loops', () => {
    const f = unknown((x) => {
      const n = shapeOf(x).at(0);
      const [, y] = whileLoop(
        (i) => i.less(2),
        (i, y) => [
          i.add(1),
          y.add(
            cond(
              x.sum().greater(0),
              () => zerosOf(n.reshape([1])).sum(),
              () => constant(1),
            ),
          ),
        ],
        [int(0), constant(0)],
      ) as [Tensor, Tensor];
      return y;
    });
    for (const n of [2, 5, 3]) expect(f(ones([n, 2])).item()).toBe(0);
  });

  test('minima, remainders and quotients that leave a rest', () => {
    const f = unknown((x) => {
      const n = shapeOf(x).at(0);
      return concat([zerosOf(n.minimum(3).reshape([1])), zerosOf(n.mod(2).reshape([1]))], 0);
    });
    for (const n of [1, 2, 3, 6, 9]) expect(f(ones([n, 1])).shape).toEqual([Math.min(n, 3) + (n % 2)]);
    const half = unknown((x) => zerosOf(shapeOf(x).floorDiv(2)));
    for (const n of [1, 4, 9]) expect(half(ones([n, n])).shape).toEqual([n >> 1, n >> 1]);
    expect([f, half].map((g) => g.experimentalGetTracingCount())).toEqual([1, 1]);
  });

  test('takes values of a run, and refuses what are no integers', () => {
    const f = tfFunction((n: Tensor) => zerosOf(n));
    expect(f(int([2])).shape).toEqual([2]);
    expect(f(int([3])).shape).toEqual([3]);
    expect(() => zerosOf(constant([1.5]))).toThrow('zeros: shape is float32 [1], expected integers');
  });

  test('as bounds of ranges and sizes of slices', () => {
    const f = unknown((x) => {
      const n = shapeOf(x).at(0);
      const top = x.slice([0, 0], [n.sub(1), int(1)]).reshape([-1]);
      return top.add(range(n.sub(1)).cast('float32'));
    });
    for (const n of [2, 5, 3]) expect(f(ones([n, 2])).array()).toEqual(range(1, n).array());
    expect(f.experimentalGetTracingCount()).toBe(1);
  });
});
