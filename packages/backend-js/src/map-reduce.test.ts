import { buildScalarProgram, encodeScalarProgram, InternalError, mapReductions } from '@eagre/backend';
import { describe, expect, it } from 'vitest';
import { kernels } from './map-reduce.ts';
import { kernels as reductions } from './reduce.ts';
import { compileScalar } from './scalar.ts';
import { noise, tensor, values } from './testing/kernels.ts';

const program = buildScalarProgram(['float32', 'float32'], (s, x, y) => s.mul(s.sub(x, y), s.sub(x, y)));

describe('MapReduce', () => {
  it.each([1, 2, 3, 4, 5])('has the bits of the separate calls, reduction %i', (kind) => {
    const x = tensor('float32', [6, 5], noise(30, 1));
    const y = tensor('float32', [6, 1], noise(6, 2));
    const mapped = tensor('float32', [6, 5]);
    compileScalar(program)([x, y], [mapped], {});
    const name = mapReductions[kind] as 'Sum';
    const expected = tensor('float32', [6]);
    reductions[name]?.([mapped], [expected], { axes: [1] });
    const [full, reduced] = [tensor('float32', [30]), tensor('float32', [6, 1])];
    const twice = { ...program, outputs: [...program.outputs, ...program.outputs] };
    kernels.MapReduce?.([x, y], [full, reduced], {
      program: encodeScalarProgram(twice),
      shape: [6, 5],
      width: 5,
      reductions: [0, kind],
    });
    expect(values(full)).toEqual(values(mapped));
    expect(values(reduced)).toEqual(values(expected));
  });

  it('reduces bools, integers, all elements, and none', () => {
    const s = buildScalarProgram(['int64'], (b, x) => [b.lt(x, 3), b.lt(x, 0), b.mul(x, 2)]);
    const run = (elements: number[]): unknown[] => {
      const outputs = [tensor('bool', []), tensor('bool', []), tensor('int64', [])];
      kernels.MapReduce?.([tensor('int64', [elements.length], elements)], outputs, {
        program: encodeScalarProgram(s),
        shape: [elements.length],
        width: elements.length,
        reductions: [6, 7, 1],
      });
      return outputs.flatMap(values);
    };
    expect(run([1, 2, 0])).toEqual([1, 0, 6n]);
    expect(run([5, -2, 0])).toEqual([0, 1, 6n]);
    const empty = tensor('float32', [0]);
    const attrs = { program: encodeScalarProgram(program), shape: [0, 4], width: 4, reductions: [1] };
    kernels.MapReduce?.([empty, empty], [empty], attrs);
    expect(values(empty)).toEqual([]);
  });

  it('refuses reductions of other numbers', () => {
    const x = tensor('float32', [4], noise(4));
    const attrs = { program: encodeScalarProgram(program), shape: [4], width: 4, reductions: [8] };
    expect(() => kernels.MapReduce?.([x, x], [tensor('float32', [])], attrs)).toThrow(InternalError);
  });
});
