// Convolutions over images [batch, height, width, channels].
import { nn, type PartialShape, type Shape, type Tensor, type Variable } from '@eagre/core';
import { argumentsOf, fusedConv2d, showShape, takesArguments } from '@eagre/core/internal';
import type { ConstraintLike } from '../constraints.ts';
import type { InitializerLike } from '../initializers.ts';
import { builtin } from '../layer.ts';
import type { RegularizerLike } from '../regularizers.ts';
import {
  type Config,
  checkImages,
  checkInteger,
  checkPair,
  fail,
  plus,
  type Size,
  type Size2D,
  shapeOf,
  sizesOf,
  times,
} from './common.ts';
import {
  ConvBase,
  type ConvBaseArguments,
  type ConvBaseOptions,
  type FiltersArguments,
} from './conv-base.ts';
import { type KernelOptions, layerOptions, recipe, recipeOptions, weightNames } from './weights.ts';

interface DepthwiseOptions {
  /** Results for each channel; 1 unless said. */
  readonly depthMultiplier?: number;
  /** `glorotUniform` unless said. */
  readonly depthwiseInitializer?: InitializerLike;
  readonly depthwiseRegularizer?: RegularizerLike | null;
  readonly depthwiseConstraint?: ConstraintLike | null;
}

export interface Conv2DOptions extends ConvBaseOptions, KernelOptions {
  /** Channels are cut into that many groups, each with its own filters; 1 unless said. */
  readonly groups?: number;
}
export interface Conv2DTransposeOptions extends ConvBaseOptions, KernelOptions {
  /** Pixels added to the result's end, less than the stride; what fits the padding unless said. */
  readonly outputPadding?: Size2D | null;
}
export interface DepthwiseConv2DOptions extends ConvBaseOptions, DepthwiseOptions {}
export interface SeparableConv2DOptions extends ConvBaseOptions, DepthwiseOptions {
  /** `glorotUniform` unless said. */
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
  readonly filters: number;
  readonly groups: number;
  /** [height, width, channels / groups, filters] */
  kernel!: Variable;
  readonly #recipes;

  constructor(
    ...args: [filters: number, kernelSize: Size2D, options?: Conv2DOptions] | [options: Conv2DArguments]
  ) {
    const options = argumentsOf<Conv2DArguments>(Conv2D, new.target, args);
    super(options);
    this.filters = checkInteger(this, 'filters', options.filters);
    this.groups = checkInteger(this, 'groups', options.groups ?? 1);
    if (this.filters % this.groups !== 0) {
      fail(this, `needs filters to be a multiple of groups, got ${this.filters} and ${this.groups}`);
    }
    this.#recipes = { kernel: recipe('kernel', options, 'glorotUniform') };
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
      ...this.#recipes.kernel,
    });
    this.addBias(this.filters);
  }

  override call(inputs: Tensor): Tensor {
    return this.convolve(this.images(inputs), this.kernel, { ...this.window, groups: this.groups });
  }

  override computeOutputShape(inputShape: PartialShape): PartialShape {
    return this.outputShape(inputShape, this.filters);
  }

  override getConfig(): Record<string, unknown> {
    return {
      ...super.getConfig(),
      filters: this.filters,
      groups: this.groups,
      ...recipeOptions(this.#recipes),
    };
  }
  static override fromConfig({ filters, kernelSize, ...options }: Config): Conv2D {
    return new Conv2D(filters as number, kernelSize as Size2D, options);
  }
}

/**
 * The transposed convolution, which goes from the shape of a convolution's result back to that of its input: with `same`
 * padding [batch, h, w, channels] becomes [batch, h · stride, w · stride, filters].
 */
export class Conv2DTranspose extends ConvBase {
  readonly filters: number;
  readonly outputPadding: readonly [height: number, width: number] | null;
  /** [height, width, filters, channels] */
  kernel!: Variable;
  readonly #recipes;

  constructor(
    ...args:
      | [filters: number, kernelSize: Size2D, options?: Conv2DTransposeOptions]
      | [options: Conv2DTransposeArguments]
  ) {
    const options = argumentsOf<Conv2DTransposeArguments>(Conv2DTranspose, new.target, args);
    super(options);
    this.filters = checkInteger(this, 'filters', options.filters);
    const { outputPadding = null } = options;
    this.outputPadding = outputPadding === null ? null : checkPair(this, 'outputPadding', outputPadding, 0);
    if (this.outputPadding?.some((p, i) => p >= this.strides[i]) ?? false) {
      fail(this, `needs outputPadding below strides [${this.strides}], got [${this.outputPadding}]`);
    }
    this.#recipes = { kernel: recipe('kernel', options, 'glorotUniform') };
  }

  override build(inputShape: PartialShape): void {
    const channels = this.channels(inputShape);
    this.kernel = this.addWeight({
      name: 'kernel',
      shape: [...this.kernelSize, this.filters, channels],
      ...this.#recipes.kernel,
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
      const n = sizes[i] as Size;
      const stride = this.strides[i];
      const reach = (this.kernelSize[i] - 1) * this.dilationRate[i] + 1;
      const extra = this.outputPadding?.[i];
      if (this.padding === 'valid')
        return plus(times(n, stride), reach - stride + (extra ?? Math.max(reach, stride) - reach));
      return extra === undefined ? times(n, stride) : plus(times(n, stride), (reach % 2) - stride + extra);
    };
    return shapeOf([batch, size(0), size(1), this.filters]);
  }

  override getConfig(): Record<string, unknown> {
    return {
      ...super.getConfig(),
      filters: this.filters,
      outputPadding: this.outputPadding,
      ...recipeOptions(this.#recipes),
    };
  }
  static override fromConfig({ filters, kernelSize, ...options }: Config): Conv2DTranspose {
    return new Conv2DTranspose(filters as number, kernelSize as Size2D, options);
  }
}

/** Each channel convolved with its own kernels: [batch, h, w, c] becomes [batch, h', w', c · depthMultiplier]. */
export class DepthwiseConv2D extends ConvBase {
  readonly depthMultiplier: number;
  /** [height, width, channels, depthMultiplier] */
  kernel!: Variable;
  readonly #recipes;

  constructor(kernelSize: Size2D | DepthwiseConv2DArguments, options?: DepthwiseConv2DOptions);
  constructor(...args: readonly unknown[]) {
    const options = argumentsOf<DepthwiseConv2DArguments>(DepthwiseConv2D, new.target, args);
    super(options);
    this.depthMultiplier = checkInteger(this, 'depthMultiplier', options.depthMultiplier ?? 1);
    this.#recipes = { depthwise: recipe('depthwise', options, 'glorotUniform') };
  }

  override build(inputShape: PartialShape): void {
    const channels = this.channels(inputShape);
    this.kernel = this.addWeight({
      name: 'kernel',
      shape: [...this.kernelSize, channels, this.depthMultiplier],
      ...this.#recipes.depthwise,
    });
    this.addBias(channels * this.depthMultiplier);
  }

  override call(inputs: Tensor): Tensor {
    const x = this.images(inputs);
    return this.convolve(x, grouped(this.kernel), { ...this.window, groups: this.kernel.shape[2] });
  }

  override computeOutputShape(inputShape: PartialShape): PartialShape {
    checkImages(this, inputShape);
    const channels = sizesOf(inputShape)[3] as Size;
    return this.outputShape(inputShape, times(channels, this.depthMultiplier));
  }

  override getConfig(): Record<string, unknown> {
    return { ...super.getConfig(), depthMultiplier: this.depthMultiplier, ...recipeOptions(this.#recipes) };
  }
  static override fromConfig({ kernelSize, ...options }: Config): DepthwiseConv2D {
    return new DepthwiseConv2D(kernelSize as Size2D, options);
  }
}

/** A depthwise convolution, then one that mixes channels (1 × 1): far fewer weights than a Conv2D of the same shapes. */
export class SeparableConv2D extends ConvBase {
  readonly filters: number;
  readonly depthMultiplier: number;
  /** [height, width, channels, depthMultiplier] */
  depthwiseKernel!: Variable;
  /** [1, 1, channels · depthMultiplier, filters] */
  pointwiseKernel!: Variable;
  readonly #recipes;

  constructor(
    ...args:
      | [filters: number, kernelSize: Size2D, options?: SeparableConv2DOptions]
      | [options: SeparableConv2DArguments]
  ) {
    const options = argumentsOf<SeparableConv2DArguments>(SeparableConv2D, new.target, args);
    super(options);
    this.filters = checkInteger(this, 'filters', options.filters);
    this.depthMultiplier = checkInteger(this, 'depthMultiplier', options.depthMultiplier ?? 1);
    this.#recipes = {
      depthwise: recipe('depthwise', options, 'glorotUniform'),
      pointwise: recipe('pointwise', options, 'glorotUniform'),
    };
  }

  override build(inputShape: PartialShape): void {
    const channels = this.channels(inputShape);
    this.depthwiseKernel = this.addWeight({
      name: 'depthwise_kernel',
      shape: [...this.kernelSize, channels, this.depthMultiplier],
      ...this.#recipes.depthwise,
    });
    this.pointwiseKernel = this.addWeight({
      name: 'pointwise_kernel',
      shape: [1, 1, channels * this.depthMultiplier, this.filters],
      ...this.#recipes.pointwise,
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

  override getConfig(): Record<string, unknown> {
    return {
      ...super.getConfig(),
      filters: this.filters,
      depthMultiplier: this.depthMultiplier,
      ...recipeOptions(this.#recipes),
    };
  }
  static override fromConfig({ filters, kernelSize, ...options }: Config): SeparableConv2D {
    return new SeparableConv2D(filters as number, kernelSize as Size2D, options);
  }
}
builtin(Conv2D, Conv2DTranspose, DepthwiseConv2D, SeparableConv2D);

const first = { filters: true, kernelSize: true, strides: true, padding: true } as const;
const output = { activation: true, useBias: true } as const;
const last = { activityRegularizer: true, ...layerOptions } as const;
takesArguments<Conv2DArguments>(
  {
    positional: ['filters', 'kernelSize'],
    names: {
      ...first,
      dataFormat: true,
      dilationRate: true,
      groups: true,
      ...output,
      ...weightNames('kernel', 'bias'),
      ...last,
    },
  },
  Conv2D,
);
takesArguments<Conv2DTransposeArguments>(
  {
    positional: ['filters', 'kernelSize'],
    names: {
      ...first,
      outputPadding: true,
      dataFormat: true,
      dilationRate: true,
      ...output,
      ...weightNames('kernel', 'bias'),
      ...last,
    },
  },
  Conv2DTranspose,
);
takesArguments<DepthwiseConv2DArguments>(
  {
    positional: ['kernelSize'],
    names: {
      kernelSize: true,
      strides: true,
      padding: true,
      depthMultiplier: true,
      dataFormat: true,
      dilationRate: true,
      ...output,
      ...weightNames('depthwise', 'bias'),
      ...last,
    },
  },
  DepthwiseConv2D,
);
takesArguments<SeparableConv2DArguments>(
  {
    positional: ['filters', 'kernelSize'],
    names: {
      ...first,
      dataFormat: true,
      dilationRate: true,
      depthMultiplier: true,
      ...output,
      ...weightNames('depthwise', 'pointwise', 'bias'),
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
