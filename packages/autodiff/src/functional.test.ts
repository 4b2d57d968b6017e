import '@eagre/backend-js';
import { constant, type Tensor, Variable } from '@eagre/core';
import { describe, expect, it } from 'vitest';
import {
  grad,
  gradientsFunction,
  implicitGradients,
  implicitValueAndGradients,
  valueAndGrad,
  valueAndGradientsFunction,
} from './index.ts';

const square = (x: Tensor): Tensor => x.mul(x);

describe('gradientsFunction', () => {
  it('gives 6 for the square at 3, then 2, then 0', () => {
    const first = gradientsFunction(square as never);
    const second = gradientsFunction(first);
    const third = gradientsFunction(second);
    expect(first(3)[0]?.item()).toBe(6);
    expect(second(3)[0]?.item()).toBe(2);
    expect(third(3)[0]?.item()).toBe(0);
  });

  it('gives one gradient for each argument', () => {
    const both = gradientsFunction((a: Tensor, b: Tensor) => a.mul(b));
    expect(both(constant(2), constant(5)).map((g) => g.item())).toEqual([5, 2]);
  });

  it('with the value', () => {
    const [value, [g]] = valueAndGradientsFunction((x: Tensor) => x.square())(constant(3));
    expect([value.item(), g?.item()]).toEqual([9, 6]);
    const [v, d] = valueAndGrad(square)(4);
    expect([v.item(), d.item(), grad(square)(4).item()]).toEqual([16, 8, 8]);
  });
});

describe('implicitGradients', () => {
  it('finds the variables that the function uses', () => {
    const w = new Variable(2);
    const b = new Variable(1);
    const loss = (x: number): Tensor => w.mul(x).add(b).square();
    const pairs = implicitGradients(loss)(3);
    expect(pairs.map(([g, v]) => [g.item(), v])).toEqual([
      [42, w],
      [14, b],
    ]);
    expect(implicitValueAndGradients(loss)(3)[0].item()).toBe(49);
  });

  it('needs one', () => {
    expect(() => implicitGradients(() => constant(1))()).toThrow(/no trainable variable/);
  });
});
