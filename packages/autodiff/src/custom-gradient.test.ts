import '@eagre/backend-js';
import {
  clipByNorm,
  constant,
  div,
  exp,
  identity,
  log,
  sub,
  type Tensor,
  UnimplementedError,
  Variable,
} from '@eagre/core';
import { describe, expect, it } from 'vitest';
import { customGradient, GradientTape, grad } from './index.ts';

const log1pexp = (x: Tensor): Tensor => log(exp(x).add(1));
const stable = customGradient((x: Tensor) => {
  const e = exp(x);
  return [log(e.add(1)), (dy) => dy.mul(sub(1, div(1, e.add(1))))];
});

describe('customGradient', () => {
  it('gives log1pexp a gradient at 100', () => {
    expect(grad(log1pexp)(0).item()).toBe(0.5);
    expect(grad(log1pexp)(100).item()).toBeNaN();
    expect(grad(stable)(0).item()).toBe(0.5);
    expect(grad(stable)(100).item()).toBe(1);
  });

  it('clips a gradient on its way back', () => {
    const clip = customGradient((x: Tensor, norm: Tensor) => [
      identity(x),
      (dy) => [clipByNorm(dy, norm), null],
    ]);
    const x = constant([3, 4]);
    using tape = new GradientTape();
    tape.watch(x);
    const g = tape.gradient(clip(x, 1).mul([30, 40]).sum(), x) as Tensor;
    expect(g.array()).toEqual([expect.closeTo(0.6, 5), expect.closeTo(0.8, 5)]);
  });

  it('has gradients of higher order', () => {
    expect(grad(grad(stable))(0).item()).toBeCloseTo(0.25, 6);
  });

  it('lets the gradient function keep what it sees', () => {
    const seen: Tensor[] = [];
    const spy = customGradient((x: Tensor) => [
      x.mul(2),
      (dy) => {
        seen.push(dy);
        const made = dy.mul(2);
        seen.push(made);
        return made;
      },
    ]);
    grad((x) => spy(x.square()).mul(3))(2);
    expect(seen.map((t) => t.item())).toEqual([3, 6]);
  });

  it('takes a list of values, with zeros for those that have no gradient', () => {
    const seen: number[][] = [];
    const pair = customGradient((x: Tensor, y: Tensor) => [
      [x.mul(y), x.add(1), constant([1, 2], 'int32')],
      (da, db) => {
        seen.push([da.item() as number, db.item() as number]);
        return [da.mul(7).add(db.mul(11)), da.mul(y)];
      },
    ]);
    const results = pair(2, 3);
    expect(results.map((t) => t.array())).toEqual([6, 3, [1, 2]]);
    expect(grad((x) => (pair(x, 3)[0] as Tensor).mul(pair(x, 3)[1] as Tensor))(2).item()).toBe(
      3 * 7 + 6 * 11,
    );
    const both = (x: Tensor): Tensor => {
      const [a, b] = pair(x, 3) as [Tensor, Tensor, Tensor];
      return a.mul(b);
    };
    expect(grad(both)(2).item()).toBe(3 * 7 + 6 * 11);
    expect(seen).toEqual([
      [0, 6],
      [3, 0],
      [3, 6],
    ]);
    // By the second order: of 7 b + 11 a, which are again values of the function.
    expect(grad(grad(both))(2).item()).toBe(7 * 11 + 11 * 7);
    expect(() => customGradient((_: Tensor) => [[], () => null])(1)).toThrow(
      'must return [value, gradient function]',
    );
    expect(() => customGradient((x: Tensor) => [[x, 1 as never], () => null])(1)).toThrow('must return');
  });

  it('refuses trainable variables and wrong numbers of gradients', () => {
    const v = new Variable(1);
    using tape = new GradientTape();
    const bad = customGradient((x: Tensor) => [x.mul(v), (dy) => dy]);
    expect(() => bad(constant(1))).toThrow(UnimplementedError);
    tape.dispose();
    const wrong = customGradient((a: Tensor, b: Tensor) => [a.mul(b), (dy) => [dy]]);
    expect(() => grad((x) => wrong(x, 2))(1)).toThrow(/1 gradients were returned for 2 arguments/);
  });
});
