// Sources for processes that tests start: bundled once, they load many times faster than file by file.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Plugin } from 'esbuild';
import { afterAll } from 'vitest';
import { packages, sources } from './sources.ts';

/**
 * Bundles a source with all that it imports, for Node. To be called while a test file loads, at whose end the bundle is removed.
 * @param entry the source, from the folder of all packages on: `eagre/src/index.ts`
 * @returns the URL of the module
 */
export async function bundled(entry: string): Promise<string> {
  const { build } = await import('esbuild');
  const outdir = await mkdtemp(join(tmpdir(), 'eagre-bundle-'));
  afterAll(() => rm(outdir, { recursive: true, force: true }));
  await build({
    entryPoints: [join(packages, entry)],
    bundle: true,
    // What is imported dynamically stays so.
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    outdir,
    outExtension: { '.js': '.mjs' },
    // Modules run as they stand in the sources, all of them.
    ignoreAnnotations: true,
    keepNames: true,
    define: { 'import.meta.url': 'sourceUrl' },
    plugins: [sources, sourceUrls, thirdParties],
    logLevel: 'error',
  });
  return pathToFileURL(join(outdir, basename(entry).replace(/\.ts$/, '.mjs'))).href;
}

/** Lets each source know its own URL: what it looks for lies beside it. */
const sourceUrls: Plugin = {
  name: 'source-urls',
  setup(build) {
    build.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const code = await readFile(path, 'utf8');
      if (!code.includes('import.meta.url')) return undefined;
      const url = JSON.stringify(pathToFileURL(path).href);
      // In the first line, so that all keep their numbers.
      return { contents: `const sourceUrl = ${url}; ${code}`, loader: 'ts' };
    });
  },
};

/** Leaves packages of others where they are. */
const thirdParties: Plugin = {
  name: 'third-parties',
  setup(build) {
    build.onResolve({ filter: /^[^./]/ }, async ({ path, kind, importer, resolveDir, pluginData }) => {
      if (pluginData === thirdParties || kind === 'entry-point' || path.startsWith('node:')) return undefined;
      const found = await build.resolve(path, { kind, importer, resolveDir, pluginData: thirdParties });
      if (found.errors.length > 0) return { errors: found.errors };
      return { path: found.external ? found.path : pathToFileURL(found.path).href, external: true };
    });
  },
};
