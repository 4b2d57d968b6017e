// Predictions of one kind, counted: right or wrong, positive or negative.
import {
  constant,
  InvalidArgumentError,
  scope,
  type Tensor,
  type TensorLike,
  type Variable,
  where,
} from '@eagre/core';
import { argumentsOf, integerOption, type Option, orNull, shown, takesOptions } from '@eagre/core/internal';
import { as, predictions } from '../arrange.ts';
import type { ExampleArguments, SampleWeight } from '../losses/loss.ts';
import { type Counts, checkThresholds, confusion, MOST_THRESHOLDS } from './confusion.ts';
import { defineUpdates, Metric, type MetricOptions, metricOptions, update } from './metric.ts';

/** Options of `TruePositives`, `FalsePositives`, `TrueNegatives` and `FalseNegatives`. */
export interface CountOptions extends MetricOptions {
  /** Predictions above it are positive; several give one count each. 0.5 unless given. */
  readonly thresholds?: number | readonly number[] | null;
}
type CountArguments = [thresholds?: number | readonly number[] | null | CountOptions, options?: CountOptions];

abstract class ConditionCount extends Metric {
  /** Predictions above it are positive; several give one count each. */
  readonly thresholds: readonly number[];
  /** The count for each threshold. */
  readonly accumulator: Variable;
  readonly #given: number | readonly number[] | null;
  readonly #which: keyof Counts;

  constructor(which: keyof Counts, options: CountOptions) {
    super(options);
    const { thresholds = null } = options;
    this.#given = thresholds;
    this.#which = which;
    this.thresholds = thresholds === null ? [0.5] : [thresholds].flat();
    checkThresholds(this.thresholds, this.name);
    if (this.thresholds.length === 0)
      throw new InvalidArgumentError(`thresholds must be in [0, 1], got ${shown(thresholds)}`, this.name);
    this.accumulator = this.addWeight({ name: 'accumulator', shape: [this.thresholds.length] });
  }

  override updateState(...args: ExampleArguments): void;
  override updateState(yTrue: TensorLike, yPred: TensorLike, sampleWeight: SampleWeight = null): void {
    update(() => {
      const p = as(predictions(yPred), this.dtype);
      const limits = constant([...this.thresholds], this.dtype);
      this.accumulator.assignAdd(confusion(yTrue, p, limits, sampleWeight, {}, this.name)[this.#which]);
    });
  }
  override result(): Tensor {
    return this.thresholds.length === 1 ? this.accumulator.reshape([]) : this.accumulator.read();
  }
  override getConfig(): Record<string, unknown> {
    return { ...super.getConfig(), thresholds: this.#given };
  }
}

/** How many positive predictions are right. */
export class TruePositives extends ConditionCount {
  constructor(...args: CountArguments) {
    super('truePositives', argumentsOf<CountOptions>(TruePositives, new.target, args));
  }
}
/** How many negative predictions are right. */
export class TrueNegatives extends ConditionCount {
  constructor(...args: CountArguments) {
    super('trueNegatives', argumentsOf<CountOptions>(TrueNegatives, new.target, args));
  }
}
/** How many positive predictions are wrong. */
export class FalsePositives extends ConditionCount {
  constructor(...args: CountArguments) {
    super('falsePositives', argumentsOf<CountOptions>(FalsePositives, new.target, args));
  }
}
/** How many negative predictions are wrong. */
export class FalseNegatives extends ConditionCount {
  constructor(...args: CountArguments) {
    super('falseNegatives', argumentsOf<CountOptions>(FalseNegatives, new.target, args));
  }
}

interface ConstrainedOptions extends MetricOptions {
  /** How many thresholds, evenly spaced from 0 to 1; 200 unless given. */
  readonly numThresholds?: number;
  /** Looks at one class of predictions `[n, classes]`. */
  readonly classId?: number | null;
}
/** Options of `SensitivityAtSpecificity`. */
export interface SensitivityAtSpecificityOptions extends ConstrainedOptions {}
/** Options of `SpecificityAtSensitivity`. */
export interface SpecificityAtSensitivityOptions extends ConstrainedOptions {}
/** Options of `PrecisionAtRecall`. */
export interface PrecisionAtRecallOptions extends ConstrainedOptions {}
/** Options of `RecallAtPrecision`. */
export interface RecallAtPrecisionOptions extends ConstrainedOptions {}

/** The best of one share at all thresholds where another is large enough. */
abstract class Constrained extends Metric {
  /** How many thresholds, evenly spaced from 0 to 1. */
  declare readonly numThresholds: number;
  /** Looks at one class of predictions `[n, classes]`. */
  declare readonly classId: number | null;
  /** Predictions above it are positive; several give one count each. */
  readonly thresholds: readonly number[];
  /** For each threshold, how many positives were found. */
  readonly truePositives: Variable;
  /** For each threshold, how many negatives were taken for positives. */
  readonly falsePositives: Variable;
  /** For each threshold, how many negatives were found. */
  readonly trueNegatives: Variable;
  /** For each threshold, how many positives were missed. */
  readonly falseNegatives: Variable;

  constructor(options: ConstrainedOptions) {
    super(options);
    const n = this.numThresholds;
    if (n > MOST_THRESHOLDS)
      throw new InvalidArgumentError(`numThresholds must be at most ${MOST_THRESHOLDS}, got ${n}`, this.name);
    this.thresholds = n === 1 ? [0.5] : Array.from({ length: n }, (_, i) => i / (n - 1));
    const weight = (name: string): Variable => this.addWeight({ name, shape: [n] });
    this.truePositives = weight('true_positives');
    this.falsePositives = weight('false_positives');
    this.trueNegatives = weight('true_negatives');
    this.falseNegatives = weight('false_negatives');
  }

  override updateState(...args: ExampleArguments): void;
  override updateState(yTrue: TensorLike, yPred: TensorLike, sampleWeight: SampleWeight = null): void {
    update(() => {
      const p = as(predictions(yPred), this.dtype);
      const limits = constant([...this.thresholds], this.dtype);
      const counts = confusion(yTrue, p, limits, sampleWeight, this, this.name);
      this.truePositives.assignAdd(counts.truePositives);
      this.falsePositives.assignAdd(counts.falsePositives);
      this.trueNegatives.assignAdd(counts.trueNegatives);
      this.falseNegatives.assignAdd(counts.falseNegatives);
    });
  }

  /** @internal a / (a + b), 0 for nothing. */
  protected share(a: Variable, b: Variable): Tensor {
    return a.divNoNan(a.add(b));
  }
  protected get recalls(): Tensor {
    return this.share(this.truePositives, this.falseNegatives);
  }
  protected get specificities(): Tensor {
    return this.share(this.trueNegatives, this.falsePositives);
  }
  protected get precisions(): Tensor {
    return this.share(this.truePositives, this.falsePositives);
  }
  /** @internal The largest of `of` where `by` is at least `least`; 0 if nowhere. */
  protected best(of: () => Tensor, by: () => Tensor, least: number): Tensor {
    return scope(() => {
      const found = of();
      return where(by().greaterEqual(least), found, constant(0, found.dtype)).max();
    });
  }
}

/** The largest sensitivity, the share of positives that is found, at a specificity: the share of negatives that is found. */
export class SensitivityAtSpecificity extends Constrained {
  /** The least share of negatives that must be found, from 0 to 1. */
  declare readonly specificity: number;
  constructor(
    ...args:
      | [specificity: number, options?: SensitivityAtSpecificityOptions]
      | [
          options: SensitivityAtSpecificityOptions & {
            /** The least share of negatives that must be found, from 0 to 1. */
            readonly specificity: number;
          },
        ]
  ) {
    super(argumentsOf<ConstrainedOptions>(SensitivityAtSpecificity, new.target, args));
  }
  override result(): Tensor {
    return this.best(
      () => this.recalls,
      () => this.specificities,
      this.specificity,
    );
  }
}
/** The largest specificity, the share of negatives that is found, at a sensitivity: the share of positives that is found. */
export class SpecificityAtSensitivity extends Constrained {
  /** The least share of positives that must be found, from 0 to 1. */
  declare readonly sensitivity: number;
  constructor(
    ...args:
      | [sensitivity: number, options?: SpecificityAtSensitivityOptions]
      | [
          options: SpecificityAtSensitivityOptions & {
            /** The least share of positives that must be found, from 0 to 1. */
            readonly sensitivity: number;
          },
        ]
  ) {
    super(argumentsOf<ConstrainedOptions>(SpecificityAtSensitivity, new.target, args));
  }
  override result(): Tensor {
    return this.best(
      () => this.specificities,
      () => this.recalls,
      this.sensitivity,
    );
  }
}
/** The largest precision, the share of positive predictions that is right, at a recall: the share of positives that is found. */
export class PrecisionAtRecall extends Constrained {
  /** The least recall that must be reached, from 0 to 1. */
  declare readonly recall: number;
  constructor(
    ...args:
      | [recall: number, options?: PrecisionAtRecallOptions]
      | [
          options: PrecisionAtRecallOptions & {
            /** The least recall that must be reached, from 0 to 1. */
            readonly recall: number;
          },
        ]
  ) {
    super(argumentsOf<ConstrainedOptions>(PrecisionAtRecall, new.target, args));
  }
  override result(): Tensor {
    return this.best(
      () => this.precisions,
      () => this.recalls,
      this.recall,
    );
  }
}
/** The largest recall, the share of positives that is found, at a precision: the share of positive predictions that is right. */
export class RecallAtPrecision extends Constrained {
  /** The least precision that must be reached, from 0 to 1. */
  declare readonly precision: number;
  constructor(
    ...args:
      | [precision: number, options?: RecallAtPrecisionOptions]
      | [
          options: RecallAtPrecisionOptions & {
            /** The least precision that must be reached, from 0 to 1. */
            readonly precision: number;
          },
        ]
  ) {
    super(argumentsOf<ConstrainedOptions>(RecallAtPrecision, new.target, args));
  }
  override result(): Tensor {
    return this.best(
      () => this.recalls,
      () => this.precisions,
      this.precision,
    );
  }
}

takesOptions<CountOptions, ConditionCount>(
  { positional: ['thresholds'], required: 0, options: { thresholds: true, ...metricOptions } },
  TruePositives,
  TrueNegatives,
  FalsePositives,
  FalseNegatives,
);
const shareOption: Option<number> = {
  read: (given, name, of) => {
    if (typeof given !== 'number' || !(given >= 0 && given <= 1))
      throw new InvalidArgumentError(`${name} must be in [0, 1], got ${shown(given)}`, (of as Metric).name);
    return given;
  },
};
const others = {
  numThresholds: integerOption(200, 1),
  classId: orNull(integerOption(0)),
  ...metricOptions,
} as const;
takesOptions<SensitivityAtSpecificityOptions & { readonly specificity: number }, SensitivityAtSpecificity>(
  { positional: ['specificity'], options: { specificity: shareOption, ...others } },
  SensitivityAtSpecificity,
);
takesOptions<SpecificityAtSensitivityOptions & { readonly sensitivity: number }, SpecificityAtSensitivity>(
  { positional: ['sensitivity'], options: { sensitivity: shareOption, ...others } },
  SpecificityAtSensitivity,
);
takesOptions<PrecisionAtRecallOptions & { readonly recall: number }, PrecisionAtRecall>(
  { positional: ['recall'], options: { recall: shareOption, ...others } },
  PrecisionAtRecall,
);
takesOptions<RecallAtPrecisionOptions & { readonly precision: number }, RecallAtPrecision>(
  { positional: ['precision'], options: { precision: shareOption, ...others } },
  RecallAtPrecision,
);
defineUpdates(ConditionCount, 'Metric');
defineUpdates(Constrained, 'Metric');
for (const c of [
  TruePositives,
  TrueNegatives,
  FalsePositives,
  FalseNegatives,
  SensitivityAtSpecificity,
  SpecificityAtSensitivity,
  PrecisionAtRecall,
  RecallAtPrecision,
])
  defineUpdates(c, c.name);
