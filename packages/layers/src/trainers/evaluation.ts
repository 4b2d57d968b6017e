// evaluate and predict: passes outside of training.
import { concat, type Tensor } from '@eagre/core';
import { aliasTensor, isKept, tree } from '@eagre/core/internal';
import type { Logs } from '../callbacks/callback.ts';
import type { CallbackRun } from '../callbacks/callback-run.ts';
import type { ProgressBar } from '../callbacks/progress.ts';
import { flat, type Tensors } from '../layer/batch-tensors.ts';
import type { Model } from '../models/model.ts';
import { Accumulators } from './accumulators.ts';
import { stepsPerExecution, trainingOf } from './compile.ts';
import { adapt, type Batches, type FitData } from './data-adapter.ts';
import { onePass, runStandalone } from './passes.ts';
import { runPredictStep, runStep } from './steps.ts';
import {
  checkCounts,
  type EvaluateOptions,
  evaluateOptionNames,
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
  bar?: ProgressBar,
): Promise<Logs> {
  await callbacks.call((c) => c.onTestBegin());
  const accumulators = new Accumulators(model);
  accumulators.reset();
  let read = (): Logs => ({});
  const logs = await onePass(batches, steps, stepsPerExecution(model), 'evaluate', {
    begin: (index) => callbacks.call((c) => c.onTestBatchBegin(index)),
    run: (batch) => {
      accumulators.enter();
      read = callbacks.step(() => runStep(model, 'test', batch, batch.sampleWeight));
    },
    end: async (index) => {
      accumulators.enter();
      const result = read();
      await callbacks.call((c) => c.onTestBatchEnd(index, result));
      bar?.onTrainBatchEnd(index, result);
      return result;
    },
  }).finally(() => accumulators.leave());
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
  const { batchSize, steps } = options;
  checkCounts({ batchSize, steps }, 'evaluate');
  const batches = adapt(x, y, options.sampleWeight, { batchSize, steps, shuffle: false, names }, 'evaluate');
  return runStandalone('Evaluate', model, batches, options, (callbacks, bar) =>
    test(model, batches, steps, callbacks, bar),
  );
}

export async function predict(model: Model, x: FitData, options: PredictOptions = {}): Promise<Tensors> {
  const { batchSize, steps } = options;
  checkCounts({ batchSize, steps }, 'predict');
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
  await runStandalone('Predict', model, batches, options, async (callbacks, bar) => {
    await callbacks.call((c) => c.onPredictBegin());
    await onePass(batches, steps, stepsPerExecution(model), 'predict', {
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
    });
    await callbacks.call((c) => c.onPredictEnd({}));
    return {};
  });
  const all = outputs.map((parts) => {
    const joined = concat(parts, 0);
    for (const t of parts) if (!isKept(t)) t.dispose();
    return joined;
  });
  return tree.pack(shape, all, 'predict') as Tensors;
}
