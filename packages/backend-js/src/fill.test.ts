import { describe, expect, it } from 'vitest';
import { kernels } from './fill.ts';
import { run, tensor, values } from './testing/kernels.ts';

describe('making values', () => {
  it('fills, casting the value', () => {
    expect(values(run(kernels, 'Fill', [], 'float32', [2], { value: 0.1 }))).toEqual(
      Array(2).fill(Math.fround(0.1)),
    );
    expect(values(run(kernels, 'Fill', [], 'int32', [1], { value: -1e20 }))).toEqual([-(2 ** 31)]);
    expect(values(run(kernels, 'Fill', [], 'int64', [2], { value: 5.9 }))).toEqual([5n, 5n]);
    expect(values(run(kernels, 'Fill', [], 'bool', [], { value: 0.5 }))).toEqual([1]);
    expect(values(run(kernels, 'Fill', [], 'float32', [0, 3], { value: 1 }))).toEqual([]);
  });

  it('counts', () => {
    expect(values(run(kernels, 'Iota', [], 'float64', [3], { start: 1, delta: 0.5 }))).toEqual([1, 1.5, 2]);
    expect(values(run(kernels, 'Iota', [], 'int32', [3], { start: 2.5, delta: -1 }))).toEqual([2, 1, 0]);
    expect(values(run(kernels, 'Iota', [], 'int64', [2], { start: 10, delta: 3 }))).toEqual([10n, 13n]);
  });

  it('copies to another shape', () => {
    const x = tensor('uint8', [2, 2], [1, 2, 3, 4]);
    expect(values(run(kernels, 'Copy', [x], 'uint8', [4]))).toEqual([1, 2, 3, 4]);
    expect(values(run(kernels, 'Copy', [tensor('int64', [1], [9n])], 'int64', []))).toEqual([9n]);
  });
});
