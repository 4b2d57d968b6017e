import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const packages = fileURLToPath(new URL('../../../', import.meta.url));

/**
 * Runs a program in a process of its own, on the sources: it imports `@eagre/…` as users do.
 * @param build that of Vite, on which only tests may depend.
 */
export async function runProcess(
  build: (config: object) => Promise<unknown>,
  program: string,
): Promise<SpawnSyncReturns<string>> {
  // Here, so that what is not bundled is found.
  const cache = join(packages, 'layers/node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'process-'));
  try {
    const entry = join(folder, 'entry.ts');
    writeFileSync(entry, program);
    await build({
      configFile: false,
      logLevel: 'error',
      root: folder,
      resolve: {
        alias: [
          { find: /^@eagre\/([a-z-]+)$/, replacement: `${packages}$1/src/index.ts` },
          { find: /^@eagre\/([a-z-]+)\/internal$/, replacement: `${packages}$1/src/internal.ts` },
        ],
      },
      ssr: { noExternal: true, external: ['cli-progress', 'h5wasm'] },
      build: { ssr: entry, outDir: folder, emptyOutDir: false, target: 'es2022', minify: false },
    });
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    return spawnSync(process.execPath, [join(folder, 'entry.js')], { encoding: 'utf8', timeout: 30_000 });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
