import { errorsFor, type FormatError } from '../errors.ts';
import { nodeBuiltin } from './node.ts';

// A program may read thousands of files before the event loop comes round.
const MOST_IDLE = 16;
const MOST_BYTES = 2 ** 31;

/**
 * Opens a file to read it. Node only.
 *
 * @param format of the file, for the error
 *
 * @throws FormatError for what is no regular file: a pipe would be waited for, for ever. Node's system error, e.g. with code `ENOENT`.
 */
export function openRegular(path: string, format = 'checkpoint'): number {
  const fs = nodeBuiltin('node:fs');
  // Windows has no O_NONBLOCK, nor pipes among its files.
  const file = fs.openSync(path, fs.constants.O_RDONLY | (fs.constants.O_NONBLOCK ?? 0));
  if (fs.fstatSync(file).isFile()) return file;
  fs.closeSync(file);
  throw notRegular(path, format);
}

/** A pipe would be waited for, for ever, and a device may have no end. */
export const notRegular = (path: string, format: string): FormatError =>
  errorsFor(format, path)('the file', 'a regular one', 'a folder, a pipe or a device');

/** The bytes of a whole file, below 2 GiB. Node only. @throws as {@link openRegular}, and FormatError for more */
export function readRegularSync(path: string, format: string): Uint8Array {
  const fs = nodeBuiltin('node:fs');
  const file = openRegular(path, format);
  try {
    const { size } = fs.fstatSync(file);
    // Node's own error is a RangeError.
    if (size >= MOST_BYTES) throw errorsFor(format, path)('the size', 'less than 2 GiB', `${size} bytes`);
    return fs.readFileSync(file);
  } finally {
    fs.closeSync(file);
  }
}

interface OpenFile {
  readonly file: number;
  users: number;
  close(): void;
}

/** Open files that nobody reads, of all readers; the one that waits longest comes first. */
const idle = new Set<OpenFile>();
let scheduled = false;

/**
 * Files that are read again and again. One stays open until the event loop comes round with nobody reading it: long enough for the system to
 * see that it is read from front to back, and to read ahead; and nobody has to close anything. Node only.
 */
export class OpenFiles {
  readonly #files = new Map<string, OpenFile>();

  /** Calls `fn` with the file's descriptor. */
  use<T>(path: string, fn: (file: number) => T): T {
    const entry = this.#take(path);
    try {
      return fn(entry.file);
    } finally {
      this.#leave(entry);
    }
  }

  /** Calls `fn` with the file's descriptor, good until its promise is settled. */
  async useAsync<T>(path: string, fn: (file: number) => Promise<T>): Promise<T> {
    const entry = this.#take(path);
    try {
      return await fn(entry.file);
    } finally {
      this.#leave(entry);
    }
  }

  /** Closes those that nobody reads, at once. */
  close(): void {
    for (const entry of this.#files.values()) {
      if (entry.users > 0) continue;
      idle.delete(entry);
      entry.close();
    }
  }

  #take(path: string): OpenFile {
    let entry = this.#files.get(path);
    if (entry === undefined) {
      const fs = nodeBuiltin('node:fs');
      const file = openRegular(path);
      const close = (): void => {
        this.#files.delete(path);
        fs.closeSync(file);
      };
      entry = { file, users: 0, close };
      this.#files.set(path, entry);
    }
    idle.delete(entry);
    entry.users++;
    return entry;
  }

  #leave(entry: OpenFile): void {
    entry.users--;
    if (entry.users > 0) return;
    idle.add(entry);
    if (idle.size > MOST_IDLE) closeIdle(MOST_IDLE);
    if (scheduled) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      closeIdle(0);
    });
  }
}

/** Closes idle files until `most` are left. */
function closeIdle(most: number): void {
  for (const entry of idle) {
    if (idle.size <= most) return;
    idle.delete(entry);
    entry.close();
  }
}
