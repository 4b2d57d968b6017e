// Lists that loops of graphs fill by push.
import '@eagre/backend-js';
import { GradientTape } from '@eagre/autodiff';
import * as core from '@eagre/core';
import { constant } from '@eagre/core';
import { tfFunction } from '@eagre/graph';
import { expect, test } from 'vitest';
import { converted, values } from './fixture.ts';

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
    '(x) => { let out = []; out.push(x[0] ?? 0); for (const v of x) { out.push(v); out.push(-v); } out.push(9); return out; }',
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
    '(x) => { const out = [x[0]]; for (const v of x) out.push(out[out.length - 1]); return out; }',
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
