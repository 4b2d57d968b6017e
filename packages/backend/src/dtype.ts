/** The element types. `string` tensors live on the host and never reach a kernel. */
export type DType = 'float32' | 'float64' | 'int32' | 'int64' | 'uint8' | 'bool' | 'string';
/** Element types that kernels work on. */
export type NumericDType = Exclude<DType, 'string'>;

export type TypedArray = Float32Array | Float64Array | Int32Array | BigInt64Array | Uint8Array;

interface DTypeTraits {
  /** Number by which native code knows the type; part of the kernel contract. */
  readonly code: number;
  readonly bytes: number;
  readonly floating: boolean;
  readonly integer: boolean;
}

/** One row per dtype; `bool` is stored as one byte, 0 or 1; a `string` has no fixed size. */
export const dtypeTraits: Readonly<Record<DType, DTypeTraits>> = {
  float32: { code: 0, bytes: 4, floating: true, integer: false },
  float64: { code: 1, bytes: 8, floating: true, integer: false },
  int32: { code: 2, bytes: 4, floating: false, integer: true },
  int64: { code: 3, bytes: 8, floating: false, integer: true },
  uint8: { code: 4, bytes: 1, floating: false, integer: true },
  bool: { code: 5, bytes: 1, floating: false, integer: false },
  string: { code: 6, bytes: 0, floating: false, integer: false },
};

/** A typed array over `length` elements of `buffer`; `bool` and `uint8` are bytes, `int64` is BigInt64Array. */
export function typedView(
  dtype: DType,
  buffer: ArrayBufferLike,
  byteOffset: number,
  length: number,
): TypedArray {
  switch (dtype) {
    case 'float32':
      return new Float32Array(buffer, byteOffset, length);
    case 'float64':
      return new Float64Array(buffer, byteOffset, length);
    case 'int32':
      return new Int32Array(buffer, byteOffset, length);
    case 'int64':
      return new BigInt64Array(buffer, byteOffset, length);
    case 'uint8':
    case 'bool':
      return new Uint8Array(buffer, byteOffset, length);
    case 'string':
      throw new TypeError('a string tensor has no typed view');
  }
}
