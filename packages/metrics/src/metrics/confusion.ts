import {
  constant,
  InvalidArgumentError,
  maximum,
  minimum,
  scope,
  stack,
  type Tensor,
  type TensorLike,
  UnimplementedError,
  type Variable,
  where,
} from '@eagre/core';
import { differs, normalizeAxis, showShape, takesOptions } from '@eagre/core/internal';
import { alike, as, EPSILON, predictions, sameRank } from '../arrange.ts';
import type { SampleWeightOptions } from '../losses/loss.ts';
import { Metric, type MetricOptions, metricOptions, named, update } from './metric.ts';

/** Weighted counts for each threshold, [thresholds]. */
interface Counts {
  readonly truePositives: Tensor;
  readonly falsePositives: Tensor;
  readonly trueNegatives: Tensor;
  readonly falseNegatives: Tensor;
}

// Predictions times thresholds compared at once: bounds the memory that one update takes.
const COMPARISONS = 1 << 22;

/** Counts predictions above and not above each threshold, where targets are true (not 0) and where they are false. */
function confusion(
  yTrue: TensorLike,
  yPred: Tensor,
  thresholds: Tensor,
  sampleWeight: TensorLike | null,
  options: { readonly topK?: number | null; readonly classId?: number | null },
  name: string,
): Counts {
  const { dtype } = thresholds;
  let [p, t] = sameRank(yPred, alike(yTrue, dtype));
  let weights = constant(1, dtype);
  if (sampleWeight !== null) [, weights] = sameRank(t, alike(sampleWeight, dtype).expandDims(-1), false);
  const { topK = null, classId = null } = options;
  if (topK !== null) {
    const among = p
      .topK(topK)
      .indices.oneHot(p.shape.at(-1) as number, { dtype })
      .sum(-2)
      .greater(0);
    p = where(among, p, constant(-1e10, dtype));
  }
  if (classId !== null) {
    if (p.rank < 2)
      throw new InvalidArgumentError(
        `classId needs predictions [n, classes], got ${showShape(p.shape)}`,
        name,
      );
    const at = normalizeAxis(classId, p.shape.at(-1) as number, name);
    const column = (x: Tensor): Tensor => x.gather(constant([at], 'int32'), x.rank - 1);
    [p, t] = [column(p), column(t)];
    if (weights.rank === p.rank && differs(weights.shape.at(-1) as number, 1)) weights = column(weights);
  }
  const n = p.size;
  const rows = thresholds.expandDims(-1);
  const flat = p.reshape([1, n]);
  const label = t.notEqual(0).reshape([n]);
  const weight = weights.broadcastTo(p.shape).reshape([n]);
  const zero = constant(0, dtype);
  const sides = stack([where(label, weight, zero), where(label, zero, weight)], 1);
  const chunk = Math.max(1, Math.floor(COMPARISONS / thresholds.size));
  let positives: Tensor | null = null;
  for (let start = 0; start < n; start += chunk) {
    const size = Math.min(chunk, n - start);
    const part = scope(() => {
      const [x, side] =
        size === n ? [flat, sides] : [flat.slice([0, start], [1, size]), sides.slice([start, 0], [size, 2])];
      return x.greater(rows).cast(dtype).matmul(side);
    });
    positives = positives === null ? part : positives.add(part);
  }
  const [tp, fp] = (positives ?? constant(0, dtype, { shape: [thresholds.size, 2] })).unstack(1) as [
    Tensor,
    Tensor,
  ];
  const [yes, no] = sides.sum(0).unstack(0) as [Tensor, Tensor];
  return { truePositives: tp, falsePositives: fp, trueNegatives: no.sub(fp), falseNegatives: yes.sub(tp) };
}

export interface PrecisionOptions extends MetricOptions {
  /** Predictions above it are positive; several give one result each. 0.5 unless given, or with `topK` none. */
  readonly thresholds?: number | readonly number[] | null;
  /** Only the k largest predictions of an example can be positive. */
  readonly topK?: number | null;
  /** Looks at one class of predictions `[n, classes]`. */
  readonly classId?: number | null;
}

abstract class Thresholded extends Metric {
  readonly thresholds: readonly number[];
  readonly topK: number | null;
  readonly classId: number | null;
  readonly truePositives: Variable;
  readonly #given: number | readonly number[] | null;

  constructor(options: PrecisionOptions) {
    super(options);
    const { thresholds = null, topK = null, classId = null } = options;
    this.#given = thresholds;
    this.thresholds = thresholds === null ? [topK === null ? 0.5 : -1e10] : [thresholds].flat();
    const wrong = (thresholds === null ? [] : this.thresholds).find((t) => !(t >= 0 && t <= 1));
    if (wrong !== undefined)
      throw new InvalidArgumentError(`thresholds must be in [0, 1], got ${wrong}`, this.name);
    this.topK = topK;
    this.classId = classId;
    this.truePositives = this.addWeight({ name: 'true_positives', shape: [this.thresholds.length] });
  }

  override updateState(yTrue: TensorLike, yPred: TensorLike, options: SampleWeightOptions = {}): void {
    update(() => {
      const p = as(predictions(yPred), this.dtype);
      const limits = constant([...this.thresholds], this.dtype);
      this.count(confusion(yTrue, p, limits, options.sampleWeight ?? null, this, this.name));
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
    return { ...super.getConfig(), thresholds: this.#given, top_k: this.topK, class_id: this.classId };
  }
}

/** The part of positive predictions that is right: truePositives / (truePositives + falsePositives). */
export class Precision extends Thresholded {
  readonly falsePositives: Variable;
  constructor(name?: string | PrecisionOptions, options?: PrecisionOptions) {
    super(named(name, options));
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
  readonly falseNegatives: Variable;
  constructor(name?: string | PrecisionOptions, options?: PrecisionOptions) {
    super(named(name, options));
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
  readonly curve: 'ROC' | 'PR';
  readonly summationMethod: 'interpolation' | 'minoring' | 'majoring';
  readonly fromLogits: boolean;
  readonly thresholds: readonly number[];
  readonly truePositives: Variable;
  readonly falsePositives: Variable;
  readonly trueNegatives: Variable;
  readonly falseNegatives: Variable;
  readonly #given: readonly number[] | null;

  constructor(name?: string | AUCOptions, rest?: AUCOptions) {
    const options = named(name, rest);
    super(options);
    const {
      thresholds = null,
      numThresholds = 200,
      curve = 'ROC',
      summationMethod = 'interpolation',
      fromLogits = false,
    } = options;
    if ('multiLabel' in options && options.multiLabel === true) {
      throw new UnimplementedError('multiLabel is not supported; use one AUC for each label', this.name);
    }
    if (!['ROC', 'PR'].includes(curve))
      throw new InvalidArgumentError(`curve must be 'ROC' or 'PR', got '${curve}'`, this.name);
    if (!['interpolation', 'minoring', 'majoring'].includes(summationMethod)) {
      throw new InvalidArgumentError(`unknown summationMethod '${summationMethod}'`, this.name);
    }
    if (thresholds === null && !(numThresholds > 1)) {
      throw new InvalidArgumentError(`numThresholds must be above 1, got ${numThresholds}`, this.name);
    }
    const wrong = thresholds?.find((t) => !(t >= 0 && t <= 1));
    if (wrong !== undefined)
      throw new InvalidArgumentError(`thresholds must be in [0, 1], got ${wrong}`, this.name);
    const inner =
      thresholds === null
        ? Array.from({ length: numThresholds - 2 }, (_, i) => (i + 1) / (numThresholds - 1))
        : [...thresholds].sort((a, b) => a - b);
    this.#given = thresholds;
    // A little beyond 0 and 1, so that every prediction is above the first and none above the last.
    this.thresholds = [-EPSILON, ...inner, 1 + EPSILON];
    this.numThresholds = this.thresholds.length;
    this.curve = curve;
    this.summationMethod = summationMethod;
    this.fromLogits = fromLogits;
    const weight = (local: string): Variable => this.addWeight({ name: local, shape: [this.numThresholds] });
    this.truePositives = weight('true_positives');
    this.falsePositives = weight('false_positives');
    this.trueNegatives = weight('true_negatives');
    this.falseNegatives = weight('false_negatives');
  }

  override updateState(yTrue: TensorLike, yPred: TensorLike, options: SampleWeightOptions = {}): void {
    update(() => {
      const given = as(predictions(yPred), this.dtype);
      const p = this.fromLogits ? given.sigmoid() : given;
      const limits = constant([...this.thresholds], this.dtype);
      const counts = confusion(yTrue, p, limits, options.sampleWeight ?? null, {}, this.name);
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
      curve: this.curve,
      summation_method: this.summationMethod,
      multi_label: false,
      num_labels: null,
      label_weights: null,
      from_logits: this.fromLogits,
      ...(this.#given === null ? {} : { thresholds: this.thresholds.slice(1, -1) }),
    };
  }
}

/** All but the last, and all but the first element. */
function ends(x: Tensor | Variable): [Tensor, Tensor] {
  const n = x.shape[0] as number;
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

takesOptions<PrecisionOptions>(
  { ...metricOptions, thresholds: true, topK: true, classId: true },
  Precision,
  Recall,
);
takesOptions<AUCOptions>(
  {
    ...metricOptions,
    numThresholds: true,
    thresholds: true,
    curve: true,
    summationMethod: true,
    fromLogits: true,
  },
  AUC,
);
