// Layers that move values: shapes, order of axes, padding, repetition.

import { type PartialShape, pad, type Shape, type Tensor } from '@eagre/core';
import {
  argumentsOf,
  type Dim,
  differs,
  dims,
  floorDivDims,
  modDims,
  type Option,
  showShape,
  takesOptions,
  toShape,
} from '@eagre/core/internal';
import {
  builtAtOnce,
  type FromConfig,
  Layer,
  type LayerOptions,
  ownsTemporaries,
} from '../../layer/layer.ts';
import { show } from '../../layer/show.ts';
import {
  checkImages,
  checkOne,
  checkRank,
  fail,
  plus,
  type Size,
  type Size2D,
  shapeOf,
  sizesOf,
  times,
  values,
} from '../common.ts';
import { dataFormat, integer, type Pair, pair, word } from '../options.ts';
import { layerOptions } from '../weights.ts';

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
  declare static readonly fromConfig: FromConfig<Flatten>;
  constructor(...args: [dataFormat?: 'channelsLast' | null | FlattenOptions, options?: FlattenOptions]) {
    super(argumentsOf<FlattenOptions>(Flatten, new.target, args));
  }
  override call(inputs: Tensor): Tensor {
    const x = values(this, inputs);
    const shape = this.computeOutputShape(x.shape) as Shape;
    return x.rank === 2 ? x : x.reshape(shape);
  }
  override computeOutputShape(inputShape: PartialShape): PartialShape {
    if (checkOne(this, inputShape).length === 0) fail(this, 'expects input with a batch axis, got a scalar');
    return shapeOf([sizesOf(inputShape)[0], sizeOfExample(inputShape)]);
  }
}

/** All arguments of `Reshape`, by name. */
export interface ReshapeArguments extends LayerOptions {
  /** Without the batch; one dimension may be -1. */
  readonly targetShape: Shape;
}

/** Each example in another shape of the same size; one dimension may be -1, which is found from the rest. */
export class Reshape extends Layer {
  declare static readonly fromConfig: FromConfig<Reshape>;
  declare readonly targetShape: Shape;

  /** @param targetShape without the batch: `new Reshape([7, 7, -1])`. */
  constructor(...args: [targetShape: Shape | ReshapeArguments, options?: LayerOptions]) {
    super(argumentsOf<ReshapeArguments>(Reshape, new.target, args));
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
    return shapeOf([sizesOf(inputShape)[0], ...this.targetShape.map((d) => (d === -1 ? rest : d))]);
  }
}

/** All arguments of `Permute`, by name. */
export interface PermuteArguments extends LayerOptions {
  readonly dims: readonly number[];
}

/** The axes of each example in another order, counted from 1: `new Permute([2, 1])` makes [batch, b, a] of [batch, a, b]. */
export class Permute extends Layer {
  declare static readonly fromConfig: FromConfig<Permute>;
  declare readonly dims: readonly number[];

  constructor(...args: [dims: readonly number[] | PermuteArguments, options?: LayerOptions]) {
    super(argumentsOf<PermuteArguments>(Permute, new.target, args));
  }
  override call(inputs: Tensor): Tensor {
    const x = values(this, inputs);
    this.#check(x.shape);
    return x.transpose([0, ...this.dims]);
  }
  override computeOutputShape(inputShape: PartialShape): PartialShape {
    this.#check(inputShape);
    const sizes = sizesOf(inputShape);
    return shapeOf([0, ...this.dims].map((d) => sizes[d]));
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
  declare static readonly fromConfig: FromConfig<RepeatVector>;
  declare readonly n: number;

  constructor(...args: [n: number | RepeatVectorArguments, options?: LayerOptions]) {
    super(argumentsOf<RepeatVectorArguments>(RepeatVector, new.target, args));
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
}

/** Pixels around an image: the same on all sides, [height, width], or [[top, bottom], [left, right]]. */
export type Margin2D =
  | Size2D
  | readonly [readonly [top: number, bottom: number], readonly [left: number, right: number]];

export interface ZeroPadding2DOptions extends LayerOptions {
  /** 1 by default. */
  readonly padding?: Margin2D;
  /** `channelsLast`, the only one. */
  readonly dataFormat?: 'channelsLast';
}

/** Surrounds images with zeros. `new ZeroPadding2D([[1, 1], [2, 0]])` */
export class ZeroPadding2D extends Layer {
  declare static readonly fromConfig: FromConfig<ZeroPadding2D>;
  declare readonly padding: readonly [readonly [number, number], readonly [number, number]];

  constructor(...args: [padding?: Margin2D | null | ZeroPadding2DOptions, options?: ZeroPadding2DOptions]) {
    super(argumentsOf<ZeroPadding2DOptions>(ZeroPadding2D, new.target, args));
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
}

export interface UpSampling2DOptions extends LayerOptions {
  /** 2 by default. */
  readonly size?: Size2D;
  /** `nearest`, the only one. */
  readonly interpolation?: 'nearest';
  /** `channelsLast`, the only one. */
  readonly dataFormat?: 'channelsLast';
}

/** Repeats rows and columns of images: [batch, h, w, c] becomes [batch, h · size, w · size, c]. */
export class UpSampling2D extends Layer {
  declare static readonly fromConfig: FromConfig<UpSampling2D>;
  declare readonly size: readonly [height: number, width: number];

  constructor(...args: [size?: Size2D | null | UpSampling2DOptions, options?: UpSampling2DOptions]) {
    super(argumentsOf<UpSampling2DOptions>(UpSampling2D, new.target, args));
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
}
ownsTemporaries(Flatten, Reshape, Permute, RepeatVector, ZeroPadding2D, UpSampling2D);
builtAtOnce(Reshape);
const targetShape: Option<Shape> = {
  read: (given, _, layer) => {
    const ok = Array.isArray(given) && given.every((d) => d === -1 || (Number.isSafeInteger(d) && d >= 0));
    if (!ok || given.filter((d) => d === -1).length > 1)
      fail(layer as Layer, `needs a shape of integers with -1 at most once, got ${show(given)}`);
    return [...given] as Shape;
  },
};
const order: Option<readonly number[]> = {
  read: (given, _, layer) => {
    const numbers = Array.isArray(given) && given.every((d) => typeof d === 'number');
    if (!numbers || ![...given].sort((a, b) => a - b).every((d, i) => d === i + 1))
      fail(layer as Layer, `needs the numbers 1 … n in some order, got ${show(given)}`);
    return [...given];
  },
};
const margin: Option<readonly [Pair, Pair]> = {
  read: (given, name, layer) => {
    const value = given ?? 1;
    if (typeof value !== 'number' && (!Array.isArray(value) || value.length !== 2)) {
      fail(
        layer as Layer,
        `needs padding n, [height, width] or [[top, bottom], [left, right]], got ${show(value)}`,
      );
    }
    const [h, w] = typeof value === 'number' ? [value, value] : value;
    return [pair(undefined, 0).read(h, name, layer), pair(undefined, 0).read(w, name, layer)];
  },
};
takesOptions<ReshapeArguments, Reshape>(
  { positional: ['targetShape'], options: { targetShape, ...layerOptions } },
  Reshape,
);
takesOptions<PermuteArguments, Permute>(
  { positional: ['dims'], options: { dims: order, ...layerOptions } },
  Permute,
);
takesOptions<RepeatVectorArguments, RepeatVector>(
  { positional: ['n'], options: { n: integer(), ...layerOptions } },
  RepeatVector,
);
takesOptions<FlattenOptions, Flatten>(
  { positional: ['dataFormat'], required: 0, options: { dataFormat, ...layerOptions } },
  Flatten,
);
takesOptions<ZeroPadding2DOptions, ZeroPadding2D>(
  { positional: ['padding'], required: 0, options: { padding: margin, dataFormat, ...layerOptions } },
  ZeroPadding2D,
);
takesOptions<UpSampling2DOptions, UpSampling2D>(
  {
    positional: ['size'],
    required: 0,
    options: {
      size: pair(2),
      dataFormat,
      interpolation: word(
        ['nearest'],
        'nearest',
        (value) => `knows the interpolation 'nearest' only, got ${value}`,
      ),
      ...layerOptions,
    },
  },
  UpSampling2D,
);
