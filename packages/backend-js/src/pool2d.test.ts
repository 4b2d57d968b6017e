import { OutOfRangeError } from '@eagre/backend';
import { describe, expect, it } from 'vitest';
import { kernels } from './pool2d.ts';
import { inner, noise, run, tensor, values } from './testing/kernels.ts';

const two = { window: [2, 2], strides: [2, 2], padding: [0, 0, 0, 0] };
const three = { window: [3, 3], strides: [2, 2], padding: [1, 1, 1, 1] };

function maxPool(x: ReturnType<typeof tensor>, shape: readonly number[], attrs: object) {
  const y = tensor(x.dtype as 'float32', shape);
  const argmax = tensor('int32', shape);
  kernels.MaxPool!([x], [y, argmax], attrs as typeof two);
  return { y, argmax };
}

describe('max pooling', () => {
  it('finds the first maximum of every channel', () => {
    const x = tensor('float32', [1, 2, 4, 2], [1, -1, 3, -2, 0, 0, 0, 0, 3, -3, 2, -4, 0, 7, 0, 7]);
    const { y, argmax } = maxPool(x, [1, 1, 2, 2], two);
    expect(values(y)).toEqual([3, -1, 0, 7]);
    expect(values(argmax)).toEqual([2, 1, 4, 13]);
  });

  it('lets NaN win, the padding never', () => {
    const x = tensor('float64', [1, 2, 2, 1], [-5, NaN, 9, NaN]);
    const whole = maxPool(x, [1, 1, 1, 1], two);
    expect(values(whole.y)).toEqual([NaN]);
    expect(values(whole.argmax)).toEqual([1]);
    const apart = maxPool(x, [1, 2, 1, 1], { window: [1, 1], strides: [3, 1], padding: [0, 2, 0, 0] });
    expect(values(apart.y)).toEqual([-5, -Infinity]);
    expect(values(apart.argmax)).toEqual([0, -1]);
    const edge = maxPool(tensor('float32', [1, 1, 1, 1], [-3]), [1, 1, 1, 1], three);
    expect(values(edge.y)).toEqual([-3]);
  });

  it('has a gradient that is the transposed map, and that map again', () => {
    const x = tensor('float64', [2, 7, 7, 3], noise(294, 1));
    const { y, argmax } = maxPool(x, [2, 4, 4, 3], three);
    const dy = tensor('float64', y.shape, noise(96, 2));
    const dx = run(kernels, 'MaxPoolGrad', [dy, argmax], 'float64', x.shape);
    expect(inner(y, dy)).toBeCloseTo(inner(x, dx), 12);
    expect(values(run(kernels, 'MaxPoolGather', [x, argmax], 'float64', y.shape))).toEqual(values(y));
    const outside = tensor('int32', [1, 1, 1, 2], [-1, 1]);
    const pair = tensor('float32', [1, 1, 1, 2], [5, 6]);
    expect(values(run(kernels, 'MaxPoolGather', [pair, outside], 'float32', [1, 1, 1, 2]))).toEqual([0, 6]);
    expect(values(run(kernels, 'MaxPoolGrad', [pair, outside], 'float32', [1, 1, 1, 2]))).toEqual([0, 6]);
  });

  it('refuses an argmax outside of the image', () => {
    const x = tensor('float32', [1, 1, 1, 1], [1]);
    for (const bad of [-2, 1]) {
      const argmax = tensor('int32', [1, 1, 1, 1], [bad]);
      expect(() => run(kernels, 'MaxPoolGrad', [x, argmax], 'float32', [1, 1, 1, 1])).toThrow(
        OutOfRangeError,
      );
      expect(() => run(kernels, 'MaxPoolGather', [x, argmax], 'float32', [1, 1, 1, 1])).toThrow(
        OutOfRangeError,
      );
    }
  });
});

describe('average pooling', () => {
  it('is done at once where there is nothing, however many images', () => {
    const x = tensor('float32', [2 ** 50, 2, 2, 0], []);
    expect(run(kernels, 'AvgPool', [x], 'float32', [2 ** 50, 1, 1, 0], two).size).toBe(0);
  });

  it('does not count the padding', () => {
    const x = tensor('float32', [1, 2, 2, 1], [1, 2, 3, 6]);
    expect(values(run(kernels, 'AvgPool', [x], 'float32', [1, 1, 1, 1], two))).toEqual([3]);
    const corners = { window: [2, 2], strides: [2, 2], padding: [1, 1, 1, 1] };
    expect(values(run(kernels, 'AvgPool', [x], 'float32', [1, 2, 2, 1], corners))).toEqual([1, 2, 3, 6]);
    const beyond = { window: [1, 1], strides: [3, 1], padding: [0, 2, 0, 1] };
    expect(values(run(kernels, 'AvgPool', [x], 'float32', [1, 2, 1, 1], beyond))).toEqual([1, NaN]);
  });

  it('has a gradient that is the transposed map', () => {
    const x = tensor('float64', [2, 7, 6, 3], noise(252, 1));
    const dy = tensor('float64', [2, 4, 3, 3], noise(72, 2));
    const y = run(kernels, 'AvgPool', [x], 'float64', dy.shape, three);
    const dx = run(kernels, 'AvgPoolGrad', [dy], 'float64', x.shape, three);
    expect(inner(y, dy)).toBeCloseTo(inner(x, dx), 12);
  });
});
