import '@eagre/backend-js';
import { constant, EagreError, InvalidArgumentError, ResourceExhaustedError } from '@eagre/core';
import { expect, it } from 'vitest';
import {
  Dataset,
  FixedLenFeature,
  FixedLengthRecordDataset,
  parseExample,
  TextLineDataset,
  TFRecordDataset,
} from '../index.ts';

it.each([
  () => Dataset.sampleFromDatasets({} as never),
  () => Dataset.sampleFromDatasets([1 as never]),
  () => Dataset.chooseFromDatasets(undefined as never, Dataset.range(2) as never),
  () => Dataset.chooseFromDatasets([Dataset.range(2)], [Dataset.range(2)] as never),
  () => Dataset.range(2).concatenate(null as never),
  () => Dataset.range(2).concatenate([Dataset.range(2)] as never),
  () => Dataset.range(2).rebatch(undefined as never),
  () => Dataset.range(2).rejectionResample(() => 0, 1 as never),
  () => Dataset.range(2).bucketBySequenceLength(() => 0, [1], undefined as never),
  () => Dataset.range(2).withOptions(null as never),
  () => Dataset.range(2).interleave(() => Dataset.range(1), { numParallelCalls: 10n ** 30n } as never),
  () => Dataset.range(2).interleave(() => Dataset.range(1), { cycleLength: 2 ** 31 }),
  () => new TextLineDataset('none', { numParallelReads: 2 ** 31 }),
  () => [...Dataset.fromGenerator(constant(1) as never)],
])('%s is refused', (fn) => {
  expect(fn).toThrow(InvalidArgumentError);
});

it.each([
  () => [
    ...Dataset.fromTensorSlices(['a', 'b'])
      .batch(1)
      .paddedBatch(2, { paddedShapes: [2 ** 31] }),
  ],
  () => parseExample([new Uint8Array()], { x: new FixedLenFeature([2 ** 31], 'int64', { defaultValue: 1 }) }),
])('%s is refused before an array is made', (fn) => {
  expect(fn).toThrow(ResourceExhaustedError);
});

it('nothing is repeated at once, however often', () => {
  expect([...Dataset.range(0).repeat(2 ** 31)]).toEqual([]);
  expect([...Dataset.range(1).repeat(3)]).toHaveLength(3);
});

it('elements that hold themselves are refused', () => {
  const list: unknown[] = [];
  list.push(list);
  const tuple: unknown[] = [1, 'x'];
  tuple.push(tuple);
  const object: Record<string, unknown> = { a: 1 };
  object['self'] = object;
  const deep: unknown[] = [[[1]]];
  let inner = deep;
  for (let i = 0; i < 100_000; i++) inner.push((inner = []));
  for (const bad of [list, tuple, object, deep])
    for (const make of [
      () => Dataset.fromTensors(bad as never),
      () => Dataset.fromTensorSlices(bad as never),
      () => [...Dataset.range(1).map(() => bad as never, { runEagerly: true })],
      () => [...Dataset.fromGenerator(() => [bad] as never)],
    ])
      expect(make).toThrow(EagreError);
});

it('a generator must not be an async function, whose failure does not end the process', async () => {
  const later = async (): Promise<never> => {
    throw new Error('later');
  };
  expect(() => [...Dataset.fromGenerator(later as never)]).toThrow('the function returned a promise');
  await new Promise((resolve) => setTimeout(resolve, 5));
});

it.each([TFRecordDataset, TextLineDataset])('%o refuses options that it does not know', (Class) => {
  expect(() => new Class('none', { compression_type: 'GZIP' } as never)).toThrow(
    "did you mean 'compressionType'?",
  );
  expect(() => new FixedLengthRecordDataset('none', 3, { header: 2 } as never)).toThrow(
    "'header' is not an option",
  );
});
