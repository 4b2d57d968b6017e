// What the convolutions share: options, the bias, the activation, geometry.
import type { PartialShape, Tensor, Variable } from '@eagre/core';
import { fusedConv2d } from '@eagre/core/internal';
import type { Activation, ActivationLike } from '../activations.ts';
import { functionConfig } from '../keras-object.ts';
import { Layer, type LayerOptions } from '../layer.ts';
import type { RegularizerFunction, RegularizerLike } from '../regularizers.ts';
import {
  activationConfig,
  applyActivation,
  checkDataFormat,
  checkImages,
  checkPadding,
  checkPair,
  fail,
  floats,
  knownSize,
  linear,
  type Padding,
  penalize,
  relu,
  resolveActivation,
  resolveActivityRegularizer,
  type Size,
  type Size2D,
  shapeOf,
  sizesOf,
  windowed,
} from './common.ts';
import { type BiasOptions, recipe, recipeOptions } from './weights.ts';

/** Options of every convolution. */
export interface ConvBaseOptions extends LayerOptions, BiasOptions {
  /** 1 unless said. */
  readonly strides?: Size2D;
  /** `valid` (no padding) unless said; `same` makes the result ceil(size / stride). */
  readonly padding?: Padding;
  /** Distance of the kernel's taps; 1 unless said. Not together with strides. */
  readonly dilationRate?: Size2D;
  /** `channelsLast`, the only one. */
  readonly dataFormat?: 'channelsLast';
  /** Applied to the result; none unless said. */
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
  readonly kernelSize: readonly [height: number, width: number];
  readonly strides: readonly [height: number, width: number];
  readonly padding: Padding;
  readonly dilationRate: readonly [height: number, width: number];
  readonly activation: Activation;
  readonly useBias: boolean;
  /** One for each channel of the result, or null without a bias. */
  bias: Variable | null = null;
  readonly #recipes;
  readonly #activityRegularizer: RegularizerLike | null;
  readonly #penalty: RegularizerFunction | undefined;
  #channels: number | undefined;

  constructor(options: ConvBaseArguments) {
    super(options);
    this.kernelSize = checkPair(this, 'kernelSize', options.kernelSize);
    this.strides = checkPair(this, 'strides', options.strides ?? 1);
    this.padding = checkPadding(this, options.padding ?? 'valid');
    this.dilationRate = checkPair(this, 'dilationRate', options.dilationRate ?? 1);
    checkDataFormat(this, options.dataFormat);
    if (Math.max(...this.strides) > 1 && Math.max(...this.dilationRate) > 1) {
      fail(this, `cannot have strides [${this.strides}] and dilationRate [${this.dilationRate}] together`);
    }
    this.activation = resolveActivation(options.activation);
    this.useBias = options.useBias ?? true;
    this.#recipes = { bias: recipe('bias', options, 'zeros') };
    this.#activityRegularizer = options.activityRegularizer ?? null;
    this.#penalty = resolveActivityRegularizer(options.activityRegularizer);
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
    this.bias = this.addWeight({ name: 'bias', shape: [size], ...this.#recipes.bias });
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
    return penalize(this, this.#penalty, z);
  }

  protected get window(): { strides: Size2D; padding: 'SAME' | 'VALID'; dilations: Size2D } {
    const padding = this.padding === 'same' ? 'SAME' : 'VALID';
    return { strides: this.strides, padding, dilations: this.dilationRate };
  }

  protected outputShape(inputShape: PartialShape, filters: Size): PartialShape {
    checkImages(this, inputShape, this.#channels);
    const [batch, ...sizes] = sizesOf(inputShape) as [Size, Size, Size, Size];
    const size = (i: 0 | 1): Size =>
      windowed(
        this,
        sizes[i] as Size,
        this.kernelSize[i],
        this.strides[i],
        this.padding,
        this.dilationRate[i],
      );
    return shapeOf([batch, size(0), size(1), filters]);
  }

  override getConfig(): Record<string, unknown> {
    return {
      ...super.getConfig(),
      kernelSize: this.kernelSize,
      strides: this.strides,
      padding: this.padding,
      dilationRate: this.dilationRate,
      activation: activationConfig(this.activation),
      useBias: this.useBias,
      activityRegularizer: functionConfig(this.#activityRegularizer),
      ...recipeOptions(this.#recipes),
    };
  }
}
