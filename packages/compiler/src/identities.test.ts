import type { NumericDType, PlanTensor } from '@eagre/backend';
import { jsBackend } from '@eagre/backend-js';
import { nativeBackend } from '@eagre/backend-native';
import { describe, expect, it } from 'vitest';
import { foldConstants } from './constants.ts';
import { kernelRules } from './identities.ts';
import { lines, PlanBuilder, sizeOf } from './testing/plans.ts';

const specials = [0, -0, Number.NaN, 1.5, -2.25, Number.POSITIVE_INFINITY, -Infinity, 1e-45, 3e38];

type Build = (b: PlanBuilder, x: (shape: readonly number[]) => PlanTensor) => PlanTensor;

/** What calls a plan is left with, in short, after its results were compared. */
function folded(build: Build, dtype: NumericDType = 'float32'): string[] {
  const b = new PlanBuilder();
  const x = (shape: readonly number[]): PlanTensor => {
    const integers = dtype !== 'float32' && dtype !== 'float64';
    const elements = Array.from({ length: sizeOf(shape) }, (_, i) =>
      dtype === 'bool' ? i % 2 : integers ? (i * 7) % 5 : specials[(i * 5) % specials.length],
    );
    return b.input(dtype, shape, elements);
  };
  b.output(build(b, x));
  const plan = foldConstants(b.plan());
  for (const backend of [jsBackend, ...(nativeBackend === undefined ? [] : [nativeBackend])])
    expect(b.run(backend, plan)).toEqual(b.run(backend, b.plan()));
  return lines(plan).map((line) => line.replace(/^.* = /, '').replaceAll(/ \w+\[[\d,]*\]/g, ''));
}

const fill = (b: PlanBuilder, shape: readonly number[], value: number): PlanTensor =>
  b.kernel('Fill', [], 'float32', shape, { value });

describe('kernelRules', () => {
  it('moves nothing where all stays in its place', () => {
    const whole = { begin: [0, 0], strides: [1, 1] };
    expect(folded((b, x) => b.kernel('Slice', [x([2, 3])], 'float32', [2, 3], whole))).toEqual(['Copy(%0)']);
    expect(folded((b, x) => b.kernel('SliceGrad', [x([2, 3])], 'float32', [2, 3], whole))).toEqual([
      'Copy(%0)',
    ]);
    expect(folded((b, x) => b.kernel('Reverse', [x([1, 3])], 'float32', [1, 3], { axes: [0] }))).toEqual([
      'Copy(%0)',
    ]);
    const none = { before: [0, 0], after: [0, 0], mode: 1, value: 0 };
    expect(folded((b, x) => b.kernel('Pad', [x([2, 3])], 'float32', [2, 3], none))).toEqual(['Copy(%0)']);
    expect(folded((b, x) => b.kernel('Concat', [x([2, 3])], 'float32', [2, 3], { axis: 0 }))).toEqual([
      'Copy(%0)',
    ]);
    expect(folded((b, x) => b.kernel('Tile', [x([2, 3])], 'float32', [2, 3]))).toEqual(['Copy(%0)']);
  });

  it('moves once', () => {
    const slices: Build = (b, x) => {
      const once = b.kernel('Slice', [x([9, 4])], 'float32', [4, 3], { begin: [7, 1], strides: [-2, 1] });
      return b.kernel('Slice', [once], 'float32', [2, 2], { begin: [0, 1], strides: [2, 1] });
    };
    expect(folded(slices)[1]).toBe('Slice(%0, begin: [7,2], strides: [-4,1])');
    const reversals =
      (first: number[], second: number[]): Build =>
      (b, x) =>
        b.kernel(
          'Reverse',
          [b.kernel('Reverse', [x([2, 3, 4])], 'float32', [2, 3, 4], { axes: first })],
          'float32',
          [2, 3, 4],
          {
            axes: second,
          },
        );
    expect(folded(reversals([0, 2], [1, 2]))[1]).toBe('Reverse(%0, axes: [0,1])');
    expect(folded(reversals([0, 2], [0, 2]))[1]).toBe('Copy(%0)');
    expect(
      folded((b, x) =>
        b.kernel('Tile', [b.kernel('Tile', [x([2, 1])], 'float32', [4, 3])], 'float32', [8, 3]),
      )[1],
    ).toBe('Tile(%0)');
    expect(
      folded((b, x) => b.kernel('Concat', [x([0, 3]), x([2, 3]), x([0, 3])], 'float32', [2, 3], { axis: 0 })),
    ).toEqual(['Copy(%1)']);
    expect(
      folded((b, x) => b.kernel('Concat', [x([1, 3]), x([0, 3]), x([2, 3])], 'float32', [3, 3], { axis: 0 })),
    ).toEqual(['Concat(%0, %2, axis: 0)']);
  });

  it.each([
    ['float16', 0x3e00],
    ['bfloat16', 0x3fc0],
  ] as const)('adds one element of %s to 0 in float32, as programs must', (dtype, bits) => {
    const b = new PlanBuilder();
    const x = b.input(dtype, [2, 1], [bits, 0x8000]);
    b.output(b.kernel('Sum', [x], dtype, [2], { axes: [1] }));
    const plan = foldConstants(b.plan());
    for (const backend of [jsBackend, ...(nativeBackend === undefined ? [] : [nativeBackend])])
      expect(b.run(backend, plan).outputs).toEqual([Uint16Array.of(bits, 0)]);
  });

  it('reduces one element to itself, but −0 to a sum of 0', () => {
    for (const kernel of ['Prod', 'Max', 'Min'] as const) {
      expect(folded((b, x) => b.kernel(kernel, [x([9, 1])], 'float32', [9], { axes: [1] }))).toEqual([
        'Copy(%0)',
      ]);
    }
    for (const kernel of ['Sum', 'Mean'] as const) {
      for (const dtype of ['float32', 'float64'] as const) {
        expect(folded((b, x) => b.kernel(kernel, [x([9, 1])], dtype, [9, 1], { axes: [1] }), dtype)).toEqual([
          '%0 + 0',
        ]);
      }
    }
    expect(folded((b, x) => b.kernel('Sum', [x([9, 1])], 'int32', [9], { axes: [1] }), 'int32')).toEqual([
      'Copy(%0)',
    ]);
    const scan = { axis: 1, exclusive: false, reverse: true };
    expect(folded((b, x) => b.kernel('CumProd', [x([9, 1])], 'float32', [9, 1], scan))).toEqual(['Copy(%0)']);
    expect(folded((b, x) => b.kernel('CumSum', [x([9, 1])], 'float32', [9, 1], scan))).toEqual(['%0 + 0']);
    const exclusive = { ...scan, exclusive: true };
    expect(folded((b, x) => b.kernel('CumSum', [x([9, 1])], 'float32', [9, 1], exclusive))[0]).toMatch(
      /^CumSum/,
    );
    expect(folded((b, x) => b.kernel('ArgMax', [x([9, 1])], 'int32', [9], { axis: 1 }))).toEqual([
      'Fill(value: 0)',
    ]);
    expect(folded((b, x) => b.kernel('All', [x([2, 1])], 'bool', [2], { axes: [1] }), 'bool')).toEqual([
      'Copy(%0)',
    ]);
  });

  it('computes with constants where every order of adding is exact', () => {
    const sum = (value: number, count: number, kernel: 'Sum' | 'Mean' | 'Max' = 'Sum'): string =>
      folded((b) => b.kernel(kernel, [fill(b, [2, count], value)], 'float32', [2], { axes: [1] }))[1];
    expect(sum(1.5, 4)).toBe('Fill(value: 6)');
    expect(sum(3, 1000, 'Mean')).toBe('Fill(value: 3)');
    expect(sum(0.1, 3, 'Max')).toBe(`Fill(value: ${Math.fround(0.1)})`);
    expect(sum(0.1, 3)).toMatch(/^Sum/);
    expect(sum(Number.NaN, 3)).toMatch(/^Sum/);
    expect(sum(-0, 3)).toMatch(/^Sum/);
    expect(sum(-1, 0)).toMatch(/^Sum/);
    expect(sum(1, 0, 'Max')).toMatch(/^Max/);
  });

  it('moves constants', () => {
    const pad = (value: number, mode: number): string =>
      folded((b) =>
        b.kernel('Pad', [fill(b, [2], 3)], 'float32', [4], { before: [1], after: [1], mode, value }),
      )[1];
    expect([pad(3, 0), pad(0, 2)]).toEqual(['Fill(value: 3)', 'Fill(value: 3)']);
    expect(pad(4, 0)).toMatch(/^Pad/);
    const joined = (value: number): string =>
      folded((b) =>
        b.kernel('Concat', [fill(b, [2], 0), fill(b, [3], value)], 'float32', [5], { axis: 0 }),
      )[2];
    expect(joined(0)).toBe('Fill(value: 0)');
    expect(joined(-0)).toMatch(/^Concat/);
    const slice = { begin: [1], strides: [1] };
    expect(folded((b) => b.kernel('SliceGrad', [fill(b, [2], 0)], 'float32', [4], slice))[1]).toBe(
      'Fill(value: 0)',
    );
    expect(folded((b) => b.kernel('SliceGrad', [fill(b, [2], -0)], 'float32', [4], slice))[1]).toMatch(
      /^SliceGrad/,
    );
  });

  it('reads what programs repeat by themselves, but not over a write', () => {
    const build =
      (from: readonly number[], to: readonly number[]): Build =>
      (b, x) => {
        const tiled = b.kernel('Tile', [x(from)], 'float32', to);
        return b.map((s, v, w) => s.add(v, s.neg(w)), [tiled, x([6, 4])]);
      };
    expect(folded(build([6, 1], [6, 4]))[1]).toBe('%0 - %2');
    expect(folded(build([1, 4], [6, 4]))[1]).toBe('%0 - %2');
    expect(folded(build([3, 4], [6, 4]))[1]).toBe('%1 - %2');

    const written: Build = (b, x) => {
      const state = b.state('float32', [2, 1], [1, 2]);
      const tiled = b.kernel('Tile', [state], 'float32', [2, 2]);
      b.map((s, v) => s.mul(v, 2), [state], state);
      return b.map((s, v, w) => s.add(v, w), [tiled, x([2, 2])]);
    };
    expect(folded(written)[2]).toBe('%1 + %2');
  });

  it('leaves out a gradient of all states that is zeros', () => {
    const [batch, time, features, units] = [1, 2, 1, 2];
    const inputsLeft = (kernel: 'LSTMGrad' | 'GRUGrad', value: number): number => {
      const lstm = kernel === 'LSTMGrad';
      const states = new Array<number[]>(lstm ? 2 : 1).fill([batch, units]);
      const width = (lstm ? 4 : 3) * units;
      const weights = [
        [features, width],
        [units, width],
      ];
      const text = folded((b, x) => {
        const given = [[batch, time, features], ...states, ...weights, [batch, time, units]];
        const reserve = [batch, time, (lstm ? 6 : 4) * units];
        const inputs = [...given, reserve].map((shape) => x(shape));
        const dh = fill(b, [batch, time, units], value);
        const of = (shape: readonly number[]): PlanTensor => b.tensor('float32', shape);
        const dGates = of([batch, time, 4 * units]);
        const outputs = [...states, ...weights, [lstm ? width : 2 * width]].map(of);
        b.call(kernel, [...inputs, dh, ...states.map((shape) => x(shape))], [dGates, ...outputs]);
        return dGates;
      });
      return (text[1].match(/%/g) ?? []).length;
    };
    expect([inputsLeft('LSTMGrad', 0), inputsLeft('LSTMGrad', -0), inputsLeft('LSTMGrad', 1)]).toEqual([
      9, 10, 10,
    ]);
    expect([inputsLeft('GRUGrad', 0), inputsLeft('GRUGrad', -0)]).toEqual([7, 8]);
  });

  it('has a test here for each', () => {
    expect(kernelRules.map(([kernels, says]) => `${kernels} ${says}`)).toHaveLength(20);
  });
});
