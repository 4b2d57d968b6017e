import { expect, test } from 'vitest';
import { AutographError } from '../errors.ts';
import { codeFrame, placeOf } from './place.ts';

test('the place of an error, whatever its file is called', () => {
  expect(placeOf(new AutographError('C:\\a b\\c.ts:12:3', 'no'))).toEqual({
    file: 'C:\\a b\\c.ts',
    line: 12,
    column: 2,
  });
  expect(placeOf(new AutographError('somewhere', 'no'))).toBeUndefined();
});

test.each([
  ['the first line', 'one\ntwo\nthree', 1, 1, ['1 | one', '  |  ^', '2 | two']],
  ['the last line', 'one\r\ntwo\r\nthree', 3, 4, ['1 | one', '2 | two', '3 | three', '  |     ^']],
  ['tabs', 'a\n\tif (\tb)', 2, 6, ['1 | a', '2 | \tif (\tb)', '  | \t    \t^']],
  [
    'numbers of other widths',
    Array.from({ length: 12 }, (_, i) => `x${i}`).join('\n'),
    9,
    0,
    [' 7 | x6', ' 8 | x7', ' 9 | x8', '   | ^', '10 | x9'],
  ],
])('a frame of code: %s', (_, source, line, column, expected) => {
  expect(codeFrame(source, { file: 'a.ts', line, column }).split('\n')).toEqual(expected);
});
