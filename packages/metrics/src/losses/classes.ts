import { type DType, InvalidArgumentError, type Tensor, type TensorLike } from '@eagre/core';
import {
  argumentsOf,
  checkFunction,
  defineMethods,
  flagOption,
  inScope,
  integerOption,
  numberOption,
  type Option,
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
  /** Gives the loss of each example, of targets and predictions. */
  readonly fn: UserLoss;
}

/** A loss out of a function that gives the losses of the examples. */
export class LossFunctionWrapper extends Loss {
  /** Gives the loss of each example, of targets and predictions. */
  readonly fn: UserLoss;

  constructor(...args: [fn: UserLoss | LossFunctionWrapperArguments, options?: LossOptions]) {
    const { fn, ...options } = argumentsOf<LossFunctionWrapperArguments>(
      LossFunctionWrapper,
      new.target,
      args,
    );
    checkFunction(fn, 'fn', 'Loss');
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

/** Options of `Huber`. */
export interface HuberOptions extends LossOptions {
  /** Where the loss turns from quadratic to linear; 1 unless given. */
  readonly delta?: number;
}

/** Quadratic near 0, linear further out: see `losses.huber`. */
export class Huber extends BuiltInLoss {
  /** Where the loss turns from quadratic to linear. */
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

/** Options of `CosineSimilarity`. */
export interface CosineSimilarityOptions extends LossOptions {
  /** The axis of the vectors whose angle is meant; the last by default. */
  readonly axis?: number;
}

/** The negative cosine of the angle between targets and predictions: see `losses.cosineSimilarity`. */
export class CosineSimilarity extends BuiltInLoss {
  /** The axis of the vectors whose angle is meant. */
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
  /** `yPred` holds logits instead of probabilities. */
  declare readonly fromLogits: boolean;
  /** Moves the targets that far toward the uniform distribution; from 0 to 1. */
  declare readonly labelSmoothing: number;
  /** The axis of the classes. */
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
  /** Whether `yPred` holds logits instead of probabilities. */
  declare readonly fromLogits: boolean;
  /** A label whose places count for nothing, such as -1 for padding. */
  declare readonly ignoreClass: number | null;
  /** The axis of the classes in `yPred`. */
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

/** Options of `BinaryFocalCrossentropy`. */
export type BinaryFocalCrossentropyOptions = LossOptions & functions.BinaryFocalOptions;
/** Options of `CategoricalFocalCrossentropy`. */
export type CategoricalFocalCrossentropyOptions = LossOptions & functions.CategoricalFocalOptions;

/** Cross-entropy of yes-or-no targets that looks at what is predicted badly: see `losses.binaryFocalCrossentropy`. */
export class BinaryFocalCrossentropy extends BuiltInLoss {
  /** Whether classes are weighted by alpha. */
  declare readonly applyClassBalancing: boolean;
  /** Weight of class 1; the other has 1 − alpha. */
  declare readonly alpha: number;
  /** How much less examples count that are predicted well. */
  declare readonly gamma: number;
  /** `yPred` holds logits instead of probabilities. */
  declare readonly fromLogits: boolean;
  /** Moves the targets that far toward the uniform distribution; from 0 to 1. */
  declare readonly labelSmoothing: number;
  /** The axis of the classes. */
  declare readonly axis: number;
  constructor(
    ...args: [
      applyClassBalancing?: boolean | null | BinaryFocalCrossentropyOptions,
      options?: BinaryFocalCrossentropyOptions,
    ]
  ) {
    super(argumentsOf<BinaryFocalCrossentropyOptions>(BinaryFocalCrossentropy, new.target, args));
  }
  override call(yTrue: Tensor, yPred: Tensor): Tensor {
    const { applyClassBalancing, alpha, gamma, fromLogits, labelSmoothing, axis } = this;
    const options = { applyClassBalancing, alpha, gamma, fromLogits, labelSmoothing, axis };
    return functions.binaryFocalCrossentropy(yTrue, yPred, options);
  }
}

/** Cross-entropy of one-hot targets that looks at what is predicted badly: see `losses.categoricalFocalCrossentropy`. */
export class CategoricalFocalCrossentropy extends BuiltInLoss {
  /** A weight for all classes, or one for each. */
  declare readonly alpha: number | readonly number[];
  /** How much less classes count that are predicted well. */
  declare readonly gamma: number;
  /** `yPred` holds logits instead of probabilities. */
  declare readonly fromLogits: boolean;
  /** Moves the targets that far toward the uniform distribution; from 0 to 1. */
  declare readonly labelSmoothing: number;
  /** The axis of the classes. */
  declare readonly axis: number;
  constructor(
    ...args: [
      alpha?: number | readonly number[] | null | CategoricalFocalCrossentropyOptions,
      options?: CategoricalFocalCrossentropyOptions,
    ]
  ) {
    super(argumentsOf<CategoricalFocalCrossentropyOptions>(CategoricalFocalCrossentropy, new.target, args));
  }
  override call(yTrue: Tensor, yPred: Tensor): Tensor {
    const { alpha, gamma, fromLogits, labelSmoothing, axis } = this;
    return functions.categoricalFocalCrossentropy(yTrue, yPred, {
      alpha,
      gamma,
      fromLogits,
      labelSmoothing,
      axis,
    });
  }
}

/** Options of `Dice`. */
export interface DiceOptions extends LossOptions {
  /** The axes of an area; all unless given, so that a batch is one. */
  readonly axis?: number | readonly number[] | null;
}

/** How little two areas have in common: see `losses.dice`. */
export class Dice extends BuiltInLoss {
  /** The axes of an area. */
  declare readonly axis: number | readonly number[] | null;
  constructor(...args: [reduction?: ReductionName | null | DiceOptions, options?: DiceOptions]) {
    super(argumentsOf<DiceOptions>(Dice, new.target, args));
  }
  override call(yTrue: Tensor, yPred: Tensor): Tensor {
    return functions.dice(yTrue, yPred, { axis: this.axis });
  }
}

/** Options of `Tversky`. */
export type TverskyLossOptions = LossOptions & functions.TverskyOptions;

/** How little two areas have in common, with a weight for what is missed and one for what is too much: see `losses.tversky`. */
export class Tversky extends BuiltInLoss {
  /** Weight of what is missed. */
  declare readonly alpha: number;
  /** Weight of what is too much. */
  declare readonly beta: number;
  /** The axes over which targets and predictions are compared; null for all. */
  declare readonly axis: number | readonly number[] | null;
  constructor(...args: [alpha?: number | null | TverskyLossOptions, options?: TverskyLossOptions]) {
    super(argumentsOf<TverskyLossOptions>(Tversky, new.target, args));
  }
  override call(yTrue: Tensor, yPred: Tensor): Tensor {
    const { alpha, beta, axis } = this;
    return functions.tversky(yTrue, yPred, { alpha, beta, axis });
  }
}

/** Options of `Circle`. */
export interface CircleLossOptions extends LossOptions {
  /** By which similarities are multiplied: the larger, the more the hardest pairs count. 80 by default. */
  readonly gamma?: number;
  /** How far similarities may be from the best ones, 1 and 0, from 0 to 1; 0.4 by default. */
  readonly margin?: number;
  /** Whether an embedding is not compared with itself; true by default. */
  readonly removeDiagonal?: boolean;
}

/** Brings embeddings of one class together: see `losses.circle`. */
export class Circle extends BuiltInLoss {
  /** By which similarities are multiplied: the larger, the more the hardest pairs count. */
  declare readonly gamma: number;
  /** How far similarities may be from the best ones, 1 and 0, from 0 to 1. */
  declare readonly margin: number;
  /** Whether an embedding is not compared with itself. */
  declare readonly removeDiagonal: boolean;
  constructor(...args: [gamma?: number | null | CircleLossOptions, options?: CircleLossOptions]) {
    super(argumentsOf<CircleLossOptions>(Circle, new.target, args));
  }
  override call(yTrue: Tensor, yPred: Tensor): Tensor {
    const { gamma, margin, removeDiagonal } = this;
    return functions.circle(yTrue, yPred, { gamma, margin, removeDiagonal });
  }
  protected override targets(yTrue: TensorLike, _dtype: DType): Tensor {
    return toTensor(yTrue, 'int32');
  }
  /** An embedding without others of its class, or of other classes, has no loss. */
  protected override mask(_yTrue: Tensor, _yPred: Tensor, losses: Tensor): Tensor | null {
    return losses.greater(0);
  }
}

/** Options of `CategoricalGeneralizedCrossEntropy`. */
export interface GeneralizedCrossEntropyOptions extends LossOptions {
  /** Between 0 and 1; 0.5 unless given. */
  readonly q?: number;
}

/** Cross-entropy that minds wrong labels less: see `losses.categoricalGeneralizedCrossEntropy`. */
export class CategoricalGeneralizedCrossEntropy extends BuiltInLoss {
  /** Between 0 and 1. */
  declare readonly q: number;
  constructor(
    ...args: [q?: number | null | GeneralizedCrossEntropyOptions, options?: GeneralizedCrossEntropyOptions]
  ) {
    super(argumentsOf<GeneralizedCrossEntropyOptions>(CategoricalGeneralizedCrossEntropy, new.target, args));
    if (!(this.q > 0 && this.q < 1))
      throw new InvalidArgumentError(`q must be between 0 and 1, got ${this.q}`, this.name);
  }
  override call(yTrue: Tensor, yPred: Tensor): Tensor {
    return functions.categoricalGeneralizedCrossEntropy(yTrue, yPred, { q: this.q });
  }
  protected override targets(yTrue: TensorLike, _dtype: DType): Tensor {
    return toTensor(yTrue, 'int32');
  }
}

/** Of label sequences that are shorter than the sequences of predictions: see `losses.ctc`. */
export class CTC extends BuiltInLoss {
  override call(yTrue: Tensor, yPred: Tensor): Tensor {
    return functions.ctc(yTrue, yPred);
  }
  protected override targets(yTrue: TensorLike, _dtype: DType): Tensor {
    return toTensor(yTrue, 'int32');
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
  CTC,
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

const areas: Option<number | readonly number[] | null> = orNull({
  read: (given, name) => {
    const list = typeof given === 'number' ? [given] : given;
    if (!Array.isArray(list) || !list.every((a) => Number.isSafeInteger(a)))
      throw new InvalidArgumentError(`${name} must be an integer or a list of them, got ${shown(given)}`);
    return given as number | readonly number[];
  },
});
const shares: Option<number | readonly number[]> = {
  read: (given = 0.25, name) => {
    const list: readonly unknown[] = Array.isArray(given) ? given : [given];
    if (list.length === 0 || !list.every((a) => typeof a === 'number' && !Number.isNaN(a)))
      throw new InvalidArgumentError(`${name} must be a number or a list of them, got ${shown(given)}`);
    return given as number | readonly number[];
  },
};
const entropies = { fromLogits: flagOption(false), labelSmoothing: number(0), axis } as const;
takesOptions<BinaryFocalCrossentropyOptions, BinaryFocalCrossentropy>(
  {
    positional: ['applyClassBalancing'],
    required: 0,
    options: {
      applyClassBalancing: flagOption(false),
      alpha: number(0.25),
      gamma: number(2),
      ...entropies,
      ...lossNames,
    },
  },
  BinaryFocalCrossentropy,
);
takesOptions<CategoricalFocalCrossentropyOptions, CategoricalFocalCrossentropy>(
  {
    positional: ['alpha'],
    required: 0,
    options: { alpha: shares, gamma: number(2), ...entropies, ...lossNames },
  },
  CategoricalFocalCrossentropy,
);
takesOptions<DiceOptions, Dice>(
  { positional: ['reduction'], required: 0, options: { ...lossNames, axis: areas } },
  Dice,
);
takesOptions<TverskyLossOptions, Tversky>(
  {
    positional: ['alpha'],
    required: 0,
    options: { alpha: number(0.5), beta: number(0.5), ...lossNames, axis: areas },
  },
  Tversky,
);
takesOptions<CircleLossOptions, Circle>(
  {
    positional: ['gamma'],
    required: 0,
    options: { gamma: number(80), margin: number(0.4), removeDiagonal: flagOption(true), ...lossNames },
  },
  Circle,
);
takesOptions<GeneralizedCrossEntropyOptions, CategoricalGeneralizedCrossEntropy>(
  { positional: ['q'], required: 0, options: { q: number(0.5), ...lossNames } },
  CategoricalGeneralizedCrossEntropy,
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
  BinaryFocalCrossentropy,
  CategoricalFocalCrossentropy,
  Dice,
  Tversky,
  Circle,
  CategoricalGeneralizedCrossEntropy,
])
  defineMethods(c.prototype, c.name, { call: { positional: ['yTrue', 'yPred'] } });
