import { FILE_DTYPES } from '../arrays/dtypes.ts';
import { type ElementKind, encodeElements } from '../arrays/elements.ts';
import { checkNDArray, elementCount, type NDArray } from '../arrays/ndarray.ts';
import { ByteBuilder, Cursor } from '../bytes.ts';
import { type ErrorMaker, errorsFor, type FormatError } from '../errors.ts';
import { DataType, dataTypeInfo, decodeDataType, type TensorValue } from './data-types.ts';
import type { TensorProto, TensorShapeProto } from './framework.ts';

// One value may stand for a whole tensor; more than this is not allocated for bytes that are not there.
const DEFAULT_MAX_BYTES = 64 * 2 ** 20;

/** Options of {@link decodeTensorProto}. */
export interface DecodeTensorOptions {
  /** The file's name, for error messages. */
  readonly file?: string | undefined;
  /** The most bytes that a tensor may fill which is not there value by value. Default: 64 MiB. */
  readonly maxBytes?: number | undefined;
}

/** Options of {@link encodeTensorProto}. */
export interface EncodeTensorOptions {
  /** Writes numbers into the list of their type, where the default is their bytes in `tensor_content`. */
  readonly typed?: boolean | undefined;
}

/** The sizes as a message, without zeros, which TensorFlow leaves out too. */
export function encodeShape(shape: readonly number[]): TensorShapeProto {
  return shape.length === 0 ? {} : { dim: shape.map((size) => (size === 0 ? {} : { size })) };
}

/**
 * The sizes in a message.
 *
 * @throws FormatError where rank or sizes are unknown, negative, or too large for any file.
 */
export function decodeShape(
  shape: TensorShapeProto | undefined,
  where: () => string,
  error: ErrorMaker,
): number[] {
  if (shape?.unknown_rank) throw error(`${where()}: shape`, 'a known rank', 'an unknown one');
  const sizes = (shape?.dim ?? []).map((dim) => Number(dim.size ?? 0));
  if (sizes.length > 254 || elementCount(sizes) === undefined)
    throw error(`${where()}: shape`, 'sizes of a tensor', `[${sizes.join(', ')}]`);
  return sizes;
}

/**
 * The tensor in a message: from `tensor_content`, or the list of its type, whose last value stands for all that are missing. Types
 * without a dtype of their own are widened as in {@link decodeDataType}.
 *
 * @throws FormatError when the message makes no sense, UnsupportedFormatError for what no array holds.
 */
export function decodeTensorProto(proto: TensorProto, options: DecodeTensorOptions = {}): TensorValue {
  const error = errorsFor('TensorProto', options.file);
  const where = 'tensor';
  const dtype = proto.dtype ?? 0;
  const info = dataTypeInfo(dtype);
  if (info === undefined) throw error('dtype', 'a number of types.proto', dtype);
  const shape = decodeShape(proto.tensor_shape, () => where, error);
  const count = elementCount(shape) as number;
  const content = proto.tensor_content ?? new Uint8Array(0);
  if (content.length > 0 && dtype === DataType.DT_STRING)
    return { dtype: 'string', shape, data: decodeStringContent(content, count, error) };
  if (content.length > 0 && info.bytes > 0) {
    if (content.length !== count * info.bytes)
      throw error('tensor_content', `${count * info.bytes} bytes`, content.length);
    return decodeDataType(info, content, shape, where, error);
  }
  const list = dtype === DataType.DT_STRING ? (proto.string_val ?? []) : listOf(proto, info.kind);
  if (list === undefined) throw error.unsupported('dtype', 'one that an array can hold', info.name);
  const parts = info.kind === undefined ? 1 : FILE_DTYPES[info.kind].parts;
  if (list.length > count * parts || list.length % parts !== 0)
    throw error('values', `at most ${count * parts}${parts > 1 ? ', in pairs' : ''}`, list.length);
  const maxBytes = options.maxBytes ?? DEFAULT_MAX_BYTES;
  if (list.length < count * parts && count * parts * 8 > maxBytes)
    throw error('values', `${count} (missing ones are filled in up to ${maxBytes} bytes)`, list.length);
  if (dtype === DataType.DT_STRING) {
    const strings = list as readonly Uint8Array[];
    const last = strings.at(-1) ?? new Uint8Array(0);
    return { dtype: 'string', shape, data: Array.from({ length: count }, (_, i) => strings[i] ?? last) };
  }
  return decodeDataType(
    info,
    packed(list as readonly Scalar[], info.kind as ElementKind, count),
    shape,
    where,
    error,
  );
}

/** The strings in a `tensor_content`: the lengths of all of them, then their bytes. */
function decodeStringContent(content: Uint8Array, count: number, error: ErrorMaker): Uint8Array[] {
  const misfit = (): FormatError =>
    error('tensor_content', `${count} lengths and as many strings`, `${content.length} other bytes`);
  // Each length takes a byte at least.
  if (count > content.length) throw misfit();
  const cursor = new Cursor(content);
  const lengths = Array.from({ length: count }, () => cursor.varint());
  const strings = lengths.map((length) => {
    const bytes = length === undefined ? undefined : cursor.take(length);
    if (bytes === undefined) throw misfit();
    return bytes;
  });
  if (cursor.at !== content.length) throw misfit();
  return strings;
}

/** Strings as the `tensor_content` of a message, as some ops of TensorFlow write them. */
export function encodeStringContent(strings: readonly Uint8Array[]): Uint8Array {
  const content = new ByteBuilder();
  for (const { length } of strings) content.varint(length);
  for (const bytes of strings) content.add(bytes);
  return content.view();
}

/**
 * A tensor as a message. Strings are text or bytes.
 *
 * @throws FormatError when dtype, shape and data do not agree.
 */
export function encodeTensorProto(
  value: NDArray | StringInput,
  options: EncodeTensorOptions = {},
): TensorProto {
  const tensor_shape = encodeShape(value.shape);
  if (value.dtype === 'string') {
    const { data } = value;
    if (elementCount(value.shape) !== data.length)
      throw errorsFor('TensorProto', undefined)('strings', `${elementCount(value.shape)}`, data.length);
    return { dtype: DataType.DT_STRING, tensor_shape, string_val: encodeStrings(data) };
  }
  checkNDArray(value, 'TensorProto');
  const dtype = FILE_DTYPES[value.dtype].tensorflow;
  if (!options.typed) return { dtype, tensor_shape, tensor_content: encodeElements(value) };
  const numbers = Array.from(value.data as Iterable<number>);
  switch (value.dtype) {
    case 'float32':
      return { dtype, tensor_shape, float_val: numbers };
    case 'float64':
      return { dtype, tensor_shape, double_val: numbers };
    case 'int64':
      return { dtype, tensor_shape, int64_val: [...value.data] };
    case 'uint64':
      return { dtype, tensor_shape, uint64_val: [...value.data] };
    case 'uint32':
      return { dtype, tensor_shape, uint32_val: numbers };
    case 'bool':
      return { dtype, tensor_shape, bool_val: numbers.map((number) => number !== 0) };
    case 'float16':
    case 'bfloat16':
      return { dtype, tensor_shape, half_val: Array.from(bitsOf(value)) };
    case 'complex64':
      return { dtype, tensor_shape, scomplex_val: numbers };
    case 'complex128':
      return { dtype, tensor_shape, dcomplex_val: numbers };
    default:
      return { dtype, tensor_shape, int_val: numbers };
  }
}

/** The bits of floats of 16 bits. */
function bitsOf(value: NDArray): Uint16Array {
  const bytes = encodeElements(value);
  return new Uint16Array(bytes.buffer, bytes.byteOffset, value.data.length);
}

/** Strings to be written: text becomes UTF-8. */
export interface StringInput {
  readonly data: readonly (string | Uint8Array)[];
  readonly shape: readonly number[];
  readonly dtype: 'string';
}

/** The bytes of each; text becomes UTF-8. */
export function encodeStrings(strings: readonly (string | Uint8Array)[]): Uint8Array[] {
  const encoder = new TextEncoder();
  return strings.map((item) => (typeof item === 'string' ? encoder.encode(item) : item));
}

type Scalar = number | bigint | boolean;

/** The list that holds the values of a kind, undefined where no list does. */
function listOf(proto: TensorProto, kind: ElementKind | undefined): readonly Scalar[] | undefined {
  switch (kind) {
    case 'float32':
      return proto.float_val ?? [];
    case 'float64':
      return proto.double_val ?? [];
    case 'int64':
      return proto.int64_val ?? [];
    case 'uint64':
      return proto.uint64_val ?? [];
    case 'uint32':
      return proto.uint32_val ?? [];
    case 'bool':
      return proto.bool_val ?? [];
    case 'float16':
    case 'bfloat16':
      return proto.half_val ?? [];
    case 'complex64':
      return proto.scomplex_val ?? [];
    case 'complex128':
      return proto.dcomplex_val ?? [];
    case undefined:
      return undefined;
    default:
      return proto.int_val ?? [];
  }
}

/** The bytes that `tensor_content` would have, the last value repeated up to `count`. */
function packed(list: readonly Scalar[], kind: ElementKind, count: number): Uint8Array {
  const { parts, array: Numbers } = FILE_DTYPES[kind];
  // Floats of 16 bits are listed as their bits.
  const array =
    kind === 'float16' || kind === 'bfloat16' ? new Uint16Array(count) : new Numbers(count * parts);
  const convert: (value: Scalar) => number | bigint = kind === 'int64' || kind === 'uint64' ? BigInt : Number;
  const last = list.slice(-parts);
  for (let i = 0; i < array.length; i++)
    array[i] = convert(i < list.length ? list[i] : (last[i % parts] ?? 0)) as never;
  return encodeElements({ data: array });
}
