// BMP files without compression: grey, BGR and BGRA.
import { InvalidArgumentError } from '@eagre/backend';
import { MAX_PIXELS, type Raster } from './png.ts';

export function isBmp(bytes: Uint8Array): boolean {
  return bytes[0] === 0x42 && bytes[1] === 0x4d;
}

/**
 * The picture in a BMP file: values of 8 bits are grey, as TensorFlow has them.
 * @throws InvalidArgumentError for what is none, and for one of other kinds of values, or too large
 */
export function decodeBmp(bytes: Uint8Array, channels: number, what: string): Raster {
  if (!isBmp(bytes) || bytes.length < 34)
    throw new InvalidArgumentError('damaged BMP file: it is too short, or does not begin as one', what);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const start = view.getUint32(10, true);
  const [width, tall] = [view.getInt32(18, true), view.getInt32(22, true)];
  const bits = view.getUint16(28, true);
  const height = Math.abs(tall);
  if (width <= 0 || height === 0 || width * height > MAX_PIXELS)
    throw new InvalidArgumentError(`a BMP file of ${width} × ${height} pixels`, what);
  if (![8, 24, 32].includes(bits) || view.getUint32(30, true) !== 0)
    throw new InvalidArgumentError(
      `BMP files are uncompressed and have 8, 24 or 32 bits for a pixel here; this one has ${bits}`,
      what,
    );
  const own = (bits / 8) as 1 | 3 | 4;
  const out = (channels === 0 ? own : channels) as 1 | 3 | 4;
  const rowBytes = Math.ceil((width * own) / 4) * 4;
  if (start + rowBytes * (height - 1) + width * own > bytes.length)
    throw new InvalidArgumentError('damaged BMP file: it ends too early', what);
  const data = new Uint8Array(width * height * out).fill(255);
  for (let y = 0; y < height; y++) {
    // Rows go from below to above, unless the height is negative.
    const from = start + rowBytes * (tall < 0 ? y : height - 1 - y);
    for (let x = 0; x < width; x++) {
      for (let c = 0; c < Math.min(out, own === 1 ? 3 : own); c++) {
        const stored = own === 1 ? 0 : c === 3 ? c : 2 - c;
        data[(y * width + x) * out + c] = bytes[from + x * own + stored];
      }
    }
  }
  return { width, height, channels: out, depth: 8, data };
}
