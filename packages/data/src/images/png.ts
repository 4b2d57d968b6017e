// PNG files (ISO/IEC 15948).
import { guarded } from './codecs.ts';

/** The values of a picture of 8 or 16 bits, row by row, the values of each pixel together. */
export interface Raster {
  readonly width: number;
  readonly height: number;
  /** Grey, grey and alpha, RGB, or RGBA. */
  readonly channels: 1 | 2 | 3 | 4;
  readonly depth: 8 | 16;
  readonly data: Uint8Array | Uint16Array;
}

export const MAX_PIXELS: number = 2 ** 27;
const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

export function isPng(bytes: Uint8Array): boolean {
  return SIGNATURE.every((byte, i) => bytes[i] === byte);
}

/** How a PNG file is to be given. */
export interface PngWishes {
  /** How many; as many as there are for 0. */
  readonly channels: 0 | 1 | 2 | 3 | 4;
  /** Bits of a value; 8 of those of 16 bits are their upper half. */
  readonly depth: 8 | 16;
}

const shape = new Int32Array(3);

/**
 * The picture in a PNG file, converted as TensorFlow does: with libpng's weights for grey, and opaque where it has no transparency.
 * @throws InvalidArgumentError for what is none, and for one that is too large
 */
export function decodePng(bytes: Uint8Array, wishes: PngWishes, what: string): Raster {
  const data = guarded(what, (codecs) => codecs.decodePng(bytes, wishes.channels, wishes.depth, shape));
  return {
    height: shape[0],
    width: shape[1],
    channels: shape[2] as 1 | 2 | 3 | 4,
    depth: wishes.depth,
    data,
  };
}

/** The bytes of a PNG file. @param level of compression, from 0 to 9; -1 is the compressor's own choice */
export function encodePng(raster: Raster, what: string, level: number = -1): Uint8Array {
  const { width, height, channels, data } = raster;
  return guarded(what, (codecs) => codecs.encodePng(data, height, width, channels, level));
}
