import { InvalidArgumentError, UnimplementedError } from '@eagre/core';
import { argumentsOf, checkFunction, type DistributionStrategy, takesArguments } from '@eagre/core/internal';
import type { BatchSource } from './data-adapter.ts';

/** What a function that makes a dataset is told: `tf.distribute.InputContext`. */
export interface DatasetContext {
  readonly numInputPipelines: number;
  readonly inputPipelineId: number;
  readonly numReplicasInSync: number;
  getPerReplicaBatchSize(globalBatchSize: number): number;
}

/** Makes a dataset of batches. */
export type DatasetFunction = (context: DatasetContext) => BatchSource;

interface CreatorOptions {
  /** Makes the dataset of a process, told which one it is. */
  readonly datasetFn: DatasetFunction;
}

/**
 * What makes the dataset of each worker under a `ParameterServerStrategy`: an argument of `fit` and `evaluate`. A function alone does the same.
 *
 *     const data = new tf.keras.utils.experimental.DatasetCreator((context) => makeDataset(context));
 *     await model.fit(data, { stepsPerEpoch: 100 });
 */
export class DatasetCreator {
  /** Is told which of how many workers it makes a dataset for. */
  readonly datasetFn: DatasetFunction;

  constructor(...args: [datasetFn: DatasetFunction | CreatorOptions]) {
    const { datasetFn } = argumentsOf<CreatorOptions>(DatasetCreator, new.target, args);
    checkFunction(datasetFn, 'datasetFn', 'DatasetCreator');
    this.datasetFn = datasetFn;
  }
}
takesArguments<CreatorOptions>({ positional: ['datasetFn'], names: { datasetFn: true } }, DatasetCreator);

/** Whether data are what makes a dataset. */
export function isCreator(data: unknown): data is DatasetCreator | DatasetFunction {
  return typeof data === 'function' || data instanceof DatasetCreator;
}

/** The batches that a function makes. @throws UnimplementedError where processes share their steps */
export function createdDataset(
  creator: DatasetCreator | DatasetFunction,
  strategy: DistributionStrategy | null,
  what: string,
): BatchSource {
  const fn = creator instanceof DatasetCreator ? creator.datasetFn : creator;
  if (strategy?.scheduler !== undefined)
    return strategy.distributeDatasetsFromFunction(fn as never) as BatchSource;
  if (strategy !== null && strategy.numReplicasInSync > 1)
    throw new UnimplementedError(
      'a function that makes a dataset is for ParameterServerStrategy; give the dataset, whose batches are divided between replicas',
      what,
    );
  const context: DatasetContext = {
    numInputPipelines: 1,
    inputPipelineId: 0,
    numReplicasInSync: 1,
    getPerReplicaBatchSize: (size) => size,
  };
  const dataset: unknown = fn(context);
  if (typeof dataset === 'object' && dataset !== null) return dataset as BatchSource;
  throw new InvalidArgumentError('the function must return a dataset', what);
}
