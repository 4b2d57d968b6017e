import type { NumericDType, PlanTensor } from '@eagre/backend';
import { jsBackend } from '@eagre/backend-js';
import { describe, expect, it } from 'vitest';
import { optimizePlan } from './optimize.ts';
import { selectResults } from './selections.ts';
import { type BodyCode, lines, PlanBuilder } from './testing/plans.ts';

const negated: BodyCode = (s, x) => [s.map((t, v) => t.neg(v), [x])];
const kept: BodyCode = (s, x) => [s.kernel('Copy', [x], x.dtype as NumericDType, x.shape)];

/** A Case over one input whose result is the plan's. */
function branching(first: BodyCode, second: BodyCode, shape: readonly number[] = [2]): PlanBuilder {
  const b = new PlanBuilder();
  const c = b.input('bool', [], [1]);
  const x = b.input('float32', shape, [Number.NaN, -0]);
  b.output(...b.branch(c, [x], [first, second]));
  return b;
}

describe('selectResults', () => {
  it('computes both bodies and selects, with what is selected in one program', () => {
    const b = new PlanBuilder();
    const s = b.input('int32', [], [5]);
    const v = b.input('int32', [], [7]);
    const even = b.map((t, p) => t.eq(t.mod(p, 2), 0), [v]);
    b.output(
      ...b.branch(
        even,
        [s, v],
        [(t, p, q) => [t.map((u, x, y) => u.add(x, y), [p, q])], (t, p) => kept(t, p)],
      ),
    );
    expect(lines(selectResults(b.plan()))).toEqual([
      '%2 bool[] = (%1 % 2) == 0',
      '%4 int32[] = %0 + %1',
      '%5 int32[] = Copy(%0 int32[])',
      '%3 int32[] = %2 ? %4 : %5',
    ]);
    const plan = optimizePlan(b.plan());
    expect(lines(plan)).toEqual(['%2 int32[] = ((%1 & 1) == 0) ? (%0 + %1) : %0']);
    expect(b.run(jsBackend, plan).outputs).toEqual([new Int32Array([5])]);
  });

  it('keeps the bits of what is selected, whatever the other is', () => {
    const b = new PlanBuilder();
    const x = b.input('float32', [4], [Number.NaN, -0, Number.POSITIVE_INFINITY, 1]);
    for (const value of [0, 1]) {
      const c = b.state('bool', [], [value]);
      const seen = b.kernel('Copy', [c], 'bool', []);
      b.output(...b.branch(seen, [x], [negated, kept]));
    }
    const plan = selectResults(b.plan());
    expect(plan.calls.some(({ kernel }) => kernel === 'Case')).toBe(false);
    const { outputs } = b.run(jsBackend, plan);
    expect(outputs).toEqual(b.run(jsBackend, b.plan()).outputs);
    expect(Object.is(outputs[0][1], -0)).toBe(true);
  });

  it('selects branches within branches, and several results', () => {
    const b = new PlanBuilder();
    const [c, d] = [b.input('bool', [], [1]), b.input('bool', [], [0])];
    const x = b.input('float32', [], [3]);
    const inner: BodyCode = (s, p, q) => [
      ...s.branch(q, [p], [negated, kept]),
      s.kernel('Fill', [], 'float32', [], { value: 2 }),
    ];
    const outer: BodyCode = (s, p) => [...kept(s, p), ...negated(s, p)];
    b.output(...b.branch(c, [x, d], [inner, outer]));
    const plan = optimizePlan(b.plan());
    expect(plan.calls.every(({ kernel }) => typeof kernel !== 'string')).toBe(true);
    expect(b.run(jsBackend, plan).outputs).toEqual([new Float32Array([3]), new Float32Array([2])]);
  });

  it('leaves bodies that are long, large, costly or may fail', () => {
    const long: BodyCode = (s, x) => [
      s.map((t, v) => [1, 2, 3, 4, 5, 6, 7, 8, 9].reduce((sum, n) => t.add(t.mul(sum, v), n), v), [x]),
    ];
    const costly: BodyCode = (s, x) => [s.map((t, v) => t.exp(v), [x])];
    const fails: BodyCode = (s, x) => [
      s.map((t, v) => t.cast(t.div(t.constant(1, 'int32'), t.cast(v, 'int32')), 'float32'), [x]),
    ];
    const reduced: BodyCode = (s, x) => [
      s.map((t, v, w) => t.add(v, w), [x, s.kernel('Sum', [x], 'float32', [], { axes: [0] })]),
    ];
    for (const body of [long, costly, fails, reduced]) {
      const plan = branching(negated, body).plan();
      expect(selectResults(plan)).toBe(plan);
    }
    const large = branching(negated, kept, [17]).plan();
    expect(selectResults(large)).toBe(large);
    expect(selectResults(branching(negated, kept, [16]).plan()).calls).toHaveLength(3);
  });

  it('leaves bodies that draw, call the host or touch states, and selectors that are no bool', () => {
    const drawn: BodyCode = (s) => [s.drawn([2])];
    const logged: BodyCode = (s, x) => [s.logged(x)];
    for (const body of [drawn, logged]) {
      const plan = branching(kept, body).plan();
      expect(selectResults(plan)).toBe(plan);
    }
    const b = new PlanBuilder();
    const c = b.input('bool', [], [1]);
    const state = b.state('float32', [2], [1, 2]);
    const touching =
      (write: boolean): BodyCode =>
      (s) => {
        const inner = s.shared(b, state);
        if (write) s.map((t, v) => t.neg(v), [inner], inner);
        return [s.kernel('Copy', [inner], 'float32', [2])];
      };
    const other: BodyCode = (s) => [s.kernel('Fill', [], 'float32', [2], { value: 1 })];
    b.output(...b.branch(c, [], [touching(true), other]), ...b.branch(c, [], [touching(false), other]));
    const i = b.input('int32', [], [1]);
    const x: PlanTensor = b.input('float32', [2], [1, 2]);
    b.output(...b.branch(i, [x], [negated, kept]));
    const plan = b.plan();
    expect(selectResults(plan)).toBe(plan);
  });
});
