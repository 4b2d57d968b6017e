// What a concrete function tells about itself.
import '@eagre/backend-js';
import { inspect } from 'node:util';
import { constant, type Tensor, Variable } from '@eagre/core';
import { expect, test } from 'vitest';
import { cond, switchCase } from '../control/cond.ts';
import { TensorSpec } from '../ir/tensor-spec.ts';
import { tfFunction } from './function.ts';

test('its signature and its results, with null for sizes that may be any', () => {
  const power = tfFunction({ name: 'power' })((x: Tensor, n: number) => ({ y: x.pow(n), all: [x.sum(), n] }));
  const any = power.getConcreteFunction(new TensorSpec([null, 2]), 3);
  expect(any.structuredOutputs).toEqual({ y: new TensorSpec([null, 2]), all: [new TensorSpec([]), 3] });
  expect(String(any)).toBe(
    'ConcreteFunction power(TensorSpec(shape=[null, 2], dtype=float32), 3) -> { y: TensorSpec(shape=[null, 2], dtype=float32), all: [TensorSpec(shape=[], dtype=float32), 3] }',
  );
  expect(inspect(any)).toContain('structuredOutputs: {');
  expect(inspect(any)).toContain('TensorSpec(shape=[null, 2], dtype=float32)');
  const one = power.getConcreteFunction(constant([1, 2], 'int32'), 2);
  expect(String(one)).toContain('-> { y: TensorSpec(shape=[2], dtype=int32)');
});

test('its variables', () => {
  const v = new Variable(1, { name: 'v' });
  const w = new Variable(2, { name: 'w', trainable: false });
  const other = new Variable(3);
  const f = tfFunction((x: Tensor) => {
    cond(
      x.greater(0),
      () => v.assignAdd(x).read(),
      () => v.read(),
    );
    return w.mul(x);
  });
  const concrete = f.getConcreteFunction(constant(1));
  expect(new Set(concrete.variables)).toEqual(new Set([v, w]));
  expect(concrete.trainableVariables).toEqual([v]);
  expect(concrete.variables).not.toContain(other);
});

test('branches may be an object of numbers', () => {
  const two = () => constant(2);
  const pick = (i: number): unknown =>
    switchCase(constant(i, 'int32'), { 0: () => constant(1), 1: two }, { default: () => constant(9) }).item();
  expect([0, 1, 2].map(pick)).toEqual([1, 2, 9]);
  expect(() => switchCase(constant(0, 'int32'), { 0: two, 5: two })).toThrow(
    'numbered 0, 5, expected the numbers from 0 to 1',
  );
  expect(() => switchCase(constant(0, 'int32'), {})).toThrow('at least one function');
});
