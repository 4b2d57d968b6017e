import { type DType, InvalidArgumentError, OutOfRangeError } from '@eagre/backend';
import {
  concat,
  gather,
  type PartialShape,
  type Shape,
  slice,
  split,
  stack,
  Tensor,
  type TensorLike,
  tensorScatterNdUpdate,
  unstack,
  Variable,
  zeros,
} from '@eagre/core';
import {
  type Arguments,
  addDims,
  argumentsOf,
  atMost,
  checkDTypeName,
  checkFlag,
  checkPartialShape,
  context,
  type Dim,
  defineMethods,
  differs,
  dims,
  dimsOf,
  getRow,
  hostDims,
  identicalDims,
  isCompatible,
  isUnknown,
  knownDim,
  lessThan,
  maxDims,
  mulDims,
  sameShape,
  setRow,
  showShape,
  sizeOfDims,
  sizeValue,
  subDims,
  takesArguments,
  toOwnTensor,
  toShape,
  toTensor,
} from '@eagre/core/internal';
import { type Contents, checkLength, nothingOf, runsOf, sizeOption, Unwritten } from './array-contents.ts';
import { knownNumbers } from './known.ts';
import { Versions } from './versions.ts';

/** Options of `TensorArray`. */
export interface TensorArrayOptions {
  /** How many elements there are: a number, or an integer scalar that is made of sizes while tracing, such as `tf.shape(x).gather(0)`. */
  readonly size?: TensorLike;
  /** Writing behind the end makes the array longer; false by default. */
  readonly dynamicSize?: boolean;
  /** The shape that elements must have; null stands for an unknown dimension, or for an unknown shape. */
  readonly elementShape?: PartialShape | null;
  /** All elements must have the shape of the first one that is written; true by default. */
  readonly inferShape?: boolean;
}

/** What all versions of one array share. */
interface Traits {
  readonly dtype: DType;
  readonly dynamicSize: boolean;
  readonly inferShape: boolean;
  elementShape: PartialShape | null;
}

const OP = 'TensorArray';
/** In front of what a version of an array is made of. */
const VERSION = Symbol('version');

/** Sizes that a trace does not know count as known: each run has them. */
const isKnown = (shape: PartialShape | null): shape is Shape =>
  shape !== null && !(dimsOf(shape as Shape) as readonly (Dim | null)[]).includes(null);
/** The shape of so many elements. */
const rowsShape = (count: Dim, shape: Shape): Shape => toShape([count, ...dimsOf(shape)]);
/** The shape of one of the rows. */
const rowShape = (rows: Tensor): Shape => toShape(dims(rows).slice(1));

/**
 * A list of tensors of one dtype, written and read by index: what loops collect their results in.
 *
 *     let steps = new tf.TensorArray('float32', { size: 10 });
 *     [, , steps] = tf.whileLoop(
 *       (i) => i.less(10),
 *       (i, x, steps) => [i.add(1), x.mul(2), steps.write(i, x)],
 *       [tf.constant(0, 'int32'), tf.constant(1), steps],
 *     );
 *     steps.stack(); // [10]
 *
 * Every method that changes something returns a new array, and leaves the one it was called on as it was; writing costs the same for a long
 * array as for a short one. What has not been written is zeros, if the elements' shape is known. Reading does not clear
 * (TensorFlow's `clear_after_read=False`). Gradients flow through it to any order.
 *
 * In the branches and loops of a graph it is one tensor of shape [size, ...elementShape].
 */
export class TensorArray {
  #traits: Traits;
  /** @internal Seen by memory scopes. */
  contents: Contents;

  /**
   * @throws InvalidArgumentError without a size, unless the array is of dynamic size, which then begins with none; for a size that is not
   * known while tracing.
   */
  constructor(...args: Arguments<[dtype: DType], ['dtype'], TensorArrayOptions>);
  constructor(...args: readonly unknown[]) {
    if (args[0] === VERSION) {
      this.#traits = args[1] as Traits;
      this.contents = args[2] as Contents;
      return;
    }
    const options = argumentsOf<ArrayArguments>(TensorArray, new.target, args);
    const { dtype, elementShape = null } = options;
    checkDTypeName(dtype, OP);
    const dynamicSize = checkFlag(options.dynamicSize, 'dynamicSize', OP);
    const inferShape = checkFlag(options.inferShape ?? true, 'inferShape', OP);
    if (elementShape !== null) checkPartialShape(elementShape, OP);
    const size = sizeOption(options.size, dynamicSize);
    this.#traits = { dtype, dynamicSize, inferShape, elementShape };
    this.contents = nothingOf(size);
  }

  get dtype(): DType {
    return this.#traits.dtype;
  }
  /** The shape of the elements as far as it is known. */
  get elementShape(): PartialShape | null {
    return this.#traits.elementShape;
  }
  get dynamicSize(): boolean {
    return this.#traits.dynamicSize;
  }

  /** How many elements there are: int32 []. */
  size(): Tensor {
    return toOwnTensor(sizeValue(this.#size, 'int32'), 'int32');
  }

  /**
   * The array with `value` at `index` (an integer scalar). Writing again replaces.
   * @throws InvalidArgumentError for another dtype, or a shape that does not fit; OutOfRangeError outside of the array, unless it is of
   * dynamic size; UnimplementedError in a graph of a session for one of dynamic size and an index that is only known when the graph runs.
   */
  write(...args: Arguments<[index: TensorLike, value: TensorLike], ['index', 'value']>): TensorArray;
  write(index: TensorLike, value: TensorLike): TensorArray {
    const row = this.#element(value);
    const at = knownIndex(index);
    if (at === undefined && this.dynamicSize) return this.#version(this.#grown(index, row));
    if (at !== undefined) {
      this.#checkIndex(at, 'write', this.dynamicSize);
      const grows = this.dynamicSize && !lessThan(at, this.#size);
      if (grows) checkLength(at + 1);
      if (this.contents instanceof Versions) return this.#version(this.contents.with(at, row, null));
      if (grows) return this.#version(this.#versions()).write(index, row);
    }
    return this.#version(setRow(this.#rows('write to'), indexTensor(index), row));
  }

  /**
   * The element at `index` (an integer scalar).
   * @throws OutOfRangeError outside of the array; InvalidArgumentError for one that was not written, while the elements' shape is not
   * known.
   */
  read(...args: Arguments<[index: TensorLike], ['index']>): Tensor;
  read(index: TensorLike): Tensor {
    const at = knownIndex(index);
    if (at !== undefined) {
      this.#checkIndex(at, 'read', false);
      if (this.contents instanceof Versions) return this.contents.get(at) ?? this.#unwritten(at);
    }
    return getRow(this.#rows('read from'), indexTensor(index));
  }

  /** The rows with one at an index that only a run knows; zeros for those that come to be before it. */
  #grown(index: TensorLike, row: Tensor): Tensor {
    const at = indexTensor(index).reshape([]);
    const [place] = hostDims(at, 'the index', OP) as [Dim];
    if (lessThan(place, 0)) throw new OutOfRangeError(`cannot write to index ${place} of a TensorArray`, OP);
    const rows = this.#rows('write to');
    const more = maxDims(0, subDims(addDims(place, 1), this.#size));
    const longer = concat([rows, zeros(rowsShape(more, rowShape(rows)), { dtype: this.dtype })], 0);
    return setRow(longer, at, row);
  }

  /** All elements: [size, ...elementShape]. @throws InvalidArgumentError if they are not of one shape, or none is known. */
  stack(): Tensor {
    const { contents } = this;
    if (contents instanceof Tensor) return contents;
    if (contents instanceof Unwritten)
      return zeros(rowsShape(contents.length, this.#shapeOfUnwritten(0)), { dtype: this.dtype });
    if (contents.length === 0) return zeros(rowsShape(0, this.#shape('stack')), { dtype: this.dtype });
    const gap = contents.toArray().indexOf(null);
    if (gap >= 0) this.#shapeOfUnwritten(gap);
    return this.dense() as Tensor;
  }

  /** The elements at `indices` (rank 1): [n, ...elementShape]. @throws OutOfRangeError for an index outside of the array. */
  gather(...args: Arguments<[indices: TensorLike], ['indices']>): Tensor;
  gather(indices: TensorLike): Tensor {
    const known = knownList(indices, 'indices');
    if (known === null || this.contents instanceof Tensor)
      return gather(this.#rows('gather from'), indexTensor(indices));
    if (known.length === 0) return zeros(rowsShape(0, this.#shape('gather')), { dtype: this.dtype });
    return stack(known.map((at) => this.read(at)));
  }

  /**
   * The elements joined along their first axis: [sum of lengths, ...]. They may differ in length with `inferShape: false`.
   * @throws InvalidArgumentError for scalars.
   */
  concat(): Tensor {
    const { contents } = this;
    const items = contents instanceof Tensor ? [] : this.#filled();
    const ranks = contents instanceof Tensor ? [contents.rank - 1] : items.map((t) => t.rank);
    const scalar = ranks.indexOf(0);
    if (scalar >= 0)
      throw new InvalidArgumentError(
        `the element at ${scalar} is a scalar, but concat requires at least vectors`,
        OP,
      );
    if (contents instanceof Tensor) {
      const [n, length, ...rest] = dims(contents) as [Dim, Dim, ...Dim[]];
      return contents.reshape(toShape([mulDims(n, length), ...rest]));
    }
    if (items.length > 0) return concat(items, 0);
    const [, ...rest] = dimsOf(this.#shape('concat'));
    return zeros(toShape([0, ...rest]), { dtype: this.dtype });
  }

  /** The array whose elements are the slices of `value` [n, ...]. @throws InvalidArgumentError if there are more than fit. */
  unstack(...args: Arguments<[value: TensorLike], ['value']>): TensorArray;
  unstack(value: TensorLike): TensorArray {
    const rows = this.#rowsOf(value, 'unstack');
    const n = dims(rows)[0];
    if (!this.dynamicSize && !atMost(n, this.#size))
      throw new InvalidArgumentError(
        `cannot unstack ${n} tensors into a TensorArray of static size ${this.#size}`,
        OP,
      );
    this.#merge(rowShape(rows));
    return this.#version(context.tracer === null ? new Versions<Tensor | null>(unstack(rows)) : rows);
  }

  /**
   * The array with the slices of `value` [n, ...] at `indices` [n]; the last one stays where an index comes twice.
   * @throws OutOfRangeError for an index outside of the array, unless it is of dynamic size.
   */
  scatter(...args: Arguments<[indices: TensorLike, value: TensorLike], ['indices', 'value']>): TensorArray;
  scatter(indices: TensorLike, value: TensorLike): TensorArray {
    const rows = this.#rowsOf(value, 'scatter');
    const known = knownList(indices, 'indices');
    const n = known?.length ?? sizeOfDims(toTensor(indices).shape);
    const count = dims(rows)[0];
    if (differs(count, n)) throw new InvalidArgumentError(`there are ${n} indices for ${count} tensors`, OP);
    if (known !== null) {
      const items = unstack(rows);
      return known.reduce<TensorArray>((array, at, i) => array.write(at, items[i]), this);
    }
    this.#merge(rowShape(rows));
    const at = indexTensor(indices).reshape(toShape([n, 1]));
    return this.#version(tensorScatterNdUpdate(this.#rows('scatter into'), at, rows));
  }

  /**
   * The array whose elements are pieces of `value` along its first axis, of these lengths. They may differ with `inferShape: false`.
   * @throws InvalidArgumentError when lengths do not add up, or there are not as many as elements, unless the array is of dynamic size.
   */
  split(...args: Arguments<[value: TensorLike, lengths: TensorLike], ['value', 'lengths']>): TensorArray;
  split(value: TensorLike, lengths: TensorLike): TensorArray {
    const rows = this.#rowsOf(value, 'split');
    const sizes = knownList(lengths, 'lengths');
    if (sizes === null)
      throw new InvalidArgumentError('the lengths of split must be known while tracing', OP);
    if (!this.dynamicSize && differs(sizes.length, this.#size)) {
      throw new InvalidArgumentError(
        `the TensorArray has ${this.#size} elements, but there are ${sizes.length} lengths, and its size is not dynamic`,
        OP,
      );
    }
    const pieces = split(rows, sizes, 0);
    for (const piece of pieces) this.#merge(piece.shape);
    return this.#version(new Versions<Tensor | null>(pieces));
  }

  /** `TensorArray(float32, size 3, elements [2])` */
  toString(): string {
    const { dtype, elementShape } = this;
    const elements = elementShape === null ? 'of unknown shape' : showShape(elementShape);
    const size = this.#size;
    return `TensorArray(${dtype}, size ${size}, elements ${elements})`;
  }

  /** @internal Whether it can be a tensor in a graph. */
  hasShape(): boolean {
    return this.#commonShape() !== null;
  }

  /** @internal All elements in one tensor for a graph; null while their shape is not known. */
  dense(): Tensor | null {
    const { contents } = this;
    if (contents instanceof Tensor) return contents;
    const shape = this.#commonShape();
    if (shape === null) return null;
    if (contents instanceof Unwritten) return zeros(rowsShape(contents.length, shape), { dtype: this.dtype });
    const pieces = runsOf(contents.toArray()).map(({ count, items }) =>
      items.length > 0 ? stack(items) : zeros(rowsShape(count, shape), { dtype: this.dtype }),
    );
    const [first] = pieces;
    if (first === undefined) return zeros(rowsShape(0, shape), { dtype: this.dtype });
    return pieces.length === 1 ? first : concat(pieces, 0);
  }

  /** @internal The array whose elements are the rows of a tensor. */
  withRows(rows: Tensor): TensorArray {
    return this.#version(rows);
  }

  /** @internal The array without its last element, and that element. @throws OutOfRangeError for an empty array. */
  popped(): readonly [TensorArray, Tensor] {
    const { contents } = this;
    const last = subDims(this.#size, 1);
    if (lessThan(last, 0)) throw new OutOfRangeError('there is no element to take from the list', OP);
    if (contents instanceof Versions && contents.length > 0)
      return [this.#version(contents.shortened()), this.read(contents.length - 1)];
    const rows = this.stack();
    const [, ...sizes] = dims(rows);
    const before = slice(rows, [0, ...sizes.map(() => 0)], rowsShape(last, rowShape(rows)));
    return [this.#version(before), this.read(sizeValue(last, 'int32'))];
  }

  /** @internal The array with nothing written. */
  emptied(): TensorArray {
    return this.#version(nothingOf(this.#size));
  }

  /** @internal Takes over the elements' shape of another array, where it knows none of its own. */
  takeShape(other: TensorArray): void {
    const shape = other.#commonShape();
    if (shape !== null && isCompatible(shape, this.elementShape)) this.#traits.elementShape = shape;
  }

  /** @internal The shape of its rows, if there may be any number of them; undefined while the shape of elements is not known. */
  rowsOfAnyNumber(): PartialShape | undefined {
    const shape = this.#commonShape();
    return shape === null ? undefined : ([null, ...dimsOf(shape)] as PartialShape);
  }

  /** @internal Whether it is of dynamic size and has become longer, or may have. */
  hasGrown(before: TensorArray): boolean {
    return this.dynamicSize && !identicalDims(this.#size, before.#size);
  }

  /** @internal Why this cannot stand where the other one does; null if it can. Those of dynamic size may be of any. */
  differs(other: TensorArray, where: string): string | null {
    if (this.dtype !== other.dtype)
      return `${where} is a TensorArray of ${this.dtype} and one of ${other.dtype}`;
    if (!(this.dynamicSize && other.dynamicSize) && differs(this.#size, other.#size))
      return `${where} is a TensorArray of ${this.#size} elements and one of ${other.#size}`;
    const [a, b] = [this.elementShape, other.elementShape];
    return isKnown(a) && isKnown(b) && !sameShape(a, b)
      ? `${where} is a TensorArray of elements ${showShape(a)} and one of elements ${showShape(b)}`
      : null;
  }

  get #size(): Dim {
    const { contents } = this;
    return contents instanceof Tensor ? dims(contents)[0] : contents.length;
  }

  #version(contents: Contents): TensorArray {
    return new Version(VERSION, this.#traits, contents);
  }

  /** The one shape of all elements, as far as it is known. @throws InvalidArgumentError if they have different ones. */
  #commonShape(): Shape | null {
    const { contents, elementShape } = this;
    if (contents instanceof Tensor) return rowShape(contents);
    if (isKnown(elementShape)) return elementShape;
    if (contents instanceof Unwritten) return null;
    const written = contents.toArray().filter((t) => t !== null);
    const shape = written[0]?.shape ?? null;
    const other = written.find((t) => !sameShape(t.shape, shape));
    if (other !== undefined) {
      throw new InvalidArgumentError(
        `elements of the shapes ${showShape(shape)} and ${showShape(other.shape)} cannot pass through branches and loops of a graph`,
        OP,
      );
    }
    return shape;
  }

  /** One by one, for which their number has to be known. */
  #versions(): Versions<Tensor | null> {
    const { contents } = this;
    if (contents instanceof Tensor) return new Versions<Tensor | null>(unstack(contents));
    return contents instanceof Unwritten
      ? (nothingOf(knownDim(contents.length)) as Versions<Tensor | null>)
      : contents;
  }

  #rows(what: string): Tensor {
    const rows = this.dense();
    if (rows === null)
      throw new InvalidArgumentError(
        `cannot ${what} a TensorArray at an index that is not known while tracing, unless the shape of its elements is known: give it { elementShape }`,
        OP,
      );
    return rows;
  }

  /** The elements as a list, with zeros for what was not written. */
  #filled(): Tensor[] {
    return this.#versions()
      .toArray()
      .map((t, at) => t ?? this.#unwritten(at));
  }

  #unwritten(at: number): Tensor {
    return zeros(this.#shapeOfUnwritten(at), { dtype: this.dtype });
  }

  #shapeOfUnwritten(at: number): Shape {
    const { elementShape } = this;
    if (!isKnown(elementShape)) {
      throw new InvalidArgumentError(
        `the element at ${at} was not written, and the shape of elements is ${elementShape === null ? 'not known' : `only known as ${showShape(elementShape)}`}, so that it cannot be zeros: write it, or give { elementShape }`,
        OP,
      );
    }
    return elementShape;
  }

  #shape(what: string): Shape {
    const { elementShape } = this;
    if (!isKnown(elementShape))
      throw new InvalidArgumentError(
        `${what} without elements needs their complete shape: give it { elementShape }`,
        OP,
      );
    return elementShape;
  }

  /** A value to be written. */
  #element(value: TensorLike): Tensor {
    const row = this.#checked(value);
    this.#merge(row.shape);
    return row;
  }

  #rowsOf(value: TensorLike, what: string): Tensor {
    const rows = this.#checked(value);
    if (rows.rank === 0)
      throw new InvalidArgumentError(`${what} of a scalar: expected at least a vector`, OP);
    return rows;
  }

  #checked(value: TensorLike): Tensor {
    const tensor = toOwnTensor(value, this.dtype);
    if (tensor.dtype !== this.dtype)
      throw new InvalidArgumentError(
        `the TensorArray is ${this.dtype}, but a ${tensor.dtype} tensor is written`,
        OP,
      );
    return tensor;
  }

  /** Checks the shape of an element, and learns from it. */
  #merge(shape: Shape): void {
    const { elementShape, inferShape } = this.#traits;
    if (!isCompatible(shape, elementShape)) {
      throw new InvalidArgumentError(
        `an element of shape ${showShape(shape)} is written, expected ${showShape(elementShape as PartialShape)}${inferShape ? '; elements may differ with { inferShape: false }' : ''}`,
        OP,
      );
    }
    if (inferShape) this.#traits.elementShape = shape;
  }

  #checkIndex(at: number, what: 'read' | 'write', mayGrow: boolean): void {
    if (!Number.isInteger(at)) throw new InvalidArgumentError(`the index ${at} is not an integer`, OP);
    const size = this.#size;
    // Where the size is not known, the run finds an index that is outside.
    if (at >= 0 && (mayGrow || isUnknown(size) || at < size)) return;
    const grow = what === 'write' && at >= 0 ? '; it grows with { dynamicSize: true }' : '';
    throw new OutOfRangeError(
      `cannot ${what} ${what === 'read' ? 'from' : 'to'} index ${at} of a TensorArray of size ${size}${grow}`,
      OP,
    );
  }
}

// The constructor checks nothing then, for arrays that loops write to.
const Version = TensorArray as unknown as new (
  version: typeof VERSION,
  traits: Traits,
  contents: Contents,
) => TensorArray;

interface ArrayArguments extends TensorArrayOptions {
  readonly dtype: DType;
}

takesArguments<ArrayArguments>(
  {
    positional: ['dtype'],
    names: { dtype: true, size: true, dynamicSize: true, inferShape: true, elementShape: true },
  },
  TensorArray,
);
defineMethods(TensorArray.prototype, 'TensorArray', {
  size: {},
  write: { positional: ['index', 'value'] },
  read: { positional: ['index'] },
  stack: {},
  gather: { positional: ['indices'] },
  concat: {},
  unstack: { positional: ['value'] },
  scatter: { positional: ['indices', 'value'] },
  split: { positional: ['value', 'lengths'] },
});

function indexTensor(index: TensorLike): Tensor {
  const t = toTensor(index instanceof Variable ? index.read() : index, 'int32');
  return t.dtype === 'uint8' ? t.cast('int32') : t;
}

/** One index; undefined where it differs from run to run. @throws InvalidArgumentError for none or several. */
function knownIndex(index: TensorLike): number | undefined {
  const known = knownNumbers(index, OP);
  const count = known?.length ?? sizeOfDims(toTensor(index).shape);
  if (differs(count, 1)) throw new InvalidArgumentError(`expected one index, got ${count}`, OP);
  return known?.[0];
}

/** A list of integers; null where they differ from run to run. @throws InvalidArgumentError unless it has one axis. */
function knownList(list: TensorLike, what: string): readonly number[] | null {
  const { rank } = toTensor(list, 'int32');
  if (rank !== 1) throw new InvalidArgumentError(`${what} must have one axis, got rank ${rank}`, OP);
  return knownNumbers(list, OP);
}
