// Sources whose elements can be had in any order.
import { arrayLength, type TypedArray } from '@eagre/backend';
import { constant, gather, Tensor } from '@eagre/core';
import { emptyTensor, sizeOf, spaceOf, uploaded, viewOf } from '@eagre/core/internal';
import type { ElementSpec } from '../elements/element-spec.ts';
import { type Element, pack } from '../elements/structure.ts';
import {
  type DatasetNode,
  type ElementIterator,
  END,
  type RowAccess,
  type Step,
} from '../pipeline/iterator.ts';
import { PositionIterator } from '../pipeline/node.ts';
import { onHost } from '../pipeline/preparing.ts';

/** The rows of a tensor. */
class TensorRows {
  readonly #tensor: Tensor;
  readonly #shape: readonly number[];
  /** Elements in a row, and numbers: a complex element has two. */
  readonly #size: number;
  readonly #numbers: number;
  readonly #strings: readonly string[] | null;
  readonly #values: TypedArray | null;

  constructor(given: Tensor) {
    const tensor = onHost(given);
    this.#tensor = tensor;
    this.#shape = tensor.shape.slice(1);
    this.#size = sizeOf(this.#shape);
    this.#numbers = arrayLength(tensor.dtype, this.#size);
    this.#strings = tensor.dtype === 'string' ? tensor.strings() : null;
    this.#values = tensor.dtype === 'string' ? null : viewOf(tensor);
  }

  /** Consecutive rows, in a tensor of the given shape. Copied: the memory of what a user holds must never change or be given back twice. */
  #cut(start: number, rows: number, shape: readonly number[]): Tensor {
    const size = rows * this.#size;
    if (this.#strings !== null) {
      const from = start * this.#size;
      return size === 0
        ? constant([], 'string', { shape })
        : constant(this.#strings.slice(from, from + size), 'string', { shape });
    }
    const out = emptyTensor(this.#tensor.dtype, shape, size);
    const space = spaceOf(out);
    const from = start * this.#numbers;
    space.set((this.#values as TypedArray).subarray(from, from + rows * this.#numbers) as never);
    return uploaded(out, space);
  }

  at(index: number): Tensor {
    return this.#cut(index, 1, this.#shape);
  }
  slice(start: number, rows: number): Tensor {
    return this.#cut(start, rows, [rows, ...this.#shape]);
  }
  /** @param at the indices as a tensor */
  gather(indices: Int32Array, at: Tensor): Tensor {
    const strings = this.#strings;
    if (strings !== null) {
      const shape = [indices.length, ...this.#shape];
      const all = Array.from(indices).flatMap((i) => strings.slice(i * this.#size, (i + 1) * this.#size));
      return all.length === 0 ? constant([], 'string', { shape }) : constant(all, 'string', { shape });
    }
    return gather(this.#tensor, at, 0);
  }
}

/** Rows of tensors of one first dimension, in a structure. */
export class SliceRows implements RowAccess {
  readonly count: number;
  readonly #tensors: readonly TensorRows[];
  readonly #model: Element;

  constructor(model: Element, tensors: readonly Tensor[], rows: number) {
    this.count = rows;
    this.#model = model;
    this.#tensors = tensors.map((t) => new TensorRows(t));
  }

  #each(of: (rows: TensorRows) => Tensor): Element {
    const { length } = this.#tensors;
    if (this.#model instanceof Tensor) return of(this.#tensors[0]);
    const parts = new Array<Tensor>(length);
    for (let i = 0; i < length; i++) parts[i] = of(this.#tensors[i]);
    // Most elements are flat tuples.
    if (
      Array.isArray(this.#model) &&
      this.#model.length === length &&
      this.#model.every((m) => m instanceof Tensor)
    )
      return parts;
    return pack(this.#model, parts);
  }

  at(index: number): Element {
    return this.#each((t) => t.at(index));
  }
  slice(start: number, rows: number): Element {
    return this.#each((t) => t.slice(start, rows));
  }
  gather(indices: Int32Array): Element {
    const at = constant(indices);
    const rows = this.#each((t) => t.gather(indices, at));
    at.dispose();
    return rows;
  }
}

/** A node whose elements are rows, one after the other. */
export abstract class RowsNode implements DatasetNode {
  abstract readonly kind: string;
  readonly inputs: readonly DatasetNode[];
  readonly spec: ElementSpec | null;

  constructor(spec: ElementSpec | null, inputs: readonly DatasetNode[] = []) {
    this.spec = spec;
    this.inputs = inputs;
  }

  abstract rows(): RowAccess;

  cardinality(): number {
    return this.rows().count;
  }

  iterate(): ElementIterator {
    return new RowsIterator(this.rows());
  }
}

/** Rows from the first to the last. */
export class RowsIterator extends PositionIterator {
  override readonly ownsElements = true;
  override readonly hasRows = true;
  readonly #rows: RowAccess;

  constructor(rows: RowAccess) {
    super();
    this.#rows = rows;
  }

  next(): Step {
    return this.position < this.#rows.count ? this.#rows.at(this.position++) : END;
  }

  override nextRows(wanted: number): Step {
    const rows = Math.min(wanted, this.#rows.count - this.position);
    if (rows <= 0) return END;
    const start = this.position;
    this.position += rows;
    return this.#rows.slice(start, rows);
  }
}
