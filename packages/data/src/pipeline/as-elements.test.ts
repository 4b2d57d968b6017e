import '@eagre/backend-js';
import { constant, InvalidArgumentError, type Tensor } from '@eagre/core';
import { expect, it } from 'vitest';
import { Dataset } from '../index.ts';

const values = (dataset: Dataset<unknown>): unknown =>
  JSON.parse(
    JSON.stringify([...dataset.asHostIterator()], (_, v) =>
      typeof v === 'bigint' ? Number(v) : ArrayBuffer.isView(v) ? [...(v as unknown as number[])] : v,
    ),
  );
const ten = (): Dataset<Tensor> => Dataset.range(10);

// Each step of a pipeline that takes numbers, with the numbers made by `n`.
const steps: readonly [string, (n: (value: number) => never) => Dataset<unknown>][] = [
  ['range(stop)', (n) => Dataset.range(n(3))],
  ['range(start, stop, step)', (n) => Dataset.range(n(9), n(1), n(-2))],
  ['range by name', (n) => Dataset.range({ start: n(2), stop: n(5) })],
  ['counter', (n) => Dataset.counter({ start: n(4), step: n(2) }).take(3)],
  ['enumerate', (n) => ten().enumerate(n(5))],
  ['batch', (n) => ten().batch(n(4), { dropRemainder: true })],
  ['paddedBatch', (n) => ten().paddedBatch(n(4))],
  ['raggedBatch', (n) => ten().raggedBatch(n(4))],
  [
    'sparseBatch',
    (n) =>
      ten()
        .map((x) => x.reshape([1]))
        .sparseBatch(n(4), [1])
        .map((s) => s.toDense(), { runEagerly: true }),
  ],
  ['rebatch', (n) => ten().batch(5).rebatch(n(3))],
  [
    'rebatch of sizes',
    (n) =>
      ten()
        .batch(5)
        .rebatch([n(3), n(1)]),
  ],
  [
    'window',
    (n) =>
      ten()
        .window(n(3), { shift: n(2), stride: n(2) })
        .flatMap((w) => w as never),
  ],
  ['repeat', (n) => ten().repeat(n(2))],
  ['repeat -1', (n) => ten().repeat(n(-1)).take(25)],
  ['take', (n) => ten().take(n(3))],
  ['take -1', (n) => ten().take(n(-1))],
  ['skip', (n) => ten().skip(n(3))],
  ['skip -1', (n) => ten().skip(n(-1))],
  ['shard', (n) => ten().shard(n(3), n(1))],
  ['shuffle', (n) => ten().shuffle(n(5), { seed: 3, reshuffleEachIteration: false })],
  ['shuffle -2', (n) => ten().shuffle(n(-2), { seed: 3, reshuffleEachIteration: false })],
  ['prefetch', (n) => ten().prefetch(n(2))],
  ['prefetch -1', (n) => ten().prefetch(n(-1))],
  ['assertCardinality', (n) => ten().assertCardinality(n(10))],
  [
    'interleave',
    (n) =>
      ten().interleave((x) => Dataset.range(x.add(2n as never)), {
        cycleLength: n(2),
        blockLength: n(3),
        numParallelCalls: n(1),
      }),
  ],
  [
    'groupByWindow',
    (n) =>
      ten().groupByWindow(
        (x) => x.mod(2),
        (_, group) => group.batch(9),
        { windowSize: n(2) },
      ),
  ],
];

it.each(steps)('%s takes scalar tensors for numbers', (_, make) => {
  const plain = make((v) => v as never);
  for (const dtype of ['int64', 'int32', 'uint8'] as const) {
    const given = make((v) => (v < 0 && dtype === 'uint8' ? v : constant(v, { dtype })) as never);
    expect(given.cardinality()).toBe(plain.cardinality());
    expect(String(given)).toBe(String(plain));
    expect(values(given)).toEqual(values(plain));
  }
  for (const wrong of [constant([2]), constant(true), constant('2'), constant(1.5)])
    expect(() => make(() => wrong as never)).toThrow(InvalidArgumentError);
});

it('flatMap makes ranges of elements', () => {
  expect(values(Dataset.range(4).flatMap((n) => Dataset.range(n)))).toMatchObject(
    [0, 0, 1, 0, 1, 2].map((v) => ({ data: [v] })),
  );
});

const pairs = (): Dataset<[Tensor, Tensor]> =>
  Dataset.fromTensorSlices([
    constant([
      [1, 2],
      [3, 4],
    ]),
    constant([10, 20]),
  ]);

// What a JavaScript user writes for (x, y): the same with either, traced or as plain code.
it.each([[{}], [{ runEagerly: true }]] as const)(
  'a function may take a tuple apart by itself, %j',
  (options) => {
    const of = (d: Dataset<unknown>) => values(d);
    const two = pairs();
    expect(of(two.map(([x, y]) => x.mul(y), options))).toEqual(of(two.map((x, y) => x.mul(y), options)));
    expect(of(two.map(([x, y]) => ({ x, y }), options))).toEqual(of(two.map((x, y) => ({ x, y }), options)));
    expect(of(two.filter(([, y]) => (y as Tensor).greater(10), options))).toEqual(
      of(two.filter((_, y) => y.greater(10), options)),
    );
    expect(of(two.takeWhile(([, y]) => (y as Tensor).less(20), options))).toEqual(
      of(two.takeWhile((_, y) => y.less(20), options)),
    );
    // The state is one argument, the element another.
    const sum = (d: Tensor): unknown => d.array();
    expect(sum(two.reduce(0, (s, [x, y]) => s.add(x.sum().mul(y)), options))).toBe(170);
  },
);

it('flatMap, interleave and async functions take tuples apart, too', async () => {
  const two = pairs();
  const rows = values(two.flatMap((x, y) => Dataset.fromTensors([x, y])));
  expect(values(two.flatMap(([x, y]) => Dataset.fromTensors([x, y])))).toEqual(rows);
  expect(values(two.interleave(([x, y]) => Dataset.fromTensors([x, y])))).toEqual(rows);
  const later = await two.map(async ([x, y]) => x.mul(y)).toArray();
  expect(later.map((t) => t.array())).toEqual([
    [10, 20],
    [60, 80],
  ]);
});

it('a first item that is a tuple is taken apart itself, and a tensor into its rows', () => {
  const nested = Dataset.zip(pairs(), Dataset.range(2));
  expect(values(nested.map(([x, y], n) => [x, y, n]))).toEqual(
    values(nested.map((pair, n) => [pair[0], pair[1], n])),
  );
  expect(values(nested.map(([x, y]) => [x, y]))).toEqual(values(pairs()));
  const rows = Dataset.fromTensorSlices(constant([[1, 2]])).map(([a, b]) => a.sub(b), { runEagerly: true });
  expect(values(rows)).toMatchObject([{ data: [-1] }]);
});

// TensorFlow 2.21: an iterator goes on with the element behind one that failed; a batch is lost with it.
it('an iterator goes on behind an error', async () => {
  const bad = Dataset.range(4).map(
    (x) => {
      if (Number(x.item()) === 1) throw new RangeError('bad');
      return x;
    },
    { runEagerly: true },
  );
  const later = Dataset.range(4).map(
    async (x) => {
      if (Number(x.item()) === 1) throw new RangeError('bad');
      return x;
    },
    { numParallelCalls: 2 },
  );
  const behind = async (dataset: Dataset<Tensor>): Promise<unknown[]> => {
    const iterator = dataset.iterator();
    const got: unknown[] = [];
    for (let i = 0; i < 6; i++)
      try {
        const { done, value } = await iterator.nextAsync();
        got.push(done === true ? 'end' : value.cast('int32').array());
      } catch (error) {
        got.push((error as Error).message);
      }
    return got;
  };
  const rest = [0, 'bad', 2, 3, 'end', 'end'];
  for (const dataset of [
    bad,
    later,
    bad.prefetch(2),
    bad.shuffle(1),
    bad.filter(() => true, { runEagerly: true }),
  ])
    expect(await behind(dataset)).toEqual(rest);
  expect(await behind(bad.batch(2))).toEqual(['bad', [2, 3], 'end', 'end', 'end', 'end']);
  expect(await behind(bad.take(3))).toEqual([0, 'bad', 2, 3, 'end', 'end']);
});
