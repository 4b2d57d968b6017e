// Loops of graphs, and what becomes of the variables that they carry.
import '@eagre/backend-js';
import * as core from '@eagre/core';
import { constant } from '@eagre/core';
import { TensorSpec, tfFunction } from '@eagre/graph';
import { describe, expect, test, vi } from 'vitest';
import { converted, values } from './testing/functions.ts';

const traced = (text: string, ...args: unknown[]): unknown =>
  values(tfFunction(converted(text, { tf: core }) as (...args: never[]) => unknown)(...(args as never[])));

test('counters that begin as bare integers take the dtype of what they are compared with', () => {
  const triangle = `(n) => {
    let s = 0;
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < n; j++) { if (j > i) break; s += i * j; }
    }
    return s;
  }`;
  expect(traced(triangle, constant(4, 'int32'))).toBe(25);
  expect(traced(triangle, constant(4, 'float32'))).toBe(25);
  const sum = '(n, x) => { let s = 0, i = 0; while (i < n) { s += x; i += 1; } return s; }';
  expect(traced(sum, constant(4, 'int32'), constant(0.5))).toBe(2);
});

test('one loop serves all numbers of rows', () => {
  const sum =
    '(x) => { let s = tf.zeros([2]), last; for (const row of x) { s = s * 0.5 + row; last = row; } return [s, last]; }';
  const run = converted(sum, { tf: core });
  const f = tfFunction({ inputSignature: [new TensorSpec([null, 2])] })(run as (x: core.Tensor) => unknown);
  for (const n of [3, 1, 5]) {
    const x = constant(Array.from({ length: n }, (_, i) => [i, i + 0.5]));
    expect(values(f(x))).toEqual(values(run(x)));
  }
  expect(f.experimentalGetTracingCount()).toBe(1);
  expect(values(f(core.zeros([0, 2])))).toEqual([[0, 0], undefined]);
  // The elements of a list are known one by one.
  vi.spyOn(console, 'warn').mockImplementationOnce(() => undefined);
  const list = converted('(x) => { const out = []; for (const row of x) out.push(row * 2); return out; }');
  const g = tfFunction({ inputSignature: [new TensorSpec([null])] })(list as (x: core.Tensor) => unknown);
  for (const x of [[1, 2], [3], [4, 5, 6]]) expect(values(g(constant(x)))).toEqual(x.map((v) => v * 2));
});

const int = (n: number): core.Tensor => constant(n, 'int32');
const rows = constant([1, 2, 3]);

describe('variables without a value before the loop', () => {
  test.each([
    ['rows', '(x) => { let y; for (const v of x) y = v * 2; return y; }', rows, 6],
    ['a range', '(n) => { let y; for (const i of tf.range(n)) { y = i; } return y; }', int(4), 3],
    ['while', '(n) => { let y, i = 0; while (i < n) { y = i * 2; i += 1; } return y; }', int(4), 6],
    ['for', '(n) => { let y; for (let i = 0; i < n; i++) { y = i; } return y; }', int(4), 3],
    [
      'a list',
      '(x) => { let y, z; for (const v of x) { [y, z] = [v, v + 1]; z = z + y; } return [y, z]; }',
      rows,
      [3, 7],
    ],
    [
      'structures',
      '(x) => { let y; for (const v of x) { y = { v, twice: [v * 2] }; } return y; }',
      rows,
      { v: 3, twice: [6] },
    ],
    ['a jump behind', '(x) => { let y; for (const v of x) { y = v; if (v > 1) break; } return y; }', rows, 2],
  ])('%s', (_, text, x, expected) => {
    expect(traced(text, x)).toEqual(expected);
  });

  test('have none where there is no turn', () => {
    const last = '(n) => { let y; for (const i of tf.range(n)) y = i; return y; }';
    expect(() => traced(last, int(0))).toThrow('the loop makes no turn, so the variable y has no value');
    const f = tfFunction(converted(last, { tf: core }) as (n: core.Tensor) => core.Tensor);
    expect(f(int(2)).item()).toBe(1);
    expect(() => f(int(-1))).toThrow('the loop makes no turn');
    expect(f(int(3)).item()).toBe(2);
  });

  test.each([
    [
      'asked for',
      '(x) => { let y; for (const v of x) { if (y === undefined) y = v; else y = y + v; } return y; }',
    ],
    ['read first', '(x) => { let y; for (const v of x) { tf.print(y); y = v; } return y; }'],
    ['read by the new value', '(x) => { let y; for (const v of x) { y = y ?? v; } return y; }'],
    ['read by a default', '(x) => { let y, z; for (const v of x) { [y, z = y] = [v]; } return z; }'],
    ['set on some ways', '(x) => { let y; for (const v of x) { if (v > 1) y = v; } return y; }'],
    ['set behind a jump', '(x) => { let y; for (const v of x) { if (v > 1) break; y = v; } return y; }'],
    ['read by the condition', '(n) => { let y, i = 0; while ((y ?? i) < n) { y = i; i += 1; } return y; }'],
  ])('that are %s need one', (_, text) => {
    expect(() => traced(text, text.startsWith('(n)') ? int(2) : rows)).toThrow(
      /has no value (before the loop|in)/,
    );
  });
});
