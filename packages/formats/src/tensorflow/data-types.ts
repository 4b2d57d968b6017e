// The data types of TensorFlow (`types.proto`), and what becomes of their elements here.
import { decodeElements, type ElementKind } from '../arrays/elements.ts';
import type { NDArray } from '../arrays/ndarray.ts';
import type { ErrorMaker } from '../errors.ts';

/** `types.proto`: what a tensor holds. */
export const DataType: {
  readonly DT_FLOAT: 1;
  readonly DT_DOUBLE: 2;
  readonly DT_INT32: 3;
  readonly DT_UINT8: 4;
  readonly DT_INT16: 5;
  readonly DT_INT8: 6;
  readonly DT_STRING: 7;
  readonly DT_COMPLEX64: 8;
  readonly DT_INT64: 9;
  readonly DT_BOOL: 10;
  readonly DT_BFLOAT16: 14;
  readonly DT_UINT16: 17;
  readonly DT_COMPLEX128: 18;
  readonly DT_HALF: 19;
  readonly DT_RESOURCE: 20;
  readonly DT_VARIANT: 21;
  readonly DT_UINT32: 22;
  readonly DT_UINT64: 23;
} = {
  DT_FLOAT: 1,
  DT_DOUBLE: 2,
  DT_INT32: 3,
  DT_UINT8: 4,
  DT_INT16: 5,
  DT_INT8: 6,
  DT_STRING: 7,
  DT_COMPLEX64: 8,
  DT_INT64: 9,
  DT_BOOL: 10,
  DT_BFLOAT16: 14,
  DT_UINT16: 17,
  DT_COMPLEX128: 18,
  DT_HALF: 19,
  DT_RESOURCE: 20,
  DT_VARIANT: 21,
  DT_UINT32: 22,
  DT_UINT64: 23,
};

/** What is known of a data type. */
export interface DataTypeInfo {
  /** TensorFlow's name, such as `float16`. */
  readonly name: string;
  /** Of an element in a file; 0 for what has no fixed size. */
  readonly bytes: number;
  /** How elements are read; undefined where there is no array for them. */
  readonly kind?: ElementKind;
}

// By the number in `types.proto`.
const INFOS: readonly (DataTypeInfo | undefined)[] = [
  undefined,
  { name: 'float32', bytes: 4, kind: 'float32' },
  { name: 'float64', bytes: 8, kind: 'float64' },
  { name: 'int32', bytes: 4, kind: 'int32' },
  { name: 'uint8', bytes: 1, kind: 'uint8' },
  { name: 'int16', bytes: 2, kind: 'int16' },
  { name: 'int8', bytes: 1, kind: 'int8' },
  { name: 'string', bytes: 0 },
  { name: 'complex64', bytes: 8, kind: 'complex64' },
  { name: 'int64', bytes: 8, kind: 'int64' },
  { name: 'bool', bytes: 1, kind: 'bool' },
  { name: 'qint8', bytes: 1, kind: 'int8' },
  { name: 'quint8', bytes: 1, kind: 'uint8' },
  { name: 'qint32', bytes: 4, kind: 'int32' },
  { name: 'bfloat16', bytes: 2, kind: 'bfloat16' },
  { name: 'qint16', bytes: 2, kind: 'int16' },
  { name: 'quint16', bytes: 2, kind: 'uint16' },
  { name: 'uint16', bytes: 2, kind: 'uint16' },
  { name: 'complex128', bytes: 16, kind: 'complex128' },
  { name: 'float16', bytes: 2, kind: 'float16' },
  { name: 'resource', bytes: 0 },
  { name: 'variant', bytes: 0 },
  { name: 'uint32', bytes: 4, kind: 'uint32' },
  { name: 'uint64', bytes: 8, kind: 'uint64' },
  { name: 'float8_e5m2', bytes: 1 },
  { name: 'float8_e4m3fn', bytes: 1 },
  { name: 'float8_e4m3fnuz', bytes: 1 },
  { name: 'float8_e4m3b11fnuz', bytes: 1 },
  { name: 'float8_e5m2fnuz', bytes: 1 },
  { name: 'int4', bytes: 1 },
  { name: 'uint4', bytes: 1 },
  { name: 'int2', bytes: 1 },
  { name: 'uint2', bytes: 1 },
  { name: 'float4_e2m1fn', bytes: 1 },
];
const NUMBERS = new Map(INFOS.map((info, number) => [info?.name, number]));

/** Bytes of text or of anything else, by element. */
export interface StringArray {
  /** In row-major order; as many as the shape's product. */
  readonly data: readonly Uint8Array[];
  readonly shape: readonly number[];
  readonly dtype: 'string';
}

/** What tensors in files become. */
export type TensorValue = NDArray | StringArray;

/** What is known of the data type of this number, undefined for an unknown one. */
export function dataTypeInfo(number: number): DataTypeInfo | undefined {
  return INFOS[number];
}

/** The number of the data type with TensorFlow's name for it, such as `float16`; undefined for an unknown one. */
export function dataTypeNumber(name: string): number | undefined {
  return NUMBERS.get(name);
}

/**
 * The elements of a data type with fixed size; `bytes` holds nothing else. The values of float16 and bfloat16 come as float32, complex
 * numbers as their parts.
 *
 * @throws UnsupportedFormatError for types without an array.
 */
export function decodeDataType(
  info: DataTypeInfo,
  bytes: Uint8Array,
  shape: readonly number[],
  where: string,
  error: ErrorMaker,
): NDArray {
  const { kind } = info;
  if (kind === undefined) throw error.unsupported(`${where}: dtype`, 'one that an array can hold', info.name);
  return decodeElements(kind, bytes, shape);
}
