// Images changed at random. The stateless functions give the same for the same seed.
import { InvalidArgumentError } from '@eagre/backend';
import type { IntegerLike, ShapeLike } from '../../arguments/argument-kinds.ts';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { checkNumber, shown } from '../../arguments/checks.ts';
import { atRunTime } from '../../dispatch/host.ts';
import { type SeedSource, type StatelessSeed, uniform } from '../../random/random.ts';
import { statelessUniform } from '../../random/stateless.ts';
import { addDims, type Dim, subDims } from '../../shapes/dim.ts';
import { dims, dimsOf, toShape } from '../../shapes/dims.ts';
import { checkFlag, checkShape, type Shape, showShape } from '../../shapes/shape.ts';
import { lessThan } from '../../shapes/shape-env.ts';
import { sizeValue } from '../../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { reshape } from '../array/shaping.ts';
import { slice } from '../array/slicing.ts';
import { where } from '../elementwise/select.ts';
import { adjustBrightness, adjustContrast, adjustHue, adjustSaturation } from './color.ts';
import { toImages } from './images.ts';
import { flipLeftRight, flipUpDown } from './placing.ts';

/** Draws so many integers below 2³², as float64 or uint32. */
type DrawBits = (count: number) => Tensor;
const drawingBits =
  (seed: number | SeedSource | undefined): DrawBits =>
  (count) => {
    const halves = drawing(seed)([2, count], 0, 2 ** 16)
      .floor()
      .cast('float64');
    return halves
      .at(0)
      .mul(2 ** 16)
      .add(halves.at(1));
  };
const statelessBits =
  (seed: StatelessSeed): DrawBits =>
  (count) =>
    statelessUniform([count], seed, { minval: null, maxval: null, dtype: 'uint32', alg: 'philox' });

/** Draws uniform numbers of a shape: floats from 0 to 1 unless bounds are given. */
type Draw = (shape: readonly Dim[], low?: number, high?: number) => Tensor;
interface Seeded {
  /** Makes the changes the same in each run of the program; drawn anew unless given. */
  readonly seed?: number | SeedSource;
}
const drawing =
  (seed: number | SeedSource | undefined): Draw =>
  (shape, minval = 0, maxval = 1) =>
    uniform(toShape(shape), { minval, maxval, ...(seed === undefined ? {} : { seed }) });
const stateless =
  (seed: StatelessSeed): Draw =>
  (shape, minval = 0, maxval = 1) =>
    statelessUniform(toShape(shape), seed, { minval, maxval });

// ---- one number: as a deviation, or between two bounds

type ByDelta = (image: TensorLike, maxDelta: number, draw: Draw, op: string) => Tensor;
type Deviating = NamedFunction<[image: TensorLike, maxDelta: number], ['image', 'maxDelta'], Seeded>;
type StatelessDeviating = NamedFunction<
  [image: TensorLike, maxDelta: number, seed: StatelessSeed],
  ['image', 'maxDelta', 'seed']
>;
const deviating = (name: string, run: ByDelta): Deviating =>
  defineFunction(
    `image.${name}`,
    { image: kind.tensor, maxDelta: kind.asIs },
    { seed: kind.asIs },
    (image, maxDelta, { seed }) => run(image, maxDelta, drawing(seed), `image.${name}`),
  );
const statelessDeviating = (name: string, run: ByDelta): StatelessDeviating =>
  defineFunction(
    `image.${name}`,
    { image: kind.tensor, maxDelta: kind.asIs, seed: kind.asIs },
    {},
    (image, maxDelta, seed) => run(image, maxDelta, stateless(seed), `image.${name}`),
  );

const brightness: ByDelta = (image, maxDelta, draw, op) => {
  checkNumber(maxDelta, 'maxDelta', op, 0);
  return adjustBrightness(image, draw([], -maxDelta, maxDelta));
};
const hue: ByDelta = (image, maxDelta, draw, op) => {
  checkNumber(maxDelta, 'maxDelta', op, 0);
  if (maxDelta > 0.5) throw new InvalidArgumentError(`maxDelta is ${maxDelta}, expected at most 0.5`, op);
  return adjustHue(image, draw([], -maxDelta, maxDelta));
};
/** Images with a number from −maxDelta to maxDelta added to each colour, one for all. */
export const randomBrightness: Deviating = /* @__PURE__ */ deviating('randomBrightness', brightness);
/** `randomBrightness` as a pure function of the seed. */
export const statelessRandomBrightness: StatelessDeviating = /* @__PURE__ */ statelessDeviating(
  'statelessRandomBrightness',
  brightness,
);
/** Images with a number from −maxDelta to maxDelta, at most 0.5, added to the hue. */
export const randomHue: Deviating = /* @__PURE__ */ deviating('randomHue', hue);
/** `randomHue` as a pure function of the seed. */
export const statelessRandomHue: StatelessDeviating = /* @__PURE__ */ statelessDeviating(
  'statelessRandomHue',
  hue,
);

type ByFactor = (image: TensorLike, lower: number, upper: number, draw: Draw, op: string) => Tensor;
type Scaling = NamedFunction<
  [image: TensorLike, lower: number, upper: number],
  ['image', 'lower', 'upper'],
  Seeded
>;
type StatelessScaling = NamedFunction<
  [image: TensorLike, lower: number, upper: number, seed: StatelessSeed],
  ['image', 'lower', 'upper', 'seed']
>;
const scaling = (name: string, run: ByFactor): Scaling =>
  defineFunction(
    `image.${name}`,
    { image: kind.tensor, lower: kind.asIs, upper: kind.asIs },
    { seed: kind.asIs },
    (image, lower, upper, { seed }) => run(image, lower, upper, drawing(seed), `image.${name}`),
  );
const statelessScaling = (name: string, run: ByFactor): StatelessScaling =>
  defineFunction(
    `image.${name}`,
    { image: kind.tensor, lower: kind.asIs, upper: kind.asIs, seed: kind.asIs },
    {},
    (image, lower, upper, seed) => run(image, lower, upper, stateless(seed), `image.${name}`),
  );
const byFactor =
  (adjust: typeof adjustContrast | typeof adjustSaturation): ByFactor =>
  (image, lower, upper, draw, op) => {
    checkNumber(lower, 'lower', op, 0);
    checkNumber(upper, 'upper', op, 0);
    if (upper <= lower)
      throw new InvalidArgumentError(`upper is ${upper}, which must be above lower, ${lower}`, op);
    return (adjust as (x: TensorLike, factor: TensorLike) => Tensor)(image, draw([], lower, upper));
  };
/** Images with the contrast times a number from `lower` to `upper`, one for all. */
export const randomContrast: Scaling = /* @__PURE__ */ scaling(
  'randomContrast',
  /* @__PURE__ */ byFactor(adjustContrast),
);
/** `randomContrast` as a pure function of the seed. */
export const statelessRandomContrast: StatelessScaling = /* @__PURE__ */ statelessScaling(
  'statelessRandomContrast',
  /* @__PURE__ */ byFactor(adjustContrast),
);
/** Images with the saturation times a number from `lower` to `upper`, one for all. */
export const randomSaturation: Scaling = /* @__PURE__ */ scaling(
  'randomSaturation',
  /* @__PURE__ */ byFactor(adjustSaturation),
);
/** `randomSaturation` as a pure function of the seed. */
export const statelessRandomSaturation: StatelessScaling = /* @__PURE__ */ statelessScaling(
  'statelessRandomSaturation',
  /* @__PURE__ */ byFactor(adjustSaturation),
);

// ---- flips and cuts

type Flipping = NamedFunction<[image: TensorLike], ['image'], Seeded>;
type StatelessFlipping = NamedFunction<[image: TensorLike, seed: StatelessSeed], ['image', 'seed']>;

/** Each image by itself, one time in two. */
function flipped(image: TensorLike, flip: typeof flipLeftRight, draw: Draw, op: string): Tensor {
  const x = toImages(image, op);
  if (x.rank === 3) return where(draw([]).less(0.5), flip(x), x);
  // Of several images those with the larger numbers, as TensorFlow rounds them.
  return where(reshape(draw([dims(x)[0]]).greater(0.5), [-1, 1, 1, 1]), flip(x), x);
}
const flipping = (name: string, flip: typeof flipLeftRight): Flipping =>
  defineFunction(`image.${name}`, { image: kind.tensor }, { seed: kind.asIs }, (image, { seed }) =>
    flipped(image, flip, drawing(seed), `image.${name}`),
  );
const statelessFlipping = (name: string, flip: typeof flipLeftRight): StatelessFlipping =>
  defineFunction(`image.${name}`, { image: kind.tensor, seed: kind.asIs }, {}, (image, seed) =>
    flipped(image, flip, stateless(seed), `image.${name}`),
  );
/** Images with left and right changed places, each one time in two. */
export const randomFlipLeftRight: Flipping = /* @__PURE__ */ flipping('randomFlipLeftRight', flipLeftRight);
/** `randomFlipLeftRight` as a pure function of the seed. */
export const statelessRandomFlipLeftRight: StatelessFlipping = /* @__PURE__ */ statelessFlipping(
  'statelessRandomFlipLeftRight',
  flipLeftRight,
);
/** Images with top and bottom changed places, each one time in two. */
export const randomFlipUpDown: Flipping = /* @__PURE__ */ flipping('randomFlipUpDown', flipUpDown);
/** `randomFlipUpDown` as a pure function of the seed. */
export const statelessRandomFlipUpDown: StatelessFlipping = /* @__PURE__ */ statelessFlipping(
  'statelessRandomFlipUpDown',
  flipUpDown,
);

/** Where blocks begin, for the number of places that each axis has for them. */
type Begin = (room: readonly Dim[]) => Tensor[];
const anywhere =
  (draw: Draw): Begin =>
  (room) => {
    const shares = draw([room.length]);
    return room.map((n, i) => {
      const places = toTensor(sizeValue(n, 'float32'), 'float32');
      return shares.at(i).mul(places).floor().minimum(places.sub(1)).cast('int32');
    });
  };
/** By the remainders of TensorFlow's integers. */
const bySeed =
  (seed: StatelessSeed): Begin =>
  (room) => {
    const drawn = statelessUniform([room.length], seed, { minval: 0, maxval: 2 ** 31 - 1, dtype: 'int32' });
    return room.map((n, i) => drawn.at(i).mod(toTensor(sizeValue(n, 'int32'), 'int32')));
  };

/** A block of a size at a random place. */
function randomBlock(value: TensorLike, size: Shape, beginOf: Begin, op: string): Tensor {
  const x = toTensor(value);
  const wanted = dimsOf(checkShape(size, op));
  const own = dims(x);
  if (wanted.length !== own.length || wanted.some((d, i) => lessThan(own[i] as Dim, d)))
    throw new InvalidArgumentError(
      `size ${showShape(wanted)} does not fit into shape ${showShape(x.shape)}`,
      op,
    );
  // As many places as each axis has room for.
  const room = wanted.map((d, i) => addDims(subDims(own[i] as Dim, d), 1));
  return slice(x, beginOf(room), size);
}
/** A block of a size at a random place of a tensor. */
export const randomCrop: NamedFunction<[value: TensorLike, size: ShapeLike], ['value', 'size'], Seeded> =
  /* @__PURE__ */ defineFunction(
    'image.randomCrop',
    { value: kind.tensor, size: kind.shape },
    { seed: kind.asIs },
    (value, size, { seed }) => randomBlock(value, size as Shape, anywhere(drawing(seed)), 'image.randomCrop'),
  );
/** `randomCrop` as a pure function of the seed. */
export const statelessRandomCrop: NamedFunction<
  [value: TensorLike, size: ShapeLike, seed: StatelessSeed],
  ['value', 'size', 'seed']
> = /* @__PURE__ */ defineFunction(
  'image.statelessRandomCrop',
  { value: kind.tensor, size: kind.shape, seed: kind.asIs },
  {},
  (value, size, seed) => randomBlock(value, size as Shape, bySeed(seed), 'image.statelessRandomCrop'),
);

// ---- distorted boxes

interface DistortionOptions {
  /** How much of some box the result covers at least; 0.1 by default. */
  readonly minObjectCovered?: number;
  /** The range of width / height; [0.75, 1.33] by default. */
  readonly aspectRatioRange?: readonly [number, number];
  /** The range of the share of the image; [0.05, 1] by default. */
  readonly areaRange?: readonly [number, number];
  /** How often it is tried; after that the whole image is taken. 100 by default. */
  readonly maxAttempts?: IntegerLike;
  /** Whether no box at all stands for one around the whole image; false by default. */
  readonly useImageIfNoBoundingBoxes?: boolean;
}
type Distorted = [begin: Tensor, size: Tensor, bboxes: Tensor];
const distortionKinds = {
  minObjectCovered: kind.asIs,
  aspectRatioRange: kind.asIs,
  areaRange: kind.asIs,
  maxAttempts: kind.integer,
  useImageIfNoBoundingBoxes: kind.asIs,
};
const seededKinds = {
  minObjectCovered: kind.asIs,
  aspectRatioRange: kind.asIs,
  areaRange: kind.asIs,
  maxAttempts: kind.integer,
  useImageIfNoBoundingBoxes: kind.asIs,
  seed: kind.asIs,
};

function distorted(
  imageSize: TensorLike,
  boundingBoxes: TensorLike,
  options: DistortionOptions,
  draw: DrawBits,
  op: string,
): Distorted {
  const size = toTensor(imageSize, 'int32');
  const boxes = toTensor(boundingBoxes).cast('float32');
  if (size.rank !== 1 || size.shape[0] !== 3 || boxes.rank !== 3 || boxes.shape[2] !== 4)
    throw new InvalidArgumentError(
      `imageSize ${showShape(size.shape)} and boundingBoxes ${showShape(boxes.shape)} must be [3] and [batch, n, 4]`,
      op,
    );
  const range = (value: unknown, what: string, most: number): readonly [number, number] => {
    const list = value as readonly [number, number];
    if (!Array.isArray(list) || list.length !== 2 || !(list[0] > 0 && list[0] <= list[1] && list[1] <= most))
      throw new InvalidArgumentError(
        `${what} must be two positive numbers that rise, got ${shown(value)}`,
        op,
      );
    return list;
  };
  const ratios = range(options.aspectRatioRange ?? [0.75, 1.33], 'aspectRatioRange', Infinity);
  const areas = range(options.areaRange ?? [0.05, 1], 'areaRange', 1);
  const least = options.minObjectCovered ?? 0.1;
  checkNumber(least, 'minObjectCovered', op, 0);
  const attempts = (options.maxAttempts ?? 100) as number;
  if (!Number.isSafeInteger(attempts) || attempts < 1)
    throw new InvalidArgumentError(`maxAttempts is ${attempts}, expected an integer of at least 1`, op);
  const whole = checkFlag(options.useImageIfNoBoundingBoxes, 'useImageIfNoBoundingBoxes', op);
  const run = (now: Tensor, all: Tensor, numbers: Tensor): Tensor[] => {
    const [h, w] = Array.from(now.data() as ArrayLike<number | bigint>, Number) as [number, number];
    const list = Array.from(all.data() as ArrayLike<number>);
    if (list.length === 0 && !whole)
      throw new InvalidArgumentError(
        'there are no bounding boxes; set useImageIfNoBoundingBoxes for the whole image',
        op,
      );
    const objects = list.length === 0 ? [0, 0, 1, 1] : list;
    const bits = new Bits(numbers.data() as ArrayLike<number>);
    let found: readonly number[] = [0, 0, h, w];
    for (let i = 0; i < attempts; i++) {
      const box = boxOf(
        h,
        w,
        f32(f32(bits.share() * f32(f32(ratios[1]) - f32(ratios[0]))) + f32(ratios[0])),
        areas,
        bits,
      );
      if (box !== null && covers(box, objects, h, w, f32(least))) {
        found = box;
        break;
      }
    }
    const [top, left, height, width] = found as [number, number, number, number];
    return [
      toTensor(Int32Array.of(top, left, 0)),
      toTensor(Int32Array.of(height, width, -1)),
      toTensor({
        data: Float32Array.of(top / h, left / w, (top + height) / h, (left + width) / w),
        shape: [1, 1, 4],
      }),
    ];
  };
  const [begin, extent, box] = atRunTime(
    op,
    run,
    // Each attempt takes four at most, but for those that are refused, once in millions.
    [size, boxes, draw(4 * attempts + 64)],
    [
      { dtype: 'int32', shape: [3] },
      { dtype: 'int32', shape: [3] },
      { dtype: 'float32', shape: [1, 1, 4] },
    ],
  ) as [Tensor, Tensor, Tensor];
  return [begin.cast(size.dtype), extent.cast(size.dtype), box];
}

const f32 = Math.fround;
/** As C's `lrintf`: halves go to the even neighbour. */
const rint = (x: number): number => {
  const low = Math.floor(x);
  return x - low === 0.5 ? low + (low % 2) : Math.round(x);
};

/** Bits that are taken one after the other, as TensorFlow's kernel takes them. */
class Bits {
  readonly #all: ArrayLike<number>;
  #next = 0;

  constructor(all: ArrayLike<number>) {
    this.#all = all;
  }

  #take(): number {
    return this.#all[this.#next++ % this.#all.length] as number;
  }
  /** From 0 to 1: of the last 23 bits. */
  share(): number {
    return (this.#take() % 2 ** 23) / 2 ** 23;
  }
  /** An integer below n. Those are refused that would favour some. */
  below(n: number): number {
    const refused = n & (n - 1) ? ((2 ** 32 - 1) % n) + 1 : 0;
    let bits = this.#take();
    while (bits < refused) bits = this.#take();
    return bits % n;
  }
}

/** A box of a ratio with an area in a range, anywhere; null where there is none of this ratio. In float32, as in TensorFlow. */
function boxOf(
  h: number,
  w: number,
  ratio: number,
  [low, high]: readonly [number, number],
  bits: Bits,
): number[] | null {
  if (h <= 0 || w <= 0) return null;
  const [least, most] = [low, high].map((share) => f32(f32(f32(share) * w) * h)) as [number, number];
  const widthOf = (height: number): number => rint(f32(height * ratio));
  const heightOf = (area: number): number => rint(f32(Math.sqrt(f32(area / ratio))));
  let top = heightOf(most);
  if (widthOf(top) > w) {
    top = Math.trunc(f32(f32(f32(w + 0.5) - f32(1e-7)) / ratio));
    if (widthOf(top) > w) top--;
  }
  top = Math.min(top, h);
  let height = Math.min(heightOf(least), top);
  if (height < top) height += bits.below(top - height + 1);
  let width = widthOf(height);
  // Rounding may have made it too small, or too large.
  if (width * height < least) width = widthOf(++height);
  if (width * height > most) width = widthOf(--height);
  const area = width * height;
  if (area < least || area > most || width > w || height > h || width <= 0 || height <= 0) return null;
  const down = height < h ? bits.below(h - height) : 0;
  const right = width < w ? bits.below(w - width) : 0;
  return [down, right, height, width];
}

/** Whether a box covers enough of some object, whose sides are whole pixels. */
function covers(
  [top, left, height, width]: readonly number[],
  objects: readonly number[],
  h: number,
  w: number,
  least: number,
): boolean {
  for (let i = 0; i + 3 < objects.length; i += 4) {
    const [y1, x1, y2, x2] = [0, 1, 2, 3].map((k) =>
      Math.trunc(f32((objects[i + k] as number) * (k % 2 === 0 ? h : w))),
    ) as [number, number, number, number];
    const area = (y2 - y1) * (x2 - x1);
    if (area < 1) continue;
    const common =
      Math.max(0, Math.min(y2, (top as number) + (height as number)) - Math.max(y1, top as number)) *
      Math.max(0, Math.min(x2, (left as number) + (width as number)) - Math.max(x1, left as number));
    if (f32(common / area) >= least) return true;
  }
  return false;
}

/**
 * A random part of an image that covers enough of some object: where it begins and how large it is, for `tf.slice`, and the part as a box:
 * [begin [3], size [3], bboxes [1, 1, 4]].
 * @param imageSize [height, width, channels]
 * @param boundingBoxes [batch, n, 4] of [y1, x1, y2, x2] as shares of the sides
 */
export const sampleDistortedBoundingBox: NamedFunction<
  [imageSize: TensorLike, boundingBoxes: TensorLike],
  ['imageSize', 'boundingBoxes'],
  DistortionOptions & Seeded,
  Distorted
> = /* @__PURE__ */ defineFunction(
  'image.sampleDistortedBoundingBox',
  { imageSize: kind.tensor, boundingBoxes: kind.tensor },
  seededKinds,
  (imageSize, boundingBoxes, { seed, ...options }) =>
    distorted(imageSize, boundingBoxes, options, drawingBits(seed), 'image.sampleDistortedBoundingBox'),
);
/** `sampleDistortedBoundingBox` as a pure function of the seed, with TensorFlow's numbers. */
export const statelessSampleDistortedBoundingBox: NamedFunction<
  [imageSize: TensorLike, boundingBoxes: TensorLike, seed: StatelessSeed],
  ['imageSize', 'boundingBoxes', 'seed'],
  DistortionOptions,
  Distorted
> = /* @__PURE__ */ defineFunction(
  'image.statelessSampleDistortedBoundingBox',
  { imageSize: kind.tensor, boundingBoxes: kind.tensor, seed: kind.asIs },
  distortionKinds,
  (imageSize, boundingBoxes, seed, options) =>
    distorted(
      imageSize,
      boundingBoxes,
      options,
      statelessBits(seed),
      'image.statelessSampleDistortedBoundingBox',
    ),
);
