// The caller's line is among the frames of an error that are shown.
import { afterEach, expect, test, vi } from 'vitest';
import { type EagreError, InvalidArgumentError } from './errors.ts';
import { folded } from './stack.ts';

afterEach(() => vi.unstubAllEnvs());

const lines = (frames: readonly string[], limit: number): string[] =>
  folded('Error: wrong', `\n${frames.join('\n')}`, limit)
    .split('\n')
    .slice(1);
const frame = (place: string): string => `    at f (${place}:1:2)`;

test.each([
  ['npm', 'file:///home/me/app/node_modules/@eagre/core/dist/index.js', '/home/me/app/src/train.js'],
  ['npm, the umbrella', '/home/me/app/node_modules/eagre/dist/index.js', '/home/me/app/train.js'],
  [
    'pnpm',
    '/app/node_modules/.pnpm/@eagre+core@1.0.0/node_modules/@eagre/core/dist/a.js',
    '/app/node_modules/other/index.js',
  ],
  ['Windows', 'C:\\app\\node_modules\\@eagre\\core\\dist\\a.js', 'C:\\app\\eagre\\train.js'],
])('frames of the library become one line: %s', (_, own, users) => {
  const native = '    at Array.map (<anonymous>)';
  const [ours, theirs] = [frame(own), frame(users)];
  const frames = [
    ...Array<string>(20).fill(ours),
    native,
    ours,
    theirs,
    native,
    ...Array<string>(20).fill(ours),
    theirs,
  ];
  expect(lines(frames, 10)).toEqual([
    ours,
    '    … 21 more in Eagre (EAGRE_STACK=full shows them)',
    theirs,
    native,
    '    … 20 more in Eagre (EAGRE_STACK=full shows them)',
    theirs,
  ]);
  expect(lines(frames, 2)).toEqual([ours, '    … 21 more in Eagre (EAGRE_STACK=full shows them)', theirs]);
  expect(lines(Array<string>(20).fill(ours), 10)).toHaveLength(10);
  expect(lines([theirs, theirs], 10)).toEqual([theirs, theirs]);
});

/** Throws from as deep. */
function deep(n: number): never {
  if (n > 0) deep(n - 1);
  throw new InvalidArgumentError('wrong\n    at all', 'op');
}

function caught(n: number): EagreError {
  try {
    return deep(n);
  } catch (error) {
    return error as EagreError;
  }
}

test('an error shows as many frames as the program asks for, and changes nothing else', () => {
  const before = Error.stackTraceLimit;
  const error = caught(30);
  expect(Error.stackTraceLimit).toBe(before);
  expect(Object.keys(error)).toEqual(Object.keys(new InvalidArgumentError('')));
  expect(Object.keys(error)).not.toContain('stack');
  error.message = `here: ${error.message}`;
  expect(error.stack).toMatch(/^InvalidArgumentError: here: op: wrong\n {4}at all\n {4}at deep /);
  expect(error.stack?.match(/\n {4}at deep /g)).toHaveLength(before);
  expect(error.stack).toBe(error.stack);
  error.stack = 'another';
  expect(error.stack).toBe('another');
  expect(Object.freeze(caught(1)).stack).toContain('deep');
});

test('EAGRE_STACK=full shows all frames', () => {
  vi.stubEnv('EAGRE_STACK', 'full');
  expect(caught(30).stack?.match(/\n {4}at deep /g)?.length).toBeGreaterThanOrEqual(31);
});

test('what the program has for stacks is used', () => {
  const before = Error.stackTraceLimit;
  const { prepareStackTrace } = Error;
  try {
    Error.stackTraceLimit = 0;
    expect(caught(3).stack).toBe('InvalidArgumentError: op: wrong\n    at all');
    Error.stackTraceLimit = before;
    Error.prepareStackTrace = (error, sites) => [error.message, sites.length > before];
    expect(caught(30).stack).toEqual(['op: wrong\n    at all', true]);
  } finally {
    Error.stackTraceLimit = before;
    if (prepareStackTrace === undefined) Reflect.deleteProperty(Error, 'prepareStackTrace');
    else Error.prepareStackTrace = prepareStackTrace;
  }
});
