// Numbers in strings, as TensorFlow reads them.
import { type DType, dtypeTraits } from '@eagre/backend';
import { isFloating } from '../../tensor/dtypes.ts';
import { isSpace } from './parts.ts';

const SPACE = '[ \\t\\n\\v\\f\\r]*';
const DECIMAL = /* @__PURE__ */ new RegExp(
  `^${SPACE}([+-]?(?:\\d+\\.?\\d*|\\.\\d+)(?:[eE][+-]?\\d+)?)${SPACE}$`,
);
const HEX = /* @__PURE__ */ new RegExp(
  `^${SPACE}([+-]?)0[xX](?=\\.?[0-9a-fA-F])([0-9a-fA-F]*)\\.?([0-9a-fA-F]*)(?:[pP]([+-]?\\d+))?${SPACE}$`,
);
const SPECIAL = /* @__PURE__ */ new RegExp(`^${SPACE}([+-]?)(inf|infinity|nan(?:\\(\\w*\\))?)${SPACE}$`, 'i');
const INTEGER = /* @__PURE__ */ new RegExp(`^${SPACE}([+-]?\\d+)${SPACE}$`);

/** The number that a text is; undefined where it is none, or none of the dtype. int64 and uint64 give a bigint. */
export function numberOf(text: string, dtype: DType): number | bigint | undefined {
  return isFloating(dtype) ? floatOf(text) : integerIn(text, dtype);
}

function floatOf(text: string): number | undefined {
  const decimal = DECIMAL.exec(text);
  if (decimal !== null) return Number(decimal[1]);
  const special = SPECIAL.exec(text);
  if (special !== null) {
    const value = special[2].toLowerCase().startsWith('nan') ? Number.NaN : Number.POSITIVE_INFINITY;
    return special[1] === '-' ? -value : value;
  }
  const hex = HEX.exec(text);
  if (hex === null) return undefined;
  const [, , whole, fraction, power = '0'] = hex;
  const value = Number(`0x${whole}${fraction}`) * 2 ** (Number(power) - 4 * fraction.length);
  return hex[1] === '-' ? -value : value;
}

function integerIn(text: string, dtype: DType): number | bigint | undefined {
  const found = INTEGER.exec(text);
  if (found === null) return undefined;
  const value = BigInt(found[1].replace('+', ''));
  const bits = 8 * dtypeTraits[dtype].bytes;
  const signed = dtypeTraits[dtype].kind === 'int';
  const least = signed ? -(1n << BigInt(bits - 1)) : 0n;
  const most = (1n << BigInt(signed ? bits - 1 : bits)) - 1n;
  if (value < least || value > most) return undefined;
  return bits === 64 ? value : Number(value);
}

const ZERO = 48;
const isDigit = (byte: number): boolean => byte >= ZERO && byte <= 57;
/** Powers of ten that are exact, as are integers of so many digits. */
export const POWERS: readonly number[] = /* @__PURE__ */ Array.from({ length: 23 }, (_, i) =>
  Number(`1e${i}`),
);
const EXACT = 15;

/**
 * The number that the bytes of a text are, where they are a decimal one of few digits: then the platform's functions need not be asked. NaN for
 * what takes more care, and for what is no number.
 */
export function plainNumber(bytes: Uint8Array, start: number, end: number, isFloat: boolean): number {
  let at = start;
  while (at < end && isSpace(bytes[at])) at++;
  const sign = bytes[at];
  if (at < end && (sign === 45 || sign === 43)) at++;
  let value = 0;
  let digits = 0;
  for (; at < end && isDigit(bytes[at]); at++, digits++) value = 10 * value + bytes[at] - ZERO;
  let behind = 0;
  if (isFloat && at < end && bytes[at] === 46) {
    at++;
    for (; at < end && isDigit(bytes[at]); at++, behind++) value = 10 * value + bytes[at] - ZERO;
  }
  while (at < end && isSpace(bytes[at])) at++;
  const count = digits + behind;
  if (at < end || count === 0 || count > EXACT) return Number.NaN;
  const exact = behind === 0 ? value : value / POWERS[behind];
  return sign === 45 ? -exact : exact;
}
