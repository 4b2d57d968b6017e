import {
  arrayLength,
  type Backend,
  type ByteStrings,
  type DType,
  dtypeTraits,
  FailedPreconditionError,
  hostView,
  InvalidArgumentError,
  isComplex,
  isHalf,
  OutOfRangeError,
  ResourceExhaustedError,
  readStorage,
  Storage,
  storeValues,
  type TypedArray,
  typedView,
  valuesOf,
} from '@eagre/backend';
import { context, deviceName, eagerBackend } from '../dispatch/context.ts';
import type { Dim, Dims } from '../shapes/dim.ts';
import { hideDim, sizeOfDims, toShape } from '../shapes/dims.ts';
import { type Shape, show } from '../shapes/shape.ts';
import { type Complex, complexAt } from './complex-numbers.ts';
import { formatTensor, formatValues, showInConsole } from './format.ts';
import { checkListSize, MAX_PIECES } from './list-size.ts';
import type { OpMethods } from './methods.ts';
import { noValue } from './no-value.ts';

/** Values nested in arrays: what `array()` returns. */
export type NestedArray<T> = T | NestedArray<T>[];
/** What one element of a tensor is on the host. */
export type Scalar = number | bigint | boolean | string | Complex;

interface DataOf {
  float32: Float32Array;
  float64: Float64Array;
  int32: Int32Array;
  int64: BigInt64Array;
  uint8: Uint8Array;
  bool: Uint8Array;
  int8: Int8Array;
  int16: Int16Array;
  uint16: Uint16Array;
  uint32: Uint32Array;
  uint64: BigUint64Array;
  complex64: Float32Array;
  complex128: Float64Array;
}
/** Flat values with shape and dtype; testing `dtype` narrows `data`. */
export type HostArray = {
  [D in keyof DataOf]: { readonly data: DataOf[D]; readonly shape: Shape; readonly dtype: D };
}[keyof DataOf];

/** Whether TypeScript does not know a dtype. */
type IsOpen<D> = unknown extends D ? true : false;
/** What one element of a dtype is in `array()`. */
export type ElementOf<D> =
  IsOpen<D> extends true
    ? Scalar
    : D extends 'int64' | 'uint64'
      ? bigint
      : D extends 'bool'
        ? boolean
        : D extends 'string'
          ? string
          : D extends 'complex64' | 'complex128'
            ? Complex
            : number;
/** What `item()` is: a number of int64 too, and where TypeScript does not know the dtype. */
type ItemOf<D> = IsOpen<D> extends true ? number : ElementOf<D> extends bigint ? number : ElementOf<D>;
type AnyItemOf<D> = IsOpen<D> extends true ? number | boolean | string | Complex : ItemOf<D>;
/** What `data()` is. */
type ValuesOf<D> =
  IsOpen<D> extends true
    ? TypedArray
    : D extends keyof DataOf
      ? DataOf[D]
      : D extends 'string'
        ? never
        : Float32Array;
/** The dtype of a result that has the dtype of an argument: open where that is any. */
export type Known<D extends DType> = [D] extends [never] ? OpenDType : DType extends D ? OpenDType : D;
/** The dtype of a tensor of which TypeScript does not know it; such a tensor goes wherever one of a known dtype does. */
// biome-ignore lint/suspicious/noExplicitAny: it fits both ways, so that `x = x.add(1)` is no error where x began as zeros.
export type OpenDType = any;
/** `Tensor` in types that are computed: of a plain `Tensor` in these TypeScript makes a type of its own each time, and unions hold it twice. */
// biome-ignore lint/suspicious/noExplicitAny: as above; by its name it would be a type of its own, too.
export type AnyTensor = Tensor<any>;

let nextId = 1;

function iterateRows(this: Tensor): IterableIterator<Tensor> {
  if (this.backend.name === 'symbolic') throw noValue(this, NOT_ITERABLE);
  return rowsOf(this);
}

// Rows that are made at once, and what they hold together: a few, so that a long loop needs little memory.
const ROWS = 1024;
const ROW_ELEMENTS = 2 ** 18;

function* rowsOf(x: Tensor): IterableIterator<Tensor> {
  const n = x.shape[0];
  // The gradient of a part is as large as the whole, so tapes get as few parts as can be.
  const recorded = context.tapes.length > 0 || context.tracer !== null;
  const fitting = Math.min(ROWS, Math.max(1, Math.floor((ROW_ELEMENTS * n) / x.size)));
  const most = recorded ? MAX_PIECES : fitting;
  // Without elements an axis may be of any size, which unstack refuses.
  if (n <= most || x.size === 0) {
    yield* x.unstack();
    return;
  }
  const rest = x.shape.map(() => 0).slice(1);
  for (let start = 0; start < n; start += most) {
    const part = x.slice([start, ...rest], [Math.min(most, n - start), ...x.shape.slice(1)]);
    const rows = part.unstack();
    part.dispose();
    yield* rows;
  }
}

const NOT_ITERABLE: string =
  'iterating over a tensor of a graph is not allowed: it has no values while tf.function traces. Have the function converted ' +
  '(tf.autograph), which makes a loop of the graph, or use tf.whileLoop, tf.mapFn, tf.scan or unstack()';

/**
 * An n-dimensional array of one dtype. Its values never change; ops make new tensors at once. It needs no dispose: the
 * garbage collector frees it. `dispose()` and `using` only give the memory back earlier.
 *
 * Every op that takes a tensor first is a method as well: `a.add(b)`, `a.matmul(b)`, `a.sum(0)`.
 *
 * @template D the dtype where TypeScript knows it, as of `x.greater(0)` and `tf.zeros([2], 'int64')`: values then have its type. Most tensors are
 * `Tensor<any>`, whose dtype only the run knows.
 */
export class Tensor<D extends DType = OpenDType> {
  /** Another one for each tensor of the process. */
  readonly id: number;
  /** The kind of its elements. */
  readonly dtype: IsOpen<D> extends true ? DType : D;
  /** The sizes of the dimensions; `[]` of a scalar. */
  readonly shape: Shape;
  /** Number of elements. */
  readonly size: number;
  /** @internal */
  readonly storage: Storage;
  /** @internal */
  readonly backend: Backend;
  /** @internal This object's own hold on the storage is gone; a tape may still have one. */
  released: boolean;

  /** @internal Use `constant`, `zeros` and the like. */
  constructor(storage: Storage, dtype: DType, shape: Shape, size: number, backend: Backend) {
    this.id = nextId++;
    this.dtype = dtype as never;
    this.shape = shape;
    this.size = size;
    this.storage = storage;
    this.backend = backend;
    this.released = false;
  }

  /** The number of dimensions. */
  get rank(): number {
    return this.shape.length;
  }

  /** The device that holds the values, such as `/device:CPU:0`. */
  get device(): string {
    return deviceName(this.backend);
  }

  /**
   * A copy of the values, flat and row-major; bytes 0 and 1 for bool, BigInt64Array and BigUint64Array for int64 and uint64, Float32Array
   * for float16 and bfloat16, too. Of complex numbers the parts: real, imaginary, real, …
   * @throws ResourceExhaustedError where there is no memory for a copy.
   */
  data(): ValuesOf<D> {
    const view = this.#checked();
    if (!this.storage.allocator.isHost) return valuesOf(view, this.dtype) as ValuesOf<D>;
    try {
      return (isHalf(this.dtype) ? valuesOf(view, this.dtype) : view.slice()) as ValuesOf<D>;
    } catch (cause) {
      throw new ResourceExhaustedError(`no memory for a copy of ${view.byteLength} bytes`, 'data', { cause });
    }
  }

  /** The values with their shape and dtype: what other array libraries and the writers of files take. */
  ndarray(): HostArray {
    return { data: this.data(), shape: this.shape, dtype: this.dtype } as unknown as HostArray;
  }

  /** The strings of a string tensor, flat and row-major. @throws InvalidArgumentError for another dtype. */
  strings(): string[] {
    if (this.dtype !== 'string')
      throw new InvalidArgumentError(`strings() of a ${this.dtype} tensor; use data()`);
    if (this.backend.name === 'symbolic') throw noValue(this);
    return [...textsIn(this.storage)];
  }

  /**
   * The values as nested arrays: numbers, booleans, strings or `{ re, im }`; one value for a scalar. Of int64 and uint64, such as `argmax` gives, they
   * are bigints, and `x.array()[0] === 1` is never true: write `=== 1n`, or `x.cast('int32').array()` for numbers. The type is that of where it goes,
   * `const rows: number[][] = x.array()`, or is told, `x.array<number[][]>()`. TypeScript refuses another kind of values than the dtype has where it
   * knows that (`tf.argmax(x)`, `x.cast('int32')`, `tf.zeros([2], 'int64')`); of other tensors nothing checks it.
   * @throws ResourceExhaustedError for more than JavaScript arrays should hold, 2²⁵ values and arrays in all; `data()` has no such limit.
   */
  array<T extends NestedArray<ElementOf<D>> = NestedArray<ElementOf<D>>>(): T {
    checkNested(this.shape);
    return nest(this.#values(), this.shape) as T;
  }

  /**
   * The only value of a tensor of size 1: a number, of int64 too; of bool a boolean, of string a string, of complex dtypes
   * `{ re, im }`, which the type is told, `item<boolean>()`. `item('bigint')` is any integer, as a bigint.
   * @throws InvalidArgumentError for another size; OutOfRangeError for an int64 that no number holds exactly, beyond ±(2⁵³ − 1).
   */
  item(): ItemOf<D>;
  item(
    as:
      | 'bigint'
      | {
          /** `'bigint'`: any integer, also one that no number holds exactly, as a bigint. */
          readonly as: 'bigint';
        },
  ): bigint;
  item<T extends AnyItemOf<D>>(): T;
  item(as?: unknown): Scalar {
    const value = this.#single();
    if (as === undefined) return typeof value === 'bigint' ? toNumber(value) : value;
    if (as !== 'bigint') throw new InvalidArgumentError(`item(${show(as)}): expected nothing, or 'bigint'`);
    if (typeof value === 'bigint' || Number.isInteger(value)) return BigInt(value as number | bigint);
    throw new InvalidArgumentError(
      `item('bigint') of a ${this.dtype} tensor: ${isComplex(this.dtype) ? this : show(value)} is not an integer`,
    );
  }

  /** `data()` for every backend, also those that can only be read asynchronously. */
  async read(): Promise<ValuesOf<D>> {
    const { storage, size } = this;
    const dtype: DType = this.dtype;
    if (storage.allocator.isHost) return this.data();
    this.#checkValues();
    const { buffer, byteOffset } = await storage.allocator.readAsync(
      storage,
      size * dtypeTraits[dtype].bytes,
    );
    return valuesOf(typedView(dtype, buffer, byteOffset, size), dtype) as ValuesOf<D>;
  }

  /** Gives the memory back now, unless a tape or another tensor still needs it. Using the tensor afterwards throws. */
  dispose(): void {
    if (this.released) return;
    this.released = true;
    this.storage.release();
  }
  [Symbol.dispose](): void {
    this.dispose();
  }
  /** Whether the memory was given back; then the values cannot be used. */
  get isDisposed(): boolean {
    return this.released;
  }

  /** The values alone, as NumPy prints them. */
  toString(): string {
    return formatValues(this);
  }
  /** Only a number of one element has a primitive value, so that `x > 0` and `${x}` do what they seem to do. */
  [Symbol.toPrimitive](hint: string): string | number | bigint | boolean {
    if (this.backend.name === 'symbolic') throw noValue(this);
    if (hint === 'string') return this.toString();
    if (this.size !== 1) {
      if (hint === 'default') return this.toString();
      throw new InvalidArgumentError(
        `a tensor of shape [${this.shape}] has no single value to compare or convert; reduce it first`,
      );
    }
    const value = this.#single();
    if (typeof value === 'object') {
      if (hint === 'default') return this.toString();
      throw new InvalidArgumentError(
        'a complex number is not a number of JavaScript; take x.real(), x.imag() or x.abs() first',
      );
    }
    return typeof value === 'bigint' && isSafe(value) ? Number(value) : value;
  }
  /**
   * The rows, along axis 0, made some at a time: `for (const row of x)`, `const [a, b] = x`. A scalar is not iterable.
   * @throws FailedPreconditionError (its call) while a function is traced.
   */
  get [Symbol.iterator](): () => IterableIterator<Tensor<D>> {
    // Who asks whether a value is iterable, as test libraries do of all that they compare, is told the truth of scalars.
    return this.shape.length === 0
      ? (undefined as never)
      : (iterateRows as () => IterableIterator<Tensor<D>>);
  }
  /** The values as nested arrays, for `JSON.stringify`. */
  toJSON(): NestedArray<Scalar> {
    checkNested(this.shape);
    return nest(
      this.#values().map((v) => (typeof v === 'bigint' ? v.toString() : v)),
      this.shape,
    );
  }

  #single(): Scalar {
    if (this.size !== 1) {
      throw new InvalidArgumentError(
        `item() needs a tensor with one element, this one has ${this.size} (shape [${this.shape}])`,
      );
    }
    if (this.dtype === 'string') return this.strings()[0];
    const values = valuesOf(this.#checked(), this.dtype);
    if (isComplex(this.dtype)) return complexAt(values, 0);
    return this.dtype === 'bool' ? values[0] !== 0 : values[0];
  }

  #checkValues(): void {
    checkAlive(this);
    if (this.dtype === 'string')
      throw new InvalidArgumentError('a string tensor has no typed array; use strings() or array()');
    if (this.backend.name === 'symbolic') throw noValue(this);
  }

  #checked(): TypedArray {
    this.#checkValues();
    return readStorage(this.storage, this.dtype, this.size);
  }

  #values(): Scalar[] {
    if (this.dtype === 'string') return this.strings();
    const view = this.#checked();
    if (this.dtype === 'bool') return Array.from(view as Uint8Array, (v) => v !== 0);
    if (isComplex(this.dtype)) return Array.from({ length: this.size }, (_, i) => complexAt(view, i));
    return Array.from(valuesOf(view, this.dtype) as ArrayLike<number | bigint>);
  }
}
// biome-ignore lint/correctness/noUnusedVariables: the class has it.
export interface Tensor<D extends DType = OpenDType> extends OpMethods {}

showInConsole(Tensor.prototype, formatTensor);

const isSafe = (value: bigint): boolean => Number.isSafeInteger(Number(value));

/** @throws OutOfRangeError for an integer that no number holds exactly. */
function toNumber(value: bigint): number {
  if (isSafe(value)) return Number(value);
  throw new OutOfRangeError(
    `${value} cannot be a JavaScript number, which is exact up to 2^53 - 1; use item('bigint')`,
    'item',
  );
}

/** @internal @throws FailedPreconditionError for a tensor whose memory others may have by now. */
export function checkAlive(x: Tensor): void {
  if (x.storage.refs > 0) return;
  throw new FailedPreconditionError(
    `this tensor (${x.dtype} [${x.shape}]) was disposed, so its values are gone`,
  );
}

/** @throws ResourceExhaustedError where the values, and the arrays that hold them, are too many. */
function checkNested(shape: Shape): void {
  let parts = 1;
  let all = 0;
  for (const n of shape) {
    all += parts;
    parts *= n;
  }
  checkListSize(all + parts, 'values and arrays', 'use data(), or take slices', 'array');
}

function nest(
  values: readonly Scalar[],
  shape: Shape,
  axis = 0,
  start = 0,
  count = values.length,
): NestedArray<Scalar> {
  if (axis === shape.length) return values[start];
  const n = shape[axis];
  const step = n === 0 ? 0 : count / n;
  return Array.from({ length: n }, (_, i) => nest(values, shape, axis + 1, start + i * step, step));
}

/** @internal An uninitialised tensor, known to the memory scope; on the backend whose tensors have values unless given. */
export function emptyTensor(
  dtype: DType,
  shape: Dims,
  size: Dim = sizeOfDims(shape),
  backend: Backend = eagerBackend(),
): Tensor {
  // What stands for a value has no memory.
  const storage = backend.allocator.allocate(typeof size === 'number' ? size * dtypeTraits[dtype].bytes : 0);
  const tensor = tensorOver(storage, dtype, shape, size, backend);
  if (context.tracker !== null) context.tracker.track(tensor);
  return tensor;
}

/** @internal A tensor whose sizes need not be known while a function is traced. */
export function tensorOver(storage: Storage, dtype: DType, shape: Dims, size: Dim, backend: Backend): Tensor {
  // Sizes that are not known have a product that is not, unless another one is 0.
  if (typeof size === 'number')
    return new Tensor(storage, dtype, size > 0 ? (shape as Shape) : toShape(shape), size, backend);
  const tensor = new Tensor(storage, dtype, toShape(shape), 0, backend);
  hideDim(tensor, 'size', size);
  return tensor;
}

/** @internal A tensor of another shape (same size), or for another backend of the same memory, over the same bytes. */
export function aliasTensor(
  x: Tensor,
  shape: Dims,
  size: Dim = sizeOfDims(shape),
  backend: Backend = x.backend,
): Tensor {
  checkAlive(x);
  x.storage.refs++;
  const tensor = tensorOver(x.storage, x.dtype, shape, size, backend);
  if (context.tracker !== null) context.tracker.track(tensor);
  return tensor;
}

/** @internal A string tensor; strings stay on the host. */
export function stringTensor(
  values: readonly string[] | ByteStrings,
  shape: Shape,
  backend: Backend = eagerBackend(),
): Tensor {
  const storage = new Storage(backend.allocator, new ArrayBuffer(0), 0, 0, 0, undefined);
  storage.strings = values;
  return new Tensor(storage, 'string', shape, values.length, backend);
}

/** @internal The strings of a string tensor, to be read only. @throws InvalidArgumentError for another dtype */
export function textsOf(x: Tensor): readonly string[] {
  if (x.dtype !== 'string' || x.backend.name === 'symbolic') return x.strings();
  return textsIn(x.storage);
}

function textsIn(storage: Storage): readonly string[] {
  const strings = storage.strings ?? NO_TEXTS;
  return 'elements' in strings ? (storage.strings = strings.texts()) : strings;
}
const NO_TEXTS: readonly string[] = [];

/** @internal The values, to be read only: as `viewOf`, but a Float32Array of their own for floats of 16 bits. */
export function hostValues(x: Tensor): TypedArray {
  return valuesOf(viewOf(x), x.dtype);
}

/** What a view is of: as long as it is in use, its memory is not lent again, though the tensor is garbage. */
const storageOf = Symbol('storage');

/**
 * @internal The elements as they are stored, to be read only: in place where they lie in memory of the host, valid until `dispose` gives that
 * back, but without what is made of the view, such as `subarray`; a copy of those on a device, which waits for it. For floats of 16 bits these are bits: what reads numbers asks for `hostValues`.
 */
export function viewOf(x: Tensor): TypedArray {
  checkAlive(x);
  if (x.backend.name === 'symbolic') throw noValue(x);
  const view = readStorage(x.storage, x.dtype, x.size);
  if (x.storage.allocator.isHost) (view as { [storageOf]?: Storage })[storageOf] = x.storage;
  return view;
}

/** @internal Where the host writes the values of a new tensor; `uploaded` must follow. */
export function spaceOf(x: Tensor): TypedArray {
  return x.storage.allocator.isHost
    ? hostView(x.storage, x.dtype, x.size)
    : new dtypeTraits[x.dtype].array(arrayLength(x.dtype, x.size));
}

/** @internal Sets the values of a new tensor. @returns the tensor. */
export function setValues(x: Tensor, values: ArrayLike<number | bigint>): Tensor {
  const space = spaceOf(x);
  storeValues(space, x.dtype, values);
  return uploaded(x, space);
}

/** @internal Brings what was written into `spaceOf(x)` to the device of a tensor. @returns the tensor. */
export function uploaded(x: Tensor, space: TypedArray): Tensor {
  const { allocator } = x.storage;
  if (!allocator.isHost)
    allocator.write(x.storage, new Uint8Array(space.buffer, space.byteOffset, space.byteLength));
  return x;
}
