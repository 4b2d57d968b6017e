// Dtypes of images, and colours as brightness and two differences.
import { type DType, dtypeTraits, InvalidArgumentError } from '@eagre/backend';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { dims } from '../../shapes/dims.ts';
import { checkFlag, showShape } from '../../shapes/shape.ts';
import { differs } from '../../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType, isFloating } from '../../tensor/dtypes.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { saturateCast } from '../elementwise/cast.ts';
import { tensordot } from '../linalg/linalg.ts';

/** The largest value of integers, which stands for white. */
const whiteOf = (dtype: DType): number => dtypeTraits[dtype].high;

/** Images of another dtype: floats are from 0 to 1, integers from 0 to the largest. @param saturate cuts what is outside */
export function converted(x: Tensor, dtype: DType, saturate = false): Tensor {
  if (x.dtype === dtype) return x.identity();
  const cast = (y: Tensor): Tensor => (saturate ? saturateCast(y, dtype) : y.cast(dtype));
  if (!isFloating(x.dtype) && !isFloating(dtype)) {
    const [from, to] = [whiteOf(x.dtype), whiteOf(dtype)];
    const factor = Math.floor((Math.max(from, to) + 1) / (Math.min(from, to) + 1));
    return from > to ? cast(x.floorDiv(factor)) : cast(x).mul(factor);
  }
  if (isFloating(x.dtype) && isFloating(dtype)) return cast(x);
  if (isFloating(dtype)) return x.cast(dtype).mul(1 / whiteOf(x.dtype));
  return cast(x.mul(whiteOf(dtype) + 0.5));
}

/**
 * Images of another dtype, with the values that stand for the same colours: floats from 0 to 1, integers from 0 to the largest.
 * @param options.saturate cuts what is outside of the range, which otherwise wraps around; false by default
 */
export const convertImageDtype: NamedFunction<
  [image: TensorLike, dtype: DType],
  ['image', 'dtype'],
  {
    /** Whether values that do not fit become the nearest that do; false by default. */
    readonly saturate?: boolean;
  }
> = /* @__PURE__ */ defineFunction(
  'image.convertImageDtype',
  { image: kind.tensor, dtype: kind.asIs },
  { saturate: kind.asIs },
  (image, dtype, options) => {
    const op = 'image.convertImageDtype';
    const x = toTensor(image);
    for (const of of [x.dtype, dtype]) {
      checkDType(of, 'numeric', 'dtype', op);
      if (of.startsWith('complex'))
        throw new InvalidArgumentError(`${of} has no colours; use floats or integers`, op);
    }
    return converted(x, dtype, checkFlag(options.saturate, 'saturate', op));
  },
);

type ColorFunction = NamedFunction<[images: TensorLike], ['images']>;
/** Colours [..., 3] of floats, each times a matrix. */
const linear = (name: string, matrix: readonly (readonly number[])[]): ColorFunction =>
  defineFunction(`image.${name}`, { images: kind.tensor }, {}, (images) => {
    const op = `image.${name}`;
    const x = toTensor(images);
    checkDType(x.dtype, 'floating', 'images', op);
    if (x.rank === 0 || differs(dims(x)[x.rank - 1], 3))
      throw new InvalidArgumentError(
        `images have shape ${showShape(x.shape)}, expected 3 as the last axis`,
        op,
      );
    return tensordot(x, toTensor(matrix, x.dtype), [[x.rank - 1], [0]]);
  });

/** Red, green and blue [..., 3] as brightness and the two differences of American television (NTSC). */
export const rgbToYiq: ColorFunction = /* @__PURE__ */ linear('rgbToYiq', [
  [0.299, 0.59590059, 0.2115],
  [0.587, -0.27455667, -0.52273617],
  [0.114, -0.32134392, 0.31119955],
]);
/** Undoes `rgbToYiq`. */
export const yiqToRgb: ColorFunction = /* @__PURE__ */ linear('yiqToRgb', [
  [1, 1, 1],
  [0.95598634, -0.27201283, -1.10674021],
  [0.6208248, -0.64720424, 1.70423049],
]);
/** Red, green and blue [..., 3] as brightness and the two differences of European television (PAL). */
export const rgbToYuv: ColorFunction = /* @__PURE__ */ linear('rgbToYuv', [
  [0.299, -0.14714119, 0.61497538],
  [0.587, -0.28886916, -0.51496512],
  [0.114, 0.43601035, -0.10001026],
]);
/** Undoes `rgbToYuv`. */
export const yuvToRgb: ColorFunction = /* @__PURE__ */ linear('yuvToRgb', [
  [1, 1, 1],
  [0, -0.394642334, 2.03206185],
  [1.13988303, -0.58062185, 0],
]);
