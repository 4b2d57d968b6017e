import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import base from '../../vitest.config.ts';

// The tests that say something about native code, with time for it.
const chosen = {
  '@eagre/testing': ['src/**/*.test.ts'],
  '@eagre/backend-native': ['src/**/*.test.ts'],
  eagre: ['src/processes.test.ts'],
};

export default defineConfig({
  ...base,
  test: {
    ...base.test,
    maxWorkers: Number(process.env.EAGRE_JOBS ?? 2),
    testTimeout: 900_000,
    projects: base.test.projects
      .filter(({ test }) => chosen[test.name] !== undefined)
      .map(({ root, test }) => ({
        extends: false,
        resolve: base.resolve,
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
