import type { AttrValue } from './kernels.ts';

/** Whether two shapes have the same dimensions. */
export function sameShape(a: readonly number[], b: readonly number[]): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** The product of sizes, 1 for none. */
export function product(sizes: readonly number[]): number {
  let result = 1;
  for (const size of sizes) result *= size;
  return result;
}

/** Row-major strides. */
export function stridesOf(shape: readonly number[]): number[] {
  const strides = Array<number>(shape.length).fill(1);
  for (let axis = shape.length - 2; axis >= 0; axis--) strides[axis] = strides[axis + 1] * shape[axis + 1];
  return strides;
}

/** A list attribute of a kernel; the contract's table says which attributes are lists. */
export function list(value: AttrValue): readonly number[] {
  return value as readonly number[];
}
