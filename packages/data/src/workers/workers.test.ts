import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import '@eagre/backend-js';
import { EagreError, ResourceExhaustedError } from '@eagre/backend';
import type { Tensor } from '@eagre/core';
import { TensorSpec } from '@eagre/graph';
import { describe, expect, it } from 'vitest';
import { Dataset } from '../pipeline/dataset.ts';
import { mapOnWorkers, type WorkerMapOptions } from './map-on-workers.ts';

const worker = new URL('../testing/work.mjs', import.meta.url);
const numbers = (count: number): Dataset<Tensor> => Dataset.range(count);

async function collect<T>(dataset: Dataset<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const element of dataset) all.push(element);
  return all;
}

/** The threads of this process that run modules in text. */
const active = (): number => process.getActiveResourcesInfo().filter((name) => name === 'MessagePort').length;

describe('mapOnWorkers', () => {
  it('runs an exported function on threads, in order', async () => {
    const options: WorkerMapOptions = { numParallelCalls: 2, outputSignature: new TensorSpec([2], 'int64') };
    const doubled = mapOnWorkers(numbers(10).batch(2), { worker, export: 'double' }, options);
    expect(doubled.elementSpec).toBe(options.outputSignature);
    expect((await collect(doubled)).map((t) => t.toString())).toHaveLength(5);
    expect((await collect(doubled)).map((t) => (t as Tensor).array())).toEqual([
      [0n, 2n],
      [4n, 6n],
      [8n, 10n],
      [12n, 14n],
      [16n, 18n],
    ]);
    const slow = mapOnWorkers<number>(numbers(5), { worker, export: 'slowFirst' }, { numParallelCalls: 3 });
    expect((await collect(slow)).map((t) => t.item())).toEqual([0, 1, 2, 3, 4]);
  });

  it('gives results as they are ready, if wanted', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'eagre-workers-'));
    try {
      const any = { numParallelCalls: 3, deterministic: false };
      const named = Dataset.zip([numbers(5), Dataset.fromTensors(folder).repeat()]);
      const loose = mapOnWorkers<number>(named, { worker, export: 'firstLater' }, any);
      const found = (await collect(loose)).map((t) => t.item<number>());
      expect(found[0]).not.toBe(0);
      expect(found.sort()).toEqual([0, 1, 2, 3, 4]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('sends structures both ways, from several threads', async () => {
    const dataset = Dataset.fromTensorSlices([[1, 2, 3, 4], { name: ['a', 'b', 'c', 'd'] }]);
    type Result = [{ x: number; thread: number }, string];
    const mapped = mapOnWorkers<Result>(dataset, { worker, export: 'pair' }, { numParallelCalls: 2 });
    const all = await collect(mapped);
    expect(all.map(([{ x }, name]) => [x.item(), name.item()])).toEqual([
      [1, 'a!'],
      [2, 'b!'],
      [3, 'c!'],
      [4, 'd!'],
    ]);
    expect(new Set(all.map(([{ thread }]) => thread.item())).size).toBe(2);
  });

  it('carries errors back to their elements', async () => {
    const mapped = mapOnWorkers<number>(numbers(3), { worker, export: 'refuse' }, { numParallelCalls: 2 });
    const iterator = mapped.iterator();
    expect((await iterator.nextAsync()).value?.item()).toBe(0);
    const error = await iterator.nextAsync().then(
      () => null,
      (e: unknown) => e as Error,
    );
    expect(error?.message).toMatch(/refuse failed on a thread: RangeError: not one/);
    expect((error as Error & { cause: Error }).cause.stack).toContain('work.mjs');
    expect((await iterator.nextAsync()).value?.item()).toBe(2);
    expect((await iterator.nextAsync()).done).toBe(true);
    expect((await collect(mapped.ignoreErrors())).length).toBe(2);
  });

  it('tells of threads that end, and of what is no function', async () => {
    const failing = (name: string, url: URL = worker) =>
      collect(mapOnWorkers(numbers(1), { worker: url, export: name }, { numParallelCalls: 1 }));
    await expect(failing('exit')).rejects.toThrow(/a thread that ran exit failed: .*code 3/);
    await expect(failing('value')).rejects.toThrow(/does not export a function value/);
    await expect(failing('x', new URL('./none.mjs', import.meta.url))).rejects.toThrow(/none.mjs/);
    await expect(failing('exit')).rejects.toBeInstanceOf(EagreError);
    expect(() => mapOnWorkers(numbers(1), { worker: './a.js' as unknown as URL, export: 'a' })).toThrow(
      /new URL/,
    );
    const synchronous = mapOnWorkers(numbers(1), { worker, export: 'double' });
    expect(() => [...synchronous]).toThrow(/for await/);
  });

  it('takes fewer threads where no more can start, and says so where none can', async () => {
    const threads = process.getBuiltinModule('node:worker_threads');
    const { Worker } = threads;
    let left = 1;
    let refused = 0;
    class Limited extends Worker {
      constructor(...args: ConstructorParameters<typeof Worker>) {
        if (left-- <= 0) {
          refused++;
          throw Object.assign(new Error('EAGAIN'), { code: 'ERR_WORKER_INIT_FAILED' });
        }
        super(...args);
      }
    }
    threads.Worker = Limited;
    try {
      const slow = mapOnWorkers<number>(numbers(4), { worker, export: 'slowFirst' }, { numParallelCalls: 3 });
      expect((await collect(slow)).map((t) => t.item())).toEqual([0, 1, 2, 3]);
      expect(refused).toBe(1);
      await expect(collect(slow)).rejects.toThrow(ResourceExhaustedError);
      await expect(collect(slow)).rejects.toThrow(/no thread can start \(EAGAIN\): .*`ulimit -u`/);
    } finally {
      threads.Worker = Worker;
    }
  });

  it('ends its threads with the pass, and goes on where it was', async () => {
    const before = active();
    const make = () =>
      mapOnWorkers<number>(numbers(6), { worker, export: 'slowFirst' }, { numParallelCalls: 2 });
    const first = make().iterator();
    await first.nextAsync();
    const second = make().iterator();
    second.restoreState(first.saveState());
    await first.close();
    const rest: unknown[] = [];
    for await (const x of second) rest.push(x.item());
    expect(rest).toEqual([1, 2, 3, 4, 5]);
    for await (const _ of make()) break;
    await expect.poll(active).toBeLessThanOrEqual(before);
  });

  it('computes while this thread computes', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'eagre-workers-'));
    try {
      const named = Dataset.zip([numbers(6), Dataset.fromTensors(folder).repeat()]);
      const mapped = mapOnWorkers<number>(named, { worker, export: 'note' }, { numParallelCalls: 2 });
      let step = 0;
      for await (const x of mapped.prefetch(2)) {
        expect(x.item()).toBe(step++);
        // This thread never waits here, and yet the next element's function runs.
        const deadline = Date.now() + 200_000;
        while (step < 6 && !existsSync(join(folder, String(step)))) expect(Date.now()).toBeLessThan(deadline);
      }
      expect(step).toBe(6);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
