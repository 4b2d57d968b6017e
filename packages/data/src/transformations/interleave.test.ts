// `interleave` with several datasets asked at once: the same elements as one by one.
import '@eagre/backend-js';
import type { Tensor } from '@eagre/core';
import { TensorSpec } from '@eagre/graph';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Dataset } from '../pipeline/dataset.ts';
import { AUTOTUNE } from '../pipeline/options.ts';
import { stateFromTensor, stateToTensor } from '../pipeline/state.ts';
import { values, valuesLater } from '../testing/elements.ts';
import { autoShard } from './auto-shard.ts';
import type { InterleaveOptions } from './flat-map.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
async function turns(n: number): Promise<void> {
  for (let i = 0; i < n; i++) await turn();
}
const numbers = (n: number): Dataset<Tensor> => Dataset.range(n, { outputType: 'int32' });

/** Dataset i has the elements 100 i, 100 i + 1, …; each of them takes a while. */
const lanes = (lengths: readonly number[], options: InterleaveOptions): Dataset<Tensor> =>
  numbers(lengths.length).interleave((x) => {
    const i = x.item();
    return Dataset.fromGenerator(async function* () {
      for (let j = 0; j < (lengths[i] as number); j++) {
        await turns((i * 7 + j * 5) % 4);
        yield i * 100 + j;
      }
    });
  }, options) as Dataset<Tensor>;
const atOnce = (lengths: readonly number[], options: InterleaveOptions): Dataset<Tensor> =>
  numbers(lengths.length).interleave((x) => {
    const start = x.item() * 100;
    return Dataset.range(start, start + (lengths[x.item()] as number), 1, { outputType: 'int32' });
  }, options);

const settings = fc
  .record({
    lengths: fc.array(fc.nat(5), { maxLength: 9 }),
    cycleLength: fc.integer({ min: 1, max: 4 }),
    blockLength: fc.integer({ min: 1, max: 3 }),
    calls: fc.nat(3),
  })
  .map(({ calls, ...rest }) => ({ ...rest, numParallelCalls: 1 + (calls % rest.cycleLength) }));

describe('in turn', () => {
  it('gives the same elements at any parallelism', async () => {
    await fc.assert(
      fc.asyncProperty(settings, async ({ lengths, ...options }) => {
        const { cycleLength, blockLength } = options;
        const expected = values(atOnce(lengths, { cycleLength, blockLength }));
        expect(await valuesLater(lanes(lengths, options))).toEqual(expected);
        expect(values(atOnce(lengths, options))).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });

  it('goes on from every state, also while elements are waited for', async () => {
    await fc.assert(
      fc.asyncProperty(settings, fc.boolean(), async ({ lengths, ...options }, waits) => {
        const dataset = lanes(lengths, options);
        const all = await valuesLater(dataset);
        const iterator = dataset.iterator();
        for (let at = 0; at <= all.length; at++) {
          const asked = iterator.nextAsync();
          if (waits) await turn();
          const state = stateToTensor(iterator.saveState());
          const other = dataset.iterator();
          other.restoreState(stateFromTensor(state));
          const rest: number[] = [];
          for await (const x of other) rest.push(x.item());
          expect([all.slice(at), all.slice(at + 1)]).toContainEqual(rest);
          await asked;
        }
      }),
      { numRuns: 15 },
    );
  });

  it('draws seeds in turn where the datasets share a shuffled one', async () => {
    const make = (numParallelCalls: number): Dataset<Tensor> => {
      const shuffled = numbers(6).shuffle(6, { seed: 1 });
      return numbers(5).interleave(
        async (x) => {
          await turns(4 - x.item());
          return shuffled;
        },
        { cycleLength: 3, numParallelCalls },
      );
    };
    const expected = await valuesLater(make(1));
    for (const calls of [2, 3]) expect(await valuesLater(make(calls))).toEqual(expected);
  });

  it('leaves out the same where something fails', async () => {
    const make = (numParallelCalls: number): Dataset<Tensor> =>
      numbers(7).interleave(
        async (x) => {
          const i = x.item();
          await turns(i % 3);
          if (i === 2) throw new Error('no dataset');
          return Dataset.fromTensors(x)
            .repeat(3)
            .enumerate()
            .map(async (j, y) => {
              await turns((i + Number(j.item())) % 2);
              if (i === 4 && j.item() === 1) throw new Error('no element');
              return y.mul(10).add(j.cast('int32'));
            });
        },
        { cycleLength: 3, blockLength: 2, numParallelCalls },
      );
    await expect(valuesLater(make(3))).rejects.toThrow('no dataset');
    const expected = await valuesLater(make(1).ignoreErrors());
    expect(expected).toHaveLength(17);
    for (const calls of [2, 3]) expect(await valuesLater(make(calls).ignoreErrors())).toEqual(expected);
  });
});

describe('several at once', () => {
  /** How many of the datasets are asked at once at most. */
  const most = async (options: InterleaveOptions): Promise<number> => {
    let running = 0;
    let seen = 0;
    const slow = (): Dataset<Tensor> =>
      Dataset.fromGenerator(async function* () {
        for (let i = 0; i < 4; i++) {
          seen = Math.max(seen, ++running);
          await turns(3);
          running--;
          yield i;
        }
      }) as Dataset<Tensor>;
    await valuesLater(numbers(8).interleave(slow, options));
    return seen;
  };
  it('are as many as wanted', async () => {
    expect(await most({ cycleLength: 4 })).toBe(1);
    expect(await most({ cycleLength: 4, numParallelCalls: 3 })).toBe(3);
    expect(await most({ cycleLength: 4, numParallelCalls: AUTOTUNE })).toBe(4);
    expect(await most({ numParallelCalls: 5 })).toBe(5);
  });

  it('come as they are ready, if wanted', async () => {
    const slowFirst = (options: InterleaveOptions): Dataset<Tensor> =>
      numbers(3).interleave(
        (x) =>
          Dataset.fromGenerator(async function* () {
            await turns(x.item() === 0 ? 30 : 1);
            yield x;
            yield x;
          }) as Dataset<Tensor>,
        { cycleLength: 3, numParallelCalls: 3, ...options },
      );
    expect(await valuesLater(slowFirst({}))).toEqual([0, 1, 2, 0, 1, 2]);
    for (const dataset of [
      slowFirst({ deterministic: false }),
      slowFirst({}).withOptions({ deterministic: false }),
    ]) {
      const order = await valuesLater(dataset);
      expect(order.slice(4)).toEqual([0, 0]);
      expect([...order].sort()).toEqual([0, 0, 1, 1, 2, 2]);
    }
    expect(
      await valuesLater(slowFirst({ deterministic: true }).withOptions({ deterministic: false })),
    ).toEqual([0, 1, 2, 0, 1, 2]);
  });

  it('keep at most a block each ready', async () => {
    let made = 0;
    const dataset = numbers(2).interleave(
      () =>
        Dataset.fromGenerator(async function* () {
          for (;;) {
            await turn();
            yield made++;
          }
        }) as Dataset<Tensor>,
      { cycleLength: 2, blockLength: 3, numParallelCalls: 2 },
    );
    const iterator = dataset.iterator();
    await iterator.nextAsync();
    await turns(30);
    // The one that was taken, and three of each.
    expect(made).toBe(7);
    await iterator.close();
  });

  it('are not asked ahead where one at a time is wanted', async () => {
    let made = 0;
    const endless = () =>
      Dataset.fromGenerator(async function* () {
        for (;;) yield made++;
      }) as Dataset<Tensor>;
    for (const dataset of [numbers(2).flatMap(endless), numbers(2).interleave(endless, { cycleLength: 2 })]) {
      made = 0;
      const iterator = dataset.iterator();
      await iterator.nextAsync();
      await iterator.nextAsync();
      await turns(9);
      expect(made).toBe(2);
      await iterator.close();
    }
  });

  it('of which one needs no waiting are not asked without end', async () => {
    const long = Dataset.range(200_000, { outputType: 'int32' });
    const dataset = numbers(2).interleave(async () => long, {
      cycleLength: 2,
      blockLength: 100_000,
      numParallelCalls: 2,
    });
    let count = 0;
    for await (const x of dataset) {
      x.dispose();
      count++;
    }
    expect(count).toBe(400_000);
  });
});

describe('a pass that is left', () => {
  it('closes all it opened, behind what is under way', async () => {
    let open = 0;
    let asked = 0;
    const source = {
      [Symbol.asyncIterator]() {
        open++;
        let inNext = false;
        return {
          async next() {
            inNext = true;
            asked++;
            await turns(2);
            inNext = false;
            return { done: false as const, value: 1 };
          },
          async return() {
            expect(inNext).toBe(false);
            open--;
            return { done: true as const, value: undefined };
          },
        };
      },
    };
    const inputs = Dataset.fromGenerator(source);
    const dataset = inputs.interleave(() => Dataset.fromGenerator(source), {
      cycleLength: 4,
      numParallelCalls: 4,
    });
    for await (const _ of dataset) break;
    expect(asked).toBeGreaterThan(3);
    expect(open).toBe(0);
    const iterator = dataset.iterator();
    const pending = iterator.nextAsync();
    await turns(3);
    expect(open).toBeGreaterThan(0);
    await iterator.close();
    expect((await pending).done).toBe(true);
    expect(open).toBe(0);
  });
});

it('refuses more calls than datasets, and none', () => {
  const with_ = (options: InterleaveOptions) => () =>
    numbers(2).interleave((x) => Dataset.fromTensors(x), options);
  const refused = expect.objectContaining({ code: 'INVALID_ARGUMENT' });
  expect(with_({ cycleLength: 2, numParallelCalls: 3 })).toThrow(refused);
  expect(with_({ cycleLength: 2, numParallelCalls: 3 })).toThrow(/at most cycleLength/);
  expect(with_({ numParallelCalls: 0 })).toThrow(refused);
  expect(with_({ cycleLength: 0 })).toThrow(refused);
  expect(with_({ blockLength: 0 })).toThrow(refused);
});

describe('the try of a function that may open files', () => {
  it.each([
    [
      'whose promise fails',
      () =>
        Dataset.fromTensorSlices(['a']).interleave((async () => {
          throw new Error('no file');
        }) as never),
    ],
    [
      'of an element whose promise fails',
      () =>
        Dataset.fromGenerator(
          // biome-ignore lint/correctness/useYield: it fails before
          async function* () {
            throw new Error('no element');
          },
          { outputSignature: new TensorSpec([], 'string') },
        ).interleave((() => numbers(1)) as never),
    ],
  ])('%s throws nothing into the process', async (_, make) => {
    const unhandled: unknown[] = [];
    const listen = (error: unknown): void => void unhandled.push(error);
    process.on('unhandledRejection', listen);
    try {
      expect(autoShard(make().node, { count: 2, index: 0 })).toBe(null);
      await turns(2);
    } finally {
      process.off('unhandledRejection', listen);
    }
    expect(unhandled).toEqual([]);
  });
});
