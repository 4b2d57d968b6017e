import type { NumericDType, PlanTensor } from '@eagre/backend';
import { jsBackend } from '@eagre/backend-js';
import { describe, expect, it } from 'vitest';
import { optimizePlan } from './optimize.ts';
import { counting, lines, PlanBuilder } from './testing/plans.ts';

const passes = ['constants', 'movement', 'common', 'dead', 'bodies'];
const simplified = (b: PlanBuilder): string[] => lines(optimizePlan(b.plan(), { passes }));
const fill = (b: PlanBuilder, dtype: NumericDType, value: number): PlanTensor =>
  b.kernel('Fill', [], dtype, [], { value });
const below =
  (limit: number) =>
  (s: PlanBuilder, i: PlanTensor): PlanTensor =>
    s.map((t, v) => t.lt(v, limit), [i]);
const next = (s: PlanBuilder, i: PlanTensor): PlanTensor => s.map((t, v) => t.add(v, 1), [i]);

describe('simplifyWhile', () => {
  it('carries what is needed', () => {
    const b = new PlanBuilder();
    const x = b.input('float32', [2], counting([2]));
    const i = b.input('int32', [], [0]);
    // c is needed by y, z by nobody but itself.
    const [, y] = b.loop([i, x, x, x], [], below(3), (s, j, y0, c, z) => [
      next(s, j),
      s.map((t, v, w) => t.add(v, w), [y0, c]),
      s.map((t, v) => t.neg(v), [c]),
      s.map((t, v) => t.exp(v), [z]),
    ]);
    b.output(y);
    expect(simplified(b)).toEqual([
      '%2 int32[], %3 float32[2], %4 float32[2] = While(%1 int32[], %0 float32[2], %0 float32[2])',
      '  while: inputs %0, %1, %2; states none; outputs %3',
      '    %3 bool[] = %0 < 3',
      '  do: inputs %0, %1, %2; states none; outputs %3, %4, %5',
      '    %3 int32[] = %0 + 1',
      '    %4 float32[2] = %1 + %2',
      '    %5 float32[2] = -%2',
    ]);
  });

  it('sees what never changes, and makes constants of it', () => {
    const b = new PlanBuilder();
    const x = b.input('float32', [2], counting([2]));
    const i = b.input('int32', [], [0]);
    const two = b.kernel('Fill', [], 'float32', [2], { value: 2 });
    const [, y, half, same] = b.loop(
      [i, x, two, x],
      [fill(b, 'int32', 1)],
      below(3),
      (s, j, p, h, q, one) => {
        const kept = s.kernel('Copy', [s.kernel('Copy', [h], 'float32', [2])], 'float32', [2]);
        return [
          s.map((t, v, w) => t.add(v, w), [j, one]),
          s.map((t, v, w, u) => t.add(t.mul(v, w), u), [p, h, q]),
          kept,
          s.kernel('Copy', [q], 'float32', [2]),
        ];
      },
    );
    b.output(b.map((s, p, q, r) => s.add(s.mul(p, q), r), [y, half, same]));
    expect(simplified(b)).toEqual([
      '%2 int32[], %3 float32[2] = While(%1 int32[], %0 float32[2], %0 float32[2])',
      '  while: inputs %0, %1, %2; states none; outputs %3',
      '    %3 bool[] = %0 < 3',
      '  do: inputs %0, %1, %2; states none; outputs %3, %4',
      '    %3 int32[] = %0 + 1',
      '    %4 float32[2] = (%1 * 2) + %2',
      '%4 float32[2] = (%3 * 2) + %0',
    ]);
  });

  it('computes once what is the same in each turn, out of two loops too', () => {
    const b = new PlanBuilder();
    const w = b.state('float32', [2, 2], counting([2, 2]));
    const x = b.input('float32', [2, 2], counting([2, 2]));
    const i = b.input('int32', [], [0]);
    const product = { transposeA: false, transposeB: false, activation: 0 };
    const [, y] = b.loop([i, x], [x], below(3), (s, j, p, q) => {
      const [, inner] = s.loop([j, p], [q], below(5), (u, k, r, t) => {
        const weight = u.shared(s, s.shared(b, w));
        const same = u.kernel('MatMul', [weight, t], 'float32', [2, 2], product);
        return [next(u, k), u.map((f, v, g) => f.add(v, f.tanh(g)), [r, same])];
      });
      return [next(s, j), inner];
    });
    b.output(y);
    expect(simplified(b)).toEqual([
      '%5 float32[2,2] = MatMul(%0 float32[2,2], %1 float32[2,2], transposeA: false, transposeB: false, activation: 0)',
      '%3 int32[], %4 float32[2,2] = While(%2 int32[], %1 float32[2,2], %5 float32[2,2])',
      '  while: inputs %0, %1, %3; states none; outputs %2',
      '    %2 bool[] = %0 < 3',
      '  do: inputs %0, %1, %5; states none; outputs %4, %3',
      '    %2 int32[], %3 float32[2,2] = While(%0 int32[], %1 float32[2,2], %5 float32[2,2])',
      '      while: inputs %0, %1, %3; states none; outputs %2',
      '        %2 bool[] = %0 < 5',
      '      do: inputs %0, %1, %2; states none; outputs %3, %4',
      '        %3 int32[] = %0 + 1',
      '        %4 float32[2,2] = %1 + tanh(%2)',
      '    %4 int32[] = %0 + 1',
    ]);
  });

  it('leaves in the loop what might fail, what is drawn, what changes, and what is cheaper than to read', () => {
    const b = new PlanBuilder();
    const w = b.state('float32', [2], counting([2]));
    const x = b.input('float32', [4], counting([4]));
    const row = b.input('float32', [4, 1], counting([4]));
    const i = b.input('int32', [], [0]);
    const [, y, z] = b.loop([i, x, i], [x, i, row], below(3), (s, j, p, n, q, k, r) => {
      const taken = s.kernel('Gather', [q, k], 'float32', [], { axis: 0, batchDims: 0 });
      const divided = s.map((t, v) => t.div(t.constant(1, 'int32'), v), [k]);
      const weight = s.shared(b, w);
      s.map((t, v) => t.neg(v), [weight], weight);
      const sum = s.kernel('Sum', [weight], 'float32', [], { axes: [0] });
      const rate = s.drawn([]);
      const grid = s.map((t, v, u) => t.add(v, u), [q, r]);
      const most = s.kernel('Max', [s.map((t, v, u) => t.mul(v, u), [grid, p])], 'float32', [4], {
        axes: [0],
      });
      return [
        next(s, j),
        s.map((t, v, c, d, e) => t.add(v, t.add(c, t.add(d, e))), [most, taken, sum, rate]),
        s.map((t, v, u) => t.add(v, u), [n, divided]),
      ];
    });
    b.output(y, z);
    const calls = optimizePlan(b.plan(), { passes }).calls;
    expect(calls).toHaveLength(1);
    expect(calls[0].bodies?.[1].calls).toHaveLength(12);
  });

  it('carries once what is always the same', () => {
    const b = new PlanBuilder();
    const x = b.input('float32', [2], counting([2]));
    const i = b.input('int32', [], [0]);
    // Both pairs are the same as long as the other is; the last one is not.
    const [, turns, p, q, r] = b.loop([i, i, x, x, x], [], below(3), (s, j, k, u, v, w) => [
      next(s, j),
      next(s, k),
      s.map((t, a, c) => t.add(a, t.cast(c, 'float32')), [u, k]),
      s.map((t, a, c) => t.add(a, t.cast(c, 'float32')), [v, j]),
      s.map((t, a, c) => t.sub(a, t.cast(c, 'float32')), [w, j]),
    ]);
    b.output(
      b.map(
        (s, v, w, u, n) => s.add(s.add(v, s.mul(w, 2)), s.add(u, s.cast(n, 'float32'))),
        [p, q, r, turns],
      ),
    );
    expect(simplified(b)).toEqual([
      '%2 int32[], %3 float32[2], %4 float32[2] = While(%1 int32[], %0 float32[2], %0 float32[2])',
      '  while: inputs %0, %1, %2; states none; outputs %3',
      '    %3 bool[] = %0 < 3',
      '  do: inputs %0, %1, %2; states none; outputs %3, %4, %5',
      '    %3 int32[] = %0 + 1',
      '    %4 float32[2] = %1 + float32(%0)',
      '    %5 float32[2] = %2 - float32(%0)',
      '%5 float32[2] = (%3 + (%3 * 2)) + (%4 + float32(%2))',
    ]);
    const plan = optimizePlan(b.plan());
    expect(b.run(jsBackend, plan)).toEqual(b.run(jsBackend, b.plan()));
  });

  it('leaves out a loop that never runs', () => {
    const b = new PlanBuilder();
    const x = b.input('float32', [2], counting([2]));
    const [, y] = b.loop([fill(b, 'int32', 3), x], [], below(3), (s, j, p) => [
      next(s, j),
      s.map((t, v) => t.exp(v), [p]),
    ]);
    b.output(b.map((s, v) => s.neg(v), [y]));
    expect(simplified(b)).toEqual(['%1 float32[2] = -%0']);
  });

  it('runs a condition that does something', () => {
    const b = new PlanBuilder();
    const count = b.state('int32', [], [0]);
    b.loop(
      [fill(b, 'int32', 3)],
      [],
      (s, i) => {
        const inner = s.shared(b, count);
        s.map((t, v) => t.add(v, 1), [inner], inner);
        return s.map((t, v) => t.lt(v, 3), [i]);
      },
      (s, i) => [next(s, i)],
    );
    expect(simplified(b)[1]).toMatch(/^%2 int32\[\], %0 int32\[\] = While/);
  });

  it('stays for the stacks and the code of the host in it', () => {
    const b = new PlanBuilder();
    const stack = b.stack();
    b.loop([fill(b, 'int32', 0)], [], below(3), (s, i) => {
      s.push(i, s.shared(b, stack));
      return [next(s, i)];
    });
    b.loop([fill(b, 'int32', 0)], [], below(3), (s, i) => {
      s.host([i], [], () => {});
      s.pop(s.shared(b, stack), 'int32', []);
      return [next(s, i)];
    });
    const plan = optimizePlan(b.plan(), { passes });
    expect(plan.calls.filter(({ kernel }) => kernel === 'While')).toHaveLength(2);
    expect(plan.states).toHaveLength(1);
  });
});
