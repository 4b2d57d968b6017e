import { FILE_DTYPES, type FileDType } from './dtypes.ts';
import type { DTypeName, NDArray, TypedArray } from './ndarray.ts';

/** How a file may store one element: as a dtype, or in 16 bits that are widened when read. */
export type ElementKind = DTypeName | 'float16' | 'bfloat16';

/** The size of an element in a file, in bytes. */
export function elementBytes(kind: ElementKind): number {
  return kind === 'float16' || kind === 'bfloat16' ? 2 : FILE_DTYPES[kind].bytes;
}

/** The kinds of elements by the names that a format has for them. */
export function kindsBy(
  name: (dtype: FileDType) => string,
  more: Readonly<Record<string, ElementKind>>,
): Readonly<Record<string, ElementKind>> {
  const own = Object.entries(FILE_DTYPES).map(([dtype, info]) => [name(info), dtype as DTypeName]);
  return { ...Object.fromEntries(own), ...more };
}

const HOST_IS_LITTLE = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

/**
 * Reads elements of one kind; `bytes` holds nothing else. Floats of 16 bits are widened to float32 without loss. Other kinds share memory
 * with `bytes` when its alignment and byte order allow.
 */
export function decodeElements(
  kind: ElementKind,
  bytes: Uint8Array,
  shape: readonly number[],
  little: boolean = true,
): NDArray {
  const size = elementBytes(kind);
  const ordered = little === HOST_IS_LITTLE || size === 1 ? align(bytes, size) : swapped(bytes, size);
  const { buffer, byteOffset } = ordered;
  const length = ordered.byteLength / size;
  switch (kind) {
    case 'bool':
      return { dtype: 'bool', shape, data: truthValues(ordered) };
    case 'uint8':
      return { dtype: 'uint8', shape, data: ordered };
    case 'float16':
      return { dtype: 'float32', shape, data: halves(new Uint16Array(buffer, byteOffset, length)) };
    case 'bfloat16':
      return { dtype: 'float32', shape, data: brainFloats(new Uint16Array(buffer, byteOffset, length)) };
    default:
      return { dtype: kind, shape, data: new FILE_DTYPES[kind].array(buffer, byteOffset, length) } as NDArray;
  }
}

/** The elements' bytes in the given byte order; shares memory with `data` when that is the host's order. */
export function encodeElements(data: TypedArray, little: boolean = true): Uint8Array {
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  const size = data.BYTES_PER_ELEMENT;
  return little === HOST_IS_LITTLE || size === 1 ? bytes : swapped(bytes, size);
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
    for (let i = 0; i < size; i++) out[start + i] = bytes[start + size - 1 - i]!;
  }
  return out;
}

/** Any byte but 0 is true in NumPy and PyTorch; here bools are 0 or 1. */
function truthValues(bytes: Uint8Array): Uint8Array {
  return bytes.some((byte) => byte > 1) ? bytes.map((byte) => (byte === 0 ? 0 : 1)) : bytes;
}

function brainFloats(words: Uint16Array): Float32Array {
  const bits = new Uint32Array(words.length);
  for (let i = 0; i < words.length; i++) bits[i] = words[i]! << 16;
  return new Float32Array(bits.buffer);
}

function halves(words: Uint16Array): Float32Array {
  const bits = new Uint32Array(words.length);
  for (let i = 0; i < words.length; i++) bits[i] = halfToFloatBits(words[i]!);
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
