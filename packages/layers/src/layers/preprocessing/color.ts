// Layers that change the colours of images, most of them at random.
import { constant, image, nn, onesLike, stack, type Tensor, where } from '@eagre/core';
import {
  addDims,
  argumentsOf,
  type Dim,
  dims,
  floorDivDims,
  iota,
  isFloating,
  isInteger,
  kerasDefaults,
  mulDims,
  type Option,
  sizeValue,
  subDims,
  takesOptions,
  toShape,
} from '@eagre/core/internal';
import { type FromConfig, type Layer, ownsTemporaries } from '../../layer/layer.ts';
import { show } from '../../layer/show.ts';
import { fail } from '../common.ts';
import { integer, notNegative, rate, seed, sizes } from '../options.ts';
import type { Size2D } from '../spatial.ts';
import { blurred } from './blur.ts';
import {
  chosen,
  drawn,
  type Factor,
  factor,
  ImageLayer,
  type ImageLayerOptions,
  imageOptions,
  perImage,
  type RandomImageOptions,
  range,
  rescaled,
  sidesOf,
  type Transformation,
  valueRange,
} from './image-layer.ts';

type Range = readonly [low: number, high: number];
const BYTES: Range = [0, 255];

/** What layers take that change colours. */
export interface ColorOptions extends ImageLayerOptions {
  /** The least and the largest value of colours; [0, 255] by default. */
  readonly valueRange?: Range;
}
/** What layers take that change colours by chance. */
export interface RandomColorOptions extends ColorOptions, RandomImageOptions {}
interface FactorArgument {
  /** How much, or between which bounds. */
  readonly factor: Factor;
}
/** The arguments of most of these layers, by name. */
export type RandomColorArguments = RandomColorOptions & FactorArgument;

abstract class ColorLayer extends ImageLayer {
  /** The least and the largest value of colours. */
  declare readonly valueRange: Range;

  /** Within the range of colours. */
  protected inRange(images: Tensor): Tensor {
    return images.clip(...this.valueRange);
  }
}
abstract class RandomColor extends ColorLayer {
  /** How much, or between which bounds. */
  declare readonly factor: Range;

  /** A number for each image, [batch, 1, 1, 1]. */
  protected each(images: Tensor, low: number, high: number): Tensor {
    return this.source.uniform(toShape([sidesOf(images)[0], 1, 1, 1]), 'float32', low, high);
  }
}

/** Adds a share of the range of colours: `new RandomBrightness(0.2)` up to a fifth, to both sides. */
export class RandomBrightness extends RandomColor {
  declare static readonly fromConfig: FromConfig<RandomBrightness>;

  constructor(...args: [factor: Factor | RandomColorArguments, options?: RandomColorOptions]) {
    super(argumentsOf<RandomColorArguments>(RandomBrightness, new.target, args));
  }
  protected override draw(images: Tensor): Transformation {
    const [low, high] = this.valueRange;
    return { rgbDelta: this.each(images, ...this.factor).mul(high - low) };
  }
  protected override get keepsIntegers(): boolean {
    return true;
  }
  protected override transform(images: Tensor, transformation: Transformation): Tensor {
    const delta = drawn(transformation, 'rgbDelta');
    // Integers go round their ends, as in Keras: bytes darker by 20 are brighter by 236.
    const step = isInteger(images.dtype) ? delta.cast('int32') : delta;
    return this.inRange(images.add(step.cast(images.dtype)));
  }
}

/** Moves colours away from the mean of their channel, or towards it: by a factor from 1 - low to 1 + high. */
export class RandomContrast extends RandomColor {
  declare static readonly fromConfig: FromConfig<RandomContrast>;

  constructor(...args: [factor: Factor | RandomColorArguments, options?: RandomColorOptions]) {
    super(argumentsOf<RandomColorArguments>(RandomContrast, new.target, args));
  }
  protected override draw(images: Tensor): Transformation {
    const [low, high] = this.factor;
    return { contrastFactor: this.each(images, 1 - low, 1 + high) };
  }
  protected override transform(images: Tensor, transformation: Transformation): Tensor {
    const mean = images.mean([1, 2], { keepdims: true });
    const contrast = drawn(transformation, 'contrastFactor').cast(images.dtype);
    return this.inRange(images.sub(mean).mul(contrast).add(mean));
  }
}

/** Turns the hue by up to half a circle times the factor, to both sides. */
export class RandomHue extends RandomColor {
  declare static readonly fromConfig: FromConfig<RandomHue>;

  constructor(...args: [factor: Factor | RandomColorArguments, options?: RandomColorOptions]) {
    super(argumentsOf<RandomColorArguments>(RandomHue, new.target, args));
  }
  protected override draw(images: Tensor): Transformation {
    const shape = toShape([sidesOf(images)[0]]);
    const side = where(this.source.uniform(shape, 'float32').greater(0.5), -1, 1);
    return { factor: side.mul(this.source.uniform(shape, 'float32', ...this.factor)).mul(0.5) };
  }
  protected override transform(images: Tensor, transformation: Transformation): Tensor {
    const unit = rescaled(images, this.valueRange, [0, 1]);
    const delta = drawn(transformation, 'factor').cast(images.dtype).reshape([-1, 1, 1]);
    const [h, s, v] = image.rgbToHsv(unit).unstack(-1);
    const turned = h.add(delta);
    const hue = where(turned.greater(1), turned.sub(1), where(turned.less(0), turned.add(1), turned));
    const rgb = image.hsvToRgb(stacked(hue, s, v)).clip(0, 1);
    return rescaled(rgb, [0, 1], this.valueRange);
  }
}

const stacked = (...channels: Tensor[]): Tensor => stack(channels, -1);

/** Makes colours paler or stronger: a factor of 0 gives grey, 0.5 leaves images as they are, 1 saturates. */
export class RandomSaturation extends RandomColor {
  declare static readonly fromConfig: FromConfig<RandomSaturation>;

  constructor(...args: [factor: Factor | RandomColorArguments, options?: RandomColorOptions]) {
    super(argumentsOf<RandomColorArguments>(RandomSaturation, new.target, args));
  }
  protected override draw(images: Tensor): Transformation {
    const shape = toShape([sidesOf(images)[0]]);
    const given = this.source.uniform(shape, 'float32', ...this.factor);
    return { factor: given.div(given.neg().add(1 + kerasDefaults.epsilon)) };
  }
  protected override transform(images: Tensor, transformation: Transformation): Tensor {
    const strength = drawn(transformation, 'factor').cast(images.dtype).reshape([-1, 1, 1]);
    const [h, s, v] = image.rgbToHsv(images).unstack(-1);
    return image.hsvToRgb(stacked(h, this.inRange(s.mul(strength)), v));
  }
}

/** Mixes images with their greys: a factor of 0 leaves them, 1 takes all colour. */
export class RandomColorDegeneration extends RandomColor {
  declare static readonly fromConfig: FromConfig<RandomColorDegeneration>;

  constructor(...args: [factor: Factor | RandomColorArguments, options?: RandomColorOptions]) {
    super(argumentsOf<RandomColorArguments>(RandomColorDegeneration, new.target, args));
  }
  protected override draw(images: Tensor): Transformation {
    return { factor: this.each(images, ...this.factor) };
  }
  protected override transform(images: Tensor, transformation: Transformation): Tensor {
    const grey = image.rgbToGrayscale(images);
    const share = drawn(transformation, 'factor').cast(images.dtype);
    return this.inRange(images.add(share.mul(grey.sub(images))));
  }
}

/** Smooths or sharpens: a factor of 0 gives smooth images, 0.5 leaves them, 1 sharpens. */
export class RandomSharpness extends RandomColor {
  declare static readonly fromConfig: FromConfig<RandomSharpness>;

  constructor(...args: [factor: Factor | RandomColorArguments, options?: RandomColorOptions]) {
    super(argumentsOf<RandomColorArguments>(RandomSharpness, new.target, args));
  }
  protected override draw(images: Tensor): Transformation {
    return { factor: this.source.uniform(toShape([sidesOf(images)[0]]), 'float32', ...this.factor) };
  }
  protected override transform(images: Tensor, transformation: Transformation): Tensor {
    const strength = perImage(drawn(transformation, 'factor').cast(images.dtype)).mul(2);
    const [a, b] = [1 / 13, 5 / 13];
    const channels = dims(images)[3];
    const filter = constant([a, a, a, a, b, a, a, a, a], images.dtype, { shape: [3, 3, 1, 1] });
    const smooth = nn.depthwiseConv2d(images, filter.broadcastTo(toShape([3, 3, channels, 1])), {
      padding: 'SAME',
    });
    return this.inRange(images.add(strength.neg().add(1).mul(smooth.sub(images))));
  }
}

/** Keeps only some bits of colours, 1 to 8. */
export class RandomPosterization extends RandomColor {
  declare static readonly fromConfig: FromConfig<RandomPosterization>;

  constructor(...args: [factor: Factor | RandomColorArguments, options?: RandomColorOptions]) {
    super(argumentsOf<RandomColorArguments>(RandomPosterization, new.target, args));
  }
  protected override draw(images: Tensor): Transformation {
    const [low, high] = this.factor;
    const shape = toShape([sidesOf(images)[0]]);
    const bits = this.source.uniform(shape, 'float32', low, high).floor();
    return { shiftFactor: bits.neg().add(8).cast('uint8') };
  }
  protected override transform(images: Tensor, transformation: Transformation): Tensor {
    const bytes = rescaled(images, this.valueRange, BYTES).clip(0, 255).cast('uint8');
    const shift = perImage(drawn(transformation, 'shiftFactor').cast('uint8'));
    const kept = bytes.bitwiseRightShift(shift).bitwiseLeftShift(shift).cast(images.dtype);
    return rescaled(kept, BYTES, this.valueRange);
  }
}

/** Turns some images into their negatives: each with a probability, or one between two. */
export class RandomInvert extends RandomColor {
  declare static readonly fromConfig: FromConfig<RandomInvert>;

  constructor(
    ...args: [factor?: Factor | null | Partial<RandomColorArguments>, options?: Partial<RandomColorArguments>]
  ) {
    super(argumentsOf<RandomColorArguments>(RandomInvert, new.target, args));
  }
  protected override draw(images: Tensor): Transformation {
    return { applyInversion: chosen(this, images, this.factor) };
  }
  protected override transform(images: Tensor, transformation: Transformation): Tensor {
    const negative = images.neg().add(this.valueRange[1]);
    return where(perImage(drawn(transformation, 'applyInversion')), negative, images);
  }
}

/** Options of `RandomGrayscale`. */
export interface RandomGrayscaleOptions extends RandomImageOptions {
  /** How likely an image becomes grey; 0.5 by default. */
  readonly factor?: number;
}

/** Takes the colours of some images; they keep three channels. */
export class RandomGrayscale extends ImageLayer {
  declare static readonly fromConfig: FromConfig<RandomGrayscale>;
  /** How likely an image becomes grey. */
  declare readonly factor: number;

  constructor(...args: [factor?: number | null | RandomGrayscaleOptions, options?: RandomGrayscaleOptions]) {
    super(argumentsOf<RandomGrayscaleOptions>(RandomGrayscale, new.target, args));
  }
  protected override draw(images: Tensor): Transformation {
    const shape = toShape([sidesOf(images)[0], 1, 1, 1]);
    return { shouldApply: this.source.uniform(shape, 'float32').less(this.factor) };
  }
  protected override get keepsIntegers(): boolean {
    return true;
  }
  protected override transform(images: Tensor, transformation: Transformation): Tensor {
    const colours = isFloating(images.dtype) ? images : images.cast('float32');
    const grey = image.rgbToGrayscale(colours).cast(images.dtype);
    return where(perImage(drawn(transformation, 'shouldApply')), grey, images);
  }
}

/** Options of `Solarization`. */
export interface SolarizationOptions extends RandomColorOptions {
  /** What is added before, as a share of the range; the least and the largest, or the largest. 0 by default. */
  readonly additionFactor?: Factor;
  /** From which share of the range on colours become their negatives. 0 by default. */
  readonly thresholdFactor?: Factor;
}

/** Turns bright colours into their negatives. */
export class Solarization extends ColorLayer {
  declare static readonly fromConfig: FromConfig<Solarization>;
  /** What is added before, as a share of the range; the least and the largest, or the largest. */
  declare readonly additionFactor: Range;
  /** From which share of the range on colours become their negatives. */
  declare readonly thresholdFactor: Range;

  constructor(
    ...args: [
      additionFactor?: Factor | null | SolarizationOptions,
      thresholdFactor?: Factor | null | SolarizationOptions,
      options?: SolarizationOptions,
    ]
  ) {
    super(argumentsOf<SolarizationOptions>(Solarization, new.target, args));
  }
  protected override draw(images: Tensor): Transformation {
    const shape = toShape([sidesOf(images)[0], 1, 1, 1]);
    const part = ([low, high]: Range): Tensor => this.source.uniform(shape, 'float32', low * 255, high * 255);
    return { additions: part(this.additionFactor), thresholds: part(this.thresholdFactor) };
  }
  protected override transform(images: Tensor, transformation: Transformation): Tensor {
    const [more, least] = ['additions', 'thresholds'].map((name) =>
      drawn(transformation, name).cast(images.dtype),
    );
    const bright = rescaled(images, this.valueRange, BYTES).add(more).clip(0, 255);
    const turned = where(bright.less(least), bright, bright.neg().add(255));
    return rescaled(turned, BYTES, this.valueRange);
  }
}

/** Stretches the colours of each channel of each image over the whole range. */
export class AutoContrast extends ColorLayer {
  declare static readonly fromConfig: FromConfig<AutoContrast>;

  constructor(...args: [options?: ColorOptions]) {
    super(argumentsOf<ColorOptions>(AutoContrast, new.target, args));
  }
  protected override get always(): boolean {
    return true;
  }
  protected override transform(images: Tensor): Tensor {
    const bytes = rescaled(images, this.valueRange, BYTES);
    const low = bytes.min([1, 2], { keepdims: true });
    const scale = bytes.max([1, 2], { keepdims: true }).sub(low).reciprocal().mul(255);
    const stretched = bytes.mul(scale).sub(low.mul(scale)).clip(0, 255);
    const result = rescaled(stretched, BYTES, this.valueRange);
    return where(result.isNan(), images, result);
  }
}

/** How often each integer from 0 up to `count` occurs, int32. One-hot rows of all pixels would need `count` times their memory. */
function occurrences(values: Tensor, count: Dim): Tensor {
  const flat = values.reshape([-1]);
  return onesLike(flat).unsortedSegmentSum(flat, sizeValue(count, 'int32'));
}

/** Options of `Equalization`. */
export interface EqualizationOptions extends ColorOptions {
  /** How many classes of brightness there are; 256 by default. */
  readonly bins?: number;
}

/** Makes all brightnesses of a channel about as frequent, over the whole batch. */
export class Equalization extends ColorLayer {
  declare static readonly fromConfig: FromConfig<Equalization>;
  /** How many classes of brightness there are. */
  declare readonly bins: number;

  constructor(...args: [options?: EqualizationOptions]) {
    super(argumentsOf<EqualizationOptions>(Equalization, new.target, args));
  }
  protected override transform(images: Tensor): Tensor {
    const bytes = rescaled(images, this.valueRange, BYTES);
    const last = this.bins - 1;
    const index = bytes
      .mul(last / 255)
      .clip(0, last)
      .cast('int32');
    const c = dims(images)[3];
    const place = index.mul(sizeValue(c, 'int32')).add(iota(c));
    const counts = occurrences(place, mulDims(c, this.bins)).reshape(toShape([this.bins, c]));
    const cdf = counts.cumsum(0).cast('float32');
    const least = where(cdf.greater(0), cdf, Number.POSITIVE_INFINITY).min(0, { keepdims: true });
    const rest = cdf.at(`${last}:${last + 1}`).sub(least);
    const table = cdf
      .sub(least)
      .mul(255)
      .div(where(rest.equal(0), 1, rest))
      .round()
      .clip(0, 255);
    const equal = table.reshape([-1]).gather(place).cast(images.dtype);
    // A channel of one brightness stays.
    const several = counts.greater(0).cast('int32').sum(0).greater(1);
    return rescaled(where(several, equal, bytes), BYTES, this.valueRange);
  }
}

/** Options of `RandomGaussianBlur`. */
export interface RandomGaussianBlurOptions extends RandomColorOptions {
  /** How likely an image is smoothed, or between which probabilities; 1 by default. */
  readonly factor?: Factor;
  /** The height and width of the blur in pixels, odd; 3 by default. */
  readonly kernelSize?: Size2D;
  /** The standard deviation, from 0 to 1, or its bounds, of which the upper one may be any; 1 by default. */
  readonly sigma?: Factor;
}

/** Smooths some images by a Gaussian. */
export class RandomGaussianBlur extends RandomColor {
  declare static readonly fromConfig: FromConfig<RandomGaussianBlur>;
  /** The height and width of the blur in pixels, odd. */
  declare readonly kernelSize: readonly [number, number];
  /** The standard deviation, from 0 to 1, or its bounds, of which the upper one may be any. */
  declare readonly sigma: Range;

  constructor(
    ...args: [factor?: Factor | null | RandomGaussianBlurOptions, options?: RandomGaussianBlurOptions]
  ) {
    super(argumentsOf<RandomGaussianBlurOptions>(RandomGaussianBlur, new.target, args));
  }
  protected override draw(images: Tensor): Transformation {
    return {
      shouldApplyBlur: chosen(this, images, this.factor),
      blurFactor: this.source.uniform([2], 'float32', ...this.sigma).add(1e-6),
    };
  }
  protected override transform(images: Tensor, transformation: Transformation): Tensor {
    const [x, y] = drawn(transformation, 'blurFactor').unstack();
    const smooth = blurred(images, this.kernelSize, [x, y]);
    return this.inRange(where(perImage(drawn(transformation, 'shouldApplyBlur')), smooth, images));
  }
}

/** Options of `RandomColorJitter`. */
export interface RandomColorJitterOptions extends RandomColorOptions {
  /** As the factor of `RandomBrightness`; brightness stays by default. */
  readonly brightnessFactor?: Factor | null;
  /** As the factor of `RandomContrast`; contrast stays by default. */
  readonly contrastFactor?: Factor | null;
  /** As the factor of `RandomSaturation`; saturation stays by default. */
  readonly saturationFactor?: Factor | null;
  /** As the factor of `RandomHue`; the hue stays by default. */
  readonly hueFactor?: Factor | null;
}

/** RandomBrightness, RandomContrast, RandomSaturation and RandomHue, those of which a factor is given, one after the other. */
export class RandomColorJitter extends ColorLayer {
  declare static readonly fromConfig: FromConfig<RandomColorJitter>;
  /** As the factor of `RandomBrightness`. */
  declare readonly brightnessFactor: Factor | null;
  /** As the factor of `RandomContrast`. */
  declare readonly contrastFactor: Factor | null;
  /** As the factor of `RandomSaturation`. */
  declare readonly saturationFactor: Factor | null;
  /** As the factor of `RandomHue`. */
  declare readonly hueFactor: Factor | null;
  /** The layer then draws the same numbers in every run. */
  declare readonly seed: number | null;
  readonly #parts: readonly ImageLayer[];

  constructor(...args: [options?: RandomColorJitterOptions]) {
    super(argumentsOf<RandomColorJitterOptions>(RandomColorJitter, new.target, args));
    const { brightnessFactor, contrastFactor, saturationFactor, hueFactor, dtypePolicy: dtype } = this;
    const options = { valueRange: this.valueRange, dtype };
    this.#parts = [
      ...(brightnessFactor === null ? [] : [new RandomBrightness(brightnessFactor, options)]),
      ...(contrastFactor === null ? [] : [new RandomContrast(contrastFactor, options)]),
      ...(saturationFactor === null ? [] : [new RandomSaturation(saturationFactor, options)]),
      ...(hueFactor === null ? [] : [new RandomHue(hueFactor, options)]),
    ];
    for (const part of this.#parts) part.source = this.source;
  }
  protected override draw(images: Tensor): Transformation {
    return { parts: this.#parts.map((part) => part.getRandomTransformation(images)) };
  }
  protected override transform(images: Tensor, { parts }: Transformation): Tensor {
    const each = parts as readonly Transformation[];
    return this.#parts.reduce((x, part, i) => part.transformImages(x, each[i]), images);
  }
}

/** Options of `ContrastLimitedAdaptiveHistogramEqualization`. */
export interface ContrastLimitedAdaptiveHistogramEqualizationOptions extends ColorOptions {
  /** How often one brightness counts at most, as a multiple of the mean; 4 by default, 0 is no limit. */
  readonly clipLimit?: number;
  /** Into how many tiles images are divided, [down, right]; 8 by default. */
  readonly tileGridSize?: Size2D;
}

/**
 * Equalization of each part of an image by itself, without seams and without much more noise (Zuiderveld, "Contrast limited adaptive
 * histogram equalization", 1994).
 */
export class ContrastLimitedAdaptiveHistogramEqualization extends ColorLayer {
  declare static readonly fromConfig: FromConfig<ContrastLimitedAdaptiveHistogramEqualization>;
  /** How often one brightness counts at most, as a multiple of the mean. */
  declare readonly clipLimit: number;
  /** Into how many tiles images are divided, [down, right]. */
  declare readonly tileGridSize: readonly [number, number];

  constructor(
    ...args: [
      valueRange?: Range | null | ContrastLimitedAdaptiveHistogramEqualizationOptions,
      options?: ContrastLimitedAdaptiveHistogramEqualizationOptions,
    ]
  ) {
    super(
      argumentsOf<ContrastLimitedAdaptiveHistogramEqualizationOptions>(
        ContrastLimitedAdaptiveHistogramEqualization,
        new.target,
        args,
      ),
    );
  }
  protected override get always(): boolean {
    return true;
  }
  protected override transform(images: Tensor): Tensor {
    const bytes = rescaled(images, this.valueRange, BYTES).cast('float32');
    const [n, height, width, c] = dims(images);
    const [down, right] = this.tileGridSize;
    const tileOf = (side: Dim, count: number): Dim => floorDivDims(addDims(side, count - 1), count);
    const [tall, wide] = [tileOf(height, down), tileOf(width, right)];
    const [rows, columns] = [mulDims(tall, down), mulDims(wide, right)];
    const none = [0, 0];
    const paddings = [none, [0, subDims(rows, height)], [0, subDims(columns, width)], none];
    const padded = bytes.pad(paddings as [number, number][], { mode: 'SYMMETRIC' });
    /** A size to compute with in integers. */
    const int = (d: Dim): number | Tensor => sizeValue(d, 'int32');
    const float = (d: Dim): number | Tensor => sizeValue(d, 'float32');
    const pixels = padded.clip(0, 255).cast('int32');
    const area = mulDims(tall, wide);
    // The tables are numbered along [n, down, right, c].
    const tableOf = iota(mulDims(n, down))
      .reshape(toShape([n, down, 1, 1, 1, 1]))
      .mul(right)
      .add(iota(right).reshape([right, 1, 1]))
      .mul(int(c))
      .add(iota(c));
    const places = tableOf.mul(256).add(pixels.reshape(toShape([n, down, tall, right, wide, c])));
    let counts = occurrences(places, mulDims(mulDims(n, down * right * 256), c))
      .reshape(toShape([n, down, right, c, 256]))
      .cast('float32');
    if (this.clipLimit > 0) {
      const limit = float(area);
      const share = this.clipLimit / 256;
      const most = counts.clip(0, typeof limit === 'number' ? limit * share : limit.mul(share));
      counts = most.add(counts.sub(most).sum(-1, { keepdims: true }).div(256));
    }
    const cdf = counts.cumsum(-1);
    const least = cdf.min(-1, { keepdims: true });
    const rest = least.neg().add(float(area));
    const table = cdf
      .sub(least)
      .mul(255)
      .div(where(rest.equal(0), 1, rest))
      .clip(0, 255);
    // Beyond the outer tiles their own table counts.
    const edges = (x: Tensor, axis: number): Tensor =>
      x.pad(
        dims(x).map((_, i): [number, number] => (i === axis ? [1, 1] : [0, 0])),
        { mode: 'SYMMETRIC' },
      );
    const tables = edges(edges(table, 1), 2).reshape([-1]);
    const [first, image] = [iota(n).reshape([-1, 1, 1, 1]), iota(c)];
    const base = first
      .mul(int(mulDims(c, (down + 2) * (right + 2) * 256)))
      .add(image.mul(256))
      .add(pixels);
    const along = (size: Dim, tile: Dim, tileCount: number, shape: number[]) => {
      const place = iota(size).cast('float32').div(float(tile)).add(0.5).reshape(shape);
      const below = place.floor();
      const at = (p: Tensor): Tensor => p.clip(0, tileCount + 1).cast('int32');
      return { low: at(below), high: at(below.add(1)), share: place.sub(below) };
    };
    const y = along(rows, tall, down, [1, -1, 1, 1]);
    const x = along(columns, wide, right, [1, 1, -1, 1]);
    const at = (row: Tensor, column: Tensor): Tensor =>
      tables.gather(
        base.add(row.mul(int(mulDims(c, (right + 2) * 256)))).add(column.mul(int(mulDims(c, 256)))),
      );
    const mix = (a: Tensor, b: Tensor, share: Tensor): Tensor => a.add(b.sub(a).mul(share));
    const above = mix(at(y.low, x.low), at(y.low, x.high), x.share);
    const under = mix(at(y.high, x.low), at(y.high, x.high), x.share);
    const result = mix(above, under, y.share).slice([0, 0, 0, 0], toShape([-1, height, width, -1]));
    return rescaled(result.cast(images.dtype), BYTES, this.valueRange);
  }
}
ownsTemporaries(
  RandomBrightness,
  RandomContrast,
  RandomHue,
  RandomSaturation,
  RandomColorDegeneration,
  RandomSharpness,
  RandomPosterization,
  RandomInvert,
  RandomGrayscale,
  Solarization,
  AutoContrast,
  Equalization,
  RandomGaussianBlur,
  RandomColorJitter,
  ContrastLimitedAdaptiveHistogramEqualization,
);

const unit: Range = [0, 1];
/** As in Keras, where only the lower one of two bounds is compared with 1. */
const deviation: Option<Range> = {
  ...range(unit, 1),
  read: (given, name, layer) => {
    const isPair = Array.isArray(given) && given.length === 2 && given.every(Number.isFinite);
    const [low, high] = isPair ? [Math.min(...given), Math.max(...given)] : [-1, -1];
    return low >= 0 && low <= 1 ? [low, high] : range(unit, 1).read(given, name, layer);
  },
};
const colored = { valueRange, seed, ...imageOptions };
const byFactor = (bounds: Range, otherwise?: Factor) =>
  ({
    positional: ['factor'],
    required: otherwise === undefined ? 1 : 0,
    options: { factor: range(bounds, otherwise), ...colored },
  }) as const;
takesOptions<RandomColorArguments, RandomColor>(byFactor([-1, 1]), RandomBrightness, RandomColorDegeneration);
takesOptions<RandomColorArguments, RandomColor>(
  byFactor(unit),
  RandomContrast,
  RandomHue,
  RandomSaturation,
  RandomSharpness,
);
takesOptions<RandomColorArguments, RandomPosterization>(byFactor([1, 8]), RandomPosterization);
takesOptions<RandomColorArguments, RandomInvert>(byFactor(unit, 1), RandomInvert);
takesOptions<RandomGrayscaleOptions, RandomGrayscale>(
  { positional: ['factor'], required: 0, options: { factor: rate(0.5), seed, ...imageOptions } },
  RandomGrayscale,
);
takesOptions<SolarizationOptions, Solarization>(
  {
    positional: ['additionFactor', 'thresholdFactor'],
    required: 0,
    options: { additionFactor: range(unit, 0), thresholdFactor: range(unit, 0), ...colored },
  },
  Solarization,
);
takesOptions<ColorOptions, AutoContrast>({ options: { valueRange, ...imageOptions } }, AutoContrast);
takesOptions<EqualizationOptions, Equalization>(
  { options: { valueRange, bins: integer(256, 2), ...imageOptions } },
  Equalization,
);
takesOptions<RandomGaussianBlurOptions, RandomGaussianBlur>(
  {
    positional: ['factor'],
    required: 0,
    options: {
      factor: range(unit, 1),
      kernelSize: {
        read: (given, name, layer) => {
          const both = sizes(2, 3).read(given, name, layer);
          if (both.some((n) => n % 2 === 0)) fail(layer as Layer, `needs an odd ${name}, got ${show(given)}`);
          return both as readonly [number, number];
        },
      } satisfies Option<readonly [number, number]>,
      sigma: deviation,
      ...colored,
    },
  },
  RandomGaussianBlur,
);
takesOptions<RandomColorJitterOptions, RandomColorJitter>(
  {
    options: {
      valueRange,
      brightnessFactor: factor([-1, 1], null),
      contrastFactor: factor(unit, null),
      saturationFactor: factor(unit, null),
      hueFactor: factor(unit, null),
      seed,
      ...imageOptions,
    },
  },
  RandomColorJitter,
);
takesOptions<
  ContrastLimitedAdaptiveHistogramEqualizationOptions,
  ContrastLimitedAdaptiveHistogramEqualization
>(
  {
    positional: ['valueRange'],
    required: 0,
    options: {
      valueRange,
      clipLimit: notNegative(4),
      tileGridSize: sizes(2, 8) as Option<readonly [number, number]>,
      ...imageOptions,
    },
  },
  ContrastLimitedAdaptiveHistogramEqualization,
);
