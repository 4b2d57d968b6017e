// TensorFlow's names for datasets of `tf.data.experimental`, and for what is asked of datasets there.
import { InvalidArgumentError, UnimplementedError } from '@eagre/backend';
import type { DType, Tensor } from '@eagre/core';
import {
  type Arguments,
  argumentsOf,
  defineFunction,
  kind,
  type NamedFunction,
  shown,
  takesArguments,
} from '@eagre/core/internal';
import { type ElementSpec, sameKind, showSpec, specOf } from '../elements/element-spec.ts';
import type { Optional } from '../elements/optional.ts';
import { type Element, toElement } from '../elements/structure.ts';
import { Dataset } from '../pipeline/dataset.ts';
import { DatasetIterator } from '../pipeline/dataset-iterator.ts';
import { debugMode } from '../pipeline/element-function.ts';
import {
  type ChooseOptions,
  chooseNames,
  type RandomOptions,
  sampleNames,
} from '../pipeline/option-names.ts';
import type { SaveOptions } from '../readers/saved-files.ts';
import { ElementsNode } from '../sources/elements.ts';
import { RandomNode } from '../sources/numbers.ts';
import type { SampleOptions } from '../transformations/sample.ts';
import { checkDataset } from './apply.ts';

const SPACE = 'data.experimental.';
type Of<R, T = unknown> = NamedFunction<[dataset: Dataset<T>], ['dataset'], unknown, R>;

/** Numbers from `start` on, without an end; `Dataset.counter`. */
export const Counter: NamedFunction<
  [start?: number, step?: number],
  ['start', 'step'],
  {
    /** Of the numbers; int64 by default. */
    readonly dtype?: DType;
  },
  Dataset<Tensor>
> = /* @__PURE__ */ defineFunction(
  `${SPACE}Counter`,
  { start: kind.asIs, step: kind.asIs },
  { dtype: kind.asIs },
  (start = 0, step = 1, { dtype = 'int64' }) => Dataset.counter({ start, step, outputType: dtype as never }),
);

interface RandomArguments extends RandomOptions {
  readonly seed?: number;
}

/** Random numbers from 0 to 2³² - 1 without an end, int64; `Dataset.random`. */
export class RandomDataset extends Dataset<Tensor> {
  constructor(...args: Arguments<[seed?: number], ['seed'], Omit<RandomOptions, 'seed'>>) {
    const { seed, rerandomizeEachIteration = false } = argumentsOf<RandomArguments>(
      RandomDataset,
      new.target,
      args,
    );
    super(new RandomNode(seed, rerandomizeEachIteration));
  }
}
takesArguments<RandomArguments>(
  { positional: ['seed'], required: 0, names: { seed: true, rerandomizeEachIteration: true } },
  RandomDataset,
);

/**
 * The elements of a list, all of one structure and of the same dtypes.
 * @throws InvalidArgumentError for an empty list and elements of different kinds.
 */
export const fromList: NamedFunction<
  [elements: readonly unknown[]],
  ['elements'],
  unknown,
  Dataset<Element>
> = /* @__PURE__ */ defineFunction(`${SPACE}fromList`, { elements: kind.asIs }, {}, (elements) => {
  const op = `${SPACE}fromList`;
  if (!Array.isArray(elements) || elements.length === 0)
    throw new InvalidArgumentError(`elements must be a list of at least one, got ${shown(elements)}`, op);
  const all = elements.map((element) => toElement(element, op));
  const first = specOf(all[0] as Element);
  const other = all.map(specOf).find((spec) => !sameKind(first, spec));
  if (other !== undefined)
    throw new InvalidArgumentError(
      `all elements must be of one kind, got ${showSpec(first)} and ${showSpec(other)}`,
      op,
    );
  return new Dataset<Element>(new ElementsNode(all, undefined, 'List'));
});

/** `Dataset.chooseFromDatasets`, which goes on with the others when one ends, unless `stopOnEmptyDataset` is true. */
export const chooseFromDatasets: NamedFunction<
  [datasets: readonly Dataset<never>[], choiceDataset: Dataset<Tensor>],
  ['datasets', 'choiceDataset'],
  ChooseOptions,
  Dataset<Element>
> = /* @__PURE__ */ defineFunction(
  `${SPACE}chooseFromDatasets`,
  { datasets: kind.asIs, choiceDataset: kind.asIs },
  chooseNames,
  (datasets, choiceDataset, { stopOnEmptyDataset = false }) =>
    Dataset.chooseFromDatasets<Element>(datasets as never, choiceDataset, { stopOnEmptyDataset }),
);

/** `Dataset.sampleFromDatasets`. */
export const sampleFromDatasets: NamedFunction<
  [datasets: readonly Dataset<never>[]],
  ['datasets'],
  SampleOptions,
  Dataset<Element>
> = /* @__PURE__ */ defineFunction(
  `${SPACE}sampleFromDatasets`,
  { datasets: kind.asIs },
  sampleNames,
  (datasets, options) => Dataset.sampleFromDatasets<Element>(datasets as never, options),
);

/** `dataset.cardinality()`. */
export const cardinality: Of<number> = /* @__PURE__ */ defineFunction(
  `${SPACE}cardinality`,
  { dataset: kind.asIs },
  {},
  (dataset) => checkDataset(dataset, `${SPACE}cardinality`).cardinality(),
);

/** `dataset.getSingleElement()`. */
export const getSingleElement: <T>(...args: Arguments<[dataset: Dataset<T>], ['dataset']>) => T =
  /* @__PURE__ */ defineFunction<Of<unknown>>(
    `${SPACE}getSingleElement`,
    { dataset: kind.asIs },
    {},
    (dataset) => checkDataset(dataset, `${SPACE}getSingleElement`).getSingleElement(),
  ) as never;

/** `iterator.getNextAsOptional()`. */
export const getNextAsOptional: <T>(
  ...args: Arguments<[iterator: DatasetIterator<T>], ['iterator']>
) => Optional<T> = /* @__PURE__ */ defineFunction<
  NamedFunction<[iterator: DatasetIterator<unknown>], ['iterator'], unknown, unknown>
>(`${SPACE}getNextAsOptional`, { iterator: kind.asIs }, {}, (iterator) => {
  if (iterator instanceof DatasetIterator) return iterator.getNextAsOptional();
  throw new InvalidArgumentError(
    `expected the iterator of a dataset, got ${shown(iterator)}`,
    `${SPACE}getNextAsOptional`,
  );
}) as never;

/** `dataset.elementSpec`, of a dataset or an iterator. */
export const getStructure: NamedFunction<
  [datasetOrIterator: Dataset<never> | DatasetIterator<never>],
  ['datasetOrIterator'],
  unknown,
  ElementSpec | null
> = /* @__PURE__ */ defineFunction(`${SPACE}getStructure`, { datasetOrIterator: kind.asIs }, {}, (value) => {
  if (value instanceof Dataset || value instanceof DatasetIterator) return value.elementSpec;
  throw new InvalidArgumentError(
    `expected a dataset or its iterator, got ${shown(value)}`,
    `${SPACE}getStructure`,
  );
});

/** `dataset.save(path)`. */
export const save: NamedFunction<
  [dataset: Dataset<unknown>, path: string],
  ['dataset', 'path'],
  SaveOptions & {
    /** TensorFlow's distribution of elements over files. There is one file here: leave it out. */
    readonly shardFunc?: unknown;
  },
  Promise<void>
> = /* @__PURE__ */ defineFunction(
  `${SPACE}save`,
  { dataset: kind.asIs, path: kind.asIs },
  { compression: kind.asIs, shardFunc: kind.asIs },
  async (dataset, path, { shardFunc, ...options }) => {
    const op = `${SPACE}save`;
    if (shardFunc != null) throw new UnimplementedError('a saved dataset is one file, without shards', op);
    await checkDataset(dataset, op).save(path, options);
  },
);

/** `Dataset.load(path)`. */
export const load: NamedFunction<
  [path: string],
  ['path'],
  unknown,
  Dataset<Element>
> = /* @__PURE__ */ defineFunction(`${SPACE}load`, { path: kind.asIs }, {}, (path) => Dataset.load(path));

/** From now on all functions of elements run as plain code, once for each element, so that a debugger and `console.log` see them. */
export const enableDebugMode: NamedFunction<[], [], unknown, void> = /* @__PURE__ */ defineFunction(
  `${SPACE}enableDebugMode`,
  {},
  {},
  () => {
    debugMode.enabled = true;
  },
);
