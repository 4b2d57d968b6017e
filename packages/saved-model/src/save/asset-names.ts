// The names of files in the folder `assets`.
import { nodeBuiltin } from '@eagre/formats/internal';

/**
 * Names for files, each once; files with one path are one file.
 * @returns by path the name, and by name the path.
 */
export function assetNames(paths: readonly string[]): {
  readonly names: ReadonlyMap<string, string>;
  readonly files: ReadonlyMap<string, string>;
} {
  const { basename, extname, resolve } = nodeBuiltin('node:path');
  const names = new Map<string, string>();
  const files = new Map<string, string>();
  for (const path of paths) {
    const full = resolve(path);
    let name = [...files].find(([, known]) => resolve(known) === full)?.[0];
    if (name === undefined) {
      const base = basename(full);
      const stem = base.slice(0, base.length - extname(base).length);
      name = base;
      for (let i = 1; files.has(name); i++) name = `${stem}_${i}${extname(base)}`;
      files.set(name, path);
    }
    names.set(path, name);
  }
  return { names, files };
}
