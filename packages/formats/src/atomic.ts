import { nodeBuiltin } from './node.ts';

/**
 * Writes a file so that a reader, or a crash at any moment, sees the old content or the whole new content: into a
 * temporary file of the same folder, to the disk, renamed over the target. The folder must exist. Node only.
 *
 * @throws Node's system error; the temporary file is then gone and the target as it was.
 */
export async function writeFileAtomic(path: string, data: Uint8Array | string): Promise<void> {
  const { open, rename, rm } = nodeBuiltin('node:fs').promises;
  const temporary = temporaryFor(path);
  try {
    const file = await open(temporary, 'wx');
    try {
      await file.writeFile(data);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolderLater(path);
}

/** {@link writeFileAtomic}, synchronously. */
export function writeFileAtomicSync(path: string, data: Uint8Array | string): void {
  const fs = nodeBuiltin('node:fs');
  const temporary = temporaryFor(path);
  try {
    fs.writeFileSync(temporary, data, { flag: 'wx', flush: true });
    fs.renameSync(temporary, path);
  } catch (error) {
    fs.rmSync(temporary, { force: true });
    throw error;
  }
  syncFolder(path);
}

/** A name for a file that is to be renamed to `path`: hidden, of the same folder, and like no other. */
export function temporaryFor(path: string): string {
  const { basename, dirname, join } = nodeBuiltin('node:path');
  const unique = `${process.pid.toString(36)}${Math.random().toString(36).slice(2)}`;
  return join(dirname(path), `.${basename(path)}.${unique}.tmp`);
}

/** Makes renames into the folder of `path` survive a power cut. */
export function syncFolder(path: string): void {
  const fs = nodeBuiltin('node:fs');
  try {
    const folder = fs.openSync(nodeBuiltin('node:path').dirname(path), 'r');
    try {
      fs.fsyncSync(folder);
    } finally {
      fs.closeSync(folder);
    }
  } catch {
    // Windows and some network file systems cannot sync folders; the content is on the disk all the same.
  }
}

/** {@link syncFolder}, without blocking: it may have to wait for the disk. */
export async function syncFolderLater(path: string): Promise<void> {
  try {
    const folder = await nodeBuiltin('node:fs').promises.open(nodeBuiltin('node:path').dirname(path), 'r');
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  } catch {
    // As above.
  }
}
