// `bucketBySequenceLength`: batches of elements of similar length.
import { InvalidArgumentError } from '@eagre/backend';
import type { Element } from '../elements/structure.ts';
import type { Dataset } from '../pipeline/dataset.ts';
import { ElementFunction } from '../pipeline/element-function.ts';
import type { Awaitable } from '../pipeline/iterator.ts';
import { checkCount } from '../pipeline/options.ts';
import { GroupNode } from './group.ts';
import { type PaddedBatchOptions, paddedTo } from './padded-batch.ts';

/** Options of `bucketBySequenceLength`. */
export interface BucketOptions extends PaddedBatchOptions {
  /** Whether elements are stacked as they are, because all of a bucket have one shape. */
  readonly noPadding?: boolean;
  /**
   * Whether sizes that differ are padded to one less than the bucket's boundary rather than to the longest of the batch. Elements that are
   * longer than the last boundary allows are an error then.
   */
  readonly padToBucketBoundary?: boolean;
}
/** The buckets are groups whose key is found on the host. */
export function bucketNode<T>(
  dataset: Dataset<T>,
  elementLengthFunc: (...args: never[]) => unknown,
  bucketBoundaries: readonly number[],
  bucketBatchSizes: readonly number[],
  options: BucketOptions,
): GroupNode {
  const what = 'Dataset.bucketBySequenceLength';
  if (!Array.isArray(bucketBoundaries) || !Array.isArray(bucketBatchSizes))
    throw new InvalidArgumentError('bucketBoundaries and bucketBatchSizes must be lists of numbers', what);
  if (bucketBatchSizes.length !== bucketBoundaries.length + 1)
    throw new InvalidArgumentError('bucketBatchSizes must have one item more than bucketBoundaries', what);
  if (bucketBoundaries.some((b, i) => !(b > (bucketBoundaries[i - 1] ?? Number.NEGATIVE_INFINITY))))
    throw new InvalidArgumentError(`bucketBoundaries must ascend, got [${bucketBoundaries}]`, what);
  for (const size of bucketBatchSizes) checkCount(size, 'bucketBatchSizes', what);
  const bucketOf = (length: number): number => {
    const i = bucketBoundaries.findIndex((b) => length < b);
    return i < 0 ? bucketBoundaries.length : i;
  };
  const { node, elementSpec } = dataset;
  const length = ElementFunction.ofElements(elementLengthFunc, elementSpec, { runEagerly: true }, what);
  const key = (...args: readonly Element[]): Awaitable<number> => {
    const n = length.scalar(args);
    return n instanceof Promise ? n.then(bucketOf) : bucketOf(n);
  };
  const { noPadding = false, padToBucketBoundary = false, ...padding } = options;
  const batch = (bucket: number, elements: Dataset<T>): Dataset<T> => {
    const size = bucketBatchSizes[bucket] as number;
    if (noPadding) return elements.batch(size, padding);
    if (!padToBucketBoundary || elementSpec === null) return elements.paddedBatch(size, padding);
    const boundary = bucketBoundaries[bucket];
    if (boundary === undefined)
      throw new InvalidArgumentError(
        `with padToBucketBoundary all elements must be shorter than the last boundary, ${bucketBoundaries.at(-1)}`,
        what,
      );
    const paddedShapes = paddedTo(boundary - 1, elementSpec, options.paddedShapes);
    return elements.paddedBatch(size, { ...padding, paddedShapes });
  };
  if (padToBucketBoundary && (noPadding || elementSpec === null))
    throw new InvalidArgumentError(
      'padToBucketBoundary needs padding, and elements whose spec says which sizes vary: give the generator, or the preceding function, an outputSignature',
      what,
    );
  const sizeOf = (bucket: number): number => bucketBatchSizes[bucket] as number;
  return new GroupNode(node, key as never, batch as never, sizeOf, { runEagerly: true }, what);
}
