// Parts of images around places.
import { InvalidArgumentError } from '@eagre/backend';
import type { IntegersLike } from '../../arguments/argument-kinds.ts';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { checkOneOf } from '../../arguments/checks.ts';
import { normal, uniform } from '../../random/random.ts';
import type { Dim } from '../../shapes/dim.ts';
import { dims, toShape } from '../../shapes/dims.ts';
import { checkFlag, checkShape, type Shape, showShape } from '../../shapes/shape.ts';
import { differs, sizeValue } from '../../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType } from '../../tensor/dtypes.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { iota } from '../array/iota.ts';
import { where } from '../elementwise/select.ts';

const OP = 'image.extractGlimpse';

/** Options of `extractGlimpse`. */
export interface GlimpseOptions {
  /** Whether offsets are from the middle of the image, where (0, 0) is, else from the upper left corner; true by default. */
  readonly centered?: boolean;
  /** Whether offsets are shares of the image, from −1 to 1 where they are centered, else pixels; true by default. */
  readonly normalized?: boolean;
  /** What is beyond the image: uniform numbers of the image's range (default), normal ones of its mean and deviation, or 0. */
  readonly noise?: 'uniform' | 'gaussian' | 'zero';
}

/** Where each window begins along one axis, as int32 [batch]. */
function starts(offset: Tensor, image: Dim, window: Dim, centered: boolean, normalized: boolean): Tensor {
  const [size, own] = [image, window].map((d) => toTensor(sizeValue(d, 'float32'), 'float32')) as [
    Tensor,
    Tensor,
  ];
  const place = normalized ? offset.mul(size) : offset;
  if (!centered) return place.cast('int32');
  // TensorFlow takes half of the window off shares only: offsets in pixels are those of the corner.
  if (!normalized) return place.add(size.div(2)).cast('int32');
  return place.div(2).add(size.div(2)).sub(own.div(2)).cast('int32');
}

/** The pixels of each image along an axis, and whether they are there: [batch, window, …]. */
function taken(
  images: Tensor,
  axis: 1 | 2,
  from: Tensor,
  window: Dim,
): { readonly pixels: Tensor; readonly inside: Tensor } {
  const size = toTensor(sizeValue(dims(images)[axis] as Dim, 'int32'), 'int32');
  const places = from.expandDims(1).add(iota(window));
  const inside = places.greaterEqual(0).logicalAnd(places.less(size));
  const clamped = places.maximum(0).minimum(size.sub(1));
  return { pixels: images.gather(clamped, axis, { batchDims: 1 }), inside };
}

/**
 * A window of each image around a place: [batch, *size, channels]. What is beyond the image is noise.
 * @param input images [batch, height, width, channels], float32
 * @param size of the window: height, width
 * @param offsets [batch, 2], the middles of the windows: y, x
 */
export const extractGlimpse: NamedFunction<
  [input: TensorLike, size: IntegersLike, offsets: TensorLike],
  ['input', 'size', 'offsets'],
  GlimpseOptions
> = /* @__PURE__ */ defineFunction(
  OP,
  { input: kind.tensor, size: kind.shape, offsets: kind.tensor },
  { centered: kind.asIs, normalized: kind.asIs, noise: kind.asIs },
  (input, size, offsets, { centered = true, normalized = true, noise = 'uniform' }) => {
    const x = toTensor(input, 'float32');
    checkDType(x.dtype, 'floating', 'input', OP);
    const at = toTensor(offsets, 'float32').cast('float32').stopGradient();
    checkOneOf(noise, ['uniform', 'gaussian', 'zero'], 'noise', OP);
    const window = dims({ shape: checkShape(size as Shape, OP) });
    if (
      x.rank !== 4 ||
      window.length !== 2 ||
      at.rank !== 2 ||
      differs(dims(at)[1] as Dim, 2) ||
      differs(dims(at)[0] as Dim, dims(x)[0] as Dim)
    )
      throw new InvalidArgumentError(
        `input ${showShape(x.shape)}, size ${showShape(size as Shape)} and offsets ${showShape(at.shape)} must be [batch, height, width, channels], two sizes and [batch, 2]`,
        OP,
      );
    const [isCentered, isNormalized] = [
      checkFlag(centered, 'centered', OP),
      checkFlag(normalized, 'normalized', OP),
    ];
    const [, height, width] = dims(x) as [Dim, Dim, Dim, Dim];
    const place = (axis: 0 | 1, image: Dim): Tensor =>
      starts(at.at(':', axis), image, window[axis] as Dim, isCentered, isNormalized);
    const rows = taken(x, 1, place(0, height), window[0] as Dim);
    const columns = taken(rows.pixels, 2, place(1, width), window[1] as Dim);
    const inside = rows.inside.expandDims(2).logicalAnd(columns.inside.expandDims(1)).expandDims(3);
    const shape = toShape(dims(columns.pixels));
    const outside =
      noise === 'zero'
        ? 0
        : noise === 'uniform'
          ? uniform(shape, { minval: x.min().stopGradient(), maxval: x.max().stopGradient(), dtype: x.dtype })
          : normal(shape, {
              mean: x.mean().stopGradient(),
              stddev: x.variance().sqrt().stopGradient(),
              dtype: x.dtype,
            });
    return where(inside, columns.pixels, outside);
  },
);
