// Loops of graphs, and what becomes of the variables that they carry.
import '@eagre/backend-js';
import { constant } from '@eagre/core';
import { tfFunction } from '@eagre/graph';
import { expect, test } from 'vitest';
import { converted, values } from './fixture.ts';

const traced = (text: string, ...args: unknown[]): unknown =>
  values(tfFunction(converted(text) as (...args: never[]) => unknown)(...(args as never[])));

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
