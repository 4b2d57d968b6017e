// What makers of batches from files have in common: files and records shuffled, and gone through several times.
import type { Tensor } from '@eagre/core';
import { Dataset } from '../pipeline/dataset.ts';
import { AUTOTUNE } from '../pipeline/options.ts';

/** Options of makers of batches; names and defaults are TensorFlow's. */
export interface FileBatchOptions {
  /** How often to go through the files. Default: without end, in whole batches. */
  readonly numEpochs?: number | undefined;
  /** Shuffle files and records. Default: true. */
  readonly shuffle?: boolean | undefined;
  /** How many records are shuffled at a time. Default: 10,000. */
  readonly shuffleBufferSize?: number | undefined;
  /** Makes the order the same in each run of the program; drawn anew unless given. */
  readonly shuffleSeed?: number | undefined;
  /** How many batches are made ahead. Default: AUTOTUNE. */
  readonly prefetchBufferSize?: number | undefined;
}

/** The names of the files. @throws NotFoundError when no file matches. */
export function filesOf(
  pattern: string | readonly string[],
  { shuffle = true, shuffleSeed }: FileBatchOptions,
): Dataset<Tensor> {
  return Dataset.listFiles(pattern, { shuffle, seed: shuffleSeed });
}

/** Batches of records in their order, by a function that gets them shuffled and repeated, and whether there is no end. */
export function batchesOfRecords<T, R>(
  records: Dataset<T>,
  {
    numEpochs,
    shuffle = true,
    shuffleBufferSize = 10_000,
    shuffleSeed,
    prefetchBufferSize,
  }: FileBatchOptions,
  batch: (records: Dataset<T>, endless: boolean) => Dataset<R>,
): Dataset<R> {
  const seed = shuffleSeed === undefined ? {} : { seed: shuffleSeed };
  const shuffled = shuffle ? records.shuffle(shuffleBufferSize, seed) : records;
  return batch(shuffled.repeat(numEpochs), numEpochs === undefined).prefetch(prefetchBufferSize ?? AUTOTUNE);
}
