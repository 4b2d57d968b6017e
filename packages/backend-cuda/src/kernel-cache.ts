// Kernels that NVRTC compiled, on the disk, so that the next process need not.

import { nodeBuiltin, sha256, sha256Digits } from './node.ts';

const MAGIC = new TextEncoder().encode('EAGRECU1');
/** The mark, and the SHA-256 of what follows. */
const HEAD = MAGIC.length + 32;
const MOST_BYTES = 256 * 2 ** 20;
/** Files that a process began and did not finish are removed when they are so old, in milliseconds. */
const STALE = 3_600_000;

/**
 * A folder of images. Several processes may use it at once: a file appears whole, under the name of its key. One that is damaged is taken for absent.
 * In a folder that cannot be written, nothing new is kept.
 */
export class KernelCache {
  readonly #folder: string;
  readonly #most: number;
  /** How many bytes may be written before the folder is looked through again. */
  #left = 0;
  #isWritable = true;

  /** @param most bytes that the folder may have; those files go first that were not used for the longest time. */
  constructor(folder: string, most: number = MOST_BYTES) {
    this.#folder = folder;
    this.#most = most;
  }

  #path(key: string): string {
    return nodeBuiltin('node:path').join(this.#folder, `${sha256Digits(key)}.bin`);
  }

  /** The image that was kept for a key. */
  get(key: string): Uint8Array | undefined {
    const fs = nodeBuiltin('node:fs');
    const path = this.#path(key);
    return attempt(() => {
      const file = new Uint8Array(fs.readFileSync(path));
      const image = file.subarray(HEAD);
      if (!isSame(file.subarray(0, HEAD), headOf(image))) return undefined;
      // Where nobody may write, the file keeps its old time.
      attempt(() => fs.utimesSync(path, new Date(), new Date()));
      return image;
    });
  }

  /** Keeps an image. */
  put(key: string, image: Uint8Array): void {
    if (!this.#isWritable) return;
    const fs = nodeBuiltin('node:fs');
    const path = this.#path(key);
    const part = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}.part`;
    const written = attempt(() => {
      makeFolder(this.#folder);
      fs.writeFileSync(part, Buffer.concat([headOf(image), image]));
      fs.renameSync(part, path);
      return true;
    });
    if (written === undefined) {
      attempt(() => fs.rmSync(part, { force: true }));
      this.#isWritable = false;
      return;
    }
    this.#left -= image.length + HEAD;
    if (this.#left < 0) this.#sweep();
  }

  /** Removes what is too much. Other processes may do so at the same time. */
  #sweep(): void {
    const fs = nodeBuiltin('node:fs');
    const names = attempt(() => fs.readdirSync(this.#folder)) ?? [];
    const files = names.flatMap((name) => {
      const path = nodeBuiltin('node:path').join(this.#folder, name);
      const found = attempt(() => fs.statSync(path));
      return found === undefined || !/\.(?:bin|part)$/.test(name)
        ? []
        : [{ path, size: found.size, time: found.mtimeMs }];
    });
    const remove = (path: string): unknown => attempt(() => fs.rmSync(path, { force: true }));
    let total = 0;
    for (const { path, size, time } of files.sort((a, b) => b.time - a.time)) {
      if (path.endsWith('.part')) {
        // Another process may be writing it.
        if (time < Date.now() - STALE) remove(path);
      } else if (total + size > this.#most) remove(path);
      else total += size;
    }
    this.#left = Math.min(this.#most - total, this.#most / 8);
  }
}

/** The cache of this user: none where `EAGRE_CUDA_CACHE` is 0; what it names otherwise, if it is set. */
export function openKernelCache(env: NodeJS.ProcessEnv = process.env): KernelCache | undefined {
  const given = env['EAGRE_CUDA_CACHE'];
  if (given === '0') return undefined;
  if (given) return new KernelCache(given);
  const { isAbsolute, join } = nodeBuiltin('node:path');
  const xdg = env['XDG_CACHE_HOME'];
  if (xdg && isAbsolute(xdg)) return new KernelCache(join(xdg, 'eagre', 'cuda'));
  // Users without a home have none.
  const home = attempt(() => nodeBuiltin('node:os').homedir());
  return home === undefined ? undefined : new KernelCache(join(home, '.cache', 'eagre', 'cuda'));
}

/** Makes a folder and those above it. Node's own `recursive` tries for ever below folders that take none, such as /proc. */
function makeFolder(folder: string): void {
  const fs = nodeBuiltin('node:fs');
  if (fs.existsSync(folder)) return;
  const above = nodeBuiltin('node:path').dirname(folder);
  if (above !== folder) makeFolder(above);
  try {
    fs.mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another process may have made it.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function headOf(image: Uint8Array): Uint8Array {
  return Buffer.concat([MAGIC, sha256(image)]);
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

/** What `body` gives, or undefined where the system refuses it: a cache is of use only where it works. */
function attempt<T>(body: () => T): T | undefined {
  try {
    return body();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    return undefined;
  }
}
