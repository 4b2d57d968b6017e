// What the convolutions share: options, the bias, the activation, geometry.

import type { PartialShape, Tensor, Variable } from '@eagre/core';
import { fusedConv2d } from '@eagre/core/internal';
import type { Activation, ActivationLike } from '../../activations.ts';
import { Layer, type LayerOptions } from '../../layer/layer.ts';
import type { RegularizerFunction, RegularizerLike } from '../../regularizers.ts';
import {
  applyActivation,
  checkImages,
  fail,
  floats,
  knownSize,
  linear,
  type Padding,
  penalize,
  relu,
  type Size,
  type Size2D,
  shapeOf,
  sizesOf,
  windowed,
} from '../common.ts';
import { recipe } from '../options.ts';
import type { BiasOptions } from '../weights.ts';

/** Options of every convolution. */
export interface ConvBaseOptions extends LayerOptions, BiasOptions {
  /** 1 by default. */
  readonly strides?: Size2D;
  /** `valid` (no padding) by default; `same` makes the result ceil(size / stride). */
  readonly padding?: Padding;
  /** Distance of the kernel's taps; 1 by default. Not together with strides. */
  readonly dilationRate?: Size2D;
  /** `channelsLast`, the only one. */
  readonly dataFormat?: 'channelsLast';
  /** Applied to the result; none by default. */
  readonly activation?: ActivationLike;
  /** A penalty on the output, per example. */
  readonly activityRegularizer?: RegularizerLike | null;
}

/** All arguments of every convolution, by name. */
export interface ConvBaseArguments extends ConvBaseOptions {
  readonly kernelSize: Size2D;
}
/** Those of convolutions whose number of filters is free. */
export interface FiltersArguments extends ConvBaseArguments {
  /** Channels of the result. */
  readonly filters: number;
}

/** What all convolutions share. */
export abstract class ConvBase extends Layer {
  declare readonly kernelSize: readonly [height: number, width: number];
  declare readonly strides: readonly [height: number, width: number];
  declare readonly padding: Padding;
  declare readonly dilationRate: readonly [height: number, width: number];
  declare readonly activation: Activation;
  declare readonly useBias: boolean;
  /** @internal */
  declare readonly activityRegularizer: RegularizerFunction | null;
  /** One for each channel of the result, or null without a bias. */
  bias: Variable | null = null;
  #channels: number | undefined;

  constructor(options: ConvBaseArguments) {
    super(options);
    if (Math.max(...this.strides) > 1 && Math.max(...this.dilationRate) > 1) {
      fail(this, `cannot have strides [${this.strides}] and dilationRate [${this.dilationRate}] together`);
    }
  }

  /** Checks the shape of the first input. @returns its channels. */
  protected channels(inputShape: PartialShape): number {
    checkImages(this, inputShape);
    const channels = knownSize(this, inputShape, 3);
    this.computeOutputShape(inputShape);
    this.#channels = channels;
    return channels;
  }

  protected addBias(size: number): void {
    if (!this.useBias) return;
    this.bias = this.addWeight({ name: 'bias', shape: [size], ...recipe(this, 'bias') });
  }

  /** The input as floats, of the rank and channels that the weights were made for. */
  protected images(inputs: Tensor): Tensor {
    const x = floats(this, inputs);
    checkImages(this, x.shape, this.#channels);
    return x;
  }

  /** A convolution with the bias, the activation and the penalty on the result. */
  protected convolve(
    x: Tensor,
    kernel: Tensor | Variable,
    options: { strides?: Size2D; padding?: 'SAME' | 'VALID'; dilations?: Size2D; groups: number },
  ): Tensor {
    const fused = this.activation === relu;
    const y = fusedConv2d(x, kernel, this.bias, { ...options, activation: fused ? 1 : 0 });
    return this.finish(y, fused);
  }

  /** The activation, unless the kernel has applied it, and the penalty. */
  protected finish(y: Tensor, activated = false): Tensor {
    const z = activated || this.activation === linear ? y : applyActivation(this.activation, y);
    return penalize(this, z);
  }

  protected get window(): { strides: Size2D; padding: 'SAME' | 'VALID'; dilations: Size2D } {
    const padding = this.padding === 'same' ? 'SAME' : 'VALID';
    return { strides: this.strides, padding, dilations: this.dilationRate };
  }

  protected outputShape(inputShape: PartialShape, filters: Size): PartialShape {
    checkImages(this, inputShape, this.#channels);
    const [batch, ...sizes] = sizesOf(inputShape) as [Size, Size, Size, Size];
    const size = (i: 0 | 1): Size =>
      windowed(this, sizes[i], this.kernelSize[i], this.strides[i], this.padding, this.dilationRate[i]);
    return shapeOf([batch, size(0), size(1), filters]);
  }
}
