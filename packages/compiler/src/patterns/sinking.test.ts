import type { PlanTensor } from '@eagre/backend';
import { jsBackend } from '@eagre/backend-js';
import { describe, expect, it } from 'vitest';
import { optimizePlan } from '../optimize.ts';
import { counting, lines, PlanBuilder } from '../testing/plans.ts';
import { sinkSums } from './sinking.ts';

const zeros = (b: PlanBuilder): PlanTensor => b.kernel('Fill', [], 'float32', [3, 2], { value: 0 });
const sum = (b: PlanBuilder, x: PlanTensor, y: PlanTensor): PlanTensor =>
  b.map((s, v, w) => s.add(v, w), [x, y]);
const grad = (b: PlanBuilder, row: PlanTensor, index: PlanTensor): PlanTensor =>
  b.kernel('GatherGrad', [row, index], 'float32', [3, 2], { axis: 0, batchDims: 0 });

/** A sum with what a branch gives: zeros, or a row of them. */
const inBranch = (flag: number): PlanBuilder => {
  const b = new PlanBuilder();
  const acc = b.input('float32', [3, 2], counting([3, 2]));
  const c = b.input('bool', [], [flag]);
  const row = b.input('float32', [2], [10, 20]);
  const index = b.input('int32', [], [1]);
  const [y] = b.branch(c, [row, index], [(s, x, i) => [grad(s, x, i)], (s) => [zeros(s)]]);
  b.output(sum(b, acc, y));
  return b;
};

/** A sum with what a loop adds up, once for each of three rows. */
const inLoop = (start: number): PlanBuilder => {
  const b = new PlanBuilder();
  const acc = b.input('float32', [3, 2], counting([3, 2]));
  const row = b.input('float32', [2], [10, 20]);
  const i = b.kernel('Fill', [], 'int32', [], { value: 0 });
  const seed = b.kernel('Fill', [], 'float32', [3, 2], { value: start });
  const [, y] = b.loop(
    [i, seed],
    [row],
    (s, j) => s.map((t, v) => t.lt(v, 3), [j]),
    (s, j, all, x) => [s.map((t, v) => t.add(v, 1), [j]), sum(s, all, grad(s, x, j))],
  );
  b.output(sum(b, acc, y));
  return b;
};

describe('sinkSums', () => {
  it('adds in the branch that gives rows, and copies in the one that gives zeros', () => {
    for (const flag of [0, 1]) {
      const b = inBranch(flag);
      const plan = optimizePlan(sinkSums(b.plan()));
      expect(lines(plan)).toEqual([
        '%4 float32[3,2] = Case(%1 bool[], %2 float32[2], %3 int32[], %0 float32[3,2])',
        '  true: inputs %0, %1, %2; states none; outputs %3',
        '    %3 float32[3,2] = SetRow(%2 float32[3,2], %1 int32[], %0 float32[2], mode: 1)',
        '  false: inputs %0, %1, %2; states none; outputs %3',
        '    %3 float32[3,2] = Copy(%2 float32[3,2])',
      ]);
      expect(b.run(jsBackend, plan)).toEqual(b.run(jsBackend, b.plan()));
    }
  });

  it('starts a loop that adds up from zeros with what its sum is added to', () => {
    const b = inLoop(0);
    const plan = sinkSums(b.plan());
    expect(lines(plan)).toContain(
      '%4 int32[], %6 float32[3,2] = While(%2 int32[], %0 float32[3,2], %1 float32[2])',
    );
    expect(plan.calls.at(-1)?.kernel).toBe('While');
    expect([...b.run(jsBackend, plan).outputs[0]]).toEqual([11, 22, 13, 24, 15, 26]);
  });

  it('finds loops in loops and branches', () => {
    const b = new PlanBuilder();
    const row = b.input('float32', [2], [10, 20]);
    const i = b.kernel('Fill', [], 'int32', [], { value: 0 });
    const below = (s: PlanBuilder, j: PlanTensor): PlanTensor => s.map((t, v) => t.lt(v, 3), [j]);
    const next = (s: PlanBuilder, j: PlanTensor): PlanTensor => s.map((t, v) => t.add(v, 1), [j]);
    const [, y] = b.loop([i, zeros(b)], [row], below, (s, j, all, x) => {
      const start = s.kernel('Fill', [], 'int32', [], { value: 0 });
      const [, made] = s.loop([start, zeros(s)], [x, j], below, (u, k, inner, z, outer) => {
        const even = u.map((t, v, w) => t.eq(t.mod(t.add(v, w), 2), 0), [k, outer]);
        const [g] = u.branch(even, [z, k], [(v, r, n) => [grad(v, r, n)], (v) => [zeros(v)]]);
        return [next(u, k), sum(u, g, inner)];
      });
      return [next(s, j), sum(s, all, made)];
    });
    b.output(y);
    const plan = optimizePlan(b.plan());
    const all = lines(plan);
    // Zeros once, and rows.
    expect(all.filter((line) => /float32\[3,2\] = Fill/.test(line))).toHaveLength(1);
    expect(all.filter((line) => /float32\[3,2\] = (?!Fill|Copy|SetRow|Case|While)/.test(line))).toEqual([]);
    expect(all.filter((line) => line.includes('SetRow'))).toHaveLength(1);
    expect(b.run(jsBackend, plan)).toEqual(b.run(jsBackend, b.plan()));
  });

  it('leaves sums with what others read, with loops that start elsewhere, and with branches that give no rows', () => {
    const kept = (b: PlanBuilder): void => expect(sinkSums(b.plan())).toEqual(b.plan());
    kept(inLoop(1));
    const b = new PlanBuilder();
    const acc = b.input('float32', [3, 2], counting([3, 2]));
    const c = b.input('bool', [], [1]);
    const [y] = b.branch(c, [acc], [(s, x) => [s.map((t, v) => t.exp(v), [x])], (s, x) => [sum(s, x, x)]]);
    b.output(sum(b, acc, y));
    kept(b);
    const read = inBranch(1);
    const more = read.plan();
    const place = more.calls[0].outputs[0].value;
    expect(sinkSums({ ...more, outputs: [...more.outputs, place] }).calls).toEqual(more.calls);
  });
});
