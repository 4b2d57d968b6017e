// Pictures as bytes: decoding, colours, sizes.
import { InvalidArgumentError, UnimplementedError } from '@eagre/backend';

/** A picture of 8 bits per value, row by row, the values of each pixel together. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  /** Grey, grey and alpha, RGB, or RGBA. */
  readonly channels: 1 | 2 | 3 | 4;
  readonly data: Uint8Array | Uint8ClampedArray;
}

/** How many values a pixel is to have. */
export type ColorMode = 'rgb' | 'grayscale' | 'rgba';

export const CHANNELS: Readonly<Record<ColorMode, 1 | 3 | 4>> = { grayscale: 1, rgb: 3, rgba: 4 };

const MAX_PIXELS = 2 ** 27;

/** The decoder of PNG and JPEG files. Loaded when it is first wanted. */
export async function pictureDecoder(): Promise<(bytes: Uint8Array, path: string) => Picture> {
  const [png, { default: jpeg }] = await Promise.all([import('fast-png'), import('jpeg-js')]);
  return (bytes, path) => {
    if (bytes[0] === 0x89 && bytes[1] === 0x50) return decodePng(png.decode, bytes, path);
    if (bytes[0] === 0xff && bytes[1] === 0xd8) {
      const { width, height, data } = jpeg.decode(bytes, {
        useTArray: true,
        formatAsRGBA: false,
        maxResolutionInMP: MAX_PIXELS / 1e6,
        maxMemoryUsageInMB: 1024,
      });
      return { width, height, channels: 3, data };
    }
    throw new UnimplementedError(
      `${path}: only PNG and JPEG can be decoded; convert the file, or pass your own decoder as \`decode\``,
    );
  };
}

function decodePng(decode: typeof import('fast-png').decode, bytes: Uint8Array, path: string): Picture {
  // The size stands in the header; the decoder believes it and allocates.
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const pixels = bytes.length < 24 ? 0 : view.getUint32(16) * view.getUint32(20);
  if (pixels === 0 || pixels > MAX_PIXELS)
    throw new InvalidArgumentError(`${path}: a PNG file of ${pixels} pixels; expected 1 to ${MAX_PIXELS}`);
  // The library takes the values of interlaced pictures for whole bytes.
  if (bytes[28] === 1 && bytes[24] < 8)
    throw new UnimplementedError(
      `${path}: interlaced PNG of less than 8 bits; save it without interlacing, or pass your own decoder as \`decode\``,
    );
  const { width, height, channels, depth, data, palette } = decode(bytes, { checkCrc: true });
  if (palette) {
    const colours = palette.length > 0 ? palette[0].length : 3;
    const out = new Uint8Array(width * height * colours);
    unpackedIndices(data as Uint8Array, width, height, depth).forEach((index, i) => {
      out.set(palette[index] ?? [], i * colours);
    });
    return { width, height, channels: colours === 4 ? 4 : 3, data: out };
  }
  if (depth === 16) {
    const high = Uint8Array.from(data as Uint16Array, (value) => value >> 8);
    return { width, height, channels: channels as Picture['channels'], data: high };
  }
  if (depth !== 8) {
    const most = 2 ** depth - 1;
    const values = unpackedIndices(data as Uint8Array, width, height, depth);
    return { width, height, channels: 1, data: values.map((value) => Math.round((value * 255) / most)) };
  }
  return { width, height, channels: channels as Picture['channels'], data: data as Uint8Array };
}

/** Values of 1, 2 or 4 bits, whose rows begin at whole bytes; those of 8 bits as they are. */
function unpackedIndices(data: Uint8Array, width: number, height: number, depth: number): Uint8Array {
  if (depth === 8) return data;
  const rowBytes = Math.ceil((width * depth) / 8);
  const out = new Uint8Array(width * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const bit = x * depth;
      const byte = data[y * rowBytes + (bit >> 3)];
      out[y * width + x] = (byte >> (8 - depth - (bit & 7))) & (2 ** depth - 1);
    }
  }
  return out;
}

/** The picture's values as so many channels: colours from grey, grey by the weights of BT.601, alpha 255 where there is none. */
export function withChannels(picture: Picture, channels: 1 | 3 | 4): Float32Array {
  const { data, channels: from } = picture;
  const pixels = picture.width * picture.height;
  const out = new Float32Array(pixels * channels);
  const isGrey = from < 3;
  for (let i = 0; i < pixels; i++) {
    const at = i * from;
    const r = data[at];
    const g = isGrey ? r : data[at + 1];
    const b = isGrey ? r : data[at + 2];
    if (channels === 1) out[i] = isGrey ? r : Math.round(0.299 * r + 0.587 * g + 0.114 * b);
    else {
      out[i * channels] = r;
      out[i * channels + 1] = g;
      out[i * channels + 2] = b;
      if (channels === 4) out[i * channels + 3] = from % 2 === 0 ? data[at + from - 1] : 255;
    }
  }
  return out;
}

/** How pixels between pixels are found. */
export type Interpolation = 'bilinear' | 'nearest';

/** A rectangle of a picture. */
export interface Box {
  readonly top: number;
  readonly left: number;
  readonly height: number;
  readonly width: number;
}

/**
 * Brings a rectangle of an image, [height, width, channels], to another size, as `tf.image.resize` does without
 * antialiasing: pixels are squares whose centres lie at halves.
 */
export function resized(
  image: Float32Array,
  size: { readonly width: number; readonly channels: number },
  box: Box,
  [height, width]: readonly [number, number],
  interpolation: Interpolation,
): Float32Array {
  const { channels } = size;
  const out = new Float32Array(height * width * channels);
  const ys = samples(height, box.height, interpolation);
  const xs = samples(width, box.width, interpolation);
  const value = (y: number, x: number, c: number): number =>
    image[((y + box.top) * size.width + x + box.left) * channels + c];
  let at = 0;
  for (const { low: y0, high: y1, part: fy } of ys) {
    for (const { low: x0, high: x1, part: fx } of xs) {
      for (let c = 0; c < channels; c++) {
        const top = value(y0, x0, c) + (value(y0, x1, c) - value(y0, x0, c)) * fx;
        const bottom = value(y1, x0, c) + (value(y1, x1, c) - value(y1, x0, c)) * fx;
        out[at++] = top + (bottom - top) * fy;
      }
    }
  }
  return out;
}

interface Sample {
  low: number;
  high: number;
  part: number;
}

function samples(out: number, from: number, interpolation: Interpolation): Sample[] {
  const scale = from / out;
  return Array.from({ length: out }, (_, i) => {
    if (interpolation === 'nearest') {
      const at = Math.min(Math.floor((i + 0.5) * scale), from - 1);
      return { low: at, high: at, part: 0 };
    }
    const at = (i + 0.5) * scale - 0.5;
    const floor = Math.floor(at);
    return { low: Math.max(floor, 0), high: Math.min(Math.ceil(at), from - 1), part: at - floor };
  });
}
