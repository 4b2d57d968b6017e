import { type DType, InvalidArgumentError, type Tensor, type TensorLike } from '@eagre/core';
import {
  argumentsOf,
  defineMethods,
  flagOption,
  inScope,
  integerOption,
  numberOption,
  orNull,
  shown,
  snakeCase,
  takesOptions,
  toTensor,
} from '@eagre/core/internal';
import { sameRank } from '../arrange.ts';
import type { CrossentropyOptions, SparseCrossentropyOptions } from './functions.ts';
import * as functions from './functions.ts';
import { Loss, type LossOptions, lossNames, type ReductionName, type SampleWeight } from './loss.ts';

/** A loss of the user's: a function of targets and predictions. */
export type UserLoss = (yTrue: Tensor, yPred: Tensor) => Tensor;

/** All arguments of `LossFunctionWrapper`, by name. */
export interface LossFunctionWrapperArguments extends LossOptions {
  readonly fn: UserLoss;
}

/** A loss out of a function that gives the losses of the examples. */
export class LossFunctionWrapper extends Loss {
  readonly fn: UserLoss;

  constructor(...args: [fn: UserLoss | LossFunctionWrapperArguments, options?: LossOptions]) {
    const { fn, ...options } = argumentsOf<LossFunctionWrapperArguments>(
      LossFunctionWrapper,
      new.target,
      args,
    );
    if (typeof fn !== 'function')
      throw new InvalidArgumentError(`expected a function of (yTrue, yPred), got ${shown(fn)}`, 'Loss');
    super({ ...options, name: options.name ?? (fn.name === '' ? 'loss' : snakeCase(fn.name)) });
    this.fn = fn;
  }
  override call(yTrue: Tensor, yPred: Tensor): Tensor {
    return this.fn(...sameRank(yTrue, yPred));
  }
}

/** The losses below: nothing that they make on the way stays in memory. */
abstract class BuiltInLoss extends Loss {
  constructor(...args: [reduction?: ReductionName | null | LossOptions, options?: LossOptions]) {
    super(argumentsOf<LossOptions>(new.target, new.target, args));
  }
  protected override reduced(yTrue: TensorLike, yPred: TensorLike, sampleWeight: SampleWeight): Tensor {
    return inScope(() => super.reduced(yTrue, yPred, sampleWeight));
  }
}

/** mean((yTrue − yPred)²): see `losses.meanSquaredError`. */
export class MeanSquaredError extends BuiltInLoss {
  override call(yTrue: Tensor, yPred: Tensor): Tensor {
    return functions.meanSquaredError(yTrue, yPred);
  }
}

/** mean(|yTrue − yPred|): see `losses.meanAbsoluteError`. */
export class MeanAbsoluteError extends BuiltInLoss {
  override call(yTrue: Tensor, yPred: Tensor): Tensor {
    return functions.meanAbsoluteError(yTrue, yPred);
  }
}

/** 100 · mean(|(yTrue − yPred) / yTrue|): see `losses.meanAbsolutePercentageError`. */
export class MeanAbsolutePercentageError extends BuiltInLoss {
  override call(yTrue: Tensor, yPred: Tensor): Tensor {
    return functions.meanAbsolutePercentageError(yTrue, yPred);
  }
}

/** mean((log(yTrue + 1) − log(yPred + 1))²): see `losses.meanSquaredLogarithmicError`. */
export class MeanSquaredLogarithmicError extends BuiltInLoss {
  override call(yTrue: Tensor, yPred: Tensor): Tensor {
    return functions.meanSquaredLogarithmicError(yTrue, yPred);
  }
}

export interface HuberOptions extends LossOptions {
  /** Where the loss turns from quadratic to linear; 1 unless given. */
  readonly delta?: number;
}

/** Quadratic near 0, linear further out: see `losses.huber`. */
export class Huber extends BuiltInLoss {
  declare readonly delta: number;
  constructor(...args: [delta?: number | null | HuberOptions, options?: HuberOptions]) {
    super({ name: 'huber_loss', ...argumentsOf<HuberOptions>(Huber, new.target, args) });
  }
  override call(yTrue: Tensor, yPred: Tensor): Tensor {
    return functions.huber(yTrue, yPred, { delta: this.delta });
  }
}

/** mean(log(cosh(yPred − yTrue))): see `losses.logCosh`. */
export class LogCosh extends BuiltInLoss {
  override call(yTrue: Tensor, yPred: Tensor): Tensor {
    return functions.logCosh(yTrue, yPred);
  }
}

/** Σ yTrue · log(yTrue / yPred): see `losses.klDivergence`. */
export class KLDivergence extends BuiltInLoss {
  constructor(...args: [reduction?: ReductionName | null | LossOptions, options?: LossOptions]) {
    super({ name: 'kl_divergence', ...argumentsOf<LossOptions>(KLDivergence, new.target, args) });
  }
  override call(yTrue: Tensor, yPred: Tensor): Tensor {
    return functions.klDivergence(yTrue, yPred);
  }
}

/** mean(yPred − yTrue · log(yPred)): see `losses.poisson`. */
export class Poisson extends BuiltInLoss {
  override call(yTrue: Tensor, yPred: Tensor): Tensor {
    return functions.poisson(yTrue, yPred);
  }
}

/** mean(max(1 − yTrue · yPred, 0)): see `losses.hinge`. */
export class Hinge extends BuiltInLoss {
  override call(yTrue: Tensor, yPred: Tensor): Tensor {
    return functions.hinge(yTrue, yPred);
  }
}

/** mean(max(1 − yTrue · yPred, 0)²): see `losses.squaredHinge`. */
export class SquaredHinge extends BuiltInLoss {
  override call(yTrue: Tensor, yPred: Tensor): Tensor {
    return functions.squaredHinge(yTrue, yPred);
  }
}

/** max(max((1 − yTrue) · yPred) − Σ yTrue · yPred + 1, 0): see `losses.categoricalHinge`. */
export class CategoricalHinge extends BuiltInLoss {
  override call(yTrue: Tensor, yPred: Tensor): Tensor {
    return functions.categoricalHinge(yTrue, yPred);
  }
}

export interface CosineSimilarityOptions extends LossOptions {
  readonly axis?: number;
}

/** The negative cosine of the angle between targets and predictions: see `losses.cosineSimilarity`. */
export class CosineSimilarity extends BuiltInLoss {
  declare readonly axis: number;
  constructor(...args: [axis?: number | null | CosineSimilarityOptions, options?: CosineSimilarityOptions]) {
    super(argumentsOf<CosineSimilarityOptions>(CosineSimilarity, new.target, args));
  }
  override call(yTrue: Tensor, yPred: Tensor): Tensor {
    return functions.cosineSimilarity(yTrue, yPred, { axis: this.axis });
  }
}

export type CrossentropyLossOptions = LossOptions & CrossentropyOptions;
export type SparseCrossentropyLossOptions = LossOptions & SparseCrossentropyOptions;

abstract class Crossentropy extends BuiltInLoss {
  declare readonly fromLogits: boolean;
  declare readonly labelSmoothing: number;
  declare readonly axis: number;
  constructor(
    ...args: [fromLogits?: boolean | null | CrossentropyLossOptions, options?: CrossentropyLossOptions]
  ) {
    super(argumentsOf<CrossentropyLossOptions>(new.target, new.target, args));
  }
}

const optionsOf = ({ fromLogits, labelSmoothing, axis }: Crossentropy): CrossentropyOptions => ({
  fromLogits,
  labelSmoothing,
  axis,
});

/** Cross-entropy of yes-or-no targets; TensorFlow 2.0's rule for probabilities of 0 and 1: see `losses.binaryCrossentropy`. */
export class BinaryCrossentropy extends Crossentropy {
  override call(yTrue: Tensor, yPred: Tensor): Tensor {
    return functions.binaryCrossentropy(yTrue, yPred, optionsOf(this));
  }
}

/** Cross-entropy of one-hot targets: see `losses.categoricalCrossentropy`. */
export class CategoricalCrossentropy extends Crossentropy {
  override call(yTrue: Tensor, yPred: Tensor): Tensor {
    return functions.categoricalCrossentropy(yTrue, yPred, optionsOf(this));
  }
}

/**
 * Cross-entropy of labels that are whole numbers: see `losses.sparseCategoricalCrossentropy`. Places with `ignoreClass` are
 * left out of the mean.
 */
export class SparseCategoricalCrossentropy extends BuiltInLoss {
  declare readonly fromLogits: boolean;
  declare readonly ignoreClass: number | null;
  declare readonly axis: number;
  constructor(
    ...args: [
      fromLogits?: boolean | null | SparseCrossentropyLossOptions,
      options?: SparseCrossentropyLossOptions,
    ]
  ) {
    super(argumentsOf<SparseCrossentropyLossOptions>(SparseCategoricalCrossentropy, new.target, args));
  }
  override call(yTrue: Tensor, yPred: Tensor): Tensor {
    const { fromLogits, ignoreClass, axis } = this;
    return functions.sparseCategoricalCrossentropy(yTrue, yPred, { fromLogits, ignoreClass, axis });
  }
  protected override targets(yTrue: TensorLike, _dtype: DType): Tensor {
    return toTensor(yTrue, 'int32');
  }
  protected override mask(yTrue: Tensor, yPred: Tensor): Tensor | null {
    return functions.sparseLabels(yTrue, yPred, this.ignoreClass).valid;
  }
}

takesOptions<LossOptions, BuiltInLoss>(
  { positional: ['reduction'], required: 0, options: lossNames },
  MeanSquaredError,
  MeanAbsoluteError,
  MeanAbsolutePercentageError,
  MeanSquaredLogarithmicError,
  LogCosh,
  KLDivergence,
  Poisson,
  Hinge,
  SquaredHinge,
  CategoricalHinge,
);
takesOptions<LossFunctionWrapperArguments, LossFunctionWrapper>(
  { positional: ['fn'], options: { fn: true, ...lossNames } },
  LossFunctionWrapper,
);
const number = numberOption;
const axis = integerOption(-1);
takesOptions<HuberOptions, Huber>(
  { positional: ['delta'], required: 0, options: { delta: number(1), ...lossNames } },
  Huber,
);
takesOptions<CosineSimilarityOptions, CosineSimilarity>(
  { positional: ['axis'], required: 0, options: { axis, ...lossNames } },
  CosineSimilarity,
);
takesOptions<CrossentropyLossOptions, Crossentropy>(
  {
    positional: ['fromLogits'],
    required: 0,
    options: { fromLogits: flagOption(false), labelSmoothing: number(0), axis, ...lossNames },
  },
  BinaryCrossentropy,
  CategoricalCrossentropy,
);
takesOptions<SparseCrossentropyLossOptions, SparseCategoricalCrossentropy>(
  {
    positional: ['fromLogits'],
    required: 0,
    options: {
      fromLogits: flagOption(false),
      ignoreClass: orNull(integerOption(0)),
      reduction: true,
      axis,
      name: true,
      dtype: true,
    },
  },
  SparseCategoricalCrossentropy,
);

for (const c of [
  LossFunctionWrapper,
  MeanSquaredError,
  MeanAbsoluteError,
  MeanAbsolutePercentageError,
  MeanSquaredLogarithmicError,
  Huber,
  LogCosh,
  KLDivergence,
  Poisson,
  Hinge,
  SquaredHinge,
  CategoricalHinge,
  CosineSimilarity,
  BinaryCrossentropy,
  CategoricalCrossentropy,
  SparseCategoricalCrossentropy,
])
  defineMethods(c.prototype, c.name, { call: { positional: ['yTrue', 'yPred'] } });
