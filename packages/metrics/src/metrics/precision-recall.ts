import { constant, scope, type Tensor, type TensorLike, type Variable } from '@eagre/core';
import { argumentsOf, integerOption, orNull, takesOptions } from '@eagre/core/internal';
import { as, predictions } from '../arrange.ts';
import type { ExampleArguments, SampleWeight } from '../losses/loss.ts';
import { type Counts, checkThresholds, confusion } from './confusion.ts';
import { defineUpdates, Metric, type MetricOptions, metricOptions, update } from './metric.ts';

/** Options of `Precision`. */
export interface PrecisionOptions extends MetricOptions {
  /** Predictions above it are positive; several give one result each. 0.5 unless given, or with `topK` none. */
  readonly thresholds?: number | readonly number[] | null;
  /** Only the k largest predictions of an example can be positive. */
  readonly topK?: number | null;
  /** Looks at one class of predictions `[n, classes]`. */
  readonly classId?: number | null;
}

abstract class Thresholded extends Metric {
  /** Predictions above it are positive; several give one result each. */
  readonly thresholds: readonly number[];
  /** Only the k largest predictions of an example can be positive. */
  declare readonly topK: number | null;
  /** Looks at one class of predictions `[n, classes]`. */
  declare readonly classId: number | null;
  /** For each threshold, how many positives were found. */
  readonly truePositives: Variable;
  readonly #given: number | readonly number[] | null;

  constructor(options: PrecisionOptions) {
    super(options);
    const { thresholds = null } = options;
    this.#given = thresholds;
    this.thresholds = thresholds === null ? [this.topK === null ? 0.5 : -1e10] : [thresholds].flat();
    if (thresholds !== null) checkThresholds(this.thresholds, this.name);
    this.truePositives = this.addWeight({ name: 'true_positives', shape: [this.thresholds.length] });
  }

  override updateState(...args: ExampleArguments): void;
  override updateState(yTrue: TensorLike, yPred: TensorLike, sampleWeight: SampleWeight = null): void {
    update(() => {
      const p = as(predictions(yPred), this.dtype);
      const limits = constant([...this.thresholds], this.dtype);
      this.count(confusion(yTrue, p, limits, sampleWeight, this, this.name));
    });
  }
  protected abstract count(counts: Counts): void;

  /** @internal truePositives / (truePositives + others) */
  protected ratio(others: Variable): Tensor {
    return scope(() => {
      const ratios = this.truePositives.divNoNan(this.truePositives.add(others));
      return this.thresholds.length === 1 ? ratios.reshape([]) : ratios;
    });
  }
  override getConfig(): Record<string, unknown> {
    return { ...super.getConfig(), thresholds: this.#given };
  }
}

/** The part of positive predictions that is right: truePositives / (truePositives + falsePositives). */
export class Precision extends Thresholded {
  /** For each threshold, how many negatives were taken for positives. */
  readonly falsePositives: Variable;
  constructor(
    ...args: [thresholds?: number | readonly number[] | null | PrecisionOptions, options?: PrecisionOptions]
  ) {
    const given = argumentsOf<PrecisionOptions>(Precision, new.target, args);
    super(given);
    this.falsePositives = this.addWeight({ name: 'false_positives', shape: [this.thresholds.length] });
  }
  protected override count(counts: Counts): void {
    this.truePositives.assignAdd(counts.truePositives);
    this.falsePositives.assignAdd(counts.falsePositives);
  }
  override result(): Tensor {
    return this.ratio(this.falsePositives);
  }
}

/** The part of positive targets that is found: truePositives / (truePositives + falseNegatives). */
export class Recall extends Thresholded {
  /** For each threshold, how many positives were missed. */
  readonly falseNegatives: Variable;
  constructor(
    ...args: [thresholds?: number | readonly number[] | null | PrecisionOptions, options?: PrecisionOptions]
  ) {
    const given = argumentsOf<PrecisionOptions>(Recall, new.target, args);
    super(given);
    this.falseNegatives = this.addWeight({ name: 'false_negatives', shape: [this.thresholds.length] });
  }
  protected override count(counts: Counts): void {
    this.truePositives.assignAdd(counts.truePositives);
    this.falseNegatives.assignAdd(counts.falseNegatives);
  }
  override result(): Tensor {
    return this.ratio(this.falseNegatives);
  }
}

takesOptions<PrecisionOptions, Thresholded>(
  {
    positional: ['thresholds'],
    required: 0,
    options: {
      thresholds: true,
      topK: orNull(integerOption(1, 1)),
      classId: orNull(integerOption(0)),
      ...metricOptions,
    },
  },
  Precision,
  Recall,
);
defineUpdates(Thresholded, 'Metric');
defineUpdates(Precision, 'Precision');
defineUpdates(Recall, 'Recall');
