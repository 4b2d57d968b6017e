// What the files of addons say, of every platform that has been built here: by this machine's compiler, by `pnpm pack:native --target …`, and packed.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const platforms = readdirSync(join(root, 'native/platforms'));

const { mistakes } = await import(join(root, 'tools/platforms/check.mjs'));

/** What the checker says of a file; empty where all is as it should be. */
const check = (platform: string, file: string): string => mistakes(platform, readFileSync(file)).join('\n');

const addonsIn = (folder: string): string[] =>
  existsSync(folder)
    ? readdirSync(folder)
        .filter((name) => ['eagre.node', 'eagre_codecs.node', 'eagre_cuda.node'].includes(name))
        .map((name) => join(folder, name))
    : [];
const built: [string, string][] = platforms.flatMap((platform) =>
  [`native/build-${platform}/Release`, `native/platforms/${platform}`]
    .flatMap((folder) => addonsIn(join(root, folder)))
    .map((file): [string, string] => [platform, file]),
);

describe.skipIf(built.length === 0)('addons for other platforms', () => {
  test.each(built)('%s: %s', (platform, file) => {
    expect(check(platform, file)).toBe('');
  });
});

describe.skipIf(process.platform !== 'linux' || process.env['EAGRE_SANITIZED'] !== undefined)(
  'the addons of this machine',
  () => {
    const own = `linux-${process.arch}`;
    const addons = addonsIn(join(root, 'native/build/Release'));

    test.each(addons)('%s is as its package promises', (file) => {
      expect(check(own, file)).toBe('');
    });

    // It has its libraries beside it.
    const others = join(root, 'native/build/Release/eagre_distribute.node');
    test.skipIf(!existsSync(others))('are refused where they need functions that the system lacks', () => {
      expect(check(own, others)).toMatch(/it needs functions that nobody has: .*gloo/);
    });

    test.skipIf(addons.length === 0)('are refused for other platforms', () => {
      for (const platform of platforms.filter((name) => name !== own)) {
        const said = check(platform, addons[0] as string);
        if (platform.startsWith('linuxmusl') && platform.endsWith(process.arch))
          expect(said).toMatch(/it is for glibc/);
        else expect(said).toMatch(new RegExp(`it is for linux on ${process.arch}`));
      }
    });
  },
);

test('the table of platforms, the packages and the loader agree', async () => {
  const { targets } = await import(join(root, 'tools/platforms/targets.mjs'));
  expect(Object.keys(targets).sort()).toEqual(platforms);
  const manifest = (folder: string) => JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
  for (const [name, { os, cpu, libc }] of Object.entries<Record<string, string>>(targets)) {
    const { name: called, publishConfig } = manifest(`native/platforms/${name}`);
    expect(called).toBe(`@eagre/native-${name}`);
    expect(publishConfig).toEqual({
      main: 'eagre.node',
      os: [os],
      cpu: [cpu],
      ...(libc && { libc: [libc] }),
    });
  }
  const { optionalDependencies } = manifest('packages/backend-native');
  expect(Object.keys(optionalDependencies)).toEqual(platforms.map((name) => `@eagre/native-${name}`));
  expect(readFileSync(join(root, 'packages/backend-native/src/load.ts'), 'utf8')).toContain(
    platforms.map((name) => `  '${name}',\n`).join(''),
  );
});

test('every function of Node-API that the addon calls is looked for on Windows', () => {
  const listed = readFileSync(join(root, 'native/binding/host_functions.def'), 'utf8').matchAll(
    /^HOST\((\w+)\)$/gm,
  );
  const names = [...listed].map(([, name]) => name as string);
  expect(names).toEqual([...new Set(names)].sort());
  const sources = readdirSync(join(root, 'native/binding')).filter((name) => /\.(cc|h)$/.test(name));
  const called = sources.flatMap((name) =>
    [...readFileSync(join(root, 'native/binding', name), 'utf8').matchAll(/\b(napi_\w+)\(/g)].map(
      ([, f]) => f as string,
    ),
  );
  expect(called.filter((name) => !names.includes(name))).toEqual([]);
});
