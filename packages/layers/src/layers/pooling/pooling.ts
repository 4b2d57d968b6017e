// Pooling of images [batch, height, width, channels], and of sequences [batch, steps, features] over all steps.

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
import {
  builtAtOnce,
  type CallOptions,
  type FromConfig,
  Layer,
  type LayerOptions,
  ownsTemporaries,
} from '../../layer/layer.ts';
import { takesCall } from '../../layer/own-call.ts';
import {
  checkImages,
  checkRank,
  fail,
  floats,
  IMAGES,
  type Padding,
  type Size,
  type Size2D,
  shapeOf,
  sizesOf,
  values,
  windowed,
} from '../common.ts';
import { dataFormat, flag, padding, pair } from '../options.ts';
import { layerOptions } from '../weights.ts';

export interface Pooling2DOptions extends LayerOptions {
  /** 2 by default. */
  readonly poolSize?: Size2D;
  /** The pool size by default, so that windows do not overlap. */
  readonly strides?: Size2D | null;
  /** `valid` by default. */
  readonly padding?: Padding;
  /** `channelsLast`, the only one. */
  readonly dataFormat?: 'channelsLast';
}

type Pool = (
  x: Tensor,
  size: Size2D,
  options: { readonly strides: Size2D; readonly padding: 'SAME' | 'VALID' },
) => Tensor;

/** [batch, h, w, c] becomes [batch, h', w', c]. */
abstract class Pooling2D extends Layer {
  declare readonly poolSize: readonly [height: number, width: number];
  declare readonly strides: readonly [height: number, width: number];
  declare readonly padding: Padding;
  readonly #pool: Pool;

  constructor(pool: Pool, options: Pooling2DOptions) {
    super(options);
    this.#pool = pool;
  }

  override call(inputs: Tensor): Tensor {
    // The largest integer is one, a mean need not be.
    const given = this.#pool === nn.maxPool2d ? values(this, inputs) : floats(this, inputs);
    checkImages(this, given.shape);
    const padding = this.padding === 'same' ? 'SAME' : 'VALID';
    const { dtype } = given;
    if (dtype === 'int64')
      fail(this, "takes no int64, whose values float64 does not hold: cast it to 'int32'");
    const x = isFloating(dtype) ? given : given.cast('float64');
    const y = this.#pool(x, this.poolSize, { strides: this.strides, padding });
    return x === given ? y : y.cast(dtype);
  }

  override computeOutputShape(inputShape: PartialShape): PartialShape {
    checkImages(this, inputShape);
    const [batch, h, w, channels] = sizesOf(inputShape) as [Size, Size, Size, Size];
    const size = (i: 0 | 1): Size =>
      windowed(this, i === 0 ? h : w, this.poolSize[i], this.strides[i], this.padding);
    return shapeOf([batch, size(0), size(1), channels]);
  }
}

/** The largest value of each window. `new MaxPooling2D(2)` halves height and width. */
export class MaxPooling2D extends Pooling2D {
  declare static readonly fromConfig: FromConfig<MaxPooling2D>;
  constructor(...args: [poolSize?: Size2D | null | Pooling2DOptions, options?: Pooling2DOptions]) {
    const options = argumentsOf<Pooling2DOptions>(MaxPooling2D, new.target, args);
    super(nn.maxPool2d, options);
  }
}

/** The mean of each window; padding does not count. */
export class AveragePooling2D extends Pooling2D {
  declare static readonly fromConfig: FromConfig<AveragePooling2D>;
  constructor(...args: [poolSize?: Size2D | null | Pooling2DOptions, options?: Pooling2DOptions]) {
    const options = argumentsOf<Pooling2DOptions>(AveragePooling2D, new.target, args);
    super(nn.avgPool2d, options);
  }
}

export interface GlobalPoolingOptions extends LayerOptions {
  /** Keeps the pooled axes as 1; false by default. */
  readonly keepdims?: boolean;
  /** `channelsLast`, the only one. */
  readonly dataFormat?: 'channelsLast';
}

/** Over all axes between that of the examples and that of the channels. */
abstract class GlobalPooling extends Layer {
  declare readonly keepdims: boolean;
  readonly #rank: number;
  readonly #reduction: 'mean' | 'max';

  constructor(rank: 3 | 4, reduction: 'mean' | 'max', options: GlobalPoolingOptions) {
    super(options);
    this.#rank = rank;
    this.#reduction = reduction;
  }

  #check(shape: PartialShape): void {
    checkRank(this, shape, this.#rank, this.#rank === 4 ? IMAGES : '[batch, steps, features]');
  }

  override call(inputs: Tensor): Tensor {
    const x = this.#reduction === 'max' ? values(this, inputs) : floats(this, inputs);
    this.#check(x.shape);
    const axes = Array.from({ length: x.rank - 2 }, (_, i) => i + 1);
    return x[this.#reduction](axes, { keepdims: this.keepdims });
  }

  override computeOutputShape(inputShape: PartialShape): PartialShape {
    this.#check(inputShape);
    const sizes = sizesOf(inputShape);
    const kept = this.keepdims ? sizes.slice(1, -1).map(() => 1) : [];
    return shapeOf([sizes[0], ...kept, sizes.at(-1) as Size]);
  }
}

/** The mean over steps: [batch, steps, features] becomes [batch, features]. */
export class GlobalAveragePooling1D extends GlobalPooling {
  declare static readonly fromConfig: FromConfig<GlobalAveragePooling1D>;
  constructor(
    ...args: [dataFormat?: 'channelsLast' | null | GlobalPoolingOptions, options?: GlobalPoolingOptions]
  ) {
    const options = argumentsOf<GlobalPoolingOptions>(GlobalAveragePooling1D, new.target, args);
    super(3, 'mean', options);
  }
  /** @param options.mask which steps count, bool [batch, steps]. */
  override call(inputs: Tensor, { mask }: CallOptions = {}): Tensor {
    if (mask === undefined || mask === null) return super.call(inputs);
    const x = floats(this, inputs);
    checkRank(this, x.shape, 3, '[batch, steps, features]');
    const given = toTensor(mask as TensorLike);
    const steps = dims(x).slice(0, 2);
    if (!sameShape(given.shape, steps))
      fail(this, `needs a mask ${showShape(steps)}, got ${showShape(given.shape)}`);
    const weights = given.cast(x.dtype).expandDims(2);
    const options = { keepdims: this.keepdims };
    return x.mul(weights).sum(1, options).div(weights.sum(1, options));
  }
}

/** The mean over height and width: [batch, h, w, c] becomes [batch, c]. */
export class GlobalAveragePooling2D extends GlobalPooling {
  declare static readonly fromConfig: FromConfig<GlobalAveragePooling2D>;
  constructor(
    ...args: [dataFormat?: 'channelsLast' | null | GlobalPoolingOptions, options?: GlobalPoolingOptions]
  ) {
    const options = argumentsOf<GlobalPoolingOptions>(GlobalAveragePooling2D, new.target, args);
    super(4, 'mean', options);
  }
}

/** The largest value over steps: [batch, steps, features] becomes [batch, features]. */
export class GlobalMaxPooling1D extends GlobalPooling {
  declare static readonly fromConfig: FromConfig<GlobalMaxPooling1D>;
  constructor(
    ...args: [dataFormat?: 'channelsLast' | null | GlobalPoolingOptions, options?: GlobalPoolingOptions]
  ) {
    const options = argumentsOf<GlobalPoolingOptions>(GlobalMaxPooling1D, new.target, args);
    super(3, 'max', options);
  }
}

/** The largest value over height and width: [batch, h, w, c] becomes [batch, c]. */
export class GlobalMaxPooling2D extends GlobalPooling {
  declare static readonly fromConfig: FromConfig<GlobalMaxPooling2D>;
  constructor(
    ...args: [dataFormat?: 'channelsLast' | null | GlobalPoolingOptions, options?: GlobalPoolingOptions]
  ) {
    const options = argumentsOf<GlobalPoolingOptions>(GlobalMaxPooling2D, new.target, args);
    super(4, 'max', options);
  }
}
ownsTemporaries(Pooling2D, GlobalPooling, GlobalAveragePooling1D);
builtAtOnce(Pooling2D, GlobalPooling, GlobalAveragePooling1D);
takesCall({ second: 'mask', options: { mask: true, training: true } }, GlobalAveragePooling1D);
takesOptions<Pooling2DOptions, Pooling2D>(
  {
    positional: ['poolSize'],
    required: 0,
    options: {
      poolSize: pair(2),
      strides: pair((layer: Pooling2D) => layer.poolSize),
      padding,
      dataFormat,
      ...layerOptions,
    },
  },
  MaxPooling2D,
  AveragePooling2D,
);
takesOptions<GlobalPoolingOptions, GlobalPooling>(
  {
    positional: ['dataFormat'],
    required: 0,
    options: { dataFormat, keepdims: flag(false), ...layerOptions },
  },
  GlobalAveragePooling1D,
  GlobalAveragePooling2D,
  GlobalMaxPooling1D,
  GlobalMaxPooling2D,
);
