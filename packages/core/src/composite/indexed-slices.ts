// Some rows of a tensor: the gradient of a lookup.
import { type DType, InvalidArgumentError } from '@eagre/backend';
import { type Arguments, defineMethods } from '../arguments/arguments.ts';
import { naming } from '../arguments/checks.ts';
import { argumentsOf, takesArguments } from '../arguments/class-arguments.ts';
import * as array from '../ops/array/array.ts';
import { scatterRows } from '../ops/array/gathering.ts';
import { stack } from '../ops/array/join.ts';
import * as activations from '../ops/elementwise/activation.ts';
import * as math from '../ops/elementwise/math.ts';
import * as linalg from '../ops/linalg/linalg.ts';
import * as reduce from '../ops/reduce/reduce.ts';
import { sizeScalar } from '../ragged/row-partition.ts';
import type { Dim, Dims } from '../shapes/dim.ts';
import { dims, dimsOf, everyDim, hasUnknown, toShape } from '../shapes/dims.ts';
import { type Shape, sameShape, showShape } from '../shapes/shape.ts';
import { hostDims } from '../shapes/sizes.ts';
import { constant } from '../tensor/constant.ts';
import { type TensorLike, toTensor } from '../tensor/convert.ts';
import { showInConsole } from '../tensor/format.ts';
import { installMethods, type OpMethods } from '../tensor/methods.ts';
import { type HostArray, type NestedArray, type Scalar, Tensor } from '../tensor/tensor.ts';
import { type Call, CompositeTensor } from './composite.ts';

const OP = 'IndexedSlices';

let installed = false;

/** Adds the methods of tensors: with the first object, as all ops are there then. */
function installAll(): void {
  if (installed) return;
  installed = true;
  for (const functions of [activations, array, linalg, math, reduce])
    installMethods([IndexedSlices.prototype], functions);
}

/** Parts that fit. */
class Unchecked {
  readonly parts: readonly unknown[];
  readonly sizes: Dims | null;
  constructor(parts: readonly unknown[], sizes: Dims | null) {
    this.parts = parts;
    this.sizes = sizes;
  }
}

interface Parts {
  readonly values: TensorLike;
  readonly indices: TensorLike;
  readonly denseShape?: TensorLike | null;
}

/**
 * Some rows of a tensor, all others of which are 0: `values[i]` is added to row `indices[i]`. A row may stand there several times.
 * `tape.gradient` gives them for what was looked up with `tf.gather` or an `Embedding`, so that a step costs as much as the rows, and not
 * as the table. Optimizers take them as they are. Every function and method of tensors takes them too, as the tensor that they stand for.
 *
 *     const slices = new tf.IndexedSlices([[1, 2], [3, 4]], [0, 2], [4, 2]);
 *     slices.array(); // [[1, 2], [0, 0], [3, 4], [0, 0]]
 */
export class IndexedSlices extends CompositeTensor {
  /** [rows, ...]: the rows that are there. */
  readonly values: Tensor;
  /** int32 or int64 [rows]: which rows they are. */
  readonly indices: Tensor;
  /** The shape of the whole tensor; null where it is not known. */
  readonly denseShape: Tensor | null;
  readonly #sizes: Dims | null;

  /** @throws InvalidArgumentError for values and indices that do not fit. */
  constructor(
    ...args: Arguments<
      [values: TensorLike, indices: TensorLike, denseShape?: TensorLike | null],
      ['values', 'indices', 'denseShape']
    >
  ) {
    super();
    installAll();
    const [first] = args as readonly unknown[];
    if (first instanceof Unchecked) {
      // What maps structures may put anything in the places of tensors.
      [this.values, this.indices, this.denseShape] = first.parts as [Tensor, Tensor, Tensor | null];
      this.#sizes = first.sizes;
      return;
    }
    const given = argumentsOf<Parts>(IndexedSlices, new.target, args);
    this.values = naming('values', () => toTensor(given.values));
    this.indices = naming('indices', () => toTensor(given.indices, 'int64'));
    const { denseShape = null } = given;
    this.denseShape = denseShape === null ? null : naming('denseShape', () => toTensor(denseShape, 'int64'));
    this.#sizes = this.denseShape === null ? null : hostDims(this.denseShape, 'denseShape', OP);
    const { values, indices } = this;
    if (indices.dtype !== 'int32' && indices.dtype !== 'int64')
      throw new InvalidArgumentError(`indices must be int32 or int64, got ${indices.dtype}`, OP);
    if (indices.rank !== 1 || values.rank === 0 || !sameShape([dims(values)[0]], dims(indices)))
      throw new InvalidArgumentError(
        `indices ${showShape(indices.shape)} must have one number for each row of values ${showShape(values.shape)}`,
        OP,
      );
    // The shape may be a tensor that a traced function knows nothing of.
    const agree = (a: Dim, b: Dim): boolean => typeof a !== 'number' || typeof b !== 'number' || a === b;
    if (this.#sizes !== null && !everyDim(this.#sizes.slice(1), dims(values).slice(1), agree))
      throw new InvalidArgumentError(
        `values ${showShape(values.shape)} are no rows of a tensor of shape ${showShape(this.#sizes)}`,
        OP,
      );
  }

  /** @internal Rows of a tensor of a shape, which fit. */
  static of(values: Tensor, indices: Tensor, shape: Shape): IndexedSlices {
    const sizes = dimsOf(shape);
    const denseShape = hasUnknown(sizes)
      ? stack(sizes.map((d) => sizeScalar(d, 'int32')))
      : constant([...shape], 'int32');
    return new IndexedSlices(new Unchecked([values, indices, denseShape], sizes) as never);
  }
  static #unchecked(values: unknown, indices: unknown, denseShape: unknown): IndexedSlices {
    const sizes = denseShape instanceof Tensor ? hostDims(denseShape, 'denseShape', OP) : null;
    return new IndexedSlices(new Unchecked([values, indices, denseShape], sizes) as never);
  }

  /** Of the values. */
  get dtype(): DType {
    return this.values.dtype;
  }
  /** The shape of the whole tensor. @throws InvalidArgumentError where it is not known. */
  get shape(): Shape {
    return toShape(this.#known());
  }
  /** How many axes the whole tensor has. */
  get rank(): number {
    return this.values.rank;
  }
  /** The number of elements of the whole tensor. */
  get size(): number {
    return this.shape.reduce((product, n) => product * n, 1);
  }
  /** Where the values lie. */
  get device(): string {
    return this.values.device;
  }
  #known(): Dims {
    if (this.#sizes !== null) return this.#sizes;
    throw new InvalidArgumentError('slices without a denseShape are no tensor', OP);
  }

  /** The tensor that they stand for, as large as that is. */
  toTensor(): Tensor {
    return scatterRows(this.values, this.indices, toShape(this.#known()));
  }
  /** The same with each row once, in the order in which they first stand there; rows that stood there several times are added up. */
  deduplicated(): IndexedSlices {
    const { values: rows, indices } = array.unique(this.indices) as { values: Tensor; indices: Tensor };
    const sums = array.unsortedSegmentSum(this.values, indices, dims(rows)[0] as number);
    return this.like(sums, rows);
  }
  /** @internal Other rows of a tensor of the same shape. */
  like(values: Tensor, indices: Tensor): IndexedSlices {
    return new IndexedSlices(new Unchecked([values, indices, this.denseShape], this.#sizes) as never);
  }
  /** @internal The same rows with other values. */
  mapValues(fn: (values: Tensor) => Tensor): IndexedSlices {
    return this.like(fn(this.values), this.indices);
  }

  /** The elements of the whole tensor as a typed array. */
  data(): ReturnType<Tensor['data']> {
    return this.toTensor().data();
  }
  /** The elements of the whole tensor with their shape and dtype. */
  ndarray(): HostArray {
    return this.toTensor().ndarray();
  }
  /** The whole tensor as nested arrays. */
  array<T extends NestedArray<Scalar> = NestedArray<Scalar>>(): T {
    return this.toTensor().array<T>();
  }
  /** The only element of a tensor of size 1. */
  item(): number {
    return this.toTensor().item();
  }
  /** The whole tensor. */
  read(): ReturnType<Tensor['read']> {
    return this.toTensor().read();
  }
  /** Gives the memory of the rows back. */
  dispose(): void {
    for (const part of this.parts as readonly Tensor[]) part.dispose();
  }
  [Symbol.dispose](): void {
    this.dispose();
  }
  /** Whether its memory was freed by hand. */
  get isDisposed(): boolean {
    return this.values.isDisposed;
  }
  /** The whole tensor as nested arrays, for `JSON.stringify`. */
  toJSON(): unknown {
    return this.toTensor().toJSON();
  }
  override toString(): string {
    return `IndexedSlices(indices=${this.indices}, values=${this.values}${this.denseShape === null ? '' : `, denseShape=${this.denseShape}`})`;
  }

  get parts(): readonly unknown[] {
    const { values, indices, denseShape } = this;
    return denseShape === null ? [values, indices] : [values, indices, denseShape];
  }
  get partNames(): readonly string[] {
    return ['values', 'indices', 'denseShape'];
  }
  get facts(): string {
    return `IndexedSlices<${this.denseShape === null ? 'any' : ''}>`;
  }
  withParts([values, indices, denseShape = null]: readonly unknown[]): unknown {
    return IndexedSlices.#unchecked(values, indices, denseShape);
  }
  override get differentiable(): unknown {
    return this.values;
  }
  override withDifferentiable(values: unknown): unknown {
    return values === null ? null : this.like(values as Tensor, this.indices);
  }
  override get dense(): Tensor {
    return this.toTensor();
  }
  get advice(): string {
    return 'use toTensor()';
  }
  /** What makes gradients smaller works on the rows; everything else on the whole tensor. */
  dispatch(call: Call): unknown {
    return dispatchSlices(call);
  }
}
/** Every method of tensors, on the whole tensor. */
export interface IndexedSlices extends OpMethods {}

const isSlices = (value: unknown): value is IndexedSlices => value instanceof IndexedSlices;
const rows = (value: unknown): unknown => (isSlices(value) ? value.values : value);
const whole = (value: unknown): unknown => (isSlices(value) ? value.toTensor() : value);

function dispatchSlices(call: Call): unknown {
  const { name, values } = call;
  const [first] = values;
  if ((name === 'clipByValue' || name === 'clipByNorm') && isSlices(first))
    return first.mapValues((v) => call.run([v, ...values.slice(1)]) as Tensor);
  if (name === 'globalNorm') return call.run([(first as readonly unknown[]).map(rows)]);
  if (name === 'clipByGlobalNorm') {
    const list = first as readonly unknown[];
    const [clipped, norm] = call.run([list.map(rows), ...values.slice(1)]) as [Tensor[], Tensor];
    return [clipped.map((v, i) => (isSlices(list[i]) ? list[i].mapValues(() => v) : v)), norm];
  }
  // Functions of structures and classes look at them themselves.
  if (!call.ofTensors || name === 'sparse.mask') return undefined;
  return call.run(values.map((v) => (Array.isArray(v) ? v.map(whole) : whole(v))));
}

takesArguments<Parts>(
  {
    positional: ['values', 'indices', 'denseShape'],
    required: 2,
    names: { values: true, indices: true, denseShape: true },
  },
  IndexedSlices,
);
defineMethods(IndexedSlices.prototype, 'IndexedSlices', { toTensor: {}, deduplicated: {}, array: {} });
showInConsole(IndexedSlices.prototype, String);
