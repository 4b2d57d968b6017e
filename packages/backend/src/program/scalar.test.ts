import { describe, expect, it } from 'vitest';
import { InternalError } from '../errors.ts';
import { buildScalarProgram, decodeScalarProgram, encodeScalarProgram } from './scalar.ts';

describe('encodeScalarProgram', () => {
  const program = buildScalarProgram(['float32', 'int64', 'bool'], (s, x, n, flag) => [
    s.select(flag, s.mul(x, -0.5), s.cast(n, 'float32')),
    s.lt(x, 3),
    n,
  ]);

  it('is undone by decodeScalarProgram', () => {
    expect(decodeScalarProgram(encodeScalarProgram(program))).toEqual(program);
    const none = { inputs: [], instrs: [], outputs: [] };
    expect(decodeScalarProgram(encodeScalarProgram(none))).toEqual(none);
  });

  it('writes other numbers for other programs, which are refused if they are none', () => {
    const numbers = encodeScalarProgram(program);
    expect(() => decodeScalarProgram(numbers.slice(0, -1))).toThrow(InternalError);
    expect(() => decodeScalarProgram([...numbers, 0])).toThrow(InternalError);
    expect(() => decodeScalarProgram([])).toThrow(InternalError);
    expect(() => decodeScalarProgram([1, 15, 0, 1, 0])).toThrow(InternalError);
    expect(() => decodeScalarProgram([0, 1, 999, 0, -1, -1, -1, 0, 1, 0])).toThrow(InternalError);
  });
});
