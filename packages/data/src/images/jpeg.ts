// JPEG files, read and written as TensorFlow does, to the bit.
import { InvalidArgumentError } from '@eagre/backend';
import { openCodecs, type WasmSource } from '@eagre/backend-wasm/codecs';
import type { NamedFunction } from '@eagre/core';
import { defineFunction } from '@eagre/core/internal';
import { guarded } from './codecs.ts';
import type { Raster } from './png.ts';
import { loadWebp } from './webp.ts';

/** Options of {@link loadImageCodecs}. */
export interface ImageCodecsOptions {
  /** `eagre-codecs.wasm` of `@eagre/backend-wasm`: compiled, its bytes, or where it is. Found beside the package's code unless given. */
  // A `WasmSource`, whose declarations would ask programs for types of pages and of Node.
  readonly module?: object | string;
}

/**
 * Loads what reads JPEG, PNG and WebP files. Where it is not Node, Bun or Deno, this has to come before `tf.io.decodeJpeg`, `decodePng`, `encodePng` and
 * the other functions that decode or encode at once; these find it themselves elsewhere.
 */
export const loadImageCodecs: NamedFunction<
  [],
  [],
  ImageCodecsOptions,
  Promise<void>
> = /* @__PURE__ */ defineFunction('io.loadImageCodecs', {}, { module: true }, async ({ module }) => {
  await Promise.all([openCodecs(module as WasmSource | undefined), loadWebp()]);
});

export function isJpeg(bytes: Uint8Array): boolean {
  return bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff;
}

/** What the header of a JPEG file says. */
export interface JpegHeader {
  readonly width: number;
  readonly height: number;
  readonly channels: number;
}

/** @throws InvalidArgumentError for what is no JPEG file, or has no header */
export function jpegHeader(bytes: Uint8Array, what: string): JpegHeader {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!isJpeg(bytes)) throw new InvalidArgumentError('damaged JPEG file: it does not begin as one', what);
  for (let at = 2; at + 4 <= bytes.length; ) {
    if (bytes[at] !== 0xff) break;
    const marker = bytes[at + 1];
    // A marker may be filled up with more of its first byte.
    if (marker === 0xff) {
      at++;
      continue;
    }
    const size = view.getUint16(at + 2);
    const end = at + 2 + size;
    if (size < 2 || end > bytes.length) break;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame && size >= 8) {
      const count = bytes[at + 9];
      if (size < 8 + 3 * count) break;
      return { height: view.getUint16(at + 5), width: view.getUint16(at + 7), channels: count };
    }
    at = end;
  }
  throw new InvalidArgumentError('damaged JPEG file: it has no header', what);
}

/** A rectangle of a picture. */
export interface CropWindow {
  readonly y: number;
  readonly x: number;
  readonly height: number;
  readonly width: number;
}

export interface DecodeJpegWishes {
  /** How many; as many as there are for 0. */
  readonly channels: 0 | 1 | 3;
  /** How many times smaller the picture is to be. */
  readonly ratio: 1 | 2 | 4 | 8;
  /** Whether colours of fewer samples are smoothed. */
  readonly fancyUpscaling: boolean;
  /** Whether what is missing of a truncated file becomes grey. */
  readonly tryRecoverTruncated: boolean;
  /** Whether the inverse cosine transform is the accurate one, not the fast one. */
  readonly accurate: boolean;
  /** What is wanted of the picture; all of it for null. */
  readonly crop: CropWindow | null;
  /** The part of the rows that must be there. */
  readonly acceptableFraction: number;
}

/** What a JPEG file is decoded to if nobody says otherwise. */
export const usualJpeg: DecodeJpegWishes = {
  channels: 0,
  ratio: 1,
  fancyUpscaling: true,
  tryRecoverTruncated: false,
  accurate: false,
  crop: null,
  acceptableFraction: 1,
};

const shape = new Int32Array(3);

/** @throws InvalidArgumentError for a damaged file, for one that is too large, and for a rectangle that is not inside of the picture */
export function decodeJpeg(bytes: Uint8Array, wishes: DecodeJpegWishes, what: string): Raster {
  const { channels, ratio, fancyUpscaling, tryRecoverTruncated, accurate, crop } = wishes;
  const numbers = Int32Array.of(
    channels,
    ratio,
    Number(fancyUpscaling),
    Number(tryRecoverTruncated),
    Number(accurate),
    Number(crop !== null),
    ...(crop === null ? [0, 0, 0, 0] : [crop.y, crop.x, crop.height, crop.width]),
    // The bits of a float.
    new Int32Array(Float32Array.of(wishes.acceptableFraction).buffer)[0],
  );
  const data = guarded(what, (codecs) => codecs.decodeJpeg(bytes, numbers, shape));
  return { height: shape[0], width: shape[1], channels: shape[2] as 1 | 3, depth: 8, data };
}

/** How a JPEG file is written. */
export interface JpegSettings {
  /** From 1 to 100. */
  readonly quality: number;
  readonly progressive: boolean;
  /** Whether the file is made smaller by a second look at it. */
  readonly optimizeSize: boolean;
  /** Whether colours get half as many samples across and down. */
  readonly chromaDownsampling: boolean;
  readonly densityUnit: 'in' | 'cm';
  readonly xDensity: number;
  readonly yDensity: number;
  /** Empty for none. */
  readonly xmpMetadata: Uint8Array;
}

/** How TensorFlow writes one if nobody says otherwise. */
export const usualSettings: JpegSettings = {
  quality: 95,
  progressive: false,
  optimizeSize: false,
  chromaDownsampling: true,
  densityUnit: 'in',
  xDensity: 300,
  yDensity: 300,
  xmpMetadata: new Uint8Array(0),
};

/** The bytes of a JPEG file of 1 or 3 channels. @throws InvalidArgumentError for a picture that is too large for one */
export function encodeJpeg(raster: Raster, settings: JpegSettings, what: string): Uint8Array {
  const { width, height, channels, data } = raster;
  const { quality, progressive, optimizeSize, chromaDownsampling, densityUnit, xDensity, yDensity } =
    settings;
  const numbers = Int32Array.of(
    quality,
    Number(progressive),
    Number(optimizeSize),
    Number(chromaDownsampling),
    densityUnit === 'in' ? 1 : 2,
    xDensity,
    yDensity,
  );
  return guarded(what, (codecs) =>
    codecs.encodeJpeg(data as Uint8Array, height, width, channels, numbers, settings.xmpMetadata),
  );
}
