// How numbers are written as strings.
import { type DType, dtypeTraits, InvalidArgumentError, isComplex, type TypedArray } from '@eagre/backend';
import { checkOneOf, shown } from '../../arguments/checks.ts';
import { complexAt } from '../../tensor/complex-numbers.ts';
import { isFloating } from '../../tensor/dtypes.ts';
import { formatFloat, formatInteger, type NumberFormat } from './c-format.ts';

/** Options of `asString`. */
export interface AsStringOptions {
  /** Digits behind the point; 6 by default. Of floats only. */
  readonly precision?: number;
  /** 1.0e+00 instead of 1.0; false by default. */
  readonly scientific?: boolean;
  /** The shorter of the two; false by default. */
  readonly shortest?: boolean;
  /** The least number of characters; none by default. */
  readonly width?: number;
  /** What C's printf does with the width: spaces by default, zeros for '0', at the end for '-', a sign for '+' and ' '. */
  readonly fill?: string;
}

export type Values = ArrayLike<number | bigint | string>;

/** Writes the value at a place. */
export function writer(dtype: DType, options: AsStringOptions): (values: Values, at: number) => string {
  const { precision = -1, scientific = false, shortest = false, width = -1, fill = '' } = options;
  const fail = (why: string): InvalidArgumentError => new InvalidArgumentError(why, 'AsString');
  const floats = isFloating(dtype) || isComplex(dtype);
  for (const [name, value] of Object.entries({ precision, width }))
    if (!Number.isInteger(value) || value > 100)
      throw fail(`${name} must be an integer up to 100, got ${shown(value)}`);
  checkOneOf(fill, ['', ' ', '+', '-', '0'], 'fill', 'AsString');
  if (scientific && shortest) throw fail('scientific and shortest exclude each other');
  if (!floats && (scientific || shortest || precision >= 0))
    throw fail(`precision, scientific and shortest are for floats, and x is ${dtype}`);
  const format: NumberFormat = { precision, width: Math.max(width, 0), fill };
  const letter = scientific ? 'e' : shortest ? 'g' : 'f';
  if (isComplex(dtype))
    return (values, i) => {
      const { re, im } = complexAt(values as unknown as TypedArray, i);
      return `(${formatFloat(re, letter, format)},${formatFloat(im, letter, format)})`;
    };
  if (floats) return (values, i) => formatFloat(values[i] as number, letter, format);
  if (dtype === 'bool') return (values, i) => (values[i] ? 'true' : 'false');
  if (dtype === 'string')
    return (values, i) =>
      fill === '-' ? (values[i] as string).padEnd(width) : (values[i] as string).padStart(width);
  const unsigned = dtypeTraits[dtype].kind === 'uint';
  return (values, i) => formatInteger(values[i] as number | bigint, format, unsigned);
}
