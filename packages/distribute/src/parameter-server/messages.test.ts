import { DataLossError, NotFoundError } from '@eagre/backend';
import { constant, type Tensor } from '@eagre/core';
import type { Portable } from '@eagre/saved-model/internal';
import { describe, expect, it } from 'vitest';
import { ClusterDef, JobDef, ServerDef } from '../cluster/cluster-protos.ts';
import { ClusterSpec } from '../cluster/cluster-spec.ts';
import { MessageReader } from './connection.ts';
import { decodeMessage, encodeMessage, type Message } from './messages.ts';
import { ParameterStore } from './parameter-store.ts';
import { FixedShardsPartitioner, MaxSizePartitioner, MinSizePartitioner, partsBy } from './partitioners.ts';
import { Server } from './server.ts';

const message: Message = {
  kind: 'apply',
  id: 7,
  fields: { changes: [{ kind: 'assign', id: 1, count: 1 }] },
  tensors: [
    constant([
      [1, 2.5],
      [3, -4],
    ]),
    constant(['a', 'ü', ''], 'string'),
    constant(5n, 'int64'),
  ],
  blobs: [Uint8Array.of(1, 2, 3)],
};

describe('messages', () => {
  it('come as they were sent, in pieces of any size', () => {
    const bytes = encodeMessage(message);
    for (const size of [1, 3, 50, 10_000]) {
      const reader = new MessageReader();
      const all = Buffer.concat([bytes, bytes]);
      const bodies: Uint8Array[] = [];
      for (let i = 0; i < all.byteLength; i += size) bodies.push(...reader.push(all.subarray(i, i + size)));
      expect(bodies.length).toBe(2);
      for (const body of bodies) {
        const { tensors, blobs, ...rest } = decodeMessage(body);
        expect(rest).toEqual({ kind: 'apply', id: 7, fields: message.fields });
        expect(tensors.map((x) => [x.dtype, x.array()])).toEqual(
          message.tensors.map((x) => [x.dtype, x.array()]),
        );
        expect([...(blobs[0] as Uint8Array)]).toEqual([1, 2, 3]);
      }
    }
  });

  it('have memory of their own, which can go to another thread', () => {
    const small = encodeMessage({ ...message, tensors: [], blobs: [] });
    expect([small.byteOffset, small.buffer.byteLength]).toEqual([0, small.byteLength]);
    const moved = structuredClone(small, { transfer: [small.buffer as ArrayBuffer] });
    expect(decodeMessage(moved.subarray(4)).id).toBe(7);
  });

  it('that are damaged are a DataLossError', () => {
    const body = encodeMessage(message).subarray(4);
    for (let length = 0; length < body.byteLength; length++)
      expect(() => decodeMessage(body.subarray(0, length))).toThrow(DataLossError);
    let damaged = 0;
    for (let at = 0; at < body.byteLength; at++) {
      const other = Uint8Array.from(body);
      other[at] = (other[at] as number) ^ 0x55;
      try {
        decodeMessage(other);
      } catch (error) {
        expect(error).toBeInstanceOf(DataLossError);
        damaged++;
      }
    }
    expect(damaged).toBeGreaterThan(20);
    expect(() => new MessageReader().push(Uint8Array.of(255, 255, 255, 255))).toThrow('too long');
  });
});

describe('a parameter store', () => {
  it('updates a variable in place, also one that was read', () => {
    const store = new ParameterStore('ps 0', {} as Portable);
    const ask = (kind: string, fields: object, tensors: readonly Tensor[] = []): readonly Tensor[] =>
      store.answer({ kind, id: 1, fields: fields as Message['fields'], tensors, blobs: [] }).tensors ?? [];
    ask('create', { id: 1, name: 'v', trainable: true }, [constant([1, 2])]);
    const read = (): Tensor => ask('read', { ids: [1] })[0] as Tensor;
    const [before] = [read()];
    expect(before.array()).toEqual([1, 2]);
    ask('apply', { changes: [{ kind: 'assignAdd', id: 1, count: 1 }] }, [constant([1, 1])]);
    expect([read().array(), read().storage === before.storage]).toEqual([[2, 3], true]);
    store.close();
    expect(() => read()).toThrow(NotFoundError);
  });
});

describe('partitioners', () => {
  // As TensorFlow 2.21 answers for these shapes, in float32 and float64.
  const shapes = [[2], [7], [10, 3], [1, 5], [100, 2]];
  it.each([
    [new FixedShardsPartitioner(3), [2, 2, 3, 3, 3, 3, 1, 1, 3, 3]],
    [new MinSizePartitioner({ minShardBytes: 16, maxShards: 4 }), [1, 1, 2, 4, 4, 4, 1, 1, 4, 4]],
    [new MinSizePartitioner(), [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]],
    [new MaxSizePartitioner(16), [1, 1, 2, 4, 10, 10, 1, 1, 50, 100]],
    [new MaxSizePartitioner(20, { maxShards: 3 }), [1, 1, 2, 3, 3, 3, 1, 1, 3, 3]],
    [new MaxSizePartitioner({ maxShardBytes: 4 }), [2, 2, 7, 7, 10, 10, 1, 1, 100, 100]],
  ])('%o', (partitioner, expected) => {
    const found = shapes.flatMap((shape) =>
      (['float32', 'float64'] as const).map((dtype) => partitioner.call(shape, dtype)),
    );
    expect(found.map(([rows]) => rows)).toEqual(expected);
    expect(found.every((parts) => parts.slice(1).every((n) => n === 1))).toBe(true);
  });

  it('divide rows, the first parts taking one more', () => {
    expect(partsBy(new FixedShardsPartitioner(3), [7, 2], 'float32')).toEqual([3, 2, 2]);
    expect(partsBy(null, [7, 2], 'float32')).toEqual([7]);
    expect(partsBy(() => [], [], 'float32')).toEqual([1]);
    for (const parts of [[2], [2, 2], [0, 1], [9, 1], 'x', [1.5, 1]])
      expect(() => partsBy((() => parts) as never, [7, 2], 'float32')).toThrow('variablePartitioner');
    expect(() => new FixedShardsPartitioner(0)).toThrow('numShards');
  });
});

describe('clusters', () => {
  it('are written as messages', () => {
    const spec = new ClusterSpec({ worker: ['a:1', 'b:2'], ps: ['c:3'] });
    const def = ClusterDef.fromClusterSpec(spec);
    expect(def.job.map(({ name, tasks }) => [name, tasks])).toEqual([
      ['worker', { 0: 'a:1', 1: 'b:2' }],
      ['ps', { 0: 'c:3' }],
    ]);
    expect(def.toClusterSpec().key).toBe(spec.key);
    expect(spec.taskIndices('worker')).toEqual([0, 1]);
    expect(spec.jobTasks('ps')).toEqual(['c:3']);
    expect(() => new ClusterDef({ job: [{ name: 'ps' }] as never })).toThrow('JobDef');
    const server = new Server(new ServerDef({ cluster: def, jobName: 'ps' }), { start: false });
    expect(server.target).toBe('eagre://c:3');
    expect(new JobDef({ name: 'ps' }).tasks).toEqual({});
  });

  it('have no servers but workers and parameter servers', async () => {
    const cluster = { worker: ['127.0.0.1:1'], ps: ['127.0.0.1:1'], chief: ['127.0.0.1:1'] };
    expect(() => new Server(cluster, { jobName: 'chief' })).toThrow('only a worker or a ps');
    expect(() => new Server(cluster, { jobName: 'ps', taskIndex: 3 })).toThrow('there are only 1');
    expect(() => new Server(cluster)).toThrow('taskType must be one of');
    const unstarted = new Server(cluster, { jobName: 'ps', start: false });
    for (const timeoutSeconds of [0, -1, Number.NaN, '1', Number.POSITIVE_INFINITY])
      await expect(unstarted.join({ timeoutSeconds: timeoutSeconds as number })).rejects.toThrow(
        /timeoutSeconds must be a number of seconds above 0/,
      );
    // A port that this process may not have.
    if (process.getuid?.() === 0) return;
    const server = new Server(cluster, { jobName: 'ps' });
    await expect(server.join()).rejects.toThrow('cannot listen');
    await server.close();
  });
});
