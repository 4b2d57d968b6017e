// What the tests of this package share; not part of the package's exports.
import {
  dtypeTraits,
  HostAllocator,
  isBigArray,
  type Kernel,
  type KernelAttrs,
  type KernelName,
  type NumericDType,
  product,
  type TensorRef,
} from '@eagre/backend';
import { view } from '../view.ts';

const allocator = new HostAllocator();

/** A tensor of the given elements, or of garbage where none are given. */
export function tensor(
  dtype: NumericDType,
  shape: readonly number[],
  values?: ArrayLike<number | bigint | boolean>,
): TensorRef {
  const size = product(shape);
  const t: TensorRef = { dtype, shape, size, storage: allocator.allocate(size * dtypeTraits[dtype].bytes) };
  const out = view(t);
  // A kernel must write every element, so garbage is made visible.
  if (isBigArray(out)) out.fill(-77n);
  else out.fill(77);
  if (values !== undefined) {
    if (values.length !== size) throw new Error(`${values.length} values for ${size} elements`);
    for (let i = 0; i < size; i++) {
      if (isBigArray(out)) out[i] = BigInt(values[i]);
      else out[i] = Number(values[i]);
    }
  }
  return t;
}

/** The elements as an array. */
export function values(t: TensorRef): (number | bigint)[] {
  return Array.from(view(t) as ArrayLike<number | bigint>);
}

/** Runs a kernel into one new tensor. */
export function run(
  kernels: Partial<Record<KernelName, Kernel>>,
  name: KernelName,
  inputs: readonly TensorRef[],
  dtype: NumericDType,
  shape: readonly number[],
  attrs: KernelAttrs = {},
): TensorRef {
  const y = tensor(dtype, shape);
  kernels[name]!(inputs, [y], attrs);
  return y;
}

/** Reproducible numbers in [-1, 1), by a linear congruential generator. */
export function noise(count: number, seed = 1): number[] {
  let state = seed >>> 0;
  return Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  });
}

/** The sum of products, in float64. */
export function inner(a: TensorRef, b: TensorRef): number {
  const x = values(a) as number[];
  const y = values(b) as number[];
  return x.reduce((sum, value, i) => sum + value * y[i], 0);
}
