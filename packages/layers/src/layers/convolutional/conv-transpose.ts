// Transposed convolutions over sequences, images and volumes.
import { nn, type PartialShape, type Shape, type Tensor, type Variable } from '@eagre/core';
import { type Arguments, argumentsOf, orNull, takesOptions } from '@eagre/core/internal';
import { type FromConfig, ownsTemporaries } from '../../layer/layer.ts';
import { fail, plus, type Size, shapeOf, times } from '../common.ts';
import { recipe, sizes, weights } from '../options.ts';
import type { Rank, Size1D, Size2D, Size3D, Sizes, SpatialOptions } from '../spatial.ts';
import type { KernelOptions } from '../weights.ts';
import {
  ConvBase,
  type ConvBaseOptions,
  type FiltersArguments,
  filters,
  lastOptions,
  orderOptions,
  outputOptions,
  windowOptions,
} from './conv-base.ts';

interface ConvTransposeOptions<S extends Sizes> extends ConvBaseOptions<S>, KernelOptions {
  /** Added to the result's end, less than the stride; what fits the padding by default. */
  readonly outputPadding?: S | null;
}
/** Options of `Conv1DTranspose`. */
export interface Conv1DTransposeOptions extends ConvTransposeOptions<Size1D> {}
/** Options of `Conv2DTranspose`. */
export interface Conv2DTransposeOptions extends ConvTransposeOptions<Size2D> {}
/** Options of `Conv3DTranspose`. */
export interface Conv3DTransposeOptions extends ConvTransposeOptions<Size3D> {}

/** All arguments of `Conv1DTranspose`, by name. */
export type Conv1DTransposeArguments = Conv1DTransposeOptions & FiltersArguments<Size1D>;
/** All arguments of `Conv2DTranspose`, by name. */
export type Conv2DTransposeArguments = Conv2DTransposeOptions & FiltersArguments<Size2D>;
/** All arguments of `Conv3DTranspose`, by name. */
export type Conv3DTransposeArguments = Conv3DTransposeOptions & FiltersArguments<Size3D>;

abstract class ConvTranspose extends ConvBase {
  /** Channels of the result. */
  declare readonly filters: number;
  /** Added to the result's end, less than the stride. */
  declare readonly outputPadding: readonly number[] | null;
  /** [directions…, filters, channels] */
  kernel!: Variable;

  constructor(rank: Rank, options: SpatialOptions) {
    super(rank, options);
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
    const x = this.given(inputs);
    const shape = this.#sizes(this.sizes(inputs.shape));
    const y = nn.convTranspose(x, this.kernel, shapeOf(shape) as Shape, this.window);
    return this.finish(this.bias === null ? y : nn.biasAdd(y, this.bias));
  }

  override computeOutputShape(inputShape: PartialShape): PartialShape {
    this.check(inputShape);
    return this.ofSizes(this.#sizes(this.sizes(inputShape)));
  }

  #sizes([batch, ...own]: readonly Size[]): readonly Size[] {
    const results = this.kernelSize.map((window, i) => {
      const stride = this.strides[i];
      const reach = (window - 1) * this.dilationRate[i] + 1;
      const extra = this.outputPadding?.[i];
      const size = times(own[i], stride);
      if (this.padding === 'valid')
        return plus(size, reach - stride + (extra ?? Math.max(reach, stride) - reach));
      return extra === undefined ? size : plus(size, (reach % 2) - stride + extra);
    });
    return [batch, ...results, this.filters];
  }
}

/**
 * The transposed convolution of sequences, which goes from the shape of a convolution's result back to that of its input: with `same`
 * padding [batch, steps, features] becomes [batch, steps · stride, filters].
 */
export class Conv1DTranspose extends ConvTranspose {
  declare static readonly fromConfig: FromConfig<Conv1DTranspose>;
  constructor(
    ...args: Arguments<
      [filters: number, kernelSize: Size1D],
      ['filters', 'kernelSize'],
      Conv1DTransposeOptions
    >
  ) {
    super(1, argumentsOf<Conv1DTransposeArguments>(Conv1DTranspose, new.target, args));
  }
}

/**
 * The transposed convolution, which goes from the shape of a convolution's result back to that of its input: with `same`
 * padding [batch, h, w, channels] becomes [batch, h · stride, w · stride, filters].
 */
export class Conv2DTranspose extends ConvTranspose {
  declare static readonly fromConfig: FromConfig<Conv2DTranspose>;
  constructor(
    ...args: Arguments<
      [filters: number, kernelSize: Size2D],
      ['filters', 'kernelSize'],
      Conv2DTransposeOptions
    >
  ) {
    super(2, argumentsOf<Conv2DTransposeArguments>(Conv2DTranspose, new.target, args));
  }
}

/**
 * The transposed convolution of volumes: with `same` padding [batch, d, h, w, channels] becomes
 * [batch, d · stride, h · stride, w · stride, filters].
 */
export class Conv3DTranspose extends ConvTranspose {
  declare static readonly fromConfig: FromConfig<Conv3DTranspose>;
  constructor(
    ...args: Arguments<
      [filters: number, kernelSize: Size3D],
      ['filters', 'kernelSize'],
      Conv3DTransposeOptions
    >
  ) {
    super(3, argumentsOf<Conv3DTransposeArguments>(Conv3DTranspose, new.target, args));
  }
}
ownsTemporaries(ConvTranspose);

const schema = (rank: Rank) =>
  ({
    positional: ['filters', 'kernelSize'],
    options: {
      ...filters,
      ...windowOptions(rank),
      outputPadding: orNull(sizes(rank, undefined, 0)),
      ...orderOptions(rank),
      ...outputOptions,
      ...weights({ kernel: 'glorotUniform', bias: 'zeros' }),
      ...lastOptions,
    },
  }) as const;
takesOptions<Conv1DTransposeArguments, Conv1DTranspose>(schema(1), Conv1DTranspose);
takesOptions<Conv2DTransposeArguments, Conv2DTranspose>(schema(2), Conv2DTranspose);
takesOptions<Conv3DTransposeArguments, Conv3DTranspose>(schema(3), Conv3DTranspose);
