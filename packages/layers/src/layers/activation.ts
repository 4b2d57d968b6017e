// Activations as layers.
import { nn, type PartialShape, type Tensor, type TensorLike } from '@eagre/core';
import { argumentsOf, showShape, takesArguments, toTensor } from '@eagre/core/internal';
import type { Activation as ActivationFunction, ActivationLike } from '../activations.ts';
import { builtin, type CallOptions, Layer, type LayerOptions, passesMask } from '../layer.ts';
import { takesCall } from '../own-call.ts';
import { show } from '../show.ts';
import {
  activationConfig,
  applyActivation,
  type Config,
  checkNotNegative,
  checkOne,
  fail,
  floats,
  keepsIntegers,
  resolveActivation,
  values,
} from './common.ts';
import { layerOptions } from './weights.ts';

export interface ActivationArguments extends LayerOptions {
  readonly activation: ActivationLike;
}

/** Applies an activation: a name, or a function of a tensor. `new Activation('relu')` */
export class Activation extends Layer {
  readonly activation: ActivationFunction;

  constructor(activation: ActivationLike | ActivationArguments, options?: LayerOptions);
  constructor(...args: readonly unknown[]) {
    const options = argumentsOf<ActivationArguments>(Activation, new.target, args);
    super(options);
    this.activation = resolveActivation(options.activation);
  }
  override call(inputs: Tensor): Tensor {
    const x = keepsIntegers(this.activation) ? values(this, inputs) : floats(this, inputs);
    return applyActivation(this.activation, x);
  }
  override computeOutputShape(inputShape: PartialShape): PartialShape {
    return checkOne(this, inputShape);
  }
  override getConfig(): Record<string, unknown> {
    return { ...super.getConfig(), activation: activationConfig(this.activation) };
  }
  static override fromConfig({ activation, ...options }: Config): Activation {
    return new Activation({ ...options, activation: activation as ActivationLike });
  }
}

export interface ReLUOptions extends LayerOptions {
  /** Larger results become this one; no limit unless said. */
  readonly maxValue?: number | null;
  /** Slope below the threshold; 0 unless said. */
  readonly negativeSlope?: number;
  /** Where the function begins to rise; 0 unless said. */
  readonly threshold?: number;
}

/** max(x, 0), with an upper limit, a slope below, and another threshold where they are given. */
export class ReLU extends Layer {
  readonly maxValue: number | null;
  readonly negativeSlope: number;
  readonly threshold: number;

  constructor(maxValue?: number | null | ReLUOptions, options?: ReLUOptions);
  constructor(...args: readonly unknown[]) {
    const options = argumentsOf<ReLUOptions>(ReLU, new.target, args);
    super(options);
    const { maxValue, negativeSlope, threshold } = options;
    this.maxValue = maxValue == null ? null : checkNotNegative(this, 'maxValue', maxValue);
    this.negativeSlope = checkNotNegative(this, 'negativeSlope', negativeSlope ?? 0);
    this.threshold = checkNotNegative(this, 'threshold', threshold ?? 0);
  }
  override call(inputs: Tensor): Tensor {
    const { maxValue, negativeSlope, threshold } = this;
    const whole = negativeSlope === 0 && [maxValue ?? 0, threshold].every(Number.isInteger);
    const x = whole ? values(this, inputs) : floats(this, inputs);
    if (threshold === 0 && maxValue === null) {
      return negativeSlope === 0 ? nn.relu(x) : nn.leakyRelu(x, { alpha: negativeSlope });
    }
    let y = threshold === 0 ? nn.relu(x) : x.greater(threshold).where(x, 0);
    if (maxValue !== null) y = y.minimum(maxValue);
    return negativeSlope === 0 ? y : y.sub(nn.relu(x.neg().add(threshold)).mul(negativeSlope));
  }
  override computeOutputShape(inputShape: PartialShape): PartialShape {
    return checkOne(this, inputShape);
  }
  override getConfig(): Record<string, unknown> {
    const { maxValue, negativeSlope, threshold } = this;
    return { ...super.getConfig(), maxValue, negativeSlope, threshold };
  }
  static override fromConfig(config: Config): ReLU {
    return new ReLU(config);
  }
}

export interface LeakyReLUOptions extends LayerOptions {
  /** 0.3 unless said. */
  readonly negativeSlope?: number;
}

/** x where it is positive, negativeSlope · x elsewhere. `new LeakyReLU(0.2)` */
export class LeakyReLU extends Layer {
  readonly negativeSlope: number;

  constructor(negativeSlope?: number | null | LeakyReLUOptions, options?: LeakyReLUOptions);
  constructor(...args: readonly unknown[]) {
    const options = argumentsOf<LeakyReLUOptions>(LeakyReLU, new.target, args);
    super(options);
    this.negativeSlope = checkNotNegative(this, 'negativeSlope', options.negativeSlope ?? 0.3);
  }
  override call(inputs: Tensor): Tensor {
    return nn.leakyRelu(floats(this, inputs), { alpha: this.negativeSlope });
  }
  override computeOutputShape(inputShape: PartialShape): PartialShape {
    return checkOne(this, inputShape);
  }
  override getConfig(): Record<string, unknown> {
    return { ...super.getConfig(), negativeSlope: this.negativeSlope };
  }
  static override fromConfig(config: Config): LeakyReLU {
    return new LeakyReLU(config);
  }
}

export interface SoftmaxOptions extends LayerOptions {
  /** The last unless said. */
  readonly axis?: number;
}

/** exp(x) / Σ exp(x) over one axis. */
export class Softmax extends Layer {
  readonly axis: number;

  constructor(axis?: number | null | SoftmaxOptions, options?: SoftmaxOptions);
  constructor(...args: readonly unknown[]) {
    const options = argumentsOf<SoftmaxOptions>(Softmax, new.target, args);
    super(options);
    this.axis = options.axis ?? -1;
    if (!Number.isInteger(this.axis)) fail(this, `needs one integer as axis, got ${show(this.axis)}`);
  }
  /** @param options.mask true or not 0 for what counts, of the input's shape or one that broadcasts to it. */
  override call(inputs: Tensor, { mask }: CallOptions): Tensor {
    const x = floats(this, inputs);
    this.computeOutputShape(x.shape);
    if (mask === undefined || mask === null) return nn.softmax(x, this.axis);
    // As Keras: so much less that nothing of it is left.
    const hidden = toTensor(mask as TensorLike)
      .cast(x.dtype)
      .sub(1)
      .mul(1e9);
    return nn.softmax(x.add(hidden), this.axis);
  }
  override computeOutputShape(inputShape: PartialShape): PartialShape {
    checkOne(this, inputShape);
    if (this.axis < -inputShape.length || this.axis >= inputShape.length) {
      fail(this, `works along axis ${this.axis}, which input ${showShape(inputShape)} does not have`);
    }
    return inputShape;
  }
  override getConfig(): Record<string, unknown> {
    return { ...super.getConfig(), axis: this.axis };
  }
  static override fromConfig(config: Config): Softmax {
    return new Softmax(config);
  }
}
builtin(Activation, ReLU, LeakyReLU, Softmax);
passesMask(Activation, ReLU, LeakyReLU, Softmax);
takesCall({ second: 'mask', options: { mask: true, training: true } }, Softmax);
takesArguments<ActivationArguments>(
  { positional: ['activation'], names: { activation: true, ...layerOptions } },
  Activation,
);
takesArguments<ReLUOptions>(
  {
    positional: ['maxValue'],
    required: 0,
    names: { maxValue: true, negativeSlope: true, threshold: true, ...layerOptions },
  },
  ReLU,
);
takesArguments<LeakyReLUOptions>(
  { positional: ['negativeSlope'], required: 0, names: { negativeSlope: true, ...layerOptions } },
  LeakyReLU,
);
takesArguments<SoftmaxOptions>(
  { positional: ['axis'], required: 0, names: { axis: true, ...layerOptions } },
  Softmax,
);
