// tf.lookup, tf.sets and tf.queue; the results are those that TensorFlow 2.21 gives for the same calls.
import '@eagre/backend-js';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EagreError } from '@eagre/backend';
import { afterAll, describe, expect, test } from 'vitest';
import { constant, lookup, queue, ragged, SparseTensor, sets, sparse, type Tensor, zeros } from './index.ts';

const folder = mkdtempSync(join(tmpdir(), 'eagre-lookup-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = join(folder, 'words.txt');
writeFileSync(file, 'emerson\t10\nlake\t20\npalmer\t30\n');

const {
  KeyValueTensorInitializer,
  TextFileInitializer,
  TextFileIndex,
  StaticHashTable,
  StaticVocabularyTable,
} = lookup;
const { MutableHashTable, DenseHashTable } = lookup.experimental;
const int64 = (values: number[]): Tensor => constant(values, 'int64');
const numbers = (x: Tensor): unknown =>
  JSON.parse(JSON.stringify(x.array(), (_, v) => (typeof v === 'bigint' ? Number(v) : v)));

describe('static tables', () => {
  test('give sparse and ragged values of sparse and ragged keys', () => {
    const words = new KeyValueTensorInitializer(['a', 'b'], int64([0, 1]));
    const keys = ragged.constant([['b', 'q'], [], ['a']], { dtype: 'string' });
    const places = sparse.fromDense(
      constant([
        ['', 'b'],
        ['q', ''],
      ]),
    );
    const plain = (x: unknown): unknown =>
      JSON.parse(JSON.stringify(x, (_, v) => (typeof v === 'bigint' ? Number(v) : v)));
    for (const [table, other] of [
      [new StaticHashTable(words, -1n), -1],
      [new StaticVocabularyTable(words, 1), 2],
    ] as const) {
      expect(plain(table.lookup(keys).toList())).toEqual([[1, other], [], [0]]);
      const found = table.lookup(places);
      expect(numbers(found.indices)).toEqual([
        [0, 1],
        [1, 0],
      ]);
      expect(numbers(found.values)).toEqual([1, other]);
      expect(numbers(found.denseShape)).toEqual([2, 2]);
      expect(() => table.lookup(ragged.constant([[1], []]))).toThrow('keys must be string');
    }
  });

  test('of tensors', () => {
    const table = new StaticHashTable(new KeyValueTensorInitializer(['x', 'y'], int64([10, 20])), -1);
    expect(numbers(table.lookup(constant([['x', 'q']])))).toEqual([[10, -1]]);
    expect(numbers(table.size())).toBe(2);
    expect(table.lookup({ keys: 'y' }).dtype).toBe('int64');
    expect(() => table.lookup(constant([1]))).toThrow('keys must be string');
    expect(() => new StaticHashTable(new KeyValueTensorInitializer(['x', 'x'], [1, 2]), -1)).toThrow(
      'two values',
    );
    expect(numbers(new StaticHashTable(new KeyValueTensorInitializer(['x', 'x'], [1, 1]), -1).size())).toBe(
      1,
    );
    const texts = new StaticHashTable(new KeyValueTensorInitializer(int64([1, 2]), ['a', 'b']), '?');
    expect(texts.lookup(int64([2, 3])).array()).toEqual(['b', '?']);
  });
  test('of files', () => {
    const { WHOLE_LINE, LINE_NUMBER } = TextFileIndex;
    const find = (initializer: lookup.TableInitializer, missing: unknown, keys: Tensor): unknown =>
      numbers(new StaticHashTable(initializer, missing as number).lookup(keys));
    expect(find(new TextFileInitializer(file, 'string', 0, 'int64', 1), -1, constant(['lake', 'q']))).toEqual(
      [20, -1],
    );
    const lines = new TextFileInitializer(file, 'string', WHOLE_LINE, 'int64', LINE_NUMBER);
    expect(find(lines, -1, constant(['lake\t20', 'q']))).toEqual([1, -1]);
    expect(
      find(new TextFileInitializer(file, 'int64', LINE_NUMBER, 'string', 0), '?', int64([0, 9])),
    ).toEqual(['emerson', '?']);
    const some = new TextFileInitializer(file, 'string', 0, 'int64', LINE_NUMBER, 2, { valueIndexOffset: 5 });
    expect(find(some, -1, constant(['emerson', 'lake', 'palmer']))).toEqual([5, 6, -1]);
    const wrong: [string, () => unknown][] = [
      [
        'there are 3 lines',
        () => new StaticHashTable(new TextFileInitializer(file, 'string', 0, 'int64', LINE_NUMBER, 9), -1),
      ],
      ['no column 5', () => new StaticHashTable(new TextFileInitializer(file, 'string', 0, 'int64', 5), -1)],
      [
        "'emerson' in line 0 is no int64",
        () => new StaticHashTable(new TextFileInitializer(file, 'string', 1, 'int64', 0), -1),
      ],
      [
        'none',
        () => new StaticHashTable(new TextFileInitializer(`${file}none`, 'string', 1, 'int64', 0), -1),
      ],
      ['must be int64', () => new TextFileInitializer(file, 'string', 0, 'string', LINE_NUMBER)],
      ['one character', () => new TextFileInitializer(file, 'string', 0, 'int64', 1, null, 'ab')],
    ];
    for (const [message, call] of wrong) expect(call).toThrow(message);
    for (const [, call] of wrong) expect(call).toThrow(EagreError);
  });
  test('with buckets for other words', () => {
    const words = new KeyValueTensorInitializer(['emerson', 'lake', 'palmer'], int64([0, 1, 2]));
    const table = new StaticVocabularyTable(words, 5);
    expect(numbers(table.lookup(constant(['emerson', 'lake', 'palmer', 'king', 'crimson', ''])))).toEqual([
      0, 1, 2, 6, 7, 6,
    ]);
    expect(numbers(table.size())).toBe(8);
    const none = new StaticVocabularyTable(null, 7);
    expect(numbers(none.lookup(constant(['a', 'b', 'c'])))).toEqual([5, 2, 5]);
    const ids = new KeyValueTensorInitializer(int64([42, 1, -1000]), int64([0, 1, 2]));
    expect(numbers(new StaticVocabularyTable(ids, 3, 'int64').lookup(int64([1, -1000, 5, 77, -3])))).toEqual([
      1, 2, 4, 3, 3,
    ]);
    expect(() => new StaticVocabularyTable(words, 0)).toThrow('numOovBuckets');
    expect(
      () => new StaticVocabularyTable(new KeyValueTensorInitializer(['a'], [1.5], null, 'float32'), 2),
    ).toThrow('must be int64');
  });
});

describe('tables that change', () => {
  test('of scalars', () => {
    const table = new MutableHashTable('string', 'int64', -1);
    table.insert(constant(['a', 'b']), int64([1, 2]));
    expect(numbers(table.lookup(constant([['a'], ['z']])))).toEqual([[1], [-1]]);
    expect(numbers(table.lookup(constant(['a', 'z']), int64([7, 8])))).toEqual([1, 8]);
    expect(table.export().map(numbers)).toEqual([
      ['a', 'b'],
      [1, 2],
    ]);
    table.remove(constant(['a', 'q']));
    expect(numbers(table.size())).toBe(1);
    expect(() => table.insert(constant(['a']), int64([1, 2]))).toThrow('values must have the shape [1]');
    expect(numbers(table.size())).toBe(1);
  });
  test('of vectors, with reserved keys', () => {
    const table = new DenseHashTable('int64', 'float32', [0, 0], -1, -2);
    table.insert(int64([5]), constant([[1, 2]]));
    expect(table.lookup(int64([5, 6])).array()).toEqual([
      [1, 2],
      [0, 0],
    ]);
    for (const key of [-1, -2]) {
      expect(() => table.lookup(int64([key]))).toThrow('cannot be used');
      expect(() =>
        table.insert(
          int64([7, key]),
          constant([
            [1, 2],
            [1, 2],
          ]),
        ),
      ).toThrow('cannot be used');
    }
    expect(numbers(table.size())).toBe(1);
  });
});

describe('sets', () => {
  const parts = (x: SparseTensor): unknown => [numbers(x.indices), numbers(x.values), numbers(x.denseShape)];
  const a = constant(
    [
      [
        [1, 2],
        [3, 0],
      ],
      [
        [5, 5],
        [6, 7],
      ],
    ],
    'int32',
  );
  const b = constant(
    [
      [
        [1, 9],
        [0, 0],
      ],
      [
        [5, 2],
        [8, 7],
      ],
    ],
    'int32',
  );
  test('of tensors', () => {
    expect(parts(sets.intersection(a, b))).toEqual([
      [
        [0, 0, 0],
        [0, 1, 0],
        [1, 0, 0],
        [1, 1, 0],
      ],
      [1, 0, 5, 7],
      [2, 2, 1],
    ]);
    expect(parts(sets.difference(a, b))).toEqual([
      [
        [0, 0, 0],
        [0, 1, 0],
        [1, 1, 0],
      ],
      [2, 3, 6],
      [2, 2, 1],
    ]);
    expect(parts(sets.difference(a, b, { aminusb: false }))).toEqual([
      [
        [0, 0, 0],
        [1, 0, 0],
        [1, 1, 0],
      ],
      [9, 2, 8],
      [2, 2, 1],
    ]);
    expect((parts(sets.union(a, b)) as unknown[])[1]).toEqual([1, 2, 9, 0, 3, 2, 5, 6, 7, 8]);
    expect(parts(sets.union(constant([['b', 'a']]), constant([['c', 'a']])))).toEqual([
      [
        [0, 0],
        [0, 1],
        [0, 2],
      ],
      ['a', 'b', 'c'],
      [1, 3],
    ]);
  });
  test('of sparse tensors', () => {
    const s = sparse.fromDense(
      constant(
        [
          [1, 2],
          [2, 0],
        ],
        'int32',
      ),
    ) as SparseTensor;
    expect(numbers(sets.size(s))).toEqual([2, 1]);
    expect(parts(sets.intersection(s, s))).toEqual([
      [
        [0, 0],
        [0, 1],
        [1, 0],
      ],
      [1, 2, 2],
      [2, 2],
    ]);
    expect(
      parts(
        sets.union(
          constant(
            [
              [1, 3],
              [4, 4],
            ],
            'int32',
          ),
          s,
        ),
      ),
    ).toEqual([
      [
        [0, 0],
        [0, 1],
        [0, 2],
        [1, 0],
        [1, 1],
      ],
      [1, 2, 3, 2, 4],
      [2, 3],
    ]);
  });
  test('of integers that floats do not hold, and of negative ones', () => {
    const big = 2n ** 53n;
    const x = constant(
      [
        [big + 1n, -big - 1n, big + 1n],
        [big, big + 1n, 5n],
      ],
      'int64',
    );
    const y = constant(
      [
        [big + 1n, 1n],
        [big, big],
      ],
      'int64',
    );
    const valuesOf = (s: SparseTensor): unknown => [...(s.values.data() as BigInt64Array)];
    expect(valuesOf(sets.union(x, y))).toEqual([-big - 1n, 1n, big + 1n, 5n, big, big + 1n]);
    expect(valuesOf(sets.intersection(x, y))).toEqual([big + 1n, big]);
    expect(valuesOf(sets.difference(x, y))).toEqual([-big - 1n, 5n, big + 1n]);
    const small = sets.union(
      int64([-1, 2 ** 31 - 1, -(2 ** 40)]).expandDims(0),
      int64([-(2 ** 40), 3]).expandDims(0),
    );
    expect(valuesOf(small)).toEqual([-(2n ** 40n), -1n, 3n, 2n ** 31n - 1n]);
  });
  test('of long rows', () => {
    const row = (n: number, of: (i: number) => number): number[] =>
      Array.from({ length: n }, (_, i) => of(i));
    const x = constant([row(80, (i) => ((i * 37) % 50) - 25), row(80, (i) => (i * 11) % 40)], 'int32');
    const y = constant([row(40, (i) => (i * 13) % 30), row(40, (i) => (i * 7) % 60)], 'int32');
    const places = (...lengths: number[]): unknown =>
      lengths.flatMap((n, r) => row(n, (k) => k).map((k) => [r, k]));
    expect(parts(sets.difference(x, y))).toEqual([
      places(25, 12),
      [...row(25, (i) => i - 25), 1, 4, 8, 11, 15, 18, 22, 25, 29, 32, 36, 39],
      [2, 25],
    ]);
    const both = [
      0, 2, 3, 5, 6, 7, 9, 10, 12, 13, 14, 16, 17, 19, 20, 21, 23, 24, 26, 27, 28, 30, 31, 33, 34, 35, 37, 38,
    ];
    expect(parts(sets.intersection(y, x))).toEqual([
      places(25, 28),
      [...row(25, (i) => i), ...both],
      [2, 28],
    ]);
  });
  test('of sparse texts, and of none', () => {
    const of = (indices: number[][], values: string[]): SparseTensor =>
      new SparseTensor(constant(indices, 'int64'), constant(values), [2, 3, 2]);
    const x = of(
      [
        [0, 0, 0],
        [0, 0, 1],
        [1, 2, 0],
      ],
      ['b', 'a', 'é'],
    );
    const y = of(
      [
        [0, 0, 0],
        [0, 1, 0],
        [1, 2, 1],
      ],
      ['a', 'z', 'é'],
    );
    expect(parts(sets.union(x, y))).toEqual([
      [
        [0, 0, 0],
        [0, 0, 1],
        [0, 1, 0],
        [1, 2, 0],
      ],
      ['a', 'b', 'z', 'é'],
      [2, 3, 2],
    ]);
    expect(numbers(sets.size(x))).toEqual([
      [2, 0, 0],
      [0, 0, 1],
    ]);
    const none = new SparseTensor(zeros([0, 2], 'int64'), zeros([0], 'int64'), [2, 0]);
    expect(parts(sets.union(none, none))).toEqual([[], [], [2, 0]]);
  });
  test('wrong ones are refused', () => {
    for (const call of [
      () => sets.union(constant([1, 2], 'int32'), constant([2, 3], 'int32')),
      () => sets.union(constant([[1, 2]], 'int32'), constant([[1], [2]], 'int32')),
      () => sets.union(constant([[1.5]]), constant([[1.5]])),
      () => sets.size(constant([[1]], 'int32') as never),
    ])
      expect(call).toThrow(EagreError);
  });
});

describe('queues', () => {
  const taken = (x: unknown): unknown =>
    Array.isArray(x) ? x.map((t) => numbers(t as Tensor)) : numbers(x as Tensor);
  test('in order', () => {
    const q = new queue.FIFOQueue(3, ['int32', 'string'], [[], []]);
    q.enqueue([1, 'a']);
    q.enqueueMany([
      [2, 3],
      ['b', 'c'],
    ]);
    expect(numbers(q.size())).toBe(3);
    expect(() => q.enqueue([4, 'd'])).toThrow('full');
    expect(taken(q.dequeue())).toEqual([1, 'a']);
    expect(taken(q.dequeueMany(2))).toEqual([
      [2, 3],
      ['b', 'c'],
    ]);
    expect(() => q.dequeue()).toThrow('cannot wait');
    q.close();
    expect(() => q.dequeue()).toThrow('closed');
    expect(() => q.enqueue([1, 'a'])).toThrow('closed');
    expect(q.isClosed().item()).toBe(true);
  });
  test('several at once, and what is left', () => {
    const q = new queue.FIFOQueue(9, 'int32', [[]]);
    q.enqueueMany([1, 2, 3]);
    q.close();
    expect(() => q.dequeueMany(5)).toThrow('has 3 elements where 5 are wanted');
    expect(taken(q.dequeueUpTo(5))).toEqual([1, 2, 3]);
    expect(() => q.dequeueUpTo(5)).toThrow('closed');
    expect(() => new queue.FIFOQueue(9, 'int32').dequeueMany(1)).toThrow('shapes');
  });
  test('padded, by priority, by name, at random', () => {
    const padding = new queue.PaddingFIFOQueue(9, ['int32'], [[null]]);
    padding.enqueue([constant([1], 'int32')]);
    padding.enqueue([constant([1, 2, 3], 'int32')]);
    expect(taken(padding.dequeueMany(2))).toEqual([
      [1, 0, 0],
      [1, 2, 3],
    ]);
    expect(() => padding.enqueue([constant([[1]], 'int32')])).toThrow('component 0 has shape');
    const first = new queue.PriorityQueue(9, ['string'], [[]]);
    for (const [priority, text] of [
      [5, 'x'],
      [1, 'y'],
      [5, 'a'],
    ] as const)
      first.enqueue([priority, text]);
    expect([1, 2, 3].map(() => taken(first.dequeue()))).toEqual([
      [1, 'y'],
      [5, 'x'],
      [5, 'a'],
    ]);
    const named = new queue.FIFOQueue(9, ['int32', 'int32'], [[], []], ['a', 'b']);
    named.enqueue({ a: 1, b: 2 });
    expect(Object.entries(named.dequeue()).map(([key, x]) => [key, numbers(x as Tensor)])).toEqual([
      ['a', 1],
      ['b', 2],
    ]);
    expect(() => named.enqueue({ a: 1 })).toThrow('an object of a, b');
    const shuffled = new queue.RandomShuffleQueue(20, 2, 'int32', [[]], { seed: 3 });
    shuffled.enqueueMany([...Array(10).keys()]);
    const out = taken(shuffled.dequeueMany(8)) as number[];
    expect(() => shuffled.dequeue()).toThrow('0 elements where 1 are wanted');
    shuffled.close();
    expect([...out, ...(taken(shuffled.dequeueMany(2)) as number[])].sort()).toEqual([...Array(10).keys()]);
    expect(out).not.toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });
  test('promises wait', async () => {
    const q = new queue.FIFOQueue(1, 'int32', [[]]);
    const later = q.whenDequeued();
    q.enqueue(7);
    expect(numbers((await later) as Tensor)).toBe(7);
    q.enqueue(1);
    const entered = q.whenEnqueued(2);
    expect(taken(q.dequeue())).toBe(1);
    await entered;
    expect(taken(q.dequeue())).toBe(2);
    const never = q.whenDequeued();
    q.close();
    await expect(never).rejects.toThrow('closed');
  });
});

test('queues are what TensorFlow takes for queues', () => {
  const { FIFOQueue, PaddingFIFOQueue, PriorityQueue, RandomShuffleQueue, QueueBase } = queue;
  for (const type of [FIFOQueue, PriorityQueue])
    expect(() => new type(2, ['float32'], [[null]])).toThrow('must be known');
  expect(() => new FIFOQueue(2, [])).toThrow('dtypes is empty');
  expect(() => new RandomShuffleQueue(2, 3, ['int32'], [[]])).toThrow('less than the capacity');
  const texts = new PaddingFIFOQueue(10, ['string', 'int32'], [[null, 2], []]);
  texts.enqueue([constant([['a', 'b']]), 1]);
  texts.enqueue([
    constant([
      ['a', 'b'],
      ['c', 'd'],
    ]),
    2,
  ]);
  const [padded] = texts.dequeueMany(2) as readonly Tensor[];
  expect(padded?.array()).toEqual([
    [
      ['a', 'b'],
      ['', ''],
    ],
    [
      ['a', 'b'],
      ['c', 'd'],
    ],
  ]);
  const [a, b] = [new FIFOQueue(3, ['int32'], [[]]), new FIFOQueue(3, ['int32'], [[]])] as const;
  b.enqueue(7);
  expect(numbers(QueueBase.fromList(1, [a, b]).dequeue() as Tensor)).toBe(7);
  expect(() => QueueBase.fromList(2, [a, b])).toThrow('index');
  expect(() => QueueBase.fromList(0, [])).toThrow('queues');
  expect(() => QueueBase.fromList(0, [a, texts])).toThrow('different');
});
