import { jsBackend } from '@eagre/backend-js';
import { describe, expect, it } from 'vitest';
import { repeatCheapCalls } from './duplicates.ts';
import { counting, lines, PlanBuilder, view } from './testing/plans.ts';

describe('repeatCheapCalls', () => {
  it('computes small things where they are read', () => {
    const b = new PlanBuilder();
    const x = b.input('float32', [4, 3], counting([4, 3]));
    const scale = b.input('float32', [3], [1, 2, 3]);
    const rate = b.input('float32', [], [0.5]);
    const factor = b.map((s, v, w) => s.mul(v, w), [scale, rate]);
    b.output(b.map((s, v, w) => s.sub(v, w), [x, view(factor, [1, 3])]));
    b.output(b.map((s, v, w) => s.add(v, w), [b.map((s, v) => s.exp(v), [x]), factor]));
    const plan = repeatCheapCalls(b.plan());
    expect(lines(plan)).toEqual([
      '%4 float32[4,3] = %0 - (%1 * %2)',
      '%5 float32[4,3] = exp(%0)',
      '%6 float32[4,3] = %5 + (%1 * %2)',
    ]);
    expect(b.run(jsBackend, plan)).toEqual(b.run(jsBackend, b.plan()));
  });

  const kept = (build: (b: PlanBuilder) => void): void => {
    const b = new PlanBuilder();
    build(b);
    expect(repeatCheapCalls(b.plan()).calls).toEqual(b.plan().calls);
  };
  it('leaves what is costly, large, read by others, or of a state that changes', () => {
    kept((b) => {
      const x = b.input('float32', [4, 3], counting([4, 3]));
      b.output(
        b.map((s, v, w) => s.add(v, w), [x, b.map((s, v) => s.exp(v), [b.input('float32', [3], [1, 2, 3])])]),
      );
    });
    kept((b) => {
      const x = b.input('float32', [300, 300], []);
      b.output(
        b.map((s, v, w) => s.add(v, w), [x, b.map((s, v) => s.neg(v), [b.input('float32', [300], [])])]),
      );
    });
    kept((b) => {
      const y = b.map((s, v) => s.neg(v), [b.input('float32', [3], [1, 2, 3])]);
      b.output(b.map((s, v, w) => s.add(v, w), [b.input('float32', [4, 3], []), y]));
      b.output(b.kernel('Sum', [y], 'float32', [], { axes: [0] }));
    });
    kept((b) => {
      const state = b.state('float32', [3], [1, 2, 3]);
      const y = b.map((s, v) => s.neg(v), [state]);
      b.map((s, v) => s.mul(v, 2), [state], state);
      b.output(b.map((s, v, w) => s.add(v, w), [b.input('float32', [4, 3], []), y]));
    });
  });

  it('leaves a result that is read under a shape in which its inputs no longer broadcast', () => {
    kept((b) => {
      const y = b.map(
        (s, v, w) => s.add(v, w),
        [b.input('float32', [2, 3], counting([2, 3])), b.input('float32', [3], [1, 2, 3])],
      );
      b.output(b.map((s, v, w) => s.add(v, w), [b.input('float32', [2, 6], []), view(y, [6])]));
    });
  });
});
