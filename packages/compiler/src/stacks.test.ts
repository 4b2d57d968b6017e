import type { PlanTensor } from '@eagre/backend';
import { jsBackend } from '@eagre/backend-js';
import { describe, expect, it } from 'vitest';
import { optimizePlan } from './optimize.ts';
import { counting, PlanBuilder } from './testing/plans.ts';

/** Two loops of three turns; the first puts exp of its value on one stack and the number of the turn on another. */
function loops(
  second: (s: PlanBuilder, x: PlanTensor, exp: PlanTensor, turn: PlanTensor) => PlanTensor,
): PlanBuilder {
  const b = new PlanBuilder();
  const x = b.input('float32', [2], counting([2]));
  const zero = b.kernel('Fill', [], 'int32', [], { value: 0 });
  const [first, other] = [b.stack(), b.stack()];
  const below = (s: PlanBuilder, i: PlanTensor): PlanTensor => s.map((t, v) => t.lt(v, 3), [i]);
  const next = (s: PlanBuilder, i: PlanTensor): PlanTensor => s.map((t, v) => t.add(v, 1), [i]);
  b.loop([zero, x], [], below, (s, i, y) => {
    s.push(
      s.map((t, v) => t.exp(v), [y]),
      s.shared(b, first),
    );
    s.push(i, s.shared(b, other));
    return [next(s, i), s.map((t, v) => t.mul(v, 0.5), [y])];
  });
  const [, result] = b.loop([zero, x], [], below, (s, i, y) => {
    const exp = s.pop(s.shared(b, first), 'float32', [2]);
    const turn = s.pop(s.shared(b, other), 'int32', []);
    return [next(s, i), second(s, y, exp, turn)];
  });
  b.output(result);
  return b;
}

describe('removeDeadStacks', () => {
  it('keeps the stacks that are read', () => {
    const b = loops((s, x, exp) => s.map((t, v, w) => t.add(v, w), [x, exp]));
    const plan = optimizePlan(b.plan());
    expect(plan.states).toHaveLength(1);
    expect(b.run(jsBackend, plan)).toEqual(b.run(jsBackend, b.plan()));
  });

  it('removes a loop that only serves stacks', () => {
    const b = loops((s, x) => s.map((t, v) => t.mul(v, 3), [x]));
    const plan = optimizePlan(b.plan());
    expect(plan.states).toHaveLength(0);
    expect(plan.calls.filter(({ kernel }) => kernel === 'While')).toHaveLength(1);
    expect([...b.run(jsBackend, plan).outputs[0]]).toEqual([27, 54]);
  });
});
