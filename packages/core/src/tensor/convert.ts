import {
  arrayLength,
  type Backend,
  type DType,
  dtypeTraits,
  InvalidArgumentError,
  isBig,
  isComplex,
  isHalf,
  MAX_RANK,
  numericDTypes,
  partsOf,
  storedNumber,
  storeValues,
  type TypedArray,
} from '@eagre/backend';
import { unseen } from '../arguments/plain.ts';
import { isRefusedPromise } from '../arguments/promises.ts';
import { CompositeTensor } from '../composite/composite.ts';
import { inComputation } from '../dispatch/autocast.ts';
import { eagerBackend } from '../dispatch/context.ts';
import { checkShape, type Shape, showShape, sizeOf } from '../shapes/shape.ts';
import { complexAt, isComplexNumber } from './complex-numbers.ts';
import { checkDTypeName } from './dtypes.ts';
import { isPixels, type PixelsLike } from './pixels.ts';
import { aliasTensor, emptyTensor, type Scalar, spaceOf, stringTensor, Tensor, uploaded } from './tensor.ts';
import type { Variable } from './variable.ts';
import { VariableBase } from './variable-base.ts';

/** Flat values with a shape; what other array libraries and Eagre's datasets hand over. */
export interface NDArrayLike {
  readonly data: TypedArray;
  readonly shape: Shape;
  /**
   * Only needed for `bool`, whose bytes look like uint8, for float16 and bfloat16, whose values come as float32, and for complex64 and
   * complex128, whose parts come as float32 and float64.
   */
  readonly dtype?: DType;
}

/** Flat values in a list, or bytes of pixels, with a shape. */
export interface FlatValues {
  readonly data: readonly Scalar[] | Uint8ClampedArray;
  readonly shape: Shape;
  /** As in `NDArrayLike`; of a list, what its values become. */
  readonly dtype?: DType;
}

/**
 * Everything that an op accepts for a tensor: numbers become float32, booleans bool, bigints int64, strings string, and `{ re, im }`
 * complex128, as Python's complex numbers do in TensorFlow. Arrays may hold tensors, which are joined as `tf.stack` does.
 */
export type TensorLike =
  | Tensor
  | Variable
  | Scalar
  | TypedArray
  | Uint8ClampedArray
  | NDArrayLike
  | FlatValues
  | PixelsLike
  | NestedValues;
/** Values in arrays, to any depth; rows may be typed arrays, or tensors. */
export type NestedValues = readonly (
  | Scalar
  | TypedArray
  | Uint8ClampedArray
  | Tensor
  | Variable
  | NestedValues
)[];

/**
 * @internal The tensor for an argument of an op. `dtype` is what the op's other arguments suggest: it decides for bare
 * numbers, never for tensors and typed arrays; with `strict` it is demanded, and narrower typed values are cast.
 */
export function toTensor(value: TensorLike, dtype?: DType, strict = false): Tensor {
  if (value instanceof Tensor) return strict && dtype !== undefined ? sameDType(value, dtype) : value;
  if (value instanceof VariableBase) {
    const taken = value.autocast ? inComputation(value.taken()) : value.taken();
    return strict && dtype !== undefined ? sameDType(taken, dtype) : taken;
  }
  if (value instanceof CompositeTensor) {
    const { dense } = value;
    if (dense !== null) return toTensor(dense, dtype, strict);
  }
  if (typeof value === 'number') return scalarNumber(value, numberDType(dtype, strict));
  if (typeof value === 'boolean') return fromFlat([value], [], dtype ?? 'bool', 'bool');
  if (typeof value === 'bigint') return fromFlat([value], [], dtype ?? 'int64', 'int64');
  if (typeof value === 'string') return fromFlat([value], [], dtype ?? 'string', 'string');
  if (ArrayBuffer.isView(value))
    return fromTyped(value as TypedArray, [value.length], dtype, strict, undefined);
  if (isComplexNumber(value)) return fromFlat([value], [], complexDType(dtype, strict), 'complex128');
  if (Array.isArray(value)) return fromNested(value, dtype, strict);
  const like = value as Partial<NDArrayLike> | null | undefined;
  if (like !== null && typeof like === 'object') {
    const { data, shape } = like;
    if (Array.isArray(shape)) {
      if (ArrayBuffer.isView(data)) return fromTyped(data, checkShape(shape), dtype, strict, like.dtype);
      if (Array.isArray(data)) return fromList(data, checkShape(shape), like.dtype, dtype, strict);
    } else if (isPixels(like))
      return fromTyped(like.data, checkShape([like.height, like.width, 4]), dtype, strict);
  }
  const converted = conversions.length === 0 ? null : fromOwnClass(value, dtype);
  if (converted !== null) return strict && dtype !== undefined ? sameDType(converted, dtype) : converted;
  throw new InvalidArgumentError(
    `expected a tensor, a number, nested arrays, a typed array or { data, shape }, got ${describe(value)}`,
  );
}

/** @internal How objects of the user's classes become tensors, in the order in which they are asked. */
export const conversions: {
  readonly classes: readonly (abstract new (...args: never) => object)[];
  readonly convert: (value: unknown, options: { readonly dtype?: DType }) => unknown;
  readonly priority: number;
}[] = [];

/** What the user's functions make of an object; null where none takes it. */
function fromOwnClass(value: unknown, dtype: DType | undefined): Tensor | null {
  for (const { classes, convert } of conversions) {
    if (!classes.some((cls) => value instanceof cls)) continue;
    const made = convert(value, dtype === undefined ? {} : { dtype });
    if (made instanceof Tensor) return made;
    if (made !== null)
      throw new InvalidArgumentError(
        `the conversion function for ${describe(value)} must return a tensor or null, got ${describe(made)}`,
      );
  }
  return null;
}

/**
 * @internal `toTensor` for what a user will hold: neither a shared scalar, which tapes would take for every equal number, nor a
 * variable's own value, which later assignments write into.
 */
export function toOwnTensor(value: TensorLike, dtype?: DType, strict = false): Tensor {
  if (typeof value === 'number') return fromFlat([value], [], numberDType(dtype, strict), 'float32');
  if (value instanceof VariableBase) return toTensor(value.read(), dtype, strict);
  return toTensor(value, dtype, strict);
}

/** @internal What an object that is no tensor says is to be done with it instead. */
export const advice: unique symbol = Symbol('advice');

function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (isRefusedPromise(value)) return 'a promise: await it';
  if (typeof value !== 'object') return typeof value;
  const kind = `an object of class ${String(value.constructor?.name ?? 'unknown')}`;
  if (value instanceof CompositeTensor) return `${kind}: ${value.advice}`;
  return advice in value ? `${kind}: ${String(value[advice])}` : kind;
}

function sameDType(x: Tensor, dtype: DType): Tensor {
  if (x.dtype !== dtype) {
    checkDTypeName(dtype);
    throw new InvalidArgumentError(
      `expected a ${dtype} tensor, got ${x.dtype}; convert it with x.cast('${dtype}')`,
    );
  }
  return x;
}

// A bare number beside a bool tensor means a number, not a truth value, unless a bool is demanded.
function numberDType(hint: DType | undefined, strict: boolean): DType {
  if (strict && hint !== undefined) return hint;
  return hint === undefined || hint === 'bool' || hint === 'string' ? 'float32' : hint;
}

// A bare complex number beside real ones means a complex one with parts like these.
function complexDType(hint: DType | undefined, strict: boolean): DType {
  if (hint === undefined || strict || isComplex(hint)) return hint ?? 'complex128';
  return hint === 'float32' ? 'complex64' : 'complex128';
}

const scalarCache = new Map<Backend, Map<DType, Map<number, Tensor>>>();
const SCALARS = 256;
const FOR_EVER = 2 ** 30;

/** Whether a tensor is one of those scalars, which nobody has made: it may have been there before the code that uses it. */
export function isSharedScalar(x: Tensor): boolean {
  return x.rank === 0 && x.storage.refs >= FOR_EVER / 2;
}

function scalarsOf(backend: Backend, dtype: DType): Map<number, Tensor> {
  let byDType = scalarCache.get(backend);
  if (byDType === undefined) scalarCache.set(backend, (byDType = new Map()));
  let cache = byDType.get(dtype);
  if (cache === undefined) byDType.set(dtype, (cache = new Map()));
  return cache;
}
/** Those that were asked for last, which the next ones mostly are too. */
let last: {
  readonly backend: Backend | null;
  readonly dtype: DType;
  readonly cache: Map<number, Tensor>;
} = { backend: null, dtype: 'float32', cache: new Map() };

/** Scalars recur (`x.mul(2)`), and tensors never change, so they are shared. */
function scalarNumber(value: number, dtype: DType): Tensor {
  const backend = eagerBackend();
  if (backend !== last.backend || dtype !== last.dtype)
    last = { backend, dtype, cache: scalarsOf(backend, dtype) };
  const { cache } = last;
  // A Map takes 0 and -0 for one key.
  const shared = !Object.is(value, -0);
  const found = shared ? cache.get(value) : undefined;
  if (found !== undefined && found.storage.refs > 0) return found;
  const tensor = fromFlat([value], [], dtype, 'float32');
  if (shared) {
    // Used by everyone: nobody's scope or dispose may give it back.
    tensor.storage.refs = FOR_EVER;
    if (cache.size >= SCALARS) cache.clear();
    cache.set(value, tensor);
  }
  return tensor;
}

// The bytes of a bool are looked at as those of uint8 are; floats of 16 bits come as float32.
const arrays: readonly (readonly [unknown, DType])[] = [
  ...numericDTypes
    .filter((dtype) => dtype !== 'bool' && !isHalf(dtype))
    .map((dtype) => [dtypeTraits[dtype].array, dtype] as const),
  [Uint8ClampedArray, 'uint8'],
];
const arrayDTypes: ReadonlyMap<unknown, DType> = new Map(
  arrays.map(([type, dtype]) => [(type as { prototype: unknown }).prototype, dtype]),
);

function fromTyped(
  data: TypedArray,
  shape: Shape,
  wanted: DType | undefined,
  strict: boolean,
  given?: DType,
): Tensor {
  const held =
    arrayDTypes.get(Object.getPrototypeOf(data)) ??
    arrays.find(([type]) => data instanceof (type as typeof Uint8Array))?.[1];
  const narrow =
    (given === 'bool' && held === 'uint8') ||
    (given && isHalf(given) && held === 'float32') ||
    (given && isComplex(given) && held === partsOf(given));
  const natural = narrow ? given : held;
  if (natural === undefined) {
    throw new InvalidArgumentError(
      `${data.constructor.name} has no tensor dtype; use one of ${arrays.map(([type]) => (type as typeof Uint8Array).name).join(', ')}`,
    );
  }
  if (given !== undefined && given !== natural) {
    throw new InvalidArgumentError(`${data.constructor.name} has ${natural} values, not ${String(given)}`);
  }
  checkAttached(data);
  const size = sizeOf(shape);
  if (arrayLength(natural, size) !== data.length) {
    const parts = isComplex(natural) ? `; a complex number has two` : '';
    throw new InvalidArgumentError(
      `${data.length} values do not match the shape ${showShape(shape)} (${size})${parts}`,
    );
  }
  if (strict && wanted !== undefined && wanted !== natural) {
    const values = isComplex(natural)
      ? Array.from({ length: size }, (_, i) => complexAt(data, i))
      : (data as ArrayLike<number | bigint>);
    return fromFlat(values, shape, wanted, natural);
  }
  const out = emptyTensor(natural, shape, size);
  const view = spaceOf(out);
  if (natural === 'bool') for (let i = 0; i < data.length; i++) view[i] = (data as Uint8Array)[i] ? 1 : 0;
  else storeValues(view, natural, data as ArrayLike<number | bigint>);
  return uploaded(out, view);
}

/** @throws InvalidArgumentError for an array whose buffer went to another thread, or shrank: it looks empty. */
function checkAttached(data: TypedArray): void {
  if (data.length > 0) return;
  try {
    data.slice();
  } catch (cause) {
    throw new InvalidArgumentError(
      `the memory of this ${data.constructor.name} is gone: its buffer was transferred or resized. Copy the array before that`,
      undefined,
      { cause },
    );
  }
}

function fromNested(value: readonly unknown[], hint: DType | undefined, strict: boolean): Tensor {
  const shape: number[] = [];
  const flat: Scalar[] = [];
  try {
    let level: unknown = value;
    // One axis too many is enough to be refused, also for an array that holds itself.
    while (Array.isArray(level) && shape.length <= MAX_RANK) {
      shape.push(level.length);
      level = level[0];
    }
    checkShape(shape);
    if (ArrayBuffer.isView(level)) return fromRows(value, shape, level as TypedArray, hint, strict);
    flatten(value, shape, 0, flat);
  } catch (error) {
    if (error instanceof TypeError) throw unseen(error);
    const first = firstTensor(value);
    if (first === null) throw error;
    return packed(value, first.dtype, hint, strict);
  }
  // No values at all fit every dtype.
  if (flat.length === 0) return emptyTensorOf(shape, hint ?? 'float32');
  const kind = flat.some((v) => typeof v === 'object') ? 'object' : typeof flat[0];
  for (const v of flat) {
    // A number is a complex one, too.
    if (typeof v !== kind && !(kind === 'object' && typeof v === 'number'))
      throw new InvalidArgumentError(`an array mixes ${kind} and ${describe(v)}; use one kind of value`);
  }
  if (kind === 'object') return fromFlat(flat, shape, complexDType(hint, strict), 'complex128');
  const natural: DType =
    kind === 'boolean' ? 'bool' : kind === 'bigint' ? 'int64' : kind === 'string' ? 'string' : 'float32';
  return fromFlat(
    flat,
    shape,
    hint === undefined ? natural : kind === 'number' ? numberDType(hint, strict) : hint,
    natural,
  );
}

const isOwn = (value: unknown): value is Tensor | Variable =>
  value instanceof Tensor || value instanceof VariableBase;

/** The first tensor in nested arrays, if they hold any. @throws InvalidArgumentError for what cannot be looked at */
function firstTensor(value: unknown, level = 0): Tensor | Variable | null {
  try {
    if (isOwn(value)) return value;
    if (!Array.isArray(value) || level > MAX_RANK) return null;
  } catch (cause) {
    throw unseen(cause);
  }
  for (const part of value) {
    const found = typeof part === 'object' ? firstTensor(part, level + 1) : null;
    if (found !== null) return found;
  }
  return null;
}

/** @internal Joins tensors as `stack` does, which is an op, and so cannot be imported here. */
export const joining: { stack: ((list: readonly Tensor[]) => Tensor) | null } = { stack: null };

/** Arrays that hold tensors. What else is in them takes the first one's dtype. */
function packed(value: readonly unknown[], own: DType, hint: DType | undefined, strict: boolean): Tensor {
  const { stack } = joining;
  if (stack === null)
    throw new InvalidArgumentError('an array holds tensors; join them with tf.stack or tf.concat');
  const part = (v: unknown, level: number): Tensor => {
    if (!Array.isArray(v) || firstTensor(v) === null) return toTensor(v as TensorLike, own);
    // It may hold itself.
    if (level > MAX_RANK) throw new InvalidArgumentError(uneven);
    return stack(Array.from(v, (item) => part(item, level + 1)));
  };
  const all = part(value, 1);
  if (hint === undefined || hint === all.dtype) return all;
  // A hint casts only what loses nothing of note, as numbers in arrays do.
  const { floating, bytes } = dtypeTraits[hint];
  const { dtype } = all;
  const widens =
    floating &&
    (dtypeTraits[dtype].integer || (dtypeTraits[dtype].floating && dtypeTraits[dtype].bytes < bytes));
  return strict || widens ? all.cast(hint) : all;
}

/** Typed arrays in arrays: their own dtype where all are of one kind, and otherwise what their values would be in lists. */
function fromRows(
  value: readonly unknown[],
  outer: readonly number[],
  first: TypedArray,
  hint: DType | undefined,
  strict: boolean,
): Tensor {
  const rows: TypedArray[] = [];
  const collect = (part: unknown, axis: number): void => {
    if (axis === outer.length) rows.push(part as TypedArray);
    else if (!Array.isArray(part) || part.length !== outer[axis]) throw new InvalidArgumentError(uneven);
    else for (let i = 0; i < part.length; i++) collect(part[i], axis + 1);
  };
  collect(value, 0);
  if (!rows.every((row) => ArrayBuffer.isView(row) && row.constructor === first.constructor)) {
    const lists = (part: unknown, axis: number): unknown =>
      axis < outer.length
        ? (part as readonly unknown[]).map((p) => lists(p, axis + 1))
        : ArrayBuffer.isView(part)
          ? Array.from(part as Uint8Array)
          : part;
    return fromNested(lists(value, 0) as readonly unknown[], hint, strict);
  }
  if (rows.some(({ length }) => length !== first.length)) throw new InvalidArgumentError(uneven);
  const all = new (first.constructor as new (length: number) => TypedArray)(rows.length * first.length);
  rows.forEach((row, i) => {
    checkAttached(row);
    all.set(row as never, i * first.length);
  });
  return fromTyped(all, [...outer, first.length], hint, strict);
}

/** A list of values in a shape. */
function fromList(
  data: readonly unknown[],
  shape: Shape,
  dtype: DType | undefined,
  hint: DType | undefined,
  strict: boolean,
): Tensor {
  const flat = dtype === undefined ? fromNested(data, hint, strict) : fromNested(data, dtype, true);
  if (flat.rank !== 1 || flat.size !== sizeOf(shape))
    throw new InvalidArgumentError(
      `${showShape(flat.shape)} values do not match the shape ${showShape(shape)} (${sizeOf(shape)})`,
    );
  const shaped =
    flat.dtype === 'string' ? stringTensor(flat.strings(), shape) : aliasTensor(flat, [...shape], flat.size);
  if (flat.dtype !== 'string') flat.dispose();
  return strict && hint !== undefined ? sameDType(shaped, hint) : shaped;
}

function emptyTensorOf(shape: Shape, dtype: DType): Tensor {
  checkDTypeName(dtype);
  return dtype === 'string' ? stringTensor([], shape) : emptyTensor(dtype, shape, 0);
}

const scalars: ReadonlySet<string> = new Set(['number', 'boolean', 'bigint', 'string']);

/** What to do with strings where numbers are wanted. */
export const ofStrings =
  'tf.strings.toNumber reads numbers from them, and the layer StringLookup makes numbers of words, such as labels';
const uneven =
  'nested arrays must be rectangular; several tensors are a list of them, [tf.constant(x), tf.constant(y)], and rows of several lengths tf.ragged.constant(rows)';

function flatten(value: unknown, shape: readonly number[], axis: number, out: Scalar[]): void {
  if (axis === shape.length) {
    if (!isComplexNumber(value) && (typeof value === 'object' || !scalars.has(typeof value))) {
      throw new InvalidArgumentError(
        Array.isArray(value)
          ? uneven
          : `an array holds ${describe(value)}; expected numbers, booleans, bigints, strings or { re, im }`,
      );
    }
    out.push(value as Scalar);
    return;
  }
  if (!Array.isArray(value) || value.length !== shape[axis]) throw new InvalidArgumentError(uneven);
  for (const v of value) {
    if (typeof v === 'number' && axis + 1 === shape.length) out.push(v);
    else flatten(v, shape, axis + 1, out);
  }
}

/** Values into a dtype that holds them exactly (floats round). */
function fromFlat(values: ArrayLike<Scalar>, shape: Shape, dtype: DType, natural: DType): Tensor {
  checkDTypeName(dtype);
  if ((dtype === 'string') !== (natural === 'string')) {
    throw new InvalidArgumentError(
      `${natural} values cannot become a ${dtype} tensor${natural === 'string' ? `: ${ofStrings}` : ''}`,
    );
  }
  if (dtype === 'string') return stringTensor(values as readonly string[], shape);
  const out = emptyTensor(dtype, shape, values.length);
  const view = spaceOf(out);
  if (dtype === 'float32' || dtype === 'float64') {
    for (let i = 0; i < values.length; i++) view[i] = realNumber(values[i], dtype);
  } else if (isComplex(dtype)) {
    for (let i = 0; i < values.length; i++) {
      const value = values[i];
      const { re, im } = typeof value === 'object' ? value : { re: Number(value), im: 0 };
      view[2 * i] = re;
      view[2 * i + 1] = im;
    }
  } else {
    for (let i = 0; i < values.length; i++) view[i] = element(values[i], dtype) as never;
  }
  return uploaded(out, view);
}

/** @throws InvalidArgumentError for a complex number, which only complex dtypes hold. */
function realNumber(value: Scalar, dtype: DType): number {
  if (typeof value !== 'object') return Number(value);
  throw new InvalidArgumentError(
    `{ re: ${value.re}, im: ${value.im} } is no ${dtype}; take one of its parts`,
  );
}

function element(given: Scalar, dtype: DType): number | bigint {
  const value = typeof given === 'object' ? realNumber(given, dtype) : (given as number | bigint | boolean);
  if (dtype === 'bool') {
    const n = Number(value);
    if (n !== 0 && n !== 1)
      throw new InvalidArgumentError(`${value} is not a bool; compare first, for example x.notEqual(0)`);
    return n;
  }
  if (dtypeTraits[dtype].floating) return storedNumber(Number(value), dtype);
  if (typeof value === 'number' && !Number.isInteger(value)) {
    throw new InvalidArgumentError(
      `${value} is not an ${dtype}; convert the tensor beside it with cast('float32'), or round the number`,
    );
  }
  if (isBig(dtype)) {
    const n = BigInt(value);
    if (n !== (dtype === 'int64' ? BigInt.asIntN(64, n) : BigInt.asUintN(64, n)))
      throw new InvalidArgumentError(`${value} is out of range for ${dtype}`);
    return n;
  }
  const { low, high } = dtypeTraits[dtype];
  const n = Number(value);
  if (n < low || n > high)
    throw new InvalidArgumentError(`${value} is out of range for ${dtype} (${low} … ${high})`);
  return n;
}
