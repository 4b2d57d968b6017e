import { readFileBytes } from '@eagre/formats';
import { nodeBuiltin } from '@eagre/formats/internal';
import type { LoadOptions } from './options.ts';

/** A file that was found, with its content. */
export interface FoundFile {
  path: string;
  bytes: Uint8Array;
}

/** The folder of a data set below `$EAGRE_DATASETS`, if that is set. */
export function sharedFolder(dataset: string): string | undefined {
  const root = process.env['EAGRE_DATASETS'];
  return root ? nodeBuiltin('node:path').join(root, dataset) : undefined;
}

/** The cache's folder. */
export function cacheRoot(options: Pick<LoadOptions, 'cacheDir'>): string {
  const { isAbsolute, join } = nodeBuiltin('node:path');
  const { EAGRE_CACHE, XDG_CACHE_HOME } = process.env;
  const xdg = XDG_CACHE_HOME && isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : undefined;
  const user = (): string => join(xdg ?? join(nodeBuiltin('node:os').homedir(), '.cache'), 'eagre');
  return options.cacheDir ?? (EAGRE_CACHE || user());
}

/** Folders in which Keras keeps files of a data set that it has downloaded. */
export function kerasFolders(dataset: string): string[] {
  const { join } = nodeBuiltin('node:path');
  const home = process.env['KERAS_HOME'] || join(nodeBuiltin('node:os').homedir(), '.keras');
  return [join(home, 'datasets'), join(home, 'datasets', dataset)];
}

/** The cache folder of a data set. */
export function cacheFolder(dataset: string, options: LoadOptions): string {
  return nodeBuiltin('node:path').join(cacheRoot(options), 'datasets', dataset);
}

/** Reads the first file of a folder that exists under one of the names. Gives `undefined` when there is none. */
export async function findFile(folder: string, names: readonly string[]): Promise<FoundFile | undefined> {
  const { join } = nodeBuiltin('node:path');
  for (const name of names) {
    const path = join(folder, name);
    try {
      return { path, bytes: await readFileBytes(path) };
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
    }
  }
  return undefined;
}
