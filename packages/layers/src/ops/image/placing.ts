// Images of other sizes: cut, surrounded, resized, in pieces.
import { eye, type NamedFunction, saturateCast, type Tensor, type TensorLike } from '@eagre/core';
import {
  addDims,
  cropped,
  type Dim,
  defineFunction,
  dims,
  floorDivDims,
  isFloating,
  kind,
  maxDims,
  minDims,
  mulDims,
  resizeBatch,
  shown,
  subDims,
  surrounded,
  toTensor,
} from '@eagre/core/internal';
import { formatOf, integer as integerKind, named, refuse } from '../define.ts';
import { conv } from '../nn/conv.ts';
import { each, type Padding, type Sizes } from '../nn/windows.ts';
import { type FormatOption, ofImages } from './images.ts';

/** A side: what is before, behind and between, one of which follows from the others. */
function side(
  size: Dim,
  before: number | null,
  behind: number | null,
  target: number | null,
  grows: boolean,
  name: string,
): readonly [before: Dim, behind: Dim, target: Dim] {
  if ([before, behind, target].filter((v) => v === null).length !== 1)
    refuse('of what is before, behind, and the size of the result, two must be given', name);
  const rest = target === null ? null : grows ? subDims(target, size) : subDims(size, target);
  const first = before ?? subDims(rest as Dim, behind as number);
  const last = behind ?? subDims(rest as Dim, first);
  const change = addDims(first, last);
  return [first, last, target ?? (grows ? addDims(size, change) : subDims(size, change))];
}

const sizes = { targetHeight: integerKind, targetWidth: integerKind, dataFormat: kind.asIs };
interface Targets extends FormatOption {
  readonly targetHeight?: number | null;
  readonly targetWidth?: number | null;
}
type Names<T extends string> = `top${T}` | `left${T}` | `bottom${T}` | `right${T}`;
type Placing<T extends string> = NamedFunction<
  [images: TensorLike],
  ['images'],
  Targets & { readonly [K in Names<T>]?: number | null }
>;

/** Images without so many rows and columns at their borders; of each direction two of three numbers are given. */
export const cropImages: Placing<'Cropping'> = defineFunction(
  named('image.cropImages'),
  { images: kind.tensor },
  {
    ...sizes,
    topCropping: integerKind,
    leftCropping: integerKind,
    bottomCropping: integerKind,
    rightCropping: integerKind,
  },
  (images, options) =>
    ofImages(images, options.dataFormat, 'image.cropImages', (x) => {
      const { topCropping: top, bottomCropping: bottom, leftCropping: left, rightCropping: right } = options;
      const [, h, w] = dims(x);
      const rows = side(
        h,
        top ?? null,
        bottom ?? null,
        options.targetHeight ?? null,
        false,
        'image.cropImages',
      );
      const columns = side(
        w,
        left ?? null,
        right ?? null,
        options.targetWidth ?? null,
        false,
        'image.cropImages',
      );
      return cropped(x, [rows[0], columns[0]], [rows[2], columns[2]]);
    }),
);

/** Images with zeros around them; of each direction two of three numbers are given. */
export const padImages: Placing<'Padding'> = defineFunction(
  named('image.padImages'),
  { images: kind.tensor },
  {
    ...sizes,
    topPadding: integerKind,
    leftPadding: integerKind,
    bottomPadding: integerKind,
    rightPadding: integerKind,
  },
  (images, options) =>
    ofImages(images, options.dataFormat, 'image.padImages', (x) => {
      const { topPadding: top, bottomPadding: bottom, leftPadding: left, rightPadding: right } = options;
      const [, h, w] = dims(x);
      const rows = side(
        h,
        top ?? null,
        bottom ?? null,
        options.targetHeight ?? null,
        true,
        'image.padImages',
      );
      const columns = side(
        w,
        left ?? null,
        right ?? null,
        options.targetWidth ?? null,
        true,
        'image.padImages',
      );
      return surrounded(x, [rows[0], rows[1]], [columns[0], columns[1]], 0);
    }),
);

type Method = 'bilinear' | 'nearest' | 'bicubic' | 'lanczos3' | 'lanczos5' | 'area';
interface ResizeOptions extends FormatOption {
  /** `bilinear` by default. */
  readonly interpolation?: Method;
  /** Whether images that become smaller are smoothed before; false by default. */
  readonly antialias?: boolean;
  /** Whether what does not fit into the new proportions is cut off. */
  readonly cropToAspectRatio?: boolean;
  /** Whether images are surrounded where their proportions are others. */
  readonly padToAspectRatio?: boolean;
  /** `constant`, the only one. */
  readonly fillMode?: 'constant';
  readonly fillValue?: number;
}
const METHODS: readonly string[] = ['bilinear', 'nearest', 'bicubic', 'lanczos3', 'lanczos5', 'area'];
const half = (n: Dim): Dim => floorDivDims(n, 2);

/** Images of another size [height, width]; integers stay integers. */
export const resize: NamedFunction<
  [images: TensorLike, size: readonly [height: number, width: number]],
  ['images', 'size'],
  ResizeOptions
> = defineFunction(
  named('image.resize'),
  { images: kind.tensor, size: kind.shape },
  {
    interpolation: kind.asIs,
    antialias: kind.asIs,
    cropToAspectRatio: kind.asIs,
    padToAspectRatio: kind.asIs,
    fillMode: kind.asIs,
    fillValue: kind.asIs,
    dataFormat: kind.asIs,
  },
  (images, size, options) => {
    const {
      interpolation = 'bilinear',
      antialias = false,
      cropToAspectRatio,
      padToAspectRatio,
      fillValue = 0,
    } = options;
    if (!METHODS.includes(interpolation))
      refuse(
        `interpolation is '${String(interpolation)}', expected one of ${METHODS.join(', ')}`,
        'image.resize',
      );
    if (cropToAspectRatio === true && padToAspectRatio === true)
      refuse('cropToAspectRatio and padToAspectRatio exclude each other', 'image.resize');
    if (!Array.isArray(size) || size.length !== 2)
      refuse(`size must be [height, width], got ${shown(size)}`, 'image.resize');
    const [height, width] = size;
    return ofImages(images, options.dataFormat, 'image.resize', (given) => {
      let x = interpolation === 'nearest' || isFloating(given.dtype) ? given : given.cast('float32');
      const [, h, w] = dims(x);
      const other = [floorDivDims(mulDims(w, height), width), floorDivDims(mulDims(h, width), height)];
      if (cropToAspectRatio === true) {
        const to = [maxDims(1, minDims(h, other[0])), maxDims(1, minDims(w, other[1]))] as const;
        x = cropped(x, [half(subDims(h, to[0])), half(subDims(w, to[1]))], to);
      } else if (padToAspectRatio === true) {
        const [rows, columns] = [subDims(maxDims(h, other[0]), h), subDims(maxDims(w, other[1]), w)].map(
          half,
        );
        x = surrounded(x, [rows, rows], [columns, columns], fillValue);
      }
      const y = resizeBatch(x, [height, width], interpolation, antialias);
      return y.dtype === given.dtype ? y : saturateCast(y.round(), given.dtype);
    });
  },
);

interface PatchOptions extends FormatOption {
  /** The size by default. */
  readonly strides?: Sizes | null;
  /** Distance of the pixels of a patch; 1 by default. */
  readonly dilationRate?: Sizes;
  /** `valid` (whole patches only) by default; `same` puts zeros around. */
  readonly padding?: Padding;
}
type Patches<N extends string> = NamedFunction<[images: TensorLike, size: Sizes], [N, 'size'], PatchOptions>;
const patchOptions = {
  strides: kind.asIs,
  dilationRate: kind.asIs,
  padding: kind.asIs,
  dataFormat: kind.asIs,
};

/** Windows as channels: a convolution with one filter for each of their numbers. */
function patches(x: Tensor, window: readonly number[], options: PatchOptions): Tensor {
  const { strides, padding = 'valid', dilationRate = 1 } = options;
  const channels = x.shape[x.rank - 1];
  const count = window.reduce((a, b) => a * b, channels);
  const kernel = eye(count, { dtype: x.dtype as 'float32' }).reshape([...window, channels, count]);
  return conv(x, kernel, { strides: strides ?? window, padding, dilationRate });
}

/** The windows of images, each as the channels of one pixel: [..., rows, columns, window · channels]. Of three sizes, windows of volumes. */
export const extractPatches: Patches<'images'> = defineFunction(
  named('image.extractPatches'),
  { images: kind.tensor, size: kind.asIs },
  patchOptions,
  (images, size, options) => {
    if (size === null)
      refuse('size must be an integer or a list of integers, got null', 'image.extractPatches');
    if (Array.isArray(size) && size.length === 3) return extractPatches3d(images, size, options);
    return ofImages(images, options.dataFormat, 'image.extractPatches', (x) =>
      patches(x, each(size, 2, 1), options),
    );
  },
);

/** The windows of volumes [batch, depth, height, width, channels], each as the channels of one place. */
export const extractPatches3d: Patches<'volumes'> = defineFunction(
  named('image.extractPatches3d'),
  { volumes: kind.tensor, size: kind.asIs },
  patchOptions,
  (volumes, size, options) => {
    const x = toTensor(volumes);
    const first = formatOf(options.dataFormat) === 'channels_first';
    const last = first ? x.moveAxis(-4, -1) : x;
    const y = patches(x.rank === 4 ? last.expandDims(0) : last, each(size, 3, 1), options);
    const own = x.rank === 4 ? y.squeeze(0) : y;
    return first ? own.moveAxis(-1, -4) : own;
  },
);
