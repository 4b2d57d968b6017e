import type { Plan, PlanTensor } from '@eagre/backend';
import { describe, expect, it } from 'vitest';
import { compactValues } from './compact.ts';
import { removeDeadCalls } from './dce.ts';
import { counting, lines, PlanBuilder } from './testing/plans.ts';

describe('removeDeadCalls', () => {
  it('removes what nobody reads, and what only that read', () => {
    const b = new PlanBuilder();
    const x = b.input('float32', [2], counting([2]));
    const state = b.state('float32', [2], [0, 0]);
    b.map((s, v) => s.exp(v), [b.map((s, v) => s.neg(v), [x])]);
    b.map((s, v) => s.add(v, 1), [x], state);
    const y = b.map((s, v) => s.mul(v, 2), [x]);
    b.output(y);
    expect(lines(removeDeadCalls(b.plan()))).toEqual(['%1 float32[2] = %0 + 1', '%4 float32[2] = %0 * 2']);
  });

  it("leaves an LSTM's reserve out where no gradient reads it", () => {
    const plan = (wanted: boolean): Plan => {
      const b = new PlanBuilder();
      const of = (...shape: number[]): PlanTensor => b.tensor('float32', shape);
      const inputs = [[1, 1, 2], [1, 3], [1, 3], [2, 12], [3, 12], [12]].map((shape) =>
        b.input('float32', shape, counting(shape)),
      );
      const outputs = [of(1, 1, 3), of(1, 3), of(1, 3), of(1, 1, 18)];
      b.call('LSTM', inputs, outputs);
      b.output(outputs[1]);
      if (wanted) b.output(outputs[3]);
      return removeDeadCalls(removeDeadCalls(b.plan()));
    };
    expect(plan(false).calls[0].outputs).toHaveLength(3);
    expect(plan(true).calls[0].outputs).toHaveLength(4);
  });

  it('counts a random draw that nobody reads', () => {
    const b = new PlanBuilder();
    b.drawn([1000]);
    expect(removeDeadCalls(b.plan()).calls.map(({ kernel }) => kernel)).toEqual(['NextDraw']);
  });
});

describe('compactValues', () => {
  it('numbers anew, drops states without calls, keeps inputs', () => {
    const b = new PlanBuilder();
    b.input('float32', [1], [1]);
    b.state('float32', [1], [1]);
    const x = b.input('float32', [1], [1]);
    const state = b.state('float32', [1], [1]);
    b.tensor('float32', [9]);
    b.output(b.map((s, v, w) => s.add(v, w), [x, state]));
    const plan = compactValues(b.plan());
    expect(plan.inputs).toEqual([0, 1]);
    expect(plan.states.map(({ value }) => value)).toEqual([2]);
    expect(lines(plan)).toEqual(['%3 float32[1] = %1 + %2']);
    expect(plan.bytes).toEqual([4, 4, 4, 4]);
  });
});
