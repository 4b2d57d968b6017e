import { UnimplementedError } from '@eagre/backend';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  addDims,
  computedDim,
  type Dim,
  DimExpr,
  evaluateDim,
  floorDivDims,
  identicalDims,
  isLate,
  isMadeUp,
  keyOfDim,
  leastOf,
  maxDims,
  minDims,
  modDims,
  mostOf,
  mulDims,
  productOf,
  showDim,
  subDims,
  substituteDim,
  visitSymbols,
} from './dim.ts';
import { atMost, equalDims, holdsFor, knownDim, lessThan, ShapeEnv } from './shape-env.ts';

const env = new ShapeEnv();
const n = env.symbol('n', 6);
const m = env.symbol('m', 10);

describe('expressions', () => {
  test('equal ones are identical, whatever they were made in', () => {
    const a = mulDims(addDims(n, 1), addDims(n, -1));
    const b = subDims(mulDims(n, n), 1);
    expect(identicalDims(a, b)).toBe(true);
    expect(identicalDims(mulDims(n, m), productOf([m, 1, n]))).toBe(true);
    expect(subDims(addDims(n, m), m)).toStrictEqual(n);
    expect(subDims(n, n)).toBe(0);
    expect(identicalDims(maxDims(n, m), maxDims(m, n))).toBe(true);
  });

  test('numbers stay numbers', () => {
    expect(addDims(2, 3)).toBe(5);
    expect(mulDims(n, 0)).toBe(0);
    expect(floorDivDims(7, 2)).toBe(3);
    expect(modDims(-7, 4)).toBe(1);
    expect(maxDims(2, 3)).toBe(3);
  });

  test('quotients without a rest are expressions without one', () => {
    expect(floorDivDims(mulDims(n, 6), 3)).toStrictEqual(mulDims(n, 2));
    expect(floorDivDims(mulDims(n, m), m)).toStrictEqual(n);
    expect(floorDivDims(mulDims(addDims(n, 2), addDims(m, 3)), addDims(m, 3))).toStrictEqual(addDims(n, 2));
    expect(modDims(mulDims(n, 4), 4)).toBe(0);
    expect(modDims(addDims(mulDims(n, 4), 7), 4)).toBe(3);
  });

  test('others keep what is whole apart', () => {
    expect(showDim(floorDivDims(addDims(mulDims(n, 7), 5), 2))).toBe('3*n + floor((n + 5) / 2)');
    expect(identicalDims(floorDivDims(floorDivDims(n, 2), 3), floorDivDims(n, 6))).toBe(true);
    expect(showDim(modDims(addDims(n, 1), 4))).toBe('(n + 1) % 4');
  });

  test('the greater and the smaller are told where they can be', () => {
    expect(maxDims(addDims(n, 1), n)).toStrictEqual(addDims(n, 1));
    expect(maxDims(n, 0)).toBe(n);
    expect(minDims(n, 0)).toBe(0);
    expect(showDim(maxDims(subDims(n, 2), 0))).toBe('max(0, n - 2)');
  });

  test('they are no numbers', () => {
    expect(() => Number(n)).toThrow('is not known while the function is traced');
    expect(() => (n as unknown as number) * 2).toThrow('is not known');
    expect(`${addDims(mulDims(n, -2), 1)}`).toBe('-2*n + 1');
  });

  test('random ones evaluate to what numbers give, within their bounds', () => {
    type Make = (a: Dim, b: Dim) => Dim;
    const binary: readonly (readonly [Make, (a: number, b: number) => number])[] = [
      [addDims, (a, b) => a + b],
      [subDims, (a, b) => a - b],
      [mulDims, (a, b) => a * b],
      [maxDims, Math.max],
      [minDims, Math.min],
    ];
    const divisions: readonly (readonly [Make, (a: number, b: number) => number])[] = [
      [floorDivDims, (a, b) => Math.floor(a / b)],
      [modDims, (a, b) => a - b * Math.floor(a / b)],
    ];
    const steps = fc.array(fc.tuple(fc.nat(6), fc.nat(20), fc.nat(20), fc.integer({ min: -4, max: 9 })), {
      minLength: 1,
      maxLength: 7,
    });
    fc.assert(
      fc.property(steps, fc.nat(12), fc.nat(12), (list, size, other) => {
        const local = new ShapeEnv();
        const made: Dim[] = [local.symbol('n', size), local.symbol('m', other)];
        const values = [size, other];
        for (const [which, i, j, c] of list) {
          const a = i % made.length;
          const b = j % made.length;
          const operation = which < 5 ? binary[which] : divisions[which - 5];
          if (operation === undefined) continue;
          const [make, compute] = operation;
          const second =
            which < 5 ? (c === 0 ? [made[b], values[b]] : [c, c]) : [Math.abs(c) + 1, Math.abs(c) + 1];
          const value = compute(values[a] as number, second[1] as number);
          if (Math.abs(value) > 2 ** 40) continue;
          made.push(make(made[a] as Dim, second[0] as Dim));
          values.push(value);
        }
        made.forEach((d, i) => {
          const value = evaluateDim(d, ({ hint }) => hint);
          // -0 and 0 are one size.
          expect(value + 0).toBe((values[i] as number) + 0);
          expect(leastOf(d)).toBeLessThanOrEqual(value);
          expect(mostOf(d)).toBeGreaterThanOrEqual(value);
          expect(d instanceof DimExpr || typeof d === 'number').toBe(true);
        });
      }),
      { numRuns: 300 },
    );
  });
});

describe('expressions that share their parts', () => {
  const turns = (from: Dim, count: number): Dim => {
    let d = from;
    for (let i = 0; i < count; i++) d = minDims(maxDims(subDims(d, 1), floorDivDims(d, 2)), d);
    return d;
  };
  // With a step for each way through them these would take longer than anybody lives.
  test('are looked at once', () => {
    const local = new ShapeEnv();
    const size = local.symbol('n', 1000);
    const deep = turns(size, 100);
    expect(identicalDims(deep, turns(size, 100))).toBe(true);
    expect(keyOfDim(deep).length).toBeLessThan(40);
    expect(showDim(deep).length).toBeLessThan(400);
    expect([leastOf(deep), mostOf(deep)]).toEqual([0, Number.POSITIVE_INFINITY]);
    expect(evaluateDim(deep, ({ hint }) => hint)).toBe(900);
    expect(substituteDim(deep, () => 500)).toBe(400);
    expect(
      identicalDims(
        substituteDim(deep, () => addDims(size, 1)),
        turns(addDims(size, 1), 100),
      ),
    ).toBe(true);
    let visits = 0;
    visitSymbols(deep, () => visits++);
    expect(visits).toBeLessThan(1000);
    expect([isLate(deep), isMadeUp(deep as DimExpr)]).toEqual([false, false]);
    expect(equalDims(deep, 900)).toBe(true);
    expect(local.guards.every((guard) => holdsFor(guard, () => 1000))).toBe(true);
  });

  test('functions of sizes are told by the sizes they are of', () => {
    const half = (d: Dim): Dim =>
      computedDim('half', [d, addDims(d, 1)], (a, b) => Math.floor((a + b) / 3), 0);
    let deep: Dim = n;
    for (let i = 0; i < 60; i++) deep = half(deep);
    expect(evaluateDim(deep, () => 6)).toBe(1);
    expect(substituteDim(deep, () => 6)).toBe(1);
  });

  test('products of too many sums are given up', () => {
    const local = new ShapeEnv();
    const sums = Array.from({ length: 30 }, (_, i) =>
      addDims(local.symbol(`a${i}`, 1), local.symbol(`b${i}`, 1)),
    );
    expect(() => productOf(sums)).toThrow(UnimplementedError);
    // Numbers that a double does not hold.
    expect(() => productOf(Array.from({ length: 80 }, () => addDims(n, 1)))).toThrow(UnimplementedError);
  });
});

describe('questions', () => {
  const sizes = (size: number, other: number) => (symbol: { text: string }) =>
    symbol.text === 'n' ? size : other;

  test('what holds for all sizes needs no guard', () => {
    const e = new ShapeEnv();
    const a = e.symbol('n', 6);
    expect(equalDims(addDims(a, 1), addDims(1, a))).toBe(true);
    expect(equalDims(addDims(a, 1), a)).toBe(false);
    expect(atMost(a, addDims(a, 2))).toBe(true);
    expect(lessThan(a, 0)).toBe(false);
    expect(equalDims(a, -1)).toBe(false);
    expect(e.guards).toEqual([]);
  });

  test('others are answered for the call that is traced, and guarded', () => {
    const e = new ShapeEnv();
    const a = e.symbol('n', 6);
    const b = e.symbol('m', 10);
    expect(equalDims(a, b)).toBe(false);
    expect(equalDims(addDims(a, 4), b)).toBe(true);
    expect(lessThan(a, b)).toBe(true);
    expect(atMost(b, 3)).toBe(false);
    expect(equalDims(a, b)).toBe(false);
    expect(e.guards).toHaveLength(4);
    const serves = (size: number, other: number): boolean =>
      e.guards.every((guard) => holdsFor(guard, sizes(size, other)));
    expect(serves(6, 10)).toBe(true);
    expect(serves(7, 11)).toBe(true);
    expect(serves(7, 10)).toBe(false);
    expect(serves(-1, 3)).toBe(false);
  });

  test('a number that is asked for serves one size', () => {
    const e = new ShapeEnv();
    const a = e.symbol('n', 6);
    expect(knownDim(mulDims(a, 2))).toBe(12);
    expect(knownDim(5)).toBe(5);
    expect(e.guards.every((guard) => holdsFor(guard, sizes(6, 0)))).toBe(true);
    expect(e.guards.every((guard) => holdsFor(guard, sizes(7, 0)))).toBe(false);
  });
});
