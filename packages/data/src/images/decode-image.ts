// Pictures in files as tensors, and tensors as files: `tf.io.decodePng` and the others.
import { type DType, InvalidArgumentError } from '@eagre/backend';
import { constant, type NamedFunction, random, type Tensor, type TensorLike } from '@eagre/core';
import {
  bytesOf,
  byteTensor,
  checkFlag,
  checkList,
  checkOneOf,
  defineFunction,
  isFloating,
  kind,
  onKnown,
  shown,
  toTensor,
} from '@eagre/core/internal';
import { atOnce, type BytesLike, byteStringsOf, bytesFrom } from '../io/byte-strings.ts';
import { needsValue } from '../pipeline/plain-code.ts';
import { decodeBmp as bmpOf, isBmp } from './bmp.ts';
import { decodeGif as gifOf, isGif } from './gif.ts';
import {
  type CropWindow,
  type JpegSettings,
  encodeJpeg as jpegBytes,
  jpegHeader,
  decodeJpeg as jpegOf,
  isJpeg as looksLikeJpeg,
  usualSettings,
} from './jpeg.ts';
import { isPng, encodePng as pngBytes, decodePng as pngOf, type Raster } from './png.ts';
import { isWebp, decodeWebp as webpOf } from './webp.ts';

/** How many values each pixel gets: 0 for as many as the file has. */
type Channels = 0 | 1 | 3 | 4;

const rasterTensor = ({ data, width, height, channels, depth }: Raster): Tensor =>
  constant({ data, shape: [height, width, channels], dtype: depth === 16 ? 'uint16' : 'uint8' });

/**
 * The picture in the bytes of a PNG file, [height, width, channels]. Grey is made of colours, colours of grey, and alpha is added or left out, as
 * `channels` says.
 * @param dtype uint8, or uint16 for the full values of files of 16 bits
 * @throws InvalidArgumentError for damaged bytes
 */
export const decodePng: NamedFunction<
  [contents: BytesLike, channels?: Channels, dtype?: 'uint8' | 'uint16'],
  ['contents', 'channels', 'dtype']
> = /* @__PURE__ */ defineFunction(
  'io.decodePng',
  { contents: kind.tensor, channels: kind.integer, dtype: kind.asIs },
  {},
  (contents, channels: Channels = 0, dtype = 'uint8') => {
    checkOneOf(channels, [0, 1, 3, 4], 'channels', 'DecodePng');
    checkOneOf(dtype, ['uint8', 'uint16'], 'dtype', 'DecodePng');
    const bytes = bytesFrom(contents, 'contents', 'DecodePng');
    const raster = pngOf(bytes, { channels, depth: dtype === 'uint16' ? 16 : 8 }, 'DecodePng');
    return atOnce('DecodePng', () => rasterTensor(raster));
  },
);

/** The picture in the bytes of a BMP file without compression, [height, width, channels]. */
export const decodeBmp: NamedFunction<[contents: BytesLike, channels?: 0 | 3 | 4], ['contents', 'channels']> =
  /* @__PURE__ */ defineFunction(
    'io.decodeBmp',
    { contents: kind.tensor, channels: kind.integer },
    {},
    (contents, channels: number = 0) => {
      checkOneOf(channels, [0, 3, 4], 'channels', 'DecodeBmp');
      const raster = bmpOf(bytesFrom(contents, 'contents', 'DecodeBmp'), channels, 'DecodeBmp');
      return atOnce('DecodeBmp', () => rasterTensor(raster));
    },
  );

/** All frames in the bytes of a GIF file, [frames, height, width, 3]. */
export const decodeGif: NamedFunction<[contents: BytesLike], ['contents']> = /* @__PURE__ */ defineFunction(
  'io.decodeGif',
  { contents: kind.tensor },
  {},
  (contents) => framesOf(bytesFrom(contents, 'contents', 'DecodeGif'), 'DecodeGif'),
);

function framesOf(bytes: Uint8Array, op: string): Tensor {
  const { data, width, height, count } = gifOf(bytes, op);
  return atOnce(op, () => constant({ data, shape: [count, height, width, 3], dtype: 'uint8' }));
}

/**
 * All frames in the bytes of a WebP file, [frames, height, width, channels]: 3 channels, or 4 where the file has transparency or is an
 * animation.
 * @param channels how many there must be: 3 or 4; as many as the file has by default
 * @throws InvalidArgumentError for damaged bytes, and for a file with another number of channels
 */
export const decodeWebp: NamedFunction<
  [contents: BytesLike, channels?: 0 | 3 | 4, dtype?: 'uint8'],
  ['contents', 'channels', 'dtype']
> = /* @__PURE__ */ defineFunction(
  'io.decodeWebp',
  { contents: kind.tensor, channels: kind.integer, dtype: kind.asIs },
  {},
  (contents, channels: number = 0, dtype = 'uint8') => {
    checkOneOf(dtype, ['uint8'], 'dtype', 'DecodeWebP');
    return webpFrames(bytesFrom(contents, 'contents', 'DecodeWebP'), channels, 'DecodeWebP');
  },
);

function webpFrames(bytes: Uint8Array, channels: number, op: string): Tensor {
  checkOneOf(channels, [0, 3, 4], 'channels', op);
  const { data, width, height, channels: own, count } = webpOf(bytes, op);
  if (channels !== 0 && channels !== own)
    throw new InvalidArgumentError(`the WebP file has ${own} channels, not ${channels}`, op);
  return atOnce(op, () => constant({ data, shape: [count, height, width, own], dtype: 'uint8' }));
}

/** The inverse cosine transform of `decodeJpeg`; an empty text is the fast one, as in TensorFlow. */
export type DctMethod = '' | 'INTEGER_FAST' | 'INTEGER_ACCURATE';

/** Options of `decodeJpeg` and `decodeAndCropJpeg`. */
export interface DecodeJpegOptions {
  /** How many times smaller the picture is made; 1 by default. Without the native codecs only 1. */
  readonly ratio?: 1 | 2 | 4 | 8;
  /** Whether colours that have fewer samples than pixels are smoothed; true by default. */
  readonly fancyUpscaling?: boolean;
  /** Whether a file that ends too early gives what there is of it; false by default. */
  readonly tryRecoverTruncated?: boolean;
  /** The part of the rows that must be there where a file ends too early, the rest being black; 1 by default. Without the native codecs 1. */
  readonly acceptableFraction?: number;
  /** `'INTEGER_FAST'` by default. */
  readonly dctMethod?: DctMethod;
}
const jpegNames = {
  ratio: kind.asIs,
  fancyUpscaling: kind.asIs,
  tryRecoverTruncated: kind.asIs,
  acceptableFraction: kind.asIs,
  dctMethod: kind.asIs,
} as const;

/**
 * The picture in the bytes of a JPEG file, [height, width, channels]: the values that TensorFlow gives. Without the native codecs, as in pages, they differ
 * by up to 3, and all transforms are one.
 * @throws InvalidArgumentError for damaged bytes
 */
export const decodeJpeg: NamedFunction<
  [contents: BytesLike, channels?: 0 | 1 | 3],
  ['contents', 'channels'],
  DecodeJpegOptions
> = /* @__PURE__ */ defineFunction(
  'io.decodeJpeg',
  { contents: kind.tensor, channels: kind.integer },
  jpegNames,
  (contents, channels: number = 0, options) => {
    const raster = jpegFrom(bytesFrom(contents, 'contents', 'DecodeJpeg'), channels, options, 'DecodeJpeg');
    return atOnce('DecodeJpeg', () => rasterTensor(raster));
  },
);

function jpegFrom(
  bytes: Uint8Array,
  channels: number,
  options: DecodeJpegOptions,
  op: string,
  crop: CropWindow | null = null,
): Raster {
  const { ratio = 1, acceptableFraction = 1, dctMethod = '' } = options;
  checkOneOf(channels, [0, 1, 3], 'channels', op);
  checkOneOf(ratio, [1, 2, 4, 8], 'ratio', op);
  checkOneOf(dctMethod, ['', 'INTEGER_FAST', 'INTEGER_ACCURATE'], 'dctMethod', op);
  const fancyUpscaling = checkFlag(options.fancyUpscaling ?? true, 'fancyUpscaling', op);
  const tryRecoverTruncated = checkFlag(options.tryRecoverTruncated ?? false, 'tryRecoverTruncated', op);
  if (typeof acceptableFraction !== 'number' || Number.isNaN(acceptableFraction))
    throw new InvalidArgumentError(
      `acceptableFraction must be a number, got ${shown(acceptableFraction)}`,
      op,
    );
  const accurate = dctMethod === 'INTEGER_ACCURATE';
  const wishes = {
    channels: channels as 0 | 1 | 3,
    ratio,
    fancyUpscaling,
    tryRecoverTruncated,
    accurate,
    crop,
    acceptableFraction,
  };
  return jpegOf(bytes, wishes, op);
}

/** A rectangle of the picture in the bytes of a JPEG file. @param cropWindow [y, x, height, width], inside of the picture */
export const decodeAndCropJpeg: NamedFunction<
  [contents: BytesLike, cropWindow: TensorLike, channels?: 0 | 1 | 3],
  ['contents', 'cropWindow', 'channels'],
  DecodeJpegOptions
> = /* @__PURE__ */ defineFunction(
  'io.decodeAndCropJpeg',
  { contents: kind.tensor, cropWindow: kind.integers, channels: kind.integer },
  jpegNames,
  (contents, cropWindow, channels: number = 0, options) => {
    const op = 'DecodeAndCropJpeg';
    const window = checkList(cropWindow as unknown as readonly number[], 'cropWindow', op);
    const [y, x, height, width] = window;
    if (window.length !== 4 || !window.every((n) => Number.isInteger(n) && Math.abs(n) < 2 ** 31))
      throw new InvalidArgumentError(`cropWindow must be [y, x, height, width], got [${window}]`, op);
    const raster = jpegFrom(bytesFrom(contents, 'contents', op), channels, options, op, {
      y,
      x,
      height,
      width,
    });
    return atOnce(op, () => rasterTensor(raster));
  },
);

/** Options of `decodeImage`. */
export interface DecodeImageOptions {
  /** Whether a GIF or WebP file gives all of its frames, along a first axis; true by default. */
  readonly expandAnimations?: boolean;
}

/**
 * The picture in the bytes of a PNG, JPEG, GIF, BMP or WebP file, [height, width, channels], or [frames, height, width, channels] of GIF and WebP.
 * @param dtype uint8, uint16, or floats from 0 to 1; of WebP uint8
 * @throws InvalidArgumentError for bytes of another kind
 */
export const decodeImage: NamedFunction<
  [contents: BytesLike, channels?: 0 | 1 | 3 | 4 | null, dtype?: DType],
  ['contents', 'channels', 'dtype'],
  DecodeImageOptions
> = /* @__PURE__ */ defineFunction(
  'io.decodeImage',
  { contents: kind.tensor, channels: kind.integer, dtype: kind.asIs },
  { expandAnimations: kind.asIs },
  (contents, channels: number | null = 0, dtype = 'uint8', options) => {
    const op = 'DecodeImage';
    checkOneOf(dtype, ['uint8', 'uint16', 'float16', 'bfloat16', 'float32'], 'dtype', op);
    checkOneOf(channels, [null, 0, 1, 3, 4], 'channels', op);
    const expands = checkFlag(options.expandAnimations ?? true, 'expandAnimations', op);
    const bytes = bytesFrom(contents, 'contents', op);
    return atOnce(op, () => scaled(imageOf(bytes, channels ?? 0, dtype, expands, op), dtype));
  },
);

function imageOf(bytes: Uint8Array, channels: number, dtype: DType, expands: boolean, op: string): Tensor {
  if (isPng(bytes)) {
    // Floats of 16 bits are made of values of 16 bits too.
    const depth = dtype === 'uint8' ? 8 : 16;
    return rasterTensor(pngOf(bytes, { channels: channels as Channels, depth }, op));
  }
  if (looksLikeJpeg(bytes)) return rasterTensor(jpegFrom(bytes, channels, {}, op));
  if (isBmp(bytes)) return rasterTensor(bmpOf(bytes, channels, op));
  if (isGif(bytes)) {
    checkOneOf(channels, [0, 3], 'channels', op);
    const frames = framesOf(bytes, op);
    return expands ? frames : frames.at(0);
  }
  if (isWebp(bytes)) {
    checkOneOf(dtype, ['uint8'], 'the dtype of WebP', op);
    const frames = webpFrames(bytes, channels, op);
    return expands ? frames : frames.at(0);
  }
  throw new InvalidArgumentError('the bytes are of no PNG, JPEG, GIF, BMP or WebP file', op);
}

/** Values of a picture in another dtype: floats from 0 to 1, and integers that fill their bits. */
function scaled(image: Tensor, dtype: DType): Tensor {
  if (image.dtype === dtype) return image;
  if (isFloating(dtype))
    return image
      .cast('float32')
      .mul(1 / (image.dtype === 'uint16' ? 65535 : 255))
      .cast(dtype);
  return image.cast('int32').mul(257).cast(dtype);
}

// ---- writing

/** A picture of bytes, or for PNG of 16 bits. */
function rasterOf(
  image: TensorLike,
  channels: readonly number[],
  dtypes: readonly DType[],
  op: string,
): Raster {
  const x = toTensor(image, 'uint8');
  needsValue(x, op);
  checkOneOf(x.dtype, dtypes, 'the dtype of image', op);
  const [height, width, own] = x.shape;
  if (x.rank !== 3 || !channels.includes(own) || width * height === 0)
    throw new InvalidArgumentError(
      `image must have the shape [height, width, channels] with ${channels.join(', ')} channels, got [${x.shape}]`,
      op,
    );
  const data = x.data() as Uint8Array | Uint16Array;
  return { width, height, channels: own as 1, depth: x.dtype === 'uint16' ? 16 : 8, data };
}

/**
 * The bytes of a PNG file, a scalar, of a picture [height, width, channels] of uint8 or uint16.
 * @param compression from 0, none, to 9; -1, as zlib chooses, by default
 */
export const encodePng: NamedFunction<[image: TensorLike, compression?: number], ['image', 'compression']> =
  /* @__PURE__ */ defineFunction(
    'io.encodePng',
    { image: kind.tensor, compression: kind.integer },
    {},
    (image, compression: number = -1) => {
      if (!Number.isInteger(compression) || compression < -1 || compression > 9)
        throw new InvalidArgumentError(`compression must be from -1 to 9, got ${compression}`, 'EncodePng');
      const raster = rasterOf(image, [1, 2, 3, 4], ['uint8', 'uint16'], 'EncodePng');
      return atOnce('EncodePng', () => byteTensor([pngBytes(raster, 'EncodePng', compression)], []));
    },
  );

/** Options of {@link encodeJpeg}; names and defaults are TensorFlow's. */
export interface EncodeJpegOptions {
  /** Whether the file is to appear in ever finer detail while it is loaded; false by default. */
  readonly progressive?: boolean;
  /** Whether to spend time on a smaller file of the same values; false by default. */
  readonly optimizeSize?: boolean;
  /** Whether colours get half as many samples across and down; true by default. Without the native codecs they never do. */
  readonly chromaDownsampling?: boolean;
  /** `'in'` by default. */
  readonly densityUnit?: 'in' | 'cm';
  /** Pixels per `densityUnit` across; 300 by default. */
  readonly xDensity?: number;
  /** Pixels per `densityUnit` down; 300 by default. */
  readonly yDensity?: number;
  /** Metadata in XMP, which is XML; empty by default, for none. */
  readonly xmpMetadata?: string;
}

/**
 * The bytes of a JPEG file, a scalar, of a picture [height, width, 1 or 3] of uint8: those that TensorFlow writes. Without the native codecs, as in pages,
 * colours have as many samples as pixels, and files are neither progressive nor have they density or metadata.
 * @param format 'grayscale' or 'rgb'; what the channels say by default
 * @param quality from 0 to 100; 95 by default
 */
export const encodeJpeg: NamedFunction<
  [image: TensorLike, format?: '' | 'grayscale' | 'rgb', quality?: number],
  ['image', 'format', 'quality'],
  EncodeJpegOptions
> = /* @__PURE__ */ defineFunction(
  'io.encodeJpeg',
  { image: kind.tensor, format: kind.asIs, quality: kind.integer },
  {
    progressive: kind.asIs,
    optimizeSize: kind.asIs,
    chromaDownsampling: kind.asIs,
    densityUnit: kind.asIs,
    xDensity: kind.integer,
    yDensity: kind.integer,
    xmpMetadata: kind.asIs,
  },
  (image, format = '', quality: number = 95, options) => {
    const op = 'EncodeJpeg';
    checkOneOf(format, ['', 'grayscale', 'rgb'], 'format', op);
    const channels = { '': [1, 3], grayscale: [1], rgb: [3] }[format as ''];
    const settings = settingsOf(options, checkQuality(quality, op), op);
    const raster = rasterOf(image, channels, ['uint8'], op);
    return atOnce(op, () => byteTensor([jpegBytes(raster, settings, op)], []));
  },
);

function settingsOf(options: EncodeJpegOptions, quality: number, op: string): JpegSettings {
  const flag = (name: 'progressive' | 'optimizeSize' | 'chromaDownsampling'): boolean =>
    checkFlag(options[name] ?? usualSettings[name], name, op);
  const density = (name: 'xDensity' | 'yDensity'): number => {
    const value = options[name] ?? usualSettings[name];
    if (Number.isInteger(value) && value >= 1 && value <= 65535) return value;
    throw new InvalidArgumentError(`${name} must be an integer from 1 to 65535, got ${shown(value)}`, op);
  };
  const { densityUnit = usualSettings.densityUnit, xmpMetadata = '' } = options;
  checkOneOf(densityUnit, ['in', 'cm'], 'densityUnit', op);
  if (typeof xmpMetadata !== 'string')
    throw new InvalidArgumentError(`xmpMetadata must be a text, got ${shown(xmpMetadata)}`, op);
  return {
    quality,
    progressive: flag('progressive'),
    optimizeSize: flag('optimizeSize'),
    chromaDownsampling: flag('chromaDownsampling'),
    densityUnit,
    xDensity: density('xDensity'),
    yDensity: density('yDensity'),
    xmpMetadata: bytesOf(xmpMetadata),
  };
}

function checkQuality(quality: number, op: string): number {
  if (Number.isInteger(quality) && quality >= 0 && quality <= 100) return Math.max(1, quality);
  throw new InvalidArgumentError(`the quality must be an integer from 0 to 100, got ${quality}`, op);
}

/** A picture as it is after it was written to a JPEG file of this quality. Floats are from 0 to 1. */
export const adjustJpegQuality: NamedFunction<
  [image: TensorLike, jpegQuality: number],
  ['image', 'jpegQuality'],
  {
    /** TensorFlow's choice between exact and fast sums, which are the same here. */
    readonly dctMethod?: DctMethod;
  }
> = /* @__PURE__ */ defineFunction(
  'image.adjustJpegQuality',
  { image: kind.tensor, jpegQuality: kind.integer },
  { dctMethod: kind.asIs },
  (image, jpegQuality: number, { dctMethod = '' }) => {
    const op = 'AdjustJpegQuality';
    const given = toTensor(image);
    needsValue(given, op);
    checkOneOf(given.dtype, ['uint8', 'float32', 'float64', 'float16', 'bfloat16'], 'the dtype of image', op);
    return onKnown(op, [given], (x) => {
      // As `tf.image.convertImageDtype` with saturation rounds: down.
      const bytes =
        x.dtype === 'uint8' ? x : x.cast('float32').mul(255.5).clipByValue(0, 255).floor().cast('uint8');
      const settings = { ...usualSettings, quality: checkQuality(jpegQuality, op) };
      const written = jpegBytes(rasterOf(bytes, [1, 3], ['uint8'], op), settings, op);
      const read = rasterTensor(jpegFrom(written, x.shape[2], { dctMethod }, op));
      return x.dtype === 'uint8' ? read : read.cast('float32').div(255).cast(x.dtype);
    });
  },
);

// ---- headers

/** Whether bytes begin as a JPEG file does. */
export const isJpeg: NamedFunction<[contents: BytesLike], ['contents']> = /* @__PURE__ */ defineFunction(
  'io.isJpeg',
  { contents: kind.tensor },
  {},
  (contents) => {
    const { bytes, shape } = byteStringsOf(contents, 'contents', 'IsJpeg');
    return atOnce('IsJpeg', () => constant(bytes.map(looksLikeJpeg), 'bool', { shape }));
  },
);

/** The shape of the picture in a JPEG file, [height, width, channels], from its header alone. */
export const extractJpegShape: NamedFunction<
  [contents: BytesLike, outputType?: 'int32' | 'int64'],
  ['contents', 'outputType']
> = /* @__PURE__ */ defineFunction(
  'io.extractJpegShape',
  { contents: kind.tensor, outputType: kind.asIs },
  {},
  (contents, outputType = 'int32') => {
    const op = 'ExtractJpegShape';
    checkOneOf(outputType, ['int32', 'int64'], 'outputType', op);
    const { width, height, channels } = jpegHeader(bytesFrom(contents, 'contents', op), op);
    return atOnce(op, () => constant([height, width, channels], 'int32').cast(outputType));
  },
);

function checkQualities(low: number, high: number, op: string): void {
  for (const [name, value] of Object.entries({ minJpegQuality: low, maxJpegQuality: high }))
    if (!Number.isInteger(value) || value < 0 || value > 100)
      throw new InvalidArgumentError(`${name} is ${shown(value)}, expected an integer from 0 to 100`, op);
  if (low >= high)
    throw new InvalidArgumentError(`minJpegQuality ${low} is not below maxJpegQuality ${high}`, op);
}

/** `adjustJpegQuality` with a quality from minJpegQuality up to, but not, maxJpegQuality, drawn at random. */
export const randomJpegQuality: NamedFunction<
  [image: TensorLike, minJpegQuality: number, maxJpegQuality: number],
  ['image', 'minJpegQuality', 'maxJpegQuality'],
  {
    /** Makes the qualities the same in each run of the program; drawn anew unless given. */
    readonly seed?: number | random.SeedSource | null;
  }
> = /* @__PURE__ */ defineFunction(
  'image.randomJpegQuality',
  { image: kind.tensor, minJpegQuality: kind.integer, maxJpegQuality: kind.integer },
  { seed: kind.asIs },
  (image, minJpegQuality, maxJpegQuality, { seed }) => {
    const op = 'image.randomJpegQuality';
    checkQualities(minJpegQuality, maxJpegQuality, op);
    needsValue(toTensor(image), op);
    const range = { minval: minJpegQuality, maxval: maxJpegQuality, dtype: 'int32' as const };
    const quality = random.uniform([], seed === null || seed === undefined ? range : { ...range, seed });
    return adjustJpegQuality(image, quality.item() as number);
  },
);

/** `randomJpegQuality` as a pure function of a seed of two integers: with TensorFlow's quality. */
export const statelessRandomJpegQuality: NamedFunction<
  [image: TensorLike, minJpegQuality: number, maxJpegQuality: number, seed: random.StatelessSeed],
  ['image', 'minJpegQuality', 'maxJpegQuality', 'seed'],
  unknown
> = /* @__PURE__ */ defineFunction(
  'image.statelessRandomJpegQuality',
  { image: kind.tensor, minJpegQuality: kind.integer, maxJpegQuality: kind.integer, seed: kind.asIs },
  {},
  (image, minJpegQuality, maxJpegQuality, seed) => {
    const op = 'image.statelessRandomJpegQuality';
    checkQualities(minJpegQuality, maxJpegQuality, op);
    needsValue(toTensor(image), op);
    const range = { minval: minJpegQuality, maxval: maxJpegQuality, dtype: 'int32' as const };
    return adjustJpegQuality(image, random.statelessUniform([], seed, range).item() as number);
  },
);
