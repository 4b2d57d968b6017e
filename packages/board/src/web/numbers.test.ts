import { expect, test } from 'vitest';
import { duration, short } from './numbers.ts';

test('numbers are short', () => {
  expect([0, 1, -2.5, 0.1, 123456, 1.5e6, 1e30, 1.75e31, 2.5e-11, -1e-7, 0.00012345678].map(short)).toEqual([
    '0',
    '1',
    '-2.5',
    '0.1',
    '123.46k',
    '1.5M',
    '1e30',
    '1.75e31',
    '2.5e-11',
    '-1e-7',
    '0.00012346',
  ]);
});

test('durations have two units', () => {
  expect([0, 0.25, 59.6, 60, 90, 3600, 3599.9, 9000, 86_400, 100_000, -90].map(duration)).toEqual([
    '0s',
    '0.25s',
    '59.6s',
    '1m',
    '1m 30s',
    '1h',
    '1h',
    '2h 30m',
    '1d',
    '1d 4h',
    '-1m 30s',
  ]);
});
