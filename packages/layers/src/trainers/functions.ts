// The steps of models as functions of iterators, for loops of one's own.
import { InvalidArgumentError, UnimplementedError } from '@eagre/core';
import type { Logs } from '../callbacks/callback.ts';
import type { Tensors } from '../layer/batch-tensors.ts';
import type { Model } from '../models/model.ts';
import { Accumulators } from './accumulators.ts';
import { stepsPerExecution, trainingOf } from './compile.ts';
import { type Batch, type BatchLike, batchOf } from './data-adapter.ts';
import { forgetSteps, runPredictStep, runStep } from './steps.ts';
import { namesOf } from './training-options.ts';

/** Goes through the next batches of an iterator, `stepsPerExecution` of them, and gives the metrics so far. */
export type StepFunction = (batches: Iterator<BatchLike>) => Logs;
/** Gives the outputs for the next batches of an iterator, one for each. */
export type PredictFunction = (batches: Iterator<BatchLike>) => Tensors[];

function nextBatches(model: Model, batches: Iterator<BatchLike>): Batch[] {
  const found: Batch[] = [];
  for (let i = 0; i < stepsPerExecution(model); i++) {
    const next = batches.next();
    if (next.done === true) break;
    found.push(batchOf(next.value, namesOf(model)));
  }
  if (found.length === 0) throw new InvalidArgumentError('the iterator has ended', model.name);
  return found;
}

/** @param force what was traced before is traced again. */
export function stepFunction(model: Model, kind: 'train' | 'test', force: boolean): StepFunction {
  trainingOf(model);
  if (force) forgetSteps(model, kind);
  const accumulators = new Accumulators(model);
  return (batches) => {
    const all = nextBatches(model, batches);
    accumulators.enter();
    const reads = all.map((batch) => runStep(model, kind, batch, batch.sampleWeight));
    return (reads.at(-1) as () => Logs)();
  };
}

export function predictFunction(model: Model, force: boolean): PredictFunction {
  if (force) forgetSteps(model, 'predict');
  return (batches) => nextBatches(model, batches).map(({ x }) => runPredictStep(model, x));
}

const ours = new WeakSet<object>();
/** @internal Marks the methods of `Model` itself. */
export function markOwnFunctions(...methods: readonly object[]): void {
  for (const method of methods) ours.add(method);
}

/** @throws UnimplementedError for a class that makes other functions: `fit` runs the steps themselves. */
export function checkOwnFunctions(model: Model): void {
  for (const name of ['makeTrainFunction', 'makeTestFunction', 'makePredictFunction'] as const) {
    if (ours.has(model[name])) continue;
    throw new UnimplementedError(
      `fit, evaluate and predict do not call ${name}; override trainStep, testStep or predictStep`,
      model.name,
    );
  }
}
