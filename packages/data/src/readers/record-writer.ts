import { FailedPreconditionError, fileError, InvalidArgumentError } from '@eagre/backend';
import { Tensor } from '@eagre/core';
import {
  type Arguments,
  argumentsOf,
  bytesIn,
  bytesOf,
  checkOneOf,
  checkPath,
  defineMethods,
  isPlain,
  shown,
  takesArguments,
} from '@eagre/core/internal';
import { FormatError, RecordFileWriter, type RecordFileWriterOptions } from '@eagre/formats';

interface WriterArguments extends RecordFileWriterOptions {
  readonly path: string;
  readonly options?: TFRecordOptions | '' | 'GZIP' | 'ZLIB' | null | undefined;
}

/** How records are written: with which compression, if any. */
export class TFRecordOptions {
  readonly compressionType: '' | 'GZIP' | 'ZLIB';

  constructor(...args: Arguments<[compressionType?: '' | 'GZIP' | 'ZLIB' | null], ['compressionType']>) {
    const { compressionType } = argumentsOf<{ compressionType?: '' | 'GZIP' | 'ZLIB' | null }>(
      TFRecordOptions,
      new.target,
      args,
    );
    checkOneOf(compressionType ?? '', ['', 'GZIP', 'ZLIB'], 'compressionType', 'TFRecordOptions');
    this.compressionType = compressionType ?? '';
  }
}
takesArguments<{ compressionType?: unknown }>(
  { positional: ['compressionType'], required: 0, names: { compressionType: true } },
  TFRecordOptions,
);

/** The options of a writer of files. */
function writerOptions({
  options = null,
  ...others
}: Omit<WriterArguments, 'path'>): RecordFileWriterOptions {
  if (options === null) return others;
  const compression = options instanceof TFRecordOptions ? options.compressionType : options;
  checkOneOf(compression, ['', 'GZIP', 'ZLIB'], 'options', 'TFRecordWriter');
  if (others.compression !== undefined)
    throw new InvalidArgumentError('the compression is given twice', 'TFRecordWriter');
  return { ...others, ...(compression === '' ? {} : { compression }) };
}

/** @throws InvalidArgumentError for what is no record */
function recordOf(record: unknown): Uint8Array {
  if (record instanceof Uint8Array) return record;
  if (typeof record === 'string') return bytesOf(record);
  if (!isPlain(record) && record instanceof Tensor && record.dtype === 'string' && record.rank === 0)
    return bytesIn(record)[0] as Uint8Array;
  throw new InvalidArgumentError(
    `record must be bytes, a text or a scalar of dtype string, got ${shown(record)}`,
    'TFRecordWriter.write',
  );
}

/**
 * Writes a TFRecord file: `write(bytes)`, `flush()`, `close()`; `using` closes it too.
 *
 * Where the disk is full, methods throw ResourceExhaustedError and nothing that was taken is lost: the next call goes on. `close` leaves whole
 * records only, whatever happens.
 */
export class TFRecordWriter extends RecordFileWriter {
  /** @throws InvalidArgumentError for options that it does not know, or that make no sense; NotFoundError, PermissionDeniedError when there can be no such file. */
  constructor(
    ...args: Arguments<
      [path: string, options?: TFRecordOptions | '' | 'GZIP' | 'ZLIB' | null],
      ['path', 'options'],
      RecordFileWriterOptions
    >
  ) {
    // First of all: the constructor empties the file.
    const { path, ...given } = argumentsOf<WriterArguments>(TFRecordWriter, new.target, args);
    checkPath(path, 'path', 'TFRecordWriter');
    const options = writerOptions(given);
    try {
      super(path, options);
    } catch (cause) {
      if (cause instanceof FormatError)
        throw new InvalidArgumentError(cause.message, 'TFRecordWriter', { cause });
      throw fileError(cause, path, 'TFRecordWriter');
    }
  }

  /**
   * Adds a record: bytes, a text, or a scalar of dtype string, such as `tf.io.serializeTensor(x)`.
   * @throws ResourceExhaustedError, and then the record is not in the file, unless it is compressed
   */
  override write(...args: Arguments<[record: Uint8Array | string | Tensor], ['record']>): void;
  override write(record: Uint8Array | string | Tensor): void {
    const bytes = recordOf(record);
    this.#attempt(() => super.write(bytes));
  }
  /** Hands everything to the operating system, so that whoever reads the file finds it. */
  override flush(): void {
    this.#attempt(() => super.flush());
  }
  /** Writes what is left and closes the file; then the writer can do nothing more. Closing twice is no error. */
  override close(): void {
    this.#attempt(() => super.close());
  }

  #attempt(act: () => void): void {
    try {
      act();
    } catch (cause) {
      if (cause instanceof FormatError)
        throw new FailedPreconditionError(cause.message, 'TFRecordWriter', { cause });
      throw fileError(cause, this.path, 'TFRecordWriter');
    }
  }
}

takesArguments<WriterArguments>(
  {
    positional: ['path', 'options'],
    required: 1,
    names: { path: true, options: true, compression: true, bufferSize: true, append: true },
  },
  TFRecordWriter,
);
defineMethods(TFRecordWriter.prototype, 'TFRecordWriter', {
  write: { positional: ['record'] },
  flush: {},
  close: {},
});
