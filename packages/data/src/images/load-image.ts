import { EagreError, InvalidArgumentError, withFileErrors } from '@eagre/backend';
import { checkOneOf, checkPath, defineFunction, type NamedFunction, shown } from '@eagre/core/internal';
import { nodeBuiltin } from '@eagre/formats/internal';
import { checkCount } from '../pipeline/options.ts';
import { type Box, CHANNELS, type ColorMode, type Picture, pictureDecoder, withChannels } from './picture.ts';
import { type Resampling, resampled, resamplings } from './resampling.ts';

/** Options of `loadImg`. */
export interface LoadImageOptions {
  /** `'rgb'` unless given. */
  readonly colorMode?: ColorMode;
  /** Height and width; those of the picture unless given. */
  readonly targetSize?: readonly [height: number, width: number] | null;
  /** `'nearest'` unless given. */
  readonly interpolation?: Resampling;
  /** Cut the middle of the picture out, in the proportions of `targetSize`; false unless given. */
  readonly keepAspectRatio?: boolean;
}

const WHAT = 'loadImg';

/**
 * The picture in a file, or in the bytes of one: PNG, JPEG, GIF, BMP or WebP, 8 bits for each value. PNG gives what Keras's `load_img` gives; JPEG
 * differs by a few units: it is decoded as in TensorFlow, by the fast transform.
 *
 *     const image = tf.keras.utils.imgToArray(await tf.keras.utils.loadImg('cat.png', { targetSize: [64, 64] }));
 *
 * @throws NotFoundError when there is no such file, InvalidArgumentError for a damaged picture and wrong options, UnimplementedError
 * for other formats
 */
export const loadImg: NamedFunction<
  [path: string | Uint8Array],
  ['path'],
  LoadImageOptions,
  Promise<Picture>
> = /* @__PURE__ */ defineFunction(
  'tf.keras.utils.loadImg',
  { path: true },
  { colorMode: true, targetSize: true, interpolation: true, keepAspectRatio: true },
  async (path: unknown, options): Promise<Picture> => {
    const { colorMode = 'rgb', interpolation = 'nearest', targetSize = null } = options;
    checkOneOf(colorMode, Object.keys(CHANNELS), 'colorMode', WHAT);
    checkOneOf(interpolation, resamplings, 'interpolation', WHAT);
    if (targetSize !== null && !(Array.isArray(targetSize) && targetSize.length === 2))
      throw new InvalidArgumentError(`targetSize must be [height, width], got ${shown(targetSize)}`, WHAT);
    for (const size of targetSize ?? []) checkCount(size, 'a size in targetSize', WHAT);
    const decode = await pictureDecoder();
    const picture = decoded(decode, path);
    const channels = CHANNELS[colorMode];
    const data = inColours(picture, channels);
    const { width, height } = picture;
    if (targetSize === null || (targetSize[0] === height && targetSize[1] === width))
      return { width, height, channels, data };
    const whole: Box = { top: 0, left: 0, width, height };
    const box = options.keepAspectRatio === true ? middleOf(picture, targetSize) : whole;
    return {
      width: targetSize[1],
      height: targetSize[0],
      channels,
      data: resampled({ data, width, height }, channels, box, targetSize, interpolation),
    };
  },
);

function decoded(decode: (bytes: Uint8Array, path: string) => Picture, path: unknown): Picture {
  if (!(path instanceof Uint8Array)) checkPath(path as string, 'path', WHAT);
  const name = path instanceof Uint8Array ? 'the bytes' : (path as string);
  const bytes =
    path instanceof Uint8Array
      ? path
      : withFileErrors(name, WHAT, () => new Uint8Array(nodeBuiltin('node:fs').readFileSync(name)));
  try {
    return decode(bytes, name);
  } catch (cause) {
    if (cause instanceof EagreError) throw cause;
    throw new InvalidArgumentError(`${name}: ${(cause as Error).message}`, WHAT, { cause });
  }
}

/** The values of so many channels; grey by Pillow's weights. */
function inColours(picture: Picture, channels: 1 | 3 | 4): Uint8Array {
  const { data, channels: from, width, height } = picture;
  if (channels !== 1 || from < 3) return Uint8Array.from(withChannels(picture, channels));
  return Uint8Array.from({ length: width * height }, (_, i) => {
    const [r, g, b] = data.subarray(i * from, i * from + 3);
    return (r * 19595 + g * 38470 + b * 7471 + 0x8000) >> 16;
  });
}

/** The largest rectangle of these proportions, in the middle. */
function middleOf({ width, height }: Picture, [toHeight, toWidth]: readonly [number, number]): Box {
  const box = {
    height: Math.min(height, Math.floor((width * toHeight) / toWidth)),
    width: Math.min(width, Math.floor((height * toWidth) / toHeight)),
  };
  return { ...box, top: Math.floor((height - box.height) / 2), left: Math.floor((width - box.width) / 2) };
}
