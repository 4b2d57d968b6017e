import { FailedPreconditionError, InvalidArgumentError, OutOfRangeError } from '@eagre/backend';
import { defineMethods, showInConsole } from '@eagre/core/internal';
import { type Dataset, type ElementSpec, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY } from '@eagre/data';
import { tracedElements } from '@eagre/data/internal';
import { autographIterate } from '@eagre/graph';
import { Optional } from './optional.ts';

/** What an iterator over elements of some kind gives. */
export type Next<T> = IteratorResult<T, undefined>;

/** How elements of datasets become those of replicas. */
export interface Distribution {
  /** How many elements of each dataset the replicas get in a step. */
  readonly perStep: number;
  /** What replicas get of the elements of a step: `perStep` of each dataset, fewer where it ended. */
  readonly take: (elements: readonly unknown[]) => unknown;
  /**
   * Whether any process has elements for a step, where this one has some or not. Null where the others' datasets end with this one's.
   */
  readonly anyHas: ((has: boolean) => boolean) | null;
  /** What replicas get in a step for which other processes alone have elements; `last` is what they got before, or undefined. */
  readonly none: (last: unknown, spec: ElementSpec | null) => unknown;
}

/**
 * A dataset whose elements are divided between replicas: each is a structure with a `PerReplica` in the place of each tensor, an argument for
 * `strategy.run`. Their type is that of the dataset's elements, so that functions of tensors take them. `for…of` goes through it, or `for await`
 * where the dataset has to be waited for.
 *
 * Over several processes a pass goes on as long as one of them has elements; the others get batches without rows.
 */
export class DistributedDataset<T = unknown> implements Iterable<T>, AsyncIterable<T> {
  /** @internal For packages that do not know this class. */
  readonly isDistributed = true;
  readonly #datasets: readonly Dataset<T>[];
  readonly #distribution: Distribution;

  /** @internal Strategies make them. @param datasets one, or one for each replica of this process */
  constructor(datasets: readonly Dataset<T>[], distribution: Distribution) {
    checkMade(datasets, 'DistributedDataset');
    this.#datasets = datasets;
    this.#distribution = distribution;
  }

  /** Dtypes and shapes of the elements before they are divided; null where it is not known. */
  get elementSpec(): ElementSpec | null {
    return this.#datasets[0].elementSpec;
  }

  /** The number of steps of a pass, where this process knows it: `INFINITE_CARDINALITY` (-1) or `UNKNOWN_CARDINALITY` (-2) elsewhere. */
  cardinality(): number {
    const { perStep, anyHas } = this.#distribution;
    const counts = this.#datasets.map((dataset) => dataset.cardinality());
    if (counts.includes(INFINITE_CARDINALITY)) return INFINITE_CARDINALITY;
    if (anyHas !== null || counts.includes(UNKNOWN_CARDINALITY)) return UNKNOWN_CARDINALITY;
    return Math.max(...counts.map((count) => Math.ceil(count / perStep)));
  }

  /** One pass, which the program goes through by hand: `getNext`, `getNextAsOptional`. */
  iterator(): DistributedIterator<T> {
    return new DistributedIterator<T>(this.#datasets, this.#distribution);
  }

  [Symbol.iterator](): DistributedIterator<T> {
    return this.iterator();
  }
  [Symbol.asyncIterator](): AsyncIterableIterator<T, undefined> {
    return this.iterator()[Symbol.asyncIterator]();
  }

  /**
   * @internal What replicas get in a function that is being traced, where sizes are known and each element of one dataset is a step.
   * @throws FailedPreconditionError elsewhere
   */
  *traced(site: string): Generator<T, void, undefined> {
    const { perStep, take } = this.#distribution;
    if (perStep > 1 || this.#datasets.length > 1)
      throw new FailedPreconditionError(
        `${site}: a loop over this dataset cannot be part of a graph, since how many steps it has is known at each run only. Iterate outside the function and pass it the elements`,
        'DistributedDataset',
      );
    for (const element of tracedElements(this.#datasets[0].node, site)) yield take([element]) as T;
  }

  toString(): string {
    return `DistributedDataset(${this.#datasets.map(String).join(', ')})`;
  }
}
showInConsole(DistributedDataset.prototype, String);
// `for…of` in a function that is traced and converted.
Object.defineProperty(DistributedDataset.prototype, autographIterate, {
  value(this: DistributedDataset, site: string) {
    return this.traced(site);
  },
});
defineMethods(DistributedDataset.prototype, 'DistributedDataset', { cardinality: {}, iterator: {} });

/** @throws InvalidArgumentError for what no strategy made */
function checkMade(datasets: unknown, name: string): void {
  if (!Array.isArray(datasets))
    throw new InvalidArgumentError(
      'strategies make it: strategy.experimentalDistributeDataset(dataset), or iterator() of what that gives',
      name,
    );
}

/** One pass over a `DistributedDataset`. All processes must ask for as many elements. */
export class DistributedIterator<T = unknown> implements IterableIterator<T, undefined>, AsyncIterable<T> {
  readonly #distribution: Distribution;
  readonly #spec: ElementSpec | null;
  readonly #iterators: readonly ReturnType<Dataset<T>['iterator']>[];
  #last: unknown;
  #ended = false;

  /** @internal */
  constructor(datasets: readonly Dataset<T>[], distribution: Distribution) {
    checkMade(datasets, 'DistributedIterator');
    this.#distribution = distribution;
    this.#spec = datasets[0].elementSpec;
    this.#iterators = datasets.map((dataset) => dataset.iterator());
  }

  /** Dtypes and shapes of the elements before they are divided; null where it is not known. */
  get elementSpec(): ElementSpec | null {
    return this.#spec;
  }

  /** The next elements of the replicas, at once. */
  next(): Next<T> {
    if (this.#ended) return this.#end();
    const elements = this.#iterators.map((iterator) => {
      const own: T[] = [];
      while (own.length < this.#distribution.perStep) {
        const { done, value } = iterator.next();
        if (done === true) break;
        own.push(value);
      }
      return own;
    });
    return this.#step(elements);
  }

  /** The same for datasets that have to be waited for. */
  async nextAsync(): Promise<Next<T>> {
    if (this.#ended) return this.#end();
    const elements: T[][] = [];
    for (const iterator of this.#iterators) {
      const own: T[] = [];
      while (own.length < this.#distribution.perStep) {
        const { done, value } = await iterator.nextAsync();
        if (done === true) break;
        own.push(value);
      }
      elements.push(own);
    }
    return this.#step(elements);
  }

  #step(elements: readonly (readonly T[])[]): Next<T> {
    const { take, anyHas, none } = this.#distribution;
    const has = elements.some((own) => own.length > 0);
    if (!(anyHas?.(has) ?? has)) return this.#end();
    // Of several datasets, which give one element each, some may have ended.
    const given = elements.length === 1 ? elements[0] : elements.map(([one]) => one);
    const value = has ? take(given) : none(this.#last, this.#spec);
    this.#last = value;
    return { done: false, value: value as T };
  }

  #end(): Next<T> {
    this.#ended = true;
    this.#last = undefined;
    return { done: true, value: undefined };
  }

  /** The next elements of the replicas. @throws OutOfRangeError at the end */
  getNext(): T {
    const { done, value } = this.next();
    if (done === true) throw new OutOfRangeError('End of sequence', 'DistributedIterator.getNext');
    return value;
  }

  /** The next elements of the replicas; an optional without a value behind the last ones, in all processes at once. */
  getNextAsOptional(): Optional<T> {
    const { done, value } = this.next();
    return new Optional<T>(done === true ? null : { of: value });
  }

  /** Ends the pass early. */
  return(): Next<T> {
    for (const iterator of this.#iterators) iterator.return();
    return this.#end();
  }

  [Symbol.iterator](): this {
    return this;
  }
  [Symbol.asyncIterator](): AsyncIterableIterator<T, undefined> {
    const self = this;
    return {
      next: () => self.nextAsync(),
      async return() {
        for (const iterator of self.#iterators) await iterator.close();
        return self.#end();
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }
}
defineMethods(DistributedIterator.prototype, 'DistributedIterator', {
  nextAsync: {},
  getNext: {},
  getNextAsOptional: {},
});
