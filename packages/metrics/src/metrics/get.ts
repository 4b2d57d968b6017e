import { type ClassNameOf, type CustomName, InvalidArgumentError, type Shape } from '@eagre/core';
import {
  classOf,
  customClass,
  customObject,
  type Deserialize,
  defineDeserialize,
  defineFunction,
  defineSerialize,
  kind,
  type NamedFunction,
  nearestHint,
  shown,
  snakeCase,
} from '@eagre/core/internal';
import * as accuracy from './accuracy.ts';
import { AUC } from './auc.ts';
import * as counts from './counts.ts';
import { F1Score, FBetaScore } from './fscore.ts';
import * as areas from './iou.ts';
import * as fromLosses from './losses.ts';
import { Metric } from './metric.ts';
import { Precision, Recall } from './precision-recall.ts';
import { Mean, MeanMetricWrapper, type MetricFunction, Sum } from './reduction.ts';
import { ConcordanceCorrelation, PearsonCorrelation, R2Score } from './regression.ts';

/** A metric as Keras writes it in a file. */
export interface SerializedMetric {
  readonly class_name: string;
  readonly config: Record<string, unknown>;
}
type ShortName = 'mse' | 'rmse' | 'mae' | 'mape' | 'msle' | 'bce' | 'kld';
type ClassName =
  | 'Mean'
  | 'Sum'
  | Exclude<keyof typeof accuracy, 'resolveAccuracy' | 'targetKind'>
  | Exclude<keyof typeof fromLosses, 'KLDivergence'>
  | 'Precision'
  | 'Recall'
  | Exclude<keyof typeof counts, `${string}At${string}`>
  | 'PearsonCorrelation'
  | 'ConcordanceCorrelation'
  | 'F1Score'
  | 'FBetaScore';
/** Names of metrics; those of the classes and Keras's (`mean_squared_error`, `MSE`) are understood too. */
export type MetricName =
  | ClassNameOf<Uncapitalize<ClassName>>
  | 'AUC'
  | 'auc'
  | 'KLDivergence'
  | 'kl_divergence'
  | 'logcosh'
  | 'acc'
  | 'crossentropy'
  | 'ce'
  | ShortName
  | Uppercase<ShortName>
  | CustomName<'metric'>;

/**
 * What stands for a metric: a name such as `'accuracy'`, a function whose mean is taken, a serialised one, or a metric, which can be
 * called like one. (Not written apart, so that the arguments of a function written in place get their types.)
 */
export type MetricLike = MetricName | MetricFunction | SerializedMetric;

/** The shapes that decide what `'accuracy'` and `'crossentropy'` mean. */
export interface MetricContext {
  /** The shape of the targets. */
  readonly yTrueShape: Shape;
  /** The shape of the predictions. */
  readonly yPredShape: Shape;
}

type MetricClass = (new (options?: never) => Metric) & { fromConfig(config: object): Metric };

const classes: Readonly<Record<string, MetricClass>> = {
  Mean,
  Sum,
  Accuracy: accuracy.Accuracy,
  BinaryAccuracy: accuracy.BinaryAccuracy,
  CategoricalAccuracy: accuracy.CategoricalAccuracy,
  SparseCategoricalAccuracy: accuracy.SparseCategoricalAccuracy,
  TopKCategoricalAccuracy: accuracy.TopKCategoricalAccuracy,
  SparseTopKCategoricalAccuracy: accuracy.SparseTopKCategoricalAccuracy,
  ...fromLosses,
  Precision,
  Recall,
  AUC,
  F1Score,
  FBetaScore,
  // Some cannot be made without arguments, which they then ask for.
  ...(counts as unknown as Record<string, MetricClass>),
  ...(areas as unknown as Record<string, MetricClass>),
  R2Score,
  PearsonCorrelation,
  ConcordanceCorrelation,
};

const short: Readonly<Record<string, MetricClass>> = {
  mse: fromLosses.MeanSquaredError,
  rmse: fromLosses.RootMeanSquaredError,
  mae: fromLosses.MeanAbsoluteError,
  mape: fromLosses.MeanAbsolutePercentageError,
  msle: fromLosses.MeanSquaredLogarithmicError,
  bce: fromLosses.BinaryCrossentropy,
  cosine_similarity: fromLosses.CosineSimilarity,
  kld: fromLosses.KLDivergence,
  kl_divergence: fromLosses.KLDivergence,
  logcosh: fromLosses.LogCoshError,
};

const crossentropies = {
  binary: fromLosses.BinaryCrossentropy,
  sparse: fromLosses.SparseCategoricalCrossentropy,
  categorical: fromLosses.CategoricalCrossentropy,
} as const;

function find(name: string): MetricClass | undefined {
  const lowerFirst = (key: string): string => key.charAt(0).toLowerCase() + key.slice(1);
  const known = Object.entries(classes).find(
    ([key]) => key === name || snakeCase(key) === name || lowerFirst(key) === name,
  );
  const lower = name.toLowerCase();
  return known?.[1] ?? (Object.hasOwn(short, lower) ? short[lower] : undefined);
}

function metricOf(identifier: unknown, context?: MetricContext): Metric {
  const own = typeof identifier === 'string' ? customObject(identifier) : undefined;
  if (typeof own === 'function') {
    if (own.prototype instanceof Metric) return new (own as MetricClass)();
    return new MeanMetricWrapper(own as MetricFunction, { name: snakeCase(identifier as string) });
  }
  if (identifier instanceof Metric) return identifier;
  if (typeof identifier === 'function') {
    if (identifier.prototype instanceof Metric) {
      throw new InvalidArgumentError(
        `got the class ${identifier.name}: write new ${identifier.name}(…)`,
        'metrics.get',
      );
    }
    return new MeanMetricWrapper(identifier as MetricFunction);
  }
  if (typeof identifier === 'object' && identifier !== null && 'class_name' in identifier)
    return deserialize(identifier as SerializedMetric);
  if (typeof identifier !== 'string') {
    throw new InvalidArgumentError(
      `expected a metric, its name or a function, got ${shown(identifier)}`,
      'metrics.get',
    );
  }
  const name = snakeCase(identifier);
  const fitting = byShape(identifier, context);
  if (fitting !== undefined) return new fitting({ name } as never);
  const known = find(identifier);
  if (known === undefined) {
    throw new InvalidArgumentError(
      `there is no metric '${identifier}'; expected one of ${Object.keys(classes).join(', ')}${nearestHint(String(identifier), Object.keys(classes))}`,
      'metrics.get',
    );
  }
  // As in Keras, its variables have the name of the class: the path is `mean_absolute_error/total` for 'mae'.
  const metric = new known();
  Object.defineProperty(metric, '_name', { value: name });
  return metric;
}

function byShape(name: string, context: MetricContext | undefined): MetricClass | undefined {
  if (context === undefined) return name === 'acc' ? accuracy.Accuracy : undefined;
  const { yTrueShape, yPredShape } = context;
  if (name === 'accuracy' || name === 'acc') return accuracy.resolveAccuracy(yTrueShape, yPredShape);
  if (name === 'crossentropy' || name === 'ce')
    return crossentropies[accuracy.targetKind(yTrueShape, yPredShape)];
  return undefined;
}

/**
 * The metric for a name (as in Keras `'mse'`, `'binary_accuracy'`, `'BinaryAccuracy'`), for a function, or of a config.
 * `'accuracy'` and `'acc'`, `'crossentropy'` and `'ce'` mean the one that goes with the shapes, if these are given. A name
 * other than that of the class becomes the metric's name.
 * @throws InvalidArgumentError for an unknown name
 */
export const get: NamedFunction<
  [identifier: MetricLike | (string & {})],
  ['identifier'],
  Partial<MetricContext>,
  Metric
> = defineFunction(
  'metrics.get',
  { identifier: kind.structure },
  { yTrueShape: kind.shape, yPredShape: kind.shape },
  (identifier, { yTrueShape, yPredShape }) => {
    if (yTrueShape !== undefined && yPredShape !== undefined)
      return metricOf(identifier, { yTrueShape, yPredShape });
    if (yTrueShape === yPredShape) return metricOf(identifier);
    throw new InvalidArgumentError('give both yTrueShape and yPredShape, or neither', 'metrics.get');
  },
);

/** A metric as plain JSON, in Keras's form. */
export const serialize: NamedFunction<
  [metric: Metric],
  ['metric'],
  unknown,
  SerializedMetric & { readonly module: string | null; readonly registered_name: string | null }
> = defineSerialize('metrics.serialize', 'metric', Metric, 'keras.metrics');

/** The metric that `serialize`, or Keras, wrote. `customObjects` are classes of your own by name. */
export const deserialize: Deserialize<SerializedMetric, Metric> = defineDeserialize(
  'metrics.deserialize',
  (serialized, customObjects) => {
    const known = classOf<MetricClass>(
      serialized,
      customObjects,
      (name) => customClass<MetricClass>(name, Metric) ?? find(name),
      'metrics.deserialize',
    );
    const { class_name: name, config } = serialized;
    if (known === undefined) {
      throw new InvalidArgumentError(
        `there is no metric '${name}'; expected one of ${Object.keys(classes).join(', ')}${nearestHint(String(name), Object.keys(classes))}`,
        'metrics.get',
      );
    }
    return known.fromConfig(config);
  },
);
