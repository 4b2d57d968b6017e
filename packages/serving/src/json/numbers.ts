// Floating point numbers as TensorFlow Serving writes them: six digits where they are enough, otherwise as many as give the same number again.

/** A float64. */
export const doubleText = (value: number): string => decimalText(value, 17, (v) => v);
/** A float32, or a float of 16 bits. */
export const floatText = (value: number): string => decimalText(value, 9, Math.fround);

function decimalText(value: number, digits: number, round: (value: number) => number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value < 0 ? '-Infinity' : 'Infinity';
  const short = general(value, 6);
  const text = round(Number(short)) === value ? short : general(value, digits);
  // Clients tell by the point that these are no integers.
  return text.includes('.') || text.includes('e') ? text : `${text}.0`;
}

/** As `%g` of C, with so many digits. */
function general(value: number, digits: number): string {
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const size = Math.abs(value);
  // What toPrecision does for numbers from 1e-4 on and below 10^digits.
  const text = size < 1e-4 ? value.toExponential(digits - 1) : value.toPrecision(digits);
  const e = text.indexOf('e');
  if (e < 0) return withoutZeros(text);
  const exponent = Number(text.slice(e + 1));
  const power = String(Math.abs(exponent)).padStart(2, '0');
  return `${withoutZeros(text.slice(0, e))}e${exponent < 0 ? '-' : '+'}${power}`;
}

function withoutZeros(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}
