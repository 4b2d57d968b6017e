import { type DType, isComplex, partsOf, type TypedArray } from '@eagre/backend';
import { complexAt, complexText } from './complex-numbers.ts';
import { isFloating } from './dtypes.ts';
import type { Tensor } from './tensor.ts';

/**
 * The values of a tensor as `tf.print` shows them: `[0 1 2 ... 7 8 9]`, rows in lines of their own.
 * @param atEnds how many elements of each axis are shown at either end; all if negative.
 */
export function summarizeTensor(tensor: Tensor, atEnds: number): string {
  const { shape, size, dtype } = tensor;
  const values: ArrayLike<number | bigint | string> = dtype === 'string' ? tensor.strings() : tensor.data();
  const shown = (at: number): string => {
    if (!isComplex(dtype)) return show(values[at]);
    return complexText(complexAt(values as TypedArray, at), (v) => shortFloat(v, partsOf(dtype)));
  };
  const show =
    dtype === 'string'
      ? (v: number | bigint | string) => `"${escaped(v as string)}"`
      : isFloating(dtype)
        ? (v: number | bigint | string) => shortFloat(v as number, dtype)
        : String;
  const ends = atEnds < 0 ? size : Math.min(atEnds, size);
  const print = (axis: number, offset: number, length: number): string => {
    if (axis === shape.length) return shown(offset);
    const n = shape[axis];
    const part = length / n;
    const below = shape.length - 1 - axis;
    const between = below === 0 ? ' ' : '\n'.repeat(below) + ' '.repeat(axis + 1);
    let text = '';
    for (let i = 0; i < Math.min(ends, n); i++)
      text += (i === 0 ? '' : between) + print(axis + 1, offset + i * part, part);
    if (n > 2 * ends) text += `${between}...`;
    for (let i = Math.max(ends, n - ends); i < n; i++)
      text += between + print(axis + 1, offset + i * part, part);
    return `[${text}]`;
  };
  return print(0, 0, size);
}

/** C's `%.6g` (float64: `%.15g`) if that is the number again, with 9 (17) digits if not; floats of 16 bits are shown as float32. */
function shortFloat(v: number, dtype: DType): string {
  if (Number.isNaN(v)) return 'nan';
  if (!Number.isFinite(v)) return v > 0 ? 'inf' : '-inf';
  const double = dtype === 'float64';
  const short = general(v, double ? 15 : 6);
  return (double ? Number(short) : Math.fround(Number(short))) === v ? short : general(v, double ? 17 : 9);
}

/** C's `%.<digits>g`. */
function general(v: number, digits: number): string {
  if (v === 0) return Object.is(v, -0) ? '-0' : '0';
  const [mantissa, power] = rounded(v, digits).split('e') as [string, string];
  const exponent = Number(power);
  const bare = (text: string): string => (text.includes('.') ? text.replace(/\.?0*$/, '') : text);
  if (exponent < -4 || exponent >= digits) {
    const sign = exponent < 0 ? '-' : '+';
    return `${bare(mantissa)}e${sign}${String(Math.abs(exponent)).padStart(2, '0')}`;
  }
  const figures = mantissa.replace(/[-.]/g, '');
  const minus = v < 0 ? '-' : '';
  if (exponent < 0) return minus + bare(`0.${'0'.repeat(-exponent - 1)}${figures}`);
  return minus + bare(`${figures.slice(0, exponent + 1)}.${figures.slice(exponent + 1)}`);
}

/** `toExponential`, but for numbers that lie in the middle: JavaScript takes the larger neighbour, C the even one. */
function rounded(v: number, digits: number): string {
  const text = v.toExponential(digits - 1);
  const [exact] = v.toExponential(60).split('e') as [string];
  const rest = exact.replace(/[-.]/g, '').slice(digits);
  if (!/^50*$/.test(rest)) return text;
  const kept = exact.slice(0, exact.length - rest.length);
  const even = Number(kept.at(-1)) % 2 === 0;
  return even ? `${kept}${v.toExponential(60).slice(exact.length)}` : text;
}

const escapes: Readonly<Record<string, string>> = {
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '"': '\\"',
  "'": "\\'",
  '\\': '\\\\',
};

function escaped(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is to be shown otherwise
  return text.replace(/[\x00-\x1f\x7f"'\\]/g, (c) => {
    return escapes[c] ?? `\\${c.charCodeAt(0).toString(8).padStart(3, '0')}`;
  });
}
