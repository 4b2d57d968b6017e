// Elements of datasets: tensors, and datasets (windows), in arrays and plain objects.
import { InvalidArgumentError } from '@eagre/backend';
import {
  type AnyTensor,
  type CompositeTensor,
  type NDArrayLike,
  type Scalar,
  Tensor,
  type TensorLike,
  type TypedArray,
  Variable,
} from '@eagre/core';
import { aliasTensor, isRefusedPromise, toOwnTensor, tree } from '@eagre/core/internal';
import type { Dataset } from '../pipeline/dataset.ts';
import type { DatasetIterator } from '../pipeline/dataset-iterator.ts';
import type { DatasetNode } from '../pipeline/iterator.ts';

/** A tensor or a dataset, or these in arrays and plain objects. */
export type Element =
  | Tensor
  | CompositeTensor
  // biome-ignore lint/suspicious/noExplicitAny: a dataset of whatever elements
  | Dataset<any>
  | readonly Element[]
  | { readonly [key: string]: Element };

type Nested<K> = readonly (K | Nested<K>)[];
type NestedScalars = Nested<number> | Nested<bigint> | Nested<boolean> | Nested<string>;

/**
 * The element that a value becomes: tensors in the places of host values. An array of numbers, of booleans or of strings, also nested, is one
 * tensor; any other array is a tuple, also one in which these are mixed.
 */
export type ElementOf<S> = [Element] extends [S]
  ? S
  : S extends CompositeTensor
    ? S
    : S extends Tensor | Variable | Scalar | TypedArray | NDArrayLike
      ? AnyTensor
      : // biome-ignore lint/suspicious/noExplicitAny: a dataset of whatever elements
        S extends Dataset<any>
        ? S
        : S extends readonly []
          ? []
          : S extends NestedScalars
            ? AnyTensor
            : { -readonly [K in keyof S]: ElementOf<S[K]> };

/** What a leaf of an element is. */
export type Leaf = Tensor | Dataset<unknown>;

// Datasets are recognised by a mark, and made by a function that their class gives, so that this file need not load it.
const datasetMark: unique symbol = Symbol.for('eagre.data.dataset') as never;
let make: (node: DatasetNode) => Dataset<unknown>;
/** Says which class that of datasets is. */
export function setDatasetClass(DatasetClass: new (node: DatasetNode) => Dataset<unknown>): void {
  Object.defineProperty(DatasetClass.prototype, datasetMark, { value: true });
  make = (node) => new DatasetClass(node);
}
/** The dataset of a node. */
export function datasetOf(node: DatasetNode): Dataset<unknown> {
  return make(node);
}
/** Whether something is a dataset, of whichever copy of this package. */
export function isDataset(value: unknown): value is Dataset<unknown> {
  return typeof value === 'object' && value !== null && datasetMark in value;
}

/** What iterators of datasets are recognised by: their prototype has it. */
export const iteratorMark: unique symbol = Symbol.for('eagre.data.iterator') as never;
/** Whether something is the iterator of a dataset, of whichever copy of this package. */
export function isDatasetIterator(value: unknown): value is DatasetIterator<unknown> {
  return typeof value === 'object' && value !== null && iteratorMark in value;
}

export function isLeaf(value: unknown): value is Leaf {
  return value instanceof Tensor || isDataset(value);
}

const OP = 'Dataset';

/** The leaves of an element in order. */
export function flatten(element: Element): Leaf[] {
  return tree.leavesOf(element, OP) as Leaf[];
}

/** The tensors of an element in order. @throws InvalidArgumentError when it holds a dataset. */
export function tensorsOf(element: Element, what: string): Tensor[] {
  const leaves = flatten(element);
  for (const leaf of leaves) {
    if (!(leaf instanceof Tensor))
      throw new InvalidArgumentError(
        'the elements hold datasets (windows); turn them into tensors with flatMap',
        what,
      );
  }
  return leaves as Tensor[];
}

/** The same structure with another leaf in the place of each. `leaf` gets its number as well. */
export function mapLeaves<L>(element: Element, leaf: (leaf: Leaf, index: number) => L): unknown {
  return tree.mapLeaves(element, OP, leaf as (leaf: unknown, index: number) => L);
}

/** The same values as other tensors over the same memory: whoever gets them may dispose them. */
export function shared(element: Element): Element {
  if (element instanceof Tensor) return aliasTensor(element, element.shape);
  return mapLeaves(element, (leaf) =>
    leaf instanceof Tensor ? aliasTensor(leaf, leaf.shape) : leaf,
  ) as Element;
}

/** The structure of `model` over the given leaves. */
export function pack(model: Element, leaves: readonly Leaf[]): Element {
  return tree.pack(model, leaves, OP) as Element;
}

const isHost = (v: unknown): v is Scalar =>
  typeof v === 'number' || typeof v === 'boolean' || typeof v === 'bigint' || typeof v === 'string';

// Tensors have fewer.
const MOST_AXES = 256;

/** Whether an array is the values of one tensor rather than a tuple: all of one kind. */
function isValues(value: readonly unknown[]): boolean {
  const kind = kindOf(value);
  return kind !== null && isAllOf(value, kind);
}
function isAllOf(value: readonly unknown[], kind: string, level = 0): boolean {
  // What holds itself is no tensor.
  if (level > MOST_AXES) return false;
  return (
    value.length > 0 &&
    value.every((v) => typeof v === kind || (Array.isArray(v) && isAllOf(v, kind, level + 1)))
  );
}
/** The kind of the first value in nested arrays. */
function kindOf(value: readonly unknown[], level = 0): string | null {
  const [first] = value;
  if (Array.isArray(first)) return level > MOST_AXES ? null : kindOf(first, level + 1);
  return isHost(first) ? typeof first : null;
}

function isNDArray(value: object): value is NDArrayLike {
  return 'data' in value && 'shape' in value && ArrayBuffer.isView(value.data) && Array.isArray(value.shape);
}

/**
 * The element that a value stands for, see `ElementOf`.
 * @throws InvalidArgumentError for what can be in no element.
 */
export function toElement(value: unknown, what: string): Element {
  return tree.mapLeaves(value, what, (leaf) => toLeaf(leaf, what), isOneLeaf) as Element;
}

/** What is no structure although it looks like one: the values of one tensor. Maps are in no element. */
const isOneLeaf: tree.IsLeaf = (value) =>
  Array.isArray(value) ? isValues(value) : value instanceof Map || isNDArray(value);

function toLeaf(value: unknown, what: string): Leaf {
  if (isLeaf(value)) return value;
  if (value instanceof Variable) return value.read();
  if (isHost(value) || isTypedArray(value) || Array.isArray(value)) return toOwnTensor(value as TensorLike);
  if (typeof value === 'object' && value !== null && isNDArray(value)) return toOwnTensor(value);
  throw new InvalidArgumentError(
    `elements must be tensors, values that become tensors, or arrays and plain objects of these, got ${describe(value)}`,
    what,
  );
}

const isTypedArray = (value: unknown): value is TypedArray =>
  ArrayBuffer.isView(value) && !(value instanceof DataView);

function describe(value: unknown): string {
  if (isRefusedPromise(value)) return 'a promise: await it';
  return typeof value === 'object' && value !== null
    ? `an object of class ${value.constructor?.name ?? 'unknown'}`
    : String(value);
}
