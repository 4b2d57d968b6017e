// Traced functions that call themselves.
import '@eagre/backend-js';
import { InvalidArgumentError } from '@eagre/backend';
import { concat, constant, type Tensor } from '@eagre/core';
import { expect, test, vi } from 'vitest';
import { TensorSpec } from '../ir/tensor-spec.ts';
import { tfFunction } from './function.ts';

type Fn = (x: Tensor, n?: number) => Tensor;

function refused(call: () => unknown): void {
  expect(call).toThrow(InvalidArgumentError);
  expect(call).toThrow('calls itself without an end');
}

test.each([
  ['of known shapes', {}],
  ['of any size', { inputSignature: [new TensorSpec({ shape: [null], dtype: 'float32' })] }],
  ['that retraces less', { reduceRetracing: true }],
])('a function %s that calls itself without an end is refused', (_, options) => {
  const rec: Fn = tfFunction((x: Tensor): Tensor => rec(x.sub(1)), options);
  refused(() => rec(constant([3])));
  const one: Fn = tfFunction((x: Tensor): Tensor => two(x.sub(1)), options);
  const two: Fn = tfFunction((x: Tensor): Tensor => one(x.mul(2)).add(1), options);
  refused(() => one(constant([3])));
  refused(() => two(constant([3])));
  const down: Fn = tfFunction((x: Tensor, n = 0): Tensor => down(x, n - 1));
  refused(() => down(constant(3), 2));
  const longer: Fn = tfFunction((x: Tensor): Tensor => longer(concat([x, [1]], 0)), options);
  vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  refused(() => longer(constant([3])));
  vi.restoreAllMocks();
});

test('a function that calls itself as often as a number says works', () => {
  const rec: Fn = tfFunction((x: Tensor, n = 0): Tensor => (n === 0 ? x : rec(x.sub(1), n - 1)));
  expect(rec(constant(3), 2).item()).toBe(1);
  expect(rec(constant(3), 120).item()).toBe(-117);
  const even: Fn = tfFunction((x: Tensor, n = 0): Tensor => (n === 0 ? x : odd(x.mul(2), n - 1)));
  const odd: Fn = tfFunction((x: Tensor, n = 0): Tensor => (n === 0 ? x.neg() : even(x.add(1), n - 1)));
  expect(even(constant(3), 3).item()).toBe(-14);
  // By the size of the argument too.
  const sum: Fn = tfFunction((x: Tensor): Tensor => (x.shape[0] === 1 ? x : sum(x.at('1:')).add(x.at(':1'))));
  expect(sum(constant([1, 2, 3, 4])).array()).toEqual([10]);
});

test('other errors stay what they are', () => {
  const plain = (): never => plain();
  const rec: Fn = tfFunction(
    (x: Tensor, n = 0): Tensor => (n === 0 ? x.add([].at(0) ?? new Array(-1).length) : rec(x, n - 1)),
  );
  expect(() => rec(constant(3), 2)).toThrow('Invalid array length');
  expect(() => tfFunction(plain)()).toThrow(RangeError);
});
