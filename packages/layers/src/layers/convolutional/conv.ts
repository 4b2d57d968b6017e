// Convolutions over sequences, images and volumes.
import type { PartialShape, Tensor, TensorLike, Variable } from '@eagre/core';
import {
  type Arguments,
  argumentsOf,
  defineMethods,
  fusedConvolution,
  showShape,
  takesOptions,
  toTensor,
} from '@eagre/core/internal';
import { type FromConfig, ownsTemporaries } from '../../layer/layer.ts';
import { fail, type Padding } from '../common.ts';
import {
  addLora,
  baseOf,
  checkLora,
  forgetLora,
  type LoraOptions,
  loraOf,
  loraOptionNames,
  type OwnLoraOptions,
  ownLoraOptions,
  saveWithLora,
} from '../core/lora.ts';
import { causalPadding, integer, recipe, weights } from '../options.ts';
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

interface ConvOptions<S extends Sizes> extends ConvBaseOptions<S>, KernelOptions, OwnLoraOptions {
  /** Channels are cut into that many groups, each with its own filters; 1 by default. */
  readonly groups?: number;
}
/** Options of `Conv1D`. */
export interface Conv1DOptions extends Omit<ConvOptions<Size1D>, 'padding'> {
  /** `valid` (no padding) by default; `causal` pads the beginning, so that no step sees a later one. */
  readonly padding?: Padding | 'causal';
}
/** Options of `Conv2D`. */
export interface Conv2DOptions extends ConvOptions<Size2D> {}
/** Options of `Conv3D`. */
export interface Conv3DOptions extends ConvOptions<Size3D> {}

/** All arguments of `Conv1D`, by name. */
export type Conv1DArguments = Conv1DOptions & FiltersArguments<Size1D>;
/** All arguments of `Conv2D`, by name. */
export type Conv2DArguments = Conv2DOptions & FiltersArguments<Size2D>;
/** All arguments of `Conv3D`, by name. */
export type Conv3DArguments = Conv3DOptions & FiltersArguments<Size3D>;

abstract class Conv extends ConvBase {
  /** Channels of the result. */
  declare readonly filters: number;
  /** Channels are cut into that many groups, each with its own filters. */
  declare readonly groups: number;
  /** Trains two matrices of this rank instead of the large one, as `enableLora` does. */
  declare readonly loraRank: number | null;
  declare readonly loraAlpha: number | null;
  /** [directions…, channels / groups, filters]. After `enableLora` the sum of both, which cannot be assigned to. */
  kernel!: Variable;
  /** After `enableLora`: [directions…, channels / groups, rank] and [rank, filters]. */
  declare readonly loraKernelA?: Variable;
  declare readonly loraKernelB?: Variable;

  constructor(rank: Rank, options: SpatialOptions) {
    super(rank, options);
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
    if (this.loraRank !== null) this.#addLora(this.loraRank, { loraAlpha: this.loraAlpha });
  }

  /**
   * The convolution alone, without bias and activation. A class of one's own may compute another one here, of a kernel whose mean and deviation
   * are taken off, say.
   */
  convolutionOp(inputs: Tensor, kernel: Tensor | Variable): Tensor {
    const options = { ...this.window, groups: this.groups, activation: 0 as const };
    return this.inFormat(fusedConvolution(this.channelsLast(toTensor(inputs)), kernel, null, options));
  }

  override call(inputs: Tensor): Tensor {
    if (this.convolutionOp !== ownConvolution) return this.#ofOther(inputs);
    return this.convolve(this.given(inputs), this.kernel, { ...this.window, groups: this.groups });
  }

  /** By the `convolutionOp` of a class of one's own. */
  #ofOther(inputs: Tensor): Tensor {
    const y = this.convolutionOp(this.inFormat(this.given(inputs)), this.kernel);
    const last = this.channelsLast(y);
    return this.finish(this.bias === null ? last : last.add(this.bias));
  }

  override computeOutputShape(inputShape: PartialShape): PartialShape {
    return this.outputShape(inputShape, this.filters);
  }

  /** Whether two small matrices are trained instead of the kernel. */
  get loraEnabled(): boolean {
    return loraOf(this) !== null;
  }
  /**
   * Freezes the kernel, and trains two small ones whose product, times `loraAlpha / rank`, is added to it (Hu and others, "LoRA", 2021).
   * Compile a model anew behind it.
   * @throws FailedPreconditionError before the layer is built and a second time, InvalidArgumentError for a kernel with a constraint.
   */
  enableLora(rank: number, options?: LoraOptions | null): void;
  enableLora(
    options: {
      /** How many columns the small matrices have, from 1 on. */
      readonly rank: number;
    } & LoraOptions,
  ): void;
  enableLora(rank: unknown, options?: LoraOptions | null): void {
    this.#addLora(checkLora(this, rank), options ?? {});
  }
  #addLora(rank: number, options: LoraOptions): void {
    const { shape } = this.kernel;
    addLora(this, rank, options, { name: 'kernel', shape, floats: (base) => base.read() });
  }
  /** @internal As Keras's files have them: without what LoRA adds. */
  override get fileVariables(): Variable[] {
    const own = super.fileVariables;
    const lora = loraOf(this);
    const base = baseOf(this, 'kernel');
    if (lora === null || base === undefined) return own;
    return [base, ...own.filter((v) => v !== base && v !== lora.a && v !== lora.b)];
  }
  /** What LoRA adds becomes part of the kernel, as in Keras. */
  override saveOwnVariables(
    store:
      | Record<string, TensorLike>
      | {
          /** Where the copies are put: an object, mostly an empty one. */
          readonly store: Record<string, TensorLike>;
        },
  ): void {
    super.saveOwnVariables(store);
    saveWithLora(this, 'kernel', store);
  }
  /** @internal */
  override finishLoading(): void {
    forgetLora(this);
  }
}
const ownConvolution = Conv.prototype.convolutionOp;
defineMethods(Conv.prototype, 'Conv', {
  enableLora: { positional: ['rank'], options: loraOptionNames, called: 'enableLora' },
});

/** Convolution of sequences with `filters` kernels: [batch, steps, features] becomes [batch, steps', filters]. */
export class Conv1D extends Conv {
  declare static readonly fromConfig: FromConfig<Conv1D>;
  constructor(
    ...args: Arguments<[filters: number, kernelSize: Size1D], ['filters', 'kernelSize'], Conv1DOptions>
  ) {
    super(1, argumentsOf<Conv1DArguments>(Conv1D, new.target, args));
  }
}

/** Convolution of images with `filters` kernels: [batch, h, w, channels] becomes [batch, h', w', filters]. */
export class Conv2D extends Conv {
  declare static readonly fromConfig: FromConfig<Conv2D>;
  constructor(
    ...args: Arguments<[filters: number, kernelSize: Size2D], ['filters', 'kernelSize'], Conv2DOptions>
  ) {
    super(2, argumentsOf<Conv2DArguments>(Conv2D, new.target, args));
  }
}

/** Convolution of volumes with `filters` kernels: [batch, d, h, w, channels] becomes [batch, d', h', w', filters]. */
export class Conv3D extends Conv {
  declare static readonly fromConfig: FromConfig<Conv3D>;
  constructor(
    ...args: Arguments<[filters: number, kernelSize: Size3D], ['filters', 'kernelSize'], Conv3DOptions>
  ) {
    super(3, argumentsOf<Conv3DArguments>(Conv3D, new.target, args));
  }
}
ownsTemporaries(Conv);

const convOptions = (rank: Rank) =>
  ({
    ...filters,
    ...windowOptions(rank),
    ...orderOptions(rank),
    groups: integer(1),
    ...outputOptions,
    ...weights({ kernel: 'glorotUniform', bias: 'zeros' }),
    ...lastOptions,
    ...ownLoraOptions,
  }) as const;
const positional = ['filters', 'kernelSize'] as const;
takesOptions<Conv1DArguments, Conv1D>(
  { positional, options: { ...convOptions(1), padding: causalPadding } },
  Conv1D,
);
takesOptions<Conv2DArguments, Conv2D>({ positional, options: convOptions(2) }, Conv2D);
takesOptions<Conv3DArguments, Conv3D>({ positional, options: convOptions(3) }, Conv3D);
