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
  ]);
  const [ofGpu, ofHost] = splitProgram(program) ?? [];
  expect([ofGpu?.inputs, ofGpu?.outputs, ofGpu?.program.inputs]).toEqual([
    [1, 2],
    [1, 3],
    ['float32', 'float32'],
  ]);
  expect([ofHost?.inputs, ofHost?.outputs, ofHost?.program.inputs]).toEqual([[0], [0, 2], ['int64']]);
  expect(ofHost?.program.instrs.map(({ op }) => op)).toEqual(['const', 'add', 'cast']);
  expect(ofGpu?.program.instrs.map(({ op, args }) => [op, args])).toEqual([
    ['const', []],
    ['mul', [1, 2]],
    ['add', [0, 3]],
    ['exp', [1]],
  ]);
});

it('leaves a program whole that is all of the one or of the other', () => {
  const sum = buildScalarProgram(['float32'], (s, x) => [s.add(x, 1), s.exp(x)]);
  const steps = buildScalarProgram(['int64', 'float32'], (s, step, x) => [
    s.add(step, 1),
    s.add(s.cast(x, 'int64'), 1),
  ]);
  expect([splitProgram(sum), splitProgram(steps)]).toEqual([undefined, undefined]);
});
