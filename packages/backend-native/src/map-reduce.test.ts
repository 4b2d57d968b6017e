import {
  type Backend,
  buildScalarProgram,
  dtypeTraits,
  encodeScalarProgram,
  hostView,
  InternalError,
  isBigArray,
  type NumberArray,
  type NumericDType,
  type ScalarProgram,
  type TensorRef,
} from '@eagre/backend';
import { jsBackend } from '@eagre/backend-js';
import { describe, expect, it } from 'vitest';
import { nativeBackend } from './index.ts';

function tensor(backend: Backend, dtype: NumericDType, shape: readonly number[]): TensorRef {
  const size = shape.reduce((a, b) => a * b, 1);
  const storage = backend.allocator.allocate(size * dtypeTraits[dtype].bytes);
  const t = { dtype, shape, size, storage };
  elements(t).forEach((_, i, all) => {
    all[i] = dtype === 'bool' ? i % 3 : ((i * 7919) % 1013) / 8;
  });
  return t;
}
const elements = ({ dtype, storage, size }: TensorRef): NumberArray => {
  const view = hostView(storage, dtype, size);
  if (isBigArray(view)) throw new InternalError('no bigints here');
  return view;
};

/** Sum, largest and full result of the program's outputs over runs of `width`. */
function run(
  backend: Backend,
  program: ScalarProgram,
  shape: readonly number[],
  inputs: readonly (readonly number[])[],
  width: number,
): number[][] {
  const runs = shape.reduce((a, b) => a * b, 1) / width;
  const outputs = [[runs], [runs, 1], shape].map((s) => tensor(backend, 'float64', s));
  const kernel = backend.kernel('MapReduce', ['float64']);
  kernel?.(
    inputs.map((s) => tensor(backend, 'float64', s)),
    outputs,
    { program: encodeScalarProgram(program), shape, width, reductions: [1, 4, 0] },
  );
  return outputs.map((output) => Array.from(elements(output)));
}

describe.runIf(nativeBackend !== undefined)('MapReduce', () => {
  const native = nativeBackend as Backend;

  it.each([
    [[0], [[0]], 1],
    [[1], [[]], 1],
    [[13, 7], [[13, 1]], 7],
    [[13, 7], [[7]], 91],
    [[3, 2, 1300], [[2, 1]], 1300],
    [[2, 40_000], [[40_000]], 40_000],
  ] as const)('is as in JavaScript for shape %j, an input of %j', (shape, others, width) => {
    // Whole numbers below 2⁵³, which add up alike in any order.
    const program = buildScalarProgram(['float64', 'float64'], (s, a, b) => {
      const z = s.sub(s.mul(a, 8), s.mul(b, 16));
      return [z, z, z];
    });
    const inputs = [shape, ...others];
    expect(run(native, program, shape, inputs, width)).toEqual(run(jsBackend, program, shape, inputs, width));
  });

  it('takes the largest programs', () => {
    const program = buildScalarProgram(['float64'], (s, a) => {
      let z = a;
      for (let i = 0; i < 85; i++) z = s.add(s.abs(z), i);
      return [z, z, z];
    });
    expect(run(native, program, [600], [[600]], 20)).toEqual(run(jsBackend, program, [600], [[600]], 20));
  });

  it('refuses what does not fit', () => {
    const program = buildScalarProgram(['float64'], (s, a) => [a, s.neg(a), a]);
    expect(() => run(native, program, [6], [[5]], 3)).toThrow(InternalError);
    expect(() => run(native, program, [6], [[6], [6]], 3)).toThrow(InternalError);
    expect(() => run(native, { ...program, outputs: [0, 9, 0] }, [6], [[6]], 3)).toThrow(InternalError);
  });
});
