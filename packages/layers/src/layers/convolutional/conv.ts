// Convolutions over images [batch, height, width, channels].

import { nn, type PartialShape, type Shape, type Tensor, type Variable } from '@eagre/core';
import { argumentsOf, fusedConv2d, orNull, showShape, takesOptions } from '@eagre/core/internal';
import type { ConstraintLike } from '../../constraints.ts';
import type { InitializerLike } from '../../initializers/initializers.ts';
import { type FromConfig, ownsTemporaries } from '../../layer/layer.ts';
import type { RegularizerLike } from '../../regularizers.ts';
import { checkImages, fail, plus, type Size, type Size2D, shapeOf, sizesOf, times } from '../common.ts';
import {
  activation,
  dataFormat,
  flag,
  integer,
  padding,
  pair,
  recipe,
  regularizer,
  weights,
} from '../options.ts';
import { type KernelOptions, layerOptions } from '../weights.ts';
import {
  ConvBase,
  type ConvBaseArguments,
  type ConvBaseOptions,
  type FiltersArguments,
} from './conv-base.ts';

interface DepthwiseOptions {
  /** Results for each channel; 1 by default. */
  readonly depthMultiplier?: number;
  /** `glorotUniform` by default. */
  readonly depthwiseInitializer?: InitializerLike;
  readonly depthwiseRegularizer?: RegularizerLike | null;
  readonly depthwiseConstraint?: ConstraintLike | null;
}

export interface Conv2DOptions extends ConvBaseOptions, KernelOptions {
  /** Channels are cut into that many groups, each with its own filters; 1 by default. */
  readonly groups?: number;
}
export interface Conv2DTransposeOptions extends ConvBaseOptions, KernelOptions {
  /** Pixels added to the result's end, less than the stride; what fits the padding by default. */
  readonly outputPadding?: Size2D | null;
}
export interface DepthwiseConv2DOptions extends ConvBaseOptions, DepthwiseOptions {}
export interface SeparableConv2DOptions extends ConvBaseOptions, DepthwiseOptions {
  /** `glorotUniform` by default. */
  readonly pointwiseInitializer?: InitializerLike;
  readonly pointwiseRegularizer?: RegularizerLike | null;
  readonly pointwiseConstraint?: ConstraintLike | null;
}

/** All arguments of `Conv2D`, by name. */
export type Conv2DArguments = Conv2DOptions & FiltersArguments;
/** All arguments of `Conv2DTranspose`, by name. */
export type Conv2DTransposeArguments = Conv2DTransposeOptions & FiltersArguments;
/** All arguments of `DepthwiseConv2D`, by name. */
export type DepthwiseConv2DArguments = DepthwiseConv2DOptions & ConvBaseArguments;
/** All arguments of `SeparableConv2D`, by name. */
export type SeparableConv2DArguments = SeparableConv2DOptions & FiltersArguments;

/** Convolution of images with `filters` kernels: [batch, h, w, channels] becomes [batch, h', w', filters]. */
export class Conv2D extends ConvBase {
  declare static readonly fromConfig: FromConfig<Conv2D>;
  declare readonly filters: number;
  declare readonly groups: number;
  /** [height, width, channels / groups, filters] */
  kernel!: Variable;

  constructor(
    ...args: [filters: number, kernelSize: Size2D, options?: Conv2DOptions] | [options: Conv2DArguments]
  ) {
    super(argumentsOf<Conv2DArguments>(Conv2D, new.target, args));
    if (this.filters % this.groups !== 0) {
      fail(this, `needs filters to be a multiple of groups, got ${this.filters} and ${this.groups}`);
    }
  }

  override build(inputShape: PartialShape): void {
    const channels = this.channels(inputShape);
    if (channels % this.groups !== 0) {
      fail(
        this,
        `needs channels to be a multiple of its ${this.groups} groups, got input ${showShape(inputShape)}`,
      );
    }
    this.kernel = this.addWeight({
      name: 'kernel',
      shape: [...this.kernelSize, channels / this.groups, this.filters],
      ...recipe(this, 'kernel'),
    });
    this.addBias(this.filters);
  }

  override call(inputs: Tensor): Tensor {
    return this.convolve(this.images(inputs), this.kernel, { ...this.window, groups: this.groups });
  }

  override computeOutputShape(inputShape: PartialShape): PartialShape {
    return this.outputShape(inputShape, this.filters);
  }
}

/**
 * The transposed convolution, which goes from the shape of a convolution's result back to that of its input: with `same`
 * padding [batch, h, w, channels] becomes [batch, h · stride, w · stride, filters].
 */
export class Conv2DTranspose extends ConvBase {
  declare static readonly fromConfig: FromConfig<Conv2DTranspose>;
  declare readonly filters: number;
  declare readonly outputPadding: readonly [height: number, width: number] | null;
  /** [height, width, filters, channels] */
  kernel!: Variable;

  constructor(
    ...args:
      | [filters: number, kernelSize: Size2D, options?: Conv2DTransposeOptions]
      | [options: Conv2DTransposeArguments]
  ) {
    super(argumentsOf<Conv2DTransposeArguments>(Conv2DTranspose, new.target, args));
    if (this.outputPadding?.some((p, i) => p >= this.strides[i]) ?? false) {
      fail(this, `needs outputPadding below strides [${this.strides}], got [${this.outputPadding}]`);
    }
  }

  override build(inputShape: PartialShape): void {
    const channels = this.channels(inputShape);
    this.kernel = this.addWeight({
      name: 'kernel',
      shape: [...this.kernelSize, this.filters, channels],
      ...recipe(this, 'kernel'),
    });
    this.addBias(this.filters);
  }

  override call(inputs: Tensor): Tensor {
    const x = this.images(inputs);
    const y = nn.conv2dTranspose(x, this.kernel, this.computeOutputShape(x.shape) as Shape, this.window);
    return this.finish(this.bias === null ? y : nn.biasAdd(y, this.bias));
  }

  override computeOutputShape(inputShape: PartialShape): PartialShape {
    checkImages(this, inputShape);
    const [batch, ...sizes] = sizesOf(inputShape) as [Size, Size, Size, Size];
    const size = (i: 0 | 1): Size => {
      const n = sizes[i];
      const stride = this.strides[i];
      const reach = (this.kernelSize[i] - 1) * this.dilationRate[i] + 1;
      const extra = this.outputPadding?.[i];
      if (this.padding === 'valid')
        return plus(times(n, stride), reach - stride + (extra ?? Math.max(reach, stride) - reach));
      return extra === undefined ? times(n, stride) : plus(times(n, stride), (reach % 2) - stride + extra);
    };
    return shapeOf([batch, size(0), size(1), this.filters]);
  }
}

/** Each channel convolved with its own kernels: [batch, h, w, c] becomes [batch, h', w', c · depthMultiplier]. */
export class DepthwiseConv2D extends ConvBase {
  declare static readonly fromConfig: FromConfig<DepthwiseConv2D>;
  declare readonly depthMultiplier: number;
  /** [height, width, channels, depthMultiplier] */
  kernel!: Variable;

  constructor(...args: [kernelSize: Size2D | DepthwiseConv2DArguments, options?: DepthwiseConv2DOptions]) {
    super(argumentsOf<DepthwiseConv2DArguments>(DepthwiseConv2D, new.target, args));
  }

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
    const x = this.images(inputs);
    return this.convolve(x, grouped(this.kernel), { ...this.window, groups: this.kernel.shape[2] });
  }

  override computeOutputShape(inputShape: PartialShape): PartialShape {
    checkImages(this, inputShape);
    const channels = sizesOf(inputShape)[3];
    return this.outputShape(inputShape, times(channels, this.depthMultiplier));
  }
}

/** A depthwise convolution, then one that mixes channels (1 × 1): far fewer weights than a Conv2D of the same shapes. */
export class SeparableConv2D extends ConvBase {
  declare static readonly fromConfig: FromConfig<SeparableConv2D>;
  declare readonly filters: number;
  declare readonly depthMultiplier: number;
  /** [height, width, channels, depthMultiplier] */
  depthwiseKernel!: Variable;
  /** [1, 1, channels · depthMultiplier, filters] */
  pointwiseKernel!: Variable;

  constructor(
    ...args:
      | [filters: number, kernelSize: Size2D, options?: SeparableConv2DOptions]
      | [options: SeparableConv2DArguments]
  ) {
    super(argumentsOf<SeparableConv2DArguments>(SeparableConv2D, new.target, args));
  }

  override build(inputShape: PartialShape): void {
    const channels = this.channels(inputShape);
    this.depthwiseKernel = this.addWeight({
      name: 'depthwise_kernel',
      shape: [...this.kernelSize, channels, this.depthMultiplier],
      ...recipe(this, 'depthwise'),
    });
    this.pointwiseKernel = this.addWeight({
      name: 'pointwise_kernel',
      shape: [1, 1, channels * this.depthMultiplier, this.filters],
      ...recipe(this, 'pointwise'),
    });
    this.addBias(this.filters);
  }

  override call(inputs: Tensor): Tensor {
    const x = this.images(inputs);
    const each = fusedConv2d(x, grouped(this.depthwiseKernel), null, {
      ...this.window,
      groups: this.depthwiseKernel.shape[2],
    });
    return this.convolve(each, this.pointwiseKernel, { groups: 1 });
  }

  override computeOutputShape(inputShape: PartialShape): PartialShape {
    return this.outputShape(inputShape, this.filters);
  }
}
ownsTemporaries(Conv2D, Conv2DTranspose, DepthwiseConv2D, SeparableConv2D);

const filters = { filters: integer() } as const;
const window = { kernelSize: pair(), strides: pair(1), padding } as const;
const order = { dataFormat, dilationRate: pair(1) } as const;
const output = { activation: activation('linear'), useBias: flag(true) } as const;
const last = { activityRegularizer: regularizer, ...layerOptions } as const;
takesOptions<Conv2DArguments, Conv2D>(
  {
    positional: ['filters', 'kernelSize'],
    options: {
      ...filters,
      ...window,
      ...order,
      groups: integer(1),
      ...output,
      ...weights({ kernel: 'glorotUniform', bias: 'zeros' }),
      ...last,
    },
  },
  Conv2D,
);
takesOptions<Conv2DTransposeArguments, Conv2DTranspose>(
  {
    positional: ['filters', 'kernelSize'],
    options: {
      ...filters,
      ...window,
      outputPadding: orNull(pair(undefined, 0)),
      ...order,
      ...output,
      ...weights({ kernel: 'glorotUniform', bias: 'zeros' }),
      ...last,
    },
  },
  Conv2DTranspose,
);
takesOptions<DepthwiseConv2DArguments, DepthwiseConv2D>(
  {
    positional: ['kernelSize'],
    options: {
      ...window,
      depthMultiplier: integer(1),
      ...order,
      ...output,
      ...weights({ depthwise: 'glorotUniform', bias: 'zeros' }),
      ...last,
    },
  },
  DepthwiseConv2D,
);
takesOptions<SeparableConv2DArguments, SeparableConv2D>(
  {
    positional: ['filters', 'kernelSize'],
    options: {
      ...filters,
      ...window,
      ...order,
      depthMultiplier: integer(1),
      ...output,
      ...weights({ depthwise: 'glorotUniform', pointwise: 'glorotUniform', bias: 'zeros' }),
      ...last,
    },
  },
  SeparableConv2D,
);

/** [height, width, c, m] as a kernel of c groups. */
function grouped(kernel: Variable): Tensor {
  const [h, w, c, m] = kernel.shape;
  return kernel.reshape([h, w, 1, c * m]);
}
