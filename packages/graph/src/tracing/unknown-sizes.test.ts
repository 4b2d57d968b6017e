// Sizes as text, and as bounds of ranges, while functions are traced.
import '@eagre/backend-js';
import { constant, ones, range, shapeOf, type Tensor } from '@eagre/core';
import { afterEach, expect, test, vi } from 'vitest';
import { tfFunction } from '../function/function.ts';
import { TensorSpec } from '../ir/tensor-spec.ts';

afterEach(() => vi.restoreAllMocks());

test('shapes are text without a trace for each size', () => {
  const warn = vi.spyOn(console, 'warn').mockReturnValue();
  const seen: string[] = [];
  const f = tfFunction(
    (x: Tensor) => {
      seen.push(String(x.shape), `${x.shape}`, x.shape.join(' x '));
      return x.add(1);
    },
    { reduceRetracing: true },
  );
  for (const n of [3, 5, 7, 4]) expect(f(ones([n, 2])).shape).toEqual([n, 2]);
  expect(seen).toEqual(['3,2', '3,2', '3 x 2', 'n0,2', 'n0,2', 'n0 x 2']);
  expect(f.experimentalGetTracingCount()).toBe(2);
  expect(warn).not.toHaveBeenCalled();
});

test('functions inside tell unknown sizes apart', () => {
  const inner = tfFunction((x: Tensor) => x.sum(0));
  const f = tfFunction({ inputSignature: [new TensorSpec([null]), new TensorSpec([null, null])] })(
    (x: Tensor, y: Tensor) => inner(x).add(inner(y).sum()),
  );
  expect(f(ones([3]), ones([2, 5])).item()).toBe(13);
  expect(f(ones([4]), ones([1, 2])).item()).toBe(6);
});

test('code that asks for a size is named by its own line', () => {
  const warn = vi.spyOn(console, 'warn').mockReturnValue();
  const f = tfFunction({ inputSignature: [new TensorSpec([null])] })((x: Tensor) =>
    x.mul(x.shape.reduce((a, b) => a * b, 1)),
  );
  expect(f(ones([2])).array()).toEqual([2, 2]);
  // Nobody knows yet that other sizes come.
  expect(warn).not.toHaveBeenCalled();
  expect(f(ones([1])).array()).toEqual([1]);
  expect(String(warn.mock.calls[0]?.[0])).toMatch(/traced anew for each size.*unknown-sizes\.test\.ts/);
});

test('bounds of ranges may be tensors that are known', () => {
  const f = tfFunction((x: Tensor) =>
    range(shapeOf(x).gather(0)).add(range(constant(1), constant(4)).cast('int32')),
  );
  expect(f(ones([3])).array()).toEqual([1, 3, 5]);
  const late = tfFunction((n: Tensor) => range(n));
  expect(late(constant(3, 'int32')).array()).toEqual([0, 1, 2]);
  expect(() => late(constant(3.5))).toThrow('a bound of tf.range has no value');
});
