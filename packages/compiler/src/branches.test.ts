import type { PlanTensor } from '@eagre/backend';
import { describe, expect, it } from 'vitest';
import { simplifyBodies } from './bodies.ts';
import { optimizePlan } from './optimize.ts';
import { counting, lines, PlanBuilder } from './testing/plans.ts';

const simplified = (b: PlanBuilder): string[] => lines(simplifyBodies(b.plan(), (body) => body));
const constant = (b: PlanBuilder, dtype: 'bool' | 'int32', value: number): PlanTensor =>
  b.kernel('Fill', [], dtype, [], { value });

describe('simplifyCase', () => {
  it('passes on what is read, and results that are', () => {
    const b = new PlanBuilder();
    const c = b.input('bool', [], [1]);
    const x = b.input('float32', [2], counting([2]));
    const y = b.input('float32', [2], counting([2]));
    const [first] = b.branch(
      c,
      [x, y, y, x],
      [
        (s, p, q, r) => [s.map((t, v, w) => t.add(v, w), [q, r]), s.map((t, v) => t.exp(v), [p])],
        (s, _, q) => [s.map((t, v) => t.neg(v), [q]), s.kernel('Copy', [q], 'float32', [2])],
      ],
    );
    b.output(first);
    expect(simplified(b)).toEqual([
      '%3 float32[2] = Case(%0 bool[], %2 float32[2])',
      '  true: inputs %1; states none; outputs %4',
      '    %4 float32[2] = %1 + %1',
      '  false: inputs %1; states none; outputs %4',
      '    %4 float32[2] = -%1',
    ]);
  });

  it('copies what no body changes', () => {
    const b = new PlanBuilder();
    const c = b.input('bool', [], [1]);
    const x = b.input('float32', [2], counting([2]));
    const y = b.input('float32', [2], counting([2]));
    const copy = (s: PlanBuilder, t: PlanTensor): PlanTensor => s.kernel('Copy', [t], 'float32', [2]);
    b.output(
      ...b.branch(
        c,
        [x, y],
        [(s, p, q) => [copy(s, p), copy(s, q)], (s, p, q) => [copy(s, p), s.map((t, v) => t.neg(v), [q])]],
      ),
    );
    expect(simplified(b)).toEqual([
      '%3 float32[2] = Copy(%1 float32[2])',
      '%4 float32[2] = Case(%0 bool[], %2 float32[2])',
      '  true: inputs %1; states none; outputs %3',
      '    %3 float32[2] = Copy(%1 float32[2])',
      '  false: inputs %1; states none; outputs %3',
      '    %3 float32[2] = -%1',
    ]);
  });

  it('makes constants of inputs', () => {
    const b = new PlanBuilder();
    const c = b.input('int32', [], [1]);
    const half = b.kernel('Fill', [], 'float32', [2], { value: 0.5 });
    const x = b.input('float32', [2], counting([2]));
    b.output(
      ...b.branch(
        c,
        [x, half],
        [
          (s, p, h) => [s.map((t, v, w) => t.mul(v, w), [p, h])],
          (s, _, h) => [s.map((t, v) => t.sqrt(v), [h])],
        ],
      ),
    );
    expect(lines(optimizePlan(b.plan()))).toEqual([
      '%2 float32[2] = Case(%0 int32[], %1 float32[2])',
      '  case 0: inputs %0; states none; outputs %1',
      '    %1 float32[2] = %0 * 0.5',
      '  case 1: inputs %0; states none; outputs %1',
      `    %1 float32[2] = Fill(value: ${Math.fround(Math.sqrt(0.5))})`,
    ]);
  });

  it.each([
    ['bool', 1, 0],
    ['bool', 0, 1],
    ['int32', 1, 1],
    ['int32', -1, 2],
    ['int32', 7, 2],
  ] as const)('puts the calls of the body that %s %d selects in its place', (dtype, value, body) => {
    const b = new PlanBuilder();
    const count = dtype === 'bool' ? 2 : 3;
    const x = b.input('float32', [], [1]);
    b.output(
      ...b.branch(
        constant(b, dtype, value),
        [x],
        Array.from({ length: count }, (_, i) => (s: PlanBuilder, p: PlanTensor) => [
          s.map((t, v) => t.add(v, i), [s.map((t, v) => t.exp(v), [p])]),
        ]),
      ),
    );
    expect(simplified(b).slice(1)).toEqual(['%3 float32[] = exp(%0)', `%2 float32[] = %3 + ${body}`]);
  });

  it('keeps the value that an input had before the body wrote it', () => {
    const b = new PlanBuilder();
    const state = b.state('float32', [2], [1, 2]);
    b.output(
      ...b.branch(
        constant(b, 'bool', 1),
        [state],
        [
          (s, p) => {
            const inner = s.shared(b, state);
            s.map((t, v) => t.mul(v, 2), [inner], inner);
            return [s.map((t, v, w) => t.sub(v, w), [inner, p])];
          },
          (s, p) => [s.kernel('Copy', [p], 'float32', [2])],
        ],
      ),
    );
    expect(simplified(b).slice(1)).toEqual([
      '%3 float32[2] = Copy(%0 float32[2])',
      '%0 float32[2] = %0 * 2',
      '%2 float32[2] = %0 - %3',
    ]);
  });

  it('takes the draws of the body that it selects', () => {
    const b = new PlanBuilder();
    const draw = (s: PlanBuilder): PlanTensor[] => [s.drawn([2])];
    b.output(...b.branch(constant(b, 'bool', 1), [], [draw, draw]));
    expect(simplified(b).map((line) => line.replace(/\(.*/, ''))).toEqual([
      '%0 bool[] = Fill',
      '%3 uint64[2], %1 uint64[2] = NextDraw',
      '%2 float32[2] = RandomUniform',
    ]);
  });

  it('vanishes where nothing needs it, and stays for what it does', () => {
    const b = new PlanBuilder();
    const c = b.input('bool', [], [1]);
    const state = b.state('float32', [2], [1, 2]);
    const body = (s: PlanBuilder, p: PlanTensor): PlanTensor[] => [s.map((t, v) => t.exp(v), [p])];
    b.branch(c, [state], [body, body]);
    expect(optimizePlan(b.plan()).calls).toEqual([]);
    b.branch(
      c,
      [state],
      [
        (s, p) => {
          const inner = s.shared(b, state);
          s.map((t, v) => t.neg(v), [inner], inner);
          return [s.map((t, v) => t.exp(v), [p])];
        },
        body,
      ],
    );
    expect(lines(optimizePlan(b.plan()))).toEqual([
      '%1 float32[2] = Case(%0 bool[], %1 float32[2])',
      '  true: inputs none; states %0=%1; outputs none',
      '    %0 float32[2] = -%0',
      '  false: inputs none; states none; outputs none',
    ]);
  });
});
