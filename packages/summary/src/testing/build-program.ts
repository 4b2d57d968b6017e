/** For tests. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('..', import.meta.url));

/**
 * The path of a program that Node runs, made of sources: it imports from this folder, and from `@eagre/…`.
 * @param build that of Vite, on which only tests may depend.
 */
export async function buildProgram(
  build: (config: object) => Promise<unknown>,
  folder: string,
  source: string,
): Promise<string> {
  const cache = join(here, '../node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const work = mkdtempSync(join(cache, 'program-'));
  try {
    const entry = join(work, 'entry.ts');
    writeFileSync(entry, source.replaceAll("'./", `'${here}`));
    await build({
      configFile: false,
      logLevel: 'error',
      root: work,
      resolve: {
        alias: [
          { find: /^@eagre\/([a-z-]+)$/, replacement: `${here}../../$1/src/index.ts` },
          { find: /^@eagre\/([a-z-]+)\/internal$/, replacement: `${here}../../$1/src/internal.ts` },
        ],
      },
      ssr: { noExternal: true },
      build: { ssr: entry, outDir: folder, emptyOutDir: false, target: 'es2022', minify: false },
    });
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    return join(folder, 'entry.js');
  } finally {
    rmSync(work, { recursive: true });
  }
}
