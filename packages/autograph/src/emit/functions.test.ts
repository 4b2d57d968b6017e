// Functions that converted code calls: of other modules, methods, in variables, as arguments. And those that stay as they are.
import '@eagre/backend-js';
import * as core from '@eagre/core';
import { constant } from '@eagre/core';
import { runFunctionsEagerly, tfFunction } from '@eagre/graph';
import { afterEach, expect, test } from 'vitest';
import { convert } from '../convert.ts';
import { moduleOf, type Plain, values } from '../testing/functions.ts';
import { doNotConvert } from '../to-graph.ts';

const tf = { ...core, function: tfFunction, autograph: { doNotConvert } };
const user = (body: string, exports: string, scope: Record<string, unknown> = {}) =>
  moduleOf(`import * as tf from 'eagre';\n${body}`, exports, { tf, ...scope });
const traced = (fn: Plain | undefined): Plain =>
  tfFunction(fn as (...args: never[]) => unknown) as unknown as Plain;
/** In a trace, of which nothing is known. */
const both = (fn: Plain | undefined, ...numbers: number[]): unknown[] =>
  numbers.map((x) => values(traced(fn)(constant(x))));

afterEach(() => runFunctionsEagerly(false));

test.each([
  [
    'a method',
    'class A { relu(x) { if (x > 0) return x; return x * 0; } run(x) { return this.relu(x); } } const run = (x) => new A().run(x);',
  ],
  [
    'a private method',
    'class A { #relu(x) { return x > 0 ? x : x * 0; } run(x) { return this.#relu(x); } } const run = (x) => new A().run(x);',
  ],
  [
    'a static method',
    'class A { static relu(x) { return x > 0 ? x : x * 0; } } const run = (x) => A.relu(x);',
  ],
  [
    'super',
    'class A { relu(x) { if (x > 0) return x; return x * 0; } } class B extends A { relu(x) { if (x < 100) return super.relu(x); return x; } } const run = (x) => new B().relu(x);',
  ],
  [
    'private state',
    'class A { #low = 0; relu(x) { if (x > this.#low) return x; return x * this.#low; } } const run = (x) => new A().relu(x);',
  ],
  [
    'a getter',
    'class A { constructor(x) { this.x = x; } get relu() { return this.x > 0 ? this.x : this.x * 0; } } const run = (x) => new A(x).relu;',
  ],
  [
    'a function in a variable',
    'const table = { relu: (x) => x > 0 ? x : x * 0 }; const run = (x) => { const f = table.relu; return f(x); };',
  ],
  [
    'a method of an object',
    'const table = { low: 0, relu(x) { if (x > this.low) return x; return x * 0; } }; const run = (x) => table.relu(x);',
  ],
  [
    'an argument',
    'const relu = function (x) { if (x > 0) return x; return x * 0; }; const apply = (f, x) => f(x); const run = (x) => apply(relu, x);',
  ],
  [
    'a closure made outside',
    'const make = (low) => (x) => x > low ? x : x * low; const relu = make(0); const run = (x) => relu(x);',
  ],
  [
    'a default argument',
    'function relu(x, low = x * 0) { return x > low ? x : low; } const run = (x) => relu(x);',
  ],
  [
    'destructuring and rest',
    'function relu({ low = 0 }, ...[x]) { if (x > low) return x; return x * 0; } const run = (x) => relu({}, x);',
  ],
  [
    'arguments',
    'function relu() { if (arguments[0] > 0) return arguments[0]; return arguments[0] * 0; } const run = (x) => relu(x);',
  ],
  ['a function below', 'const run = (x) => relu(x); function relu(x) { if (x > 0) return x; return x * 0; }'],
  ['a callback of the library', 'const run = (x) => tf.stack([x]).sum() > 0 ? x : x * 0;'],
  [
    'this',
    'function relu() { return this.x > 0 ? this.x : this.x * 0; } const run = (x) => relu.call({ x });',
  ],
])('%s runs converted in a trace', (_, body) => {
  const { run } = user(body, 'run');
  expect(both(run, 3, -3)).toEqual([3, -0]);
  expect(run?.(3)).toBe(3);
});

test('a function of another module', () => {
  const { relu } = user('export function relu(x) { if (x > 0) return x; return x * 0; }', 'relu');
  const { f } = user('export const f = tf.function((x) => relu(x) + 1);', 'f', { relu });
  expect([f?.(constant(2)), f?.(constant(-2))].map(values)).toEqual([3, 1]);
  runFunctionsEagerly(true);
  const { g } = user('const g = tf.function((x) => half(x));', 'g', {
    half: user('const half = (x) => x.greater(0) ? x / 2 : x;', 'half').half,
  });
  expect([g?.(constant(2)), g?.(constant(-2))].map(values)).toEqual([1, -2]);
});

test('what converted code calls runs converted, and nothing behind it', () => {
  const { low } = user('const low = (x) => (x.less(0) ? 0 : x);', 'low');
  const { f } = user(`const f = (x) => { 'use autograph'; return low(x); };`, 'f', { low });
  expect(values(f?.(constant(-2)))).toBe(0);
  // An object counts as true: without conversion a tensor in a condition says nothing.
  expect(values(low?.(constant(3)))).toBe(0);
  const { bad } = user(`const bad = () => { 'use autograph'; fail(); };`, 'bad', {
    fail: () => {
      throw new Error('no');
    },
  });
  expect(() => bad?.()).toThrow('no');
  expect(values(low?.(constant(3)))).toBe(0);
});

test.each([
  ['doNotConvert', 'const low = tf.autograph.doNotConvert((x) => (x.less(0) ? 0 : 1));'],
  [
    'doNotConvert by name',
    'const low0 = (x) => (x.less(0) ? 0 : 1); const low = tf.autograph.doNotConvert(low0);',
  ],
  ['a directive', `function low(x) { 'no autograph'; return x.less(0) ? 0 : 1; }`],
  [
    'what it calls',
    'const inner = (x) => (x.less(0) ? 0 : 1); const low = tf.autograph.doNotConvert((x) => inner(x));',
  ],
])('%s leaves a function as it is', (_, body) => {
  const { low } = user(body, 'low');
  expect(both((x) => low?.(x), 3)).toEqual([0]);
});

test('tf.function can leave code as it is', () => {
  const { low } = user('const low = (x) => (x.less(0) ? 0 : 1);', 'low');
  const off = tfFunction({ autograph: false })(low as (x: core.Tensor) => unknown);
  expect(off(constant(3))).toBe(0);
  const { f } = user('const f = tf.function({ autograph: false })((x) => (x.less(0) ? 0 : 1));', 'f');
  expect(f?.(constant(3))).toBe(0);
});

test('functions keep what they are', () => {
  const source = `import type { Tensor } from 'eagre';
export const arrow = (x) => x > 0;
export async function wait(x) { if (x > 0) return 1; return 2; }
export function* count(n) { for (let i = 0; i < n; i++) yield i; }
export function two(a, b = 2, ...rest) { /* text */ return a > b; }
export const cube = function (x) { return x > 1 ? x * fact(x - 1) : 1; };
function fact(x) { return cube(x); }
export class A { constructor(x) { if (x > 1) this.x = x; } async m(x) { return x > 1; } }
export const plain = (x) => [x.length, typeof x, x === null];
`;
  const { code } = convert(source, { filename: 'user.ts' });
  for (const text of [
    'async function wait(x) { if (x > 0) return 1; return 2; }',
    'function* count(n) { for (let i = 0; i < n; i++) yield i; }',
    '/* text */ return a > b; }',
    'constructor(x) { if (x > 1) this.x = x; } async m(x) { return x > 1; }',
    'const plain = (x) => [x.length, typeof x, x === null];',
  ])
    expect(code).toContain(text);
  expect(convert(code, { filename: 'user.ts' })).toEqual({ code, map: null });
  const { arrow, two, cube } = moduleOf(source, 'arrow, two, cube');
  expect([arrow?.name, two?.name, two?.length, cube?.name, cube?.(5)]).toEqual([
    'arrow',
    'two',
    1,
    'cube',
    120,
  ]);
});

test('a directive of a module leaves what waits or yields as it is, and is strict with the rest', async () => {
  const source = `'use autograph';
export async function wait(x) { const low = (y) => (y > 0 ? y : 0); if (x > 0) return low(x); return 2; }
export const relu = (x) => (x > 0 ? x : x * 0);`;
  const { code } = convert(source);
  expect(code).toContain('if (x > 0) return low(x); return 2; }');
  const { relu, wait } = moduleOf(source, 'relu, wait');
  expect(values(relu?.(constant(-2)))).toBe(-0);
  await expect(wait?.(3)).resolves.toBe(3);
  expect(() => convert(`'use autograph'; function f() { var x = 1; }`, { filename: 'a.ts' })).toThrow(
    'a.ts:1:33',
  );
});

test('modules that have nothing to do with the library stay as they are', () => {
  const source = `import { x } from '../x.js'; export const f = (y) => (y > x ? y : x);`;
  expect(convert(source)).toEqual({ code: source, map: null });
  expect(convert(`'no autograph'; import 'eagre'; export const f = (y) => (y > 1 ? y : 1);`).map).toBeNull();
  expect(convert(`import 'eagre'; export const f = (y) => y.foo();`).map).toBeNull();
});
