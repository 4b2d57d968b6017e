import type { PlanTensor } from '@eagre/backend';
import { describe, expect, it } from 'vitest';
import { shareCommonCalls } from './cse.ts';
import { removeDeadCalls } from './dce.ts';
import { repeatCheapCalls } from './duplicates.ts';
import { fuseScalarCalls } from './fusion.ts';
import { foldMovement } from './movement.ts';
import { liftStates } from './nested.ts';
import { fuseEpilogues } from './patterns/epilogues.ts';
import { sinkStores } from './store-forwarding.ts';
import { type BodyCode, counting, lines, PlanBuilder } from './testing/plans.ts';

const below = (s: PlanBuilder, i: PlanTensor): PlanTensor => s.map((t, v) => t.lt(v, 3), [i]);
const next = (s: PlanBuilder, i: PlanTensor): PlanTensor => s.map((t, v) => t.add(v, 1), [i]);
const kernels = (calls: readonly { kernel: unknown }[]): unknown[] =>
  calls.map(({ kernel }) => (typeof kernel === 'string' ? kernel : 'map'));

/** A loop that doubles a state in each turn and carries x, to which it adds nothing. */
function doubling(b: PlanBuilder, state: PlanTensor, x: PlanTensor): PlanTensor {
  const i = b.kernel('Fill', [], 'int32', [], { value: 0 });
  const [, y] = b.loop([i, x], [], below, (s, j, p) => {
    const inner = s.shared(b, state);
    s.map((t, v) => t.mul(v, 2), [inner], inner);
    return [next(s, j), s.map((t, v) => t.add(v, 0), [p])];
  });
  return y;
}

describe('passes see what bodies do', () => {
  const nested: BodyCode = (s, x) => [s.map((t, v) => t.exp(v), [x])];
  const drawing: BodyCode = (s, x) => {
    const c = s.kernel('Fill', [], 'bool', [], { value: 1 });
    const inner = s.branch(c, [], [(u) => [u.drawn([2])], (u) => [u.drawn([2])]]);
    return [s.map((t, v, w) => t.add(v, w), [x, ...inner])];
  };

  it('shares no calls of bodies that draw, write, or are others', () => {
    const b = new PlanBuilder();
    const c = b.input('bool', [], [1]);
    const x = b.input('float32', [2], [1, 2]);
    for (const body of [nested, nested, drawing, drawing]) b.output(...b.branch(c, [x], [body, nested]));
    for (const body of [1, 2])
      b.output(...b.branch(c, [x], [(s, p) => [s.map((t, v) => t.mul(v, body), [p])], nested]));
    expect(shareCommonCalls(b.plan()).calls).toHaveLength(6);
  });

  it('drops calls of bodies that only compute', () => {
    const b = new PlanBuilder();
    const c = b.input('bool', [], [1]);
    const x = b.input('float32', [2], [1, 2]);
    const state = b.state('float32', [2], [1, 2]);
    b.branch(c, [x], [nested, nested]);
    b.branch(c, [x], [drawing, nested], 'drawing');
    b.branch(c, [x], [(s, p) => [s.logged(p)], nested], 'logging');
    doubling(b, state, x);
    expect(removeDeadCalls(b.plan()).calls.map(({ name }) => name)).toEqual([
      'drawing',
      'logging',
      'Fill',
      'While',
    ]);
  });

  it('gives a body the value that a state had before the body writes it', () => {
    const b = new PlanBuilder();
    const state = b.state('float32', [2], [1, 2]);
    const before = b.kernel('Copy', [state], 'float32', [2]);
    b.output(doubling(b, state, before));
    expect(kernels(foldMovement(b.plan()).calls)).toEqual(['Copy', 'Fill', 'While']);
  });

  it('writes no result to a state that a body touches, but to others', () => {
    const b = new PlanBuilder();
    const [state, other] = [b.state('float32', [2], [1, 2]), b.state('float32', [2], [1, 2])];
    const x = b.input('float32', [2], [1, 2]);
    b.call('Copy', [doubling(b, state, x)], [state]);
    b.call('Copy', [doubling(b, state, x)], [other]);
    const { calls } = sinkStores(b.plan());
    expect(kernels(calls)).toEqual(['Fill', 'While', 'Copy', 'Fill', 'While']);
    expect(calls[4].outputs.map(({ value }) => value)).toEqual([
      calls[3].outputs[0].value + 1,
      other.value,
      state.value,
    ]);
  });

  it('moves nothing over a body that writes what it reads', () => {
    const product = { transposeA: false, transposeB: false, activation: 0 };
    const build = (b: PlanBuilder): void => {
      const state = b.state('float32', [5, 5], counting([5, 5]));
      const one = b.state('float32', [1], [3]);
      const x = b.input('float32', [5, 5], counting([5, 5]));
      const y = b.kernel('MatMul', [x, state], 'float32', [5, 5], product);
      const cheap = b.map((s, v) => s.add(v, 1), [one]);
      const first = b.map((s, v) => s.exp(v), [state]);
      doubling(b, state, x);
      doubling(b, one, x);
      b.output(
        b.map((s, v) => s.max(v, 0), [y]),
        b.map((s, v, w) => s.mul(v, w), [x, cheap]),
        b.map((s, v, w) => s.add(v, w), [first, state]),
      );
    };
    for (const pass of [fuseEpilogues, repeatCheapCalls, fuseScalarCalls]) {
      const b = new PlanBuilder();
      build(b);
      expect(pass(b.plan()).calls).toEqual(b.plan().calls);
    }
  });

  it('keeps pushes and draws in turn', () => {
    const b = new PlanBuilder();
    const stack = b.stack();
    const c = b.input('bool', [], [1]);
    const x = b.drawn([2]);
    b.push(x, stack);
    const [y] = b.branch(c, [x], [drawing, drawing]);
    b.push(
      b.map((s, v) => s.neg(v), [y]),
      stack,
    );
    b.output(
      b.pop(stack, 'float32', [2]),
      b.map((s, v) => s.exp(v), [b.pop(stack, 'float32', [2])]),
    );
    const plan = fuseScalarCalls(foldMovement(shareCommonCalls(removeDeadCalls(b.plan()))));
    expect(kernels(plan.calls)).toEqual(kernels(b.plan().calls));
  });
});

describe('liftStates', () => {
  it('lists what inner bodies touch on every level, but for stacks that are theirs', () => {
    const b = new PlanBuilder();
    const c = b.input('bool', [], [1]);
    const empty: BodyCode = () => [];
    b.branch(
      c,
      [],
      [
        (s) => {
          const own = s.state('float32', [2], [1, 2]);
          const stack = s.stack();
          s.push(own, stack);
          s.call('Copy', [s.pop(stack, 'float32', [2])], [own]);
          return [];
        },
        empty,
      ],
    );
    expect(b.plan().calls[0].outputs).toEqual([]);
    expect(lines(liftStates(b.plan()))[0]).toBe('%1 float32[2] = Case(%0 bool[], %1 float32[2])');
  });
});
