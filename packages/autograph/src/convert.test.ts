import '@eagre/backend-js';
import { constant } from '@eagre/core';
import { tfFunction } from '@eagre/graph';
import { describe, expect, test } from 'vitest';
import { convert } from './convert.ts';
import { AutographError } from './errors.ts';
import { converted, plain, values } from './testing/functions.ts';
import { doNotConvert, toCode, toGraph } from './to-graph.ts';

type AnyFunction = (...args: never[]) => unknown;

const trace = (text: string, ...args: unknown[]): unknown =>
  values(tfFunction(converted(text) as AnyFunction)(...(args as never[])));

describe('marks', () => {
  const body = '(x) => x > 0 ? x : -x';
  test.each([
    ['tf.function', `import * as tf from 'eagre'; export const f = tf.function(${body});`],
    [
      'its options',
      `import * as tf from 'eagre'; export const f = tf.function({ reduceRetracing: true })(${body});`,
    ],
    [
      'a function by name',
      `import * as tf from 'eagre'; export const f = tf.function({ func: ${body}, reduceRetracing: true });`,
    ],
    ['a name', `import { function as fn } from 'eagre'; const g = ${body}; export const f = fn(g);`],
    ['a called function', `import * as tf from 'eagre'; const g = ${body}; tf.function((x) => g(x));`],
    ['a directive', `export function f(x: number) { 'use autograph'; return x > 0 ? x : -x; }`],
    [
      'a decorator',
      `import * as tf from 'eagre'; class A { @tf.function f(x: tf.Tensor) { return x > 0 ? x : -x; } }`,
    ],
  ])('%s', (_, source) => {
    const { code, map } = convert(source, { filename: 'a.ts' });
    expect(code).toContain('ag$.ifExp(ag$.gt(x, 0)');
    expect(map?.sources).toEqual(['a.ts']);
    expect(convert(code, { filename: 'a.ts' }).code).toBe(code);
  });

  test.each([
    [`export const f = ${body};`],
    [`import * as tf from 'other'; export const f = tf.function(${body});`],
    [`import * as tf from 'eagre'; const g = tf.autograph.doNotConvert(${body}); tf.function((x) => g(x));`],
    [`import * as tf from 'eagre'; const g = tf.autograph.doNotConvert({ func: ${body} });`],
    [`import * as tf from 'eagre'; export const f = tf.function({ func: ${body}, autograph: false });`],
  ])('not marked: %s', (source) => {
    expect(convert(source).code).not.toContain('ifExp');
  });
});

test.each([
  ['async', `async () => 1`, 'an async function'],
  ['a generator', `function* () { yield 1; }`, 'a generator'],
  ['var', `() => { var x = 1; return x; }`, 'var belongs'],
  ['eval', `() => eval('1')`, 'eval'],
  ['&&= on a member', `(o) => { o.x &&= 1; }`, '&&= on a member'],
])('%s is refused by file, line and column', (_, text, message) => {
  const source = `import * as tf from 'eagre';\ntf.function(${text});`;
  expect(() => convert(source, { filename: 'a.ts' })).toThrow(AutographError);
  expect(() => convert(source, { filename: 'a.ts' })).toThrow(/a\.ts:2:\d+: /);
  expect(() => convert(source, { filename: 'a.ts' })).toThrow(message);
});

test('a syntax error has a place', () => {
  expect(() => convert('const x = ;', { filename: 'a.ts' })).toThrow(/a\.ts:1:11/);
});

test.each([
  ['one way has no value', '(x) => { let y; if (x > 0) y = x; return 1; }', 'the variable y has no value'],
  ['shapes', '(x) => { let y = x; while (y.sum() < 9) y = y.reshape([1]); return y; }', 'the variable y is'],
  ['a switch', '(x) => { switch (x) { case 1: return 2; } return 3; }', 'switch on a tensor'],
  [
    'a return out of try',
    '(x) => { try { if (x > 0) return 1; } finally { } return 2; }',
    'this condition depends',
  ],
  [
    'push',
    '(x) => { const l = []; for (let i = 0; i < x; i++) l.push(i); return 1; }',
    'l grows in a loop whose number of turns depends on the run',
  ],
  [
    'an element',
    '(x) => { const l = [1]; const m = () => l; if (x > 0) m()[0] = 2; return 1; }',
    'an array from outside',
  ],
  ['throw', '(x) => { if (x > 0) throw new Error("no"); return x; }', 'throw in a branch'],
  ['a missing return', '(x) => { if (x > 0) return x; }', 'returns a value on some ways only'],
  ['strings', '(x) => { let s = "a"; if (x > 0) s = "b"; return 1; }', 'the variable s is "b"'],
])('in graphs, %s is refused', (_, text, message) => {
  expect(() => trace(text, constant(1))).toThrow(message);
  expect(() => trace(text, constant(1))).toThrow(/test:\d+:\d+/);
});

test.each([
  [
    'order and short circuit',
    '(l) => { const a = (x) => { l.push(x); return x; }; return [a(0) && a(1), a(2) || a(3), a(4) ?? a(5)]; }',
  ],
  [
    'updates',
    '() => { let i = 1; const o = { n: 1 }, a = [1, 2]; let k = 0; const r = [i++, ++i, o.n++, a[k++]++, a[k] += 5, i-- - i]; return [r, i, o, a, k]; }',
  ],
  ['strings and bigints', '() => ["a" + 1, 2n ** 3n, -2n, 7n % 4n, "5" * 2, typeof 1, null == undefined]'],
  [
    'labels',
    '() => { let s = 0; out: for (let i = 0; i < 4; i++) { for (let j = 0; j < 4; j++) { if (j === 2) continue out; if (i === 2) break out; s += 10 * i + j; } } return s; }',
  ],
  [
    'closures',
    '() => { const fs = []; for (let i = 0; i < 3; i++) fs.push(() => i); return fs.map((f) => f()); }',
  ],
  [
    'try',
    '() => { const l = []; for (const x of [1, 2, 3]) { try { if (x === 2) continue; l.push(x); } finally { l.push(-x); } } return l; }',
  ],
  [
    'switch',
    '(x) => { const l = []; for (const v of [1, 2, 3, 4]) { switch (v) { case 1: l.push("a"); break; case 2: continue; case 3: return l; default: } l.push(v); } return l; }',
  ],
  [
    'destructuring',
    '() => { let [a, b = 2, ...c] = [1, undefined, 3, 4]; [a, b] = [b, a]; const { d, e = a + b } = { d: 5 }; return [a, b, c, d, e, ...c]; }',
  ],
  ['functions below', '() => { if (f(1) > 5) return 1; function f(x) { return x + 1; } return f(2); }'],
  [
    'do and blocks',
    '() => { let i = 0; do { i++; { if (i === 2) continue; } if (i > 4) break; } while (i < 9); return i; }',
  ],
  [
    'for…in, optional',
    '(o) => { let s = ""; for (const k in { a: 1, b: 2 }) { if (k === "a") continue; s += k; } return [s, o?.x?.y, o?.push(1)]; }',
  ],
  ['predicates', '() => [1, 2, 3].filter((x) => x > 1).map((x) => x * 2)'],
  [
    'this and private state',
    'function () { const o = { n: 1, up() { return this.n; } }; o.n += 1; return o.up(); }',
  ],
])('plain values: %s', (_, text) => {
  expect(converted(text)([])).toEqual(plain(text)([]));
});

test('toGraph takes what is outside from its scope, and names what it lacks', () => {
  const f = new Function('return (x) => x > limit ? helper(x) : x')() as (x: number) => number;
  expect(() => toGraph(f)).toThrow('limit, helper');
  expect(toGraph(f, { scope: { limit: 2, helper: (x: number) => -x } })(3)).toBe(-3);
  expect(toCode(f)).toContain('ag$.ifExp');
  expect(() => toGraph(Math.max)).toThrow('no source');
  const asItIs = doNotConvert(f);
  expect(toGraph(asItIs)).toBe(asItIs);
});

test.each([
  ["import { tf } from './lib.js';", ''],
  ["import tf from '#tf';", ''],
  ["const tf = await import('eagre');", ''],
  ["const { tf } = await import('./lib.js');", ''],
  ["const eagre = await import('eagre');", 'eagre'],
  ["const { function: graph } = await import('eagre');", 'graph'],
])('a library that another module hands on, or that is imported later, is known: %s', (line, name) => {
  const call = name === 'graph' ? 'graph' : `${name === '' ? 'tf' : name}.function`;
  const { code } = convert(`${line}\nexport const f = ${call}((x) => (x > 0 ? 1 : 2));`, {
    filename: 'a.js',
  });
  expect(code).toContain('ag$.ifExp(');
});
