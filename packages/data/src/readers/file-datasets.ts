import type { Tensor } from '@eagre/core';
import { type Arguments, argumentsOf, type OptionNames, takesArguments } from '@eagre/core/internal';
import { defaultMaxRecordBytes } from '@eagre/formats';
import { TensorSpec } from '@eagre/graph';
import { Dataset } from '../pipeline/dataset.ts';
import { checkCount } from '../pipeline/options.ts';
import { checkFileOptions, FileBytes, type FileOptions, type TFRecordOptions } from './file-bytes.ts';
import { type FileNames, FilesNode, namesNode } from './files-node.ts';
import { FixedReader, LineReader, RecordReader } from './readers.ts';

type Named<O> = O & { readonly filenames: FileNames };

const fileOptions: OptionNames<Named<FileOptions>> = {
  filenames: true,
  compressionType: true,
  bufferSize: true,
  numParallelReads: true,
};

/**
 * The records of TFRecord files, each as its bytes: uint8 [length]. What they hold is told by whoever wrote them, mostly
 * `tf.train.Example`: `dataset.map((bytes) => tf.io.parseSingleExample(bytes, features), { runEagerly: true })`.
 *
 * With `numParallelReads` above 1, elements come from so many files in turn, in an order that is always the same.
 *
 * Iterating throws NotFoundError for a file that is not there, and DataLossError for one that is damaged; with
 * `ignoreErrors` the next file follows.
 */
export class TFRecordDataset extends Dataset<Tensor> {
  constructor(...args: Arguments<[filenames: FileNames], ['filenames'], TFRecordOptions>) {
    const { filenames, ...options } = argumentsOf<Named<TFRecordOptions>>(TFRecordDataset, new.target, args);
    const what = 'TFRecordDataset';
    const checked = checkFileOptions(options, what);
    const { maxRecordBytes } = options;
    if (maxRecordBytes !== undefined) checkCount(maxRecordBytes, 'maxRecordBytes', what);
    const most = maxRecordBytes ?? defaultMaxRecordBytes(checked.compression);
    const open = (path: string, at: number): RecordReader =>
      new RecordReader(new FileBytes(path, checked, at, what), at, most);
    const spec = new TensorSpec([null], 'uint8');
    super(new FilesNode('TFRecord', namesNode(filenames, what), spec, open, checked.numParallelReads));
  }
}

/**
 * The lines of text files in UTF-8, string scalars without their ends. As in TensorFlow, no carriage return is kept, and
 * what follows the last line's end is a line unless it is empty.
 *
 * Iterating throws NotFoundError for a file that is not there, and DataLossError for one that is damaged or no text.
 */
export class TextLineDataset extends Dataset<Tensor> {
  constructor(...args: Arguments<[filenames: FileNames], ['filenames'], FileOptions>) {
    const { filenames, ...options } = argumentsOf<Named<FileOptions>>(TextLineDataset, new.target, args);
    const what = 'TextLineDataset';
    const checked = checkFileOptions(options, what);
    const open = (path: string, at: number): LineReader =>
      new LineReader(new FileBytes(path, checked, at, what), at);
    const spec = new TensorSpec([], 'string');
    super(new FilesNode('TextLine', namesNode(filenames, what), spec, open, checked.numParallelReads));
  }
}

/** Options of {@link FixedLengthRecordDataset}. */
export interface FixedLengthRecordOptions extends FileOptions {
  /** Bytes at the start of each file that are no record. Default: 0. */
  readonly headerBytes?: number | undefined;
  /** Bytes at the end of each file that are no record. Default: 0. */
  readonly footerBytes?: number | undefined;
}

/**
 * The records of binary files that are `recordBytes` long each: uint8 [recordBytes].
 *
 * Iterating throws NotFoundError for a file that is not there, and DataLossError for one whose size does not fit.
 */
export class FixedLengthRecordDataset extends Dataset<Tensor> {
  constructor(
    ...args: Arguments<
      [filenames: FileNames, recordBytes: number],
      ['filenames', 'recordBytes'],
      FixedLengthRecordOptions
    >
  ) {
    const { filenames, recordBytes, ...options } = argumentsOf<RecordArguments>(
      FixedLengthRecordDataset,
      new.target,
      args,
    );
    const what = 'FixedLengthRecordDataset';
    const checked = checkFileOptions(options, what);
    checkCount(recordBytes, 'recordBytes', what);
    const header = checkCount(options.headerBytes ?? 0, 'headerBytes', what, 0);
    const footer = checkCount(options.footerBytes ?? 0, 'footerBytes', what, 0);
    const open = (path: string, at: number): FixedReader => {
      const start = Math.max(at, header);
      return new FixedReader(new FileBytes(path, checked, start, what), start, recordBytes, footer);
    };
    const spec = new TensorSpec([recordBytes], 'uint8');
    super(
      new FilesNode('FixedLengthRecord', namesNode(filenames, what), spec, open, checked.numParallelReads),
    );
  }
}

interface RecordArguments extends FixedLengthRecordOptions {
  readonly filenames: FileNames;
  readonly recordBytes: number;
}
takesArguments<Named<TFRecordOptions>>(
  { positional: ['filenames'], names: { ...fileOptions, maxRecordBytes: true } },
  TFRecordDataset,
);
takesArguments<Named<FileOptions>>({ positional: ['filenames'], names: fileOptions }, TextLineDataset);
takesArguments<RecordArguments>(
  {
    positional: ['filenames', 'recordBytes'],
    names: { ...fileOptions, recordBytes: true, headerBytes: true, footerBytes: true },
  },
  FixedLengthRecordDataset,
);
