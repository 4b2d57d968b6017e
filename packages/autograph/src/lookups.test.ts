// Every place where JavaScript takes what it is given for a value of its own: keys, numbers that are looked for, lengths, arguments of its
// functions. A tensor that is known counts as its value there, and one that differs from run to run is refused with the line.
import '@eagre/backend-js';
import { constant, type Tensor } from '@eagre/core';
import { tfFunction } from '@eagre/graph';
import { expect, test } from 'vitest';
import { converted, type Plain, plain, values } from './testing/functions.ts';

const scope = {
  Array,
  BigInt,
  Int8Array,
  Map,
  Math,
  Number,
  Object,
  Set,
  String,
  isFinite,
  isNaN,
  parseFloat,
  parseInt,
};
const graphOf = (fn: Plain): Plain => tfFunction(fn as (...args: never[]) => unknown) as unknown as Plain;
const of = (expression: string): readonly [fn: Plain, host: Plain] => {
  const text = `(x, y) => {\n  const a = [10, 20, 30, 40], o = { 2: 5 };\n  return ${expression};\n}`;
  return [converted(text, scope), plain(text, scope)];
};

/** Expressions that need a value of `x`; those with another one for a known tensor than for a number have it here. */
const needed = [
  ...['includes', 'indexOf', 'lastIndexOf'].flatMap((m) => [`[1, 2, 3].${m}(x)`, `[1, 2, 2].${m}(x, 1)`]),
  'new Int8Array([1, 2]).includes(x)',
  'new Map([[2, 7]]).get(x)',
  'new Map([[2, 7]]).has(x)',
  'new Set([2]).has(x)',
  '[y, 2].includes(x)',
  'new Array(x).length',
  'Array(x).length',
  'new Int8Array(x).length',
  'a[x]',
  'a[x + 1]',
  'a?.[x]',
  '[5, 6, 7][x]',
  '"abc"[x]',
  'o[x]',
  '[() => 1, () => 2, () => 3][x]()',
  '(a[x] = 5, a[2])',
  '(a[x] += 5, a[2])',
  '(a[x]++, a[2])',
  '(delete o[x], Object.keys(o).length)',
  'x in o',
  'Object.keys({ [x]: 1 })[0]',
  'Object.is(x, 2)',
  'Object.is(2, x)',
  'Number.isInteger(x)',
  'Number.isSafeInteger(x)',
  'Number.isFinite(x)',
  'Number.isNaN(x)',
  ...['abs', 'floor', 'sqrt', 'sign'].map((m) => `Math.${m}(x) > 1`),
  'Math.max(1, x)',
  'Math.min(x, 5)',
  'isNaN(x)',
  'isFinite(x)',
  'Number(x)',
  'Number(BigInt(x))',
  'parseInt(x)',
  'parseFloat(x)',
];

test.each(needed)('%s', (expression) => {
  const [fn, host] = of(expression);
  const expected = host(2, 9);
  expect(fn(2, 9)).toEqual(expected);
  for (const dtype of ['float32', 'int32'] as const) {
    expect(fn(constant(2, dtype), 9), dtype).toEqual(expected);
    // A constant of a graph is known, too.
    let inGraph: unknown;
    graphOf(() => {
      inGraph = fn(constant(2, dtype), 9);
      return constant(0);
    })();
    expect(inGraph, dtype).toEqual(expected);
    expect(() => graphOf(fn)(constant(2, dtype), 9), dtype).toThrow(
      /test:3:\d+: .* (?:while a graph is made|graph)/,
    );
  }
});

test.each(['`${x}`', 'String(x)'])('%s has the text of a known tensor', (expression) => {
  const [fn] = of(expression);
  expect(fn(constant(2, 'int32'))).toBe('2');
  expect(() => graphOf(fn)(constant(2, 'int32'))).toThrow(/test:3:\d+: /);
});

/** What asks for an object, which a tensor is: the same in JavaScript and in a graph. */
const identity: Readonly<Record<string, unknown>> = {
  '[x, y].includes(x)': true,
  '[x, y].indexOf(y)': 1,
  '[y].includes(x)': false,
  '[1, x].includes(x)': true,
  'new Map([[x, 7]]).get(x)': 7,
  'new Map([[y, 7]]).has(x)': false,
  'new Set([x, x]).size': 1,
  'new Set([x]).has(x)': true,
  'Object.is(x, x)': true,
  'Object.is(x, y)': false,
  'x === null': false,
  'typeof x': 'object',
  'x.constructor.name': 'Tensor',
  'x["dtype"]': 'float32',
  'Array.of(x).length': 1,
};
test.each(Object.entries(identity))('%s asks for the object', (expression, expected) => {
  const [fn] = of(expression);
  const [x, y] = [constant(2), constant(2)];
  expect(fn(x, y)).toBe(expected);
  let seen: unknown;
  graphOf((a, b) => {
    seen = fn(a, b);
    return a;
  })(x, y);
  expect(seen).toBe(expected);
});

test('elements of a tensor are taken by methods', () => {
  const x = constant([1, 2, 3]);
  for (const expression of ['x[0]', 'x.mul(2)[1]', 'x[y]'])
    expect(() => graphOf(of(expression)[0])(x, constant(1, 'int32'))).toThrow(
      /test:3:\d+: a tensor has no elements/,
    );
  // A computed name of a method is one.
  const named = of('x[["add", "mul"][y]](3)')[0];
  expect((graphOf((v) => named(v, 1))(x) as Tensor).array()).toEqual([3, 6, 9]);
});

test('a tensor has no length', () => {
  const x = constant([1, 2, 3]);
  const reads = [
    'x.length',
    'x.mul(2).length > 1',
    '(() => { for (let i = 0; i < x.length; i++) x = x + 1; return x; })()',
  ];
  for (const expression of reads)
    expect(() => graphOf(of(expression)[0])(x, 1)).toThrow(
      /test:3:\d+: a tensor has no length: .*x\.shape\[0\]/,
    );
  // Code may ask whether there is one.
  const asks = ['typeof x.length', 'x.length === undefined', 'x?.length', 'x.length ?? 7', '"length" in x'];
  for (const [i, expected] of ['undefined', true, undefined, 7, false].entries())
    expect(graphValue(of(asks[i] as string)[0], x), asks[i]).toBe(expected);
  // Those of others are as they were, also methods and places of this name.
  const o = '{ n: 2, length() { return this.n; } }';
  for (const [expression, expected] of [
    [`(${o}).length()`, 2],
    ['a.length', 4],
    ['(a.length = 2, a.length += 1, a.length)', 3],
    ['(delete o.length, "abc".length)', 3],
    ['[x, y].length', 2],
  ] as const)
    expect(graphValue(of(expression)[0], x), expression).toBe(expected);
});

function graphValue(fn: Plain, x: Tensor): unknown {
  let seen: unknown;
  graphOf((v) => {
    seen = fn(v, 1);
    return v;
  })(x);
  return seen;
}

test('a key of several elements is refused', () => {
  expect(() => of('a[x]')[0](constant([1, 2]))).toThrow(
    /test:3:\d+: a key has to be one known value, not float32 \[2\]/,
  );
  expect(of('({ a: 4 })[x]')[0](constant('a'))).toBe(4);
});

test('other objects with methods of these names get what they are given', () => {
  const fn = converted('(o, x) => o.includes(x) && o.get(x)');
  const mine = { includes: (v: unknown) => v !== undefined, get: (v: unknown) => v };
  expect(values(graphOf((x) => fn(mine, x))(constant(3)))).toBe(3);
  const other = converted('(x) => isFinite(x)', { isFinite: (v: Tensor) => v.mul(2) });
  expect(values(graphOf(other)(constant(3)))).toBe(6);
});

test('an optional chain ends where it did', () => {
  const fn = converted(
    '(x, a) => { const v = a?.b[0]; const w = a?.b[0](x); return v === undefined && w === undefined ? x : x * 2; }',
  );
  expect(values(graphOf((x) => fn(x, undefined))(constant(3)))).toBe(3);
  expect(values(graphOf((x) => fn(x, { b: [(v: unknown) => v] }))(constant(3)))).toBe(6);
});
