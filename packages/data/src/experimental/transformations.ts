// TensorFlow's names for steps that are methods of datasets, and for those made of several.
import { InvalidArgumentError } from '@eagre/backend';
import { constant, device, identity, type PartialShape, type Tensor } from '@eagre/core';
import {
  checkCount,
  checkText,
  defineFunction,
  isPlain,
  kind,
  type NamedFunction,
  tree,
} from '@eagre/core/internal';
import { TensorSpec } from '@eagre/graph';
import { type ElementSpec, flattenSpec, mapTensorSpec, zerosOf } from '../elements/element-spec.ts';
import type { Element } from '../elements/structure.ts';
import { Dataset } from '../pipeline/dataset.ts';
import type { FunctionCallOptions, SignatureOptions } from '../pipeline/element-function.ts';
import {
  bucketNames,
  callNames,
  groupNames,
  type IgnoreErrorsOptions,
  raggedBatchNames,
  resampleNames,
  snapshotNames,
} from '../pipeline/option-names.ts';
import { AUTOTUNE } from '../pipeline/options.ts';
import type { FeatureSpecs } from '../readers/features.ts';
import { parseExample } from '../readers/parse-example.ts';
import type { SnapshotOptions } from '../readers/saved-files.ts';
import type { BatchOptions } from '../transformations/batch.ts';
import type { BucketOptions } from '../transformations/bucket.ts';
import type { GroupByWindowOptions } from '../transformations/group.ts';
import { GroupReduceNode, Reducer } from '../transformations/group-reduce.ts';
import type { MapOptions } from '../transformations/map.ts';
import type { RaggedBatchOptions } from '../transformations/ragged-batch.ts';
import type { ResampleOptions } from '../transformations/resample.ts';
import { type AnyElementFunction, type Step, type StepTo, step } from './apply.ts';

const SPACE = 'data.experimental.';

/** `Dataset.assertCardinality`, for `apply`. */
export const assertCardinality: NamedFunction<
  [expectedCardinality: number],
  ['expectedCardinality'],
  unknown,
  Step
> = /* @__PURE__ */ defineFunction(
  `${SPACE}assertCardinality`,
  { expectedCardinality: kind.asIs },
  {},
  (expected) => step(`${SPACE}assertCardinality`, (d) => d.assertCardinality(expected)),
);

/** `Dataset.bucketBySequenceLength`, for `apply`. */
export const bucketBySequenceLength: NamedFunction<
  [
    elementLengthFunc: AnyElementFunction,
    bucketBoundaries: readonly number[],
    bucketBatchSizes: readonly number[],
  ],
  ['elementLengthFunc', 'bucketBoundaries', 'bucketBatchSizes'],
  BucketOptions,
  Step
> = /* @__PURE__ */ defineFunction(
  `${SPACE}bucketBySequenceLength`,
  { elementLengthFunc: kind.asIs, bucketBoundaries: kind.asIs, bucketBatchSizes: kind.asIs },
  bucketNames,
  (length, boundaries, sizes, options) =>
    step(`${SPACE}bucketBySequenceLength`, (d) =>
      d.bucketBySequenceLength(length as never, boundaries, sizes, options),
    ),
);

/**
 * Brings elements to a device, where the ops after it in the program find them: `dataset.apply(tf.data.experimental.copyToDevice('/gpu:0'))`.
 * What follows in the pipeline itself computes on the CPU again.
 * @throws NotFoundError when there is no such device; InvalidArgumentError for a source that is not the CPU, where all elements are made.
 */
export const copyToDevice: NamedFunction<
  [targetDevice: string],
  ['targetDevice'],
  {
    /** Where elements come from; `/cpu:0` by default. */
    readonly sourceDevice?: string;
  },
  Step
> = /* @__PURE__ */ defineFunction(
  `${SPACE}copyToDevice`,
  { targetDevice: kind.asIs },
  { sourceDevice: kind.asIs },
  (targetDevice, { sourceDevice = '/cpu:0' }) => {
    const op = `${SPACE}copyToDevice`;
    for (const [name, value] of Object.entries({ targetDevice, sourceDevice })) {
      checkText(value, name, op);
      // That it is there.
      device(value, () => undefined);
    }
    if (!/cpu:0$/i.test(sourceDevice))
      throw new InvalidArgumentError(`elements are made on /cpu:0, not on ${sourceDevice}`, op);
    return step(op, toDevice(targetDevice));
  },
);

function toDevice(name: string): Step {
  const copied = (...items: readonly Element[]): Element =>
    device(name, () =>
      tree.mapLeaves(items.length === 1 ? items[0] : items, 'Dataset', (x) => identity(x as Tensor)),
    ) as Element;
  return (dataset) =>
    dataset.map(copied as never, {
      runEagerly: true,
      ...(dataset.elementSpec === null ? {} : { outputSignature: dataset.elementSpec }),
    }) as never;
}

/** `copyToDevice`, with up to `bufferSize` elements ahead. */
export const prefetchToDevice: NamedFunction<
  [device: string, bufferSize?: number | null],
  ['device', 'bufferSize'],
  unknown,
  Step
> = /* @__PURE__ */ defineFunction(
  `${SPACE}prefetchToDevice`,
  { device: kind.asIs, bufferSize: kind.asIs },
  {},
  (name, bufferSize = null) => {
    const copy = copyToDevice(name);
    return step(`${SPACE}prefetchToDevice`, (d) => copy(d).prefetch(bufferSize ?? AUTOTUNE));
  },
);

/** `Dataset.raggedBatch`, for `apply`. */
export const denseToRaggedBatch: NamedFunction<
  [batchSize: number],
  ['batchSize'],
  RaggedBatchOptions,
  StepTo
> = /* @__PURE__ */ defineFunction(
  `${SPACE}denseToRaggedBatch`,
  { batchSize: kind.asIs },
  raggedBatchNames,
  (size, options) => step(`${SPACE}denseToRaggedBatch`, (d) => d.raggedBatch(size, options)),
);

/** `Dataset.sparseBatch`, for `apply`. */
export const denseToSparseBatch: NamedFunction<
  [batchSize: number, rowShape: PartialShape],
  ['batchSize', 'rowShape'],
  unknown,
  StepTo
> = /* @__PURE__ */ defineFunction(
  `${SPACE}denseToSparseBatch`,
  { batchSize: kind.asIs, rowShape: kind.asIs },
  {},
  (size, rowShape) => step(`${SPACE}denseToSparseBatch`, (d) => d.sparseBatch(size, rowShape)),
);

/** `Dataset.enumerate`, for `apply`. */
export const enumerateDataset: NamedFunction<
  [start?: number],
  ['start'],
  unknown,
  <T>(dataset: Dataset<T>) => Dataset<[Tensor, T]>
> = /* @__PURE__ */ defineFunction(`${SPACE}enumerateDataset`, { start: kind.asIs }, {}, (start = 0) =>
  step(`${SPACE}enumerateDataset`, (d) => d.enumerate(start)),
);

/**
 * Goes through the whole dataset, keeps a state for each integer that `keyFunc` returns, and gives what `reducer` makes of each state in the end, in
 * order of the keys: `dataset.apply(tf.data.experimental.groupByReducer(keyFunc, new tf.data.experimental.Reducer(init, reduce, finalize)))`.
 */
export const groupByReducer: NamedFunction<
  [keyFunc: AnyElementFunction, reducer: Reducer],
  ['keyFunc', 'reducer'],
  FunctionCallOptions,
  StepTo
> = /* @__PURE__ */ defineFunction(
  `${SPACE}groupByReducer`,
  { keyFunc: kind.asIs, reducer: kind.asIs },
  callNames,
  (keyFunc, reducer, options) => {
    if (!(reducer instanceof Reducer))
      throw new InvalidArgumentError(
        'reducer must be a tf.data.experimental.Reducer',
        `${SPACE}groupByReducer`,
      );
    return step(
      `${SPACE}groupByReducer`,
      (d) => new Dataset(new GroupReduceNode(d.node, keyFunc, reducer, options)),
    );
  },
);

/** `Dataset.groupByWindow`, for `apply`. */
export const groupByWindow: NamedFunction<
  [keyFunc: AnyElementFunction, reduceFunc: AnyElementFunction],
  ['keyFunc', 'reduceFunc'],
  GroupByWindowOptions,
  StepTo
> = /* @__PURE__ */ defineFunction(
  `${SPACE}groupByWindow`,
  { keyFunc: kind.asIs, reduceFunc: kind.asIs },
  groupNames,
  (keyFunc, reduceFunc, options) =>
    step(`${SPACE}groupByWindow`, (d) => d.groupByWindow(keyFunc as never, reduceFunc as never, options)),
);

/** `Dataset.ignoreErrors`, for `apply`. */
export const ignoreErrors: NamedFunction<[logWarning?: boolean], ['logWarning'], unknown, Step> =
  /* @__PURE__ */ defineFunction(
    `${SPACE}ignoreErrors`,
    { logWarning: kind.asIs },
    {},
    (logWarning = false) =>
      step(`${SPACE}ignoreErrors`, (d) => d.ignoreErrors({ logWarning } satisfies IgnoreErrorsOptions)),
  );

/** Options of `mapAndBatch`. */
export interface MapAndBatchOptions extends BatchOptions, MapOptions {
  /** How many batches asynchronous functions work at; in the place of `numParallelCalls`. */
  readonly numParallelBatches?: number | null;
}

/** `map`, then `batch`. */
export const mapAndBatch: NamedFunction<
  [mapFunc: AnyElementFunction, batchSize: number],
  ['mapFunc', 'batchSize'],
  MapAndBatchOptions,
  StepTo
> = /* @__PURE__ */ defineFunction(
  `${SPACE}mapAndBatch`,
  { mapFunc: kind.asIs, batchSize: kind.asIs },
  {
    dropRemainder: kind.asIs,
    numParallelBatches: kind.asIs,
    numParallelCalls: kind.asIs,
    deterministic: kind.asIs,
    runEagerly: kind.asIs,
    outputSignature: kind.structure,
  },
  (mapFunc, batchSize, { dropRemainder = false, numParallelBatches = null, ...options }) => {
    const op = `${SPACE}mapAndBatch`;
    if (numParallelBatches !== null && options.numParallelCalls !== undefined)
      throw new InvalidArgumentError('give either numParallelBatches or numParallelCalls', op);
    if (numParallelBatches !== null) checkCount(numParallelBatches, 'numParallelBatches', op, 1);
    const calls = numParallelBatches === null ? {} : { numParallelCalls: numParallelBatches * batchSize };
    return step(op, (d) =>
      d.map(mapFunc as never, { ...options, ...calls }).batch(batchSize, { dropRemainder }),
    );
  },
);

/**
 * Adds elements of zeros, up to `cardinality` in all. Elements must be plain objects; each gets `maskKey`, true for those of the dataset and false for
 * those added, so that metrics can leave them out.
 * @throws InvalidArgumentError for a dataset whose number of elements is not known, or larger, and for other elements.
 */
export const padToCardinality: NamedFunction<
  [cardinality: number],
  ['cardinality'],
  {
    /** The name of the mask among the parts of an element; `valid` by default. */
    readonly maskKey?: string;
  },
  StepTo
> = /* @__PURE__ */ defineFunction(
  `${SPACE}padToCardinality`,
  { cardinality: kind.asIs },
  { maskKey: kind.asIs },
  (cardinality, { maskKey = 'valid' }) => {
    const op = `${SPACE}padToCardinality`;
    checkCount(cardinality, 'cardinality', op);
    checkText(maskKey, 'maskKey', op);
    return step(op, (d) => padded(d, cardinality, maskKey, op));
  },
);

function padded(dataset: Dataset<unknown>, cardinality: number, maskKey: string, op: string): unknown {
  const n = dataset.cardinality();
  if (n < 0 || n > cardinality)
    throw new InvalidArgumentError(
      `the dataset must have a known number of at most ${cardinality} elements, got ${n < 0 ? 'an unknown number' : n}`,
      op,
    );
  const { elementSpec } = dataset;
  if (!isPlain(elementSpec) || elementSpec instanceof TensorSpec)
    throw new InvalidArgumentError('the elements must be plain objects, whose spec is known', op);
  const zero = (spec: TensorSpec): unknown => {
    const { shape, dtype } = spec;
    if (shape === null || shape.includes(null))
      throw new InvalidArgumentError(`zeros of ${spec} have no known shape`, op);
    return zerosOf(shape as number[], dtype);
  };
  const filler = mapTensorSpec(elementSpec as ElementSpec, op, zero as never) as Readonly<
    Record<string, unknown>
  >;
  // Strings keep functions from being traced; they lie in no graph.
  const runEagerly = flattenSpec(elementSpec as ElementSpec).some(
    (s) => s instanceof TensorSpec && s.dtype === 'string',
  );
  const outputSignature = {
    ...(elementSpec as object),
    [maskKey]: new TensorSpec([], 'bool'),
  } as ElementSpec;
  const marked = dataset.map(
    ((x: object) => ({ ...x, [maskKey]: constant(true) })) as never,
    runEagerly ? { runEagerly, outputSignature } : {},
  );
  if (n === cardinality) return marked;
  const more = Dataset.fromTensors({ tensors: { ...filler, [maskKey]: constant(false) } });
  return marked.concatenate(more.repeat(cardinality - n) as never);
}

/** Options of `parallelInterleave`. */
export interface ParallelInterleaveOptions extends SignatureOptions {
  /** How many elements in a row come from one dataset; 1 unless given. */
  readonly blockLength?: number;
  /** Whether elements that are ready may come before others; as the options of the pipeline say if it is null. */
  readonly sloppy?: boolean | null;
  /** How many elements of each dataset are made ahead. */
  readonly bufferOutputElements?: number | null;
  /** How many elements of the input are made ahead. */
  readonly prefetchInputElements?: number | null;
}

/** `Dataset.interleave` with as many calls at once as datasets. */
export const parallelInterleave: NamedFunction<
  [mapFunc: AnyElementFunction, cycleLength: number],
  ['mapFunc', 'cycleLength'],
  ParallelInterleaveOptions,
  StepTo
> = /* @__PURE__ */ defineFunction(
  `${SPACE}parallelInterleave`,
  { mapFunc: kind.asIs, cycleLength: kind.asIs },
  {
    blockLength: kind.asIs,
    sloppy: kind.asIs,
    bufferOutputElements: kind.asIs,
    prefetchInputElements: kind.asIs,
    outputSignature: kind.structure,
  },
  (mapFunc, cycleLength, options) => {
    const op = `${SPACE}parallelInterleave`;
    const {
      blockLength = 1,
      sloppy = false,
      bufferOutputElements,
      prefetchInputElements,
      ...signature
    } = options;
    const ahead = <T>(d: Dataset<T>, count: number | null | undefined): Dataset<T> =>
      count == null ? d : d.prefetch(count);
    const made = (...args: never[]): unknown => {
      const inner = (mapFunc as (...args: never[]) => unknown)(...args);
      return inner instanceof Dataset ? ahead(inner, bufferOutputElements) : inner;
    };
    return step(op, (d) =>
      ahead(d, prefetchInputElements).interleave(made as never, {
        cycleLength,
        blockLength,
        numParallelCalls: cycleLength,
        ...(sloppy === null ? {} : { deterministic: !sloppy }),
        ...signature,
      }),
    );
  },
);

/** Parses batches of serialized Examples, see `tf.io.parseExample`: string vectors become tensors by name. */
export const parseExampleDataset: NamedFunction<
  [features: FeatureSpecs],
  ['features'],
  {
    /** How many batches are read at the same time; one by default. */
    readonly numParallelCalls?: number;
    /** False: batches may come as they are ready. As `withOptions` says by default. */
    readonly deterministic?: boolean;
  },
  StepTo
> = /* @__PURE__ */ defineFunction(
  `${SPACE}parseExampleDataset`,
  { features: kind.structure },
  { numParallelCalls: kind.asIs, deterministic: kind.asIs },
  (features, options) =>
    step(`${SPACE}parseExampleDataset`, (d) =>
      d.map(((serialized: Tensor) => parseExample(serialized as never, features)) as never, {
        ...options,
        runEagerly: true,
      }),
    ),
);

/** `Dataset.rejectionResample`, for `apply`. */
export const rejectionResample: NamedFunction<
  [classFunc: AnyElementFunction, targetDist: readonly number[]],
  ['classFunc', 'targetDist'],
  ResampleOptions,
  <T>(dataset: Dataset<T>) => Dataset<[Tensor, T]>
> = /* @__PURE__ */ defineFunction(
  `${SPACE}rejectionResample`,
  { classFunc: kind.asIs, targetDist: kind.asIs },
  resampleNames,
  (classFunc, targetDist, options) =>
    step(`${SPACE}rejectionResample`, (d) => d.rejectionResample(classFunc as never, targetDist, options)),
);

/** `Dataset.scan`, for `apply`. */
export const scan: NamedFunction<
  [initialState: unknown, scanFunc: AnyElementFunction],
  ['initialState', 'scanFunc'],
  FunctionCallOptions,
  StepTo
> = /* @__PURE__ */ defineFunction(
  `${SPACE}scan`,
  { initialState: kind.structure, scanFunc: kind.asIs },
  callNames,
  (initialState, scanFunc, options) =>
    step(`${SPACE}scan`, (d) => d.scan(initialState as never, scanFunc as never, options)),
);

/** `shuffle`, then `repeat`. */
export const shuffleAndRepeat: NamedFunction<
  [bufferSize: number, count?: number | null],
  ['bufferSize', 'count'],
  {
    /** Makes the order the same in each run of the program; drawn anew unless given. */
    readonly seed?: number;
  },
  Step
> = /* @__PURE__ */ defineFunction(
  `${SPACE}shuffleAndRepeat`,
  { bufferSize: kind.asIs, count: kind.asIs },
  { seed: kind.asIs },
  (bufferSize, count = null, options) =>
    step(`${SPACE}shuffleAndRepeat`, (d) => d.shuffle(bufferSize, options).repeat(count ?? -1)),
);

/** `Dataset.snapshot`, for `apply`. */
export const snapshot: NamedFunction<[path: string], ['path'], SnapshotOptions, Step> =
  /* @__PURE__ */ defineFunction(`${SPACE}snapshot`, { path: kind.asIs }, snapshotNames, (path, options) =>
    step(`${SPACE}snapshot`, (d) => d.snapshot(path, options)),
  );

/** `Dataset.takeWhile`, for `apply`. */
export const takeWhile: NamedFunction<
  [predicate: AnyElementFunction],
  ['predicate'],
  FunctionCallOptions,
  Step
> = /* @__PURE__ */ defineFunction(
  `${SPACE}takeWhile`,
  { predicate: kind.asIs },
  callNames,
  (predicate, options) => step(`${SPACE}takeWhile`, (d) => d.takeWhile(predicate as never, options)),
);

/** `Dataset.unbatch`, for `apply`. */
export const unbatch: NamedFunction<[], [], unknown, Step> = /* @__PURE__ */ defineFunction(
  `${SPACE}unbatch`,
  {},
  {},
  () => step(`${SPACE}unbatch`, (d) => d.unbatch()),
);

/** `Dataset.unique`, for `apply`. */
export const unique: NamedFunction<[], [], unknown, Step> = /* @__PURE__ */ defineFunction(
  `${SPACE}unique`,
  {},
  {},
  () => step(`${SPACE}unique`, (d) => d.unique()),
);
