import '@eagre/backend-js';
import { inspect } from 'node:util';
import { nativeBackend } from '@eagre/backend-native';
import { describe, expect, expectTypeOf, it, vi } from 'vitest';
import {
  argMax,
  constant,
  EagreError,
  FailedPreconditionError,
  gatherNd,
  InvalidArgumentError,
  type NestedArray,
  OutOfRangeError,
  ones,
  ResourceExhaustedError,
  repeat,
  type Scalar,
  type Tensor,
  tile,
  Variable,
  withBackend,
  zeros,
} from '../index.ts';

describe('values', () => {
  it('come back typed, nested and single', () => {
    const t = constant([
      [1, 2],
      [3, 4],
    ]);
    expect(t.data()).toEqual(new Float32Array([1, 2, 3, 4]));
    expect(t.array()).toEqual([
      [1, 2],
      [3, 4],
    ]);
    expect(t.at(1, 0).item()).toBe(3);
    expect(constant([true, false]).array()).toEqual([true, false]);
    expect(constant([1n, -2n]).data()).toEqual(new BigInt64Array([1n, -2n]));
    expect(constant(['a', 'b']).array()).toEqual(['a', 'b']);
    expect(constant(7n).item()).toBe(7);
    expect(constant(7n).item('bigint')).toBe(7n);
  });

  it('are one number where there is one, of int64 too', () => {
    expect(argMax([1, 5, 2]).item() + 1).toBe(2);
    expect(constant([[-(2n ** 53n) + 1n]]).item()).toBe(Number.MIN_SAFE_INTEGER);
    expect(() => constant(2n ** 53n).item()).toThrow(OutOfRangeError);
    expect(() => new Variable(2n ** 53n).item()).toThrow(/use item\('bigint'\)/);
    expect(constant(2n ** 53n).item('bigint')).toBe(2n ** 53n);
    expect(new Variable(7, { dtype: 'int32' }).item('bigint')).toBe(7n);
    expect(() => constant(0.5).item('bigint')).toThrow(InvalidArgumentError);
    expect(() => constant('a').item('bigint')).toThrow(InvalidArgumentError);
    expect(() => constant(1).item('number' as 'bigint')).toThrow(InvalidArgumentError);
    expect(constant(true).item<boolean>()).toBe(true);
    expect((constant(2n ** 60n) as unknown as number) > 2 ** 59).toBe(true);
    expect((constant(3n) as unknown as number) + 1).toBe(4);
    expectTypeOf(constant(1n).item()).toEqualTypeOf<number>();
    expectTypeOf(constant(1n).item('bigint')).toEqualTypeOf<bigint>();
  });

  it('have the type of where they go', () => {
    const rows: number[][] = constant([[1, 2]]).array();
    expect(rows.map((row) => row.reduce((a, b) => a + b))).toEqual([3]);
    expect(new Variable([1, 2]).array<number[]>().map((v) => v + 1)).toEqual([2, 3]);
    expectTypeOf(constant(1).array()).toEqualTypeOf<NestedArray<Scalar>>();
  });

  it('are copies: writing to them changes nothing', () => {
    const t = constant([1, 2]);
    t.data()[0] = 9;
    expect(t.array()).toEqual([1, 2]);
  });

  it('can be read asynchronously and as JSON', async () => {
    expect(await constant([1]).read()).toEqual(new Float32Array([1]));
    expect(JSON.stringify({ t: constant([[1], [2]]) })).toBe('{"t":[[1],[2]]}');
  });

  it('too many for JavaScript arrays are refused, before an array is made', () => {
    const many = zeros([2 ** 25 + 1], 'uint8');
    for (const fn of [
      () => many.array(),
      () => many.toJSON(),
      () => many.reshape([1, 2 ** 25 + 1]).array(),
      () =>
        zeros([2 ** 24, 1], 'uint8')
          .reshape([2 ** 24, 1, 1])
          .array(),
      () => zeros([2 ** 12, 2 ** 14, 0]).array(),
      () => zeros([2 ** 40, 0]).array(),
      () => zeros([2 ** 31], 'string'),
      () => constant('a', 'string', { shape: [2 ** 16, 2 ** 16] }),
      () => repeat(['a'], 2 ** 27),
      () => tile(['a', 'b'], [2 ** 30]),
      () => gatherNd('a', zeros([2 ** 26, 0], 'int32')),
    ]) {
      expect(fn, String(fn)).toThrow(ResourceExhaustedError);
    }
    expect(repeat(['a', 'b'], 2).array()).toEqual(['a', 'a', 'b', 'b']);
    expect(ones([3, 0]).array()).toEqual([[], [], []]);
    expect(zeros([0, 2 ** 40]).array()).toEqual([]);
  });

  it('of which there is no copy say so', () => {
    const t = zeros([4]);
    const slice = vi.spyOn(Float32Array.prototype, 'slice').mockImplementation(() => {
      throw new RangeError('Array buffer allocation failed');
    });
    try {
      expect(() => t.data()).toThrow(ResourceExhaustedError);
    } finally {
      slice.mockRestore();
    }
  });

  it('of several elements are no single value', () => {
    expect(() => constant([1, 2]).item()).toThrow(InvalidArgumentError);
    expect(() => Number(constant([1, 2]))).toThrow(/no single value/);
  });

  it('of one element compare like numbers', () => {
    const x = constant(3);
    expect((x as unknown as number) > 2).toBe(true);
    expect(`${constant([[4]])}`).toBe('[[4.]]');
  });
});

describe('empty tensors', () => {
  it('keep their shape', () => {
    expect(constant([[], []]).shape).toEqual([2, 0]);
    expect(zeros([2, 0, 3]).array()).toEqual([[], []]);
    expect(constant([[], []]).add(1).shape).toEqual([2, 0]);
  });
});

describe('dispose', () => {
  it('gives memory back and makes every further use an error', () => {
    const t = constant([1, 2]);
    t.dispose();
    t.dispose();
    expect(t.isDisposed).toBe(true);
    expect(() => t.data()).toThrow(FailedPreconditionError);
    expect(() => t.add(1)).toThrow(FailedPreconditionError);
    expect(inspect(t)).toContain('<disposed>');
  });

  it('leaves a view of the same memory alone', () => {
    const t = constant([1, 2, 3, 4]);
    const view = t.reshape([2, 2]);
    t.dispose();
    expect(view.array()).toEqual([
      [1, 2],
      [3, 4],
    ]);
  });

  it('works with using', () => {
    let seen: Tensor;
    {
      using t = constant([1]);
      seen = t;
    }
    expect(seen.isDisposed).toBe(true);
  });
});

describe('printing', () => {
  it('shows values, shape and dtype', () => {
    expect(inspect(constant([[4]]))).toBe('tf.Tensor([[4.]], shape=[1, 1], dtype=float32)');
    expect(
      inspect(
        constant(
          [
            [1, 2],
            [3, 4],
          ],
          'int32',
        ),
      ),
    ).toBe('tf.Tensor(\n[[1 2]\n [3 4]], shape=[2, 2], dtype=int32)');
    expect(String(constant([true, false]))).toBe('[ true false]');
    expect(String(constant(['a']))).toBe('["a"]');
    expect(String(constant(2.5))).toBe('2.5');
    expect(String(constant([0.1, 20]))).toBe('[ 0.1 20. ]');
    expect(String(constant([Number.NaN, Number.POSITIVE_INFINITY, 1]))).toBe('[nan inf  1.]');
    expect(String(constant([1e-10, 1]))).toBe('[1.e-10 1.e+00]');
    expect(String(constant([1n, 2n]))).toBe('[1 2]');
  });

  it('cuts what is long', () => {
    const text = String(zeros([2000]));
    expect(text).toBe('[0. 0. 0. ... 0. 0. 0.]');
    expect(String(zeros([100, 100])).split('\n')).toHaveLength(7);
  });
});

// In plain TypeScript what lies outside of memory is undefined; native code would read it.
describe.runIf(nativeBackend !== undefined)('a tensor that was written to', () => {
  type Open = Omit<Tensor, 'shape'> & { shape: number[] };
  const calls: ((x: Tensor) => unknown)[] = [
    (x) => x.add(1),
    (x) => x.add(ones([3])),
    (x) => x.relu(),
    (x) => x.sum().item(),
    (x) => x.at('::-1'),
    (x) => x.reshape([-1]).mul(2),
    (x) => x.broadcastTo([2, ...x.shape]),
    (x) => x.sort(),
  ];
  const harms: [string, (x: Open) => void][] = [
    ['a larger dimension', (x) => x.shape.splice(0, 1, 200_000)],
    ['more dimensions', (x) => x.shape.push(...new Array<number>(40).fill(3))],
    ['negative dimensions', (x) => x.shape.splice(0, 1, -1, -3)],
    ['another shape', (x) => Object.assign(x, { shape: [1 << 20] })],
    ['another size', (x) => Object.assign(x, { size: 1 << 20 })],
    ['another shape and size', (x) => Object.assign(x, { shape: [1 << 20], size: 1 << 20 })],
    ['a wider dtype', (x) => Object.assign(x, { dtype: 'float64', shape: [16], size: 16 })],
  ];
  it.each(harms)('with %s ends no process, and leaves others as they are', (_, harm) => {
    withBackend('native', () => {
      const other = constant([1, 2, 3]);
      for (const call of calls) {
        const x = constant([1, 2, 3]);
        harm(x as unknown as Open);
        try {
          call(x);
        } catch (error) {
          expect(error).toBeInstanceOf(EagreError);
        }
      }
      expect(other.add(1).array()).toEqual([2, 3, 4]);
    });
  });
});
