// The guides of those who come from elsewhere: each name that a table gives is here.
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import * as tf from '../src/index.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const { namesElsewhere } = (await import(`${root}apps/site/src/origins.mjs`)) as {
  readonly namesElsewhere: (
    root: string,
  ) => { readonly origin: string; readonly name: string; readonly here: string }[];
};

const found = (path: string): unknown =>
  path
    .split('.')
    .slice(1)
    .reduce((at: unknown, key) => (at as Record<string, unknown> | undefined)?.[key], tf);

test('names of other libraries lead to names that are here', () => {
  const rows = namesElsewhere(root);
  expect(rows.length).toBeGreaterThan(400);
  expect(rows.filter(({ here }) => !here.startsWith('tf.') || found(here) === undefined)).toEqual([]);
  const pairs = rows.map(({ name, here }) => `${name} ${here}`);
  expect(pairs.filter((pair, i) => pairs.indexOf(pair) !== i)).toEqual([]);
});
