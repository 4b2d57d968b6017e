// evaluate and predict: passes outside of training.
import { concat, type Tensor } from '@eagre/core';
import { aliasTensor, isKept, tree } from '@eagre/core/internal';
import type { Logs } from '../callbacks/callback.ts';
import type { CallbackRun } from '../callbacks/callback-run.ts';
import type { ProgressBar } from '../callbacks/progress.ts';
import { flat, type Tensors } from '../layer/batch-tensors.ts';
import type { Model } from '../models/model.ts';
import { Accumulators } from './accumulators.ts';
import { type CheckSignal, signalChecker } from './cancellation.ts';
import { stepsPerExecution, strategyOf, trainingOf } from './compile.ts';
import { adapt, type Batches, type FitData } from './data-adapter.ts';
import { type Execution, onePass, runStandalone } from './passes.ts';
import { runPredictStep, runStep, scheduledSteps, scheduleStep } from './steps.ts';
import {
  checkCounts,
  checkReturnDict,
  type EvaluateOptions,
  evaluateOptionNames,
  limitedSteps,
  namesOf,
  type PredictOptions,
  splitArguments,
  type Targets,
} from './training-options.ts';

/** One pass over test data. */
export async function test(
  model: Model,
  batches: Batches,
  steps: number | undefined,
  callbacks: CallbackRun,
  checkSignal: CheckSignal,
  bar?: ProgressBar,
): Promise<Logs> {
  await callbacks.call((c) => c.onTestBegin());
  const accumulators = new Accumulators(model);
  accumulators.reset();
  const scheduler = strategyOf(model)?.scheduler;
  let read = (): Logs | Promise<Logs> => ({});
  const execution: Execution = {
    begin: (index) => callbacks.call((c) => c.onTestBatchBegin(index)),
    run: async (batch) => {
      if (scheduler !== undefined) {
        read = await scheduleStep(model, 'test', batch, batch.sampleWeight, scheduler);
        return;
      }
      accumulators.enter();
      read = callbacks.step(() => runStep(model, 'test', batch, batch.sampleWeight));
    },
    end: async (index) => {
      accumulators.enter();
      const result = await read();
      await callbacks.call((c) => c.onTestBatchEnd(index, result));
      bar?.onTrainBatchEnd(index, result);
      return result;
    },
  };
  const size =
    scheduler === undefined ? stepsPerExecution(model) : scheduledSteps(steps ?? batches.steps, 'evaluate');
  const logs = await onePass(
    batches,
    steps,
    size,
    'evaluate',
    execution,
    checkSignal,
    strategyOf(model),
  ).finally(() => accumulators.leave());
  await callbacks.call((c) => c.onTestEnd(logs));
  return logs;
}

export async function evaluate(
  model: Model,
  x: FitData,
  second?: Targets | EvaluateOptions | null,
  third?: EvaluateOptions | null,
): Promise<Logs> {
  const names = namesOf(model);
  const [y, options] = splitArguments(second, third, names.outputs, evaluateOptionNames, 'evaluate');
  trainingOf(model);
  checkReturnDict(options.returnDict, 'evaluate');
  const { batchSize } = options;
  checkCounts({ batchSize }, 'evaluate');
  const steps = limitedSteps(options.steps, 'steps', 'evaluate');
  const how = { batchSize, steps, shuffle: false, names, strategy: strategyOf(model) };
  const batches = adapt(x, y, options.sampleWeight, how, 'evaluate');
  const checkSignal = signalChecker(options.signal, 'evaluate');
  return runStandalone('Evaluate', model, batches, options, checkSignal, (callbacks, bar) =>
    test(model, batches, steps, callbacks, checkSignal, bar),
  );
}

export async function predict(model: Model, x: FitData, options: PredictOptions = {}): Promise<Tensors> {
  const { batchSize } = options;
  checkCounts({ batchSize }, 'predict');
  const steps = limitedSteps(options.steps, 'steps', 'predict');
  const batches = adapt(
    x,
    undefined,
    undefined,
    { batchSize, steps, shuffle: false, names: namesOf(model) },
    'predict',
  );
  // For each output of the model its values, batch by batch.
  const outputs: Tensor[][] = [];
  let shape: Tensors | undefined;
  const checkSignal = signalChecker(options.signal, 'predict');
  await runStandalone('Predict', model, batches, options, checkSignal, async (callbacks, bar) => {
    await callbacks.call((c) => c.onPredictBegin());
    const execution: Execution = {
      begin: (index) => callbacks.call((c) => c.onPredictBatchBegin(index)),
      run: (batch) => {
        const y = runPredictStep(model, batch.x);
        shape ??= y;
        const inputs = flat(batch.x);
        flat(y).forEach((t, i) => {
          // An input that was passed on goes when its batch goes.
          (outputs[i] ??= []).push(inputs.includes(t) ? aliasTensor(t, t.shape) : t);
        });
      },
      end: async (index) => {
        await callbacks.call((c) => c.onPredictBatchEnd(index, {}));
        bar?.onTrainBatchEnd(index, {});
        return {};
      },
    };
    await onePass(batches, steps, stepsPerExecution(model), 'predict', execution, checkSignal, null);
    await callbacks.call((c) => c.onPredictEnd({}));
    return {};
  }).catch((error: unknown) => {
    release(outputs);
    throw error;
  });
  const all = outputs.map((parts) => {
    const joined = concat(parts, 0);
    release([parts]);
    return joined;
  });
  return tree.pack(shape, all, 'predict') as Tensors;
}

function release(outputs: readonly (readonly Tensor[])[]): void {
  for (const t of outputs.flat()) if (!isKept(t)) t.dispose();
}
