import type { PlanTensor } from '@eagre/backend';
import { flattenPlan } from '@eagre/backend';
import { jsBackend } from '@eagre/backend-js';
import { describe, expect, it } from 'vitest';
import { optimizePlan } from './optimize.ts';
import { overwriteLast } from './overwrites.ts';
import { counting, PlanBuilder } from './testing/plans.ts';

const kernels = (calls: readonly { kernel: unknown }[]): unknown[] =>
  calls.map(({ kernel }) => (typeof kernel === 'string' ? kernel : 'map'));

describe('overwriteLast', () => {
  it('lets a loop write its next values over those that it carries', () => {
    const b = new PlanBuilder();
    const i = b.input('int32', [], [0]);
    const x = b.input('float32', [3, 2], counting([3, 2]));
    const results = b.loop(
      [i, x, x, b.input('float32', [2], [0, 0])],
      [],
      (s, j) => s.map((t, v) => t.lt(v, 3), [j]),
      (s, j, p, q, sum) => {
        const next = s.map((t, v) => t.add(v, 1), [j]);
        const zeros = s.kernel('Fill', [], 'float32', [2], { value: 0 });
        const cleared = s.kernel('SetRow', [p, j, zeros], 'float32', [3, 2], { mode: 0 });
        const doubled = s.map((t, v) => t.mul(v, 2), [q]);
        const row = s.kernel('Gather', [p, j], 'float32', [2], { axis: 0, batchDims: 0 });
        const all = s.kernel('Sum', [q], 'float32', [2], { axes: [0] });
        return [next, cleared, doubled, s.map((t, v, w, u) => t.add(v, t.add(w, u)), [sum, row, all])];
      },
    );
    b.output(...results.slice(1));
    const plan = optimizePlan(b.plan());
    const copies = (p: typeof plan): number =>
      flattenPlan(p).steps.filter((step) => step.kind === 'call' && step.call.kernel === 'Copy').length;
    // The first values.
    expect(copies(plan)).toBe(4);
    expect(copies(optimizePlan(b.plan(), { passes: ['constants'] }))).toBeGreaterThan(4);
    expect(b.run(jsBackend, plan)).toEqual(b.run(jsBackend, b.plan()));
  });

  const setRow = (b: PlanBuilder, x: PlanTensor, row: PlanTensor): PlanTensor =>
    b.kernel('SetRow', [x, b.kernel('Fill', [], 'int32', [], { value: 1 }), row], 'float32', [3, 2], {
      mode: 0,
    });
  const order = (build: (b: PlanBuilder, x: PlanTensor, row: PlanTensor) => void): unknown[] => {
    const b = new PlanBuilder();
    build(b, b.input('float32', [3, 2], counting([3, 2])), b.state('float32', [2], [1, 2]));
    return kernels(overwriteLast(b.plan()).calls);
  };
  it('moves over nothing that needs the result, or changes what is read', () => {
    const exp = (b: PlanBuilder, x: PlanTensor): PlanTensor => b.map((s, v) => s.exp(v), [x]);
    expect(
      order((b, x, row) => {
        b.output(setRow(b, x, row), exp(b, x));
      }),
    ).toEqual(['Fill', 'map', 'SetRow']);
    expect(
      order((b, x, row) => {
        const y = setRow(b, x, row);
        b.output(b.map((s, v, w) => s.add(v, w), [x, y]));
      }),
    ).toEqual(['Fill', 'SetRow', 'map']);
    expect(
      order((b, x, row) => {
        b.output(setRow(b, x, row));
        b.map((s, v) => s.neg(v), [row], row);
        b.output(exp(b, x));
      }),
    ).toEqual(['Fill', 'SetRow', 'map', 'map']);
  });
});
