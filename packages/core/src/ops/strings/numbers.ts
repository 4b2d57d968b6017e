// Numbers in strings, as TensorFlow reads them.
import { type DType, dtypeTraits } from '@eagre/backend';
import { isFloating } from '../../tensor/dtypes.ts';

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
