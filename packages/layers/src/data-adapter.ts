import { gather, InvalidArgumentError, random, range, slice, Tensor, type TensorLike } from '@eagre/core';
import { showShape, toTensor } from '@eagre/core/internal';

/** One batch: inputs, targets, weights of the examples. */
export interface Batch {
  readonly x: Tensor | readonly Tensor[];
  readonly y: Tensor | undefined;
  readonly sampleWeight: Tensor | undefined;
}

/** What an iterable of batches yields. */
export type BatchLike = TensorLike | readonly [x: TensorLike, y: TensorLike, sampleWeight?: TensorLike];
export type BatchSource = Iterable<BatchLike> | AsyncIterable<BatchLike>;

/** Examples that can be gone through several times. */
export interface Batches {
  /** Number of batches in one pass, where it is known. */
  readonly steps: number | undefined;
  batches(): AsyncIterable<Batch> | Iterable<Batch>;
}

export interface ArraysOptions {
  readonly batchSize: number;
  readonly shuffle: boolean;
}

/** Batches cut from tensors whose first dimension counts the examples. */
export class ArrayBatches implements Batches {
  readonly #x: readonly Tensor[];
  readonly #many: boolean;
  readonly #y: Tensor | undefined;
  readonly #weight: Tensor | undefined;
  readonly #options: ArraysOptions;
  readonly examples: number;

  /** @throws InvalidArgumentError when the numbers of examples differ, or there are none. */
  constructor(
    x: Tensor | readonly Tensor[],
    y: Tensor | undefined,
    weight: Tensor | undefined,
    options: ArraysOptions,
  ) {
    this.#many = Array.isArray(x);
    this.#x = (this.#many ? x : [x]) as readonly Tensor[];
    this.#y = y;
    this.#weight = weight;
    this.#options = options;
    if (!Number.isInteger(options.batchSize) || options.batchSize < 1) {
      throw new InvalidArgumentError(`batchSize must be a positive integer, got ${options.batchSize}`);
    }
    const first = (this.#x[0] as Tensor).shape[0];
    if (first === undefined || first === 0) {
      throw new InvalidArgumentError(
        `x needs a first dimension that counts examples, got shape ${showShape((this.#x[0] as Tensor).shape)}`,
      );
    }
    this.examples = first;
    for (const [name, t] of [
      ...this.#x.map((t) => ['x', t] as const),
      ['y', y] as const,
      ['sampleWeight', weight] as const,
    ]) {
      if (t !== undefined && t.shape[0] !== first) {
        throw new InvalidArgumentError(
          `${name} has ${t.shape[0] ?? 'no'} examples (shape ${showShape(t.shape)}), x has ${first}`,
        );
      }
    }
  }

  get steps(): number {
    return Math.ceil(this.examples / this.#options.batchSize);
  }

  *batches(): Iterable<Batch> {
    const { batchSize, shuffle } = this.#options;
    const n = this.examples;
    const order = shuffle ? random.shuffle(range(0, n, 1, { dtype: 'int32' })) : undefined;
    for (let start = 0; start < n; start += batchSize) {
      const size = Math.min(batchSize, n - start);
      const indices = order === undefined ? undefined : slice(order, [start], [size]);
      const cut = (t: Tensor): Tensor =>
        indices === undefined
          ? slice(t, [start, ...t.shape.slice(1).map(() => 0)], [size, ...t.shape.slice(1)])
          : gather(t, indices);
      const x = this.#x.map(cut);
      const y = this.#y === undefined ? undefined : cut(this.#y);
      const sampleWeight = this.#weight === undefined ? undefined : cut(this.#weight);
      indices?.dispose();
      yield { x: this.#many ? x : (x[0] as Tensor), y, sampleWeight };
      // The batch is over once the next one is asked for.
      for (const t of [...x, y, sampleWeight]) t?.dispose();
    }
    order?.dispose();
  }
}

/** Batches that somebody else makes. */
class IterableBatches implements Batches {
  readonly steps: number | undefined;
  readonly #source: BatchSource;

  constructor(source: BatchSource) {
    this.#source = source;
    const { length } = source as { length?: unknown };
    this.steps = typeof length === 'number' ? length : undefined;
  }

  async *batches(): AsyncIterable<Batch> {
    for await (const item of this.#source as AsyncIterable<BatchLike>) {
      const [x, y, weight] = Array.isArray(item) && isBatch(item) ? item : [item as TensorLike];
      yield {
        x: toTensor(x as TensorLike),
        y: y === undefined ? undefined : toTensor(y as TensorLike),
        sampleWeight: weight === undefined ? undefined : toTensor(weight as TensorLike),
      };
    }
  }
}

function isBatch(item: readonly unknown[]): boolean {
  return item.length >= 2 && item.length <= 3 && item.every((v) => typeof v === 'object' && v !== null);
}

/** Whether a value yields batches rather than being examples itself. */
export function isBatchSource(value: unknown): value is BatchSource {
  if (
    typeof value !== 'object' ||
    value === null ||
    Array.isArray(value) ||
    ArrayBuffer.isView(value) ||
    value instanceof Tensor
  ) {
    return false;
  }
  return Symbol.iterator in value || Symbol.asyncIterator in value;
}

export function fromIterable(source: BatchSource): Batches {
  return new IterableBatches(source);
}

/** Tensors of what a user passed as inputs: one, or an array of tensors for a model of several. */
export function inputTensors(x: TensorLike | readonly Tensor[]): Tensor | readonly Tensor[] {
  if (Array.isArray(x) && x.length > 0 && x.every((t) => t instanceof Tensor)) return x as readonly Tensor[];
  return toTensor(x as TensorLike);
}
