// Convolutions over sequences and images that treat each channel by itself.
import type { PartialShape, Tensor, Variable } from '@eagre/core';
import { type Arguments, argumentsOf, fusedConvolution, takesOptions } from '@eagre/core/internal';
import type { ConstraintLike } from '../../constraints.ts';
import type { InitializerLike } from '../../initializers/initializers.ts';
import { type FromConfig, ownsTemporaries } from '../../layer/layer.ts';
import type { RegularizerLike } from '../../regularizers.ts';
import { times } from '../common.ts';
import { integer, recipe, weights } from '../options.ts';
import type { Rank, Size1D, Size2D, Sizes } from '../spatial.ts';
import {
  ConvBase,
  type ConvBaseOptions,
  type DepthwiseOptions,
  type FiltersArguments,
  filters,
  grouped,
  type KernelArguments,
  lastOptions,
  orderOptions,
  outputOptions,
  windowOptions,
} from './conv-base.ts';

interface DepthwiseConvOptions<S extends Sizes> extends ConvBaseOptions<S>, DepthwiseOptions {}
/** Options of `DepthwiseConv1D`. */
export interface DepthwiseConv1DOptions extends DepthwiseConvOptions<Size1D> {}
/** Options of `DepthwiseConv2D`. */
export interface DepthwiseConv2DOptions extends DepthwiseConvOptions<Size2D> {}
interface SeparableConvOptions<S extends Sizes> extends ConvBaseOptions<S>, DepthwiseOptions {
  /** `glorotUniform` by default. */
  readonly pointwiseInitializer?: InitializerLike;
  /** A penalty on the kernel that mixes channels, which training adds to the loss; none by default. */
  readonly pointwiseRegularizer?: RegularizerLike | null;
  /** A function that is applied to the kernel that mixes channels after each update; none by default. */
  readonly pointwiseConstraint?: ConstraintLike | null;
}
/** Options of `SeparableConv1D`. */
export interface SeparableConv1DOptions extends SeparableConvOptions<Size1D> {}
/** Options of `SeparableConv2D`. */
export interface SeparableConv2DOptions extends SeparableConvOptions<Size2D> {}

/** All arguments of `DepthwiseConv1D`, by name. */
export type DepthwiseConv1DArguments = DepthwiseConv1DOptions & KernelArguments<Size1D>;
/** All arguments of `DepthwiseConv2D`, by name. */
export type DepthwiseConv2DArguments = DepthwiseConv2DOptions & KernelArguments<Size2D>;
/** All arguments of `SeparableConv1D`, by name. */
export type SeparableConv1DArguments = SeparableConv1DOptions & FiltersArguments<Size1D>;
/** All arguments of `SeparableConv2D`, by name. */
export type SeparableConv2DArguments = SeparableConv2DOptions & FiltersArguments<Size2D>;

abstract class DepthwiseConv extends ConvBase {
  /** Results for each channel. */
  declare readonly depthMultiplier: number;
  /** [directions…, channels, depthMultiplier] */
  kernel!: Variable;

  override build(inputShape: PartialShape): void {
    const channels = this.channels(inputShape);
    this.kernel = this.addWeight({
      name: 'kernel',
      shape: [...this.kernelSize, channels, this.depthMultiplier],
      ...recipe(this, 'depthwise'),
    });
    this.addBias(channels * this.depthMultiplier);
  }

  override call(inputs: Tensor): Tensor {
    const x = this.given(inputs);
    const groups = this.kernel.shape.at(-2) as number;
    return this.convolve(x, grouped(this.kernel), { ...this.window, groups });
  }

  override computeOutputShape(inputShape: PartialShape): PartialShape {
    this.check(inputShape);
    const channels = this.sizes(inputShape).at(-1) ?? null;
    return this.outputShape(inputShape, times(channels, this.depthMultiplier));
  }
}

/** Each feature convolved with its own kernels: [batch, steps, c] becomes [batch, steps', c · depthMultiplier]. */
export class DepthwiseConv1D extends DepthwiseConv {
  declare static readonly fromConfig: FromConfig<DepthwiseConv1D>;
  constructor(...args: [kernelSize: Size1D | DepthwiseConv1DArguments, options?: DepthwiseConv1DOptions]) {
    super(1, argumentsOf<DepthwiseConv1DArguments>(DepthwiseConv1D, new.target, args));
  }
}

/** Each channel convolved with its own kernels: [batch, h, w, c] becomes [batch, h', w', c · depthMultiplier]. */
export class DepthwiseConv2D extends DepthwiseConv {
  declare static readonly fromConfig: FromConfig<DepthwiseConv2D>;
  constructor(...args: [kernelSize: Size2D | DepthwiseConv2DArguments, options?: DepthwiseConv2DOptions]) {
    super(2, argumentsOf<DepthwiseConv2DArguments>(DepthwiseConv2D, new.target, args));
  }
}

abstract class SeparableConv extends ConvBase {
  /** Channels of the result. */
  declare readonly filters: number;
  /** Results for each channel. */
  declare readonly depthMultiplier: number;
  /** [directions…, channels, depthMultiplier] */
  depthwiseKernel!: Variable;
  /** [1…, channels · depthMultiplier, filters] */
  pointwiseKernel!: Variable;

  override build(inputShape: PartialShape): void {
    const channels = this.channels(inputShape);
    this.depthwiseKernel = this.addWeight({
      name: 'depthwise_kernel',
      shape: [...this.kernelSize, channels, this.depthMultiplier],
      ...recipe(this, 'depthwise'),
    });
    this.pointwiseKernel = this.addWeight({
      name: 'pointwise_kernel',
      shape: [...this.kernelSize.map(() => 1), channels * this.depthMultiplier, this.filters],
      ...recipe(this, 'pointwise'),
    });
    this.addBias(this.filters);
  }

  override call(inputs: Tensor): Tensor {
    const x = this.given(inputs);
    const groups = this.depthwiseKernel.shape.at(-2) as number;
    const each = fusedConvolution(x, grouped(this.depthwiseKernel), null, { ...this.window, groups });
    return this.convolve(each, this.pointwiseKernel, { groups: 1 });
  }

  override computeOutputShape(inputShape: PartialShape): PartialShape {
    return this.outputShape(inputShape, this.filters);
  }
}

/** A depthwise convolution of sequences, then one that mixes features (1 wide): far fewer weights than a Conv1D of the same shapes. */
export class SeparableConv1D extends SeparableConv {
  declare static readonly fromConfig: FromConfig<SeparableConv1D>;
  constructor(
    ...args: Arguments<
      [filters: number, kernelSize: Size1D],
      ['filters', 'kernelSize'],
      SeparableConv1DOptions
    >
  ) {
    super(1, argumentsOf<SeparableConv1DArguments>(SeparableConv1D, new.target, args));
  }
}

/** A depthwise convolution, then one that mixes channels (1 × 1): far fewer weights than a Conv2D of the same shapes. */
export class SeparableConv2D extends SeparableConv {
  declare static readonly fromConfig: FromConfig<SeparableConv2D>;
  constructor(
    ...args: Arguments<
      [filters: number, kernelSize: Size2D],
      ['filters', 'kernelSize'],
      SeparableConv2DOptions
    >
  ) {
    super(2, argumentsOf<SeparableConv2DArguments>(SeparableConv2D, new.target, args));
  }
}
ownsTemporaries(DepthwiseConv, SeparableConv);

const depthwise = (rank: Rank) =>
  ({
    positional: ['kernelSize'],
    options: {
      ...windowOptions(rank),
      depthMultiplier: integer(1),
      ...orderOptions(rank),
      ...outputOptions,
      ...weights({ depthwise: 'glorotUniform', bias: 'zeros' }),
      ...lastOptions,
    },
  }) as const;
takesOptions<DepthwiseConv1DArguments, DepthwiseConv1D>(depthwise(1), DepthwiseConv1D);
takesOptions<DepthwiseConv2DArguments, DepthwiseConv2D>(depthwise(2), DepthwiseConv2D);
const separable = (rank: Rank) =>
  ({
    positional: ['filters', 'kernelSize'],
    options: {
      ...filters,
      ...windowOptions(rank),
      ...orderOptions(rank),
      depthMultiplier: integer(1),
      ...outputOptions,
      ...weights({ depthwise: 'glorotUniform', pointwise: 'glorotUniform', bias: 'zeros' }),
      ...lastOptions,
    },
  }) as const;
takesOptions<SeparableConv1DArguments, SeparableConv1D>(separable(1), SeparableConv1D);
takesOptions<SeparableConv2DArguments, SeparableConv2D>(separable(2), SeparableConv2D);
