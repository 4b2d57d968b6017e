// Every construct of the language in converted code: carried through, part of a graph, or refused by name and line.
import '@eagre/backend-js';
import * as core from '@eagre/core';
import { constant } from '@eagre/core';
import { autographIterate, tfFunction } from '@eagre/graph';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { convert } from './convert.ts';
import { converted, moduleOf, type Plain, plain, values } from './testing/functions.ts';

type AnyFunction = (...args: never[]) => unknown;
const graphOf = (text: string, scope: Record<string, unknown> = {}) =>
  tfFunction(converted(text, { tf: core, ...scope }) as AnyFunction) as unknown as Plain;

afterEach(() => vi.restoreAllMocks());

/** The same on numbers unconverted and converted, on tensors, and in a graph. */
describe.each([
  ['if and else', '(x) => { if (x > 2) x -= 1; else if (x > 0) x += 5; else { x = -x; } return x; }'],
  ['?: in each other', '(x) => x > 2 ? x > 3 ? 1 : x : x < -1 ? -x : 0'],
  ['while', '(x) => { while (x < 10) x = x + 3; return x; }'],
  ['do', '(x) => { do { x += 1; } while (x < 3); return x; }'],
  ['for', '(x) => { let s = 0; for (let i = 0, j = 1; i < x; i++, j += 2) s += j; return s; }'],
  ['for without parts', '(x) => { for (;;) { if (x > 4) break; x += 1; } return x; }'],
  [
    'break and continue',
    '(x) => { let s = 0; for (let i = 0; i < 6; i++) { if (i > x) break; if (i === 2) continue; s += i; } return s; }',
  ],
  ['early returns', '(x) => { for (let i = 0; i < 5; i++) { if (x > i + 2) return i; x += 1; } return -1; }'],
  [
    '&&, || and !',
    '(x) => { let s = 0; if (x > 0 && x < 3) s += 1; if (x < -1 || x > 2) s += 10; if (!(x > 1)) s += 100; return s; }',
  ],
  ['assigning operators', '(x) => { x += 1; x *= 3; x -= 2; x **= 2; x %= 7; x++; --x; return x; }'],
  [
    'members',
    '(x) => { const o = { n: 1, in: { k: 2 } }; if (x > 0) { o.n = x; o.in.k += x; } return o.n + o.in.k; }',
  ],
  [
    'destructuring',
    '(x) => { let [a, { b }] = [x, { b: 2 }]; if (x > 0) [a, b] = [b, a * 2]; return a - b; }',
  ],
  ['closures', '(x) => { const f = (k) => { if (k > x) return k; return x * 2; }; return f(1) + f(3); }'],
  ['default arguments', '(x, y = x > 0 ? 1 : 2) => x + y'],
  ['rest and spread', '(...xs) => { const f = (a, ...r) => a + r.length; return f(...xs, ...[1, 2]); }'],
  [
    'optional chaining',
    '(x) => { const o = { f: (v) => (v > 0 ? v : 0), n: null }; return o.f?.(x) + (o.n?.f(x) ?? 1); }',
  ],
  [
    'templates and typeof',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the program's
    '(x) => { const s = `${typeof null}${1 + 1}`; if (x > 0) x += s.length; return x; }',
  ],
  [
    'a labelled loop of numbers',
    '(x) => { let s = 0; a: for (let i = 0; i < 3; i++) { for (let j = 0; j < 3; j++) { if (j > i) continue a; s += x; } } return s; }',
  ],
  [
    'switch on a number',
    '(x) => { let s = 0; for (const k of [1, 2, 3]) { switch (k) { case 1: s += x; break; case 2: if (x > 0) s += 1; default: s += 2; } } return s; }',
  ],
  ['try and finally', '(x) => { let s = 0; try { if (x > 0) s = x; } finally { s += 1; } return s; }'],
  ['the comma', '(x) => { let s = (x += 1, x * 2); return s; }'],
  [
    'several values',
    '(x) => { let s = 0; for (const [i, k] of [[1, 2], [3, 4]]) { if (x > i) s += k; } return s; }',
  ],
])('%s', (_, text) => {
  test.each([-3, 1, 2.5, 4])('of %d', (x) => {
    const expected = plain(text)(x);
    expect(converted(text)(x)).toBe(expected);
    expect(values(converted(text)(constant(x)))).toBeCloseTo(Number(expected), 4);
    expect(values(graphOf(text)(constant(x)))).toBeCloseTo(Number(expected), 4);
  });
});

test('classes in converted code, and converted methods', () => {
  const { f } = moduleOf(
    `import * as tf from 'eagre';
class Base { scale(x) { return x * 2; } }
class Net extends Base {
  #steps = 0;
  static low = 0;
  constructor(low) { super(); this.low = low; }
  get steps() { return this.#steps; }
  scale(x) { this.#steps++; if (x > Net.low) return super.scale(x); return x; }
}
export const f = tf.function((x) => { const net = new Net(1); const y = net.scale(x) + net.scale(-x); return [y, net.steps]; });`,
    'f',
    { tf: { ...core, function: tfFunction } },
  );
  expect(values(f?.(constant(3)))).toEqual([3, 2]);
});

test('async functions and generators in converted code stay as they are', async () => {
  const text =
    '(x) => { const wait = async (v) => { if (v > 0) return await v; return 0; }; function* two() { yield 1; yield x; } return [wait(2), ...two()]; }';
  const [promise, ...rest] = converted(text)(3) as [Promise<number>, ...number[]];
  expect([await promise, ...rest]).toEqual([2, 1, 3]);
});

describe('assertions', () => {
  test('of the console are checked at each run', () => {
    const log = vi.spyOn(console, 'assert').mockImplementation(() => undefined);
    const f = graphOf(`(x) => { console.assert(x > 0, 'must be positive'); return x * 2; }`);
    expect(values(f(constant(2)))).toBe(4);
    expect(() => f(constant(-2))).toThrow(/test:1:\d+: must be positive/);
    expect(log).toHaveBeenCalledWith(true, 'must be positive');
    converted(`(x) => { console.assert(x > 0, 'no'); }`)(constant(-1));
    expect(log).toHaveBeenLastCalledWith(false, 'no');
  });

  test('of Node are, too', () => {
    const assert = (value: unknown): void => {
      if (!value) throw new Error('assert');
    };
    const { f } = moduleOf(
      `import assert from 'node:assert';\nimport * as tf from 'eagre';\nexport const f = tf.function((x) => { assert(x.less(3)); assert.ok(x > 0); return x; });`,
      'f',
      { tf: { ...core, function: tfFunction }, assert: Object.assign(assert, { ok: assert }) },
    );
    expect(values(f?.(constant(2)))).toBe(2);
    expect(() => f?.(constant(4))).toThrow('user.ts');
    expect(() => f?.(constant(-4))).toThrow('user.ts');
  });
});

test('objects say what a loop in a graph goes through', () => {
  const over = {
    *[Symbol.iterator]() {
      yield 1;
      yield 2;
    },
    [autographIterate]: () => [10, 20, 30],
  };
  const f = graphOf('(x) => { for (const v of over) { if (x > 25) break; x += v; } return x; }', { over });
  expect([0, 20].map((x) => values(f(constant(x))))).toEqual([30, 30]);
  expect(converted('(x) => { for (const v of over) x += v; return x; }', { over })(0)).toBe(3);
  const endless = {
    [Symbol.iterator]: () => [][Symbol.iterator](),
    [autographIterate]: (site: string) => {
      throw new core.InvalidArgumentError(`${site}: without end`);
    },
  };
  expect(() =>
    graphOf('(x) => { for (const v of endless) x += v; return x; }', { endless })(constant(1)),
  ).toThrow('test:1:10: without end');
});

test('branches may leave tensors of other sizes, not loops', () => {
  const f = graphOf(
    '(x) => { let y = x, all = { n: 1 }; if (x.sum() > 0) { y = tf.concat([x, x], 0); all = { n: 2 }; } const z = x.sum() > 9 ? y : x; return [y, z, all.n]; }',
  );
  expect([[1, 2], [-1], [5, 6]].map((x) => values(f(constant(x))))).toEqual([
    [[1, 2, 1, 2], [1, 2], 2],
    [[-1], [-1], 1],
    [[5, 6, 5, 6], [5, 6, 5, 6], 2],
  ]);
  expect(() =>
    graphOf(
      '(x) => { let y = x; while (x.sum() < 9) { if (x.sum() > 3) y = tf.concat([y, y], 0); x = x + 1; } return y; }',
    )(constant([1, 2])),
  ).toThrow('the variable y is float32 [2] before the loop and float32 [u0] after a turn of it');
});

test.each([
  [
    'dtype',
    '(x) => { let y = x; if (x > 0) y = x.cast("int32"); return y; }',
    'the variable y is int32 [] in one branch and float32 [] in the other',
  ],
  [
    'shape',
    '(x) => { let y = x; if (x > 0) y = tf.ones([2]); return y; }',
    'the variable y is float32 [2] in one branch and float32 [] in the other',
  ],
  [
    'one branch',
    '(x) => { let y; if (x > 0) { y = x; } return y; }',
    'the variable y has no value in the other: give it one before',
  ],
  [
    'the shape in a loop',
    '(x) => { let y = x; while (y.sum() < 9) y = tf.stack([y, y]); return y; }',
    'the variable y is float32 [] before the loop and float32 [2] after a turn of it',
  ],
  [
    'the dtype in a loop',
    '(x) => { let y = tf.constant(1, "int32"); while (x < 9) { x += 1; y = y.cast("float32"); } return y; }',
    'the variable y is int32 [] before the loop and float32 [] after a turn of it',
  ],
  [
    'no value before a loop',
    '(x) => { let y; while (x < 9) { if (x > 2) y = x; x += 1; } return y; }',
    'the variable y',
  ],
  [
    'a switch on a tensor',
    '(x) => { switch (x) { case 1: return 2; } return 3; }',
    'switch on a tensor cannot become part of a graph',
  ],
  ['a throw', '(x) => { if (x > 0) throw new Error("no"); return x; }', 'throw in a branch'],
  [
    'a vector as a condition',
    '(x) => { if (tf.stack([x, x])) return 1; return 2; }',
    'the condition is float32 [2], expected one bool or number',
  ],
  ['a scalar in for…of', '(x) => { for (const v of x) return v; return 2; }', 'a scalar has no rows'],
])('refused by name and line: %s', (_, text, message) => {
  expect(() => graphOf(text)(constant(1))).toThrow(message);
  expect(() => graphOf(text)(constant(1))).toThrow(/test:1:\d+/);
});

test.each([
  ['as a condition of <', (x: core.Tensor) => (Number(x) > 0 ? x : 0)],
  ['in arithmetic', (x: core.Tensor) => Number(x) * 2],
  ['in a text', (x: core.Tensor) => x.item()],
  ['in for…of', (x: core.Tensor) => [...(x as unknown as Iterable<unknown>)]],
  ['as an index', (x: core.Tensor) => [1, 2][Number(x)]],
])('without conversion, a tensor %s says what to do', (_, fn) => {
  expect(() => tfFunction(fn)(constant([1]))).toThrow(/tf\.function|autograph|tf\.cond|graph/);
});

test('places are those of the source', () => {
  const source = `import * as tf from 'eagre';\n\nexport const f = tf.function((x) => {\n  let y;\n  if (x > 0) {\n    y = x;\n  }\n  return y;\n});\n`;
  const { f } = moduleOf(source, 'f', { tf: { ...core, function: tfFunction } });
  expect(() => f?.(constant(1))).toThrow('user.ts:5:3');
  expect(() =>
    convert(`import * as tf from 'eagre';\ntf.function((x) => {\n  var y = x;\n});`, { filename: 'b.js' }),
  ).toThrow('b.js:3:3');
});
