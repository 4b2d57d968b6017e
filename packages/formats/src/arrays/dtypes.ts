// Printed by tools/print-dtypes.mjs from packages/backend/src/dtype.ts: change the table there, and run it.

/**
 * The typed array that holds each dtype's elements; `bool` is one byte (0 or 1) per element, floats of 16 bits are widened,
 * and of complex numbers there are both parts.
 */
export interface DataOf {
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
  float16: Float32Array;
  bfloat16: Float32Array;
  complex64: Float32Array;
  complex128: Float64Array;
}

/** What is known of a dtype in files. */
export interface FileDType<A = DataOf[keyof DataOf]> {
  /** Of an element. */
  readonly bytes: number;
  /** How many numbers of `array` an element is: two of a complex one. */
  readonly parts: number;
  readonly array: {
    readonly name: string;
    new (buffer: ArrayBufferLike, byteOffset: number, length: number): A;
    new (length: number): A;
  };
  /** The number in TensorFlow's `types.proto`. */
  readonly tensorflow: number;
  readonly safetensors: string;
  readonly numpy: string;
}

/** What is known of each dtype in files. */
export const FILE_DTYPES: { readonly [D in keyof DataOf]: FileDType<DataOf[D]> } = {
  float32: { bytes: 4, parts: 1, array: Float32Array, tensorflow: 1, safetensors: 'F32', numpy: 'f4' },
  float64: { bytes: 8, parts: 1, array: Float64Array, tensorflow: 2, safetensors: 'F64', numpy: 'f8' },
  int32: { bytes: 4, parts: 1, array: Int32Array, tensorflow: 3, safetensors: 'I32', numpy: 'i4' },
  int64: { bytes: 8, parts: 1, array: BigInt64Array, tensorflow: 9, safetensors: 'I64', numpy: 'i8' },
  uint8: { bytes: 1, parts: 1, array: Uint8Array, tensorflow: 4, safetensors: 'U8', numpy: 'u1' },
  bool: { bytes: 1, parts: 1, array: Uint8Array, tensorflow: 10, safetensors: 'BOOL', numpy: 'b1' },
  int8: { bytes: 1, parts: 1, array: Int8Array, tensorflow: 6, safetensors: 'I8', numpy: 'i1' },
  int16: { bytes: 2, parts: 1, array: Int16Array, tensorflow: 5, safetensors: 'I16', numpy: 'i2' },
  uint16: { bytes: 2, parts: 1, array: Uint16Array, tensorflow: 17, safetensors: 'U16', numpy: 'u2' },
  uint32: { bytes: 4, parts: 1, array: Uint32Array, tensorflow: 22, safetensors: 'U32', numpy: 'u4' },
  uint64: { bytes: 8, parts: 1, array: BigUint64Array, tensorflow: 23, safetensors: 'U64', numpy: 'u8' },
  float16: { bytes: 2, parts: 1, array: Float32Array, tensorflow: 19, safetensors: 'F16', numpy: 'f2' },
  bfloat16: { bytes: 2, parts: 1, array: Float32Array, tensorflow: 14, safetensors: 'BF16', numpy: '' },
  complex64: { bytes: 8, parts: 2, array: Float32Array, tensorflow: 8, safetensors: 'C64', numpy: 'c8' },
  complex128: { bytes: 16, parts: 2, array: Float64Array, tensorflow: 18, safetensors: '', numpy: 'c16' },
};
