import type { ScalarBuilder, ScalarValue } from '@eagre/backend';
import { describe, expect, it } from 'vitest';
import { foldConstants } from './constants.ts';
import { counting, lines, PlanBuilder } from './testing/plans.ts';

describe('foldConstants', () => {
  it('puts what Fill made into the programs', () => {
    const b = new PlanBuilder();
    const x = b.input('float32', [2, 2], counting([2, 2]));
    const third = b.kernel('Fill', [], 'float32', [], { value: 1 / 3 });
    const twos = b.kernel('Fill', [], 'float32', [2], { value: 2 });
    b.map((s, v, w, u) => s.add(s.mul(v, w), u), [x, third, twos]);
    const [, , line] = lines(foldConstants(b.plan()));
    expect(line).toBe(`%3 float32[2,2] = (%0 * ${Math.fround(1 / 3)}) + 2`);
  });

  it('sees constants through kernels that move elements', () => {
    const b = new PlanBuilder();
    const x = b.input('float32', [2, 3], counting([2, 3]));
    const half = b.kernel('Fill', [], 'float32', [1], { value: 0.5 });
    const tiled = b.kernel('Tile', [half], 'float32', [3]);
    const turned = b.kernel('Reverse', [tiled], 'float32', [3], { axes: [0] });
    b.map((s, v, w) => s.mul(v, w), [x, turned]);
    expect(lines(foldConstants(b.plan())).at(-1)).toBe('%4 float32[2,3] = %0 * 0.5');
  });

  it('leaves what is no exact value of the dtype, and states', () => {
    const b = new PlanBuilder();
    const x = b.input('int64', [2], [1, 2]);
    const state = b.state('float32', [2], [1, 2]);
    b.call('Fill', [], [state], { value: 3 });
    const large = b.kernel('Fill', [], 'int64', [], { value: 2 ** 60 });
    const half = b.kernel('Fill', [], 'int64', [], { value: 0.5 });
    b.map((s, v, w, u) => s.add(s.add(v, w), u), [x, large, half]);
    b.map((s, v) => s.neg(v), [state]);
    expect(lines(foldConstants(b.plan())).slice(3)).toEqual([
      '%4 int64[2] = (%0 + %2) + %3',
      '%5 float32[2] = -%1',
    ]);
  });

  it('makes programs of constants Fill, and those of one input Copy', () => {
    const b = new PlanBuilder();
    const x = b.input('float32', [3], counting([3]));
    const two = b.kernel('Fill', [], 'float32', [3], { value: 2 });
    const six = b.map((s, v) => s.add(s.mul(v, 2), s.sqrt(s.constant(4, 'float32'))), [two]);
    const copied = b.kernel('Copy', [six], 'float32', [3]);
    b.map((s, v, w) => s.div(s.mul(v, 1), s.sub(w, 5)), [x, copied]);
    expect(lines(foldConstants(b.plan())).slice(1)).toEqual([
      '%2 float32[3] = Fill(value: 6)',
      '%3 float32[3] = Fill(value: 6)',
      '%4 float32[3] = Copy(%0 float32[3])',
    ]);
  });

  it('reads one tensor once', () => {
    const b = new PlanBuilder();
    const x = b.input('float32', [3], counting([3]));
    b.map((s, v, w) => s.add(s.exp(v), s.exp(w)), [x, x]);
    const [call] = foldConstants(b.plan()).calls;
    expect(call.inputs).toHaveLength(1);
  });

  type Unary = (s: ScalarBuilder, x: ScalarValue) => ScalarValue;
  const body = (f: Unary, dtype: 'float32' | 'int32' | 'bool' = 'float32'): string => {
    const b = new PlanBuilder();
    b.map(f, [b.input(dtype, [1], [0])]);
    return lines(foldConstants(b.plan()))[0].replace(/^.* = /, '');
  };
  const same = /^Copy/;
  it('drops operations that change no bit, and no others', () => {
    for (const f of [
      (s, x) => s.mul(x, 1),
      (s, x) => s.div(x, 1),
      (s, x) => s.sub(x, 0),
      (s, x) => s.add(x, -0),
      (s, x) => s.neg(s.neg(x)),
      (s, x) => s.cast(s.cast(x, 'float64'), 'float32'),
      (s, x) => s.select(s.lt(x, 1), x, x),
    ] satisfies Unary[])
      expect(body(f)).toMatch(same);
    expect(body((s, x) => s.add(x, 0), 'int32')).toMatch(same);
    expect(body((s, x) => s.cast(s.cast(x, 'int32'), 'bool'), 'bool')).toMatch(same);

    expect(body((s, x) => s.add(x, 0))).toBe('%0 + 0');
    expect(body((s, x) => s.sub(x, -0))).toBe('%0 - -0');
    expect(body((s, x) => s.mul(x, 0))).toBe('%0 * 0');
    expect(body((s, x) => s.sub(x, x))).toBe('%0 - %0');
    expect(body((s, x) => s.cast(s.cast(x, 'int32'), 'float32'))).toBe('float32(int32(%0))');
    expect(body((s, x) => s.cast(s.cast(x, 'float32'), 'int32'), 'int32')).toBe('int32(float32(%0))');
    // Not every backend has the same last bit of it.
    expect(body((s) => s.exp(s.constant(1, 'float32')))).toBe('exp(1)');
  });
});
