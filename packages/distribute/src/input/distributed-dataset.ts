import { showInConsole } from '@eagre/core/internal';
import type { Dataset, ElementSpec } from '@eagre/data';

/** How elements of a dataset become those of replicas. */
export interface Distribution<T> {
  /** What replicas get of the next elements, of which `next` gives one at a time; null behind the last. */
  readonly take: (first: T, next: () => IteratorResult<T, undefined>) => unknown;
  /** The same for datasets that have to be waited for. */
  readonly takeLater: (first: T, next: () => Promise<IteratorResult<T, undefined>>) => Promise<unknown>;
}

/**
 * A dataset whose elements are divided between replicas: each is a structure with a `PerReplica` in the place of each tensor, an argument for
 * `strategy.run`. Their type is that of the dataset's elements, so that functions of tensors take them. `for…of` goes through it, or `for await` where the dataset has to be waited for.
 */
export class DistributedDataset<T = unknown> implements Iterable<T>, AsyncIterable<T> {
  readonly #dataset: Dataset<T>;
  readonly #distribution: Distribution<T>;

  /** @internal Strategies make them. */
  constructor(dataset: Dataset<T>, distribution: Distribution<T>) {
    this.#dataset = dataset;
    this.#distribution = distribution;
  }

  /** Dtypes and shapes of the elements before they are divided; null where it is not known. */
  get elementSpec(): ElementSpec | null {
    return this.#dataset.elementSpec;
  }

  *[Symbol.iterator](): Generator<T, void, undefined> {
    const elements = this.#dataset[Symbol.iterator]();
    try {
      for (let next = elements.next(); next.done !== true; next = elements.next())
        yield this.#distribution.take(next.value, () => elements.next()) as T;
    } finally {
      elements.return();
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    const elements = this.#dataset[Symbol.asyncIterator]();
    const ask = async (): Promise<IteratorResult<T, undefined>> =>
      (await elements.next()) as IteratorResult<T, undefined>;
    try {
      for (let next = await ask(); next.done !== true; next = await ask())
        yield (await this.#distribution.takeLater(next.value, ask)) as T;
    } finally {
      await elements.return?.();
    }
  }

  toString(): string {
    return `DistributedDataset(${String(this.#dataset)})`;
  }
}
showInConsole(DistributedDataset.prototype, String);
