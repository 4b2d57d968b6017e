import { DatasetIterator } from './dataset-iterator.ts';
import type { ElementSpec } from './elements/element-spec.ts';
import { markDataset } from './elements/structure.ts';
import type { DatasetNode } from './iterator.ts';
import { optionsOf } from './node.ts';
import type { DatasetOptions } from './options.ts';

/**
 * A pipeline of elements: where they come from and what is done with them. It is a description; elements are made while it is gone through,
 * by `for…of` or, if something has to be waited for, `for await`. An element is a tensor, or tensors in arrays (tuples) and plain objects.
 *
 *     const batches = tf.data.Dataset.fromTensorSlices([images, labels]).shuffle(10_000).batch(32).prefetch(tf.data.AUTOTUNE);
 *     for (const [x, y] of batches) …
 */
export class Dataset<T> implements Iterable<T>, AsyncIterable<T> {
  /** @internal */
  readonly node: DatasetNode;

  /** @internal Use `Dataset.fromTensorSlices` and the like. */
  constructor(node: DatasetNode) {
    this.node = node;
  }

  /** Dtypes and shapes of the elements, in their structure, with null for sizes that differ; null where it is not known beforehand. */
  get elementSpec(): ElementSpec | null {
    return this.node.spec;
  }

  /** Number of elements, or `INFINITE_CARDINALITY` or `UNKNOWN_CARDINALITY`. */
  cardinality(): number {
    return this.node.cardinality();
  }

  /** A new pass: can be closed early, saved and restored. */
  iterator(): DatasetIterator<T> {
    return new DatasetIterator<T>(this.node);
  }
  [Symbol.iterator](): DatasetIterator<T> {
    return this.iterator();
  }
  [Symbol.asyncIterator](): AsyncIterableIterator<T> {
    return this.iterator()[Symbol.asyncIterator]();
  }

  /** What was set by `withOptions`. */
  options(): DatasetOptions {
    return optionsOf(this.node);
  }
}
markDataset(Dataset.prototype);
