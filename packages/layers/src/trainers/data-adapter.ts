import {
  EagreError,
  FailedPreconditionError,
  gather,
  InvalidArgumentError,
  type NDArrayLike,
  type PartialShape,
  type RaggedTensor,
  random,
  range,
  type SparseTensor,
  slice,
  Tensor,
  type TensorLike,
  Variable,
} from '@eagre/core';
import { type DistributionStrategy, isKept, shown, showShape, toTensor, tree } from '@eagre/core/internal';
import { flat, mapTensors, type Tensors } from '../layer/batch-tensors.ts';
import { along, holdsTensors, isDeep } from '../layer/forms.ts';
import { isAnyTensor, isStored, rowsOf as rowsOfStored } from '../layer/kinds.ts';
import { createdDataset, type DatasetCreator, type DatasetFunction, isCreator } from './dataset-creator.ts';
import { inOrder, isByName } from './per-output.ts';
import { batchesOf, PyDataset } from './py-dataset.ts';

/**
 * Inputs of a model, its targets, or weights: of one a tensor, of several a list, tensors by name, or such in each other. Null stands where an
 * output has neither a loss nor metrics.
 */
export type Inputs = TensorLike | RaggedTensor | SparseTensor | InputList | InputsByName;
type InputList = readonly (
  | Tensor
  | Variable
  | NDArrayLike
  | RaggedTensor
  | SparseTensor
  | InputList
  | InputsByName
  | null
)[];
interface InputsByName {
  readonly [name: string]: TensorLike | RaggedTensor | SparseTensor | InputList | InputsByName | null;
}

/** The names of a model's inputs and outputs, where it has any, and their structures. */
export interface Names {
  readonly inputs: readonly string[] | null;
  readonly outputs: readonly string[] | null;
  readonly forms?: { readonly inputs: unknown; readonly outputs: unknown };
  /** The shape of the first input, batch first, where it is known. */
  readonly shape?: PartialShape | undefined;
}

/** One batch: inputs, targets, weights of the examples. */
export interface Batch {
  readonly x: Tensors;
  readonly y: Tensors | undefined;
  readonly sampleWeight: Tensors | undefined;
  /** Whether it is divided between replicas already. */
  readonly divided?: boolean;
}

/** What an iterable of batches yields: inputs, or inputs, targets and weights. */
export type BatchLike =
  | TensorLike
  | InputsByName
  // What a function that returns [x, y] gives where its type does not say how many: a tuple of tensors, or of tensors by name.
  | readonly (Tensor | InputsByName)[]
  | readonly [x: Inputs, y?: Inputs | undefined, sampleWeight?: Inputs | undefined];
/** Batches, one after the other. */
export type BatchSource = Iterable<BatchLike> | AsyncIterable<BatchLike>;

/**
 * Examples: one input, several tensors for a model of several inputs, an iterable of batches, sync or async, a `PyDataset`, or what makes a
 * dataset for each worker of a `ParameterServerStrategy`.
 */
export type FitData = Inputs | BatchSource | DatasetCreator | DatasetFunction;

/** Examples that can be gone through several times. */
export interface Batches {
  /** Number of batches in one pass, where it is known. */
  readonly steps: number | undefined;
  /** Whether a pass never ends by itself. */
  readonly endless?: boolean;
  batches(): Iterator<Batch> | AsyncIterator<Batch>;
  /** What may be wrong with a batch that something failed with. */
  advice?(batch: Batch): string;
  /** Around each pass, unless it fails. */
  onPassBegin?(): void | Promise<void>;
  onPassEnd?(): void | Promise<void>;
}

export interface ArraysOptions {
  /** Unless given, that which makes `steps` batches of the examples, or 32. */
  readonly batchSize: number | undefined;
  readonly steps?: number | undefined;
  readonly shuffle: boolean;
  /** Makes the order of shuffled examples the same in all processes that train together. */
  readonly share?: ((order: Tensor) => Tensor) | undefined;
  /** By which a model trains on several devices or processes, whose batches may come divided. */
  readonly strategy?: DistributionStrategy | null | undefined;
}

const BATCH_SIZE = 32;

/** Batches cut from tensors whose first dimension counts the examples. */
export class ArrayBatches implements Batches {
  readonly #all: Batch;
  readonly #shuffle: boolean;
  readonly #share: (order: Tensor) => Tensor;
  readonly #batchSize: number;
  readonly #strategy: DistributionStrategy | null;
  readonly examples: number;

  /** @throws InvalidArgumentError when the numbers of examples differ, or there are none. */
  constructor(all: Batch, options: ArraysOptions) {
    this.#all = all;
    this.#shuffle = options.shuffle;
    this.#share = options.share ?? ((order) => order);
    this.#strategy = options.strategy ?? null;
    const [head] = flat(all.x);
    if (head === undefined)
      throw new InvalidArgumentError('x contains no tensor: give a tensor, a list, or tensors by name');
    const first = head.shape[0];
    if (first === 0)
      throw new InvalidArgumentError(`x has no examples, its shape is ${showShape(head.shape)}`);
    if (first === undefined) {
      throw new InvalidArgumentError(
        `x needs a first dimension, the number of examples, got shape ${showShape(head.shape)}`,
      );
    }
    this.examples = first;
    const { batchSize, steps } = options;
    this.#batchSize = batchSize ?? (steps === undefined ? BATCH_SIZE : Math.ceil(first / steps));
    for (const [name, given] of Object.entries(all)) {
      for (const t of flat(given)) {
        if (t.shape[0] === first) continue;
        throw new InvalidArgumentError(
          `${name} has ${t.shape[0] ?? 'no'} examples (shape ${showShape(t.shape)}), x has ${first}`,
        );
      }
    }
  }

  get steps(): number {
    return Math.ceil(this.examples / this.#batchSize);
  }

  *batches(): Generator<Batch> {
    const batchSize = this.#batchSize;
    const n = this.examples;
    const order = this.#shuffle ? this.#share(random.shuffle(range(0, n, 1, { dtype: 'int32' }))) : undefined;
    try {
      for (let begin = 0; begin < n; begin += batchSize) {
        const rows = Math.min(batchSize, n - begin);
        // Of a batch that several processes divide, each cuts its part alone.
        const own = this.#strategy?.ownRows(rows) ?? null;
        const start = begin + (own?.start ?? 0);
        const size = own?.size ?? rows;
        const indices = order === undefined ? undefined : slice(order, [start], [size]);
        const cut = (t: Tensor): Tensor =>
          isStored(t)
            ? (rowsOfStored(
                t,
                indices ?? range(start, start + size, 1, { dtype: 'int32' }),
              ) as unknown as Tensor)
            : indices === undefined
              ? slice(t, [start, ...t.shape.slice(1).map(() => 0)], [size, ...t.shape.slice(1)])
              : gather(t, indices);
        const each = (given: Tensors): Tensors => mapTensors(given, cut);
        const { x, y, sampleWeight } = this.#all;
        const batch: Batch = {
          x: each(x),
          y: y === undefined ? undefined : each(y),
          sampleWeight: sampleWeight === undefined ? undefined : each(sampleWeight),
          divided: own !== null,
        };
        indices?.dispose();
        try {
          yield batch;
        } finally {
          // The batch is over once the next one is asked for, unless code of the user has seen it.
          for (const t of partsOf(batch)) if (!isKept(t)) t.dispose();
        }
      }
    } finally {
      order?.dispose();
    }
  }
}

/** Batches that somebody else makes. */
class IterableBatches implements Batches {
  readonly steps: number | undefined;
  readonly endless: boolean;
  readonly #source: BatchSource;
  readonly #names: Names;
  readonly #divided: boolean;

  constructor(source: BatchSource, names: Names, divided = false) {
    this.#source = source;
    this.#names = names;
    this.#divided = divided;
    const { cardinality } = source as { cardinality?: unknown };
    // A dataset of tf.data tells its number of batches, or -1 if it has no end and -2 if it does not know.
    const count: unknown =
      typeof cardinality === 'function' ? cardinality.call(source) : (source as { length?: unknown }).length;
    this.steps = typeof count === 'number' && count >= 0 ? count : undefined;
    this.endless = typeof cardinality === 'function' && count === -1;
  }

  advice({ x, y }: Batch): string {
    if (this.#divided || !(x instanceof Tensor)) return '';
    const target = y instanceof Tensor ? y : undefined;
    const fits = x.rank > 1 && (target === undefined || (target.rank > 0 && target.shape[0] === x.shape[0]));
    const both = [x, ...(target === undefined ? [] : [target])].map((t) => showShape(t.shape)).join(' and ');
    return fits
      ? ''
      : `\n  the dataset gives ${both}: if these are single examples, give dataset.batch(size)`;
  }
  batches(): AsyncIterator<Batch> {
    const source = this.#source;
    const names = this.#names;
    const divided = this.#divided;
    const iterator: Iterator<BatchLike> | AsyncIterator<BatchLike> =
      Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
    return {
      async next(): Promise<IteratorResult<Batch>> {
        const { done, value } = await iterator.next();
        if (done === true) return { done, value: undefined };
        const batch = divided ? dividedBatch(value) : batchOf(value, names);
        if (!divided) checkBatched(batch.x, names.shape);
        return { done: false, value: batch };
      },
      async return(): Promise<IteratorResult<Batch>> {
        // A generator that the user made is the user's: another call may go on with it.
        if ((iterator as unknown) !== source) await iterator.return?.();
        return { done: true, value: undefined };
      },
    };
  }
}

/** Batches by their numbers. */
class NumberedBatches implements Batches {
  readonly #data: PyDataset;
  readonly #shuffle: boolean;
  readonly #names: Names;

  constructor(data: PyDataset, shuffle: boolean, names: Names) {
    this.#data = data;
    this.#shuffle = shuffle;
    this.#names = names;
  }

  get steps(): number | undefined {
    return this.#data.numBatches ?? undefined;
  }
  get endless(): boolean {
    return this.#data.numBatches === null;
  }

  async *batches(): AsyncGenerator<Batch> {
    const { steps } = this;
    const order =
      this.#shuffle && steps !== undefined && steps > 0
        ? random.shuffle(range(0, steps, 1, { dtype: 'int32' })).data()
        : undefined;
    const place = order === undefined ? (i: number) => i : (i: number) => order[i] as number;
    for await (const item of batchesOf(this.#data, place)) yield batchOf(item, this.#names);
  }
  onPassBegin(): void | Promise<void> {
    return this.#data.onEpochBegin();
  }
  onPassEnd(): void | Promise<void> {
    return this.#data.onEpochEnd();
  }
}

/** @throws InvalidArgumentError for one example in the place of a batch */
function checkBatched(x: Tensors, wanted: PartialShape | undefined): void {
  // A last axis of 1 may be missing.
  if (!(x instanceof Tensor) || wanted?.length !== x.rank + 1 || wanted.at(-1) === 1) return;
  throw new InvalidArgumentError(
    `the dataset gives examples ${showShape(x.shape)}, not batches ${showShape(wanted)}: give dataset.batch(size)`,
  );
}

/** A batch with a value for each replica in the place of each tensor. */
function dividedBatch(item: BatchLike): Batch {
  const [x, y, sampleWeight] = (isTuple(item) ? item : [item]) as readonly (Tensors | undefined)[];
  if (x === undefined || x === null)
    throw new InvalidArgumentError(
      `a dataset must give x, [x, y] or [x, y, sampleWeight], got ${shown(item)}`,
    );
  return { x, y: y ?? undefined, sampleWeight: sampleWeight ?? undefined, divided: true };
}

export function batchOf(item: BatchLike, names: Names): Batch {
  const [x, y, weight] = isTuple(item) ? item : [item as Inputs];
  if (x === undefined || x === null) {
    throw new InvalidArgumentError(
      `an iterable of batches must yield x, [x, y] or [x, y, sampleWeight], got ${shown(item)}`,
    );
  }
  return batchTensors(x, y, weight, names);
}

/** Whether an item is [x, y?, sampleWeight?]: an array of things that hold values, rather than an array of numbers. */
function isTuple(item: BatchLike): item is readonly [Inputs, Inputs?, Inputs?] {
  if (!Array.isArray(item) || item.length === 0 || item.length > 3) return false;
  const [x, ...rest] = item as readonly unknown[];
  if (item.length === 1) return isOne(x) || isByName(x) || (Array.isArray(x) && holdsTensors(x, isOne));
  return holds(x) && rest.every((v) => v === undefined || holds(v));
}

function holds(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}
function isOne(value: unknown): boolean {
  return (
    isAnyTensor(value) ||
    value instanceof Variable ||
    (typeof value === 'object' && value !== null && 'data' in value && 'shape' in value)
  );
}
/** Whether a value is a list of tensors, or of such in lists and by name, rather than of numbers. */
function isList(value: unknown): value is readonly unknown[] {
  const fits = (item: unknown): boolean => item === null || isOne(item) || isByName(item) || isList(item);
  return Array.isArray(value) && holdsTensors(value, isOne) && value.every(fits);
}

/** Whether a value yields batches rather than being examples itself. */
function isBatchSource(value: unknown): value is BatchSource {
  if (
    typeof value !== 'object' ||
    value === null ||
    Array.isArray(value) ||
    ArrayBuffer.isView(value) ||
    isOne(value)
  ) {
    return false;
  }
  return Symbol.iterator in value || Symbol.asyncIterator in value;
}

/** Whether a value gives batches, or makes what gives them, rather than being examples itself. */
export function isSource(value: unknown): value is BatchSource | DatasetCreator | DatasetFunction {
  return isCreator(value) || isBatchSource(value);
}

/** @throws InvalidArgumentError for names that the model does not have, or lacks */
export function inputTensors(x: Inputs, { inputs: names, forms }: Names, what = 'x'): Tensors {
  const found = tensorsIn(knownInputs(x, names, forms?.inputs), what);
  if (isDeep(forms?.inputs)) {
    along(forms?.inputs, found, { what, of: 'input', partial: true, names }).forEach((t, i) =>
      checkThere(t, names?.[i] ?? `${i}`, what),
    );
  } else if (names !== null && isByName(found))
    inOrder(found, names, what, 'input').forEach((t, i) => checkThere(t, names[i], what));
  return found;
}

/** What a model has inputs for: other names are left out, as in its call, unless one of an input lacks, for which they may stand. */
function knownInputs(x: Inputs, names: readonly string[] | null, form: unknown): Inputs {
  if (names === null || isDeep(form) || !isByName(x) || isStored(x)) return x;
  const all = Object.keys(x);
  if (all.length <= names.length || !names.every((name) => Object.hasOwn(x, name))) return x;
  return Object.fromEntries(names.map((name) => [name, x[name]])) as Inputs;
}

function checkThere(value: unknown, name: string, what: string): void {
  if (value === undefined || value === null)
    throw new InvalidArgumentError(`${what} lacks the input '${name}'`);
}

/** What lies in lists and under names, as tensors. @throws InvalidArgumentError for nothing at all */
function tensorsIn(given: unknown, what: string): Tensors {
  if (given === undefined || given === null)
    throw new InvalidArgumentError(`${what} is ${given}; expected a tensor, or a value that becomes one`);
  const inside = (value: unknown): unknown => {
    if (value === null) return null;
    return isList(value) || isByName(value)
      ? tree.mapItems(value as tree.Container, inside)
      : tensorOf(value as TensorLike);
  };
  return inside(given) as Tensors;
}

/** As a tensor; a sparse or ragged one stays what it is. */
const tensorOf = (x: TensorLike): Tensor => (isStored(x) ? (x as unknown as Tensor) : toTensor(x));

/** Targets, or weights of examples, if there are any. */
export function targetTensors(y: Inputs | null | undefined, names: Names, what: string): Tensors | undefined {
  if (y === undefined || y === null) return undefined;
  const found = tensorsIn(y, what);
  // Which of them may lack, the losses say.
  if (isByName(found) && names.outputs !== null && !isDeep(names.forms?.outputs))
    inOrder(found, names.outputs, what);
  return found;
}

/** What a user gave, as tensors. */
export function batchTensors(
  x: Inputs,
  y: Inputs | null | undefined,
  weight: Inputs | null | undefined,
  names: Names,
): Batch {
  return {
    x: inputTensors(x, names),
    y: targetTensors(y, names, 'y'),
    sampleWeight: targetTensors(weight, names, 'sampleWeight'),
  };
}

/** All dense tensors of a batch, those of sparse and ragged ones too. */
const partsOf = (batch: Batch): Tensor[] =>
  tensorsOf(batch).flatMap((t) => (isStored(t) ? (tree.leavesOf(t, 'fit') as Tensor[]) : [t]));

/** All tensors of a batch. */
export function tensorsOf({ x, y, sampleWeight }: Batch): Tensor[] {
  return [x, y, sampleWeight].flatMap(flat);
}

/** Whether a source gives batches that are divided between replicas. */
export function isDistributed(source: unknown): boolean {
  return (source as { readonly isDistributed?: unknown } | null)?.isDistributed === true;
}

/** Batches of what a user passed. @param what the method, for messages. */
export function adapt(
  x: FitData,
  y: Inputs | null | undefined,
  weight: Inputs | null | undefined,
  options: ArraysOptions & { readonly names: Names },
  what: string,
): Batches {
  const { names, strategy = null } = options;
  if (isCreator(x)) return new IterableBatches(createdDataset(x, strategy, what), names);
  if (isBatchSource(x)) {
    if ((y !== undefined && y !== null) || (weight !== undefined && weight !== null)) {
      throw new InvalidArgumentError(
        'an iterable yields targets and weights itself, [x, y, sampleWeight]; leave y and sampleWeight out',
        what,
      );
    }
    if (x instanceof PyDataset) return new NumberedBatches(x, options.shuffle, names);
    if (isDistributed(x) && strategy === null)
      throw new FailedPreconditionError(
        'a DistributedDataset is for models that were made in the scope of its strategy',
        what,
      );
    const divided = (strategy?.distributedBatches(x) ?? null) as BatchSource | null;
    return new IterableBatches(divided ?? x, names, divided !== null);
  }
  return new ArrayBatches(batchTensors(x, y, weight, names), options);
}

/**
 * Goes through batches in several passes. A pass that is limited stops there, and the next one goes on with what is left, as
 * Keras does with `steps_per_epoch`.
 */
export class Feed {
  readonly #source: Batches;
  #paused: Iterator<Batch> | AsyncIterator<Batch> | undefined;

  constructor(source: Batches) {
    this.#source = source;
  }

  /** How many batches the next pass has, where that is certain: of examples in memory, from the first one on. */
  count(limit: number | undefined): number | undefined {
    if (this.#paused !== undefined || !(this.#source instanceof ArrayBatches)) return undefined;
    return Math.min(limit ?? Number.POSITIVE_INFINITY, this.#source.steps);
  }

  async *pass(limit: number | undefined): AsyncGenerator<Batch> {
    if (limit === undefined && this.#source.endless === true) {
      throw new InvalidArgumentError(
        'the dataset is infinite: give the number of batches (stepsPerEpoch, steps or validationSteps), or leave out repeat()',
      );
    }
    await this.#source.onPassBegin?.();
    let iterator = this.#paused ?? this.#source.batches();
    let resumed = this.#paused !== undefined;
    this.#paused = undefined;
    let ended = false;
    let paused = false;
    try {
      for (let n = 0; limit === undefined || n < limit; n++) {
        let next = await iterator.next();
        if (next.done === true && resumed && n === 0) {
          iterator = this.#source.batches();
          next = await iterator.next();
        }
        resumed = false;
        if (next.done === true) {
          ended = true;
          break;
        }
        yield next.value;
      }
      if (!ended) this.#paused = iterator;
      paused = !ended;
      await this.#source.onPassEnd?.();
    } finally {
      if (!ended && !paused) await iterator.return?.();
    }
  }

  /** Tells in an error what may be wrong with the batch that it came with. */
  tell(error: unknown, batch: Batch): void {
    if (error instanceof EagreError) error.message += this.#source.advice?.(batch) ?? '';
  }

  async close(): Promise<void> {
    await this.#paused?.return?.();
    this.#paused = undefined;
  }
}
