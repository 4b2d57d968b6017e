import { type AttrValue, type TensorRef, type TypedArray, typedView } from '@eagre/backend';

/** Typed arrays whose elements are JavaScript numbers: every dtype's but int64's. */
export type NumberArray = Exclude<TypedArray, BigInt64Array>;

/** The elements of a tensor. */
export function view(t: TensorRef): TypedArray {
  return typedView(t.dtype, t.storage.buffer, t.storage.byteOffset, t.size);
}

/** The elements of a tensor that is not int64. */
export function numbers(t: TensorRef): NumberArray {
  return view(t) as NumberArray;
}

/** The elements of an int64 tensor. */
export function bigints(t: TensorRef): BigInt64Array {
  return view(t) as BigInt64Array;
}

/** A list attribute; the contract's table says which attributes are lists. */
export function list(value: AttrValue): readonly number[] {
  return value as readonly number[];
}

/** The product of the sizes, 1 for none. */
export function product(sizes: readonly number[]): number {
  let result = 1;
  for (const size of sizes) result *= size;
  return result;
}
