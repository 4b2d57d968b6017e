// Colours of images: the last axis has the channels.
import { InvalidArgumentError } from '@eagre/backend';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { dims } from '../../shapes/dims.ts';
import { show, showShape } from '../../shapes/shape.ts';
import { differs } from '../../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType, isFloating } from '../../tensor/dtypes.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { stack } from '../array/join.ts';
import { saturateCast } from '../elementwise/cast.ts';
import { clip, where } from '../elementwise/select.ts';
import { sum } from '../reduce/reduce.ts';

type ColorFunction = NamedFunction<[images: TensorLike], ['images']>;

/** Images whose last axis has so many channels. */
function colored(value: TensorLike, channels: number, op: string): Tensor {
  const x = toTensor(value);
  checkDType(x.dtype, 'numeric', 'images', op);
  const last = dims(x)[x.rank - 1];
  if (last === undefined || differs(last, channels))
    throw new InvalidArgumentError(
      `images have shape ${showShape(x.shape)}, expected ${channels} as the last axis`,
      op,
    );
  return x;
}
const floating = (x: Tensor, op: string): Tensor => {
  checkDType(x.dtype, 'floating', 'images', op);
  return x;
};
const channels = (x: Tensor): Tensor[] => x.unstack(-1);

/** The largest value of a dtype's colours: 1 of floats. */
const whiteOf: Readonly<Record<string, number>> = {
  uint8: 255,
  uint16: 65535,
  int8: 127,
  int16: 32767,
  int32: 2147483647,
};

/** Computes with colours from 0 to 1, whatever the dtype. */
function asUnit(x: Tensor, op: string, fn: (floats: Tensor) => Tensor): Tensor {
  if (isFloating(x.dtype)) return fn(x);
  const white = whiteOf[x.dtype];
  if (white === undefined)
    throw new InvalidArgumentError(`images are ${x.dtype}, expected floats, uint8, uint16 or int32`, op);
  return saturateCast(
    fn(x.cast('float32').mul(1 / white))
      .mul(white + 0.5)
      .floor(),
    x.dtype,
  );
}

/** How much red, green and blue count for brightness (ITU-R BT.601). */
const LUMA = [0.2989, 0.587, 0.114];

/** Brightness of images [..., 3]: [..., 1]. */
export const rgbToGrayscale: ColorFunction = /* @__PURE__ */ defineFunction(
  'image.rgbToGrayscale',
  { images: kind.tensor },
  {},
  (images) =>
    asUnit(colored(images, 3, 'image.rgbToGrayscale'), 'image.rgbToGrayscale', (x) =>
      sum(x.mul(toTensor(LUMA, x.dtype)), -1, { keepdims: true }),
    ),
);

/** Images [..., 1] as red, green and blue of the same brightness: [..., 3]. */
export const grayscaleToRgb: ColorFunction = /* @__PURE__ */ defineFunction(
  'image.grayscaleToRgb',
  { images: kind.tensor },
  {},
  (images) => {
    const x = colored(images, 1, 'image.grayscaleToRgb');
    return x.tile([...new Array<number>(x.rank - 1).fill(1), 3]);
  },
);

/** Hue and saturation, from 0 to 1, of colours of which these are the largest and the least part. */
function hueAndSaturation(
  [r, g, b]: readonly [Tensor, Tensor, Tensor],
  value: Tensor,
  least: Tensor,
): [hue: Tensor, saturation: Tensor] {
  const range = value.sub(least);
  const sixth = range.mul(6);
  const hue = where(
    r.equal(value),
    g.sub(b).divNoNan(sixth),
    where(
      g.equal(value),
      b
        .sub(r)
        .divNoNan(sixth)
        .add(2 / 6),
      r
        .sub(g)
        .divNoNan(sixth)
        .add(4 / 6),
    ),
  );
  return [
    where(range.greater(0), where(hue.less(0), hue.add(1), hue), 0),
    where(value.greater(0), range.divNoNan(value), 0),
  ];
}

/** Hue, saturation and value of colours [..., 3] of floats, all from 0 to 1. */
export const rgbToHsv: ColorFunction = /* @__PURE__ */ defineFunction(
  'image.rgbToHsv',
  { images: kind.tensor },
  {},
  (images) => {
    const op = 'image.rgbToHsv';
    const [r, g, b] = channels(floating(colored(images, 3, op), op));
    // The first of the largest and the last of the smallest have the gradient, and what is no number gives way to what comes after it, as in TensorFlow.
    const larger = (x: Tensor, y: Tensor): Tensor => where(x.greaterEqual(y), x, y);
    const smaller = (x: Tensor, y: Tensor): Tensor => where(x.less(y), x, y);
    const value = larger(larger(r, g), b);
    return stack([...hueAndSaturation([r, g, b], value, smaller(smaller(r, g), b)), value], -1);
  },
);

/** Colours of hue, saturation and value [..., 3] of floats. */
export const hsvToRgb: ColorFunction = /* @__PURE__ */ defineFunction(
  'image.hsvToRgb',
  { images: kind.tensor },
  {},
  (images) => {
    const op = 'image.hsvToRgb';
    const [h, s, v] = channels(floating(colored(images, 3, op), op));
    const angle = h.mul(6);
    const grey = s.neg().add(1);
    const part = (wave: Tensor): Tensor => grey.add(s.mul(clip(wave, 0, 1))).mul(v);
    return stack(
      [
        part(angle.sub(3).abs().sub(1)),
        part(angle.sub(2).abs().neg().add(2)),
        part(angle.sub(4).abs().neg().add(2)),
      ],
      -1,
    );
  },
);

const number = (value: unknown, what: string, op: string): TensorLike => {
  if (typeof value === 'number' && Number.isNaN(value))
    throw new InvalidArgumentError(`${what} must be a number, got ${show(value)}`, op);
  return value as TensorLike;
};

/** Images with `delta`, from -1 to 1, added to each colour. Integers stay in their range. */
export const adjustBrightness: NamedFunction<
  [images: TensorLike, delta: TensorLike],
  ['images|image', 'delta']
> = /* @__PURE__ */ defineFunction(
  'image.adjustBrightness',
  { 'images|image': kind.tensor, delta: kind.tensor },
  {},
  (images, delta) => {
    const op = 'image.adjustBrightness';
    const x = toTensor(images);
    checkDType(x.dtype, 'numeric', 'images', op);
    return asUnit(x, op, (floats) => floats.add(toTensor(number(delta, 'delta', op), floats.dtype)));
  },
);

/** (x − mean) · contrastFactor + mean, with the mean of each channel of each image [..., height, width, channels]. */
export const adjustContrast: NamedFunction<
  [images: TensorLike, contrastFactor: TensorLike],
  ['images', 'contrastFactor']
> = /* @__PURE__ */ defineFunction(
  'image.adjustContrast',
  { images: kind.tensor, contrastFactor: kind.tensor },
  {},
  (images, contrastFactor) => {
    const op = 'image.adjustContrast';
    const x = toTensor(images);
    checkDType(x.dtype, 'numeric', 'images', op);
    if (x.rank < 3)
      throw new InvalidArgumentError(
        `images have shape ${showShape(x.shape)}, expected [..., height, width, channels]`,
        op,
      );
    return asUnit(x, op, (floats) => {
      const mean = floats.mean([-3, -2], { keepdims: true });
      return floats
        .sub(mean)
        .mul(toTensor(number(contrastFactor, 'contrastFactor', op), floats.dtype))
        .add(mean);
    });
  },
);

/** gain · x ^ gamma of colours from 0 to 1. */
export const adjustGamma: NamedFunction<
  [image: TensorLike, gamma?: TensorLike, gain?: TensorLike],
  ['image', 'gamma', 'gain']
> = /* @__PURE__ */ defineFunction(
  'image.adjustGamma',
  { image: kind.tensor, gamma: kind.tensor, gain: kind.tensor },
  {},
  (image, gamma: TensorLike = 1, gain: TensorLike = 1) => {
    const op = 'image.adjustGamma';
    const x = toTensor(image);
    checkDType(x.dtype, 'numeric', 'image', op);
    if (typeof gamma === 'number' && gamma < 0)
      throw new InvalidArgumentError(`gamma is ${gamma}, which must not be negative`, op);
    return asUnit(x, op, (floats) =>
      floats.pow(toTensor(gamma, floats.dtype)).mul(toTensor(gain, floats.dtype)),
    );
  },
);

/** Images [..., 3] with `delta`, from -1 to 1, added to the hue. */
export const adjustHue: NamedFunction<[images: TensorLike, delta: TensorLike], ['images|image', 'delta']> =
  /* @__PURE__ */ defineFunction(
    'image.adjustHue',
    { 'images|image': kind.tensor, delta: kind.tensor },
    {},
    (images, delta) => {
      const op = 'image.adjustHue';
      return asUnit(colored(images, 3, op), op, (x) => {
        const [r, g, b] = channels(x);
        // As TensorFlow's kernel sorts them, which decides what becomes of NaN.
        const rising = r.less(g);
        const [low, high] = [where(rising, r, g), where(rising, g, r)];
        const [below, above] = [b.less(low), b.greater(high)];
        const [least, most] = [where(below, b, low), where(above, b, high)];
        const middle = where(below, low, where(above, high, b));
        const range = most.sub(least);
        const part = middle.sub(least).divNoNan(range);
        const rest = part.neg().add(1);
        const hue = where(
          rising,
          where(below, rest.add(1), where(above, rest.add(3), part.add(2))),
          where(below, part, where(above, part.add(4), rest.add(5))),
        );
        const moved = where(most.equal(least), 0, hue)
          .div(6)
          .add(toTensor(number(delta, 'delta', op), x.dtype));
        const angle = moved.sub(moved.floor()).mul(6);
        const between = (share: Tensor): Tensor => least.add(share.mul(range));
        const red = angle.sub(3).abs().sub(1);
        const green = angle.sub(2).abs().neg().add(2);
        const blue = angle.sub(4).abs().neg().add(2);
        // A hue that is NaN gives the largest, the least and NaN.
        return stack(
          [
            where(red.lessEqual(0), least, where(red.less(1), between(red), most)),
            where(green.greaterEqual(1), most, where(green.greater(0), between(green), least)),
            where(blue.greaterEqual(1), most, where(blue.lessEqual(0), least, between(blue))),
          ],
          -1,
        );
      });
    },
  );

/** Images [..., 3] with the saturation times a factor. */
export const adjustSaturation: NamedFunction<
  [images: TensorLike, saturationFactor: TensorLike],
  ['images|image', 'saturationFactor']
> = /* @__PURE__ */ defineFunction(
  'image.adjustSaturation',
  { 'images|image': kind.tensor, saturationFactor: kind.tensor },
  {},
  (images, saturationFactor) => {
    const op = 'image.adjustSaturation';
    return asUnit(colored(images, 3, op), op, (x) => {
      const [r, g, b] = channels(x);
      // What is no number stays if it comes first, as in TensorFlow's kernel.
      const larger = (one: Tensor, other: Tensor): Tensor => where(one.less(other), other, one);
      const smaller = (one: Tensor, other: Tensor): Tensor => where(other.less(one), other, one);
      const value = larger(r, larger(g, b));
      const [hue, share] = hueAndSaturation([r, g, b], value, smaller(r, smaller(g, b)));
      const factor = toTensor(number(saturationFactor, 'saturationFactor', op), x.dtype);
      const saturation = clip(share.mul(factor), 0, 1);
      // Without a hue only the least is left.
      const least = value.sub(value.mul(saturation)).expandDims(-1);
      return where(hue.isNan().expandDims(-1), least, hsvToRgb(stack([hue, saturation, value], -1)));
    });
  },
);

/** Images [..., h, w, c] with mean 0 and variance 1, each by itself, as float32; no image is divided by less than 1 / √(h · w · c). */
export const perImageStandardization: NamedFunction<[image: TensorLike], ['image']> =
  /* @__PURE__ */ defineFunction('image.perImageStandardization', { image: kind.tensor }, {}, (image) => {
    const given = toTensor(image);
    checkDType(given.dtype, 'numeric', 'image', 'image.perImageStandardization');
    if (given.rank < 3)
      throw new InvalidArgumentError(
        `image has shape ${showShape(given.shape)}, expected [..., height, width, channels]`,
        'image.perImageStandardization',
      );
    const x = given.cast('float32');
    const axes = [-3, -2, -1];
    const least = x.mul(0).add(1).sum(axes, { keepdims: true }).rsqrt();
    const centered = x.sub(x.mean(axes, { keepdims: true }));
    return centered.div(centered.square().mean(axes, { keepdims: true }).sqrt().maximum(least));
  });
