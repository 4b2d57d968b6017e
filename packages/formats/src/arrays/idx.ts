import { errorsFor, UnsupportedFormatError } from '../errors.ts';
import { decodeElements, type ElementKind, elementBytes, encodeElements } from './elements.ts';
import { checkNDArray, type DTypeName, elementCount, type NDArray } from './ndarray.ts';

const KINDS: Readonly<Record<number, ElementKind>> = {
  8: 'uint8',
  9: 'int8',
  11: 'int16',
  12: 'int32',
  13: 'float32',
  14: 'float64',
};
const CODES: Readonly<Partial<Record<DTypeName, number>>> = { uint8: 8, int32: 12, float32: 13, float64: 14 };

/** Options of the IDX reader. */
export interface DecodeIdxOptions {
  /** The file's name, for error messages. */
  file?: string | undefined;
}

/**
 * Encodes an array of uint8, int32, float32 or float64 as an IDX file, the format of MNIST.
 *
 * @throws FormatError when dtype, shape and data disagree, or a size does not fit the format.
 * @throws UnsupportedFormatError for other dtypes.
 */
export function encodeIdx(array: NDArray): Uint8Array {
  checkNDArray(array, 'idx');
  const { dtype, shape, data } = array;
  const code = CODES[dtype];
  if (code === undefined) {
    const expected = Object.keys(CODES).join(', ');
    throw new UnsupportedFormatError({ format: 'idx', what: 'dtype', expected, got: dtype });
  }
  if (shape.length > 255 || shape.some((size) => size >= 2 ** 32)) {
    throw errorsFor('idx', undefined)('shape', 'at most 255 sizes below 2^32', `[${shape.join(', ')}]`);
  }
  const dataStart = 4 + 4 * shape.length;
  const out = new Uint8Array(dataStart + data.byteLength);
  const view = new DataView(out.buffer);
  out[2] = code;
  out[3] = shape.length;
  for (const [axis, size] of shape.entries()) view.setUint32(4 + 4 * axis, size);
  out.set(encodeElements({ data }, false), dataStart);
  return out;
}

/**
 * Decodes an IDX file that is already gunzipped. int8 and int16 become int32; uint8 shares memory with `bytes`.
 *
 * @throws FormatError when the file is not a correct IDX file; truncation and trailing bytes included.
 */
export function decodeIdx(bytes: Uint8Array, options: DecodeIdxOptions = {}): NDArray {
  const error = errorsFor('idx', options.file);
  if (bytes.length < 4) throw error('truncated', 'at least 4 bytes', bytes.length);
  const kind = bytes[0] === 0 && bytes[1] === 0 ? KINDS[bytes[2]] : undefined;
  const rank = bytes[3];
  if (!kind) {
    const magic = Array.from(bytes.subarray(0, 4), (byte) => byte.toString(16).padStart(2, '0')).join(' ');
    throw error('magic', '00 00, a type (08, 09, 0b, 0c, 0d, 0e) and a rank', magic);
  }
  const dataStart = 4 + 4 * rank;
  if (bytes.length < dataStart)
    throw error(`truncated header of rank ${rank}`, `${dataStart} bytes`, bytes.length);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const shape = Array.from({ length: rank }, (_, axis) => view.getUint32(4 + 4 * axis));
  const count = elementCount(shape);
  if (count === undefined) throw error('shape', 'a product below 2^53', `[${shape.join(', ')}]`);
  const dataBytes = count * elementBytes(kind);
  if (bytes.length - dataStart !== dataBytes) {
    throw error(`data of shape [${shape.join(', ')}]`, `${dataBytes} bytes`, bytes.length - dataStart);
  }
  return decodeElements(kind, bytes.subarray(dataStart), shape, false);
}
