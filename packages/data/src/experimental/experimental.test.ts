import '@eagre/backend-js';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  constant,
  FailedPreconditionError,
  InvalidArgumentError,
  LogicalDeviceConfiguration,
  listPhysicalDevices,
  NotFoundError,
  type PhysicalDevice,
  setLogicalDeviceConfiguration,
  type Tensor,
  UnimplementedError,
} from '@eagre/core';
import { cond, TensorSpec, tfFunction, whileLoop } from '@eagre/graph';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { temporaryFolder } from '../../../testing/src/temporary.ts';
import { Dataset, experimental as E, Options, TFRecordDataset } from '../index.ts';
import { Optional, OptionalSpec } from '../internal.ts';
import { debugMode } from '../pipeline/element-function.ts';
import { values, valuesLater } from '../testing/elements.ts';

const to = (n: number): Dataset<Tensor> => Dataset.range(n, { outputType: 'int32' });

describe('Optional', () => {
  test('has a value or none', () => {
    const some = Optional.fromValue({ x: [1, 2], y: constant(3, 'int32') });
    expect(some.hasValue().item()).toBe(true);
    expect(some.getValue().x.array()).toEqual([1, 2]);
    expect(String(some.elementSpec)).toBe('[object Object]');
    const none = Optional.empty(new TensorSpec([null, 2], 'int32'));
    expect(none.hasValue().item()).toBe(false);
    expect(() => none.getValue()).toThrow(InvalidArgumentError);
    expect(() => Optional.empty('int32' as never)).toThrow(InvalidArgumentError);
    expect(() => Optional.fromValue(to(3))).toThrow('a dataset cannot be in an optional');
    expect(String(new OptionalSpec(new TensorSpec([], 'int32')))).toBe(
      'OptionalSpec(TensorSpec(shape=[], dtype=int32))',
    );
    expect(() => new (OptionalSpec as never as new (a: number, b: number) => object)(1, 2)).toThrow(
      InvalidArgumentError,
    );
  });

  test('goes through functions, conditions and loops', () => {
    const or = tfFunction(
      (o: Optional<Tensor>, other: Tensor): Tensor =>
        cond(
          o.hasValue(),
          () => o.getValue().mul(2),
          () => other,
        ),
    );
    expect(or(Optional.fromValue(constant(4)) as never, constant(1)).item()).toBe(8);
    expect(or(Optional.empty(new TensorSpec([], 'float32')) as never, constant(1)).item()).toBe(1);
    const must = tfFunction((o: Optional<Tensor>): Tensor => o.getValue().add(1));
    expect(must(Optional.fromValue(constant(4))).item()).toBe(5);
    expect(() => must(Optional.empty(new TensorSpec([], 'float32')) as never)).toThrow(
      'the optional has no value',
    );
    const made = tfFunction((x: Tensor) => Optional.fromValue(x.mul(3)));
    expect(made(constant(2)).getValue().item()).toBe(6);
    const looped = tfFunction((o: Optional<Tensor>) =>
      whileLoop(
        (i: Tensor) => i.less(3),
        (i: Tensor, x: Optional<Tensor>) => [i.add(1), Optional.fromValue(x.getValue().mul(2))] as never,
        [constant(0), o] as never,
      ),
    );
    const [, last] = looped(Optional.fromValue(constant(1))) as never as [Tensor, Optional<Tensor>];
    expect(last.getValue().item()).toBe(8);
  });

  test('the next element as one', () => {
    const iterator = to(1).iterator();
    expect(E.getNextAsOptional(iterator).getValue().item()).toBe(0);
    const end = iterator.getNextAsOptional();
    expect(end.hasValue().item()).toBe(false);
    expect(String(end.elementSpec)).toBe('TensorSpec(shape=[], dtype=int32)');
    const unknown = Dataset.fromGenerator(function* () {}).iterator();
    expect(() => unknown.getNextAsOptional()).toThrow(FailedPreconditionError);
    expect(() => E.getNextAsOptional(to(1) as never)).toThrow(InvalidArgumentError);
  });
});

describe('Options', () => {
  test('are honoured or refused', () => {
    const options = new Options();
    options.deterministic = false;
    options.experimentalOptimization.applyDefaultOptimizations = false;
    options.autotune.enabled = false;
    options.threading.privateThreadpoolSize = 0;
    expect(to(3).withOptions(options).options()).toEqual({ deterministic: false, vectorization: false });
    expect(to(3).withOptions(new Options()).options()).toEqual({});
    const refused = (
      change: (o: Options) => void,
      error: new (m: string) => Error,
      message: string,
    ): void => {
      const bad = new Options();
      change(bad);
      expect(() => to(3).withOptions(bad)).toThrow(error);
      expect(() => to(3).withOptions(bad)).toThrow(message);
    };
    refused((o) => void (o.threading.privateThreadpoolSize = 4), UnimplementedError, 'numParallelCalls');
    refused(
      (o) => void (o.threading.maxIntraOpParallelism = 1),
      UnimplementedError,
      'setIntraOpParallelismThreads',
    );
    refused((o) => void (o.autotune.enabled = true), UnimplementedError, 'autotune.enabled');
    refused((o) => void (o.autotune.cpuBudget = 2), UnimplementedError, 'autotune.cpuBudget');
    refused(
      (o) => void ((o as never as Record<string, unknown>)['deterministc'] = true),
      InvalidArgumentError,
      'is not an option',
    );
    refused((o) => void (o.deterministic = 3 as never), InvalidArgumentError, 'boolean');
    refused(
      (o) => void (o.threading = { privateThreadpoolSize: 1 } as never),
      InvalidArgumentError,
      'ThreadingOptions',
    );
  });
});

describe('transformations', () => {
  afterEach(() => {
    debugMode.enabled = false;
  });

  test('a reducer is saved and restored at every position', async () => {
    const grouped = (): Dataset<unknown> =>
      to(9).apply(
        E.groupByReducer(
          async (x: Tensor) => x.mod(4),
          new E.Reducer(
            () => constant(0, 'int32'),
            async (s: Tensor, x: Tensor) => s.add(x),
            async (s: Tensor) => s.mul(2),
          ),
        ),
      );
    expect(await valuesLater(grouped())).toEqual([24, 12, 16, 20]);
    for (let at = 0; at < 4; at++) {
      const first = grouped().iterator();
      for (let i = 0; i < at; i++) await first.nextAsync();
      const next = grouped().iterator();
      next.restoreState(first.saveState());
      const rest: number[] = [];
      for await (const x of next) rest.push((x as Tensor).item());
      expect(rest).toEqual([24, 12, 16, 20].slice(at));
    }
    expect(() => E.groupByReducer((x: Tensor) => x, {} as never)).toThrow(InvalidArgumentError);
    const bad = new E.Reducer(
      () => constant(0, 'int32'),
      (s: Tensor) => s.cast('float32'),
      (s: Tensor) => s,
    );
    expect(() => to(2).apply(E.groupByReducer((x: Tensor) => x, bad))).toThrow('the new state');
  });

  test('steps refuse what is no dataset', () => {
    expect(() => E.unique()([1, 2] as never)).toThrow('expected a dataset');
    expect(() => E.padToCardinality(2)(to(1))).toThrow('plain objects');
    expect(() => E.padToCardinality(2)(Dataset.fromTensorSlices({ a: [1, 2, 3] }))).toThrow(
      'at most 2 elements',
    );
    expect(() => E.mapAndBatch((x: Tensor) => x, 2, { numParallelBatches: 1, numParallelCalls: 2 })).toThrow(
      InvalidArgumentError,
    );
    expect(() => E.fromList([])).toThrow(InvalidArgumentError);
    expect(() => E.fromList([1, 'a'])).toThrow('of one kind');
    expect(() => values(to(3).apply(E.denseToSparseBatch(2, [3])))).toThrow('rowShape has 1 sizes');
    expect(() =>
      values(
        to(3)
          .batch(3)
          .apply(E.denseToSparseBatch(2, [2])),
      ),
    ).toThrow('larger than the row');
    expect(() => Dataset.fromTensorSlices([['a']]).sparseBatch(2, [2])).toThrow(UnimplementedError);
  });

  test('padding of strings', () => {
    const padded = Dataset.fromTensorSlices({ s: ['a'] }).apply(E.padToCardinality(2));
    expect(values(padded)).toEqual([
      { s: 'a', valid: true },
      { s: '', valid: false },
    ]);
    expect(padded.cardinality()).toBe(2);
  });

  test('devices', () => {
    const [cpu] = listPhysicalDevices('CPU') as [PhysicalDevice];
    setLogicalDeviceConfiguration(cpu, [new LogicalDeviceConfiguration(), new LogicalDeviceConfiguration()]);
    try {
      const there = to(3).apply(E.copyToDevice('/cpu:1'));
      expect([...there].map((x) => x.device)).toEqual(new Array(3).fill('/device:CPU:1'));
      expect([...to(3).apply(E.prefetchToDevice('/cpu:1', 2))].map((x) => x.item())).toEqual([0, 1, 2]);
      expect(() => E.copyToDevice('/gpu:7')).toThrow(NotFoundError);
      expect(() => E.copyToDevice('/cpu:0', { sourceDevice: '/cpu:1' })).toThrow(InvalidArgumentError);
    } finally {
      setLogicalDeviceConfiguration(cpu, [new LogicalDeviceConfiguration()]);
    }
  });

  test('records', async () => {
    const folder = temporaryFolder('records');
    const path = join(folder, 'a.tfrecord');
    await new E.TFRecordWriter(path).write(Dataset.fromTensorSlices(['one', 'zwei']));
    expect(values(new TFRecordDataset(path).map((x) => x.size, { runEagerly: true }))).toEqual([3, 4]);
    writeFileSync(path, 'kept');
    await expect(new E.TFRecordWriter(path).write(to(2))).rejects.toThrow(InvalidArgumentError);
    expect(readdirSync(folder)).toEqual(['a.tfrecord']);
    await new E.TFRecordWriter(join(folder, 'b'), 'GZIP').write(Dataset.fromTensorSlices(['x']));
    expect(existsSync(join(folder, 'b'))).toBe(true);
    expect(() => new E.TFRecordWriter(path, 'LZ4' as never)).toThrow(InvalidArgumentError);
    await expect(new E.TFRecordWriter(join(folder, 'no', 'b')).write(to(1))).rejects.toThrow(NotFoundError);
  });

  test('leave nothing behind where there is no room', async () => {
    const folder = temporaryFolder('records');
    const path = join(folder, 'a.tfrecord');
    const records = Dataset.fromTensorSlices(['x'.repeat(1 << 18), 'y'.repeat(1 << 18)]);
    const fs = process.getBuiltinModule('node:fs');
    const full = Object.assign(new Error('ENOSPC: no space left on device, write'), {
      code: 'ENOSPC',
      syscall: 'write',
    });
    const writing = vi.spyOn(fs, 'writeSync').mockImplementation(() => {
      throw full;
    });
    try {
      for (const compression of ['', 'GZIP'] as const)
        await expect(new E.TFRecordWriter(path, compression).write(records)).rejects.toThrow(
          `${path}: no space is left on the device`,
        );
      expect(readdirSync(folder)).toEqual([]);
    } finally {
      writing.mockRestore();
    }
    await expect(new E.TFRecordWriter(join(folder, 'no', 'b')).write(records)).rejects.toThrow(
      `${join(folder, 'no', 'b')}: there is no such file or folder`,
    );
    await expect(new E.TFRecordWriter(folder).write(records)).rejects.toThrow(FailedPreconditionError);
  });

  test('saved, asked and debugged', async () => {
    const folder = join(temporaryFolder('saved'), 'd');
    await E.save(to(3), folder);
    expect(values(E.load(folder))).toEqual([0, 1, 2]);
    await expect(E.save(to(3), folder, { shardFunc: () => 0 })).rejects.toThrow(UnimplementedError);
    expect([
      E.cardinality(to(3)),
      E.getSingleElement(to(1)).item(),
      String(E.getStructure(to(1) as never)),
    ]).toEqual([3, 0, 'TensorSpec(shape=[], dtype=int32)']);
    expect(new E.RandomDataset(3).cardinality()).toBe(E.INFINITE_CARDINALITY);
    expect(values(new E.RandomDataset(3).take(2))).toEqual(values(Dataset.random({ seed: 3 }).take(2)));
    E.enableDebugMode();
    let calls = 0;
    const seen = to(3).map((x) => {
      calls++;
      return Number(x.item()) + 1;
    });
    expect(values(seen)).toEqual([1, 2, 3]);
    expect(calls).toBe(3);
  });
});
