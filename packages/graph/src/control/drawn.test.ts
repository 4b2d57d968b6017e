// Gradients through branches and loops that draw random numbers or call the host: what was drawn counts, and nothing happens twice.
import '@eagre/backend-js';
import '@eagre/backend-native';
import { GradientTape } from '@eagre/autodiff';
import { constant, hostFunction, random, type Tensor } from '@eagre/core';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { tfFunction } from '../function/function.ts';
import { orders } from '../testing/gradients.ts';
import { cond, switchCase } from './cond.ts';
import { whileLoop } from './while-loop.ts';

afterEach(() => vi.restoreAllMocks());

const int = (n: number): Tensor => constant(n, 'int32');
const draw = (): Tensor => random.uniform([], { minval: 1, maxval: 2 });
/** Runs a body three times. */
const thrice = (x: Tensor, body: (y: Tensor, i: Tensor) => Tensor): Tensor =>
  whileLoop(
    (i) => i.less(3),
    (i, y) => [i.add(1), body(y, i)],
    [int(0), x],
  )[1];
const note = (seen: number[], x: Tensor): void => {
  hostFunction((t) => void seen.push(t.item() as number), [x], []);
};

describe('a branch that draws', () => {
  test('has gradients of any order, with what it drew', () => {
    const f = tfFunction((x: Tensor) =>
      orders((x) =>
        cond(
          x.greater(0),
          () => x.pow(3).mul(draw()),
          () => x.mul(draw()),
        ),
      )(x),
    );
    const [y, first, second] = f(constant(2)).map((t) => t.item() as number) as [number, number, number];
    const factor = y / 8;
    expect(factor).toBeGreaterThanOrEqual(1);
    expect(factor).toBeLessThan(2);
    expect(first).toBeCloseTo(12 * factor, 4);
    expect(second).toBeCloseTo(12 * factor, 4);
    const [z, slope, none] = f(constant(-2)).map((t) => t.item() as number) as [number, number, number];
    expect(slope).toBeCloseTo(z / -2, 5);
    expect(none).toBe(0);
  });

  test('in a loop: each turn with what it drew', () => {
    const drawn: number[] = [];
    const f = tfFunction((x: Tensor) => {
      const tape = new GradientTape();
      tape.watch(x);
      const y = thrice(x, (y, i) =>
        cond(
          i.equal(1),
          () => y,
          () => {
            const factor = draw();
            note(drawn, factor);
            return y.mul(x).mul(factor);
          },
        ),
      );
      return [y, tape.gradient(y, x) as Tensor] as const;
    });
    const results = f(constant(2)).map((t) => t.item() as number);
    // x³ times two draws.
    expect(drawn).toHaveLength(2);
    const factor = (drawn[0] as number) * (drawn[1] as number);
    [8, 12].forEach((k, i) => expect(results[i]).toBeCloseTo(k * factor, 3));
  });

  test('in a branch in a loop, and one of several', () => {
    const drawn: number[] = [];
    const scaled = (y: Tensor): Tensor => {
      const factor = draw();
      note(drawn, factor);
      return y.mul(factor);
    };
    const f = tfFunction((x: Tensor) => {
      const tape = new GradientTape();
      tape.watch(x);
      const y = thrice(x, (y, i) =>
        cond(
          y.greater(0),
          () => switchCase(i, [() => scaled(y), () => y.mul(3), () => scaled(scaled(y))]),
          () => y,
        ),
      );
      return [y, tape.gradient(y, x) as Tensor] as const;
    });
    const [y, dy] = f(constant(5)).map((t) => t.item() as number);
    const factor = drawn.reduce((a, b) => a * b, 3);
    expect(drawn).toHaveLength(3);
    expect(y).toBeCloseTo(5 * factor, 3);
    expect(dy).toBeCloseTo(factor, 4);
    drawn.length = 0;
    expect(f(constant(-5)).map((t) => t.item())).toEqual([-5, 1]);
    expect(drawn).toEqual([]);
  });

  test('what the host gives counts as drawn', () => {
    let calls = 0;
    const fromHost = (): Tensor =>
      hostFunction(() => constant(++calls), [], { dtype: 'float32', shape: [] }) as Tensor;
    const f = tfFunction((x: Tensor) => {
      const tape = new GradientTape();
      tape.watch(x);
      const y = thrice(x, (y, i) =>
        cond(
          i.less(2),
          () => y.mul(fromHost()),
          () => y,
        ),
      );
      return tape.gradient(y, x) as Tensor;
    });
    expect(f(constant(1)).item()).toBe(2);
    expect(calls).toBe(2);
    expect(f(constant(1)).item()).toBe(12);
  });
});

describe('code of the host', () => {
  test.each([1, 2])('in branches of loops runs once, under %i tapes', (tapes) => {
    const seen: number[] = [];
    const f = tfFunction((x: Tensor) => {
      const body = (x: Tensor): Tensor =>
        thrice(x, (y) => {
          cond(
            y.greater(3),
            () => note(seen, y),
            () => undefined,
          );
          return y.mul(x);
        });
      if (tapes === 2) return orders(body)(x);
      const tape = new GradientTape();
      tape.watch(x);
      return [tape.gradient(body(x), x) as Tensor];
    });
    expect(f(constant(2)).map((t) => t.item())).toEqual(tapes === 1 ? [32] : [16, 32, 48]);
    expect(seen).toEqual([4, 8]);
  });

  test('in loops of loops too', () => {
    const seen: number[] = [];
    const f = tfFunction((x: Tensor) =>
      orders((x) =>
        thrice(x, (y, i) =>
          thrice(y, (z, k) => {
            note(seen, i.mul(10).add(k).cast('float32'));
            return z.mul(x);
          }),
        ),
      )(x),
    );
    expect(f(constant(1)).map((t) => t.item())).toEqual([1, 10, 90]);
    expect(seen).toEqual([0, 1, 2, 10, 11, 12, 20, 21, 22]);
  });
});

test('draws in a loop in a loop are refused, with what to do instead', () => {
  const f = tfFunction((x: Tensor) => {
    const tape = new GradientTape();
    tape.watch(x);
    const y = thrice(x, (y) => thrice(y, (z) => z.mul(draw())));
    return tape.gradient(y, x) as Tensor;
  });
  expect(() => f(constant(1))).toThrow(
    'a loop inside another loop or branch has no gradient if it draws random numbers or calls the host: do that before the inner loop',
  );
  const ahead = tfFunction((x: Tensor) => {
    const tape = new GradientTape();
    tape.watch(x);
    const y = thrice(x, (y) => {
      const factors = random.uniform([3], { minval: 1, maxval: 2 });
      return thrice(y, (z, k) => z.mul(factors.gather(k)));
    });
    return [y, tape.gradient(y, x) as Tensor] as const;
  });
  const [y, dy] = ahead(constant(3));
  expect((dy as Tensor).item()).toBeCloseTo(((y as Tensor).item() as number) / 3, 4);
});
