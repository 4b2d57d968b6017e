// JPEG files. The addon reads and writes them as TensorFlow does, to the bit. Without it a library in JavaScript decodes the planes, and what follows is
// done as libjpeg does it, so that values differ by what the inverse cosine transform is rounded.
import { FailedPreconditionError, InvalidArgumentError, UnimplementedError } from '@eagre/backend';
import type { NamedFunction } from '@eagre/core';
import { defineFunction } from '@eagre/core/internal';
import { nodeBuiltin } from '@eagre/formats/internal';
import { codecs, guarded } from './codecs.ts';
import { MAX_PIXELS, type Raster } from './png.ts';
import { loadWebp } from './webp.ts';

type JpegLibrary = typeof import('jpeg-js');

let library: JpegLibrary | undefined;

/**
 * Loads the libraries of JPEG and WebP files. Where it is not Node, Bun or Deno, this has to come before `tf.io.decodeJpeg`, `decodeWebp` and
 * the other functions that decode at once; these find the library themselves elsewhere.
 */
export const loadImageCodecs: NamedFunction<[], [], unknown, Promise<void>> = /* @__PURE__ */ defineFunction(
  'io.loadImageCodecs',
  {},
  {},
  async () => {
    if (codecs() === undefined) library ??= (await import('jpeg-js')).default;
    await loadWebp();
  },
);

function jpegLibrary(what: string): JpegLibrary {
  try {
    library ??= nodeBuiltin('node:module').createRequire(import.meta.url)('jpeg-js') as JpegLibrary;
    return library;
  } catch (cause) {
    throw new FailedPreconditionError(
      'JPEG files need a library that is not loaded here: await tf.io.loadImageCodecs() first',
      what,
      { cause },
    );
  }
}

export function isJpeg(bytes: Uint8Array): boolean {
  return bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff;
}

/** What the header of a JPEG file says. */
export interface JpegHeader {
  readonly width: number;
  readonly height: number;
  /** How often each component is sampled, across and down. */
  readonly components: readonly (readonly [number, number])[];
  /** What Adobe's programs say of the colours: 0 for RGB or CMYK as it is. */
  readonly transform: number | null;
  /** Where Adobe's marker stands. */
  readonly adobe: readonly [number, number] | null;
}

/** @throws InvalidArgumentError for what is no JPEG file, or has no header */
export function jpegHeader(bytes: Uint8Array, what: string): JpegHeader {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let adobe: [number, number] | null = null;
  let transform: number | null = null;
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
    if (marker === 0xee && size >= 14 && bytes[at + 4] === 0x41 && bytes[at + 5] === 0x64) {
      adobe = [at, end];
      transform = bytes[at + 15];
    }
    if (isFrame && size >= 8) {
      const count = bytes[at + 9];
      if (size < 8 + 3 * count) break;
      const components = Array.from({ length: count }, (_, i): [number, number] => {
        const sampling = bytes[at + 11 + 3 * i];
        return [sampling >> 4, sampling & 15];
      });
      return { height: view.getUint16(at + 5), width: view.getUint16(at + 7), components, transform, adobe };
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
  const native = codecs();
  if (native === undefined) return croppedRaster(decodedHere(bytes, wishes, what), wishes.crop, what);
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
  const data = guarded(what, () => native.decodeJpeg(bytes, numbers, shape));
  return { height: shape[0], width: shape[1], channels: shape[2] as 1 | 3, depth: 8, data };
}

/** Without the addon. */
function decodedHere(bytes: Uint8Array, wishes: DecodeJpegWishes, what: string): Raster {
  if (wishes.ratio !== 1)
    throw new UnimplementedError(
      'without the native codecs JPEG files are not decoded at a smaller scale',
      what,
    );
  const header = jpegHeader(bytes, what);
  const { width, height, components, transform, adobe } = header;
  if (width * height === 0 || width * height > MAX_PIXELS)
    throw new InvalidArgumentError(
      `a JPEG file of ${width} × ${height} pixels; expected 1 to ${MAX_PIXELS}`,
      what,
    );
  const colored = components.length === 3;
  // The library would transform the colours itself where Adobe's marker says so.
  const plain = colored && adobe !== null ? without(bytes, adobe) : bytes;
  const planes = decodedPlanes(plain, colored, wishes.tryRecoverTruncated, what);
  const isYcc = colored && transform !== 0;
  if (isYcc && wishes.channels !== 1) {
    for (const c of [1, 2]) upsample(planes, width, height, c, header, wishes.fancyUpscaling);
    toRgb(planes);
  }
  const channels = wishes.channels === 0 ? (components.length === 1 ? 1 : 3) : wishes.channels;
  return {
    width,
    height,
    channels,
    depth: 8,
    data: channels === 3 ? planes : greyOf(planes, colored && isYcc),
  };
}

function croppedRaster(raster: Raster, crop: CropWindow | null, what: string): Raster {
  if (crop === null) return raster;
  const { y, x, height, width } = crop;
  const { channels, data } = raster;
  if (
    Math.min(y, x) < 0 ||
    Math.min(height, width) <= 0 ||
    y + height > raster.height ||
    x + width > raster.width
  )
    throw new InvalidArgumentError(
      `cropWindow must be [y, x, height, width] inside of ${raster.height} × ${raster.width} pixels`,
      what,
    );
  const out = new Uint8Array(height * width * channels);
  for (let row = 0; row < height; row++) {
    const from = ((row + y) * raster.width + x) * channels;
    out.set(data.subarray(from, from + width * channels), row * width * channels);
  }
  return { ...raster, height, width, data: out };
}

function without(bytes: Uint8Array, [from, to]: readonly [number, number]): Uint8Array {
  const out = new Uint8Array(bytes.length - (to - from));
  out.set(bytes.subarray(0, from));
  out.set(bytes.subarray(to), from);
  return out;
}

/** Three values for each pixel: of a picture in colour as they are stored, each sample as often as it stands for a pixel. */
function decodedPlanes(bytes: Uint8Array, colored: boolean, tolerant: boolean, what: string): Uint8Array {
  const { decode } = jpegLibrary(what);
  try {
    return decode(bytes, {
      useTArray: true,
      formatAsRGBA: false,
      tolerantDecoding: tolerant,
      maxResolutionInMP: MAX_PIXELS / 1e6,
      maxMemoryUsageInMB: 2048,
      ...(colored ? { colorTransform: false } : {}),
    }).data;
  } catch (cause) {
    throw new InvalidArgumentError(`damaged JPEG file: ${(cause as Error).message}`, what, { cause });
  }
}

/** Smooths a component that has half as many samples across, or across and down, as libjpeg does: the nearer ones count three times. */
function upsample(
  planes: Uint8Array,
  width: number,
  height: number,
  c: number,
  { components }: JpegHeader,
  fancy: boolean,
): void {
  const most = [0, 1].map((i) => Math.max(...components.map((sampling) => sampling[i])));
  const across = most[0] / components[c][0];
  const down = most[1] / components[c][1];
  const n = Math.ceil(width / across);
  if (!fancy || across !== 2 || (down !== 1 && down !== 2) || n <= 2) return;
  const rows = Math.ceil(height / down);
  const samples = new Uint8Array(n * rows);
  for (let y = 0; y < rows; y++)
    for (let x = 0; x < n; x++) samples[y * n + x] = planes[3 * (y * down * width + x * 2) + c];
  const sums = new Int32Array(n);
  for (let y = 0; y < height; y++) {
    const near = Math.floor(y / down);
    const far = down === 1 ? near : Math.min(rows - 1, Math.max(0, y % 2 === 0 ? near - 1 : near + 1));
    for (let x = 0; x < n; x++)
      sums[x] = down === 1 ? samples[near * n + x] : 3 * samples[near * n + x] + samples[far * n + x];
    for (let x = 0; x < width; x++) {
      const i = x >> 1;
      const odd = x % 2 === 1;
      const other = odd ? i + 1 : i - 1;
      const isEnd = other < 0 || other >= n;
      const sum = isEnd ? 4 * sums[i] : 3 * sums[i] + sums[other];
      // Rounded up and down in turn, so that nothing drifts.
      if (down === 1) planes[3 * (y * width + x) + c] = isEnd ? sums[i] : (sum + (odd ? 2 : 1)) >> 2;
      else planes[3 * (y * width + x) + c] = (sum + (odd ? 7 : 8)) >> 4;
    }
  }
}

const fix = (x: number): number => Math.floor(x * 65536 + 0.5);
const [CR_RED, CB_BLUE, CB_GREEN, CR_GREEN] = [fix(1.402), fix(1.772), fix(0.34414), fix(0.71414)];
const HALF = 32768;
const clamped = (x: number): number => Math.min(255, Math.max(0, x));

function toRgb(planes: Uint8Array): void {
  for (let i = 0; i < planes.length; i += 3) {
    const y = planes[i];
    const cb = planes[i + 1] - 128;
    const cr = planes[i + 2] - 128;
    planes[i] = clamped(y + ((CR_RED * cr + HALF) >> 16));
    planes[i + 1] = clamped(y + ((-CB_GREEN * cb - CR_GREEN * cr + HALF) >> 16));
    planes[i + 2] = clamped(y + ((CB_BLUE * cb + HALF) >> 16));
  }
}

/** Grey: the first component of a picture whose first one is brightness, a weighted sum of red, green and blue. */
function greyOf(planes: Uint8Array, isBrightness: boolean): Uint8Array {
  return Uint8Array.from({ length: planes.length / 3 }, (_, i) => {
    const [r, g, b] = planes.subarray(3 * i, 3 * i + 3);
    return isBrightness || (r === g && g === b)
      ? r
      : (fix(0.299) * r + fix(0.587) * g + fix(0.114) * b + HALF) >> 16;
  });
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
  const native = codecs();
  if (native === undefined) return encodedHere(raster, settings, what);
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
  return guarded(what, () =>
    native.encodeJpeg(data as Uint8Array, height, width, channels, numbers, settings.xmpMetadata),
  );
}

/** Without the addon: colours have as many samples as brightness, and there is no density. */
function encodedHere(
  { width, height, channels, data }: Raster,
  settings: JpegSettings,
  what: string,
): Uint8Array {
  if (settings.progressive || settings.xmpMetadata.length > 0)
    throw new UnimplementedError(
      'without the native codecs JPEG files are written neither progressive nor with metadata',
      what,
    );
  const rgba = new Uint8Array(width * height * 4).fill(255);
  for (let i = 0; i < width * height; i++)
    for (let c = 0; c < 3; c++) rgba[4 * i + c] = data[i * channels + (channels < 3 ? 0 : c)];
  return Uint8Array.from(jpegLibrary(what).encode({ width, height, data: rgba }, settings.quality).data);
}
