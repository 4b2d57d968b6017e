import { describe, expect, it } from 'vitest';
import { sinkStores } from './store-forwarding.ts';
import { counting, lines, PlanBuilder } from './testing/plans.ts';

describe('sinkStores', () => {
  it('writes states and outputs directly', () => {
    const b = new PlanBuilder();
    const state = b.state('float32', [2], [1, 2]);
    const x = b.input('float32', [2, 2], counting([2, 2]));
    const sum = b.kernel('Sum', [x], 'float32', [2], { axes: [0] });
    const more = b.map((s, v) => s.add(v, 1), [sum]);
    b.call('Copy', [sum], [state]);
    b.output(b.kernel('Copy', [more], 'float32', [2]));
    expect(lines(sinkStores(b.plan()))).toEqual([
      '%0 float32[2] = Sum(%1 float32[2,2], axes: [0])',
      '%4 float32[2] = %0 + 1',
    ]);
  });

  it('lets a program update a state in place', () => {
    const b = new PlanBuilder();
    const state = b.state('float32', [1, 2], [1, 2]);
    const next = b.map((s, v) => s.mul(v, 2), [state]);
    b.call('Copy', [next], [state]);
    expect(lines(sinkStores(b.plan()))).toEqual(['%0 float32[1,2] = %0 * 2']);
  });

  it('lets rows of a state be set in place', () => {
    for (const kernel of ['ScatterNd', 'SetRow'] as const) {
      const b = new PlanBuilder();
      const state = b.state('float32', [3, 2], counting([3, 2]));
      const at = b.input('int32', kernel === 'SetRow' ? [] : [1, 1], [1]);
      const row = b.input('float32', [1, 2], [8, 9]);
      const next = b.kernel(kernel, [state, at, row], 'float32', [3, 2], { mode: 0 });
      b.call('Copy', [next], [state]);
      b.output(b.kernel('Sum', [next], 'float32', [2], { axes: [0] }));
      const found = lines(sinkStores(b.plan()));
      expect(found).toHaveLength(2);
      expect(found[0]).toMatch(/^%0 float32\[3,2\] = (ScatterNd|SetRow)\(%0 float32\[3,2\], /);
      expect(found[1]).toMatch(/= Sum\(%0 float32\[3,2\]/);
    }
  });

  const kept = (build: (b: PlanBuilder) => void): void => {
    const b = new PlanBuilder();
    build(b);
    expect(sinkStores(b.plan()).calls).toEqual(b.plan().calls);
  };
  it('keeps the copy while the old value is read, and while the new one outlives the state', () => {
    kept((b) => {
      const state = b.state('float32', [2], [1, 2]);
      const x = b.map((s, v) => s.mul(v, 2), [state]);
      b.output(b.map((s, v, w) => s.add(v, w), [state, x]));
      b.call('Copy', [x], [state]);
    });
    kept((b) => {
      const state = b.state('float32', [2], [1, 2]);
      const x = b.map((s, v) => s.mul(v, 2), [state]);
      b.call('Copy', [x], [state]);
      b.map((s, v) => s.neg(v), [state], state);
      b.output(b.map((s, v, w) => s.add(v, w), [state, x]));
    });
  });

  it('keeps the copy where rows of a state are set to others of it, or the old state is needed', () => {
    kept((b) => {
      const state = b.state('float32', [3], [1, 2, 3]);
      const at = b.input('int32', [3, 1], [2, 1, 0]);
      b.call('Copy', [b.kernel('ScatterNd', [state, at, state], 'float32', [3], { mode: 0 })], [state]);
    });
    kept((b) => {
      const state = b.state('float32', [3], [1, 2, 3]);
      const at = b.input('int32', [1, 1], [2]);
      const next = b.kernel('ScatterNd', [state, at, b.input('float32', [1], [4])], 'float32', [3], {
        mode: 0,
      });
      b.output(b.kernel('Sum', [state], 'float32', [], { axes: [0] }));
      b.call('Copy', [next], [state]);
    });
  });

  it('keeps the copy where the call reads the state otherwise than it writes', () => {
    kept((b) => {
      const state = b.state('float32', [2, 2], counting([2, 2]));
      b.call('Copy', [b.kernel('Transpose', [state], 'float32', [2, 2], { perm: [1, 0] })], [state]);
    });
  });
});
