import { FailedPreconditionError, InvalidArgumentError, type Tensor } from '@eagre/core';
import {
  checkCount,
  checkFlag,
  customObject,
  type DistributionStrategy,
  distribution,
  isPlain,
  type OptionNames,
  snakeCase,
  within,
} from '@eagre/core/internal';
import { losses, metrics as metricsModule } from '@eagre/metrics';
import {
  get as getOptimizer,
  LossScaleOptimizer,
  type Optimizer,
  type OptimizerLike,
  serialize as serializeOptimizer,
} from '@eagre/optimizers';
import type { Logs } from '../callbacks/callback.ts';
import type { Model } from '../models/model.ts';
import { functionConfig, functionOf } from '../saving/keras-object.ts';
import { CompiledLoss, type LossOption, type LossWeightsOption } from './compiled-loss.ts';
import { CompiledMetrics, type Metric, type MetricsOption, resultOf, valueOf } from './compiled-metrics.ts';
import { isByName } from './per-output.ts';

export type { Metric } from './compiled-metrics.ts';

/**
 * What `compile` takes. For a model of several outputs losses, weights and metrics are lists with an item for each, or objects by
 * the names of the layers that the outputs come from: `loss: { digit: 'sparseCategoricalCrossentropy', size: 'mse' }`.
 */
export interface CompileOptions {
  /** A name such as `'adam'`, or an optimizer; `'rmsprop'` unless given, as in Keras. */
  readonly optimizer?: OptimizerLike;
  /** A name such as `'mse'`, a loss, or a function of (yTrue, yPred); one counts for all outputs, null is none. */
  readonly loss?: LossOption | null;
  /** Factors of the outputs' losses in the sum that is trained on; 1 unless given. */
  readonly lossWeights?: LossWeightsOption | null;
  /** Numbers to watch; sample and class weights do not count for them. */
  readonly metrics?: MetricsOption;
  /** Numbers to watch in which examples count as much as their sample and class weights say. */
  readonly weightedMetrics?: MetricsOption;
  /** Run the steps of `fit` and `evaluate` as plain code instead of by `tf.function`: to debug them. False unless given. */
  readonly runEagerly?: boolean;
  /**
   * How many batches `fit`, `evaluate` and `predict` go through before they call callbacks and read the metrics; 1 unless given. The numbers
   * are the same. A `stepsPerEpoch` or `steps` that is no multiple of it is rounded up, as in Keras.
   */
  readonly stepsPerExecution?: number;
  /** Without effect: steps are compiled as graphs unless `runEagerly` says otherwise. Configurations hold it. */
  readonly jitCompile?: boolean | 'auto';
  /** Whether a model of the policy `mixed_float16` trains with a `LossScaleOptimizer`; true by default. Other policies need no scale. */
  readonly autoScaleLoss?: boolean;
}

/** What a compiled model trains with. */
export interface Training {
  readonly optimizer: Optimizer;
  readonly loss: CompiledLoss | undefined;
  /** The mean of the whole loss over the examples. */
  readonly mean: metricsModule.Mean;
  readonly metrics: CompiledMetrics;
  readonly runEagerly: boolean;
  readonly stepsPerExecution: number;
  readonly jitCompile: boolean;
  /** As it was given. */
  readonly given: CompileOptions;
}

/** What a step gives: numbers or scalar tensors by name; inner objects are shown as if they were part of the outer one. */
export type StepLogs = { readonly [name: string]: Tensor | number | StepLogs };

const compiled = new WeakMap<Model, Training>();
export const compileOptionNames: OptionNames<CompileOptions> = {
  optimizer: true,
  loss: true,
  lossWeights: true,
  metrics: true,
  weightedMetrics: true,
  runEagerly: true,
  stepsPerExecution: true,
  jitCompile: true,
  autoScaleLoss: true,
};

const strategies = new WeakMap<Model, DistributionStrategy>();

/** Notes the distribution strategy in whose scope a model is made. */
export function noteStrategy(model: Model): void {
  const { strategy } = distribution;
  if (strategy !== null) strategies.set(model, strategy);
}

/** The distribution strategy that a model trains under: that in whose scope it was made. */
export function strategyOf(model: Model): DistributionStrategy | null {
  return strategies.get(model) ?? null;
}

/** Runs code in the scope of the strategy that a model was made under. */
export function inStrategyOf<T>(model: Model, fn: () => T): T {
  const strategy = strategyOf(model);
  return strategy === null ? fn() : within(distribution, { strategy }, fn);
}

export function compile(model: Model, options: CompileOptions): void {
  inStrategyOf(model, () => compileHere(model, options));
}

function compileHere(model: Model, options: CompileOptions): void {
  const { optimizer = 'rmsprop', loss, lossWeights, metrics, weightedMetrics } = options;
  const runEagerly = checkFlag(options.runEagerly, 'runEagerly', 'compile');
  const { stepsPerExecution = 1, jitCompile = 'auto' } = options;
  checkCount(stepsPerExecution, 'stepsPerExecution', 'compile', 1);
  checkFlag(options.autoScaleLoss, 'autoScaleLoss', 'compile');
  const jit = jitCompile !== 'auto' && checkFlag(jitCompile, 'jitCompile', 'compile');
  const noLoss = loss === undefined || loss === null;
  if (noLoss && lossWeights !== undefined && lossWeights !== null)
    throw new InvalidArgumentError('lossWeights have no effect without a loss', 'compile');
  const training: Training = {
    optimizer: scaling(model, getOptimizer(optimizer), options.autoScaleLoss ?? true),
    loss: noLoss ? undefined : new CompiledLoss(loss, lossWeights ?? undefined),
    mean: new metricsModule.Mean('loss'),
    metrics: new CompiledMetrics(metrics, weightedMetrics),
    runEagerly,
    stepsPerExecution,
    jitCompile: jit && !runEagerly,
    given: options,
  };
  const names = model.outputNames;
  if (names !== null) {
    const outputs = { count: names.length, names, form: model.outputForm };
    training.loss?.resolve(outputs);
    training.metrics.resolve(outputs);
  }
  compiled.set(model, training);
}

/** What a model was compiled with, as Keras writes it; empty before. */
export function compileConfig(model: Model): Record<string, unknown> {
  const training = compiled.get(model);
  if (training === undefined) return {};
  const { loss, lossWeights, metrics, weightedMetrics } = training.given;
  return {
    optimizer: serializeOptimizer(training.optimizer),
    loss: written(loss),
    loss_weights: written(lossWeights),
    metrics: written(metrics),
    weighted_metrics: written(weightedMetrics),
    run_eagerly: training.runEagerly,
    steps_per_execution: training.stepsPerExecution,
    jit_compile: training.jitCompile,
  };
}

const ourFunctions = new Set<unknown>(Object.values(losses));

/** Names, losses and metrics as Keras writes them, in lists and by name as they were given. */
function written(given: unknown): unknown {
  if (typeof given === 'string') return /[a-z]/.test(given) ? snakeCase(given) : given;
  const isWrapper = (Class: object): boolean => typeof given === 'object' && given?.constructor === Class;
  if (isWrapper(losses.LossFunctionWrapper) || isWrapper(metricsModule.MeanMetricWrapper))
    return functionConfig((given as { readonly fn: unknown }).fn);
  if (given instanceof losses.Loss) return losses.serialize(given);
  if (given instanceof metricsModule.Metric) return metricsModule.serialize(given);
  if (typeof given === 'function')
    return ourFunctions.has(given) ? snakeCase(given.name) : functionConfig(given);
  if (Array.isArray(given)) return given.map(written);
  if (!isByName(given)) return given ?? null;
  return Object.fromEntries(Object.entries(given).map(([name, one]) => [name, written(one)]));
}

/** The options of `compile` in a configuration of Keras. */
export function optionsOfCompile(config: Readonly<Record<string, unknown>>): CompileOptions {
  const { optimizer, loss, loss_weights, metrics, weighted_metrics, run_eagerly } = config;
  const { steps_per_execution, jit_compile } = config;
  const read = (given: unknown): unknown => {
    if (Array.isArray(given)) return given.map(read);
    if (isByName(given))
      return Object.fromEntries(Object.entries(given).map(([name, one]) => [name, read(one)]));
    // A function of Keras's own, by its name.
    if (isPlain(given) && typeof given['config'] === 'string' && customObject(given['config']) === undefined)
      return given['config'];
    return functionOf(given) ?? given ?? undefined;
  };
  return {
    ...(optimizer === null || optimizer === undefined ? {} : { optimizer: optimizer as OptimizerLike }),
    loss: (read(loss) ?? null) as LossOption | null,
    lossWeights: (loss_weights ?? null) as LossWeightsOption | null,
    ...(metrics === null || metrics === undefined ? {} : { metrics: read(metrics) as MetricsOption }),
    ...(weighted_metrics === null || weighted_metrics === undefined
      ? {}
      : { weightedMetrics: read(weighted_metrics) as MetricsOption }),
    runEagerly: run_eagerly === true,
    ...(typeof steps_per_execution === 'number' ? { stepsPerExecution: steps_per_execution } : {}),
    jitCompile: jit_compile === true && run_eagerly !== true,
  };
}

/** How many steps are run in one go. */
export function stepsPerExecution(model: Model): number {
  return compiled.get(model)?.stepsPerExecution ?? 1;
}

/** Small gradients vanish in float16, unless the loss is scaled. */
function scaling(model: Model, optimizer: Optimizer, wanted: boolean): Optimizer {
  const isHalf = model.dtypePolicy.name === 'mixed_float16';
  return wanted && isHalf && !(optimizer instanceof LossScaleOptimizer)
    ? new LossScaleOptimizer(optimizer, { name: 'loss_scale_optimizer' })
    : optimizer;
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

/** Every metric of a model: the mean loss, those of `compile`, the losses of several outputs, those among its attributes. */
export function metricsOf(model: Model): Metric[] {
  const training = compiled.get(model);
  const own =
    training === undefined
      ? []
      : [training.mean, ...training.metrics.metrics, ...(training.loss?.means ?? [])];
  return [...new Set([...own, ...model.attributeMetrics()])];
}

/** What `read` gives of all metrics by name. Names that occur again are told apart as in Keras; of losses the last one counts. */
function byName<T>(model: Model, read: (metric: Metric) => T): Record<string, T> {
  const training = compiled.get(model);
  const found: Record<string, T> = {};
  const { metrics } = model;
  const means = new Set<Metric>(training?.loss?.means);
  for (const logged of training?.metrics.logged(metrics) ?? metrics.map((metric) => ({ metric }))) {
    const base = training?.metrics.nameOf(logged, (name) => name in found) ?? logged.metric.name;
    let name = base;
    const isLoss = means.has(logged.metric);
    for (let n = 1; !isLoss && name in found; n++) name = `${base}_${n}`;
    found[name] = read(logged.metric);
  }
  return found;
}

/** The values of all metrics by name. */
export function metricLogs(model: Model): Logs {
  return readMetrics(model, () => byName(model, valueOf));
}
/** What reads variables of a model's metrics; where several processes train together, in one exchange. */
export function readMetrics<T>(model: Model, read: () => T): T {
  const strategy = strategyOf(model);
  if (strategy === null || !strategy.spansProcesses) return read();
  return strategy.readTogether(
    model.metrics.flatMap(({ variables }) => variables),
    read,
  );
}
/** The results of all metrics by name, as tensors. */
export function metricResults(model: Model): Record<string, Tensor> {
  return byName(model, resultOf);
}

/** Whether code of the user gets to see targets and predictions, and may keep them. */
export function isObserved({ loss, metrics }: Training): boolean {
  return loss?.observed === true || metrics.observed;
}
