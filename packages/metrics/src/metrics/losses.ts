import { scope, type Tensor, type TensorLike } from '@eagre/core';
import { takesOptions } from '@eagre/core/internal';
import { alike, as, predictions, sameRank } from '../arrange.ts';
import type { CrossentropyOptions, SparseCrossentropyOptions } from '../losses/functions.ts';
import * as functions from '../losses/functions.ts';
import type { SampleWeightOptions } from '../losses/loss.ts';
import { type MetricOptions, metricOptions, named, update } from './metric.ts';
import { Average, BuiltInMean } from './reduction.ts';

type Options = string | MetricOptions;

/** The mean of `losses.meanSquaredError`. */
export class MeanSquaredError extends BuiltInMean {
  constructor(name?: Options, options?: MetricOptions) {
    super(functions.meanSquaredError, { name: 'mean_squared_error', ...named(name, options) });
  }
}

/** The mean of `losses.meanAbsoluteError`. */
export class MeanAbsoluteError extends BuiltInMean {
  constructor(name?: Options, options?: MetricOptions) {
    super(functions.meanAbsoluteError, { name: 'mean_absolute_error', ...named(name, options) });
  }
}

/** The mean of `losses.meanAbsolutePercentageError`. */
export class MeanAbsolutePercentageError extends BuiltInMean {
  constructor(name?: Options, options?: MetricOptions) {
    super(functions.meanAbsolutePercentageError, {
      name: 'mean_absolute_percentage_error',
      ...named(name, options),
    });
  }
}

/** The mean of `losses.meanSquaredLogarithmicError`. */
export class MeanSquaredLogarithmicError extends BuiltInMean {
  constructor(name?: Options, options?: MetricOptions) {
    super(functions.meanSquaredLogarithmicError, {
      name: 'mean_squared_logarithmic_error',
      ...named(name, options),
    });
  }
}

/** The square root of the mean of (yTrue − yPred)². */
export class RootMeanSquaredError extends Average {
  constructor(name?: Options, options?: MetricOptions) {
    super({ name: 'root_mean_squared_error', ...named(name, options) });
  }
  override updateState(yTrue: TensorLike, yPred: TensorLike, options: SampleWeightOptions = {}): void {
    update(() => {
      const p = as(predictions(yPred), this.dtype);
      const [t, q] = sameRank(alike(yTrue, p.dtype), p);
      this.add(q.sub(t).square(), options.sampleWeight ?? null);
    });
  }
  override result(): Tensor {
    return scope(() => super.result().sqrt());
  }
}

/** The mean cosine of the angle between targets and predictions: 1 for the same direction. */
export class CosineSimilarity extends BuiltInMean<{ readonly axis: number }> {
  constructor(
    name?: string | (MetricOptions & { readonly axis?: number }),
    options?: MetricOptions & { readonly axis?: number },
  ) {
    const similarity = (t: TensorLike, p: TensorLike, o: { readonly axis: number }): Tensor =>
      functions.cosineSimilarity(t, p, o).neg();
    super(similarity, { name: 'cosine_similarity', axis: -1, ...named(name, options) });
  }
}

/** The mean of `losses.logCosh`. */
export class LogCoshError extends BuiltInMean {
  constructor(name?: Options, options?: MetricOptions) {
    super(functions.logCosh, { name: 'logcosh', ...named(name, options) });
  }
}

/** The mean of `losses.klDivergence`. */
export class KLDivergence extends BuiltInMean {
  constructor(name?: Options, options?: MetricOptions) {
    super(functions.klDivergence, { name: 'kl_divergence', ...named(name, options) });
  }
}

/** The mean of `losses.poisson`. */
export class Poisson extends BuiltInMean {
  constructor(name?: Options, options?: MetricOptions) {
    super(functions.poisson, { name: 'poisson', ...named(name, options) });
  }
}

/** The mean of `losses.hinge`. */
export class Hinge extends BuiltInMean {
  constructor(name?: Options, options?: MetricOptions) {
    super(functions.hinge, { name: 'hinge', ...named(name, options) });
  }
}

/** The mean of `losses.squaredHinge`. */
export class SquaredHinge extends BuiltInMean {
  constructor(name?: Options, options?: MetricOptions) {
    super(functions.squaredHinge, { name: 'squared_hinge', ...named(name, options) });
  }
}

/** The mean of `losses.categoricalHinge`. */
export class CategoricalHinge extends BuiltInMean {
  constructor(name?: Options, options?: MetricOptions) {
    super(functions.categoricalHinge, { name: 'categorical_hinge', ...named(name, options) });
  }
}

type CrossentropyMetric = MetricOptions & CrossentropyOptions;
const smoothed = { fromLogits: false, labelSmoothing: 0 };

/** The mean of `losses.binaryCrossentropy`. */
export class BinaryCrossentropy extends BuiltInMean<CrossentropyOptions> {
  constructor(name?: string | CrossentropyMetric, options?: CrossentropyMetric) {
    super(functions.binaryCrossentropy, {
      name: 'binary_crossentropy',
      ...smoothed,
      ...named(name, options),
    });
  }
}

/** The mean of `losses.categoricalCrossentropy`. */
export class CategoricalCrossentropy extends BuiltInMean<CrossentropyOptions> {
  constructor(name?: string | CrossentropyMetric, options?: CrossentropyMetric) {
    super(functions.categoricalCrossentropy, {
      name: 'categorical_crossentropy',
      ...smoothed,
      axis: -1,
      ...named(name, options),
    });
  }
}

export type SparseCrossentropyMetricOptions = MetricOptions & SparseCrossentropyOptions;

/** The mean of `losses.sparseCategoricalCrossentropy`, without places of `ignoreClass`. */
export class SparseCategoricalCrossentropy extends BuiltInMean<SparseCrossentropyOptions> {
  constructor(name?: string | SparseCrossentropyMetricOptions, options?: SparseCrossentropyMetricOptions) {
    const defaults = { fromLogits: false, ignoreClass: null, axis: -1 };
    super(functions.sparseCategoricalCrossentropy, {
      name: 'sparse_categorical_crossentropy',
      ...defaults,
      ...named(name, options),
    });
  }
  override updateState(yTrue: TensorLike, yPred: TensorLike, options: SampleWeightOptions = {}): void {
    const { ignoreClass = null } = this.fnOptions;
    if (ignoreClass === null) {
      super.updateState(yTrue, yPred, options);
      return;
    }
    update(() => {
      const p = predictions(yPred);
      const counts = as(functions.sparseLabels(yTrue, p, ignoreClass).valid as Tensor, this.dtype);
      const { sampleWeight = null } = options;
      const [valid, weights] =
        sampleWeight === null ? [counts, null] : sameRank(counts, alike(sampleWeight, this.dtype));
      const values = as(this.evaluate(yTrue, p), this.dtype);
      this.add(values, weights === null ? valid : valid.mul(weights));
    });
  }
}

takesOptions<MetricOptions>(
  metricOptions,
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
takesOptions<MetricOptions & { axis?: number }>({ ...metricOptions, axis: true }, CosineSimilarity);
takesOptions<CrossentropyMetric>(
  { ...metricOptions, fromLogits: true, labelSmoothing: true, axis: true },
  BinaryCrossentropy,
  CategoricalCrossentropy,
);
takesOptions<SparseCrossentropyMetricOptions>(
  { ...metricOptions, fromLogits: true, ignoreClass: true, axis: true },
  SparseCategoricalCrossentropy,
);
