import {
  constant,
  FailedPreconditionError,
  InvalidArgumentError,
  type Tensor,
  UnimplementedError,
  Variable,
} from '@eagre/core';
import { tfFunction, whileLoop } from '@eagre/graph';
import { describe, expect, test } from 'vitest';
import {
  getReplicaContext,
  Mirrored,
  OneDeviceStrategy,
  type PerReplica,
  type ReplicaContext,
  type Strategy,
} from '../index.ts';
import { cpus, mirrored } from '../testing/devices.ts';

const replica = (): ReplicaContext => getReplicaContext() as ReplicaContext;
const arrays = (value: unknown): unknown[] => (value as PerReplica<Tensor>).values.map((t) => t.array());

describe('mergeCall', () => {
  const merge = (strategy: Strategy, x: unknown, n: number): unknown => ({
    sum: strategy.reduce('SUM', x),
    own: x,
    n,
  });
  const call = (x: Tensor): unknown =>
    replica().mergeCall(merge as never, { args: [x.add(replica().replicaIdInSyncGroup), 5] as never });

  test('sees the values of all replicas', () => {
    const two = mirrored();
    const step = tfFunction((x: Tensor) => two.run(call, { args: [x] }));
    for (const x of [1, 2]) {
      const { sum, own, n } = step(constant([x])) as Record<string, unknown>;
      expect(arrays(sum)).toEqual([[2 * x + 1], [2 * x + 1]]);
      expect(arrays(own)).toEqual([[x], [x + 1]]);
      expect((n as PerReplica<number>).values).toEqual([5, 5]);
    }
    expect(step.experimentalGetTracingCount()).toBe(1);
  });

  test('updates variables, and may be met more than once', () => {
    const two = mirrored();
    const v = two.scope(() => new Variable([1, 1]));
    const step = tfFunction((x: Tensor) =>
      two.run(() => {
        const own = x.mul(replica().replicaIdInSyncGroup + 1);
        replica().mergeCall(
          (strategy: Strategy, values: unknown) => {
            const [sum] = strategy.extended.batchReduceTo('SUM', [[values, v]]);
            strategy.extended.update(v, (copy, s) => copy.assignAdd(s as Tensor), { args: [sum] });
          },
          { args: [own] },
        );
        return replica().mergeCall((strategy: Strategy, values: unknown) => strategy.reduce('MEAN', values), {
          args: [own],
        });
      }, {}),
    );
    expect(arrays(step(constant([1, 2])))).toEqual([
      [1.5, 3],
      [1.5, 3],
    ]);
    expect(v.copies.map((c) => c.array())).toEqual([
      [4, 7],
      [4, 7],
    ]);
    step(constant([1, 0]));
    expect(v.array()).toEqual([7, 7]);
  });

  test('works with sizes that are known at each run only', () => {
    const two = mirrored();
    const step = tfFunction((x: Tensor) => two.run(call, { args: [x] }), { reduceRetracing: true });
    for (const n of [2, 3, 4]) {
      const { sum } = step(constant(Array(n).fill(1))) as Record<string, unknown>;
      expect(arrays(sum)[1]).toEqual(Array(n).fill(3));
    }
  });

  test('with one replica in the process runs at once', () => {
    const one = new OneDeviceStrategy(cpus(2)[1]);
    const { sum, own, n } = one.run(call, { args: [constant([4])] }) as Record<string, unknown>;
    expect([(sum as Tensor).array(), (own as Tensor).array(), n]).toEqual([[4], [4], 5]);
    expect(replica().mergeCall((_: Strategy, x: number) => x + 1, { args: [2] as never })).toBe(3);
  });

  test('says what it cannot do', () => {
    const two = mirrored();
    expect(() => two.run(call, { args: [constant([1])] })).toThrow(/tf\.function/);
    const v = two.scope(() => new Variable(1));
    const late = tfFunction(() =>
      two.run(() => {
        v.add(1);
        replica().mergeCall((strategy: Strategy) => {
          strategy.extended.update(v, (copy) => copy.assignAdd(1));
        });
        return v.mul(2);
      }),
    );
    expect(late).toThrow(UnimplementedError);
    expect(late).toThrow(/uses behind it/);
    const wrong = tfFunction(() => two.run(() => replica().mergeCall(3 as never)));
    expect(wrong).toThrow(InvalidArgumentError);
    const inner = tfFunction(() => two.run(() => two.extended.reduceTo('SUM', 1, '/cpu:0')));
    expect(inner).toThrow(FailedPreconditionError);
  });
});

test('replicas do not meet in a loop of the graph, which could differ', () => {
  const two = mirrored();
  const f = tfFunction((n: Tensor) =>
    two.run(() =>
      whileLoop(
        (i: Tensor) => i.less(n),
        (i: Tensor) => [i.add(replica().allReduce('SUM', constant(1)))],
        [constant(0)],
      ),
    ),
  );
  expect(() => f(constant(3))).toThrow(/loop of a traced function/);
});

describe('strategy.extended', () => {
  test('updates copies one by one', () => {
    const two = mirrored();
    const { extended } = two;
    const v = two.scope(() => new Variable(1));
    const added = extended.update(v, (copy: Variable, x: Tensor) => copy.assignAdd(x).read(), {
      args: [constant(2)],
    });
    expect(added).toBeInstanceOf(Mirrored);
    expect(arrays(added)).toEqual([3, 3]);
    const each = two.run(() => constant(replica().replicaIdInSyncGroup + 1)) as PerReplica<Tensor>;
    const list = extended.update(v, (copy: Variable, x: Tensor) => copy.mul(x), {
      args: [each],
      group: false,
    });
    expect((list as Tensor[]).map((t) => t.item())).toEqual([3, 6]);
    expect((extended.reduceTo('SUM', each, '/cpu:1') as Tensor).device).toBe('/device:CPU:1');
    expect(arrays(extended.reduceTo('mean', each, v))).toEqual([1.5, 1.5]);
    expect(
      extended
        .batchReduceTo('SUM', [
          [each, v],
          [each, '/cpu:0'],
        ])
        .map((x) => x instanceof Mirrored),
    ).toEqual([true, false]);
    expect(arrays(extended.broadcastTo(7, v))).toEqual([7, 7]);
    expect(extended.updateNonSlot(extended.nonSlotDevices([v]), (x: number) => x + 1, { args: [1] })).toEqual(
      new Mirrored([2, 2]),
    );
    expect([extended.workerDevices, extended.parameterDevices]).toEqual([
      ['/device:CPU:0', '/device:CPU:1'],
      ['/device:CPU:0', '/device:CPU:1'],
    ]);
    expect(extended.valueContainer(v.copies[1] as Variable)).toBe(v);
    expect([extended.variableCreatedInScope(v), extended.variableCreatedInScope(new Variable(1))]).toEqual([
      true,
      false,
    ]);
    const slot = two.scope(() => extended.colocateVarsWith(v, () => new Variable(2)));
    expect(slot.copies.map((c) => c.device)).toEqual(v.copies.map((c) => c.device));
    expect(extended.readVar(v).item()).toBe(3);
  });

  test('refuses what is not its own', () => {
    const { extended } = mirrored();
    const other = new Variable(1);
    expect(() => extended.update(other, () => 1)).toThrow(InvalidArgumentError);
    expect(() => extended.colocateVarsWith(other)).toThrow(InvalidArgumentError);
    expect(() => extended.reduceTo('SUM', 1, 3 as never)).toThrow(InvalidArgumentError);
    expect(() => extended.batchReduceTo('SUM', [1] as never)).toThrow(InvalidArgumentError);
    expect(() => extended.update(other, () => 1, { more: 1 } as object)).toThrow(InvalidArgumentError);
  });
});
