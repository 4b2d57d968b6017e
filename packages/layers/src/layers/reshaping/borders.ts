// Layers that add to the borders of sequences, images and volumes, cut them off, or repeat what is between.
import { type PartialShape, pad, slice, type Tensor } from '@eagre/core';
import {
  argumentsOf,
  type Dim,
  dims,
  lessThan,
  mulDims,
  type Option,
  resizeBatch,
  showShape,
  subDims,
  takesOptions,
  toShape,
} from '@eagre/core/internal';
import { type FromConfig, type Layer, type LayerOptions, ownsTemporaries } from '../../layer/layer.ts';
import { show } from '../../layer/show.ts';
import { fail, floats, plus, type Size, times, values } from '../common.ts';
import { integer, readSizes, sizes, word } from '../options.ts';
import {
  dataFormat,
  type Rank,
  type Size2D,
  type Size3D,
  type Sizes,
  SpatialLayer,
  type SpatialOptions,
} from '../spatial.ts';
import { layerOptions } from '../weights.ts';

type Side = readonly [before: number, after: number];
/** Steps at both ends: the same, or [before, after]. */
export type Margin1D = number | Side;
/** Pixels around an image: the same on all sides, [height, width], or [[top, bottom], [left, right]]. */
export type Margin2D =
  | Size2D
  | readonly [readonly [top: number, bottom: number], readonly [left: number, right: number]];
/** Voxels around a volume: the same on all sides, one number for each direction, or a pair for each. */
export type Margin3D = Size3D | readonly [Side, Side, Side];

const forms = {
  1: 'n or [before, after]',
  2: 'n, [height, width] or [[top, bottom], [left, right]]',
  3: 'n, [depth, height, width] or [[front, back], [top, bottom], [left, right]]',
} as const;

/** How much lies at both ends of each direction. */
function margins(rank: Rank, otherwise: number): Option<readonly Side[]> {
  return {
    read: (given, name, layer) => {
      const value: unknown = given ?? otherwise;
      const wanted = rank === 1 ? 2 : rank;
      if (typeof value !== 'number' && (!Array.isArray(value) || value.length !== wanted))
        fail(layer as Layer, `needs ${name} ${forms[rank]}, got ${show(value)}`);
      const each = typeof value === 'number' || rank === 1 ? new Array<unknown>(rank).fill(value) : value;
      return (each as Sizes[]).map((side) => readSizes(side, 2, name, layer as Layer, 0) as unknown as Side);
    },
    // One direction has no list of its own in configurations.
    ...(rank === 1 ? { write: ([side]: readonly Side[]) => side } : {}),
  };
}

abstract class ZeroPadding extends SpatialLayer {
  /** Of each direction. */
  declare readonly padding: readonly Side[];

  override call(inputs: Tensor): Tensor {
    const x = values(this, inputs);
    this.check(x.shape);
    const sides = dims(x).map((): Side => [0, 0]);
    this.directions.forEach((axis, i) => {
      sides[axis] = this.padding[i];
    });
    return pad(x, sides);
  }
  override computeOutputShape(inputShape: PartialShape): PartialShape {
    this.check(inputShape);
    return this.resized(inputShape, (n, i) => plus(n, this.padding[i][0] + this.padding[i][1]));
  }
}

abstract class Cropping extends SpatialLayer {
  /** Of each direction. */
  declare readonly cropping: readonly Side[];

  override call(inputs: Tensor): Tensor {
    const x = values(this, inputs);
    this.computeOutputShape(x.shape);
    const size = [...dims(x)];
    const begin = size.map(() => 0);
    this.directions.forEach((axis, i) => {
      const [before, after] = this.cropping[i];
      begin[axis] = before;
      size[axis] = subDims(size[axis], before + after);
    });
    return slice(x, begin, toShape(size));
  }
  override computeOutputShape(inputShape: PartialShape): PartialShape {
    this.check(inputShape);
    return this.resized(inputShape, (n, i) => {
      const cut = this.cropping[i][0] + this.cropping[i][1];
      if (n !== null && !lessThan(cut, n))
        fail(this, `crops ${cut} of ${n}, so that nothing is left of input ${showShape(inputShape)}`);
      return plus(n, -cut);
    });
  }
}

abstract class UpSampling extends SpatialLayer {
  /** How often each element is repeated, in each direction. */
  protected abstract readonly factors: readonly number[];

  override call(inputs: Tensor): Tensor {
    const x = values(this, inputs);
    this.check(x.shape);
    const all = dims(x);
    const factor = (axis: number): number | undefined => this.factors[axis - this.firstAxis];
    const ahead = (axis: number): boolean => axis >= this.firstAxis && factor(axis) !== undefined;
    const apart = all.flatMap((n, axis) => (ahead(axis) ? [n, 1] : [n]));
    const often = all.flatMap((_, axis) => (ahead(axis) ? [1, factor(axis) as number] : [1]));
    const result = all.map((n, axis) => (ahead(axis) ? mulDims(n, factor(axis) as number) : n));
    return x.reshape(toShape(apart)).tile(often).reshape(toShape(result));
  }
  override computeOutputShape(inputShape: PartialShape): PartialShape {
    this.check(inputShape);
    return this.resized(inputShape, (n, i): Size => times(n, this.factors[i]));
  }
}

/** Options of `ZeroPadding1D`. */
export interface ZeroPadding1DOptions extends SpatialOptions {
  /** How many steps of zeros are added at both ends, or [before, behind]; 1 by default. */
  readonly padding?: Margin1D;
}

/** Surrounds sequences with zeros. `new ZeroPadding1D([1, 2])` */
export class ZeroPadding1D extends ZeroPadding {
  declare static readonly fromConfig: FromConfig<ZeroPadding1D>;
  constructor(...args: [padding?: Margin1D | null | ZeroPadding1DOptions, options?: ZeroPadding1DOptions]) {
    super(1, argumentsOf<ZeroPadding1DOptions>(ZeroPadding1D, new.target, args));
  }
}

/** Options of `ZeroPadding2D`. */
export interface ZeroPadding2DOptions extends SpatialOptions {
  /** How many zeros are added on all sides, [height, width], or [[top, bottom], [left, right]]; 1 by default. */
  readonly padding?: Margin2D;
}

/** Surrounds images with zeros. `new ZeroPadding2D([[1, 1], [2, 0]])` */
export class ZeroPadding2D extends ZeroPadding {
  declare static readonly fromConfig: FromConfig<ZeroPadding2D>;
  constructor(...args: [padding?: Margin2D | null | ZeroPadding2DOptions, options?: ZeroPadding2DOptions]) {
    super(2, argumentsOf<ZeroPadding2DOptions>(ZeroPadding2D, new.target, args));
  }
}

/** Options of `ZeroPadding3D`. */
export interface ZeroPadding3DOptions extends SpatialOptions {
  /** How many zeros are added on all sides, one number for each axis, or a pair [before, behind] for each; 1 by default. */
  readonly padding?: Margin3D;
}

/** Surrounds volumes with zeros. `new ZeroPadding3D([[1, 1], [2, 0], [0, 1]])` */
export class ZeroPadding3D extends ZeroPadding {
  declare static readonly fromConfig: FromConfig<ZeroPadding3D>;
  constructor(...args: [padding?: Margin3D | null | ZeroPadding3DOptions, options?: ZeroPadding3DOptions]) {
    super(3, argumentsOf<ZeroPadding3DOptions>(ZeroPadding3D, new.target, args));
  }
}

/** Options of `Cropping1D`. */
export interface Cropping1DOptions extends LayerOptions {
  /** How many steps are cut off at both ends, or [before, behind]; 1 by default. */
  readonly cropping?: Margin1D;
}

/** Cuts off the borders of sequences. `new Cropping1D([1, 2])` */
export class Cropping1D extends Cropping {
  declare static readonly fromConfig: FromConfig<Cropping1D>;
  constructor(...args: [cropping?: Margin1D | null | Cropping1DOptions, options?: Cropping1DOptions]) {
    super(1, argumentsOf<Cropping1DOptions>(Cropping1D, new.target, args));
  }
}

/** Options of `Cropping2D`. */
export interface Cropping2DOptions extends SpatialOptions {
  /** How much is cut off on all sides, [height, width], or [[top, bottom], [left, right]]; 0 by default. */
  readonly cropping?: Margin2D;
}

/** Cuts off the borders of images. `new Cropping2D([[1, 1], [2, 0]])` */
export class Cropping2D extends Cropping {
  declare static readonly fromConfig: FromConfig<Cropping2D>;
  constructor(...args: [cropping?: Margin2D | null | Cropping2DOptions, options?: Cropping2DOptions]) {
    super(2, argumentsOf<Cropping2DOptions>(Cropping2D, new.target, args));
  }
}

/** Options of `Cropping3D`. */
export interface Cropping3DOptions extends SpatialOptions {
  /** How much is cut off on all sides, one number for each axis, or a pair [before, behind] for each; 1 by default. */
  readonly cropping?: Margin3D;
}

/** Cuts off the borders of volumes. `new Cropping3D([[1, 1], [2, 0], [0, 1]])` */
export class Cropping3D extends Cropping {
  declare static readonly fromConfig: FromConfig<Cropping3D>;
  constructor(...args: [cropping?: Margin3D | null | Cropping3DOptions, options?: Cropping3DOptions]) {
    super(3, argumentsOf<Cropping3DOptions>(Cropping3D, new.target, args));
  }
}

/** Options of `UpSampling1D`. */
export interface UpSampling1DOptions extends LayerOptions {
  /** How often each step is repeated; 2 by default. */
  readonly size?: number;
}

/** Repeats the steps of sequences: [batch, steps, features] becomes [batch, steps · size, features]. */
export class UpSampling1D extends UpSampling {
  declare static readonly fromConfig: FromConfig<UpSampling1D>;
  /** How often each step is repeated. */
  declare readonly size: number;

  constructor(...args: [size?: number | null | UpSampling1DOptions, options?: UpSampling1DOptions]) {
    super(1, argumentsOf<UpSampling1DOptions>(UpSampling1D, new.target, args));
  }
  protected get factors(): readonly number[] {
    return [this.size];
  }
}

/** Options of `UpSampling2D`. */
export interface UpSampling2DOptions extends SpatialOptions {
  /** By how much height and width grow: one factor, or one for each; 2 by default. */
  readonly size?: Size2D;
  /** How new pixels are found: `nearest`, the default, repeats those that there are. */
  readonly interpolation?: UpSamplingInterpolation;
}
/** How `UpSampling2D` finds new pixels. */
export type UpSamplingInterpolation = 'nearest' | 'bilinear' | 'bicubic' | 'lanczos3' | 'lanczos5';

/** Enlarges images: [batch, h, w, c] becomes [batch, h · size, w · size, c]. */
export class UpSampling2D extends UpSampling {
  declare static readonly fromConfig: FromConfig<UpSampling2D>;
  /** By how much height and width grow: one factor, or one for each. */
  declare readonly size: readonly number[];
  /** How new pixels are found: `nearest` repeats those that there are. */
  declare readonly interpolation: UpSamplingInterpolation;

  constructor(...args: [size?: Size2D | null | UpSampling2DOptions, options?: UpSampling2DOptions]) {
    super(2, argumentsOf<UpSampling2DOptions>(UpSampling2D, new.target, args));
  }
  override call(inputs: Tensor): Tensor {
    const { interpolation } = this;
    if (interpolation === 'nearest') return super.call(inputs);
    const x = floats(this, inputs);
    this.check(x.shape);
    const [, h, w] = this.sizes(x.shape) as readonly Dim[];
    const [down, right] = this.size;
    const size = [mulDims(h, down), mulDims(w, right)] as const;
    return this.inFormat(resizeBatch(this.channelsLast(x), size, interpolation, false));
  }
  protected get factors(): readonly number[] {
    return this.size;
  }
}

/** Options of `UpSampling3D`. */
export interface UpSampling3DOptions extends SpatialOptions {
  /** How often places are repeated along each axis: one factor, or three; 2 by default. */
  readonly size?: Size3D;
}

/** Repeats voxels: [batch, d, h, w, c] becomes [batch, d · size, h · size, w · size, c]. */
export class UpSampling3D extends UpSampling {
  declare static readonly fromConfig: FromConfig<UpSampling3D>;
  /** How often places are repeated along each axis: one factor, or three. */
  declare readonly size: readonly number[];

  constructor(...args: [size?: Size3D | null | UpSampling3DOptions, options?: UpSampling3DOptions]) {
    super(3, argumentsOf<UpSampling3DOptions>(UpSampling3D, new.target, args));
  }
  protected get factors(): readonly number[] {
    return this.size;
  }
}
ownsTemporaries(ZeroPadding, Cropping, UpSampling, UpSampling2D);

const padded = (rank: Rank) =>
  ({
    positional: ['padding'],
    required: 0,
    options: { padding: margins(rank, 1), dataFormat, ...layerOptions },
  }) as const;
takesOptions<ZeroPadding1DOptions, ZeroPadding1D>(padded(1), ZeroPadding1D);
takesOptions<ZeroPadding2DOptions, ZeroPadding2D>(padded(2), ZeroPadding2D);
takesOptions<ZeroPadding3DOptions, ZeroPadding3D>(padded(3), ZeroPadding3D);
takesOptions<Cropping1DOptions, Cropping1D>(
  { positional: ['cropping'], required: 0, options: { cropping: margins(1, 1), ...layerOptions } },
  Cropping1D,
);
takesOptions<Cropping2DOptions, Cropping2D>(
  {
    positional: ['cropping'],
    required: 0,
    options: { cropping: margins(2, 0), dataFormat, ...layerOptions },
  },
  Cropping2D,
);
takesOptions<Cropping3DOptions, Cropping3D>(
  {
    positional: ['cropping'],
    required: 0,
    options: { cropping: margins(3, 1), dataFormat, ...layerOptions },
  },
  Cropping3D,
);
takesOptions<UpSampling1DOptions, UpSampling1D>(
  { positional: ['size'], required: 0, options: { size: integer(2), ...layerOptions } },
  UpSampling1D,
);
takesOptions<UpSampling2DOptions, UpSampling2D>(
  {
    positional: ['size'],
    required: 0,
    options: {
      size: sizes(2, 2),
      dataFormat,
      interpolation: word<UpSamplingInterpolation>(
        ['nearest', 'bilinear', 'bicubic', 'lanczos3', 'lanczos5'],
        'nearest',
        (value) =>
          `needs interpolation 'nearest', 'bilinear', 'bicubic', 'lanczos3' or 'lanczos5', got ${value}`,
      ),
      ...layerOptions,
    },
  },
  UpSampling2D,
);
takesOptions<UpSampling3DOptions, UpSampling3D>(
  { positional: ['size'], required: 0, options: { size: sizes(3, 2), dataFormat, ...layerOptions } },
  UpSampling3D,
);
