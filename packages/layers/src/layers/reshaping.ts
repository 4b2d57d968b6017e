// Layers that move values: shapes, order of axes, padding, repetition.
import { type PartialShape, pad, type Shape, type Tensor } from '@eagre/core';
import {
  argumentsOf,
  type Dim,
  differs,
  dims,
  floorDivDims,
  modDims,
  showShape,
  takesArguments,
  toShape,
} from '@eagre/core/internal';
import { builtin, Layer, type LayerOptions } from '../layer.ts';
import { show } from '../show.ts';
import {
  type Config,
  checkDataFormat,
  checkImages,
  checkInteger,
  checkOne,
  checkPair,
  checkRank,
  fail,
  plus,
  type Size,
  type Size2D,
  shapeOf,
  sizesOf,
  times,
  values,
} from './common.ts';
import { layerOptions } from './weights.ts';

/** The number of elements of an example; null where a size is. */
function sizeOfExample(shape: PartialShape): Size {
  return sizesOf(shape).slice(1).reduce(times, 1);
}

export interface FlattenOptions extends LayerOptions {
  /** `channelsLast`, the only one. */
  readonly dataFormat?: 'channelsLast' | null;
}

/** Each example as one vector: [batch, a, b, …] becomes [batch, a · b · …]. Shares the memory of its input. */
export class Flatten extends Layer {
  constructor(dataFormat?: 'channelsLast' | null | FlattenOptions, options?: FlattenOptions);
  constructor(...args: readonly unknown[]) {
    const options = argumentsOf<FlattenOptions>(Flatten, new.target, args);
    super(options);
    checkDataFormat(this, options.dataFormat);
  }
  override call(inputs: Tensor): Tensor {
    const x = values(this, inputs);
    const shape = this.computeOutputShape(x.shape) as Shape;
    return x.rank === 2 ? x : x.reshape(shape);
  }
  override computeOutputShape(inputShape: PartialShape): PartialShape {
    if (checkOne(this, inputShape).length === 0) fail(this, 'expects input with a batch axis, got a scalar');
    return shapeOf([sizesOf(inputShape)[0] as Size, sizeOfExample(inputShape)]);
  }
  static override fromConfig(config: Config): Flatten {
    return new Flatten(config);
  }
}

/** All arguments of `Reshape`, by name. */
export interface ReshapeArguments extends LayerOptions {
  /** Without the batch; one dimension may be -1. */
  readonly targetShape: Shape;
}

/** Each example in another shape of the same size; one dimension may be -1, which is found from the rest. */
export class Reshape extends Layer {
  readonly targetShape: Shape;

  /** @param targetShape without the batch: `new Reshape([7, 7, -1])`. */
  constructor(targetShape: Shape | ReshapeArguments, options?: LayerOptions);
  constructor(...args: readonly unknown[]) {
    const options = argumentsOf<ReshapeArguments>(Reshape, new.target, args);
    super(options);
    const { targetShape } = options;
    const ok =
      Array.isArray(targetShape) && targetShape.every((d) => d === -1 || (Number.isSafeInteger(d) && d >= 0));
    if (!ok || targetShape.filter((d) => d === -1).length > 1) {
      fail(this, `needs a shape of integers with -1 at most once, got ${show(targetShape)}`);
    }
    this.targetShape = [...targetShape];
  }
  override call(inputs: Tensor): Tensor {
    const x = values(this, inputs);
    return x.reshape(this.computeOutputShape(x.shape) as Shape);
  }
  override computeOutputShape(inputShape: PartialShape): PartialShape {
    if (checkOne(this, inputShape).length === 0) fail(this, 'expects input with a batch axis, got a scalar');
    const size = sizeOfExample(inputShape);
    const known = this.targetShape.reduce((n, d) => (d === -1 ? n : n * d), 1);
    const free = this.targetShape.includes(-1);
    if (size !== null && (free ? known === 0 || differs(modDims(size, known), 0) : differs(size, known))) {
      fail(
        this,
        `cannot give examples of shape ${showShape(sizesOf(inputShape).slice(1) as PartialShape)} (${size} elements) the shape ${showShape(this.targetShape)}`,
      );
    }
    const rest = size === null || !free ? null : floorDivDims(size, known);
    return shapeOf([sizesOf(inputShape)[0] as Size, ...this.targetShape.map((d) => (d === -1 ? rest : d))]);
  }
  override getConfig(): Record<string, unknown> {
    return { ...super.getConfig(), targetShape: this.targetShape };
  }
  static override fromConfig({ targetShape, ...options }: Config): Reshape {
    return new Reshape(targetShape as Shape, options);
  }
}

/** All arguments of `Permute`, by name. */
export interface PermuteArguments extends LayerOptions {
  readonly dims: readonly number[];
}

/** The axes of each example in another order, counted from 1: `new Permute([2, 1])` makes [batch, b, a] of [batch, a, b]. */
export class Permute extends Layer {
  readonly dims: readonly number[];

  constructor(dims: readonly number[] | PermuteArguments, options?: LayerOptions);
  constructor(...args: readonly unknown[]) {
    const options = argumentsOf<PermuteArguments>(Permute, new.target, args);
    super(options);
    const { dims } = options;
    const numbers = Array.isArray(dims) && dims.every((d) => typeof d === 'number');
    if (!numbers || ![...dims].sort((a, b) => a - b).every((d, i) => d === i + 1)) {
      fail(this, `needs the numbers 1 … n in some order, got ${show(dims)}`);
    }
    this.dims = [...dims];
  }
  override call(inputs: Tensor): Tensor {
    const x = values(this, inputs);
    this.#check(x.shape);
    return x.transpose([0, ...this.dims]);
  }
  override computeOutputShape(inputShape: PartialShape): PartialShape {
    this.#check(inputShape);
    const sizes = sizesOf(inputShape);
    return shapeOf([0, ...this.dims].map((d) => sizes[d] as Size));
  }
  override getConfig(): Record<string, unknown> {
    return { ...super.getConfig(), dims: this.dims };
  }
  static override fromConfig({ dims, ...options }: Config): Permute {
    return new Permute(dims as number[], options);
  }
  #check(shape: PartialShape): void {
    checkRank(this, shape, this.dims.length + 1, `for the axes [batch, ${this.dims}]`);
  }
}

/** All arguments of `RepeatVector`, by name. */
export interface RepeatVectorArguments extends LayerOptions {
  readonly n: number;
}

/** Each example n times: [batch, features] becomes [batch, n, features]. */
export class RepeatVector extends Layer {
  readonly n: number;

  constructor(n: number | RepeatVectorArguments, options?: LayerOptions);
  constructor(...args: readonly unknown[]) {
    const options = argumentsOf<RepeatVectorArguments>(RepeatVector, new.target, args);
    super(options);
    const { n } = options;
    this.n = checkInteger(this, 'n', n);
  }
  override call(inputs: Tensor): Tensor {
    const x = values(this, inputs);
    checkRank(this, x.shape, 2, '[batch, features]');
    return x.expandDims(1).tile([1, this.n, 1]);
  }
  override computeOutputShape(inputShape: PartialShape): PartialShape {
    checkRank(this, inputShape, 2, '[batch, features]');
    const [batch, features] = sizesOf(inputShape) as [Size, Size];
    return shapeOf([batch, this.n, features]);
  }
  override getConfig(): Record<string, unknown> {
    return { ...super.getConfig(), n: this.n };
  }
  static override fromConfig({ n, ...options }: Config): RepeatVector {
    return new RepeatVector(n as number, options);
  }
}

/** Pixels around an image: the same on all sides, [height, width], or [[top, bottom], [left, right]]. */
export type Margin2D =
  | Size2D
  | readonly [readonly [top: number, bottom: number], readonly [left: number, right: number]];

export interface ZeroPadding2DOptions extends LayerOptions {
  /** 1 unless said. */
  readonly padding?: Margin2D;
  /** `channelsLast`, the only one. */
  readonly dataFormat?: 'channelsLast';
}

/** Surrounds images with zeros. `new ZeroPadding2D([[1, 1], [2, 0]])` */
export class ZeroPadding2D extends Layer {
  readonly padding: readonly [readonly [number, number], readonly [number, number]];

  constructor(padding?: Margin2D | null | ZeroPadding2DOptions, options?: ZeroPadding2DOptions);
  constructor(...args: readonly unknown[]) {
    const options = argumentsOf<ZeroPadding2DOptions>(ZeroPadding2D, new.target, args);
    super(options);
    const margin = options.padding ?? 1;
    if (typeof margin !== 'number' && (!Array.isArray(margin) || margin.length !== 2)) {
      fail(this, `needs padding n, [height, width] or [[top, bottom], [left, right]], got ${show(margin)}`);
    }
    const [h, w] = (typeof margin === 'number' ? [margin, margin] : margin) as readonly Size2D[];
    this.padding = [checkPair(this, 'padding', h, 0), checkPair(this, 'padding', w, 0)];
    checkDataFormat(this, options.dataFormat);
  }
  override call(inputs: Tensor): Tensor {
    const x = values(this, inputs);
    checkImages(this, x.shape);
    return pad(x, [[0, 0], ...this.padding, [0, 0]]);
  }
  override computeOutputShape(inputShape: PartialShape): PartialShape {
    checkImages(this, inputShape);
    const [batch, h, w, channels] = sizesOf(inputShape) as [Size, Size, Size, Size];
    const [rows, columns] = this.padding;
    return shapeOf([batch, plus(h, rows[0] + rows[1]), plus(w, columns[0] + columns[1]), channels]);
  }
  override getConfig(): Record<string, unknown> {
    return { ...super.getConfig(), padding: this.padding };
  }
  static override fromConfig(config: Config): ZeroPadding2D {
    return new ZeroPadding2D(config);
  }
}

export interface UpSampling2DOptions extends LayerOptions {
  /** 2 unless said. */
  readonly size?: Size2D;
  /** `nearest`, the only one. */
  readonly interpolation?: 'nearest';
  /** `channelsLast`, the only one. */
  readonly dataFormat?: 'channelsLast';
}

/** Repeats rows and columns of images: [batch, h, w, c] becomes [batch, h · size, w · size, c]. */
export class UpSampling2D extends Layer {
  readonly size: readonly [height: number, width: number];

  constructor(size?: Size2D | null | UpSampling2DOptions, options?: UpSampling2DOptions);
  constructor(...args: readonly unknown[]) {
    const options = argumentsOf<UpSampling2DOptions>(UpSampling2D, new.target, args);
    super(options);
    this.size = checkPair(this, 'size', options.size ?? 2);
    const interpolation = options.interpolation ?? 'nearest';
    if (interpolation !== 'nearest') {
      fail(this, `knows the interpolation 'nearest' only, got ${show(interpolation)}`);
    }
    checkDataFormat(this, options.dataFormat);
  }
  override call(inputs: Tensor): Tensor {
    const x = values(this, inputs);
    const shape = this.computeOutputShape(x.shape) as Shape;
    const [n, h, w, c] = dims(x) as [Dim, Dim, Dim, Dim];
    const apart = x.reshape(toShape([n, h, 1, w, 1, c]));
    return apart.tile([1, 1, this.size[0], 1, this.size[1], 1]).reshape(shape);
  }
  override computeOutputShape(inputShape: PartialShape): PartialShape {
    checkImages(this, inputShape);
    const [batch, h, w, channels] = sizesOf(inputShape) as [Size, Size, Size, Size];
    return shapeOf([batch, times(h, this.size[0]), times(w, this.size[1]), channels]);
  }
  override getConfig(): Record<string, unknown> {
    return { ...super.getConfig(), size: this.size, interpolation: 'nearest' };
  }
  static override fromConfig(config: Config): UpSampling2D {
    return new UpSampling2D(config);
  }
}
builtin(Flatten, Reshape, Permute, RepeatVector, ZeroPadding2D, UpSampling2D);
takesArguments<ReshapeArguments>(
  { positional: ['targetShape'], names: { targetShape: true, ...layerOptions } },
  Reshape,
);
takesArguments<PermuteArguments>({ positional: ['dims'], names: { dims: true, ...layerOptions } }, Permute);
takesArguments<RepeatVectorArguments>(
  { positional: ['n'], names: { n: true, ...layerOptions } },
  RepeatVector,
);
takesArguments<FlattenOptions>(
  { positional: ['dataFormat'], required: 0, names: { dataFormat: true, ...layerOptions } },
  Flatten,
);
takesArguments<ZeroPadding2DOptions>(
  { positional: ['padding'], required: 0, names: { padding: true, dataFormat: true, ...layerOptions } },
  ZeroPadding2D,
);
takesArguments<UpSampling2DOptions>(
  {
    positional: ['size'],
    required: 0,
    names: { size: true, dataFormat: true, interpolation: true, ...layerOptions },
  },
  UpSampling2D,
);
