import { type Backend, checkPlan, type Plan, type PlanTensor } from '@eagre/backend';
import { jsBackend } from '@eagre/backend-js';
import { nativeBackend } from '@eagre/backend-native';
import { describe, expect, it } from 'vitest';
import { counting, lines, PlanBuilder, view } from '../testing/plans.ts';
import { fuseReductions } from './reductions.ts';

const backends: readonly Backend[] = [jsBackend, ...(nativeBackend === undefined ? [] : [nativeBackend])];

function square(b: PlanBuilder, shape: readonly number[], other: readonly number[] = shape): PlanTensor {
  const x = b.input(
    'float32',
    shape,
    counting(shape).map((v) => v / 7),
  );
  const y = b.input(
    'float32',
    other,
    counting(other).map((v) => 3 - v / 5),
  );
  return b.map((s, v, w) => s.mul(s.sub(v, w), s.sub(v, w)), [x, y], undefined, 'Square');
}

/** The plan with reductions taken in, which keeps every bit of the results. */
function fused(b: PlanBuilder): Plan {
  const plan = fuseReductions(b.plan());
  checkPlan(plan);
  for (const backend of backends) expect(b.run(backend, plan)).toEqual(b.run(backend, b.plan()));
  return plan;
}

describe('fuseReductions', () => {
  it('takes in a reduction of all elements and of trailing axes, so that values vanish', () => {
    const b = new PlanBuilder();
    const all = square(b, [4, 20]);
    const rows = square(b, [3, 2, 5, 8], [2, 1, 1]);
    b.output(b.kernel('Mean', [all], 'float32', [], { axes: [0, 1] }));
    b.output(b.kernel('Max', [rows], 'float32', [3, 2, 1, 1], { axes: [2, 3] }));
    expect(lines(fused(b))).toEqual([
      '%6 float32[] = MapReduce([4,20] by 80: t0 = %0 - %1; Mean(t0 * t0))',
      '%7 float32[3,2,1,1] = MapReduce([3,2,5,8] by 40: t0 = %3 - %4; Max(t0 * t0))',
    ]);
  });

  it('writes what others read, and reduces it at once, in several ways', () => {
    const b = new PlanBuilder();
    const z = square(b, [6, 20]);
    const sum = b.kernel('Sum', [z], 'float32', [6, 1], { axes: [1] });
    const most = b.kernel('Max', [view(z, [6, 4, 5])], 'float32', [6], { axes: [1, 2] });
    b.output(
      b.map((s, v, w) => s.div(v, w), [z, sum]),
      most,
    );
    expect(lines(fused(b))).toEqual([
      '%2 float32[6,20], %3 float32[6,1], %4 float32[6] = MapReduce([6,20] by 20: t0 = %0 - %1; t1 = t0 * t0; t1, Sum(t1), Max(t1))',
      '%5 float32[6,20] = %2 / %3',
    ]);
  });

  it('lets what vanishes choose the width', () => {
    const b = new PlanBuilder();
    const x = b.input('float32', [40, 30], counting([40, 30]));
    const [y, z] = [b.tensor('float32', [40, 30]), b.tensor('float32', [40, 30])];
    const program = {
      inputs: ['float32'],
      instrs: [
        { op: 'neg', dtype: 'float32', args: [0], value: 0 },
        { op: 'sqrt', dtype: 'float32', args: [0], value: 0 },
      ],
      outputs: [1, 2],
    } as const;
    b.call(program, [x], [y, z]);
    b.output(b.kernel('Sum', [y], 'float32', [40], { axes: [1] }));
    b.output(y, b.kernel('Sum', [z], 'float32', [], { axes: [0, 1] }));
    expect(lines(fused(b))).toEqual([
      '%1 float32[40,30], %4 float32[] = MapReduce([40,30] by 1200: -%0, Sum(sqrt(%0)))',
      '%3 float32[40] = Sum(%1 float32[40,30], axes: [1])',
    ]);
  });

  it('reduces integers and bools, but leaves their mean', () => {
    const b = new PlanBuilder();
    const n = b.input('int64', [40], counting([40]));
    const twice = b.map((s, v) => s.mul(v, 2), [n]);
    const less = b.map((s, v) => s.lt(v, 99), [n]);
    b.output(b.kernel('Sum', [twice], 'int64', [], { axes: [0] }));
    b.output(b.kernel('All', [less], 'bool', [], { axes: [0] }));
    const mean = b.map((s, v) => s.mul(v, 3), [n]);
    b.output(b.kernel('Mean', [mean], 'int64', [], { axes: [0] }));
    expect(fused(b).calls.map(({ kernel }) => (typeof kernel === 'string' ? kernel : 'map'))).toEqual([
      'MapReduce',
      'MapReduce',
      'map',
      'Mean',
    ]);
  });

  it('writes a state, but over no call that reads it', () => {
    const b = new PlanBuilder();
    const total = b.state('float32', [], [5]);
    const z = square(b, [40]);
    b.call('Sum', [z], [total], { axes: [0] });
    expect(fused(b).calls).toHaveLength(1);

    const c = new PlanBuilder();
    const state = c.state('float32', [], [5]);
    const x = square(c, [40]);
    c.output(c.map((s, v) => s.neg(v), [state]));
    c.call('Sum', [x], [state], { axes: [0] });
    expect(fused(c).calls).toEqual(c.plan().calls);
  });

  const kept = (build: (b: PlanBuilder) => void): void => {
    const b = new PlanBuilder();
    build(b);
    expect(fused(b).calls).toEqual(b.plan().calls);
  };
  it('leaves leading axes, short runs, short repetition, and programs that write over their inputs', () => {
    kept((b) => b.output(b.kernel('Sum', [square(b, [20, 30])], 'float32', [30], { axes: [0] })));
    kept((b) => b.output(b.kernel('Sum', [square(b, [4, 5, 30])], 'float32', [4, 30], { axes: [1] })));
    kept((b) => b.output(b.kernel('Sum', [square(b, [90, 3])], 'float32', [90], { axes: [1] })));
    kept((b) => b.output(b.kernel('Sum', [square(b, [90, 3], [3])], 'float32', [], { axes: [0, 1] })));
    kept((b) => {
      const state = b.state('float32', [90], counting([90]));
      b.map((s, v) => s.mul(v, 2), [state], state);
      b.output(b.kernel('Sum', [state], 'float32', [], { axes: [0] }));
    });
  });
});
