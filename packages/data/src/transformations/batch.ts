// `batch`, `unbatch`, `rebatch`.
import { InvalidArgumentError } from '@eagre/backend';
import type { CompositeTensor, PartialShape } from '@eagre/core';
import { RaggedTensorSpec, TensorSpec } from '@eagre/graph';
import {
  batchedSpec,
  holdsComposite,
  packWhole,
  rowCountOf,
  rowOf,
  rowSpec,
  wholeLeaves,
} from '../elements/composites.ts';
import { type ElementSpec, mapTensorSpec, RaggedRowSpec } from '../elements/element-spec.ts';
import { loadElement, saveElement } from '../elements/saved.ts';
import { type Element, tensorsOf } from '../elements/structure.ts';
import {
  AGAIN,
  type Awaitable,
  after,
  type DatasetNode,
  type ElementIterator,
  END,
  type IterationContext,
  type State,
  type Step,
  until,
} from '../pipeline/iterator.ts';
import { count, fields, UnaryIterator, UnaryNode } from '../pipeline/node.ts';
import { type Count, checkCount, UNKNOWN_CARDINALITY } from '../pipeline/options.ts';
import { Stacker } from '../pipeline/stacker.ts';
import { SliceRows } from '../sources/rows.ts';

/** Options of `batch`. */
export interface BatchOptions {
  /** Whether a last batch of fewer elements is left out; then the batch's size is part of `elementSpec`. */
  readonly dropRemainder?: boolean;
}

/** How many batches so many elements make. */
export function batchesOf(elements: number, size: number, dropRemainder: boolean): number {
  if (elements < 0) return elements;
  return dropRemainder ? Math.floor(elements / size) : Math.ceil(elements / size);
}

/** The spec of batches of such elements, of a size or of any. */
function specOfBatch(spec: ElementSpec | null, size: number | null): ElementSpec | null {
  const ofTensor = (s: TensorSpec): TensorSpec | RaggedTensorSpec =>
    s instanceof RaggedRowSpec
      ? new RaggedTensorSpec([size, ...(s.shape as PartialShape)], s.dtype, 1, s.rowSplitsDtype)
      : new TensorSpec(s.shape === null ? null : [size, ...s.shape], s.dtype);
  if (spec === null || !holdsComposite(spec))
    return mapTensorSpec(spec, 'Dataset.batch', ofTensor as (s: TensorSpec) => TensorSpec);
  const batched = specLeaves(spec).map((s) => (s instanceof TensorSpec ? ofTensor(s) : batchedSpec(s, size)));
  return packWhole(spec as never, batched) as never;
}

const specLeaves = (spec: ElementSpec): readonly (TensorSpec | CompositeTensor)[] =>
  wholeLeaves(spec as never) as readonly (TensorSpec | CompositeTensor)[];

export class BatchNode extends UnaryNode {
  readonly kind = 'Batch';
  readonly size: number;
  readonly whole: boolean;

  constructor(input: DatasetNode, batchSize: Count, { dropRemainder = false }: BatchOptions) {
    const size = checkCount(batchSize, 'batchSize', 'Dataset.batch');
    super(input, specOfBatch(input.spec, dropRemainder ? size : null));
    this.size = size;
    this.whole = dropRemainder;
  }

  override cardinality(): number {
    return batchesOf(this.input.cardinality(), this.size, this.whole);
  }

  iterate(context: IterationContext): ElementIterator {
    return new BatchIterator(this.input.iterate(context), this);
  }
}

class BatchIterator extends UnaryIterator<BatchNode> {
  override readonly ownsElements = true;
  readonly #stacker = new Stacker(this.input, 'Dataset.batch', this.node.input.spec);

  next(): Awaitable<Step> {
    return this.#stacker.next(this.node.size, this.node.whole);
  }

  protected override save(): State {
    return this.#stacker.save();
  }
  protected override restore(state: State): void {
    this.#stacker.restore(state);
  }
}

export class UnbatchNode extends UnaryNode {
  readonly kind = 'Unbatch';

  constructor(input: DatasetNode) {
    const what = 'Dataset.unbatch';
    let size: number | null = null;
    const check = (shape: PartialShape | null): void => {
      if (shape?.length === 0) throw new InvalidArgumentError('cannot unbatch a scalar', what);
      const own = shape?.[0] ?? null;
      if (own !== null && size !== null && own !== size)
        throw new InvalidArgumentError(`the first dimensions differ: ${size} and ${own}`, what);
      size ??= own;
    };
    const ofTensor = (s: TensorSpec): TensorSpec => {
      check(s.shape);
      return new TensorSpec(s.shape?.slice(1) ?? null, s.dtype);
    };
    const { spec } = input;
    if (spec === null || !holdsComposite(spec)) super(input, mapTensorSpec(spec, what, ofTensor));
    else {
      const rows = specLeaves(spec).map((s) => (s instanceof TensorSpec ? ofTensor(s) : rowSpec(s)));
      super(input, packWhole(spec as never, rows) as never);
    }
  }

  override cardinality(): number {
    const batches = this.input.cardinality();
    if (batches <= 0) return batches;
    const size = firstSize(this.input);
    return size === null ? UNKNOWN_CARDINALITY : batches * size;
  }

  iterate(context: IterationContext): ElementIterator {
    return new UnbatchIterator(this.input.iterate(context), this);
  }
}

/** The size of batches, where it is known. */
function firstSize({ spec }: DatasetNode): number | null {
  let size: number | null = null;
  mapTensorSpec(spec, 'Dataset.unbatch', (s) => {
    size ??= s.shape?.[0] ?? null;
    return s;
  });
  return size;
}

/** Rows that are taken one by one. */
interface Rows {
  readonly count: number;
  at(index: number): Element;
}

/** The rows of a batch. @throws InvalidArgumentError for scalars and different first dimensions. */
export function rowsOfBatch(batch: Element, what: string): Rows {
  if (holdsComposite(batch)) return compositeRows(batch, what);
  const tensors = tensorsOf(batch, what);
  const rows = tensors[0]?.shape[0];
  if (rows === undefined || tensors.some((t) => t.shape[0] !== rows))
    throw new InvalidArgumentError(
      `the tensors of a batch must have the same first dimension, got shapes ${tensors.map((t) => `[${t.shape}]`).join(', ')}`,
      what,
    );
  return new SliceRows(batch, tensors, rows);
}

/** `rowsOfBatch` where some are ragged or sparse. */
function compositeRows(batch: Element, what: string): Rows {
  const leaves = wholeLeaves(batch);
  const counts = leaves.map(rowCountOf);
  const [count] = counts as [number];
  if (counts.some((n) => n !== count))
    throw new InvalidArgumentError(`the first dimensions differ: ${counts.join(', ')}`, what);
  return {
    count,
    at: (i) =>
      packWhole(
        batch,
        leaves.map((x) => rowOf(x, i)),
      ),
  };
}

class UnbatchIterator extends UnaryIterator {
  override readonly ownsElements = true;
  #batch: Element | null = null;
  #rows: Rows | null = null;
  #next = 0;

  next(): Awaitable<Step> {
    return until(this.#turn);
  }
  readonly #turn = (): Awaitable<Step | typeof AGAIN> => {
    const rows = this.#rows;
    if (rows !== null && this.#next < rows.count) return rows.at(this.#next++);
    return after(this.input.next(), this.#take);
  };
  readonly #take = (step: Step): typeof END | typeof AGAIN => {
    this.#batch = this.#rows = null;
    this.#next = 0;
    if (step === END) return END;
    this.#rows = rowsOfBatch(step, 'Dataset.unbatch');
    this.#batch = step;
    return AGAIN;
  };

  protected override save(): State {
    return { next: this.#next, batch: this.#batch === null ? null : saveElement(this.#batch) };
  }
  protected override restore(state: State): void {
    const { next, batch } = fields(state);
    this.#next = count(next);
    if (batch === null) return;
    this.#batch = loadElement(batch);
    this.#rows = rowsOfBatch(this.#batch, 'Dataset.unbatch');
  }
}

/** Batches of other sizes, of the same elements in the same order. */
export class RebatchNode extends UnaryNode {
  readonly kind = 'Rebatch';
  readonly sizes: readonly number[];
  readonly whole: boolean;

  constructor(input: DatasetNode, sizes: Count | readonly Count[], { dropRemainder = false }: BatchOptions) {
    const what = 'Dataset.rebatch';
    const given = Array.isArray(sizes) ? (sizes as readonly Count[]) : [sizes as Count];
    if (given.length === 0) throw new InvalidArgumentError('batchSize must contain at least one size', what);
    const all = given.map((size) => checkCount(size, 'batchSize', what));
    const [size] = all as [number, ...number[]];
    const isOne = all.every((s) => s === size);
    super(
      input,
      mapTensorSpec(input.spec, what, (s) => {
        if (s.shape?.length === 0) throw new InvalidArgumentError('cannot rebatch scalars', what);
        // Batches of a known size that is a multiple leave nothing over.
        const isWhole = dropRemainder || (s.shape?.[0] ?? 1) % size === 0;
        const known = isOne && isWhole ? size : null;
        return new TensorSpec(s.shape === null ? null : [known, ...s.shape.slice(1)], s.dtype);
      }),
    );
    this.sizes = all;
    this.whole = dropRemainder;
  }

  override cardinality(): number {
    const elements = new UnbatchNode(this.input).cardinality();
    if (elements < 0) return elements;
    const total = this.sizes.reduce((a, b) => a + b);
    let left = elements % total;
    let batches = Math.floor(elements / total) * this.sizes.length;
    for (const size of this.sizes) {
      if (left <= 0) break;
      if (left >= size || !this.whole) batches++;
      left -= size;
    }
    return batches;
  }

  iterate(context: IterationContext): ElementIterator {
    return new RebatchIterator(new UnbatchIterator(this.input.iterate(context), this), this);
  }
}

class RebatchIterator extends UnaryIterator<RebatchNode> {
  override readonly ownsElements = true;
  readonly #stacker = new Stacker(this.input, 'Dataset.rebatch');
  #batches = 0;

  next(): Awaitable<Step> {
    const size = this.node.sizes[this.#batches % this.node.sizes.length];
    return after(this.#stacker.next(size, this.node.whole), (step) => {
      this.#batches++;
      return step;
    });
  }

  protected override save(): State {
    return { batches: this.#batches, stacker: this.#stacker.save() };
  }
  protected override restore(state: State): void {
    const { batches, stacker } = fields(state);
    this.#batches = count(batches);
    this.#stacker.restore(stacker as State);
  }
}
