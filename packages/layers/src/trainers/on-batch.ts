// Single batches, for loops of one's own.
import type { OptionNames } from '@eagre/core/internal';
import type { Logs } from '../callbacks/callback.ts';
import type { Tensors } from '../layer/batch-tensors.ts';
import type { Model } from '../models/model.ts';
import { Accumulators } from './accumulators.ts';
import { trainingOf } from './compile.ts';
import { ArrayBatches, type Batch, batchTensors, type Inputs, inputTensors } from './data-adapter.ts';
import { checkClassWeight, classWeights } from './examples.ts';
import { runPredictStep, runStep } from './steps.ts';
import { checkReturnDict, namesOf, type Targets } from './training-options.ts';

/** Options of `model.testOnBatch`. */
export interface TestOnBatchOptions {
  /** A factor for the loss of each example; for several outputs one for all, a list, or by name. */
  readonly sampleWeight?: Inputs;
  /** True, as the result is an object in any case. */
  readonly returnDict?: true;
}
/** Options of `model.trainOnBatch`. */
export interface TrainOnBatchOptions extends TestOnBatchOptions {
  /** A weight for the examples of each class, by label. */
  readonly classWeight?: Readonly<Record<number, number>>;
}

export const testOptionNames: OptionNames<TestOnBatchOptions> = { sampleWeight: true, returnDict: true };
export const trainOptionNames: OptionNames<TrainOnBatchOptions> = { ...testOptionNames, classWeight: true };

/** Runs a step on all examples as one batch; metrics are those of the batch. */
function onBatch(
  model: Model,
  x: Inputs,
  y: Targets | undefined,
  weight: Inputs | undefined,
  step: (batch: Batch) => () => Logs,
): Logs {
  trainingOf(model);
  const given = batchTensors(x, y, weight, namesOf(model));
  const examples = new ArrayBatches(given, {
    batchSize: Number.MAX_SAFE_INTEGER,
    shuffle: false,
  }).batches();
  const accumulators = new Accumulators(model);
  try {
    accumulators.reset();
    return step(examples.next().value)();
  } finally {
    accumulators.leave();
    examples.return(undefined);
  }
}

export function trainOnBatch(
  model: Model,
  x: Inputs,
  y: Targets | undefined,
  options: TrainOnBatchOptions,
): Logs {
  checkReturnDict(options.returnDict, 'trainOnBatch');
  checkClassWeight(options.classWeight, 'trainOnBatch');
  return onBatch(model, x, y, options.sampleWeight, (batch) =>
    runStep(model, 'train', batch, classWeights(batch, options.classWeight)),
  );
}

export function testOnBatch(
  model: Model,
  x: Inputs,
  y: Targets | undefined,
  options: TestOnBatchOptions,
): Logs {
  checkReturnDict(options.returnDict, 'testOnBatch');
  return onBatch(model, x, y, options.sampleWeight, (batch) =>
    runStep(model, 'test', batch, batch.sampleWeight),
  );
}

export function predictOnBatch(model: Model, x: Inputs): Tensors {
  const inputs = inputTensors(x, namesOf(model));
  return runPredictStep(model, inputs);
}
