import type { PlanTensor } from '@eagre/backend';
import { jsBackend } from '@eagre/backend-js';
import { describe, expect, it } from 'vitest';
import { optimizePlan, planPasses } from '../optimize.ts';
import { counting, lines, PlanBuilder } from '../testing/plans.ts';
import { addRowsInPlace } from './accumulation.ts';

const row = (b: PlanBuilder, index: PlanTensor, x: PlanTensor, zero = 0): PlanTensor => {
  const zeros = b.kernel('Fill', [], 'float32', [3, 2], { value: zero });
  return b.kernel('SetRow', [zeros, index, x], 'float32', [3, 2], { mode: 1 });
};

describe('addRowsInPlace', () => {
  it('adds a row to what it was added to, several only in bodies', () => {
    const b = new PlanBuilder();
    const acc = b.input('float32', [6], counting([6]));
    const x = b.input('float32', [2], [10, 20]);
    const index = b.input('int32', [], [1]);
    b.output(b.map((s, v, w) => s.add(v, w), [{ ...row(b, index, x), shape: [6] }, acc]));
    const plan = addRowsInPlace(b.plan(), true);
    expect(lines(plan)[1]).toBe(
      '%5 float32[3,2] = SetRow(%0 float32[3,2], %2 int32[], %1 float32[2], mode: 1)',
    );
    expect(b.run(jsBackend, plan)).toEqual(b.run(jsBackend, b.plan()));
    expect(addRowsInPlace(b.plan(), false)).toEqual(plan);
    const rows = new PlanBuilder();
    const [base, many] = [
      [3, 2],
      [2, 2],
    ].map((shape) => rows.input('float32', shape, counting(shape)));
    const twice = rows.input('int32', [2], [2, 2]);
    const grad = rows.kernel('GatherGrad', [many as PlanTensor, twice], 'float32', [3, 2], {
      axis: 0,
      batchDims: 0,
    });
    rows.output(rows.map((s, v, w) => s.add(v, w), [base as PlanTensor, grad]));
    expect(addRowsInPlace(rows.plan(), false).calls).toEqual(rows.plan().calls);
    expect(addRowsInPlace(rows.plan(), true).calls).toHaveLength(1);
  });

  it('does so in a loop, for the gradient of a row that was taken out too', () => {
    const b = new PlanBuilder();
    const x = b.input('float32', [3, 2], counting([3, 2]));
    const i = b.kernel('Fill', [], 'int32', [], { value: 0 });
    const zeros = b.kernel('Fill', [], 'float32', [3, 2], { value: 0 });
    const [, sum] = b.loop(
      [i, zeros],
      [x],
      (s, j) => s.map((t, v) => t.lt(v, 3), [j]),
      (s, j, acc, from) => {
        const taken = s.kernel('Gather', [from, j], 'float32', [2], { axis: 0, batchDims: 0 });
        const squared = s.map((t, v) => t.mul(v, v), [taken]);
        const grad = s.kernel('GatherGrad', [squared, j], 'float32', [3, 2], { axis: 0, batchDims: 0 });
        return [s.map((t, v) => t.add(v, 1), [j]), s.map((t, v, w) => t.add(v, w), [acc, grad])];
      },
    );
    b.output(sum);
    const plan = optimizePlan(b.plan(), { passes: planPasses.filter((name) => name !== 'inversion') });
    const [kernels] = plan.calls.flatMap(({ bodies }) => bodies?.slice(1) ?? []);
    expect(kernels.calls.map(({ kernel }) => (typeof kernel === 'string' ? kernel : 'map'))).toEqual([
      'Gather',
      'map',
      'SetRow',
      'map',
    ]);
    expect([...b.run(jsBackend, plan).outputs[0]]).toEqual([1, 4, 9, 16, 25, 36]);
  });

  it('adds several rows, one call after the other', () => {
    const b = new PlanBuilder();
    const acc = b.input('float32', [3, 2], counting([3, 2]));
    const x = b.input('float32', [2], [10, 20]);
    const xs = b.input('float32', [2, 2], [1, 2, 4, 8]);
    const index = b.input('int32', [], [1]);
    const indices = b.input('int32', [2], [2, 2]);
    const grads = [
      b.kernel('GatherGrad', [x, index], 'float32', [3, 2], { axis: 0, batchDims: 0 }),
      b.kernel('GatherGrad', [xs, indices], 'float32', [3, 2], { axis: 0, batchDims: 0 }),
    ];
    const y = b.map((s, v, w) => s.add(v, w), grads);
    b.output(b.map((s, v, w) => s.add(v, w), [acc, y]));
    const plan = addRowsInPlace(b.plan(), true);
    expect(lines(plan)).toEqual([
      '%9 float32[3,2] = ScatterNd(%0 float32[3,2], %4 int32[2,1], %2 float32[2,2], mode: 1)',
      '%8 float32[3,2] = SetRow(%9 float32[3,2], %3 int32[], %1 float32[2], mode: 1)',
    ]);
    expect([...b.run(jsBackend, plan).outputs[0]]).toEqual([1, 2, 13, 24, 10, 16]);
    expect(b.run(jsBackend, plan)).toEqual(b.run(jsBackend, b.plan()));
  });

  const kept = (build: (b: PlanBuilder, index: PlanTensor, x: PlanTensor, acc: PlanTensor) => void): void => {
    const b = new PlanBuilder();
    const state = b.state('float32', [3, 2], counting([3, 2]));
    build(b, b.input('int32', [], [1]), b.input('float32', [2], [10, 20]), state);
    expect(addRowsInPlace(b.plan(), true).calls).toEqual(b.plan().calls);
  };
  it('leaves sums with what others read, repeats, is no row, or changes before', () => {
    kept((b, index, x, acc) => {
      const y = row(b, index, x);
      b.output(
        b.map((s, v, w) => s.add(v, w), [acc, y]),
        b.map((s, v) => s.exp(v), [y]),
      );
    });
    kept((b, index, x) => b.output(b.map((s, v, w) => s.add(v, w), [x, row(b, index, x)])));
    kept((b, index, x, acc) => b.output(b.map((s, v, w) => s.add(v, w), [acc, row(b, index, x, 1)])));
    kept((b, index, x, acc) => b.output(b.map((s, v, w) => s.sub(v, w), [acc, row(b, index, x)])));
    kept((b, index, x, acc) => {
      const other = b.state('float32', [2], [1, 2]);
      const y = row(b, index, other);
      b.map((s, v) => s.neg(v), [x], other);
      b.output(b.map((s, v, w) => s.add(v, w), [acc, y]));
    });
  });

  it('updates a state where it is', () => {
    const b = new PlanBuilder();
    const state = b.state('float32', [3, 2], counting([3, 2]));
    const y = row(b, b.input('int32', [], [2]), b.input('float32', [2], [10, 20]));
    b.map((s, v, w) => s.add(v, w), [state, y], state);
    const plan = optimizePlan(b.plan());
    expect(lines(plan)).toEqual([
      '%0 float32[3,2] = SetRow(%0 float32[3,2], %1 int32[], %2 float32[2], mode: 1)',
    ]);
    expect([...b.run(jsBackend, plan).states[0]]).toEqual([1, 2, 3, 4, 15, 26]);
  });
});
