import { InvalidArgumentError } from '@eagre/backend';
import { defineMethods, shown } from '@eagre/core/internal';

/** What the function of `strategy.distributeDatasetsFromFunction` is told of the process that it makes a dataset for. */
export class InputContext {
  /** How many processes make datasets. */
  readonly numInputPipelines: number;
  /** Which of them this is, from 0 on. */
  readonly inputPipelineId: number;
  /** How many replicas there are, over all processes. */
  readonly numReplicasInSync: number;

  /** @internal */
  constructor(parts: Pick<InputContext, 'numInputPipelines' | 'inputPipelineId' | 'numReplicasInSync'>) {
    this.numInputPipelines = parts.numInputPipelines;
    this.inputPipelineId = parts.inputPipelineId;
    this.numReplicasInSync = parts.numReplicasInSync;
  }

  /** The batch size of a replica. @throws InvalidArgumentError for a size that cannot be divided evenly */
  getPerReplicaBatchSize(globalBatchSize: number): number;
  getPerReplicaBatchSize(options: { readonly globalBatchSize: number }): number;
  getPerReplicaBatchSize(globalBatchSize: unknown): number {
    const op = 'InputContext.getPerReplicaBatchSize';
    if (!Number.isSafeInteger(globalBatchSize) || (globalBatchSize as number) < 1)
      throw new InvalidArgumentError(
        `globalBatchSize must be an integer from 1 on, got ${shown(globalBatchSize)}`,
        op,
      );
    const size = globalBatchSize as number;
    if (size % this.numReplicasInSync !== 0)
      throw new InvalidArgumentError(
        `a batch of ${size} cannot be divided evenly between ${this.numReplicasInSync} replicas`,
        op,
      );
    return size / this.numReplicasInSync;
  }
}
defineMethods(InputContext.prototype, 'InputContext', {
  getPerReplicaBatchSize: { positional: ['globalBatchSize'] },
});

/** What the function of `strategy.experimentalDistributeValuesFromFunction` is told of the replica that it makes a value for. */
export class ValueContext {
  readonly replicaIdInSyncGroup: number;
  readonly numReplicasInSync: number;

  /** @internal */
  constructor(replicaIdInSyncGroup: number, numReplicasInSync: number) {
    this.replicaIdInSyncGroup = replicaIdInSyncGroup;
    this.numReplicasInSync = numReplicasInSync;
  }
}
