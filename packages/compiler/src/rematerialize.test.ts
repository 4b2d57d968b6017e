import { type Backend, checkPlan, type Plan, type PlanTensor } from '@eagre/backend';
import { jsBackend } from '@eagre/backend-js';
import { nativeBackend } from '@eagre/backend-native';
import { describe, expect, it } from 'vitest';
import { recomputeCheapResults } from './rematerialize.ts';
import { counting, lines, PlanBuilder, view } from './testing/plans.ts';

const backends: readonly Backend[] = [jsBackend, ...(nativeBackend === undefined ? [] : [nativeBackend])];

function recomputed(b: PlanBuilder): Plan {
  const plan = recomputeCheapResults(b.plan());
  checkPlan(plan);
  for (const backend of backends) expect(b.run(backend, plan)).toEqual(b.run(backend, b.plan()));
  return plan;
}

class Rows extends PlanBuilder {
  readonly x: PlanTensor = this.input('float32', [4, 32], counting([4, 32]));
  readonly y: PlanTensor = this.input('float32', [4, 32], counting([4, 32]));
  readonly mean: PlanTensor = this.input('float32', [4, 1], counting([4]));

  /** x − mean, and something costly of it. */
  centred(): [PlanTensor, PlanTensor] {
    const [d, e] = [this.tensor('float32', [4, 32]), this.tensor('float32', [4, 32])];
    const program = {
      inputs: ['float32', 'float32'],
      instrs: [
        { op: 'sub', dtype: 'float32', args: [0, 1], value: 0 },
        { op: 'exp', dtype: 'float32', args: [2], value: 0 },
      ],
      outputs: [2, 3],
    } as const;
    this.call(program, [this.x, this.mean], [d, e], {}, 'Centred');
    return [d, e];
  }
}

describe('recomputeCheapResults', () => {
  it('computes over fewer axes than a number that is repeated has', () => {
    const b = new PlanBuilder();
    const x = b.input('float32', [24], counting([24]));
    const number = b.input('float32', [1, 1], [3]);
    const double = b.map((s, v) => s.mul(v, 2), [x]);
    b.output(b.map((s, v, w) => s.add(v, w), [double, number]));
    expect(recomputed(b).calls).toHaveLength(1);
  });

  it('computes a cheap result of a program in its readers, also those of another shape', () => {
    const b = new Rows();
    const [d, e] = b.centred();
    const sum = b.kernel('Sum', [e], 'float32', [4, 1], { axes: [1] });
    const scaled = b.map((s, v, w) => s.mul(v, w), [d, sum]);
    const flat = b.map((s, v) => s.sin(v), [view(d, [128])]);
    b.output(scaled, flat);
    expect(lines(recomputed(b))).toEqual([
      '%4 float32[4,32] = exp(%0 - %2)',
      '%5 float32[4,1] = Sum(%4 float32[4,32], axes: [1])',
      '%6 float32[4,32] = (%0 - %2) * %5',
      '%7 float32[4,32] = sin(%0 - %2)',
    ]);
  });

  it('drops a program of which nothing is left, and keeps what is reduced', () => {
    const b = new Rows();
    const d = b.map((s, v, w) => s.sub(v, w), [b.x, b.mean]);
    const c = b.map((s, v, w) => s.div(v, w), [b.x, b.mean]);
    const sum = b.kernel('Sum', [d], 'float32', [4, 1], { axes: [1] });
    b.output(
      b.map((s, v, w) => s.mul(v, w), [c, sum]),
      b.map((s, v, w) => s.mul(v, w), [d, sum]),
    );
    expect(lines(recomputed(b))).toEqual([
      '%3 float32[4,32] = %0 - %2',
      '%5 float32[4,1] = Sum(%3 float32[4,32], axes: [1])',
      '%6 float32[4,32] = (%0 / %2) * %5',
      '%7 float32[4,32] = (%0 - %2) * %5',
    ]);
  });

  const kept = (build: (b: Rows) => void): void => {
    const b = new Rows();
    build(b);
    expect(recomputed(b).calls).toEqual(b.plan().calls);
  };
  it('leaves what is costly, of two large inputs, of wider elements, or read by other kernels', () => {
    kept((b) => {
      const e = b.map((s, v) => s.exp(v), [b.x]);
      b.output(b.map((s, v, w) => s.mul(v, w), [e, b.y]));
    });
    kept((b) => {
      const d = b.map((s, v, w) => s.sub(v, w), [b.x, b.y]);
      b.output(b.map((s, v) => s.sin(v), [d]));
    });
    kept((b) => {
      const positive = b.map((s, v) => s.gt(v, 0), [b.x]);
      b.output(b.map((s, v, w) => s.select(v, w, 0), [positive, b.y]));
    });
    kept((b) => {
      const d = b.map((s, v) => s.neg(v), [b.x]);
      b.output(b.kernel('Transpose', [d], 'float32', [32, 4], { perm: [1, 0] }));
      b.output(b.map((s, v, w) => s.mul(v, w), [d, b.y]));
    });
    kept((b) => {
      const d = b.map((s, v) => s.neg(v), [b.x]);
      b.output(b.kernel('Sum', [d], 'float32', [32], { axes: [0] }));
      b.output(b.map((s, v, w) => s.mul(v, w), [d, b.y]));
    });
    kept((b) => {
      const d = b.map((s, v) => s.neg(v), [b.x]);
      b.output(
        d,
        b.map((s, v, w) => s.mul(v, w), [d, b.y]),
      );
    });
  });

  it('leaves what is made of a state that changes before it is read, or by who reads it', () => {
    kept((b) => {
      const state = b.state('float32', [4, 32], counting([4, 32]));
      const d = b.map((s, v, w) => s.sub(v, w), [state, b.mean]);
      b.call('Copy', [b.y], [state]);
      b.output(b.map((s, v, w) => s.mul(v, w), [d, b.y]));
    });
    kept((b) => {
      const state = b.state('float32', [4, 32], counting([4, 32]));
      const d = b.map((s, v) => s.mul(v, 2), [state]);
      b.map((s, v, w) => s.add(v, w), [d, b.y], state);
    });
  });
});
