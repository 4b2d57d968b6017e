// What setLoopOptions does, as TensorFlow's set_loop_options does (values of TensorFlow 2.21).
import '@eagre/backend-js';
import * as core from '@eagre/core';
import { constant, type Tensor } from '@eagre/core';
import { tfFunction } from '@eagre/graph';
import { expect, test } from 'vitest';
import * as autograph from './index.ts';
import { moduleOf, type Plain, values } from './testing/functions.ts';

const tf = { ...core, function: (fn: Plain) => fn, autograph };
const call = 'tf.autograph.experimental.setLoopOptions';
/** A function of a module, from its parameters and body. */
const of = (parameters: string, body: string, scope: object = {}): Plain =>
  moduleOf(
    `import * as tf from 'eagre';\nexport const f = tf.function((${parameters}) => {\n${body}\n});`,
    'f',
    { tf, ...scope },
  ).f as Plain;
const graphOf = (fn: Plain): Plain => tfFunction(fn as (...args: never[]) => unknown) as unknown as Plain;
const int = (n: number): Tensor => constant(n, 'int32');

/** Loops with at most three turns by a limit, of a bound and of the limit. */
const limited: Readonly<Record<string, string>> = {
  'a range': `let k = 0; for (const i of tf.range(n)) { ${call}({ maximumIterations: most }); k += 1; } return k;`,
  while: `let k = 0; while (k < n) { ${call}({ maximumIterations: most }); k += 1; } return k;`,
  'for with a counter': `let k = 0; for (let i = 0; i < n; i++) { ${call}({ maximumIterations: most }); k += 1; } return k;`,
  do: `let k = 0; do { ${call}({ maximumIterations: most }); k += 1; } while (k < n); return k;`,
  rows: `let k = 0; for (const row of tf.zeros([10], 'int32') + n) { ${call}({ maximumIterations: most }); k += 1; } return k;`,
  'turns before the graph': `let k = 0; while (true) { ${call}({ maximumIterations: most }); k += 1; if (k >= n) break; } return k;`,
  'a loop without braces in one': `let k = 0; for (const i of tf.range(n)) { ${call}({ maximumIterations: most }); for (const j of [1]) k += j; } return k;`,
};
test.each(Object.entries(limited))('%s ends after as many turns', (_, body) => {
  const fn = graphOf(of('n, most', body));
  for (const most of [3, int(3)]) expect(Number(values(fn(int(10), most)))).toBe(3);
  expect(Number(values(fn(int(10), 20)))).toBe(10);
  // Values alone are no loop of the graph.
  if (!body.includes('tf.zeros')) expect(Number(values(of('n, most', body)(int(10), 3)))).toBe(10);
});

test('loops that are unrolled, and those around and inside, have no limit', () => {
  const list = `let k = 0; for (const i of [1, 2, 3]) { ${call}({ maximumIterations: 2 }); k += n; } return k;`;
  expect(values(graphOf(of('n', list))(int(3)))).toBe(9);
  const inner = `let k = 0; for (const i of tf.range(n)) { for (const j of tf.range(n)) { ${call}({ maximumIterations: 2 }); k += 1; } } return k;`;
  expect(Number(values(graphOf(of('n', inner))(int(5))))).toBe(10);
  const unrolled = `let k = 0; for (const i of tf.range(n)) { for (const j of [1, 2, 3]) { ${call}({ maximumIterations: 2 }); k += 1; } } return k;`;
  expect(Number(values(graphOf(of('n', unrolled))(int(5))))).toBe(15);
});

const growing = `for (const i of tf.range(n)) { ${call}({ shapeInvariants: [[v, [null]]] }); v = tf.concat([v, i.reshape([1])], 0); } return v;`;
test('sizes that are named change from turn to turn', () => {
  const fn = of('n, v', growing);
  expect(values(fn(int(3), tf.constant([0], 'int32')))).toEqual([0, 0, 1, 2]);
  const graph = graphOf(fn);
  for (const n of [3, 0, 1])
    expect((values(graph(int(n), constant([0], 'int32'))) as number[]).length).toBe(n + 1);
  const branch = `for (const i of tf.range(n)) { ${call}({ shapeInvariants: [[v, [null, 2]]] }); v = tf.concat([v, v]); if (i > 1) break; } return v;`;
  expect((graphOf(of('n, v', branch))(int(9), constant([[1, 2]])) as Tensor).shape).toEqual([8, 2]);
  const object = `let s = { v, w: v }; for (const i of tf.range(n)) { ${call}({ shapeInvariants: [[s, { v: [null] }]] }); s = { v: tf.concat([s.v, s.w]), w: s.w.mul(2) }; } return s.v;`;
  expect(values(graphOf(of('n, v', object))(int(2), constant([1])))).toEqual([1, 1, 2]);
  expect(() =>
    graphOf(of('n, v', growing.replace(/tf\.auto[^;]*;/, '')))(int(3), constant([0], 'int32')),
  ).toThrow(/the variable v is .*setLoopOptions/);
});

test('gradients flow through a loop whose sizes change', () => {
  const fn = of(
    'n, v',
    `for (const i of tf.range(n)) { ${call}({ shapeInvariants: [[v, [null]]] }); v = tf.concat([v, v.mul(2)]); } return v.sum();`,
  );
  expect(values(graphOf((n, v) => core.mul(fn(n, v) as Tensor, 1))(int(2), constant([1])))).toBe(9);
});

test.each([
  [
    'a statement before it',
    `for (const i of tf.range(n)) { k = i; ${call}({}); } return k;`,
    /first statement of a loop/,
  ],
  ['no loop', `${call}({}); return n;`, /first statement of a loop/],
  [
    'another name',
    `const set = ${call}; for (const i of tf.range(n)) { set({}); k = i; } return k;`,
    /under its own name/,
  ],
  [
    'no variable of the loop',
    `for (const i of tf.range(n)) { ${call}({ shapeInvariants: [[n, [null]]] }); k = i; } return k;`,
    /user\.ts:3:16: shapeInvariants .* no variable of this loop; those are: k/,
  ],
  [
    'another shape',
    `let v = tf.zeros([2]); for (const i of tf.range(n)) { ${call}({ shapeInvariants: [[v, [3]]] }); v = v + 1; } return v;`,
    /shapeInvariants/,
  ],
  [
    'no pairs',
    `for (const i of tf.range(n)) { ${call}({ shapeInvariants: [null] }); k = i; } return k;`,
    /list of pairs/,
  ],
  [
    'a wrong limit',
    `for (const i of tf.range(n)) { ${call}({ maximumIterations: -1 }); k = i; } return k;`,
    /maximumIterations/,
  ],
  [
    'a wrong hint',
    `for (const i of tf.range(n)) { ${call}({ parallelIterations: 0 }); k = i; } return k;`,
    /parallelIterations/,
  ],
  [
    'an unknown option',
    `for (const i of tf.range(n)) { ${call}({ maximum: 2 }); k = i; } return k;`,
    /maximum/,
  ],
])('%s is refused', (_, body, message) => {
  expect(() => graphOf(of('n', `let k = n + 1; ${body}`))(int(3))).toThrow(message);
});

test('without conversion, and on values, it does nothing', () => {
  const { setLoopOptions } = autograph.experimental;
  expect(
    setLoopOptions({ parallelIterations: 4, swapMemory: true, maximumIterations: 1, shapeInvariants: [] }),
  ).toBe(undefined);
  const plain = tfFunction(
    (x: Tensor) => {
      setLoopOptions({ maximumIterations: 1 });
      return x;
    },
    { autograph: false },
  );
  expect(plain(constant(2)).item()).toBe(2);
  const own: unknown[] = [];
  const mine = of('n', 'let k = 0; for (const i of tf.range(n)) { setLoopOptions(i); k += 1; } return k;', {
    setLoopOptions: (i: unknown) => own.push(i),
  });
  expect(Number(values(graphOf(mine)(int(3))))).toBe(3);
  expect(own.length).toBeGreaterThan(0);
});
