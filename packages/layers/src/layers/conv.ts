// Convolutions over images [batch, height, width, channels].
import { nn, type PartialShape, type Shape, type Tensor, type Variable } from '@eagre/core';
import { fusedConv2d, showShape } from '@eagre/core/internal';
import type { Activation, ActivationLike } from '../activations.ts';
import type { ConstraintLike } from '../constraints.ts';
import type { InitializerLike } from '../initializers.ts';
import { builtin, Layer, type LayerOptions } from '../layer.ts';
import type { Regularizer, RegularizerLike } from '../regularizers.ts';
import {
  activationConfig,
  applyActivation,
  type Config,
  checkDataFormat,
  checkImages,
  checkInteger,
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
  type Size2D,
  windowed,
} from './common.ts';

/** Options of every convolution. */
export interface ConvBaseOptions extends LayerOptions {
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
  /** True unless said. */
  readonly useBias?: boolean;
  /** `zeros` unless said. */
  readonly biasInitializer?: InitializerLike;
  readonly biasRegularizer?: RegularizerLike | null;
  readonly biasConstraint?: ConstraintLike | null;
  /** A penalty on the output, per example. */
  readonly activityRegularizer?: RegularizerLike | null;
}

interface KernelOptions {
  /** `glorotUniform` unless said. */
  readonly kernelInitializer?: InitializerLike;
  readonly kernelRegularizer?: RegularizerLike | null;
  readonly kernelConstraint?: ConstraintLike | null;
}

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

/** What all convolutions share. */
abstract class ConvBase extends Layer {
  readonly kernelSize: readonly [height: number, width: number];
  readonly strides: readonly [height: number, width: number];
  readonly padding: Padding;
  readonly dilationRate: readonly [height: number, width: number];
  readonly activation: Activation;
  readonly useBias: boolean;
  /** One for each channel of the result, or null without a bias. */
  bias: Variable | null = null;
  readonly #options;
  readonly #penalty: Regularizer | undefined;
  #channels: number | undefined;

  constructor(kernelSize: Size2D, options: ConvBaseOptions) {
    super(options);
    this.kernelSize = checkPair(this, 'kernelSize', kernelSize);
    this.strides = checkPair(this, 'strides', options.strides ?? 1);
    this.padding = checkPadding(this, options.padding ?? 'valid');
    this.dilationRate = checkPair(this, 'dilationRate', options.dilationRate ?? 1);
    checkDataFormat(this, options.dataFormat);
    if (Math.max(...this.strides) > 1 && Math.max(...this.dilationRate) > 1) {
      fail(this, `cannot have strides [${this.strides}] and dilationRate [${this.dilationRate}] together`);
    }
    this.activation = resolveActivation(options.activation);
    this.useBias = options.useBias ?? true;
    this.#options = {
      biasInitializer: options.biasInitializer ?? 'zeros',
      biasRegularizer: options.biasRegularizer ?? null,
      biasConstraint: options.biasConstraint ?? null,
      activityRegularizer: options.activityRegularizer ?? null,
    };
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
    const o = this.#options;
    this.bias = this.addWeight({
      name: 'bias',
      shape: [size],
      initializer: o.biasInitializer,
      regularizer: o.biasRegularizer,
      constraint: o.biasConstraint,
    });
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

  protected outputShape(inputShape: PartialShape, filters: number | null): PartialShape {
    checkImages(this, inputShape, this.#channels);
    const size = (i: 0 | 1): number | null =>
      windowed(
        this,
        inputShape[i + 1],
        this.kernelSize[i],
        this.strides[i],
        this.padding,
        this.dilationRate[i],
      );
    return [inputShape[0], size(0), size(1), filters];
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
      ...this.#options,
    };
  }
}

/** Convolution of images with `filters` kernels: [batch, h, w, channels] becomes [batch, h', w', filters]. */
export class Conv2D extends ConvBase {
  readonly filters: number;
  readonly groups: number;
  /** [height, width, channels / groups, filters] */
  kernel!: Variable;
  readonly #options;

  constructor(filters: number, kernelSize: Size2D, options: Conv2DOptions = {}) {
    super(kernelSize, options);
    this.filters = checkInteger(this, 'filters', filters);
    this.groups = checkInteger(this, 'groups', options.groups ?? 1);
    if (filters % this.groups !== 0) {
      fail(this, `needs filters to be a multiple of groups, got ${filters} and ${this.groups}`);
    }
    this.#options = kernelOptions(options);
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
      initializer: this.#options.kernelInitializer,
      regularizer: this.#options.kernelRegularizer,
      constraint: this.#options.kernelConstraint,
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
    return { ...super.getConfig(), filters: this.filters, groups: this.groups, ...this.#options };
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
  readonly #options;

  constructor(filters: number, kernelSize: Size2D, options: Conv2DTransposeOptions = {}) {
    super(kernelSize, options);
    this.filters = checkInteger(this, 'filters', filters);
    const { outputPadding = null } = options;
    this.outputPadding = outputPadding === null ? null : checkPair(this, 'outputPadding', outputPadding, 0);
    if (this.outputPadding?.some((p, i) => p >= this.strides[i]) ?? false) {
      fail(this, `needs outputPadding below strides [${this.strides}], got [${this.outputPadding}]`);
    }
    this.#options = kernelOptions(options);
  }

  override build(inputShape: PartialShape): void {
    const channels = this.channels(inputShape);
    this.kernel = this.addWeight({
      name: 'kernel',
      shape: [...this.kernelSize, this.filters, channels],
      initializer: this.#options.kernelInitializer,
      regularizer: this.#options.kernelRegularizer,
      constraint: this.#options.kernelConstraint,
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
    const size = (i: 0 | 1): number | null => {
      const n = inputShape[i + 1];
      if (n === null) return null;
      const stride = this.strides[i];
      const reach = (this.kernelSize[i] - 1) * this.dilationRate[i] + 1;
      const extra = this.outputPadding?.[i];
      if (this.padding === 'valid')
        return (n - 1) * stride + reach + (extra ?? Math.max(reach, stride) - reach);
      return extra === undefined ? n * stride : (n - 1) * stride + (reach % 2) + extra;
    };
    return [inputShape[0], size(0), size(1), this.filters];
  }

  override getConfig(): Record<string, unknown> {
    return {
      ...super.getConfig(),
      filters: this.filters,
      outputPadding: this.outputPadding,
      ...this.#options,
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
  readonly #options;

  constructor(kernelSize: Size2D, options: DepthwiseConv2DOptions = {}) {
    super(kernelSize, options);
    this.depthMultiplier = checkInteger(this, 'depthMultiplier', options.depthMultiplier ?? 1);
    this.#options = depthwiseOptions(options);
  }

  override build(inputShape: PartialShape): void {
    const channels = this.channels(inputShape);
    this.kernel = this.addWeight({
      name: 'kernel',
      shape: [...this.kernelSize, channels, this.depthMultiplier],
      initializer: this.#options.depthwiseInitializer,
      regularizer: this.#options.depthwiseRegularizer,
      constraint: this.#options.depthwiseConstraint,
    });
    this.addBias(channels * this.depthMultiplier);
  }

  override call(inputs: Tensor): Tensor {
    const x = this.images(inputs);
    return this.convolve(x, grouped(this.kernel), { ...this.window, groups: x.shape[3] });
  }

  override computeOutputShape(inputShape: PartialShape): PartialShape {
    checkImages(this, inputShape);
    const channels = inputShape[3];
    return this.outputShape(inputShape, channels === null ? null : channels * this.depthMultiplier);
  }

  override getConfig(): Record<string, unknown> {
    return { ...super.getConfig(), depthMultiplier: this.depthMultiplier, ...this.#options };
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
  readonly #options;

  constructor(filters: number, kernelSize: Size2D, options: SeparableConv2DOptions = {}) {
    super(kernelSize, options);
    this.filters = checkInteger(this, 'filters', filters);
    this.depthMultiplier = checkInteger(this, 'depthMultiplier', options.depthMultiplier ?? 1);
    this.#options = {
      ...depthwiseOptions(options),
      pointwiseInitializer: options.pointwiseInitializer ?? 'glorotUniform',
      pointwiseRegularizer: options.pointwiseRegularizer ?? null,
      pointwiseConstraint: options.pointwiseConstraint ?? null,
    };
  }

  override build(inputShape: PartialShape): void {
    const channels = this.channels(inputShape);
    this.depthwiseKernel = this.addWeight({
      name: 'depthwise_kernel',
      shape: [...this.kernelSize, channels, this.depthMultiplier],
      initializer: this.#options.depthwiseInitializer,
      regularizer: this.#options.depthwiseRegularizer,
      constraint: this.#options.depthwiseConstraint,
    });
    this.pointwiseKernel = this.addWeight({
      name: 'pointwise_kernel',
      shape: [1, 1, channels * this.depthMultiplier, this.filters],
      initializer: this.#options.pointwiseInitializer,
      regularizer: this.#options.pointwiseRegularizer,
      constraint: this.#options.pointwiseConstraint,
    });
    this.addBias(this.filters);
  }

  override call(inputs: Tensor): Tensor {
    const x = this.images(inputs);
    const each = fusedConv2d(x, grouped(this.depthwiseKernel), null, { ...this.window, groups: x.shape[3] });
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
      ...this.#options,
    };
  }
  static override fromConfig({ filters, kernelSize, ...options }: Config): SeparableConv2D {
    return new SeparableConv2D(filters as number, kernelSize as Size2D, options);
  }
}
builtin(Conv2D, Conv2DTranspose, DepthwiseConv2D, SeparableConv2D);

/** [height, width, c, m] as a kernel of c groups. */
function grouped(kernel: Variable): Tensor {
  const [h, w, c, m] = kernel.shape;
  return kernel.reshape([h, w, 1, c * m]);
}

function kernelOptions(options: KernelOptions): {
  kernelInitializer: InitializerLike;
  kernelRegularizer: RegularizerLike | null;
  kernelConstraint: ConstraintLike | null;
} {
  return {
    kernelInitializer: options.kernelInitializer ?? 'glorotUniform',
    kernelRegularizer: options.kernelRegularizer ?? null,
    kernelConstraint: options.kernelConstraint ?? null,
  };
}

function depthwiseOptions(options: DepthwiseOptions): {
  depthwiseInitializer: InitializerLike;
  depthwiseRegularizer: RegularizerLike | null;
  depthwiseConstraint: ConstraintLike | null;
} {
  return {
    depthwiseInitializer: options.depthwiseInitializer ?? 'glorotUniform',
    depthwiseRegularizer: options.depthwiseRegularizer ?? null,
    depthwiseConstraint: options.depthwiseConstraint ?? null,
  };
}
