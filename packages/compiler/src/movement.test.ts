import type { PlanTensor } from '@eagre/backend';
import { describe, expect, it } from 'vitest';
import { removeDeadCalls } from './dce.ts';
import { foldMovement } from './movement.ts';
import { counting, lines, PlanBuilder, view } from './testing/plans.ts';

const transposed = (b: PlanBuilder, x: PlanTensor, perm: number[]): PlanTensor =>
  b.kernel(
    'Transpose',
    [x],
    'float32',
    perm.map((axis) => x.shape[axis]),
    { perm },
  );
const plain = { transposeA: false, transposeB: false, activation: 0 };

describe('foldMovement', () => {
  const after = (b: PlanBuilder): string[] => lines(removeDeadCalls(foldMovement(b.plan())));

  it('lets products transpose', () => {
    const b = new PlanBuilder();
    const x = b.input('float32', [2, 3, 4], counting([2, 3, 4]));
    const y = b.input('float32', [4, 5], counting([4, 5]));
    const left = transposed(b, transposed(b, x, [2, 0, 1]), [1, 2, 0]);
    const right = transposed(b, y, [1, 0]);
    b.output(b.kernel('MatMul', [left, right], 'float32', [2, 3, 5], { ...plain, transposeB: true }));
    expect(after(b)).toEqual([
      '%5 float32[2,3,5] = MatMul(%0 float32[2,3,4], %1 float32[4,5], transposeA: false, transposeB: false, activation: 0)',
    ]);
  });

  it('keeps a transpose that others read, one of other axes, and one seen under another shape', () => {
    const b = new PlanBuilder();
    const x = b.input('float32', [2, 3, 3], counting([2, 3, 3]));
    const read = transposed(b, x, [0, 2, 1]);
    const other = transposed(b, x, [1, 0, 2]);
    const seen = transposed(b, b.input('float32', [2, 3], counting([2, 3])), [1, 0]);
    b.output(
      b.kernel('MatMul', [read, read], 'float32', [2, 3, 3], plain),
      b.map((s, v) => s.neg(v), [read]),
      b.kernel('MatMul', [view(other, [2, 3, 3]), x], 'float32', [2, 3, 3], plain),
      b.kernel('MatMul', [view(seen, [2, 3]), view(seen, [3, 2])], 'float32', [2, 2], plain),
    );
    expect(foldMovement(b.plan()).calls).toEqual(b.plan().calls);
  });

  it('forwards copies and moves of axes of size 1, but not over a write of the state', () => {
    const b = new PlanBuilder();
    const state = b.state('float32', [2, 1, 3], counting([2, 1, 3]));
    const copied = b.kernel('Copy', [state], 'float32', [2, 1, 3]);
    const moved = transposed(b, copied, [1, 0, 2]);
    const early = b.map((s, v) => s.exp(v), [moved]);
    const late = b.kernel('Copy', [state], 'float32', [2, 1, 3]);
    b.map((s, v) => s.neg(v), [state], state);
    b.output(
      early,
      b.map((s, v) => s.exp(v), [late]),
    );
    expect(after(b)).toEqual([
      '%3 float32[1,2,3] = exp(%0)',
      '%4 float32[2,1,3] = Copy(%0 float32[2,1,3])',
      '%0 float32[2,1,3] = -%0',
      '%5 float32[2,1,3] = exp(%4)',
    ]);
  });

  it('reads no state later than it is written', () => {
    const b = new PlanBuilder();
    const state = b.state('float32', [3, 3], counting([3, 3]));
    const moved = transposed(b, state, [1, 0]);
    b.map((s, v) => s.neg(v), [state], state);
    b.output(b.kernel('MatMul', [moved, moved], 'float32', [3, 3], plain), transposed(b, moved, [1, 0]));
    expect(foldMovement(b.plan()).calls).toEqual(b.plan().calls);
  });

  it('turns no state in place', () => {
    const b = new PlanBuilder();
    const state = b.state('float32', [3, 3], counting([3, 3]));
    b.call('Transpose', [transposed(b, state, [1, 0])], [state], { perm: [1, 0] });
    expect(foldMovement(b.plan()).calls).toEqual(b.plan().calls);
  });
});
