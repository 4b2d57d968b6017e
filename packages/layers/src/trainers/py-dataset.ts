// Types in a circle: the batches of a data set have the type of all batches that fit takes, and data sets are among these.
import { UnimplementedError } from '@eagre/core';
import {
  argumentsOf,
  checkCount,
  integerOption,
  type Option,
  setOptions,
  shown,
  takesOptions,
} from '@eagre/core/internal';
import type { BatchLike } from './data-adapter.ts';

/** Options of `PyDataset`. */
export interface PyDatasetOptions {
  /** How many calls of an asynchronous `getItem` run at the same time; 1 unless given. */
  readonly workers?: number;
  /** Keras's processes, which are not here: false. */
  readonly useMultiprocessing?: false;
  /** How many batches may be ready or under way; 10 unless given. */
  readonly maxQueueSize?: number;
}

/**
 * Batches by their numbers, for `fit`, `evaluate` and `predict`. Extend it, and write `getItem`, and the number of batches as `length` (null:
 * there is no end). `fit` takes the batches in another order in each epoch, unless it is told `shuffle: false`.
 *
 *     class Squares extends tf.keras.utils.PyDataset {
 *       readonly length = 10;
 *       override getItem(index: number) {
 *         const x = tf.random.normal([32, 1], { seed: index });
 *         return [x, x.square()] as const;
 *       }
 *     }
 */
export abstract class PyDataset implements AsyncIterable<BatchLike> {
  /** How many calls of an asynchronous `getItem` run at the same time. */
  declare readonly workers: number;
  /** Keras's processes, which are not here: false. */
  declare readonly useMultiprocessing: false;
  /** How many batches may be ready or under way. */
  declare readonly maxQueueSize: number;

  constructor(...args: [options?: PyDatasetOptions]) {
    setOptions(this, argumentsOf<PyDatasetOptions>(PyDataset, new.target, args));
  }

  /** A batch: x, [x, y] or [x, y, sampleWeight]; may be asynchronous. @param index from 0 on */
  abstract getItem(index: number): BatchLike | Promise<BatchLike>;

  /** How many batches there are, which is asked at each pass: `length`, unless it is overridden. */
  get numBatches(): number | null {
    const { length } = this as { readonly length?: unknown };
    const name = this.constructor.name;
    if (length === undefined)
      throw new UnimplementedError('the class must have the number of batches as length', name);
    if (length !== null) checkCount(length, 'length', name, 0);
    return length as number | null;
  }

  /** Called ahead of each pass, and after it. */
  onEpochBegin(): void | Promise<void> {}
  onEpochEnd(): void | Promise<void> {}

  /** The batches in order. */
  async *[Symbol.asyncIterator](): AsyncGenerator<BatchLike> {
    yield* batchesOf(this, (i) => i);
  }
}

/** The batches in an order, several at a time where there are workers. @param order the number of the batch at a place */
export async function* batchesOf(
  data: PyDataset,
  order: (place: number) => number,
): AsyncGenerator<BatchLike> {
  const count = data.numBatches ?? Number.POSITIVE_INFINITY;
  const atOnce = Math.min(data.workers, data.maxQueueSize);
  const pending: Promise<BatchLike>[] = [];
  for (let started = 0, at = 0; at < count; at++) {
    for (; started < count && pending.length < atOnce; started++) {
      const index = order(started);
      const batch = (async () => await data.getItem(index))();
      // Who waits for it gets the error, if anybody does.
      batch.catch(() => undefined);
      pending.push(batch);
    }
    yield (await pending.shift()) as BatchLike;
  }
}

const noProcesses: Option<false> = {
  read: (given) => {
    if (given === undefined || given === null || given === false) return false;
    throw new UnimplementedError(`useMultiprocessing (${shown(given)}) is not supported`, 'PyDataset');
  },
};
takesOptions<PyDatasetOptions, PyDataset>(
  {
    options: {
      workers: integerOption(1, 1),
      useMultiprocessing: noProcesses,
      maxQueueSize: integerOption(10, 1),
    },
  },
  PyDataset,
);
