// The workflows of GitHub, as far as they can be read without it.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const workflows = join(root, '.github/workflows');
const names = readdirSync(workflows);
const actionlint = process.env['EAGRE_ACTIONLINT'] || 'actionlint';
const isThere = spawnSync(actionlint, ['--version']).status === 0;
if (!isThere) console.log('Workflows are not linted: actionlint is not on the path');

test.skipIf(!isThere)('actionlint has nothing to say', () => {
  const { stdout, status } = spawnSync(
    actionlint,
    ['-no-color', ...names.map((name) => join(workflows, name))],
    {
      encoding: 'utf8',
    },
  );
  expect(stdout).toBe('');
  expect(status).toBe(0);
});

test('workflows run only commands that there are', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const texts = names.map((name) => readFileSync(join(workflows, name), 'utf8'));
  const called = texts.flatMap((text) =>
    [...text.matchAll(/\b(?:pnpm|npm run) ([a-z][\w:]*)/g)].map(([, name]) => name as string),
  );
  expect(called).toContain('release');
  expect(called.filter((name) => !['install', ...Object.keys(scripts)].includes(name))).toEqual([]);
});

test('workflows name every version of Node and every platform that there is a package for', async () => {
  const { targets } = (await import(join(root, 'tools/platforms/targets.mjs'))) as {
    targets: Record<string, unknown>;
  };
  const text = readFileSync(join(workflows, 'ci.yml'), 'utf8');
  const named = [...text.matchAll(/target: ([\w-]+),/g)].map(([, name]) => name as string);
  expect(named.sort()).toEqual(Object.keys(targets).sort());
  for (const [, versions] of text.matchAll(/node: \[(.*)\]/g)) expect(versions).toBe('20, 22, 24');
});
