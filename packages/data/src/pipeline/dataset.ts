// Types in a circle: a dataset has its transformations as methods, each of which is a node that reads another; windows are datasets among elements.
import { FailedPreconditionError, InvalidArgumentError, UnimplementedError } from '@eagre/backend';
import type { PartialShape, SparseTensor, Tensor } from '@eagre/core';
import { type Arguments, checkFunction, defineMethods, showInConsole, shown } from '@eagre/core/internal';
import { autographIterate } from '@eagre/graph';
import { holdsComposite } from '../elements/composites.ts';
import { type ElementOfSpec, type ElementSpec, flattenSpec, specOf } from '../elements/element-spec.ts';
import { toHost } from '../elements/host.ts';
import { type Element, type ElementOf, setDatasetClass } from '../elements/structure.ts';
import type { ElementFn, HostOf, TensorsOf, Windowed, Zipped } from '../elements/types.ts';
import { CacheFileNode } from '../readers/cache-file.ts';
import { type ListFilesOptions, pathsNode } from '../readers/list-files.ts';
import { type SaveOptions, type SnapshotOptions, savedNode, saveElements } from '../readers/saved-files.ts';
import { ElementsNode } from '../sources/elements.ts';
import { type ElementSource, GeneratorNode, type GeneratorOptions } from '../sources/generator.ts';
import { CounterNode, RandomNode, RangeNode, type RangeOptions } from '../sources/numbers.ts';
import { oneElement, rowsNode, SlicesNode } from '../sources/slices.ts';
import { BatchNode, type BatchOptions, RebatchNode, UnbatchNode } from '../transformations/batch.ts';
import { type BucketOptions, bucketNode } from '../transformations/bucket.ts';
import { CacheNode } from '../transformations/cache.ts';
import { AssertCardinalityNode, IgnoreErrorsNode } from '../transformations/checks.ts';
import { FilterNode } from '../transformations/filter.ts';
import { InterleaveNode, type InterleaveOptions } from '../transformations/flat-map.ts';
import { type GroupByWindowOptions, GroupNode, groupSizes } from '../transformations/group.ts';
import { MapNode, type MapOptions } from '../transformations/map.ts';
import { PaddedBatchNode, type PaddedBatchOptions } from '../transformations/padded-batch.ts';
import { RepeatNode, ShardNode, SkipNode, TakeNode } from '../transformations/part.ts';
import { PrefetchNode } from '../transformations/prefetch.ts';
import { type Ragged, RaggedBatchNode, type RaggedBatchOptions } from '../transformations/ragged-batch.ts';
import { ResampleNode, type ResampleOptions } from '../transformations/resample.ts';
import { ChooseFromNode, SampleFromNode, type SampleOptions } from '../transformations/sample.ts';
import { ScanNode } from '../transformations/scan.ts';
import { ShuffleNode, type ShuffleOptions } from '../transformations/shuffle.ts';
import { SparseBatchNode } from '../transformations/sparse-batch.ts';
import { UniqueNode } from '../transformations/unique.ts';
import { WindowNode, type WindowOptions } from '../transformations/window.ts';
import { OptionsNode } from '../transformations/with-options.ts';
import { ConcatenateNode, nodesOf, ZipNode } from '../transformations/zip.ts';
import { DatasetIterator } from './dataset-iterator.ts';
import type { Options } from './dataset-options.ts';
import type { FunctionCallOptions, SignatureOptions } from './element-function.ts';
import type { DatasetNode } from './iterator.ts';
import { optionsOf } from './node.ts';
import {
  batchNames,
  bucketNames,
  type ChooseOptions,
  type CounterOptions,
  callNames,
  chooseNames,
  counterNames,
  generatorNames,
  groupNames,
  type IgnoreErrorsOptions,
  ignoreErrorsNames,
  interleaveNames,
  listFilesNames,
  mapNames,
  paddedBatchNames,
  type RandomOptions,
  raggedBatchNames,
  randomNames,
  rangeNames,
  resampleNames,
  sampleNames,
  saveNames,
  shuffleNames,
  signatureNames,
  snapshotNames,
  windowNames,
} from './option-names.ts';
import {
  type Count,
  checkCount,
  type DatasetOptions,
  INFINITE_CARDINALITY,
  UNKNOWN_CARDINALITY,
} from './options.ts';
import { seedWords } from './random.ts';
import { reduceElements, reduceElementsLater } from './reduce.ts';
import { tracedElements } from './traced-loop.ts';

/**
 * A pipeline of elements: where they come from and what is done with them. Datasets are lazy: elements are
 * produced as you iterate, by `for…of` or, if something has to be awaited, `for await`. An element is a tensor, or tensors in arrays (tuples) and plain objects.
 *
 *     const batches = tf.data.Dataset.fromTensorSlices([images, labels]).shuffle(10_000).batch(32).prefetch(tf.data.AUTOTUNE);
 *     for (const [x, y] of batches) …
 *
 * Functions of elements get the items of a tuple one by one: `.map((image, label) => [image.div(255), label])`, or take the tuple
 * apart, `([image, label]) => …`. They are traced, as by `tf.function`; async functions, functions of strings, and those with
 * `{ runEagerly: true }` run as plain code for each element.
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
  static fromTensors<const S>(tensors: S): Dataset<ElementOf<TensorsOf<S>>>;
  static fromTensors(tensors: unknown): Dataset<never> {
    const element = oneElement(tensors);
    return new Dataset(new ElementsNode([element], specOf(element), 'Tensors'));
  }

  /** The rows of a tensor, or of several of one first dimension in arrays and plain objects. */
  static fromTensorSlices<const S>(tensors: S): Dataset<ElementOf<TensorsOf<S>>>;
  static fromTensorSlices(tensors: unknown): Dataset<never> {
    return new Dataset(holdsComposite(tensors) ? rowsNode(tensors) : new SlicesNode(tensors));
  }

  /**
   * What a generator yields, sync or async: `fromGenerator(function* () { yield [x, y]; })`. It is called for each pass; anything that can be
   * iterated several times, such as an array or a stream's reader, may stand for it. Arrays of numbers are one tensor each, unless an
   * `outputSignature` says that they are tuples.
   */
  static fromGenerator<const S, const E extends ElementSpec = ElementSpec>(
    options: GeneratorOptions<E> & {
      /** What gives the elements: a generator function, or something else that can be gone through. */
      readonly generator: ElementSource<S>;
    },
  ): Dataset<[ElementSpec] extends [E] ? ElementOf<S> : ElementOfSpec<E>>;
  static fromGenerator<const S, const E extends ElementSpec = ElementSpec>(
    generator: ElementSource<S>,
    options?: GeneratorOptions<E> | null,
  ): Dataset<[ElementSpec] extends [E] ? ElementOf<S> : ElementOfSpec<E>>;
  static fromGenerator(generator: unknown, options?: GeneratorOptions | null): Dataset<never> {
    return new Dataset(
      new GeneratorNode(generator as ElementSource<unknown>, options?.outputSignature ?? null),
    );
  }

  /** Numbers as scalars: `range(stop)`, `range(start, stop, step)`; int64 by default. */
  static range(stop: Count, options?: RangeOptions | null): Dataset<Tensor>;
  static range(start: Count, stop: Count, options?: RangeOptions | null): Dataset<Tensor>;
  static range(start: Count, stop: Count, step: Count, options?: RangeOptions | null): Dataset<Tensor>;
  static range(
    options: RangeOptions & {
      /** The first number; 0 by default. */
      readonly start?: Count;
      /** All numbers lie before it. */
      readonly stop: Count;
      /** From one number to the next; 1 by default. */
      readonly step?: Count;
    },
  ): Dataset<Tensor>;
  static range(first?: unknown, second?: unknown, step: unknown = 1, options: unknown = {}): Dataset<Tensor> {
    const [start, stop] = second === undefined ? [0, first] : [first ?? 0, second];
    return new Dataset(
      new RangeNode(
        start as Count,
        stop as Count,
        step as Count,
        (options as RangeOptions).outputType ?? 'int64',
      ),
    );
  }

  /** start, start + step, … without an end; int64 by default. */
  static counter(options?: CounterOptions | null): Dataset<Tensor>;
  static counter(options: CounterOptions = {}): Dataset<Tensor> {
    return new Dataset(new CounterNode(options.start ?? 0, options.step ?? 1, options.outputType ?? 'int64'));
  }

  /** Random numbers from 0 to 2³² - 1 without an end, int64; the same in each pass unless `rerandomizeEachIteration`. */
  static random(options?: RandomOptions | null): Dataset<Tensor>;
  static random(options: RandomOptions = {}): Dataset<Tensor> {
    return new Dataset(new RandomNode(options.seed, options.rerandomizeEachIteration ?? false));
  }

  // ---- several datasets

  /**
   * The files whose paths match a pattern (or several), string scalars: `*` and `?` match within a part of a path, `[a-z]` one character,
   * `{a,b}` either, `**` any number of folders. They are looked for once, now, and come in another order at each pass; without `shuffle`,
   * in the order of their paths. @throws NotFoundError when no file matches.
   */
  static listFiles(
    ...args: Arguments<[filePattern: string | readonly string[] | Tensor], ['filePattern'], ListFilesOptions>
  ): Dataset<Tensor>;
  static listFiles(
    filePattern: string | readonly string[] | Tensor,
    options: ListFilesOptions = {},
  ): Dataset<Tensor> {
    return new Dataset<Tensor>(pathsNode(filePattern, options));
  }

  /**
   * What `save` wrote, with its spec and number of elements. The elements' type is what the caller says it is.
   * @throws NotFoundError when there is none at `path`. @throws DataLossError when it is damaged; iterating throws it as well.
   */
  static load<T = Element>(...args: Arguments<[path: string], ['path']>): Dataset<T>;
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
  static sampleFromDatasets<T>(
    options: SampleOptions & {
      /** What elements are drawn from. */
      readonly datasets: readonly Dataset<T>[];
    },
  ): Dataset<T>;
  static sampleFromDatasets<T>(datasets: readonly Dataset<T>[], options?: SampleOptions | null): Dataset<T>;
  static sampleFromDatasets(datasets: unknown, given?: SampleOptions | null): Dataset<never> {
    const options = given ?? {};
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
    options: ChooseOptions & {
      /** What elements are taken from, in their order. */
      readonly datasets: readonly Dataset<T>[];
      /** Gives for each element the number of its dataset, an int64 scalar. */
      readonly choiceDataset: Dataset<Tensor>;
    },
  ): Dataset<T>;
  static chooseFromDatasets<T>(
    datasets: readonly Dataset<T>[],
    choiceDataset: Dataset<Tensor>,
    options?: ChooseOptions | null,
  ): Dataset<T>;
  static chooseFromDatasets(
    datasets: unknown,
    choiceDataset?: unknown,
    options?: ChooseOptions | null,
  ): Dataset<never> {
    const what = 'Dataset.chooseFromDatasets';
    const nodes = datasetNodes(datasets, what);
    const chosen = datasetNode(choiceDataset, what);
    return new Dataset(new ChooseFromNode(nodes, chosen, options?.stopOnEmptyDataset ?? true));
  }

  /** The elements of this dataset, then those of the other. */
  concatenate(...args: Arguments<[dataset: Dataset<T>], ['dataset']>): Dataset<T>;
  concatenate(dataset: Dataset<T>): Dataset<T> {
    return new Dataset(new ConcatenateNode(this.node, datasetNode(dataset, 'Dataset.concatenate')));
  }

  /** [number, element], from `start` on; numbers are int64. */
  enumerate(...args: Arguments<[start?: Count], ['start']>): Dataset<[Tensor, T]>;
  enumerate(first: Count = 0): Dataset<[Tensor, T]> {
    const start = checkCount(first, 'start', 'Dataset.enumerate', Number.MIN_SAFE_INTEGER);
    const n = this.cardinality();
    // A range has rows in any order, where the input has.
    const numbers = n >= 0 ? new RangeNode(start, start + n, 1, 'int64') : new CounterNode(start, 1, 'int64');
    return new Dataset(new ZipNode([numbers, this.node], 'Enumerate'));
  }

  // ---- functions of elements

  /** `mapFunc` of each element. */
  map<const R>(
    options: MapOptions & {
      /** What becomes of an element; its parts are separate arguments where it is a list. */
      readonly mapFunc: ElementFn<T, R>;
    },
  ): Dataset<ElementOf<Awaited<R>>>;
  map<const R>(mapFunc: ElementFn<T, R>, options?: MapOptions | null): Dataset<ElementOf<Awaited<R>>>;
  map(mapFunc: unknown, options?: MapOptions | null): Dataset<never> {
    return new Dataset(new MapNode(this.node, mapFunc as never, options ?? {}));
  }

  /** The elements for which `predicate` returns true. */
  filter(
    options: FunctionCallOptions & {
      /** Whether an element stays: a boolean or a bool scalar. */
      readonly predicate: ElementFn<T, unknown>;
    },
  ): Dataset<T>;
  filter(predicate: ElementFn<T, unknown>, options?: FunctionCallOptions | null): Dataset<T>;
  filter(predicate: unknown, options?: FunctionCallOptions | null): Dataset<T> {
    return new Dataset(new FilterNode(this.node, predicate as never, options ?? {}, 'Filter'));
  }

  /** The elements before the first for which `predicate` returns false. */
  takeWhile(
    options: FunctionCallOptions & {
      /** Whether an element is taken; the first that is not ends the dataset. */
      readonly predicate: ElementFn<T, unknown>;
    },
  ): Dataset<T>;
  takeWhile(predicate: ElementFn<T, unknown>, options?: FunctionCallOptions | null): Dataset<T>;
  takeWhile(predicate: unknown, options?: FunctionCallOptions | null): Dataset<T> {
    return new Dataset(new FilterNode(this.node, predicate as never, options ?? {}, 'TakeWhile'));
  }

  /** The elements of the datasets that `mapFunc` makes, as plain code, of each element. */
  flatMap<R>(
    options: SignatureOptions & {
      /** Makes a dataset of each element. */
      readonly mapFunc: ElementFn<T, Dataset<R> | Promise<Dataset<R>>>;
    },
  ): Dataset<R>;
  flatMap<R>(
    mapFunc: ElementFn<T, Dataset<R> | Promise<Dataset<R>>>,
    options?: SignatureOptions | null,
  ): Dataset<R>;
  flatMap(mapFunc: unknown, options?: SignatureOptions | null): Dataset<never> {
    const how = { ...options, cycleLength: 1 };
    return new Dataset(new InterleaveNode(this.node, mapFunc as never, how, 'FlatMap'));
  }

  /** As `flatMap`, from several of the datasets in turn. */
  interleave<R>(
    options: InterleaveOptions & {
      /** Makes a dataset of each element. */
      readonly mapFunc: ElementFn<T, Dataset<R> | Promise<Dataset<R>>>;
    },
  ): Dataset<R>;
  interleave<R>(
    mapFunc: ElementFn<T, Dataset<R> | Promise<Dataset<R>>>,
    options?: InterleaveOptions | null,
  ): Dataset<R>;
  interleave(mapFunc: unknown, options?: InterleaveOptions | null): Dataset<never> {
    return new Dataset(new InterleaveNode(this.node, mapFunc as never, options ?? {}, 'Interleave'));
  }

  /** The second of what `scanFunc(state, element)` returns, [new state, output]; the state goes to the next call. */
  scan<const S, const R>(
    options: FunctionCallOptions & {
      /** The state before the first element. */
      readonly initialState: S;
      /** Gives the next state and what becomes of the element. */
      readonly scanFunc: (
        state: ElementOf<S>,
        element: T,
      ) => readonly [unknown, R] | Promise<readonly [unknown, R]>;
    },
  ): Dataset<ElementOf<R>>;
  scan<const S, const R>(
    initialState: S,
    scanFunc: (state: ElementOf<S>, element: T) => readonly [unknown, R] | Promise<readonly [unknown, R]>,
    options?: FunctionCallOptions | null,
  ): Dataset<ElementOf<R>>;
  scan(initialState: unknown, scanFunc?: unknown, options?: FunctionCallOptions | null): Dataset<never> {
    return new Dataset(new ScanNode(this.node, initialState, scanFunc as never, options ?? {}));
  }

  /** A function of the dataset: `dataset.apply(myTransformation)`. */
  apply<R>(transformationFunc: (dataset: this) => R): R;
  apply<R>(options: {
    /** Makes another dataset of this one. */
    readonly transformationFunc: (dataset: Dataset<T>) => R;
  }): R;
  apply(transformationFunc: unknown): unknown {
    checkFunction(transformationFunc, 'transformationFunc', 'Dataset.apply');
    return (transformationFunc as (dataset: Dataset<T>) => unknown)(this);
  }

  // ---- batches

  /** Stacks consecutive elements along a new first axis. */
  batch(...args: Arguments<[batchSize: Count], ['batchSize'], BatchOptions>): Dataset<T>;
  batch(batchSize: Count, options: BatchOptions = {}): Dataset<T> {
    return new Dataset(new BatchNode(this.node, batchSize, options));
  }

  /** Stacks elements that are padded at the end of each axis to the same shape. */
  paddedBatch(...args: Arguments<[batchSize: Count], ['batchSize'], PaddedBatchOptions>): Dataset<T>;
  paddedBatch(batchSize: Count, options: PaddedBatchOptions = {}): Dataset<T> {
    return new Dataset(new PaddedBatchNode(this.node, batchSize, options));
  }

  /**
   * Batches of elements whose first sizes differ: ragged tensors in the places of tensors of such a size.
   */
  raggedBatch(
    ...args: Arguments<[batchSize: Count], ['batchSize'], RaggedBatchOptions>
  ): Dataset<T extends Tensor ? Ragged : { -readonly [K in keyof T]: Tensor | Ragged }>;
  raggedBatch(
    batchSize: Count,
    options: RaggedBatchOptions = {},
  ): Dataset<T extends Tensor ? Ragged : { -readonly [K in keyof T]: Tensor | Ragged }> {
    return new Dataset(new RaggedBatchNode(this.node, batchSize, options));
  }

  /**
   * Batches of tensors of different shapes as sparse tensors [batch, ...rowShape], which hold all of their values.
   * @param rowShape null for a size that is that of the largest element of the batch.
   */
  sparseBatch(
    ...args: Arguments<[batchSize: Count, rowShape: PartialShape], ['batchSize', 'rowShape']>
  ): Dataset<SparseTensor>;
  sparseBatch(batchSize: Count, rowShape: PartialShape): Dataset<SparseTensor> {
    return new Dataset(new SparseBatchNode(this.node, batchSize, rowShape));
  }

  /** The rows of each element as elements of their own. */
  unbatch(): Dataset<T> {
    return new Dataset(new UnbatchNode(this.node));
  }

  /** Batches of another size, or of several sizes in turn, of the same elements. */
  rebatch(...args: Arguments<[batchSize: Count | readonly Count[]], ['batchSize'], BatchOptions>): Dataset<T>;
  rebatch(batchSize: Count | readonly Count[], options: BatchOptions = {}): Dataset<T> {
    return new Dataset(new RebatchNode(this.node, batchSize, options));
  }

  /** Consecutive elements as datasets: one for each component of the elements. */
  window(...args: Arguments<[size: Count], ['size'], WindowOptions>): Dataset<Windowed<T>>;
  window(size: Count, options: WindowOptions = {}): Dataset<Windowed<T>> {
    return new Dataset(new WindowNode(this.node, size, options));
  }

  /**
   * Collects elements by the integer that `keyFunc` returns, and gives the elements of `reduceFunc(key, group)` whenever there are
   * `windowSize` of a key; what is left at the end comes as smaller groups.
   */
  groupByWindow<R>(
    options: GroupByWindowOptions & {
      /** The group of an element, an int64 scalar. */
      readonly keyFunc: ElementFn<T, unknown>;
      /** Makes a dataset of the elements of a window, told their group. */
      readonly reduceFunc: (key: number, elements: Dataset<T>) => Dataset<R>;
    },
  ): Dataset<R>;
  groupByWindow<R>(
    keyFunc: ElementFn<T, unknown>,
    reduceFunc: (key: number, elements: Dataset<T>) => Dataset<R>,
    options: GroupByWindowOptions,
  ): Dataset<R>;
  groupByWindow(keyFunc: unknown, reduceFunc?: unknown, options: GroupByWindowOptions = {}): Dataset<never> {
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
    options: BucketOptions & {
      /** How long an element is, an int32 scalar. */
      readonly elementLengthFunc: ElementFn<T, unknown>;
      /** The lengths at which a new bucket begins, rising. */
      readonly bucketBoundaries: readonly number[];
      /** The batch size of each bucket: one more than there are boundaries. */
      readonly bucketBatchSizes: readonly number[];
    },
  ): Dataset<T>;
  bucketBySequenceLength(
    elementLengthFunc: ElementFn<T, unknown>,
    bucketBoundaries: readonly number[],
    bucketBatchSizes: readonly number[],
    options?: BucketOptions | null,
  ): Dataset<T>;
  bucketBySequenceLength(
    elementLengthFunc: unknown,
    bucketBoundaries: readonly number[] = [],
    bucketBatchSizes: readonly number[] = [],
    options?: BucketOptions | null,
  ): Dataset<T> {
    return new Dataset(
      bucketNode(this, elementLengthFunc as never, bucketBoundaries, bucketBatchSizes, options ?? {}),
    );
  }

  // ---- order and number

  /**
   * Draws elements from a buffer of the next `bufferSize`; with all of them in the buffer (`UNKNOWN_CARDINALITY`, or a size of at least their
   * number), every order is equally likely.
   */
  shuffle(...args: Arguments<[bufferSize: Count], ['bufferSize'], ShuffleOptions>): Dataset<T>;
  shuffle(bufferSize: Count, options: ShuffleOptions = {}): Dataset<T> {
    return new Dataset(new ShuffleNode(this.node, bufferSize, options));
  }

  /** The elements `count` times; without an end if it is not given or -1. */
  repeat(...args: Arguments<[count?: Count], ['count']>): Dataset<T>;
  repeat(count?: Count): Dataset<T> {
    return new Dataset(new RepeatNode(this.node, count));
  }

  /** The first `count` elements; all with -1. */
  take(...args: Arguments<[count: Count], ['count']>): Dataset<T>;
  take(count: Count): Dataset<T> {
    return new Dataset(new TakeNode(this.node, count));
  }

  /** All but the first `count` elements; none with -1. */
  skip(...args: Arguments<[count: Count], ['count']>): Dataset<T>;
  skip(count: Count): Dataset<T> {
    return new Dataset(new SkipNode(this.node, count));
  }

  /** Elements `index`, `index + numShards`, …: what one of several workers reads. */
  shard(...args: Arguments<[numShards: Count, index: Count], ['numShards', 'index']>): Dataset<T>;
  shard(numShards: Count, index: Count): Dataset<T> {
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
    options: ResampleOptions & {
      /** The class of an element, an int32 scalar from 0 on. */
      readonly classFunc: ElementFn<T, unknown>;
      /** The share of each class in the result. */
      readonly targetDist: readonly number[];
    },
  ): Dataset<[Tensor, T]>;
  rejectionResample(
    classFunc: ElementFn<T, unknown>,
    targetDist: readonly number[],
    options?: ResampleOptions | null,
  ): Dataset<[Tensor, T]>;
  rejectionResample(
    classFunc: unknown,
    targetDist: readonly number[] = [],
    options?: ResampleOptions | null,
  ): Dataset<[Tensor, T]> {
    return new Dataset(new ResampleNode(this.node, classFunc as never, targetDist, options ?? {}));
  }

  // ---- how it runs

  /**
   * Keeps the elements of the first complete pass in memory; later passes of this dataset read them there. With a path they are kept in a
   * folder, in the format of `save`, also for other programs: a pass that ends early or fails leaves nothing there. Delete the folder to have
   * the elements made anew; nobody sees whether the pipeline before has changed.
   */
  cache(...args: Arguments<[filename?: string], ['filename']>): Dataset<T>;
  cache(filename?: string): Dataset<T> {
    return new Dataset(
      filename === undefined ? new CacheNode(this.node) : new CacheFileNode(this.node, filename),
    );
  }

  /**
   * TensorFlow's name for `cache(path)`, with compression.
   * @throws UnimplementedError for `readerFunc` and `shardFunc`: the elements are in one file, and come in their order.
   */
  snapshot(...args: Arguments<[path: string], ['path'], SnapshotOptions>): Dataset<T>;
  snapshot(path: string, options: SnapshotOptions = {}): Dataset<T> {
    const { readerFunc, shardFunc, ...save } = options;
    if (readerFunc !== undefined || shardFunc !== undefined)
      throw new UnimplementedError(
        'a snapshot is one file: shuffle or interleave after the snapshot',
        'Dataset.snapshot',
      );
    return new Dataset(new CacheFileNode(this.node, path, save, 'Dataset.snapshot'));
  }

  /**
   * Goes through the dataset once and writes its elements into a folder. It appears there whole or, when something fails, not at all; a dataset
   * that was saved there before is replaced. @throws FailedPreconditionError when something else is at `path`; and what iterating throws.
   */
  save(...args: Arguments<[path: string], ['path'], SaveOptions>): Promise<void>;
  async save(path: string, options: SaveOptions = {}): Promise<void> {
    await saveElements(this, path, options);
  }

  /**
   * Has up to `bufferSize` elements made ahead: at once where they have to be waited for, and otherwise when this thread has nothing else to
   * do, as while `await step.runAsync(batch)` computes on another one.
   */
  prefetch(...args: Arguments<[bufferSize: Count], ['bufferSize']>): Dataset<T>;
  prefetch(bufferSize: Count): Dataset<T> {
    return new Dataset(new PrefetchNode(this.node, bufferSize));
  }

  /** Leaves out elements that cannot be made. */
  ignoreErrors(options?: IgnoreErrorsOptions | null): Dataset<T>;
  ignoreErrors(options: IgnoreErrorsOptions = {}): Dataset<T> {
    return new Dataset(new IgnoreErrorsNode(this.node, options.logWarning ?? false));
  }

  /** Says how many elements there are. A pass that finds another number throws FailedPreconditionError. */
  assertCardinality(...args: Arguments<[expectedCardinality: Count], ['expectedCardinality']>): Dataset<T>;
  assertCardinality(expectedCardinality: Count): Dataset<T> {
    return new Dataset(new AssertCardinalityNode(this.node, expectedCardinality));
  }

  /** Options for the pipeline up to here; those that are set later count. */
  withOptions(...args: Arguments<[options: DatasetOptions | Options], ['options']>): Dataset<T>;
  withOptions(options: DatasetOptions | Options): Dataset<T> {
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

  /** `len(dataset)`: the number of elements. @throws FailedPreconditionError for an infinite number, and one that is not known */
  get length(): number {
    const n = this.cardinality();
    if (n >= 0) return n;
    throw new FailedPreconditionError(
      `the number of elements is ${n === INFINITE_CARDINALITY ? 'infinite' : 'not known beforehand'}`,
      'Dataset.length',
    );
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

  /** `reduceFunc(state, element)` from the first to the last element; the last state. */
  reduce<const S>(
    options: FunctionCallOptions & {
      /** The state before the first element. */
      readonly initialState: S;
      /** Gives the next state, of the same structure. */
      readonly reduceFunc: (state: ElementOf<S>, element: T) => unknown;
    },
  ): ElementOf<S>;
  reduce<const S>(
    initialState: S,
    reduceFunc: (state: ElementOf<S>, element: T) => unknown,
    options?: FunctionCallOptions | null,
  ): ElementOf<S>;
  reduce(initialState: unknown, reduceFunc?: unknown, options?: FunctionCallOptions | null): never {
    return reduceElements(this, initialState, reduceFunc as never, options ?? {}) as never;
  }

  /** `reduce` for datasets and functions that have to be waited for. */
  reduceAsync<const S>(
    options: FunctionCallOptions & {
      /** The state before the first element. */
      readonly initialState: S;
      /** Gives the next state, of the same structure. */
      readonly reduceFunc: (state: ElementOf<S>, element: T) => unknown;
    },
  ): Promise<ElementOf<S>>;
  reduceAsync<const S>(
    initialState: S,
    reduceFunc: (state: ElementOf<S>, element: T) => unknown,
    options?: FunctionCallOptions | null,
  ): Promise<ElementOf<S>>;
  async reduceAsync(
    initialState: unknown,
    reduceFunc?: unknown,
    options?: FunctionCallOptions | null,
  ): Promise<never> {
    return (await reduceElementsLater(this, initialState, reduceFunc as never, options ?? {})) as never;
  }

  toString(): string {
    const n = this.cardinality();
    return `Dataset(${this.node.kind}, ${n === -1 ? 'infinite' : n === UNKNOWN_CARDINALITY ? 'unknown' : n} elements, ${
      this.elementSpec === null ? 'unknown spec' : flattenSpec(this.elementSpec).map(String).join(', ')
    })`;
  }
}
setDatasetClass(Dataset);
showInConsole(Dataset.prototype, String);
// What a converted `for…of` in a traced function goes through.
Object.defineProperty(Dataset.prototype, autographIterate, {
  value(this: Dataset<unknown>, site: string) {
    return tracedElements(this.node, site);
  },
});

defineMethods(Dataset, 'Dataset', {
  fromTensors: { positional: ['tensors'], objects: ['tensors'] },
  fromTensorSlices: { positional: ['tensors'], objects: ['tensors'] },
  fromGenerator: { positional: ['generator'], objects: ['generator'], options: generatorNames },
  range: { positional: ['start', 'stop', 'step'], required: 0, options: rangeNames },
  counter: { options: counterNames },
  random: { options: randomNames },
  listFiles: { positional: ['filePattern'], options: listFilesNames },
  load: { positional: ['path'] },
  zip: { rest: 'datasets', objects: ['datasets'] },
  sampleFromDatasets: { positional: ['datasets'], options: sampleNames },
  chooseFromDatasets: { positional: ['datasets', 'choiceDataset'], options: chooseNames },
});
defineMethods(Dataset.prototype, 'Dataset', {
  concatenate: { positional: ['dataset'] },
  enumerate: { positional: ['start'], required: 0 },
  map: { positional: ['mapFunc'], options: mapNames },
  filter: { positional: ['predicate'], options: callNames },
  takeWhile: { positional: ['predicate'], options: callNames },
  flatMap: { positional: ['mapFunc'], options: signatureNames },
  interleave: { positional: ['mapFunc'], options: interleaveNames },
  scan: { positional: ['initialState', 'scanFunc'], objects: ['initialState'], options: callNames },
  apply: { positional: ['transformationFunc'] },
  batch: { positional: ['batchSize'], options: batchNames },
  sparseBatch: { positional: ['batchSize', 'rowShape'] },
  paddedBatch: { positional: ['batchSize'], options: paddedBatchNames },
  raggedBatch: { positional: ['batchSize'], options: raggedBatchNames },
  unbatch: {},
  rebatch: { positional: ['batchSize'], options: batchNames },
  window: { positional: ['size'], options: windowNames },
  groupByWindow: { positional: ['keyFunc', 'reduceFunc'], options: groupNames },
  bucketBySequenceLength: {
    positional: ['elementLengthFunc', 'bucketBoundaries', 'bucketBatchSizes'],
    options: bucketNames,
  },
  shuffle: { positional: ['bufferSize'], options: shuffleNames },
  repeat: { positional: ['count'], required: 0 },
  take: { positional: ['count'] },
  skip: { positional: ['count'] },
  shard: { positional: ['numShards', 'index'] },
  unique: {},
  rejectionResample: { positional: ['classFunc', 'targetDist'], options: resampleNames },
  cache: { positional: ['filename'], required: 0 },
  snapshot: { positional: ['path'], options: snapshotNames },
  save: { positional: ['path'], options: saveNames },
  prefetch: { positional: ['bufferSize'] },
  ignoreErrors: { options: ignoreErrorsNames },
  assertCardinality: { positional: ['expectedCardinality'] },
  withOptions: { positional: ['options'], objects: ['options'] },
  options: {},
  cardinality: {},
  iterator: {},
  asHostIterator: {},
  toArray: {},
  getSingleElement: {},
  reduce: { positional: ['initialState', 'reduceFunc'], objects: ['initialState'], options: callNames },
  reduceAsync: { positional: ['initialState', 'reduceFunc'], objects: ['initialState'], options: callNames },
});

/** The node of a dataset. @throws InvalidArgumentError for anything else. */
function datasetNode(dataset: unknown, what: string): DatasetNode {
  if (dataset instanceof Dataset) return dataset.node;
  throw new InvalidArgumentError(`expected a dataset, got ${shown(dataset)}`, what);
}
function datasetNodes(datasets: unknown, what: string): DatasetNode[] {
  if (!Array.isArray(datasets))
    throw new InvalidArgumentError(`expected a list of datasets, got ${shown(datasets)}`, what);
  return (datasets as readonly unknown[]).map((d) => datasetNode(d, what));
}
