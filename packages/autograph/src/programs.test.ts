// Programs in which converted code, the library and the user's functions call each other.
import '@eagre/backend-js';
import { GradientTape } from '@eagre/autodiff';
import * as core from '@eagre/core';
import { constant } from '@eagre/core';
import * as graph from '@eagre/graph';
import { tfFunction } from '@eagre/graph';
import { expect, test } from 'vitest';
import { moduleOf, values } from './testing/functions.ts';

const tf = { ...core, ...graph, GradientTape, function: tfFunction };
const user = (body: string, names: string, scope = {}) =>
  moduleOf(`import * as tf from 'eagre';\n${body}`, names, { tf, ...scope });
test('a callback of mapFn', () => {
  const { f } = user('const f = tf.function((x) => tf.mapFn((v) => v > 1 ? v * 2 : -v, x));', 'f');
  expect(values(f?.(constant([1, 2, 3])))).toEqual([-1, 4, 6]);
});
test('the functions of whileLoop', () => {
  const { f } = user(
    'const cond = (i) => i < 4; const body = (i, s) => [i + 1, i % 2 === 0 ? s + i : s]; const f = tf.function((n) => tf.whileLoop(cond, body, [n, n * 0])[1]);',
    'f',
  );
  expect(values(f?.(constant(0)))).toBe(2);
});
test('a tape in the function', () => {
  const { f } = user(
    'const loss = (w, x) => { let s = w * 0; for (const v of x) { if (v > 1) s += w * v; else s -= w; } return s; }; const f = tf.function((w, x) => { const tape = new tf.GradientTape(); tape.watch(w); const l = loss(w, x); return tape.gradient(l, w); });',
    'f',
  );
  expect(values(f?.(constant(2), constant([1, 2, 3])))).toBe(4);
});
test('recursion by a number', () => {
  const { f } = user(
    'function pow(x, n) { if (n === 0) return x * 0 + 1; return n % 2 === 0 ? pow(x * x, n / 2) : x * pow(x, n - 1); } const f = tf.function((x) => pow(x, 5));',
    'f',
  );
  expect(values(f?.(constant(2)))).toBe(32);
});
test('a method that changes a variable, in a loop', () => {
  const { m } = user(
    `class Counter { constructor() { this.n = new tf.Variable(0); } add(x) { if (x > 0) { this.n.assignAdd(x); return true; } return false; } } const c = new Counter(); const f = tf.function((x) => { let k = 0; for (const v of x) { if (c.add(v)) k += 1; } return [k, c.n.read()]; }); const m = f;`,
    'm',
  );
  expect(values(m?.(constant([1, -2, 3])))).toEqual([2, 4]);
});
test('early returns and breaks of a called function', () => {
  const { f } = user(
    `const find = (xs, low) => { let i = 0; for (const v of xs) { if (v < 0) return -1; if (v > low) break; i += 1; } return i; }; const f = tf.function((xs, low) => find(xs, low) + find(xs, low + 1));`,
    'f',
  );
  expect(values(f?.(constant([1, 2, 3]), constant(1)))).toBe(3);
  expect(values(f?.(constant([1, -2, 3]), constant(1)))).toBe(-2);
});
test('a setter, a static block, spread objects', () => {
  const { f } = user(
    `class A { static #k; static { this.#k = 2; } set v(x) { this.w = x > 0 ? x : -x; } static get k() { return A.#k; } } const f = tf.function((x) => { const a = new A(); a.v = x; const o = { ...a, z: 1 }; return o.w * A.k; });`,
    'f',
  );
  expect(values(f?.(constant(-3)))).toBe(6);
});
test('a list that only another function fills is refused', () => {
  const { f } = user(
    `const collect = (out, v) => { out.push(v * 2); }; const f = tf.function((x) => { const out = []; for (const v of x) collect(out, v); return tf.stack(out); });`,
    'f',
  );
  expect(() => f?.(constant([1, 2]))).toThrow('an array from outside');
});
test('a list that a called function returns', () => {
  const { f } = user(
    `const rows = (x) => { const out = []; for (const v of x) out.push(v + 1); return out; }; const f = tf.function((x) => tf.stack(rows(x)));`,
    'f',
  );
  expect(values(f?.(constant([1, 2])))).toEqual([2, 3]);
});
test('a traced function in a loop of another', () => {
  const { f } = user(
    `const inner = tf.function((x) => x > 0 ? x : x * 0); const f = tf.function((x) => { let s = 0; for (const v of x) s += inner(v); return s; });`,
    'f',
  );
  expect(values(f?.(constant([1, -2, 4])))).toBe(5);
});
