import { UnimplementedError } from '@eagre/backend';
import type { Tensor } from '@eagre/core';
import { type AutoShardPolicy, Dataset, SHARD_HINT } from '@eagre/data';
import { describe, expect, it } from 'vitest';
import { SimpleClusterResolver } from '../cluster/cluster-resolver.ts';
import { InputOptions } from '../input/input-options.ts';
import { ParameterServerStrategy } from './parameter-server-strategy.ts';

const clusterSpec = { chief: ['a:1'], worker: ['a:2', 'a:3'], ps: ['a:4'] };
const strategy = new ParameterServerStrategy(
  new SimpleClusterResolver({ clusterSpec, taskType: 'chief', taskId: 0 }),
);
const numbers = (dataset: Iterable<Tensor>): number[][] =>
  [...dataset].map((batch) => Array.from(batch.data() as BigInt64Array, Number));

// The coordinator reads for all workers.
describe('a dataset of a coordinator with two workers', () => {
  it.each(['AUTO', 'DATA', 'HINT', 'OFF'] as const)('is read as a whole by the policy %s', (policy) => {
    const range = Dataset.range(6) as Dataset<Tensor>;
    const dataset = (policy === 'HINT' ? range.shard(SHARD_HINT, SHARD_HINT) : range)
      .batch(2)
      .withOptions({ experimentalDistribute: { autoShardPolicy: policy satisfies AutoShardPolicy } });
    expect(numbers(strategy.experimentalDistributeDataset(dataset as Dataset<Tensor>))).toEqual([
      [0, 1],
      [2, 3],
      [4, 5],
    ]);
  });

  it('takes turns between what a function makes for each worker', () => {
    const contexts: number[][] = [];
    const make = (options?: InputOptions): number[][] =>
      numbers(
        strategy.distributeDatasetsFromFunction(
          ({ numInputPipelines, inputPipelineId, numReplicasInSync }) => {
            contexts.push([numInputPipelines, inputPipelineId, numReplicasInSync]);
            return Dataset.range(5).shard(numInputPipelines, inputPipelineId).batch(2) as Dataset<Tensor>;
          },
          options,
        ),
      );
    const expected = [[0, 2], [1, 3], [4]];
    expect(make()).toEqual(expected);
    expect(contexts).toEqual([
      [2, 0, 1],
      [2, 1, 1],
    ]);
    expect(make(new InputOptions({ experimentalPerReplicaBufferSize: 3 }))).toEqual(expected);
    expect(() => make(new InputOptions({ experimentalReplicationMode: 'PER_REPLICA' }))).toThrow(
      UnimplementedError,
    );
    expect(() => make({} as InputOptions)).toThrow('InputOptions');
    expect(() => strategy.distributeDatasetsFromFunction(() => 1 as never)).toThrow('tf.data.Dataset');
  });
});
