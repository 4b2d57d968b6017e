import { InvalidArgumentError } from '@eagre/backend';
import { argumentsOf, defineMethods, shown, takesArguments } from '@eagre/core/internal';

/** Arguments of `InputContext`: one process with one replica by default. */
export interface InputContextArguments {
  /** How many processes make datasets; 1 by default. */
  readonly numInputPipelines?: number;
  /** Which of these processes this is, from 0 on; 0 by default. */
  readonly inputPipelineId?: number;
  /** How many replicas there are, over all processes; 1 by default. */
  readonly numReplicasInSync?: number;
}

/** @throws InvalidArgumentError for anything but an integer from `least` on */
export function checkFrom(value: unknown, least: number, name: string, op: string): void {
  if (!Number.isSafeInteger(value) || (value as number) < least)
    throw new InvalidArgumentError(`${name} must be an integer from ${least} on, got ${shown(value)}`, op);
}

/** What the function of `strategy.distributeDatasetsFromFunction` is told of the process that it makes a dataset for. */
export class InputContext {
  /** How many processes make datasets. */
  readonly numInputPipelines: number;
  /** Which of them this is, from 0 on. */
  readonly inputPipelineId: number;
  /** How many replicas there are, over all processes. */
  readonly numReplicasInSync: number;

  /** Strategies make them; a program may, to try its function. @throws InvalidArgumentError for numbers that make no sense */
  constructor(
    ...args: [
      numInputPipelines?: number | InputContextArguments,
      inputPipelineId?: number | InputContextArguments,
      numReplicasInSync?: number | InputContextArguments,
      options?: InputContextArguments,
    ]
  ) {
    const given = argumentsOf<InputContextArguments>(InputContext, new.target, args);
    this.numInputPipelines = given.numInputPipelines ?? 1;
    this.inputPipelineId = given.inputPipelineId ?? 0;
    this.numReplicasInSync = given.numReplicasInSync ?? 1;
    checkFrom(this.numInputPipelines, 1, 'numInputPipelines', 'InputContext');
    checkFrom(this.inputPipelineId, 0, 'inputPipelineId', 'InputContext');
    checkFrom(this.numReplicasInSync, 1, 'numReplicasInSync', 'InputContext');
    if (this.inputPipelineId >= this.numInputPipelines)
      throw new InvalidArgumentError(
        `inputPipelineId must be below numInputPipelines, got ${this.inputPipelineId} of ${this.numInputPipelines}`,
        'InputContext',
      );
  }

  /** The batch size of a replica. @throws InvalidArgumentError for a size that cannot be divided evenly */
  getPerReplicaBatchSize(globalBatchSize: number): number;
  getPerReplicaBatchSize(options: {
    /** How many examples all replicas get together in one step. */
    readonly globalBatchSize: number;
  }): number;
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
takesArguments<InputContextArguments>(
  {
    positional: ['numInputPipelines', 'inputPipelineId', 'numReplicasInSync'],
    required: 0,
    names: { numInputPipelines: true, inputPipelineId: true, numReplicasInSync: true },
  },
  InputContext,
);
defineMethods(InputContext.prototype, 'InputContext', {
  getPerReplicaBatchSize: { positional: ['globalBatchSize'] },
});

/** Arguments of `ValueContext`: one replica by default. */
export interface ValueContextArguments {
  /** Which replica this is, from 0 on; 0 by default. */
  readonly replicaIdInSyncGroup?: number;
  /** How many replicas there are, over all processes; 1 by default. */
  readonly numReplicasInSync?: number;
}

/** What the function of `strategy.experimentalDistributeValuesFromFunction` is told of the replica that it makes a value for. */
export class ValueContext {
  /** Which replica this is, from 0 on. */
  readonly replicaIdInSyncGroup: number;
  /** How many replicas there are, over all processes. */
  readonly numReplicasInSync: number;

  /** Strategies make them; a program may, to try its function. @throws InvalidArgumentError for numbers that make no sense */
  constructor(
    ...args: [
      replicaIdInSyncGroup?: number | ValueContextArguments,
      numReplicasInSync?: number | ValueContextArguments,
      options?: ValueContextArguments,
    ]
  ) {
    const given = argumentsOf<ValueContextArguments>(ValueContext, new.target, args);
    this.replicaIdInSyncGroup = given.replicaIdInSyncGroup ?? 0;
    this.numReplicasInSync = given.numReplicasInSync ?? 1;
    checkFrom(this.replicaIdInSyncGroup, 0, 'replicaIdInSyncGroup', 'ValueContext');
    checkFrom(this.numReplicasInSync, 1, 'numReplicasInSync', 'ValueContext');
  }
}
takesArguments<ValueContextArguments>(
  {
    positional: ['replicaIdInSyncGroup', 'numReplicasInSync'],
    required: 0,
    names: { replicaIdInSyncGroup: true, numReplicasInSync: true },
  },
  ValueContext,
);
