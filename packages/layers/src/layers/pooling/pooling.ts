// Pooling of sequences [batch, steps, features], images [batch, height, width, channels] and volumes.
import { nn, type PartialShape, type Tensor, type TensorLike } from '@eagre/core';
import {
  argumentsOf,
  dims,
  isFloating,
  sameShape,
  showShape,
  takesOptions,
  toTensor,
} from '@eagre/core/internal';
import { takesKinds } from '../../layer/kinds.ts';
import { builtAtOnce, type CallOptions, type FromConfig, ownsTemporaries } from '../../layer/layer.ts';
import { takesCall } from '../../layer/own-call.ts';
import { asFloats, fail, floats, type Padding, type Size, shapeOf, values } from '../common.ts';
import { flag, padding, sizes } from '../options.ts';
import {
  type DataFormat,
  dataFormat,
  type Rank,
  type Size1D,
  type Size2D,
  type Size3D,
  type Sizes,
  SpatialLayer,
  type SpatialOptions,
} from '../spatial.ts';
import { layerOptions } from '../weights.ts';

interface PoolingOptions<S extends Sizes> extends SpatialOptions {
  /** How many places become one, along each axis of space; 2 by default. */
  readonly poolSize?: S;
  /** The pool size by default, so that windows do not overlap. */
  readonly strides?: S | null;
  /** `valid`, the default: windows lie inside of the input. `same`: they may reach beyond its end, and the result has ceil(size / stride) places. */
  readonly padding?: Padding;
}
/** Options of `MaxPooling1D` and `AveragePooling1D`. */
export interface Pooling1DOptions extends PoolingOptions<Size1D> {}
/** Options of `MaxPooling2D` and `AveragePooling2D`. */
export interface Pooling2DOptions extends PoolingOptions<Size2D> {}
/** Options of `MaxPooling3D` and `AveragePooling3D`. */
export interface Pooling3DOptions extends PoolingOptions<Size3D> {}

type Pool = typeof nn.maxPool;

/** [batch, directions…, c] becomes [batch, directions'…, c]. */
abstract class Pooling extends SpatialLayer {
  /** How many places become one, along each axis of space. */
  declare readonly poolSize: readonly number[];
  /** How far windows are apart, along each axis of space. */
  declare readonly strides: readonly number[];
  /** `valid`: windows lie inside of the input. `same`: they may reach beyond its end, and the result has ceil(size / stride) places. */
  declare readonly padding: Padding;
  readonly #pool: Pool;

  constructor(rank: Rank, pool: Pool, options: SpatialOptions) {
    super(rank, options);
    this.#pool = pool;
  }

  override call(inputs: Tensor): Tensor {
    // The largest integer is one, a mean need not be.
    const given = this.#pool === nn.maxPool ? values(this, inputs) : floats(this, inputs);
    this.check(given.shape);
    const { dtype } = given;
    if (dtype === 'int64')
      fail(this, "takes no int64, whose values float64 does not hold: cast it to 'int32'");
    const x = this.channelsLast(isFloating(dtype) ? given : given.cast('float64'));
    const padding = this.padding === 'same' ? 'SAME' : 'VALID';
    const y = this.inFormat(this.#pool(x, this.poolSize, { strides: this.strides, padding }));
    return isFloating(dtype) ? y : y.cast(dtype);
  }

  override computeOutputShape(inputShape: PartialShape): PartialShape {
    this.check(inputShape);
    return this.resized(inputShape, (n, i) =>
      this.windowed(n, this.poolSize[i], this.strides[i], this.padding),
    );
  }
}

/** The largest value of each window of sequences [batch, steps, features]. `new MaxPooling1D(2)` halves the steps. */
export class MaxPooling1D extends Pooling {
  declare static readonly fromConfig: FromConfig<MaxPooling1D>;
  constructor(...args: [poolSize?: Size1D | null | Pooling1DOptions, options?: Pooling1DOptions]) {
    super(1, nn.maxPool, argumentsOf<Pooling1DOptions>(MaxPooling1D, new.target, args));
  }
}

/** The largest value of each window of images [batch, h, w, c]. `new MaxPooling2D(2)` halves height and width. */
export class MaxPooling2D extends Pooling {
  declare static readonly fromConfig: FromConfig<MaxPooling2D>;
  constructor(...args: [poolSize?: Size2D | null | Pooling2DOptions, options?: Pooling2DOptions]) {
    super(2, nn.maxPool, argumentsOf<Pooling2DOptions>(MaxPooling2D, new.target, args));
  }
}

/** The largest value of each window of volumes [batch, d, h, w, c]. `new MaxPooling3D(2)` halves depth, height and width. */
export class MaxPooling3D extends Pooling {
  declare static readonly fromConfig: FromConfig<MaxPooling3D>;
  constructor(...args: [poolSize?: Size3D | null | Pooling3DOptions, options?: Pooling3DOptions]) {
    super(3, nn.maxPool, argumentsOf<Pooling3DOptions>(MaxPooling3D, new.target, args));
  }
}

/** The mean of each window of sequences [batch, steps, features]; padding does not count. */
export class AveragePooling1D extends Pooling {
  declare static readonly fromConfig: FromConfig<AveragePooling1D>;
  constructor(...args: [poolSize?: Size1D | null | Pooling1DOptions, options?: Pooling1DOptions]) {
    super(1, nn.avgPool, argumentsOf<Pooling1DOptions>(AveragePooling1D, new.target, args));
  }
}

/** The mean of each window of images [batch, h, w, c]; padding does not count. */
export class AveragePooling2D extends Pooling {
  declare static readonly fromConfig: FromConfig<AveragePooling2D>;
  constructor(...args: [poolSize?: Size2D | null | Pooling2DOptions, options?: Pooling2DOptions]) {
    super(2, nn.avgPool, argumentsOf<Pooling2DOptions>(AveragePooling2D, new.target, args));
  }
}

/** The mean of each window of volumes [batch, d, h, w, c]; padding does not count. */
export class AveragePooling3D extends Pooling {
  declare static readonly fromConfig: FromConfig<AveragePooling3D>;
  constructor(...args: [poolSize?: Size3D | null | Pooling3DOptions, options?: Pooling3DOptions]) {
    super(3, nn.avgPool, argumentsOf<Pooling3DOptions>(AveragePooling3D, new.target, args));
  }
}

/** Options of layers that pool over all places. */
export interface GlobalPoolingOptions extends SpatialOptions {
  /** Keeps the pooled axes as 1; false by default. */
  readonly keepdims?: boolean;
}

type GlobalArguments = [
  dataFormat?: DataFormat | null | GlobalPoolingOptions,
  options?: GlobalPoolingOptions,
];

/** Over all axes but that of the examples and that of the channels. */
abstract class GlobalPooling extends SpatialLayer {
  /** Keeps the pooled axes as 1. */
  declare readonly keepdims: boolean;
  readonly #reduction: 'mean' | 'max';

  constructor(rank: Rank, reduction: 'mean' | 'max', options: GlobalPoolingOptions) {
    super(rank, options);
    this.#reduction = reduction;
  }

  override call(inputs: Tensor): Tensor {
    const x = this.#reduction === 'max' ? values(this, inputs) : asFloats(this, inputs);
    this.check(x.shape);
    if (x.dtype === 'bool') return x.any(this.directions, { keepdims: this.keepdims });
    return x[this.#reduction](this.directions, { keepdims: this.keepdims });
  }

  override computeOutputShape(inputShape: PartialShape): PartialShape {
    this.check(inputShape);
    if (this.keepdims) return this.resized(inputShape, () => 1);
    const own = this.sizes(inputShape);
    return shapeOf([own[0], own.at(-1) as Size]);
  }
}

/** The mean over steps: [batch, steps, features] becomes [batch, features]. */
export class GlobalAveragePooling1D extends GlobalPooling {
  declare static readonly fromConfig: FromConfig<GlobalAveragePooling1D>;
  constructor(...args: GlobalArguments) {
    super(1, 'mean', argumentsOf<GlobalPoolingOptions>(GlobalAveragePooling1D, new.target, args));
  }

  /** @param options.mask which steps count, bool [batch, steps]. */
  override call(inputs: Tensor, { mask }: CallOptions = {}): Tensor {
    if (mask === undefined || mask === null) return super.call(inputs);
    const x = asFloats(this, inputs);
    this.check(x.shape);
    const given = toTensor(mask as TensorLike);
    const own = dims(x);
    const axis = this.firstAxis;
    const steps = [own[0], own[axis]];
    if (!sameShape(given.shape, steps))
      fail(this, `needs a mask ${showShape(steps)}, got ${showShape(given.shape)}`);
    const weights = given.cast(x.dtype).expandDims(3 - axis);
    const options = { keepdims: this.keepdims };
    return x.mul(weights).sum(axis, options).div(weights.sum(axis, options));
  }
}

/** The mean over height and width: [batch, h, w, c] becomes [batch, c]. */
export class GlobalAveragePooling2D extends GlobalPooling {
  declare static readonly fromConfig: FromConfig<GlobalAveragePooling2D>;
  constructor(...args: GlobalArguments) {
    super(2, 'mean', argumentsOf<GlobalPoolingOptions>(GlobalAveragePooling2D, new.target, args));
  }
}

/** The mean over depth, height and width: [batch, d, h, w, c] becomes [batch, c]. */
export class GlobalAveragePooling3D extends GlobalPooling {
  declare static readonly fromConfig: FromConfig<GlobalAveragePooling3D>;
  constructor(...args: GlobalArguments) {
    super(3, 'mean', argumentsOf<GlobalPoolingOptions>(GlobalAveragePooling3D, new.target, args));
  }
}

/** The largest value over steps: [batch, steps, features] becomes [batch, features]. */
export class GlobalMaxPooling1D extends GlobalPooling {
  declare static readonly fromConfig: FromConfig<GlobalMaxPooling1D>;
  constructor(...args: GlobalArguments) {
    super(1, 'max', argumentsOf<GlobalPoolingOptions>(GlobalMaxPooling1D, new.target, args));
  }
}

/** The largest value over height and width: [batch, h, w, c] becomes [batch, c]. */
export class GlobalMaxPooling2D extends GlobalPooling {
  declare static readonly fromConfig: FromConfig<GlobalMaxPooling2D>;
  constructor(...args: GlobalArguments) {
    super(2, 'max', argumentsOf<GlobalPoolingOptions>(GlobalMaxPooling2D, new.target, args));
  }
}

/** The largest value over depth, height and width: [batch, d, h, w, c] becomes [batch, c]. */
export class GlobalMaxPooling3D extends GlobalPooling {
  declare static readonly fromConfig: FromConfig<GlobalMaxPooling3D>;
  constructor(...args: GlobalArguments) {
    super(3, 'max', argumentsOf<GlobalPoolingOptions>(GlobalMaxPooling3D, new.target, args));
  }
}

ownsTemporaries(Pooling, GlobalPooling, GlobalAveragePooling1D);
takesKinds(['ragged'], GlobalPooling, GlobalAveragePooling1D);
builtAtOnce(Pooling, GlobalPooling, GlobalAveragePooling1D);
takesCall({ second: 'mask', options: { mask: true, training: true } }, GlobalAveragePooling1D);
const schema = (rank: Rank) =>
  ({
    positional: ['poolSize'],
    required: 0,
    options: {
      poolSize: sizes(rank, 2),
      strides: sizes(rank, (layer: Pooling) => layer.poolSize),
      padding,
      dataFormat,
      ...layerOptions,
    },
  }) as const;
takesOptions<Pooling1DOptions, Pooling>(schema(1), MaxPooling1D, AveragePooling1D);
takesOptions<Pooling2DOptions, Pooling>(schema(2), MaxPooling2D, AveragePooling2D);
takesOptions<Pooling3DOptions, Pooling>(schema(3), MaxPooling3D, AveragePooling3D);
takesOptions<GlobalPoolingOptions, GlobalPooling>(
  {
    positional: ['dataFormat'],
    required: 0,
    options: { dataFormat, keepdims: flag(false), ...layerOptions },
  },
  GlobalAveragePooling1D,
  GlobalAveragePooling2D,
  GlobalAveragePooling3D,
  GlobalMaxPooling1D,
  GlobalMaxPooling2D,
  GlobalMaxPooling3D,
);
