// Numbers of JavaScript as elements of dtypes.
import { dtypeTraits, isBig, type NumericDType } from './dtype.ts';
import { isHalf, roundToHalf, storedNumber } from './half.ts';

/** Truncates toward zero into [low, high]; NaN becomes 0. */
function saturate(x: number, low: number, high: number): number {
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
