// Sums of several GPUs of one process by NCCL: a driver and a library that the processor plays.
import '@eagre/backend-js';
import '@eagre/backend-native';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  constant,
  type DType,
  device,
  InvalidArgumentError,
  real,
  type Tensor,
  UnavailableError,
  UnimplementedError,
  Variable,
  zeros,
} from '@eagre/core';
import { tfFunction } from '@eagre/graph';
import { afterAll, describe, expect, it } from 'vitest';
import { withFake } from '../../../backend-cuda/src/testing/fake-cuda.ts';
import {
  getReplicaContext,
  MirroredStrategy,
  NcclAllReduce,
  PerReplica,
  type ReplicaContext,
} from '../index.ts';
import { mirrored } from '../testing/devices.ts';
import { fakeGpus, withoutNccl } from '../testing/nccl.ts';

if (withoutNccl === undefined) Object.assign(process.env, fakeGpus(4));
const { cudaUnavailable } = await import('@eagre/backend-cuda');
const isTested = withoutNccl === undefined && cudaUnavailable === undefined;
if (!isTested) console.warn(`NCCL in one process is not tested: ${cudaUnavailable}`);

const folder = mkdtempSync(join(tmpdir(), 'eagre-nccl-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const gpus = (count: number): string[] => Array.from({ length: count }, (_, i) => `/gpu:${i}`);
const strategy = (count: number, numPacks?: number): MirroredStrategy =>
  new MirroredStrategy(gpus(count), {
    crossDeviceOps: new NcclAllReduce(numPacks === undefined ? {} : { numPacks }),
  });
const replica = (): ReplicaContext => getReplicaContext() as ReplicaContext;
const id = (): number => replica().replicaIdInSyncGroup;
const shown = (value: unknown): unknown[] =>
  (value as PerReplica<Tensor>).values.map((t) => [t.device, t.dtype, t.array()]);

/** The functions of the driver that are called meanwhile, or the groups of calls of NCCL. */
function callsOf(body: () => void, setting: string = 'FAKE_CUDA_CALLS'): readonly string[] {
  const file = join(folder, 'calls');
  rmSync(file, { force: true });
  withNccl({ [setting]: file }, body);
  return readFileSync(file, 'utf8').split('\n');
}

/** What the fake NCCL reads at each call. */
function withNccl<T>(settings: Readonly<Record<string, string>>, body: () => T): T {
  return withFake(settings as Record<`FAKE_CUDA_${string}`, string>, body);
}

describe.skipIf(!isTested)('NcclAllReduce', () => {
  it('says what to install where there is no NCCL', () => {
    const two = strategy(2);
    const f = tfFunction(() => two.run(() => replica().allReduce('SUM', constant(1))));
    process.env['EAGRE_NCCL_LIBRARY'] = '/nowhere/libnccl.so.2';
    try {
      expect(f).toThrow(UnimplementedError);
      expect(f).toThrow(/there is no NCCL .*nowhere.*pip install nvidia-nccl-cu12.*EAGRE_NCCL_LIBRARY/);
    } finally {
      process.env['EAGRE_NCCL_LIBRARY'] = fakeGpus(4)['EAGRE_NCCL_LIBRARY'];
    }
  });

  it.each([2, 3, 4])('adds up on %i GPUs, where each gets the sum, without the host', (count) => {
    const all = strategy(count);
    const sums = tfFunction((x: PerReplica<Tensor>) =>
      all.run((own: Tensor) => replica().allReduce('SUM', own), { args: [x] }),
    );
    const given = new PerReplica(gpus(count).map((name, i) => device(name, () => constant([i + 1, 10]))));
    const expected = gpus(count).map((_, i) => [
      `/device:GPU:${i}`,
      'float32',
      [(count * (count + 1)) / 2, 10 * count],
    ]);
    expect(shown(sums(given))).toEqual(expected);
    let again: unknown;
    const calls = callsOf(() => {
      again = sums(given);
    });
    expect(calls.filter((name) => /Peer|DtoH|Synchronize/.test(name))).toEqual([]);
    expect(shown(again)).toEqual(expected);
    expect(sums.experimentalGetTracingCount()).toBe(1);
  });

  it('adds up numbers of all kinds, also empty ones and scalars, and takes means', () => {
    const two = strategy(2);
    const floats = ['float64', 'float16', 'bfloat16', 'complex64'] as const;
    const integers = ['int8', 'uint8', 'int16', 'int32', 'uint32', 'int64', 'uint64'] as const;
    const all: readonly DType[] = [...floats, ...integers];
    const sums = tfFunction((...x: PerReplica<Tensor>[]) =>
      two.run((...own: Tensor[]) => replica().allReduce('SUM', [...own, zeros([0, 2])]), { args: x }),
    );
    const given = all.map(
      (dtype) => new PerReplica([0, 1].map((i) => constant([3 + i, 100], dtype as 'float32'))),
    );
    const results = (sums as (...x: unknown[]) => unknown)(...given) as PerReplica<Tensor>[];
    all.forEach((dtype, k) => {
      for (const [i, value] of results[k].values.entries()) {
        expect([value.device, value.dtype], dtype).toEqual([`/device:GPU:${i}`, dtype]);
        // 200 does not fit into an int8.
        const last = dtype === 'int8' ? -56 : 200;
        const numbers = (value.dtype === 'complex64' ? real(value) : value).array() as unknown[];
        expect(numbers.map(Number), dtype).toEqual([7, last]);
      }
    });
    expect(results.at(-1)?.values.map((t) => t.shape)).toEqual([
      [0, 2],
      [0, 2],
    ]);
    const means = tfFunction(() => two.run(() => replica().allReduce('MEAN', constant(id() + 2))));
    expect(shown(means())).toEqual([
      ['/device:GPU:0', 'float32', 2.5],
      ['/device:GPU:1', 'float32', 2.5],
    ]);
    // The host knows the number of each replica, and not the sum.
    const counts = tfFunction(() => two.run(() => replica().allReduce('SUM', constant(id() + 2, 'int32'))));
    expect(shown(counts())).toEqual([
      ['/device:GPU:0', 'int32', 5],
      ['/device:GPU:1', 'int32', 5],
    ]);
  });

  it.each([
    [undefined, [6]],
    [2, [4, 2]],
    [0, [2, 2, 2]],
  ] as const)('with numPacks=%s, calls NCCL for so many values at once: %j', (numPacks, expected) => {
    const two = strategy(2, numPacks);
    const f = tfFunction(() =>
      two.run(() => replica().allReduce('SUM', [constant(1), constant([1, 2]), constant([[id()]])])),
    );
    const values = f() as PerReplica<Tensor>[];
    expect(shown(values[2])).toEqual([
      ['/device:GPU:0', 'float32', [[1]]],
      ['/device:GPU:1', 'float32', [[1]]],
    ]);
    const calls = callsOf(f, 'FAKE_NCCL_CALLS');
    expect(calls.filter(Boolean)).toEqual(expected.map((n) => `group of ${n}`));
  });

  it.each(['eager', 'traced'])('adds up what replicas assign: %s', (mode) => {
    const two = strategy(2);
    const v = two.scope(() => new Variable([1, 2], { aggregation: 'SUM', trainable: false }));
    const step = (): void => {
      two.run(() => {
        v.assign(constant([id() + 1, 10]));
      });
    };
    (mode === 'eager' ? step : tfFunction(step))();
    expect(v.copies.map((copy) => [copy.device, copy.array()])).toEqual([
      ['/device:GPU:0', [3, 20]],
      ['/device:GPU:1', [3, 20]],
    ]);
  });

  it('adds up in a loop of the graph, which runs on one GPU', () => {
    const two = strategy(2);
    const f = tfFunction((n: Tensor) => {
      let total = constant(0);
      for (let k = 0; k < 2; k++)
        total = total.add(
          two.reduce(
            'SUM',
            two.run(() => replica().allReduce('SUM', n.add(id()))),
          ),
        );
      return total;
    });
    expect(f(constant(1)).item()).toBe(12);
  });

  it('tells of what NCCL says, and goes on', () => {
    const two = strategy(2);
    const f = tfFunction(() => two.run(() => replica().allReduce('SUM', constant([1, id()]))));
    for (const name of ['FAKE_NCCL_FAIL', 'FAKE_NCCL_LATE']) {
      expect(() => withNccl({ [name]: 'ncclAllReduce:1' }, f)).toThrow(UnavailableError);
      expect(() => withNccl({ [name]: 'ncclAllReduce:1' }, f)).toThrow(/ncclAllReduce: unhandled cuda error/);
      expect(shown(f()).length).toBe(2);
    }
    expect(shown(f())[1]).toEqual(['/device:GPU:1', 'float32', [2, 1]]);
  });

  it('reduces to one value without NCCL, and refuses what is no GPU', () => {
    const cpus = mirrored(2).replicaDevices;
    const two = new MirroredStrategy([...cpus], { crossDeviceOps: new NcclAllReduce() });
    expect(
      two
        .reduce(
          'SUM',
          two.run(() => constant(id() + 1)),
        )
        .item(),
    ).toBe(3);
    const f = tfFunction(() => two.run(() => replica().allReduce('SUM', constant(1))));
    expect(f).toThrow(InvalidArgumentError);
    expect(f).toThrow(/GPUs of NVIDIA.*\/device:CPU:0 is none/);
    const mixed = new MirroredStrategy(['/gpu:0', '/cpu:0'], { crossDeviceOps: new NcclAllReduce() });
    expect(tfFunction(() => mixed.run(() => replica().allReduce('SUM', constant(1))))).toThrow(
      /\/device:CPU:0 is none/,
    );
    expect(() => new NcclAllReduce({ numPacks: -1 })).toThrow(InvalidArgumentError);
    expect(() => strategy(1).run(() => replica().allReduce('SUM', constant(1)))).not.toThrow();
  });
});
