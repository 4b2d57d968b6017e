// Tensors in ONNX's files.
import { FILE_DTYPES } from '../arrays/dtypes.ts';
import { decodeElements, encodeElements } from '../arrays/elements.ts';
import { elementCount, type NDArray } from '../arrays/ndarray.ts';
import { type ErrorMaker, errorsFor, quote } from '../errors.ts';
import type { StringArray } from '../tensorflow/data-types.ts';
import type { TensorProto } from './messages.ts';

type Kind = keyof typeof FILE_DTYPES;

/** What an ONNX data type is here; `bits` where elements are packed into bytes. */
interface OnnxTypeInfo {
  readonly name: string;
  readonly kind?: Kind;
  readonly bits?: { readonly width: 2 | 4; readonly signed: boolean };
}

// By ONNX's number.
const TYPES: readonly (OnnxTypeInfo | undefined)[] = [
  undefined,
  { name: 'float32', kind: 'float32' },
  { name: 'uint8', kind: 'uint8' },
  { name: 'int8', kind: 'int8' },
  { name: 'uint16', kind: 'uint16' },
  { name: 'int16', kind: 'int16' },
  { name: 'int32', kind: 'int32' },
  { name: 'int64', kind: 'int64' },
  { name: 'string' },
  { name: 'bool', kind: 'bool' },
  { name: 'float16', kind: 'float16' },
  { name: 'float64', kind: 'float64' },
  { name: 'uint32', kind: 'uint32' },
  { name: 'uint64', kind: 'uint64' },
  { name: 'complex64', kind: 'complex64' },
  { name: 'complex128', kind: 'complex128' },
  { name: 'bfloat16', kind: 'bfloat16' },
  { name: 'float8e4m3fn' },
  { name: 'float8e4m3fnuz' },
  { name: 'float8e5m2' },
  { name: 'float8e5m2fnuz' },
  { name: 'uint4', kind: 'uint8', bits: { width: 4, signed: false } },
  { name: 'int4', kind: 'int8', bits: { width: 4, signed: true } },
  { name: 'float4e2m1' },
  { name: 'float8e8m0' },
  { name: 'uint2', kind: 'uint8', bits: { width: 2, signed: false } },
  { name: 'int2', kind: 'int8', bits: { width: 2, signed: true } },
];
const NUMBERS = new Map(TYPES.map((info, number) => [info?.name, number]));

/** An array, or strings as bytes. */
export type OnnxValue = NDArray | StringArray;

/** ONNX's number of a data type, `float32` or `string`; undefined for one that ONNX does not have. */
export function onnxType(name: string): number | undefined {
  return NUMBERS.get(name);
}

/** The name of a data type, undefined for an unknown number. */
export function onnxTypeName(number: number): string | undefined {
  return TYPES[number]?.name;
}

/**
 * The tensor in a message. Integers of 2 and 4 bits come as those of 8.
 *
 * @param external the bytes of a tensor whose values are in another file.
 * @throws FormatError where the message makes no sense, UnsupportedFormatError for what no array holds.
 */
export function decodeOnnxTensor(
  proto: TensorProto,
  options: { readonly file?: string | undefined; readonly external?: Uint8Array | undefined } = {},
): OnnxValue {
  const error = errorsFor('ONNX', options.file);
  const { where, info, shape, count } = headOf(proto, error);
  if (info.name === 'string') {
    const data = proto.string_data ?? [];
    if (data.length !== count) throw error(`${where}: string_data`, `${count} strings`, data.length);
    return { dtype: 'string', shape, data };
  }
  if (info.kind === undefined)
    throw error.unsupported(`${where}: data_type`, 'one that an array can hold', info.name);
  const raw = options.external ?? proto.raw_data;
  if (raw === undefined)
    return listed(proto, info as OnnxTypeInfo & { kind: Kind }, shape, count, error, where);
  if (info.bits !== undefined) return unpacked(raw, info.bits, shape, count, error, where);
  const bytes = count * FILE_DTYPES[info.kind].bytes;
  if (raw.length !== bytes) throw error(`${where}: data`, `${bytes} bytes`, raw.length);
  return decodeElements(info.kind, raw, shape);
}

/** What a message says of its tensor beside the values. */
function headOf(
  proto: TensorProto,
  error: ErrorMaker,
): {
  readonly where: string;
  readonly info: OnnxTypeInfo;
  readonly shape: readonly number[];
  readonly count: number;
} {
  const where = `tensor ${quote(proto.name ?? '')}`;
  const info = TYPES[proto.data_type ?? 0];
  if (info === undefined) throw error(`${where}: data_type`, 'a number of onnx.proto', proto.data_type ?? 0);
  const shape = (proto.dims ?? []).map(Number);
  const count = elementCount(shape);
  if (count === undefined || shape.length > 254)
    throw error(`${where}: dims`, 'sizes of a tensor', `[${shape.join(', ')}]`);
  return { where, info, shape, count };
}

/**
 * How many bytes the values of a tensor have in another file.
 *
 * @throws FormatError where the message makes no sense, UnsupportedFormatError for what no array holds.
 */
export function onnxTensorBytes(proto: TensorProto): number {
  const error = errorsFor('ONNX', undefined);
  const { where, info, count } = headOf(proto, error);
  if (info.kind === undefined)
    throw error.unsupported(`${where}: data_type`, 'one that can be in another file', info.name);
  return info.bits === undefined
    ? count * FILE_DTYPES[info.kind].bytes
    : Math.ceil((count * info.bits.width) / 8);
}

/** Elements of less than a byte: the first one in the lowest bits. */
function unpacked(
  raw: Uint8Array,
  { width, signed }: NonNullable<OnnxTypeInfo['bits']>,
  shape: readonly number[],
  count: number,
  error: ErrorMaker,
  where: string,
): NDArray {
  const per = 8 / width;
  const bytes = Math.ceil(count / per);
  if (raw.length !== bytes) throw error(`${where}: data`, `${bytes} bytes`, raw.length);
  const data = signed ? new Int8Array(count) : new Uint8Array(count);
  const shift = 32 - width;
  for (let i = 0; i < count; i++) {
    const bits = raw[Math.floor(i / per)] >> ((i % per) * width);
    data[i] = signed ? (bits << shift) >> shift : bits & (2 ** width - 1);
  }
  return { dtype: signed ? 'int8' : 'uint8', shape, data } as NDArray;
}

/** The values in the list of their type. */
function listed(
  proto: TensorProto,
  info: OnnxTypeInfo & { readonly kind: Kind },
  shape: readonly number[],
  count: number,
  error: ErrorMaker,
  where: string,
): NDArray {
  const { kind } = info;
  const { array, parts } = FILE_DTYPES[kind];
  const [field, list] = listOf(proto, kind);
  if (info.bits !== undefined)
    return unpacked(Uint8Array.from(list as readonly number[]), info.bits, shape, count, error, where);
  if (list.length !== count * parts)
    throw error(`${where}: ${field}`, `${count * parts} values`, list.length);
  if (kind === 'float16' || kind === 'bfloat16')
    return decodeElements(kind, bytesOf(Uint16Array.from(list as readonly number[])), shape);
  if (kind === 'int64' || kind === 'uint64') {
    const exact = Array.from(list, BigInt);
    const data = kind === 'int64' ? BigInt64Array.from(exact) : BigUint64Array.from(exact);
    return { dtype: kind, shape, data } as NDArray;
  }
  const data = new array(list.length) as Float64Array;
  data.set(list as readonly number[]);
  return { dtype: kind, shape, data } as unknown as NDArray;
}

function bytesOf(data: Uint16Array): Uint8Array {
  return encodeElements({ data });
}

function listOf(proto: TensorProto, kind: Kind): readonly [string, readonly (number | bigint)[]] {
  switch (kind) {
    case 'float32':
    case 'complex64':
      return ['float_data', proto.float_data ?? []];
    case 'float64':
    case 'complex128':
      return ['double_data', proto.double_data ?? []];
    case 'int64':
      return ['int64_data', proto.int64_data ?? []];
    case 'uint32':
    case 'uint64':
      return ['uint64_data', proto.uint64_data ?? []];
    default:
      return ['int32_data', proto.int32_data ?? []];
  }
}

/**
 * The message of a tensor, its values as bytes.
 *
 * @throws UnsupportedFormatError for a dtype that ONNX does not have.
 */
export function encodeOnnxTensor(name: string, value: OnnxValue): TensorProto {
  const data_type = onnxType(value.dtype);
  if (data_type === undefined)
    throw errorsFor('ONNX', undefined).unsupported(
      `tensor ${quote(name)}: dtype`,
      'one that ONNX has',
      value.dtype,
    );
  const head = { dims: value.shape, data_type, name };
  return value.dtype === 'string'
    ? { ...head, string_data: value.data }
    : { ...head, raw_data: encodeElements(value) };
}
