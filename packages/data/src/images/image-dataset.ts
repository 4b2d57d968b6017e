import { InvalidArgumentError } from '@eagre/backend';
import { constant, type Tensor } from '@eagre/core';
import { type Arguments, defineFunction, type NamedFunction, shown } from '@eagre/core/internal';
import { TensorSpec } from '@eagre/graph';
import { type Awaitable, after } from '../pipeline/iterator.ts';
import { checkCount } from '../pipeline/options.ts';
import { type BothSubsets, type FolderArguments, type FolderOptions, folderNames } from './folder-files.ts';
import { type FolderDataset, folderDataset } from './folder-node.ts';
import {
  type Box,
  CHANNELS,
  type ColorMode,
  type Interpolation,
  type Picture,
  pictureDecoder,
  resized,
  withChannels,
} from './picture.ts';

const EXTENSIONS = ['.bmp', '.gif', '.jpeg', '.jpg', '.png'];

/** Options of {@link imageDatasetFromDirectory}; names and defaults are Keras's. */
export interface ImageDatasetOptions extends FolderOptions {
  /** Default: `'rgb'`. */
  readonly colorMode?: ColorMode | undefined;
  /** Height and width that all pictures are brought to. Default: [256, 256]. */
  readonly imageSize?: readonly [height: number, width: number] | undefined;
  /** Default: `'bilinear'`. */
  readonly interpolation?: Interpolation | undefined;
  /** Cut pictures to the proportions of `imageSize` before they are resized. Default: false. */
  readonly cropToAspectRatio?: boolean | undefined;
  /** Keep the proportions of pictures, and fill up with black. Default: false. */
  readonly padToAspectRatio?: boolean | undefined;
  /** Decodes files in the place of the built-in decoders of PNG and JPEG; may be asynchronous, as `sharp` is. */
  readonly decode?: ((bytes: Uint8Array, path: string) => Awaitable<Picture>) | undefined;
}

/**
 * Pictures in folders that name their classes, as batches: images, float32 [batch, height, width, channels] from 0 to 255, and
 * labels (with `labels: null` or `labelMode: null` the images alone). The same as Keras's `image_dataset_from_directory`;
 * PNG files give the same numbers, and so do JPEG files with the native codecs. The order of `shuffle` is its own, over
 * all files, and another one at each pass.
 *
 *     const train = await tf.keras.utils.imageDatasetFromDirectory('photos', { imageSize: [64, 64], validationSplit: 0.2, subset: 'training', seed: 1 });
 *
 * @throws NotFoundError when there is no such folder, or no picture in it.
 * @throws InvalidArgumentError for wrong options; iterating throws it, with the file, for a damaged picture.
 */
export const imageDatasetFromDirectory: {
  (
    ...args: FolderArguments<
      BothSubsets<ImageDatasetOptions> & ({ readonly labels: null } | { readonly labelMode: null })
    >
  ): Promise<[training: FolderDataset<Tensor>, validation: FolderDataset<Tensor>]>;
  (
    ...args: FolderArguments<BothSubsets<ImageDatasetOptions>>
  ): Promise<[training: FolderDataset<[Tensor, Tensor]>, validation: FolderDataset<[Tensor, Tensor]>]>;
  (
    ...args: FolderArguments<ImageDatasetOptions & ({ readonly labels: null } | { readonly labelMode: null })>
  ): Promise<FolderDataset<Tensor>>;
  (
    ...args: Arguments<[directory: string], ['directory'], ImageDatasetOptions>
  ): Promise<FolderDataset<[images: Tensor, labels: Tensor]>>;
} = defineFunction<
  NamedFunction<
    [directory: string],
    ['directory'],
    ImageDatasetOptions | BothSubsets<ImageDatasetOptions>,
    Promise<unknown>
  >
>(
  'tf.keras.utils.imageDatasetFromDirectory',
  { directory: true },
  {
    ...folderNames,
    colorMode: true,
    imageSize: true,
    interpolation: true,
    cropToAspectRatio: true,
    padToAspectRatio: true,
    decode: true,
  },
  async (directory, options) => await imagesOf(directory, options),
) as never;

async function imagesOf(
  directory: string,
  options: ImageDatasetOptions | BothSubsets<ImageDatasetOptions>,
): Promise<FolderDataset<Tensor | [Tensor, Tensor]> | FolderDataset<Tensor | [Tensor, Tensor]>[]> {
  const what = 'imageDatasetFromDirectory';
  const { colorMode = 'rgb', imageSize = [256, 256], interpolation = 'bilinear' } = options;
  const { cropToAspectRatio = false, padToAspectRatio = false } = options;
  if (!Object.hasOwn(CHANNELS, colorMode))
    throw new InvalidArgumentError(
      `colorMode must be 'rgb', 'grayscale' or 'rgba', got ${String(colorMode)}`,
      what,
    );
  if (interpolation !== 'bilinear' && interpolation !== 'nearest')
    throw new InvalidArgumentError(
      `interpolation must be 'bilinear' or 'nearest', got ${String(interpolation)}; for others pass a decoder that resizes as \`decode\``,
      what,
    );
  if (cropToAspectRatio && padToAspectRatio)
    throw new InvalidArgumentError(
      'pictures can be cropped or padded, not both: choose one of the two options',
      what,
    );
  if (!Array.isArray(imageSize) || imageSize.length !== 2)
    throw new InvalidArgumentError(`imageSize must be [height, width], got ${shown(imageSize)}`, what);
  const [height, width] = imageSize as readonly [number, number];
  checkCount(height, 'the height in imageSize', what);
  checkCount(width, 'the width in imageSize', what);
  const decode = options.decode ?? (await pictureDecoder());
  const channels = CHANNELS[colorMode];

  const toTensor = (picture: Picture): Tensor => {
    const size = { width: picture.width, channels };
    const image = withChannels(checkPicture(picture), channels);
    const from = cropToAspectRatio ? cropped(picture, height, width) : whole(picture);
    const to = padToAspectRatio ? fitted(picture, height, width) : { top: 0, left: 0, height, width };
    const small = resized(image, size, from, [to.height, to.width], interpolation);
    const data = padToAspectRatio ? pasted(small, to, height, width, channels) : small;
    return constant({ data, shape: [height, width, channels], dtype: 'float32' });
  };
  const bilinear = interpolation === 'bilinear';
  const content = {
    // Threads do what the functions here do.
    recipe:
      options.decode === undefined
        ? { height, width, channels, bilinear, cropToAspectRatio, padToAspectRatio }
        : undefined,
    spec: new TensorSpec([height, width, channels], 'float32'),
    decode: (bytes: Uint8Array, path: string) => after(decode(bytes, path), toTensor),
  };
  return folderDataset(directory, EXTENSIONS, content, options, what);
}

/** @throws RangeError for what a decoder should not have made. */
function checkPicture(picture: Picture): Picture {
  const { width, height, channels, data } = picture;
  if ([1, 2, 3, 4].includes(channels) && data.length === width * height * channels && data.length > 0)
    return picture;
  throw new RangeError(
    `decoded to ${data.length} values, which do not match a picture of ${height}×${width}×${channels}`,
  );
}

function whole({ width, height }: Picture): Box {
  return { top: 0, left: 0, height, width };
}

/** The largest rectangle of the target's proportions, in the middle. */
function cropped({ width, height }: Picture, targetHeight: number, targetWidth: number): Box {
  const box = {
    height: Math.max(1, Math.min(height, Math.trunc((width * targetHeight) / targetWidth))),
    width: Math.max(1, Math.min(width, Math.trunc((height * targetWidth) / targetHeight))),
  };
  return { ...box, top: Math.trunc((height - box.height) / 2), left: Math.trunc((width - box.width) / 2) };
}

/** Where the whole picture, made smaller or larger, stands in the middle of the target. */
function fitted({ width, height }: Picture, targetHeight: number, targetWidth: number): Box {
  const ratio = Math.max(width / targetWidth, height / targetHeight);
  const [exactHeight, exactWidth] = [height / ratio, width / ratio];
  return {
    height: Math.max(1, Math.floor(exactHeight)),
    width: Math.max(1, Math.floor(exactWidth)),
    top: Math.max(0, Math.floor((targetHeight - exactHeight) / 2)),
    left: Math.max(0, Math.floor((targetWidth - exactWidth) / 2)),
  };
}

/** An image on black. */
function pasted(
  image: Float32Array,
  box: Box,
  height: number,
  width: number,
  channels: number,
): Float32Array {
  const out = new Float32Array(height * width * channels);
  const row = box.width * channels;
  for (let y = 0; y < box.height; y++)
    out.set(image.subarray(y * row, (y + 1) * row), ((y + box.top) * width + box.left) * channels);
  return out;
}
