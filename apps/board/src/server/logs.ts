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
    const files = [...this.#files.values()].flatMap(({ path, problem }) =>
      problem === undefined ? [] : [{ file: relative(this.root, path), message: problem }],
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

  /** Paths of event files, with their runs, in the order in which they are to be read. */
  async #find(): Promise<Map<string, string>> {
    const root = await realpath(this.root);
    const files: (readonly [path: string, run: string])[] = [];
    for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
      if (!entry.name.includes('tfevents') || entry.isDirectory()) continue;
      const path = join(entry.parentPath, entry.name);
      if (entry.isSymbolicLink()) {
        const target = await realpath(path).catch(() => '');
        if (!target.startsWith(root + sep)) continue;
      } else if (!entry.isFile()) continue;
      files.push([path, relative(root, entry.parentPath).split(sep).join('/') || '.']);
    }
    return new Map(files.sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

class LogFile {
  readonly path: string;
  readonly run: string;
  problem: string | undefined;
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
    if (this.problem !== undefined) return false;
    let file: FileHandle | undefined;
    const before = run.version;
    try {
      file = await open(this.path, 'r');
      this.#inode = (await file.stat()).ino;
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
    } finally {
      await file?.close();
    }
    return run.version !== before || this.problem !== undefined;
  }
}
