import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { castsDirectly, dtypeTraits, holdsEvery, numericDTypes, typedView } from './dtype.ts';
import { dtypesTaken, kernelAttrs, takes } from './kernels.ts';
import { buildScalarProgram, encodeScalarProgram } from './program/scalar.ts';

describe('the table of dtypes', () => {
  it('has printed the header of native code, and what files say of dtypes', () => {
    const script = fileURLToPath(new URL('../../../tools/print-dtypes.mjs', import.meta.url));
    execFileSync(process.execPath, [script, '--check']);
  });

  it('has arrays of its sizes, and codes that tell dtypes apart in one hexadecimal digit', () => {
    for (const dtype of numericDTypes) {
      const { array, bytes, code } = dtypeTraits[dtype];
      expect(new array(1).byteLength).toBe(bytes);
      expect(numericDTypes[code]).toBe(dtype);
    }
    expect(Object.values(dtypeTraits).every(({ code }) => code < 16)).toBe(true);
    expect(() => typedView('string', new ArrayBuffer(8), 0, 1)).toThrow(TypeError);
  });

  it('tells which dtype holds every value of another', () => {
    const holders = (from: (typeof numericDTypes)[number]) =>
      numericDTypes.filter((to) => to !== from && holdsEvery(from, to));
    expect(holders('int32')).toEqual(['float64', 'int64']);
    expect(holders('float32')).toEqual(['float64']);
    expect(holders('int64')).toEqual([]);
    expect(holders('int8')).toEqual(['float32', 'float64', 'int32', 'int64', 'int16', 'float16', 'bfloat16']);
    expect(holders('float16')).toEqual(['float32', 'float64']);
    expect(holders('bfloat16')).toEqual(['float32', 'float64']);
    expect(holders('uint32')).toEqual(['float64', 'int64', 'uint64']);
    expect(holders('bool')).toEqual(numericDTypes.filter((dtype) => dtype !== 'bool'));
    expect(holdsEvery('string', 'bool')).toBe(false);
  });
});

describe('kernels', () => {
  it('take the dtypes of the contract only', () => {
    expect(takes(dtypesTaken('Softmax'), ['int8', 'float32'])).toBe(false);
    expect(takes(dtypesTaken('Transpose'), ['uint64'])).toBe(true);
    for (const name of Object.keys(kernelAttrs) as (keyof typeof kernelAttrs)[])
      expect(takes(dtypesTaken(name), [])).toBe(true);
  });
});

describe('scalar programs', () => {
  it('compute with few dtypes, and read and write all', () => {
    for (const from of numericDTypes)
      for (const to of numericDTypes) {
        const { inputs, instrs } = buildScalarProgram([from], (s, x) => s.cast(x, to));
        const dtypes = [...inputs, ...instrs.map(({ dtype }) => dtype)];
        for (const { op, dtype, args } of instrs)
          if (op === 'cast') expect(castsDirectly(dtypes[args[0]], dtype)).toBe(true);
        expect(dtypes.at(-1)).toBe(to);
      }
    const sum = buildScalarProgram(['int8', 'int8'], (s, a, b) => s.add(a, b));
    expect(sum.instrs.map(({ op, dtype }) => `${op} ${dtype}`)).toEqual([
      'cast int32',
      'cast int32',
      'add int32',
      'cast int8',
    ]);
    expect(encodeScalarProgram(sum).slice(0, 3)).toEqual([2, 6, 6]);
  });
});
