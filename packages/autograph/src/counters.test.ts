// Bare numbers that count, in every kind of loop with every kind of exit: the values are those of the same program on plain numbers.
import '@eagre/backend-js';
import * as core from '@eagre/core';
import { constant, type DType, type Tensor } from '@eagre/core';
import { tfFunction } from '@eagre/graph';
import { describe, expect, test } from 'vitest';
import { converted, plain, values } from './testing/functions.ts';

/** Loops with `i` as a counter, by what stands in them; `I` is its name. */
const loops: Readonly<Record<string, (body: string) => string>> = {
  for: (body) => `for (let I = 0; I < n; I++) { ${body} }`,
  'for by two': (body) => `for (let I = 1; I <= n; I += 2) { ${body} }`,
  'for downwards': (body) => `for (let I = 6; I > n - 4; --I) { ${body} }`,
  'for without a test': (body) => `for (let I = 0; ; I++) { if (I >= n) break; ${body} }`,
  while: (body) => `{ let I = 0; while (I < n) { I++; ${body} } }`,
  'while true': (body) => `{ let I = 0; while (true) { I += 1; if (I > n) break; ${body} } }`,
  do: (body) => `{ let I = 0; do { I++; ${body} } while (I < n); }`,
};
const exits: Readonly<Record<string, string>> = {
  none: '',
  break: 'if (x > 20) break;',
  continue: 'if (x > 9 && x < 20) continue;',
  return: 'if (x > 20) return [x, s, I];',
  'all of them': 'if (x > 30) return [x, I, s]; if (x > 25) break; if (x > 12) continue;',
};
/** What a number does in a turn. */
const counters: Readonly<Record<string, string>> = {
  sum: 's += I;',
  'in an if': 'if (x > 4) s = s + 1; else s -= 2;',
  'in an if without else': 'if (x > 4) { s++; }',
  'in ?:': 's = x > 4 ? s + I : s - 1;',
  'with a bound of the same kind': 's = s * 2 % 7; if (s > n) s = 0;',
  'a fraction': 's = s / 2 + I;',
  'with a tensor': 's = s + x * I;',
};
const nestings: Readonly<Record<string, (loop: (body: string) => string, body: string) => string>> = {
  one: (loop, body) => loop(body).replaceAll('I', 'i'),
  'in a branch': (loop, body) => `if (x > 0) { ${loop(body).replaceAll('I', 'i')} }`,
  'in a loop': (loop, body) =>
    `for (let j = 0; j < n; j++) { ${loop(body).replaceAll('I', 'i')} s += j; if (x > 200) break; }`,
  'around a loop': (loop, body) =>
    loop(`for (let j = 0; j < I; j++) { if (x > 100) break; s = s + j; } ${body}`).replaceAll('I', 'i'),
};
/** The dtypes of the bound and of the tensor that decides. */
const dtypes: readonly (readonly [DType, DType])[] = [
  ['int32', 'float32'],
  ['float32', 'float32'],
  ['int64', 'float64'],
  ['int32', 'int32'],
];

const ALL = process.env['EAGRE_FUZZ_RUNS'] !== undefined;
const every = Object.keys(nestings).flatMap((nesting) =>
  Object.keys(loops).map((loop) => ({ nesting, loop })),
);
/** As float32 holds them. */
const numbers = (v: unknown): unknown =>
  Array.isArray(v) ? v.map(numbers) : Number(Number(v).toPrecision(5));

describe.each(every)('$loop, $nesting', ({ nesting, loop }) => {
  test.each(Object.keys(exits))('exit: %s', (exit) => {
    for (const [i, counter] of Object.keys(counters).entries()) {
      const text = `(x, n) => { let s = 0; ${nestings[nesting]?.(
        loops[loop] as never,
        `x = x + 3; ${exits[exit]} ${counters[counter]}`,
      )} return [x, s, 0]; }`;
      // A third of the programs, each with one pair of dtypes; both differ from loop to loop.
      const at = i + Object.keys(exits).indexOf(exit) + Object.keys(loops).indexOf(loop);
      if (at % 3 !== 0 && !ALL) continue;
      const integers = counter !== 'a fraction';
      const [bound, decides] = dtypes.filter(([, d]) => integers || d !== 'int32')[
        at % (integers ? 4 : 3)
      ] as [DType, DType];
      const f = tfFunction(converted(text) as (...args: never[]) => unknown);
      for (const [x, n] of [
        [0, 4],
        [17, 5],
        [-50, 0],
      ] as const) {
        const expected = numbers(plain(text)(x, n));
        const got = values(f(...([constant(x, decides), constant(n, bound)] as never[])));
        expect(numbers(got), `${bound} ${decides} ${x} ${n}: ${text}`).toEqual(expected);
      }
    }
  });
});

const run = (text: string, ...args: readonly unknown[]): unknown =>
  values(tfFunction(converted(text, { tf: core }) as (...args: never[]) => unknown)(...(args as never[])));
const int = (...v: readonly number[]): Tensor => constant(v.length === 1 ? (v[0] as number) : v, 'int32');

test('a bare number takes the dtype of what it meets behind a branch', () => {
  expect(run('(x, n) => { let k = 1; if (x > 0) k = 2; return n.add(k); }', constant(3), int(5))).toBe(7);
  expect(run('(x, n) => n * (x > 0 ? 2 : 3)', constant(-3), int(5))).toBe(15);
  const both = tfFunction(
    converted('(x, n) => { const k = x > 0 ? 2 : 3; return [k, k * n, k * x, k / 2]; }') as never,
  );
  const [k, n, x, half] = (both as (...args: unknown[]) => Tensor[])(
    constant(3, 'float64'),
    int(5),
  ) as Tensor[];
  expect([k, n, x, half].map((t) => t?.dtype)).toEqual(['float32', 'int32', 'float64', 'float32']);
  expect(values([k, n, x, half])).toEqual([2, 10, 6, 1]);
  // A fraction is no int32, as where it stands beside one.
  expect(() => run('(x, n) => n * (x > 0 ? 2 : 0.5)', constant(3), int(5))).toThrow('int32 and float32');
});

test('a counter holds integers that float32 does not', () => {
  const text = '(n, m) => { let i = 16777214, s = 0; while (i < n) { i++; if (i > m) s++; } return [i, s]; }';
  expect(run(text, int(16_777_220), int(16_777_215))).toEqual([16_777_220, 5]);
});

test('a variable that a loop over a range assigns needs no value before', () => {
  expect(run('(n) => { let i; for (i of tf.range(n)) {} return i; }', int(4))).toBe(3);
  expect(run('(x) => { let a, b; for ([a, b] of [[x, x + 1]]) {} return a * b; }', constant(3))).toBe(12);
  expect(() => run('(n) => { let i; for (i of tf.range(n)) {} return i; }', int(0))).toThrow('makes no turn');
});

test.each([
  ['while', '(x) => { while (true) { x = x * 2; if (x > 100) return x; } }', 192],
  ['for', '(x) => { for (;;) { x = x * 2; if (x > 100) return x; } }', 192],
  ['do', '(x) => { do { x = x * 2; if (x > 100) return x; } while (true); }', 192],
  [
    'two ways out',
    '(x) => { while (true) { x = x * 2; if (x > 100) return x; if (x > 10) return -x; } }',
    -12,
  ],
  [
    'nested',
    '(x) => { while (true) { while (true) { x = x + 1; if (x > 5) break; } x = x * 2; if (x > 20) return x; } }',
    26,
  ],
  ['of one way', '(x) => { while (true) { if (x > 100) return x; else x = x * 3; } }', 243],
])('a function that returns only inside of a loop without end: %s', (_, text, expected) => {
  expect(plain(text)(3)).toBe(expected);
  expect(run(text, constant(3))).toBe(expected);
  expect(run(text, int(3))).toBe(expected);
});

test('elements of lists that a call has made are assigned', () => {
  const sort = `(x) => {
    const a = MAKE;
    for (let i = 0; i < a.length; i++)
      for (let j = 0; j + 1 < a.length - i; j++)
        if (a[j] > a[j + 1]) [a[j], a[j + 1]] = [a[j + 1], a[j]];
    return tf.stack(a);
  }`;
  for (const make of [
    'tf.unstack(x)',
    'x.unstack()',
    'tf.split(x, 4).map((v) => v.reshape([]))',
    'Array.from(tf.unstack(x))',
    'tf.unstack(x).slice()',
  ])
    expect(run(sort.replace('MAKE', make), int(3, 1, 4, 2)), make).toEqual([1, 2, 3, 4]);
});

describe('operators of bits and signs', () => {
  const pairs = [
    [12, 10],
    [-7, 3],
    [5, 0],
  ] as const;
  test.each(['a & b', 'a | b', 'a ^ b', 'a << b', 'a >> b', '~a', '+a', '-(+a)', '(a | 0) + (b & 1)'])(
    '%s',
    (op) => {
      const text = `(a, b) => { let c = ${op}; if (a > 3) c = c + 1; return c; }`;
      for (const [a, b] of pairs) {
        const expected = plain(text)(a, b);
        expect(run(text, int(a), int(b)), `${op} ${a} ${b}`).toBe(expected);
        expect(values(converted(text)(int(a), int(b)))).toBe(expected);
        expect(converted(text)(a, b)).toBe(expected);
      }
    },
  );
  test('in assignments, of counters, of bools and of unsigned integers', () => {
    const counts =
      '(n) => { let m = 0; for (let i = 0; i < n; i++) { m |= 1 << i; m ^= i & 1; m >>= 0; } return m; }';
    expect(run(counts, int(5))).toBe(plain(counts)(5));
    expect(run('(a) => [a & true, a | false, a ^ true, ~a]', constant(true))).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(run('(a) => a >>> 1', constant(7, 'uint8'))).toBe(3);
    expect(() => run('(a) => a >>> 1', int(-7))).toThrow('>>> of int32');
    expect(() => run('(a) => a & 1', constant(1.5))).toThrow('BitwiseAnd');
  });
});
