// Variables that TensorFlow 1 keeps in parts: each part is an entry of its own, under a key that is no text.
import type { ErrorMaker } from '../errors.ts';
import type { Extent, TensorSliceProto } from './bundle-messages.ts';

/** Where a part lies in its tensor, along each axis, and the key of its entry, of one character for each byte. */
export interface PartPlace {
  readonly start: readonly number[];
  readonly shape: readonly number[];
  readonly key: string;
}

/** The parts of a tensor, along one axis without gaps, in their order. @throws FormatError for others. */
export function placesOfParts(
  name: string,
  slices: readonly TensorSliceProto[],
  shape: readonly number[],
  where: () => string,
  error: ErrorMaker,
): PartPlace[] {
  const parts = slices.map(({ extent = [] }): PartPlace => {
    if (extent.length !== shape.length)
      throw error(`${where()}: a part`, `${shape.length} axes`, extent.length);
    const start = extent.map((e) => Number(e.start ?? 0));
    const sizes = extent.map((e, axis) => Number(e.length ?? shape[axis]));
    const isInside = start.every((at, axis) => {
      const [size, all] = [sizes[axis] as number, shape[axis] as number];
      return Number.isSafeInteger(at) && at >= 0 && size >= 0 && at + size <= all;
    });
    if (!isInside) throw error(`${where()}: a part`, `one of [${shape}]`, `[${sizes}] at [${start}]`);
    return { start, shape: sizes, key: partKey(name, extent) };
  });
  // TensorFlow's partitioners divide one axis.
  const divided = shape.flatMap((size, axis) => (parts.some((p) => p.shape[axis] !== size) ? [axis] : []));
  if (divided.length > 1)
    throw error.unsupported(where(), 'parts along one axis', `parts along the axes ${divided.join(', ')}`);
  const [axis] = divided;
  if (axis === undefined) return parts.slice(0, 1);
  parts.sort((a, b) => (a.start[axis] as number) - (b.start[axis] as number));
  let end = 0;
  for (const { start, shape: sizes } of parts) {
    if (start[axis] !== end) throw error(`${where()}: parts`, `one at ${end}`, start[axis]);
    end += sizes[axis] as number;
  }
  if (end !== shape[axis]) throw error(`${where()}: parts`, `${shape[axis]} rows`, end);
  return parts;
}

/** TensorFlow's `EncodeTensorNameSlice`. */
function partKey(name: string, extent: readonly Extent[]): string {
  const bytes = [0];
  for (const byte of new TextEncoder().encode(name)) {
    bytes.push(byte);
    // The end of a text is 0 and 1.
    if (byte === 0) bytes.push(0xff);
  }
  bytes.push(0, 1, ...(extent.length === 0 ? [0] : [1, extent.length]));
  for (const { start = 0, length = -1 } of extent)
    bytes.push(...signedNumber(Number(start)), ...signedNumber(Number(length)));
  return byteText(bytes);
}

/** Bytes as text of one character for each. */
export function byteText(bytes: ArrayLike<number>): string {
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
}

/** A number in the order-preserving code of TensorFlow: n bytes have 7n - 1 bits, and begin with n ones. */
function signedNumber(value: number): number[] {
  if (value < 0) return [0x7f];
  let length = 1;
  while (value >= 2 ** (7 * length - 1)) length++;
  const bytes = Array.from({ length }, (_, i) => Math.floor(value / 256 ** (length - 1 - i)) % 256);
  bytes[0] = (bytes[0] as number) ^ ((0xff << (8 - length)) & 0xff);
  return bytes;
}
