// How the functions of `tf.keras.ops` are declared, and what many of them do first.
import {
  type Axis,
  type AxisLike,
  type DType,
  InvalidArgumentError,
  type NamedFunction,
  type Tensor,
  type TensorLike,
} from '@eagre/core';
import {
  type Dim,
  defineFunction,
  dims,
  hasGradient,
  isExpression,
  isFloating,
  type Kind,
  kerasDefaults,
  kind,
  normalizeAxes,
  pair,
  reducedShape,
  shown,
  toShape,
  toTensor,
} from '@eagre/core/internal';
import { kindOf, onValues } from '../layer/kinds.ts';

/** A function of one tensor. */
export type Unary = NamedFunction<[x: TensorLike], ['x|a|m']>;
/** A function of two tensors that broadcast. */
export type Binary = NamedFunction<[x1: TensorLike, x2: TensorLike], ['x1|a', 'x2|b']>;
/** Options of what makes one value of many. */
export interface Keepdims {
  /** Whether the axes stay, of size 1; false by default. */
  readonly keepdims?: boolean;
}
/** A function along one axis, several, or all (`null`). */
export type Along<O = Keepdims> = NamedFunction<[x: TensorLike, axis?: AxisLike], ['x|a', 'axis'], O>;
/** Where the axis of channels is. */
export type DataFormat = 'channels_last' | 'channels_first';

/** The name in messages. */
export const named = (name: string): string => `keras.ops.${name}`;

/** @throws InvalidArgumentError with the name of the function */
export function refuse(message: string, name: string): never {
  throw new InvalidArgumentError(message, named(name));
}

/** A tensor of floats or complex numbers: others become float32. */
export function floating(x: TensorLike): Tensor {
  const t = toTensor(x);
  return hasGradient(t.dtype) ? t : t.cast('float32');
}

/** The dtype of results that are floats. */
export const floatType = (dtype: DType): DType => (isFloating(dtype) ? dtype : kerasDefaults.floatx);

/** Declares a function of one tensor. */
export const unary = (name: string, run: (x: Tensor) => Tensor, read: typeof floating = toTensor): Unary =>
  defineFunction(named(name), { 'x|a|m': kind.tensor }, {}, (x) => run(read(x)));

/** Declares a function of one tensor of floats. */
export const unaryFloat = (name: string, run: (x: Tensor) => Tensor): Unary => unary(name, run, floating);

/** Two tensors of one dtype, of floats. */
export function floatPair(x1: TensorLike, x2: TensorLike, name: string): [Tensor, Tensor] {
  const [a, b] = pair(x1, x2, named(name));
  return [floating(a), floating(b)];
}

/** Declares a function of two tensors, which are of one dtype then. */
export const binary = (
  name: string,
  run: (a: Tensor, b: Tensor) => Tensor,
  read: typeof pair = pair,
): Binary =>
  defineFunction(named(name), { 'x1|a': kind.tensor, 'x2|b': kind.tensor }, {}, (x1, x2) =>
    run(...read(x1, x2, named(name))),
  );

/** Declares a function of two tensors of floats. */
export const binaryFloat = (name: string, run: (a: Tensor, b: Tensor) => Tensor): Binary =>
  binary(name, run, floatPair);

/** Those that ragged tensors have as well. */
const ofRagged: ReadonlySet<string> = new Set(['sum', 'mean', 'prod', 'max', 'min', 'all', 'any']);

/** Declares a function along axes. */
export const along = (
  name: string,
  run: (x: Tensor, axis: Axis, options: Keepdims) => Tensor,
  read: (x: TensorLike) => Tensor = toTensor,
): Along =>
  defineFunction(
    named(name),
    { 'x|a': kind.tensor, axis: kind.axes },
    { keepdims: kind.asIs },
    (x, axis: Axis = null, options) =>
      run(
        kindOf(x) === 'ragged' && ofRagged.has(name) ? onValues(x as Tensor, read) : read(x),
        axis,
        options,
      ),
  );

/** Some axes as one, which comes last; `back` gives what was computed along it the shape of the result. */
export function asLast(
  x: Tensor,
  axis: Axis,
  keepdims = false,
): { readonly rows: Tensor; readonly back: (y: Tensor) => Tensor } {
  const axes = normalizeAxes(axis, x.rank);
  const rest = dims(x).flatMap((_, i) => (axes.includes(i) ? [] : [i]));
  const moved = axes.every((a, i) => a === rest.length + i) ? x : x.transpose([...rest, ...axes]);
  const own = dims(x);
  const rows = axes.length === 1 ? moved : moved.reshape(toShape([...rest.map((i) => own[i]), -1 as Dim]));
  const shape = reducedShape(own, axes, keepdims);
  return { rows, back: (y) => (keepdims ? y.reshape(shape) : y) };
}

/** The format that is given, else that of `setImageDataFormat`. */
export function formatOf(dataFormat: DataFormat | null | undefined): DataFormat {
  return (
    dataFormat ?? (kerasDefaults.imageDataFormat === 'channelsFirst' ? 'channels_first' : 'channels_last')
  );
}

/** Runs a function of tensors whose channels are last, wherever they are. */
export function channelsLast(
  x: Tensor,
  dataFormat: DataFormat | null | undefined,
  name: string,
  run: (x: Tensor) => Tensor,
): Tensor {
  const format = formatOf(dataFormat);
  if (format === 'channels_last') return run(x);
  if (format !== 'channels_first')
    refuse(`dataFormat is ${String(format)}, expected 'channels_last' or 'channels_first'`, name);
  return run(x.moveAxis(1, -1)).moveAxis(-1, 1);
}

/** The elements of rows [..., n] in places [..., k]. */
export function taken(rows: Tensor, places: Tensor): Tensor {
  if (rows.rank === 1) return rows.gather(places);
  return rows.gather(places, rows.rank - 1, { batchDims: rows.rank - 1 });
}

const isNone = (value: unknown): boolean => value === undefined || value === null;

/** A size, which need not be known while a function is traced. @throws InvalidArgumentError for what is none */
export const size: Kind = {
  numbers: true,
  read: (value, what, op) => {
    if (isNone(value)) return value;
    const read = kind.size.read?.(value, what, op) ?? value;
    if (isExpression(read) || (Number.isSafeInteger(read) && (read as number) >= 0)) return read;
    throw new InvalidArgumentError(`${what} must be an integer of at least 0, got ${shown(value)}`, op);
  },
};
/** An integer. @throws InvalidArgumentError for what is none */
export const integer: Kind = {
  numbers: true,
  read: (value, what, op) => {
    if (isNone(value)) return value;
    const read = kind.integer.read?.(value, what, op) ?? value;
    if (Number.isSafeInteger(read)) return read;
    throw new InvalidArgumentError(`${what} must be an integer, got ${shown(value)}`, op);
  },
};
/** A list. @throws InvalidArgumentError for anything else */
export const list: Kind = {
  read: (value, what, op) => {
    if (Array.isArray(value)) return value;
    throw new InvalidArgumentError(`${what} must be a list, got ${shown(value)}`, op);
  },
  numbers: true,
};
/** A text. @throws InvalidArgumentError for anything else */
export const text: Kind = {
  numbers: true,
  read: (value, what, op) => {
    if (typeof value === 'string') return value;
    throw new InvalidArgumentError(`${what} must be a string, got ${shown(value)}`, op);
  },
};
