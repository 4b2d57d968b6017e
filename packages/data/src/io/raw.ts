// Byte strings as numbers, as other bytes, and as text.
import {
  DataLossError,
  type DType,
  dtypeTraits,
  InvalidArgumentError,
  ResourceExhaustedError,
  type TypedArray,
} from '@eagre/backend';
import { constant, type NamedFunction, type Tensor } from '@eagre/core';
import {
  byteTensor,
  checkCount,
  checkFlag,
  checkOneOf,
  defineFunction,
  kind,
  textOf,
} from '@eagre/core/internal';
import { Inflater } from '@eagre/formats';
import { mostUnpacked } from '@eagre/formats/internal';
import { atOnce, type BytesLike, byteStringsOf } from './byte-strings.ts';

const RAW: readonly DType[] = [
  'float16',
  'float32',
  'float64',
  'bfloat16',
  'int8',
  'int16',
  'int32',
  'int64',
  'uint8',
  'uint16',
  'bool',
  'complex64',
  'complex128',
];

/** How many bytes are decoded at once. */
const MAX_BYTES = 2 ** 30;

/** Options of `decodeRaw`. */
export interface DecodeRawOptions {
  /** Whether the first byte of a value is the lowest; true by default. */
  readonly littleEndian?: boolean;
  /** So many bytes of each string: the rest is cut off, and zeros stand for what is missing. */
  readonly fixedLength?: number | null;
}

/**
 * The values that the bytes of strings are, along one more axis.
 * @throws InvalidArgumentError for strings of different lengths, or of no whole number of values
 */
export const decodeRaw: NamedFunction<
  [inputBytes: BytesLike, outType: DType],
  ['inputBytes', 'outType'],
  DecodeRawOptions
> = /* @__PURE__ */ defineFunction(
  'io.decodeRaw',
  { inputBytes: kind.tensor, outType: kind.asIs },
  { littleEndian: kind.asIs, fixedLength: kind.integer },
  (inputBytes, outType, options) => {
    const op = 'DecodeRaw';
    checkOneOf(outType, RAW, 'outType', op);
    const little = checkFlag(options.littleEndian ?? true, 'littleEndian', op);
    const { bytes, shape } = byteStringsOf(inputBytes, 'inputBytes', op);
    const { bytes: size, kind: dtypeKind } = dtypeTraits[outType];
    const length = options.fixedLength ?? bytes[0]?.length ?? 0;
    if (options.fixedLength !== undefined && options.fixedLength !== null)
      checkCount(options.fixedLength, 'fixedLength', op, 1);
    else if (bytes.some((own) => own.length !== length))
      throw new InvalidArgumentError('the strings have different lengths; give a fixedLength', op);
    if (length % size !== 0)
      throw new InvalidArgumentError(
        `${length} bytes are no whole number of ${outType}, of ${size} bytes`,
        op,
      );
    if (bytes.length * length > MAX_BYTES)
      throw new ResourceExhaustedError(
        `${bytes.length} strings of ${length} bytes are more than ${MAX_BYTES} bytes`,
        op,
      );
    const all = new Uint8Array(bytes.length * length);
    bytes.forEach((own, i) => {
      all.set(own.subarray(0, length), i * length);
    });
    if (!little) swap(all, dtypeKind === 'complex' ? size / 2 : size);
    return atOnce(op, () => valuesOf(all, outType, [...shape, length / size]));
  },
);

function swap(bytes: Uint8Array, size: number): void {
  for (let at = 0; at < bytes.length; at += size) bytes.subarray(at, at + size).reverse();
}

/** The tensor that bytes, in the order of this machine, are. */
export function valuesOf(bytes: Uint8Array<ArrayBuffer>, dtype: DType, shape: readonly number[]): Tensor {
  const { array } = dtypeTraits[dtype];
  if (dtype === 'bool') return constant({ data: bytes.map((byte) => (byte === 0 ? 0 : 1)), shape, dtype });
  const bits = new (array as unknown as new (buffer: ArrayBuffer) => TypedArray)(bytes.buffer);
  if (dtype !== 'float16' && dtype !== 'bfloat16') return constant({ data: bits, shape, dtype });
  // They come as float32.
  const floats = Float32Array.from(bits as Uint16Array, dtype === 'float16' ? halfOf : (b) => brainOf(b));
  return constant({ data: floats, shape, dtype });
}

const view = /* @__PURE__ */ new DataView(/* @__PURE__ */ new ArrayBuffer(4));
function brainOf(bits: number): number {
  view.setUint32(0, bits << 16);
  return view.getFloat32(0);
}
function halfOf(bits: number): number {
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  const size =
    exponent === 0
      ? fraction * 2 ** -24
      : exponent === 31
        ? fraction === 0
          ? Number.POSITIVE_INFINITY
          : Number.NaN
        : (1 + fraction / 1024) * 2 ** (exponent - 15);
  return bits & 0x8000 ? -size : size;
}

/** Strings in which other bytes stand. */
function mapBytes(
  value: BytesLike,
  what: string,
  op: string,
  fn: (bytes: Uint8Array) => string | Uint8Array,
): Tensor {
  const { bytes, shape } = byteStringsOf(value, what, op);
  return atOnce(op, () => byteTensor(bytes.map(fn), shape));
}

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Byte strings in base 64, with the digits - and _, as they stand in addresses. @param pad whether = fills them up; false by default */
export const encodeBase64: NamedFunction<[input: BytesLike, pad?: boolean], ['input', 'pad']> =
  /* @__PURE__ */ defineFunction(
    'io.encodeBase64',
    { input: kind.tensor, pad: kind.asIs },
    {},
    (input, pad = false) => {
      checkFlag(pad, 'pad', 'EncodeBase64');
      return mapBytes(input, 'input', 'EncodeBase64', (bytes) => {
        const digits: string[] = [];
        for (let at = 0; at < bytes.length; at += 3) {
          const bits = (bytes[at] << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
          const count = Math.min(4, bytes.length - at + 1);
          for (let i = 0; i < count; i++) digits.push(DIGITS[(bits >> (18 - 6 * i)) & 63]);
          if (pad) digits.push('='.repeat(4 - count));
        }
        return digits.join('');
      });
    },
  );

/** The bytes of strings in base 64, with the digits - and _. @throws InvalidArgumentError for other strings */
export const decodeBase64: NamedFunction<[input: BytesLike], ['input']> = /* @__PURE__ */ defineFunction(
  'io.decodeBase64',
  { input: kind.tensor },
  {},
  (input) =>
    mapBytes(input, 'input', 'DecodeBase64', (bytes) => {
      const found = /^([\w-]*)(={0,2})$/.exec(textOf(bytes));
      const digits = found?.[1] ?? '';
      const padding = found?.[2].length ?? 0;
      const isWhole = padding === 0 ? digits.length % 4 !== 1 : (digits.length + padding) % 4 === 0;
      if (found === null || !isWhole || (digits === '' && padding > 0))
        throw new InvalidArgumentError('a string is not of base 64 with the digits - and _', 'DecodeBase64');
      const out: number[] = [];
      for (let at = 0; at < digits.length; at += 4) {
        const group = digits.slice(at, at + 4);
        let bits = 0;
        for (let i = 0; i < 4; i++) bits = (bits << 6) | Math.max(0, DIGITS.indexOf(group[i] ?? 'A'));
        for (let i = 0; i < group.length - 1; i++) out.push((bits >> (16 - 8 * i)) & 0xff);
      }
      return Uint8Array.from(out);
    }),
);

/**
 * Byte strings without their compression.
 * @throws DataLossError for bytes that are not compressed in this way, or unpack to more than 256 MiB and a hundred times their size
 */
export const decodeCompressed: NamedFunction<
  [bytes: BytesLike, compressionType?: '' | 'GZIP' | 'ZLIB'],
  ['bytes', 'compressionType']
> = /* @__PURE__ */ defineFunction(
  'io.decodeCompressed',
  { bytes: kind.tensor, compressionType: kind.asIs },
  {},
  (bytes, compressionType = '') => {
    const op = 'DecodeCompressed';
    checkOneOf(compressionType, ['', 'GZIP', 'ZLIB'], 'compressionType', op);
    return mapBytes(bytes, 'bytes', op, (packed) =>
      compressionType === '' ? packed.slice() : unpacked(packed, compressionType as 'GZIP' | 'ZLIB', op),
    );
  },
);

function unpacked(packed: Uint8Array, format: 'GZIP' | 'ZLIB', op: string): Uint8Array {
  const parts: Uint8Array[] = [];
  let size = 0;
  const most = mostUnpacked(packed.length);
  const inflater = new Inflater(format, (part) => {
    size += part.length;
    if (size > most) throw new Error(`more than ${most} bytes`);
    parts.push(part.slice());
  });
  try {
    inflater.push(packed, true);
  } catch (cause) {
    throw new DataLossError(`broken ${format} compression (${(cause as Error).message})`, op, { cause });
  }
  const out = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}
