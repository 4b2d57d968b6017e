import {
  FailedPreconditionError,
  InvalidArgumentError,
  scope,
  type Tensor,
  UnimplementedError,
} from '@eagre/core';
import { outsideScopes, showShape } from '@eagre/core/internal';
import { losses, metrics as metricsModule } from '@eagre/metrics';
import { get as getOptimizer, type Optimizer, type OptimizerLike } from '@eagre/optimizers';
import type { Logs } from './callbacks/callback.ts';
import type { Model } from './model.ts';
import { checkOptionNames, type OptionNames } from './option-names.ts';

export type Metric = metricsModule.Metric;
type MetricLike = metricsModule.MetricLike;

export interface CompileOptions {
  /** A name such as `'adam'`, or an optimizer; `'rmsprop'` unless given, as in Keras. */
  readonly optimizer?: OptimizerLike;
  /** A name such as `'mse'`, a loss, or a function of (yTrue, yPred). */
  readonly loss?: losses.LossLike;
  /** Numbers to watch; sample and class weights do not count for them. */
  readonly metrics?: readonly MetricLike[];
  /** Numbers to watch in which examples count as much as their sample and class weights say. */
  readonly weightedMetrics?: readonly MetricLike[];
  /** Run the steps of `fit` and `evaluate` as plain code instead of by `tf.function`: to debug them. False unless given. */
  readonly runEagerly?: boolean;
}

/** A metric that was asked for. What `'accuracy'` means depends on the targets, so a name waits for the first batch. */
interface Requested {
  readonly like: MetricLike;
  readonly weighted: boolean;
  metric: Metric | undefined;
}

/** What a compiled model trains with. */
export interface Training {
  readonly optimizer: Optimizer;
  readonly loss: losses.Loss | undefined;
  /** The mean of the loss over the examples. */
  readonly mean: metricsModule.Mean;
  readonly requested: readonly Requested[];
  readonly runEagerly: boolean;
}

const compiled = new WeakMap<Model, Training>();
const optionNames: OptionNames<CompileOptions> = {
  optimizer: true,
  loss: true,
  metrics: true,
  weightedMetrics: true,
  runEagerly: true,
};

export function compile(model: Model, options: CompileOptions): void {
  checkOptionNames(options, optionNames, 'compile');
  const { optimizer = 'rmsprop', loss, metrics, weightedMetrics, runEagerly = false } = options;
  if (Array.isArray(loss) || isPlain(loss)) {
    throw new UnimplementedError(
      'a model is compiled with one loss; for several outputs override trainStep, or write a loop with GradientTape',
      'compile',
    );
  }
  compiled.set(model, {
    optimizer: getOptimizer(optimizer),
    loss: loss === undefined || loss === null ? undefined : losses.get(loss),
    mean: new metricsModule.Mean('loss'),
    requested: [
      ...requests('metrics', metrics, false),
      ...requests('weightedMetrics', weightedMetrics, true),
    ],
    runEagerly,
  });
}

function requests(what: string, list: unknown, weighted: boolean): Requested[] {
  if (list === undefined || list === null) return [];
  if (isPlain(list) || (Array.isArray(list) && list.some((m) => Array.isArray(m) || isPlain(m)))) {
    throw new UnimplementedError(
      `${what} is one list; several outputs have no metrics of their own`,
      'compile',
    );
  }
  if (!Array.isArray(list)) {
    throw new InvalidArgumentError(
      `${what} must be a list such as ['accuracy'], got ${String(list)}`,
      'compile',
    );
  }
  return list.map((like: MetricLike) => {
    // Only to find out now whether there is such a metric.
    const known = metricsModule.get(like, { yTrueShape: [1, 1], yPredShape: [1, 1] });
    return { like, weighted, metric: typeof like === 'string' ? undefined : known };
  });
}

/** An object with keys, other than a serialised loss or metric. */
function isPlain(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.getPrototypeOf(value) === Object.prototype &&
    !('class_name' in value)
  );
}

export function isCompiled(model: Model): boolean {
  return compiled.has(model);
}

/** @throws FailedPreconditionError before `compile`. */
export function trainingOf(model: Model): Training {
  const training = compiled.get(model);
  if (training === undefined) {
    throw new FailedPreconditionError('call model.compile({ optimizer, loss }) first', model.name);
  }
  return training;
}

/** Every metric of a model: the mean loss, those of `compile`, those among its attributes. */
export function metricsOf(model: Model): Metric[] {
  const training = compiled.get(model);
  const own = training?.requested.flatMap(({ metric }) => (metric === undefined ? [] : [metric])) ?? [];
  return [
    ...new Set([...(training === undefined ? [] : [training.mean]), ...own, ...model.attributeMetrics()]),
  ];
}

/** Takes a batch into account. */
export function updateMetrics(
  training: Training,
  y: Tensor,
  yPred: Tensor,
  sampleWeight: Tensor | undefined,
): void {
  for (const request of training.requested) {
    request.metric ??= metricsModule.get(request.like, { yTrueShape: y.shape, yPredShape: yPred.shape });
    const { metric } = request;
    const options = request.weighted && sampleWeight !== undefined ? { sampleWeight } : {};
    if (isOurMetric(metric)) metric.updateState(y, yPred, options);
    else outsideScopes(() => metric.updateState(y, yPred, options));
  }
}

/** The values of all metrics by name. Names that occur again are told apart as in Keras. */
export function metricLogs(model: Model): Logs {
  const weighted = new Set(
    compiled.get(model)?.requested.flatMap((r) => (r.weighted && r.metric !== undefined ? [r.metric] : [])),
  );
  const logs: Logs = {};
  for (const metric of model.metrics) {
    const base = metric.name in logs && weighted.has(metric) ? `weighted_${metric.name}` : metric.name;
    let name = base;
    for (let n = 1; name in logs; n++) name = `${base}_${n}`;
    logs[name] = valueOf(metric);
  }
  return logs;
}

function valueOf(metric: Metric): number {
  const read = (): number => {
    const value = metric.result();
    if (value.size !== 1) {
      throw new UnimplementedError(
        `the metric '${metric.name}' gives several numbers (${showShape(value.shape)}), and logs hold one each; let it average, or compute it after predict`,
        'fit',
      );
    }
    return Number(value.item());
  };
  return isOurMetric(metric) ? scope(read) : outsideScopes(read);
}

// What keeps no tensor: classes of ours that call no function of the user's.
const ourMetrics = new Set<unknown>(Object.values(metricsModule));
ourMetrics.delete(metricsModule.MeanMetricWrapper);
const ourLosses = new Set<unknown>(Object.values(losses));
ourLosses.delete(losses.LossFunctionWrapper);

function isOurMetric(metric: Metric): boolean {
  return ourMetrics.has(metric.constructor);
}
export function isOurLoss(loss: losses.Loss): boolean {
  return ourLosses.has(loss instanceof losses.LossFunctionWrapper ? loss.fn : loss.constructor);
}
/** Whether code of the user gets to see targets and predictions, and may keep them. */
export function isObserved({ loss, requested }: Training): boolean {
  return (
    (loss !== undefined && !isOurLoss(loss)) ||
    requested.some(({ like, metric }) =>
      metric === undefined ? typeof like !== 'string' : !isOurMetric(metric),
    )
  );
}
