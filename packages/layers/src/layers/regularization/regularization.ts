// Layers that disturb their input in training and pass it on otherwise.

import { nn, type PartialShape, type Shape, type Tensor, zerosLike } from '@eagre/core';
import {
  argumentsOf,
  dims,
  dimsOf,
  type Option,
  orNull,
  showShape,
  takesOptions,
  toShape,
} from '@eagre/core/internal';
import { takesValuesOf } from '../../layer/kinds.ts';
import {
  builtAtOnce,
  type CallOptions,
  type FromConfig,
  Layer,
  type LayerOptions,
  ownsTemporaries,
  passesMask,
} from '../../layer/layer.ts';
import { show } from '../../layer/show.ts';
import { L1L2, type RegularizerFunction } from '../../regularizers.ts';
import { checkOne, checkRank, fail, floats, penalize, values } from '../common.ts';
import { notNegative, rate, seed } from '../options.ts';
import { RandomSource } from '../random-source.ts';
import { axesText, type DataFormat, dataFormat, firstAxisOf, type Rank } from '../spatial.ts';
import { layerOptions } from '../weights.ts';

/** Options of `GaussianNoise` and `GaussianDropout`. */
export interface NoiseOptions extends LayerOptions {
  /** The layer then draws the same numbers in every run, whatever else draws; the global seed decides by default. */
  readonly seed?: number | null;
}

/** What these layers share: numbers of their own when they have a seed. */
abstract class Noise extends Layer {
  /** The layer then draws the same numbers in every run, whatever else draws. */
  declare readonly seed: number | null;
  readonly #source: RandomSource;

  constructor(options: NoiseOptions) {
    super(options);
    this.#source = new RandomSource(this.seed);
  }

  /** x with a share `rate` of `noiseShape`'s elements at 0 and the others scaled up. */
  protected drop(x: Tensor, rate: number, noiseShape: Shape): Tensor {
    if (rate === 0) return x;
    if (rate === 1) return zerosLike(x);
    if (!this.#source.isOwn) return nn.dropout(x, rate, { noiseShape });
    return this.uniform(x, noiseShape)
      .greaterEqual(rate)
      .where(x.mul(1 / (1 - rate)), 0);
  }

  protected uniform(x: Tensor, shape: Shape): Tensor {
    return this.#source.uniform(shape, x.dtype);
  }

  protected normal(x: Tensor, mean: number, stddev: number): Tensor {
    return this.#source.normal(x.shape, x.dtype, mean, stddev);
  }

  override computeOutputShape(inputShape: PartialShape): PartialShape {
    return checkOne(this, inputShape);
  }
}

/** Options of `Dropout` and `AlphaDropout`. */
export interface DropoutOptions extends NoiseOptions {
  /** Dimensions of 1 are dropped or kept as a whole; `null` is the input's own size. */
  readonly noiseShape?: PartialShape | null;
}

/** All arguments of `Dropout`, by name. */
export interface DropoutArguments extends DropoutOptions {
  /** The share of the elements that is dropped in training, from 0 to 1. */
  readonly rate: number;
}

/** In training, puts a share `rate` of the elements to 0 and scales the others by 1 / (1 − rate). */
export class Dropout extends Noise {
  declare static readonly fromConfig: FromConfig<Dropout>;
  /** The share of the elements that is dropped in training, from 0 to 1. */
  declare readonly rate: number;
  /** Dimensions of 1 are dropped or kept as a whole; `null` is the input's own size. */
  declare readonly noiseShape: PartialShape | null;

  constructor(...args: [rate: number | DropoutArguments, options?: DropoutOptions]) {
    super(argumentsOf<DropoutArguments>(Dropout, new.target, args));
  }
  /** @internal */
  override get isNotedWithoutTraining(): true {
    return true;
  }
  override call(inputs: Tensor, { training }: CallOptions = {}): Tensor {
    const x = training === true ? floats(this, inputs) : values(this, inputs);
    return training === true ? this.drop(x, this.rate, noiseOf(this, this.noiseShape, x.shape)) : x;
  }
}

/** The shape of the noise for an input, which it broadcasts to: null is the input's own size, in a list of its rank. */
function noiseOf(layer: Layer, given: PartialShape | null, shape: Shape): Shape {
  if (given === null) return shape;
  if (given.length > shape.length || (given.length < shape.length && given.includes(null))) {
    fail(layer, `has a noiseShape ${showShape(given)} of another rank than its input ${showShape(shape)}`);
  }
  const own = dimsOf(shape);
  return toShape(given.map((d, i) => d ?? own[i]));
}

/** Options of `SpatialDropout1D`. */
export interface SpatialDropout1DOptions extends NoiseOptions {}
/** Options of `SpatialDropout2D`. */
export interface SpatialDropout2DOptions extends NoiseOptions {
  /** Where the channels are: `channelsLast` by default. */
  readonly dataFormat?: DataFormat | null;
}
/** Options of `SpatialDropout3D`. */
export interface SpatialDropout3DOptions extends SpatialDropout2DOptions {}

interface RateArgument {
  /** The share of the channels that is dropped in training, from 0 to 1. */
  readonly rate: number;
}
/** All arguments of `SpatialDropout1D`, by name. */
export type SpatialDropout1DArguments = SpatialDropout1DOptions & RateArgument;
/** All arguments of `SpatialDropout2D`, by name. */
export type SpatialDropout2DArguments = SpatialDropout2DOptions & RateArgument;
/** All arguments of `SpatialDropout3D`, by name. */
export type SpatialDropout3DArguments = SpatialDropout3DOptions & RateArgument;

abstract class SpatialDropout extends Noise {
  /** The share of the channels that is dropped in training, from 0 to 1. */
  declare readonly rate: number;
  /** Where the channels are: `channelsLast` or `channelsFirst`. */
  declare readonly dataFormat: DataFormat;
  readonly #rank: Rank;

  constructor(rank: Rank, options: NoiseOptions) {
    super(options);
    this.#rank = rank;
  }
  override call(inputs: Tensor, { training }: CallOptions = {}): Tensor {
    const x = training === true ? floats(this, inputs) : values(this, inputs);
    checkRank(this, x.shape, this.#rank + 2, axesText(this.#rank, this.dataFormat));
    if (training !== true) return x;
    const first = firstAxisOf(this.dataFormat);
    const each = dims(x).map((n, axis) => (axis >= first && axis < first + this.#rank ? 1 : n));
    return this.drop(x, this.rate, toShape(each));
  }
  /** As in Keras, which does not take `trainable`. */
  override getConfig(): Record<string, unknown> {
    const { trainable: _, ...config } = super.getConfig();
    return config;
  }
}

/** Dropout of whole features of sequences [batch, steps, features], whose steps depend on each other. */
export class SpatialDropout1D extends SpatialDropout {
  declare static readonly fromConfig: FromConfig<SpatialDropout1D>;
  constructor(...args: [rate: number | SpatialDropout1DArguments, options?: SpatialDropout1DOptions]) {
    super(1, argumentsOf<SpatialDropout1DArguments>(SpatialDropout1D, new.target, args));
  }
}

/** Dropout of whole channels of images [batch, h, w, c], whose pixels depend on each other. */
export class SpatialDropout2D extends SpatialDropout {
  declare static readonly fromConfig: FromConfig<SpatialDropout2D>;
  constructor(...args: [rate: number | SpatialDropout2DArguments, options?: SpatialDropout2DOptions]) {
    super(2, argumentsOf<SpatialDropout2DArguments>(SpatialDropout2D, new.target, args));
  }
  /** @internal */
  override get isNotedWithoutTraining(): true {
    return true;
  }
}

/** Dropout of whole channels of volumes [batch, d, h, w, c], whose voxels depend on each other. */
export class SpatialDropout3D extends SpatialDropout {
  declare static readonly fromConfig: FromConfig<SpatialDropout3D>;
  constructor(...args: [rate: number | SpatialDropout3DArguments, options?: SpatialDropout3DOptions]) {
    super(3, argumentsOf<SpatialDropout3DArguments>(SpatialDropout3D, new.target, args));
  }
}

/** All arguments of `GaussianNoise`, by name. */
export interface GaussianNoiseArguments extends NoiseOptions {
  /** The standard deviation of the noise. */
  readonly stddev: number;
}

/** In training, adds normally distributed noise of mean 0. */
export class GaussianNoise extends Noise {
  declare static readonly fromConfig: FromConfig<GaussianNoise>;
  /** The standard deviation of the noise. */
  declare readonly stddev: number;

  constructor(...args: [stddev: number | GaussianNoiseArguments, options?: NoiseOptions]) {
    super(argumentsOf<GaussianNoiseArguments>(GaussianNoise, new.target, args));
  }
  /** @internal */
  override get isNotedWithoutTraining(): true {
    return true;
  }
  override call(inputs: Tensor, { training }: CallOptions = {}): Tensor {
    const x = training === true ? floats(this, inputs) : values(this, inputs);
    return training === true && this.stddev > 0 ? x.add(this.normal(x, 0, this.stddev)) : x;
  }
}

/** All arguments of `GaussianDropout`, by name. */
export interface GaussianDropoutArguments extends NoiseOptions {
  /** The share of a Dropout with as much noise: the deviation is √(rate / (1 − rate)). From 0 up to 1. */
  readonly rate: number;
}

/** In training, multiplies by normally distributed noise of mean 1 and the variance that Dropout of that rate would have. */
export class GaussianDropout extends Noise {
  declare static readonly fromConfig: FromConfig<GaussianDropout>;
  /** The share of a Dropout with as much noise: the deviation is √(rate / (1 − rate)). From 0 up to 1. */
  declare readonly rate: number;

  constructor(...args: [rate: number | GaussianDropoutArguments, options?: NoiseOptions]) {
    super(argumentsOf<GaussianDropoutArguments>(GaussianDropout, new.target, args));
    if (this.rate === 1) fail(this, 'needs a rate below 1');
  }
  /** @internal */
  override get isNotedWithoutTraining(): true {
    return true;
  }
  override call(inputs: Tensor, { training }: CallOptions = {}): Tensor {
    const x = training === true ? floats(this, inputs) : values(this, inputs);
    if (training !== true || this.rate === 0) return x;
    return x.mul(this.normal(x, 1, Math.sqrt(this.rate / (1 - this.rate))));
  }
}

/** All arguments of `AlphaDropout`, by name. */
export interface AlphaDropoutArguments extends DropoutOptions {
  /** The share of the elements that is dropped in training, from 0 to 1. */
  readonly rate: number;
}

// SELU's constants: a dropped element becomes what SELU makes of −∞.
const DROPPED = -1.6732632423543772 * 1.0507009873554805;

/**
 * Dropout that leaves mean and variance as they are, for networks of SELU: dropped elements become the least that SELU gives
 * (Klambauer, Unterthiner, Mayr and Hochreiter, 2017).
 */
export class AlphaDropout extends Noise {
  declare static readonly fromConfig: FromConfig<AlphaDropout>;
  /** The share of the elements that is dropped in training, from 0 to 1. */
  declare readonly rate: number;
  /** Dimensions of 1 are dropped or kept as a whole; `null` is the input's own size. */
  declare readonly noiseShape: PartialShape | null;

  constructor(...args: [rate: number | AlphaDropoutArguments, options?: DropoutOptions]) {
    super(argumentsOf<AlphaDropoutArguments>(AlphaDropout, new.target, args));
  }
  override call(inputs: Tensor, { training }: CallOptions = {}): Tensor {
    const { rate } = this;
    if (training !== true || rate === 0) return values(this, inputs);
    const x = floats(this, inputs);
    const scale = 1 / Math.sqrt((1 - rate) * (1 + rate * DROPPED ** 2));
    const kept = this.uniform(x, noiseOf(this, this.noiseShape, x.shape)).greaterEqual(rate);
    return kept
      .where(x, DROPPED)
      .mul(scale)
      .sub(scale * DROPPED * rate);
  }
}

/** Options of `ActivityRegularization`. */
export interface ActivityRegularizationOptions extends LayerOptions {
  /** Factor of the sum of magnitudes; 0 by default. */
  readonly l1?: number;
  /** Factor of the sum of squares; 0 by default. */
  readonly l2?: number;
}

/** Passes its input on, and adds a penalty on it to the losses, per example. */
export class ActivityRegularization extends Layer {
  declare static readonly fromConfig: FromConfig<ActivityRegularization>;
  /** Factor of the sum of magnitudes. */
  declare readonly l1: number;
  /** Factor of the sum of squares. */
  declare readonly l2: number;
  /** @internal */
  override readonly activityRegularizer: RegularizerFunction;

  constructor(
    ...args: [l1?: number | null | ActivityRegularizationOptions, options?: ActivityRegularizationOptions]
  ) {
    super(argumentsOf<ActivityRegularizationOptions>(ActivityRegularization, new.target, args));
    this.activityRegularizer = new L1L2({ l1: this.l1, l2: this.l2 });
  }
  override call(inputs: Tensor): Tensor {
    return penalize(this, floats(this, inputs));
  }
  override computeOutputShape(inputShape: PartialShape): PartialShape {
    return checkOne(this, inputShape);
  }
}
ownsTemporaries(
  Dropout,
  SpatialDropout,
  GaussianNoise,
  GaussianDropout,
  AlphaDropout,
  ActivityRegularization,
);
takesValuesOf(['sparse', 'ragged'], Dropout, GaussianNoise, GaussianDropout, AlphaDropout);
builtAtOnce(Dropout, SpatialDropout, GaussianNoise, GaussianDropout, AlphaDropout, ActivityRegularization);
passesMask(Dropout, SpatialDropout, GaussianNoise, GaussianDropout, AlphaDropout, ActivityRegularization);
const noiseShape: Option<PartialShape | null> = orNull({
  read: (given, _, layer) => {
    const size = (d: unknown): boolean => d === null || (Number.isSafeInteger(d) && (d as number) >= 1);
    if (!(Array.isArray(given) && given.every(size)))
      fail(layer as Layer, `needs a noiseShape of integers of at least 1 or null, got ${show(given)}`);
    return given as PartialShape;
  },
});
takesOptions<DropoutArguments, Dropout>(
  { positional: ['rate'], options: { rate: rate(), noiseShape, seed, ...layerOptions } },
  Dropout,
);
takesOptions<AlphaDropoutArguments, AlphaDropout>(
  { positional: ['rate'], options: { rate: rate(), noiseShape, seed, ...layerOptions } },
  AlphaDropout,
);
takesOptions<ActivityRegularizationOptions, ActivityRegularization>(
  {
    positional: ['l1'],
    required: 0,
    options: { l1: notNegative(0), l2: notNegative(0), ...layerOptions },
  },
  ActivityRegularization,
);
takesOptions<SpatialDropout1DArguments, SpatialDropout1D>(
  { positional: ['rate'], options: { rate: rate(), seed, ...layerOptions } },
  SpatialDropout1D,
);
takesOptions<SpatialDropout2DArguments, SpatialDropout>(
  { positional: ['rate'], options: { rate: rate(), dataFormat, seed, ...layerOptions } },
  SpatialDropout2D,
  SpatialDropout3D,
);
takesOptions<GaussianNoiseArguments, GaussianNoise>(
  { positional: ['stddev'], options: { stddev: notNegative(), seed, ...layerOptions } },
  GaussianNoise,
);
takesOptions<GaussianDropoutArguments, GaussianDropout>(
  { positional: ['rate'], options: { rate: rate(), seed, ...layerOptions } },
  GaussianDropout,
);
