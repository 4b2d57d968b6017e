import { FailedPreconditionError, InvalidArgumentError, OutOfRangeError } from '@eagre/backend';
import { shown } from '@eagre/core/internal';
import { Dataset, type ElementSpec } from '@eagre/data';
import { datasetOf } from '../input/dataset-of.ts';
import type { InputContext } from '../input/input-context.ts';

/** What makes the dataset of a worker. */
export type WorkerDataset<T> = Dataset<T> | ((context: InputContext) => Dataset<T>);

/** A dataset for each worker: `coordinator.createPerWorkerDataset`. */
export class PerWorkerDataset<T = unknown> {
  readonly #datasets: readonly Dataset<T>[];

  /** @internal */
  constructor(from: WorkerDataset<T>, workers: number, numReplicasInSync: number) {
    const op = 'createPerWorkerDataset';
    if (!(from instanceof Dataset) && typeof from !== 'function')
      throw new InvalidArgumentError(
        `it takes a tf.data.Dataset, or a function that returns one, got ${shown(from)}`,
        op,
      );
    const datasets = Array.from({ length: workers }, (_, inputPipelineId) =>
      from instanceof Dataset
        ? from
        : datasetOf(from, { numInputPipelines: workers, inputPipelineId, numReplicasInSync }, op),
    );
    this.#datasets = datasets as readonly Dataset<T>[];
  }

  /** Dtypes and shapes of the elements; null where it is not known. */
  get elementSpec(): ElementSpec | null {
    return (this.#datasets[0] as Dataset<T>).elementSpec;
  }

  /** An iterator for scheduled functions: in each, `next()` gives the next element of the worker that runs it. */
  iterator(): PerWorkerIterator<T> {
    return new PerWorkerIterator(this.#datasets);
  }
  [Symbol.iterator](): PerWorkerIterator<T> {
    return this.iterator();
  }

  toString(): string {
    return `PerWorkerDataset(${String(this.#datasets[0])})`;
  }
}

/** The iterators of all workers: an argument of scheduled functions. */
export class PerWorkerIterator<T = unknown> implements Iterator<T> {
  readonly #datasets: readonly Dataset<T>[];
  readonly #iterators: (AsyncIterator<T> | undefined)[];

  /** @internal */
  constructor(datasets: readonly Dataset<T>[]) {
    this.#datasets = datasets;
    this.#iterators = datasets.map(() => undefined);
  }

  /** The next element, in a scheduled function to which the iterator was passed. @throws FailedPreconditionError elsewhere */
  next(): IteratorResult<T> {
    return { done: false, value: this.getNext() };
  }
  /** TensorFlow's name for the value of `next`. */
  getNext(): T {
    // A scheduled function gets another one in its place, which has elements.
    throw new FailedPreconditionError(
      'the iterators of workers give elements in functions that `coordinator.schedule` runs: pass the iterator in args',
      'PerWorkerIterator.next',
    );
  }
  [Symbol.iterator](): this {
    return this;
  }

  /** @internal The next element of a worker. @throws OutOfRangeError behind the last one */
  async take(worker: number): Promise<T> {
    const iterator = (this.#iterators[worker] ??= (this.#datasets[worker] as Dataset<T>)[
      Symbol.asyncIterator
    ]() as AsyncIterator<T>);
    const { done, value } = await iterator.next();
    if (done === true) throw new OutOfRangeError('End of sequence', 'PerWorkerIterator.next');
    return value;
  }
}
