// Every transformation: a saved iterator goes on with the same rest, from every position, sync and async, through a checkpoint's bytes.
import '@eagre/backend-js';
import { random, type Tensor } from '@eagre/core';
import { TensorSpec } from '@eagre/graph';
import { describe, expect, it } from 'vitest';
import { plain } from '../testing/elements.ts';
import { Dataset } from './dataset.ts';
import { stateFromTensor, stateToTensor } from './state.ts';

/** Numbers 0 to n - 1, float32: in rows, from a generator, from an async one. */
const sources: Record<string, (n: number) => Dataset<Tensor>> = {
  rows: (n) => Dataset.range(n, { outputType: 'float32' }),
  generator: (n) =>
    Dataset.fromGenerator(
      function* () {
        for (let i = 0; i < n; i++) yield i;
      },
      { outputSignature: new TensorSpec([], 'float32') },
    ) as Dataset<Tensor>,
  asyncGenerator: (n) =>
    Dataset.fromGenerator(
      async function* () {
        for (let i = 0; i < n; i++) {
          if (i % 3 === 0) await Promise.resolve();
          yield i;
        }
      },
      { outputSignature: new TensorSpec([], 'float32') },
    ) as Dataset<Tensor>,
};

const evens = (x: Tensor) => x.mod(2).equal(0);

/** A pipeline over a source; `n` elements of it are enough. */
const pipelines: Record<string, (source: (n: number) => Dataset<Tensor>) => Dataset<unknown>> = {
  source: (s) => s(7),
  fromTensors: (s) => s(2).concatenate(Dataset.fromTensors(5)),
  zip: (s) => Dataset.zip({ a: s(5), b: [s(9).skip(1), s(6)] }),
  concatenate: (s) => s(3).concatenate(s(4)),
  map: (s) => s(7).map((x) => [x.mul(2), x.add(1)]),
  'map eagerly': (s) => s(7).map((x) => x.item() * 2, { runEagerly: true }),
  'map async': (s) => s(7).map(async (x) => (await x.read())[0]),
  'map async, several at once': (s) =>
    s(9).map(
      async (x) => {
        for (let i = x.item() % 3; i > 0; i--) await new Promise((r) => setTimeout(r, 1));
        return x.mul(2);
      },
      { numParallelCalls: 3 },
    ),
  filter: (s) => s(9).filter(evens),
  'filter async': (s) => s(9).filter(async (x) => (await x.read())[0] !== 3),
  takeWhile: (s) => s(9).takeWhile((x) => x.less(5)),
  flatMap: (s) => s(4).flatMap((x) => Dataset.range(x.item(), { outputType: 'float32' })),
  interleave: (s) =>
    s(5).interleave((x) => Dataset.fromTensors(x).repeat(x.item()), { cycleLength: 3, blockLength: 2 }),
  'interleave, several at once': (s) =>
    s(5).interleave(async (x) => s(x.item()), { cycleLength: 3, blockLength: 2, numParallelCalls: 3 }),
  batch: (s) => s(8).batch(3),
  'batch, whole': (s) =>
    s(8)
      .map((x) => [x, x])
      .batch(3, { dropRemainder: true }),
  paddedBatch: (s) =>
    s(7)
      .map((x) => (x.item() > 2 ? [x.item(), 1] : [x.item()]), { runEagerly: true })
      .paddedBatch(2, { dropRemainder: true }),
  unbatch: (s) => s(8).batch(3).unbatch(),
  rebatch: (s) => s(11).batch(4).rebatch([1, 2]),
  shuffle: (s) => s(12).shuffle(5, { seed: 1 }),
  'shuffle all, again': (s) => s(5).shuffle(100).repeat(3),
  'shuffle once': (s) => s(5).shuffle(3, { reshuffleEachIteration: false }).repeat(2),
  'shuffle windows': (s) => s(8).window(2).shuffle(3, { seed: 2 }),
  repeat: (s) => s(3).repeat(3),
  'repeat and batch': (s) =>
    s(5)
      .shuffle(4)
      .map((x) => x.mul(2))
      .repeat(2)
      .batch(3),
  take: (s) => s(9).take(5),
  skip: (s) => s(9).skip(4),
  'take and skip, batched': (s) => s(19).skip(3).take(11).batch(4),
  shard: (s) => s(11).shard(3, 1),
  cache: (s) => s(5).cache().repeat(3),
  'cache and shuffle': (s) => s(5).shuffle(3).cache().shuffle(2).repeat(3),
  prefetch: (s) => s(8).prefetch(3),
  window: (s) => s(9).window(3, { shift: 2 }),
  'window, stride': (s) =>
    s(11)
      .window(3, { shift: 4, stride: 2, dropRemainder: true })
      .flatMap((w) => w.batch(3)),
  'window, gaps': (s) => s(11).window(2, { shift: 4 }),
  scan: (s) => s(7).scan(0, (sum, x) => [sum.add(x), sum.mul(x)]),
  'scan async': (s) => s(7).scan(0, async (sum, x) => [sum.add(x), sum.mul(x)] as const),
  groupByWindow: (s) =>
    s(13).groupByWindow(
      (x) => x.mod(3),
      (_, group) => group.batch(2),
      { windowSize: 3 },
    ),
  bucketBySequenceLength: (s) =>
    s(9)
      .map((x) => new Float32Array(x.item() + 1), { runEagerly: true })
      .bucketBySequenceLength((x: Tensor) => x.size, [3, 6], [2, 2, 2]),
  sampleFromDatasets: (s) => Dataset.sampleFromDatasets([s(5), s(6)], { weights: [0.3, 0.7], seed: 3 }),
  chooseFromDatasets: (s) =>
    Dataset.chooseFromDatasets(
      [s(5), s(6)],
      s(4).map((x) => x.mod(2).cast('int64')),
    ),
  rejectionResample: (s) => s(20).rejectionResample((x) => x.mod(2).cast('int32'), [0.8, 0.2], { seed: 4 }),
  random: (s) => Dataset.zip([s(5), Dataset.random({ seed: 5 })]),
  counter: (s) => Dataset.zip([s(5), Dataset.counter({ start: 3, step: 2 })]),
  enumerate: (s) => s(6).enumerate(10),
  unique: (s) =>
    s(9)
      .map((x) => x.mod(4))
      .unique(),
  ignoreErrors: (s) =>
    s(9)
      .map(
        (x) => {
          if (x.item() % 4 === 1) throw new Error('bad');
          return x;
        },
        { runEagerly: true },
      )
      .ignoreErrors(),
  assertCardinality: (s) => s(6).assertCardinality(6),
  withOptions: (s) => s(6).withOptions({ deterministic: true }),
  apply: (s) => s(6).apply((d) => d.map((x) => x.neg())),
};

describe.each(Object.keys(sources))('over %s', (source) => {
  it.each(Object.keys(pipelines))('%s: every rest is the same', async (name) => {
    random.setSeed(7);
    const dataset = (pipelines[name] as (typeof pipelines)[string])(sources[source] as never);
    const whole = dataset.iterator();
    const states = [stateToTensor(whole.saveState())];
    const during: Tensor[] = [];
    const all: unknown[] = [];
    for (;;) {
      const asked = whole.nextAsync();
      // While an element may be waited for.
      during.push(stateToTensor(whole.saveState()));
      const { done, value } = await asked;
      if (done === true) break;
      all.push(plain(value));
      states.push(stateToTensor(whole.saveState()));
    }
    expect(all.length).toBeGreaterThan(0);
    states.push(stateToTensor(whole.saveState()));
    const restOf = async (state: Tensor): Promise<unknown[]> => {
      const iterator = dataset.iterator();
      iterator.restoreState(stateFromTensor(state));
      const rest: unknown[] = [];
      for await (const element of iterator) rest.push(plain(element));
      return rest;
    };
    for (const [at, state] of states.entries())
      expect(await restOf(state), `from ${at}`).toEqual(all.slice(at));
    // Without anything to wait for, the element has come already.
    for (const [at, state] of during.entries())
      expect([all.slice(at), all.slice(at + 1)], `while waiting for ${at}`).toContainEqual(
        await restOf(state),
      );
  });

  it.each(Object.keys(pipelines))(
    '%s: the elements are as the spec and the cardinality say',
    async (name) => {
      const dataset = (pipelines[name] as (typeof pipelines)[string])(sources[source] as never);
      const { elementSpec } = dataset;
      const elements = await dataset.toArray();
      const n = dataset.cardinality();
      if (n >= 0) expect(elements.length).toBe(n);
      if (elementSpec === null) return;
      const { commonSpec, showSpec, specOf } = await import('../elements/element-spec.ts');
      for (const element of elements)
        expect(showSpec(commonSpec(elementSpec, specOf(element as Tensor)))).toBe(showSpec(elementSpec));
    },
  );
});
