import { scope, type Tensor, type TensorLike } from '@eagre/core';
import {
  argumentsOf,
  flagOption,
  integerOption,
  numberOption,
  type Option,
  orNull,
  takesOptions,
} from '@eagre/core/internal';
import { alike, as, predictions, sameRank } from '../arrange.ts';
import type { CrossentropyOptions, SparseCrossentropyOptions } from '../losses/functions.ts';
import * as functions from '../losses/functions.ts';
import type { ExampleArguments, SampleWeight } from '../losses/loss.ts';
import { defineUpdates, type MetricOptions, metricOptions, update } from './metric.ts';
import { Average, BuiltInMean } from './reduction.ts';

/** The mean of `losses.meanSquaredError`. */
export class MeanSquaredError extends BuiltInMean {
  constructor(...args: [name?: string | null | MetricOptions, options?: MetricOptions]) {
    super(functions.meanSquaredError, 'mean_squared_error', MeanSquaredError, args);
  }
}

/** The mean of `losses.meanAbsoluteError`. */
export class MeanAbsoluteError extends BuiltInMean {
  constructor(...args: [name?: string | null | MetricOptions, options?: MetricOptions]) {
    super(functions.meanAbsoluteError, 'mean_absolute_error', MeanAbsoluteError, args);
  }
}

/** The mean of `losses.meanAbsolutePercentageError`. */
export class MeanAbsolutePercentageError extends BuiltInMean {
  constructor(...args: [name?: string | null | MetricOptions, options?: MetricOptions]) {
    super(
      functions.meanAbsolutePercentageError,
      'mean_absolute_percentage_error',
      MeanAbsolutePercentageError,
      args,
    );
  }
}

/** The mean of `losses.meanSquaredLogarithmicError`. */
export class MeanSquaredLogarithmicError extends BuiltInMean {
  constructor(...args: [name?: string | null | MetricOptions, options?: MetricOptions]) {
    super(
      functions.meanSquaredLogarithmicError,
      'mean_squared_logarithmic_error',
      MeanSquaredLogarithmicError,
      args,
    );
  }
}

/** The square root of the mean of (yTrue − yPred)². */
export class RootMeanSquaredError extends Average {
  constructor(...args: [name?: string | null | MetricOptions, options?: MetricOptions]) {
    const given = argumentsOf<MetricOptions>(RootMeanSquaredError, new.target, args);
    super({ name: 'root_mean_squared_error', ...given });
  }
  override updateState(...args: ExampleArguments): void;
  override updateState(yTrue: TensorLike, yPred: TensorLike, sampleWeight: SampleWeight = null): void {
    update(() => {
      const p = as(predictions(yPred), this.dtype);
      const [t, q] = sameRank(alike(yTrue, p.dtype), p);
      this.add(q.sub(t).square(), sampleWeight);
    });
  }
  override result(): Tensor {
    return scope(() => super.result().sqrt());
  }
}

export interface CosineSimilarityOptions extends MetricOptions {
  /** The last unless given. */
  readonly axis?: number;
}

/** The mean cosine of the angle between targets and predictions: 1 for the same direction. */
export class CosineSimilarity extends BuiltInMean<{ readonly axis?: number }> {
  /** The axis of the vectors whose angle is meant. */
  declare readonly axis: number;
  constructor(...args: [name?: string | null | CosineSimilarityOptions, options?: CosineSimilarityOptions]) {
    const similarity = (t: TensorLike, p: TensorLike, o: { readonly axis?: number }): Tensor =>
      functions.cosineSimilarity(t, p, o).neg();
    super(similarity, 'cosine_similarity', CosineSimilarity, args);
  }
}

/** The mean of `losses.logCosh`. */
export class LogCoshError extends BuiltInMean {
  constructor(...args: [name?: string | null | MetricOptions, options?: MetricOptions]) {
    super(functions.logCosh, 'logcosh', LogCoshError, args);
  }
}

/** The mean of `losses.klDivergence`. */
export class KLDivergence extends BuiltInMean {
  constructor(...args: [name?: string | null | MetricOptions, options?: MetricOptions]) {
    super(functions.klDivergence, 'kl_divergence', KLDivergence, args);
  }
}

/** The mean of `losses.poisson`. */
export class Poisson extends BuiltInMean {
  constructor(...args: [name?: string | null | MetricOptions, options?: MetricOptions]) {
    super(functions.poisson, 'poisson', Poisson, args);
  }
}

/** The mean of `losses.hinge`. */
export class Hinge extends BuiltInMean {
  constructor(...args: [name?: string | null | MetricOptions, options?: MetricOptions]) {
    super(functions.hinge, 'hinge', Hinge, args);
  }
}

/** The mean of `losses.squaredHinge`. */
export class SquaredHinge extends BuiltInMean {
  constructor(...args: [name?: string | null | MetricOptions, options?: MetricOptions]) {
    super(functions.squaredHinge, 'squared_hinge', SquaredHinge, args);
  }
}

/** The mean of `losses.categoricalHinge`. */
export class CategoricalHinge extends BuiltInMean {
  constructor(...args: [name?: string | null | MetricOptions, options?: MetricOptions]) {
    super(functions.categoricalHinge, 'categorical_hinge', CategoricalHinge, args);
  }
}

export type CrossentropyMetric = MetricOptions & CrossentropyOptions;

/** The mean of `losses.binaryCrossentropy`. */
export class BinaryCrossentropy extends BuiltInMean<CrossentropyOptions> {
  /** `yPred` holds logits instead of probabilities. */
  declare readonly fromLogits: boolean;
  /** Moves the targets that far toward the uniform distribution; from 0 to 1. */
  declare readonly labelSmoothing: number;
  constructor(...args: [name?: string | null | CrossentropyMetric, options?: CrossentropyMetric]) {
    super(functions.binaryCrossentropy, 'binary_crossentropy', BinaryCrossentropy, args);
  }
}

/** The mean of `losses.categoricalCrossentropy`. */
export class CategoricalCrossentropy extends BuiltInMean<CrossentropyOptions> {
  /** `yPred` holds logits instead of probabilities. */
  declare readonly fromLogits: boolean;
  /** Moves the targets that far toward the uniform distribution; from 0 to 1. */
  declare readonly labelSmoothing: number;
  /** The axis of the classes. */
  declare readonly axis: number;
  constructor(...args: [name?: string | null | CrossentropyMetric, options?: CrossentropyMetric]) {
    super(functions.categoricalCrossentropy, 'categorical_crossentropy', CategoricalCrossentropy, args);
  }
}

/** Options of the metric `SparseCategoricalCrossentropy`. */
export type SparseCrossentropyMetricOptions = MetricOptions & SparseCrossentropyOptions;

/**
 * The mean of `losses.sparseCategoricalCrossentropy`. Places of `ignoreClass` are 0 and count in the mean, as in Keras, unless there
 * are sample weights: then they are left out.
 */
export class SparseCategoricalCrossentropy extends BuiltInMean<SparseCrossentropyOptions> {
  /** Whether `yPred` holds logits instead of probabilities. */
  declare readonly fromLogits: boolean;
  /** A label whose places count for nothing, such as -1 for padding. */
  declare readonly ignoreClass: number | null;
  /** The axis of the classes in `yPred`. */
  declare readonly axis: number;
  constructor(
    ...args: [
      name?: string | null | SparseCrossentropyMetricOptions,
      options?: SparseCrossentropyMetricOptions,
    ]
  ) {
    super(
      functions.sparseCategoricalCrossentropy,
      'sparse_categorical_crossentropy',
      SparseCategoricalCrossentropy,
      args,
    );
  }
  override updateState(...args: ExampleArguments): void;
  override updateState(yTrue: TensorLike, yPred: TensorLike, sampleWeight: SampleWeight = null): void {
    const { ignoreClass = null } = this.fnOptions;
    if (ignoreClass === null || sampleWeight === null) {
      super.updateState(yTrue, yPred, sampleWeight);
      return;
    }
    update(() => {
      const p = predictions(yPred);
      const counts = as(functions.sparseLabels(yTrue, p, ignoreClass).valid as Tensor, this.dtype);
      const [valid, weights] = sameRank(counts, alike(sampleWeight, this.dtype));
      this.add(as(this.evaluate(yTrue, p), this.dtype), valid.mul(weights));
    });
  }
}

takesOptions<MetricOptions, Average>(
  { positional: ['name'], required: 0, options: metricOptions },
  MeanSquaredError,
  MeanAbsoluteError,
  MeanAbsolutePercentageError,
  MeanSquaredLogarithmicError,
  RootMeanSquaredError,
  LogCoshError,
  KLDivergence,
  Poisson,
  Hinge,
  SquaredHinge,
  CategoricalHinge,
);
const axis = integerOption(-1);
takesOptions<CosineSimilarityOptions, CosineSimilarity>(
  { positional: ['name'], required: 0, options: { ...metricOptions, axis } },
  CosineSimilarity,
);
const crossentropy = { ...metricOptions, fromLogits: flagOption(false), labelSmoothing: numberOption(0) };
// Keras has no axis there, and writes none.
const axisIfGiven: Option<number | undefined> = {
  read: (given, name, of) => (given === undefined || given === null ? undefined : axis.read(given, name, of)),
};
takesOptions<CrossentropyMetric, BinaryCrossentropy>(
  { positional: ['name'], required: 0, options: { ...crossentropy, axis: axisIfGiven } },
  BinaryCrossentropy,
);
takesOptions<CrossentropyMetric, CategoricalCrossentropy>(
  { positional: ['name'], required: 0, options: { ...crossentropy, axis } },
  CategoricalCrossentropy,
);
takesOptions<SparseCrossentropyMetricOptions, SparseCategoricalCrossentropy>(
  {
    positional: ['name'],
    required: 0,
    options: {
      ...metricOptions,
      fromLogits: flagOption(false),
      ignoreClass: orNull(integerOption(0)),
      axis,
    },
  },
  SparseCategoricalCrossentropy,
);
defineUpdates(RootMeanSquaredError, 'RootMeanSquaredError');
defineUpdates(SparseCategoricalCrossentropy, 'SparseCategoricalCrossentropy');
