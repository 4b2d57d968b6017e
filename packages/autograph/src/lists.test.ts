// Lists that loops of graphs fill by push.
import '@eagre/backend-js';
import { GradientTape } from '@eagre/autodiff';
import * as core from '@eagre/core';
import { constant } from '@eagre/core';
import { tfFunction } from '@eagre/graph';
import { expect, test } from 'vitest';
import { converted, values } from './testing/functions.ts';

const traced = (text: string, ...args: unknown[]): unknown =>
  values(tfFunction(converted(text, { tf: core }) as (...args: never[]) => unknown)(...(args as never[])));
const rows = (): core.Tensor => constant([1, 2, 3]);

test.each([
  [
    'one element a turn',
    '(x) => { const out = []; for (const v of x) out.push(v * 2); return tf.stack(out); }',
    [2, 4, 6],
  ],
  [
    'several, and some before and behind',
    '(x) => { let out = []; out.push(0); for (const v of x) { out.push(v); out.push(-v); } out.push(9); return out; }',
    [0, 1, -1, 2, -2, 3, -3, 9],
  ],
  [
    'elements of several shapes',
    '(x) => { const out = []; for (const v of x) { out.push(v); out.push([v, tf.ones([2]) * v]); } return out; }',
    [1, [1, [1, 1]], 2, [2, [2, 2]], 3, [3, [3, 3]]],
  ],
  [
    'numbers',
    '(x) => { const out = []; let s = 0; for (const v of x) { s += v; out.push(1); } return [s, out.length, ...out]; }',
    [6, 3, 1, 1, 1],
  ],
  [
    'two loops in each other',
    '(x) => { const out = []; for (const v of x) for (const w of x) out.push(v * w); return tf.stack(out); }',
    [1, 2, 3, 2, 4, 6, 3, 6, 9],
  ],
  [
    'a loop of a loop',
    '(x) => { const out = []; for (const v of x) { const row = []; for (const w of x) row.push(v + w); out.push(tf.stack(row)); } return tf.stack(out); }',
    [
      [2, 3, 4],
      [3, 4, 5],
      [4, 5, 6],
    ],
  ],
  [
    'reads behind the loop',
    '(x) => { const out = []; for (const v of x) out.push(v); let s = 0; for (const o of out) s += o; return [s, out.length, out[1], out.map((o) => o + 1)]; }',
    [6, 3, 2, [2, 3, 4]],
  ],
  [
    'both branches',
    '(x) => { const out = []; for (const v of x) { if (v > 1) out.push(v); else out.push(-v); } return out; }',
    [-1, 2, 3],
  ],
  [
    'a branch without a loop',
    '(x) => { const out = [1]; const all = []; if (x.sum() > 0) all.push(2); else all.push(3); return [out, all]; }',
    [[1], [2]],
  ],
  [
    'a turn that takes back',
    '(x) => { const out = []; for (const v of x) { out.push(v); out.push(0); out.pop(); } return out; }',
    [1, 2, 3],
  ],
  [
    'the same list under two names',
    '(x) => { const out = [], same = out; for (const v of x) out.push(v); return same; }',
    [1, 2, 3],
  ],
  [
    'a function that fills it',
    '(x) => { const out = []; const add = (v) => { out.push(v * 3); }; for (const v of x) { out.push(v); add(v); } return out; }',
    [1, 3, 2, 6, 3, 9],
  ],
  [
    'bounds that are known',
    '(x) => { const out = []; for (let i = 0; i < 3; i++) out.push(x.sum() + i); return out; }',
    [6, 7, 8],
  ],
])('%s', (_, text, expected) => {
  expect(traced(text, rows())).toEqual(expected);
  expect(values(converted(text, { tf: core })(rows()))).toEqual(expected);
});

test('gradients flow through a list', () => {
  const f = tfFunction(
    converted(
      '(x, w) => { const out = []; let s = w; for (const v of x) { s = s * v; out.push(s * s); } return tf.stack(out).sum(); }',
      {
        tf: core,
      },
    ) as (x: core.Tensor, w: core.Tensor) => core.Tensor,
  );
  const w = constant(2);
  const tape = new GradientTape();
  tape.watch(w);
  const y = f(rows(), w);
  // w² (1 + 4 + 36)
  expect([values(y), values(tape.gradient(y, w))]).toEqual([164, 164]);
});

test.each([
  [
    'turns that are not known',
    '(x) => { const out = []; let s = x.sum(); while (s > 1) { out.push(s); s = s / 2; } return out; }',
    'out grows in a loop whose number of turns depends on the run',
  ],
  [
    'break',
    '(x) => { const out = []; for (const v of x) { if (v > 1) break; out.push(v); } return out; }',
    /out/,
  ],
  [
    'one branch',
    '(x) => { const out = []; for (const v of x) { if (v > 1) out.push(v); } return out; }',
    'the variable out is an array of 1 in one branch and an array of 0 in the other',
  ],
  [
    'reading in the loop',
    '(x) => { const out = [x.at(0)]; for (const v of x) out.push(out[out.length - 1]); return out; }',
    'out is read',
  ],
  [
    'another list',
    '(x) => { const out = []; const other = []; for (const v of x) { other.push(v); other.length = 0; } return out; }',
    'other is changed',
  ],
  [
    'something else',
    '(x) => { const out = []; for (const v of x) out.push("a"); return out; }',
    'out is given something',
  ],
])('refused by name and line: %s', (_, text, message) => {
  expect(() => traced(text, rows())).toThrow(message);
  expect(() => traced(text, rows())).toThrow(/test:1:\d+/);
});

test.each([
  [
    'in a branch',
    '(x) => { const l = [x, x]; if (x.sum() > 0) l[0] = x * 2; return l; }',
    [
      [2, 4, 6],
      [1, 2, 3],
    ],
  ],
  [
    'in the other branch',
    '(x) => { const l = [1, 2, "s"]; if (x.sum() < 0) l[0] = 7; return l; }',
    [1, 2, 's'],
  ],
  [
    'in branches of branches',
    '(x) => { const l = [x, 0]; if (x.sum() > 0) { if (x.max() > 9) l[0] = x * 2; else l[1] = x.sum(); } return l[1]; }',
    6,
  ],
  [
    'in a loop',
    '(x) => { const l = [0, 1]; for (const v of x) { for (let k = 0; k < l.length; k++) l[k] = l[k] * 2 + v; } return l; }',
    [11, 19],
  ],
  [
    'in turns',
    '(x) => { const l = [tf.constant(0), tf.constant(1)]; let i = x.sum() * 0; while (i < 10) { [l[0], l[1]] = [l[1], l[0] + l[1]]; i += 1; } return l[0]; }',
    55,
  ],
  ['added to', '(x) => { const l = [1, 2]; for (const v of x) l[0] += v; return l; }', [7, 2]],
  [
    'seen under another name',
    '(x) => { const l = [x]; const m = l; if (x.sum() > 0) l[0] = x * 2; return [l, m]; }',
    [[[2, 4, 6]], [[2, 4, 6]]],
  ],
  [
    'behind a jump',
    '(x) => { const l = [0]; for (const v of x) { if (v > 2) break; l[0] = v; } return l; }',
    [2],
  ],
  [
    'and a return',
    '(x) => { const l = [x.sum()]; if (l[0] > 0) { l[0] = -l[0]; return l[0]; } return l[0] * 2; }',
    -6,
  ],
])('elements of a list are assigned %s', (_, text, expected) => {
  expect(traced(text, rows())).toEqual(expected);
});

test('gradients pass through elements of lists', () => {
  const f = tfFunction(
    converted(
      '(x) => { const l = [x, x]; for (const v of tf.ones([3])) { l[1] = l[0] * x * v; l[0] = l[1]; } return l[0]; }',
      {
        tf: core,
      },
    ) as (x: core.Tensor) => core.Tensor,
  );
  const x = constant(2);
  const tape = new GradientTape();
  tape.watch(x);
  const y = f(x);
  expect(y.item()).toBe(16);
  expect(tape.gradient(y, x)?.item()).toBe(32);
});

test.each([
  [
    'grow',
    '(x) => { const l = [0]; for (const v of x) { l[1] = v; } return l; }',
    'an array of 1 before the loop and an array of 2',
  ],
  [
    'come from outside',
    '(x, l) => { if (x.sum() > 0) l[0] = x; return l; }',
    'an array from outside is changed',
  ],
  [
    'are pushed to as well',
    '(x) => { const l = [x]; if (x.sum() > 0) { l[0] = x; l.push(x); } return l; }',
    'an array from outside is changed',
  ],
  [
    'change in another function',
    '(x) => { const l = [x]; const set = () => { l[0] = x * 2; }; if (x.sum() > 0) set(); return l; }',
    'an array from outside is changed',
  ],
])('lists that %s are refused', (_, text, message) => {
  expect(() => traced(text, rows(), [constant(1)])).toThrow(message);
});

test.each([
  ['tf.reverse', '(x) => { let y = x; if (x.sum() > 0) y = tf.reverse(x, [0]); return y; }', [3, 2, 1]],
  ['x.reverse', '(x) => { let y = x; for (const v of x) y = y.reverse([0]) + v; return y; }', [9, 8, 7]],
  ['tf.sort', '(x) => { let y = -x; while (y.max() < 0) y = tf.sort(y) + 3; return y; }', [0, 1, 2]],
  ['x.sort', '(x) => (x.sum() > 0 ? (-x).sort() : x)', [-3, -2, -1]],
  ['tf.fill', '(x) => { let y = x; if (x.sum() > 0) y = y + tf.fill([3], x.max()); return y; }', [4, 5, 6]],
  [
    'a list made there',
    '(x) => { let y = x; if (x.sum() > 0) { const l = [x, -x]; y = l.reverse()[0]; } return y; }',
    [-1, -2, -3],
  ],
])('%s is no change of an array', (_, text, expected) => {
  expect(
    values(tfFunction(converted(text, { tf: core }) as (x: core.Tensor) => unknown)(constant([1, 2, 3]))),
  ).toEqual(expected);
});

test.each(['l.reverse()', 'l.sort()', 'l.fill(0)', 'l.copyWithin(0, 1)', 'bytes.fill(1)'])(
  '%s of a list from outside is refused',
  (change) => {
    const text = `(x, l) => { if (x.sum() > 0) { ${change}; } return x; }`;
    const f = converted(text, { bytes: new Uint8Array(2) });
    expect(() => tfFunction(f as (...args: unknown[]) => unknown)(rows(), [constant(1)])).toThrow(
      /(an array|an object of class Uint8Array) from outside is changed/,
    );
  },
);
