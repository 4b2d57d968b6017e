// Pooling of images [batch, height, width, channels].
import { nn, type PartialShape, type Tensor } from '@eagre/core';
import { builtin, Layer, type LayerOptions } from '../layer.ts';
import {
  type Config,
  checkDataFormat,
  checkImages,
  checkPadding,
  checkPair,
  floats,
  isOptions,
  type Padding,
  type Size2D,
  windowed,
} from './common.ts';

export interface Pooling2DOptions extends LayerOptions {
  /** 2 unless said. */
  readonly poolSize?: Size2D;
  /** The pool size unless said, so that windows do not overlap. */
  readonly strides?: Size2D | null;
  /** `valid` unless said. */
  readonly padding?: Padding;
  /** `channelsLast`, the only one. */
  readonly dataFormat?: 'channelsLast';
}

abstract class Pooling2D extends Layer {
  readonly poolSize: readonly [height: number, width: number];
  readonly strides: readonly [height: number, width: number];
  readonly padding: Padding;

  constructor(poolSize: Size2D | Pooling2DOptions | undefined, rest: Pooling2DOptions) {
    const options = isOptions(poolSize) ? (poolSize as Pooling2DOptions) : rest;
    super(options);
    const size = isOptions(poolSize) ? undefined : (poolSize as Size2D | undefined);
    this.poolSize = checkPair(this, 'poolSize', size ?? options.poolSize ?? 2);
    this.strides = checkPair(this, 'strides', options.strides ?? this.poolSize);
    this.padding = checkPadding(this, options.padding ?? 'valid');
    checkDataFormat(this, options.dataFormat);
  }

  protected get window(): { strides: Size2D; padding: 'SAME' | 'VALID' } {
    return { strides: this.strides, padding: this.padding === 'same' ? 'SAME' : 'VALID' };
  }

  protected images(inputs: Tensor): Tensor {
    const x = floats(this, inputs);
    checkImages(this, x.shape);
    return x;
  }

  override computeOutputShape(inputShape: PartialShape): PartialShape {
    checkImages(this, inputShape);
    const size = (i: 0 | 1): number | null =>
      windowed(this, inputShape[i + 1], this.poolSize[i], this.strides[i], this.padding);
    return [inputShape[0], size(0), size(1), inputShape[3]];
  }

  override getConfig(): Record<string, unknown> {
    return {
      ...super.getConfig(),
      poolSize: this.poolSize,
      strides: this.strides,
      padding: this.padding,
    };
  }
}

/** The largest value of each window. `new MaxPooling2D(2)` halves height and width. */
export class MaxPooling2D extends Pooling2D {
  constructor(poolSize?: Size2D | Pooling2DOptions, options: Pooling2DOptions = {}) {
    super(poolSize, options);
  }
  override call(inputs: Tensor): Tensor {
    return nn.maxPool2d(this.images(inputs), this.poolSize, this.window);
  }
  static override fromConfig(config: Config): MaxPooling2D {
    return new MaxPooling2D(config);
  }
}

/** The mean of each window; padding does not count. */
export class AveragePooling2D extends Pooling2D {
  constructor(poolSize?: Size2D | Pooling2DOptions, options: Pooling2DOptions = {}) {
    super(poolSize, options);
  }
  override call(inputs: Tensor): Tensor {
    return nn.avgPool2d(this.images(inputs), this.poolSize, this.window);
  }
  static override fromConfig(config: Config): AveragePooling2D {
    return new AveragePooling2D(config);
  }
}

export interface GlobalPooling2DOptions extends LayerOptions {
  /** Keeps height and width as 1; false unless said. */
  readonly keepdims?: boolean;
  /** `channelsLast`, the only one. */
  readonly dataFormat?: 'channelsLast';
}

abstract class GlobalPooling2D extends Layer {
  readonly keepdims: boolean;

  constructor(options: GlobalPooling2DOptions) {
    super(options);
    this.keepdims = options.keepdims ?? false;
    checkDataFormat(this, options.dataFormat);
  }

  protected images(inputs: Tensor): Tensor {
    const x = floats(this, inputs);
    checkImages(this, x.shape);
    return x;
  }

  override computeOutputShape(inputShape: PartialShape): PartialShape {
    checkImages(this, inputShape);
    const [batch, , , channels] = inputShape;
    return this.keepdims ? [batch, 1, 1, channels] : [batch, channels];
  }

  override getConfig(): Record<string, unknown> {
    return { ...super.getConfig(), keepdims: this.keepdims };
  }
}

/** The mean over height and width: [batch, h, w, c] becomes [batch, c]. */
export class GlobalAveragePooling2D extends GlobalPooling2D {
  constructor(options: GlobalPooling2DOptions = {}) {
    super(options);
  }
  override call(inputs: Tensor): Tensor {
    return this.images(inputs).mean([1, 2], { keepdims: this.keepdims });
  }
  static override fromConfig(config: Config): GlobalAveragePooling2D {
    return new GlobalAveragePooling2D(config);
  }
}

/** The largest value over height and width: [batch, h, w, c] becomes [batch, c]. */
export class GlobalMaxPooling2D extends GlobalPooling2D {
  constructor(options: GlobalPooling2DOptions = {}) {
    super(options);
  }
  override call(inputs: Tensor): Tensor {
    return this.images(inputs).max([1, 2], { keepdims: this.keepdims });
  }
  static override fromConfig(config: Config): GlobalMaxPooling2D {
    return new GlobalMaxPooling2D(config);
  }
}
builtin(MaxPooling2D, AveragePooling2D, GlobalAveragePooling2D, GlobalMaxPooling2D);
