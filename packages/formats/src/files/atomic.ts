import { crc32 } from '../archives/crc32.ts';
import { errorsFor } from '../errors.ts';
import { nodeBuiltin } from './node.ts';

/**
 * Writes a file so that a reader, or a crash at any moment, sees the old content or the whole new content: into a
 * temporary file of the same folder, to the disk, renamed over the target. The folder must exist. Parts are written one after the other.
 * Node only.
 *
 * @throws Node's system error; the temporary file is then gone and the target as it was.
 */
export async function writeFileAtomic(path: string, data: FileContent): Promise<void> {
  await writeFilesAtomic([[path, data]]);
}

/** The bytes of a file, or its text, or parts of it. */
export type FileContent = Uint8Array | string | Iterable<Uint8Array>;

/**
 * Writes files of which the last names the others: all of them are on the disk before the first gets its name, and the last gets its name
 * last. Each by itself is written as {@link writeFileAtomic} does. Node only.
 *
 * @throws Node's system error; the temporary files are then gone, and of the files those at the end are as they were.
 */
export async function writeFilesAtomic(
  files: readonly (readonly [path: string, data: FileContent])[],
): Promise<void> {
  const { open, rename, rm } = nodeBuiltin('node:fs').promises;
  const written = files.map(([path, data]) => ({ path, data, temporary: beginAtomic(path) }));
  try {
    for (const { data, temporary } of written) {
      const file = await open(temporary, 'wx');
      try {
        // An array of bytes is iterable too, of numbers.
        await file.writeFile(data as Uint8Array);
        await file.sync();
      } finally {
        await file.close();
      }
    }
    for (const { path, temporary } of written) await rename(temporary, path);
  } catch (error) {
    for (const { temporary } of written) await rm(temporary, { force: true });
    throw error;
  }
  for (const { path } of written) await syncFolderLater(path);
}

/** {@link writeFileAtomic}, synchronously. */
export function writeFileAtomicSync(path: string, data: Uint8Array | string): void {
  const fs = nodeBuiltin('node:fs');
  const temporary = beginAtomic(path);
  try {
    fs.writeFileSync(temporary, data, { flag: 'wx', flush: true });
    fs.renameSync(temporary, path);
  } catch (error) {
    fs.rmSync(temporary, { force: true });
    throw error;
  }
  syncFolder(path);
}

/** The name of the temporary file for a new content of `path`, after what others have left was deleted. @throws as `refuseSpecial` */
export function beginAtomic(path: string): string {
  refuseSpecial(path);
  deleteLeftovers(nodeBuiltin('node:path').dirname(path));
  return temporaryFor(path);
}

/** @throws FormatError for a pipe, a device or a folder: a rename would put a file in its place. */
export function refuseSpecial(path: string): void {
  const found = nodeBuiltin('node:fs').statSync(path, { throwIfNoEntry: false });
  if (found !== undefined && !found.isFile())
    throw errorsFor('file', path)('the target', 'a regular file or none', 'a folder, a pipe or a device');
}

/** A name for a file that is to be renamed to `path`: hidden, of the same folder, and like no other. */
export function temporaryFor(path: string, mark: string = ownMark()): string {
  const { basename, dirname, join } = nodeBuiltin('node:path');
  return join(dirname(path), `.${basename(path)}.${mark}.tmp`);
}

let machine: string | undefined;

/** Tells this machine from others that share a file system, and containers with process numbers of their own from each other. */
function machineMark(): string {
  if (machine === undefined) {
    let space = '';
    try {
      space = nodeBuiltin('node:fs').readlinkSync('/proc/self/ns/pid');
    } catch {
      // Not Linux.
    }
    const name = new TextEncoder().encode(`${nodeBuiltin('node:os').hostname()} ${space}`);
    machine = crc32(name).toString(36);
  }
  return machine;
}

/** A part of a name that is like no other, and tells which process it belongs to. */
export function ownMark(): string {
  return `${machineMark()}-${process.pid.toString(36)}-${Math.random().toString(36).slice(2)}`;
}

/** Whether a part of a name was made by {@link ownMark} in a process of this machine that has ended. */
export function isLeftover(mark: string): boolean {
  const [, where, pid] = /^([0-9a-z]+)-([0-9a-z]+)-[0-9a-z]+$/.exec(mark) ?? [];
  if (where !== machineMark() || pid === undefined) return false;
  try {
    process.kill(Number.parseInt(pid, 36), 0);
    return false;
  } catch (error) {
    // Another user's process may not be asked, but is there.
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

/** Deletes the temporary files in a folder of processes that were killed while they wrote. */
export function deleteLeftovers(folder: string): void {
  const fs = nodeBuiltin('node:fs');
  let names: string[] = [];
  try {
    names = fs.readdirSync(folder);
  } catch {
    // Whoever writes there is told.
  }
  for (const name of names) {
    const mark = /^\..+\.([0-9a-z]+-[0-9a-z]+-[0-9a-z]+)\.tmp$/.exec(name)?.[1];
    if (mark === undefined || !isLeftover(mark) || isNeeded(name, names)) continue;
    try {
      fs.rmSync(nodeBuiltin('node:path').join(folder, name), { force: true });
    } catch {
      // Somebody else's: it stays.
    }
  }
}

/** Whether a temporary file is of a checkpoint without an index, which `recoverBundle` may need. */
function isNeeded(name: string, names: readonly string[]): boolean {
  const prefix = /^\.(.+)\.(?:index|data-\d{5}-of-\d{5})\.[^.]+\.tmp$/.exec(name)?.[1];
  if (prefix === undefined || names.includes(`${prefix}.index`)) return false;
  return names.some((other) => other.startsWith(`${prefix}.data-`));
}

/** Makes the content of a file survive a power cut. */
export function syncFile(path: string): void {
  const fs = nodeBuiltin('node:fs');
  const file = fs.openSync(path, 'r+');
  try {
    fs.fsyncSync(file);
  } finally {
    fs.closeSync(file);
  }
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
