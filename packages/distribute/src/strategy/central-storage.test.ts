import { constant, Variable } from '@eagre/core';
import { tfFunction } from '@eagre/graph';
import { expect, test } from 'vitest';
import { CentralStorageStrategy, getReplicaContext } from '../index.ts';
import { cpus } from '../testing/devices.ts';

const id = (): number => getReplicaContext()?.replicaIdInSyncGroup as number;

test.each(['eager', 'traced'])('variables have one copy, changed once: %s', (mode) => {
  const central = new CentralStorageStrategy(cpus(2));
  const make = (aggregation: 'SUM' | 'MEAN' | 'ONLY_FIRST_REPLICA'): Variable =>
    central.scope(() => new Variable(1, { aggregation, trainable: false }));
  const [sum, mean, first] = [make('SUM'), make('MEAN'), make('ONLY_FIRST_REPLICA')];
  expect([sum.copies.length, sum.device]).toEqual([1, '/device:CPU:0']);
  const step = (): void => {
    central.run(() => {
      const i = constant(id() + 1);
      sum.assignAdd(i);
      mean.assign(i);
      first.assignAdd(i.mul(10));
    });
  };
  const run = mode === 'eager' ? step : tfFunction(step);
  run();
  run();
  expect([sum, mean, first].map((v) => v.item())).toEqual([7, 1.5, 21]);
});
