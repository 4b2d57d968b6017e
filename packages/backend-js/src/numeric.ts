import { dtypeTraits, isBig, isHalf, type NumericDType, roundToHalf, storedNumber } from '@eagre/backend';

/** Truncates toward zero into [low, high]; NaN becomes 0. */
export function saturate(x: number, low: number, high: number): number {
  // `+ 0` turns -0, which no integer has, into 0.
  return Number.isNaN(x) ? 0 : Math.min(Math.max(Math.trunc(x), low), high) + 0;
}

/** As `saturate`, for integers of 64 bits. */
export function saturateBig(x: number, dtype: NumericDType): bigint {
  if (Number.isNaN(x)) return 0n;
  const { low, high, digits } = dtypeTraits[dtype];
  if (x >= high) return 2n ** BigInt(digits) - 1n;
  if (x <= low) return BigInt(low);
  return BigInt(Math.trunc(x));
}

/** A float64 as an element of another dtype whose elements are numbers. */
export function castNumber(x: number, dtype: NumericDType): number {
  if (dtype === 'float32') return Math.fround(x);
  if (dtype === 'float64') return x;
  if (dtype === 'bool') return x !== 0 ? 1 : 0;
  if (isHalf(dtype)) return roundToHalf(x, dtype);
  const { low, high } = dtypeTraits[dtype];
  return saturate(x, low, high);
}

/** A float64 as an element of any dtype. */
export function castElement(x: number, dtype: NumericDType): number | bigint {
  return isBig(dtype) ? saturateBig(x, dtype) : castNumber(x, dtype);
}

/** A float64 as it is stored among the elements of any dtype. */
export function storedElement(x: number, dtype: NumericDType): number | bigint {
  return isBig(dtype) ? saturateBig(x, dtype) : isHalf(dtype) ? storedNumber(x, dtype) : castNumber(x, dtype);
}

/** An integer of 32 bits or less that wraps: what falls off at the top is lost. */
export function wrap(x: number, dtype: NumericDType): number {
  const { bytes, kind } = dtypeTraits[dtype];
  if (bytes === 4) return kind === 'int' ? x | 0 : x >>> 0;
  const above = 32 - 8 * bytes;
  return kind === 'int' ? (x << above) >> above : (x << above) >>> above;
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
