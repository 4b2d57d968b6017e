// `tf.data.experimental` against TensorFlow, see tools/golden/data_experimental.py.
import '@eagre/backend-js';
import { readFileSync } from 'node:fs';
import { asString, cast, constant, fill, lookup, RaggedTensor, SparseTensor, type Tensor } from '@eagre/core';
import { TensorSpec } from '@eagre/graph';
import { expect, test } from 'vitest';
import { Dataset, experimental as E } from '../index.ts';
import { plain as plainElement } from '../testing/elements.ts';

const { cases } = JSON.parse(
  readFileSync(new URL('../../golden/experimental.json', import.meta.url), 'utf8'),
) as { readonly cases: Readonly<Record<string, unknown>> };

const numbers = (t: Tensor): unknown => plainElement(t);
function plain(x: unknown): unknown {
  if (x instanceof SparseTensor)
    return { indices: numbers(x.indices), values: numbers(x.values), denseShape: numbers(x.denseShape) };
  if (x instanceof RaggedTensor)
    return JSON.parse(JSON.stringify(x.array(), (_, v) => (typeof v === 'bigint' ? Number(v) : v)));
  return plainElement(x);
}
// biome-ignore lint/suspicious/noExplicitAny: datasets of whatever elements
const all = (dataset: Dataset<any>): unknown[] => [...(dataset as Dataset<unknown>)].map(plain);
const to = (n: number): Dataset<Tensor> => Dataset.range(n);
const list = (...values: number[]): Dataset<Tensor> => Dataset.fromTensorSlices(constant(values, 'int32'));
const choices = (): Dataset<Tensor> => Dataset.fromTensorSlices(constant([0, 1, 0, 0, 1, 1], 'int64'));
const growing = (n: number): Dataset<Tensor> =>
  to(n).map((x) => fill([Number(x.item()) + 1], Number(x.item()), { dtype: 'int64' } as never), {
    runEagerly: true,
    outputSignature: rows,
  });
const rows = new TensorSpec([null], 'int64');

const made: Record<string, () => unknown[]> = {
  groupByReducer: () =>
    all(
      to(10).apply(
        E.groupByReducer(
          (x: Tensor) => constant(7, 'int64').sub(x).mod(3),
          new E.Reducer(
            (key: Tensor) => [key, constant(0, 'int64')],
            ([key, total]: [Tensor, Tensor], x: Tensor) => [key, total.add(x)],
            ([key, total]: [Tensor, Tensor]) => total.mul(10).add(key),
          ),
        ),
      ),
    ),
  padToCardinality: () =>
    all(
      Dataset.fromTensorSlices({
        a: constant([1, 2], 'int32'),
        b: constant([
          [1, 2],
          [3, 4],
        ]),
      }).apply(E.padToCardinality(4)),
    ),
  'padToCardinality full': () =>
    all(
      Dataset.fromTensorSlices({ a: constant([1, 2], 'int32') }).apply(
        E.padToCardinality(2, { maskKey: 'real' }),
      ),
    ),
  mapAndBatch: () => all(to(7).apply(E.mapAndBatch((x: Tensor) => x.mul(2), 3))),
  'mapAndBatch whole': () =>
    all(to(7).apply(E.mapAndBatch((x: Tensor) => x.mul(2), 3, { dropRemainder: true }))),
  parallelInterleave: () =>
    all(
      to(4).apply(
        E.parallelInterleave(
          (x: Tensor) => Dataset.range(Number(x.item()) * 10, Number(x.item()) * 10 + 3),
          2,
          { blockLength: 2, bufferOutputElements: 2, prefetchInputElements: 1 },
        ),
      ),
    ),
  chooseFromDatasets: () => all(E.chooseFromDatasets([to(2), Dataset.range(10, 15)] as never, choices())),
  'chooseFromDatasets stop': () =>
    all(
      E.chooseFromDatasets([to(2), Dataset.range(10, 15)] as never, choices(), {
        stopOnEmptyDataset: true,
      }) as never,
    ),
  scan: () => all(to(5).apply(E.scan(constant(1, 'int64'), (s: Tensor, x: Tensor) => [s.add(x), s.mul(x)]))),
  takeWhile: () => all(to(5).apply(E.takeWhile((x: Tensor) => x.less(3)))),
  unique: () => all(list(1, 2, 1, 3, 2).apply(E.unique())),
  unbatch: () => all(to(5).batch(2).apply(E.unbatch())),
  enumerateDataset: () => all(to(3).apply(E.enumerateDataset(5))),
  groupByWindow: () =>
    all(
      to(7).apply(
        E.groupByWindow(
          (x: Tensor) => x.mod(2),
          (_: number, group: Dataset<Tensor>) => group.batch(2),
          { windowSize: 2 },
        ),
      ),
    ),
  Counter: () => all(E.Counter(3, 2).take(3)),
  fromList: () =>
    all(
      E.fromList([
        [constant(1, 'int32'), 'a'],
        [constant(2, 'int32'), 'b'],
      ]) as never,
    ),
  denseToSparseBatch: () => all(growing(4).apply(E.denseToSparseBatch(3, [5]))),
  'denseToSparseBatch largest': () => all(growing(3).apply(E.denseToSparseBatch(2, [null]))),
  denseToRaggedBatch: () => all(growing(4).apply(E.denseToRaggedBatch(3))),
};

test.each(Object.keys(cases).filter((name) => name !== 'tables'))('%s', (name) => {
  expect(made[name]?.()).toEqual(cases[name]);
});

test('tables', () => {
  const keys = Dataset.fromTensorSlices(['x', 'y', 'z']) as Dataset<Tensor>;
  const asked = constant(['z', 'x', 'nothing', 'else', 'more']);
  const index = E.indexTableFromDataset(keys as never);
  const few = E.indexTableFromDataset(keys as never, { vocabSize: 2, defaultValue: -7 });
  const pairs = Dataset.zip(
    to(3),
    to(3).map((x) => asString(x.mul(2)), {
      runEagerly: true,
      outputSignature: keys.elementSpec as never,
    }),
  );
  const table = E.tableFromDataset(pairs as never, { defaultValue: 'n/a', keyDtype: 'int64' });
  expect({
    index: numbers(index.lookup(asked)),
    buckets: numbers(E.indexTableFromDataset(keys as never, { numOovBuckets: 5 }).lookup(asked)),
    few: numbers(few.lookup(asked)),
    sizes: [numbers(index.size()), numbers(few.size())],
    pairs: numbers(table.lookup(cast([2, 0, 9], 'int64'))),
  }).toEqual(cases['tables']);
  expect(() => E.indexTableFromDataset(keys as never, { vocabSize: 9 })).toThrow(/cardinality|elements/);
  expect(() => new E.DatasetInitializer(keys as never)).toThrow('pairs of scalars');
  expect(
    new lookup.StaticHashTable(new E.DatasetInitializer(pairs as never), '')
      .lookup(cast([1], 'int64'))
      .array(),
  ).toEqual(['2']);
});
