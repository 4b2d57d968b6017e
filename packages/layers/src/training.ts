import { GradientTape } from '@eagre/autodiff';
import {
  concat,
  FailedPreconditionError,
  InvalidArgumentError,
  scope,
  type Tensor,
  type TensorLike,
  type Variable,
} from '@eagre/core';
import { toTensor } from '@eagre/core/internal';
import { losses, metrics as metricsModule } from '@eagre/metrics';
import { get as getOptimizer, type Optimizer, type OptimizerLike } from '@eagre/optimizers';
import type { Callback, FitParams, Logs } from './callbacks/callback.ts';
import { History } from './callbacks/history.ts';
import { ProgressBar } from './callbacks/progress.ts';
import {
  ArrayBatches,
  type Batch,
  type Batches,
  type BatchLike,
  type BatchSource,
  fromIterable,
  inputTensors,
  isBatchSource,
} from './data-adapter.ts';
import type { Model } from './model.ts';

export { History, type Logs };

type Metric = metricsModule.Metric;

export interface CompileOptions {
  /** A name such as `'adam'`, or an optimizer; `'rmsprop'` unless given, as in Keras. */
  readonly optimizer?: OptimizerLike;
  /** A name such as `'mse'`, a loss, or a function of (yTrue, yPred). */
  readonly loss?: losses.LossLike;
  readonly metrics?: readonly metricsModule.MetricLike[];
}

/** Examples: one input, several tensors for a model of several inputs, or an iterable of batches. */
export type FitData = TensorLike | readonly Tensor[] | BatchSource;
export type Targets = TensorLike;

interface BatchOptions {
  /** Examples in a batch; 32 unless given. */
  readonly batchSize?: number;
  /** 0 silent, 1 a progress bar, 2 one line per epoch; `'auto'` (default) is 1. */
  readonly verbose?: 0 | 1 | 2 | 'auto';
  readonly callbacks?: readonly Callback[];
  /** Stop a pass after that many batches. */
  readonly steps?: number;
}
export interface EvaluateOptions extends BatchOptions {
  readonly sampleWeight?: TensorLike;
}
export interface PredictOptions extends BatchOptions {}
export interface FitOptions extends Omit<BatchOptions, 'steps'> {
  readonly epochs?: number;
  /** Number of the first epoch, when training goes on. */
  readonly initialEpoch?: number;
  readonly stepsPerEpoch?: number;
  /** Reorder the examples before each epoch; true unless given. Does not apply to iterables. */
  readonly shuffle?: boolean;
  readonly sampleWeight?: TensorLike;
  /** A weight for the examples of each class, by label. */
  readonly classWeight?: Readonly<Record<number, number>>;
  /** The last part of the examples, as a fraction, is held back for validation. */
  readonly validationSplit?: number;
  readonly validationData?: readonly [x: TensorLike, y: TensorLike, sampleWeight?: TensorLike] | BatchSource;
  readonly validationBatchSize?: number;
  /** Validate after every that many epochs; 1 unless given. */
  readonly validationFreq?: number;
}

/** What a compiled model trains with. */
export interface Training {
  readonly optimizer: Optimizer;
  readonly loss: losses.Loss | undefined;
  /** The running mean of the loss, then the metrics. */
  readonly metrics: Metric[];
  readonly requested: readonly metricsModule.MetricLike[];
  resolved: boolean;
}

const compiled = new WeakMap<Model, Training>();

export function compile(model: Model, options: CompileOptions): void {
  compiled.set(model, {
    optimizer: getOptimizer(options.optimizer ?? 'rmsprop'),
    loss: options.loss === undefined ? undefined : losses.get(options.loss),
    metrics: [new metricsModule.Mean('loss')],
    requested: options.metrics ?? [],
    resolved: false,
  });
}

export function trainingOf(model: Model): Training {
  const training = compiled.get(model);
  if (training === undefined) {
    throw new FailedPreconditionError('call model.compile({ optimizer, loss }) first', model.name);
  }
  return training;
}

/** `'accuracy'` means another metric for labels than for one-hot targets, so it waits for the first batch. */
function resolveMetrics(training: Training, yTrue: Tensor, yPred: Tensor): void {
  if (training.resolved) return;
  for (const metric of training.requested) {
    training.metrics.push(metricsModule.get(metric, { yTrueShape: yTrue.shape, yPredShape: yPred.shape }));
  }
  training.resolved = true;
}

function totalLoss(model: Model, y: Tensor | undefined, yPred: Tensor, weight: Tensor | undefined): Tensor {
  const { loss } = trainingOf(model);
  const penalties = model.losses;
  if (loss === undefined && penalties.length === 0) {
    throw new FailedPreconditionError(
      'the model has neither a loss nor penalties; give compile a loss',
      model.name,
    );
  }
  const parts = [...penalties];
  if (loss !== undefined) {
    if (y === undefined) throw new InvalidArgumentError('the loss needs targets: pass y', model.name);
    parts.unshift(loss(y, yPred, weight === undefined ? {} : { sampleWeight: weight }));
  }
  return parts.reduce((a, b) => a.add(b));
}

function updateMetrics(
  training: Training,
  loss: Tensor,
  y: Tensor | undefined,
  yPred: Tensor,
  weight: Tensor | undefined,
): void {
  if (y !== undefined) resolveMetrics(training, y, yPred);
  const [mean, ...others] = training.metrics as [Metric, ...Metric[]];
  // The mean over the epoch is that over examples, so a short last batch counts for less.
  mean.updateState(loss, { sampleWeight: yPred.shape[0] ?? 1 });
  if (y === undefined) return;
  for (const metric of others)
    metric.updateState(y, yPred, weight === undefined ? {} : { sampleWeight: weight });
}

function metricLogs(training: Training): Logs {
  return Object.fromEntries(
    training.metrics.map((m) => [m.name, scope(() => (m.result() as Tensor).item())]),
  );
}

/** Forward, loss, gradients, update, metrics. */
export function trainStep(model: Model, x: Tensor, y: Tensor | undefined, weight: Tensor | undefined): Logs {
  const training = trainingOf(model);
  return scope(() => {
    using tape = new GradientTape();
    const yPred = model.invoke(x, { training: true });
    const loss = totalLoss(model, y, yPred, weight);
    const variables: Variable[] = model.trainableVariables;
    if (variables.length > 0) {
      training.optimizer.applyGradients(tape.gradient(loss, variables), variables);
    }
    tape.dispose();
    updateMetrics(training, loss, y, yPred, weight);
    return metricLogs(training);
  });
}

/** Forward, loss, metrics. */
export function testStep(model: Model, x: Tensor, y: Tensor | undefined, weight: Tensor | undefined): Logs {
  const training = trainingOf(model);
  return scope(() => {
    const yPred = model.invoke(x, { training: false });
    updateMetrics(training, totalLoss(model, y, yPred, weight), y, yPred, weight);
    return metricLogs(training);
  });
}

/** `(x, y, options)` or, with an iterable of batches, `(x, options)`. */
function splitArguments<O extends object>(
  x: FitData,
  y: Targets | O | undefined,
  options: O | undefined,
): [Targets | undefined, O] {
  if (isBatchSource(x) && options === undefined) return [undefined, (y ?? {}) as O];
  return [y as Targets | undefined, options ?? ({} as O)];
}

function adapt(
  x: FitData,
  y: Targets | undefined,
  weight: TensorLike | undefined,
  options: { batchSize: number; shuffle: boolean },
): Batches {
  if (isBatchSource(x)) {
    if (y !== undefined)
      throw new InvalidArgumentError('an iterable yields its targets itself: [x, y]; leave y out', 'fit');
    return fromIterable(x);
  }
  return new ArrayBatches(
    inputTensors(x as TensorLike),
    y === undefined ? undefined : toTensor(y),
    weight === undefined ? undefined : toTensor(weight),
    options,
  );
}

// A turn of the event loop now and then: timers, signals and the collection of what native code held need it.
const TURN_MS = 50;

class Pacer {
  #last = performance.now();
  async turn(): Promise<void> {
    if (performance.now() - this.#last < TURN_MS) return;
    await new Promise<void>((resolve) => setImmediate(resolve));
    this.#last = performance.now();
  }
}

/** One pass over batches. @returns the logs of the last one, which hold means over the pass. */
async function pass(
  batches: Batches,
  limit: number | undefined,
  step: (batch: Batch, index: number) => Logs | Promise<Logs>,
  model?: Model,
): Promise<Logs> {
  const pacer = new Pacer();
  let logs: Logs = {};
  let index = 0;
  if (limit === 0) return logs;
  for await (const batch of batches.batches()) {
    logs = await step(batch, index++);
    if (index === limit || model?.stopTraining === true) break;
    await pacer.turn();
  }
  if (index === 0) throw new InvalidArgumentError('there was no batch to go through');
  return logs;
}

export async function fit(
  model: Model,
  x: FitData,
  second?: Targets | FitOptions,
  third?: FitOptions,
): Promise<History> {
  const [y, options] = splitArguments(x, second, third);
  const training = trainingOf(model);
  const {
    epochs = 1,
    initialEpoch = 0,
    batchSize = 32,
    shuffle = true,
    stepsPerEpoch,
    validationFreq = 1,
  } = options;
  const [examples, held] = holdBack(x, y, options);
  const batches = adapt(examples.x, examples.y, examples.weight, { batchSize, shuffle });
  const validation = held ?? options.validationData;
  const history = new History();
  const steps = stepsPerEpoch ?? batches.steps;
  const verbose = verbosity(options.verbose);
  const bar = verbose === 0 ? undefined : new ProgressBar();
  const callbacks: Callback[] = [...(options.callbacks ?? []), history, ...(bar === undefined ? [] : [bar])];
  const params: FitParams = { epochs, steps, verbose };
  for (const c of callbacks) c.attach(model, params);
  model.stopTraining = false;
  let logs: Logs = {};
  try {
    for (const c of callbacks) await c.onTrainBegin();
    for (let epoch = initialEpoch; epoch < epochs && !model.stopTraining; epoch++) {
      for (const c of callbacks) await c.onEpochBegin(epoch);
      resetMetrics(training);
      logs = await pass(
        batches,
        stepsPerEpoch,
        async (batch, index) => {
          for (const c of callbacks) await c.onTrainBatchBegin(index);
          const weight = classWeights(batch, options.classWeight);
          const result = model.trainStep(batch.x as Tensor, batch.y, weight);
          for (const c of callbacks) await c.onTrainBatchEnd(index, result);
          return result;
        },
        model,
      );
      if (validation !== undefined && (epoch + 1) % validationFreq === 0) {
        const size = options.validationBatchSize ?? batchSize;
        const found = await validate(model, validation, size);
        logs = {
          ...logs,
          ...Object.fromEntries(Object.entries(found).map(([name, value]) => [`val_${name}`, value])),
        };
      }
      for (const c of callbacks) await c.onEpochEnd(epoch, logs);
    }
    for (const c of callbacks) await c.onTrainEnd(logs);
  } finally {
    bar?.close();
  }
  return history;
}

async function validate(
  model: Model,
  data: NonNullable<FitOptions['validationData']>,
  batchSize: number,
): Promise<Logs> {
  if (isBatchSource(data)) return evaluate(model, data, { verbose: 0 });
  const [x, y, sampleWeight] = data as readonly [TensorLike, TensorLike, TensorLike?];
  return evaluate(model, x, y, {
    batchSize,
    verbose: 0,
    ...(sampleWeight === undefined ? {} : { sampleWeight }),
  });
}

export async function evaluate(
  model: Model,
  x: FitData,
  second?: Targets | EvaluateOptions,
  third?: EvaluateOptions,
): Promise<Logs> {
  const [y, options] = splitArguments(x, second, third);
  const training = trainingOf(model);
  const batches = adapt(x, y, options.sampleWeight, { batchSize: options.batchSize ?? 32, shuffle: false });
  resetMetrics(training);
  return shown('Evaluate', model, batches, options, (batch) =>
    model.testStep(batch.x as Tensor, batch.y, batch.sampleWeight),
  );
}

export async function predict(model: Model, x: FitData, options: PredictOptions = {}): Promise<Tensor> {
  const batches = adapt(x, undefined, undefined, { batchSize: options.batchSize ?? 32, shuffle: false });
  const outputs: Tensor[] = [];
  await shown('Predict', model, batches, { verbose: 0, ...options }, (batch) => {
    outputs.push(scope(() => model.invoke(batch.x, { training: false })));
    return {};
  });
  const all = concat(outputs, 0);
  for (const t of outputs) t.dispose();
  return all;
}

/** A pass with its own progress bar. */
async function shown(
  label: string,
  model: Model,
  batches: Batches,
  options: EvaluateOptions,
  step: (batch: Batch) => Logs,
): Promise<Logs> {
  const verbose = verbosity(options.verbose);
  const bar = verbose === 0 ? undefined : new ProgressBar(label);
  const steps = options.steps ?? batches.steps;
  const callbacks: Callback[] = [...(options.callbacks ?? []), ...(bar === undefined ? [] : [bar])];
  for (const c of callbacks) c.attach(model, { epochs: 1, steps, verbose });
  try {
    await bar?.onEpochBegin(0);
    const logs = await pass(batches, options.steps, async (batch, index) => {
      const result = step(batch);
      for (const c of callbacks) await c.onTrainBatchEnd(index, result);
      return result;
    });
    bar?.onEpochEnd(0, logs);
    return logs;
  } finally {
    bar?.close();
  }
}

function resetMetrics(training: Training): void {
  for (const metric of training.metrics) metric.resetState();
}

function verbosity(verbose: 0 | 1 | 2 | 'auto' | undefined): 0 | 1 | 2 {
  return verbose === undefined || verbose === 'auto' ? 1 : verbose;
}

interface Examples {
  readonly x: FitData;
  readonly y: Targets | undefined;
  readonly weight: TensorLike | undefined;
}

/** Splits the last part of the examples off, as `validationSplit` says. */
function holdBack(
  x: FitData,
  y: Targets | undefined,
  options: FitOptions,
): [Examples, FitOptions['validationData']] {
  const { validationSplit = 0, sampleWeight: weight } = options;
  if (validationSplit === 0) return [{ x, y, weight }, undefined];
  if (!(validationSplit > 0 && validationSplit < 1)) {
    throw new InvalidArgumentError(`validationSplit must be in (0, 1), got ${validationSplit}`, 'fit');
  }
  if (isBatchSource(x) || y === undefined)
    throw new InvalidArgumentError('validationSplit needs x and y as arrays', 'fit');
  const inputs = inputTensors(x as TensorLike);
  if (Array.isArray(inputs))
    throw new InvalidArgumentError('validationSplit takes one input; pass validationData', 'fit');
  const all = [inputs as Tensor, toTensor(y), ...(weight === undefined ? [] : [toTensor(weight)])];
  const n = (all[0] as Tensor).shape[0] ?? 0;
  const at = Math.floor(n * (1 - validationSplit));
  if (at === 0 || at === n)
    throw new InvalidArgumentError(
      `validationSplit ${validationSplit} leaves nothing on one side of ${n} examples`,
      'fit',
    );
  const [head, tail] = [
    all.map((t) => t.slice([0, ...t.shape.slice(1).map(() => 0)], [at, ...t.shape.slice(1)])),
    all.map((t) => t.slice([at, ...t.shape.slice(1).map(() => 0)], [n - at, ...t.shape.slice(1)])),
  ] as [Tensor[], Tensor[]];
  return [
    { x: head[0] as Tensor, y: head[1] as Tensor, weight: head[2] },
    tail as unknown as readonly [Tensor, Tensor, Tensor?],
  ];
}

/** The batch's weights times those of its classes. */
function classWeights(
  batch: Batch,
  weights: Readonly<Record<number, number>> | undefined,
): Tensor | undefined {
  if (weights === undefined) return batch.sampleWeight;
  if (batch.y === undefined) throw new InvalidArgumentError('classWeight needs targets', 'fit');
  const labels =
    batch.y.rank > 1 && (batch.y.shape.at(-1) ?? 1) > 1 ? batch.y.argMax(-1) : batch.y.reshape([-1]);
  const list = Array.from(
    labels.data() as ArrayLike<number | bigint>,
    (label) => weights[Number(label)] ?? 1,
  );
  const own = toTensor(list);
  return batch.sampleWeight === undefined ? own : own.mul(batch.sampleWeight);
}

export type { BatchLike, BatchSource };
