// Numbers as C's printf writes them, exactly: JavaScript rounds halves up, C to even.

import { POWERS } from './numbers.ts';

/** What stands between `%` and the letter. */
export interface NumberFormat {
  readonly precision: number;
  readonly width: number;
  /** '', or one of ' ', '+', '-', '0'. */
  readonly fill: string;
}

/** The decimal digits of |x| times 10^places, without its fraction, rounded half to even. */
function scaled(x: number, places: number): bigint {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, Math.abs(x));
  const bits = view.getBigUint64(0);
  const exponent = Number(bits >> 52n);
  const mantissa = (bits & 0xfffffffffffffn) | (exponent === 0 ? 0n : 1n << 52n);
  const power = Math.max(exponent, 1) - 1075;
  let top = mantissa * 10n ** BigInt(Math.max(places, 0));
  let bottom = 10n ** BigInt(Math.max(-places, 0));
  if (power >= 0) top <<= BigInt(power);
  else bottom <<= BigInt(-power);
  const quotient = top / bottom;
  const twice = 2n * (top % bottom);
  return twice > bottom || (twice === bottom && (quotient & 1n) === 1n) ? quotient + 1n : quotient;
}

/**
 * Whether |x|, times 10^places and rounded by the platform, which writes all digits exactly, is as C rounds it: they differ where x lies in the middle.
 * Twice the product is then an odd integer, which a product of two exact numbers gives exactly as long as it is that small.
 */
function isFixedExact(x: number, places: number): boolean {
  const power = POWERS[Math.abs(places)];
  if (power === undefined) return false;
  const twice = places < 0 ? (2 * x) / power : x * (2 * power);
  return twice < 2 ** 53 && twice - 2 * Math.floor(twice / 2) !== 1;
}

// The digits of 0 to 999, and the same behind a point.
let threes: readonly string[] | undefined;
let behindPoint: readonly string[] = [];

/** `%.6f` of |x|, which is a float32 below 2^31: times 10^6 it has no more bits than float64 holds, so that halves are seen. */
function sixPlaces(x: number): string {
  if (threes === undefined) {
    threes = Array.from({ length: 1000 }, (_, i) => String(i).padStart(3, '0'));
    behindPoint = threes.map((digits) => `.${digits}`);
  }
  const product = x * 1e6;
  let rounded = Math.floor(product);
  const rest = product - rounded;
  if (rest > 0.5 || (rest === 0.5 && rounded % 2 === 1)) rounded++;
  const whole = Math.floor(rounded / 1e6);
  const places = (rounded - whole * 1e6) | 0;
  const upper = (places / 1000) | 0;
  return whole + behindPoint[upper] + threes[places - 1000 * upper];
}

/** `%.<precision>f` of |x|. */
function fixed(x: number, precision: number): string {
  if (precision === 6 && x < 2 ** 31 && Math.fround(x) === x) return sixPlaces(x);
  if (isFixedExact(x, precision)) return x.toFixed(precision);
  const digits = String(scaled(x, precision)).padStart(precision + 1, '0');
  return precision === 0 ? digits : `${digits.slice(0, -precision)}.${digits.slice(-precision)}`;
}

/** The digits of |x| in scientific notation, and the power of ten of the first. */
function scientific(x: number, precision: number): readonly [digits: string, power: number] {
  if (x === 0) return ['0'.repeat(precision + 1), 0];
  const written = x.toExponential(precision);
  const e = written.indexOf('e');
  const found = Number(written.slice(e + 1));
  // The power of x itself is the one before where it is rounded up to another one.
  if (isFixedExact(x, precision - found) && isFixedExact(x, precision - found + 1))
    return [precision === 0 ? written[0] : written[0] + written.slice(2, e), found];
  let power = Number(x.toExponential(20).split('e')[1]);
  let digits = String(scaled(x, precision - power));
  // Rounded up to the next power of ten.
  if (digits.length > precision + 1) digits = String(scaled(x, precision - ++power));
  return [digits, power];
}

function exponential(x: number, precision: number): string {
  const [digits, power] = scientific(x, precision);
  const mantissa = precision === 0 ? digits : `${digits[0]}.${digits.slice(1)}`;
  return `${mantissa}${exponentOf(power)}`;
}
const exponentOf = (power: number): string =>
  `e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;

function general(x: number, given: number): string {
  const precision = given === 0 ? 1 : given;
  const [digits, power] = scientific(x, precision - 1);
  const bare = (text: string): string => (text.includes('.') ? text.replace(/\.?0*$/, '') : text);
  // The digits are those that `fixed` would write.
  if (power >= 0 && power < precision)
    return bare(`${digits.slice(0, power + 1)}.${digits.slice(power + 1)}`);
  if (power >= -4 && power < 0) return bare(`0.${'0'.repeat(-power - 1)}${digits}`);
  return `${bare(`${digits[0]}.${digits.slice(1)}`)}${exponentOf(power)}`;
}

const notations = { f: fixed, e: exponential, g: general } as const;

/** A float as `%<fill><width>.<precision><letter>` writes it; a precision below 0 is none. */
export function formatFloat(x: number, letter: 'f' | 'e' | 'g', format: NumberFormat): string {
  if (Number.isNaN(x)) return padded('', 'nan', { ...format, fill: format.fill === '0' ? '' : format.fill });
  const sign = x < 0 || Object.is(x, -0) ? '-' : '';
  // Zeros are not put before what is no digit.
  if (!Number.isFinite(x))
    return padded(sign, 'inf', { ...format, fill: format.fill === '0' ? '' : format.fill });
  return padded(sign, notations[letter](Math.abs(x), format.precision < 0 ? 6 : format.precision), format);
}

/** An integer as `%<fill><width>d` writes it; `unsigned` ones get no sign. */
export function formatInteger(x: number | bigint, format: NumberFormat, unsigned: boolean): string {
  const text = String(x);
  const fill = unsigned && (format.fill === '+' || format.fill === ' ') ? '' : format.fill;
  return x < 0 ? padded('-', text.slice(1), { ...format, fill }) : padded('', text, { ...format, fill });
}

function padded(sign: string, digits: string, { width, fill }: NumberFormat): string {
  const shown = sign === '' && (fill === '+' || fill === ' ') ? fill : sign;
  if (width === 0) return shown + digits;
  if (fill === '0') return shown + digits.padStart(width - shown.length, '0');
  return fill === '-' ? (shown + digits).padEnd(width) : (shown + digits).padStart(width);
}
