import { checkPlan, type PlanTensor, scalarProgramLimits } from '@eagre/backend';
import { jsBackend } from '@eagre/backend-js';
import { describe, expect, it, vi } from 'vitest';
import { fuseScalarCalls } from './fusion.ts';
import { ProgramWriter } from './program.ts';
import { isScalarCall } from './tensors.ts';
import { counting, lines, PlanBuilder, view } from './testing/plans.ts';

function fused(b: PlanBuilder): string[] {
  const plan = fuseScalarCalls(b.plan());
  checkPlan(plan);
  expect(b.run(jsBackend, plan)).toEqual(b.run(jsBackend, b.plan()));
  return lines(plan);
}

describe('fuseScalarCalls', () => {
  it('makes one program of a chain, with outputs for what others read', () => {
    const b = new PlanBuilder();
    const x = b.input('float32', [2, 3], counting([2, 3]));
    const e = b.map((s, v) => s.exp(s.neg(v)), [x]);
    const y = b.map((s, v, w) => s.mul(v, w), [e, x]);
    const z = b.map((s, v) => s.add(v, 1), [y]);
    b.output(z, b.kernel('Sum', [e], 'float32', [], { axes: [0, 1] }));
    expect(fused(b)).toEqual([
      '%1 float32[6], %3 float32[6] = t0 = exp(-%0); t0, (t0 * %0) + 1',
      '%4 float32[] = Sum(%1 float32[2,3], axes: [0,1])',
    ]);
  });

  it('sees through reshapes, and repeats where shapes agree but for axes of size 1', () => {
    const b = new PlanBuilder();
    const x = b.input('float32', [4, 3], counting([4, 3]));
    const row = b.input('float32', [3], counting([3]));
    const y = b.map((s, v, w) => s.add(v, w), [x, row]);
    const z = b.map((s, v) => s.neg(v), [view(y, [2, 6])]);
    b.output(b.map((s, v, w) => s.mul(v, w), [view(z, [4, 1, 3]), view(row, [1, 3])]));
    expect(fused(b)).toEqual(['%4 float32[4,3] = -(%0 + %1) * %1']);
  });

  it('joins neighbours over few elements that have nothing in common, within limits', () => {
    const few = (size: number): PlanBuilder => {
      const b = new PlanBuilder();
      for (let i = 0; i < 3; i++) {
        const x = b.input('float32', [size], counting([size]));
        b.output(b.map((s, v) => s.mul(v, i + 2), [x]));
      }
      return b;
    };
    expect(fused(few(16))).toEqual([
      '%1 float32[16], %3 float32[16], %5 float32[16] = %0 * 2, %2 * 3, %4 * 4',
    ]);
    expect(fused(few(17))).toHaveLength(3);

    const b = new PlanBuilder();
    const x = b.input('int32', [], [1]);
    const [stop, y] = [b.input('int32', [], [5]), b.input('float32', [], [2])];
    const next = b.map((s, v) => s.add(v, 1), [x]);
    b.output(
      next,
      b.map((s, v, w) => s.lt(v, w), [next, stop]),
      b.map((s, v) => s.neg(v), [y]),
    );
    expect(fused(b)).toEqual(['%3 int32[], %4 bool[], %5 float32[] = t0 = %0 + 1; t0, t0 < %1, -%2']);

    const long = new PlanBuilder();
    for (let i = 0; i < 2; i++) {
      const z = long.input('float32', [], [1]);
      long.output(
        long.map((s, v) => Array.from({ length: 30 }).reduce((w: typeof v) => s.sin(s.add(w, v)), v), [z]),
      );
    }
    expect(fused(long)).toHaveLength(2);
  });

  it('joins no neighbours of which one needs the other by way of a third', () => {
    const b = new PlanBuilder();
    const x = b.input('float32', [3], counting([3]));
    const index = b.map((s, v) => s.cast(v, 'int32'), [b.input('float32', [], [1])]);
    const taken = b.kernel('Gather', [x, index], 'float32', [], { axis: 0, batchDims: 0 });
    b.output(b.map((s, v) => s.neg(v), [taken]));
    expect(fused(b)).toHaveLength(3);
  });

  it('does not mix shapes that inputs repeat over', () => {
    const b = new PlanBuilder();
    const x = b.input('float32', [4, 3], counting([4, 3]));
    const y = b.map((s, v, w) => s.add(v, w), [x, b.input('float32', [3], counting([3]))]);
    b.output(b.map((s, v, w) => s.mul(v, w), [view(y, [2, 6]), b.input('float32', [6], counting([6]))]));
    expect(fused(b)).toHaveLength(2);
  });

  it('joins nothing over what lies between', () => {
    const b = new PlanBuilder();
    const x = b.input('float32', [3], counting([3]));
    const e = b.map((s, v) => s.exp(v), [x]);
    const sum = b.kernel('Sum', [e], 'float32', [], { axes: [0] });
    b.output(b.map((s, v, w) => s.div(v, w), [e, sum]));
    expect(fused(b)).toHaveLength(3);
  });

  it('moves a group behind what it needs, and what needs it behind the group', () => {
    const b = new PlanBuilder();
    const x = b.input('float32', [3, 3], counting([3, 3]));
    const y = b.map((s, v) => s.neg(v), [x]);
    const after = b.kernel('Transpose', [y], 'float32', [3, 3], { perm: [1, 0] });
    const before = b.kernel('Transpose', [x], 'float32', [3, 3], { perm: [1, 0] });
    b.output(
      after,
      b.map((s, v, w) => s.add(v, w), [y, before]),
    );
    expect(fused(b)).toEqual([
      '%3 float32[3,3] = Transpose(%0 float32[3,3], perm: [1,0])',
      '%1 float32[9], %4 float32[9] = -%0, %3 - %0',
      '%2 float32[3,3] = Transpose(%1 float32[3,3], perm: [1,0])',
    ]);
  });

  it('updates states in place, with copies as outputs', () => {
    const b = new PlanBuilder();
    const state = b.state('float32', [2, 2], counting([2, 2]));
    const other = b.state('float32', [4], counting([4]));
    const x = b.input('float32', [2, 2], counting([2, 2]));
    const y = b.map((s, v, w) => s.add(v, w), [state, x]);
    b.map((s, v, w) => s.add(s.mul(v, 0.5), w), [state, y], state);
    b.call('Copy', [view(state, [4])], [other]);
    b.output(b.map((s, v, w) => s.sub(v, w), [state, x]));
    expect(fused(b)).toEqual([
      '%0 float32[4], %1 float32[4], %4 float32[4] = t0 = (%0 * 0.5) + (%0 + %2); t0, t0, t0 - %2',
    ]);
  });

  it('keeps reads of a state on their side of its writes', () => {
    const b = new PlanBuilder();
    const state = b.state('float32', [2, 2], counting([2, 2]));
    const x = b.map((s, v) => s.neg(v), [state]);
    b.call('ApplyGradientDescent', [state, x, b.number(0.5)], [state], { count: 1 });
    b.output(b.map((s, v, w) => s.add(v, w), [state, x]));
    expect(fused(b)).toHaveLength(4);
  });

  it('writes no state twice, and repeats none that it writes', () => {
    const b = new PlanBuilder();
    const state = b.state('float32', [2], [1, 2]);
    b.map((s, v) => s.neg(v), [state], state);
    b.map((s, v) => s.add(v, 1), [state], state);
    const wide = b.input('float32', [2, 2], counting([2, 2]));
    b.output(b.map((s, v, w) => s.add(v, w), [wide, state]));
    expect(fused(b)).toHaveLength(3);
  });

  it('reads what neighbours share once, and leaves copies alone', () => {
    const b = new PlanBuilder();
    const x = b.input('float32', [17], counting([17]));
    b.output(
      b.map((s, v) => s.neg(v), [x]),
      b.map((s, v) => s.exp(v), [x]),
    );
    const y = b.input('float32', [17], counting([17]));
    b.output(b.kernel('Copy', [y], 'float32', [17]), b.kernel('Copy', [y], 'float32', [17]));
    expect(fused(b)).toHaveLength(3);
  });

  it('keeps draws in turn', () => {
    const b = new PlanBuilder();
    const x = b.map((s, v) => s.neg(v), [b.drawn([3])]);
    const y = b.drawn([3]);
    b.output(b.map((s, v, w) => s.add(v, w), [x, y]));
    expect(fuseScalarCalls(b.plan()).calls.map(({ name }) => name)).toEqual([
      'NextDraw',
      'RandomUniform',
      'NextDraw',
      'RandomUniform',
      'map',
    ]);
  });

  it('rather drops a value that is written than reads one less often', () => {
    const b = new PlanBuilder();
    const x = b.input('float32', [3], counting([3]));
    const y = b.map((s, v) => s.tanh(v), [x]);
    const far = b.kernel('CumSum', [y], 'float32', [3], { axis: 0, exclusive: false, reverse: false });
    const slope = b.map((s, v) => s.sub(1, s.mul(v, v)), [y]);
    b.output(
      far,
      b.map((s, v, w) => s.mul(v, w), [far, slope]),
    );
    expect(fused(b)).toEqual([
      '%1 float32[3] = tanh(%0)',
      '%2 float32[3] = CumSum(%1 float32[3], axis: 0, exclusive: false, reverse: false)',
      '%4 float32[3] = %2 * (1 - (%1 * %1))',
    ]);
  });

  it('tries to join what does not fit once, though many values lie between', () => {
    const b = new PlanBuilder();
    const x = b.input('float64', [4], counting([4]));
    const roots = Array.from({ length: 7 }, (_, i) => b.map((s, v) => s.sqrt(s.add(v, i + 1)), [x]));
    const others = Array.from({ length: 7 }, (_, i) => b.map((s, v) => s.exp(s.mul(v, i + 2)), [x]));
    b.output(...roots, ...others);
    const plan = b.plan();
    const tries = vi.spyOn(ProgramWriter.prototype, 'finish');
    const { calls } = fuseScalarCalls(plan);
    expect(calls.length).toBeGreaterThan(1);
    expect(tries.mock.calls.length).toBeLessThan(2 * plan.calls.length + 10);
    tries.mockRestore();
  });

  it('stays within the limits of programs', () => {
    const b = new PlanBuilder();
    let x: PlanTensor = b.input('float64', [4], counting([4]));
    for (let i = 0; i < 400; i++) x = b.map((s, v) => s.add(s.sqrt(v), i), [x]);
    for (let i = 0; i < 60; i++)
      x = b.map((s, v, w) => s.add(v, w), [x, b.input('float64', [4], counting([4]))]);
    for (let i = 0; i < 12; i++) b.output(b.map((s, v) => s.mul(v, i + 2), [x]));
    const plan = fuseScalarCalls(b.plan());
    expect(b.run(jsBackend, plan)).toEqual(b.run(jsBackend, b.plan()));
    for (const call of plan.calls) {
      if (!isScalarCall(call)) continue;
      expect(call.kernel.inputs.length).toBeLessThanOrEqual(scalarProgramLimits.inputs);
      expect(call.kernel.outputs.length).toBeLessThanOrEqual(scalarProgramLimits.outputs);
      expect(call.kernel.instrs.length).toBeLessThanOrEqual(scalarProgramLimits.instrs);
    }
    expect(plan.calls.length).toBeLessThan(100);
  });
});
