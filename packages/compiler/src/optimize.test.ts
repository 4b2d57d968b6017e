import { InvalidArgumentError } from '@eagre/backend';
import { jsBackend } from '@eagre/backend-js';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { optimizePlan } from './optimize.ts';
import { counting, lines, PlanBuilder } from './testing/plans.ts';
import { planToString } from './text.ts';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

/** A dense layer with a running mean of its result. */
function layer(): PlanBuilder {
  const b = new PlanBuilder();
  const x = b.input('float64', [2, 3], counting([2, 3]));
  const w = b.state('float64', [4, 3], counting([4, 3]));
  const bias = b.state('float64', [4], [1, -80, 3, 4]);
  const mean = b.state('float64', [4], [0, 0, 0, 0]);
  const right = b.kernel('Transpose', [w], 'float64', [3, 4], { perm: [1, 0] });
  const attrs = { transposeA: false, transposeB: false, activation: 0 };
  const product = b.kernel('MatMul', [x, right], 'float64', [2, 4], attrs);
  const sum = b.map((s, v, u) => s.add(v, u), [product, bias], undefined, 'AddV2');
  const y = b.map((s, v) => s.max(v, 0), [sum], undefined, 'Relu');
  const now = b.kernel('Mean', [y], 'float64', [4], { axes: [0] });
  const rate = b.kernel('Fill', [], 'float64', [], { value: 0.25 });
  const difference = b.map((s, v, u) => s.sub(v, u), [now, mean], undefined, 'Sub');
  const step = b.map((s, v, u) => s.mul(v, u), [difference, rate], undefined, 'Mul');
  const next = b.map((s, v, u) => s.add(v, u), [mean, step], undefined, 'AddV2');
  b.call('Copy', [next], [mean], {}, 'Assign');
  b.output(y);
  return b;
}

describe('optimizePlan', () => {
  it('makes three calls of a layer', () => {
    const b = layer();
    const plan = optimizePlan(b.plan());
    expect(lines(plan)).toEqual([
      '%4 float64[2,4] = MatMul(%0 float64[2,3], %1 float64[4,3], %2 float64[4], transposeA: false, transposeB: true, activation: 1)',
      '%5 float64[4] = Mean(%4 float64[2,4], axes: [0])',
      '%3 float64[4] = %3 + ((%5 - %3) * 0.25)',
    ]);
    expect(plan.calls.map(({ name }) => name)).toEqual(['MatMul+AddV2+Relu', 'Mean', 'Sub+Mul+AddV2']);
    expect(b.run(jsBackend, plan)).toEqual(b.run(jsBackend, b.plan()));
  });

  it('runs the passes that are named', () => {
    expect(optimizePlan(layer().plan(), { passes: ['dead'] }).calls).toHaveLength(10);
    expect(() => optimizePlan(layer().plan(), { passes: ['magic'] })).toThrow(InvalidArgumentError);
  });

  it('writes stages to standard error', () => {
    const error = vi.spyOn(console, 'error').mockReturnValue();
    vi.stubEnv('EAGRE_GRAPH_DUMP', 'input, result');
    optimizePlan(layer().plan());
    expect(error.mock.calls.map(([text]) => String(text).split('\n')[0])).toEqual([
      '--- plan: input',
      '--- plan: result',
    ]);
    vi.stubEnv('EAGRE_GRAPH_DUMP', '1');
    optimizePlan(layer().plan());
    expect(error.mock.calls.length).toBeGreaterThan(10);
  });
});

describe('planToString', () => {
  it('shows calls and totals', () => {
    const b = new PlanBuilder();
    const x = b.input('float32', [2, 2], counting([2, 2]));
    const y = b.map(
      (s, v) =>
        s.mul(s.select(s.lt(v, 2), s.sub(s.neg(v), -0), s.cast(s.cast(v, 'int32'), 'float32')), s.pow(v, 2)),
      [x],
    );
    b.output(b.kernel('Sum', [y], 'float32', [2], { axes: [1] }));
    expect(planToString(b.plan())).toBe(
      [
        'inputs %0; states none; outputs %2',
        '%1 float32[2,2] = ((%0 < 2) ? (-%0 - -0) : float32(int32(%0))) * (%0 ** 2)  (%0 float32[2,2])  # map',
        '%2 float32[2] = Sum(%1 float32[2,2], axes: [1])  # Sum',
        '2 calls, 16 bytes of temporaries',
      ].join('\n'),
    );
  });

  it('shows bodies, with what is a state or stack of the plan around them', () => {
    const b = new PlanBuilder();
    const i = b.input('int32', [], [0]);
    const state = b.state('float32', [2], [1, 2]);
    const stack = b.stack();
    b.output(
      ...b.loop(
        [i],
        [],
        (s, n) => s.map((t, v) => t.lt(v, 3), [n]),
        (s, n) => {
          s.push(s.shared(b, state), s.shared(b, stack));
          return s.branch(
            s.kernel('Fill', [], 'int32', [], { value: 0 }),
            [n],
            [(_, m) => [_.map((t, v) => t.add(v, 1), [m])]],
          );
        },
      ),
    );
    expect(planToString(b.plan())).toBe(
      [
        'inputs %0; states %1; stacks %2; outputs %3',
        '%3 int32[], %2 uint8[0] = While(%0 int32[], %1 float32[2], %2 uint8[0])  # While',
        '  while: inputs %0; states none; outputs %1',
        '    %1 bool[] = %0 < 3  (%0 int32[])  # map',
        '  do: inputs %0; states %1=%1; stacks %2=%2; outputs %4',
        '    %2 uint8[0] = Push(%1 float32[2], %2 uint8[0])  # Push',
        '    %3 int32[] = Fill(value: 0)  # Fill',
        '    %4 int32[] = Case(%3 int32[], %0 int32[])  # Case',
        '      case 0: inputs %0; states none; outputs %1',
        '        %1 int32[] = %0 + 1  (%0 int32[])  # map',
        '1 calls and 5 in bodies, 4 bytes of temporaries',
      ].join('\n'),
    );
  });
});
