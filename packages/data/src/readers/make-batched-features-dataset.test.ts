import '@eagre/backend-js';
import { constant, type Tensor } from '@eagre/core';
import { expect, expectTypeOf, it } from 'vitest';
import type { Dataset } from '../pipeline/dataset.ts';
import { plain, values } from '../testing/elements.ts';
import { goldenPath } from '../testing/golden.ts';
import { FixedLenFeature, VarLenFeature } from './features.ts';
import { TFRecordDataset } from './file-datasets.ts';
import { makeBatchedFeaturesDataset } from './make-batched-features-dataset.ts';
import { parseExample } from './parse-example.ts';

const path = goldenPath('examples.tfrecord');
const features = { id: new FixedLenFeature([2], 'int64'), words: new VarLenFeature('string') };
const all = { numEpochs: 1, shuffle: false } as const;
const big = 2 ** 40;

it('parses batches of records', () => {
  const batches = new TFRecordDataset(path).raggedBatch(3).map((batch) => parseExample(batch, features));
  expectTypeOf(batches).toEqualTypeOf<Dataset<{ id: Tensor; words: Tensor }>>();
  expect(values(batches)).toEqual([
    {
      id: [
        [-2, big],
        [-1, big + 1],
        [0, big + 2],
      ],
      words: [
        ['', ''],
        ['w', ''],
        ['w', 'w'],
      ],
    },
    { id: [[1, big + 3]], words: [['w', 'w', 'w']] },
  ]);
  expect(values(new TFRecordDataset(path).apply((d) => d.take(0).raggedBatch(2)))).toEqual([]);
});

it('refuses what is no batch of records', () => {
  const ragged = (bytes: Tensor, ...splits: number[]) => ({
    values: bytes,
    rowSplits: constant(splits, 'int64'),
  });
  const bytes = constant(new Uint8Array(4));
  for (const bad of [
    ragged(bytes, 0, 5),
    ragged(bytes, 0, 3),
    ragged(bytes, 1, 4),
    ragged(bytes, 0, 3, 2, 4),
    ragged(bytes),
    ragged(constant([1, 2]), 0, 2),
  ])
    expect(() => parseExample(bad, features)).toThrow(/ragged batch of examples/);
});

it('makes batches of features, with their spec', () => {
  const batches = makeBatchedFeaturesDataset(path, 3, features, all);
  expectTypeOf(batches).toEqualTypeOf<Dataset<{ id: Tensor; words: Tensor }>>();
  expect(Object.entries(batches.elementSpec ?? {}).map(([name, spec]) => `${name} ${spec}`)).toEqual([
    'id TensorSpec(shape=[null, 2], dtype=int64)',
    'words TensorSpec(shape=[null, null], dtype=string)',
  ]);
  expect([...batches].map(({ id }) => id.shape)).toEqual([
    [3, 2],
    [1, 2],
  ]);
  const labelled = makeBatchedFeaturesDataset(path, 2, features, { ...all, labelKey: 'id' });
  expectTypeOf(labelled).toEqualTypeOf<Dataset<[features: { words: Tensor }, label: Tensor]>>();
  expect(values(labelled)[0]).toEqual([
    { words: [[''], ['w']] },
    [
      [-2, big],
      [-1, big + 1],
    ],
  ]);
  const whole = makeBatchedFeaturesDataset(path, 3, features, { ...all, dropFinalBatch: true });
  expect([...whole]).toHaveLength(1);
});

it('shuffles by the seed, repeats without end in whole batches, and reads by other readers', () => {
  const options = { shuffleSeed: 3 };
  const make = () => makeBatchedFeaturesDataset(path, 3, features, options).take(4);
  const first = values(make());
  expect(first).toHaveLength(4);
  expect(values(make())).toEqual(first);
  expect(String(make().elementSpec && (make().elementSpec as { id: unknown }).id)).toContain('[3, 2]');
  const packed = makeBatchedFeaturesDataset(goldenPath('examples-gzip.tfrecord'), 4, features, {
    ...all,
    reader: (names) => new TFRecordDataset(names, { compressionType: 'GZIP' }),
  });
  expect(plain([...packed][0])).toEqual(plain([...makeBatchedFeaturesDataset(path, 4, features, all)][0]));
  expect(() => makeBatchedFeaturesDataset(path, 4, features, { labelKey: 'x' as 'id' })).toThrow(/labelKey/);
  expect(() => makeBatchedFeaturesDataset(`${path}.none`, 4, features)).toThrow(/no file matches/);
});
