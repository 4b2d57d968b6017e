import { describe, expect, it } from 'vitest';
import { shareCommonCalls } from './cse.ts';
import { counting, lines, PlanBuilder } from './testing/plans.ts';

describe('shareCommonCalls', () => {
  it('computes the same once, also when its inputs are the same only then', () => {
    const b = new PlanBuilder();
    const x = b.input('float32', [2, 3], counting([2, 3]));
    const twice = [0, 1].map(() =>
      b.kernel('Sum', [b.map((s, v) => s.exp(v), [x])], 'float32', [2], { axes: [1] }),
    );
    b.output(b.map((s, v, w) => s.add(v, w), twice));
    expect(lines(shareCommonCalls(b.plan()))).toEqual([
      '%1 float32[2,3] = exp(%0)',
      '%2 float32[2] = Sum(%1 float32[2,3], axes: [1])',
      '%5 float32[2] = %2 + %2',
    ]);
  });

  it('tells attributes, shapes and dtypes apart, and the two zeros', () => {
    const b = new PlanBuilder();
    const x = b.input('float32', [2, 2], counting([2, 2]));
    b.output(
      b.kernel('Sum', [x], 'float32', [2], { axes: [0] }),
      b.kernel('Sum', [x], 'float32', [2], { axes: [1] }),
      b.kernel('Fill', [], 'float32', [2], { value: 0 }),
      b.kernel('Fill', [], 'float32', [2], { value: -0 }),
      b.kernel('Fill', [], 'float64', [2], { value: 0 }),
      b.kernel('Fill', [], 'float32', [1, 2], { value: 0 }),
      b.map((s, v) => s.mul(v, 0), [x]),
      b.map((s, v) => s.mul(v, -0), [x]),
    );
    expect(shareCommonCalls(b.plan()).calls).toHaveLength(8);
  });

  it('reads a state again after it was written, and keeps outputs of the plan', () => {
    const b = new PlanBuilder();
    const state = b.state('float32', [2], [1, 2]);
    const first = b.map((s, v) => s.neg(v), [state]);
    const same = b.map((s, v) => s.neg(v), [state]);
    b.map((s, v, w) => s.add(v, w), [state, same], state);
    const other = b.map((s, v) => s.neg(v), [state]);
    b.output(first, other);
    expect(lines(shareCommonCalls(b.plan()))).toEqual([
      '%1 float32[2] = -%0',
      '%0 float32[2] = %0 + %1',
      '%3 float32[2] = -%0',
    ]);
  });

  it('draws each random number', () => {
    const b = new PlanBuilder();
    for (let i = 0; i < 2; i++) b.drawn([4]);
    expect(shareCommonCalls(b.plan()).calls).toHaveLength(4);
  });
});
