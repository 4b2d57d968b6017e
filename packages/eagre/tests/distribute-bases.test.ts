// What nobody is meant to construct, or constructs wrongly, throws typed errors.
import * as tf from 'eagre';
import { expect, test } from 'vitest';

const { distribute } = tf;
const wrong: readonly (readonly [string, () => unknown])[] = [
  ['Strategy', () => new (distribute.Strategy as unknown as new () => unknown)()],
  [
    'Strategy of no devices',
    () => new (distribute.Strategy as unknown as new (o: object) => unknown)({ devices: [] }),
  ],
  ['StrategyExtended', () => new (distribute.StrategyExtended as unknown as new () => unknown)()],
  ['ReplicaContext', () => new (distribute.ReplicaContext as unknown as new () => unknown)()],
  ['DistributedDataset', () => new (distribute.DistributedDataset as unknown as new () => unknown)()],
  ['DistributedIterator', () => new (distribute.DistributedIterator as unknown as new () => unknown)()],
  ['InputContext', () => new distribute.InputContext({ numInputPipelines: 0 })],
  ['InputContext', () => new distribute.InputContext(2, 2, 4)],
  ['ValueContext', () => new distribute.experimental.ValueContext(-1)],
  ['LinearOperator', () => new (tf.linalg.LinearOperator as unknown as new () => unknown)()],
  ['compression', () => new distribute.experimental.CommunicationOptions({ compression: 'INT8' as 'NONE' })],
];

test.each(wrong)('%s', (_, construct) => {
  expect(construct).toThrow(tf.errors.InvalidArgumentError);
});

test('contexts may be made to try a function', () => {
  const context = new distribute.InputContext({
    numInputPipelines: 2,
    inputPipelineId: 1,
    numReplicasInSync: 4,
  });
  expect(context.getPerReplicaBatchSize(8)).toBe(2);
  expect(new distribute.InputContext().numInputPipelines).toBe(1);
  expect(new distribute.experimental.ValueContext(1, 2).replicaIdInSyncGroup).toBe(1);
});
