import { describe, expect, test } from 'vitest';
import { readLiteral } from './literal.ts';

test.each([
  ['1', 1],
  ['-2.5e3', -2500],
  ['.5', 0.5],
  ['1_000', 1000],
  ['9007199254740993', 9007199254740993n],
  [
    '[[1., 2], [3, 4,]]',
    [
      [1, 2],
      [3, 4],
    ],
  ],
  ['(1, 2)', [1, 2]],
  ['(1)', 1],
  ['(1,)', [1]],
  ['[]', []],
  ['[True, false, None]', [true, false, null]],
  ['["a\\n", \'b"\']', ['a\n', 'b"']],
  [' [ inf , -inf ] ', [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]],
])('%s', (text, value) => expect(readLiteral(text)).toEqual(value));

test('dictionaries', () => {
  expect(readLiteral("{'a': [1], 'b': 'x'}")).toEqual(
    new Map<string, unknown>([
      ['a', [1]],
      ['b', 'x'],
    ]),
  );
});

describe('what is no value', () => {
  test.each([
    '',
    '[1',
    '1 2',
    'np.ones([3])',
    'process.exit()',
    '[1; 2]',
    '"a',
    '{1: 2}',
    '[,]',
    '__proto__',
    'constructor',
    '['.repeat(1000),
  ])('%s', (text) => expect(() => readLiteral(text)).toThrow(/is no value: expected .* at place/));
});
