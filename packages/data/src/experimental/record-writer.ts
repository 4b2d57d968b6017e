// `tf.data.experimental.TFRecordWriter`: a dataset as a file of records.
import { fileError, InvalidArgumentError } from '@eagre/backend';
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
import { nodeBuiltin, ownMark } from '@eagre/formats/internal';
import type { Dataset } from '../pipeline/dataset.ts';
import { TFRecordWriter } from '../readers/record-writer.ts';
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
   * @throws InvalidArgumentError for other elements; and what iterating throws.
   */
  write(...args: Arguments<[dataset: Dataset<Tensor>], ['dataset']>): Promise<void>;
  async write(dataset: Dataset<Tensor>): Promise<void> {
    const op = 'TFRecordWriter.write';
    const elements = checkDataset(dataset, op);
    const path = this.#filename;
    const temporary = `${path}.partial-${ownMark()}`;
    const writer = new TFRecordWriter(temporary, this.#compression);
    try {
      for await (const element of elements) writer.write(recordOf(element, op));
      writer.close();
      nodeBuiltin('node:fs').renameSync(temporary, path);
    } catch (error) {
      writer.close();
      nodeBuiltin('node:fs').rmSync(temporary, { force: true });
      throw fileError(error, path, op);
    }
  }
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
