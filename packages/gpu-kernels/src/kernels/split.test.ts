import { buildScalarProgram } from '@eagre/backend';
import { expect, it } from 'vitest';
import { splitProgram } from './split.ts';

it('splits a program into what GPUs compute and what they do not', () => {
  // The next step, a sum, and a rate of a step.
  const program = buildScalarProgram(['int64', 'float32', 'float32'], (s, step, sum, x) => [
    s.add(step, 1),
    s.add(sum, s.mul(x, 4)),
    s.cast(step, 'float64'),
    s.exp(x),
    s.cast(s.exp(x), 'float64'),
  ]);
  const [ofHost, wide, ofGpu] = splitProgram(program) ?? [];
  expect([ofGpu?.inputs, ofGpu?.outputs, ofGpu?.program.inputs]).toEqual([
    [1, 2],
    [1, 3],
    ['float32', 'float32'],
  ]);
  expect([ofHost?.inputs, ofHost?.outputs, ofHost?.program.inputs]).toEqual([[0], [0, 2], ['int64']]);
  expect([wide?.inputs, wide?.outputs]).toEqual([[2], [4]]);
  expect(ofHost?.program.instrs.map(({ op }) => op)).toEqual(['const', 'add', 'cast']);
  expect(ofGpu?.program.instrs.map(({ op, args }) => [op, args])).toEqual([
    ['const', []],
    ['mul', [1, 2]],
    ['add', [0, 3]],
    ['exp', [1]],
  ]);
});

it('splits off what GPUs only move and cast, which is of 64 bits', () => {
  const program = buildScalarProgram(['int64', 'bool', 'float32'], (s, step, isTaken, x) => [
    s.select(isTaken, s.cast(s.add(s.cast(step, 'int32'), 1), 'int64'), step),
    s.cast(s.mul(x, 2), 'float64'),
    s.mul(x, 2),
    s.add(step, 1),
  ]);
  const parts = splitProgram(program) ?? [];
  expect(parts.map(({ outputs }) => outputs)).toEqual([[3], [0, 1], [2]]);
  expect(parts.map(({ inputs }) => inputs)).toEqual([[0], [0, 1, 2], [2]]);
});

it('leaves a program whole that is all of the one or of the other', () => {
  const sum = buildScalarProgram(['float32'], (s, x) => [s.add(x, 1), s.exp(x)]);
  const steps = buildScalarProgram(['int64', 'float32'], (s, step, x) => [
    s.add(step, 1),
    s.add(s.cast(x, 'int64'), 1),
  ]);
  expect([splitProgram(sum), splitProgram(steps)]).toEqual([undefined, undefined]);
});
