// The bytes of a file, piece by piece, unpacked.
import { DataLossError, FailedPreconditionError, fileError, InvalidArgumentError } from '@eagre/backend';
import { shown } from '@eagre/core/internal';
import { FormatError, Inflater } from '@eagre/formats';
import { nodeBuiltin, OpenFiles } from '@eagre/formats/internal';
import { checkCount, checkParallel } from '../pipeline/options.ts';

/** How files as a whole are compressed; they do not say so themselves. */
export type Compression = '' | 'GZIP' | 'ZLIB';

/** Options of the sources that read files. */
export interface FileOptions {
  /** Default: none. */
  readonly compressionType?: Compression | undefined;
  /** How many bytes are read at once. Default: 256 KiB. */
  readonly bufferSize?: number | undefined;
  /** From how many files elements come in turn. Default, and AUTOTUNE: 1, one file after the other. */
  readonly numParallelReads?: number | undefined;
}

/** Options of the sources that read records. */
export interface TFRecordOptions extends FileOptions {
  /**
   * Longer records are refused: a few compressed bytes may stand for gigabytes. Default: 256 MiB where the file is compressed, 2 GiB where it is not.
   */
  readonly maxRecordBytes?: number | undefined;
}

/** {@link FileOptions} that were checked. */
export interface CheckedFileOptions {
  readonly compression: Compression;
  readonly bufferSize: number;
  readonly numParallelReads: number;
}

const DEFAULT_BUFFER = 256 * 1024;
// One compressed byte may become a thousand at once.
const MOST_COMPRESSED = 16 * 1024;

/** @throws InvalidArgumentError for options that make no sense. */
export function checkFileOptions(options: FileOptions, what: string): CheckedFileOptions {
  const { compressionType: compression = '', bufferSize = DEFAULT_BUFFER, numParallelReads = 1 } = options;
  if (compression !== '' && compression !== 'GZIP' && compression !== 'ZLIB')
    throw new InvalidArgumentError(
      `compressionType must be '', 'GZIP' or 'ZLIB', got ${shown(compression)}`,
      what,
    );
  checkCount(bufferSize, 'bufferSize', what);
  return {
    compression,
    bufferSize: Math.min(bufferSize, compression === '' ? 2 ** 30 : MOST_COMPRESSED),
    // More would mix the files, and not be faster.
    numParallelReads: checkParallel(numParallelReads, 'numParallelReads', what, 1),
  };
}

/**
 * Reads a file from the start or, unpacked, from any byte. Reading is synchronous, so that `for…of` works on files. The file is open only
 * while the program does nothing else, and few are open at once, so iterators that are dropped keep none.
 */
export class FileBytes {
  readonly path: string;
  readonly #what: string;
  readonly #files = new OpenFiles();
  /** Which file it is: the name may become that of another one. */
  readonly #identity: string;
  readonly #buffer: number;
  readonly #inflater: Inflater | null;
  readonly #compression: Compression;
  #at: number;
  #skip: number;
  #unpacked: Uint8Array[] = [];
  #ended = false;

  /** @throws NotFoundError when there is no such file, ResourceExhaustedError for too many open ones, FailedPreconditionError for a folder or a pipe. */
  constructor(path: string, options: CheckedFileOptions, start: number, what: string) {
    this.path = path;
    this.#what = what;
    this.#buffer = options.bufferSize;
    this.#compression = options.compression;
    this.#identity = this.#use(identityOf);
    // Packed bytes before the start have to be unpacked all the same.
    this.#at = options.compression === '' ? start : 0;
    this.#skip = options.compression === '' ? 0 : start;
    this.#inflater =
      options.compression === ''
        ? null
        : new Inflater(options.compression, (bytes) => {
            this.#unpacked.push(bytes);
          });
  }

  /** The bytes that follow, some of them, or null behind the last. */
  read(): Uint8Array | null {
    for (;;) {
      const ready = this.#unpacked.shift();
      if (ready !== undefined) {
        const rest = ready.subarray(Math.min(this.#skip, ready.length));
        this.#skip -= ready.length - rest.length;
        if (rest.length > 0) return rest;
        continue;
      }
      if (this.#ended) return null;
      const chunk = new Uint8Array(this.#buffer);
      const count = this.#use((file) => {
        if (identityOf(file) !== this.#identity)
          throw new DataLossError(`${this.path} was replaced while it was being read`, this.#what);
        return nodeBuiltin('node:fs').readSync(file, chunk, 0, chunk.length, this.#at);
      });
      this.#at += count;
      this.#ended = count === 0;
      if (this.#inflater === null) return count === 0 ? null : chunk.subarray(0, count);
      try {
        this.#inflater.push(chunk.subarray(0, count), this.#ended);
      } catch (cause) {
        throw new DataLossError(
          `${this.path}: broken ${this.#compression} compression (${(cause as Error).message})`,
          undefined,
          { cause },
        );
      }
    }
  }

  #use<T>(fn: (file: number) => T): T {
    try {
      return this.#files.use(this.path, fn);
    } catch (cause) {
      if (cause instanceof FormatError)
        throw new FailedPreconditionError(
          `${this.path} is a folder, a pipe or a device: give a regular file`,
          this.#what,
          { cause },
        );
      throw fileError(cause, this.path, this.#what);
    }
  }

  /** Reads no more. */
  close(): void {
    this.#ended = true;
    this.#unpacked = [];
    this.#files.close();
  }
}

function identityOf(file: number): string {
  const { dev, ino } = nodeBuiltin('node:fs').fstatSync(file);
  return `${dev} ${ino}`;
}
