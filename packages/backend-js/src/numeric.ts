import type { NumericDType } from '@eagre/backend';

/** Truncates toward zero into [low, high]; NaN becomes 0. */
export function saturate(x: number, low: number, high: number): number {
  // `+ 0` turns -0, which no integer has, into 0.
  return Number.isNaN(x) ? 0 : Math.min(Math.max(Math.trunc(x), low), high) + 0;
}

/** As `saturate`, for int64. */
export function saturateBig(x: number): bigint {
  if (Number.isNaN(x)) return 0n;
  if (x >= 2 ** 63) return 2n ** 63n - 1n;
  if (x <= -(2 ** 63)) return -(2n ** 63n);
  return BigInt(Math.trunc(x));
}

/** A float64 as an element of another dtype but int64. */
export function castNumber(x: number, dtype: Exclude<NumericDType, 'int64'>): number {
  switch (dtype) {
    case 'float32':
      return Math.fround(x);
    case 'float64':
      return x;
    case 'int32':
      return saturate(x, -(2 ** 31), 2 ** 31 - 1);
    case 'uint8':
      return saturate(x, 0, 255);
    case 'bool':
      return x !== 0 ? 1 : 0;
  }
}

/**
 * An int64 as a float64 from which rounding to float32 gives what rounding directly would: a float64 has no room for 64
 * bits, so what falls off the end is kept as a last bit that makes a tie no tie (rounding to odd).
 */
export function bigToFloat32(x: bigint): number {
  if (BigInt.asIntN(53, x) === x) return Math.fround(Number(x));
  const head = x >> 11n;
  const lost = head << 11n !== x;
  return Math.fround(Number(lost ? head | 1n : head) * 2048);
}

export function maxBig(x: bigint, y: bigint): bigint {
  if (x > y) return x;
  return y;
}

export function minBig(x: bigint, y: bigint): bigint {
  if (x < y) return x;
  return y;
}
