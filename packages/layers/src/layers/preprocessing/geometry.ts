// Layers that turn, shift, zoom, shear and bend images at random.
import {
  concat,
  image,
  ones,
  reverse,
  stack,
  type Tensor,
  UnimplementedError,
  where,
  zeros,
} from '@eagre/core';
import {
  type Arguments,
  argumentsOf,
  computedDim,
  type Dim,
  homography,
  iota,
  maxDims,
  minDims,
  type Option,
  sampled,
  sizeValue,
  snakeCase,
  subDims,
  takesOptions,
  toShape,
} from '@eagre/core/internal';
import { type FromConfig, type Layer, ownsTemporaries } from '../../layer/layer.ts';
import { show } from '../../layer/show.ts';
import type { Corners } from '../../utils/box-formats.ts';
import { fail } from '../common.ts';
import { number, rate, seed, word } from '../options.ts';
import { blurred } from './blur.ts';
import {
  around,
  chosen,
  drawn,
  type Factor,
  factor,
  ImageLayer,
  imageOptions,
  perBox,
  perImage,
  type RandomImageOptions,
  range,
  rangeOf,
  type Sides,
  sidesOf,
  type Transformation,
  valueRange,
} from './image-layer.ts';

/** What lies beyond the border: one value, the pixels mirrored, the image again, or the nearest pixel. */
export type FillMode = 'reflect' | 'wrap' | 'constant' | 'nearest';
/** How values between pixels are found. */
export type Interpolation = 'bilinear' | 'nearest';

type Range = readonly [low: number, high: number];

/** How a size is computed with: a number, or a tensor where a trace does not know it. */
const size = (n: Dim, x: Tensor): number | Tensor => sizeValue(n, x.dtype);

// ---- flips

/** Along which axes `RandomFlip` turns images over. */
export type FlipMode = 'horizontal' | 'vertical' | 'horizontalAndVertical';
/** Options of `RandomFlip`. */
export interface RandomFlipOptions extends RandomImageOptions {
  /** Along which axes images are flipped; `horizontalAndVertical` by default. */
  readonly mode?: FlipMode;
}

/** Mirrors each second image, by chance: left and right, top and bottom, or both. */
export class RandomFlip extends ImageLayer {
  declare static readonly fromConfig: FromConfig<RandomFlip>;
  /** Along which axes images are flipped. */
  declare readonly mode: FlipMode;

  constructor(...args: [mode?: FlipMode | null | RandomFlipOptions, options?: RandomFlipOptions]) {
    super(argumentsOf<RandomFlipOptions>(RandomFlip, new.target, args));
  }
  protected override draw(images: Tensor): Transformation {
    const shape = toShape([sidesOf(images)[0], 1, 1, 1]);
    return { flips: this.source.uniform(shape, 'float32').lessEqual(0.5) };
  }
  protected override transform(images: Tensor, transformation: Transformation): Tensor {
    const axes = { horizontal: [-2], vertical: [-3], horizontalAndVertical: [-2, -3] }[this.mode];
    return where(drawn(transformation, 'flips').reshape([-1, 1, 1, 1]), reverse(images, axes), images);
  }
  protected override transformMasks(masks: Tensor, transformation: Transformation): Tensor {
    return this.transform(masks, transformation);
  }
  protected override moved([x1, y1, x2, y2]: Corners, transformation: Transformation, sides: Sides): Corners {
    const flips = perBox(drawn(transformation, 'flips'));
    const flipped = (x: Tensor, other: Tensor, side: Dim, mode: FlipMode): Tensor =>
      this.mode === mode ? x : where(flips, other.neg().add(size(side, x)), x);
    const [, h, w] = sides;
    return [
      flipped(x1, x2, w, 'vertical'),
      flipped(y1, y2, h, 'horizontal'),
      flipped(x2, x1, w, 'vertical'),
      flipped(y2, y1, h, 'horizontal'),
    ];
  }
}

// ---- affine maps

/** What layers take that move, turn or bend images. */
export interface WarpedOptions extends RandomImageOptions {
  /** What lies beyond the border: the image mirrored (`reflect`, the default), repeated (`wrap`), its last pixels (`nearest`), or `fillValue` (`constant`). */
  readonly fillMode?: FillMode;
  /** How pixels between pixels are found: `bilinear` by default, or `nearest`. */
  readonly interpolation?: Interpolation;
  /** Of `constant`; 0 by default. */
  readonly fillValue?: number;
}

/** A layer whose pixels come from where an affine map says. */
abstract class Warped extends ImageLayer {
  /** What lies beyond the border: the image mirrored (`reflect`), repeated (`wrap`), its last pixels (`nearest`), or `fillValue` (`constant`). */
  declare readonly fillMode: FillMode;
  /** How pixels between pixels are found: `bilinear` or `nearest`. */
  declare readonly interpolation: Interpolation;
  /** Of `constant`. */
  declare readonly fillValue: number;

  /** The maps [batch, 8] of a transformation. */
  protected abstract maps(sides: Sides, transformation: Transformation): Tensor;

  protected override transform(images: Tensor, transformation: Transformation): Tensor {
    return this.#warp(images, transformation, this.interpolation);
  }
  protected override transformMasks(masks: Tensor, transformation: Transformation): Tensor {
    return this.#warp(masks, transformation, 'nearest');
  }
  #warp(images: Tensor, transformation: Transformation, interpolation: Interpolation): Tensor {
    const { fillMode, fillValue } = this;
    return image.affineTransform(images, this.maps(sidesOf(images), transformation), {
      interpolation,
      fillMode,
      fillValue,
    });
  }
  /** A map says where pixels come from; corners go the other way. */
  protected override moved(corners: Corners, transformation: Transformation, sides: Sides): Corners {
    const maps = this.maps(sides, transformation).cast(corners[0].dtype);
    const [a0, a1, a2, b0, b1, b2] = maps.split(8, 1).map(perBox);
    const det = a0.mul(b1).sub(a1.mul(b0));
    return around(corners, (x, y) => {
      const [u, v] = [x.sub(a2), y.sub(b2)];
      return [b1.mul(u).sub(a1.mul(v)).div(det), a0.mul(v).sub(b0.mul(u)).div(det)];
    });
  }
  /** One number for each image, [batch, 1]. */
  protected one(images: Tensor, [low, high]: Range): Tensor {
    return this.source.uniform(toShape([sidesOf(images)[0], 1]), 'float32', low, high);
  }
}

/** Columns [batch, 1], and numbers, side by side. */
function columns(...all: readonly (Tensor | number)[]): Tensor {
  const like = all.find((c) => typeof c !== 'number') as Tensor;
  return concat(
    all.map((c) => (typeof c === 'number' ? like.mul(0).add(c) : c)),
    1,
  );
}

/** All arguments of `RandomTranslation`, by name. */
export interface RandomTranslationArguments extends WarpedOptions {
  /** A share of the height, or the least and the largest; positive is down. */
  readonly heightFactor: Factor;
  /** A share of the width, or the least and the largest; positive is right. */
  readonly widthFactor: Factor;
}

/** Shifts images: `new RandomTranslation(0.1, 0.2)` by up to a tenth of the height and a fifth of the width. */
export class RandomTranslation extends Warped {
  declare static readonly fromConfig: FromConfig<RandomTranslation>;
  /** A share of the height, or the least and the largest; positive is down. */
  declare readonly heightFactor: Factor;
  /** A share of the width, or the least and the largest; positive is right. */
  declare readonly widthFactor: Factor;

  constructor(
    ...args: Arguments<
      [heightFactor: Factor, widthFactor: Factor],
      ['heightFactor', 'widthFactor'],
      WarpedOptions
    >
  ) {
    super(argumentsOf<RandomTranslationArguments>(RandomTranslation, new.target, args));
  }
  protected override draw(images: Tensor): Transformation {
    const [, h, w] = sidesOf(images);
    const down = this.one(images, rangeOf(this.heightFactor));
    const right = this.one(images, rangeOf(this.widthFactor));
    return { translations: columns(right.mul(size(w, right)), down.mul(size(h, down))) };
  }
  protected override maps(_: Sides, transformation: Transformation): Tensor {
    const [right, down] = drawn(transformation, 'translations').split(2, 1);
    return columns(1, 0, right.neg(), 0, 1, down.neg(), 0, 0);
  }
}

/** All arguments of `RandomRotation`, by name. */
export interface RandomRotationArguments extends WarpedOptions {
  /** A share of a full turn, or the least and the largest; positive is against the clock. */
  readonly factor: Factor;
}

/** Turns images about their middle: `new RandomRotation(0.1)` by up to 36° to both sides. */
export class RandomRotation extends Warped {
  declare static readonly fromConfig: FromConfig<RandomRotation>;
  /** A share of a full turn, or the least and the largest; positive is against the clock. */
  declare readonly factor: Range;

  constructor(...args: [factor: Factor | RandomRotationArguments, options?: WarpedOptions]) {
    super(argumentsOf<RandomRotationArguments>(RandomRotation, new.target, args));
  }
  protected override draw(images: Tensor): Transformation {
    const [low, high] = this.factor;
    const shape = toShape([sidesOf(images)[0]]);
    return { angle: this.source.uniform(shape, 'float32', low * 360, high * 360) };
  }
  protected override maps([, h, w]: Sides, transformation: Transformation): Tensor {
    const angle = drawn(transformation, 'angle')
      .reshape([-1, 1])
      .mul(Math.PI / 180);
    const [sin, cos] = [angle.sin(), angle.cos()];
    const x = angle
      .mul(0)
      .add(size(subDims(w, 1), angle))
      .mul(0.5);
    const y = angle
      .mul(0)
      .add(size(subDims(h, 1), angle))
      .mul(0.5);
    const a2 = x.sub(x.mul(cos)).add(y.mul(sin));
    const b2 = y.sub(x.mul(sin)).sub(y.mul(cos));
    return columns(cos, sin.neg(), a2, sin, cos, b2, 0, 0);
  }
}

/** Options of `RandomZoom`. */
export interface RandomZoomOptions extends WarpedOptions {
  /** As heightFactor; the same zoom as the height's by default, so that proportions stay. */
  readonly widthFactor?: Factor | null;
}
/** All arguments of `RandomZoom`, by name. */
export interface RandomZoomArguments extends RandomZoomOptions {
  /** A share of the height, or the least and the largest; positive makes images smaller. */
  readonly heightFactor: Factor;
}

/** Makes images smaller or larger about their middle: `new RandomZoom(0.2)` by up to a fifth. */
export class RandomZoom extends Warped {
  declare static readonly fromConfig: FromConfig<RandomZoom>;
  /** A share of the height, or the least and the largest; positive makes images smaller. */
  declare readonly heightFactor: Factor;
  /** As heightFactor. */
  declare readonly widthFactor: Factor | null;

  constructor(
    ...args: [
      heightFactor: Factor | RandomZoomArguments,
      widthFactor?: Factor | null | RandomZoomOptions,
      options?: RandomZoomOptions,
    ]
  ) {
    super(argumentsOf<RandomZoomArguments>(RandomZoom, new.target, args));
  }
  protected override draw(images: Tensor): Transformation {
    const zoom = (given: Factor): Tensor => {
      const [low, high] = rangeOf(given);
      return this.one(images, [1 + low, 1 + high]);
    };
    const heightZoom = zoom(this.heightFactor);
    return { heightZoom, widthZoom: this.widthFactor === null ? heightZoom : zoom(this.widthFactor) };
  }
  protected override maps([, h, w]: Sides, transformation: Transformation): Tensor {
    const [tall, wide] = [drawn(transformation, 'heightZoom'), drawn(transformation, 'widthZoom')];
    const middle = (n: Dim, zoom: Tensor): Tensor =>
      zoom
        .neg()
        .add(1)
        .mul(size(subDims(n, 1), zoom))
        .mul(0.5);
    return columns(wide, 0, middle(w, wide), 0, tall, middle(h, tall), 0, 0);
  }
}

/** Options of `RandomShear`. */
export interface RandomShearOptions extends WarpedOptions {
  /** How far rows slide along each other, as a share of their distance; 0 by default. */
  readonly xFactor?: Factor;
  /** How far columns slide along each other; 0 by default. */
  readonly yFactor?: Factor;
}

/** Shears images: rows, columns or both slide along each other. */
export class RandomShear extends Warped {
  declare static readonly fromConfig: FromConfig<RandomShear>;
  /** How far rows slide along each other, as a share of their distance. */
  declare readonly xFactor: Range;
  /** How far columns slide along each other. */
  declare readonly yFactor: Range;

  constructor(
    ...args: [
      xFactor?: Factor | null | RandomShearOptions,
      yFactor?: Factor | null | RandomShearOptions,
      options?: RandomShearOptions,
    ]
  ) {
    super(argumentsOf<RandomShearOptions>(RandomShear, new.target, args));
  }
  protected override draw(images: Tensor): Transformation {
    const side = where(this.one(images, [0, 1]).greater(0.5), -1, 1);
    const [y, x] = [this.one(images, this.yFactor), this.one(images, this.xFactor)];
    return { shearFactor: columns(x, y).mul(side) };
  }
  protected override maps(_: Sides, transformation: Transformation): Tensor {
    const [x, y] = drawn(transformation, 'shearFactor').split(2, 1);
    return columns(1, x, 0, y, 1, 0, 0, 0);
  }
}

// ---- only some images

/** Options of `RandomPerspective`. */
export interface RandomPerspectiveOptions extends RandomImageOptions {
  /** How likely an image is changed, or between which probabilities; 1 by default. */
  readonly factor?: Factor;
  /** How far corners move, from 0 to 1; 1 by default. */
  readonly scale?: number;
  /** How pixels between pixels are found: `bilinear` by default, or `nearest`. */
  readonly interpolation?: Interpolation;
  /** Of what lies beyond the border; 0 by default. */
  readonly fillValue?: number;
}

/** Images seen from aside: their corners move by chance. */
export class RandomPerspective extends ImageLayer {
  declare static readonly fromConfig: FromConfig<RandomPerspective>;
  /** How likely an image is changed, or between which probabilities. */
  declare readonly factor: Range;
  /** How far corners move, from 0 to 1. */
  declare readonly scale: number;
  /** How pixels between pixels are found: `bilinear` or `nearest`. */
  declare readonly interpolation: Interpolation;
  /** Of what lies beyond the border. */
  declare readonly fillValue: number;

  constructor(
    ...args: [
      factor?: Factor | null | RandomPerspectiveOptions,
      scale?: number | null | RandomPerspectiveOptions,
      options?: RandomPerspectiveOptions,
    ]
  ) {
    super(argumentsOf<RandomPerspectiveOptions>(RandomPerspective, new.target, args));
  }
  protected override draw(images: Tensor): Transformation {
    const [n, h, w] = sidesOf(images);
    const shape = toShape([n, 4, 2]);
    const half = 0.5 * this.scale;
    const moved = this.source.uniform(shape, 'float32', -half, half);
    const [right, bottom] = [subDims(w, 1), subDims(h, 1)].map((side) => ones([]).mul(size(side, moved)));
    const none = zeros([]);
    const corners = stack([none, none, right, none, none, bottom, right, bottom]).reshape([1, 4, 2]);
    const startPoints = corners.broadcastTo(shape);
    return {
      applyPerspective: chosen(this, images, this.factor),
      startPoints,
      endPoints: startPoints.add(startPoints.mul(moved)),
    };
  }
  protected override transform(images: Tensor, transformation: Transformation): Tensor {
    return this.#seen(images, transformation, this.interpolation);
  }
  protected override transformMasks(masks: Tensor, transformation: Transformation): Tensor {
    return this.#seen(masks, transformation, 'nearest');
  }
  protected override moved(corners: Corners, transformation: Transformation): Corners {
    const [start, end] = [drawn(transformation, 'startPoints'), drawn(transformation, 'endPoints')];
    const maps = homography(end, start).cast(corners[0].dtype);
    const [a0, a1, a2, b0, b1, b2, c0, c1] = maps.split(8, 1).map(perBox);
    const seen = around(corners, (x, y) => {
      const k = c0.mul(x).add(c1.mul(y)).add(1);
      return [a0.mul(x).add(a1.mul(y)).add(a2).div(k), b0.mul(x).add(b1.mul(y)).add(b2).div(k)];
    });
    const isSeen = perBox(drawn(transformation, 'applyPerspective'));
    return seen.map((x, i) => where(isSeen, x, corners[i])) as unknown as Corners;
  }
  #seen(images: Tensor, transformation: Transformation, interpolation: Interpolation): Tensor {
    const [start, end] = [drawn(transformation, 'startPoints'), drawn(transformation, 'endPoints')];
    const { fillValue } = this;
    const seen = image.perspectiveTransform(images, start, end, { interpolation, fillValue });
    return where(perImage(drawn(transformation, 'applyPerspective')), seen, images);
  }
}

/** Options of `RandomElasticTransform`. */
export interface RandomElasticTransformOptions extends WarpedOptions {
  /** How likely an image is changed, or between which probabilities; 1 by default. */
  readonly factor?: Factor;
  /** How far pixels move, from 0 to 1; 1 by default. */
  readonly scale?: Factor;
  /** The least and the largest value of the result; [0, 255] by default. */
  readonly valueRange?: Range;
}

/** Bends images: each pixel comes from a little beside (Simard, Steinkraus and Platt, 2003). */
export class RandomElasticTransform extends ImageLayer {
  declare static readonly fromConfig: FromConfig<RandomElasticTransform>;
  /** How likely an image is changed, or between which probabilities. */
  declare readonly factor: Range;
  /** How far pixels move, from 0 to 1. */
  declare readonly scale: Range;
  /** What lies beyond the border: the image mirrored (`reflect`), repeated (`wrap`), its last pixels (`nearest`), or `fillValue` (`constant`). */
  declare readonly fillMode: FillMode;
  /** How pixels between pixels are found: `bilinear` or `nearest`. */
  declare readonly interpolation: Interpolation;
  /** Of `constant`. */
  declare readonly fillValue: number;
  /** The least and the largest value of the result. */
  declare readonly valueRange: Range;

  constructor(
    ...args: [
      factor?: Factor | null | RandomElasticTransformOptions,
      scale?: Factor | null | RandomElasticTransformOptions,
      options?: RandomElasticTransformOptions,
    ]
  ) {
    super(argumentsOf<RandomElasticTransformOptions>(RandomElasticTransform, new.target, args));
  }
  protected override draw(images: Tensor): Transformation {
    const [n, h, w] = sidesOf(images);
    const shorter = minDims(h, w);
    const longer = maxDims(h, w);
    const times = (x: Tensor, factor: number, side: Dim): Tensor => x.mul(factor).mul(size(side, x));
    const applyTransform = chosen(this, images, this.factor);
    const distortionFactor = this.source.uniform([], 'float32', ...this.scale);
    const sigma = times(distortionFactor, 0.05, shorter);
    // Room for the widest filter, also where float32 rounds sigma up to a whole number.
    const share = 0.05 * this.scale[1] * (1 + 1e-6);
    // Keras's filter has 6 ⌊sigma⌋ + 1 weights, of the sigma that was drawn.
    const drawnReach = sigma.floor().mul(3);
    const reach = computedDim(`reach ${share}`, [shorter], (side) => 6 * Math.floor(share * side) + 1, 1);
    const moved = (): Tensor => {
      const noise = this.source.normal(toShape([n, h, w, 1]), 'float32').mul(sigma);
      const width = sigma.maximum(1e-6);
      const moves = blurred(noise, [reach, reach], [width, width], drawnReach).mul(distortionFactor);
      return times(moves, 0.1, longer).squeeze(-1);
    };
    return { applyTransform, dx: moved(), dy: moved() };
  }
  protected override transform(images: Tensor, transformation: Transformation): Tensor {
    const [low, high] = this.valueRange;
    return this.#bent(images, transformation, this.interpolation).clip(low, high);
  }
  protected override transformMasks(masks: Tensor, transformation: Transformation): Tensor {
    return this.#bent(masks, transformation, 'nearest');
  }
  protected override moved(): Corners {
    throw new UnimplementedError('boxes beside images that are bent; Keras has none either', this.name);
  }
  #bent(images: Tensor, transformation: Transformation, interpolation: Interpolation): Tensor {
    const [dx, dy] = [drawn(transformation, 'dx'), drawn(transformation, 'dy')];
    const [, h, w] = sidesOf(images);
    const x = iota(w).cast('float32').add(dx);
    const y = iota(h).cast('float32').reshape([-1, 1]).add(dy);
    const { fillMode, fillValue } = this;
    const bent = sampled(images, x, y, { interpolation, fillMode, fillValue }, this.name);
    return where(perImage(drawn(transformation, 'applyTransform')), bent, images);
  }
}

ownsTemporaries(
  RandomFlip,
  RandomTranslation,
  RandomRotation,
  RandomZoom,
  RandomShear,
  RandomPerspective,
  RandomElasticTransform,
);

const flipModes: readonly FlipMode[] = ['horizontal', 'vertical', 'horizontalAndVertical'];
const unit: Range = [-1, 1];
// An image that is zoomed by -1 has no size.
const zooms: Range = [-1 + Number.EPSILON, 1];
const fill = {
  fillMode: word<FillMode>(
    ['reflect', 'wrap', 'constant', 'nearest'],
    'reflect',
    (value) => `needs fillMode 'reflect', 'wrap', 'constant' or 'nearest', got ${value}`,
  ),
  interpolation: word<Interpolation>(
    ['bilinear', 'nearest'],
    'bilinear',
    (value) => `needs interpolation 'bilinear' or 'nearest', got ${value}`,
  ),
};
const warped = { ...fill, seed, fillValue: number(0), ...imageOptions };
takesOptions<RandomFlipOptions, RandomFlip>(
  {
    positional: ['mode'],
    required: 0,
    options: {
      mode: {
        read: (given, _, layer) => {
          const value = given ?? 'horizontalAndVertical';
          const found = flipModes.find((mode) => mode === value || snakeCase(mode) === value);
          if (found === undefined)
            fail(layer as Layer, `needs mode ${flipModes.map(show).join(', ')}, got ${show(value)}`);
          return found as FlipMode;
        },
        write: (mode) => snakeCase(mode),
      } satisfies Option<FlipMode>,
      seed,
      ...imageOptions,
    },
  },
  RandomFlip,
);
takesOptions<RandomTranslationArguments, RandomTranslation>(
  {
    positional: ['heightFactor', 'widthFactor'],
    options: { heightFactor: factor(unit), widthFactor: factor(unit), ...warped },
  },
  RandomTranslation,
);
takesOptions<RandomRotationArguments, RandomRotation>(
  { positional: ['factor'], options: { factor: range(unit), ...warped } },
  RandomRotation,
);
takesOptions<RandomZoomArguments, RandomZoom>(
  {
    positional: ['heightFactor', 'widthFactor'],
    required: 1,
    options: { heightFactor: factor(zooms), widthFactor: factor(zooms, null), ...warped },
  },
  RandomZoom,
);
const angles = range(unit, 0);
// Keras writes [-0.2, 0.2] for 0.2, which it does not take itself; files have it.
const shear: typeof angles = {
  ...angles,
  read(given, name, layer) {
    if (typeof given === 'number' && given < 0)
      fail(layer as Layer, `needs ${name} to be at least 0, got ${show(given)}`);
    return angles.read(given, name, layer);
  },
};
takesOptions<RandomShearOptions, RandomShear>(
  {
    positional: ['xFactor', 'yFactor'],
    required: 0,
    options: { xFactor: shear, yFactor: shear, ...warped },
  },
  RandomShear,
);
takesOptions<RandomPerspectiveOptions, RandomPerspective>(
  {
    positional: ['factor', 'scale'],
    required: 0,
    options: {
      factor: range([0, 1], 1),
      scale: rate(1),
      interpolation: fill.interpolation,
      fillValue: number(0),
      seed,
      ...imageOptions,
    },
  },
  RandomPerspective,
);
takesOptions<RandomElasticTransformOptions, RandomElasticTransform>(
  {
    positional: ['factor', 'scale'],
    required: 0,
    options: { factor: range([0, 1], 1), scale: range([0, 1], 1), valueRange, ...warped },
  },
  RandomElasticTransform,
);
