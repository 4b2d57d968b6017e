// Pictures as bytes: decoding, colours, sizes.
import { UnimplementedError } from '@eagre/backend';
import { decodeBmp, isBmp } from './bmp.ts';
import { decodeGif, isGif } from './gif.ts';
import { decodeJpeg, isJpeg, loadImageCodecs, usualJpeg } from './jpeg.ts';
import { decodePng, isPng } from './png.ts';
import { decodeWebp, isWebp } from './webp.ts';

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

/** The decoder of PNG, JPEG, GIF and WebP (the first frame) and BMP files. What it needs is loaded when it is first wanted. */
export async function pictureDecoder(): Promise<(bytes: Uint8Array, path: string) => Picture> {
  await loadImageCodecs();
  return (bytes, path) => {
    if (isPng(bytes)) return decodePng(bytes, { channels: 0, depth: 8 }, path) as Picture;
    if (isJpeg(bytes)) return decodeJpeg(bytes, usualJpeg, path) as Picture;
    if (isBmp(bytes)) return decodeBmp(bytes, 0, path) as Picture;
    if (isGif(bytes)) {
      const { width, height, data } = decodeGif(bytes, path);
      return { width, height, channels: 3, data: data.subarray(0, 3 * width * height) };
    }
    if (isWebp(bytes)) {
      const { width, height, channels, data } = decodeWebp(bytes, path);
      return { width, height, channels, data: data.subarray(0, channels * width * height) };
    }
    throw new UnimplementedError(
      `${path}: only PNG, JPEG, GIF, BMP and WebP can be decoded; convert the file, or pass your own decoder as \`decode\``,
    );
  };
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
