import { FailedPreconditionError, fileError, InvalidArgumentError } from '@eagre/backend';
import { checkOptionNames, type OptionNames } from '@eagre/core/internal';
import { FormatError, RecordFileWriter, type RecordFileWriterOptions } from '@eagre/formats';

const optionNames: OptionNames<RecordFileWriterOptions> = {
  compression: true,
  bufferSize: true,
  append: true,
};

/**
 * Writes a TFRecord file: `write(bytes)`, `flush()`, `close()`; `using` closes it too.
 *
 * Where the disk is full, methods throw ResourceExhaustedError and nothing that was taken is lost: the next call goes on. `close` leaves whole
 * records only, whatever happens.
 */
export class TFRecordWriter extends RecordFileWriter {
  /** @throws InvalidArgumentError for options that it does not know, or that make no sense; NotFoundError, PermissionDeniedError when there can be no such file. */
  constructor(path: string, options: RecordFileWriterOptions = {}) {
    // First of all: the constructor empties the file.
    checkOptionNames(options, optionNames, 'TFRecordWriter');
    try {
      super(path, options);
    } catch (cause) {
      if (cause instanceof FormatError)
        throw new InvalidArgumentError(cause.message, 'TFRecordWriter', { cause });
      throw fileError(cause, path, 'TFRecordWriter');
    }
  }

  /** Adds a record. @throws ResourceExhaustedError, and then the record is not in the file, unless it is compressed. */
  override write(payload: Uint8Array): void {
    this.#attempt(() => super.write(payload));
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
