import {
  buildScalarProgram,
  getBackend,
  type KernelName,
  kernelAttrs,
  listBackends,
  ResourceExhaustedError,
} from '@eagre/backend';
import { expect, it } from 'vitest';
import { jsBackend } from './index.ts';
import { tensor, values } from './testing/kernels.ts';

it('registers itself', () => {
  expect(getBackend('js')).toBe(jsBackend);
  expect(listBackends()).toContain(jsBackend);
  expect(jsBackend.threads()).toBe(1);
  expect(jsBackend.threads(8)).toBe(1);
  expect(jsBackend.allocator.allocate(10).address).toBe(0);
});

it('has every kernel', () => {
  for (const name of Object.keys(kernelAttrs) as KernelName[])
    expect(jsBackend.kernel(name, []), name).toBeDefined();
});

it('offers kernels by the dtype of their first input', () => {
  expect(jsBackend.kernel('Fill', [])).toBeDefined();
  expect(jsBackend.kernel('MatMul', ['float32', 'float32'])).toBeDefined();
  expect(jsBackend.kernel('MatMul', ['bool', 'bool'])).toBeUndefined();
  expect(jsBackend.kernel('Softmax', ['int32'])).toBeUndefined();
  expect(jsBackend.kernel('All', ['float32'])).toBeUndefined();
});

it('says what no memory is left for', () => {
  const sum = jsBackend.kernel('Sum', ['float32'])!;
  const y = { ...tensor('float32', [0]), size: 2 ** 40 };
  expect(() => sum([tensor('float32', [1])], [y], { axes: [] })).toThrow(ResourceExhaustedError);
});

it('compiles scalar programs', () => {
  const square = jsBackend.elementwise(buildScalarProgram(['int32'], (s, x) => s.mul(x, x)));
  const x = tensor('int32', [2], [3, 4]);
  square([x], [x], {});
  expect(values(x)).toEqual([9, 16]);
});
