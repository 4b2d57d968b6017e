import { GradientTape } from '@eagre/autodiff';
import { constant, FailedPreconditionError, InvalidArgumentError, type Tensor, Variable } from '@eagre/core';
import { tfFunction } from '@eagre/graph';
import { describe, expect, test } from 'vitest';
import {
  getReplicaContext,
  getStrategy,
  hasStrategy,
  inCrossReplicaContext,
  OneDeviceStrategy,
  PerReplica,
  type ReplicaContext,
} from '../index.ts';
import { cpus, mirrored } from '../testing/devices.ts';

const replica = (): ReplicaContext => getReplicaContext() as ReplicaContext;
const id = (): number => replica().replicaIdInSyncGroup;
const arrays = (value: unknown): unknown[] => (value as PerReplica<Tensor>).values.map((t) => t.array());

describe('strategies and their contexts', () => {
  test('without one there is a single replica', () => {
    expect(hasStrategy()).toBe(false);
    expect(inCrossReplicaContext()).toBe(false);
    expect(getStrategy().numReplicasInSync).toBe(1);
    expect(id()).toBe(0);
    expect(
      getStrategy()
        .reduce('SUM', constant([1, 2]))
        .array(),
    ).toEqual([1, 2]);
  });

  test('scope and run', () => {
    const two = mirrored();
    expect(two.numReplicasInSync).toBe(2);
    two.scope(() => {
      expect(getStrategy()).toBe(two);
      expect(inCrossReplicaContext()).toBe(true);
      expect(getReplicaContext()).toBe(null);
    });
    const seen: unknown[] = [];
    two.run(() => {
      seen.push([id(), inCrossReplicaContext(), getStrategy() === two, constant(1).device]);
    });
    expect(seen).toEqual([
      [0, false, true, '/device:CPU:0'],
      [1, false, true, '/device:CPU:1'],
    ]);
    expect(hasStrategy()).toBe(false);
    {
      using _ = two.scope();
      expect(getStrategy()).toBe(two);
    }
    expect(hasStrategy()).toBe(false);
  });

  test('strategies do not nest', () => {
    const two = mirrored();
    const one = new OneDeviceStrategy('/cpu:0');
    expect(() => two.scope(() => one.scope(() => 1))).toThrow(/Mixing different/);
    expect(() => two.scope(() => one.run(() => 1))).toThrow(FailedPreconditionError);
    expect(() => two.run(() => two.run(() => 1))).toThrow(FailedPreconditionError);
    expect(() => two.run(() => two.reduce('SUM', 1))).toThrow(FailedPreconditionError);
    expect(two.scope(() => two.scope(() => 3))).toBe(3);
    expect(hasStrategy()).toBe(false);
  });
});

describe('values of replicas', () => {
  test('run, reduce and gather', () => {
    const two = mirrored();
    const rows = two.run(() => constant([0, 1, 2]).add(id() * 10)) as PerReplica<Tensor>;
    expect(rows).toBeInstanceOf(PerReplica);
    expect(arrays(rows)).toEqual([
      [0, 1, 2],
      [10, 11, 12],
    ]);
    expect(two.reduce('SUM', rows).array()).toEqual([10, 12, 14]);
    expect(two.reduce('MEAN', rows).array()).toEqual([5, 6, 7]);
    expect(two.reduce('MEAN', rows, { axis: 0 }).item()).toBe(6);
    expect(two.gather(rows, 0).array()).toEqual([0, 1, 2, 10, 11, 12]);
    expect(two.experimentalLocalResults(rows).length).toBe(2);
    expect(() => two.reduce('MAX' as 'SUM', rows)).toThrow(InvalidArgumentError);
    const again = two.run((x: Tensor) => x.mul(2), { args: [rows] });
    expect(arrays(again)).toEqual([
      [0, 2, 4],
      [20, 22, 24],
    ]);
  });

  test('a mean over an axis counts elements', () => {
    const two = mirrored();
    const uneven = two.run(() => (id() === 0 ? constant([1, 2, 6]) : constant([3]))) as PerReplica<Tensor>;
    expect(two.reduce('MEAN', uneven, { axis: 0 }).item()).toBe(3);
    expect(two.gather(uneven, 0).array()).toEqual([1, 2, 6, 3]);
    expect(() => two.reduce('SUM', uneven)).toThrow(InvalidArgumentError);
  });
});

describe('in tf.function', () => {
  test('replicas meet in the middle', () => {
    const two = mirrored();
    const f = tfFunction((x: Tensor) =>
      two.run(() => {
        const own = x.add(id());
        const sum = replica().allReduce('SUM', own);
        const mean = replica().allReduce('MEAN', { a: own.mul(sum) });
        return { sum, mean: mean.a, own };
      }),
    );
    const { sum, mean, own } = f(constant([1, 2])) as Record<string, PerReplica<Tensor>>;
    expect(arrays(own)).toEqual([
      [1, 2],
      [2, 3],
    ]);
    expect(arrays(sum)).toEqual([
      [3, 5],
      [3, 5],
    ]);
    // (1·3 + 2·3) / 2, (2·5 + 3·5) / 2
    expect(arrays(mean)).toEqual([
      [4.5, 12.5],
      [4.5, 12.5],
    ]);
    f(constant([3, 4]));
    expect(f.experimentalGetTracingCount()).toBe(1);
  });

  test('values of replicas are arguments and results', () => {
    const two = mirrored();
    const f = tfFunction((x: PerReplica<Tensor>) => two.run((y: Tensor) => y.mul(2), { args: [x] }));
    const of = (a: number, b: number): PerReplica<Tensor> => new PerReplica([constant([a]), constant([b])]);
    expect(arrays(f(of(1, 2)))).toEqual([[2], [4]]);
    expect(arrays(f(of(5, 6)))).toEqual([[10], [12]]);
    expect(f.experimentalGetTracingCount()).toBe(1);
  });

  test('gathers what has different sizes, with a gradient', () => {
    const two = mirrored();
    const step = tfFunction((x: PerReplica<Tensor>) =>
      two.run(
        (own: Tensor) => {
          const tape = new GradientTape();
          tape.watch(own);
          const all = replica().allGather(own, 0);
          const loss = all
            .mul(constant([1, 2, 3]))
            .sum()
            .mul(id() + 1);
          return { all, gradient: tape.gradient(loss, own) as Tensor };
        },
        { args: [x] },
      ),
    );
    const { all, gradient } = step(new PerReplica([constant([5, 6]), constant([7])])) as Record<
      string,
      PerReplica<Tensor>
    >;
    expect(arrays(all)).toEqual([
      [5, 6, 7],
      [5, 6, 7],
    ]);
    // The gradients of both replicas' losses: 1 + 2 times the factor.
    expect(arrays(gradient)).toEqual([[3, 6], [9]]);
  });

  test('the gradient of a sum is the sum of the gradients', () => {
    const two = mirrored();
    const step = tfFunction(() =>
      two.run(() => {
        const x = constant(2 + id());
        const tape = new GradientTape();
        tape.watch(x);
        const sum = replica().allReduce('SUM', x.square());
        return tape.gradient(sum.mul(id() + 1), x) as Tensor;
      }),
    );
    expect(arrays(step())).toEqual([12, 18]);
  });

  test('a function of tf.function is run as a graph', () => {
    const two = mirrored();
    const inner = tfFunction((x: Tensor) => replica().allReduce('SUM', x.add(id())));
    expect(arrays(two.run(inner, { args: [constant(1)] }))).toEqual([3, 3]);
  });

  test('replicas that do not do the same are refused', () => {
    const two = mirrored();
    const f = tfFunction(() =>
      two.run(() => (id() === 0 ? replica().allReduce('SUM', constant(1)) : constant(1))),
    );
    expect(f).toThrow(/in the same order/);
    const inLoop = tfFunction(() => two.run(() => constant(1)));
    expect(arrays(inLoop())).toEqual([1, 1]);
  });
});

test('outside of tf.function a result is not known at once', () => {
  const two = mirrored();
  expect(() => two.run(() => replica().allReduce('SUM', constant(1)))).toThrow(/tf\.function/);
  const one = new OneDeviceStrategy(cpus(2)[1]);
  expect((one.run(() => replica().allReduce('SUM', constant(4))) as Tensor).item()).toBe(4);
});

describe('variables', () => {
  test('have a copy for each replica', () => {
    const two = mirrored();
    const v = two.scope(() => new Variable([1, 2], { name: 'w' }));
    expect(v.copies.map((c) => [c.name, c.device])).toEqual([
      ['w', '/device:CPU:0'],
      ['w/replica_1', '/device:CPU:1'],
    ]);
    v.assign([3, 4]);
    expect(arrays(two.run(() => v.read()))).toEqual([
      [3, 4],
      [3, 4],
    ]);
    expect(v.array()).toEqual([3, 4]);
    expect(v.add(1).array()).toEqual([4, 5]);
  });

  test.each(['eager', 'traced'])('aggregate what replicas assign: %s', (mode) => {
    const two = mirrored();
    const make = (aggregation: 'SUM' | 'MEAN' | 'ONLY_FIRST_REPLICA'): Variable =>
      two.scope(() => new Variable(1, { aggregation, trainable: false }));
    const [sum, mean, first] = [make('SUM'), make('MEAN'), make('ONLY_FIRST_REPLICA')];
    const onRead = two.scope(() => new Variable(0, { synchronization: 'ON_READ', aggregation: 'SUM' }));
    const step = (): void => {
      two.run(() => {
        const i = constant(id() + 1);
        sum.assign(i);
        mean.assignAdd(i);
        first.assign(i.mul(10));
        onRead.assignAdd(i);
      });
    };
    (mode === 'eager' ? step : tfFunction(step))();
    expect([sum, mean, first].map((v) => v.copies.map((c) => c.item()))).toEqual([
      [3, 3],
      [2.5, 2.5],
      [10, 10],
    ]);
    expect(onRead.item()).toBe(3);
    expect(onRead.copies.map((c) => c.item())).toEqual([1, 2]);
    onRead.assign(10);
    expect(onRead.copies.map((c) => c.item())).toEqual([5, 5]);
    expect(() => onRead.assignAdd(1)).toThrow(InvalidArgumentError);
  });

  test('refuse values of replicas without an aggregation', () => {
    const two = mirrored();
    const v = two.scope(() => new Variable(1));
    expect(() => two.run(() => v.assign(constant(id())))).toThrow(/aggregation/);
    two.run(() => v.assign(7));
    expect(v.copies.map((c) => c.item())).toEqual([7, 7]);
  });

  test('that wait for all replicas cannot be read before', () => {
    const two = mirrored();
    const v = two.scope(() => new Variable(1, { aggregation: 'MEAN' }));
    const step = (): unknown =>
      two.run(() => {
        v.assign(constant(id()));
        return v.add(1);
      });
    expect(step).toThrow(/tf\.function/);
    expect(v.item()).toBe(1);
    expect(arrays(tfFunction(step)())).toEqual([1.5, 1.5]);
  });

  test('are watched by tapes in replicas', () => {
    const two = mirrored();
    const w = two.scope(() => new Variable(3));
    const step = (): unknown =>
      two.run(() => {
        const tape = new GradientTape();
        const y = w.square().mul(id() + 1);
        return tape.gradient(y, w) as Tensor;
      });
    expect(arrays(step())).toEqual([6, 12]);
    expect(arrays(tfFunction(step)())).toEqual([6, 12]);
  });
});
