// Sources for processes that tests start: bundled once, they load many times faster than file by file.
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { BuildOptions } from 'esbuild';
import { packages, sourceOptions } from './sources.ts';
import { temporaryFolder } from './temporary.ts';

/** @returns the folder of the bundle, which is removed at the end of the test file that loads. */
async function bundle(options: BuildOptions): Promise<string> {
  const { build } = await import('esbuild');
  const outdir = temporaryFolder('bundle');
  await build({ ...sourceOptions, ...options, outdir, outExtension: { '.js': '.mjs' } });
  return outdir;
}

/**
 * Bundles a source with all that it imports, for Node. To be called while a test file loads.
 * @param entry the source, from the folder of all packages on: `eagre/src/index.ts`
 * @returns the URL of the module
 */
export async function bundled(entry: string): Promise<string> {
  const folder = await bundle({ entryPoints: [join(packages, entry)] });
  return pathToFileURL(join(folder, basename(entry).replace(/\.ts$/, '.mjs'))).href;
}

/**
 * The same of a program that a test file has as a text.
 * @param from the folder that its relative imports begin at, from that of all packages on: `summary/src`
 * @returns the path of the program
 */
export async function bundledProgram(contents: string, from: string): Promise<string> {
  const folder = await bundle({
    stdin: { contents, resolveDir: join(packages, from), sourcefile: 'program.ts', loader: 'ts' },
  });
  return join(folder, 'stdin.mjs');
}
