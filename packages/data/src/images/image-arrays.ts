import { InvalidArgumentError, UnimplementedError } from '@eagre/backend';
import { openCodecs } from '@eagre/backend-wasm/codecs';
import { constant, type NamedFunction, type Tensor, type TensorLike } from '@eagre/core';
import {
  checkFlag,
  checkOneOf,
  checkPath,
  defineFunction,
  isPlain,
  kerasDefaults,
  kind,
  shown,
  showShape,
  toTensor,
  wideFloatx,
} from '@eagre/core/internal';
import { writeFileAtomic } from '@eagre/formats';
import { encodeJpeg, usualSettings } from './jpeg.ts';
import type { Picture } from './picture.ts';
import { encodePng } from './png.ts';

type DataFormat = 'channelsLast' | 'channelsFirst';
type Floats = 'float32' | 'float64';

/** Options of `imgToArray`. */
export interface ImageToArrayOptions {
  /** Where the channels stand in the tensor; that of `tf.keras.config.imageDataFormat()` unless given. */
  readonly dataFormat?: DataFormat | null;
  /** That of `tf.keras.config.floatx()` unless given, of 32 bits at least. */
  readonly dtype?: Floats | null;
}
/** Options of `arrayToImg`. */
export interface ArrayToImageOptions extends ImageToArrayOptions {
  /** Make the smallest value 0 and the largest 255, true unless given; else values must be from 0 to 255. */
  readonly scale?: boolean;
}
/** Options of `saveImg`. */
export interface SaveImageOptions extends Omit<ArrayToImageOptions, 'dtype'> {
  /** `'png'` or `'jpeg'`; what the name of the file ends with unless given. */
  readonly fileFormat?: 'png' | 'jpeg' | 'jpg' | null;
}

const FORMATS: readonly DataFormat[] = ['channelsLast', 'channelsFirst'];

/** A picture, as `loadImg` gives it, as a tensor [height, width, channels] of values from 0 to 255. */
export const imgToArray: NamedFunction<[img: Picture], ['img'], ImageToArrayOptions> =
  /* @__PURE__ */ defineFunction(
    'tf.keras.utils.imgToArray',
    { img: kind.structure },
    { dataFormat: true, dtype: true },
    (img: unknown, options): Tensor => {
      const { width, height, channels, data } = checkPicture(img);
      const { first, dtype } = read(options, 'imgToArray');
      const x = constant({
        data: new Uint8Array(data),
        shape: [height, width, channels],
        dtype: 'uint8',
      }).cast(dtype);
      return first ? x.transpose([2, 0, 1]) : x;
    },
  );

/**
 * A tensor [height, width, channels], with 1, 3 or 4 channels, as a picture of 8 bits. Fractions are cut off.
 * @throws InvalidArgumentError for other shapes, and, without `scale`, for values that are no bytes
 */
export const arrayToImg: NamedFunction<[x: TensorLike], ['x'], ArrayToImageOptions, Picture> =
  /* @__PURE__ */ defineFunction(
    'tf.keras.utils.arrayToImg',
    { x: kind.tensor },
    { dataFormat: true, scale: true, dtype: true },
    (x: TensorLike, options): Picture => pictureOf(x, options, 'arrayToImg'),
  );

/** Writes a tensor [height, width, channels] to a PNG or JPEG file, see `arrayToImg`. JPEG has no transparency. */
export const saveImg: NamedFunction<
  [path: string, x: TensorLike],
  ['path', 'x'],
  SaveImageOptions,
  Promise<void>
> = /* @__PURE__ */ defineFunction(
  'tf.keras.utils.saveImg',
  { path: true, x: kind.tensor },
  { dataFormat: true, fileFormat: true, scale: true },
  async (path: string, x: TensorLike, options): Promise<void> => {
    if (typeof path !== 'string')
      throw new InvalidArgumentError(`the path comes first, saveImg(path, x), got ${shown(path)}`, 'saveImg');
    checkPath(path, 'path', 'saveImg');
    const { fileFormat } = options;
    const format = (fileFormat ?? path.slice(path.lastIndexOf('.') + 1)).toLowerCase();
    if (!['png', 'jpg', 'jpeg'].includes(format))
      throw new UnimplementedError(`only PNG and JPEG can be written, not '${format}'`, 'saveImg');
    const picture = pictureOf(x, options, 'saveImg');
    await openCodecs();
    await writeFileAtomic(path, format === 'png' ? png(picture) : jpeg(picture));
  },
);

function read(
  { dataFormat, dtype }: ImageToArrayOptions,
  what: string,
): { readonly first: boolean; readonly dtype: Floats } {
  const format = dataFormat ?? kerasDefaults.imageDataFormat;
  checkOneOf(format, FORMATS, 'dataFormat', what);
  const floats = dtype ?? wideFloatx();
  checkOneOf(floats, ['float32', 'float64'], 'dtype', what);
  return { first: format === 'channelsFirst', dtype: floats };
}

function pictureOf(given: TensorLike, options: ArrayToImageOptions, what: string): Picture {
  const { first, dtype } = read(options, what);
  const { scale = true } = options;
  checkFlag(scale, 'scale', what);
  const whole = toTensor(given).cast(dtype);
  const x = first && whole.rank === 3 ? whole.transpose([1, 2, 0]) : whole;
  const [height, width, channels] = x.shape;
  if (x.rank !== 3 || ![1, 3, 4].includes(channels) || x.size === 0)
    throw new InvalidArgumentError(
      `expected an image of shape [height, width, 1, 3 or 4], got ${showShape(x.shape)}`,
      what,
    );
  const values = (scale ? scaled(x) : x).data() as Float32Array;
  const wrong = values.find((value) => !(value > -1 && value < 256));
  if (wrong !== undefined)
    throw new InvalidArgumentError(`expected values from 0 to 255, got ${wrong}`, what);
  return { width, height, channels: channels as 1 | 3 | 4, data: Uint8Array.from(values) };
}

function scaled(x: Tensor): Tensor {
  const positive = x.sub(x.min());
  const most = positive.max().item();
  return (most === 0 ? positive : positive.div(most)).mul(255);
}

/** @throws InvalidArgumentError for what is no picture */
function checkPicture(img: unknown): Picture {
  const { width, height, channels, data } = (isPlain(img) ? img : {}) as Partial<Picture>;
  if (
    (data instanceof Uint8Array || data instanceof Uint8ClampedArray) &&
    [1, 2, 3, 4].includes(channels as number) &&
    data.length === (width as number) * (height as number) * (channels as number)
  )
    return img as Picture;
  throw new InvalidArgumentError(
    `expected a picture { width, height, channels, data }, got ${shown(img)}`,
    'imgToArray',
  );
}

function png({ width, height, channels, data }: Picture): Uint8Array {
  return encodePng({ width, height, channels, depth: 8, data: new Uint8Array(data) }, 'saveImg');
}

function jpeg({ width, height, channels, data }: Picture): Uint8Array {
  if (channels === 4) console.warn('saveImg: JPEG has no transparency; the colours alone are written');
  const own = channels < 3 ? 1 : 3;
  // Without transparency.
  const values = new Uint8Array(width * height * own);
  for (let i = 0; i < width * height; i++)
    for (let c = 0; c < own; c++) values[i * own + c] = data[i * channels + c];
  const raster = { width, height, channels: own, depth: 8, data: values } as const;
  return encodeJpeg(raster, { ...usualSettings, quality: 75 }, 'saveImg');
}
