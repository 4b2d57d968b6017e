// How images change from place to place, and how alike two images are.
import { InvalidArgumentError } from '@eagre/backend';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { checkCount, checkNumber } from '../../arguments/checks.ts';
import { addDims, type Dim, modDims, subDims } from '../../shapes/dim.ts';
import { dims, dimsOf, sizeOfDims, toShape } from '../../shapes/dims.ts';
import { broadcastShapes, checkFlag, checkList, showShape } from '../../shapes/shape.ts';
import { lessThan } from '../../shapes/shape-env.ts';
import { differs, sizeValue } from '../../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType } from '../../tensor/dtypes.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { iota } from '../array/iota.ts';
import { stack } from '../array/join.ts';
import { pad, reshape } from '../array/shaping.ts';
import { depthwiseConv2d } from '../nn/conv.ts';
import { avgPool2d } from '../nn/pooling.ts';
import { converted } from './colors.ts';
import { toImages } from './images.ts';

// ---- changes

/** The differences of neighbours [n, h, w, c] downwards and to the right; 0 in the last row or column. */
export const imageGradients: NamedFunction<
  [image: TensorLike],
  ['image'],
  unknown,
  [dy: Tensor, dx: Tensor]
> = /* @__PURE__ */ defineFunction('image.imageGradients', { image: kind.tensor }, {}, (image) => {
  const x = toImages(image, 'image.imageGradients');
  if (x.rank !== 4)
    throw new InvalidArgumentError(
      `image has shape ${showShape(x.shape)}, expected [batch, height, width, channels]`,
      'image.imageGradients',
    );
  const none: [number, number] = [0, 0];
  const dy = x.at(':', '1:').sub(x.at(':', ':-1'));
  const dx = x.at(':', ':', '1:').sub(x.at(':', ':', ':-1'));
  return [pad(dy, [none, [0, 1], none, none]), pad(dx, [none, none, [0, 1], none])];
});

/** The sum of the sizes of all differences of neighbours: for each image [..., h, w, c] one number. */
export const totalVariation: NamedFunction<[images: TensorLike], ['images']> = /* @__PURE__ */ defineFunction(
  'image.totalVariation',
  { images: kind.tensor },
  {},
  (images) => {
    const x = toImages(images, 'image.totalVariation');
    const axes = [-3, -2, -1];
    const down = x.at('...', '1:', ':', ':').sub(x.at('...', ':-1', ':', ':'));
    const right = x.at('...', '1:', ':').sub(x.at('...', ':-1', ':'));
    return down.abs().sum(axes).add(right.abs().sum(axes));
  },
);

/** The changes of each channel along rows and columns by Sobel's filters: [n, h, w, c, 2], the one downwards first. */
export const sobelEdges: NamedFunction<[image: TensorLike], ['image']> = /* @__PURE__ */ defineFunction(
  'image.sobelEdges',
  { image: kind.tensor },
  {},
  (image) => {
    const x = toImages(image, 'image.sobelEdges');
    if (x.rank !== 4)
      throw new InvalidArgumentError(
        `image has shape ${showShape(x.shape)}, expected [batch, height, width, channels]`,
        'image.sobelEdges',
      );
    const none: [number, number] = [0, 0];
    const wide = pad(x, [none, [1, 1], [1, 1], none], { mode: 'REFLECT' });
    const [rows, columns] = dims(x).slice(1, 3);
    const part = (i: number, j: number): Tensor =>
      wide.slice([0, i, j, 0], toShape([-1, rows, columns, -1]) as number[]);
    const along = (at: (side: number, middle: number) => Tensor): Tensor =>
      at(2, 0)
        .add(at(2, 2))
        .add(at(2, 1).mul(2))
        .sub(at(0, 0).add(at(0, 2)).add(at(0, 1).mul(2)));
    return stack([along((i, j) => part(i, j)), along((j, i) => part(i, j))], -1);
  },
);

// ---- likeness

/** Two images whose shapes broadcast but for the last three axes, which agree. */
function pairOf(img1: TensorLike, img2: TensorLike, op: string): [Tensor, Tensor] {
  const [a, b] = [toTensor(img1), toTensor(img2)];
  for (const x of [a, b]) {
    checkDType(x.dtype, 'numeric', 'images', op);
    if (x.rank < 3)
      throw new InvalidArgumentError(
        `images have shape ${showShape(x.shape)}, expected [..., height, width, channels]`,
        op,
      );
  }
  if (a.dtype !== b.dtype) throw new InvalidArgumentError(`images are ${a.dtype} and ${b.dtype}`, op);
  const [p, q] = [dims(a).slice(-3), dims(b).slice(-3)];
  if (p.some((d, i) => differs(d, q[i])))
    throw new InvalidArgumentError(
      `images have shapes ${showShape(a.shape)} and ${showShape(b.shape)}, which must agree in the last three axes`,
      op,
    );
  broadcastShapes(dims(a).slice(0, -3), dims(b).slice(0, -3), op);
  return [a, b];
}

/** The range of colours as a float: that of integers as their images become floats. */
function rangeOf(maxVal: number, like: Tensor, op: string): Tensor {
  checkNumber(maxVal, 'maxVal', op);
  return converted(toTensor(maxVal, like.dtype).cast(like.dtype), 'float32');
}

/** The peak signal-to-noise ratio of two images in decibels: one number for each pair [..., h, w, c]. @param maxVal the largest possible difference */
export const psnr: NamedFunction<[a: TensorLike, b: TensorLike, maxVal: number], ['a', 'b', 'maxVal']> =
  /* @__PURE__ */ defineFunction(
    'image.psnr',
    { a: kind.tensor, b: kind.tensor, maxVal: kind.asIs },
    {},
    (a, b, maxVal) => {
      const op = 'image.psnr';
      const [x, y] = pairOf(a, b, op);
      const error = converted(x, 'float32').sub(converted(y, 'float32')).square().mean([-3, -2, -1]);
      return rangeOf(maxVal, x, op)
        .log()
        .mul(20 / Math.LN10)
        .sub(error.log().mul(10 / Math.LN10));
    },
  );

/** Options of `ssim` and `ssimMultiscale`. */
export interface SsimOptions {
  /** The side of the window; 11 by default. */
  readonly filterSize?: number;
  /** The standard deviation of its Gaussian; 1.5 by default. */
  readonly filterSigma?: number;
  /** Keeps means near 0 from counting too much; 0.01 by default. */
  readonly k1?: number;
  /** Keeps variances near 0 from counting too much; 0.03 by default. */
  readonly k2?: number;
  /** Gives a map for each pair, instead of its mean; false by default. */
  readonly returnIndexMap?: boolean;
}
const ssimKinds = {
  filterSize: kind.asIs,
  filterSigma: kind.asIs,
  k1: kind.asIs,
  k2: kind.asIs,
  returnIndexMap: kind.asIs,
};

/** What SSIM and its part of contrast and structure are at each place of floats [n, h, w, c]. */
export function ssimMaps(
  a: Tensor,
  b: Tensor,
  maxVal: TensorLike,
  { filterSize = 11, filterSigma = 1.5, k1 = 0.01, k2 = 0.03 }: SsimOptions,
  op: string,
): [ssim: Tensor, contrast: Tensor] {
  checkCount(filterSize, 'filterSize', op, 1);
  for (const [name, value] of Object.entries({ filterSigma, k1, k2 })) checkNumber(value, name, op);
  if (
    dims(a)
      .slice(1, 3)
      .some((side) => lessThan(side, filterSize))
  )
    throw new InvalidArgumentError(
      `images ${showShape(a.shape)} are smaller than the window of ${filterSize}`,
      op,
    );
  const weights = Array.from({ length: filterSize }, (_, i) =>
    Math.exp(-0.5 * ((i - (filterSize - 1) / 2) / filterSigma) ** 2),
  );
  const total = weights.reduce((s, w) => s + w, 0);
  const line = toTensor(
    weights.map((w) => w / total),
    a.dtype,
  );
  // The window is a product of two lines: a pass down and one across take 2 · size steps for each place, not size².
  const along = (height: number, width: number): Tensor =>
    reshape(line, [height, width, 1, 1]).broadcastTo(toShape([height, width, dims(a)[3], 1]));
  const [down, across] = [along(filterSize, 1), along(1, filterSize)];
  const smooth = (x: Tensor): Tensor => depthwiseConv2d(depthwiseConv2d(x, down), across);
  const [m1, m2] = [smooth(a), smooth(b)];
  const both = m1.mul(m2).mul(2);
  const squares = m1.square().add(m2.square());
  const range = toTensor(maxVal, a.dtype).cast(a.dtype);
  const [c1, c2] = [range.mul(k1).square(), range.mul(k2).square()];
  const luminance = both.add(c1).div(squares.add(c1));
  const products = smooth(a.mul(b)).mul(2);
  const powers = smooth(a.square().add(b.square()));
  const contrast = products.sub(both).add(c2).div(powers.sub(squares).add(c2));
  return [luminance.mul(contrast), contrast];
}

/** Leading axes as one, and back. */
function batched(a: Tensor, b: Tensor, op: string): { a: Tensor; b: Tensor; back: (y: Tensor) => Tensor } {
  const lead = dimsOf(broadcastShapes(dims(a).slice(0, -3), dims(b).slice(0, -3), op));
  const own = dims(a).slice(-3);
  const form = (x: Tensor): Tensor =>
    reshape(x.broadcastTo(toShape([...lead, ...own])), toShape([sizeOfDims(lead), ...own]));
  return { a: form(a), b: form(b), back: (y) => reshape(y, toShape([...lead, ...dims(y).slice(1)])) };
}

/**
 * How alike the structures of two images [..., h, w, c] are, 1 at most: one number for each pair. Wang et al., "Image quality assessment", 2004.
 * @param maxVal the largest possible difference of two colours
 */
export const ssim: NamedFunction<
  [img1: TensorLike, img2: TensorLike, maxVal: number],
  ['img1', 'img2', 'maxVal'],
  SsimOptions
> = /* @__PURE__ */ defineFunction(
  'image.ssim',
  { img1: kind.tensor, img2: kind.tensor, maxVal: kind.asIs },
  ssimKinds,
  (img1, img2, maxVal, options) => {
    const op = 'image.ssim';
    const [x, y] = pairOf(img1, img2, op);
    const { a, b, back } = batched(converted(x, 'float32'), converted(y, 'float32'), op);
    const [map] = ssimMaps(a, b, rangeOf(maxVal, x, op), options, op);
    const whole = checkFlag(options.returnIndexMap, 'returnIndexMap', op);
    return back(whole ? map.mean(-1) : map.mean([1, 2, 3]));
  },
);

const POWERS: readonly number[] = [0.0448, 0.2856, 0.3001, 0.2363, 0.1333];

/**
 * SSIM at several sizes, of which each is half of the one before: the product of what contrast and structure give at each, to these powers.
 * @param options.powerFactors one for each size
 */
export const ssimMultiscale: NamedFunction<
  [img1: TensorLike, img2: TensorLike, maxVal: number],
  ['img1', 'img2', 'maxVal'],
  {
    /** The weight of each scale, from the full size on; five by default. */
    readonly powerFactors?: readonly number[];
  } & Omit<SsimOptions, 'returnIndexMap'>
> = /* @__PURE__ */ defineFunction(
  'image.ssimMultiscale',
  { img1: kind.tensor, img2: kind.tensor, maxVal: kind.asIs },
  { powerFactors: kind.asIs, filterSize: kind.asIs, filterSigma: kind.asIs, k1: kind.asIs, k2: kind.asIs },
  (img1, img2, maxVal, options) => {
    const op = 'image.ssimMultiscale';
    const [x, y] = pairOf(img1, img2, op);
    const powers = checkList(options.powerFactors ?? POWERS, 'powerFactors', op);
    for (const p of powers) checkNumber(p, 'powerFactors', op);
    const range = rangeOf(maxVal, x, op);
    let { a, b, back } = batched(converted(x, 'float32'), converted(y, 'float32'), op);
    const parts: Tensor[] = [];
    powers.forEach((_, i) => {
      if (i > 0) [a, b] = [halved(a), halved(b)];
      const [map, contrast] = ssimMaps(a, b, range, options, op);
      const part = i === powers.length - 1 ? map : contrast;
      parts.push(part.mean([1, 2]).relu());
    });
    const all = stack(parts, -1).pow(toTensor([...powers], 'float32'));
    return back(all.prod(-1)).mean(-1);
  },
);

/** Images of half the size; an odd row or column at the end counts twice. */
function halved(x: Tensor): Tensor {
  const even = (y: Tensor, axis: number, side: Dim): Tensor => {
    const more = modDims(side, 2);
    if (more === 0) return y;
    return y.gather(iota(addDims(side, more)).minimum(sizeValue(subDims(side, 1), 'int32')), axis);
  };
  const [, h, w] = dims(x);
  return avgPool2d(even(even(x, 1, h), 2, w), 2, { strides: 2 });
}
