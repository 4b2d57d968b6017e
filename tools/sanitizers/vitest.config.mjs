import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import base from '../../vitest.config.ts';

// The tests that say something about native code, with time for it.
const chosen = {
  // A page of a browser has none.
  '@eagre/testing': ['src/**/!(webgpu-browser.deep).test.ts'],
  '@eagre/backend-native': ['src/**/*.test.ts'],
  // The addon for collectives.
  '@eagre/distribute': [
    'src/cluster/rendezvous.deep.test.ts',
    'src/engine/engine.deep.test.ts',
    'src/multi-worker/multi-worker.deep.test.ts',
  ],
  // Transforms and factorizations have kernels that no sample of the conformance suite is large enough for.
  eagre: ['tests/processes.deep.test.ts', 'tests/signal.test.ts', 'tests/matrices.deep.test.ts'],
};
// A file that has moved must not leave its tests out unseen.
for (const folder of ['eagre', 'distribute'])
  for (const file of chosen[folder] ?? chosen[`@eagre/${folder}`]) {
    if (!existsSync(new URL(`../../packages/${folder}/${file}`, import.meta.url)))
      throw new Error(`packages/${folder}/${file} is not there: name the file that has its tests`);
  }

export default defineConfig({
  ...base,
  test: {
    ...base.test,
    maxWorkers: Number(process.env.EAGRE_JOBS ?? 2),
    testTimeout: 900_000,
    projects: base.test.projects
      .filter(({ test }) => chosen[test.name] !== undefined)
      .map(({ root, resolve, test }) => ({
        extends: false,
        resolve,
        esbuild: base.esbuild,
        root,
        test: {
          pool: base.test.pool,
          execArgv: base.test.execArgv,
          testTimeout: 900_000,
          name: test.name,
          include: chosen[test.name],
          setupFiles:
            process.env.EAGRE_SANITIZED === 'asan'
              ? [fileURLToPath(new URL('exact.mjs', import.meta.url))]
              : [],
        },
      })),
  },
});
