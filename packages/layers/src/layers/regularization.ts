// Layers that disturb their input in training and pass it on otherwise.
import { nn, type PartialShape, random, type Shape, type Tensor, zerosLike } from '@eagre/core';
import {
  argumentsOf,
  type Dim,
  dims,
  dimsOf,
  showShape,
  takesArguments,
  toShape,
} from '@eagre/core/internal';
import { builtin, type CallOptions, Layer, type LayerOptions, passesMask } from '../layer.ts';
import { show } from '../show.ts';
import {
  type Config,
  checkDataFormat,
  checkImages,
  checkNotNegative,
  checkOne,
  checkRate,
  fail,
  floats,
  values,
} from './common.ts';
import { layerOptions } from './weights.ts';

export interface NoiseOptions extends LayerOptions {
  /** The layer then draws the same numbers in every run, whatever else draws; the global seed decides unless said. */
  readonly seed?: number | null;
}

/** What these layers share: numbers of their own when they have a seed. */
abstract class Noise extends Layer {
  readonly seed: number | null;
  readonly #generator: random.Generator | null;

  constructor(options: NoiseOptions) {
    super(options);
    this.seed = options.seed ?? null;
    this.#generator = this.seed === null ? null : random.Generator.fromSeed(this.seed);
  }

  /** x with a share `rate` of `noiseShape`'s elements at 0 and the others scaled up. */
  protected drop(x: Tensor, rate: number, noiseShape: Shape): Tensor {
    if (rate === 0) return x;
    if (rate === 1) return zerosLike(x);
    if (this.#generator === null) return nn.dropout(x, rate, { noiseShape });
    const noise = this.#generator.uniform(noiseShape, { dtype: x.dtype });
    return noise.greaterEqual(rate).where(x.mul(1 / (1 - rate)), 0);
  }

  protected normal(x: Tensor, mean: number, stddev: number): Tensor {
    const options = { mean, stddev, dtype: x.dtype };
    return this.#generator === null
      ? random.normal(x.shape, options)
      : this.#generator.normal(x.shape, options);
  }

  override computeOutputShape(inputShape: PartialShape): PartialShape {
    return checkOne(this, inputShape);
  }
  override getConfig(): Record<string, unknown> {
    return { ...super.getConfig(), seed: this.seed };
  }
}

export interface DropoutOptions extends NoiseOptions {
  /** Dimensions of 1 are dropped or kept as a whole; `null` is the input's own size. */
  readonly noiseShape?: PartialShape | null;
}

/** All arguments of `Dropout`, by name. */
export interface DropoutArguments extends DropoutOptions {
  /** From 0 to 1. */
  readonly rate: number;
}

/** In training, puts a share `rate` of the elements to 0 and scales the others by 1 / (1 − rate). */
export class Dropout extends Noise {
  readonly rate: number;
  readonly noiseShape: PartialShape | null;

  constructor(rate: number | DropoutArguments, options?: DropoutOptions);
  constructor(...args: readonly unknown[]) {
    const options = argumentsOf<DropoutArguments>(Dropout, new.target, args);
    super(options);
    this.rate = checkRate(this, options.rate);
    this.noiseShape = options.noiseShape ?? null;
    const { noiseShape } = this;
    const size = (d: number | null): boolean => d === null || (Number.isSafeInteger(d) && d >= 1);
    if (noiseShape !== null && !(Array.isArray(noiseShape) && noiseShape.every(size)))
      fail(this, `needs a noiseShape of integers of at least 1 or null, got ${show(noiseShape)}`);
  }
  override call(inputs: Tensor, { training }: CallOptions): Tensor {
    const x = training === true ? floats(this, inputs) : values(this, inputs);
    return training === true ? this.drop(x, this.rate, this.#noise(x.shape)) : x;
  }
  override getConfig(): Record<string, unknown> {
    return { ...super.getConfig(), rate: this.rate, noiseShape: this.noiseShape };
  }
  static override fromConfig({ rate, ...options }: Config): Dropout {
    return new Dropout(rate as number, options);
  }
  #noise(shape: Shape): Shape {
    const given = this.noiseShape;
    if (given === null) return shape;
    if (given.length !== shape.length) {
      fail(this, `has a noiseShape ${showShape(given)} of another rank than its input ${showShape(shape)}`);
    }
    const own = dimsOf(shape);
    return toShape(given.map((d, i) => d ?? (own[i] as Dim)));
  }
}

export interface SpatialDropout2DOptions extends NoiseOptions {
  /** `channelsLast`, the only one. */
  readonly dataFormat?: 'channelsLast';
}

/** All arguments of `SpatialDropout2D`, by name. */
export interface SpatialDropout2DArguments extends SpatialDropout2DOptions {
  /** From 0 to 1. */
  readonly rate: number;
}

/** Dropout of whole channels of images [batch, h, w, c], whose pixels depend on each other. */
export class SpatialDropout2D extends Noise {
  readonly rate: number;

  constructor(rate: number | SpatialDropout2DArguments, options?: SpatialDropout2DOptions);
  constructor(...args: readonly unknown[]) {
    const options = argumentsOf<SpatialDropout2DArguments>(SpatialDropout2D, new.target, args);
    super(options);
    this.rate = checkRate(this, options.rate);
    checkDataFormat(this, options.dataFormat);
  }
  override call(inputs: Tensor, { training }: CallOptions): Tensor {
    const x = training === true ? floats(this, inputs) : values(this, inputs);
    checkImages(this, x.shape);
    if (training !== true) return x;
    const [batch, , , channels] = dims(x) as [Dim, Dim, Dim, Dim];
    return this.drop(x, this.rate, toShape([batch, 1, 1, channels]));
  }
  override getConfig(): Record<string, unknown> {
    return { ...super.getConfig(), rate: this.rate };
  }
  static override fromConfig({ rate, ...options }: Config): SpatialDropout2D {
    return new SpatialDropout2D(rate as number, options);
  }
}

/** All arguments of `GaussianNoise`, by name. */
export interface GaussianNoiseArguments extends NoiseOptions {
  /** The standard deviation of the noise. */
  readonly stddev: number;
}

/** In training, adds normally distributed noise of mean 0. */
export class GaussianNoise extends Noise {
  readonly stddev: number;

  constructor(stddev: number | GaussianNoiseArguments, options?: NoiseOptions);
  constructor(...args: readonly unknown[]) {
    const options = argumentsOf<GaussianNoiseArguments>(GaussianNoise, new.target, args);
    super(options);
    this.stddev = checkNotNegative(this, 'stddev', options.stddev);
  }
  override call(inputs: Tensor, { training }: CallOptions): Tensor {
    const x = training === true ? floats(this, inputs) : values(this, inputs);
    return training === true && this.stddev > 0 ? x.add(this.normal(x, 0, this.stddev)) : x;
  }
  override getConfig(): Record<string, unknown> {
    return { ...super.getConfig(), stddev: this.stddev };
  }
  static override fromConfig({ stddev, ...options }: Config): GaussianNoise {
    return new GaussianNoise(stddev as number, options);
  }
}

/** All arguments of `GaussianDropout`, by name. */
export interface GaussianDropoutArguments extends NoiseOptions {
  /** From 0 up to 1. */
  readonly rate: number;
}

/** In training, multiplies by normally distributed noise of mean 1 and the variance that Dropout of that rate would have. */
export class GaussianDropout extends Noise {
  readonly rate: number;

  constructor(rate: number | GaussianDropoutArguments, options?: NoiseOptions);
  constructor(...args: readonly unknown[]) {
    const options = argumentsOf<GaussianDropoutArguments>(GaussianDropout, new.target, args);
    super(options);
    this.rate = checkRate(this, options.rate);
    if (this.rate === 1) fail(this, 'needs a rate below 1');
  }
  override call(inputs: Tensor, { training }: CallOptions): Tensor {
    const x = training === true ? floats(this, inputs) : values(this, inputs);
    if (training !== true || this.rate === 0) return x;
    return x.mul(this.normal(x, 1, Math.sqrt(this.rate / (1 - this.rate))));
  }
  override getConfig(): Record<string, unknown> {
    return { ...super.getConfig(), rate: this.rate };
  }
  static override fromConfig({ rate, ...options }: Config): GaussianDropout {
    return new GaussianDropout(rate as number, options);
  }
}
builtin(Dropout, SpatialDropout2D, GaussianNoise, GaussianDropout);
passesMask(Dropout, SpatialDropout2D, GaussianNoise, GaussianDropout);
takesArguments<DropoutArguments>(
  { positional: ['rate'], names: { rate: true, noiseShape: true, seed: true, ...layerOptions } },
  Dropout,
);
takesArguments<SpatialDropout2DArguments>(
  { positional: ['rate'], names: { rate: true, dataFormat: true, seed: true, ...layerOptions } },
  SpatialDropout2D,
);
takesArguments<GaussianNoiseArguments>(
  { positional: ['stddev'], names: { stddev: true, seed: true, ...layerOptions } },
  GaussianNoise,
);
takesArguments<GaussianDropoutArguments>(
  { positional: ['rate'], names: { rate: true, seed: true, ...layerOptions } },
  GaussianDropout,
);
