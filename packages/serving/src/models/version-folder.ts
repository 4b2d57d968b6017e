// Versions on disk: DIR/1, DIR/2, … with a SavedModel in each.
import { nodeBuiltin } from '@eagre/formats/internal';

const files = (): typeof import('node:fs/promises') => nodeBuiltin('node:fs').promises;

/** A folder that holds a version. */
export interface VersionFolder {
  readonly version: number;
  readonly path: string;
  /** Sizes and times of its files: another one when something has changed. */
  readonly fingerprint: string;
}

/** Whether a folder holds a SavedModel. */
export async function holdsModel(path: string): Promise<boolean> {
  const names = await namesIn(path);
  return names.includes('saved_model.pb');
}

/** The folders of versions in a folder: those whose names are numbers and that hold a SavedModel. */
export async function versionFolders(base: string): Promise<VersionFolder[]> {
  const found = new Map<number, VersionFolder>();
  for (const name of await namesIn(base)) {
    const version = versionOf(name);
    const path = `${base}/${name}`;
    if (version === undefined || found.has(version) || !(await holdsModel(path))) continue;
    const fingerprint = await fingerprintOf(path);
    if (fingerprint !== undefined) found.set(version, { version, path, fingerprint });
  }
  return [...found.values()];
}

/** The version that a folder's name tells: `1`, `00000123`. */
export function versionOf(name: string): number | undefined {
  if (!/^\d{1,20}$/.test(name)) return undefined;
  const version = Number(name);
  return Number.isSafeInteger(version) ? version : undefined;
}

/** Sorted, so that of two folders for one version, such as `1` and `01`, it is always the same one that counts. */
async function namesIn(path: string): Promise<string[]> {
  try {
    return (await files().readdir(path)).sort();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // What is gone or no folder holds nothing; whatever else is wrong shall be known.
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw error;
  }
}

/** undefined where a file vanishes meanwhile. */
export async function fingerprintOf(path: string): Promise<string | undefined> {
  try {
    const names = (await files().readdir(path, { recursive: true })).sort();
    const stats = await Promise.all(names.map((name) => files().stat(`${path}/${name}`)));
    return stats.map(({ size, mtimeMs }, i) => `${names[i]}:${size}:${mtimeMs}`).join('\n');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
