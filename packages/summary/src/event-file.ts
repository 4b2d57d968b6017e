import { FailedPreconditionError, fileError, InvalidArgumentError, withFileErrors } from '@eagre/backend';
import { checkCount, checkPath, shown } from '@eagre/core/internal';
import { encodeRecord, makeFolders, tensorflow } from '@eagre/formats';
import { nodeBuiltin } from '@eagre/formats/internal';

/** How a writer keeps events back, and how it names its file. */
export interface EventFileOptions {
  /** Events that may wait in memory; one more writes them all. 10 unless given. */
  readonly maxQueue?: number;
  /** Milliseconds after which waiting events are written in any case. 120,000 unless given. */
  readonly flushMillis?: number;
  /** The end of the file's name; `.v2` unless given. */
  readonly filenameSuffix?: string;
}

const LONGEST_TIMER = 2 ** 31 - 1;
const FIRST_BUFFER = 1 << 14;

// Files of one process have numbers, so that two of the same second differ.
let nextNumber = 0;

/** Those with events in memory: a process that ends writes them. */
const waiting = new Set<EventFile>();
let atExit = false;

// A writer that nobody holds any more must not keep its file open.
const dropped = new FinalizationRegistry<number>((fd) => nodeBuiltin('node:fs').closeSync(fd));

/**
 * An event file that grows: records are appended whole, so that whatever ends the process, all but at most the last one can be read.
 */
export class EventFile {
  readonly path: string;
  readonly #maxQueue: number;
  readonly #flushMillis: number;
  #fd: number | null;
  #buffer = new Uint8Array(FIRST_BUFFER);
  #end = 0;
  #count = 0;
  #timer: NodeJS.Timeout | undefined;
  #failed: unknown;

  /**
   * Makes the folder and the file, and writes the first event, which says the version of the format.
   * @throws InvalidArgumentError for options out of range; what the file system throws.
   */
  constructor(logdir: string, options: EventFileOptions, what: string) {
    checkPath(logdir, 'the folder', what);
    const { maxQueue = 10, flushMillis = 120_000, filenameSuffix = '.v2' } = options;
    checkCount(maxQueue, 'maxQueue', what);
    checkCount(flushMillis, 'flushMillis', what);
    if (typeof filenameSuffix !== 'string' || /[/\\\0]/.test(filenameSuffix))
      throw new InvalidArgumentError(
        `filenameSuffix is ${shown(filenameSuffix)}, expected the end of a file name`,
        what,
      );
    this.#maxQueue = maxQueue;
    this.#flushMillis = Math.min(flushMillis, LONGEST_TIMER);
    [this.path, this.#fd] = withFileErrors(logdir, what, () => create(logdir, filenameSuffix));
    dropped.register(this, this.#fd, this);
    this.append(
      tensorflow.Event.encode({
        wall_time: Math.floor(Date.now() / 1000),
        file_version: 'brain.Event:2',
        source_metadata: { writer: 'eagre.summary' },
      }),
    );
    this.flush();
  }

  get closed(): boolean {
    return this.#fd === null;
  }

  /** Adds an encoded `Event`. @throws FailedPreconditionError once it is closed; what the file system throws. */
  append(event: Uint8Array): void {
    if (this.#fd === null) throw new FailedPreconditionError('the summary writer is closed', 'tf.summary');
    this.#rethrow();
    const record = encodeRecord(event);
    const end = this.#end + record.length;
    if (end > this.#buffer.length) this.#grow(end);
    this.#buffer.set(record, this.#end);
    this.#end = end;
    this.#count++;
    if (this.#count > this.#maxQueue) this.flush();
    else if (this.#timer === undefined) this.#wait();
  }

  /** Hands all that waits to the operating system. @throws what the file system throws; nothing is lost then. */
  flush(): void {
    this.#rethrow();
    if (this.#fd === null || this.#end === 0) return;
    const { writeSync } = nodeBuiltin('node:fs');
    let written = 0;
    try {
      while (written < this.#end) written += writeSync(this.#fd, this.#buffer, written, this.#end - written);
    } catch (cause) {
      throw fileError(cause, this.path, 'tf.summary');
    } finally {
      // What is left goes on where the file ends, so that a full disk breaks no record.
      this.#buffer.copyWithin(0, written, this.#end);
      this.#end -= written;
      if (this.#end === 0) this.#settle();
    }
  }

  /** Writes what waits and closes the file; again does nothing. */
  close(): void {
    if (this.#fd === null) return;
    try {
      this.flush();
    } finally {
      this.#settle();
      dropped.unregister(this);
      nodeBuiltin('node:fs').closeSync(this.#fd);
      this.#fd = null;
    }
  }

  #grow(least: number): void {
    const larger = new Uint8Array(Math.max(least, 2 * this.#buffer.length));
    larger.set(this.#buffer.subarray(0, this.#end));
    this.#buffer = larger;
  }

  #wait(): void {
    waiting.add(this);
    if (!atExit) {
      atExit = true;
      process.on('exit', flushAtExit);
    }
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      try {
        this.flush();
      } catch (error) {
        // There is no caller to tell: the next one is told.
        this.#failed = error;
      }
    }, this.#flushMillis);
    this.#timer.unref();
  }

  #settle(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#count = 0;
    waiting.delete(this);
    // One large image must not keep its memory for good.
    if (this.#buffer.length > 64 * FIRST_BUFFER) this.#buffer = new Uint8Array(FIRST_BUFFER);
  }

  #rethrow(): void {
    const error = this.#failed;
    this.#failed = undefined;
    if (error !== undefined) throw error;
  }
}

function flushAtExit(): void {
  for (const file of waiting) {
    try {
      file.flush();
    } catch (error) {
      console.error(`tf.summary: ${file.path} lacks its last events: ${(error as Error).message}`);
    }
  }
}

/** The path and the descriptor of a new file under TensorFlow's name. */
function create(logdir: string, suffix: string): [string, number] {
  const fs = nodeBuiltin('node:fs');
  const seconds = String(Math.floor(Date.now() / 1000)).padStart(10, '0');
  const host = nodeBuiltin('node:os').hostname();
  makeFolders(logdir);
  for (;;) {
    const name = `events.out.tfevents.${seconds}.${host}.${process.pid}.${nextNumber++}${suffix}`;
    const path = nodeBuiltin('node:path').join(logdir, name);
    try {
      return [path, fs.openSync(path, 'ax')];
    } catch (error) {
      // Another thread of this process has taken the number.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}
