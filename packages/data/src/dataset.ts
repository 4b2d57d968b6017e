import { InvalidArgumentError, UnimplementedError } from '@eagre/backend';
import type { Tensor } from '@eagre/core';
import { showInConsole } from '@eagre/core/internal';
import { autographIterate } from '@eagre/graph';
import { DatasetIterator } from './dataset-iterator.ts';
import type { FunctionCallOptions, SignatureOptions } from './element-function.ts';
import { type ElementOfSpec, type ElementSpec, flattenSpec, specOf } from './elements/element-spec.ts';
import { toHost } from './elements/host.ts';
import { type Element, type ElementOf, markDataset } from './elements/structure.ts';
import type { ElementFn, HostOf, Windowed, Zipped } from './elements/types.ts';
import { type ListFilesOptions, pathsNode } from './files/list-files.ts';
import type { DatasetNode } from './iterator.ts';
import { optionsOf } from './node.ts';
import { checkCount, type DatasetOptions, UNKNOWN_CARDINALITY } from './options.ts';
import { seedWords } from './random.ts';
import { reduceElements, reduceElementsLater } from './reduce.ts';
import { CacheFileNode } from './saved/cache-file.ts';
import { type SaveOptions, type SnapshotOptions, savedNode, saveElements } from './saved/saved-files.ts';
import { ElementsNode } from './sources/elements.ts';
import { type ElementSource, GeneratorNode, type GeneratorOptions } from './sources/generator.ts';
import { CounterNode, RandomNode, RangeNode, type RangeOptions } from './sources/numbers.ts';
import { oneElement, SlicesNode } from './sources/slices.ts';
import { tracedElements } from './traced-loop.ts';
import { BatchNode, type BatchOptions, RebatchNode, UnbatchNode } from './transformations/batch.ts';
import { type BucketOptions, bucketNode } from './transformations/bucket.ts';
import { CacheNode } from './transformations/cache.ts';
import { AssertCardinalityNode, IgnoreErrorsNode } from './transformations/checks.ts';
import { FilterNode } from './transformations/filter.ts';
import { InterleaveNode, type InterleaveOptions } from './transformations/flat-map.ts';
import { type GroupByWindowOptions, GroupNode, groupSizes } from './transformations/group.ts';
import { MapNode, type MapOptions } from './transformations/map.ts';
import { PaddedBatchNode, type PaddedBatchOptions } from './transformations/padded-batch.ts';
import { RepeatNode, ShardNode, SkipNode, TakeNode } from './transformations/part.ts';
import { PrefetchNode } from './transformations/prefetch.ts';
import { type Ragged, RaggedBatchNode, type RaggedBatchOptions } from './transformations/ragged-batch.ts';
import { ResampleNode, type ResampleOptions } from './transformations/resample.ts';
import { ChooseFromNode, SampleFromNode, type SampleOptions } from './transformations/sample.ts';
import { ScanNode } from './transformations/scan.ts';
import { ShuffleNode, type ShuffleOptions } from './transformations/shuffle.ts';
import { UniqueNode } from './transformations/unique.ts';
import { WindowNode, type WindowOptions } from './transformations/window.ts';
import { OptionsNode } from './transformations/with-options.ts';
import { ConcatenateNode, nodesOf, ZipNode } from './transformations/zip.ts';

/**
 * A pipeline of elements: where they come from and what is done with them. Datasets are lazy: elements are
 * produced as you iterate, by `for…of` or, if something has to be awaited, `for await`. An element is a tensor, or tensors in arrays (tuples) and plain objects.
 *
 *     const batches = tf.data.Dataset.fromTensorSlices([images, labels]).shuffle(10_000).batch(32).prefetch(tf.data.AUTOTUNE);
 *     for (const [x, y] of batches) …
 *
 * Functions of elements get the items of a tuple one by one: `.map((image, label) => [image.div(255), label])`. They are traced, as by
 * `tf.function`; async functions, functions of strings, and those with `{ runEagerly: true }` run as plain code for each element.
 * All methods throw InvalidArgumentError for arguments and elements that do not fit.
 */
export class Dataset<T> implements Iterable<T>, AsyncIterable<T> {
  /** @internal */
  readonly node: DatasetNode;

  /** @internal Use `Dataset.fromTensorSlices` and the like. */
  constructor(node: DatasetNode) {
    this.node = node;
  }

  // ---- sources

  /** One element: the value itself. */
  static fromTensors<const S>(value: S): Dataset<ElementOf<S>> {
    const element = oneElement(value);
    return new Dataset(new ElementsNode([element], specOf(element), 'Tensors'));
  }

  /** The rows of a tensor, or of several of one first dimension in arrays and plain objects. */
  static fromTensorSlices<const S>(value: S): Dataset<ElementOf<S>> {
    return new Dataset(new SlicesNode(value));
  }

  /**
   * What a generator yields, sync or async: `fromGenerator(function* () { yield [x, y]; })`. It is called for each pass; anything that can be
   * iterated several times, such as an array or a stream's reader, may stand for it. Arrays of numbers are one tensor each, unless an
   * `outputSignature` says that they are tuples.
   */
  static fromGenerator<const S, const E extends ElementSpec = ElementSpec>(
    source: ElementSource<S>,
    options: GeneratorOptions<E> = {},
  ): Dataset<[ElementSpec] extends [E] ? ElementOf<S> : ElementOfSpec<E>> {
    return new Dataset(new GeneratorNode(source, options.outputSignature ?? null));
  }

  /** Numbers as scalars: `range(stop)`, `range(start, stop, step)`; int64 unless said. */
  static range(stop: number, options?: RangeOptions): Dataset<Tensor>;
  static range(start: number, stop: number, step?: number, options?: RangeOptions): Dataset<Tensor>;
  static range(
    first: number,
    second?: number | RangeOptions,
    step = 1,
    options: RangeOptions = {},
  ): Dataset<Tensor> {
    const [start, stop, given] =
      typeof second === 'number' ? [first, second, options] : [0, first, second ?? options];
    return new Dataset(new RangeNode(start, stop, step, given.outputType ?? 'int64'));
  }

  /** start, start + step, … without an end; int64 unless said. */
  static counter(
    options: RangeOptions & { readonly start?: number; readonly step?: number } = {},
  ): Dataset<Tensor> {
    return new Dataset(new CounterNode(options.start ?? 0, options.step ?? 1, options.outputType ?? 'int64'));
  }

  /** Random numbers from 0 to 2³² - 1 without an end, int64; the same in each pass unless `rerandomizeEachIteration`. */
  static random(
    options: { readonly seed?: number; readonly rerandomizeEachIteration?: boolean } = {},
  ): Dataset<Tensor> {
    return new Dataset(new RandomNode(options.seed, options.rerandomizeEachIteration ?? false));
  }

  // ---- several datasets

  /**
   * The files whose paths match a pattern (or several), string scalars: `*` and `?` match within a part of a path, `[a-z]` one character,
   * `{a,b}` either, `**` any number of folders. They are looked for once, now, and come in another order at each pass; without `shuffle`,
   * in the order of their paths. @throws NotFoundError when no file matches.
   */
  static listFiles(
    patterns: string | readonly string[] | Tensor,
    options: ListFilesOptions = {},
  ): Dataset<Tensor> {
    return new Dataset<Tensor>(pathsNode(patterns, options));
  }

  /**
   * What `save` wrote, with its spec and number of elements. The elements' type is what the caller says it is.
   * @throws NotFoundError when there is none at `path`. @throws DataLossError when it is damaged; iterating throws it as well.
   */
  static load<T = Element>(path: string): Dataset<T> {
    return new Dataset<T>(savedNode(path, 'Dataset.load'));
  }

  /** Elements side by side, until the shortest dataset ends: `zip(a, b)`, `zip({ image: a, label: b })`. */
  static zip<const S extends object>(datasets: S): Dataset<Zipped<S>>;
  static zip<const S extends readonly [unknown, unknown, ...unknown[]]>(...datasets: S): Dataset<Zipped<S>>;
  static zip(...datasets: readonly unknown[]): Dataset<unknown> {
    return new Dataset(new ZipNode(nodesOf(datasets.length === 1 ? datasets[0] : datasets, 'Dataset.zip')));
  }

  /** Elements of datasets that are drawn at random. */
  static sampleFromDatasets<T>(datasets: readonly Dataset<T>[], options: SampleOptions = {}): Dataset<T> {
    const what = 'Dataset.sampleFromDatasets';
    return new Dataset(
      new SampleFromNode(
        datasetNodes(datasets, what),
        options.weights,
        seedWords(options.seed, what),
        options.rerandomizeEachIteration ?? false,
        options.stopOnEmptyDataset ?? false,
      ),
    );
  }

  /** Elements of datasets by their numbers, which another dataset gives. */
  static chooseFromDatasets<T>(
    datasets: readonly Dataset<T>[],
    choices: Dataset<Tensor>,
    options: { readonly stopOnEmptyDataset?: boolean } = {},
  ): Dataset<T> {
    const what = 'Dataset.chooseFromDatasets';
    const nodes = datasetNodes(datasets, what);
    const chosen = datasetNode(choices, what);
    return new Dataset(new ChooseFromNode(nodes, chosen, options.stopOnEmptyDataset ?? true));
  }

  /** The elements of this dataset, then those of the other. */
  concatenate(other: Dataset<T>): Dataset<T> {
    return new Dataset(new ConcatenateNode(this.node, datasetNode(other, 'Dataset.concatenate')));
  }

  /** [number, element], from `start` on; numbers are int64. */
  enumerate(start = 0): Dataset<[Tensor, T]> {
    checkCount(start, 'start', 'Dataset.enumerate', Number.MIN_SAFE_INTEGER);
    const n = this.cardinality();
    // A range has rows in any order, where the input has.
    const numbers = n >= 0 ? new RangeNode(start, start + n, 1, 'int64') : new CounterNode(start, 1, 'int64');
    return new Dataset(new ZipNode([numbers, this.node], 'Enumerate'));
  }

  // ---- functions of elements

  /** `fn` of each element. */
  map<const R>(fn: ElementFn<T, R>, options: MapOptions = {}): Dataset<ElementOf<Awaited<R>>> {
    return new Dataset(new MapNode(this.node, fn as never, options));
  }

  /** The elements for which `fn` returns true. */
  filter(fn: ElementFn<T, unknown>, options: FunctionCallOptions = {}): Dataset<T> {
    return new Dataset(new FilterNode(this.node, fn as never, options, 'Filter'));
  }

  /** The elements before the first for which `fn` returns false. */
  takeWhile(fn: ElementFn<T, unknown>, options: FunctionCallOptions = {}): Dataset<T> {
    return new Dataset(new FilterNode(this.node, fn as never, options, 'TakeWhile'));
  }

  /** The elements of the datasets that `fn` makes, as plain code, of each element. */
  flatMap<R>(
    fn: ElementFn<T, Dataset<R> | Promise<Dataset<R>>>,
    { outputSignature }: SignatureOptions = {},
  ): Dataset<R> {
    const options = outputSignature === undefined ? {} : { outputSignature };
    return new Dataset(new InterleaveNode(this.node, fn as never, { cycleLength: 1, ...options }, 'FlatMap'));
  }

  /** As `flatMap`, from several of the datasets in turn. */
  interleave<R>(
    fn: ElementFn<T, Dataset<R> | Promise<Dataset<R>>>,
    options: InterleaveOptions = {},
  ): Dataset<R> {
    return new Dataset(new InterleaveNode(this.node, fn as never, options, 'Interleave'));
  }

  /** The second of what `fn(state, element)` returns, [new state, output]; the state goes to the next call. */
  scan<const S, const R>(
    initialState: S,
    fn: (state: ElementOf<S>, element: T) => readonly [unknown, R] | Promise<readonly [unknown, R]>,
    options: FunctionCallOptions = {},
  ): Dataset<ElementOf<R>> {
    return new Dataset(new ScanNode(this.node, initialState, fn as never, options));
  }

  /** A function of the dataset: `dataset.apply(myTransformation)`. */
  apply<R>(fn: (dataset: this) => R): R {
    return fn(this);
  }

  // ---- batches

  /** Stacks consecutive elements along a new first axis. */
  batch(batchSize: number, options: BatchOptions = {}): Dataset<T> {
    return new Dataset(new BatchNode(this.node, batchSize, options));
  }

  /** Stacks elements that are padded at the end of each axis to the same shape. */
  paddedBatch(batchSize: number, options: PaddedBatchOptions = {}): Dataset<T> {
    return new Dataset(new PaddedBatchNode(this.node, batchSize, options));
  }

  /**
   * Batches of elements whose first sizes differ. In the place of a tensor of such a size stands `{ values, rowSplits }`: the rows of all
   * elements, and where each element's begin and end.
   */
  raggedBatch(
    batchSize: number,
    options: RaggedBatchOptions = {},
  ): Dataset<T extends Tensor ? Ragged : { -readonly [K in keyof T]: Tensor | Ragged }> {
    return new Dataset(new RaggedBatchNode(this.node, batchSize, options));
  }

  /** There are no sparse tensors. @throws UnimplementedError always: use `paddedBatch` or `raggedBatch`. */
  sparseBatch(_batchSize: number): never {
    throw new UnimplementedError(
      'there are no sparse tensors: use paddedBatch or raggedBatch',
      'Dataset.sparseBatch',
    );
  }

  /** The rows of each element as elements of their own. */
  unbatch(): Dataset<T> {
    return new Dataset(new UnbatchNode(this.node));
  }

  /** Batches of another size, or of several sizes in turn, of the same elements. */
  rebatch(batchSize: number | readonly number[], options: BatchOptions = {}): Dataset<T> {
    return new Dataset(new RebatchNode(this.node, batchSize, options));
  }

  /** Consecutive elements as datasets: one for each component of the elements. */
  window(size: number, options: WindowOptions = {}): Dataset<Windowed<T>> {
    return new Dataset(new WindowNode(this.node, size, options));
  }

  /**
   * Collects elements by the integer that `keyFunc` returns, and gives the elements of `reduceFunc(key, group)` whenever there are
   * `windowSize` of a key; what is left at the end comes as smaller groups.
   */
  groupByWindow<R>(
    keyFunc: ElementFn<T, unknown>,
    reduceFunc: (key: number, elements: Dataset<T>) => Dataset<R>,
    options: GroupByWindowOptions,
  ): Dataset<R> {
    const sizes = groupSizes(options);
    return new Dataset(
      new GroupNode(
        this.node,
        keyFunc as never,
        reduceFunc as never,
        sizes,
        options,
        'Dataset.groupByWindow',
      ),
    );
  }

  /**
   * Batches of elements of similar length, padded to the longest of the batch. Bucket i is for lengths below `bucketBoundaries[i]`, the last
   * one for all others; `bucketBatchSizes` has one size more than there are boundaries. `elementLengthFunc` runs as plain code:
   * `(x) => x.shape[0]`.
   */
  bucketBySequenceLength(
    elementLengthFunc: ElementFn<T, unknown>,
    bucketBoundaries: readonly number[],
    bucketBatchSizes: readonly number[],
    options: BucketOptions = {},
  ): Dataset<T> {
    return new Dataset(
      bucketNode(this, elementLengthFunc as never, bucketBoundaries, bucketBatchSizes, options),
    );
  }

  // ---- order and number

  /**
   * Draws elements from a buffer of the next `bufferSize`; with all of them in the buffer (`UNKNOWN_CARDINALITY`, or a size of at least their
   * number), every order is equally likely.
   */
  shuffle(bufferSize: number, options: ShuffleOptions = {}): Dataset<T> {
    return new Dataset(new ShuffleNode(this.node, bufferSize, options));
  }

  /** The elements `count` times; without an end if it is not given or -1. */
  repeat(count?: number): Dataset<T> {
    return new Dataset(new RepeatNode(this.node, count));
  }

  /** The first `count` elements; all with -1. */
  take(count: number): Dataset<T> {
    return new Dataset(new TakeNode(this.node, count));
  }

  /** All but the first `count` elements; none with -1. */
  skip(count: number): Dataset<T> {
    return new Dataset(new SkipNode(this.node, count));
  }

  /** Elements `index`, `index + numShards`, …: what one of several workers reads. */
  shard(numShards: number, index: number): Dataset<T> {
    return new Dataset(new ShardNode(this.node, numShards, index));
  }

  /** Each element once. */
  unique(): Dataset<T> {
    return new Dataset(new UniqueNode(this.node));
  }

  /**
   * Leaves elements out by chance, so that the classes that `classFunc` tells are distributed as `targetDist`. Gives [class, element].
   */
  rejectionResample(
    classFunc: ElementFn<T, unknown>,
    targetDist: readonly number[],
    options: ResampleOptions = {},
  ): Dataset<[Tensor, T]> {
    return new Dataset(new ResampleNode(this.node, classFunc as never, targetDist, options));
  }

  // ---- how it runs

  /**
   * Keeps the elements of the first complete pass in memory; later passes of this dataset read them there. With a path they are kept in a
   * folder, in the format of `save`, also for other programs: a pass that ends early or fails leaves nothing there. Delete the folder to have
   * the elements made anew; nobody sees whether the pipeline before has changed.
   */
  cache(path?: string): Dataset<T> {
    return new Dataset(path === undefined ? new CacheNode(this.node) : new CacheFileNode(this.node, path));
  }

  /**
   * TensorFlow's name for `cache(path)`, with compression.
   * @throws UnimplementedError for `readerFunc` and `shardFunc`: the elements are in one file, and come in their order.
   */
  snapshot(path: string, options: SnapshotOptions = {}): Dataset<T> {
    const { readerFunc, shardFunc, ...save } = options;
    if (readerFunc !== undefined || shardFunc !== undefined)
      throw new UnimplementedError(
        'elements are kept in one file: shuffle, or interleave, behind the snapshot',
        'Dataset.snapshot',
      );
    return new Dataset(new CacheFileNode(this.node, path, save, 'Dataset.snapshot'));
  }

  /**
   * Goes through the dataset once and writes its elements into a folder. It appears there whole or, when something fails, not at all; a dataset
   * that was saved there before is replaced. @throws FailedPreconditionError when something else is at `path`; and what iterating throws.
   */
  async save(path: string, options: SaveOptions = {}): Promise<void> {
    await saveElements(this, path, options);
  }

  /**
   * Has up to `bufferSize` elements made ahead: at once where they have to be waited for, and otherwise when this thread has nothing else to
   * do, as while `await step.runAsync(batch)` computes on another one.
   */
  prefetch(bufferSize: number): Dataset<T> {
    return new Dataset(new PrefetchNode(this.node, bufferSize));
  }

  /** Leaves out elements that cannot be made. */
  ignoreErrors(options: { readonly logWarning?: boolean } = {}): Dataset<T> {
    return new Dataset(new IgnoreErrorsNode(this.node, options.logWarning ?? false));
  }

  /** Says how many elements there are. A pass that finds another number throws FailedPreconditionError. */
  assertCardinality(expected: number): Dataset<T> {
    return new Dataset(new AssertCardinalityNode(this.node, expected));
  }

  /** Options for the pipeline up to here; those that are set later count. */
  withOptions(options: DatasetOptions): Dataset<T> {
    return new Dataset(new OptionsNode(this.node, options));
  }

  /** What was set by `withOptions`. */
  options(): DatasetOptions {
    return optionsOf(this.node);
  }

  // ---- what it is

  /** Dtypes and shapes of the elements, in their structure, with null for sizes that differ; null where it is not known beforehand. */
  get elementSpec(): ElementSpec | null {
    return this.node.spec;
  }

  /** Number of elements, or `INFINITE_CARDINALITY` or `UNKNOWN_CARDINALITY`. */
  cardinality(): number {
    return this.node.cardinality();
  }

  // ---- going through

  /** A new pass: can be closed early, saved and restored. */
  iterator(): DatasetIterator<T> {
    return new DatasetIterator<T>(this.node);
  }
  [Symbol.iterator](): DatasetIterator<T> {
    return new DatasetIterator<T>(this.node, true);
  }
  [Symbol.asyncIterator](): AsyncIterableIterator<T> {
    return this[Symbol.iterator]()[Symbol.asyncIterator]();
  }

  /** The elements as values of the host, `{ data, shape, dtype }` for each tensor. */
  *asHostIterator(): Generator<HostOf<T>, void, undefined> {
    for (const element of this) yield toHost(element as Element) as HostOf<T>;
  }

  /** All elements, in a list. */
  async toArray(): Promise<T[]> {
    const all: T[] = [];
    for await (const element of this) all.push(element);
    return all;
  }

  /** The only element. @throws InvalidArgumentError when there are none or several; see `next` of the iterator for asynchronous ones. */
  getSingleElement(): T {
    const iterator = this.iterator();
    try {
      const first = iterator.next();
      if (first.done === true)
        throw new InvalidArgumentError('Dataset was empty.', 'Dataset.getSingleElement');
      if (iterator.next().done !== true)
        throw new InvalidArgumentError('Dataset had more than one element.', 'Dataset.getSingleElement');
      return first.value;
    } finally {
      iterator.return();
    }
  }

  /** `fn(state, element)` from the first to the last element; the last state. */
  reduce<const S>(
    initialState: S,
    fn: (state: ElementOf<S>, element: T) => unknown,
    options: FunctionCallOptions = {},
  ): ElementOf<S> {
    return reduceElements(this, initialState, fn as never, options) as ElementOf<S>;
  }

  /** `reduce` for datasets and functions that have to be waited for. */
  async reduceAsync<const S>(
    initialState: S,
    fn: (state: ElementOf<S>, element: T) => unknown,
    options: FunctionCallOptions = {},
  ): Promise<ElementOf<S>> {
    return (await reduceElementsLater(this, initialState, fn as never, options)) as ElementOf<S>;
  }

  toString(): string {
    const n = this.cardinality();
    return `Dataset(${this.node.kind}, ${n === -1 ? 'infinite' : n === UNKNOWN_CARDINALITY ? 'unknown' : n} elements, ${
      this.elementSpec === null ? 'unknown spec' : flattenSpec(this.elementSpec).map(String).join(', ')
    })`;
  }
}
markDataset(Dataset.prototype);
showInConsole(Dataset.prototype, String);
// What a converted `for…of` in a traced function goes through.
Object.defineProperty(Dataset.prototype, autographIterate, {
  value(this: Dataset<unknown>, site: string) {
    return tracedElements(this.node, site);
  },
});

/** The node of a dataset. @throws InvalidArgumentError for anything else. */
function datasetNode(dataset: Dataset<unknown>, what: string): DatasetNode {
  if (dataset instanceof Dataset) return dataset.node;
  throw new InvalidArgumentError(`expected a dataset, got ${String(dataset)}`, what);
}
function datasetNodes(datasets: readonly Dataset<unknown>[], what: string): DatasetNode[] {
  if (!Array.isArray(datasets))
    throw new InvalidArgumentError(`expected a list of datasets, got ${String(datasets)}`, what);
  return (datasets as readonly Dataset<unknown>[]).map((d) => datasetNode(d, what));
}
