// A function that asks a tensor in a condition, and is not converted, says so once.
import '@eagre/backend-js';
import { constant, type Tensor } from '@eagre/core';
import { afterEach, expect, test, vi } from 'vitest';
import { tfFunction } from '../function/function.ts';
import { askedOfTensors } from './unconverted.ts';

afterEach(() => void vi.restoreAllMocks());

test('the first trace warns, by name and line', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  const clip = (x: Tensor): Tensor => {
    if (x.less(0)) return x.neg();
    return x;
  };
  const f = tfFunction(clip);
  f(constant(1));
  f(constant([1]));
  expect(warn).toHaveBeenCalledTimes(1);
  expect(warn.mock.calls[0]?.[0]).toMatch(/'clip' is not converted, and line 2 .*if \(x\.less\(0\)\)/);
  tfFunction((x: Tensor) => clip(x), { autograph: false })(constant(1));
  tfFunction(clip, { autograph: false })(constant(1));
  expect(warn).toHaveBeenCalledTimes(1);
});

const of = (text: string, ...args: unknown[]) =>
  askedOfTensors(new Function(`return (${text});`)() as () => unknown, args);
const [one, truth] = [constant(1), constant(true)];

test.each([
  ['(x) => { while (x.sum().greater(3)) x = 1; }', 1],
  ['(x) => {\n\n if (!x.equal(tf.zeros([2])).all()) return 1; }', 3],
  ['(x, n) => { // if\n if (x.greater(n) && n > 2) return 1; }', 2],
  ['(x) => { const y = x.sum();\n while (y.less(3)) y = 1; }', 2],
  ['(x) => { if (tf.equal(x, 1)) return 1; }', 1],
  ['({ step }) => { if (step.less(1)) return 1; }', 1],
])('%s asks', (text, line) => expect(of(text, one, 3)?.line).toBe(line));

test.each([
  '(x, n) => { if (n > 3) return 1; while (n.length) n.pop(); }',
  '(x) => { if (x.greater(0).item()) return 1; }',
  '(x) => { if (x.shape.length > 1) return 1; }',
  '(x) => { // if (x.greater(0))\n return "if (x.greater(0))"; }',
  '(x) => { if (ag$.tracing()) return 1; if (x.greater(0)) return 2; }',
  // As a bundler leaves it.
  '(x) => { if (t()) return i(x.greater(0),"a.js:3:4"); if (x.greater(0)) return 2; }',
  '(x) => { "no autograph"; if (x.greater(0)) return 2; }',
  // Who knows what they are.
  '(x, other) => { if (other.less(3)) return 1; }',
  '(x) => { const list = make(); if (list.equal(3)) return 1; }',
  '(x) => { if (x) return 1; }',
])('%s does not ask', (text) => expect(of(text, one, { less: () => true })).toBeUndefined());

test.each([
  ['(flag) => { while (flag) step(); }', true],
  ['function f(x, flag) { if (!flag) return 1; }', true],
  ['flag => { if (flag && 1) return 1; }', true],
  ['(flag = 1) => { if (flag) return 1; }', true],
  ['(flag) => { flag = 3; if (flag) return 1; }', false],
  ['(flag) => { return list.map((flag) => { if (flag) return 1; }); }', false],
  ['(x) => { if (flag) return 1; }', false],
])('%s asks a truth: %s', (text, asks) => expect(of(text, truth, truth) !== undefined).toBe(asks));

test('a mask, which may be left out, is asked for by its name', () => {
  expect(of('(mask) => { if (mask) return 1; }', constant([true, false]))).toBeUndefined();
});
