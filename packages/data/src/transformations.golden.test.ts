// Against TensorFlow: tools/golden/data.py holds the same pipelines.
import '@eagre/backend-js';
import { readFileSync } from 'node:fs';
import { constant, type Tensor } from '@eagre/core';
import { TensorSpec } from '@eagre/graph';
import { describe, expect, it } from 'vitest';
import { Dataset } from './dataset.ts';
import { values } from './fixture.ts';

const D = Dataset;
const golden: {
  readonly errors: Readonly<Record<string, string>>;
  readonly pipelines: Readonly<
    Record<string, { readonly cardinality: number; readonly elements: unknown[] }>
  >;
} = JSON.parse(readFileSync(new URL('../golden/transformations.json', import.meta.url), 'utf8'));

const ragged = (lengths: readonly number[]): Dataset<Tensor> =>
  D.fromGenerator(() => lengths.map((n, i) => new Float32Array(n).fill(i + 1)), {
    outputSignature: new TensorSpec([null]),
  });
const matrices = (): Dataset<Tensor> =>
  D.fromGenerator(
    () =>
      [
        [1, 3],
        [2, 1],
        [3, 2],
      ].map(([m, n]) =>
        constant(
          Array.from({ length: m as number }, (_, r) =>
            Array.from({ length: n as number }, (_, c) => r * 10 + c),
          ),
        ),
      ),
    { outputSignature: new TensorSpec([null, null]) },
  );
const words = (): Dataset<Tensor> =>
  D.fromGenerator(() => [['a'], ['b', 'c'], ['d', 'e', 'f']].map((w) => constant(w)), {
    outputSignature: new TensorSpec([null], 'string'),
  });
const number = (x: Tensor): number => Number(x.item<bigint>());
const int64 = (n: number): Tensor => constant(n, 'int64');

const pipelines: Readonly<Record<string, () => Dataset<unknown>>> = {
  range: () => D.range(2, 11, 3),
  'range down': () => D.range(5, 0, -2),
  slices: () =>
    D.fromTensorSlices({
      a: [
        [1, 2],
        [3, 4],
      ],
      b: [constant([5, 6]), constant(['x', 'y'])],
    }),
  tensors: () => D.fromTensors([constant([1, 2]), constant(3)]),
  batch: () => D.range(8).batch(3),
  'batch whole': () => D.range(8).batch(3, { dropRemainder: true }),
  'batch of batch': () => D.range(9).batch(2).batch(2, { dropRemainder: true }),
  padded: () => ragged([1, 3, 2, 4, 0]).paddedBatch(2),
  'padded to 5': () => ragged([1, 3, 2]).paddedBatch(2, { paddedShapes: [5], paddingValues: -1 }),
  'padded matrices': () => matrices().paddedBatch(3, { paddingValues: 9 }),
  'padded axis': () => matrices().paddedBatch(2, { paddedShapes: [3, null], dropRemainder: true }),
  'padded words': () => words().paddedBatch(3, { paddingValues: '-' }),
  unbatch: () =>
    D.fromTensorSlices([
      constant([
        [1, 2],
        [3, 4],
        [5, 6],
      ]),
      constant([7, 8, 9]),
    ])
      .batch(2)
      .unbatch(),
  rebatch: () => D.range(10).batch(4).rebatch(3),
  'rebatch sizes': () => D.range(10).batch(4).rebatch([2, 1]),
  'rebatch whole': () => D.range(10).batch(4).rebatch([3, 2], { dropRemainder: true }),
  window: () => D.range(7).window(3),
  'window shift': () => D.range(7).window(3, { shift: 1, dropRemainder: true }),
  'window stride': () => D.range(10).window(3, { shift: 2, stride: 2 }),
  'window stride whole': () => D.range(10).window(3, { shift: 2, stride: 2, dropRemainder: true }),
  'window gaps': () => D.range(10).window(2, { shift: 4 }),
  'window tuple': () =>
    D.zip(D.range(4), D.range(10, 14))
      .window(2)
      .flatMap((a, b) => D.zip(a.batch(2), b.batch(2))),
  zip: () => D.zip({ x: D.range(3), y: [D.range(5), D.range(10, 14)] }),
  concatenate: () => D.range(3).concatenate(D.range(7, 9)),
  interleave: () =>
    D.range(1, 6).interleave((x) => D.fromTensors(x).repeat(6), { cycleLength: 2, blockLength: 4 }),
  'interleave uneven': () =>
    D.range(0, 7).interleave((x) => D.fromTensors(x).repeat(number(x)), { cycleLength: 3, blockLength: 2 }),
  'interleave one': () =>
    D.range(4).interleave((x) => D.range(number(x)), { cycleLength: 1, blockLength: 3 }),
  'flat map': () => D.range(4).flatMap((x) => D.range(number(x))),
  filter: () => D.range(10).filter((x) => x.mod(3).equal(1)),
  'take while': () => D.range(10).takeWhile((x) => x.less(4)),
  'take skip': () => D.range(10).skip(2).take(5),
  'take all': () => D.range(3).take(-1),
  'skip all': () => D.range(3).skip(-1),
  shard: () => D.range(10).shard(3, 1),
  repeat: () => D.range(3).repeat(2),
  'repeat batch': () => D.range(5).repeat(2).batch(4),
  scan: () => D.range(6).scan(int64(0), (s, x) => [s.add(x), s.mul(x)]),
  enumerate: () => D.range(10, 13).enumerate(5),
  unique: () => D.fromTensorSlices([1, 37, 2, 37, 2, 1]).unique(),
  choose: () =>
    D.chooseFromDatasets([D.fromTensors(1).repeat(2), D.fromTensors(2).repeat(5)], D.range(2).repeat(4), {
      stopOnEmptyDataset: false,
    }),
  'choose until': () =>
    D.chooseFromDatasets([D.fromTensors(1).repeat(2), D.fromTensors(2).repeat(5)], D.range(2).repeat(4)),
  group: () =>
    D.range(11).groupByWindow(
      (x) => x.mod(3),
      (_, d) => d.batch(2),
      { windowSize: 3 },
    ),
  bucket: () => ragged([1, 5, 2, 7, 3, 8, 1]).bucketBySequenceLength((x) => x.shape[0], [3, 6], [2, 2, 2]),
  'map structure': () => D.range(3).map((x) => ({ d: x.mul(2), t: [x, x.cast('float32').div(2)] })),
  counter: () => D.counter({ start: 3, step: 2 }).take(3),
  infinite: () => D.range(3).repeat(),
};

it('has a pipeline for each golden one', () => {
  expect(Object.keys(pipelines).sort()).toEqual(Object.keys(golden.pipelines).sort());
});

describe('elements', () => {
  it.each(Object.keys(golden.pipelines))('%s', (name) => {
    const expected = golden.pipelines[name] as (typeof golden.pipelines)[string];
    const dataset = (pipelines[name] as () => Dataset<unknown>)();
    expect(values(dataset.take(20))).toEqual(expected.elements);
    // What TensorFlow does not know may be known.
    if (expected.cardinality !== -2) expect(dataset.cardinality()).toBe(expected.cardinality);
  });
});

describe('errors', () => {
  const failing: Readonly<Record<string, () => unknown>> = {
    'batch shapes': () => [...ragged([1, 2]).batch(2)],
    'padded too small': () => [...ragged([1, 3]).paddedBatch(2, { paddedShapes: [2] })],
    cardinality: () => [...D.range(5).assertCardinality(4)],
    'cardinality few': () => [...D.range(3).assertCardinality(4)],
    'single none': () => D.range(0).getSingleElement(),
    'single several': () => D.range(2).getSingleElement(),
  };
  /** The sentence, without the name of the op. */
  const sentence = (name: string): string =>
    (golden.errors[name] as string)
      .replace(/^[^}]*}}/, '')
      .replace(/ \[Op:.*/, '')
      .replace(/^[A-Za-z]+Error: /, '')
      .trim();

  it.each(['cardinality', 'cardinality few', 'batch shapes'])('%s: in the words of TensorFlow', (name) => {
    expect(failing[name]).toThrow(sentence(name).slice(0, 60));
  });
  it.each(Object.keys(failing))('%s', (name) => {
    const code = name.startsWith('cardinality') ? 'FAILED_PRECONDITION' : 'INVALID_ARGUMENT';
    expect(failing[name]).toThrow(expect.objectContaining({ code }));
  });
});
