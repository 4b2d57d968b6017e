// Finding a checkpoint's index, also where its writer was killed while it gave the files their names.
import { isLeftover, syncFolder, temporaryFor } from '../files/atomic.ts';
import { nodeBuiltin } from '../files/node.ts';
import { openRegular } from '../files/open-files.ts';
import { decodeIndex, indexPath, shardPath } from './bundle-index.ts';

/** Opens a checkpoint's index. Node only. @throws FormatError when it is no file, and Node's system errors. */
export function openIndex(prefix: string): number {
  try {
    return openRegular(indexPath(prefix));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || !recoverBundle(prefix)) throw error;
    return openRegular(indexPath(prefix));
  }
}

/** The bytes of a checkpoint's index. Node only. @throws as `openIndex` */
export function readIndex(prefix: string): Uint8Array {
  const fs = nodeBuiltin('node:fs');
  const file = openIndex(prefix);
  try {
    return fs.readFileSync(file);
  } finally {
    fs.closeSync(file);
  }
}

/**
 * Ends what a writer began that was killed in between: the old index was gone, the new one had not got its name. By then all of the new
 * files were on the disk.
 *
 * @returns whether there is an index now.
 */
export function recoverBundle(prefix: string): boolean {
  const fs = nodeBuiltin('node:fs');
  const { basename, dirname } = nodeBuiltin('node:path');
  const index = indexPath(prefix);
  if (fs.existsSync(index)) return true;
  const start = `.${basename(index)}.`;
  const marks = namesIn(dirname(index))
    .filter((name) => name.startsWith(start) && name.endsWith('.tmp'))
    .map((name) => name.slice(start.length, -'.tmp'.length))
    .filter(isLeftover);
  for (const mark of marks) {
    try {
      const file = temporaryFor(index, mark);
      const { shards } = decodeIndex(fs.readFileSync(file), file);
      const files = Array.from({ length: shards }, (_, i) => shardPath(prefix, i, shards));
      const isWaiting = (path: string): boolean => fs.existsSync(temporaryFor(path, mark));
      const isThere = (path: string): boolean => fs.existsSync(path);
      // Without any, it was not yet about names: the writer never got so far.
      if (!files.some(isThere) || !files.every((path) => isThere(path) || isWaiting(path))) continue;
      for (const path of files) if (isWaiting(path)) fs.renameSync(temporaryFor(path, mark), path);
      syncFolder(index);
      fs.renameSync(file, index);
      syncFolder(index);
      return true;
    } catch {
      // No whole index, or somebody else was faster, or may do what this process may not.
    }
  }
  return fs.existsSync(index);
}

function namesIn(folder: string): string[] {
  try {
    return nodeBuiltin('node:fs').readdirSync(folder);
  } catch {
    return [];
  }
}
