import '@eagre/backend-native';
import { inspect } from 'node:util';
import { constant, OutOfRangeError, random, scope, type Tensor, zeros } from '@eagre/core';
import { eagerBackend } from '@eagre/core/internal';
import { TensorSpec, tfFunction } from '@eagre/graph';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { showSpec } from '../elements/element-spec.ts';
import { plain, values, valuesLater } from '../testing/elements.ts';
import { Dataset } from './dataset.ts';
import { AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY } from './options.ts';
import { stateFromTensor, stateToTensor } from './state.ts';

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const floats = (n: number): Dataset<Tensor> => Dataset.range(n, { outputType: 'float32' });

describe('types', () => {
  it('follow the elements', () => {
    const pairs: Dataset<[Tensor, Tensor]> = Dataset.fromTensorSlices([constant([1, 2]), constant([3, 4])]);
    const records: Dataset<{ image: Tensor; label: Tensor }> = pairs.map((image, label) => ({
      image,
      label,
    }));
    const numbered: Dataset<[Tensor, { image: Tensor; label: Tensor }]> = records.enumerate();
    const zipped: Dataset<{ a: Tensor; b: [Tensor, Tensor] }> = Dataset.zip({ a: floats(2), b: pairs });
    const swapped: Dataset<[Tensor, Tensor]> = pairs.map((x, y) => [y, x]).batch(2);
    const numbers: Dataset<Tensor> = pairs.map(async (x) => (await x.read())[0]);
    expect(values(numbered.map((i, { image }) => [i, image]))).toEqual([
      [0, 1],
      [1, 2],
    ]);
    expect(values(zipped)).toEqual([
      { a: 0, b: [1, 3] },
      { a: 1, b: [2, 4] },
    ]);
    expect(values(swapped)).toEqual([
      [
        [3, 4],
        [1, 2],
      ],
    ]);
    expect(numbers.cardinality()).toBe(2);
  });
  it('are told by elementSpec', () => {
    const d = Dataset.fromTensorSlices({ a: zeros([4, 2]), b: constant(['x', 'y', 'z', 'w']) });
    expect(showSpec(d.batch(3).elementSpec)).toBe(
      '{ a: TensorSpec(shape=[null, 2], dtype=float32), b: TensorSpec(shape=[null], dtype=string) }',
    );
    expect(showSpec(d.batch(2, { dropRemainder: true }).window(2).elementSpec)).toContain('DatasetSpec');
    expect(Dataset.fromGenerator(() => [1]).elementSpec).toBe(null);
  });
});

describe('asynchronous parts', () => {
  const numbers = () =>
    Dataset.fromGenerator(async function* () {
      for (let i = 0; i < 4; i++) yield i;
    });
  it('need for await', async () => {
    expect(() => [...numbers()]).toThrow(/for await/);
    expect(() => [...floats(3).map(async (x) => x)]).toThrow(
      expect.objectContaining({ code: 'FAILED_PRECONDITION' }),
    );
    expect(await valuesLater(numbers())).toEqual([0, 1, 2, 3]);
    expect(await valuesLater(floats(3))).toEqual([0, 1, 2]);
  });
  it('reduce', async () => {
    expect(
      floats(5)
        .reduce(0, (sum, x) => sum.add(x))
        .item(),
    ).toBe(10);
    expect((await numbers().reduceAsync(0, (sum, x) => sum.add(x as Tensor))).item()).toBe(6);
  });
  it('overlap as often as wanted, in order', async () => {
    let running = 0;
    let most = 0;
    const slow = async (x: Tensor): Promise<number> => {
      most = Math.max(most, ++running);
      await later(x.item() % 2 === 0 ? 4 : 1);
      running--;
      return x.item();
    };
    expect(await valuesLater(floats(9).map(slow, { numParallelCalls: 3 }))).toEqual([
      0, 1, 2, 3, 4, 5, 6, 7, 8,
    ]);
    expect(most).toBe(3);
    const any = floats(9).map(slow, { numParallelCalls: AUTOTUNE }).withOptions({ deterministic: false });
    const order = (await valuesLater(any)) as number[];
    expect(order).not.toEqual([...order].sort());
    expect([...order].sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  });
  it('are asked ahead by prefetch', async () => {
    let made = 0;
    const d = Dataset.fromGenerator(async function* () {
      for (;;) yield made++;
    }).prefetch(3);
    const iterator = d.iterator();
    await iterator.nextAsync();
    await expect.poll(() => made).toBe(4);
    await later(2);
    expect(made).toBe(4);
    await iterator.close();
  });
  it('answer overlapping calls one by one', async () => {
    const iterator = numbers().iterator();
    const all = await Promise.all([1, 2, 3, 4, 5].map(() => iterator.nextAsync()));
    expect(all.map((r) => (r.done ? 'end' : plain(r.value)))).toEqual([0, 1, 2, 3, 'end']);
  });
});

it('says that a promise is to be awaited', () => {
  expect(() => Dataset.fromTensorSlices([Promise.resolve(constant([1])), constant([2])])).toThrow(
    'got a promise: await it',
  );
});

describe('an iterator', () => {
  it('gives the next element itself, or throws', () => {
    const iterator = floats(3).iterator();
    const first: Tensor = iterator.getNext();
    expect([first.item(), iterator.getNext().item()]).toEqual([0, 1]);
    for (const _ of iterator);
    expect(() => iterator.getNext()).toThrow(OutOfRangeError);
    expect(() =>
      floats(1)
        .map(async (x) => x)
        .iterator()
        .getNext(),
    ).toThrow('for await');
  });
});

describe('functions', () => {
  it('are traced once', () => {
    let calls = 0;
    const d = floats(5).map((x) => {
      calls++;
      return x.mul(2);
    });
    expect(calls).toBe(1);
    expect(values(d)).toEqual([0, 2, 4, 6, 8]);
    expect(calls).toBe(1);
  });
  it('say what to do when they cannot be', () => {
    expect(() => floats(2).map((x) => x.item())).toThrow(/runEagerly/);
    expect(() => floats(2).map(() => Promise.resolve(1))).toThrow(/async/);
    expect(() => floats(2).map(() => floats(2))).toThrow(/flatMap/);
    expect(() => floats(2).map(() => 'text')).toThrow(/runEagerly/);
    expect(() => floats(2).map(() => new Date())).toThrow(/Date/);
    expect(() => floats(2).map(3 as never)).toThrow(/expected a function/);
  });
  it('of strings run for each element', () => {
    const d = Dataset.fromTensorSlices(['1,2', '3,4']).map((line) =>
      line.item<string>().split(',').map(Number),
    );
    expect(values(d)).toEqual([
      [1, 2],
      [3, 4],
    ]);
  });
  it('of elements that nothing is known of are traced when the first comes', () => {
    let calls = 0;
    const d = Dataset.fromGenerator(() => [[1, 2], [3], [4, 5, 6]]).map((x) => {
      calls++;
      return (x as Tensor).mul(2).sum();
    });
    expect(values(d)).toEqual([6, 6, 30]);
    expect(values(d)).toEqual([6, 6, 30]);
    // For the first size, and then for all.
    expect(calls).toBe(2);
  });
});

describe('errors', () => {
  it('refuse bad arguments', () => {
    for (const bad of [
      () => floats(3).batch(0),
      () => floats(3).shuffle(-1),
      () => floats(3).take(-2),
      () => floats(3).shard(2, 2),
      () => floats(3).window(2, { shift: 0 }),
      () => floats(3).withOptions({ fast: true } as never),
      () => floats(3).repeat(1.5),
      () => Dataset.range(0, 5, 0),
      () => Dataset.fromTensorSlices(3),
      () => Dataset.fromTensorSlices([zeros([2]), zeros([3])]),
      () => Dataset.fromGenerator(3 as never),
      () =>
        Dataset.fromGenerator(
          (function* () {
            yield 1;
          })() as never,
        ),
      () => Dataset.zip([3 as never]),
      () => Dataset.sampleFromDatasets([floats(2)], { weights: [1, 2] }),
      () => floats(3).concatenate(Dataset.range(2)),
      () =>
        floats(3).groupByWindow(
          (x) => x,
          (_, d) => d,
          {},
        ),
      () => floats(3).rejectionResample((x) => x, [0.5, 0.6]),
      () => floats(4).batch(2).raggedBatch(2).rebatch(0),
      () => floats(4).unbatch(),
      () => Dataset.fromTensors([zeros([2]), zeros([3])]).unbatch(),
      () => floats(4).window(2).batch(2),
    ])
      expect(bad).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }));
  });
  it('tell what a generator yields that does not fit', () => {
    const bad = Dataset.fromGenerator(
      () => [
        [1, 2],
        [1, 2, 3],
      ],
      { outputSignature: new TensorSpec([2]) },
    );
    expect(() => [...bad]).toThrow(/\[3\]/);
  });
  it('have no place in a trace', () => {
    const f = tfFunction((x: Tensor) => {
      for (const y of floats(2)) x.add(y);
      return x;
    });
    expect(() => f(constant(1))).toThrow(/while tf.function traces/);
  });
});

describe('order', () => {
  const order = (d: Dataset<Tensor>): number[] => values(d) as number[];
  it('is the same after setSeed, and another in each pass', () => {
    const passes = (): number[][] => {
      random.setSeed(1);
      const d = floats(20).shuffle(20);
      return [order(d), order(d), order(d.repeat(2)).slice(20), order(floats(20).shuffle(20))];
    };
    const [a, b] = [passes(), passes()];
    expect(a).toEqual(b);
    expect(new Set(a.map(String)).size).toBe(4);
    for (const pass of a) expect([...pass].sort((x, y) => x - y)).toEqual(order(floats(20)));
  });
  it('with a seed of its own does not depend on other draws', () => {
    random.setSeed(1);
    const a = order(floats(20).shuffle(20, { seed: 3 }));
    random.uniform([3]);
    expect(order(floats(20).shuffle(20, { seed: 3 }))).toEqual(a);
    random.setSeed(2);
    expect(order(floats(20).shuffle(20, { seed: 3 }))).not.toEqual(a);
  });
  it('stays if it is not to be shuffled again', () => {
    const d = floats(20).shuffle(20, { reshuffleEachIteration: false });
    expect(order(d)).toEqual(order(d));
    expect(order(d.repeat(2))).toEqual([...order(d), ...order(d)]);
  });
  it('of a buffer moves no element forward further than the buffer is long', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 40 }),
        fc.integer({ min: 1, max: 10 }),
        fc.integer(),
        (n, size, seed) => {
          const shuffled = order(floats(n).shuffle(size, { seed }));
          expect([...shuffled].sort((a, b) => a - b)).toEqual(order(floats(n)));
          shuffled.forEach((v, at) => expect(v - at).toBeLessThan(size));
        },
      ),
    );
  });
  it('draws every order equally often', () => {
    const counts = new Map<string, number>();
    const d = floats(3).shuffle(3, { seed: 1 });
    for (let i = 0; i < 1200; i++) {
      const key = String(order(d));
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    expect(counts.size).toBe(6);
    for (const n of counts.values()) expect(Math.abs(n - 200)).toBeLessThan(60);
  });
  it('samples by weights, and resamples to a distribution', () => {
    const [a, b] = [Dataset.fromTensors(0).repeat(), Dataset.fromTensors(1).repeat()];
    const drawn = order(Dataset.sampleFromDatasets([a, b], { weights: [0.2, 0.8], seed: 1 }).take(2000));
    expect(drawn.reduce((x, y) => x + y) / 2000).toBeCloseTo(0.8, 1);
    const skewed = floats(10)
      .map((x) => x.equal(0).cast('int32'))
      .repeat();
    for (const initialDist of [undefined, [0.9, 0.1]]) {
      const even = skewed.rejectionResample((x) => x, [0.5, 0.5], {
        seed: 1,
        ...(initialDist && { initialDist }),
      });
      const kinds = order(even.map((kind) => kind).take(1000));
      expect(kinds.reduce((x, y) => x + y) / 1000).toBeCloseTo(0.5, 1);
    }
  });
});

describe('ends', () => {
  it('close what yields', async () => {
    let open = 0;
    const d = Dataset.fromGenerator(function* () {
      open++;
      try {
        for (let i = 0; ; i++) yield i;
      } finally {
        open--;
      }
    });
    for (const _ of d.batch(2).prefetch(2)) break;
    const it1 = d.repeat(2).shuffle(3).iterator();
    it1.next();
    expect(open).toBe(1);
    it1.close();
    expect(open).toBe(0);
    expect(it1.next().done).toBe(true);
    for (const _ of Dataset.zip([d, floats(2)])) _;
    for await (const _ of d.interleave((x) => Dataset.fromTensors(x), { cycleLength: 2 })) break;
    expect(d.take(1).getSingleElement()).toBeDefined();
    expect(open).toBe(0);
  });
  it('leave nothing behind after many passes', () => {
    const d = Dataset.fromTensorSlices([zeros([300, 64, 64]), zeros([300])])
      .shuffle(100)
      .map((x, y) => [x.add(1), y])
      .batch(32);
    const pass = (): void => {
      for (const [x, y] of d) {
        x.dispose();
        y.dispose();
      }
    };
    pass();
    pass();
    const before = eagerBackend().allocator.info().bytesTaken;
    for (let i = 0; i < 20; i++) pass();
    expect(eagerBackend().allocator.info().bytesTaken - before).toBe(0);
  });
  it.skipIf(process.env['EAGRE_SANITIZED'])('need no dispose', () => {
    const d = Dataset.fromTensorSlices([zeros([300, 64, 64]), zeros([300])])
      .shuffle(300)
      .map((x, y) => [x.add(1), y])
      .batch(32);
    const passes = (n: number): void => {
      for (let i = 0; i < n; i++) for (const _ of d) _;
    };
    passes(10);
    const before = process.memoryUsage().rss;
    // 200 MB in all.
    passes(40);
    expect(process.memoryUsage().rss - before).toBeLessThan(80e6);
  });
  it('keep elements out of memory scopes', () => {
    const iterator = floats(6).shuffle(6).batch(2).iterator();
    const element = scope(() => {
      const { value } = iterator.next();
      return { keep: () => value };
    }).keep() as Tensor;
    expect(element.isDisposed).toBe(false);
    expect(iterator.next().done).toBe(false);
  });
});

describe('cardinality', () => {
  it('is what a pass gives, or honest', () => {
    expect(floats(3).repeat().cardinality()).toBe(INFINITE_CARDINALITY);
    expect(
      floats(3)
        .filter((x) => x.greater(1))
        .cardinality(),
    ).toBe(UNKNOWN_CARDINALITY);
    expect(values(floats(0).repeat())).toEqual([]);
    expect(
      values(
        floats(3)
          .filter((x) => x.greater(5))
          .repeat(),
      ),
    ).toEqual([]);
  });
});

describe('states', () => {
  const pipeline = () => floats(30).shuffle(9, { seed: 1 }).batch(4);
  it('are kept by checkpoints', () => {
    const iterator = pipeline().iterator();
    iterator.next();
    const [[, attribute]] = [...(iterator.trackableView().attributes ?? [])] as [
      [string, { save(): Tensor; restore(v: Tensor): void }],
    ];
    const saved = attribute.save();
    const rest = [...iterator].map(plain);
    attribute.restore(saved);
    expect([...iterator].map(plain)).toEqual(rest);
  });
  it('of another pipeline are refused', () => {
    const state = pipeline().iterator().saveState();
    expect(() => pipeline().take(3).iterator().restoreState(state)).toThrow(/another pipeline/);
    expect(() => pipeline().iterator().restoreState(null)).toThrow(/another pipeline/);
  });
  it('that are damaged are refused, or give something valid', () => {
    const iterator = pipeline().iterator();
    iterator.next();
    const bytes = stateToTensor(iterator.saveState()).data() as Uint8Array;
    fc.assert(
      fc.property(
        fc.nat(bytes.length - 1),
        fc.integer({ min: 0, max: 255 }),
        fc.nat(bytes.length),
        (at, value, length) => {
          const broken = bytes.slice(0, length % 3 === 0 ? length : bytes.length);
          if (at < broken.length) broken[at] = value;
          const other = pipeline().iterator();
          try {
            other.restoreState(stateFromTensor(constant(broken)));
          } catch (error) {
            expect(['DATA_LOSS', 'INVALID_ARGUMENT']).toContain((error as { code?: string }).code);
            return;
          }
          for (const batch of other) expect(batch.shape.length).toBe(1);
        },
      ),
    );
  });
});

it('gives values of the host', () => {
  const [first] = [...Dataset.fromTensorSlices({ a: [1, 2] }).asHostIterator()];
  expect(first).toEqual({ a: { data: new Float32Array([1]), shape: [], dtype: 'float32' } });
});

it('batches ragged elements as values and splits', () => {
  const d = Dataset.fromGenerator(() => [[1], [2, 3], []].map((v) => new Float32Array(v)), {
    outputSignature: new TensorSpec([null]),
  });
  expect(values(d.raggedBatch(3))).toMatchObject([{ values: [1, 2, 3], rowSplits: [0, 1, 3, 3] }]);
  expect(values(floats(2).raggedBatch(2))).toEqual([[0, 1]]);
});

it('keeps the first pass in the cache, for all passes', () => {
  let calls = 0;
  const d = floats(4)
    .map(
      (x) => {
        calls++;
        return x.item();
      },
      { runEagerly: true },
    )
    .cache();
  expect(values(d.take(2))).toEqual([0, 1]);
  expect(values(d)).toEqual([0, 1, 2, 3]);
  expect(calls).toBe(6);
  expect(values(d.repeat(2))).toEqual([0, 1, 2, 3, 0, 1, 2, 3]);
  expect(calls).toBe(6);
});

it('does not mind when elements of a cache, or of one tensor, are disposed', () => {
  const one = constant([1, 2]);
  for (const d of [floats(3).cache(), Dataset.fromTensors(one).repeat(2)])
    for (let pass = 0; pass < 2; pass++) for (const x of d) x.dispose();
  expect(one.array()).toEqual([1, 2]);
});

it('does not wait for functions that need not be waited for', () => {
  const d = Dataset.fromTensorSlices(['a', 'bc']).map((s) => s.item<string>().length, {
    numParallelCalls: 4,
  });
  expect(values(d)).toEqual([1, 2]);
});

it('shows itself in the console', () => {
  expect(inspect(floats(3).batch(2))).toBe(
    'Dataset(Batch, 2 elements, TensorSpec(shape=[null], dtype=float32))',
  );
});

it.each(['batch', 'paddedBatch'] as const)(
  '%s leaves out what an error is in, sync and async',
  async (method) => {
    for (const fn of [
      (x: Tensor) => {
        if (x.item() === 3) throw new Error('bad');
        return x;
      },
      async (x: Tensor) => {
        if (x.item() === 3) throw new Error('bad');
        return x;
      },
    ]) {
      const d = floats(7)
        .map(fn as (x: Tensor) => Tensor, { runEagerly: true })
        [method](2)
        .ignoreErrors();
      expect(await valuesLater(d)).toEqual([[0, 1], [4, 5], [6]]);
    }
  },
);

it('goes through many elements at once without a deep stack', async () => {
  // The first element is waited for, the others are there.
  const mixed = Dataset.fromGenerator<number>(() => {
    let n = 0;
    const next = (): Promise<IteratorResult<number>> => {
      const result = { done: n >= 20_000, value: n++ };
      return n === 1 ? Promise.resolve(result) : (result as never);
    };
    return { [Symbol.asyncIterator]: () => ({ next }) };
  });
  expect((await mixed.prefetch(15_000).toArray()).length).toBe(20_000);
  const none = floats(20_000).filter(async () => false);
  expect(await none.toArray()).toEqual([]);
  expect(
    (
      await floats(20_000)
        .map(async (x) => x, { numParallelCalls: 8 })
        .batch(20_000)
        .toArray()
    ).length,
  ).toBe(1);
});
