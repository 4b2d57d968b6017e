// What `prefetch` makes ahead, and when: told by the order of what happens, not by the clock.
import '@eagre/backend-native';
import { constant, type Tensor } from '@eagre/core';
import { tfFunction } from '@eagre/graph';
import { describe, expect, it } from 'vitest';
import { Dataset } from '../pipeline/dataset.ts';
import { AUTOTUNE } from '../pipeline/options.ts';
import { plain, values } from '../testing/elements.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
async function turns(n: number): Promise<void> {
  for (let i = 0; i < n; i++) await turn();
}

/** Numbers by a function that writes down when it runs. */
const noted = (n: number, log: string[]): Dataset<Tensor> =>
  Dataset.range(n, { outputType: 'float32' }).map(
    (x) => {
      log.push(`make ${x.item()}`);
      return x;
    },
    { runEagerly: true },
  );

describe('a synchronous map', () => {
  it('runs while a step is waited for', async () => {
    const log: string[] = [];
    for await (const x of noted(4, log).prefetch(1)) {
      log.push(`begin ${x.item()}`);
      await turns(3);
      log.push(`end ${x.item()}`);
    }
    expect(log).toEqual([
      'make 0',
      ...['begin 0', 'make 1', 'end 0'],
      ...['begin 1', 'make 2', 'end 1'],
      ...['begin 2', 'make 3', 'end 2'],
      ...['begin 3', 'end 3'],
    ]);
    log.length = 0;
    // A synchronous loop waits as well, where its body does.
    for (const x of noted(3, log).prefetch(AUTOTUNE)) {
      log.push(`begin ${x.item()}`);
      await turns(3);
    }
    expect(log).toEqual(['make 0', 'begin 0', 'make 1', 'make 2', 'begin 1', 'begin 2']);
  });

  it('runs while a traced step computes on another thread', async () => {
    const log: string[] = [];
    const weights = constant(new Float32Array(400 * 400).fill(1e-3)).reshape([400, 400]);
    const step = tfFunction((x: Tensor) => {
      let y = weights.add(x);
      for (let i = 0; i < 40; i++) y = y.matmul(weights);
      return y.sum();
    });
    await step.runAsync(constant(0));
    for await (const x of noted(9, log).prefetch(1)) {
      log.push(`begin ${x.item()}`);
      await step.runAsync(x);
      log.push(`end ${x.item()}`);
    }
    // On a busy machine a step may have come to its end before this thread went on.
    const during = log.filter((event, i) => event.startsWith('make') && log[i - 1]?.startsWith('begin'));
    expect(during.length).toBeGreaterThan(2);
  });

  it('does not run while this thread computes, nor ahead of what is wanted', async () => {
    const log: string[] = [];
    for await (const x of noted(3, log).prefetch(1)) log.push(`step ${x.item()}`);
    expect(log).toEqual(['make 0', 'step 0', 'make 1', 'step 1', 'make 2', 'step 2']);
    log.length = 0;
    const iterator = noted(9, log).prefetch(2).iterator();
    await turns(4);
    expect(log).toEqual([]);
    iterator.next();
    await turns(9);
    expect(log).toEqual(['make 0', 'make 1', 'make 2']);
    iterator.close();
    await turns(4);
    expect(log).toHaveLength(3);
    const none = noted(9, log).prefetch(0).iterator();
    none.next();
    await turns(4);
    expect(log).toHaveLength(4);
  });

  it('gives way to others between elements', async () => {
    const log: string[] = [];
    const iterator = noted(100, log).prefetch(50).iterator();
    iterator.next();
    await turns(5);
    expect(log.length).toBeGreaterThan(2);
    expect(log.length).toBeLessThan(10);
    iterator.close();
  });

  it('keeps errors for their turn', async () => {
    const iterator = Dataset.range(4, { outputType: 'int32' })
      .map(
        (x) => {
          if (x.item() === 1) throw new Error('bad');
          return x;
        },
        { runEagerly: true },
      )
      .prefetch(2)
      .iterator();
    expect(iterator.getNext().item()).toBe(0);
    await turns(5);
    expect(() => iterator.next()).toThrow('bad');
    expect(iterator.getNext().item()).toBe(2);
    expect([...iterator].map(plain)).toEqual([3]);
  });
});

describe('elements made ahead', () => {
  it('are in the state of the pass', async () => {
    const make = (): Dataset<Tensor> =>
      Dataset.range(9, { outputType: 'float32' }).shuffle(4, { seed: 3 }).prefetch(3);
    const expected = values(make());
    const iterator = make().iterator();
    iterator.next();
    await turns(5);
    const other = make().iterator();
    other.restoreState(iterator.saveState());
    expect([...other].map(plain)).toEqual(expected.slice(1));
    expect([...iterator].map(plain)).toEqual(expected.slice(1));
  });

  it('come before the rows behind them', async () => {
    const make = (): Dataset<Tensor> =>
      Dataset.range(12, { outputType: 'float32' }).prefetch(3).skip(2).batch(4);
    const expected = values(make());
    const iterator = make().iterator();
    // The skipped ones are asked for one by one, so that others are made ahead before the batch.
    const all = [plain(iterator.getNext())];
    await turns(6);
    all.push(...[...iterator].map(plain));
    expect(all).toEqual(expected);
    const before = Dataset.range(9, { outputType: 'float32' }).prefetch(2).iterator();
    before.next();
    await turns(4);
    const rows = Dataset.range(9, { outputType: 'float32' }).prefetch(2).batch(5).iterator();
    rows.restoreState({
      ...(rows.saveState() as object),
      iterator: {
        input: (before.saveState() as { iterator: never }).iterator,
        own: { elements: [], blocks: [] },
      },
    } as never);
    expect([...rows].map(plain)).toEqual([
      [1, 2, 3, 4, 5],
      [6, 7, 8],
    ]);
  });
});
