import type { Backend, PlanTensor } from '@eagre/backend';
import { jsBackend } from '@eagre/backend-js';
import { nativeBackend } from '@eagre/backend-native';
import { describe, expect, it } from 'vitest';
import { counting, lines, PlanBuilder, view } from '../testing/plans.ts';
import { fuseEpilogues } from './epilogues.ts';

const attrs = { transposeA: false, transposeB: false, activation: 0 };

function product(b: PlanBuilder): PlanTensor {
  const x = b.input('float32', [6, 4], counting([6, 4]));
  const y = b.input(
    'float32',
    [4, 3],
    counting([4, 3]).map((v) => v / 7 - 1),
  );
  return b.kernel('MatMul', [x, y], 'float32', [6, 3], attrs);
}

describe('fuseEpilogues', () => {
  it('gives bias and relu to the product, also through a reshape and for a bias made later', () => {
    const b = new PlanBuilder();
    const bias = b.state('float32', [3], [0.5, -20, 1]);
    const z = product(b);
    const shift = b.map((s, v) => s.mul(v, 2), [bias]);
    const sum = b.map((s, v, w) => s.add(w, v), [view(shift, [1, 1, 3]), view(z, [2, 3, 3])]);
    b.output(b.map((s, v) => s.max(v, 0), [sum]));
    const plan = fuseEpilogues(b.plan());
    expect(lines(plan)).toEqual([
      '%4 float32[3] = %0 * 2',
      '%6 float32[6,3] = MatMul(%1 float32[6,4], %2 float32[4,3], %4 float32[3], transposeA: false, transposeB: false, activation: 1)',
    ]);
    expect(b.run(jsBackend, plan)).toEqual(b.run(jsBackend, b.plan()));
  });

  it('gives them to convolutions', () => {
    const b = new PlanBuilder();
    const x = b.input('float32', [1, 3, 3, 2], counting([1, 3, 3, 2]));
    const filter = b.input('float32', [2, 2, 2, 3], counting([2, 2, 2, 3]));
    const bias = b.input('float32', [3], [1, 2, -900]);
    const y = b.kernel('Conv2D', [x, filter], 'float32', [1, 2, 2, 3], {
      strides: [1, 1],
      padding: [0, 0, 0, 0],
      dilations: [1, 1],
      groups: 1,
      activation: 0,
    });
    b.output(b.map((s, v) => s.max(v, 0), [b.map((s, v, w) => s.add(v, w), [y, bias])]));
    const plan = fuseEpilogues(b.plan());
    expect(plan.calls).toHaveLength(1);
    for (const backend of [jsBackend, nativeBackend ?? jsBackend])
      expect(b.run(backend, plan)).toEqual(b.run(backend, b.plan()));
  });

  const kept = (build: (b: PlanBuilder, z: PlanTensor) => void): void => {
    const b = new PlanBuilder();
    build(b, product(b));
    expect(fuseEpilogues(b.plan()).calls).toEqual(b.plan().calls);
  };
  it('leaves other sums, other maxima, and products that others read', () => {
    kept((b, z) => b.output(b.map((s, v, w) => s.add(v, w), [z, b.input('float32', [6, 1], counting([6]))])));
    kept((b, z) =>
      b.output(b.map((s, v, w) => s.add(v, w), [view(z, [18]), b.input('float32', [18], counting([18]))])),
    );
    kept((b, z) => b.output(b.map((s, v, w) => s.sub(v, w), [z, b.input('float32', [3], [1, 2, 3])])));
    kept((b, z) => b.output(b.map((s, v) => s.max(v, 1), [z])));
    kept((b, z) =>
      b.output(
        b.map((s, v) => s.max(v, 0), [z]),
        b.map((s, v) => s.neg(v), [z]),
      ),
    );
    kept((b, z) =>
      b.output(
        z,
        b.map((s, v) => s.max(v, 0), [z]),
      ),
    );
  });

  it('moves no product over a write of its input', () => {
    const b = new PlanBuilder();
    const state = b.state('float32', [2, 2], counting([2, 2]));
    const z = b.kernel('MatMul', [state, state], 'float32', [2, 2], attrs);
    b.map((s, v) => s.neg(v), [state], state);
    b.output(b.map((s, v) => s.max(v, 0), [z]));
    expect(fuseEpilogues(b.plan()).calls).toEqual(b.plan().calls);
  });

  it('writes over no bias', () => {
    const b = new PlanBuilder();
    const bias = b.state('float32', [1, 2], [1, 2]);
    const z = b.kernel(
      'MatMul',
      [bias, b.input('float32', [2, 2], counting([2, 2]))],
      'float32',
      [1, 2],
      attrs,
    );
    b.map((s, v, w) => s.add(v, w), [z, bias], bias);
    expect(fuseEpilogues(b.plan()).calls).toEqual(b.plan().calls);
  });

  it.runIf(nativeBackend !== undefined)('keeps what a NaN is', () => {
    const b = new PlanBuilder();
    const x = b.input('float32', [2, 1], [Number.NaN, -1]);
    const z = b.kernel('MatMul', [x, b.input('float32', [1, 2], [1, 2])], 'float32', [2, 2], attrs);
    b.output(b.map((s, v) => s.max(v, 0), [z]));
    for (const backend of [jsBackend, nativeBackend as Backend])
      expect([...b.run(backend, fuseEpilogues(b.plan())).outputs[0]]).toEqual([Number.NaN, Number.NaN, 0, 0]);
  });
});
