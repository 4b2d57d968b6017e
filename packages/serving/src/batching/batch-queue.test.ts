import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { HostTensor, HostTensors, ServableSignature } from '../servable/servable.ts';
import { BatchQueue, type QueueOptions } from './batch-queue.ts';

const never = new AbortController().signal;
const soon = (): Promise<void> => new Promise((done) => setTimeout(done, 1));

function queueOf(options: Partial<QueueOptions> = {}, rows: (number | undefined)[] = []): BatchQueue {
  return new BatchQueue(
    {
      batching: { maxBatchSize: 8, batchTimeoutMicros: 1000 },
      maxInFlight: 2,
      maxEnqueued: 1000,
      ...options,
    },
    { started: (count) => rows.push(count) },
  );
}

const matrix = (rows: readonly number[][]): HostTensor => ({
  dtype: 'float32',
  shape: [rows.length, rows[0]?.length ?? 0],
  values: Float32Array.from(rows.flat()),
});

/** Sums the squares of each row; refuses rows with a negative number. */
function sums(runs: { most: number; now: number } = { most: 0, now: 0 }): ServableSignature {
  return {
    inputs: { x: { dtype: 'float32', shape: [null, null] } },
    outputs: { y: { dtype: 'float32', shape: [null] }, n: { dtype: 'string', shape: [null] } },
    run: async ({ x }) => {
      runs.most = Math.max(runs.most, ++runs.now);
      await soon();
      runs.now--;
      const [rows, width] = x.shape;
      const values = x.values as Float32Array;
      if (values.some((v) => v < 0)) throw new RangeError('negative');
      const y = Array.from({ length: rows }, (_, i) =>
        values.subarray(i * width, (i + 1) * width).reduce((sum, v) => sum + v * v, 0),
      );
      return {
        y: { dtype: 'float32', shape: [rows], values: Float32Array.from(y) },
        n: { dtype: 'string', shape: [rows], values: y.map(String) },
      };
    },
  };
}

const plainValues = (outputs: HostTensors): unknown =>
  Object.entries(outputs).map(([name, { shape, values }]) => [
    name,
    shape,
    [...(values as Iterable<unknown>)],
  ]);

describe('batches', () => {
  test('give what each request gives alone, whatever comes together', async () => {
    const request = fc.record({
      width: fc.integer({ min: 1, max: 3 }),
      rows: fc.integer({ min: 1, max: 12 }),
      bad: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
      wait: fc.integer({ min: 0, max: 3 }),
      value: fc.integer({ min: 0, max: 100 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(request, { minLength: 1, maxLength: 30 }),
        fc.integer({ min: 1, max: 8 }),
        async (requests, maxBatchSize) => {
          const runs = { most: 0, now: 0 };
          const rows: (number | undefined)[] = [];
          const queue = queueOf({ batching: { maxBatchSize, batchTimeoutMicros: 500 } }, rows);
          const signature = sums(runs);
          await Promise.all(
            requests.map(async ({ width, rows: count, bad, wait, value }) => {
              const x = matrix(
                Array.from({ length: count }, (_, i) =>
                  Array.from({ length: width }, (_, j) => value + i * j),
                ),
              );
              if (bad) (x.values as Float32Array)[0] = -1;
              for (let i = 0; i < wait; i++) await soon();
              const got = queue.submit(signature, { x }, never);
              if (bad) await expect(got).rejects.toThrow('negative');
              else expect(plainValues(await got)).toEqual(plainValues(await sums().run({ x }, never)));
            }),
          );
          expect(runs.most).toBeLessThanOrEqual(2);
          for (const count of rows) expect(count ?? 0).toBeLessThanOrEqual(maxBatchSize);
          expect(queue.waiting).toBe(0);
          expect(queue.inFlight).toBe(0);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('hold what fits, and run when they are full or the time is over', async () => {
    const rows: (number | undefined)[] = [];
    const queue = queueOf({ batching: { maxBatchSize: 4, batchTimeoutMicros: 5000 } }, rows);
    const signature = sums();
    const ask = (count: number): Promise<HostTensors> =>
      queue.submit(signature, { x: matrix(Array.from({ length: count }, () => [1])) }, never);
    await Promise.all([ask(2), ask(2), ask(3), ask(2), ask(9), ask(1)]);
    expect(rows).toEqual([4, 3, undefined, 3]);
  });

  test('are not made of signatures with a fixed or no first axis, and of inputs of different rows', async () => {
    const rows: (number | undefined)[] = [];
    const queue = queueOf({}, rows);
    const shapes: (readonly (number | null)[] | null)[] = [[1, null], null, []];
    for (const shape of shapes) {
      const signature: ServableSignature = { ...sums(), inputs: { x: { dtype: 'float32', shape } } };
      await Promise.all([1, 2].map((v) => queue.submit(signature, { x: matrix([[v]]) }, never)));
    }
    const two: ServableSignature = {
      inputs: { a: { dtype: 'float32', shape: [null, 1] }, b: { dtype: 'float32', shape: [null, 1] } },
      outputs: { a: { dtype: 'float32', shape: [null, 1] } },
      run: async ({ a }) => ({ a }),
    };
    await queue.submit(two, { a: matrix([[1]]), b: matrix([[1], [2]]) }, never);
    expect(rows).toEqual(Array(7).fill(undefined));
  });

  test('fall apart where the outputs have other rows', async () => {
    const queue = queueOf();
    const mean: ServableSignature = {
      ...sums(),
      outputs: { y: { dtype: 'float32', shape: [null] } },
      run: async ({ x }) => ({
        y: { dtype: 'float32', shape: [1], values: (x.values as Float32Array).slice(0, 1) },
      }),
    };
    const results = await Promise.all([3, 4].map((v) => queue.submit(mean, { x: matrix([[v]]) }, never)));
    expect(results.map(({ y }) => y.values[0])).toEqual([3, 4]);
  });
});

describe('a queue', () => {
  test('refuses requests when it is full', async () => {
    const queue = queueOf({ batching: undefined, maxInFlight: 1, maxEnqueued: 2 });
    const results = Array.from({ length: 4 }, (_, i) => queue.submit(sums(), { x: matrix([[i]]) }, never));
    await expect(results[3]).rejects.toThrow('the queue is full: 2 requests wait already');
    expect((await Promise.all(results.slice(0, 3))).map(({ y }) => y.values[0])).toEqual([0, 1, 4]);
  });

  test('lets requests be given up, before they run and meanwhile', async () => {
    let aborted = 0;
    const slow: ServableSignature = {
      ...sums(),
      run: (inputs, signal) =>
        new Promise((done, fail) => {
          const timer = setTimeout(() => done(inputs), 50);
          signal.addEventListener('abort', () => {
            aborted++;
            clearTimeout(timer);
            fail(signal.reason);
          });
        }),
    };
    const queue = queueOf({ maxInFlight: 1, batching: { maxBatchSize: 2, batchTimeoutMicros: 0 } });
    const aborts = Array.from({ length: 5 }, () => new AbortController());
    const results = aborts.map(({ signal }) => queue.submit(slow, { x: matrix([[1]]) }, signal));
    const settled = Promise.allSettled(results);
    expect(queue.waiting).toBe(4);
    // The first one runs; the next two are a batch that waits, and so are the last two.
    for (const i of [0, 1, 3, 4]) aborts[i].abort(new Error(`given up ${i}`));
    expect(queue.waiting).toBe(1);
    expect(await settled).toMatchObject([
      { status: 'rejected', reason: { message: 'given up 0' } },
      { status: 'rejected' },
      { status: 'fulfilled' },
      { status: 'rejected' },
      { status: 'rejected' },
    ]);
    expect(aborted).toBe(1);
    await soon();
    expect(queue.waiting + queue.inFlight).toBe(0);
    await expect(
      queue.submit(slow, { x: matrix([[1]]) }, AbortSignal.abort(new Error('late'))),
    ).rejects.toThrow('late');
  });
});
