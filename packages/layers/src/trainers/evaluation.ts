// evaluate and predict: passes outside of training.
import { concat, InvalidArgumentError, type SparseTensor, sparse, Tensor } from '@eagre/core';
import {
  aliasTensor,
  type DistributionStrategy,
  isKept,
  type StepScheduler,
  shown,
  tree,
} from '@eagre/core/internal';
import type { Logs, PredictLogs } from '../callbacks/callback.ts';
import type { CallbackRun } from '../callbacks/callback-run.ts';
import type { ProgressBar } from '../callbacks/progress.ts';
import { flat, type Tensors } from '../layer/batch-tensors.ts';
import { kindOf } from '../layer/kinds.ts';
import type { Model } from '../models/model.ts';
import { Accumulators } from './accumulators.ts';
import { type CheckSignal, signalChecker } from './cancellation.ts';
import { stepsPerExecution, strategyOf, trainingOf } from './compile.ts';
import { adapt, type Batch, type Batches, type FitData, isDistributed } from './data-adapter.ts';
import { type Execution, onePass, runStandalone } from './passes.ts';
import { readyToRun, runPredictStep, runStep, scheduledSteps, scheduleStep } from './steps.ts';
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
  await readyToRun(model, 'test');
  await callbacks.call((c) => c.onTestBegin());
  const accumulators = new Accumulators(model);
  accumulators.reset();
  const scheduler = strategyOf(model)?.scheduler;
  let read = (): Logs | Promise<Logs> => ({});
  const step = async (batch: Batch): Promise<void> => {
    read = await scheduleStep(model, 'test', batch, batch.sampleWeight, scheduler as StepScheduler);
  };
  const stepHere = (batch: Batch): void => {
    accumulators.enter();
    read = callbacks.step(() => runStep(model, 'test', batch, batch.sampleWeight));
  };
  const execution: Execution = {
    begin: (index) => callbacks.call((c) => c.onTestBatchBegin(index)),
    run: scheduler === undefined ? stepHere : step,
    end: async (index, logs) => {
      await callbacks.call((c) => c.onTestBatchEnd(index, logs));
      bar?.onTrainBatchEnd(index, logs);
    },
    logs: () => {
      accumulators.enter();
      return read();
    },
    readsLogs: () => bar?.readsBatches('train') === true || callbacks.readsBatches('test'),
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
  const [y, options] = splitArguments(second, third, names, evaluateOptionNames, 'evaluate');
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
  // What is not divided, each process computes alone.
  const strategy = isDistributed(x) ? strategyOf(model) : null;
  const how = { batchSize, steps, shuffle: false, names: namesOf(model), strategy };
  const batches = adapt(x, undefined, undefined, how, 'predict');
  // For each output of the model its values, batch by batch.
  const outputs: Tensor[][] = [];
  let shape: Tensors | undefined;
  const checkSignal = signalChecker(options.signal, 'predict');
  await runStandalone('Predict', model, batches, options, checkSignal, async (callbacks, bar) => {
    await readyToRun(model, 'predict');
    await callbacks.call((c) => c.onPredictBegin());
    const told = callbacks.readsBatches('predict');
    const last: (readonly Tensor[])[] = [];
    const execution: Execution = {
      begin: (index) => callbacks.call((c) => c.onPredictBatchBegin(index)),
      run: (batch) => {
        const y =
          strategy === null ? runPredictStep(model, batch.x) : predictTogether(model, strategy, batch.x);
        shape ??= y;
        if (told) last.push(flat(y));
        const taken = new Set(tree.leavesOf(batch.x, 'predict'));
        // What an output shares with the batch, or with another output, goes when that goes.
        const own = (t: unknown): unknown => {
          if (!(t instanceof Tensor))
            throw new InvalidArgumentError(`the model must return tensors, got ${shown(t)}`, model.name);
          if (taken.has(t)) return aliasTensor(t, t.shape);
          taken.add(t);
          return t;
        };
        flat(y).forEach((t, i) => {
          (outputs[i] ??= []).push(tree.mapLeaves(t, 'predict', own) as Tensor);
        });
      },
      end: async (index) => {
        // Of several steps in one go, all outputs.
        const of = last.splice(0);
        const outputs = of[0]?.map((_, i) => joinedRows(of.map((list) => list[i] as Tensor))) ?? [];
        const logs = (): PredictLogs => ({
          outputs: tree.pack(shape, outputs, 'predict', tree.wholeComposites) as Tensors,
        });
        await callbacks.call((c) => c.onPredictBatchEnd(index, told ? logs() : nothing));
        bar?.onTrainBatchEnd(index, {});
      },
      logs: () => ({}),
      readsLogs: () => false,
    };
    await onePass(batches, steps, stepsPerExecution(model), 'predict', execution, checkSignal, null);
    await callbacks.call((c) => c.onPredictEnd({}));
    return {};
  }).catch((error: unknown) => {
    release(outputs);
    throw error;
  });
  const all = outputs.map((parts) => {
    const joined = joinedRows(parts);
    release([parts]);
    return joined;
  });
  return tree.pack(shape, all, 'predict', tree.wholeComposites) as Tensors;
}

/** The outputs for a batch that is divided between replicas, in their order. */
function predictTogether(model: Model, strategy: DistributionStrategy, x: Tensors): Tensors {
  const parts = strategy.runReplicas((own: Tensors) => runPredictStep(model, own), [x]);
  const leaves = parts.map((part) => flat(part as Tensors));
  const joined = leaves[0].map((_, i) => strategy.joinRows(leaves.map((list) => list[i])));
  return tree.pack(parts[0], joined, 'predict') as Tensors;
}

/** The rows of all batches. Of one batch they are another tensor of the same values, so that both may be disposed. */
function joinedRows(parts: readonly Tensor[]): Tensor {
  if (parts.length === 1)
    return tree.mapLeaves(parts[0], 'predict', (t) =>
      aliasTensor(t as Tensor, (t as Tensor).shape),
    ) as Tensor;
  return kindOf(parts[0]) === 'sparse' ? joinSparse(parts) : concat(parts, 0);
}

/** What those are told who do not listen. */
const nothing: PredictLogs = { outputs: [] };

const joinSparse = (parts: readonly Tensor[]): Tensor =>
  sparse.concat(0, parts as unknown as SparseTensor[]) as unknown as Tensor;

function release(outputs: readonly (readonly Tensor[])[]): void {
  for (const t of outputs.flat().flatMap((y) => tree.leavesOf(y, 'predict') as Tensor[]))
    if (!isKept(t)) t.dispose();
}
