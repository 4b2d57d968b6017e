import { expect, test } from 'vitest';
import { parametersOf } from './parameters.ts';

type Fn = (...args: never[]) => unknown;
/** A function of this source text, as programs that are not compiled have it. */
const of = (source: string): Fn => Function(`return (${source})`)() as Fn;

test.each([
  ['x => x', ['x'], null],
  ['async x => x', ['x'], null],
  ['() => 1', [], null],
  ['(a, b) => a', ['a', 'b'], null],
  ['function f(a, $b, _c) {}', ['a', '_b', '_c'], null],
  ['async function* f(a, ...more) {}', ['a'], 'more'],
  ['({ a, b }, [c], d) => d', ['args_0', 'args_1', 'd'], null],
  ['(/* one, */ a, // two\n b) => a', ['a', 'b'], null],
  ["(a = ',)', b = [1, (2)], c = { x: ')' }) => a", ['a', 'b', 'c'], null],
  ['(a = (x, y) => x, b) => a', ['a', 'b'], null],
  ['(größe) => größe', ['größe'], null],
])('%s', (source, names, rest) => {
  const found = parametersOf(of(source));
  expect(found.parameters.map(({ name }) => name)).toEqual(names);
  expect(found.rest).toBe(rest);
});

test('methods', () => {
  const object = {
    plain(a: number, b: number) {
      return a + b;
    },
    async later(x: number) {
      return x;
    },
  };
  expect(parametersOf(object.plain as Fn).parameters.map(({ name }) => name)).toEqual(['a', 'b']);
  expect(parametersOf(object.later as Fn).parameters.map(({ name }) => name)).toEqual(['x']);
  expect(parametersOf(Math.max as Fn)).toEqual({ parameters: [], rest: null });
});

test('defaults that are words', () => {
  const fn = of("(a, b = 2, c = -1.5, d = true, e = !1, f = 'sum', g = null, h = a.x, i = {}) => a");
  expect(parametersOf(fn).parameters.map((p) => p.default)).toEqual([
    undefined,
    2,
    -1.5,
    true,
    false,
    'sum',
    null,
    undefined,
    undefined,
  ]);
});
