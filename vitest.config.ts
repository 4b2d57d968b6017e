import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
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
  { find: new RegExp(`^${name}/(internal|plugin|register)$`), replacement: `${folder}/src/$1.ts` },
]);

export default defineConfig({
  resolve: { alias },
  // Node 20 has neither `using` nor decorators.
  esbuild: { target: 'es2022' },
  test: {
    pool: 'forks',
    execArgv: ['--expose-gc'],
    maxWorkers: 2,
    testTimeout: 60_000,
    projects: members.map(({ name, folder }) => ({
      extends: true,
      root: folder,
      test: { name, include: ['src/**/*.test.ts'] },
    })),
  },
});
