/** The element types. `string` tensors live on the host and never reach a kernel; of complex ones kernels get the parts. */
export type DType =
  | 'float32'
  | 'float64'
  | 'int32'
  | 'int64'
  | 'uint8'
  | 'bool'
  | 'string'
  | 'int8'
  | 'int16'
  | 'uint16'
  | 'uint32'
  | 'uint64'
  | 'float16'
  | 'bfloat16'
  | ComplexDType;
/** Numbers with two parts, which lie one behind the other: kernels never see them, but tensors of their parts. */
export type ComplexDType = 'complex64' | 'complex128';
/** Element types that kernels work on. */
export type NumericDType = Exclude<DType, 'string' | ComplexDType>;

/** The arrays that hold the elements of tensors. */
export type TypedArray =
  | Float32Array
  | Float64Array
  | Int8Array
  | Int16Array
  | Int32Array
  | BigInt64Array
  | Uint8Array
  | Uint16Array
  | Uint32Array
  | BigUint64Array;

/** What an element is: a number with a point, an integer with or without a sign, a truth value, two numbers with a point, text. */
export type DTypeKind = 'float' | 'int' | 'uint' | 'bool' | 'complex' | 'string';

/** What is known of a dtype. */
export interface DTypeTraits {
  readonly name: DType;
  /** Number by which native code knows the type; part of the kernel contract. */
  readonly code: number;
  /** Of an element; 0 for a string, which has no fixed size. */
  readonly bytes: number;
  readonly kind: DTypeKind;
  readonly floating: boolean;
  readonly integer: boolean;
  /** Every integer of so many bits, its sign aside, is a value. */
  readonly digits: number;
  /** Of a float or of the parts of a complex number: the power of two of the largest values. */
  readonly exponent: number;
  /** The smallest and the largest value of an integer; of the 64 bit ones rounded to a double. */
  readonly low: number;
  readonly high: number;
  /** The dtype in which scalar programs compute with it: itself, or a wider one. */
  readonly computesIn: DType;
  /** The array over its elements; of complex ones, over their parts: real, imaginary, real, … */
  readonly array: TypedArrayConstructor;
  /** The name in native code, and the C++ type of an element. */
  readonly native: string;
  readonly nativeType: string;
  /** The number in TensorFlow's `types.proto`. */
  readonly tensorflow: number;
  /** The name in safetensors files; the type and size in npy files. */
  readonly safetensors: string;
  readonly numpy: string;
}

interface TypedArrayConstructor {
  readonly name: string;
  new (buffer: ArrayBufferLike, byteOffset: number, length: number): TypedArray;
  new (length: number): TypedArray;
}

type Row = readonly [
  code: number,
  bytes: number,
  kind: DTypeKind,
  digits: number,
  exponent: number,
  computesIn: DType,
  array: TypedArrayConstructor,
  native: string,
  nativeType: string,
  tensorflow: number,
  safetensors: string,
  numpy: string,
];

// One row per dtype: all else that has to know them is derived from here. Native code and the files' formats get theirs by
// tools/print-dtypes.mjs. `bool` is stored as one byte, 0 or 1.
// biome-ignore format: a table reads better in rows
const rows: Readonly<Record<DType, Row>> = {
  float32: [0, 4, 'float', 24, 127, 'float32', Float32Array, 'f32', 'float', 1, 'F32', 'f4'],
  float64: [1, 8, 'float', 53, 1023, 'float64', Float64Array, 'f64', 'double', 2, 'F64', 'f8'],
  int32: [2, 4, 'int', 31, 0, 'int32', Int32Array, 'i32', 'int32_t', 3, 'I32', 'i4'],
  int64: [3, 8, 'int', 63, 0, 'int64', BigInt64Array, 'i64', 'int64_t', 9, 'I64', 'i8'],
  uint8: [4, 1, 'uint', 8, 0, 'uint8', Uint8Array, 'u8', 'uint8_t', 4, 'U8', 'u1'],
  bool: [5, 1, 'bool', 1, 0, 'bool', Uint8Array, 'boolean', 'bool', 10, 'BOOL', 'b1'],
  int8: [6, 1, 'int', 7, 0, 'int32', Int8Array, 'i8', 'int8_t', 6, 'I8', 'i1'],
  int16: [7, 2, 'int', 15, 0, 'int32', Int16Array, 'i16', 'int16_t', 5, 'I16', 'i2'],
  uint16: [8, 2, 'uint', 16, 0, 'int32', Uint16Array, 'u16', 'uint16_t', 17, 'U16', 'u2'],
  uint32: [9, 4, 'uint', 32, 0, 'int64', Uint32Array, 'u32', 'uint32_t', 22, 'U32', 'u4'],
  uint64: [10, 8, 'uint', 64, 0, 'uint64', BigUint64Array, 'u64', 'uint64_t', 23, 'U64', 'u8'],
  float16: [11, 2, 'float', 11, 15, 'float32', Uint16Array, 'f16', 'Half', 19, 'F16', 'f2'],
  bfloat16: [12, 2, 'float', 8, 127, 'float32', Uint16Array, 'bf16', 'BFloat', 14, 'BF16', ''],
  complex64: [13, 8, 'complex', 24, 127, 'complex64', Float32Array, '', '', 8, 'C64', 'c8'],
  complex128: [14, 16, 'complex', 53, 1023, 'complex128', Float64Array, '', '', 18, '', 'c16'],
  string: [15, 0, 'string', 0, 0, 'string', Uint8Array, '', '', 7, '', ''],
};

function traitsOf(name: DType): DTypeTraits {
  const [
    code,
    bytes,
    kind,
    digits,
    exponent,
    computesIn,
    array,
    native,
    nativeType,
    tensorflow,
    safetensors,
    numpy,
  ] = rows[name];
  const integer = kind === 'int' || kind === 'uint';
  const signed = kind === 'int';
  return {
    name,
    code,
    bytes,
    kind,
    floating: kind === 'float',
    integer,
    digits,
    exponent,
    low: signed ? -(2 ** digits) : integer ? 0 : Number.NEGATIVE_INFINITY,
    high: integer ? 2 ** digits - 1 : Number.POSITIVE_INFINITY,
    computesIn,
    array,
    native,
    nativeType,
    tensorflow,
    safetensors,
    numpy,
  };
}

const names = Object.keys(rows) as DType[];

/** What is known of each dtype. */
export const dtypeTraits: Readonly<Record<DType, DTypeTraits>> = Object.fromEntries(
  names.map((name) => [name, traitsOf(name)]),
) as Record<DType, DTypeTraits>;

/** Element types that kernels work on, by their numbers. */
export const numericDTypes: readonly NumericDType[] = names
  .filter((name): name is NumericDType => name !== 'string' && !isComplex(name))
  .sort((a, b) => dtypeTraits[a].code - dtypeTraits[b].code);

/** Whether elements are complex numbers. */
export function isComplex(dtype: DType): dtype is ComplexDType {
  return dtype === 'complex64' || dtype === 'complex128';
}

/** The dtype of the parts of complex numbers. */
export function partsOf(dtype: ComplexDType): 'float32' | 'float64' {
  return dtype === 'complex64' ? 'float32' : 'float64';
}

/** How many elements of the typed array of a dtype hold so many of its own: two for each complex number. */
export function arrayLength(dtype: DType, size: number): number {
  return isComplex(dtype) ? 2 * size : size;
}

/** A typed array over `length` elements of `buffer`; `bool` is bytes, 64 bit integers are bigints, complex numbers their two parts. */
export function typedView(
  dtype: DType,
  buffer: ArrayBufferLike,
  byteOffset: number,
  length: number,
): TypedArray {
  // The most frequent ones as V8 likes it: a class that stands here.
  if (dtype === 'float32') return new Float32Array(buffer, byteOffset, length);
  if (dtype === 'int32') return new Int32Array(buffer, byteOffset, length);
  if (dtype === 'bool') return new Uint8Array(buffer, byteOffset, length);
  if (dtype === 'string') throw new TypeError('a string tensor has no typed view');
  return new dtypeTraits[dtype].array(buffer, byteOffset, arrayLength(dtype, length));
}

/** The arrays of 64 bit integers, whose elements are bigints. */
export type BigArray = BigInt64Array | BigUint64Array;
/** The arrays whose elements are numbers. */
export type NumberArray = Exclude<TypedArray, BigArray>;

/** Whether the elements of an array are bigints. */
export function isBigArray(array: ArrayLike<unknown>): array is BigArray {
  return array instanceof BigInt64Array || array instanceof BigUint64Array;
}

/** Whether elements of a dtype are bigints in JavaScript. */
export function isBig(dtype: DType): boolean {
  return dtype === 'int64' || dtype === 'uint64';
}

/** Whether an instruction of a scalar program casts from one dtype to the other: one of them may be read and written only. */
export function castsDirectly(from: DType, to: DType): boolean {
  const { computesIn } = dtypeTraits[from];
  if (computesIn !== from) return computesIn === to || from === to;
  return dtypeTraits[to].computesIn === to || dtypeTraits[to].computesIn === from;
}

/** Whether every value of the first dtype is one of the second. A truth value is the number 0 or 1. */
export function holdsEvery(from: DType, to: DType): boolean {
  if (from === to) return true;
  const a = dtypeTraits[from];
  const b = dtypeTraits[to];
  if (a.kind === 'string' || b.kind === 'string' || b.kind === 'bool') return false;
  if (a.kind === 'bool') return true;
  if (b.kind === 'float' ? a.kind !== 'complex' : b.kind === 'complex')
    return a.digits <= b.digits && (a.integer ? a.digits : a.exponent) <= b.exponent;
  return a.integer && a.digits <= b.digits && !(a.kind === 'int' && b.kind === 'uint');
}
