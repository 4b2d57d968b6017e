// Indexing by tensors: numbers where they are known, looked up at each run where they are not.
import '@eagre/backend-js';
import { GradientTape } from '@eagre/autodiff';
import { InvalidArgumentError } from '@eagre/backend';
import { constant, range, slice, stack, type Tensor, Variable } from '@eagre/core';
import { describe, expect, test } from 'vitest';
import { whileLoop } from '../control/while-loop.ts';
import { tfFunction } from './function.ts';

const int = (n: number | number[]): Tensor => constant(n, 'int32');
const x = range(24).reshape([2, 3, 4]);
const arrays = (list: readonly Tensor[]): unknown => list.map((t) => t.array());

describe('at', () => {
  const take = (x: Tensor, i: Tensor | number): readonly Tensor[] => [
    x.at(i),
    x.at(i, ':', i),
    x.at('...', i),
    x.at(null, i, '1:', i),
    x.at(0, i, '...'),
    x.at(i, null, '::-1', i),
  ];
  test.each([0, 1, -1])('%i', (n) => {
    const expected = arrays(take(x, n));
    expect(arrays(take(x, int(n)))).toEqual(expected);
    expect(arrays(take(x, constant(BigInt(n)) as Tensor))).toEqual(expected);
    const traced = tfFunction((x: Tensor, i: Tensor) => take(x, i));
    expect(arrays(traced(x, int(n)))).toEqual(expected);
    expect(tfFunction((x: Tensor) => x.at(new Variable(n, { dtype: 'int32' })))).toBeTypeOf('function');
  });

  test('an index outside of the axis, and what is no index', () => {
    const traced = tfFunction((x: Tensor, i: Tensor) => x.at(i));
    expect(() => traced(x, int(2))).toThrow('is not in [0, 2)');
    expect(() => traced(x, int(-3))).toThrow('is not in [0, 2)');
    expect(() => x.at(int(2))).toThrow('index 2 is out of range for axis 0');
    expect(() => x.at(constant(1.5))).toThrow('the index is float32 [], expected one integer');
    expect(() => traced(x, int([0, 1]))).toThrow('expected one integer');
  });

  test('in loops, with gradients', () => {
    const total = (x: Tensor): Tensor => {
      const tape = new GradientTape();
      tape.watch(x);
      const [, s] = whileLoop(
        (i) => i.less(3),
        (i, s) => [i.add(1), s.add(x.at(i).mul(x.at(i.neg())).mul(i.cast('float32')))],
        [int(0), constant(0)],
      );
      return tape.gradient(s, x) as Tensor;
    };
    const v = constant([1, 2, 3]);
    // 1·x₁·x₂ + 2·x₂·x₁
    expect(tfFunction(total)(v).array()).toEqual([0, 9, 6]);
    expect(total(v).array()).toEqual([0, 9, 6]);
  });
});

describe('slice', () => {
  test('begins where tensors say', () => {
    const traced = tfFunction((x: Tensor, i: Tensor) => [
      slice(x, [i, 0, i], [1, -1, 2]),
      slice(x, stack([int(0), i, i]), [2, 2, 3]),
    ]);
    const expected = [slice(x, [1, 0, 1], [1, -1, 2]), slice(x, [0, 1, 1], [2, 2, 3])];
    expect(arrays(traced(x, int(1)))).toEqual(arrays(expected));
    expect(slice(x, int([1, 0, 1]), int([1, 3, 2])).array()).toEqual(expected[0]?.array());
    const known = tfFunction((x: Tensor) => slice(x, stack([int(1), int(0), int(1)]), [1, -1, 2]));
    expect(known(x).array()).toEqual(expected[0]?.array());
  });

  test('refuses what does not fit', () => {
    const traced = tfFunction((x: Tensor, i: Tensor) => slice(x, [i, 0, 0], [2, 1, 1]));
    expect(() => traced(x, int(1))).toThrow('is not in [0, 2)');
    const open = tfFunction((x: Tensor, i: Tensor) => slice(x, [i, 0, 0]));
    expect(open(x, int(1)).array()).toEqual(slice(x, [1, 0, 0]).array());
    expect(() => open(x, int(3))).toThrow('dimensions must be integers of at least 0');
    const sized = tfFunction((x: Tensor, i: Tensor) => slice(x, [0, 0, 0], [i, 1, 1]));
    expect(sized(x, int(1)).shape).toEqual([1, 1, 1]);
    expect(() => sized(x, int(3))).toThrow(InvalidArgumentError);
    expect(sized(x, int(2)).shape).toEqual([2, 1, 1]);
    expect(() => slice(x, [1, 0])).toThrow('begin must be 3 integers');
    expect(() => slice(x, constant([1, 0, 0.5]))).toThrow('expected a list of integers');
  });
});
