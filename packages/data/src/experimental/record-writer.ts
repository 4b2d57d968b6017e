// `tf.data.experimental.TFRecordWriter`: a dataset as a file of records.
import { FailedPreconditionError, fileError, InvalidArgumentError } from '@eagre/backend';
import { Tensor } from '@eagre/core';
import {
  type Arguments,
  argumentsOf,
  bytesOf,
  checkOneOf,
  checkPath,
  defineMethods,
  shown,
  takesArguments,
} from '@eagre/core/internal';
import { FormatError, RecordFileWriter } from '@eagre/formats';
import { beginAtomic, nodeBuiltin, syncFile, syncFolder } from '@eagre/formats/internal';
import type { Dataset } from '../pipeline/dataset.ts';
import { checkDataset } from './apply.ts';

type CompressionType = '' | 'GZIP' | 'ZLIB';

interface WriterArguments {
  readonly filename: string;
  readonly compressionType?: CompressionType | null;
}

/** Writes the elements of a dataset, string scalars or bytes (uint8 [length]), as records: `await new tf.data.experimental.TFRecordWriter('data.tfrecord').write(dataset)`. */
export class DatasetRecordWriter {
  readonly #filename: string;
  readonly #compression: CompressionType;

  constructor(
    ...args: Arguments<
      [filename: string, compressionType?: CompressionType | null],
      ['filename', 'compressionType']
    >
  ) {
    const { filename, compressionType } = argumentsOf<WriterArguments>(DatasetRecordWriter, new.target, args);
    checkPath(filename, 'filename', 'TFRecordWriter');
    checkOneOf(compressionType ?? '', ['', 'GZIP', 'ZLIB'], 'compressionType', 'TFRecordWriter');
    this.#filename = filename;
    this.#compression = compressionType ?? '';
  }

  /**
   * Goes through the dataset. The file is there when all is written; when something fails, what was there before stays.
   * @throws InvalidArgumentError for other elements; FailedPreconditionError where a folder, a pipe or a device is; and what iterating throws.
   */
  write(...args: Arguments<[dataset: Dataset<Tensor>], ['dataset']>): Promise<void>;
  async write(dataset: Dataset<Tensor>): Promise<void> {
    const op = 'TFRecordWriter.write';
    const elements = checkDataset(dataset, op);
    const path = this.#filename;
    try {
      await writeRecords(elements, path, this.#compression, op);
    } catch (cause) {
      throw fileError(cause, path, op);
    }
  }
}

/** The name of the temporary file. @throws FailedPreconditionError where there is something that is no file */
function begin(path: string, op: string): string {
  try {
    return beginAtomic(path);
  } catch (cause) {
    if (!(cause instanceof FormatError)) throw cause;
    throw new FailedPreconditionError(cause.message, op, { cause });
  }
}

async function writeRecords(
  elements: AsyncIterable<unknown>,
  path: string,
  compression: CompressionType,
  op: string,
): Promise<void> {
  const { renameSync, rmSync } = nodeBuiltin('node:fs');
  const temporary = begin(path, op);
  let writer: RecordFileWriter | null = null;
  try {
    writer = new RecordFileWriter(temporary, { compression });
    for await (const element of elements) writer.write(recordOf(element, op));
    writer.close();
    syncFile(temporary);
    renameSync(temporary, path);
  } catch (error) {
    try {
      writer?.close();
    } catch {
      // What is deleted need not be whole.
    }
    rmSync(temporary, { force: true });
    // What is said of the temporary file is said of the one that it would have been.
    if (error instanceof Error && 'path' in error && error.path === temporary) Object.assign(error, { path });
    throw error;
  }
  syncFolder(path);
}

function recordOf(element: unknown, op: string): Uint8Array {
  if (element instanceof Tensor) {
    if (element.dtype === 'string' && element.rank === 0) return bytesOf(element.item<string>());
    if (element.dtype === 'uint8' && element.rank === 1) return (element.data() as Uint8Array).slice();
  }
  throw new InvalidArgumentError(
    `a record must be a string scalar, or uint8 [length], got ${shown(element)}`,
    op,
  );
}

takesArguments<WriterArguments>(
  {
    positional: ['filename', 'compressionType'],
    required: 1,
    names: { filename: true, compressionType: true },
  },
  DatasetRecordWriter,
);
defineMethods(DatasetRecordWriter.prototype, 'TFRecordWriter', { write: { positional: ['dataset'] } });
