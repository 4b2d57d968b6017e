import type { Dirent } from 'node:fs';
import { DataLossError, InvalidArgumentError, NotFoundError } from '@eagre/backend';
import type { NamedFunction } from '@eagre/core';
import { checkFlag, checkPath, defineFunction, shown } from '@eagre/core/internal';
import { FormatError, RecordParser, tensorflow } from '@eagre/formats';
import { nodeBuiltin, notRegular, openRegular } from '@eagre/formats/internal';
import { decodeEvent, type KnownMetadata, type SummaryEvent } from './read-events.ts';

/** Options of `readEvents`. */
export interface ReadEventsOptions {
  /** Go on when the end is reached, with what is written later, also into new files; only with `for await`. */
  readonly follow?: boolean;
  /** How often it is looked for more, in milliseconds; 1000 unless given. */
  readonly pollMillis?: number;
  /** Ends following. */
  readonly signal?: AbortSignal;
}

const CHUNK_BYTES = 1 << 18;

/**
 * The events of an event file, or of all in a folder and those below it: `for (const e of tf.summary.readEvents('logs'))`, or `for await`,
 * each time from the start.
 *
 *     for (const e of tf.summary.readEvents('logs')) if (e.kind === 'scalar') console.log(e.run, e.tag, e.step, e.value);
 *
 * Files come one after another, by folder and name. A record that is only half there, as a writer at work or a crash leaves it, ends its
 * file. No more than one record and a buffer is in memory, and the metadata of tags.
 *
 * Files that are removed on the way are left out. Iterating throws NotFoundError when there is no such path, DataLossError for what is no event file or was changed.
 * @throws InvalidArgumentError for options out of range.
 */
export const readEvents: NamedFunction<
  [path: string],
  ['path'],
  ReadEventsOptions,
  Iterable<SummaryEvent> & AsyncIterable<SummaryEvent>
> = defineFunction(
  'tf.summary.readEvents',
  { path: true },
  { follow: true, pollMillis: true, signal: true },
  (path, options) => {
    const { follow = false, pollMillis = 1000, signal } = options;
    checkPath(path, 'the path', 'readEvents');
    checkFlag(follow, 'follow', 'readEvents');
    if (signal !== undefined && !(signal instanceof AbortSignal))
      throw new InvalidArgumentError(`signal must be an AbortSignal, got ${shown(signal)}`, 'readEvents');
    if (typeof pollMillis !== 'number' || !(pollMillis >= 0 && pollMillis < 2 ** 31))
      throw new InvalidArgumentError(
        `pollMillis is ${shown(pollMillis)}, expected milliseconds`,
        'readEvents',
      );
    return {
      *[Symbol.iterator]() {
        if (follow) throw new InvalidArgumentError('the option follow needs `for await`', 'readEvents');
        for (const file of new EventFolder(path).files()) yield* file.read();
      },
      async *[Symbol.asyncIterator]() {
        const folder = new EventFolder(path);
        for (;;) {
          for (const file of folder.files()) yield* file.readAsync();
          if (!follow || signal?.aborted === true) return;
          await pause(pollMillis, signal);
        }
      },
    };
  },
);

/**
 * The events of one file as TensorFlow's messages; TensorFlow 1's name. Iterating throws as `readEvents` does.
 */
export const summaryIterator: NamedFunction<
  [path: string],
  ['path'],
  unknown,
  Generator<tensorflow.Event, void, undefined>
> = defineFunction('tf.summary.summaryIterator', { path: true }, {}, function* (path) {
  checkPath(path, 'the path', 'summaryIterator');
  const tail = new EventTail(path, '.', new Map());
  for (const record of tail.records()) {
    yield inFile(path, () => tensorflow.Event.decode(record, { file: path }));
  }
});

function pause(millis: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, millis);
    signal?.addEventListener('abort', done);
  });
}

/** A file, or the event files in a folder, as far as each has been read. */
class EventFolder {
  readonly #path: string;
  readonly #tails = new Map<string, EventTail>();
  /** By run: a later file of a run need not repeat what an earlier one has said. */
  readonly #known = new Map<string, KnownMetadata>();

  constructor(path: string) {
    this.#path = path;
  }

  /** Those there are now, in order. */
  files(): readonly EventTail[] {
    return this.#list().map(([file, run]) => {
      let tail = this.#tails.get(file);
      if (tail === undefined) {
        let known = this.#known.get(run);
        if (known === undefined) this.#known.set(run, (known = new Map()));
        this.#tails.set(file, (tail = new EventTail(file, run, known)));
      }
      return tail;
    });
  }

  #list(): (readonly [file: string, run: string])[] {
    const fs = nodeBuiltin('node:fs');
    const { dirname, join, relative } = nodeBuiltin('node:path');
    const found = fs.statSync(this.#path, { throwIfNoEntry: false });
    if (found === undefined)
      throw new NotFoundError(`there is no file or folder ${this.#path}`, 'readEvents');
    if (!found.isDirectory()) return [[this.#path, '.']];
    const below = (folder: string): string[] =>
      entriesOf(folder).flatMap((entry) => {
        const path = join(folder, entry.name);
        if (entry.isDirectory()) return below(path);
        return entry.isFile() && entry.name.includes('tfevents') ? [path] : [];
      });
    const list = below(this.#path).map((file) => [file, relative(this.#path, dirname(file)) || '.'] as const);
    const key = ([file, run]: readonly [string, string]): string => `${run}\0${file}`;
    return list.sort((a, b) => (key(a) < key(b) ? -1 : 1));
  }
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return nodeBuiltin('node:fs').readdirSync(folder, { withFileTypes: true });
  } catch (cause) {
    return gone(cause) ?? [];
  }
}

/** One file, as far as it has been read. It is open only while bytes are read. */
class EventTail {
  readonly #path: string;
  readonly #run: string;
  readonly #known: KnownMetadata;
  readonly #parser: RecordParser;
  #position = 0;

  constructor(path: string, run: string, known: KnownMetadata) {
    this.#path = path;
    this.#run = run;
    this.#known = known;
    this.#parser = new RecordParser({ file: path });
  }

  *read(): Generator<SummaryEvent, void, undefined> {
    for (const record of this.records(true)) yield* this.#decoded(record);
  }

  async *readAsync(): AsyncGenerator<SummaryEvent, void, undefined> {
    const file = await opened(this.#path).catch(gone);
    if (file === null) return;
    try {
      for (;;) {
        const chunk = new Uint8Array(CHUNK_BYTES);
        const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, this.#position);
        if (bytesRead === 0) return;
        for (const record of this.#push(chunk, bytesRead)) yield* this.#decoded(record);
      }
    } finally {
      await file.close();
    }
  }

  /** @param listed whether the file was there, so that it has been removed since if it is not. */
  *records(listed = false): Generator<Uint8Array, void, undefined> {
    const fs = nodeBuiltin('node:fs');
    const fd = open(this.#path, listed);
    if (fd === null) return;
    try {
      for (;;) {
        const chunk = new Uint8Array(CHUNK_BYTES);
        const count = fs.readSync(fd, chunk, 0, CHUNK_BYTES, this.#position);
        if (count === 0) return;
        yield* this.#push(chunk, count);
      }
    } finally {
      fs.closeSync(fd);
    }
  }

  *#push(chunk: Uint8Array, count: number): Generator<Uint8Array, void, undefined> {
    this.#position += count;
    this.#parser.push(chunk.subarray(0, count));
    const next = (): Uint8Array | null => inFile(this.#path, () => this.#parser.next());
    for (let record = next(); record !== null; record = next()) yield record;
  }

  #decoded(record: Uint8Array): readonly SummaryEvent[] {
    return decodeEvent(record, this.#run, this.#path, this.#known);
  }
}

/** @throws FormatError for what is no regular file */
async function opened(path: string): Promise<FileHandle> {
  const { promises } = nodeBuiltin('node:fs');
  if ((await promises.stat(path)).isFile()) return promises.open(path, 'r');
  throw notRegular(path, 'events');
}
type FileHandle = Awaited<ReturnType<typeof import('node:fs').promises.open>>;

function open(path: string, listed: boolean): number | null {
  try {
    return inFile(path, () => openRegular(path, 'events'));
  } catch (cause) {
    gone(cause);
    if (listed) return null;
    throw new NotFoundError(`there is no ${path}`, 'summaryIterator', { cause });
  }
}

/** Files and folders may be removed while others are read. @throws `cause` for another reason why there is nothing. */
function gone(cause: unknown): null {
  const { code } = cause as NodeJS.ErrnoException;
  if (code !== 'ENOENT' && code !== 'ENOTDIR') throw cause;
  return null;
}

function inFile<T>(path: string, fn: () => T): T {
  try {
    return fn();
  } catch (cause) {
    if (!(cause instanceof FormatError)) throw cause;
    throw new DataLossError(`${path} is not an event file, or is damaged: ${cause.message}`, 'readEvents', {
      cause,
    });
  }
}
