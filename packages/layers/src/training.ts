import { concat, InvalidArgumentError, keep, scope, Tensor } from '@eagre/core';
import { aliasTensor, isKept } from '@eagre/core/internal';
import { Callback, type FitParams, type Logs } from './callbacks/callback.ts';
import { History } from './callbacks/history.ts';
import { CallbackList } from './callbacks/list.ts';
import { ProgressBar } from './callbacks/progress.ts';
import { trainingOf } from './compile.ts';
import {
  adapt,
  type Batch,
  type Batches,
  type BatchSource,
  Feed,
  type FitData,
  flat,
  type Inputs,
  isBatchSource,
  type Names,
  tensorsOf,
} from './data-adapter.ts';
import { classWeights, type Examples, holdBack } from './examples.ts';
import type { Model } from './model.ts';
import { checkOptionNames, type OptionNames } from './option-names.ts';
import { isByName } from './per-output.ts';
import type { Tensors } from './steps.ts';

/** Targets: a tensor, for several outputs a list or tensors by name. */
export type Targets = Inputs;
export type Verbosity = 0 | 1 | 2 | 'auto';

interface BatchOptions {
  /** Examples in a batch; 32 unless given. */
  readonly batchSize?: number;
  /** 0 silent, 1 a progress bar, 2 one line per epoch; `'auto'` (default) is 1. */
  readonly verbose?: Verbosity;
  readonly callbacks?: readonly Callback[];
  /** Stop a pass after that many batches. */
  readonly steps?: number;
}
export interface EvaluateOptions extends BatchOptions {
  /** A factor for the loss of each example; for several outputs one for all, a list, or by name. */
  readonly sampleWeight?: Inputs;
}
export interface PredictOptions extends BatchOptions {}

/** What is validated on: a list [x, y, sampleWeight?], or an iterable of batches. */
export type ValidationData = readonly [x: Inputs, y: Inputs, sampleWeight?: Inputs | undefined] | BatchSource;

export interface FitOptions extends Omit<BatchOptions, 'steps'> {
  readonly epochs?: number;
  /** Number of the first epoch, when training goes on. */
  readonly initialEpoch?: number;
  /** Batches in an epoch. The next epoch goes on where this one stopped, and starts anew when the data has ended. */
  readonly stepsPerEpoch?: number;
  /** Reorder the examples before each epoch; true unless given. Does not apply to iterables. */
  readonly shuffle?: boolean;
  /** A factor for the loss of each example, and for `weightedMetrics`; for several outputs one for all, a list, or by name. */
  readonly sampleWeight?: Inputs;
  /** A weight for the examples of each class, by label. */
  readonly classWeight?: Readonly<Record<number, number>>;
  /** The last part of the examples, as a fraction, is held back for validation; `validationData` overrides it. */
  readonly validationSplit?: number;
  readonly validationData?: ValidationData;
  readonly validationBatchSize?: number;
  /** Stop each validation after that many batches. */
  readonly validationSteps?: number;
  /** Validate after every that many epochs; 1 unless given. */
  readonly validationFreq?: number;
}

const batchOptionNames: OptionNames<BatchOptions> = {
  batchSize: true,
  verbose: true,
  callbacks: true,
  steps: true,
};
const evaluateOptionNames: OptionNames<EvaluateOptions> = { ...batchOptionNames, sampleWeight: true };
const fitOptionNames: OptionNames<FitOptions> = {
  epochs: true,
  batchSize: true,
  verbose: true,
  callbacks: true,
  shuffle: true,
  initialEpoch: true,
  stepsPerEpoch: true,
  sampleWeight: true,
  classWeight: true,
  validationSplit: true,
  validationData: true,
  validationBatchSize: true,
  validationSteps: true,
  validationFreq: true,
};

/** `(x, y, options)`, or `(x, options)` where there are no targets: with an iterable of batches, say. */
function splitArguments<O extends object>(
  second: Targets | O | undefined,
  options: O | undefined,
  names: readonly string[] | null,
): [Targets | undefined, O] {
  if (options === undefined && isByName(second) && !areTargets(second, names))
    return [undefined, second as unknown as O];
  return [second as Targets | undefined, options ?? ({} as O)];
}

/** Whether an object holds targets by the names of outputs. */
function areTargets(value: object, names: readonly string[] | null): boolean {
  const keys = Object.keys(value);
  return keys.length > 0 && names !== null && keys.every((key) => names.includes(key));
}

function namesOf(model: Model): Names {
  return { inputs: model.inputNames, outputs: model.outputNames };
}

function checkCount(what: string, value: number | undefined, least = 1): void {
  if (value !== undefined && !(Number.isSafeInteger(value) && value >= least)) {
    throw new InvalidArgumentError(`${what} must be an integer of at least ${least}, got ${value}`, 'fit');
  }
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

/** One pass over batches. @returns the logs of the last one, which hold means over the pass, and the number of batches. */
async function pass(
  feed: Feed,
  limit: number | undefined,
  step: (batch: Batch, index: number) => Promise<Logs>,
  model?: Model,
): Promise<{ readonly logs: Logs; readonly count: number }> {
  const pacer = new Pacer();
  let logs: Logs = {};
  let count = 0;
  for await (const batch of feed.pass(limit)) {
    logs = await step(batch, count++);
    if (model?.stopTraining === true) break;
    await pacer.turn();
  }
  return { logs, count };
}

/** One pass over batches that nobody goes on with. @throws InvalidArgumentError when there is none. */
async function onePass(
  batches: Batches,
  limit: number | undefined,
  what: string,
  step: (batch: Batch, index: number) => Promise<Logs>,
): Promise<Logs> {
  const feed = new Feed(batches);
  try {
    const { logs, count } = await pass(feed, limit, step);
    if (count === 0) throw new InvalidArgumentError(NO_BATCH, what);
    return logs;
  } finally {
    await feed.close();
  }
}

const NO_BATCH = 'there was no batch to go through';

export async function fit(
  model: Model,
  x: FitData,
  second?: Targets | FitOptions,
  third?: FitOptions,
): Promise<History> {
  const names = namesOf(model);
  const [y, options] = splitArguments(second, third, names.outputs);
  checkOptionNames(options, fitOptionNames, 'fit');
  trainingOf(model);
  const { epochs = 1, initialEpoch = 0, batchSize = 32, shuffle = true, stepsPerEpoch } = options;
  const { validationFreq = 1, validationSplit = 0 } = options;
  checkCount('epochs', epochs, 0);
  checkCount('initialEpoch', initialEpoch, 0);
  checkCount('stepsPerEpoch', stepsPerEpoch);
  checkCount('validationFreq', validationFreq);

  let examples: Examples = { x, y, weight: options.sampleWeight };
  let { validationData } = options;
  if (validationSplit !== 0 && validationData === undefined) {
    [examples, validationData] = holdBack(examples, validationSplit, names);
  }
  const batches = adapt(examples.x, examples.y, examples.weight, { batchSize, shuffle, names }, 'fit');
  const validate =
    validationData === undefined
      ? undefined
      : validation(model, validationData, options.validationBatchSize ?? batchSize, options.validationSteps);

  const history = new History();
  const params: FitParams = {
    epochs,
    steps: stepsPerEpoch ?? batches.steps,
    verbose: verbosity(options.verbose),
    initialEpoch,
  };
  const given = checkCallbacks(options.callbacks);
  // The bar is last, so that what other callbacks print or throw comes before its line.
  const bar = params.verbose === 0 || given.some((c) => c instanceof ProgressBar) ? [] : [new ProgressBar()];
  const callbacks = new CallbackList(model, params, [...given, history, ...bar]);
  const feed = new Feed(batches);
  model.stopTraining = false;
  let logs: Logs = {};
  try {
    await callbacks.call((c) => c.onTrainBegin());
    const first = params.initialEpoch ?? 0;
    for (let epoch = first; epoch < epochs && !model.stopTraining; epoch++) {
      await callbacks.call((c) => c.onEpochBegin(epoch));
      resetMetrics(model);
      const done = await pass(
        feed,
        stepsPerEpoch,
        async (batch, index) => {
          await callbacks.call((c) => c.onTrainBatchBegin(index));
          const weight = classWeights(batch, options.classWeight);
          const result = run(model, 'trainStep', batch, weight);
          await callbacks.call((c) => c.onTrainBatchEnd(index, result));
          return result;
        },
        model,
      );
      if (done.count === 0) {
        if (epoch === first) throw new InvalidArgumentError(NO_BATCH, 'fit');
        warnOfEnd(epoch);
        break;
      }
      params.steps ??= done.count;
      logs = done.logs;
      if (validate !== undefined && (epoch + 1) % validationFreq === 0) {
        const found = await validate(callbacks);
        const named = Object.entries(found).map(([name, value]) => [`val_${name}`, value] as const);
        logs = { ...logs, ...Object.fromEntries(named) };
      }
      await callbacks.call((c) => c.onEpochEnd(epoch, logs));
    }
    await callbacks.call((c) => c.onTrainEnd(logs));
  } finally {
    callbacks.close();
    await feed.close();
  }
  return history;
}

function warnOfEnd(epochs: number): void {
  console.warn(
    `fit: the data ended after ${epochs} epochs and cannot be gone through again, so training ends; pass an iterable that starts anew (an array, a data set) instead of a generator`,
  );
}

// The steps of `Model` itself, which keep nothing of a batch.
const ownSteps = new WeakSet<object>();
/** @internal */
export function markOwnSteps(...steps: readonly object[]): void {
  for (const step of steps) ownSteps.add(step);
}

type Step = Model['trainStep'];

/** Runs a step on a batch; what a step of the user's gets to see it may keep. */
function run(
  model: Model,
  method: 'trainStep' | 'testStep',
  batch: Batch,
  sampleWeight: Tensors | undefined,
): Logs {
  const step: Step = model[method];
  const { x, y } = batch;
  if (!ownSteps.has(step)) for (const t of tensorsOf({ x, y, sampleWeight })) keep(t);
  return step.call(model, x, y, sampleWeight);
}

/** What validates after an epoch: the data are converted once. */
function validation(
  model: Model,
  data: ValidationData,
  batchSize: number,
  steps: number | undefined,
): (callbacks: CallbackList) => Promise<Logs> {
  const options = { batchSize, shuffle: false, names: namesOf(model) };
  if (!isBatchSource(data) && !Array.isArray(data)) {
    throw new InvalidArgumentError('validationData is [x, y] or an iterable of batches', 'fit');
  }
  const batches = isBatchSource(data)
    ? adapt(data, undefined, undefined, options, 'fit')
    : adapt(data[0], data[1], data[2], options, 'fit');
  return (callbacks) => test(model, batches, steps, callbacks);
}

/** One pass over test data. */
async function test(
  model: Model,
  batches: Batches,
  steps: number | undefined,
  callbacks: CallbackList,
  bar?: ProgressBar,
): Promise<Logs> {
  await callbacks.call((c) => c.onTestBegin());
  resetMetrics(model);
  const logs = await onePass(batches, steps, 'evaluate', async (batch, index) => {
    await callbacks.call((c) => c.onTestBatchBegin(index));
    const result = run(model, 'testStep', batch, batch.sampleWeight);
    await callbacks.call((c) => c.onTestBatchEnd(index, result));
    bar?.onTrainBatchEnd(index, result);
    return result;
  });
  await callbacks.call((c) => c.onTestEnd(logs));
  return logs;
}

export async function evaluate(
  model: Model,
  x: FitData,
  second?: Targets | EvaluateOptions,
  third?: EvaluateOptions,
): Promise<Logs> {
  const names = namesOf(model);
  const [y, options] = splitArguments(second, third, names.outputs);
  checkOptionNames(options, evaluateOptionNames, 'evaluate');
  trainingOf(model);
  const { batchSize = 32, steps } = options;
  checkCount('steps', steps);
  const batches = adapt(x, y, options.sampleWeight, { batchSize, shuffle: false, names }, 'evaluate');
  return alone('Evaluate', model, batches, options, (callbacks, bar) =>
    test(model, batches, steps, callbacks, bar),
  );
}

export async function predict(model: Model, x: FitData, options: PredictOptions = {}): Promise<Tensors> {
  checkOptionNames(options, batchOptionNames, 'predict');
  const { batchSize = 32, steps } = options;
  checkCount('steps', steps);
  const batches = adapt(
    x,
    undefined,
    undefined,
    { batchSize, shuffle: false, names: namesOf(model) },
    'predict',
  );
  // For each output of the model its values, batch by batch.
  const outputs: Tensor[][] = [];
  let many = false;
  await alone('Predict', model, batches, { verbose: 0, ...options }, async (callbacks, bar) => {
    await callbacks.call((c) => c.onPredictBegin());
    await onePass(batches, steps, 'predict', async (batch, index) => {
      await callbacks.call((c) => c.onPredictBatchBegin(index));
      const y: Tensors = scope(() => model.invoke(batch.x, { training: false }));
      many = !(y instanceof Tensor);
      const inputs = flat(batch.x);
      flat(y).forEach((t, i) => {
        // An input that was passed on goes when its batch goes.
        (outputs[i] ??= []).push(inputs.includes(t) ? aliasTensor(t, t.shape) : t);
      });
      await callbacks.call((c) => c.onPredictBatchEnd(index, {}));
      bar?.onTrainBatchEnd(index, {});
      return {};
    });
    await callbacks.call((c) => c.onPredictEnd({}));
    return {};
  });
  const all = outputs.map((parts) => {
    const joined = concat(parts, 0);
    for (const t of parts) if (!isKept(t)) t.dispose();
    return joined;
  });
  return many ? all : (all[0] as Tensor);
}

/** A pass outside of training, with its own progress bar. */
async function alone(
  label: string,
  model: Model,
  batches: Batches,
  options: BatchOptions,
  work: (callbacks: CallbackList, bar: ProgressBar | undefined) => Promise<Logs>,
): Promise<Logs> {
  const params: FitParams = {
    epochs: 1,
    steps: options.steps ?? batches.steps,
    verbose: verbosity(options.verbose),
  };
  const bar = params.verbose === 0 ? undefined : new ProgressBar(label);
  const callbacks = new CallbackList(model, params, checkCallbacks(options.callbacks));
  bar?.attach(model, params);
  try {
    await bar?.onEpochBegin(0);
    const logs = await work(callbacks, bar);
    bar?.onEpochEnd(0, logs);
    return logs;
  } catch (error) {
    callbacks.close();
    throw error;
  } finally {
    bar?.close();
  }
}

function resetMetrics(model: Model): void {
  for (const metric of model.metrics) metric.resetState();
}

function verbosity(verbose: Verbosity | undefined): 0 | 1 | 2 {
  if (verbose === undefined || verbose === 'auto') return 1;
  if (verbose !== 0 && verbose !== 1 && verbose !== 2)
    throw new InvalidArgumentError(`verbose must be 0, 1, 2 or 'auto', got ${String(verbose)}`);
  return verbose;
}

function checkCallbacks(callbacks: readonly Callback[] | undefined): readonly Callback[] {
  if (callbacks === undefined || callbacks === null) return [];
  if (!Array.isArray(callbacks)) throw new InvalidArgumentError('callbacks must be a list of them');
  for (const callback of callbacks as unknown[]) {
    if (callback instanceof Callback) continue;
    throw new InvalidArgumentError(
      typeof callback === 'function'
        ? `callbacks holds the class ${callback.name}: write new ${callback.name}(…)`
        : 'callbacks holds what is no callback; functions go into new LambdaCallback({ onEpochEnd: … })',
    );
  }
  return callbacks as readonly Callback[];
}
