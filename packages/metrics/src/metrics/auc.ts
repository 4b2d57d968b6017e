import {
  constant,
  InvalidArgumentError,
  maximum,
  minimum,
  scope,
  stack,
  type Tensor,
  type TensorLike,
  type Variable,
  where,
} from '@eagre/core';
import {
  argumentsOf,
  type Dim,
  dims,
  flagOption,
  inInitScope,
  kerasDefaults,
  knownDim,
  type Option,
  shown,
  showShape,
  takesOptions,
} from '@eagre/core/internal';
import { as, predictions } from '../arrange.ts';
import type { ExampleArguments, SampleWeight } from '../losses/loss.ts';
import { type Counts, checkThresholds, confusion, MOST_THRESHOLDS } from './confusion.ts';
import { defineUpdates, Metric, type MetricOptions, metricOptions, update } from './metric.ts';

type Curve = 'ROC' | 'PR' | 'PRGAIN';

/** Options of `AUC`. */
export interface AUCOptions extends MetricOptions {
  /** How many thresholds, evenly spaced from 0 to 1; 200 unless given. */
  readonly numThresholds?: number;
  /** Thresholds in (0, 1) instead; 0 and 1 are added. */
  readonly thresholds?: readonly number[] | null;
  /** True against false positives (`'ROC'`), precision against recall, or the gains of both (Flach and Kull, 2015). */
  readonly curve?: Curve;
  /** The height between two points: their mean (for PR: Davis and Goadrich's interpolation), the smaller, or the larger one. */
  readonly summationMethod?: 'interpolation' | 'minoring' | 'majoring';
  /** Whether predictions are logits instead of probabilities; false by default. */
  readonly fromLogits?: boolean;
  /** Whether the labels [n, labels] are each of two classes: the mean of the area of each. False unless given. */
  readonly multiLabel?: boolean;
  /** How many labels there are, of `multiLabel`; as many as the first predictions have by default. */
  readonly numLabels?: number | null;
  /** How much each label counts; all alike by default. */
  readonly labelWeights?: readonly number[] | null;
}

/** The area under the ROC or the precision-recall curve, approximated at thresholds. Predictions are probabilities. */
export class AUC extends Metric {
  /** How many thresholds, evenly spaced from 0 to 1. */
  readonly numThresholds: number;
  /** True against false positives (`'ROC'`), precision against recall, or the gains of both (Flach and Kull, 2015). */
  declare readonly curve: Curve;
  /** The height between two points: their mean (for PR: Davis and Goadrich's interpolation), the smaller, or the larger one. */
  declare readonly summationMethod: 'interpolation' | 'minoring' | 'majoring';
  /** Whether predictions are logits instead of probabilities. */
  declare readonly fromLogits: boolean;
  /** Thresholds in (0, 1) instead; 0 and 1 are added. */
  readonly thresholds: readonly number[];
  /** Whether the labels [n, labels] are each of two classes: the mean of the area of each. */
  declare readonly multiLabel: boolean;
  /** How much each label counts. */
  readonly labelWeights: readonly number[] | null;
  /** How many labels there are, of `multiLabel`. */
  readonly numLabels: number | null;
  /** [thresholds], with `multiLabel` [thresholds, labels]; made at the first update where nothing tells how many labels there are. */
  truePositives!: Variable;
  /** As `truePositives`, of negatives that were taken for positives. */
  falsePositives!: Variable;
  /** As `truePositives`, of negatives that were found. */
  trueNegatives!: Variable;
  /** As `truePositives`, of positives that were missed. */
  falseNegatives!: Variable;
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
    this.labelWeights = given.labelWeights ?? null;
    this.numLabels = given.numLabels ?? null;
    if (this.labelWeights !== null && !isNumbers(this.labelWeights))
      throw new InvalidArgumentError(
        `labelWeights must be a list of numbers, got ${shown(this.labelWeights)}`,
        this.name,
      );
    if (this.numLabels !== null && !this.multiLabel)
      throw new InvalidArgumentError('numLabels is for multiLabel: true', this.name);
    if (!this.multiLabel) this.#addCounts([]);
    else if (this.numLabels !== null) this.#addCounts([this.numLabels]);
  }

  #addCounts(labels: readonly number[]): void {
    const weight = (local: string): Variable =>
      this.addWeight({ name: local, shape: [this.numThresholds, ...labels] });
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
      const counts =
        this.multiLabel || this.labelWeights !== null
          ? this.#countsOfLabels(yTrue, p, limits, sampleWeight)
          : confusion(yTrue, p, limits, sampleWeight, {}, this.name);
      this.truePositives.assignAdd(counts.truePositives);
      this.falsePositives.assignAdd(counts.falsePositives);
      this.trueNegatives.assignAdd(counts.trueNegatives);
      this.falseNegatives.assignAdd(counts.falseNegatives);
    });
  }

  /** The counts of each label, [thresholds, labels], or their weighted sum, [thresholds]. */
  #countsOfLabels(yTrue: TensorLike, p: Tensor, limits: Tensor, sampleWeight: SampleWeight): Counts {
    const labels = p.rank === 2 ? knownDim(dims(p)[1] as Dim) : 0;
    const wanted = this.truePositives?.shape[1] ?? this.numLabels ?? this.labelWeights?.length ?? labels;
    if (p.rank !== 2 || labels !== wanted)
      throw new InvalidArgumentError(
        `expects predictions [n, ${wanted === 0 ? 'labels' : wanted}], got ${showShape(p.shape)}`,
        this.name,
      );
    if (this.multiLabel && this.truePositives === undefined) inInitScope(() => this.#addCounts([labels]));
    const t = predictions(yTrue);
    const weight = sampleWeight === null ? null : as(predictions(sampleWeight), this.dtype);
    const each = Array.from({ length: labels }, (_, i): Counts => {
      const own = weight !== null && weight.rank === 2 ? weight.at(':', i) : weight;
      return confusion(t.at(':', i), p.at(':', i), limits, own, {}, this.name);
    });
    const together = (of: keyof Counts): Tensor => {
      const parts = each.map((counts) => counts[of]);
      if (this.multiLabel) return stack(parts, 1);
      return parts.map((x, i) => x.mul(this.labelWeights?.[i] as number)).reduce((a, b) => a.add(b));
    };
    return {
      truePositives: together('truePositives'),
      falsePositives: together('falsePositives'),
      trueNegatives: together('trueNegatives'),
      falseNegatives: together('falseNegatives'),
    };
  }

  override result(): Tensor {
    return scope(() => {
      // Nothing has come yet.
      if (this.truePositives === undefined) return constant(0, this.dtype);
      const areas = this.#area();
      if (!this.multiLabel) return areas;
      if (this.labelWeights === null) return areas.mean();
      const weights = constant([...this.labelWeights], this.dtype);
      return areas.mul(weights).sum().divNoNan(weights.sum());
    });
  }

  /** The area, or that of each label. */
  #area(): Tensor {
    const { truePositives: tp, falsePositives: fp, trueNegatives: tn, falseNegatives: fn } = this;
    if (this.curve === 'PR' && this.summationMethod === 'interpolation')
      return interpolatedPrecision(tp, fp, fn);
    const recall = tp.divNoNan(tp.add(fn));
    const [x, y] =
      this.curve === 'ROC'
        ? [fp.divNoNan(fp.add(tn)), recall]
        : this.curve === 'PR'
          ? [recall, tp.divNoNan(tp.add(fp))]
          : gains(tp, fp, tn, fn);
    const [before, after] = ends(y);
    const method = this.summationMethod;
    const heights =
      method === 'interpolation'
        ? before.add(after).div(2)
        : (method === 'minoring' ? minimum : maximum)(before, after);
    const [x0, x1] = ends(x);
    return x0.sub(x1).mul(heights).sum(0);
  }

  override getConfig(): Record<string, unknown> {
    return {
      ...super.getConfig(),
      num_thresholds: this.numThresholds,
      num_labels: this.numLabels,
      label_weights: this.labelWeights,
      ...(this.#given === null ? {} : { thresholds: this.thresholds.slice(1, -1) }),
    };
  }
}

const isNumbers = (list: unknown): list is readonly number[] =>
  Array.isArray(list) && list.every((x) => typeof x === 'number');

/** All but the last, and all but the first element. */
function ends(x: Tensor | Variable): [Tensor, Tensor] {
  const [n, ...rest] = x.shape as [number, ...number[]];
  const from = rest.map(() => 0);
  return [x.slice([0, ...from], [n - 1, ...rest]), x.slice([1, ...from], [n - 1, ...rest])];
}

/** How much better recall and precision are than those of who always says yes, from 0 to 1. */
function gains(tp: Variable, fp: Variable, tn: Variable, fn: Variable): [recall: Tensor, precision: Tensor] {
  const scale = tp.add(fn).divNoNan(tn.add(fp));
  const none = tp.equal(0);
  const gain = (missed: Variable, otherwise: number): Tensor =>
    where(none, constant(otherwise, tp.dtype), scale.mul(missed.divNoNan(tp)).neg().add(1));
  return [maximum(gain(fn, 0), 0), gain(fp, 1)];
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
    .sum(0);
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
      curve: oneOf(['ROC', 'PR', 'PRGAIN']),
      summationMethod: oneOf(['interpolation', 'minoring', 'majoring']),
      ...metricOptions,
      thresholds: true,
      multiLabel: flagOption(false),
      numLabels: true,
      labelWeights: true,
      fromLogits: flagOption(false),
    },
  },
  AUC,
);
defineUpdates(AUC, 'AUC');
