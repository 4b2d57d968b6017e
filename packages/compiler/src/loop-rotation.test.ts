import { checkPlan, type NumericDType, type PlanTensor } from '@eagre/backend';
import { jsBackend } from '@eagre/backend-js';
import { describe, expect, it } from 'vitest';
import { carryConditions } from './loop-rotation.ts';
import { optimizePlan } from './optimize.ts';
import { counting, lines, PlanBuilder } from './testing/plans.ts';

type Condition = (s: PlanBuilder, ...inputs: readonly PlanTensor[]) => PlanTensor;

const next = (s: PlanBuilder, i: PlanTensor): PlanTensor => s.map((t, v) => t.add(v, 1), [i]);
const below: Condition = (s, i) => s.map((t, v) => t.lt(v, 3), [i]);

/** A loop that doubles x in each turn. */
function doubling(condition: Condition, from = 0): PlanBuilder {
  const b = new PlanBuilder();
  const i = b.input('int32', [], [from]);
  const x = b.input('float32', [2], counting([2]));
  const limit = b.input('int32', [], [5]);
  const [, y] = b.loop([i, x], [limit], condition, (s, j, p) => [
    next(s, j),
    s.map((t, v) => t.mul(v, 2), [p]),
  ]);
  b.output(y);
  return b;
}

describe('carryConditions', () => {
  it('computes the condition ahead of the loop, and behind all else in each turn', () => {
    const b = doubling((s, i, _, limit) => s.map((t, v, w) => t.lt(v, w), [next(s, i), limit]));
    const plan = carryConditions(b.plan());
    checkPlan(plan);
    expect(lines(plan)).toEqual([
      '%6 int32[] = %0 + 1',
      '%5 bool[] = %6 < %2',
      '%3 int32[], %4 float32[2], %7 bool[] = While(%0 int32[], %1 float32[2], %5 bool[], %2 int32[])',
      '  while: inputs %0, %1, %5, %2; states none; outputs %6',
      '    %6 bool[] = Copy(%5 bool[])',
      '  do: inputs %0, %1, %5, %2; states none; outputs %3, %4, %6',
      '    %3 int32[] = %0 + 1',
      '    %4 float32[2] = %1 * 2',
      '    %7 int32[] = %3 + 1',
      '    %6 bool[] = %7 < %2',
    ]);
    expect(b.run(jsBackend, plan).outputs).toEqual([new Float32Array([16, 32])]);
    expect(carryConditions(plan)).toEqual(plan);
  });

  it('runs a loop no time, or as often as its condition says', () => {
    for (const from of [-1, 2, 3, 4]) {
      const b = doubling(below, from);
      const plan = optimizePlan(b.plan());
      expect(plan.calls).toHaveLength(2);
      expect(b.run(jsBackend, plan)).toEqual(b.run(jsBackend, b.plan()));
    }
  });

  it('sees what a loop within a loop does', () => {
    const b = new PlanBuilder();
    const zero = b.kernel('Fill', [], 'int32', [], { value: 0 });
    const x = b.input('float32', [], [1]);
    const [, sum] = b.loop([zero, x], [], below, (s, i, p) => {
      const [, q] = s.loop(
        [i, p],
        [],
        (t, j) => below(t, j),
        (t, j, r) => [next(t, j), next(t, r)],
      );
      return [next(s, i), s.map((t, v) => t.mul(v, 2), [q])];
    });
    b.output(sum);
    const plan = optimizePlan(b.plan());
    const [outer] = plan.calls.filter(({ kernel }) => kernel === 'While');
    const inner = outer.bodies?.[1].calls.find(({ kernel }) => kernel === 'While');
    for (const call of [outer, inner])
      expect(call?.bodies?.[0].calls.map(({ kernel }) => kernel)).toEqual(['Copy']);
    expect(b.run(jsBackend, plan).outputs).toEqual(b.run(jsBackend, b.plan()).outputs);
  });

  it('leaves conditions that draw, call the host, touch states, or read or hold much', () => {
    const flag = (s: PlanBuilder, x: PlanTensor): PlanTensor => s.map((t, v) => t.lt(v, 0), [x]);
    const drawn: Condition = (s) => flag(s, s.drawn([]));
    const logged: Condition = (s, i) => below(s, s.logged(i));
    const long: Condition = (s, i) => {
      let j = i;
      for (let k = 0; k < 8; k++) j = next(s, j);
      return below(s, j);
    };
    const branching: Condition = (s, i) => {
      const same = (t: PlanBuilder, v: PlanTensor): PlanTensor[] => [below(t, v)];
      return s.branch(below(s, i), [i], [same, same])[0];
    };
    const passing: Condition = (s, i) => s.kernel('Copy', [below(s, i)], 'bool', []);
    for (const condition of [drawn, logged, long, branching]) {
      const plan = doubling(condition).plan();
      expect(carryConditions(plan)).toEqual(plan);
    }
    expect(carryConditions(doubling(passing).plan()).calls).toHaveLength(3);

    const b = new PlanBuilder();
    const i = b.input('int32', [], [0]);
    const much = b.input('int32', [17], counting([17]));
    const state = b.state('int32', [], [3]);
    b.output(
      ...b.loop(
        [i],
        [much],
        (s, j, m) => {
          const first = s.kernel('Sum', [m], 'int32', [], { axes: [0] });
          return s.map((t, v, w) => t.lt(v, w), [j, first]);
        },
        (s, j) => [next(s, j)],
      ),
      ...b.loop(
        [i],
        [],
        (s, j) => s.map((t, v, w) => t.lt(v, w), [j, s.shared(b, state)]),
        (s, j) => [next(s, j)],
      ),
    );
    expect(carryConditions(b.plan())).toEqual(b.plan());
  });

  it('gives the condition the next values, also where they are others carried on', () => {
    const b = new PlanBuilder();
    const carried = [3, 5, 0].map((value) => b.input('int32', [], [value]));
    const copy = (s: PlanBuilder, x: PlanTensor): PlanTensor =>
      s.kernel('Copy', [x], x.dtype as NumericDType, x.shape);
    b.output(
      ...b.loop(
        carried,
        [],
        (s, x, y, z) => s.map((t, u, v, w) => t.lt(t.add(u, w), t.mul(v, 2)), [x, y, z]),
        (s, x, y, z) => [copy(s, y), copy(s, x), s.map((t, v, w) => t.add(v, w), [z, x])],
      ),
    );
    const plan = carryConditions(b.plan());
    checkPlan(plan);
    expect(b.run(jsBackend, plan).outputs).toEqual(b.run(jsBackend, b.plan()).outputs);
  });
});
