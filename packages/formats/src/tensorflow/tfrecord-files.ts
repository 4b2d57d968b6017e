import { Deflater } from '../archives/deflater.ts';
import { Inflater } from '../archives/inflater.ts';
import { errorsFor, type FormatError } from '../errors.ts';
import { nodeBuiltin } from '../files/node.ts';
import { RecordParser, recordBytes, writeRecord } from './tfrecord.ts';

/** How the file as a whole is compressed; it does not say so itself. */
export type RecordCompression = '' | 'GZIP' | 'ZLIB';

const COMPRESSIONS: readonly string[] = ['', 'GZIP', 'ZLIB'] satisfies RecordCompression[];
const DEFAULT_BUFFER_BYTES = 256 * 1024;
// One compressed byte may become a thousand at once.
const MOST_COMPRESSED_BYTES = 16 * 1024;
// What is around the payload of a record: its length, and two checksums.
const FRAME_BYTES = 16;

/** The most bytes of a record unless told: 2 GiB, and 256 MiB where a few compressed bytes may stand for them. */
export function defaultMaxRecordBytes(compression: RecordCompression): number {
  return compression === '' ? 2 ** 31 - 1 : 2 ** 28;
}

/** Options of {@link RecordFileReader}. */
export interface RecordFileOptions {
  /** Default: none. */
  readonly compression?: RecordCompression | undefined;
  /** How many bytes are read from the file at once. Default: 256 KiB. */
  readonly bufferSize?: number | undefined;
  /** Longer records are refused. Default: {@link defaultMaxRecordBytes}. */
  readonly maxRecordBytes?: number | undefined;
}

/**
 * The payloads of a TFRecord file, each time from the start: `for (const record of reader)`, or `for await`, which leaves
 * reading and decompressing to other threads. No more than `bufferSize`, a longer record, and what the decompressor holds is in memory.
 * Payloads keep the buffer alive in which they lie. Node only.
 *
 * Iterating throws FormatError at wrong checksums, cut off records and broken compression, and Node's system errors.
 */
export class RecordFileReader implements Iterable<Uint8Array>, AsyncIterable<Uint8Array> {
  readonly path: string;
  readonly #compression: RecordCompression;
  readonly #bufferSize: number;
  readonly #maxRecordBytes: number;

  /** @throws FormatError for a compression or sizes that make no sense. */
  constructor(path: string, options: RecordFileOptions = {}) {
    this.path = path;
    this.#compression = checkCompression(options.compression, path);
    const size = checkSize('bufferSize', options.bufferSize ?? DEFAULT_BUFFER_BYTES, path);
    this.#bufferSize = this.#compression === '' ? size : Math.min(size, MOST_COMPRESSED_BYTES);
    const most = options.maxRecordBytes ?? defaultMaxRecordBytes(this.#compression);
    this.#maxRecordBytes = checkSize('maxRecordBytes', most, path);
  }

  *[Symbol.iterator](): Generator<Uint8Array, void, undefined> {
    const fs = nodeBuiltin('node:fs');
    const parser = this.#parser();
    const inflater = this.#inflater(parser);
    const file = fs.openSync(this.path, 'r');
    try {
      for (;;) {
        const chunk = new Uint8Array(this.#bufferSize);
        const count = fs.readSync(file, chunk, 0, chunk.length, null);
        inflater(chunk.subarray(0, count), count === 0);
        for (let record = parser.next(); record !== null; record = parser.next()) yield record;
        if (count === 0) break;
      }
      parser.end();
    } finally {
      fs.closeSync(file);
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    const parser = this.#parser();
    for await (const chunk of this.#stream()) {
      parser.push(new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength));
      for (let record = parser.next(); record !== null; record = parser.next()) yield record;
    }
    parser.end();
  }

  async *#stream(): AsyncGenerator<Uint8Array, void, undefined> {
    const source = nodeBuiltin('node:fs').createReadStream(this.path, { highWaterMark: this.#bufferSize });
    if (this.#compression === '') {
      yield* source;
      return;
    }
    const zlib = nodeBuiltin('node:zlib');
    const unpack = this.#compression === 'GZIP' ? zlib.createGunzip() : zlib.createInflate();
    source.on('error', (error) => unpack.destroy(error));
    try {
      yield* source.pipe(unpack);
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code?.startsWith('Z_')) throw this.#broken(cause);
      throw cause;
    } finally {
      source.destroy();
      unpack.destroy();
    }
  }

  /** Hands what is read, unpacked, to the parser. */
  #inflater(parser: RecordParser): (chunk: Uint8Array, final: boolean) => void {
    if (this.#compression === '') return (chunk) => parser.push(chunk);
    const inflater = new Inflater(this.#compression, (bytes) => parser.push(bytes));
    return (chunk, final) => {
      try {
        inflater.push(chunk, final);
      } catch (cause) {
        throw this.#broken(cause);
      }
    };
  }

  #parser(): RecordParser {
    return new RecordParser({ file: this.path, maxRecordBytes: this.#maxRecordBytes });
  }

  #broken(cause: unknown): FormatError {
    const what = `broken ${this.#compression} compression`;
    return errorsFor('TFRecord', this.path)(what, undefined, (cause as Error).message, cause);
  }
}

/** Options of {@link RecordFileWriter}. */
export interface RecordFileWriterOptions {
  /** Default: none. */
  readonly compression?: RecordCompression | undefined;
  /** How many bytes are gathered before they are written. Default: 256 KiB. */
  readonly bufferSize?: number | undefined;
  /** Adds to the end of an existing file, where the default is to begin a new one; not with `ZLIB`. */
  readonly append?: boolean | undefined;
}

/** Bytes that are on their way to the file, which has taken some of them. */
interface Waiting {
  readonly bytes: Uint8Array;
  /** Where in the file they begin. */
  readonly start: number;
  taken: number;
}

/**
 * Writes a TFRecord file. What is written is on its way to the file after `flush` or `close`. Where the file takes no more, as on a full disk,
 * methods throw Node's system error and nothing is lost: the next call goes on with what waits, in the middle of a record if need be. A record
 * that `write` threw for is not in the file, unless it is compressed. `close` leaves whole records only. Node only.
 */
export class RecordFileWriter {
  readonly path: string;
  readonly #buffer: Uint8Array;
  readonly #deflater: Deflater | undefined;
  #used = 0;
  #file: number | undefined;
  #isClosed = false;
  /** The length of the file; undefined for what has none, such as a pipe. */
  #end: number | undefined;
  #waiting: Waiting | undefined;

  /** @throws FormatError for a compression or a size that makes no sense; Node's system error when there can be no such file. */
  constructor(path: string, options: RecordFileWriterOptions = {}) {
    this.path = path;
    const compression = checkCompression(options.compression, path);
    if (options.append && compression === 'ZLIB')
      throw errorsFor('TFRecord', path)("append with compression 'ZLIB'", "'GZIP', which can go on, or none");
    this.#buffer = new Uint8Array(checkSize('bufferSize', options.bufferSize ?? DEFAULT_BUFFER_BYTES, path));
    const fs = nodeBuiltin('node:fs');
    this.#file = fs.openSync(path, options.append ? 'a' : 'w');
    const found = fs.fstatSync(this.#file);
    if (found.isFile()) this.#end = found.size;
    if (compression !== '') {
      this.#deflater = new Deflater(compression);
      try {
        this.#out(this.#deflater.header);
      } catch (error) {
        fs.closeSync(this.#file);
        throw error;
      }
    }
  }

  /** Adds a record. */
  write(payload: Uint8Array): void {
    this.#goOn();
    const size = recordBytes(payload);
    if (size > this.#buffer.length - this.#used) this.#drain();
    if (size <= this.#buffer.length) {
      this.#used = writeRecord(payload, this.#buffer, this.#used);
      return;
    }
    const record = new Uint8Array(size);
    writeRecord(payload, record, 0);
    try {
      this.#emit(record);
    } catch (error) {
      if (this.#deflater === undefined) this.#cutBack();
      throw error;
    }
  }

  /** Hands everything to the operating system, so that whoever reads the file finds it. */
  flush(): void {
    this.#goOn();
    this.#drain();
  }

  /** Closes the file until more is to be written to it. What has no length, such as a pipe, stays open. */
  release(): void {
    if (this.#file === undefined || this.#end === undefined) return;
    const file = this.#file;
    this.#file = undefined;
    nodeBuiltin('node:fs').closeSync(file);
  }

  /** Writes what is left and closes the file; then the writer can do nothing more. Closing twice is no error. */
  close(): void {
    if (this.#isClosed) return;
    try {
      this.flush();
      if (this.#deflater !== undefined) this.#out(this.#deflater.end());
    } catch (error) {
      if (this.#deflater === undefined) this.#cutBack();
      throw error;
    } finally {
      this.#isClosed = true;
      if (this.#file !== undefined) nodeBuiltin('node:fs').closeSync(this.#file);
      this.#file = undefined;
    }
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #drain(): void {
    const bytes = this.#buffer.subarray(0, this.#used);
    this.#used = 0;
    if (bytes.length > 0) this.#emit(bytes);
  }

  #emit(bytes: Uint8Array): void {
    this.#out(this.#deflater === undefined ? bytes : this.#deflater.push(bytes));
  }

  #out(bytes: Uint8Array): void {
    this.#waiting = { bytes, start: this.#end ?? 0, taken: 0 };
    try {
      this.#goOn();
    } catch (error) {
      // The buffer is used again.
      this.#waiting = { ...this.#waiting, bytes: bytes.slice() };
      throw error;
    }
  }

  /** Writes what waits. */
  #goOn(): void {
    this.#checkOpen();
    const waiting = this.#waiting;
    if (waiting === undefined) return;
    const file = this.#open();
    const fs = nodeBuiltin('node:fs');
    const { bytes } = waiting;
    while (waiting.taken < bytes.length) {
      const written = fs.writeSync(
        file,
        bytes,
        waiting.taken,
        bytes.length - waiting.taken,
        this.#end ?? null,
      );
      waiting.taken += written;
      if (this.#end !== undefined) this.#end += written;
    }
    this.#waiting = undefined;
  }

  /** Drops what waits, and of the file what is no whole record. */
  #cutBack(): void {
    const waiting = this.#waiting;
    if (waiting === undefined || this.#end === undefined) return;
    this.#waiting = undefined;
    const { bytes, start, taken } = waiting;
    let whole = 0;
    for (let size = 0; whole + FRAME_BYTES <= taken; whole += size) {
      size = FRAME_BYTES + Number(new DataView(bytes.buffer, bytes.byteOffset + whole).getBigUint64(0, true));
      if (whole + size > taken) break;
    }
    this.#end = start + whole;
    nodeBuiltin('node:fs').ftruncateSync(this.#open(), this.#end);
  }

  #open(): number {
    this.#checkOpen();
    // Where it was released: places in it are told by number.
    this.#file ??= nodeBuiltin('node:fs').openSync(this.path, 'r+');
    return this.#file;
  }

  #checkOpen(): void {
    if (this.#isClosed) throw errorsFor('TFRecord', this.path)('the writer is closed');
  }
}

function checkCompression(compression: string | undefined, path: string): RecordCompression {
  const known = compression ?? '';
  if (!COMPRESSIONS.includes(known))
    throw errorsFor('TFRecord', path)('compression', "'', 'GZIP' or 'ZLIB'", JSON.stringify(known));
  return known as RecordCompression;
}

function checkSize(name: string, size: number, path: string): number {
  if (!(Number.isSafeInteger(size) && size > 0))
    throw errorsFor('TFRecord', path)(name, 'a positive integer', String(size));
  return size;
}
