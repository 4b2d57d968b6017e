// Images turned, cut and surrounded; nothing is computed with their values.
import { InvalidArgumentError } from '@eagre/backend';
import type { IntegerLike, IntegersLike } from '../../arguments/argument-kinds.ts';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { shown } from '../../arguments/checks.ts';
import {
  addDims,
  computedDim,
  type Dim,
  floorDivDims,
  maxDims,
  minDims,
  mulDims,
  subDims,
} from '../../shapes/dim.ts';
import { dims, toShape } from '../../shapes/dims.ts';
import { show, showShape } from '../../shapes/shape.ts';
import { lessThan } from '../../shapes/shape-env.ts';
import { checkSize } from '../../shapes/sizes.ts';
import type { TensorLike } from '../../tensor/convert.ts';
import { Tensor } from '../../tensor/tensor.ts';
import { pad as padded, reverse, transpose as transposed } from '../array/shaping.ts';
import { slice } from '../array/slicing.ts';
import { sidesOf, toImages } from './images.ts';

type ImageFunction = NamedFunction<[images: TensorLike], ['images|image']>;

const define = (name: string, run: (x: Tensor) => Tensor): ImageFunction =>
  defineFunction(`image.${name}`, { 'images|image': kind.tensor }, {}, (images) =>
    run(toImages(images, `image.${name}`)),
  );

/** Images with left and right changed places. */
export const flipLeftRight: ImageFunction = /* @__PURE__ */ define('flipLeftRight', (x) => reverse(x, -2));
/** Images with top and bottom changed places. */
export const flipUpDown: ImageFunction = /* @__PURE__ */ define('flipUpDown', (x) => reverse(x, -3));
/** Images with rows and columns changed places. */
export const transpose: ImageFunction = /* @__PURE__ */ define('transpose', (x) => swapped(x));

const swapped = (x: Tensor): Tensor => transposed(x, x.rank === 3 ? [1, 0, 2] : [0, 2, 1, 3]);

/** Images turned by 90° against the clock, k times. */
export const rot90: NamedFunction<[images: TensorLike, k?: IntegerLike], ['images|image', 'k']> =
  /* @__PURE__ */ defineFunction(
    'image.rot90',
    { 'images|image': kind.tensor, k: kind.integer },
    {},
    (images, k: IntegerLike = 1) => {
      const x = toImages(images, 'image.rot90');
      if (!Number.isSafeInteger(k))
        throw new InvalidArgumentError(`k must be an integer, got ${show(k)}`, 'image.rot90');
      switch ((((k as number) % 4) + 4) % 4) {
        case 0:
          return x.identity();
        case 1:
          return reverse(swapped(x), -3);
        case 2:
          return reverse(x, [-3, -2]);
        default:
          return reverse(swapped(x), -2);
      }
    },
  );

/** The part of images [h, w, c] or [n, h, w, c] that begins at a pixel, which a run may choose. */
export function cropped(
  x: Tensor,
  [top, left]: readonly [Dim, Dim] | readonly [Tensor, Tensor],
  [h, w]: readonly [Dim, Dim],
): Tensor {
  const all = dims(x);
  const lead = x.rank === 4 ? [0] : [];
  const size = toShape([...all.slice(0, lead.length), h, w, all[x.rank - 1]]);
  const begin = [...lead, top, left, 0];
  return slice(x, top instanceof Tensor ? (begin as IntegersLike) : toShape(begin as Dim[]), size);
}

/** Images with so many pixels of a value around them. */
export function surrounded(
  x: Tensor,
  [top, bottom]: readonly [Dim, Dim],
  [left, right]: readonly [Dim, Dim],
  value = 0,
): Tensor {
  const none: readonly [Dim, Dim] = [0, 0];
  const sides = [...(x.rank === 4 ? [none] : []), [top, bottom], [left, right], none];
  return padded(x, sides as [number, number][], { constantValues: value });
}

type BoxArguments = [
  image: TensorLike,
  offsetHeight: IntegerLike,
  offsetWidth: IntegerLike,
  targetHeight: IntegerLike,
  targetWidth: IntegerLike,
];
type BoxFunction = NamedFunction<
  BoxArguments,
  ['image', 'offsetHeight', 'offsetWidth', 'targetHeight', 'targetWidth']
>;
const box = {
  image: kind.tensor,
  offsetHeight: kind.size,
  offsetWidth: kind.size,
  targetHeight: kind.size,
  targetWidth: kind.size,
} as const;

/** The part of images that begins at (offsetHeight, offsetWidth) and is targetHeight × targetWidth large. @throws InvalidArgumentError where it is not inside. */
export const cropToBoundingBox: BoxFunction = /* @__PURE__ */ defineFunction(
  'image.cropToBoundingBox',
  box,
  {},
  (image, offsetHeight, offsetWidth, targetHeight, targetWidth) => {
    const op = 'image.cropToBoundingBox';
    const x = toImages(image, op);
    const start = [
      checkSize(offsetHeight, 'offsetHeight', op),
      checkSize(offsetWidth, 'offsetWidth', op),
    ] as [Dim, Dim];
    const size = [
      checkSize(targetHeight, 'targetHeight', op, 1),
      checkSize(targetWidth, 'targetWidth', op, 1),
    ] as [Dim, Dim];
    const sides = sidesOf(x);
    start.forEach((offset, i) => {
      if (lessThan(sides[i], addDims(offset, size[i])))
        throw new InvalidArgumentError(
          `a box of [${size}] at [${start}] is not inside of images ${showShape(x.shape)}`,
          op,
        );
    });
    return cropped(x, start, size);
  },
);

/** Images inside of larger ones, targetHeight × targetWidth of zeros, at (offsetHeight, offsetWidth). @throws InvalidArgumentError where they do not fit. */
export const padToBoundingBox: BoxFunction = /* @__PURE__ */ defineFunction(
  'image.padToBoundingBox',
  box,
  {},
  (image, offsetHeight, offsetWidth, targetHeight, targetWidth) => {
    const op = 'image.padToBoundingBox';
    const x = toImages(image, op);
    const before = [
      checkSize(offsetHeight, 'offsetHeight', op),
      checkSize(offsetWidth, 'offsetWidth', op),
    ] as [Dim, Dim];
    const target = [
      checkSize(targetHeight, 'targetHeight', op),
      checkSize(targetWidth, 'targetWidth', op),
    ] as [Dim, Dim];
    const sides = sidesOf(x).map((side, i) => {
      const after = subDims(target[i], addDims(side, before[i]));
      if (lessThan(after, 0))
        throw new InvalidArgumentError(
          `images ${showShape(x.shape)} at [${before}] do not fit into [${target}]`,
          op,
        );
      return [before[i], after] as const;
    });
    return surrounded(x, sides[0], sides[1]);
  },
);

/** The middle part of images: a share of each side. */
export const centralCrop: NamedFunction<
  [image: TensorLike, centralFraction: number],
  ['image', 'centralFraction']
> = /* @__PURE__ */ defineFunction(
  'image.centralCrop',
  { image: kind.tensor, centralFraction: kind.asIs },
  {},
  (image, centralFraction) => {
    const op = 'image.centralCrop';
    const x = toImages(image, op);
    if (!(centralFraction > 0 && centralFraction <= 1))
      throw new InvalidArgumentError(
        `centralFraction must be above 0 and at most 1, got ${show(centralFraction)}`,
        op,
      );
    const sides = sidesOf(x);
    const start = sides.map((side) =>
      computedDim(`cut ${centralFraction}`, [side], (n) => Math.floor((n - n * centralFraction) / 2), 0),
    );
    const [h, w] = sides.map((side, i) => subDims(side, mulDims(2, start[i])));
    return cropped(x, [start[0], start[1]], [h, w]);
  },
);

/** Images [h, w, c] or [n, h, w, c] cut in the middle, or surrounded by zeros, so that they have a height and a width. */
export const resizeWithCropOrPad: NamedFunction<
  [image: TensorLike, targetHeight: IntegerLike, targetWidth: IntegerLike],
  ['image', 'targetHeight', 'targetWidth']
> = /* @__PURE__ */ defineFunction(
  'image.resizeWithCropOrPad',
  { image: kind.tensor, targetHeight: kind.size, targetWidth: kind.size },
  {},
  (image, targetHeight, targetWidth) => {
    const op = 'image.resizeWithCropOrPad';
    const x = toImages(image, op);
    const target = [targetHeight, targetWidth] as [number, number];
    for (const side of target)
      if (side === null || lessThan(side, 1))
        throw new InvalidArgumentError(`the target must be at least 1 × 1, got ${shown(target)}`, op);
    const sides = sidesOf(x);
    const kept = sides.map((side, i) => minDims(side, target[i]));
    const start = sides.map((side, i) => floorDivDims(subDims(side, kept[i]), 2));
    const part = cropped(x, [start[0], start[1]], [kept[0], kept[1]]);
    const around = kept.map((side, i) => {
      const before = floorDivDims(maxDims(0, subDims(target[i], side)), 2);
      return [before, subDims(target[i], addDims(side, before))] as const;
    });
    return surrounded(part, around[0], around[1]);
  },
);
