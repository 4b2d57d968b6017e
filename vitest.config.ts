import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';

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

// Tests run against sources, so that they need no build.
const alias = members.flatMap(({ name, folder }) => [
  { find: new RegExp(`^${name}$`), replacement: `${folder}/src/index.ts` },
  { find: new RegExp(`^${name}/(image|internal|plugin|register)$`), replacement: `${folder}/src/$1.ts` },
]);

// Everything that tests draw at random comes from this seed; `pnpm fuzz` sets others.
const seed = process.env.EAGRE_FUZZ_SEED ?? '1';

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
  resolve: { alias },
  // Node 20 has neither `using` nor decorators.
  esbuild: { target: 'es2022' },
  test: {
    pool: 'forks',
    execArgv: ['--expose-gc'],
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    env: { EAGRE_FUZZ_SEED: seed },
    projects: members.map(({ name, folder }) => ({
      extends: true,
      root: folder,
      test: { name, include: ['{src,tests}/**/*.test.ts'] },
    })),
  },
});
