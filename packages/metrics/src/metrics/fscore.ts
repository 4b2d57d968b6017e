import {
  FailedPreconditionError,
  InvalidArgumentError,
  scope,
  sub,
  type Tensor,
  type TensorLike,
  type Variable,
} from '@eagre/core';
import {
  argumentsOf,
  type Dim,
  dims,
  kerasDefaults,
  knownDim,
  numberOption,
  type Option,
  orNull,
  sameShape,
  shown,
  showShape,
  takesOptions,
} from '@eagre/core/internal';
import { alike, as, predictions } from '../arrange.ts';
import type { ExampleArguments, SampleWeight } from '../losses/loss.ts';
import { defineUpdates, Metric, type MetricOptions, metricOptions, update } from './metric.ts';

/** Options of `F1Score`. */
export interface F1ScoreOptions extends MetricOptions {
  /** One result for each class (null), or over all classes: of their counts, their mean, or that weighted by frequency. */
  readonly average?: 'micro' | 'macro' | 'weighted' | null;
  /** Predictions above it are positive; without one the largest of each example is. */
  readonly threshold?: number | null;
}
/** Options of `FBetaScore`. */
export interface FBetaScoreOptions extends F1ScoreOptions {
  /** How many times as much recall counts as precision; 1 unless given. */
  readonly beta?: number;
}

interface Counts {
  readonly truePositives: Variable;
  readonly falsePositives: Variable;
  readonly falseNegatives: Variable;
  readonly intermediateWeights: Variable;
}

/**
 * The weighted harmonic mean of precision and recall, (1 + beta²) · p · r / (beta² · p + r). Targets and predictions are
 * [batch, classes]; the number of classes is known at the first update.
 */
export class FBetaScore extends Metric {
  /** One result for each class (null), or over all classes: of their counts, their mean, or that weighted by frequency. */
  declare readonly average: 'micro' | 'macro' | 'weighted' | null;
  /** How many times as much recall counts as precision. */
  declare readonly beta: number;
  /** Predictions above it are positive; without one the largest of each example is. */
  declare readonly threshold: number | null;
  protected counts: Counts | null = null;

  constructor(
    ...args: [
      average?: 'micro' | 'macro' | 'weighted' | null | FBetaScoreOptions,
      options?: FBetaScoreOptions,
    ]
  ) {
    const given = argumentsOf<FBetaScoreOptions>(FBetaScore, new.target, args);
    super({ name: 'fbeta_score', ...given });
  }

  override updateState(...args: ExampleArguments): void;
  override updateState(yTrue: TensorLike, yPred: TensorLike, sampleWeight: SampleWeight = null): void {
    update(() => {
      const scores = as(predictions(yPred), this.dtype);
      const t = alike(yTrue, this.dtype);
      if (scores.rank !== 2 || !sameShape(scores.shape, t.shape)) {
        throw new InvalidArgumentError(
          `targets ${showShape(t.shape)} and predictions ${showShape(scores.shape)} must both be [batch, classes]`,
          this.name,
        );
      }
      const counts = (this.counts ??= this.#make(dims(scores)[1]));
      const positive =
        this.threshold === null
          ? // Where all are 0, none is the largest.
            scores.greaterEqual(scores.max(-1, { keepdims: true })).logicalAnd(scores.abs().greater(1e-9))
          : scores.greater(this.threshold);
      const p = positive.cast(this.dtype);
      const weights = sampleWeight === null ? null : alike(sampleWeight, this.dtype).expandDims(-1);
      const total = (x: Tensor): Tensor =>
        (weights === null ? x : x.mul(weights)).sum(this.average === 'micro' ? null : 0);
      counts.truePositives.assignAdd(total(p.mul(t)));
      counts.falsePositives.assignAdd(total(p.mul(sub(1, t))));
      counts.falseNegatives.assignAdd(total(sub(1, p).mul(t)));
      counts.intermediateWeights.assignAdd(total(t));
    });
  }

  override result(): Tensor {
    return scope(() => {
      if (this.counts === null) throw new FailedPreconditionError('there was no update yet', this.name);
      const { truePositives: tp, falsePositives: fp, falseNegatives: fn, intermediateWeights } = this.counts;
      const squared = this.beta ** 2;
      const precision = tp.div(tp.add(fp).add(kerasDefaults.epsilon));
      const recall = tp.div(tp.add(fn).add(kerasDefaults.epsilon));
      const scores = precision
        .mul(recall)
        .div(precision.mul(squared).add(recall).add(kerasDefaults.epsilon))
        .mul(1 + squared);
      if (this.average === null) return scores;
      if (this.average !== 'weighted') return scores.mean();
      return scores.mul(intermediateWeights.div(intermediateWeights.sum().add(kerasDefaults.epsilon))).sum();
    });
  }

  #make(classes: Dim): Counts {
    const shape = this.average === 'micro' ? [] : [knownDim(classes)];
    const weight = (name: string): Variable => this.addWeight({ name, shape });
    return {
      truePositives: weight('true_positives'),
      falsePositives: weight('false_positives'),
      falseNegatives: weight('false_negatives'),
      intermediateWeights: weight('intermediate_weights'),
    };
  }
}

/** The harmonic mean of precision and recall, 2 · p · r / (p + r). */
export class F1Score extends FBetaScore {
  override readonly beta: number = 1;
  constructor(
    ...args: [average?: 'micro' | 'macro' | 'weighted' | null | F1ScoreOptions, options?: F1ScoreOptions]
  ) {
    const given = argumentsOf<F1ScoreOptions>(F1Score, new.target, args);
    super({ name: 'f1_score', ...given });
  }
}

const averages = ['micro', 'macro', 'weighted'] as const;
const average: Option<(typeof averages)[number] | null> = {
  read: (given, _, of) => {
    const found = averages.find((known) => known === given);
    if (found !== undefined) return found;
    if (given === undefined || given === null) return null;
    throw new InvalidArgumentError(
      `average must be micro, macro, weighted or null, got ${shown(given)}`,
      (of as Metric).name,
    );
  },
};
const beta: Option<number> = {
  read: (given, name, of) => {
    const value = numberOption(1).read(given, name, of);
    if (value > 0) return value;
    throw new InvalidArgumentError(`beta must be above 0, got ${value}`, (of as Metric).name);
  },
};
const threshold = orNull<number>({
  read: (given, name, of) => {
    const value = numberOption(1).read(given, name, of);
    if (value > 0 && value <= 1) return value;
    throw new InvalidArgumentError(`the threshold must be in (0, 1], got ${value}`, (of as Metric).name);
  },
});
takesOptions<F1ScoreOptions, F1Score>(
  { positional: ['average'], required: 0, options: { average, threshold, ...metricOptions } },
  F1Score,
);
takesOptions<FBetaScoreOptions, FBetaScore>(
  { positional: ['average'], required: 0, options: { average, beta, threshold, ...metricOptions } },
  FBetaScore,
);
defineUpdates(FBetaScore, 'FBetaScore');
