// Activations as layers.

import { nn, type PartialShape, type Tensor, type TensorLike, type Variable } from '@eagre/core';
import {
  argumentsOf,
  carryLogits,
  type Option,
  orNull,
  showShape,
  takesOptions,
  toTensor,
} from '@eagre/core/internal';
import type { Activation as ActivationFunction, ActivationLike } from '../../activations.ts';
import type { ConstraintLike } from '../../constraints.ts';
import type { InitializerLike } from '../../initializers/initializers.ts';
import { takesValuesOf } from '../../layer/kinds.ts';
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
import { show } from '../../layer/show.ts';
import type { RegularizerLike } from '../../regularizers.ts';
import {
  applyActivation,
  asFloats,
  checkOne,
  fail,
  floats,
  keepsIntegers,
  knownSize,
  numbers,
  values,
} from '../common.ts';
import { activation, axes, notNegative, number, recipe, weights } from '../options.ts';
import { layerOptions } from '../weights.ts';

/** All arguments of `Activation`, by name. */
export interface ActivationArguments extends LayerOptions {
  /** A function of a tensor, or the name of one: `'relu'`. */
  readonly activation: ActivationLike;
}

/** Applies an activation: a name, or a function of a tensor. `new Activation('relu')` */
export class Activation extends Layer {
  declare static readonly fromConfig: FromConfig<Activation>;
  /** A function of a tensor, or the name of one: `'relu'`. */
  declare readonly activation: ActivationFunction;

  constructor(...args: [activation: ActivationLike | ActivationArguments, options?: LayerOptions]) {
    super(argumentsOf<ActivationArguments>(Activation, new.target, args));
  }
  override call(inputs: Tensor): Tensor {
    const x = keepsIntegers(this.activation) ? values(this, inputs) : asFloats(this, inputs);
    return applyActivation(this.activation, x);
  }
  override computeOutputShape(inputShape: PartialShape): PartialShape {
    return checkOne(this, inputShape);
  }
}

/** Options of `ReLU`. */
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
  /** Larger results become this one. */
  declare readonly maxValue: number | null;
  /** Slope below the threshold. */
  declare readonly negativeSlope: number;
  /** Where the function begins to rise. */
  declare readonly threshold: number;

  constructor(...args: [maxValue?: number | null | ReLUOptions, options?: ReLUOptions]) {
    super(argumentsOf<ReLUOptions>(ReLU, new.target, args));
  }
  override call(inputs: Tensor): Tensor {
    const { maxValue, negativeSlope, threshold } = this;
    const whole = negativeSlope === 0 && [maxValue ?? 0, threshold].every(Number.isInteger);
    const x = whole ? values(this, inputs) : asFloats(this, inputs);
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

/** Options of `LeakyReLU`. */
export interface LeakyReLUOptions extends LayerOptions {
  /** The slope below 0; 0.3 by default. */
  readonly negativeSlope?: number;
}

/** x where it is positive, negativeSlope · x elsewhere. `new LeakyReLU(0.2)` */
export class LeakyReLU extends Layer {
  declare static readonly fromConfig: FromConfig<LeakyReLU>;
  /** The slope below 0. */
  declare readonly negativeSlope: number;

  constructor(...args: [negativeSlope?: number | null | LeakyReLUOptions, options?: LeakyReLUOptions]) {
    super(argumentsOf<LeakyReLUOptions>(LeakyReLU, new.target, args));
  }
  override call(inputs: Tensor): Tensor {
    return nn.leakyRelu(asFloats(this, inputs), { alpha: this.negativeSlope });
  }
  override computeOutputShape(inputShape: PartialShape): PartialShape {
    return checkOne(this, inputShape);
  }
}

/** Options of `Softmax`. */
export interface SoftmaxOptions extends LayerOptions {
  /** One axis or several, along which the results add up to 1 together; the last by default. */
  readonly axis?: number | readonly number[];
}

/** exp(x) / Σ exp(x) over one axis, or over several together. */
export class Softmax extends Layer {
  declare static readonly fromConfig: FromConfig<Softmax>;
  /** One axis or several, along which the results add up to 1 together. */
  declare readonly axis: number | readonly number[];

  constructor(
    ...args: [axis?: number | readonly number[] | null | SoftmaxOptions, options?: SoftmaxOptions]
  ) {
    super(argumentsOf<SoftmaxOptions>(Softmax, new.target, args));
  }
  /** @param options.mask true or more than 0.5 for what counts, of the input's shape or one that broadcasts to it; 0 elsewhere. */
  override call(inputs: Tensor, { mask }: CallOptions = {}): Tensor {
    const x = floats(this, inputs);
    this.computeOutputShape(x.shape);
    if (mask === undefined || mask === null) return this.#softmax(x);
    const given = toTensor(mask as TensorLike);
    const seen = given.dtype === 'bool' ? given : given.greater(0.5);
    // As Keras: so little that nothing of it is left.
    const y = this.#softmax(seen.where(x, x.dtype === 'float16' ? -3e4 : -1e9));
    return seen.where(y, 0);
  }
  #softmax(x: Tensor): Tensor {
    const axes = typeof this.axis === 'number' ? [this.axis] : this.axis;
    if (axes.length === 1) return carryLogits(nn.softmax(x, axes[0]), x);
    return x.sub(x.logSumExp(axes, { keepdims: true })).exp();
  }
  override computeOutputShape(inputShape: PartialShape): PartialShape {
    checkOne(this, inputShape);
    const axes = typeof this.axis === 'number' ? [this.axis] : this.axis;
    if (axes.some((a) => a < -inputShape.length || a >= inputShape.length)) {
      fail(this, `works along axis ${this.axis}, which input ${showShape(inputShape)} does not have`);
    }
    return inputShape;
  }
}

/** Options of `ELU`. */
export interface ELUOptions extends LayerOptions {
  /** What large negative numbers become, with the other sign; 1 by default. */
  readonly alpha?: number;
}

/** x where it is positive, alpha · (exp(x) − 1) elsewhere (Clevert, Unterthiner and Hochreiter, 2015). */
export class ELU extends Layer {
  declare static readonly fromConfig: FromConfig<ELU>;
  /** What large negative numbers become, with the other sign. */
  declare readonly alpha: number;

  constructor(...args: [alpha?: number | null | ELUOptions, options?: ELUOptions]) {
    super(argumentsOf<ELUOptions>(ELU, new.target, args));
  }
  override call(inputs: Tensor): Tensor {
    return nn.elu(floats(this, inputs), { alpha: this.alpha });
  }
  override computeOutputShape(inputShape: PartialShape): PartialShape {
    return checkOne(this, inputShape);
  }
}

/** Options of `PReLU`. */
export interface PReLUOptions extends LayerOptions {
  /** Makes the slopes at first; `zeros` by default. */
  readonly alphaInitializer?: InitializerLike;
  /** A penalty on the slopes, which training adds to the loss; none by default. */
  readonly alphaRegularizer?: RegularizerLike | null;
  /** A function that is applied to the slopes after each update; none by default. */
  readonly alphaConstraint?: ConstraintLike | null;
  /** Axes along which all share a slope, counted from 1: [1, 2] for images, whose channels then have one each. */
  readonly sharedAxes?: number | readonly number[] | null;
}

/** x where it is positive, alpha · x elsewhere, with slopes that training learns (He, Zhang, Ren and Sun, 2015). */
export class PReLU extends Layer {
  declare static readonly fromConfig: FromConfig<PReLU>;
  /** Axes along which all share a slope, counted from 1: [1, 2] for images, whose channels then have one each. */
  declare readonly sharedAxes: readonly number[] | null;
  /** The slopes, of an example's shape; 1 where they are shared. */
  alpha!: Variable;

  constructor(...args: [options?: PReLUOptions]) {
    super(argumentsOf<PReLUOptions>(PReLU, new.target, args));
  }
  override build(inputShape: PartialShape): void {
    checkOne(this, inputShape);
    const shared = this.sharedAxes ?? [];
    if (shared.some((axis) => axis >= inputShape.length))
      fail(this, `shares slopes along axes [${shared}], which input ${showShape(inputShape)} does not have`);
    const shape = inputShape.slice(1).map((_, i) => {
      return shared.includes(i + 1) ? 1 : knownSize(this, inputShape, i + 1);
    });
    this.alpha = this.addWeight({ name: 'alpha', shape, ...recipe(this, 'alpha') });
  }
  override call(inputs: Tensor): Tensor {
    const x = numbers(this, inputs);
    return nn.relu(x).sub(nn.relu(x.neg()).mul(this.alpha));
  }
  override computeOutputShape(inputShape: PartialShape): PartialShape {
    return checkOne(this, inputShape);
  }
}
ownsTemporaries(Activation, ReLU, LeakyReLU, Softmax, ELU, PReLU);
takesValuesOf(['ragged'], Activation, ReLU, LeakyReLU, Softmax, ELU);
builtAtOnce(Activation, ReLU, LeakyReLU, Softmax, ELU);
passesMask(Activation, ReLU, LeakyReLU, Softmax, ELU, PReLU);
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
  { positional: ['axis'], required: 0, options: { axis: axes, ...layerOptions } },
  Softmax,
);
takesOptions<ELUOptions, ELU>(
  { positional: ['alpha'], required: 0, options: { alpha: number(1), ...layerOptions } },
  ELU,
);
const sharedAxes: Option<readonly number[] | null> = orNull({
  read: (given, _, layer) => {
    const list = typeof given === 'number' ? [given] : given;
    if (!Array.isArray(list) || !list.every((a) => Number.isSafeInteger(a) && a >= 1))
      fail(layer as Layer, `needs sharedAxes of integers from 1, got ${show(given)}`);
    return [...list];
  },
});
takesOptions<PReLUOptions, PReLU>(
  { options: { ...weights({ alpha: 'zeros' }), sharedAxes, ...layerOptions } },
  PReLU,
);
