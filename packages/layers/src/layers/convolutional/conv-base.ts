// What the convolutions share: options, the bias, the activation, geometry.
import type { nn, PartialShape, Tensor, Variable } from '@eagre/core';
import { fusedConvolution, type Option } from '@eagre/core/internal';
import type { Activation, ActivationLike } from '../../activations.ts';
import type { ConstraintLike } from '../../constraints.ts';
import type { InitializerLike } from '../../initializers/initializers.ts';
import type { RegularizerFunction, RegularizerLike } from '../../regularizers.ts';
import { applyActivation, floats, linear, type Padding, penalize, relu, type Size } from '../common.ts';
import { activation, flag, integer, padding, recipe, regularizer, sizes } from '../options.ts';
import {
  type DataFormat,
  dataFormat,
  type Rank,
  type Size2D,
  type Sizes,
  SpatialLayer,
  type SpatialOptions,
} from '../spatial.ts';
import { type BiasOptions, penalizedOptions } from '../weights.ts';

/** Options of every convolution. */
export interface ConvBaseOptions<S extends Sizes = Size2D> extends SpatialOptions, BiasOptions {
  /** How far the kernel moves from one result to the next, along each axis of space; 1 by default. */
  readonly strides?: S;
  /** `valid` (no padding) by default; `same` makes the result ceil(size / stride). */
  readonly padding?: Padding;
  /** Distance of the kernel's taps; 1 by default. Not together with strides. */
  readonly dilationRate?: S;
  /** Applied to the result; none by default. */
  readonly activation?: ActivationLike;
  /** A penalty on the output, per example. */
  readonly activityRegularizer?: RegularizerLike | null;
}

/** All arguments of every convolution, by name. */
export interface KernelArguments<S extends Sizes = Size2D> {
  /** The size of the kernel along each axis of space; one number for all. */
  readonly kernelSize: S;
}
/** Those of convolutions whose number of filters is free. */
export interface FiltersArguments<S extends Sizes = Size2D> extends KernelArguments<S> {
  /** Channels of the result. */
  readonly filters: number;
}

/** Options of convolutions that treat each channel by itself. */
export interface DepthwiseOptions {
  /** Results for each channel; 1 by default. */
  readonly depthMultiplier?: number;
  /** Makes the kernels of the channels at first; `glorotUniform` by default. */
  readonly depthwiseInitializer?: InitializerLike;
  /** A penalty on the kernel of each channel, which training adds to the loss; none by default. */
  readonly depthwiseRegularizer?: RegularizerLike | null;
  /** A function that is applied to the kernel of each channel after each update; none by default. */
  readonly depthwiseConstraint?: ConstraintLike | null;
}

/** What all convolutions share. */
export abstract class ConvBase extends SpatialLayer {
  /** The size of the kernel along each axis of space; one number for all. */
  declare readonly kernelSize: readonly number[];
  /** How far the kernel moves from one result to the next, along each axis of space. */
  declare readonly strides: readonly number[];
  /** `valid` (no padding); `same` makes the result ceil(size / stride). */
  declare readonly padding: Padding | 'causal';
  /** Distance of the kernel's taps. Not together with strides. */
  declare readonly dilationRate: readonly number[];
  /** Applied to the result. */
  declare readonly activation: Activation;
  /** Whether a bias is added to the result. */
  declare readonly useBias: boolean;
  /** @internal */
  declare readonly activityRegularizer: RegularizerFunction | null;
  /** One for each channel of the result, or null without a bias. */
  bias: Variable | null = null;
  #channels: number | undefined;

  /** Checks the shape of the first input. @returns its channels. */
  protected channels(inputShape: PartialShape): number {
    this.check(inputShape);
    const channels = this.knownChannels(inputShape);
    this.computeOutputShape(inputShape);
    this.#channels = channels;
    return channels;
  }

  protected addBias(size: number): void {
    if (!this.useBias) return;
    this.bias = this.addWeight({ name: 'bias', shape: [size], ...recipe(this, 'bias') });
  }

  /** The input as floats, of the rank and channels that the weights were made for; channels last. */
  protected given(inputs: Tensor): Tensor {
    const x = floats(this, inputs);
    this.check(x.shape, this.#channels);
    return this.channelsLast(x);
  }

  /** A convolution with the bias, the activation and the penalty on the result. */
  protected convolve(
    x: Tensor,
    kernel: Tensor | Variable,
    options: nn.ConvOptions<Sizes> & { groups: number },
  ): Tensor {
    const fused = this.activation === relu;
    const y = fusedConvolution(x, kernel, this.bias, { ...options, activation: fused ? 1 : 0 });
    return this.finish(y, fused);
  }

  /** The activation, unless the kernel has applied it, and the penalty. */
  protected finish(y: Tensor, activated = false): Tensor {
    const z = this.inFormat(y);
    return penalize(this, activated || this.activation === linear ? z : applyActivation(this.activation, z));
  }

  protected get window(): nn.ConvOptions<Sizes> {
    return { strides: this.strides, padding: this.#padding, dilations: this.dilationRate };
  }

  get #padding(): nn.WindowPadding {
    if (this.padding === 'same') return 'SAME';
    if (this.padding === 'valid') return 'VALID';
    return [[(this.kernelSize[0] - 1) * this.dilationRate[0], 0]];
  }

  protected outputShape(inputShape: PartialShape, filters: Size): PartialShape {
    this.check(inputShape, this.#channels);
    const [batch, ...own] = this.sizes(inputShape);
    const padding = this.padding === 'causal' ? 'same' : this.padding;
    const results = this.kernelSize.map((window, i) =>
      this.windowed(own[i], window, this.strides[i], padding, this.dilationRate[i]),
    );
    return this.ofSizes([batch, ...results, filters]);
  }
}

/** [..., c, m] as a kernel of c groups. */
export function grouped(kernel: Variable): Tensor {
  const taps = kernel.shape.slice(0, -2);
  const [c, m] = kernel.shape.slice(-2);
  return kernel.reshape([...taps, 1, c * m]);
}

// The options, in Keras's order.
type Directions = Option<readonly number[]>;
export const filters: { readonly filters: Option<number> } = { filters: integer() };
export const windowOptions = (
  rank: Rank,
): {
  readonly kernelSize: Directions;
  readonly strides: Directions;
  readonly padding: Option<Padding>;
} => ({ kernelSize: sizes(rank), strides: sizes(rank, 1), padding });
export const orderOptions = (
  rank: Rank,
): { readonly dataFormat: Option<DataFormat>; readonly dilationRate: Directions } => ({
  dataFormat,
  dilationRate: sizes(rank, 1),
});
export const outputOptions: { readonly activation: Option<Activation>; readonly useBias: Option<boolean> } = {
  activation: activation('linear'),
  useBias: flag(true),
};
export const lastOptions: typeof penalizedOptions & {
  readonly activityRegularizer: Option<RegularizerFunction | null>;
} = { activityRegularizer: regularizer, ...penalizedOptions };
