import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Alias, Plugin } from 'vite';
import { defineConfig } from 'vitest/config';
import { bundleSources, dependentsOf, entries, needs } from './tools/test-bundle.ts';

const root = fileURLToPath(new URL('.', import.meta.url));

const members = ['packages', 'apps'].flatMap((group) =>
  readdirSync(`${root}${group}`)
    .map((folder) => `${root}${group}/${folder}`)
    .filter((folder) => existsSync(`${folder}/package.json`))
    .map((folder) => ({
      folder,
      name: JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')).name as string,
    })),
);

// Tests run against sources, so that they need no build: those of packages that the tested one needs come in a bundle, which loads faster.
// With EAGRE_TEST_SOURCES=1, and while vitest watches, every file comes by itself.
const shared = globalThis as { testBundle?: ReturnType<typeof bundleSources> };
if (process.argv.includes('run') && process.env.EAGRE_TEST_SOURCES === undefined)
  // Vitest evaluates this file for each project.
  shared.testBundle ??= bundleSources(`tests-${process.pid}`);
const bundled = await shared.testBundle;

function aliases(folder: string): Alias[] {
  // Tests of the umbrella import its entries only, so the bundle's will do: nothing of it is there twice.
  const sources = folder === 'eagre' ? new Set() : dependentsOf(folder);
  return [...entries].map(([name, entry]) => ({
    find: new RegExp(folder === entry.folder ? `^(${name}|\\.\\./src/${entry.entry}\\.ts)$` : `^${name}$`),
    replacement: bundled === undefined || sources.has(entry.folder) ? entry.source : bundled(entry),
  }));
}

// Everything that tests draw at random comes from this seed; `pnpm fuzz` sets others.
const seed = process.env.EAGRE_FUZZ_SEED ?? '1';

/** What makes a process like new for a test file of a package, as far as the package can know it. */
function sharedProcess(folder: string): string[] {
  const has = (name: string): boolean => name === folder || needs(folder, name);
  return ['core', 'layers'].filter(has).map((name) => `${root}packages/${name}/src/testing/new-${name}.ts`);
}

/**
 * How a test file runs is said by its name. What takes long is in `pnpm test:deep`. With EAGRE_TEST_SHARED=1, which takes less time, most
 * share a process with the others of their package; those that change it (its environment, its devices, its memory) have one of their own.
 */
const lanes = [
  { lane: '', ending: '.test.ts', isolate: process.env.EAGRE_TEST_SHARED === undefined },
  { lane: ':process', ending: '.process.test.ts', isolate: true },
  { lane: ':deep', ending: '.deep.test.ts', isolate: true },
];
const endings = lanes.map(({ ending }) => ending);

/** The endings of the test files of a package. */
function endingsIn(folder: string): ReadonlySet<string | undefined> {
  const files = ['src', 'tests']
    .filter((name) => existsSync(`${folder}/${name}`))
    .flatMap((name) => readdirSync(`${folder}/${name}`, { recursive: true, encoding: 'utf8' }));
  // The last one that fits is the longest.
  return new Set(files.map((file) => endings.findLast((ending) => file.endsWith(ending))));
}

/** Gives the properties of a test file the seed. Behind the file's code, so that lines keep their numbers; tests run later. */
const seedProperties: Plugin = {
  name: 'seed-properties',
  enforce: 'pre',
  transform(code, id) {
    if (!id.endsWith('.test.ts') || !code.includes("from 'fast-check'")) return undefined;
    if (!/^import fc\b.* from 'fast-check'/m.test(code))
      throw new Error(`${id}: import fast-check as \`fc\`, so that it gets its seed`);
    return {
      code: `${code}\nfc.configureGlobal({ ...fc.readConfigureGlobal(), seed: ${Number(seed)} });\n`,
      map: null,
    };
  },
};

export default defineConfig({
  plugins: [seedProperties],
  // Node 20 has neither `using` nor decorators.
  esbuild: { target: 'es2022' },
  test: {
    pool: 'forks',
    execArgv: ['--expose-gc'],
    maxWorkers: 2,
    // Tests are not held to a time: this ends those that hang.
    testTimeout: 1_200_000,
    hookTimeout: 1_200_000,
    expect: { poll: { timeout: 300_000, interval: 5 } },
    env: { EAGRE_FUZZ_SEED: seed },
    projects: members.flatMap(({ name, folder }) => {
      const found = endingsIn(folder);
      return lanes
        .filter(({ ending }) => found.has(ending))
        .map(({ lane, ending, isolate }) => ({
          extends: true,
          root: folder,
          resolve: { alias: aliases(basename(folder)) },
          test: {
            name: `${name}${lane}`,
            include: [`{src,tests}/**/*${ending}`],
            exclude: lane === '' ? endings.slice(1).map((other) => `**/*${other}`) : [],
            isolate,
            setupFiles: isolate ? [] : sharedProcess(basename(folder)),
            globalSetup: existsSync(`${folder}/src/testing/setup.ts`) ? ['src/testing/setup.ts'] : [],
          },
        }));
    }),
  },
});
