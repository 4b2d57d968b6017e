// fit: passes that train, and validation between them.
import { FailedPreconditionError, InvalidArgumentError, Tensor } from '@eagre/core';
import { checkFlag, kerasDefaults, type StepScheduler } from '@eagre/core/internal';
import type { FitParams, Logs } from '../callbacks/callback.ts';
import { CallbackRun } from '../callbacks/callback-run.ts';
import { History } from '../callbacks/history.ts';
import { ProgressBar } from '../callbacks/progress.ts';
import type { Model } from '../models/model.ts';
import { Accumulators } from './accumulators.ts';
import { checkAlike } from './agreement.ts';
import { type CheckSignal, signalChecker } from './cancellation.ts';
import { strategyOf, trainingOf } from './compile.ts';
import { adapt, type Batch, Feed, type FitData, isSource } from './data-adapter.ts';
import { test } from './evaluation.ts';
import { checkClassWeight, classWeights, type Examples, splitValidation } from './examples.ts';
import { checkOwnFunctions } from './functions.ts';
import { type Execution, NO_BATCH, pass } from './passes.ts';
import { isByName } from './per-output.ts';
import { readyToRun, runStep, scheduledSteps, scheduleStep } from './steps.ts';
import {
  checkCallbacks,
  checkCounts,
  type FitOptions,
  fitOptionNames,
  limitedSteps,
  namesOf,
  splitArguments,
  type Targets,
  type ValidationData,
  verbosity,
} from './training-options.ts';

// The models that are being trained.
const training = new WeakSet<Model>();

export async function fit(
  model: Model,
  x: FitData,
  second?: Targets | FitOptions | null,
  third?: FitOptions | null,
): Promise<History> {
  const names = namesOf(model);
  const [y, options] = splitArguments(second, third, names, fitOptionNames, 'fit');
  const { optimizer, stepsPerExecution } = trainingOf(model);
  checkOwnFunctions(model);
  const { epochs: wanted = 1, initialEpoch = 0, batchSize, shuffle = true } = options;
  const { validationFreq = 1, validationSplit = 0 } = options;
  const { validationSteps, validationBatchSize = batchSize } = options;
  checkCounts({ epochs: wanted, initialEpoch }, 'fit', 0);
  const epochs = limitedEpochs(wanted);
  const stepsPerEpoch = limitedSteps(options.stepsPerEpoch, 'stepsPerEpoch', 'fit');
  const isValidated = validatedEpochs(validationFreq);
  checkCounts({ batchSize, validationSteps, validationBatchSize }, 'fit');
  checkFlag(shuffle, 'shuffle', 'fit');
  checkClassWeight(options.classWeight, 'fit');

  let examples: Examples = { x, y, weight: options.sampleWeight };
  let { validationData } = options;
  if (validationSplit !== 0 && validationData === undefined) {
    [examples, validationData] = splitValidation(examples, validationSplit, names);
  }
  const batches = adapt(
    examples.x,
    examples.y,
    examples.weight,
    { batchSize, steps: stepsPerEpoch, shuffle, names, share: sharing(model), strategy: strategyOf(model) },
    'fit',
  );
  const scheduler = strategyOf(model)?.scheduler;
  // Who reads metrics waits for all workers, so that is done behind the last step.
  const size =
    scheduler === undefined ? stepsPerExecution : scheduledSteps(stepsPerEpoch ?? batches.steps, 'fit');
  const checkSignal = signalChecker(options.signal, 'fit');
  const validate =
    validationData === undefined
      ? undefined
      : validation(
          model,
          validationData,
          y !== undefined && y !== null,
          validationBatchSize,
          limitedSteps(validationSteps, 'validationSteps', 'fit'),
        );

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
  checkSignal(0);
  const callbacks = new CallbackRun(model, params, [...given, history, ...bar]);
  if (training.has(model)) {
    throw new FailedPreconditionError('another fit is training the model; await it first', 'fit');
  }
  checkAlike(
    model,
    'fit',
    {
      batchSize,
      stepsPerEpoch,
      epochs,
      initialEpoch: params.initialEpoch,
      shuffle,
      classWeight: options.classWeight,
      validation: validate !== undefined,
      validationFreq,
      validationBatchSize,
      validationSteps,
      autoShardPolicy: policyOf(examples.x),
    },
    { 'the number of batches': batches.steps ?? cardinalityOf(examples.x) },
  );
  training.add(model);
  const accumulators = new Accumulators(model);
  const feed = new Feed(batches);
  model.stopTraining = false;
  let logs: Logs = {};
  try {
    await readyToRun(model, 'train');
    await callbacks.call((c) => c.onTrainBegin({}));
    const first = params.initialEpoch ?? 0;
    for (let epoch = first; epoch < epochs && !model.stopTraining; epoch++) {
      await callbacks.call((c) => c.onEpochBegin(epoch));
      accumulators.reset();
      let read = (): Logs | Promise<Logs> => ({});
      const step = async (batch: Batch): Promise<void> => {
        const weight = classWeights(batch, options.classWeight);
        read = await scheduleStep(model, 'train', batch, weight, scheduler as StepScheduler);
      };
      const stepHere = (batch: Batch): void => {
        const weight = classWeights(batch, options.classWeight);
        accumulators.enter();
        read = callbacks.step(() => runStep(model, 'train', batch, weight));
      };
      const execution: Execution = {
        begin: (index) => callbacks.call((c) => c.onTrainBatchBegin(index)),
        run: scheduler === undefined ? stepHere : step,
        end: (index, result) => callbacks.call((c) => c.onTrainBatchEnd(index, result)),
        logs: () => {
          accumulators.enter();
          return read();
        },
        readsLogs: () => callbacks.readsBatches('train'),
      };
      const check: CheckSignal = (steps) => checkSignal(steps, epoch - first);
      const done = await pass(
        feed,
        scheduler === undefined ? stepsPerEpoch : size,
        size,
        execution,
        check,
        strategyOf(model),
        model,
      );
      if (done.count === 0) {
        if (epoch === first) throw new InvalidArgumentError(NO_BATCH, 'fit');
        warnOfEnd(epoch);
        break;
      }
      params.steps ??= done.count;
      logs = done.logs;
      if (validate !== undefined && isValidated(epoch + 1)) {
        const found = await validate(callbacks, () => check(done.count));
        const named = Object.entries(found).map(([name, value]) => [`val_${name}`, value] as const);
        logs = { ...logs, ...Object.fromEntries(named) };
      }
      await callbacks.call((c) => c.onEpochEnd(epoch, logs));
      checkSignal(0, epoch - first + 1);
    }
    if (epochs > 0) optimizer.finalizeVariableValues(model.trainableVariables);
    await callbacks.call((c) => c.onTrainEnd(logs));
  } finally {
    training.delete(model);
    accumulators.leave();
    callbacks.close();
    await feed.close();
  }
  return history;
}

/** How a dataset is divided between processes. */
function policyOf(x: unknown): unknown {
  const { options } = x as { options?: () => { experimentalDistribute?: { autoShardPolicy?: unknown } } };
  return typeof options === 'function' ? options.call(x).experimentalDistribute?.autoShardPolicy : undefined;
}

/** How many elements a dataset says that it has, before it is divided. */
function cardinalityOf(x: unknown): unknown {
  const { cardinality } = x as { cardinality?: () => unknown };
  return typeof cardinality === 'function' ? cardinality.call(x) : undefined;
}

/** Processes that train together go through the examples in one order: each takes its part of every batch. */
function sharing(model: Model): ((order: Tensor) => Tensor) | undefined {
  const strategy = strategyOf(model);
  return strategy === null ? undefined : (order) => strategy.share(order);
}

/** Whether there is a validation after an epoch. @throws InvalidArgumentError for what is neither an integer of at least 1 nor a list of such */
function validatedEpochs(freq: number | readonly number[]): (epoch: number) => boolean {
  if (!Array.isArray(freq)) {
    checkCounts({ validationFreq: freq }, 'fit');
    return (epoch) => epoch % (freq as number) === 0;
  }
  for (const epoch of freq as readonly unknown[]) checkCounts({ validationFreq: epoch }, 'fit');
  return (epoch) => freq.includes(epoch);
}

/** The epochs, at most those of `setMaxEpochs`. */
function limitedEpochs(epochs: number): number {
  const { maxEpochs } = kerasDefaults;
  if (maxEpochs === null || maxEpochs >= epochs) return epochs;
  console.warn(`fit: tf.keras.config.setMaxEpochs limits the ${epochs} epochs to ${maxEpochs}`);
  return maxEpochs;
}

function warnOfEnd(epochs: number): void {
  console.warn(
    `fit: the data ended after ${epochs} epochs and cannot be gone through again, so training ends; pass an iterable that starts anew (an array, a data set) instead of a generator`,
  );
}

/** What validates after an epoch: the data are converted once. */
function validation(
  model: Model,
  data: ValidationData,
  needsTargets: boolean,
  batchSize: number | undefined,
  steps: number | undefined,
): (callbacks: CallbackRun, checkSignal: CheckSignal) => Promise<Logs> {
  const options = { batchSize, steps, shuffle: false, names: namesOf(model), strategy: strategyOf(model) };
  const isList = Array.isArray(data) && data.length >= (needsTargets ? 2 : 1) && data.length <= 3;
  const isInputs = !needsTargets && (data instanceof Tensor || isByName(data));
  if (!isSource(data) && !isList && !isInputs)
    throw new InvalidArgumentError(
      'validationData must be [x, y] or [x, y, sampleWeight], an iterable of batches, or x where fit has no targets',
      'fit',
    );
  const batches = isList
    ? adapt(data[0] as FitData, data[1], data[2], options, 'fit')
    : adapt(data as FitData, undefined, undefined, options, 'fit');
  return (callbacks, checkSignal) => test(model, batches, steps, callbacks, checkSignal);
}
