import { FILE_DTYPES, type FileDType } from './dtypes.ts';
import type { DTypeName, NDArray, TypedArray } from './ndarray.ts';

/** How a file may store one element. */
export type ElementKind = DTypeName;

/** The size of an element in a file, in bytes. */
export function elementBytes(kind: ElementKind): number {
  return FILE_DTYPES[kind].bytes;
}

/** How many bytes an array takes in a file. */
export function fileBytes({ dtype, data }: NDArray): number {
  const { bytes, parts } = FILE_DTYPES[dtype];
  return (data.length / parts) * bytes;
}

/** The kinds of elements by the names that a format has for them; what has no name there is left out. */
export function kindsBy(name: (dtype: FileDType) => string): Readonly<Record<string, ElementKind>> {
  const own = Object.entries(FILE_DTYPES).map(([dtype, info]) => [name(info), dtype as DTypeName] as const);
  return Object.fromEntries(own.filter(([text]) => text !== ''));
}

const HOST_IS_LITTLE = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

/**
 * Reads elements of one kind; `bytes` holds nothing else. The values of floats of 16 bits come as float32, complex numbers as their parts.
 * Other kinds than the former share memory with `bytes` when its alignment and byte order allow.
 */
export function decodeElements(
  kind: ElementKind,
  bytes: Uint8Array,
  shape: readonly number[],
  little: boolean = true,
): NDArray {
  const size = elementBytes(kind) / FILE_DTYPES[kind].parts;
  const ordered = little === HOST_IS_LITTLE || size === 1 ? align(bytes, size) : swapped(bytes, size);
  const { buffer, byteOffset } = ordered;
  const length = ordered.byteLength / size;
  switch (kind) {
    case 'bool':
      return { dtype: 'bool', shape, data: truthValues(ordered) };
    case 'uint8':
      return { dtype: 'uint8', shape, data: ordered };
    case 'float16':
      return { dtype: kind, shape, data: halves(new Uint16Array(buffer, byteOffset, length)) };
    case 'bfloat16':
      return { dtype: kind, shape, data: brainFloats(new Uint16Array(buffer, byteOffset, length)) };
    default:
      return { dtype: kind, shape, data: new FILE_DTYPES[kind].array(buffer, byteOffset, length) } as NDArray;
  }
}

/** The elements' bytes in the given byte order; shares memory with the data when that is the host's order. */
export function encodeElements({ dtype, data }: Elements, little: boolean = true): Uint8Array {
  const stored = dtype === 'float16' ? toHalves(data) : dtype === 'bfloat16' ? toBrainFloats(data) : data;
  const bytes = new Uint8Array(stored.buffer, stored.byteOffset, stored.byteLength);
  const size = stored.BYTES_PER_ELEMENT;
  return little === HOST_IS_LITTLE || size === 1 ? bytes : swapped(bytes, size);
}

/** What is encoded; without a dtype, the array as it is. */
export interface Elements {
  readonly dtype?: DTypeName;
  readonly data: TypedArray;
}

/** A typed array needs its offset to be a multiple of the element size; a file's bytes may lie anywhere. */
function align(bytes: Uint8Array, size: number): Uint8Array {
  // Not `bytes.slice()`: on a Node Buffer that is a view.
  return bytes.byteOffset % size === 0 ? plain(bytes) : new Uint8Array(bytes);
}

/** A Node Buffer would change what `slice` and friends do for whoever gets the array. */
function plain(bytes: Uint8Array): Uint8Array {
  return bytes.constructor === Uint8Array
    ? bytes
    : new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function swapped(bytes: Uint8Array, size: number): Uint8Array {
  const out = new Uint8Array(bytes.length);
  for (let start = 0; start < bytes.length; start += size) {
    for (let i = 0; i < size; i++) out[start + i] = bytes[start + size - 1 - i];
  }
  return out;
}

/** Any byte but 0 is true in NumPy and PyTorch; here bools are 0 or 1. */
function truthValues(bytes: Uint8Array): Uint8Array {
  return bytes.some((byte) => byte > 1) ? bytes.map((byte) => (byte === 0 ? 0 : 1)) : bytes;
}

function brainFloats(words: Uint16Array): Float32Array {
  const bits = new Uint32Array(words.length);
  for (let i = 0; i < words.length; i++) bits[i] = words[i] << 16;
  return new Float32Array(bits.buffer);
}

function halves(words: Uint16Array): Float32Array {
  const bits = new Uint32Array(words.length);
  for (let i = 0; i < words.length; i++) bits[i] = halfToFloatBits(words[i]);
  return new Float32Array(bits.buffer);
}

/** IEEE binary16 bits to binary32 bits. */
function halfToFloatBits(half: number): number {
  const sign = (half & 0x8000) << 16;
  const exponent = (half >> 10) & 0x1f;
  const mantissa = half & 0x3ff;
  if (exponent === 31) return sign | 0x7f800000 | (mantissa << 13);
  if (exponent !== 0) return sign | ((exponent + 112) << 23) | (mantissa << 13);
  if (mantissa === 0) return sign;
  // Subnormal: move the leading one to bit 10, which binary32 then leaves out.
  const shift = Math.clz32(mantissa) - 21;
  return sign | ((113 - shift) << 23) | (((mantissa << shift) & 0x3ff) << 13);
}

/** The bits of float32 values, as numbers without a sign. */
function floatBits(data: TypedArray): Uint32Array {
  const { buffer } = Float32Array.from(data as Float32Array);
  return new Uint32Array(buffer);
}

function toBrainFloats(data: TypedArray): Uint16Array {
  const bits = floatBits(data);
  // To the nearest, ties to even; a NaN stays one.
  return Uint16Array.from(bits, (b) =>
    (b & 0x7fffffff) > 0x7f800000 ? (b >>> 16) | 0x40 : (b + 0x7fff + ((b >>> 16) & 1)) >>> 16,
  );
}

function toHalves(data: TypedArray): Uint16Array {
  return Uint16Array.from(floatBits(data), floatToHalfBits);
}

/** IEEE binary32 bits to binary16 bits, to the nearest, ties to even. */
function floatToHalfBits(float: number): number {
  const sign = (float >>> 16) & 0x8000;
  const rest = float & 0x7fffffff;
  if (rest > 0x7f800000) return sign | 0x7e00 | ((rest >>> 13) & 0x3ff);
  if (rest >= 0x47800000) return sign | 0x7c00;
  if (rest >= 0x38800000) return sign | ((rest - 0x37fff001 + ((rest >>> 13) & 1)) >>> 13);
  // Subnormal, in units of 2^-24, as many as the fraction with its leading one has after the shift.
  const shift = 126 - (rest >>> 23);
  if (shift > 24) return sign;
  const mantissa = (rest & 0x7fffff) | 0x800000;
  const kept = mantissa >>> shift;
  const lost = mantissa & ((1 << shift) - 1);
  const half = 1 << (shift - 1);
  return sign | (kept + (lost > half || (lost === half && (kept & 1) === 1) ? 1 : 0));
}
