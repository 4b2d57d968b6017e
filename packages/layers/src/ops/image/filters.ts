// Colors, smoothing, edges, and how alike two images are.
import { image as core, type NamedFunction, type Tensor, type TensorLike } from '@eagre/core';
import { defineFunction, dims, isFloating, kind, toTensor } from '@eagre/core/internal';
import { blurred } from '../../layers/preprocessing/blur.ts';
import { floating, formatOf, named, refuse } from '../define.ts';
import { type FormatOption, ofImages } from './images.ts';

type Color = NamedFunction<[images: TensorLike], ['images'], FormatOption>;
const color = (
  name: string,
  run: (x: Tensor) => Tensor,
  read: (x: TensorLike) => TensorLike = (x) => x,
): Color =>
  defineFunction(
    named(`image.${name}`),
    { images: kind.tensor },
    { dataFormat: kind.asIs },
    (images, { dataFormat }) => ofImages(read(images), dataFormat, `image.${name}`, run),
  );
/** Red, green and blue as hue, saturation and value, all from 0 to 1. */
export const rgbToHsv: Color = color('rgbToHsv', (x) => core.rgbToHsv(x), floating);
/** Hue, saturation and value as red, green and blue, all from 0 to 1. */
export const hsvToRgb: Color = color('hsvToRgb', (x) => core.hsvToRgb(x), floating);
/** Images of one channel, which are gray; those that have one stay. */
export const rgbToGrayscale: Color = color('rgbToGrayscale', (x) =>
  dims(x)[3] === 1 ? x.identity() : core.rgbToGrayscale(x),
);

type Two = number | readonly [number, number];
const twoOf = (value: Two): readonly [number, number] =>
  typeof value === 'number' ? [value, value] : [value[0], value[1]];

/** Images smoothed by a Gaussian; zeros lie beyond the border. */
export const gaussianBlur: NamedFunction<
  [images: TensorLike, kernelSize?: Two, sigma?: Two],
  ['images', 'kernelSize', 'sigma'],
  FormatOption
> = defineFunction(
  named('image.gaussianBlur'),
  { images: kind.tensor, kernelSize: kind.asIs, sigma: kind.asIs },
  { dataFormat: kind.asIs },
  (images, kernelSize: Two = [3, 3], sigma: Two = [1, 1], { dataFormat }) =>
    ofImages(floating(images), dataFormat, 'image.gaussianBlur', (x) => {
      const [wide, high] = twoOf(sigma).map((s) => toTensor(s, x.dtype));
      return blurred(x, twoOf(kernelSize), [wide, high]);
    }),
);

/** The changes of each channel along rows and columns by Sobel's filters: [..., h, w, c, 2], the one downwards first. */
export const sobelEdges: NamedFunction<[images: TensorLike], ['images'], FormatOption> = defineFunction(
  named('image.sobelEdges'),
  { images: kind.tensor },
  { dataFormat: kind.asIs },
  (images, { dataFormat }) => {
    const given = floating(images);
    const first = formatOf(dataFormat) === 'channels_first';
    const x = first ? given.moveAxis(1, -1) : given;
    if (x.rank !== 4) refuse(`images have shape [${x.shape}], expected rank 4`, 'image.sobelEdges');
    const edges = core.sobelEdges(x);
    return first ? edges.transpose([0, 3, 1, 2, 4]) : edges;
  },
);

interface SsimOptions extends FormatOption {
  /** The difference of the largest and the smallest possible value; 1 by default. */
  readonly maxVal?: number;
  readonly filterSize?: number;
  readonly filterSigma?: number;
  readonly k1?: number;
  readonly k2?: number;
}
/** How alike the structures of two images are, 1 at most: one number for each image. Wang et al., 2004. */
export const ssim: NamedFunction<
  [image1: TensorLike, image2: TensorLike],
  ['image1', 'image2'],
  SsimOptions
> = defineFunction(
  named('image.ssim'),
  { image1: kind.tensor, image2: kind.tensor },
  {
    maxVal: kind.asIs,
    filterSize: kind.asIs,
    filterSigma: kind.asIs,
    k1: kind.asIs,
    k2: kind.asIs,
    dataFormat: kind.asIs,
  },
  (image1, image2, { maxVal = 1, filterSize = 11, filterSigma = 1.5, k1 = 0.01, k2 = 0.03, dataFormat }) => {
    const result = stackOfTwo(image1, image2, dataFormat, (a, b) =>
      core.ssim(a, b, maxVal, { filterSize, filterSigma, k1, k2 }),
    );
    const given = toTensor(image1);
    return isFloating(given.dtype) ? result.cast(given.dtype) : result;
  },
);

function stackOfTwo(
  image1: TensorLike,
  image2: TensorLike,
  dataFormat: FormatOption['dataFormat'],
  run: (a: Tensor, b: Tensor) => Tensor,
): Tensor {
  const form = (x: TensorLike): Tensor => {
    const t = floating(x);
    const batch = t.rank === 3 ? t.expandDims(0) : t;
    return formatOf(dataFormat) === 'channels_first' ? batch.moveAxis(1, -1) : batch;
  };
  const y = run(form(image1), form(image2));
  return toTensor(image1).rank === 3 ? y.squeeze(0) : y;
}
