// How well predicted numbers follow targets.
import {
  constant,
  FailedPreconditionError,
  InvalidArgumentError,
  scope,
  type Tensor,
  type TensorLike,
  type Variable,
  where,
} from '@eagre/core';
import {
  argumentsOf,
  dims,
  integerOption,
  kerasDefaults,
  knownDim,
  type Option,
  sameShape,
  shown,
  showShape,
  sizeOfDims,
  sizeValue,
  takesOptions,
} from '@eagre/core/internal';
import {
  alike,
  as,
  checkFit,
  defineExampleFunction,
  type ExampleFunction,
  predictions,
  sameRank,
} from '../arrange.ts';
import type { ExampleArguments, SampleWeight } from '../losses/loss.ts';
import { defineUpdates, Metric, type MetricOptions, metricOptions, update } from './metric.ts';
import { BuiltInMean } from './reduction.ts';

interface AxisOption {
  /** Along which numbers are compared; the last unless given. */
  readonly axis?: number;
}

function defineCorrelation(
  name: string,
  body: (yTrue: Tensor, yPred: Tensor, axis: number) => Tensor,
): ExampleFunction<AxisOption> {
  return defineExampleFunction<AxisOption>(
    `metrics.${name}`,
    { axis: true },
    (yTrue, yPred, { axis = -1 }) => {
      const p = predictions(yPred);
      const [t, q] = sameRank(alike(yTrue, p.dtype), p);
      checkFit(t, q);
      return body(t, q, axis);
    },
  );
}

/** The correlation of targets and predictions along an axis: 1 where one is a rising line of the other. Pearson, 1895. */
export const pearsonCorrelation: ExampleFunction<AxisOption> = defineCorrelation(
  'pearsonCorrelation',
  (t, p, axis) => {
    const scored = (x: Tensor): Tensor => {
      const centred = x.sub(x.mean(axis, { keepdims: true }));
      return centred.div(centred.square().mean(axis, { keepdims: true }).sqrt());
    };
    return scored(t).mul(scored(p)).mean(axis);
  },
);

/** How close targets and predictions are to the line y = x, along an axis: 1 where they are equal. Lin, 1989. */
export const concordanceCorrelation: ExampleFunction<AxisOption> = defineCorrelation(
  'concordanceCorrelation',
  (t, p, axis) => {
    const [a, b] = [t, p].map((x) => x.mean(axis, { keepdims: true })) as [Tensor, Tensor];
    const [x, y] = [t.sub(a), p.sub(b)];
    const spread = (of: Tensor): Tensor => of.square().mean(axis, { keepdims: true });
    const norm = spread(x).add(spread(y)).add(a.sub(b).square());
    return x.mul(y).mul(2).div(norm.add(kerasDefaults.epsilon)).mean(axis);
  },
);

/** Options of `PearsonCorrelation` and `ConcordanceCorrelation`. */
export interface CorrelationOptions extends MetricOptions, AxisOption {}
type CorrelationArguments = [name?: string | null | CorrelationOptions, options?: CorrelationOptions];

/** The mean of `metrics.pearsonCorrelation`. */
export class PearsonCorrelation extends BuiltInMean<AxisOption> {
  /** Along which numbers are compared. */
  declare readonly axis: number;
  constructor(...args: CorrelationArguments) {
    super(pearsonCorrelation, 'pearson_correlation', PearsonCorrelation, args);
  }
}
/** The mean of `metrics.concordanceCorrelation`. */
export class ConcordanceCorrelation extends BuiltInMean<AxisOption> {
  /** Along which numbers are compared. */
  declare readonly axis: number;
  constructor(...args: CorrelationArguments) {
    super(concordanceCorrelation, 'concordance_correlation', ConcordanceCorrelation, args);
  }
}

type Aggregation = 'uniformAverage' | 'varianceWeightedAverage';
/** Options of `R2Score`. */
export interface R2ScoreOptions extends MetricOptions {
  /** One result for each output (null), their mean, or that weighted by their variances; the mean unless given. */
  readonly classAggregation?: Aggregation | null;
  /** The number of inputs that the predictions are made of, for the adjusted score; 0, for the plain one, unless given. */
  readonly numRegressors?: number;
}

interface Sums {
  readonly squaredSum: Variable;
  readonly sum: Variable;
  readonly residual: Variable;
  readonly count: Variable;
}

/**
 * The part of the targets' variance that predictions explain, 1 − Σ (y − p)² / Σ (y − ȳ)² (Wright, 1921). Targets and predictions are
 * [batch, outputs]; the number of outputs is known at the first update.
 */
export class R2Score extends Metric {
  /** One result for each output (null), their mean, or that weighted by their variances. */
  declare readonly classAggregation: Aggregation | null;
  /** The number of inputs that the predictions are made of, for the adjusted score. */
  declare readonly numRegressors: number;
  readonly numSamples: Variable;
  #sums: Sums | null = null;

  constructor(...args: [classAggregation?: Aggregation | null | R2ScoreOptions, options?: R2ScoreOptions]) {
    super({ name: 'r2_score', ...argumentsOf<R2ScoreOptions>(R2Score, new.target, args) });
    this.numSamples = this.addWeight({ name: 'num_samples' });
  }

  override updateState(...args: ExampleArguments): void;
  override updateState(yTrue: TensorLike, yPred: TensorLike, sampleWeight: SampleWeight = null): void {
    update(() => {
      const [t, p] = sameRank(alike(yTrue, this.dtype), as(predictions(yPred), this.dtype));
      if (p.rank !== 2 || !sameShape(t.shape, p.shape))
        throw new InvalidArgumentError(
          `targets ${showShape(t.shape)} and predictions ${showShape(p.shape)} must both be [batch, outputs]`,
          this.name,
        );
      const sums = (this.#sums ??= this.#make(knownDim(dims(p)[1])));
      let weights = constant(1, this.dtype);
      if (sampleWeight !== null) {
        weights = alike(sampleWeight, this.dtype);
        if (weights.rank === 1) weights = weights.expandDims(1);
      }
      weights = weights.broadcastTo(t.shape);
      const weighted = t.mul(weights);
      sums.sum.assignAdd(weighted.sum(0));
      sums.squaredSum.assignAdd(t.mul(weighted).sum(0));
      sums.residual.assignAdd(t.sub(p).square().mul(weights).sum(0));
      sums.count.assignAdd(weights.sum(0));
      this.numSamples.assignAdd(sizeValue(sizeOfDims(dims(t)), this.dtype));
    });
  }

  /** Without samples enough for the adjusted score it is the plain one, as in Keras. */
  override result(): Tensor {
    return scope(() => {
      if (this.#sums === null) throw new FailedPreconditionError('there was no update yet', this.name);
      const { sum, squaredSum, residual, count } = this.#sums;
      const zero = constant(0, this.dtype);
      const total = squaredSum.sub(sum.mul(sum.div(count)));
      const raw = constant(1, this.dtype).sub(residual.div(total));
      const scores = where(raw.isInf(), zero, raw);
      let score = scores;
      if (this.classAggregation === 'uniformAverage') score = scores.mean();
      if (this.classAggregation === 'varianceWeightedAverage')
        score = total.mul(scores).sum().div(total.sum());
      if (this.numRegressors === 0) return score;
      const n = this.numSamples.sub(1);
      const left = n.sub(this.numRegressors);
      const adjusted = constant(1, this.dtype).sub(constant(1, this.dtype).sub(score).mul(n).divNoNan(left));
      return where(left.greater(0), adjusted, score);
    });
  }

  #make(outputs: number): Sums {
    const weight = (name: string): Variable => this.addWeight({ name, shape: [outputs] });
    return {
      squaredSum: weight('squared_sum'),
      sum: weight('sum'),
      residual: weight('residual'),
      count: weight('count'),
    };
  }
}

takesOptions<CorrelationOptions, PearsonCorrelation | ConcordanceCorrelation>(
  { positional: ['name'], required: 0, options: { ...metricOptions, axis: integerOption(-1) } },
  PearsonCorrelation,
  ConcordanceCorrelation,
);
const aggregations = {
  uniformAverage: 'uniform_average',
  varianceWeightedAverage: 'variance_weighted_average',
} as const;
const classAggregation: Option<Aggregation | null> = {
  read: (given = 'uniformAverage', name, of) => {
    if (given === null) return null;
    const found = Object.entries(aggregations).find((names) => names.includes(given as never));
    if (found !== undefined) return found[0] as Aggregation;
    throw new InvalidArgumentError(
      `${name} must be uniformAverage, varianceWeightedAverage or null, got ${shown(given)}`,
      (of as Metric).name,
    );
  },
  write: (value) => (value === null ? null : aggregations[value]),
};
takesOptions<R2ScoreOptions, R2Score>(
  {
    positional: ['classAggregation'],
    required: 0,
    options: { classAggregation, numRegressors: integerOption(0, 0), ...metricOptions },
  },
  R2Score,
);
for (const c of [PearsonCorrelation, ConcordanceCorrelation, R2Score]) defineUpdates(c, c.name);
