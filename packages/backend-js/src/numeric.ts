import { dtypeTraits, type NumericDType } from '@eagre/backend';

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
