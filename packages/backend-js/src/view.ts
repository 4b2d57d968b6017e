import { type BigArray, hostView, type NumberArray, type TensorRef, type TypedArray } from '@eagre/backend';

export type { NumberArray };

/** The elements of a tensor. */
export function view(t: TensorRef): TypedArray {
  return hostView(t.storage, t.dtype, t.size);
}

/** The bytes of a tensor. */
export function bytesOf(t: TensorRef): Uint8Array {
  const { buffer, byteOffset, byteLength } = view(t);
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** The elements of a tensor that are numbers. */
export function numbers(t: TensorRef): NumberArray {
  return view(t) as NumberArray;
}

/** The elements of a tensor of 64 bit integers. */
export function bigints(t: TensorRef): BigArray {
  return view(t) as BigArray;
}
