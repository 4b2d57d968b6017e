/** Metrics: values over a stream of batches. */
export {
  Accuracy,
  accuracy,
  BinaryAccuracy,
  binaryAccuracy,
  CategoricalAccuracy,
  categoricalAccuracy,
  resolveAccuracy,
  SparseCategoricalAccuracy,
  SparseTopKCategoricalAccuracy,
  sparseCategoricalAccuracy,
  sparseTopKCategoricalAccuracy,
  TopKCategoricalAccuracy,
  type TopKOptions,
  topKCategoricalAccuracy,
} from './accuracy.ts';
export { AUC, type AUCOptions } from './auc.ts';
export {
  type CountOptions,
  FalseNegatives,
  FalsePositives,
  PrecisionAtRecall,
  type PrecisionAtRecallOptions,
  RecallAtPrecision,
  type RecallAtPrecisionOptions,
  SensitivityAtSpecificity,
  type SensitivityAtSpecificityOptions,
  SpecificityAtSensitivity,
  type SpecificityAtSensitivityOptions,
  TrueNegatives,
  TruePositives,
} from './counts.ts';
export { F1Score, type F1ScoreOptions, FBetaScore, type FBetaScoreOptions } from './fscore.ts';
export {
  deserialize,
  get,
  type MetricContext,
  type MetricLike,
  type MetricName,
  type SerializedMetric,
  serialize,
} from './get.ts';
export {
  BinaryIoU,
  type BinaryIoUOptions,
  IoU,
  type IoUArguments,
  type IoUOptions,
  MeanIoU,
  type MeanIoUArguments,
  OneHotIoU,
  type OneHotIoUArguments,
  type OneHotIoUOptions,
  OneHotMeanIoU,
  type OneHotMeanIoUArguments,
} from './iou.ts';
export {
  BinaryCrossentropy,
  CategoricalCrossentropy,
  CategoricalHinge,
  CosineSimilarity,
  Hinge,
  KLDivergence,
  LogCoshError,
  MeanAbsoluteError,
  MeanAbsolutePercentageError,
  MeanSquaredError,
  MeanSquaredLogarithmicError,
  Poisson,
  RootMeanSquaredError,
  SparseCategoricalCrossentropy,
  type SparseCrossentropyMetricOptions,
  SquaredHinge,
} from './losses.ts';
export { Metric, type MetricOptions, type MetricWeightOptions, type WeightInitializer } from './metric.ts';
export { Precision, type PrecisionOptions, Recall } from './precision-recall.ts';
export { Mean, MeanMetricWrapper, type MetricFunction, Sum } from './reduction.ts';
export {
  ConcordanceCorrelation,
  type CorrelationOptions,
  concordanceCorrelation,
  PearsonCorrelation,
  pearsonCorrelation,
  R2Score,
  type R2ScoreOptions,
} from './regression.ts';
