// Activations as layers.

import { nn, type PartialShape, type Tensor, type TensorLike } from '@eagre/core';
import { argumentsOf, orNull, showShape, takesOptions, toTensor } from '@eagre/core/internal';
import type { Activation as ActivationFunction, ActivationLike } from '../../activations.ts';
import {
  builtAtOnce,
  type CallOptions,
  type FromConfig,
  Layer,
  type LayerOptions,
  ownsTemporaries,
  passesMask,
} from '../../layer/layer.ts';
import { takesCall } from '../../layer/own-call.ts';
import { applyActivation, checkOne, fail, floats, keepsIntegers, values } from '../common.ts';
import { activation, axis, notNegative } from '../options.ts';
import { layerOptions } from '../weights.ts';

export interface ActivationArguments extends LayerOptions {
  readonly activation: ActivationLike;
}

/** Applies an activation: a name, or a function of a tensor. `new Activation('relu')` */
export class Activation extends Layer {
  declare static readonly fromConfig: FromConfig<Activation>;
  declare readonly activation: ActivationFunction;

  constructor(...args: [activation: ActivationLike | ActivationArguments, options?: LayerOptions]) {
    super(argumentsOf<ActivationArguments>(Activation, new.target, args));
  }
  override call(inputs: Tensor): Tensor {
    const x = keepsIntegers(this.activation) ? values(this, inputs) : floats(this, inputs);
    return applyActivation(this.activation, x);
  }
  override computeOutputShape(inputShape: PartialShape): PartialShape {
    return checkOne(this, inputShape);
  }
}

export interface ReLUOptions extends LayerOptions {
  /** Larger results become this one; no limit by default. */
  readonly maxValue?: number | null;
  /** Slope below the threshold; 0 by default. */
  readonly negativeSlope?: number;
  /** Where the function begins to rise; 0 by default. */
  readonly threshold?: number;
}

/** max(x, 0), with an upper limit, a slope below, and another threshold where they are given. */
export class ReLU extends Layer {
  declare static readonly fromConfig: FromConfig<ReLU>;
  declare readonly maxValue: number | null;
  declare readonly negativeSlope: number;
  declare readonly threshold: number;

  constructor(...args: [maxValue?: number | null | ReLUOptions, options?: ReLUOptions]) {
    super(argumentsOf<ReLUOptions>(ReLU, new.target, args));
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
}

export interface LeakyReLUOptions extends LayerOptions {
  /** 0.3 by default. */
  readonly negativeSlope?: number;
}

/** x where it is positive, negativeSlope · x elsewhere. `new LeakyReLU(0.2)` */
export class LeakyReLU extends Layer {
  declare static readonly fromConfig: FromConfig<LeakyReLU>;
  declare readonly negativeSlope: number;

  constructor(...args: [negativeSlope?: number | null | LeakyReLUOptions, options?: LeakyReLUOptions]) {
    super(argumentsOf<LeakyReLUOptions>(LeakyReLU, new.target, args));
  }
  override call(inputs: Tensor): Tensor {
    return nn.leakyRelu(floats(this, inputs), { alpha: this.negativeSlope });
  }
  override computeOutputShape(inputShape: PartialShape): PartialShape {
    return checkOne(this, inputShape);
  }
}

export interface SoftmaxOptions extends LayerOptions {
  /** The last by default. */
  readonly axis?: number;
}

/** exp(x) / Σ exp(x) over one axis. */
export class Softmax extends Layer {
  declare static readonly fromConfig: FromConfig<Softmax>;
  declare readonly axis: number;

  constructor(...args: [axis?: number | null | SoftmaxOptions, options?: SoftmaxOptions]) {
    super(argumentsOf<SoftmaxOptions>(Softmax, new.target, args));
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
}
ownsTemporaries(Activation, ReLU, LeakyReLU, Softmax);
builtAtOnce(Activation, ReLU, LeakyReLU, Softmax);
passesMask(Activation, ReLU, LeakyReLU, Softmax);
takesCall({ second: 'mask', options: { mask: true, training: true } }, Softmax);

takesOptions<ActivationArguments, Activation>(
  { positional: ['activation'], options: { activation: activation('linear'), ...layerOptions } },
  Activation,
);
takesOptions<ReLUOptions, ReLU>(
  {
    positional: ['maxValue'],
    required: 0,
    options: {
      maxValue: orNull(notNegative()),
      negativeSlope: notNegative(0),
      threshold: notNegative(0),
      ...layerOptions,
    },
  },
  ReLU,
);
takesOptions<LeakyReLUOptions, LeakyReLU>(
  {
    positional: ['negativeSlope'],
    required: 0,
    options: { negativeSlope: notNegative(0.3), ...layerOptions },
  },
  LeakyReLU,
);
takesOptions<SoftmaxOptions, Softmax>(
  { positional: ['axis'], required: 0, options: { axis, ...layerOptions } },
  Softmax,
);
