import {
  constant,
  InvalidArgumentError,
  maximum,
  minimum,
  scope,
  type Tensor,
  type TensorLike,
  type Variable,
  where,
} from '@eagre/core';
import {
  argumentsOf,
  flagOption,
  kerasDefaults,
  type Option,
  shown,
  takesOptions,
} from '@eagre/core/internal';
import { as, predictions } from '../arrange.ts';
import type { ExampleArguments, SampleWeight } from '../losses/loss.ts';
import { checkThresholds, confusion, MOST_THRESHOLDS } from './confusion.ts';
import { defineUpdates, Metric, type MetricOptions, metricOptions, update } from './metric.ts';

export interface AUCOptions extends MetricOptions {
  /** How many thresholds, evenly spaced from 0 to 1; 200 unless given. */
  readonly numThresholds?: number;
  /** Thresholds in (0, 1) instead; 0 and 1 are added. */
  readonly thresholds?: readonly number[] | null;
  /** True against false positives (`'ROC'`), or precision against recall. */
  readonly curve?: 'ROC' | 'PR';
  /** The height between two points: their mean (for PR: Davis and Goadrich's interpolation), the smaller, or the larger one. */
  readonly summationMethod?: 'interpolation' | 'minoring' | 'majoring';
  readonly fromLogits?: boolean;
}

/** The area under the ROC or the precision-recall curve, approximated at thresholds. Predictions are probabilities. */
export class AUC extends Metric {
  readonly numThresholds: number;
  declare readonly curve: 'ROC' | 'PR';
  declare readonly summationMethod: 'interpolation' | 'minoring' | 'majoring';
  declare readonly fromLogits: boolean;
  readonly thresholds: readonly number[];
  readonly truePositives: Variable;
  readonly falsePositives: Variable;
  readonly trueNegatives: Variable;
  readonly falseNegatives: Variable;
  readonly #given: readonly number[] | null;

  constructor(...args: [numThresholds?: number | null | AUCOptions, options?: AUCOptions]) {
    const given = argumentsOf<AUCOptions>(AUC, new.target, args);
    super(given);
    const { thresholds = null } = given;
    const numThresholds = given.numThresholds ?? 200;
    if (
      thresholds === null &&
      !(Number.isInteger(numThresholds) && numThresholds > 1 && numThresholds <= MOST_THRESHOLDS)
    ) {
      throw new InvalidArgumentError(
        `numThresholds must be an integer from 2 to ${MOST_THRESHOLDS}, got ${shown(numThresholds)}`,
        this.name,
      );
    }
    if (thresholds !== null && !Array.isArray(thresholds))
      throw new InvalidArgumentError(`thresholds must be a list, got ${shown(thresholds)}`, this.name);
    if (thresholds !== null) checkThresholds(thresholds, this.name);
    const inner =
      thresholds === null
        ? Array.from({ length: numThresholds - 2 }, (_, i) => (i + 1) / (numThresholds - 1))
        : [...thresholds].sort((a, b) => a - b);
    this.#given = thresholds;
    // A little beyond 0 and 1, so that every prediction is above the first and none above the last.
    this.thresholds = [-kerasDefaults.epsilon, ...inner, 1 + kerasDefaults.epsilon];
    this.numThresholds = this.thresholds.length;
    const weight = (local: string): Variable => this.addWeight({ name: local, shape: [this.numThresholds] });
    this.truePositives = weight('true_positives');
    this.falsePositives = weight('false_positives');
    this.trueNegatives = weight('true_negatives');
    this.falseNegatives = weight('false_negatives');
  }

  override updateState(...args: ExampleArguments): void;
  override updateState(yTrue: TensorLike, yPred: TensorLike, sampleWeight: SampleWeight = null): void {
    update(() => {
      const given = as(predictions(yPred), this.dtype);
      const p = this.fromLogits ? given.sigmoid() : given;
      const limits = constant([...this.thresholds], this.dtype);
      const counts = confusion(yTrue, p, limits, sampleWeight, {}, this.name);
      this.truePositives.assignAdd(counts.truePositives);
      this.falsePositives.assignAdd(counts.falsePositives);
      this.trueNegatives.assignAdd(counts.trueNegatives);
      this.falseNegatives.assignAdd(counts.falseNegatives);
    });
  }

  override result(): Tensor {
    return scope(() => this.#area());
  }

  #area(): Tensor {
    const { truePositives: tp, falsePositives: fp, trueNegatives: tn, falseNegatives: fn } = this;
    if (this.curve === 'PR' && this.summationMethod === 'interpolation')
      return interpolatedPrecision(tp, fp, fn);
    const recall = tp.divNoNan(tp.add(fn));
    const [x, y] =
      this.curve === 'ROC' ? [fp.divNoNan(fp.add(tn)), recall] : [recall, tp.divNoNan(tp.add(fp))];
    const [before, after] = ends(y);
    const method = this.summationMethod;
    const heights =
      method === 'interpolation'
        ? before.add(after).div(2)
        : (method === 'minoring' ? minimum : maximum)(before, after);
    const [x0, x1] = ends(x);
    return x0.sub(x1).mul(heights).sum();
  }

  override getConfig(): Record<string, unknown> {
    return {
      ...super.getConfig(),
      num_thresholds: this.numThresholds,
      ...(this.#given === null ? {} : { thresholds: this.thresholds.slice(1, -1) }),
    };
  }
}

/** All but the last, and all but the first element. */
function ends(x: Tensor | Variable): [Tensor, Tensor] {
  const n = x.shape[0];
  return [x.slice([0], [n - 1]), x.slice([1], [n - 1])];
}

/**
 * The area under a precision-recall curve whose counts are interpolated between thresholds: between two of them tp is linear
 * in p = tp + fp, tp = slope · p + c, so that ∫ tp / p dtp = slope · (Δtp + c · log(p0 / p1)). Davis and Goadrich, "The
 * Relationship Between Precision-Recall and ROC Curves", 2006.
 */
function interpolatedPrecision(tp: Variable, fp: Variable, fn: Variable): Tensor {
  const [tp0, tp1] = ends(tp);
  const [p0, p1] = ends(tp.add(fp));
  const [, fn1] = ends(fn);
  const dtp = tp0.sub(tp1);
  const slope = dtp.divNoNan(maximum(p0.sub(p1), 0));
  const c = tp1.sub(slope.mul(p1));
  const both = p0.greater(0).logicalAnd(p1.greater(0));
  const ratio = where(both, p0.divNoNan(p1), constant(1, p0.dtype));
  return slope
    .mul(dtp.add(c.mul(ratio.log())))
    .divNoNan(maximum(tp1.add(fn1), 0))
    .sum();
}

/** One of some words. */
const oneOf = <W extends string>(words: readonly [W, ...W[]]): Option<W> => ({
  read: (given, name, of) => {
    const found = words.find((word) => word === (given ?? words[0]));
    if (found !== undefined) return found;
    const known = words.map((word) => `'${word}'`).join(' or ');
    throw new InvalidArgumentError(`${name} must be ${known}, got ${shown(given)}`, (of as Metric).name);
  },
});
takesOptions<AUCOptions, AUC>(
  {
    positional: ['numThresholds'],
    required: 0,
    options: {
      numThresholds: true,
      curve: oneOf(['ROC', 'PR']),
      summationMethod: oneOf(['interpolation', 'minoring', 'majoring']),
      ...metricOptions,
      thresholds: true,
      fromLogits: flagOption(false),
    },
    fixed: { multi_label: false, num_labels: null, label_weights: null },
  },
  AUC,
);
defineUpdates(AUC, 'AUC');
