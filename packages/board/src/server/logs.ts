import { constants, type Dirent } from 'node:fs';
import { type FileHandle, open, readdir, realpath, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { RecordParser } from '@eagre/formats';
import { Run } from './run.ts';

const CHUNK_BYTES = 1 << 20;
// Other requests have their turn about this often.
const TURN_MILLIS = 20;

export interface Problem {
  readonly file: string;
  readonly message: string;
}

/** The event files below a folder, as far as they have been read. */
export class Logs {
  readonly root: string;
  #runs = new Map<string, Run>();
  #files = new Map<string, LogFile>();
  #reading: Promise<boolean> | undefined;
  #loaded = false;
  #missing = false;
  /** Folders that could not be looked into the last time. */
  #closed: readonly Problem[] = [];

  constructor(root: string) {
    this.root = root;
  }

  /** Whether all that was there at the start has been read. */
  get loaded(): boolean {
    return this.#loaded;
  }

  get runs(): ReadonlyMap<string, Run> {
    return this.#runs;
  }

  /** What could not be read, and is left out from there on. */
  get problems(): readonly Problem[] {
    const files = [...this.#closed];
    files.push(
      ...[...this.#files.values()].flatMap(({ path, problem }) =>
        problem === undefined ? [] : [{ file: relative(this.root, path), message: problem }],
      ),
    );
    if (this.#missing)
      files.push({
        file: '',
        message: `${this.root} is not there any more; what was read of it is still shown`,
      });
    return files;
  }

  /** Reads what was written since the last time; true if there was something. */
  refresh(): Promise<boolean> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #read(): Promise<boolean> {
    const found = await this.#find().catch(() => undefined);
    // A folder that is away for a moment is looked for again.
    let changed = this.#missing !== (found === undefined);
    this.#missing = found === undefined;
    if (found === undefined) return changed;
    if (await this.#forget(found)) changed = true;
    for (const [path, run] of found) {
      let file = this.#files.get(path);
      if (file === undefined) this.#files.set(path, (file = new LogFile(path, run)));
      let to = this.#runs.get(run);
      if (to === undefined) this.#runs.set(run, (to = new Run(run)));
      if (await file.read(to)) changed = true;
    }
    this.#runs = new Map([...this.#runs].sort(([a], [b]) => (a < b ? -1 : 1)));
    if (!this.#loaded) changed = this.#loaded = true;
    return changed;
  }

  /** A file that is gone, shorter or another one takes its run along, which is then read anew. */
  async #forget(found: ReadonlyMap<string, string>): Promise<boolean> {
    const stale = new Set<string>();
    for (const file of this.#files.values())
      if (!found.has(file.path) || (await file.replaced())) stale.add(file.run);
    for (const file of [...this.#files.values()]) if (stale.has(file.run)) this.#files.delete(file.path);
    for (const run of stale) this.#runs.delete(run);
    return stale.size > 0;
  }

  /** Paths of event files, with their runs, in the order in which they are to be read. @throws where the root cannot be looked into. */
  async #find(): Promise<Map<string, string>> {
    const root = await realpath(this.root);
    const files: (readonly [path: string, run: string])[] = [];
    const closed: Problem[] = [];
    const folders = [root];
    for (const folder of folders) {
      let entries: Dirent[];
      try {
        entries = await readdir(folder, { withFileTypes: true });
      } catch (error) {
        if (folder === root) throw error;
        const { code, message } = error as NodeJS.ErrnoException;
        // One that was deleted meanwhile is none.
        if (code !== 'ENOENT') closed.push({ file: relative(root, folder), message });
        continue;
      }
      for (const entry of entries) {
        const path = join(folder, entry.name);
        if (entry.isDirectory()) folders.push(path);
        else if (entry.name.includes('tfevents') && (await isLog(entry, path, root)))
          files.push([path, relative(root, folder).split(sep).join('/') || '.']);
      }
    }
    this.#closed = closed;
    return new Map(files.sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

/** Whether it is a file, or a link to one below the root. Pipes and devices are none: who opens them may wait for ever. */
async function isLog(entry: Dirent, path: string, root: string): Promise<boolean> {
  if (!entry.isSymbolicLink()) return entry.isFile();
  const target = await realpath(path).catch(() => '');
  return target.startsWith(root + sep) && ((await stat(target).catch(() => undefined))?.isFile() ?? false);
}

class LogFile {
  readonly path: string;
  readonly run: string;
  problem: string | undefined;
  /** The bytes make no sense from here on; nothing more is read. */
  #damaged = false;
  readonly #parser: RecordParser;
  #position = 0;
  #inode = 0;

  constructor(path: string, run: string) {
    this.path = path;
    this.run = run;
    this.#parser = new RecordParser({ file: path });
  }

  async replaced(): Promise<boolean> {
    const found = await stat(this.path).catch(() => undefined);
    return (
      found === undefined || found.size < this.#position || (this.#inode !== 0 && found.ino !== this.#inode)
    );
  }

  /** Reads on to the end; a record that is only half there waits for the rest. */
  async read(run: Run): Promise<boolean> {
    if (this.#damaged) return false;
    const problem = this.problem;
    this.problem = undefined;
    let file: FileHandle | undefined;
    const before = run.version;
    try {
      // What became a pipe meanwhile does not keep us waiting.
      file = await open(this.path, constants.O_RDONLY | constants.O_NONBLOCK);
      const found = await file.stat();
      if (!found.isFile()) return false;
      this.#inode = found.ino;
      let turn = performance.now();
      for (;;) {
        const chunk = new Uint8Array(CHUNK_BYTES);
        const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, this.#position);
        if (bytesRead === 0) break;
        this.#position += bytesRead;
        this.#parser.push(chunk.subarray(0, bytesRead));
        for (let record = this.#parser.next(); record !== null; record = this.#parser.next()) {
          run.add(record, this.path);
          if (performance.now() - turn < TURN_MILLIS) continue;
          await new Promise(setImmediate);
          turn = performance.now();
        }
      }
    } catch (error) {
      this.problem = error instanceof Error ? error.message : String(error);
      // What the system refuses (no permission, too many open files) it may grant the next time.
      this.#damaged = !(error instanceof Error && 'syscall' in error);
    } finally {
      await file?.close();
    }
    return run.version !== before || this.problem !== problem;
  }
}
