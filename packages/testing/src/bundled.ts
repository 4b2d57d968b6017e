// Sources for processes that tests start: bundled once, they load many times faster than file by file.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll } from 'vitest';
import { packages, sourceOptions } from './sources.ts';

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
    ...sourceOptions,
    entryPoints: [join(packages, entry)],
    outdir,
    outExtension: { '.js': '.mjs' },
  });
  return pathToFileURL(join(outdir, basename(entry).replace(/\.ts$/, '.mjs'))).href;
}
